//! The output of a puppet: one element a read.

use std::collections::VecDeque;

use jobs::{OutputSource, ProducerError, Rendered, text};
use parking_lot::Mutex;
use serde_json::Value;

/// Gives one element of its queue a read, as the reference's hook does.
///
/// 1. An empty element and a failure are used up by the read that meets them.
/// 2. Any other element is given again, alone, until the cursor stands behind
///    it.
#[derive(Debug, Default)]
pub(crate) struct Feed(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    /// What was delivered.
    past: String,
    /// What follows it.
    next: VecDeque<Element>,
    /// The producer is at its end: what comes later is ignored.
    closed: bool,
}

#[derive(Debug)]
enum Element {
    Text(String),
    Failure(String),
}

impl Feed {
    pub(crate) fn new(elements: &[Value]) -> Self {
        let feed = Self::default();
        for element in elements {
            feed.push(element);
        }
        feed
    }

    /// Adds an element: a text, or `{ "throw": text }`.
    pub(crate) fn push(&self, element: &Value) {
        let element = match (element, element.get("throw")) {
            (Value::String(text), _) => Element::Text(text.clone()),
            (_, Some(Value::String(text))) => Element::Failure(text.clone()),
            (other, _) => Element::Text(other.to_string()),
        };
        let mut queue = self.0.lock();
        if !queue.closed {
            queue.next.push_back(element);
        }
    }

    /// The last element is in.
    pub(crate) fn close(&self) {
        self.0.lock().closed = true;
    }
}

impl OutputSource for Feed {
    fn read(&self, from: u64, max: Option<usize>) -> Result<Rendered, ProducerError> {
        let mut queue = self.0.lock();
        queue.forget_before(from);
        let begin = queue.past.len();
        let at = usize::try_from(from).unwrap_or(usize::MAX);
        if at < begin {
            return Ok(piece(&queue.past, 0, at, max));
        }
        match queue.next.front() {
            Some(Element::Text(text)) if !text.is_empty() => {
                Ok(piece(text, begin, at - begin, max))
            }
            Some(Element::Failure(text)) => {
                let failure = ProducerError::new(text.as_str());
                queue.next.pop_front();
                Err(failure)
            }
            _ => {
                queue.next.pop_front();
                Ok(piece("", begin, 0, max))
            }
        }
    }

    fn kept_bytes(&self) -> usize {
        let queue = self.0.lock();
        let next = queue.next.iter().map(|element| match element {
            Element::Text(text) | Element::Failure(text) => text.len(),
        });
        queue.past.len() + next.sum::<usize>()
    }
}

impl Queue {
    /// Moves the elements that end before `from` to the past.
    fn forget_before(&mut self, from: u64) {
        while let Some(Element::Text(text)) = self.next.front() {
            if text.is_empty() || (self.past.len() + text.len()) as u64 > from {
                return;
            }
            self.past.push_str(text);
            self.next.pop_front();
        }
    }
}

/// At most `max` bytes of `text`, which begins at `begin`, from byte `at` of it.
fn piece(text: &str, begin: usize, at: usize, max: Option<usize>) -> Rendered {
    let at = (at..text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len());
    let rest = &text[at..];
    let mut cut = max.map_or(rest, |max| text::head(rest, max));
    if let (true, Some(first)) = (cut.is_empty(), rest.chars().next()) {
        cut = &rest[..first.len_utf8()];
    }
    let from = (begin + at) as u64;
    Rendered {
        text: cut.to_owned(),
        range: from..from + cut.len() as u64,
        dropped: 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(feed: &Feed, from: u64) -> Result<(String, u64), String> {
        let read = feed.read(from, None).map_err(|error| error.to_string())?;
        Ok((read.text, read.range.end))
    }

    #[test]
    fn scenarios_give_one_element_a_read() {
        let feed = Feed::new(&[
            json!("one"),
            json!(""),
            json!({"throw": "no"}),
            json!("two"),
        ]);
        assert_eq!(read(&feed, 0), Ok(("one".to_owned(), 3)));
        assert_eq!(read(&feed, 0), Ok(("one".to_owned(), 3)));
        assert_eq!(read(&feed, 3), Ok((String::new(), 3)));
        assert_eq!(read(&feed, 3), Err("no".to_owned()));
        assert_eq!(read(&feed, 3), Ok(("two".to_owned(), 6)));
        assert_eq!(read(&feed, 6), Ok((String::new(), 6)));
        assert_eq!(read(&feed, 1), Ok(("netwo".to_owned(), 6)));
        feed.close();
        feed.push(&json!("late"));
        assert_eq!(read(&feed, 6), Ok((String::new(), 6)));
    }
}
