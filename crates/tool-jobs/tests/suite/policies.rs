//! A host's policies around the calls: what the model reads, and what counts
//! as delivered.

use crate::world::{World, world};
use async_trait::async_trait;
use jobs::tool::{Content, Reply, ToolResult};
use jobs::{CancellationToken, Outcome};
use serde_json::{Value, json};
use tool_jobs::{
    AroundPolicy, Inbox, Invocation, Judgement, Next, Policies, PolicyError, PostPolicy, PrePolicy,
    ToolsConfig, Verdict,
};

/// A policy that does what its closure says.
struct Do<F>(F);

#[async_trait]
impl<F: Fn() -> Result<Verdict, PolicyError> + Send + Sync> PrePolicy for Do<F> {
    async fn before(&self, _call: &Invocation<'_>) -> Result<Verdict, PolicyError> {
        (self.0)()
    }
}

#[async_trait]
impl<F: Fn(&ToolResult) -> Result<Judgement, PolicyError> + Send + Sync> PostPolicy for Do<F> {
    async fn after(
        &self,
        _call: &Invocation<'_>,
        result: &ToolResult,
    ) -> Result<Judgement, PolicyError> {
        (self.0)(result)
    }
}

/// Runs the rest of the call and changes the reply, or answers in its place.
enum Around {
    Map(fn(ToolResult) -> ToolResult),
    Instead(fn() -> Result<Reply, PolicyError>),
}

#[async_trait]
impl AroundPolicy for Around {
    async fn around(&self, call: &Invocation<'_>, next: Next<'_>) -> Result<Reply, PolicyError> {
        assert_eq!(call.tool, "job_output");
        match self {
            Self::Map(change) => Ok(next.run().await.map(change)),
            Self::Instead(answer) => answer(),
        }
    }
}

fn pre(decide: impl Fn() -> Result<Verdict, PolicyError> + Send + Sync + 'static) -> Policies {
    Policies::new().with_pre(Do(decide))
}

fn post(
    judge: impl Fn(&ToolResult) -> Result<Judgement, PolicyError> + Send + Sync + 'static,
) -> Policies {
    Policies::new().with_post(Do(judge))
}

fn around(policy: Around) -> Policies {
    Policies::new().with_around(policy)
}

/// An ended job with output that nobody has read.
async fn ended(limit: Option<u64>) -> World {
    let world = world(ToolsConfig::default());
    let job = world.start("work", limit).await;
    job.write("canonical output");
    job.ended(Outcome::completed()).await;
    world
}

async fn read(world: &World, policies: &Policies) -> Reply {
    let arguments = json!({ "job_id": "bash-1" });
    world
        .reply_under(policies, "job_output", arguments, &CancellationToken::new())
        .await
}

/// What a plain read finds afterwards, and whether the end counts as told.
async fn left(world: &World) -> (String, bool) {
    let id = "bash-1".parse().unwrap();
    let told = world
        .registry
        .get(&id, &world.owner.caller())
        .await
        .unwrap()
        .reported();
    let rest = world
        .registry
        .read(&id, &world.owner.caller())
        .await
        .unwrap();
    (rest.text.clone(), told)
}

fn unread() -> (String, bool) {
    ("canonical output".to_owned(), false)
}

fn all_delivered() -> (String, bool) {
    (String::new(), true)
}

#[tokio::test]
async fn accepting_changes_nothing() {
    let world = ended(None).await;
    let policies = pre(|| Ok(Verdict::Allow))
        .with_around(Around::Map(|result| result))
        .with_post(Do(|_: &ToolResult| Ok(Judgement::Accept)));
    let reply = read(&world, &policies).await;
    assert_eq!(
        reply.deliver().text(),
        "canonical output\n[status: completed]"
    );
    assert_eq!(left(&world).await, all_delivered());
}

