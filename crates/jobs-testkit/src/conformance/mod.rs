//! The clauses of [`JobRegistry`](jobs::JobRegistry) as cases that any
//! implementation runs.
//!
//! 1. A case gets fresh registries only, and every one is shut down after it.
//! 2. A case waits for values, never for time to pass. On the paused clock,
//!    "nothing comes" means that every task had its turn.
//! 3. A failure names the clause.

#[macro_use]
mod list;
mod run;
mod stage;

mod access;
mod causes;
mod changes;
mod completions;
mod killing;
mod leases;
mod looking;
mod offers;
mod owners;
mod panics;
mod places;
mod reading;
mod reentrancy;
mod scopes;
mod shutdown;
mod starting;
mod stopping;
mod storms;
mod stress;
mod teardown;
mod telling;
mod waiting;

use std::fmt;
use std::pin::Pin;

pub use run::{Failure, check};

use stage::World;

/// One conformance case.
#[derive(Clone, Copy)]
pub struct Case {
    /// The clause that it belongs to: `C-31`.
    pub clause: &'static str,
    /// What it shows.
    pub name: &'static str,
    clock: Clock,
    body: Body,
}

type Body = fn(World) -> Pin<Box<dyn Future<Output = ()> + Send>>;

/// On which runtime a case runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clock {
    /// One thread, and a clock that moves when nothing else can.
    Paused,
    /// Several threads, in real time.
    Threads,
}

impl Case {
    /// Whether the case runs on several threads and in real time, so that it
    /// takes seconds.
    #[must_use]
    pub fn is_in_real_time(&self) -> bool {
        self.clock == Clock::Threads
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.clause, self.name)
    }
}

macro_rules! table {
    ($($module:ident $clock:ident { $($clause:literal $name:ident)* })*) => {
        /// Every case, by subject.
        pub const CASES: &[Case] = &[$($(
            Case {
                clause: $clause,
                name: stringify!($name),
                clock: Clock::$clock,
                body: |world| Box::pin($module::$name(world)),
            },
        )*)*];
    };
}

__conformance_cases!([table]);

/// Makes one test of each conformance case, for a [`Harness`](crate::Harness).
///
/// `known_gaps` names cases that must fail with this implementation: an absent
/// capability is asserted, so a gap that was closed is noticed.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use jobs::JobRegistry;
/// use jobs_testkit::Settings;
///
/// # fn registry_of_yours(_: &Settings) -> Arc<dyn JobRegistry> { panic!("never run") }
/// fn fresh(settings: &Settings) -> Arc<dyn JobRegistry> {
///     registry_of_yours(settings)
/// }
///
/// jobs_testkit::conformance!(fresh, known_gaps: ["unowned_jobs_can_be_hidden"]);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! conformance {
    ($harness:expr $(, known_gaps: [$($gap:literal),* $(,)?])? $(,)?) => {
        $crate::__conformance_cases! {
            [$crate::__conformance_tests] ($harness) [$($($gap),*)?]
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_tests {
    (($harness:expr) $gaps:tt $($module:ident $clock:ident { $($clause:literal $name:ident)* })*) => {
        $(mod $module {
            use super::*;

            $(#[test]
            fn $name() {
                $crate::conformance::check(stringify!($name), $harness, &$gaps);
            })*
        })*

        #[test]
        fn known_gaps_are_cases() {
            let gaps: &[&str] = &$gaps;
            for gap in gaps {
                let known = $crate::conformance::CASES.iter().any(|case| case.name == *gap);
                assert!(known, "{gap} is no conformance case");
            }
        }
    };
}
