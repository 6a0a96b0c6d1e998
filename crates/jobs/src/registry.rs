//! The contract: what every registry of background jobs owes its two parties.

use async_trait::async_trait;

use crate::error::Error;
use crate::id::JobId;
use crate::news::{Changes, Completions, Registration};
use crate::owner::{Caller, Owner, OwnerKey, SessionId};
use crate::receipt::{Delta, Kill, Receipt};
use crate::scope::Scope;
use crate::snapshot::Snapshot;
use crate::spec::JobSpec;

/// A registry of background jobs.
///
/// It stands between *producers*, who start work and keep its resources, and
/// *controllers*, who collect and stop it on behalf of owners. It owns ids,
/// ownership, lifecycle, reads, cancellation, waits, news and cleanup.
///
/// Each clause below is a promise with a number. `docs/contract.md` names the
/// test of each; the crate `jobs-testkit` runs them against any implementation.
///
/// # Clauses for all calls
///
/// - **C-01** A call for an id that was never handed out, or whose owner is
///   gone, is [`Error::UnknownJob`].
/// - **C-02** A call for a job of another session is [`Error::ForeignJob`],
///   whatever the state of the job. Callers of the owning session have access,
///   whichever instance they are.
/// - **C-03** Unowned jobs are open to every caller, unless the registry is
///   configured otherwise.
/// - **C-04** After [`shutdown`](Self::shutdown) every call is
///   [`Error::ShutDown`].
/// - **C-05** A panic in a producer's code harms no other job, no later call
///   and no lock.
/// - **C-06** A producer's code, called from any method, may call any method.
///
/// # For implementors
///
/// All methods are required; delegate each of them in a wrapper. Anything that
/// can be built from them belongs on [`JobRegistryExt`](crate::JobRegistryExt).
#[async_trait]
pub trait JobRegistry: Send + Sync + 'static {
    /// Checks `spec`, starts its work, and hands out its id.
    ///
    /// - **C-10** Checks come in this order, each with its own error and before
    ///   the starter runs: not shut down; a controller serves the owner; kind,
    ///   label and limit are valid; the owner is the current, open instance of
    ///   its session; the owner has fewer live jobs than its limit; it has not
    ///   too many untold completions.
    /// - **C-11** A refused start leaves no id, no record and no starter call.
    /// - **C-12** A starter that fails or panics leaves no record and frees its
    ///   place; its ordinal is given out again unless a later one was.
    /// - **C-13** Once the starter returned hooks the start cannot fail, and the
    ///   job is never seen terminal from inside it.
    /// - **C-14** Ids of a kind count 1, 2, 3 … over all owners, and no two
    ///   visible jobs share one.
    /// - **C-15** Neither concurrent starts nor a starter that starts pass the
    ///   limit: the place is taken before the starter runs. Stopping jobs count,
    ///   ended ones do not. Unowned jobs share one limit.
    ///
    /// # Errors
    ///
    /// As C-10 says; [`Error::Producer`] with the starter's own text;
    /// [`Error::Unavailable`] where nothing can be started, such as outside of
    /// what drives the jobs.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before the starter ran undoes the start; dropping it
    /// later cancels the work. No record without its work, no work without a
    /// record.
    async fn start(&self, spec: JobSpec) -> Result<JobId, Error>;

    /// The job as it is now.
    ///
    /// - **C-20** Tells nobody anything: `reported` and the cursor stay.
    /// - **C-21** The terminal state, once seen, never changes but for
    ///   `reported`.
    ///
    /// # Errors
    ///
    /// C-01 to C-04.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn get(&self, id: &JobId, caller: &Caller) -> Result<Snapshot, Error>;

    /// The jobs of the caller's session and the unowned ones, in the order in
    /// which they were committed.
    ///
    /// - **C-22** Never shows another session's job; tells nobody anything.
    ///
    /// # Errors
    ///
    /// C-04.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn list(&self, caller: &Caller) -> Result<Vec<Snapshot>, Error>;

    /// The output after the model's cursor.
    ///
    /// - **C-30** A stream job gives everything from the cursor to the end. A
    ///   job without a source gives nothing while it lives, and then its final
    ///   output, the same at every read.
    /// - **C-31** A read by itself changes nothing: dropped, its output is read
    ///   again. Committed, the cursor stands at the end of its range, never
    ///   further back than before. Nothing is ever skipped.
    /// - **C-32** Of an ended job the receipt holds a share: committed, the
    ///   completion is told; dropped, it is announced.
    /// - **C-33** A source that fails or panics is an error and changes
    ///   nothing.
    ///
    /// # Errors
    ///
    /// C-01 to C-04; [`Error::Producer`]; [`Error::NoLongerKept`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: nothing is used up before the receipt is committed.
    async fn read(&self, id: &JobId, caller: &Caller) -> Result<Receipt<Delta>, Error>;

    /// Output from the absolute byte offset `from`, at most `max` bytes of it,
    /// for re-reads, UIs and second readers.
    ///
    /// - **C-34** Moves no cursor, tells nobody anything; says where to go on
    ///   and how many bytes before are gone.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn observe(
        &self,
        id: &JobId,
        caller: &Caller,
        from: u64,
        max: Option<usize>,
    ) -> Result<Delta, Error>;

    /// Asks the work to stop.
    ///
    /// - **C-40** While `cancel` runs the job is as it was. If `cancel` fails,
    ///   nothing has changed. If it succeeds, the job is `stopping`, unless it
    ///   ended meanwhile: then the answer is *already finished*.
    /// - **C-41** A kill of a stopping job calls `cancel` again, with the new
    ///   reason; of an ended job it answers *already finished*.
    /// - **C-42** A committed kill by the model tells the completion only if
    ///   the job ends `killed` by it. Every other ending is announced, with its
    ///   cause: completed or failed by itself, or stopped by somebody else.
    ///   The first accepted kill names the cause.
    /// - **C-43** A kill receipt of a live job that is dropped gives its share
    ///   back: the ending is announced. At an ending that it cannot tell, the
    ///   share holds nobody back.
    /// - **C-44** A job that does not settle within the stop grace after its
    ///   last cancel fails with `did not stop within <n> ms; work may be
    ///   orphaned` and frees its place.
    ///
    /// # Errors
    ///
    /// C-01 to C-04; [`Error::Producer`] with the text of a failed `cancel`;
    /// [`Error::UnownedProtected`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future did all or nothing of the cancel; the share goes
    /// back.
    async fn kill(
        &self,
        id: &JobId,
        caller: &Caller,
        by: KilledBy,
        reason: Option<&str>,
    ) -> Result<Receipt<Kill>, Error>;

    /// Waits until the job has ended.
    ///
    /// - **C-50** Resolves at once for an ended job, and also when the record is
    ///   removed meanwhile.
    /// - **C-51** A wait that is pending at settlement holds a share from the
    ///   settlement on, not from its next poll. A wait that is dropped before
    ///   has none.
    ///
    /// # Errors
    ///
    /// C-01 to C-04.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future is how a wait is aborted: the job goes on, and a
    /// share goes back.
    async fn settled(&self, id: &JobId, caller: &Caller) -> Result<Receipt<Snapshot>, Error>;

    /// Tears every live job down (`jobs service disposed`), tells observers of
    /// changes, empties the store, and refuses whatever comes later.
    ///
    /// - **C-80** Pending waits resolve with the terminal snapshot; no
    ///   completion is offered any more; `changes` gives its last items and
    ///   ends.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future does not undo the shutdown and does not delay it.
    async fn shutdown(&self);

    /// Makes a new owner, the current instance of `session` from now on.
    ///
    /// - **C-70** The instance it replaces cannot start jobs any more and keeps
    ///   its own cleanup and notices; both may read the session's jobs.
    /// - **C-71** Closing refuses new starts first. Each live job counts as
    ///   told, is cancelled (`owner disposed`) and shown `stopping`; a start
    ///   under way is committed cancelled.
    /// - **C-72** When all have settled, the records are gone and observers were
    ///   told. A cancel that fails, or a job that does not settle within the
    ///   teardown grace, is failed by force and hangs nobody.
    /// - **C-73** Dropping the last handle signals the same, waits for nothing
    ///   and works outside a runtime.
    /// - **C-74** A hand-over moves live jobs and untold completions, ids
    ///   unchanged, all at once.
    fn owner(&self, session: SessionId, scope: Scope) -> Owner;

    /// Registers a controller: somebody at `scope` who can collect and stop
    /// jobs.
    ///
    /// - **C-60** It serves the owners whose scope is `scope` or below it;
    ///   unowned jobs are served at the root only. Its end stops new starts, not
    ///   running jobs.
    ///
    /// # Errors
    ///
    /// [`Error::ControllerTaken`] when `name` is registered at the same scope;
    /// [`Error::ShutDown`].
    fn controller(&self, name: &str, scope: &Scope) -> Result<Registration, Error>;

    /// Registers a reporter of completions for the owners at `scope` or below
    /// it, or for one of them.
    ///
    /// - **C-61** A completion is offered while it is untold, no share of it is
    ///   out, and its owner lives; those that ended before the reporter came,
    ///   too. Unowned jobs are offered to nobody.
    /// - **C-62** Of an owner's completions, the one that settled first is
    ///   offered first. Of several reporters along an owner's scopes the
    ///   innermost is.
    /// - **C-63** Only the poll that returns a completion holds it. Committed it
    ///   is told, for good; dropped it is offered again.
    /// - **C-64** At the time of the offer, the record, the waiters and the
    ///   changes of the same settlement are out.
    /// - **C-65** A share that is neither committed nor dropped within the share
    ///   lease holds nobody back any more; its later commit is harmless.
    ///
    /// A stream for one owner ends when that owner has closed; after a shutdown
    /// every stream ends.
    fn completions(&self, scope: &Scope, owner: Option<&OwnerKey>) -> Completions;

    /// Registers an observer of changes to the owners at `scope` or below it.
    ///
    /// - **C-66** Start, the move to `stopping`, a repeated kill, settlement and
    ///   removal are each followed by an item of the owner, coalesced, never
    ///   missed. Unowned jobs are heard of at the root only. An observer that is
    ///   more than 4,096 owners behind hears *everything* once.
    ///
    /// After a shutdown the stream gives what is left and ends.
    fn changes(&self, scope: &Scope) -> Changes;
}

/// On whose behalf a job is killed. It never widens what the caller may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KilledBy {
    /// The owner's model.
    Model,
    /// A user, through a UI.
    User,
    /// The embedding host.
    Host,
}
