//! C-60: controllers and whom they serve.

use std::sync::Arc;

use jobs::{Caller, Error, JobRegistry, Outcome, Scope, SessionId, Status};

use super::stage::{World, idle, text};
use crate::harness::Settings;
use crate::puppet::Puppet;

async fn starts(jobs: &Arc<dyn JobRegistry>, scope: Option<&Scope>) -> bool {
    let owner = scope.map(|scope| jobs.owner(SessionId::new("s"), scope.clone()));
    let (spec, puppet) = Puppet::spec("job", "a job");
    let spec = match &owner {
        Some(owner) => spec.with_owner(owner),
        None => spec,
    };
    match jobs.start(spec).await {
        Ok(id) => {
            let caller = owner
                .as_ref()
                .map_or(Caller::Anonymous, jobs::Owner::caller);
            puppet.settle(Outcome::completed());
            let settled = jobs.settled(&id, &caller).await;
            settled.expect("it ends").commit();
            true
        }
        Err(error) => {
            assert_eq!(error, Error::NoController);
            assert_eq!(puppet.id(), None);
            false
        }
    }
}

pub(super) async fn a_controller_serves_its_scope_and_below(world: World) {
    let jobs = world.bare(Settings::default()).await;
    let preset = Scope::root().child("preset");
    let below = preset.child("below");
    let sibling = Scope::root().child("preset");
    let controller = jobs.controller("c", &preset).expect("a controller");
    assert!(starts(&jobs, Some(&preset)).await);
    assert!(starts(&jobs, Some(&below)).await);
    assert!(
        !starts(&jobs, Some(&sibling)).await,
        "a name is no identity"
    );
    assert!(!starts(&jobs, Some(&Scope::root())).await);
    assert!(
        !starts(&jobs, None).await,
        "unowned jobs are served at the root"
    );
    drop(controller);
    assert!(!starts(&jobs, Some(&preset)).await);
}

pub(super) async fn a_root_controller_serves_everyone(world: World) {
    let jobs = world.bare(Settings::default()).await;
    let deep = Scope::root().child("a").child("b");
    assert!(!starts(&jobs, Some(&deep)).await);
    let _controller = jobs.controller("c", &Scope::root()).expect("a controller");
    assert!(starts(&jobs, Some(&deep)).await);
    assert!(starts(&jobs, Some(&Scope::root())).await);
    assert!(starts(&jobs, None).await);
}

pub(super) async fn the_end_of_a_controller_stops_no_running_job(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    let super::stage::Stage { jobs, controller } = stage;
    drop(controller);
    assert!(!starts(&jobs, Some(&Scope::root())).await);
    assert_eq!(puppet.cancels(), []);
    let job = jobs.get(&id, &owner.caller()).await.expect("the job");
    assert_eq!(job.status(), Status::Running);
    puppet.settle(Outcome::completed());
    idle().await;
    let job = jobs.get(&id, &owner.caller()).await.expect("the job");
    assert_eq!(job.status(), Status::Completed);
}

pub(super) async fn one_of_two_controllers_is_enough(world: World) {
    let jobs = world.bare(Settings::default()).await;
    let preset = Scope::root().child("preset");
    let outer = jobs
        .controller("outer", &Scope::root())
        .expect("a controller");
    let inner = jobs.controller("inner", &preset).expect("a controller");
    let second = jobs.controller("second", &preset).expect("a controller");
    drop(outer);
    assert!(starts(&jobs, Some(&preset)).await);
    drop(inner);
    assert!(starts(&jobs, Some(&preset)).await);
    drop(second);
    assert!(!starts(&jobs, Some(&preset)).await);
}

pub(super) async fn a_controller_name_is_taken_once_at_a_scope(world: World) {
    let jobs = world.bare(Settings::default()).await;
    let preset = Scope::root().child("preset");
    let first = jobs.controller("c", &preset).expect("a controller");
    let second = jobs.controller("c", &preset);
    assert_eq!(
        text(second),
        "controller \"c\" is already registered at this scope: drop the other registration first"
    );
    assert!(starts(&jobs, Some(&preset)).await, "the first one stays");
    let _elsewhere = jobs.controller("c", &Scope::root()).expect("another scope");
    let _other = jobs.controller("d", &preset).expect("another name");
    drop(first);
    let again = jobs.controller("c", &preset);
    assert!(again.is_ok(), "{again:?}");
}
