"""Calls a second of several servers through the official Python SDK.

Usage: throughput.py BINARY SERVER... Prints `SERVER N`, calls a second, for each server in each round.
"""

import asyncio
import sys
from contextlib import AsyncExitStack
from time import perf_counter

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

ROUNDS, CALLS = 20, 200
binary, *names = sys.argv[1:]


def server(name):
    return Client(stdio_client(StdioServerParameters(command=binary, args=[name])), mode="legacy")


async def call(client, name):
    if name == "empty":
        await client.call_tool("empty", {})
    else:
        answer = await client.call_tool("job_output", {"job_id": "live-1"})
        assert len(answer.structured_content["text"]) == 1024, answer


async def main():
    async with AsyncExitStack() as stack:
        clients = {name: await stack.enter_async_context(server(name)) for name in names}
        for client in clients.values():
            await client.list_tools()
        for _ in range(ROUNDS):
            for name, client in clients.items():
                start = perf_counter()
                for _ in range(CALLS):
                    await call(client, name)
                print(f"{name} {CALLS / (perf_counter() - start):.1f}", flush=True)


asyncio.run(main())
