//! A registry that takes its time to read, as one on a database would, or that
//! has a bug there.

use std::sync::Arc;

use async_trait::async_trait;
use jobs::{
    Caller, Changes, Completions, Delta, Error, JobId, JobRegistry, JobSpec, Kill, KilledBy,
    Outcome, Owner, OwnerKey, Receipt, Registration, Scope, SessionId, Snapshot,
};
use serde_json::json;
use tool_jobs::{Inbox, JobTools, ToolsConfig};

use crate::world::{soon, world};

struct Slow(Arc<dyn JobRegistry>, Read);

enum Read {
    Late,
    Panics,
}

#[async_trait]
impl JobRegistry for Slow {
    async fn start(&self, spec: JobSpec) -> Result<JobId, Error> {
        self.0.start(spec).await
    }

    async fn get(&self, id: &JobId, caller: &Caller) -> Result<Snapshot, Error> {
        self.0.get(id, caller).await
    }

    async fn list(&self, caller: &Caller) -> Result<Vec<Snapshot>, Error> {
        self.0.list(caller).await
    }

    async fn read(&self, id: &JobId, caller: &Caller) -> Result<Receipt<Delta>, Error> {
        if let Read::Panics = self.1 {
            panic!("a bug\nof the registry");
        }
        // Long enough for every other task to have its turn.
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        self.0.read(id, caller).await
    }

    async fn observe(
        &self,
        id: &JobId,
        caller: &Caller,
        from: u64,
        max: Option<usize>,
    ) -> Result<Delta, Error> {
        self.0.observe(id, caller, from, max).await
    }

    async fn kill(
        &self,
        id: &JobId,
        caller: &Caller,
        by: KilledBy,
        reason: Option<&str>,
    ) -> Result<Receipt<Kill>, Error> {
        self.0.kill(id, caller, by, reason).await
    }

    async fn settled(&self, id: &JobId, caller: &Caller) -> Result<Receipt<Snapshot>, Error> {
        self.0.settled(id, caller).await
    }

    async fn shutdown(&self) {
        self.0.shutdown().await;
    }

    fn owner(&self, session: SessionId, scope: Scope) -> Owner {
        self.0.owner(session, scope)
    }

    fn controller(&self, name: &str, scope: &Scope) -> Result<Registration, Error> {
        self.0.controller(name, scope)
    }

    fn completions(&self, scope: &Scope, owner: Option<&OwnerKey>) -> Completions {
        self.0.completions(scope, owner)
    }

    fn changes(&self, scope: &Scope) -> Changes {
        self.0.changes(scope)
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_holds_its_share_until_the_read_has_one() {
    let world = world(ToolsConfig::default());
    let inbox = Inbox::new();
    let _attached = world.tools.attach(&world.owner, inbox.clone());
    let scope = Scope::root().child("slow");
    let slow = Arc::new(Slow(Arc::clone(&world.registry), Read::Late));
    let tools = JobTools::mount(slow, scope, ToolsConfig::default()).unwrap();
    for arguments in [
        json!({ "job_id": "bash-1", "wait": true }),
        json!({ "job_id": "bash-2", "wait": true, "from": 0 }),
    ] {
        let job = world.start("build", None).await;
        let call = tools.call("job_output", arguments, world.owner.caller());
        let (reply, _id) = tokio::join!(soon(call), async {
            tokio::task::yield_now().await;
            job.end(Outcome::completed())
        });
        assert!(!inbox.is_busy(), "announced while the answer was under way");
        let sent = reply.deliver();
        assert!(sent.text().ends_with("[status: completed]"), "{sent:?}");
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        assert!(!inbox.is_busy(), "announced after the answer was delivered");
    }
}

#[tokio::test]
async fn a_panic_of_the_body_is_an_error_and_bounded() {
    let world = world(ToolsConfig::default());
    let scope = Scope::root().child("broken");
    let broken = Arc::new(Slow(Arc::clone(&world.registry), Read::Panics));
    let tools = JobTools::mount(broken, scope, ToolsConfig::default()).unwrap();
    for (limit, text) in [
        (None, "Error: tool panicked: a bug of the registry"),
        (Some(30), "he registry\n[result truncated]"),
    ] {
        let job = world.start("build", limit).await;
        let arguments = json!({ "job_id": job.id });
        let reply = tools
            .call("job_output", arguments, world.owner.caller())
            .await;
        let result = reply.deliver();
        assert!(result.is_error());
        assert_eq!(result.text(), text);
    }
}
