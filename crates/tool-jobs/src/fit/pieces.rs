//! Several texts cut as if they were one, without joining them first.

use jobs::text;

/// The length of the joined text in bytes.
pub(super) fn len(pieces: &[&str]) -> usize {
    pieces.iter().map(|piece| piece.len()).sum()
}

/// The head of the joined text, at most `max_bytes` long; costs O(`max_bytes`).
pub(super) fn head(pieces: &[&str], max_bytes: usize) -> String {
    let mut joined = String::new();
    for piece in pieces {
        let kept = text::head(piece, max_bytes - joined.len());
        joined.push_str(kept);
        if kept.len() < piece.len() {
            break;
        }
    }
    joined
}

/// The tail of the joined text, at most `max_bytes` long; costs O(`max_bytes`).
pub(super) fn tail(pieces: &[&str], max_bytes: usize) -> String {
    let mut left = max_bytes;
    let mut kept = Vec::with_capacity(pieces.len());
    for piece in pieces.iter().rev() {
        let end = text::tail(piece, left);
        left -= end.len();
        kept.push(end);
        if end.len() < piece.len() {
            break;
        }
    }
    kept.reverse();
    kept.concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_are_cut_like_their_whole(
            pieces in prop::collection::vec("[aé漢😀]{0,4}", 0..5),
            max in 0_usize..50,
        ) {
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let whole = pieces.concat();
            prop_assert_eq!(len(&pieces), whole.len());
            prop_assert_eq!(head(&pieces, max), text::head(&whole, max));
            prop_assert_eq!(tail(&pieces, max), text::tail(&whole, max));
        }
    }
}
