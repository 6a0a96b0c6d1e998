//! The calls of a script. Numbers name what exists by then, modulo how many.

use jobs::{Cause, KilledBy, Outcome};
use proptest::prelude::*;

/// One step of a script.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    Start {
        owner: Option<u8>,
        reaction: Reaction,
    },
    FailStart {
        owner: u8,
    },
    Write {
        job: u8,
        bytes: u8,
    },
    Settle {
        job: u8,
        end: End,
    },
    Kill {
        job: u8,
        caller: u8,
        by: By,
    },
    Read {
        job: u8,
        caller: u8,
    },
    Observe {
        job: u8,
        caller: u8,
        from: u8,
        max: Option<u8>,
    },
    Wait {
        job: u8,
        caller: u8,
    },
    TakeWait {
        wait: u8,
    },
    DropWait {
        wait: u8,
    },
    Subscribe {
        owner: Option<u8>,
    },
    Unsubscribe {
        reporter: u8,
    },
    Next {
        reporter: u8,
    },
    Commit {
        held: u8,
    },
    Drop {
        held: u8,
    },
    NewOwner {
        session: u8,
    },
    Close {
        owner: u8,
    },
    HandOver {
        from: u8,
        to: u8,
    },
    Shutdown,
    Tick {
        steps: u8,
    },
}

/// What a job does when it is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reaction {
    Ignore,
    Die,
    Refuse,
}

/// How a job ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Completed,
    Failed,
    Killed,
}

/// On whose behalf a kill is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Model,
    User,
    Host,
}

impl End {
    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Self::Completed => Outcome::completed(),
            Self::Failed => Outcome::failed(),
            Self::Killed => Outcome::killed(),
        }
    }
}

impl By {
    pub(crate) fn killed_by(self) -> KilledBy {
        match self {
            Self::Model => KilledBy::Model,
            Self::User => KilledBy::User,
            Self::Host => KilledBy::Host,
        }
    }

    pub(crate) fn cause(self) -> Cause {
        match self {
            Self::Model => Cause::Model,
            Self::User => Cause::User,
            Self::Host => Cause::Host,
        }
    }
}

/// Any call; small numbers, so that calls meet.
pub(crate) fn any() -> impl Strategy<Value = Op> {
    let n = || 0..4_u8;
    let owner = || prop::option::weighted(0.85, 0..3_u8);
    let reaction = prop_oneof![
        2 => Just(Reaction::Ignore),
        2 => Just(Reaction::Die),
        1 => Just(Reaction::Refuse),
    ];
    let end = prop_oneof![Just(End::Completed), Just(End::Failed), Just(End::Killed)];
    let by = prop_oneof![2 => Just(By::Model), 1 => Just(By::User), 1 => Just(By::Host)];
    let max = prop::option::of(1..4_u8);
    prop_oneof![
        8 => (owner(), reaction).prop_map(|(owner, reaction)| Op::Start { owner, reaction }),
        1 => n().prop_map(|owner| Op::FailStart { owner }),
        4 => (n(), 0..5_u8).prop_map(|(job, bytes)| Op::Write { job, bytes }),
        8 => (n(), end).prop_map(|(job, end)| Op::Settle { job, end }),
        6 => (n(), n(), by).prop_map(|(job, caller, by)| Op::Kill { job, caller, by }),
        6 => (n(), n()).prop_map(|(job, caller)| Op::Read { job, caller }),
        2 => (n(), n(), 0..8_u8, max)
            .prop_map(|(job, caller, from, max)| Op::Observe { job, caller, from, max }),
        6 => (n(), n()).prop_map(|(job, caller)| Op::Wait { job, caller }),
        5 => n().prop_map(|wait| Op::TakeWait { wait }),
        2 => n().prop_map(|wait| Op::DropWait { wait }),
        4 => owner().prop_map(|owner| Op::Subscribe { owner }),
        2 => n().prop_map(|reporter| Op::Unsubscribe { reporter }),
        8 => n().prop_map(|reporter| Op::Next { reporter }),
        8 => n().prop_map(|held| Op::Commit { held }),
        5 => n().prop_map(|held| Op::Drop { held }),
        2 => (0..2_u8).prop_map(|session| Op::NewOwner { session }),
        2 => n().prop_map(|owner| Op::Close { owner }),
        3 => (n(), n()).prop_map(|(from, to)| Op::HandOver { from, to }),
        1 => Just(Op::Shutdown),
        4 => (1..9_u8).prop_map(|steps| Op::Tick { steps }),
    ]
}
