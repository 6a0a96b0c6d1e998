// Drives `agent-jobs mcp` with the inspector in CLI mode, from the directory in which it is installed.
//
// Each call is a process of its own, and over stdio so is its server: what needs a second call in one session
// is left to the SDKs. It sends no header of ours, so over HTTP it is the single user of this machine.
//
// Usage: node client.mjs BINARY TRANSPORT, where TRANSPORT is stdio or http.
// Prints a line a case: `case NAME ok` or `case NAME FAILED: why`.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const [binary, transport] = process.argv.slice(2);
const run = promisify(execFile);

let target = [binary, "mcp"];
let server;
if (transport === "http") {
  const args = ["mcp", "--http", "127.0.0.1:0", "--http-access", "single-user"];
  server = spawn(binary, args, { stdio: ["ignore", "ignore", "pipe"] });
  const [line] = await once(createInterface({ input: server.stderr }), "line");
  target = [line.match(/http:\S+/)[0], "--transport", "http"];
}

async function inspect(...args) {
  const inspector = "node_modules/.bin/mcp-inspector";
  const { stdout } = await run(inspector, ["--cli", ...target, ...args], { timeout: 120_000 });
  return JSON.parse(stdout);
}

function call(tool, args = {}) {
  const given = Object.entries(args).flatMap(([key, value]) => ["--tool-arg", `${key}=${value}`]);
  return inspect("--method", "tools/call", "--tool-name", tool, ...given);
}

const cases = {
  async list() {
    const { tools } = await inspect("--method", "tools/list");
    const names = tools.map((tool) => tool.name);
    assert.deepEqual(names, ["bash", "job_output", "job_list", "job_kill"]);
  },

  async schemas() {
    const { tools } = await inspect("--method", "tools/list");
    for (const tool of tools) {
      assert.equal(tool.inputSchema.type, "object");
      assert.equal(tool.outputSchema.type, "object");
      const reads = ["job_output", "job_list"].includes(tool.name);
      assert.equal(tool.annotations.readOnlyHint, reads);
    }
  },

  async calls() {
    const answer = await call("bash", { command: "echo out" });
    assert.equal(answer.content[0].text, "out\n");
    assert.equal((await call("job_list")).content[0].text, "(no background jobs)");
    for (const tool of ["job_output", "job_kill"]) {
      const answer = await call(tool, { job_id: "bash-1" });
      assert.equal(answer.content[0].text, "Error: unknown job bash-1");
    }
  },

  async start() {
    const command = { command: "sleep 1000", run_in_background: true };
    const answer = await call("bash", command);
    assert.equal(answer.structuredContent.kind, "background");
    assert.ok(answer.content[0].text.includes(answer.structuredContent.jobId));
  },

  async sessions() {
    const command = { command: "sleep 1000", run_in_background: true };
    const answer = await call("bash", command);
    const list = await call("job_list");
    assert.equal(list.content[0].text, "(no background jobs)");
    assert.deepEqual(list.structuredContent, { jobs: [] });
    const read = await call("job_output", { job_id: answer.structuredContent.jobId });
    assert.ok(read.isError);
  },

  async "bad-arguments"() {
    const answer = await call("job_output", { job_id: "bash-999" });
    assert.ok(answer.isError);
    assert.equal(answer.content[0].text, "Error: unknown job bash-999");
  },

  async bounded() {
    const answer = await call("bash", { command: "head -c 10000000 /dev/zero | tr '\\0' x" });
    assert.ok(answer.content[0].text.length <= 32_768);
    assert.ok(answer.content[0].text.includes("[output truncated; full output: "));
    assert.ok(answer.structuredContent.truncated);
  },

  async structured() {
    const answer = await call("bash", { command: "echo out; exit 3" });
    const { output, facts } = answer.structuredContent;
    assert.equal(answer.content[0].text, `${output}[exit code: ${facts.exitCode}]`);
  },

  async end() {
    const command = "(setsid sleep 1000 & echo $!); echo $$; exec sleep 1000";
    const answer = await call("bash", { command, timeout_ms: 500 });
    assert.equal(answer.structuredContent.kind, "promoted");
    const pids = answer.structuredContent.output.trim().split("\n");
    assert.equal(pids.length, 2);
    if (server) {
      server.kill("SIGTERM");
      await once(server, "exit");
      assert.equal(server.exitCode, 0);
    }
    assert.ok(!pids.some((pid) => existsSync(`/proc/${pid}`)), "processes are left");
  },
};

for (const [name, run] of Object.entries(cases)) {
  try {
    await run();
    console.log(`case ${name} ok`);
  } catch (error) {
    console.error(error);
    console.log(`case ${name} FAILED: ${String(error).split("\n")[0]}`);
  }
}
if (server?.exitCode === null) server.kill("SIGKILL");
process.exit(0);
