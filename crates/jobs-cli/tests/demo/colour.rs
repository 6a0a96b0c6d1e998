//! Colour goes to a terminal only, and not if `NO_COLOR` is set.

use std::fs::File;
use std::io::Read;

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::Demo;

#[test]
fn a_terminal_has_colours_unless_no_color_is_set() {
    let colours = on_terminal(None);
    assert!(colours.contains("\u{1b}[32m"), "{colours}");
    assert!(colours.contains("as it should be"), "{colours}");
    let plain = on_terminal(Some("1"));
    assert!(!plain.contains('\u{1b}'), "{plain}");
    assert!(
        plain.contains("Everything was as it should be: "),
        "{plain}"
    );
}

/// What a terminal gets.
fn on_terminal(no_color: Option<&str>) -> String {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&terminal).expect("it is ours");
    unlockpt(&terminal).expect("it is ours");
    let name = ptsname(&terminal, Vec::new()).expect("a name");
    let other = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("its other end");

    let mut command = Demo::new().command();
    command.env("TERM", "xterm").env_remove("NO_COLOR");
    if let Some(value) = no_color {
        command.env("NO_COLOR", value);
    }
    let mut child = command.stdout(other).spawn().expect("it starts");
    // The command holds the other end, too.
    drop(command);
    let mut shown = Vec::new();
    // The end of a terminal is an error of the read: EIO.
    let _ = File::from(terminal).read_to_end(&mut shown);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    String::from_utf8(shown).expect("text")
}
