//! C-06: a producer's code may call anything of the registry.
//!
//! A call that would have to wait is finished by a task; one that waits for a
//! lock of its own registry hangs the thread, which the watchdog reports.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use jobs::{Caller, JobId, JobRegistry, JobSpec, KilledBy, Outcome, Scope, SessionId};

use super::stage::{Stage, World, idle, now, peek};
use crate::puppet::Puppet;
use crate::source::ScriptedSource;

/// Calls everything, once: what is called may lead here again.
#[derive(Clone)]
struct Everything {
    jobs: Arc<dyn JobRegistry>,
    caller: Caller,
    other: JobId,
    begun: Arc<AtomicBool>,
    ended: Arc<AtomicUsize>,
}

type Call = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How many calls [`Everything`] makes.
const CALLS: usize = 12;

impl Everything {
    async fn new(stage: &Stage, caller: Caller) -> Self {
        let (other, _puppet) = stage.begin_unowned().await;
        Self {
            jobs: Arc::clone(&stage.jobs),
            caller,
            other,
            begun: Arc::default(),
            ended: Arc::default(),
        }
    }

    fn call(&self, own: Option<&JobId>) {
        if self.begun.swap(true, Ordering::SeqCst) {
            return;
        }
        let own = own.unwrap_or(&self.other).clone();
        let calls: [fn(Self, JobId) -> Call; CALLS] = [
            |it, id| Box::pin(async move { drop(it.jobs.get(&id, &it.caller).await) }),
            |it, _| Box::pin(async move { drop(it.jobs.list(&it.caller).await) }),
            |it, id| Box::pin(async move { drop(it.jobs.read(&id, &it.caller).await) }),
            |it, id| Box::pin(async move { drop(it.jobs.observe(&id, &it.caller, 0, None).await) }),
            |it, id| {
                Box::pin(async move {
                    drop(it.jobs.kill(&id, &it.caller, KilledBy::Host, None).await);
                })
            },
            |it, _| {
                Box::pin(async move {
                    let kill = it
                        .jobs
                        .kill(&it.other, &it.caller, KilledBy::Host, None)
                        .await;
                    drop(kill.map(jobs::Receipt::commit));
                })
            },
            |it, id| Box::pin(async move { drop(now(it.jobs.settled(&id, &it.caller))) }),
            |it, _| {
                Box::pin(async move {
                    let (spec, puppet) = Puppet::spec("inner", "inner");
                    let id = it.jobs.start(spec).await.expect("an inner job starts");
                    puppet.settle(Outcome::completed());
                    drop(it.jobs.get(&id, &Caller::Anonymous).await);
                })
            },
            |it, _| Box::pin(async move { drop(it.jobs.controller("inner", &Scope::root())) }),
            |it, _| {
                Box::pin(async move { drop(now(it.jobs.completions(&Scope::root(), None).next())) })
            },
            |it, _| Box::pin(async move { drop(now(it.jobs.changes(&Scope::root()).next())) }),
            |it, _| {
                Box::pin(async move {
                    let owner = it.jobs.owner(SessionId::new("inner"), Scope::root());
                    owner.close().await;
                })
            },
        ];
        for call in calls {
            let (it, ended) = (self.clone(), Arc::clone(&self.ended));
            let own = own.clone();
            let mut call: Call = Box::pin(async move {
                call(it, own).await;
                ended.fetch_add(1, Ordering::SeqCst);
            });
            if peek(&mut call).is_none() {
                tokio::spawn(call);
            }
        }
    }

    async fn assert_called(&self) {
        idle().await;
        assert!(self.begun.load(Ordering::SeqCst), "the producer's code ran");
        assert_eq!(self.ended.load(Ordering::SeqCst), CALLS, "calls that ended");
    }
}

async fn scene(world: &World) -> (Stage, JobSpec, Puppet, Arc<ScriptedSource>, Everything) {
    let stage = world.stage().await;
    let source = ScriptedSource::new("text");
    let (spec, puppet) = Puppet::streaming("job", "a job", source.clone());
    let everything = Everything::new(&stage, Caller::Anonymous).await;
    (stage, spec, puppet, source, everything)
}

pub(super) async fn a_starter_may_call_anything(world: World) {
    let (stage, spec, puppet, _source, everything) = scene(&world).await;
    let inside = everything.clone();
    puppet.on_start(move |id| {
        inside.call(Some(id));
        Ok(())
    });
    stage.must_start(spec).await;
    everything.assert_called().await;
    stage.still_works().await;
}

pub(super) async fn a_cancel_may_call_anything(world: World) {
    let (stage, spec, puppet, _source, everything) = scene(&world).await;
    let id = stage.must_start(spec).await;
    let inside = everything.clone();
    puppet.on_cancel({
        let id = id.clone();
        move |_| {
            inside.call(Some(&id));
            Ok(())
        }
    });
    let kill = stage
        .kill(&id, &Caller::Anonymous, KilledBy::Model, None)
        .await;
    kill.expect("the kill is accepted").commit();
    everything.assert_called().await;
    stage.still_works().await;
}

pub(super) async fn a_source_may_call_anything(world: World) {
    let (stage, spec, _puppet, source, everything) = scene(&world).await;
    let id = stage.must_start(spec).await;
    let inside = everything.clone();
    source.on_read({
        let id = id.clone();
        move |_| {
            inside.call(Some(&id));
            Ok(())
        }
    });
    let read = stage.must_read(&id, &Caller::Anonymous).await.commit();
    assert_eq!(read.text, "text");
    everything.assert_called().await;
    stage.still_works().await;
}

pub(super) async fn a_detail_may_call_anything(world: World) {
    let (stage, spec, puppet, _source, everything) = scene(&world).await;
    let id = stage.must_start(spec).await;
    let inside = everything.clone();
    puppet.on_detail({
        let id = id.clone();
        move || {
            inside.call(Some(&id));
            Some("busy".to_owned())
        }
    });
    let job = stage.get(&id, &Caller::Anonymous).await.expect("the job");
    assert_eq!(job.detail(), Some("busy"));
    everything.assert_called().await;
    stage.still_works().await;
}

pub(super) async fn a_done_may_call_anything(world: World) {
    let (stage, spec, puppet, _source, everything) = scene(&world).await;
    let id = stage.must_start(spec).await;
    let inside = everything.clone();
    let own = id.clone();
    puppet.settle_with(async move {
        inside.call(Some(&own));
        Outcome::completed()
    });
    let settled = stage.settled(&id, &Caller::Anonymous).await;
    assert!(settled.expect("it ends").commit().is_terminal());
    everything.assert_called().await;
    stage.still_works().await;
}

pub(super) async fn a_drop_of_hooks_may_call_anything(world: World) {
    let (stage, spec, puppet, _source, everything) = scene(&world).await;
    let id = stage.must_start(spec).await;
    let inside = everything.clone();
    let own = id.clone();
    puppet.on_release(move || inside.call(Some(&own)));
    puppet.settle(Outcome::completed());
    let settled = stage.settled(&id, &Caller::Anonymous).await;
    assert!(settled.expect("it ends").commit().is_terminal());
    everything.assert_called().await;
    stage.still_works().await;
}

pub(super) async fn a_cancel_of_a_teardown_may_call_anything(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let everything = Everything::new(&stage, owner.caller()).await;
    let (id, puppet) = stage.begin(&owner).await;
    let inside = everything.clone();
    puppet.on_cancel({
        let puppet = puppet.clone();
        move |_| {
            inside.call(Some(&id));
            puppet.settle(Outcome::killed());
            Ok(())
        }
    });
    owner.close().await;
    everything.assert_called().await;
    stage.still_works().await;
}
