"""Drives `agent-jobs mcp` with the official Python SDK.

Usage: client.py BINARY TRANSPORT, where TRANSPORT is stdio or http, with a protocol after it if it is not the older one.
Prints a line a case: `case NAME ok` or `case NAME FAILED: why`.
"""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import traceback
from contextlib import AsyncExitStack, contextmanager
from time import monotonic

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

PATIENCE = 60
TOKENS = {"ann": "anns-token-0123456789", "bob": "bobs-token-0123456789"}

binary, transport = sys.argv[1:3]
kind, _, protocol = transport.partition("-")
mode = protocol or "legacy"


class Server:
    """A server over HTTP; over stdio each client starts its own."""

    def __init__(self):
        self.stack = AsyncExitStack()
        self.process = None
        if kind == "http":
            lines = "".join(f"{name} {token}\n" for name, token in TOKENS.items())
            self.process = subprocess.Popen(
                [binary, "mcp", "--http", "127.0.0.1:0"],
                env={**os.environ, "AGENT_JOBS_HTTP_TOKENS": lines},
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            self.url = re.search(r"http:\S+", self.process.stderr.readline()).group()

    async def client(self, name="ann"):
        if self.process:
            headers = {"Authorization": f"Bearer {TOKENS[name]}"}
            http = httpx2.AsyncClient(headers=headers, timeout=PATIENCE)
            await self.stack.enter_async_context(http)
            link = streamable_http_client(self.url, http_client=http)
        else:
            link = stdio_client(StdioServerParameters(command=binary, args=["mcp"]))
        return await self.stack.enter_async_context(Client(link, mode=mode))

    async def leave(self):
        """Ends the clients, and with them their servers over stdio."""
        stack, self.stack = self.stack, AsyncExitStack()
        await stack.aclose()

    async def stop(self):
        """Ends the server; its exit code, where clients do not end it themselves."""
        if not self.process:
            await self.leave()
            return 0
        if self.process.returncode is None:
            self.process.terminate()
            await asyncio.to_thread(self.process.wait, PATIENCE)
            self.process.stderr.close()
        return self.process.returncode


async def call(client, tool, **arguments):
    return await client.call_tool(tool, arguments)


def text(answer):
    """The tool's own text; notices may be in front of it."""
    return answer.content[-1].text


async def start(client, command):
    answer = await call(client, "bash", command=command, run_in_background=True)
    return answer.structured_content["jobId"]


async def read(client, job, **arguments):
    return await call(client, "job_output", job_id=job, **arguments)


async def read_until(client, job, wanted):
    end, seen = monotonic() + PATIENCE, ""
    while not wanted(seen):
        assert monotonic() < end, f"no end of waiting: {seen}"
        answer = await read(client, job, wait=True, timeout_ms=50)
        seen += answer.structured_content["text"]
    return seen


@contextmanager
def gate():
    """A command that waits, and what ends its wait."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "gate")
        yield f"while ! test -e {path}; do sleep 0.02; done", lambda: open(path, "w").close()


def is_alive(pid):
    return os.path.exists(f"/proc/{pid}")


async def case_list(server):
    tools = (await (await server.client()).list_tools()).tools
    assert [tool.name for tool in tools] == ["bash", "job_output", "job_list", "job_kill"]


async def case_schemas(server):
    for tool in (await (await server.client()).list_tools()).tools:
        assert tool.input_schema["type"] == tool.output_schema["type"] == "object"
        reads = tool.name in ("job_output", "job_list")
        assert tool.annotations.read_only_hint is reads
        assert tool.annotations.destructive_hint is not reads


async def case_start(server):
    client = await server.client()
    answer = await call(client, "bash", command="sleep 1000", run_in_background=True)
    assert answer.structured_content["kind"] == "background"
    assert answer.structured_content["jobId"] in text(answer)


async def case_delta(server):
    with gate() as (wait, open_gate):
        client = await server.client()
        job = await start(client, f"echo one; {wait}; echo two")
        assert await read_until(client, job, lambda seen: "one" in seen) == "one\n"
        open_gate()
        answer = await read(client, job, wait=True)
        assert text(answer) == "two\n[status: completed, exit code: 0]"


async def case_wait_served(server):
    client = await server.client()
    job = await start(client, "sleep 0.2; echo out")
    answer = await read(client, job, wait=True)
    assert answer.structured_content["job"]["status"] == "completed"


async def case_wait_timed_out(server):
    client = await server.client()
    job = await start(client, "sleep 1000")
    answer = await read(client, job, wait=True, timeout_ms=100)
    assert text(answer) == "(no new output)\n[status: running]"


async def case_wait_cancelled(server):
    with gate() as (wait, open_gate):
        client = await server.client()
        job = await start(client, f"{wait}; echo out")
        # A wait has to be under way before it can be cancelled there.
        with anyio.move_on_after(0.5) as scope:
            await read(client, job, wait=True)
        assert scope.cancelled_caught
        open_gate()
        answer = await read(client, job, wait=True)
        assert text(answer) == "out\n[status: completed, exit code: 0]"


async def case_kill(server):
    client = await server.client()
    job = await start(client, "echo $$; sleep 1000")
    pid = (await read_until(client, job, lambda seen: seen.endswith("\n"))).strip()
    assert is_alive(pid)
    answer = await call(client, "job_kill", job_id=job, reason="enough")
    assert text(answer) == f"requested cancellation of job {job}"
    end = await read(client, job, wait=True)
    assert end.structured_content["job"]["status"] == "killed"
    assert not is_alive(pid)


async def case_notices(server):
    client = await server.client()
    job = await start(client, "true")
    end, told = monotonic() + PATIENCE, []
    while not told:
        assert monotonic() < end, "no notice"
        answer = await call(client, "bash", command="echo other")
        assert text(answer) == "other\n"
        told = answer.content[:-1]
    [notice] = told
    assert notice.text.startswith(f"background job {job} (bash: true) finished"), notice.text
    assert len((await call(client, "job_list")).content) == 1


async def case_sessions(server):
    # The older protocol tells sessions of one user apart, 2026-07-28 users.
    one, two = await server.client(), await server.client("bob" if protocol else "ann")
    job = await start(one, "sleep 1000")
    assert "running" in text(await call(one, "job_list"))
    assert text(await call(two, "job_list")) == "(no background jobs)"
    for answer in (
        await read(two, job),
        await read(two, job, wait=True),
        await call(two, "job_kill", job_id=job),
    ):
        assert answer.is_error, answer
    assert "running" in text(await call(one, "job_list"))


async def case_bad_arguments(server):
    client = await server.client()
    for tool, arguments in (
        ("job_output", {}),
        ("job_output", {"job_id": 1}),
        ("job_output", {"job_id": "bash-999"}),
        ("bash", {"command": "true", "timeout_ms": -1}),
    ):
        answer = await call(client, tool, **arguments)
        assert answer.is_error and text(answer).startswith("Error: "), answer


async def case_bounded(server):
    client = await server.client()
    job = await start(client, "head -c 10000000 /dev/zero | tr '\\0' x; echo")
    answer = await read(client, job, wait=True)
    assert len(text(answer)) <= 32_768
    start_of_page = int(re.search(r"from=(\d+)", text(answer)).group(1))
    page = await call(client, "job_output", **{"job_id": job, "from": start_of_page})
    assert page.structured_content["range"]["from"] == start_of_page
    assert page.structured_content["text"].startswith("xxx")
    assert len(text(page)) <= 32_768


async def case_structured(server):
    client = await server.client()
    job = await start(client, "echo out; sleep 1000")
    await read_until(client, job, lambda seen: "out" in seen)
    answer = await call(client, "job_list")
    [row] = [row for row in answer.structured_content["jobs"] if row["id"] == job]
    line = f"{row['id']} [{row['kind']}] {row['status']} — {row['label']}"
    assert line in text(answer).split("\n"), text(answer)
    answer = await call(client, "job_output", **{"job_id": job, "from": 0})
    shown = answer.structured_content
    assert text(answer) == f"{shown['text']}[status: {shown['job']['status']}]"


async def case_end(server):
    client = await server.client()
    job = await start(client, "(setsid sleep 1000 & echo $!); echo $$; sleep 1000")
    pids = (await read_until(client, job, lambda seen: seen.count("\n") > 1)).split()
    assert all(map(is_alive, pids))
    assert await server.stop() == 0
    assert not any(map(is_alive, pids)), "processes are left"


async def main():
    for function, run in list(globals().items()):
        if not function.startswith("case_"):
            continue
        name = function.removeprefix("case_").replace("_", "-")
        server = Server()
        try:
            with anyio.fail_after(2 * PATIENCE):
                try:
                    await run(server)
                finally:
                    await server.leave()
            print(f"case {name} ok", flush=True)
        except Exception as error:
            traceback.print_exc()
            print(f"case {name} FAILED: {type(error).__name__} {error}".split("\n")[0], flush=True)
        finally:
            await server.stop()


asyncio.run(main())
