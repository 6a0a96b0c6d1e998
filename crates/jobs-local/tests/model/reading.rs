//! The model's cursor: nothing is skipped, and it never goes back.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jobs::{Delta, JobId, JobRegistry, Outcome, OutputLog, Receipt, Stream};
use jobs_local::Config;
use shuttle::future::{spawn, yield_now};

use crate::support::{OnCancel, Puppet, World, check, coin};

const TEXT: &str = "one\ntwo\nthree\nfour\n";

/// What readers know of deliveries.
#[derive(Default)]
struct Delivered {
    /// The furthest end that somebody began to commit.
    begun: AtomicU64,
    /// The furthest end that somebody has committed.
    done: AtomicU64,
}

impl Delivered {
    async fn read(&self, world: &World, id: &JobId) -> Receipt<Delta> {
        let least = self.done.load(Ordering::SeqCst);
        let receipt = world.jobs.read(id, &world.caller()).await.unwrap();
        let most = self.begun.load(Ordering::SeqCst);
        let from = receipt.range.start;
        assert!(from >= least, "the cursor went back: {from} after {least}");
        assert!(from <= most, "output was skipped: {from} beyond {most}");
        let range = usize::try_from(from).unwrap()..usize::try_from(receipt.range.end).unwrap();
        assert_eq!(receipt.text, TEXT[range]);
        receipt
    }

    fn commit(&self, receipt: Receipt<Delta>) {
        let end = receipt.range.end;
        self.begun.fetch_max(end, Ordering::SeqCst);
        receipt.commit();
        self.done.fetch_max(end, Ordering::SeqCst);
    }
}

/// Two readers that deliver or drop what they read, while the job writes and
/// ends: overlapping reads carry the same bytes, none is skipped, and the
/// completion is told by whoever delivered it.
#[test]
fn reads_drops_and_commits() {
    check("reads_drops_and_commits", || async {
        let world = World::new(Config::default());
        let puppet = Puppet::default();
        let log = OutputLog::with_budget(NonZeroUsize::new(1024).unwrap());
        let hooks = puppet.streaming(Arc::new(log.reader()));
        let id = world.start_for(&world.owner, hooks).await.unwrap();
        let delivered = Arc::new(Delivered::default());
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let (world, id, delivered) =
                    (Arc::clone(&world), id.clone(), Arc::clone(&delivered));
                spawn(async move {
                    let mut told = false;
                    for _ in 0..3 {
                        let receipt = delivered.read(&world, &id).await;
                        yield_now().await;
                        if coin() {
                            told |= receipt.job.is_terminal();
                            delivered.commit(receipt);
                        }
                    }
                    told
                })
            })
            .collect();
        let writer = spawn(async move {
            for line in TEXT.split_inclusive('\n') {
                log.push(Stream::Stdout, line.as_bytes());
                yield_now().await;
            }
            log.close();
            puppet.settle(Outcome::completed());
        });
        let mut told = false;
        for reader in readers {
            told |= reader.await.unwrap();
        }
        writer.await.unwrap();
        assert!(world.ended(&id).await.is_terminal());
        assert_eq!(world.get(&id).await.reported(), told);
        let last = delivered.read(&world, &id).await;
        assert_eq!(last.range.start, delivered.done.load(Ordering::SeqCst));
        assert_eq!(last.range.end, TEXT.len() as u64);
        last.commit();
        assert!(world.get(&id).await.reported());
        world.owner.close().await;
    });
}

/// An earlier and a later read that are delivered at once: the cursor stands
/// at the end of the later one.
#[test]
fn commits_in_any_order() {
    check("commits_in_any_order", || async {
        let world = World::new(Config::default());
        let puppet = Puppet::on_cancel(OnCancel::Die);
        let log = OutputLog::with_budget(NonZeroUsize::new(1024).unwrap());
        let hooks = puppet.streaming(Arc::new(log.reader()));
        let id = world.start_for(&world.owner, hooks).await.unwrap();
        log.push(Stream::Stdout, b"one\n");
        let earlier = world.jobs.read(&id, &world.caller()).await.unwrap();
        log.push(Stream::Stdout, b"two\n");
        let later = world.jobs.read(&id, &world.caller()).await.unwrap();
        let commits = spawn(async move { drop(earlier.commit()) });
        drop(later.commit());
        let now = world.jobs.read(&id, &world.caller()).await.unwrap();
        assert_eq!(now.range, 8..8);
        commits.await.unwrap();
        let now = world.jobs.read(&id, &world.caller()).await.unwrap();
        assert_eq!(now.range, 8..8);
        world.owner.close().await;
    });
}
