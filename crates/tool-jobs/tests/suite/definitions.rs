//! What hosts and models know of the tools before they call them.

use jobs::tool::{PresentationKind, ToolCall};
use serde_json::{Value, json};
use tool_jobs::{JobTools, ToolsConfig};

use crate::world::world;

#[tokio::test]
async fn cards_are_for_good_arguments() {
    let world = world(ToolsConfig::default());
    let [output, list, kill] = world.tools.tools().try_into().ok().unwrap();
    let card = output
        .present(&json!({ "job_id": "bash-1", "wait": true }))
        .unwrap();
    assert_eq!(card.title, "Read output from background job bash-1");
    assert_eq!(
        (card.kind, card.raw_input),
        (PresentationKind::Read, Some(json!("bash-1")))
    );
    let card = output.present(&json!({ "job_id": "" })).unwrap();
    assert_eq!(card.title, "Read output from background job ");
    let card = list.present(&json!({})).unwrap();
    assert_eq!(
        (card.title.as_str(), card.raw_input),
        ("List background jobs", None)
    );
    let card = kill.present(&json!({ "job_id": "subagent-2" })).unwrap();
    assert_eq!(card.title, "Kill background job subagent-2");
    assert_eq!(card.kind, PresentationKind::Execute);
    assert_eq!(output.present(&json!({})), None);
    assert_eq!(kill.present(&json!({ "job_id": 3 })), None);
}

#[tokio::test]
async fn a_tool_of_the_list_bounds_what_it_answers() {
    let world = world(ToolsConfig::default());
    let _job = world.start("build", Some(16)).await;
    let kill = world.tools.tools().remove(2);
    assert!(!kill.definition().bounds_itself);
    assert!(world.tools.tools()[0].definition().bounds_itself);
    let call = ToolCall::new(
        json!({ "job_id": "bash-1", "reason": 7 }),
        world.owner.caller(),
    );
    assert_eq!(kill.call(call).await.deliver().text(), "esult truncated]");
}

#[tokio::test]
async fn definitions_are_stable_and_within_their_budgets() {
    let world = world(ToolsConfig::default());
    let wire = |tools: &JobTools| -> String {
        let wires: Vec<Value> = tools
            .tools()
            .iter()
            .map(|tool| {
                let tool = tool.definition();
                json!({ "name": tool.name, "description": tool.description,
                    "input_schema": tool.input_schema })
            })
            .collect();
        serde_json::to_string(&wires).unwrap()
    };
    let first = wire(&world.tools);
    let bytes = first.len() - "[,,]".len();
    assert!(bytes <= 1554, "{bytes} bytes of schemas: {first}");
    let section = world.tools.prompt_section();
    assert!(
        section.text.len() <= 384,
        "{} bytes of prompt",
        section.text.len()
    );
    assert_eq!((section.name, section.order), ("tool:jobs", 106));
    for _call in 0..1000 {
        let _list = world.call("job_list", json!({})).await;
        assert!(wire(&world.tools) == first, "the schemas changed");
        assert_eq!(world.tools.prompt_section(), section);
    }
    insta::assert_snapshot!("wire", first);
    let outputs: Vec<Value> = world
        .tools
        .tools()
        .iter()
        .map(|tool| tool.definition().output_schema.clone())
        .collect();
    let outputs = serde_json::to_string_pretty(&outputs).unwrap();
    insta::assert_snapshot!("outputs", outputs);
}
