//! The script of the demo: what happens, and what must be seen.
//!
//! Commands that must end at a certain point wait for a file, so that no result hangs on how fast
//! the machine is.

mod busy;

use std::num::NonZeroU32;
use std::time::Duration;

use serde_json::json;

use super::expect::Test;
use super::script::{Act, Again, Ask, Finds, Heard, Line, MARKER, Opening};

/// The session whose jobs the demo is about.
pub(crate) const SESSION: &str = "session-1";
/// Another session of the same registry.
pub(crate) const OTHER: &str = "session-2";
/// How often notices may wake the idle agent in a row.
pub(crate) const WAKES: NonZeroU32 = NonZeroU32::new(2).expect("not zero");
/// The most bytes that the model sees of a job at once.
pub(crate) const OUTPUT_LIMIT: NonZeroU32 = NonZeroU32::new(400).expect("not zero");

/// How often output that is on its way is asked for, and how long each time.
const PATIENCE: u32 = 100;
const PAUSE: Duration = Duration::from_millis(100);

/// All turns, in their order.
pub(crate) fn acts() -> Vec<Act> {
    vec![
        busy::act(),
        wake(
            "bash-4",
            "checked-1",
            Some("8  A notice wakes an idle agent"),
        ),
        wake("bash-5", "checked-2", Some("9  The wake budget")),
        budget(),
        output_limit(),
        server(),
        foreign(),
        unharmed(),
    ]
}

/// A job ends while the agent is idle.
fn wake(job: &'static str, file: &'static str, title: Option<&'static str>) -> Act {
    let label = file.replace("checked-", "check ");
    Act {
        session: SESSION,
        title,
        opening: Opening::Wake { job, file },
        lines: vec![
            Line::Hears(vec![notice(job, &label, "exit code: 0")]),
            Ask::output(job)
                .is(
                    "the notice says how to read on",
                    format!("{label} passed\n[status: completed, exit code: 0]"),
                )
                .line(),
            Line::Ends,
        ],
    }
}

fn budget() -> Act {
    const ASK: &str = "Anything new? Then print the numbers.";
    Act {
        session: SESSION,
        title: None,
        opening: Opening::NoWake {
            job: "bash-6",
            file: "checked-3",
            text: ASK,
        },
        lines: vec![
            Line::Hears(vec![
                notice("bash-6", "check 3", "exit code: 0"),
                Heard::User(ASK.into()),
            ]),
            Ask::background("numbers", &format!("{} echo {{1..300}}", until("printed")))
                .is("the answer names the job", "started background job bash-7")
                .line(),
            Line::Ends,
        ],
    }
}

/// The user's message gave the budget back: the next end wakes again.
fn output_limit() -> Act {
    let numbers: Vec<_> = (1..=300).map(|number: u32| number.to_string()).collect();
    let numbers = numbers.join(" ") + "\n";
    let limit = OUTPUT_LIMIT.get() as usize;
    Act {
        session: SESSION,
        title: Some("10  An output limit at work"),
        opening: Opening::Wake {
            job: "bash-7",
            file: "printed",
        },
        lines: vec![
            Line::Hears(vec![notice("bash-7", "numbers", "exit code: 0")]),
            Ask::output("bash-7")
                .expect("it is no longer than the limit", Test::Within(limit))
                .expect("it keeps the end", Test::Has(" 299 300\n"))
                .expect(
                    "and counts what is left out",
                    Test::Has("\n[output truncated: "),
                )
                .line(),
            Ask::new("job_output", json!({ "job_id": "bash-7", "from": MARKER }))
                .expect("a page is no longer than the limit", Test::Within(limit))
                .again(Again::Pages(numbers))
                .line(),
            Line::Ends,
        ],
    }
}

fn server() -> Act {
    const ASK: &str = "Start the new server.";
    let command = "trap '' TERM; setsid sleep 400 & echo serving; while :; do sleep 1; done";
    Act {
        session: SESSION,
        title: Some("11  A foreign session"),
        opening: Opening::User(ASK),
        lines: vec![
            Line::Hears(vec![Heard::User(ASK.into())]),
            Ask::background("new server", command)
                .is("the answer names the job", "started background job bash-8")
                .line(),
            Line::Ends,
        ],
    }
}

fn foreign() -> Act {
    const ASK: &str = "Which jobs are there? Stop bash-8.";
    const REFUSED: &str = "Error: job bash-8 belongs to another session";
    Act {
        session: OTHER,
        title: None,
        opening: Opening::User(ASK),
        lines: vec![
            Line::Hears(vec![Heard::User(ASK.into())]),
            Ask::new("job_list", json!({}))
                .is("it sees no job of another session", "(no background jobs)")
                .line(),
            Ask::output("bash-8")
                .refused("it reads none", REFUSED)
                .line(),
            Ask::new("job_kill", json!({ "job_id": "bash-8" }))
                .refused("it stops none", REFUSED)
                .line(),
            Line::Ends,
        ],
    }
}

fn unharmed() -> Act {
    const ASK: &str = "Is the server up?";
    Act {
        session: SESSION,
        title: None,
        opening: Opening::User(ASK),
        lines: vec![
            Line::Hears(vec![Heard::User(ASK.into())]),
            Ask::wait("bash-8", PAUSE)
                .is("the job is unharmed", "serving\n[status: running]")
                .again(Again::Until(PATIENCE))
                .line(),
            Line::Looks {
                job: "bash-8",
                says: "its processes are there",
                finds: Finds::All(&["sleep 400"]),
            },
            Line::Ends,
        ],
    }
}

/// The notice of a job that ended by itself.
fn notice(job: &str, label: &str, detail: &str) -> Heard {
    Heard::Notice(format!(
        "background job {job} (bash: {label}) finished [status: completed, {detail}]. \
         Read its output with job_output."
    ))
}

/// Shell text that waits for a file.
fn until(file: &str) -> String {
    format!("until [ -e {file} ]; do sleep 0.05; done;")
}
