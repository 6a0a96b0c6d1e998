//! The tools as clients are told of them: names, schemas and annotations, from the one definition
//! that each tool has.

use std::collections::HashMap;
use std::sync::Arc;

use jobs::tool::{Effect, Tool, ToolDefinition};
use rmcp::model::{JsonObject, Tool as WireTool, ToolAnnotations};
use serde_json::{Map, Value, json};

use crate::error::McpError;

/// What is served, by name.
pub(crate) struct Toolbox {
    listed: Vec<WireTool>,
    by_name: HashMap<String, Entry>,
}

/// One tool.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) shape: Shape,
}

/// How a value becomes structured content: older clients take objects only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// It is an object.
    Bare,
    /// It goes into an object, under this key.
    Under(&'static str),
}

impl Shape {
    fn of(definition: &ToolDefinition) -> Self {
        if definition.output_schema.get("type") == Some(&json!("object")) {
            Self::Bare
        } else if definition.name == "job_list" {
            Self::Under("jobs")
        } else {
            Self::Under("result")
        }
    }

    /// The structured content of a value.
    pub(crate) fn wrap(self, value: Value) -> Value {
        match self {
            Self::Bare => value,
            Self::Under(key) => json!({ key: value }),
        }
    }

    fn wrap_schema(self, schema: Value) -> Value {
        match self {
            Self::Bare => schema,
            Self::Under(key) => json!({
                "type": "object",
                "properties": { key: schema },
                "required": [key],
                "additionalProperties": false,
            }),
        }
    }
}

impl Toolbox {
    /// # Errors
    ///
    /// [`McpError::DuplicateTool`]; [`McpError::Schema`].
    pub(crate) fn new(
        tools: impl IntoIterator<Item = Arc<dyn Tool>>,
        prefix: &str,
    ) -> Result<Self, McpError> {
        let mut toolbox = Self {
            listed: Vec::new(),
            by_name: HashMap::new(),
        };
        for tool in tools {
            let definition = tool.definition();
            let name = format!("{prefix}{}", definition.name);
            let shape = Shape::of(definition);
            toolbox.listed.push(wire(&name, definition, shape)?);
            let entry = Entry { tool, shape };
            if toolbox.by_name.insert(name.clone(), entry).is_some() {
                return Err(McpError::DuplicateTool { name });
            }
        }
        Ok(toolbox)
    }

    /// All tools, in the order in which they were given.
    pub(crate) fn listed(&self) -> &[WireTool] {
        &self.listed
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Entry> {
        self.by_name.get(name)
    }
}

fn wire(name: &str, definition: &ToolDefinition, shape: Shape) -> Result<WireTool, McpError> {
    let input = object(name, "input", definition.input_schema.clone())?;
    let output = shape.wrap_schema(definition.output_schema.clone());
    let output = object(name, "output", output)?;
    let read_only = match definition.effect {
        Effect::ReadOnly => true,
        Effect::Destructive => false,
    };
    let annotations = ToolAnnotations::new()
        .read_only(read_only)
        .destructive(!read_only);
    Ok(
        WireTool::new(name.to_owned(), definition.description.clone(), input)
            .with_raw_output_schema(output)
            .with_annotations(annotations),
    )
}

fn object(tool: &str, which: &'static str, schema: Value) -> Result<Arc<JsonObject>, McpError> {
    match schema {
        Value::Object(schema) => Ok(Arc::new(schema.into_iter().collect::<Map<_, _>>())),
        _ => Err(McpError::Schema {
            tool: tool.to_owned(),
            which,
        }),
    }
}
