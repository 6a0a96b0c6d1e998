//! The log against a model that keeps everything.

use std::num::NonZeroUsize;

use proptest::prelude::*;

use super::*;

fn log(budget: usize) -> OutputLog {
    OutputLog::with_budget(NonZeroUsize::new(budget).unwrap())
}

fn text_of(reader: &LogReader, from: u64, max: Option<usize>) -> (String, Range<u64>, u64) {
    let slice = reader.slice(from, max);
    (
        slice.pieces().map(|(_, text)| text).collect(),
        slice.range.clone(),
        slice.dropped,
    )
}

#[test]
fn a_full_log_keeps_the_last_bytes_and_counts_the_rest() {
    let log = log(64_000);
    let reader = log.reader();
    for _ in 0..1000 {
        log.push(Stream::Stdout, &[b'x'; 1000]);
    }
    let (text, range, dropped) = text_of(&reader, 0, None);
    assert_eq!(
        (text.len(), range, dropped),
        (64_000, 936_000..1_000_000, 936_000)
    );
}

#[test]
fn a_read_says_that_something_is_gone_only_where_it_is() {
    let log = log(10);
    let reader = log.reader();
    for (push, lost) in [("0123456789", 0), ("abc", 3)] {
        log.push(Stream::Stdout, push.as_bytes());
        let read = reader.read(0, None).unwrap();
        assert_eq!((read.dropped, reader.kept_bytes()), (lost, 10));
        let says = read.text.contains("dropped from memory");
        assert_eq!(says, lost > 0, "{}", read.text);
    }
}

#[test]
fn a_log_that_is_dropped_is_closed() {
    let log = log(10);
    let reader = log.reader();
    log.push(Stream::Stdout, b"a\xc3");
    assert_eq!(reader.read(0, None).unwrap().text, "a");
    for shown in [format!("{log:?}"), format!("{reader:?}")] {
        assert!(shown.contains("closed: false"), "{shown}");
    }
    drop(log);
    assert_eq!(reader.read(0, None).unwrap().text, "a\u{fffd}");
}

#[test]
fn a_push_larger_than_the_budget_keeps_its_end() {
    let log = log(100);
    log.push(Stream::Stdout, "é".repeat(1000).as_bytes());
    let (text, range, dropped) = text_of(&log.reader(), 0, None);
    assert_eq!((text, range, dropped), ("é".repeat(50), 1900..2000, 1900));
}

#[test]
fn a_cut_moves_to_a_near_line_end() {
    let log = log(1000);
    for n in 0..200 {
        log.push(Stream::Stdout, format!("line {n:03}\n").as_bytes());
    }
    let (text, range, dropped) = text_of(&log.reader(), 0, None);
    assert!(text.starts_with("line "), "{text:.20}");
    assert!(text.len() > 1000 - 9 && dropped == range.start && range.end == 1800);
}

#[test]
fn streams_are_rendered_in_sections_with_the_loss_last() {
    let log = log(1000);
    log.push(Stream::Stderr, b"e1\n");
    log.push(Stream::Stdout, b"o1");
    log.push(Stream::Stderr, b"e2\n");
    let slice = log.reader().slice(0, None);
    assert_eq!(slice.render(None), "o1\n[stderr]\ne1\ne2\n");
    assert_eq!(
        slice.render(Some("[lost]")),
        "o1\n[stderr]\ne1\ne2\n[lost]\n"
    );
    assert_eq!(log.reader().slice(3, Some(2)).render(None), "o1");
}

#[test]
fn pages_are_never_empty_and_begin_at_characters() {
    let log = log(1000);
    log.push(Stream::Stdout, "a漢b".as_bytes());
    let reader = log.reader();
    assert_eq!(text_of(&reader, 1, Some(1)), ("漢".into(), 1..4, 0));
    assert_eq!(text_of(&reader, 2, Some(3)), ("漢".into(), 1..4, 0));
    assert_eq!(text_of(&reader, 0, Some(3)), ("a".into(), 0..1, 0));
    assert_eq!(text_of(&reader, 99, None), (String::new(), 5..5, 0));
    assert_eq!(text_of(&reader, 5, Some(0)), (String::new(), 5..5, 0));
}

#[test]
fn a_closed_log_ends_its_characters_and_takes_no_more() {
    let log = log(1000);
    log.push(Stream::Stdout, b"a\xE6\xBC");
    let reader = log.reader();
    assert_eq!(text_of(&reader, 0, None).0, "a");
    log.close();
    log.push(Stream::Stdout, b"late");
    drop(log);
    assert_eq!(text_of(&reader, 0, None).0, "a\u{FFFD}");
}

#[test]
fn many_changes_of_stream_are_charged() {
    let log = log(1600);
    for n in 0..10_000 {
        log.push(
            if n % 2 == 0 {
                Stream::Stdout
            } else {
                Stream::Stderr
            },
            b"x",
        );
    }
    let (text, ..) = text_of(&log.reader(), 0, None);
    assert!((60..=100).contains(&text.len()), "{}", text.len());
}

proptest! {
    #[test]
    fn the_window_is_a_suffix_of_everything_written(
        budget in 1_usize..600,
        pushes in prop::collection::vec((any::<bool>(), "[a-z\n é漢😀]{0,80}"), 0..40),
        from in 0_u64..2000,
        max in prop::option::of(0_usize..200),
    ) {
        let log = log(budget);
        let mut all = String::new();
        for (stdout, text) in &pushes {
            log.push(if *stdout { Stream::Stdout } else { Stream::Stderr }, text.as_bytes());
            all.push_str(text);
        }
        let reader = log.reader();
        prop_assert_eq!(reader.end(), all.len() as u64);
        prop_assert!(reader.kept_bytes() <= budget);

        let (kept, range, dropped) = text_of(&reader, 0, None);
        prop_assert_eq!(dropped, reader.dropped());
        prop_assert_eq!(&all[range.start as usize..range.end as usize], kept.as_str());

        let (piece, range, dropped) = text_of(&reader, from, max);
        prop_assert_eq!(&all[range.start as usize..range.end as usize], piece.as_str());
        prop_assert_eq!(dropped, reader.dropped().saturating_sub(from));
        prop_assert!(range.start <= (from + dropped).max(reader.dropped()) || range.start == reader.end());
        if let Some(max) = max {
            prop_assert!(piece.len() <= max.max(4));
        }
    }

    #[test]
    fn pages_joined_are_the_whole(
        pushes in prop::collection::vec((any::<bool>(), "[a-zé漢😀]{0,30}"), 0..20),
        max in 0_usize..20,
    ) {
        let log = log(10_000);
        let mut all = String::new();
        for (stdout, text) in &pushes {
            log.push(if *stdout { Stream::Stdout } else { Stream::Stderr }, text.as_bytes());
            all.push_str(text);
        }
        let (mut joined, mut at) = (String::new(), 0);
        while at < all.len() as u64 {
            let (piece, range, _) = text_of(&log.reader(), at, Some(max));
            prop_assert!(range.start == at && range.end > at);
            joined.push_str(&piece);
            at = range.end;
        }
        prop_assert_eq!(joined, all);
    }
}
