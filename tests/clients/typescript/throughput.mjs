// Calls a second of several servers through the official TypeScript SDK.
//
// Usage: node throughput.mjs BINARY SERVER... Prints `SERVER N`, calls a second, for each server in each round.

import assert from "node:assert/strict";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const ROUNDS = 20;
const CALLS = 200;
const [binary, ...names] = process.argv.slice(2);

async function server(name) {
  const client = new Client({ name: "test", version: "0" });
  await client.connect(new StdioClientTransport({ command: binary, args: [name] }));
  await client.listTools();
  return client;
}

async function call(client, name) {
  if (name === "empty") {
    await client.callTool({ name: "empty", arguments: {} });
  } else {
    const answer = await client.callTool({ name: "job_output", arguments: { job_id: "live-1" } });
    assert.equal(answer.structuredContent.text.length, 1024);
  }
}

const clients = new Map();
for (const name of names) clients.set(name, await server(name));
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, client] of clients) {
    const start = performance.now();
    for (let i = 0; i < CALLS; i++) await call(client, name);
    console.log(`${name} ${((1000 * CALLS) / (performance.now() - start)).toFixed(1)}`);
  }
}
for (const client of clients.values()) await client.close();
