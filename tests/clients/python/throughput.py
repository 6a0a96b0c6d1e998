"""Calls a second of two servers through the official Python SDK.

Usage: throughput.py BINARY. Prints `empty N` and `jobs N`, calls a second, for each round.
"""

import asyncio
import sys
from time import perf_counter

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

ROUNDS, CALLS = 20, 200
binary = sys.argv[1]


def server(name):
    return Client(stdio_client(StdioServerParameters(command=binary, args=[name])), mode="legacy")


async def main():
    async with server("empty") as empty, server("jobs") as jobs:
        await empty.list_tools()
        await jobs.list_tools()
        for _ in range(ROUNDS):
            start = perf_counter()
            for _ in range(CALLS):
                await empty.call_tool("empty", {})
            print(f"empty {CALLS / (perf_counter() - start):.1f}", flush=True)
            start = perf_counter()
            for _ in range(CALLS):
                answer = await jobs.call_tool("job_output", {"job_id": "live-1"})
                assert len(answer.structured_content["text"]) == 1024, answer
            print(f"jobs {CALLS / (perf_counter() - start):.1f}", flush=True)


asyncio.run(main())
