//! Reading output: for the model, behind its cursor, and for anybody, from any
//! offset.
//!
//! 1. The state is looked at before the source is: a terminal snapshot comes
//!    with everything that can ever be read.
//! 2. No lock is held while text is rendered or copied.

use std::sync::Arc;

use jobs::text::{head, tail};
use jobs::{
    CursorDesk, Delivery, Delta, Error, OutputRange, OutputSource, ProducerError, Receipt,
    Rendered, Snapshot, contain,
};

use crate::job::{Job, Output};

/// Where the text of a read comes from.
enum Source {
    Stream(Arc<dyn OutputSource>),
    Final(Arc<str>),
}

pub(crate) fn read(job: &Arc<Job>) -> Result<Receipt<Delta>, Error> {
    let (snapshot, share) = job.share();
    let (source, cursor) = look(job, &snapshot)?;
    let Rendered {
        text,
        range,
        dropped,
    } = render(job, &source, cursor, None)?;
    let desk = Arc::clone(job) as Arc<dyn CursorDesk>;
    let delivery = Delivery::none()
        .with_range(OutputRange::new(desk, range.end))
        .with_share(share);
    Ok(Receipt::new(
        Delta::new(text, range, dropped, snapshot),
        delivery,
    ))
}

pub(crate) fn observe(job: &Arc<Job>, from: u64, max: Option<usize>) -> Result<Delta, Error> {
    let snapshot = job.snapshot();
    let (source, _) = look(job, &snapshot)?;
    let Rendered {
        text,
        range,
        dropped,
    } = render(job, &source, from, max)?;
    Ok(Delta::new(text, range, dropped, snapshot))
}

/// Where the output of a job that stood like this is, and where the model
/// reads on.
fn look(job: &Arc<Job>, snapshot: &Snapshot) -> Result<(Source, u64), Error> {
    let state = job.state.lock();
    match &state.output {
        Output::Source(source) => Ok((Source::Stream(Arc::clone(source)), state.cursor)),
        Output::Text(Some(text)) if snapshot.is_terminal() => {
            Ok((Source::Final(Arc::clone(text)), 0))
        }
        Output::Text(_) => Ok((Source::Final(Arc::default()), 0)),
        Output::Evicted => Err(Error::NoLongerKept { id: job.id.clone() }),
    }
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

#[cfg(all(test, not(shuttle)))]
mod tests {
    use jobs::{Caller, Hooks, JobSpec, Outcome, Scope};
    use tokio::sync::oneshot;
    use tokio::task::yield_now;

    use super::*;
    use crate::config::{Config, UnownedAccess};
    use crate::core::{Access, Core};
    use crate::start::start;

    /// Invariant 1, where the job ends between the two looks.
    #[tokio::test]
    async fn a_job_that_was_looked_at_alive_has_no_final_output_yet() {
        let core = Core::new(Config::default().with_unowned_access(UnownedAccess::Full));
        core.controllers.lock().push(("test".into(), Scope::root()));
        let (end, ended) = oneshot::channel();
        let spec = JobSpec::new("job", "a job", |_| {
            Ok(Hooks::from_future(|_stop| async {
                Outcome::completed().with_output(ended.await.unwrap_or("?"))
            }))
        });
        let id = start(&core, spec).unwrap();
        let job = core.find(&id, &Caller::Anonymous, Access::Look).unwrap();
        let alive = job.snapshot();
        end.send("the end").unwrap();
        while !job.snapshot().is_terminal() {
            yield_now().await;
        }
        let text = |snapshot: &Snapshot| match look(&job, snapshot).unwrap() {
            (Source::Final(text), _) => text,
            (Source::Stream(_), _) => panic!("it has no source"),
        };
        assert_eq!(&*text(&alive), "");
        assert_eq!(&*text(&job.snapshot()), "the end");
    }
}
