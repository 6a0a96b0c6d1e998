// Drives `agent-jobs mcp` with the official TypeScript SDK, from the directory in which it is installed.
//
// Usage: node client.mjs BINARY TRANSPORT, where TRANSPORT is stdio or http.
// Prints a line a case: `case NAME ok` or `case NAME FAILED: why`.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const PATIENCE = 60_000;
const TOKEN = "anns-token-0123456789";
const [binary, transport] = process.argv.slice(2);

/** A server over HTTP; over stdio each client starts its own. */
class Server {
  static async open() {
    const server = new Server();
    if (transport === "http") {
      server.process = spawn(binary, ["mcp", "--http", "127.0.0.1:0"], {
        env: { ...process.env, AGENT_JOBS_HTTP_TOKENS: `ann ${TOKEN}` },
        stdio: ["ignore", "ignore", "pipe"],
      });
      const lines = createInterface({ input: server.process.stderr });
      const [line] = await once(lines, "line");
      server.url = new URL(line.match(/http:\S+/)[0]);
    }
    server.clients = [];
    return server;
  }

  async client() {
    const client = new Client({ name: "test", version: "0" });
    const link = this.url
      ? new StreamableHTTPClientTransport(this.url, {
          requestInit: { headers: { Authorization: `Bearer ${TOKEN}` } },
        })
      : new StdioClientTransport({ command: binary, args: ["mcp"] });
    await client.connect(link);
    this.clients.push(client);
    return client;
  }

  /** Ends the clients, and with them their servers over stdio. */
  async leave() {
    for (const client of this.clients.splice(0)) await client.close();
  }

  /** Ends the server; its exit code, where clients do not end it themselves. */
  async stop() {
    if (!this.process) {
      await this.leave();
      return 0;
    }
    if (this.process.exitCode === null) {
      this.process.kill("SIGTERM");
      await once(this.process, "exit");
    }
    return this.process.exitCode;
  }
}

const call = (client, name, args, options) =>
  client.callTool({ name, arguments: args }, undefined, options);
/** The tool's own text; notices may be in front of it. */
const text = (answer) => answer.content.at(-1).text;
const read = (client, job, args = {}, options) =>
  call(client, "job_output", { job_id: job, ...args }, options);

async function start(client, command) {
  const answer = await call(client, "bash", { command, run_in_background: true });
  return answer.structuredContent.jobId;
}

async function readUntil(client, job, wanted) {
  const end = Date.now() + PATIENCE;
  let seen = "";
  while (!wanted(seen)) {
    assert.ok(Date.now() < end, `no end of waiting: ${seen}`);
    const answer = await read(client, job, { wait: true, timeout_ms: 50 });
    seen += answer.structuredContent.text;
  }
  return seen;
}

