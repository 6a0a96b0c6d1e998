//! Reading again, to the last byte: of two streams, of a job that still writes
//! and loses, and under limits that leave hardly any room.

use jobs::{Outcome, Stream};
use serde_json::{Value, json};
use tool_jobs::ToolsConfig;

use crate::world::{World, soon, world};

/// One page: what the model and what a program reads, and where the model is
/// told to go on.
struct Page {
    text: String,
    value: Value,
    more: Option<u64>,
}

impl Page {
    fn offset(&self, name: &str) -> usize {
        let offset = self.value["range"][name].as_u64().unwrap();
        usize::try_from(offset).unwrap()
    }

    fn output(&self) -> &str {
        self.value["text"].as_str().unwrap()
    }
}

async fn page(world: &World, from: usize) -> Page {
    let arguments = json!({ "job_id": "bash-1", "from": from });
    let result = world.call("job_output", arguments).await;
    let text = result.text();
    let more = text.lines().last().and_then(|line| {
        let next = line.strip_prefix("[more: from=")?.strip_suffix(']')?;
        Some(next.parse().unwrap())
    });
    let value = result.value().unwrap().clone();
    Page { text, value, more }
}

/// All pages from the first byte on, as the last lines say.
async fn pages(world: &World) -> Vec<Page> {
    let mut all = vec![page(world, 0).await];
    while let Some(next) = all[all.len() - 1].more {
        let next = usize::try_from(next).unwrap();
        assert_eq!(next, all[all.len() - 1].offset("to"));
        all.push(page(world, next).await);
    }
    all
}

#[tokio::test]
async fn both_streams_are_read_to_the_last_byte() {
    let world = world(ToolsConfig::default());
    let job = world.start("build", Some(1024)).await;
    let mut pieces = Vec::new();
    let mut bytes = 0;
    while bytes < 200 * 1024 {
        let (stream, piece) = match pieces.len() % 3 {
            0 => (Stream::Stdout, format!("größer {bytes}\n漢字 ")),
            1 => (Stream::Stdout, "😀".repeat(pieces.len() % 40)),
            _ => (Stream::Stderr, format!("Warnung {bytes} — né\n")),
        };
        job.log.push(stream, piece.as_bytes());
        bytes += piece.len();
        pieces.push((stream, piece));
    }
    job.ended(Outcome::completed()).await;

    // What stdout wrote in a range, then what stderr did.
    let rendered = |from: usize, to: usize| {
        let (mut stdout, mut stderr, mut start) = (String::new(), String::new(), 0);
        for (stream, piece) in &pieces {
            let end = start + piece.len();
            let part = &piece[from.clamp(start, end) - start..to.clamp(start, end) - start];
            match stream {
                Stream::Stdout => stdout.push_str(part),
                Stream::Stderr => stderr.push_str(part),
            }
            start = end;
        }
        if stderr.is_empty() {
            return stdout;
        }
        if !stdout.is_empty() && !stdout.ends_with('\n') {
            stdout.push('\n');
        }
        stdout + "[stderr]\n" + &stderr
    };
    let mut read = 0;
    for page in pages(&world).await {
        assert!(page.text.len() <= 1024);
        assert_eq!(page.offset("from"), read);
        read = page.offset("to");
        let expected = rendered(page.offset("from"), read);
        assert_eq!(page.output(), expected);
        let shown = expected.strip_suffix('\n').unwrap_or(&expected);
        assert!(
            page.text
                .starts_with(&format!("{shown}\n[status: completed]"))
        );
    }
    assert_eq!(read, bytes);
}

/// Output whose every byte follows from its offset.
fn numbered(from: usize, to: usize) -> String {
    let lines: String = (from / 16..=to / 16)
        .map(|n| format!("{n:015}\n"))
        .collect();
    lines[from % 16..][..to - from].to_owned()
}

/// Checks a page of [`numbered`] output that was read from `from` on.
fn assert_numbered(page: &Page, from: usize) {
    let lost = page.offset("from") - from;
    let expected = numbered(page.offset("from"), page.offset("to"));
    if lost == 0 {
        assert_eq!(page.output(), expected);
    } else {
        assert!(page.output().starts_with(&expected));
        let first = format!("[{lost} bytes before are no longer kept]\n");
        assert!(page.text.starts_with(&first), "{}", page.text);
    }
}

#[tokio::test]
async fn a_page_counts_what_was_lost_since_the_one_before() {
    let world = world(ToolsConfig::default());
    let job = world.start("build", Some(4096)).await;
    job.write(&numbered(0, 1 << 20));
    let first = page(&world, 0).await;
    assert_numbered(&first, 0);
    let next = first.offset("to");
    job.write(&numbered(1 << 20, 3 << 19));
    let second = page(&world, next).await;
    assert_eq!(second.offset("from"), 1 << 19);
    assert_numbered(&second, next);
    let mut read = second.offset("to");
    while read < 3 << 19 {
        let page = page(&world, read).await;
        assert_numbered(&page, read);
        read = page.offset("to");
        assert_eq!(page.more.is_none(), read == 3 << 19);
    }
}

#[tokio::test]
async fn a_job_that_writes_and_loses_meanwhile_is_read_to_its_end() {
    const ALL: usize = 6 << 20;
    let world = world(ToolsConfig::default());
    let job = world.start("build", Some(4096)).await;
    let writer = tokio::task::spawn_blocking(move || {
        for from in (0..ALL).step_by(16 * 100) {
            job.write(&numbered(from, ALL.min(from + 16 * 100)));
        }
        job.end(Outcome::completed());
    });
    let mut read = 0;
    soon(async {
        while read < ALL {
            let page = page(&world, read).await;
            assert!(page.text.len() <= 4096);
            assert_numbered(&page, read);
            read = page.offset("to");
            tokio::task::yield_now().await;
        }
    })
    .await;
    writer.await.unwrap();
}

#[tokio::test]
async fn a_small_limit_turns_every_page() {
    let whole = "größer 漢字 😀\n".repeat(100);
    for (limit, detail) in [(40, 20), (64, 150), (100, 300), (150, 190), (1024, 5000)] {
        let world = world(ToolsConfig::default());
        let job = world.start("build", Some(limit)).await;
        job.write(&whole);
        let outcome = Outcome::failed().with_detail("d".repeat(detail));
        job.ended(outcome).await;
        let pages = pages(&world).await;
        let limit = usize::try_from(limit).unwrap();
        let read: String = pages.iter().map(Page::output).collect();
        assert_eq!(read, whole);
        assert!(pages.iter().all(|page| page.text.len() <= limit));
        let most = whole.len() / (limit / 4 - 3) + 1;
        assert!(pages.len() <= most, "{} pages under {limit}", pages.len());
    }
}
