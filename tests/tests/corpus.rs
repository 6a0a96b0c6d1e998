//! Replays what the fuzz targets have found: `data/corpus/<target>.txt`, one
//! input a line, as a JSON string whose characters stand for bytes.

use std::path::Path;

use jobs_tests::fuzz::TARGETS;

fn inputs(target: &str) -> Vec<Vec<u8>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("data/corpus/{target}.txt"));
    let text = std::fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text.lines()
        .map(|line| {
            let line: String = serde_json::from_str(line).expect("a JSON string");
            let bytes = line.chars().map(u8::try_from);
            bytes.collect::<Result<_, _>>().expect("a byte a character")
        })
        .collect()
}

#[test]
fn the_corpus_of_each_target_holds() {
    for (name, body) in TARGETS {
        let inputs = inputs(name);
        assert!(inputs.len() >= 40, "{name} has {} inputs", inputs.len());
        for input in &inputs {
            body(input);
        }
        println!("{name}: {} inputs", inputs.len());
    }
}
