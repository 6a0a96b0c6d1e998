//! Reporters that come and go: the innermost is served, and nothing is
//! stranded.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use jobs::{JobRegistry, Outcome, Scope};
use jobs_local::Config;
use shuttle::future::{spawn, yield_now};

use crate::support::{Puppet, World, check, coin, offered};

/// An inner reporter that goes while jobs end: the outer one is offered
/// nothing before that, and everything that is left after it.
#[test]
fn an_inner_reporter_goes() {
    check("an_inner_reporter_goes", || async {
        let scope = Scope::root().child("inner");
        let world = World::at(Config::default(), scope.clone());
        let puppets = [Puppet::default(), Puppet::default()];
        for puppet in &puppets {
            world.start(puppet).await.unwrap();
        }
        let mut inner = world.jobs.completions(&scope, None);
        let mut outer = world.jobs.completions(&Scope::root(), None);
        let gone = Arc::new(AtomicBool::new(false));
        let told = Arc::new(AtomicUsize::new(0));
        let inner = spawn({
            let (gone, told) = (Arc::clone(&gone), Arc::clone(&told));
            async move {
                if let Some(completion) = offered(&mut inner).await {
                    yield_now().await;
                    if coin() {
                        told.fetch_add(1, Ordering::SeqCst);
                        completion.commit();
                    }
                }
                gone.store(true, Ordering::SeqCst);
            }
        });
        let settles =
            puppets.map(|puppet| spawn(async move { puppet.settle(Outcome::completed()) }));
        // While the outer one waits the inner one may go and leave it the rest.
        let outer = spawn({
            let (gone, told) = (Arc::clone(&gone), Arc::clone(&told));
            async move {
                for _ in 0..4 {
                    if let Some(completion) = offered(&mut outer).await {
                        assert!(gone.load(Ordering::SeqCst), "offered past the inner one");
                        told.fetch_add(1, Ordering::SeqCst);
                        completion.commit();
                    }
                    yield_now().await;
                }
                outer
            }
        });
        inner.await.unwrap();
        for settle in settles {
            settle.await.unwrap();
        }
        let mut outer = outer.await.unwrap();
        while told.load(Ordering::SeqCst) < 2 {
            outer.next().await.expect("nothing is stranded").commit();
            told.fetch_add(1, Ordering::SeqCst);
        }
        let list = world.jobs.list(&world.caller()).await.unwrap();
        assert!(list.iter().all(jobs::Snapshot::reported));
        assert!(offered(&mut outer).await.is_none(), "told twice");
        world.owner.close().await;
    });
}

/// An inner reporter that comes while a job ends: one of the two is offered
/// it, whichever order they come in; the outer one only before that.
#[test]
fn an_inner_reporter_comes() {
    check("an_inner_reporter_comes", || async {
        let scope = Scope::root().child("inner");
        let world = World::at(Config::default(), scope.clone());
        let puppet = Puppet::default();
        let id = world.start(&puppet).await.unwrap();
        let mut outer = world.jobs.completions(&Scope::root(), None);
        let came = Arc::new(AtomicBool::new(false));
        let comes = spawn({
            let (world, id, came) = (Arc::clone(&world), id.clone(), Arc::clone(&came));
            async move {
                let mut inner = world.reporter();
                came.store(true, Ordering::SeqCst);
                // It stays until the job is told, by whichever of the two.
                loop {
                    if let Some(completion) = offered(&mut inner).await {
                        completion.commit();
                        return 1;
                    }
                    if world.get(&id).await.reported() {
                        return 0;
                    }
                    yield_now().await;
                }
            }
        });
        let settles = spawn(async move { puppet.settle(Outcome::completed()) });
        let mut told = 0;
        for _ in 0..3 {
            let had_come = came.load(Ordering::SeqCst);
            if let Some(completion) = offered(&mut outer).await {
                assert!(!had_come, "offered past the inner one");
                yield_now().await;
                if coin() {
                    completion.commit();
                    told += 1;
                }
            }
            yield_now().await;
        }
        drop(outer);
        told += comes.await.unwrap();
        settles.await.unwrap();
        assert_eq!(told, 1, "told by one of them");
        world.owner.close().await;
    });
}

/// Reporters of many owners and of one that come and go while jobs end, with
/// none before them: whatever they leave untold is offered to the one that stays.
#[test]
fn reporters_come_and_go() {
    check("reporters_come_and_go", || async {
        let world = World::new(Config::default());
        let puppets = [Puppet::default(), Puppet::default()];
        for puppet in &puppets {
            world.start(puppet).await.unwrap();
        }
        let settles =
            puppets.map(|puppet| spawn(async move { puppet.settle(Outcome::completed()) }));
        let goes: Vec<_> = (0..2)
            .map(|_| {
                let world = Arc::clone(&world);
                spawn(async move {
                    let owner = coin().then(|| world.owner.key());
                    let mut reporter = world.jobs.completions(&Scope::root(), owner);
                    match offered(&mut reporter).await {
                        Some(completion) if coin() => {
                            completion.commit();
                            1
                        }
                        _ => 0,
                    }
                })
            })
            .collect();
        let mut stays = world.jobs.completions(&Scope::root(), None);
        let mut told = 0;
        for go in goes {
            told += go.await.unwrap();
        }
        for _ in told..2 {
            stays.next().await.expect("nothing is stranded").commit();
        }
        for settle in settles {
            settle.await.unwrap();
        }
        assert!(offered(&mut stays).await.is_none(), "told twice");
        let list = world.jobs.list(&world.caller()).await.unwrap();
        assert!(list.iter().all(jobs::Snapshot::reported));
        world.owner.close().await;
    });
}
