//! Lists, cut at whole rows.

use std::num::NonZeroUsize;

use jobs::text;

/// Joins `rows` with newlines; what does not fit the cap is left out by whole rows from the end.
///
/// A last row `… and <n> more` counts what is left out, and is itself within the cap. Should not
/// even that row fit, it is reduced to `…`, or to nothing under three bytes: a cut number would be
/// a wrong one. Rows are taken from the iterator only until the cap is exceeded, so that rows
/// which are made on demand cost O(cap).
///
/// # Examples
///
/// ```
/// use std::num::NonZeroUsize;
/// use tool_jobs::fit::fit_rows;
///
/// let rows = ["bash-1 [bash] running", "bash-2 [bash] killed", "bash-3 [bash] failed"];
/// assert_eq!(fit_rows(rows, None), rows.join("\n"));
/// assert_eq!(fit_rows(rows, NonZeroUsize::new(40)), "bash-1 [bash] running\n… and 2 more");
/// ```
#[must_use]
pub fn fit_rows<I>(rows: I, cap: Option<NonZeroUsize>) -> String
where
    I: IntoIterator<Item: AsRef<str>, IntoIter: ExactSizeIterator>,
{
    let cap = cap.map_or(usize::MAX, NonZeroUsize::get);
    let rows = rows.into_iter();
    let count = rows.len();
    let mut list = String::new();
    // Where each row that was taken ends, its newline aside.
    let mut ends = Vec::new();
    for row in rows {
        let row = row.as_ref();
        let newline = usize::from(!ends.is_empty());
        if list.len() + newline + row.len() > cap {
            return cut(list, ends, count, cap);
        }
        if newline == 1 {
            list.push('\n');
        }
        list.push_str(row);
        ends.push(list.len());
    }
    list
}

/// Gives up rows from the end until the row that counts the others fits.
fn cut(mut list: String, mut ends: Vec<usize>, count: usize, cap: usize) -> String {
    while let Some(end) = ends.last() {
        let more = format!("\n… and {} more", count - ends.len());
        if end + more.len() <= cap {
            list.truncate(*end);
            return list + &more;
        }
        ends.pop();
    }
    let more = format!("… and {count} more");
    if more.len() <= cap {
        more
    } else {
        text::head("…", cap).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(rows: &[&str], cap: usize) -> String {
        fit_rows(rows, NonZeroUsize::new(cap))
    }

    #[test]
    fn a_list_that_fits_is_whole() {
        assert_eq!(fit(&[], 1), "");
        assert_eq!(fit(&["a", "b"], 3), "a\nb");
    }

    #[test]
    fn rows_make_room_for_the_count() {
        let rows = ["0123456789012345", "b", "c", "d"];
        assert_eq!(fit(&rows, 22), rows.join("\n"));
        // `b` would fit, the count after it would not.
        assert_eq!(fit(&rows, 21), "… and 4 more");
        assert_eq!(
            fit(&[&rows[..], &["a longer row"]].concat(), 31),
            "0123456789012345\n… and 4 more"
        );
    }

    #[test]
    fn a_count_that_does_not_fit_is_not_cut() {
        let rows = ["a row that is long"; 12];
        assert_eq!(fit(&rows, 15), "… and 12 more");
        assert_eq!(fit(&rows, 14), "…");
        assert_eq!(fit(&rows, 3), "…");
        assert_eq!(fit(&rows, 2), "");
    }

    #[test]
    fn rows_behind_the_cap_are_not_made() {
        let mut made = 0;
        let rows = (0..1_000_000).map(|n| {
            made += 1;
            format!("bash-{n} [bash] running")
        });
        let list = fit_rows(rows, NonZeroUsize::new(100));
        assert_eq!(list.lines().last(), Some("… and 999997 more"));
        assert_eq!(made, 5);
    }
}
