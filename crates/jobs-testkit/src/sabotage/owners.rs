//! Faults of owners: C-70 to C-74.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use crate::puppet::Puppet;
use async_trait::async_trait;
use jobs::{
    Caller, Error, JobId, JobRegistry, JobSpec, Outcome, Owner, OwnerControl, OwnerKey, Scope,
    SessionId,
};
use parking_lot::Mutex;

use super::broken::{Fault, Inner};

/// C-70: a replaced instance starts jobs of the one that replaced it.
#[derive(Default)]
pub(super) struct ReplacedInstancesStart(Mutex<HashMap<SessionId, OwnerKey>>);

#[async_trait]
impl Fault for ReplacedInstancesStart {
    async fn start(&self, jobs: &Inner, mut spec: JobSpec) -> Result<JobId, Error> {
        if let Some(owner) = &mut spec.owner
            && let Some(current) = self.0.lock().get(&owner.session)
        {
            *owner = current.clone();
        }
        jobs.start(spec).await
    }

    fn owner(&self, jobs: &Inner, session: SessionId, scope: Scope) -> Owner {
        let owner = jobs.owner(session.clone(), scope);
        self.0.lock().insert(session, owner.key().clone());
        owner
    }
}

/// An owner whose end another fault has in its hands.
struct Control {
    jobs: Weak<dyn JobRegistry>,
    owner: Mutex<Option<Owner>>,
    how: How,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    CloseWithoutWaiting,
    IgnoreDrops,
    HandNothingOver,
    HangAfterShutdown,
    ChangeAtEveryClose,
}

fn controlled(jobs: &Inner, session: SessionId, scope: Scope, how: How) -> Owner {
    let owner = jobs.owner(session, scope.clone());
    let key = owner.key().clone();
    let control = Control {
        jobs: Arc::downgrade(jobs),
        owner: Mutex::new(Some(owner)),
        how,
    };
    Owner::new(key, scope, Arc::new(control))
}

impl Control {
    fn owner(&self) -> Owner {
        let owner = self.owner.lock();
        owner.clone().expect("the handle lives")
    }
}

#[async_trait]
impl OwnerControl for Control {
    async fn close(&self) {
        let owner = self.owner();
        let jobs = self.jobs.upgrade().expect("the registry lives");
        match self.how {
            How::CloseWithoutWaiting => {
                tokio::spawn(async move { owner.close().await });
                return;
            }
            How::HangAfterShutdown if jobs.list(&Caller::Anonymous).await.is_err() => {
                return std::future::pending().await;
            }
            How::ChangeAtEveryClose => {
                let (spec, puppet) = Puppet::spec("job", "a change");
                puppet.settle(Outcome::completed());
                drop(jobs.start(spec.with_owner(&owner)).await);
            }
            _ => {}
        }
        owner.close().await;
    }

    async fn hand_over(&self, to: &OwnerKey) -> Result<(), Error> {
        if self.how == How::HandNothingOver {
            return Ok(());
        }
        // The key is all there is of the other owner; its own control is not
        // asked for it.
        let to = Owner::new(to.clone(), Scope::root(), Arc::new(Nobody));
        self.owner().hand_over(&to).await
    }

    fn abandon(&self) {
        let owner = self.owner.lock().take();
        if self.how == How::IgnoreDrops {
            // It never ends: a leak is the fault.
            Box::leak(Box::new(owner));
        }
    }
}

/// The control of a handle that only carries a key.
struct Nobody;

#[async_trait]
impl OwnerControl for Nobody {
    async fn close(&self) {}

    async fn hand_over(&self, _to: &OwnerKey) -> Result<(), Error> {
        Ok(())
    }

    fn abandon(&self) {}
}

/// C-72: a close does not wait.
#[derive(Default)]
pub(super) struct ClosesDoNotWait;

#[async_trait]
impl Fault for ClosesDoNotWait {
    fn owner(&self, jobs: &Inner, session: SessionId, scope: Scope) -> Owner {
        controlled(jobs, session, scope, How::CloseWithoutWaiting)
    }
}

/// C-73: the drop of the last handle does nothing.
#[derive(Default)]
pub(super) struct DropsDoNothing;

#[async_trait]
impl Fault for DropsDoNothing {
    fn owner(&self, jobs: &Inner, session: SessionId, scope: Scope) -> Owner {
        controlled(jobs, session, scope, How::IgnoreDrops)
    }
}

/// C-74: a hand-over moves nothing.
#[derive(Default)]
pub(super) struct HandOversMoveNothing;

#[async_trait]
impl Fault for HandOversMoveNothing {
    fn owner(&self, jobs: &Inner, session: SessionId, scope: Scope) -> Owner {
        controlled(jobs, session, scope, How::HandNothingOver)
    }
}

/// C-80: an owner cannot be closed after the shutdown.
#[derive(Default)]
pub(super) struct LateClosesHang;

#[async_trait]
impl Fault for LateClosesHang {
    fn owner(&self, jobs: &Inner, session: SessionId, scope: Scope) -> Owner {
        controlled(jobs, session, scope, How::HangAfterShutdown)
    }
}

/// C-66: the close of an owner without jobs is a change.
#[derive(Default)]
pub(super) struct EveryCloseIsAChange;

#[async_trait]
impl Fault for EveryCloseIsAChange {
    fn owner(&self, jobs: &Inner, session: SessionId, scope: Scope) -> Owner {
        controlled(jobs, session, scope, How::ChangeAtEveryClose)
    }
}
