//! Model checks: the registry's own sources under the interleavings that
//! shuttle finds (`cargo xtask model`).
//!
//! Time stands still here: no grace and no lease runs out.
#![cfg(shuttle)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Waker};

use jobs::{
    Caller, Cause, Completions, Error, Hooks, JobId, JobRegistry, JobSpec, KillOutcome, KilledBy,
    Outcome, Owner, ProducerError, Registration, Scope, Snapshot, Status, TerminalStatus,
};
use jobs_local::{Config, LocalJobRegistry};
use shuttle::future::{block_on, spawn, yield_now};
use shuttle::rand::Rng;
use shuttle::sync::Mutex;

/// Runs one check under random schedules and under priority-based ones that
/// are exhaustive up to three preemptions in expectation.
fn check(name: &str, body: fn()) {
    let schedules: usize = std::env::var("JOBS_MODEL_SCHEDULES")
        .map_or(500, |n| n.parse().expect("a number of schedules"));
    shuttle::check_random(body, schedules.div_ceil(2));
    shuttle::check_pct(body, schedules / 2, 3);
    println!("check {name}: {schedules} schedules passed");
}

fn coin() -> bool {
    shuttle::rand::thread_rng().gen_bool(0.5)
}

/// A registry with one owner.
struct World {
    jobs: Arc<LocalJobRegistry>,
    owner: Owner,
    _controller: Registration,
}

impl World {
    fn new(config: Config) -> Arc<Self> {
        let jobs = LocalJobRegistry::new(config).unwrap();
        let _controller = jobs.controller("model", &Scope::root()).unwrap();
        let owner = jobs.owner("s".into(), Scope::root());
        Arc::new(Self {
            jobs,
            owner,
            _controller,
        })
    }

    fn caller(&self) -> Caller {
        self.owner.caller()
    }

    async fn start(&self, puppet: &Puppet) -> Result<JobId, Error> {
        let hooks = puppet.hooks();
        let spec = JobSpec::new("bash", "work", move |_| Ok(hooks));
        self.jobs.start(spec.with_owner(&self.owner)).await
    }

    fn reporter(&self) -> Completions {
        self.jobs
            .completions(&Scope::root(), Some(self.owner.key()))
    }
}

/// A producer that ends when it is told to.
#[derive(Clone, Default)]
struct Puppet(Arc<Mutex<Strings>>);

#[derive(Default)]
struct Strings {
    outcome: Option<Outcome>,
    waker: Option<Waker>,
    cancels: usize,
    on_cancel: OnCancel,
}

#[derive(Clone, Copy, Default)]
enum OnCancel {
    #[default]
    Ignore,
    Die,
    Refuse,
}

impl Puppet {
    fn on_cancel(reaction: OnCancel) -> Self {
        let puppet = Self::default();
        puppet.0.lock().unwrap().on_cancel = reaction;
        puppet
    }

