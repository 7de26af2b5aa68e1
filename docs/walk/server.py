"""Starts `partita serve` and similar commands, checks what they serve, and stops them with Ctrl-C."""

import json
import os
import re
import signal
import subprocess
import time
import urllib.request
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .progress import StepError, report

ADDRESS = re.compile(r"Partita is at (http://[^/\s]+)(?:/\?token=(\S+))?")
START_TIMEOUT = 900
STOP_TIMEOUT = 30


@contextmanager
def running_server(
    command: Sequence[str], environment: dict[str, str], folder: Path | None = None
) -> Generator[tuple[str, str | None], None, None]:
    """Run a server. Yields its address and its token."""
    start = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        address, token = _wait_for_address(process)
        report(f"ready after {time.monotonic() - start:.0f} s")
        yield address, token
    finally:
        stop(process)


def _wait_for_address(process: "subprocess.Popen[str]") -> tuple[str, str | None]:
    """Print the output of a server until it has its address. Return the address and the token."""
    assert process.stdout is not None, "it is a pipe"
    deadline = time.monotonic() + START_TIMEOUT
    for line in process.stdout:
        report(f"  {line.rstrip()}")
        if found := ADDRESS.search(line):
            return found[1], found[2]
        if time.monotonic() > deadline:
            break
    raise StepError("the server did not print its address")


def stop(process: "subprocess.Popen[str]") -> None:
    """Stop a process and its children with Ctrl-C. Kill them if they do not end."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def check_demo(address: str, token: str | None) -> None:
    """Check that a server has the web UI and sessions, and that its demo agent responds."""

    def fetch(path: str, body: Any = None) -> bytes:
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"} if data else {}
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        request = urllib.request.Request(f"{address}{path}", data, headers)
        with urllib.request.urlopen(request, timeout=60) as response:
            content: bytes = response.read()
        return content

    if 'type="module"' not in fetch("/").decode():
        raise StepError("the web UI is not built")
    threads: list[dict[str, Any]] = json.loads(fetch("/api/threads"))["items"]
    if not threads:
        raise StepError("the server has no sessions")
    report(f"  {len(threads)} sessions, the first: {threads[0].get('title')}")
    message = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "weather"}]}
    if "Vard" not in fetch("/api/chat", {"id": "walk", "messages": [message]}).decode():
        raise StepError("the demo agent does not respond")
    report("  the demo agent responds")
