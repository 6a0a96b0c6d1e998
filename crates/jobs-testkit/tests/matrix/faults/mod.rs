//! The faults, by what they break.

pub(crate) mod hooks;
pub(crate) mod kills;
pub(crate) mod looks;
pub(crate) mod observers;
pub(crate) mod owners;
pub(crate) mod reads;
pub(crate) mod reporters;
pub(crate) mod starts;
pub(crate) mod waits;

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use jobs::{Delivery, News, Receipt};

/// The answer, with nothing left to commit.
fn committed<T>(receipt: Receipt<T>) -> Receipt<T> {
    Receipt::new(receipt.commit(), Delivery::none())
}

/// News that `change` makes of other news.
struct Changed<T, F> {
    news: News<T>,
    change: F,
}

impl<T, F> Stream for Changed<T, F>
where
    F: FnMut(&mut News<T>, &mut Context<'_>) -> Poll<Option<T>> + Unpin,
{
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let Self { news, change } = self.get_mut();
        change(news, cx)
    }
}

fn changed<T: Send + 'static>(
    news: News<T>,
    change: impl FnMut(&mut News<T>, &mut Context<'_>) -> Poll<Option<T>> + Send + Unpin + 'static,
) -> News<T> {
    News::new(Changed { news, change })
}
