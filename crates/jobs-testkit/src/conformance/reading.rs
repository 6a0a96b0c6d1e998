//! C-30, C-31, C-33, C-34: the output of a job.

use std::num::NonZeroUsize;
use std::sync::Arc;

use jobs::{Error, Outcome, OutputLog, ProducerError, Status, Stream};

use super::stage::{World, heard, idle, session, text};
use crate::puppet::Puppet;
use crate::source::ScriptedSource;

pub(super) async fn a_stream_job_gives_what_is_new(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let source = ScriptedSource::new("one ");
    let (spec, puppet) = Puppet::streaming("job", "a job", source.clone());
    let id = stage.must_start(spec.with_owner(&owner)).await;
    let caller = owner.caller();
    let first = stage.must_read(&id, &caller).await.commit();
    assert_eq!(
        (first.text.as_str(), first.range, first.dropped),
        ("one ", 0..4, 0)
    );
    assert_eq!(first.job.status(), Status::Running);
    let empty = stage.must_read(&id, &caller).await.commit();
    assert_eq!((empty.text.as_str(), empty.range), ("", 4..4));

    source.append("two ");
    source.append("three");
    puppet.settle(Outcome::completed().with_output("not this"));
    idle().await;
    let last = stage.must_read(&id, &session("s")).await.commit();
    assert_eq!((last.text.as_str(), last.range), ("two three", 4..13));
    assert_eq!(last.job.status(), Status::Completed);
    assert_eq!(stage.must_read(&id, &caller).await.commit().text, "");
}

pub(super) async fn a_read_of_a_flooded_log_says_what_is_gone(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let log = OutputLog::with_budget(NonZeroUsize::new(1000).expect("not zero"));
    let (spec, puppet) = Puppet::streaming("job", "a job", Arc::new(log.reader()));
    let id = stage.must_start(spec.with_owner(&owner)).await;
    for _ in 0..1000 {
        log.push(Stream::Stdout, b"0123456789012345678901234567890\n");
    }
    let read = stage.must_read(&id, &owner.caller()).await.commit();
    assert_eq!(read.range.end, 32_000);
    assert_eq!(read.dropped, read.range.start);
    assert!(
        (900..=1000).contains(&(read.range.end - read.range.start)),
        "{:?}",
        read.range
    );
    log.push(Stream::Stderr, b"bad");
    drop(log);
    puppet.settle(Outcome::failed());
    idle().await;
    let rest = stage.must_read(&id, &owner.caller()).await.commit();
    assert_eq!((rest.text.as_str(), rest.dropped), ("[stderr]\nbad", 0));
}

pub(super) async fn a_job_without_a_source_gives_its_final_output(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    let live = stage.must_read(&id, &owner.caller()).await.commit();
    assert_eq!(
        (live.text.as_str(), live.job.status()),
        ("", Status::Running)
    );
    puppet.settle(Outcome::completed().with_output("the answer"));
    idle().await;
    for _ in 0..3 {
        let read = stage.must_read(&id, &owner.caller()).await.commit();
        assert_eq!((read.text.as_str(), read.dropped), ("the answer", 0));
    }
    let silent = stage.ended(&owner, Outcome::completed()).await;
    assert_eq!(stage.must_read(&silent, &owner.caller()).await.text, "");
}

pub(super) async fn a_dropped_read_is_read_again(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let source = ScriptedSource::new("one ");
    let (spec, _puppet) = Puppet::streaming("job", "a job", source.clone());
    let id = stage.must_start(spec.with_owner(&owner)).await;
    drop(stage.must_read(&id, &owner.caller()).await);
    source.append("two");
    drop(stage.must_read(&id, &owner.caller()).await);
    let read = stage.must_read(&id, &owner.caller()).await;
    assert_eq!((read.text.as_str(), read.range.clone()), ("one two", 0..7));
    read.commit();
    assert_eq!(stage.must_read(&id, &owner.caller()).await.text, "");
}

pub(super) async fn overlapping_reads_never_move_the_cursor_back(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let source = ScriptedSource::new("one ");
    let (spec, _puppet) = Puppet::streaming("job", "a job", source.clone());
    let id = stage.must_start(spec.with_owner(&owner)).await;
    let early = stage.must_read(&id, &owner.caller()).await;
    source.append("two ");
    let late = stage.must_read(&id, &owner.caller()).await;
    assert_eq!(
        (early.text.as_str(), late.text.as_str()),
        ("one ", "one two ")
    );
    late.commit();
    early.commit();
    source.append("three");
    let read = stage.must_read(&id, &owner.caller()).await;
    assert_eq!(read.text, "three", "the earlier range moves nothing back");
}

