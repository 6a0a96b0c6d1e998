//! Reading output: for the model, behind its cursor, and for anybody, from any
//! offset.
//!
//! 1. The state is looked at before the source is read: a terminal snapshot
//!    comes with everything that can ever be read.
//! 2. No lock is held while text is rendered or copied.

use std::sync::Arc;

use jobs::text::{head, tail};
use jobs::{
    CursorDesk, Delivery, Delta, Error, OutputRange, OutputSource, ProducerError, Receipt,
    Rendered, contain,
};

use crate::job::{Job, JobState, Output};

/// Where the text of a read comes from.
enum Source {
    Stream(Arc<dyn OutputSource>),
    Final(Arc<str>),
}

pub(crate) fn read(job: &Arc<Job>) -> Result<Receipt<Delta>, Error> {
    let (snapshot, share, found) = job.share_and(source);
    let (source, cursor) = found.ok_or_else(|| gone(job))?;
    let Rendered {
        text,
        range,
        dropped,
    } = render(job, &source, cursor, None)?;
    let mut delivery = Delivery::none().with_share(share);
    // Final output is read from its start each time.
    if let Source::Stream(_) = source {
        let desk = Arc::clone(job) as Arc<dyn CursorDesk>;
        delivery = delivery.with_range(OutputRange::new(desk, range.end));
    }
    Ok(Receipt::new(
        Delta::new(text, range, dropped, snapshot),
        delivery,
    ))
}

pub(crate) fn observe(job: &Arc<Job>, from: u64, max: Option<usize>) -> Result<Delta, Error> {
    let (snapshot, found) = job.snapshot_and(source);
    let (source, _) = found.ok_or_else(|| gone(job))?;
    let Rendered {
        text,
        range,
        dropped,
    } = render(job, &source, from, max)?;
    Ok(Delta::new(text, range, dropped, snapshot))
}

/// Where the output of a job is, if it is kept, and where the model reads on.
fn source(state: &JobState) -> Option<(Source, u64)> {
    match &state.output {
        Output::Source { source, cursor } => Some((Source::Stream(Arc::clone(source)), *cursor)),
        Output::Text(text) => Some((Source::Final(text.clone().unwrap_or_default()), 0)),
        Output::Evicted => None,
    }
}

fn gone(job: &Job) -> Error {
    Error::NoLongerKept { id: job.id.clone() }
}

fn render(job: &Job, source: &Source, from: u64, max: Option<usize>) -> Result<Rendered, Error> {
    match source {
        Source::Final(text) => Ok(slice(text, from, max)),
        Source::Stream(source) => contain::call(|| source.read(from, max))
            .unwrap_or_else(|panicked| {
                tracing::warn!(job = %job.id, %panicked, "the output source panicked");
                Err(ProducerError::new(format!("producer panicked: {panicked}")))
            })
            .map_err(Error::Producer),
    }
}

/// A piece of final output, with the edges of [`OutputSource::read`].
fn slice(text: &str, from: u64, max: Option<usize>) -> Rendered {
    let from = usize::try_from(from).unwrap_or(usize::MAX).min(text.len());
    let start = head(text, from).len();
    let rest = tail(text, text.len() - start);
    let first = rest.chars().next().map_or(0, char::len_utf8);
    let piece = max.map_or(rest, |max| head(rest, max.max(first)));
    let end = start + piece.len();
    Rendered {
        text: piece.to_owned(),
        range: start as u64..end as u64,
        dropped: 0,
    }
}
