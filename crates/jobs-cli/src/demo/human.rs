//! The transcript as people read it.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::report::{About, Event};

const TITLE: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const PLAIN: Style = Style::new();
const USER: Style = AnsiColor::Cyan.on_default();
const NOTICE: Style = AnsiColor::Yellow.on_default();
const CALL: Style = AnsiColor::Blue.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// Where the text of a row begins.
const MARGIN: &str = "                   ";

/// Writes one event. Colours are written always; a stream that shows none removes them.
pub(super) fn write(
    out: &mut dyn Write,
    ms: u64,
    about: About<'_>,
    event: &Event<'_>,
) -> io::Result<()> {
    let id = about.id.unwrap_or("a job");
    let mut row = |label: &str, style: Style, text: &str| {
        let seconds = format!("{}.{:03} s", ms / 1_000, ms % 1_000);
        write!(out, "{DIM}{seconds:>9}{DIM:#}  {style}{label:<6}{style:#}")?;
        for (index, line) in text.lines().enumerate() {
            let indent = if index == 0 { "  " } else { MARGIN };
            writeln!(out, "{indent}{line}")?;
        }
        if text.is_empty() {
            writeln!(out)?;
        }
        Ok(())
    };
    match event {
        Event::Run {
            cookie,
            shell,
            directory,
            containment,
        } => writeln!(
            out,
            "{TITLE}agent-jobs demo{TITLE:#}: a scripted model, real tools, real shell jobs\n\
             shell        {}\n\
             directory    {} (removed at the end)\n\
             containment  {containment}\n\
             run cookie   {cookie}, in the environment of every process that a command starts",
            shell.display(),
            directory.display(),
        ),
        Event::Part { title } => writeln!(out, "\n{TITLE}{title}{TITLE:#}"),
        Event::User { session, text } => row("user", USER, &format!("to {session}: {text}")),
        Event::Notice { text } => row("notice", NOTICE, text),
        Event::Call {
            session: _,
            tool,
            arguments,
        } => row("call", CALL, &call(tool, arguments)),
        Event::Answer { text, is_error, .. } => {
            row("saw", if *is_error { BAD } else { PLAIN }, text)
        }
        Event::TurnEnds => row("model", DIM, "asks for nothing more"),
        Event::Delivered { lane } => {
            let text = match *lane {
                "woke" => format!("{id} ended; its notice woke the idle agent"),
                _ => format!("{id} ended; its notice joined the inbox"),
            };
            row("told", NOTICE, &text)
        }
        Event::Outside { text } => row("demo", DIM, text),
        Event::Processes { processes } => {
            let lines: Vec<String> = processes
                .iter()
                .map(|process| format!("{:>7} {}", process.pid, process.command))
                .collect();
            let text = if lines.is_empty() {
                "no process".to_owned()
            } else {
                lines.join("\n")
            };
            row("/proc", DIM, &text)
        }
        Event::Check {
            holds: _,
            says,
            mismatch: None,
        } => row("ok", GOOD, says),
        Event::Check {
            says,
            mismatch: Some(mismatch),
            ..
        } => {
            let text = format!(
                "{says}\nexpected {}\ngot      {}",
                mismatch.expected, mismatch.got
            );
            row("FAILED", BAD, &text)
        }
        Event::Verdict { checks, failed: 0 } => {
            let seconds = format!("{}.{:03} s", ms / 1_000, ms % 1_000);
            writeln!(
                out,
                "\n{GOOD}Everything was as it should be{GOOD:#}: {checks} checks in {seconds}."
            )
        }
        Event::Verdict { checks, failed } => writeln!(
            out,
            "\n{BAD}Not as it should be{BAD:#}: {failed} of {checks} checks failed."
        ),
    }
}

/// `tool key=value …`; a command stands on a line of its own, as in a shell.
fn call(tool: &str, arguments: &serde_json::Value) -> String {
    let mut text = tool.to_owned();
    let mut command = None;
    for (name, value) in arguments.as_object().into_iter().flatten() {
        match value.as_str() {
            Some(line) if name == "command" => command = Some(line),
            _ => text.push_str(&format!(" {name}={value}")),
        }
    }
    if let Some(command) = command {
        text.push_str("\n$ ");
        text.push_str(command);
    }
    text
}