pub(super) async fn an_early_commit_skips_nothing(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let source = ScriptedSource::new("one ");
    let (spec, _puppet) = Puppet::streaming("job", "a job", source.clone());
    let id = stage.must_start(spec.with_owner(&owner)).await;
    let early = stage.must_read(&id, &owner.caller()).await;
    source.append("two ");
    early.commit();
    let read = stage.must_read(&id, &owner.caller()).await;
    assert_eq!((read.text.as_str(), read.range.clone()), ("two ", 4..8));
}

pub(super) async fn a_failing_source_is_an_error_and_changes_nothing(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let source = ScriptedSource::new("text");
    let (spec, puppet) = Puppet::streaming("job", "a job", source.clone());
    let id = stage.must_start(spec.with_owner(&owner)).await;
    source.on_read(|_| Err(ProducerError::new("disk gone")));
    let failed = stage.read(&id, &owner.caller()).await;
    assert_eq!(text(failed), "disk gone");
    let failed = stage.observe(&id, &owner.caller(), 0, None).await;
    assert_eq!(
        failed,
        Err(Error::Producer(ProducerError::new("disk gone")))
    );
    puppet.settle(Outcome::completed());
    idle().await;
    let failed = stage.read(&id, &owner.caller()).await;
    assert_eq!(text(failed), "disk gone");

    assert!(!stage.look(&id, &owner).await.reported());
    let mut reporter = stage.reporter();
    drop(heard(&mut reporter).await);
    source.on_read(|_| Ok(()));
    assert_eq!(stage.must_read(&id, &owner.caller()).await.text, "text");
}

pub(super) async fn a_panicking_source_changes_nothing(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let source = ScriptedSource::new("text");
    let (spec, puppet) = Puppet::streaming("job", "a job", source.clone());
    let id = stage.must_start(spec.with_owner(&owner)).await;
    puppet.settle(Outcome::completed());
    idle().await;
    source.on_read(|_| panic!("source broke"));
    assert!(text(stage.read(&id, &owner.caller()).await).contains("source broke"));
    assert!(!stage.look(&id, &owner).await.reported());
    let mut reporter = stage.reporter();
    drop(heard(&mut reporter).await);
    source.on_read(|_| Ok(()));
    assert_eq!(stage.must_read(&id, &owner.caller()).await.text, "text");
}

pub(super) async fn observe_pages_through_the_output(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (spec, _puppet) = Puppet::streaming("job", "a job", ScriptedSource::new("0123456789"));
    let id = stage.must_start(spec.with_owner(&owner)).await;
    let (mut joined, mut at) = (String::new(), 0);
    while at < 10 {
        let piece = stage.observe(&id, &owner.caller(), at, Some(4)).await;
        let piece = piece.expect("a piece");
        assert_eq!(piece.range.start, at);
        assert!((1..=4).contains(&piece.text.len()), "{piece:?}");
        joined += &piece.text;
        at = piece.range.end;
    }
    assert_eq!(joined, "0123456789");
    let rest = stage.observe(&id, &owner.caller(), 7, None).await;
    assert_eq!(rest.expect("the rest").text, "789");
    let beyond = stage.observe(&id, &owner.caller(), 99, None).await;
    let beyond = beyond.expect("nothing");
    assert_eq!((beyond.text.as_str(), beyond.range), ("", 10..10));
    let read = stage.must_read(&id, &owner.caller()).await;
    assert_eq!(read.text, "0123456789", "the cursor stayed");
}

pub(super) async fn observe_says_how_much_is_gone(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let log = OutputLog::with_budget(NonZeroUsize::new(100).expect("not zero"));
    let (spec, _puppet) = Puppet::streaming("job", "a job", Arc::new(log.reader()));
    let id = stage.must_start(spec.with_owner(&owner)).await;
    log.push(Stream::Stdout, &[b'x'; 1000]);
    let seen = stage.observe(&id, &owner.caller(), 0, None).await;
    let seen = seen.expect("the output");
    assert_eq!((seen.range, seen.dropped), (900..1000, 900));
    let seen = stage.observe(&id, &owner.caller(), 850, None).await;
    assert_eq!(seen.expect("the output").dropped, 50);
}

pub(super) async fn observe_reads_a_final_output_from_any_offset(world: World) {
    let stage = world.stage().await;
    let owner = stage.agent("s");
    let (id, puppet) = stage.begin(&owner).await;
    let live = stage.observe(&id, &owner.caller(), 0, None).await;
    assert_eq!(live.expect("nothing yet").text, "");
    puppet.settle(Outcome::completed().with_output("0123456789"));
    idle().await;
    let all = stage.observe(&id, &owner.caller(), 0, None).await;
    assert_eq!(all.expect("all of it").text, "0123456789");
    let piece = stage.observe(&id, &owner.caller(), 2, Some(3)).await;
    let piece = piece.expect("a piece");
    assert_eq!((piece.text.as_str(), piece.range), ("234", 2..5));
    assert!(!stage.look(&id, &owner).await.reported());
}
