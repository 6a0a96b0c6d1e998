//! Parts 1 to 7: one turn, in which the agent is busy.

use std::time::Duration;

use serde_json::json;

use super::{PATIENCE, PAUSE, SESSION, notice, until};
use crate::demo::expect::Test;
use crate::demo::script::{Act, Again, Ask, Finds, Heard, Line, Opening};

/// A wait that is too short.
const SHORT: Duration = Duration::from_millis(400);
/// A wait that is long enough.
const LONG: Duration = Duration::from_secs(15);

/// Parts 1 to 7: a turn in which the model is busy.
pub(super) fn act() -> Act {
    let mut lines = vec![Line::Hears(vec![Heard::User(BUILD.into())])];
    lines.extend(build_job());
    lines.extend(kill_tree());
    lines.extend(busy_notice());
    Act {
        session: SESSION,
        title: Some("1  A background start"),
        opening: Opening::User(BUILD),
        lines,
    }
}

const BUILD: &str = "Build it, test it, and stop the old server.";

fn build_job() -> Vec<Line> {
    let command = format!(
        "echo compiling; {} echo linking; {} sleep 0.3; echo built",
        until("linked"),
        until("packed")
    );
    let reading = |text: &str| format!("{text}\n[status: running]");
    vec![
        Ask::background("build", &command)
            .is("the answer names the job", "started background job bash-1")
            .line(),
        Line::Part("2  A list"),
        Ask::new("job_list", json!({}))
            .is("the job has its row", "bash-1 [bash] running — build")
            .line(),
        Line::Part("3  A wait that times out while the job lives"),
        Ask::wait("bash-1", SHORT)
            .is(
                "a timeout is no error: the job goes on",
                reading("compiling"),
            )
            .expect("it waited that long", Test::AtLeast(SHORT))
            .again(Again::Until(PATIENCE))
            .line(),
        Line::Part("4  A delta read"),
        Ask::output("bash-1")
            .is(
                "what was read is not read again",
                reading("(no new output)"),
            )
            .line(),
        Ask::command("touch linked")
            .is("a command in the foreground", "(no output)")
            .line(),
        Ask::wait("bash-1", PAUSE)
            .is("only what is new", reading("linking"))
            .again(Again::Until(PATIENCE))
            .line(),
        Line::Part("5  A wait that is served"),
        Ask::command("touch packed")
            .is("now the build can end", "(no output)")
            .line(),
        Ask::wait("bash-1", LONG)
            .is(
                "the wait ended with the job, and says how it ended",
                "built\n[status: completed, exit code: 0]",
            )
            .expect("it did not wait to its limit", Test::LessThan(LONG))
            .line(),
    ]
}

/// What the old server consists of, besides its shell.
const TREE: &[&str] = &[
    "sleep 300",
    "sleep 301",
    "sleep 302",
    "timeout 303 sleep 303",
    "sleep 303",
];

fn kill_tree() -> Vec<Line> {
    let command =
        "sleep 300 & setsid sleep 301 & (setsid sleep 302 &); timeout 303 sleep 303 & wait";
    vec![
        Line::Part("6  A kill of a process tree"),
        Ask::background("old server", command)
            .is("the answer names the job", "started background job bash-2")
            .line(),
        Line::Looks {
            job: "bash-2",
            says: "the whole tree is there, with sessions of its own and an orphan",
            finds: Finds::All(TREE),
        },
        Ask::new(
            "job_kill",
            json!({ "job_id": "bash-2", "reason": "not needed any more" }),
        )
        .is(
            "the kill is under way",
            "requested cancellation of job bash-2",
        )
        .line(),
        Ask::wait("bash-2", LONG)
            .is(
                "the job is over",
                "(no new output)\n[status: killed, signal: SIGTERM]",
            )
            .line(),
        Line::Looks {
            job: "bash-2",
            says: "over means that none of them is left",
            finds: Finds::None,
        },
    ]
}

fn busy_notice() -> Vec<Line> {
    let command = format!("{} echo '1 of 3 tests failed'; exit 1", until("tested"));
    vec![
        Line::Part("7  A notice joins a busy agent"),
        Ask::background("test", &command)
            .is("the answer names the job", "started background job bash-3")
            .line(),
        Ask::command("echo reviewing meanwhile")
            .is(
                "the agent goes on with something else",
                "reviewing meanwhile\n",
            )
            .line(),
        Line::Thinks {
            job: "bash-3",
            file: "tested",
        },
        // Its turn cannot end over what has arrived: it hears the notice in the same turn.
        Line::Ends,
        Line::Hears(vec![notice("bash-3", "test", "exit code: 1")]),
        Ask::output("bash-3")
            .is(
                "a failure is a result to read",
                "1 of 3 tests failed\n[status: completed, exit code: 1]",
            )
            .line(),
        checks("bash-4", "check 1", "checked-1"),
        checks("bash-5", "check 2", "checked-2"),
        checks("bash-6", "check 3", "checked-3"),
        Line::Ends,
    ]
}

/// A job that ends once a file is there.
fn checks(job: &str, label: &str, file: &str) -> Line {
    Ask::background(label, &format!("{} echo {label} passed", until(file)))
        .is(
            "the answer names the job",
            format!("started background job {job}"),
        )
        .line()
}
