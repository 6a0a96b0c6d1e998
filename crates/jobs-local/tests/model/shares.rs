//! Shares of a completion: who may tell it, and that somebody does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use jobs::{Cause, JobRegistry, KillOutcome, KilledBy, Outcome};
use jobs_local::Config;
use shuttle::future::{spawn, yield_now};

use crate::support::{Puppet, World, check, coin, offered};

/// Two waiters that wait before the end, a kill by the model, two reporters,
/// and drops anywhere: the completion is told, and by one side only.
#[test]
fn shares() {
    check("shares", || async {
        let world = World::new(Config::default());
        let puppet = Puppet::default();
        let id = world.start(&puppet).await.unwrap();
        let answers = Arc::new(AtomicUsize::new(0));
        // A kill that finds the job ended answers while a notice may be on its way already.
        let late = Arc::new(AtomicUsize::new(0));
        let notices = Arc::new(AtomicUsize::new(0));
        let mut tasks = Vec::new();

        for _ in 0..2 {
            let (world, id, answers) = (Arc::clone(&world), id.clone(), Arc::clone(&answers));
            let caller = world.caller();
            let mut wait = Box::pin(async move { world.jobs.settled(&id, &caller).await });
            let pending =
                std::future::poll_fn(|cx| Poll::Ready(wait.as_mut().poll(cx).is_pending())).await;
            assert!(pending, "the job lives");
            tasks.push(spawn(async move {
                if coin() {
                    yield_now().await;
                    return;
                }
                let receipt = wait.await.unwrap();
                yield_now().await;
                if coin() {
                    receipt.commit();
                    answers.fetch_add(1, Ordering::SeqCst);
                }
            }));
        }
        tasks.push(spawn({
            let (world, id) = (Arc::clone(&world), id.clone());
            let (answers, late) = (Arc::clone(&answers), Arc::clone(&late));
            async move {
                let receipt = world
                    .jobs
                    .kill(&id, &world.caller(), KilledBy::Model, None)
                    .await
                    .unwrap();
                let was_live = receipt.outcome == KillOutcome::Requested;
                yield_now().await;
                if coin() {
                    receipt.commit();
                    let job = world.jobs.settled(&id, &world.caller()).await.unwrap();
                    let by_model = job.end().is_some_and(|end| end.cause == Cause::Model);
                    if !was_live {
                        late.fetch_add(1, Ordering::SeqCst);
                    } else if by_model {
                        answers.fetch_add(1, Ordering::SeqCst);
                    }
                }
            }
        }));
        for _ in 0..2 {
            let (mut reporter, notices) = (world.reporter(), Arc::clone(&notices));
            tasks.push(spawn(async move {
                for _ in 0..3 {
                    let polled = std::future::poll_fn(|cx| {
                        let mut next = std::pin::pin!(reporter.next());
                        Poll::Ready(next.as_mut().poll(cx))
                    });
                    if let Poll::Ready(Some(completion)) = polled.await {
                        yield_now().await;
                        if coin() {
                            completion.commit();
                            notices.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                    yield_now().await;
                }
            }));
        }
        tasks.push(spawn({
            let puppet = puppet.clone();
            async move {
                puppet.settle(if coin() {
                    Outcome::killed()
                } else {
                    Outcome::completed()
                })
            }
        }));
        for task in tasks {
            task.await.unwrap();
        }

        let answers = answers.load(Ordering::SeqCst);
        let notices = notices.load(Ordering::SeqCst);
        let told = world
            .jobs
            .get(&id, &world.caller())
            .await
            .unwrap()
            .reported();
        assert!(notices <= 1, "told by {notices} notices");
        if answers > 0 {
            assert_eq!(notices, 0, "told by an answer and by a notice");
        }
        let delivered = answers + notices + late.load(Ordering::SeqCst) > 0;
        assert_eq!(told, delivered, "told, and delivered");
        if !told {
            let mut last = world.reporter();
            let completion = last.next().await.expect("an untold completion is offered");
            completion.commit();
            assert!(
                world
                    .jobs
                    .get(&id, &world.caller())
                    .await
                    .unwrap()
                    .reported()
            );
        }
        world.owner.close().await;
    });
}

/// Two answers of an ended job, one delivered and one dropped, while a
/// reporter asks: it is told by the answer, and by nobody else.
#[test]
fn an_answer_and_a_dropped_one() {
    check("an_answer_and_a_dropped_one", || async {
        let (world, id) = ended().await;
        let caller = world.caller();
        let answer = world.jobs.settled(&id, &caller).await.unwrap();
        let dropped = world.jobs.settled(&id, &caller).await.unwrap();
        let commits = spawn(async move { drop(answer.commit()) });
        drop(dropped);
        let mut reporter = world.reporter();
        let offer = offered(&mut reporter).await;
        assert!(offer.is_none(), "offered while an answer is out");
        commits.await.unwrap();
        assert!(offered(&mut reporter).await.is_none(), "told twice");
        assert!(world.get(&id).await.reported());
    });
}

/// Two answers of an ended job that are dropped at once: it is offered.
#[test]
fn two_dropped_answers() {
    check("two_dropped_answers", || async {
        let (world, id) = ended().await;
        let caller = world.caller();
        let mut reporter = world.reporter();
        let first = world.jobs.settled(&id, &caller).await.unwrap();
        let second = world.jobs.settled(&id, &caller).await.unwrap();
        let drops = spawn(async move { drop(first) });
        drop(second);
        drops.await.unwrap();
        let offer = offered(&mut reporter).await.expect("it is offered");
        offer.commit();
        assert!(world.get(&id).await.reported());
    });
}

/// A world with a job that has ended and is published, and nothing that runs.
async fn ended() -> (Arc<World>, jobs::JobId) {
    let world = World::new(Config::default());
    let puppet = Puppet::default();
    puppet.settle(Outcome::completed());
    let mut reporter = world.reporter();
    let id = world.start(&puppet).await.unwrap();
    drop(reporter.next().await.expect("its end is offered"));
    (world, id)
}
