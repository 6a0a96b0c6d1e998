//! An ordered map over an array, for what nearly always comes at the end and
//! goes at the front.
//!
//! 1. Numbers ascend, and each stands for one value.
//! 2. At either end a change costs the same however long the sequence is. In
//!    between it moves what lies towards the nearer end: the price of a value
//!    that takes the room of itself and its number, and up to twice that while
//!    the array grows.

use std::collections::VecDeque;

/// Values by ascending number.
pub(crate) struct Sequence<T>(VecDeque<(u64, T)>);

impl<T> Sequence<T> {
    pub(crate) fn new() -> Self {
        Self(VecDeque::new())
    }

    /// Puts a value at its number, in the place of the one that was there.
    pub(crate) fn insert(&mut self, number: u64, value: T) {
        if self.0.back().is_none_or(|(last, _)| *last < number) {
            self.0.push_back((number, value));
            return;
        }
        match self.find(number) {
            Ok(index) => self.0[index].1 = value,
            Err(index) => self.0.insert(index, (number, value)),
        }
    }

    pub(crate) fn get(&self, number: u64) -> Option<&T> {
        self.find(number).ok().map(|index| &self.0[index].1)
    }

    pub(crate) fn remove(&mut self, number: u64) -> Option<T> {
        if self.0.front().is_some_and(|(first, _)| *first == number) {
            return self.pop_first().map(|(_, value)| value);
        }
        let index = self.find(number).ok()?;
        self.0.remove(index).map(|(_, value)| value)
    }

    pub(crate) fn first(&self) -> Option<&T> {
        self.0.front().map(|(_, value)| value)
    }

    pub(crate) fn pop_first(&mut self) -> Option<(u64, T)> {
        self.0.pop_front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(u64, T)> {
        self.0.iter()
    }

    /// Takes all of them out, in the order of their numbers.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (u64, T)> + use<T> {
        std::mem::take(&mut self.0).into_iter()
    }

    /// Where a number stands, or would stand.
    fn find(&self, number: u64) -> Result<usize, usize> {
        self.0.binary_search_by_key(&number, |(number, _)| *number)
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Step {
        Insert(u64),
        Remove(u64),
        PopFirst,
        Take,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => (0..24_u64).prop_map(Step::Insert),
            3 => (0..24_u64).prop_map(Step::Remove),
            2 => Just(Step::PopFirst),
            1 => Just(Step::Take),
        ]
    }

    proptest! {
        #[test]
        fn it_is_a_sorted_map(steps in prop::collection::vec(step(), 0..64)) {
            let mut sequence = Sequence::new();
            let mut map = BTreeMap::new();
            for (value, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Insert(number) => {
                        sequence.insert(number, value);
                        map.insert(number, value);
                    }
                    Step::Remove(number) => {
                        prop_assert_eq!(sequence.remove(number), map.remove(&number));
                    }
                    Step::PopFirst => prop_assert_eq!(sequence.pop_first(), map.pop_first()),
                    Step::Take => {
                        let all: Vec<_> = sequence.take().collect();
                        prop_assert_eq!(all, std::mem::take(&mut map).into_iter().collect::<Vec<_>>());
                    }
                }
                prop_assert_eq!(sequence.is_empty(), map.is_empty());
                prop_assert_eq!(sequence.first(), map.values().next());
                prop_assert!((0..24).all(|number| sequence.get(number) == map.get(&number)));
                prop_assert!(sequence.iter().map(|(number, value)| (number, value)).eq(&map));
            }
        }
    }
}