#[tokio::test]
async fn a_denial_delivers_nothing() {
    let world = ended(Some(64)).await;
    let reply = read(&world, &pre(|| Ok(Verdict::Deny("d".repeat(1000))))).await;
    let result = reply.deliver();
    assert!(result.is_error());
    assert_eq!(result.text(), "d".repeat(45) + "\n[result truncated]");
    let reply = read(&world, &pre(|| Ok(Verdict::Deny("no".into())))).await;
    assert_eq!(reply.deliver().text(), "Error: no");
    assert_eq!(left(&world).await, unread());
}

#[tokio::test]
async fn a_stage_that_fails_or_panics_drops_the_receipt() {
    let failed = || Err(PolicyError::new("a policy\nfailed"));
    for (policies, text) in [
        (pre(failed), "Error: a policy failed"),
        (pre(|| panic!("pre bug")), "Error: policy panicked: pre bug"),
        (
            around(Around::Instead(|| Err(PolicyError::new("around")))),
            "Error: around",
        ),
        (
            around(Around::Instead(|| panic!("around bug"))),
            "Error: policy panicked: around bug",
        ),
        (
            around(Around::Map(|_| panic!("map bug"))),
            "Error: policy panicked: map bug",
        ),
        (post(|_| Err(PolicyError::new("post"))), "Error: post"),
        (
            post(|_| panic!("post bug")),
            "Error: policy panicked: post bug",
        ),
    ] {
        let world = ended(None).await;
        let result = read(&world, &policies).await.deliver();
        assert!(result.is_error());
        assert_eq!(result.text(), text);
        assert_eq!(left(&world).await, unread(), "{text}");
    }
}

#[tokio::test]
async fn errors_of_stages_are_bounded() {
    let world = ended(Some(64)).await;
    let policies = post(|_| Err(PolicyError::new("post failed ".repeat(90))));
    let text = read(&world, &policies).await.deliver().text();
    assert_eq!(
        text,
        "t failed post failed post failed post failed \n[result truncated]"
    );
}

#[tokio::test]
async fn replaced_content_keeps_value_and_delivery() {
    let world = ended(Some(64)).await;
    let policies = post(|_| {
        Ok(Judgement::ReplaceContent(vec![Content::Text(
            "p".repeat(1000),
        )]))
    });
    let result = read(&world, &policies).await.deliver();
    assert_eq!(result.text(), "p".repeat(45) + "\n[result truncated]");
    assert_eq!(result.value().unwrap()["text"], "canonical output");
    assert_eq!(left(&world).await, all_delivered());
}

#[tokio::test]
async fn other_shapes_are_kept() {
    let world = ended(Some(16)).await;
    let blocks = vec![
        Content::Text("a".repeat(100)),
        Content::Text("b".repeat(100)),
    ];
    let image = vec![Content::Other(
        json!({ "type": "image", "data": "x".repeat(100) }),
    )];
    for content in [blocks, image] {
        let replaced = content.clone();
        let policies = post(move |_| Ok(Judgement::ReplaceContent(replaced.clone())));
        assert_eq!(read(&world, &policies).await.deliver().content(), content);
    }
}

fn value(text: &str) -> Value {
    json!({ "text": text, "job": { "id": "zzz-9", "kind": "k", "label": "l",
        "status": "failed", "detail": "rewritten", "startedAt": 1 } })
}

#[tokio::test]
async fn a_replaced_value_is_rendered_by_the_tool() {
    let world = ended(Some(64)).await;
    let policies = post(|_| Ok(Judgement::ReplaceValue(value(&"v".repeat(200)))));
    let result = read(&world, &policies).await.deliver();
    let expected = "v".repeat(17) + "\n[output truncated]\n[status: failed, rewritten]";
    assert_eq!(result.text(), expected);
    assert_eq!(result.value(), Some(&value(&"v".repeat(200))));
    assert_eq!(left(&world).await, all_delivered());
}

#[tokio::test]
async fn a_short_circuit_without_content_is_rendered_too() {
    let world = ended(Some(64)).await;
    let policies = around(Around::Instead(|| {
        let (content, value) = (Vec::new(), value("short"));
        Ok(ToolResult::Success { content, value }.into())
    }));
    let result = read(&world, &policies).await.deliver();
    assert_eq!(result.text(), "short\n[status: failed, rewritten]");
    assert_eq!(left(&world).await, unread(), "the body did not run");
}

