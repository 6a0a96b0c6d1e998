//! Policies of a script in the pipeline of the tools.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use jobs::tool::{Content, Reply, ToolResult};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tool_jobs::{
    AroundPolicy, Invocation, Judgement, Next, Policies, PolicyError, PostPolicy, PrePolicy,
    Verdict,
};

use crate::op::Op;
use crate::record::{Failure, Outcome};
use crate::world::World;

/// One policy, and the calls that it is for.
pub(crate) struct Policy {
    stage: Stage,
    op: Op,
    left: Mutex<u64>,
    world: Weak<World>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Pre,
    Around,
    Post,
}

/// `policy`
pub(crate) fn install(world: &Arc<World>, op: &Op) -> Outcome {
    let stage = match op.text("stage") {
        Some("pre") => Stage::Pre,
        Some("around") => Stage::Around,
        Some("post") => Stage::Post,
        other => return Err(Failure::unknown(&format!("policy at stage {other:?}"))),
    };
    let policy = Policy {
        stage,
        left: Mutex::new(op.count("times").unwrap_or(u64::MAX)),
        op: op.clone(),
        world: Arc::downgrade(world),
    };
    world.state().policies.push(Arc::new(policy));
    Ok(json!("installed"))
}

/// All that were installed, in their order; none if there are none.
pub(crate) fn policies(world: &World) -> Option<Policies> {
    let installed = world.state().policies.clone();
    if installed.is_empty() {
        return None;
    }
    let mut policies = Policies::new();
    for policy in installed {
        let stage = policy.stage;
        let installed = Installed(policy);
        policies = match stage {
            Stage::Pre => policies.with_pre(installed),
            Stage::Around => policies.with_around(installed),
            Stage::Post => policies.with_post(installed),
        };
    }
    Some(policies)
}

struct Installed(Arc<Policy>);

impl Policy {
    /// Whether the policy has a say in a call; it has one less then.
    fn concerns(&self, invocation: &Invocation<'_>) -> bool {
        let asked = |key: &str, got: Option<&str>| {
            self.op.text(key).is_none_or(|wanted| Some(wanted) == got)
        };
        let argument = |key: &str| {
            let argument = invocation.call.arguments.get(key);
            argument.and_then(Value::as_str)
        };
        let concerned = asked("tool", Some(invocation.tool))
            && asked("job_id", argument("job_id"))
            && asked("reason", argument("reason"));
        let mut left = self.left.lock();
        if !concerned || *left == 0 {
            return false;
        }
        *left -= 1;
        true
    }

    /// What a policy does before it decides: the operations inside it, and its
    /// failure.
    async fn act(&self) -> Result<(), PolicyError> {
        if let Some(world) = self.world.upgrade() {
            for op in self.op.list("then") {
                let outcome = crate::ops::perform(world.clone(), op.clone()).await;
                world.reentrant(&op, &outcome);
            }
        }
        match self.op.get("throws") {
            None | Some(Value::Bool(false)) => Ok(()),
            Some(Value::String(text)) => Err(PolicyError::new(text.as_str())),
            Some(_) => Err(PolicyError::new("policy failed")),
        }
    }

    fn decision(&self) -> &Value {
        self.op.get("decision").unwrap_or(&Value::Null)
    }

    /// The first text among the words for a reason.
    fn reason(&self) -> String {
        let decision = self.decision();
        let word = ["reason", "feedback", "message", "text"]
            .into_iter()
            .find_map(|key| decision.get(key).and_then(Value::as_str));
        match (word, decision.get("content")) {
            (Some(word), _) => word.to_owned(),
            (None, Some(content)) => {
                let content = blocks(content);
                ToolResult::Failure { content }.text()
            }
            (None, None) => "denied".to_owned(),
        }
    }

    fn kind(&self) -> &str {
        self.decision()
            .get("kind")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

#[async_trait]
impl PrePolicy for Installed {
    async fn before(&self, invocation: &Invocation<'_>) -> Result<Verdict, PolicyError> {
        if !self.0.concerns(invocation) {
            return Ok(Verdict::Allow);
        }
        self.0.act().await?;
        match self.0.kind() {
            "" | "allow" | "accept" => Ok(Verdict::Allow),
            "deny" | "block" => Ok(Verdict::Deny(self.0.reason())),
            other => Err(PolicyError::new(format!("unknown decision \"{other}\""))),
        }
    }
}

#[async_trait]
impl AroundPolicy for Installed {
    async fn around(
        &self,
        invocation: &Invocation<'_>,
        next: Next<'_>,
    ) -> Result<Reply, PolicyError> {
        if !self.0.concerns(invocation) {
            return Ok(next.run().await);
        }
        self.0.act().await?;
        match self.0.op.get("result") {
            Some(result) => Ok(result_of(result).into()),
            None => Ok(next.run().await),
        }
    }
}

#[async_trait]
impl PostPolicy for Installed {
    async fn after(
        &self,
        invocation: &Invocation<'_>,
        _result: &ToolResult,
    ) -> Result<Judgement, PolicyError> {
        if !self.0.concerns(invocation) {
            return Ok(Judgement::Accept);
        }
        self.0.act().await?;
        let decision = self.0.decision();
        match (
            self.0.kind(),
            decision.get("content"),
            decision.get("value"),
        ) {
            ("" | "accept" | "allow" | "replace", Some(content), _) => {
                Ok(Judgement::ReplaceContent(blocks(content)))
            }
            ("" | "accept" | "allow" | "replace", None, Some(value)) => {
                Ok(Judgement::ReplaceValue(value.clone()))
            }
            ("" | "accept" | "allow", None, None) => Ok(Judgement::Accept),
            ("block" | "deny" | "reject", ..) => Ok(Judgement::Block(self.0.reason())),
            (other, ..) => Err(PolicyError::new(format!("unknown decision \"{other}\""))),
        }
    }
}

fn result_of(result: &Value) -> ToolResult {
    let content = blocks(result.get("content").unwrap_or(&Value::Null));
    match result.get("isError").and_then(Value::as_bool) {
        Some(true) => ToolResult::Failure { content },
        _ => ToolResult::Success {
            content,
            value: result.get("value").cloned().unwrap_or_default(),
        },
    }
}

fn blocks(content: &Value) -> Vec<Content> {
    if let Value::String(text) = content {
        return vec![Content::Text(text.clone())];
    }
    let block = |block: &Value| match (block.get("type"), block.get("text")) {
        (Some(Value::String(kind)), Some(Value::String(text))) if kind == "text" => {
            Content::Text(text.clone())
        }
        _ => Content::Other(block.clone()),
    };
    content
        .as_array()
        .into_iter()
        .flatten()
        .map(block)
        .collect()
}
