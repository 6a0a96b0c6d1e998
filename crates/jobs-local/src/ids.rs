//! The ids of a registry: which ordinal comes next, and what stands behind an
//! id.
//!
//! 1. An ordinal is handed out once, unless it was given back before a later
//!    one was handed out.
//! 2. Looking an id up costs what finding its page costs, in an ordered map
//!    with one entry for 64 ids.
//! 3. A page exists only while one of its slots is taken.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::Arc;

use jobs::{Error, JobId, Kind};

use crate::job::Job;
use crate::room::Room;

const PAGE: usize = 64;

/// What stands behind an id.
#[derive(Clone)]
pub(crate) enum Slot {
    /// A record.
    Job(Arc<Job>),
    /// Retention took the record; its owner is this.
    Evicted(Arc<Room>),
}

/// All kinds of a registry.
pub(crate) struct Ids {
    kinds: BTreeMap<Kind, Table>,
    first: BTreeMap<Kind, NonZeroU64>,
}

struct Table {
    next: NonZeroU64,
    pages: BTreeMap<u64, Page>,
}

struct Page {
    slots: [Option<Slot>; PAGE],
    taken: usize,
}

impl Ids {
    pub(crate) fn new(first: BTreeMap<Kind, NonZeroU64>) -> Self {
        Self {
            kinds: BTreeMap::new(),
            first,
        }
    }

    /// The kind that a text names, kept once for all its jobs.
    pub(crate) fn kind(&self, text: &str) -> Result<Kind, Error> {
        match self.kinds.get_key_value(text) {
            Some((kind, _)) => Ok(kind.clone()),
            None => Kind::new(text),
        }
    }

    /// Hands out the next id of a kind.
    pub(crate) fn next(&mut self, kind: &Kind) -> JobId {
        let first = &self.first;
        let table = self.kinds.entry(kind.clone()).or_insert_with(|| Table {
            next: first.get(kind).copied().unwrap_or(NonZeroU64::MIN),
            pages: BTreeMap::new(),
        });
        let ordinal = table.next;
        table.next = ordinal.saturating_add(1);
        JobId::new(kind.clone(), ordinal)
    }

    /// Takes back an id that nothing will stand behind.
    pub(crate) fn give_back(&mut self, id: &JobId) {
        if let Some(table) = self.kinds.get_mut(id.kind())
            && table.next == id.ordinal().saturating_add(1)
        {
            table.next = id.ordinal();
        }
    }

    pub(crate) fn get(&self, id: &JobId) -> Option<&Slot> {
        let (page, slot) = place(id);
        self.kinds.get(id.kind())?.pages.get(&page)?.slots[slot].as_ref()
    }

    pub(crate) fn put(&mut self, id: &JobId, what: Slot) {
        let (page, slot) = place(id);
        let Some(table) = self.kinds.get_mut(id.kind()) else {
            return;
        };
        let page = table.pages.entry(page).or_insert_with(Page::empty);
        page.taken += usize::from(page.slots[slot].is_none());
        page.slots[slot] = Some(what);
    }

    pub(crate) fn remove(&mut self, id: &JobId) {
        let (number, slot) = place(id);
        let Some(table) = self.kinds.get_mut(id.kind()) else {
            return;
        };
        if let Some(page) = table.pages.get_mut(&number) {
            page.taken -= usize::from(page.slots[slot].take().is_some());
            if page.taken == 0 {
                table.pages.remove(&number);
            }
        }
    }
}

impl Page {
    fn empty() -> Self {
        Self {
            slots: [const { None }; PAGE],
            taken: 0,
        }
    }
}

fn place(id: &JobId) -> (u64, usize) {
    let ordinal = id.ordinal().get();
    (
        ordinal / PAGE as u64,
        usize::try_from(ordinal % PAGE as u64).unwrap_or_default(),
    )
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::core::Core;

    #[test]
    fn ids_share_pages_that_go_with_the_last_of_them() {
        let core = Core::new(Config::default());
        let room = core.room_of(None).unwrap().unwrap();
        let kind = Kind::new("job").unwrap();
        let mut ids = Ids::new(BTreeMap::new());
        let all: Vec<_> = (0..3 * PAGE).map(|_| ids.next(&kind)).collect();
        for id in &all {
            ids.put(id, Slot::Evicted(Arc::clone(&room)));
            // Once more: it takes the place of the first.
            ids.put(id, Slot::Evicted(Arc::clone(&room)));
        }
        let pages = |ids: &Ids| ids.kinds[&kind].pages.len();
        // The first ordinal is 1, so the first and the last page are not full.
        assert_eq!(pages(&ids), 4);
        for (index, id) in all.iter().enumerate() {
            assert!(ids.get(id).is_some());
            ids.remove(id);
            ids.remove(id);
            assert!(ids.get(id).is_none());
            assert!(all[index + 1..].iter().all(|id| ids.get(id).is_some()));
        }
        assert_eq!(pages(&ids), 0);
    }
}