#[tokio::test]
async fn a_value_of_the_wrong_shape_names_tool_and_field() {
    for (wrong, fault) in [
        (json!({ "text": "x" }), "value: missing field `job`"),
        (json!({ "text": 1 }), "value.text: invalid type"),
        (
            json!({ "text": "x", "job": { "id": "a-1" } }),
            "value.job: missing field `kind`",
        ),
        (
            json!({ "text": "x", "jobs": 1 }),
            "value.jobs: unknown field `jobs`",
        ),
    ] {
        let world = ended(None).await;
        let policies = post(move |_| Ok(Judgement::ReplaceValue(wrong.clone())));
        let text = read(&world, &policies).await.deliver().text();
        let start = format!("Error: tool \"job_output\" returned invalid output: {fault}");
        assert!(text.starts_with(&start), "{text}");
        assert_eq!(left(&world).await, unread());
    }
}

#[tokio::test]
async fn a_block_shows_the_output_as_read_and_the_end_as_untold() {
    let world = ended(None).await;
    let inbox = Inbox::new();
    let policies = post(|result| {
        assert!(result.text().contains("canonical"));
        Ok(Judgement::Block("secrets in the output".into()))
    });
    let reply = read(&world, &policies).await;
    let _attached = world.tools.attach(&world.owner, inbox.clone());
    // The share is back before the delivery: nobody waits for it.
    crate::world::soon(inbox.woken()).await;
    let result = reply.deliver();
    assert!(result.is_error());
    assert_eq!(result.text(), "Error: secrets in the output");
    assert_eq!(left(&world).await, all_delivered());
    assert_eq!(inbox.begin_turn().claim().len(), 1);
}

#[tokio::test]
async fn policies_nest_in_their_order() {
    fn append(result: ToolResult, mark: &str) -> ToolResult {
        let text = result.text() + mark;
        match result {
            ToolResult::Success { value, .. } => ToolResult::success(text, value),
            ToolResult::Failure { .. } => ToolResult::failure(text),
        }
    }
    let world = ended(None).await;
    let policies = Policies::new()
        .with_around(Around::Map(|result| append(result, "-outer")))
        .with_around(Around::Map(|result| append(result, "-inner")))
        .with_post(Do(|result: &ToolResult| {
            let text = result.text() + "-post";
            Ok(Judgement::ReplaceContent(vec![Content::Text(text)]))
        }));
    let text = read(&world, &policies).await.deliver().text();
    assert_eq!(
        text,
        "canonical output\n[status: completed]-inner-outer-post"
    );
}

#[tokio::test]
async fn a_call_cancelled_by_then_delivers_nothing() {
    let world = ended(None).await;
    let cancel = CancellationToken::new();
    let firing = cancel.clone();
    let policies = post(move |_| {
        firing.cancel();
        Ok(Judgement::Accept)
    });
    let arguments = json!({ "job_id": "bash-1" });
    let reply = world
        .reply_under(&policies, "job_output", arguments, &cancel)
        .await;
    assert_eq!(reply.deliver().text(), "Error: tool call aborted");
    assert_eq!(left(&world).await, unread());
}

/// A policy that never answers.
struct Stuck;

#[async_trait]
impl PrePolicy for Stuck {
    async fn before(&self, _call: &Invocation<'_>) -> Result<Verdict, PolicyError> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_stuck_policy_can_be_cancelled() {
    let world = ended(None).await;
    let cancel = CancellationToken::new();
    let policies = Policies::new().with_pre(Stuck);
    let arguments = json!({ "job_id": "bash-1" });
    let (reply, ()) = tokio::join!(
        world.reply_under(&policies, "job_output", arguments, &cancel),
        async { cancel.cancel() }
    );
    assert_eq!(reply.deliver().text(), "Error: tool call aborted");
}
