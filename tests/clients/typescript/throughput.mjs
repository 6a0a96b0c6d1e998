// Calls a second of two servers through the official TypeScript SDK.
//
// Usage: node throughput.mjs BINARY. Prints `empty N` and `jobs N`, calls a second, for each round.

import assert from "node:assert/strict";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const ROUNDS = 20;
const CALLS = 200;
const binary = process.argv[2];

async function server(name) {
  const client = new Client({ name: "test", version: "0" });
  await client.connect(new StdioClientTransport({ command: binary, args: [name] }));
  await client.listTools();
  return client;
}

const [empty, jobs] = [await server("empty"), await server("jobs")];

async function measure(name, call) {
  const start = performance.now();
  for (let i = 0; i < CALLS; i++) await call();
  console.log(`${name} ${((1000 * CALLS) / (performance.now() - start)).toFixed(1)}`);
}

for (let round = 0; round < ROUNDS; round++) {
  await measure("empty", () => empty.callTool({ name: "empty", arguments: {} }));
  await measure("jobs", async () => {
    const answer = await jobs.callTool({ name: "job_output", arguments: { job_id: "live-1" } });
    assert.equal(answer.structuredContent.text.length, 1024);
  });
}
await empty.close();
await jobs.close();
