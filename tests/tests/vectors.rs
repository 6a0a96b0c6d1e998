//! The recorded vectors of the fitting functions (spec/tools.md, Bounded output).
//!
//! `JOBS_VECTORS` names another folder of vectors, relative to the workspace. Files that are
//! missing there are fine; a folder without any vector is not.

#[path = "vectors/check.rs"]
mod check;
#[path = "vectors/functions.rs"]
mod functions;
#[path = "vectors/retention.rs"]
mod retention;
#[path = "vectors/summary.rs"]
mod summary;

use std::fs;
use std::path::{Path, PathBuf};

use check::{Counts, check_folder, check_line};
use functions::Difference;

fn own_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/vectors")
}

/// Checks a folder; on failure the test names each line that does not hold.
fn check(folder: &Path) -> Counts {
    check_folder(folder).unwrap_or_else(|failures| panic!("{failures}"))
}

#[test]
fn vectors_hold() {
    let folder = std::env::var_os("JOBS_VECTORS").map_or_else(own_folder, |folder| {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .join(folder)
    });
    check(&folder);
}

#[test]
fn vectors_of_this_repository_differ_where_the_design_does() {
    let counts = check(&own_folder());
    let lines = [
        ("fit_notice.jsonl", 1054),
        ("fit_output.jsonl", 1051),
        ("fit_result.jsonl", 389),
        ("retention.jsonl", 1371),
        ("status_line.jsonl", 25),
        ("summary.jsonl", 140),
    ];
    let differences = [
        (("fit_notice.jsonl", Difference::EmptyDetail), 109),
        (("fit_notice.jsonl", Difference::SummaryUnit), 27),
        (("fit_output.jsonl", Difference::EmptyDetail), 73),
        (("fit_output.jsonl", Difference::ByteOrderMark), 2),
        (("retention.jsonl", Difference::ByteOrderMark), 56),
        (("retention.jsonl", Difference::Inexpressible), 3),
        (("status_line.jsonl", Difference::EmptyDetail), 2),
        (("summary.jsonl", Difference::SummaryUnit), 28),
        (("summary.jsonl", Difference::LoneSurrogate), 6),
    ];
    let own = |file: &'static str| file.to_owned();
    assert_eq!(
        counts.lines,
        lines.map(|(file, count)| (own(file), count)).into()
    );
    assert_eq!(
        counts.differences,
        differences
            .map(|((file, difference), count)| ((own(file), difference), count))
            .into()
    );
}

/// Flips one bit in the first character of what a line expects.
fn corrupt(line: &mut [u8]) {
    let marker = b"\"out\":{\"";
    let out = line
        .windows(marker.len())
        .position(|window| window == marker);
    let name = out.expect("a vector has an out") + marker.len();
    let colon = line[name..].iter().position(|&byte| byte == b':');
    let value = name + colon.expect("an out has a value") + 1;
    line[value + usize::from(line[value] == b'"')] ^= 1;
}

#[test]
fn vectors_with_a_flipped_byte_fail_on_every_line() {
    for file in check(&own_folder()).lines.into_keys() {
        let content = fs::read(own_folder().join(&file)).unwrap();
        let lines = content
            .strip_suffix(b"\n")
            .unwrap()
            .split(|&byte| byte == b'\n');
        for (index, line) in lines.enumerate() {
            let mut line = line.to_vec();
            corrupt(&mut line);
            assert!(
                check_line(&line).is_err(),
                "{file}:{} passes when corrupted",
                index + 1
            );
        }
    }
}

#[test]
fn vectors_with_a_flipped_byte_fail_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    for (file, line) in [
        ("fit_notice.jsonl", 101),
        ("retention.jsonl", 1371),
        ("summary.jsonl", 1),
    ] {
        let content = fs::read(own_folder().join(file)).unwrap();
        let mut lines: Vec<Vec<u8>> = content
            .split(|&byte| byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect();
        corrupt(&mut lines[line - 1]);
        let copy = folder.path().join(file);
        fs::write(&copy, lines.join(&b'\n')).unwrap();

        let failures = check_folder(folder.path()).unwrap_err();
        assert!(
            failures.contains(&format!("\n{file}:{line}: ")),
            "{failures}"
        );
        assert!(failures.starts_with("1 vector does not hold"), "{failures}");
        assert!(
            failures.contains("expected: ") && failures.contains("got: "),
            "{failures}"
        );
        fs::remove_file(&copy).unwrap();
    }
}

#[test]
fn vectors_may_be_some_of_the_files_but_not_none() {
    let folder = tempfile::tempdir().unwrap();
    let missing = check_folder(&folder.path().join("missing")).unwrap_err();
    assert!(
        missing.starts_with("cannot read the vectors in "),
        "{missing}"
    );
    assert!(
        check_folder(folder.path())
            .unwrap_err()
            .starts_with("no vectors in ")
    );

    let file = folder.path().join("summary.jsonl");
    fs::write(&file, "").unwrap();
    assert!(
        check_folder(folder.path())
            .unwrap_err()
            .starts_with("no vectors in ")
    );

    fs::copy(own_folder().join("summary.jsonl"), &file).unwrap();
    assert_eq!(
        check(folder.path()).lines,
        [("summary.jsonl".to_owned(), 140)].into()
    );
}
