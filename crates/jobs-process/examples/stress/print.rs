//! A process that prints lines of text as fast as they are taken.

use std::io::Write;

use crate::{Error, Verdict};

const LINE: &[u8] = b"a line of text as a compiler or a test might print it, not short, not long\n";

pub(crate) fn run(bytes: &str) -> Result<Verdict, Error> {
    let mut left: usize = bytes.parse()?;
    let mut block = LINE.repeat(64 * 1024 / LINE.len());
    let mut out = std::io::stdout();
    while left > 0 {
        block.truncate(left);
        out.write_all(&block)?;
        left -= block.len();
    }
    out.flush()?;
    Ok(Verdict::Holds)
}
