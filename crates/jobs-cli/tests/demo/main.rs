//! `agent-jobs demo`, from outside: the built binary, its output, what it ran, what it leaves.

mod colour;
mod endings;
mod support;

use serde_json::Value;
use support::{Bash, Demo, carriers};

#[test]
fn it_ends_well_and_shows_every_part() {
    let text = Demo::new().succeeds();
    for title in [
        "1  A background start",
        "2  A list",
        "3  A wait that times out while the job lives",
        "4  A delta read",
        "5  A wait that is served",
        "6  A kill of a process tree",
        "7  A notice joins a busy agent",
        "8  A notice wakes an idle agent",
        "9  The wake budget",
        "10  An output limit at work",
        "11  A foreign session",
        "12  Teardown",
    ] {
        assert!(text.lines().any(|line| line == title), "{title}\n{text}");
    }
    assert!(
        text.contains("\nEverything was as it should be: "),
        "{text}"
    );
    assert!(!text.contains("FAILED"), "{text}");
    assert!(!text.contains('\u{1b}'), "colour in a pipe: {text}");
}

#[test]
fn every_command_is_run_by_the_bash_on_path_and_none_is_left() {
    let bash = Bash::logging();
    let lines = parse(&Demo::new().json().with_bash(&bash).succeeds());
    let shown = commands(&lines);
    assert!(shown.len() > 10, "{shown:?}");

    let (cookie, directory) = run(&lines);
    let mut ran = Vec::new();
    for (mark, command) in bash.log() {
        assert!(
            format!("AGENT_JOBS_RUN={mark}").starts_with(&cookie),
            "{mark}: {command}"
        );
        ran.push(command);
    }
    assert_eq!(ran, shown);
    assert_eq!(carriers(&cookie), Vec::<String>::new());
    assert!(!std::path::Path::new(&directory).exists());
}

#[test]
fn the_transcript_for_people_has_the_same_commands() {
    let bash = Bash::logging();
    let text = Demo::new().with_bash(&bash).succeeds();
    let shown: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("$ "))
        .collect();
    let ran: Vec<String> = bash.log().into_iter().map(|(_, command)| command).collect();
    assert_eq!(ran, shown);
}

#[test]
fn json_lines_hold_id_pid_and_milliseconds() {
    let lines = parse(&Demo::new().json().succeeds());
    let mut last = 0;
    for line in &lines {
        let ms = line["ms"].as_u64().expect("milliseconds");
        assert!(ms >= last, "time runs backwards: {line}");
        last = ms;
        let fields = line.as_object().expect("an object");
        assert!(fields["id"].is_string() || fields["id"].is_null(), "{line}");
        assert!(fields["pid"].is_i64() || fields["pid"].is_null(), "{line}");
    }
    assert!(last < 60_000, "it took {last} ms");

    // Each job has the process that its command runs in, from its start on.
    let started: Vec<_> = of(&lines, "answer")
        .filter(|line| {
            let text = line["text"].as_str().expect("a text");
            text.starts_with("started background job ")
        })
        .collect();
    assert_eq!(started.len(), 8);
    for line in &started {
        assert!(
            line["id"].as_str().expect("an id").starts_with("bash-"),
            "{line}"
        );
        assert!(line["pid"].as_i64().expect("a pid") > 1, "{line}");
    }
    let tree = of(&lines, "processes")
        .find(|line| line["id"] == "bash-2")
        .expect("the tree was looked at");
    let found = tree["processes"].as_array().expect("a list");
    assert!(found.len() >= 6, "{tree}");
    assert_eq!(found[0]["pid"], started[1]["pid"]);

    let verdict = lines.last().expect("a line");
    assert_eq!(verdict["event"], "verdict");
    assert_eq!(verdict["failed"], 0);
    let checks = of(&lines, "check").count() as u64;
    assert_eq!(verdict["checks"].as_u64(), Some(checks));
}

fn parse(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

fn of<'a>(lines: &'a [Value], event: &'a str) -> impl Iterator<Item = &'a Value> {
    lines.iter().filter(move |line| line["event"] == event)
}

fn commands(lines: &[Value]) -> Vec<String> {
    of(lines, "call")
        .filter(|line| line["tool"] == "bash")
        .map(|line| {
            line["arguments"]["command"]
                .as_str()
                .expect("a command")
                .to_owned()
        })
        .collect()
}

/// The cookie and the directory of a run.
fn run(lines: &[Value]) -> (String, String) {
    let run = of(lines, "run").next().expect("a beginning");
    let text = |field: &str| run[field].as_str().expect("a text").to_owned();
    (text("cookie"), text("directory"))
}
