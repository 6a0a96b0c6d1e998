//! Reading again, page by page, and what small limits leave.

use jobs::{Outcome, Stream};
use serde_json::json;
use tool_jobs::ToolsConfig;
use tool_jobs::fit::Truncation;

use crate::world::world;

#[tokio::test]
async fn two_hundred_kilobytes_are_read_by_following_the_markers() {
    let world = world(ToolsConfig::default());
    let job = world.start("build", Some(1024)).await;
    let mut whole = String::new();
    while whole.len() < 200 * 1024 {
        whole.push_str(&format!("line {} größer 漢字 😀\n", whole.len()));
        if whole.len().is_multiple_of(7) {
            whole.push('\n');
        }
    }
    job.write(&whole);
    job.ended(Outcome::completed()).await;
    let read = world
        .call("job_output", json!({ "job_id": "bash-1" }))
        .await;
    let text = read.text();
    assert!(text.len() <= 1024 && text.ends_with("[status: completed]"));
    let marker = text.lines().rev().nth(1).unwrap();
    let from = marker
        .split("from=")
        .nth(1)
        .unwrap()
        .strip_suffix(" reads them]")
        .unwrap();
    let omitted = &read.value().unwrap()["omitted"];
    assert_eq!(omitted["from"], json!(from.parse::<u64>().unwrap()));
    let shown_from = usize::try_from(omitted["to"].as_u64().unwrap()).unwrap();
    assert!(
        text.starts_with(whole[shown_from..].trim_end()),
        "the tail is shown"
    );
    assert_eq!(read.value().unwrap()["text"], json!(whole));

    let mut pieces = String::new();
    let mut from = Some(from.parse::<u64>().unwrap());
    while let Some(offset) = from {
        let page = world
            .call("job_output", json!({ "job_id": "bash-1", "from": offset }))
            .await;
        let text = page.text();
        assert!(text.len() <= 1024, "{}", text.len());
        let piece = page.value().unwrap()["text"].as_str().unwrap().to_owned();
        assert!(text.starts_with(piece.strip_suffix('\n').unwrap_or(&piece)));
        pieces.push_str(&piece);
        from = text.lines().last().and_then(|line| {
            line.strip_prefix("[more: from=")?
                .strip_suffix(']')?
                .parse()
                .ok()
        });
        assert_eq!(from.is_none(), text.ends_with("[status: completed]"));
        assert!(from.is_none_or(|next| next > offset), "a page moves on");
    }
    assert!(pieces == whole, "the pieces are not the whole");
}

#[tokio::test]
async fn a_final_output_is_paged_too() {
    let world = world(ToolsConfig::default());
    let whole = "abcdefghij".repeat(300);
    let text = whole.clone();
    let spec = jobs::JobSpec::new("subagent", "look", move |_id| {
        Ok(jobs::Hooks::from_future(|_stop| async {
            Outcome::completed().with_output(text)
        }))
    })
    .with_owner(&world.owner)
    .with_output_limit(400);
    let id = world.registry.start(spec).await.unwrap();
    let read = world
        .call("job_output", json!({ "job_id": id, "wait": true }))
        .await;
    assert!(
        read.text()
            .contains("bytes above not shown; from=0 reads them]"),
        "{}",
        read.text()
    );
    let (mut pieces, mut from) = (String::new(), 0);
    while from < whole.len() as u64 {
        let page = world
            .call("job_output", json!({ "job_id": id, "from": from }))
            .await;
        assert!(page.text().len() <= 400);
        pieces.push_str(page.value().unwrap()["text"].as_str().unwrap());
        from = page.value().unwrap()["range"]["to"].as_u64().unwrap();
    }
    assert_eq!(pieces, whole);
}

#[tokio::test]
async fn reading_again_moves_and_tells_nothing() {
    let world = world(ToolsConfig::default());
    let job = world.start("build", None).await;
    job.write("one\n");
    job.log.push(Stream::Stderr, b"two\n");
    job.ended(Outcome::completed()).await;
    for _time in 0..2 {
        let again = world
            .call("job_output", json!({ "job_id": "bash-1", "from": 0 }))
            .await;
        assert_eq!(again.text(), "one\n[stderr]\ntwo\n[status: completed]");
    }
    let beyond = world
        .call("job_output", json!({ "job_id": "bash-1", "from": 999.0 }))
        .await;
    assert_eq!(beyond.text(), "(no new output)\n[status: completed]");
    let job = world
        .registry
        .get(&"bash-1".parse().unwrap(), &world.owner.caller())
        .await;
    assert!(!job.unwrap().reported());
    let read = world
        .call("job_output", json!({ "job_id": "bash-1" }))
        .await;
    assert_eq!(read.text(), "one\n[stderr]\ntwo\n[status: completed]");
}

#[tokio::test]
async fn what_is_no_longer_kept_is_counted_first() {
    let world = world(ToolsConfig::default());
    let job = world.start("build", None).await;
    let line = "0123456789abcde\n";
    job.write(&line.repeat((2 << 20) / line.len()));
    let page = world
        .call("job_output", json!({ "job_id": "bash-1", "from": 0 }))
        .await;
    let from = page.value().unwrap()["range"]["from"].as_u64().unwrap();
    assert!(from > 0);
    let first = format!("[{from} bytes before are no longer kept]\n0123456789abcde\n");
    assert!(page.text().starts_with(&first), "{}", &page.text()[..200]);
    assert!(page.text().len() <= 32_768);
}

#[tokio::test]
async fn small_limits_are_kept_in_every_answer() {
    let plain = ToolsConfig::builder()
        .truncation(Truncation::Plain)
        .build()
        .unwrap();
    for limit in 1..120 {
        let world = world(plain.clone());
        let job = world.start("build", Some(limit)).await;
        job.write(&"größer 漢字 😀".repeat(20));
        for (tool, arguments) in [
            ("job_output", json!({ "job_id": "bash-1", "from": 0 })),
            ("job_output", json!({ "job_id": "bash-1", "from": 13 })),
            ("job_output", json!({ "job_id": "bash-1" })),
            ("job_output", json!({ "job_id": "bash-1", "wait": 1 })),
            ("job_kill", json!({ "job_id": "bash-1" })),
        ] {
            let text = world.call(tool, arguments.clone()).await.text();
            let limit = usize::try_from(limit).unwrap();
            assert!(text.len() <= limit, "{arguments} under {limit}: {text}");
        }
    }
}
