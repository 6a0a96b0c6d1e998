//! The ids of a registry: which ordinal comes next, and what stands behind an
//! id.
//!
//! 1. An ordinal is handed out once, unless it was given back before a later
//!    one was handed out.
//! 2. Looking an id up costs what finding its page costs, in an ordered map
//!    with one entry for 64 ids of a kind that has many.
//! 3. A page exists only while one of its slots is taken.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::num::NonZeroU64;
use std::sync::Arc;

use crossbeam_utils::CachePadded;
use jobs::{JobId, Kind};

use crate::job::Job;
use crate::room::Room;
use crate::sync::Mutex;

const PAGE: usize = 64;

/// So many parts of the table have a lock each: owners that work at the same
/// time have ids one after the other, and do not wait for each other here.
const SHARDS: usize = 16;

/// What stands behind an id.
#[derive(Clone)]
pub(crate) enum Slot {
    /// A record.
    Job(Arc<Job>),
    /// Retention took the record; its owner is this.
    Evicted(Arc<Room>),
}

/// All ids of a registry.
pub(crate) struct Ids {
    ordinals: CachePadded<Mutex<Ordinals>>,
    shards: [CachePadded<Shard>; SHARDS],
}

/// Which ordinal of each kind comes next.
struct Ordinals {
    next: BTreeMap<Kind, NonZeroU64>,
    first: BTreeMap<Kind, NonZeroU64>,
}

/// Every sixteenth id of each kind.
type Shard = Mutex<BTreeMap<(u64, Kind), Page>>;

struct Page {
    slots: [Option<Slot>; PAGE],
    taken: usize,
}

impl Ids {
    pub(crate) fn new(first: BTreeMap<Kind, NonZeroU64>) -> Self {
        let next = BTreeMap::new();
        Self {
            ordinals: CachePadded::new(Mutex::new(Ordinals { next, first })),
            shards: std::array::from_fn(|_| CachePadded::default()),
        }
    }

    /// Hands out the next id of a kind.
    pub(crate) fn next(&self, kind: Kind) -> JobId {
        let mut ordinals = self.ordinals.lock();
        let Ordinals { next, first } = &mut *ordinals;
        let next = next
            .entry(kind.clone())
            .or_insert_with(|| first.get(&kind).copied().unwrap_or(NonZeroU64::MIN));
        let ordinal = *next;
        *next = ordinal.saturating_add(1);
        JobId::new(kind, ordinal)
    }

    /// Takes back an id that nothing will stand behind.
    pub(crate) fn give_back(&self, id: &JobId) {
        if let Some(next) = self.ordinals.lock().next.get_mut(id.kind())
            && *next == id.ordinal().saturating_add(1)
        {
            *next = id.ordinal();
        }
    }

    pub(crate) fn get(&self, id: &JobId) -> Option<Slot> {
        let Place { shard, page, slot } = Place::of(id);
        let pages = self.shards[shard].lock();
        pages.get(&page)?.slots[slot].clone()
    }

    pub(crate) fn put(&self, id: &JobId, what: Slot) {
        let Place { shard, page, slot } = Place::of(id);
        let mut pages = self.shards[shard].lock();
        let page = pages.entry(page).or_insert_with(Page::empty);
        page.taken += usize::from(page.slots[slot].is_none());
        page.slots[slot] = Some(what);
    }

    pub(crate) fn remove(&self, id: &JobId) {
        let Place { shard, page, slot } = Place::of(id);
        let mut pages = self.shards[shard].lock();
        if let Entry::Occupied(mut page) = pages.entry(page) {
            let Page { slots, taken } = page.get_mut();
            *taken -= usize::from(slots[slot].take().is_some());
            if *taken == 0 {
                page.remove();
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

/// Where an id is looked up.
struct Place {
    shard: usize,
    page: (u64, Kind),
    slot: usize,
}

impl Place {
    fn of(id: &JobId) -> Self {
        const SHARDS: u64 = self::SHARDS as u64;
        const PAGE: u64 = self::PAGE as u64;
        let ordinal = id.ordinal().get();
        let within = ordinal / SHARDS;
        let index = |number: u64| usize::try_from(number).unwrap_or_default();
        Self {
            shard: index(ordinal % SHARDS),
            page: (within / PAGE, id.kind().clone()),
            slot: index(within % PAGE),
        }
    }
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
        let ids = Ids::new(BTreeMap::new());
        let kind = Kind::new("job").unwrap();
        let all: Vec<_> = (0..3 * PAGE * SHARDS)
            .map(|_| ids.next(kind.clone()))
            .collect();
        for id in &all {
            ids.put(id, Slot::Evicted(Arc::clone(&room)));
            // Once more: it takes the place of the first.
            ids.put(id, Slot::Evicted(Arc::clone(&room)));
        }
        let pages = || -> usize {
            let shards = ids.shards.iter();
            shards.map(|shard| shard.lock().len()).sum()
        };
        // The first ordinal is 1, so the last one is in a page of its own.
        assert_eq!(pages(), 3 * SHARDS + 1);
        for (index, id) in all.iter().enumerate() {
            assert!(ids.get(id).is_some());
            ids.remove(id);
            ids.remove(id);
            assert!(ids.get(id).is_none());
            let later = all[index + 1..].iter().take(2 * SHARDS);
            assert!(later.into_iter().all(|id| ids.get(id).is_some()));
        }
        assert_eq!(pages(), 0);
    }
}
