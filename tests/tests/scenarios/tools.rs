//! The model tools, called as an agent.

use std::sync::Arc;
use std::time::Duration;

use jobs::tool::{Reply, Tool, ToolCall, ToolResult};
use jobs::{JobRegistry, Scope};
use serde_json::{Map, Value, json};
use tool_jobs::{JobTools, Policies, ToolsConfig};

use crate::handle::{self, Answer, Cancelled};
use crate::op::Op;
use crate::record::{Failure, Outcome};
use crate::world::World;
use crate::{agent, config, pipeline, registry, values};

/// Mounts the tools with the configuration of a scenario: as the reference cuts
/// texts, and without caps of their own, unless it says otherwise.
pub(crate) fn mount(
    registry: Arc<dyn JobRegistry>,
    scope: Scope,
    given: &Value,
) -> Result<Arc<JobTools>, Failure> {
    let mut settings = json!({
        "truncation": "plain",
        "defaultOutputLimitBytes": null,
        "listLimitBytes": null,
    });
    for (key, value) in given.as_object().into_iter().flatten() {
        settings[key] = value.clone();
    }
    let settings: ToolsConfig = config::read(&settings)?;
    Ok(Arc::new(JobTools::mount(registry, scope, settings)?))
}

/// The tools' check of a number of milliseconds.
pub(crate) fn wait_timeout(millis: f64) -> Result<Duration, Failure> {
    tool_jobs::wait_timeout(millis).map_err(Failure::from)
}

/// `output`, `list`, `kill`, `tool`
pub(crate) async fn call(world: &Arc<World>, op: &Op) -> Outcome {
    let name = match op.name() {
        "output" => "job_output",
        "list" => "job_list",
        "kill" => "job_kill",
        _ => op.need("name")?,
    };
    let name = name.to_owned();
    let caller = world.caller(op)?;
    let call = ToolCall::new(arguments(world, op), caller);
    let way = Way::of(world, op, &name)?;
    handle::call(world, op, |cancel| {
        let call = call.with_cancel(cancel);
        async move {
            let reply = match way {
                Way::None => unknown(&name),
                Way::Tool(tool) => tool.call(call).await,
                Way::Pipeline(tools, policies) => tools.call_under(&policies, &name, call).await,
            };
            Answer::new(|cancelled| Box::pin(async move { Ok(delivered(reply, cancelled)) }))
        }
    })
    .await
}

/// How a call gets to its tool.
enum Way {
    /// There is no such tool.
    None,
    /// Directly, so that a call that waits does not hold the mount.
    Tool(Arc<dyn Tool>),
    /// Through the policies of the script.
    Pipeline(Arc<JobTools>, Policies),
}

impl Way {
    fn of(world: &World, op: &Op, name: &str) -> Result<Self, Failure> {
        let Some(tools) = seen_by(world, op)? else {
            return Ok(Self::None);
        };
        let tool = named(&tools, name);
        Ok(match (tool, pipeline::policies(world)) {
            (None, _) => Self::None,
            (Some(tool), None) => Self::Tool(tool),
            (Some(_), Some(policies)) => Self::Pipeline(tools, policies),
        })
    }
}

fn named(tools: &JobTools, name: &str) -> Option<Arc<dyn Tool>> {
    let mut all = tools.tools().into_iter();
    all.find(|tool| tool.definition().name == name)
}

/// The arguments that a model would write.
fn arguments(world: &World, op: &Op) -> Value {
    if let Some(arguments) = op.given("args") {
        return values::sendable(arguments);
    }
    let mut arguments = Map::new();
    if op.name() != "list"
        && let Some(id) = registry::named(world, op)
    {
        arguments.insert("job_id".to_owned(), json!(id));
    }
    let keys: &[&str] = match op.name() {
        "output" => &["wait", "timeout_ms", "from"],
        "kill" => &["reason"],
        _ => &[],
    };
    for key in keys {
        if let Some(value) = op.given(key) {
            arguments.insert((*key).to_owned(), values::sendable(value));
        }
    }
    Value::Object(arguments)
}

/// The innermost tools along the scope of whoever calls.
fn seen_by(world: &World, op: &Op) -> Result<Option<Arc<JobTools>>, Failure> {
    let scope = match op.text("agent") {
        Some(name) => agent::named(world, name)?.scope.clone(),
        None => Scope::root(),
    };
    let state = world.state();
    let found = scope.chain().find_map(|scope| {
        let mut mounts = state.mounts.iter().filter(|mount| &mount.scope == scope);
        mounts.find_map(crate::mount::Mount::tools)
    });
    Ok(found)
}

/// What the host says of a tool that it has not.
fn unknown(name: &str) -> Reply {
    ToolResult::failure(format!("Error: unknown tool \"{name}\"")).into()
}

/// What the model gets. An answer whose call was cancelled meanwhile is not
/// delivered, unless it says so itself.
fn delivered(reply: Reply, cancelled: Cancelled) -> Value {
    if cancelled == Cancelled::Yes && !reply.preview().is_error() {
        drop(reply);
        return spelled(&ToolResult::failure("Error: tool call aborted"));
    }
    spelled(&reply.deliver())
}

fn spelled(result: &ToolResult) -> Value {
    let mut spelled = json!({ "text": result.text(), "isError": result.is_error() });
    if let Some(value) = result.value() {
        spelled["value"] = value.clone();
    }
    spelled
}

/// `present`
pub(crate) fn present(world: &World, op: &Op) -> Outcome {
    let name = op.text("tool").map_or_else(|| op.need("name"), Ok)?;
    let tool = seen_by(world, op)?
        .and_then(|tools| named(&tools, name))
        .ok_or_else(|| Failure::refused(format!("unknown tool \"{name}\"")))?;
    let arguments = values::sendable(op.given("args").unwrap_or(&Value::Null));
    let Some(card) = tool.present(&arguments) else {
        return Ok(json!("undefined"));
    };
    let mut spelled = json!({ "card": "generic", "title": card.title, "kind": card.kind.as_str() });
    if let Some(raw_input) = card.raw_input {
        spelled["rawInput"] = raw_input;
    }
    Ok(spelled)
}
