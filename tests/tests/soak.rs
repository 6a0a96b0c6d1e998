//! The soak notices what it is there for: a registry that breaks a clause of
//! delivery makes it fail, a working one does not.

use std::process::Command;

/// A short soak of few owners, and the count of a row of what it printed.
struct Soak {
    succeeded: bool,
    text: String,
}

impl Soak {
    fn of(fault: Option<&str>) -> Self {
        let mut soak = Command::new(env!("CARGO_BIN_EXE_soak"));
        soak.args(["--minutes", "0.04", "--owners", "40", "--rest", "5"]);
        soak.args(["--patience", "5"]);
        if let Some(fault) = fault {
            soak.args(["--fault", fault]);
        }
        let output = soak.output().expect("it runs");
        Self {
            succeeded: output.status.success(),
            text: String::from_utf8_lossy(&output.stdout).into_owned()
                + &String::from_utf8_lossy(&output.stderr),
        }
    }

    fn count(&self, name: &str) -> u64 {
        let mut lines = self.text.lines();
        let count = lines.find_map(|line| line.strip_suffix(name)?.trim().parse().ok());
        count.unwrap_or_else(|| panic!("no row {name}: {}", self.text))
    }
}

#[test]
fn a_registry_that_works_survives_it() {
    let soak = Soak::of(None);
    assert!(soak.succeeded, "{}", soak.text);
    assert!(soak.count("  told by a notice") > 0, "{}", soak.text);
    assert!(soak.count("  told by an answer") > 0, "{}", soak.text);
    assert!(soak.count("  hand-overs") > 0, "{}", soak.text);
}

#[test]
fn an_offer_that_tells_though_it_is_dropped_loses_completions() {
    let soak = Soak::of(Some("OffersTell"));
    assert!(!soak.succeeded, "{}", soak.text);
    assert!(soak.count("  lost") > 0, "{}", soak.text);
}

#[test]
fn what_was_told_and_comes_again_is_told_twice() {
    let soak = Soak::of(Some("ToldComesAgain"));
    assert!(!soak.succeeded, "{}", soak.text);
    let doubles = soak.count("  told twice against the contract");
    assert!(doubles > 0, "{}", soak.text);
}

#[test]
fn a_wait_that_holds_no_share_is_told_twice() {
    let soak = Soak::of(Some("WaitsHoldNoShare"));
    assert!(!soak.succeeded, "{}", soak.text);
    let doubles = soak.count("  told twice against the contract");
    assert!(doubles > 0, "{}", soak.text);
}
