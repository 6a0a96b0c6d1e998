//! What a request carries of the tools, and what it costs.

use super::stage::Definitions;
use anyhow::{Result, ensure};
use jobs::tool::ToolDefinition;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write as _;

/// The most bytes of the three schemas together, compact (spec/tools.md, Tools).
pub(super) const SCHEMA_BUDGET: usize = 1554;
/// The most bytes of the prompt section.
pub(super) const PROMPT_BUDGET: usize = 384;

/// A tool as a host sends it, in compact JSON.
pub(super) fn of(tool: &ToolDefinition) -> String {
    #[derive(Serialize)]
    struct Wire<'a> {
        name: &'a str,
        description: &'a str,
        input_schema: &'a Value,
    }
    let wire = Wire {
        name: &tool.name,
        description: &tool.description,
        input_schema: &tool.input_schema,
    };
    serde_json::to_string(&wire).expect("a definition is JSON")
}

/// The bytes of the job tools together.
pub(super) fn schema_bytes(definitions: &Definitions) -> usize {
    definitions.jobs.iter().map(|tool| of(tool).len()).sum()
}

/// Everything that each request carries of the job tools, with its size.
pub(super) fn report(definitions: &Definitions) -> String {
    let mut report = String::new();
    let mut line = |text: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(report, "{text}");
    };
    for tool in &definitions.jobs {
        let wire = of(tool);
        line(&wire);
        line(&format!("{}: {} bytes\n", tool.name, wire.len()));
    }
    let prompt = definitions.prompt;
    line(prompt.text);
    line(&format!(
        "prompt section {}: {} bytes\n",
        prompt.name,
        prompt.text.len()
    ));
    line(&format!(
        "schemas: {} bytes of at most {SCHEMA_BUDGET}",
        schema_bytes(definitions)
    ));
    line(&format!(
        "prompt section: {} bytes of at most {PROMPT_BUDGET}",
        prompt.text.len()
    ));
    report
}

/// Holds schemas and prompt section to their budgets.
///
/// # Errors
///
/// If one is above.
pub(super) fn within_budgets(definitions: &Definitions) -> Result<()> {
    for (what, bytes, budget) in [
        ("the schemas take", schema_bytes(definitions), SCHEMA_BUDGET),
        (
            "the prompt section takes",
            definitions.prompt.text.len(),
            PROMPT_BUDGET,
        ),
    ] {
        ensure!(
            bytes <= budget,
            "{what} {bytes} bytes, at most {budget}: say it in fewer words"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::stage;
    use super::*;
    use serde_json::json;

    #[test]
    fn the_report_has_the_wire_forms_and_their_sizes() {
        let mut definitions = stage::definitions().expect("mounted tools");
        within_budgets(&definitions).expect("what is there fits");
        let report = report(&definitions);
        let wires: Vec<&str> = report
            .lines()
            .filter(|line| line.starts_with('{'))
            .collect();
        assert_eq!(wires.len(), 3);
        let total: usize = wires.iter().map(|wire| wire.len()).sum();
        assert!(report.contains(&format!("schemas: {total} bytes of at most 1554")));
        for (wire, tool) in wires.iter().zip(&definitions.jobs) {
            let sent: Value = serde_json::from_str(wire).expect("JSON");
            assert_eq!(sent["name"], json!(tool.name));
            assert_eq!(sent["input_schema"], tool.input_schema);
            assert!(report.contains(&format!("{}: {} bytes", tool.name, wire.len())));
        }
        definitions.jobs[1].description = "x".repeat(SCHEMA_BUDGET);
        assert!(within_budgets(&definitions).is_err());
    }
}
