//! Registries with many finished jobs in them.

use std::num::NonZeroU32;

use jobs_local::Config;

use crate::stage::{Actor, Stage, read_to_the_end, run_one};

/// A registry whose owners keep a fixed number of told finished jobs.
#[derive(Debug)]
pub struct Population {
    /// The registry.
    pub stage: Stage,
    /// Its owners, each with its share of the jobs.
    pub actors: Vec<Actor>,
}

impl Population {
    /// `jobs` finished jobs, spread evenly over `owners`. Each owner keeps as many as it has now: one more takes the
    /// oldest away.
    pub async fn of(jobs: u64, owners: u64) -> Self {
        let each = u32::try_from(jobs / owners).expect("a number of jobs");
        Self::with_room_for(each, jobs, owners).await
    }

    /// As [`of`](Self::of), but that each owner keeps up to `most`.
    pub async fn with_room_for(most: u32, jobs: u64, owners: u64) -> Self {
        let most = NonZeroU32::new(most).expect("room for a job of each owner");
        let stage = Stage::with(Config::default().with_max_finished_jobs_per_owner(most));
        let actors: Vec<_> = (0..owners)
            .map(|number| stage.actor(format!("other {number}")))
            .collect();
        let population = Self { stage, actors };
        population.fill(jobs / owners).await;
        population
    }

    /// Adds so many finished jobs to each owner.
    pub async fn fill(&self, jobs: u64) {
        for _ in 0..jobs {
            for actor in &self.actors {
                let id = run_one(&**self.stage.jobs(), actor).await;
                read_to_the_end(&**self.stage.jobs(), actor, &id).await;
            }
            drivers_end().await;
        }
    }
}

/// Lets the drivers of told jobs end, so that nobody pays for them later. Call it on a runtime of one thread.
pub async fn drivers_end() {
    let metrics = tokio::runtime::Handle::current().metrics();
    while metrics.num_alive_tasks() > 0 {
        tokio::task::yield_now().await;
    }
}
