//! Kills: who stopped the job, and who is told of it.

use std::sync::Arc;

use jobs::{Cause, Error, JobRegistry, KillOutcome, KilledBy, Outcome, Status};
use jobs_local::Config;
use shuttle::future::{spawn, yield_now};

use crate::support::{OnCancel, Puppet, World, check, coin, offered};

/// What a kill came to.
struct Killed {
    outcome: KillOutcome,
    was_terminal: bool,
    delivered: bool,
}

async fn kill(world: &World, id: &jobs::JobId, by: KilledBy) -> Result<Killed, Error> {
    let receipt = world.jobs.kill(id, &world.caller(), by, None).await?;
    let (outcome, was_terminal) = (receipt.outcome, receipt.job.is_terminal());
    yield_now().await;
    let delivered = coin();
    if delivered {
        receipt.commit();
    }
    Ok(Killed {
        outcome,
        was_terminal,
        delivered,
    })
}

/// A job that dies inside `cancel`, killed by its model and by a user at once:
/// it ends once, one of them is the cause, and the owner is told by an
/// answer or by a notice.
#[test]
fn kills_and_an_end_inside_cancel() {
    check("kills_and_an_end_inside_cancel", || async {
        let world = World::new(Config::default());
        let puppet = Puppet::on_cancel(OnCancel::Die);
        let id = world.start(&puppet).await.unwrap();
        let mut reporter = world.reporter();
        let by_user = spawn({
            let (world, id) = (Arc::clone(&world), id.clone());
            async move { kill(&world, &id, KilledBy::User).await.unwrap() }
        });
        let by_model = kill(&world, &id, KilledBy::Model).await.unwrap();
        let by_user = by_user.await.unwrap();
        for killed in [&by_model, &by_user] {
            if killed.outcome == KillOutcome::AlreadyFinished {
                assert!(killed.was_terminal, "already finished, and not ended");
            }
        }
        let job = world.ended(&id).await;
        assert_eq!(job.status(), Status::Killed);
        let cause = job.end().unwrap().cause;
        assert!(matches!(cause, Cause::Model | Cause::User), "{cause:?}");
        let told_by_model = by_model.delivered
            && (by_model.outcome == KillOutcome::AlreadyFinished || cause == Cause::Model);
        let told_by_user = by_user.delivered && by_user.outcome == KillOutcome::AlreadyFinished;
        let told = told_by_model || told_by_user;
        assert_eq!(world.get(&id).await.reported(), told);
        if !told {
            reporter.next().await.expect("it is announced").commit();
        }
        let more = offered(&mut reporter).await;
        assert!(more.is_none(), "told by an answer and by a notice");
        world.owner.close().await;
    });
}

/// A kill that fails against the end of the job: nothing is left of it, and
/// the completion is announced with its own cause.
#[test]
fn a_failed_kill_and_settle() {
    check("a_failed_kill_and_settle", || async {
        let world = World::new(Config::default());
        let puppet = Puppet::on_cancel(OnCancel::Refuse);
        let id = world.start(&puppet).await.unwrap();
        let mut reporter = world.reporter();
        let settles = spawn(async move { puppet.settle(Outcome::killed()) });
        match world
            .jobs
            .kill(&id, &world.caller(), KilledBy::Model, None)
            .await
        {
            Ok(receipt) => assert_eq!(receipt.outcome, KillOutcome::AlreadyFinished),
            Err(Error::Producer(error)) => assert_eq!(error.text(), "no"),
            Err(error) => panic!("unexpected: {error}"),
        }
        let completion = reporter.next().await.expect("its end is announced");
        assert_eq!(completion.job.status(), Status::Killed);
        completion.commit();
        settles.await.unwrap();
        assert!(world.get(&id).await.reported());
        world.owner.close().await;
    });
}
