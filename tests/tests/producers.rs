//! Commands as jobs do what every producer owes.

use jobs::JobSpec;
use jobs_process::{JobCommand, ProcessConfig, ProcessRunner};
use jobs_testkit::producers::Work;

fn commands(work: Work) -> JobSpec {
    let runner = ProcessRunner::new(ProcessConfig::new()).expect("a valid default");
    runner.spec(match work {
        Work::Writes(text) => JobCommand::argv(["printf", "%s", text]),
        // A command that ends with an error has done its work; one that is not there has not.
        Work::Fails => JobCommand::argv(["/nowhere/program"]),
        Work::Lasts => JobCommand::argv(["sleep", "1000"]),
    })
}

jobs_testkit::producers!(commands);