    fn settle(&self, outcome: Outcome) {
        let mut strings = self.0.lock().unwrap();
        strings.outcome.get_or_insert(outcome);
        let waker = strings.waker.take();
        drop(strings);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn cancels(&self) -> usize {
        self.0.lock().unwrap().cancels
    }

    fn hooks(&self) -> Hooks {
        let (cancelled, ended) = (self.clone(), self.clone());
        let cancel = move |_reason: Option<&str>| {
            let reaction = {
                let mut strings = cancelled.0.lock().unwrap();
                strings.cancels += 1;
                strings.on_cancel
            };
            match reaction {
                OnCancel::Ignore => Ok(()),
                OnCancel::Die => {
                    cancelled.settle(Outcome::killed());
                    Ok(())
                }
                OnCancel::Refuse => Err(ProducerError::new("no")),
            }
        };
        let done = std::future::poll_fn(move |cx| {
            let mut strings = ended.0.lock().unwrap();
            if let Some(outcome) = strings.outcome.clone() {
                return Poll::Ready(outcome);
            }
            strings.waker = Some(cx.waker().clone());
            Poll::Pending
        });
        Hooks::new(cancel, done)
    }
}

/// Two waiters that wait before the end, a kill by the model, two reporters,
/// and drops anywhere: the completion is told, and by one side only.
#[test]
fn shares() {
    check("shares", || {
        block_on(async {
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
                    std::future::poll_fn(|cx| Poll::Ready(wait.as_mut().poll(cx).is_pending()))
                        .await;
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
    });
}

/// A producer's end against a forced one: one wins, and everybody sees it.
#[test]
fn settle_and_settle() {
    check("settle_and_settle", || {
        block_on(async {
            let world = World::new(Config::default());
            let puppet = Puppet::on_cancel(OnCancel::Refuse);
            let id = world.start(&puppet).await.unwrap();
            let waits: Vec<_> = (0..2)
                .map(|_| {
                    let (world, id) = (Arc::clone(&world), id.clone());
                    spawn(async move {
                        world
                            .jobs
                            .settled(&id, &world.caller())
                            .await
                            .map(|job| Snapshot::clone(&job))
                    })
                })
                .collect();
            let producer = spawn({
                let puppet = puppet.clone();
                async move { puppet.settle(Outcome::completed()) }
            });
            let closer = spawn({
                let world = Arc::clone(&world);
                async move { world.owner.close().await }
            });
            producer.await.unwrap();
            closer.await.unwrap();
            let mut seen: Vec<Status> = Vec::new();
            for wait in waits {
                match wait.await.unwrap() {
                    Ok(job) => seen.push(job.status()),
                    Err(Error::UnknownJob { .. }) => {}
                    Err(error) => panic!("unexpected: {error}"),
                }
            }
            assert!(seen.iter().all(|status| *status == seen[0]), "{seen:?}");
            assert!(
                seen.iter()
                    .all(|status| matches!(status, Status::Completed | Status::Failed)),
                "{seen:?}"
            );
            assert!(matches!(
                world.jobs.get(&id, &world.caller()).await,
                Err(Error::UnknownJob { .. })
            ));
            assert!(matches!(
                world.start(&Puppet::default()).await,
                Err(Error::OwnerClosed { .. })
            ));
        });
    });
}

/// Starts against a close: what started was cancelled, and nothing is left.
#[test]
fn start_and_close() {
    check("start_and_close", || {
        block_on(async {
            let world = World::new(Config::default());
            let starts: Vec<_> = (0..3)
                .map(|_| {
                    let world = Arc::clone(&world);
                    spawn(async move {
                        let puppet = Puppet::on_cancel(OnCancel::Die);
                        let started = world.start(&puppet).await;
                        (started, puppet)
                    })
                })
                .collect();
            world.owner.close().await;
            assert_eq!(world.jobs.list(&world.caller()).await.unwrap(), []);
            for start in starts {
                let (started, puppet) = start.await.unwrap();
                match started {
                    Ok(id) => {
                        assert!(puppet.cancels() > 0, "{id} started and was not cancelled");
                        assert!(matches!(
                            world.jobs.get(&id, &world.caller()).await,
                            Err(Error::UnknownJob { .. })
                        ));
                    }
                    Err(Error::OwnerClosed { .. }) => {}
                    Err(error) => panic!("unexpected: {error}"),
                }
            }
            assert_eq!(world.jobs.list(&world.caller()).await.unwrap(), []);
        });
    });
}

/// Starts at the limit: none passes it, and a place comes back with its job.
#[test]
fn start_and_start_at_the_limit() {
    check("start_and_start_at_the_limit", || {
        block_on(async {
            let limit = std::num::NonZeroU32::new(2).unwrap();
            let world = World::new(Config::default().with_max_concurrent_jobs_per_owner(limit));
            let live = Arc::new(AtomicUsize::new(0));
            let starts: Vec<_> = (0..3)
                .map(|_| {
                    let (world, live) = (Arc::clone(&world), Arc::clone(&live));
                    spawn(async move {
                        let puppet = Puppet::default();
                        match world.start(&puppet).await {
                            Ok(id) => {
                                assert!(
                                    live.fetch_add(1, Ordering::SeqCst) < 2,
                                    "the limit was passed"
                                );
                                yield_now().await;
                                live.fetch_sub(1, Ordering::SeqCst);
                                puppet.settle(Outcome::of(TerminalStatus::Completed));
                                world
                                    .jobs
                                    .settled(&id, &world.caller())
                                    .await
                                    .unwrap()
                                    .commit();
                                world.start(&Puppet::on_cancel(OnCancel::Die)).await.is_ok()
                            }
                            Err(Error::LimitReached { .. }) => false,
                            Err(error) => panic!("unexpected: {error}"),
                        }
                    })
                })
                .collect();
            let mut restarted = 0;
            for start in starts {
                restarted += usize::from(start.await.unwrap());
            }
            assert!(restarted > 0, "no place came back");
            world.owner.close().await;
        });
    });
}