/** A command that waits, and what ends its wait. */
async function withGate(use) {
  const directory = mkdtempSync(join(tmpdir(), "gate-"));
  const path = join(directory, "gate");
  try {
    await use(`while ! test -e ${path}; do sleep 0.02; done`, () => writeFileSync(path, ""));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const isAlive = (pid) => existsSync(`/proc/${pid}`);

const cases = {
  async list(server) {
    const { tools } = await (await server.client()).listTools();
    const names = tools.map((tool) => tool.name);
    assert.deepEqual(names, ["bash", "job_output", "job_list", "job_kill"]);
  },

  async schemas(server) {
    const { tools } = await (await server.client()).listTools();
    for (const tool of tools) {
      assert.equal(tool.inputSchema.type, "object");
      assert.equal(tool.outputSchema.type, "object");
      const reads = ["job_output", "job_list"].includes(tool.name);
      assert.equal(tool.annotations.readOnlyHint, reads);
      assert.equal(tool.annotations.destructiveHint, !reads);
    }
  },

  async start(server) {
    const client = await server.client();
    const command = { command: "sleep 1000", run_in_background: true };
    const answer = await call(client, "bash", command);
    assert.equal(answer.structuredContent.kind, "background");
    assert.ok(text(answer).includes(answer.structuredContent.jobId));
  },

  async delta(server) {
    await withGate(async (wait, open) => {
      const client = await server.client();
      const job = await start(client, `echo one; ${wait}; echo two`);
      assert.equal(await readUntil(client, job, (seen) => seen.includes("one")), "one\n");
      open();
      const answer = await read(client, job, { wait: true });
      assert.equal(text(answer), "two\n[status: completed, exit code: 0]");
    });
  },

  async "wait-served"(server) {
    const client = await server.client();
    const job = await start(client, "sleep 0.2; echo out");
    const answer = await read(client, job, { wait: true });
    assert.equal(answer.structuredContent.job.status, "completed");
  },

  async "wait-timed-out"(server) {
    const client = await server.client();
    const job = await start(client, "sleep 1000");
    const answer = await read(client, job, { wait: true, timeout_ms: 100 });
    assert.equal(text(answer), "(no new output)\n[status: running]");
  },

  async "wait-cancelled"(server) {
    await withGate(async (wait, open) => {
      const client = await server.client();
      const job = await start(client, `${wait}; echo out`);
      const stop = new AbortController();
      const waiting = read(client, job, { wait: true }, { signal: stop.signal });
      // A wait has to be under way before it can be cancelled there.
      await sleep(500);
      stop.abort("enough");
      await assert.rejects(waiting);
      open();
      const answer = await read(client, job, { wait: true });
      assert.equal(text(answer), "out\n[status: completed, exit code: 0]");
    });
  },

  async kill(server) {
    const client = await server.client();
    const job = await start(client, "echo $$; sleep 1000");
    const pid = (await readUntil(client, job, (seen) => seen.endsWith("\n"))).trim();
    assert.ok(isAlive(pid));
    const answer = await call(client, "job_kill", { job_id: job, reason: "enough" });
    assert.equal(text(answer), `requested cancellation of job ${job}`);
    const end = await read(client, job, { wait: true });
    assert.equal(end.structuredContent.job.status, "killed");
    assert.ok(!isAlive(pid));
  },

  async notices(server) {
    const client = await server.client();
    const job = await start(client, "true");
    const end = Date.now() + PATIENCE;
    let told = [];
    while (told.length === 0) {
      assert.ok(Date.now() < end, "no notice");
      const answer = await call(client, "bash", { command: "echo other" });
      assert.equal(text(answer), "other\n");
      told = answer.content.slice(0, -1);
    }
    assert.equal(told.length, 1);
    assert.ok(told[0].text.startsWith(`background job ${job} (bash: true) finished`), told[0].text);
    assert.equal((await call(client, "job_list", {})).content.length, 1);
  },

  async sessions(server) {
    const [one, two] = [await server.client(), await server.client()];
    const job = await start(one, "sleep 1000");
    assert.ok(text(await call(one, "job_list", {})).includes("running"));
    assert.equal(text(await call(two, "job_list", {})), "(no background jobs)");
    for (const answer of [
      await read(two, job),
      await read(two, job, { wait: true }),
      await call(two, "job_kill", { job_id: job }),
    ]) {
      assert.ok(answer.isError, JSON.stringify(answer));
    }
    assert.ok(text(await call(one, "job_list", {})).includes("running"));
  },

  async "bad-arguments"(server) {
    const client = await server.client();
    for (const [tool, args] of [
      ["job_output", {}],
      ["job_output", { job_id: 1 }],
      ["job_output", { job_id: "bash-999" }],
      ["bash", { command: "true", timeout_ms: -1 }],
    ]) {
      const answer = await call(client, tool, args);
      assert.ok(answer.isError && text(answer).startsWith("Error: "), JSON.stringify(answer));
    }
  },

  async bounded(server) {
    const client = await server.client();
    const job = await start(client, "head -c 10000000 /dev/zero | tr '\\0' x; echo");
    const answer = await read(client, job, { wait: true });
    assert.ok(text(answer).length <= 32_768);
    const from = Number(text(answer).match(/from=(\d+)/)[1]);
    const page = await read(client, job, { from });
    assert.equal(page.structuredContent.range.from, from);
    assert.ok(page.structuredContent.text.startsWith("xxx"));
    assert.ok(text(page).length <= 32_768);
  },

  async structured(server) {
    const client = await server.client();
    const job = await start(client, "echo out; sleep 1000");
    await readUntil(client, job, (seen) => seen.includes("out"));
    const list = await call(client, "job_list", {});
    const row = list.structuredContent.jobs.find((found) => found.id === job);
    const line = `${row.id} [${row.kind}] ${row.status} — ${row.label}`;
    assert.ok(text(list).split("\n").includes(line), text(list));
    const answer = await read(client, job, { from: 0 });
    const shown = answer.structuredContent;
    assert.equal(text(answer), `${shown.text}[status: ${shown.job.status}]`);
  },

  async end(server) {
    const client = await server.client();
    const job = await start(client, "(setsid sleep 1000 & echo $!); echo $$; sleep 1000");
    const lines = (seen) => seen.split("\n").length > 2;
    const pids = (await readUntil(client, job, lines)).trim().split("\n");
    assert.ok(pids.every(isAlive));
    assert.equal(await server.stop(), 0);
    assert.ok(!pids.some(isAlive), "processes are left");
  },
};

for (const [name, run] of Object.entries(cases)) {
  const server = await Server.open();
  try {
    await run(server);
    console.log(`case ${name} ok`);
  } catch (error) {
    console.error(error);
    console.log(`case ${name} FAILED: ${String(error).split("\n")[0]}`);
  } finally {
    await server.leave();
    await server.stop();
  }
}
process.exit(0);
