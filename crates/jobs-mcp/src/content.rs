//! From the tools' results to the protocol's.

use jobs::tool::{Content, ToolResult};
use rmcp::model::{CallToolResult, ContentBlock};

use crate::toolbox::Shape;

/// The protocol's form of a result, with `front` before the tool's own blocks.
pub(crate) fn result(
    result: ToolResult,
    shape: Shape,
    front: Option<ContentBlock>,
) -> CallToolResult {
    let blocks = |content: Vec<Content>| front.into_iter().chain(content.into_iter().map(block));
    match result {
        ToolResult::Success { content, value } => {
            let mut result = CallToolResult::success(blocks(content).collect());
            result.structured_content = Some(shape.wrap(value));
            result
        }
        ToolResult::Failure { content } => CallToolResult::error(blocks(content).collect()),
    }
}

/// A block that the protocol does not know is shown as it is spelled.
fn block(content: Content) -> ContentBlock {
    match content {
        Content::Text(text) => ContentBlock::text(text),
        Content::Other(value) => serde_json::from_value(value.clone())
            .unwrap_or_else(|_| ContentBlock::text(value.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_front_comes_first_and_values_are_objects() {
        let given = ToolResult::Success {
            content: vec![
                Content::Text("two".into()),
                Content::Other(json!({ "type": "image", "data": "AA==", "mimeType": "image/png" })),
                Content::Other(json!({ "type": "hologram" })),
            ],
            value: json!([1]),
        };
        let front = Some(ContentBlock::text("one"));
        let wire = serde_json::to_value(result(given, Shape::Under("jobs"), front)).expect("JSON");
        assert_eq!(wire["structuredContent"], json!({ "jobs": [1] }));
        assert_eq!(wire["isError"], json!(false));
        let kinds: Vec<_> = wire["content"]
            .as_array()
            .expect("blocks")
            .iter()
            .map(|block| (block["type"].clone(), block["text"].clone()))
            .collect();
        assert_eq!(
            kinds,
            [
                (json!("text"), json!("one")),
                (json!("text"), json!("two")),
                (json!("image"), json!(null)),
                (json!("text"), json!(r#"{"type":"hologram"}"#)),
            ]
        );
    }

    #[test]
    fn a_failure_has_no_structured_content() {
        let wire = result(ToolResult::failure("Error: no"), Shape::Bare, None);
        let wire = serde_json::to_value(wire).expect("JSON");
        assert_eq!(wire["isError"], json!(true));
        assert_eq!(wire.get("structuredContent"), None);
    }
}
