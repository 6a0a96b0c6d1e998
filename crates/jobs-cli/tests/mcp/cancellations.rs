//! Cancellations at random moments around the end of a job: what is told, and how often.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Answer, Client, PATIENCE};
use crate::web::{Open, Server, Session};

const CLIENTS: u64 = 4;
const ROUNDS: usize = 250;

/// What one job told the client.
#[derive(Debug, Default)]
struct Told {
    /// Its output, as the answers that the client wanted had it.
    output: String,
    /// How often its end was told in answers that the client wanted.
    ends: usize,
    /// How often in answers that a cancellation crossed.
    crossed: usize,
    notices: Vec<String>,
}

/// How a client speaks.
trait Wire {
    /// A call that has no answer yet.
    type Call;

    /// A call, and the message that answers it.
    fn call(&mut self, tool: &str, arguments: Value) -> Value;

    fn begin(&mut self, tool: &str, arguments: Value) -> Self::Call;

    fn answer_within(&mut self, call: &mut Self::Call, limit: Duration) -> Option<Value>;

    /// Cancels a call; the answer, if that came all the same.
    fn cancel(&mut self, call: Self::Call) -> Option<Value>;
}

impl Wire for Client {
    type Call = u64;

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.begin_call(tool, arguments);
        self.answer(id)
    }

    fn begin(&mut self, tool: &str, arguments: Value) -> u64 {
        self.begin_call(tool, arguments)
    }

    fn answer_within(&mut self, call: &mut u64, limit: Duration) -> Option<Value> {
        Self::answer_within(self, *call, limit)
    }

    fn cancel(&mut self, call: u64) -> Option<Value> {
        Self::cancel(self, call);
        self.ping();
        Self::answer_within(self, call, Duration::ZERO)
    }
}

impl Wire for Session<'_> {
    type Call = Open;

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut call = Self::begin(self, tool, arguments);
        call.answer_within(PATIENCE).expect("an answer")
    }

    fn begin(&mut self, tool: &str, arguments: Value) -> Open {
        Self::begin(self, tool, arguments)
    }

    fn answer_within(&mut self, call: &mut Open, limit: Duration) -> Option<Value> {
        call.answer_within(limit)
    }

    fn cancel(&mut self, mut call: Open) -> Option<Value> {
        Self::cancel(self, &call);
        self.ping();
        call.answer_within(Duration::ZERO)
    }
}

/// A client that keeps the books.
struct Books<W> {
    client: W,
    jobs: HashMap<String, Told>,
}

impl<W: Wire> Books<W> {
    /// Notes what an answer tells. `wanted`, unless its request was cancelled.
    fn note(&mut self, message: &Value, wanted: bool) -> Answer {
        let answer = Answer::of(message);
        let ids = &answer.raw["content"][0]["_meta"]["agent-jobs/notices"];
        for notice in ids.as_array().into_iter().flatten() {
            let notice = notice.as_str().expect("an id");
            let (_, id) = notice.rsplit_once('/').expect("a job");
            assert!(
                answer.blocks[0].contains(&format!("job {id} ")),
                "{answer:?}"
            );
            let told = self.jobs.entry(id.to_owned()).or_default();
            told.notices.push(notice.to_owned());
            told.count_end(wanted);
        }
        let job = &answer.value["job"];
        if let Some(id) = job["id"].as_str() {
            let told = self.jobs.entry(id.to_owned()).or_default();
            if wanted {
                told.output += answer.value["text"].as_str().expect("text");
            }
            if job["status"] == "completed" && !told.is_known() {
                told.count_end(wanted);
            }
        }
        answer
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        let message = self.client.call(tool, arguments);
        self.note(&message, true)
    }
}

impl Told {
    fn count_end(&mut self, wanted: bool) {
        if wanted {
            self.ends += 1;
        } else {
            self.crossed += 1;
        }
    }

    /// Whether an answer that the client wanted has told its end: reading it later says it again.
    fn is_known(&self) -> bool {
        self.ends > 0
    }
}

/// How the rounds went.
#[derive(Debug, Default, Clone, Copy)]
struct Count {
    served: usize,
    cancelled: usize,
    crossed: usize,
}

#[test]
fn a_thousand_cancellations_lose_nothing_and_tell_nothing_twice() {
    a_thousand(Client::new);
}

#[test]
fn nor_do_they_in_sessions_over_http() {
    let server = Server::with(&["--http-access", "single-user"], &[]);
    a_thousand(|| Session::open(&server, None, "2025-06-18"));
}

fn a_thousand<W: Wire>(client: impl Fn() -> W + Sync) {
    let client = &client;
    let mut sum = Count::default();
    std::thread::scope(|scope| {
        let clients: Vec<_> = (1..=CLIENTS)
            .map(|seed| scope.spawn(move || rounds(client(), seed)))
            .collect();
        for client in clients {
            let count = client.join().expect("a client whose books are right");
            sum.served += count.served;
            sum.cancelled += count.cancelled;
            sum.crossed += count.crossed;
        }
    });
    println!("{sum:?}");
    assert!(sum.cancelled >= 1_000, "{sum:?}");
    assert!(sum.served >= 100, "not around the end: {sum:?}");
}

/// Until so many waits were cancelled. `seed` is not zero.
fn rounds(client: impl Wire, mut seed: u64) -> Count {
    let mut books = Books {
        client,
        jobs: HashMap::new(),
    };
    let mut count = Count::default();
    let mut usual = Duration::from_millis(10);
    while count.cancelled < ROUNDS {
        let round = count.cancelled + count.served;
        let started = books.call(
            "bash",
            json!({ "command": format!("echo out {round}"), "run_in_background": true }),
        );
        let id = started.value["jobId"].as_str().expect("a job").to_owned();
        books.jobs.entry(id.clone()).or_default();
        let begun = Instant::now();
        let mut wait = books
            .client
            .begin("job_output", json!({ "job_id": id, "wait": true }));
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let moment = usual.mul_f64((seed % 1_000) as f64 / 500.0);
        match books.client.answer_within(&mut wait, moment) {
            Some(message) => {
                count.served += 1;
                usual = (usual * 7 + begun.elapsed()) / 8;
                assert_eq!(
                    books.note(&message, true).value["job"]["status"],
                    "completed"
                );
            }
            None => {
                count.cancelled += 1;
                // Rounds without an answer move the moments back to where there are some.
                usual = usual.mul_f64(1.02);
                if let Some(message) = books.client.cancel(wait) {
                    count.crossed += 1;
                    books.note(&message, false);
                }
            }
        }
    }
    check(books);
    count
}

fn check(mut books: Books<impl Wire>) {
    let end = Instant::now() + PATIENCE;
    while books.jobs.values().any(|told| !told.is_known()) {
        assert!(
            Instant::now() < end,
            "ends that nobody told: {:?}",
            books.jobs
        );
        books.call("job_list", json!({}));
    }
    let ids: Vec<String> = books.jobs.keys().cloned().collect();
    for id in &ids {
        books.call("job_output", json!({ "job_id": id }));
    }
    books.call("job_list", json!({}));
    for (id, told) in &books.jobs {
        assert_eq!(told.ends, 1, "{id}: {told:?}");
        assert!(told.output.starts_with("out "), "{id}: {told:?}");
        assert_eq!(told.output.lines().count(), 1, "{id}: {told:?}");
        assert!(told.notices.iter().all(|notice| *notice == told.notices[0]));
    }
}
