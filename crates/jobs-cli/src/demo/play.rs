//! What happens around the agents: users speak, jobs end, the host shuts down.

use std::path::Path;
use std::sync::Arc;

use tokio::time::timeout;
use tool_jobs::Lane;

use super::acts::{self, OTHER, SESSION};
use super::compose::{Composition, Session};
use super::expect::Mismatch;
use super::report::{About, Event};
use super::script::{Act, Opening};
use super::scripted::Scripted;
use super::stage::{Failed, LIMIT, MARK, Stage};
use super::witness;

/// The jobs whose ends are told by a notice: those that nobody waited for or killed.
const NOTICED: [&str; 5] = ["bash-3", "bash-4", "bash-5", "bash-6", "bash-7"];

/// Plays all acts up to the first failure, and tears everything down.
pub(crate) async fn play(shell: &Path, stage: &Arc<Stage>, parts: &Composition) {
    let cookie = format!("{MARK}={}", stage.launcher.cookie());
    let begin = Event::Run {
        cookie: &cookie,
        shell,
        directory: stage.directory(),
        containment: format!("{:?}", parts.containment).to_lowercase(),
    };
    stage.tell(About::NOTHING, &begin);

    let mut acts = acts::acts();
    let mut session = |name| {
        let lines = acts.iter_mut().filter(|act| act.session == name);
        let lines = lines
            .flat_map(|act| std::mem::take(&mut act.lines))
            .collect();
        let model = Scripted::new(name, Arc::clone(stage), lines);
        parts.session(name, stage, model)
    };
    let (mut ours, mut theirs) = (session(SESSION), session(OTHER));

    let mut played = Ok(());
    for act in &acts {
        let session = if act.session == SESSION {
            &mut ours
        } else {
            &mut theirs
        };
        played = play_act(stage, session, act).await;
        if played.is_err() {
            break;
        }
    }
    teardown(stage, parts, [&ours, &theirs]).await;
    if played.is_ok() {
        // Only a play that went to its end has an outcome to look back on.
        let told = Mismatch::unless_equal(
            &NOTICED.map(str::to_owned).to_vec(),
            &stage.deliveries.jobs(),
        );
        let says = "each end was told once: by a notice, or by the wait or kill that met it";
        let _counted = stage.check(About::NOTHING, says, &told);
    }
}

/// What comes before a turn, and the turn.
async fn play_act(stage: &Stage, session: &mut Session<Scripted>, act: &Act) -> Result<(), Failed> {
    if let Some(title) = act.title {
        stage.tell(About::NOTHING, &Event::Part { title });
    }
    match act.opening {
        Opening::User(text) => {
            session.inbox.send_user(text);
        }
        Opening::Wake { job, file } => {
            let lane = stage.end(job, file).await?;
            let woke = Mismatch::unless_equal(&Lane::Woke, &lane);
            stage.check(About::job(job), "the notice opened a turn", &woke)?;
        }
        Opening::NoWake { job, file, text } => {
            let lane = stage.end(job, file).await?;
            let joined = Mismatch::unless_equal(&Lane::Joined, &lane);
            let says = "the wakes are used up: the notice waits in the inbox";
            stage.check(About::job(job), says, &joined)?;
            let busy = Mismatch::unless_equal(&false, &session.inbox.is_busy());
            stage.check(About::job(job), "the agent is idle still", &busy)?;
            session.inbox.send_user(text);
        }
    }
    let reason = match timeout(LIMIT, session.agent.turn()).await {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("no end within {LIMIT:?}"),
    };
    // The model may have said already what is wrong.
    if stage.report.failed() == 0 {
        let outcome = Err(Mismatch::new("its end", reason));
        stage.check(About::NOTHING, "the turn ends", &outcome)?;
    }
    Err(Failed)
}

/// Closes what was opened, whatever went wrong before, and looks for what is left.
async fn teardown(stage: &Stage, parts: &Composition, sessions: [&Session<Scripted>; 2]) {
    let part = Event::Part {
        title: "12  Teardown",
    };
    stage.tell(About::NOTHING, &part);
    stage.processes().await;
    let does = |text: &str| stage.tell(About::NOTHING, &Event::Outside { text });
    let check = |says: &str, outcome: Result<(), Mismatch>| {
        // Counted, and not the end of it: there is more to close.
        let _counted = stage.check(About::NOTHING, says, &outcome);
    };
    let late = |_| Mismatch::new("an end", format_args!("none within {LIMIT:?}"));
    for session in sessions {
        does(&format!("closes the owner {}", session.owner.session()));
        let closed = timeout(LIMIT, session.owner.close()).await;
        check("its jobs have ended", closed.map_err(late));
        let left = parts.jobs.list(&session.owner.caller()).await;
        let none = Mismatch::unless_equal(&Ok(Vec::new()), &left);
        check("its records are gone", none);
    }
    let left = stage.processes().await;
    let says = "no process carries the run's cookie";
    check(says, Mismatch::unless_equal(&0, &left));

    does("shuts the registry down");
    let down = timeout(LIMIT, parts.jobs.shutdown()).await;
    check("the registry is down", down.map_err(late));
    let list = parts.jobs.list(&sessions[0].owner.caller()).await;
    let refused = Mismatch::unless_equal(&Err(jobs::Error::ShutDown), &list);
    check("it takes no more calls", refused);
    let children = witness::children().await;
    let says = "this process has no child left, not even a zombie";
    check(says, Mismatch::unless_equal(&Vec::new(), &children));
}
