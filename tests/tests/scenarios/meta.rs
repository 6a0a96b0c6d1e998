//! The runner itself: what it must notice.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::check::{self, Differences, Report};

/// A folder of one scenario, which the reference answered as we do.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self::of(
            &json!([{"op": "start", "job": "a"}, {"op": "reg_ids"}]),
            &json!([
                {"result": {"id": "bash-1"}, "events": [
                    {"ev": "run", "job": "a"},
                    {"ev": "changed", "observer": "host", "owner": null},
                ]},
                {"result": ["bash-1:running"], "events": []},
            ]),
        )
    }

    fn of(ops: &Value, expected: &Value) -> Self {
        let folder = Self(TempDir::new().unwrap());
        folder.write("1-one.json", &json!({"config": {}, "ops": ops}));
        folder.write("1-one.expected.json", &json!({ "results": expected }));
        folder
    }

    fn write(&self, file: &str, value: &Value) {
        fs::write(self.0.path().join(file), value.to_string()).unwrap();
    }

    fn check(&self) -> Result<Report, String> {
        check::folder(self.0.path(), Differences::InFolder)
    }

    /// The deviations, each of which must name `op`.
    fn deviations(&self, op: usize) -> Vec<String> {
        let deviations = self.check().unwrap().deviations;
        for line in &deviations {
            assert!(
                line.starts_with(&format!("1-one op {op}: expected ")),
                "{line}"
            );
            assert!(line.contains(" got "), "{line}");
        }
        deviations
    }
}

#[test]
fn scenarios_that_agree_are_counted() {
    let report = Folder::new().check().unwrap();
    assert_eq!(
        report.to_string(),
        "1 scenarios, 2 ops compared, 0 listed, 0 deviations\n"
    );
}

#[test]
fn scenarios_need_their_folder() {
    let folder = TempDir::new().unwrap();
    let missing = folder.path().join("missing");
    let error = check::folder(&missing, Differences::InFolder).unwrap_err();
    assert!(error.contains("missing"), "{error}");

    let folder = Folder::new();
    let error = check::folder(folder.0.path(), Differences::In(&missing)).unwrap_err();
    assert!(error.contains("missing"), "{error}");
}

#[test]
fn scenarios_need_at_least_one() {
    let folder = Folder(TempDir::new().unwrap());
    folder.write("alone.json", &json!({"ops": []}));
    let error = folder.check().unwrap_err();
    assert!(error.ends_with("got 0"), "{error}");
}

#[test]
fn scenarios_with_an_unknown_op_deviate_unless_it_is_skipped() {
    let folder = Folder::of(
        &json!([{"op": "levitate"}, {"op": "hold"}, 7]),
        &json!([{"result": "up"}, {"result": "held"}, {"result": "seven"}]),
    );
    let deviations = folder.check().unwrap().deviations;
    assert_eq!(deviations.len(), 3, "{deviations:?}");
    assert!(deviations[0].contains("unknown op") && deviations[0].contains("levitate"));

    let skip = |op| json!({"scenario": "1-one", "op": op, "skip": true, "why": "a test"});
    folder.write("differences.json", &json!([skip(0), skip(1), skip(2)]));
    let report = folder.check().unwrap();
    assert_eq!(
        (report.deviations.len(), report.compared, report.listed),
        (0, 0, 3)
    );
}

#[test]
fn scenarios_whose_expectation_is_changed_deviate() {
    let ops = json!([{"op": "start", "job": "a"}]);
    let run = json!({"ev": "run", "job": "a"});
    let heard = json!({"ev": "changed", "observer": "host", "owner": null});
    let right = json!({"result": {"id": "bash-1"}, "events": [run, heard]});
    assert_eq!(
        Folder::of(&ops, &json!([right])).deviations(0),
        Vec::<String>::new()
    );
    for wrong in [
        json!({"result": {"id": "bash-2"}, "events": [run, heard]}),
        json!({"result": {}, "events": [run, heard]}),
        json!({"throws": "no shell", "events": [run, heard]}),
        json!({"result": {"id": "bash-1"}, "events": [run]}),
        json!({"result": {"id": "bash-1"}, "events": [heard]}),
        json!({"result": {"id": "bash-1"}, "events": []}),
    ] {
        let deviations = Folder::of(&ops, &json!([wrong])).deviations(0);
        assert_eq!(deviations.len(), 1, "{wrong}: {deviations:?}");
    }
}

#[test]
fn scenarios_whose_listed_difference_is_stale_deviate() {
    let folder = Folder::new();
    for (field, ours) in [
        ("result", json!(["bash-1:running"])),
        ("events", json!([])),
        ("throws", json!(null)),
    ] {
        let entry = |op: usize| json!({"scenario": "1-one", "op": op, "field": field, "ours": ours, "why": "a test"});
        folder.write("differences.json", &json!([entry(1)]));
        let deviations = folder.deviations(1);
        assert_eq!(deviations.len(), 1, "{deviations:?}");
        assert!(deviations[0].contains("no longer"), "{deviations:?}");

        folder.write("differences.json", &json!([entry(2)]));
        assert_eq!(folder.deviations(2).len(), 1);
    }
    let stray = json!({"scenario": "2-two", "op": 0, "skip": true, "why": "a test"});
    folder.write("differences.json", &json!([stray]));
    assert_eq!(folder.check().unwrap().deviations.len(), 1);
}

#[test]
fn scenarios_assert_the_value_of_a_listed_difference() {
    let folder = Folder::of(
        &json!([{"op": "reg_ids"}]),
        &json!([{"result": ["bash-1:running"]}]),
    );
    let entry = |ours| json!([{"scenario": "1-one", "op": 0, "field": "result", "ours": ours, "why": "a test"}]);
    folder.write("differences.json", &entry(json!([])));
    assert_eq!(folder.deviations(0), Vec::<String>::new());
    folder.write("differences.json", &entry(json!(["bash-2:running"])));
    assert_eq!(folder.deviations(0).len(), 1);
}
