"""Commands that serve: started, looked at, stopped with Ctrl-C."""

import json
import os
import re
import shlex
import signal
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

from .telling import Stumble, say

ADDRESS = re.compile(r"Partita is at (http://[^/\s]+)(?:/\?token=(\S+))?")
PATIENCE = 900


def visit(command: str, folder: Path, surroundings: dict[str, str]) -> None:
    """Start what serves, look at it, stop it."""
    say(f"$ {command}")
    began = time.monotonic()
    process = subprocess.Popen(
        shlex.split(command),
        cwd=folder,
        env=surroundings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        address, token = wait_for_address(process)
        say(f"ready after {time.monotonic() - began:.0f} s")
        look(address, token)
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(30)


def wait_for_address(process: "subprocess.Popen[str]") -> tuple[str, str | None]:
    """Where it serves, once it says so, and its token; what it prints meanwhile is shown."""
    assert process.stdout is not None, "it is a pipe"
    until = time.monotonic() + PATIENCE
    for line in process.stdout:
        say(f"  {line.rstrip()}")
        if found := ADDRESS.search(line):
            return found[1], found[2]
        if time.monotonic() > until:
            break
    raise Stumble("it never said where it is")


def look(address: str, token: str | None) -> None:
    """What a stranger would do first."""

    def fetch(url: str, body: Any = None) -> bytes:
        """The bytes at an address of this machine."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"} if data else {}
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=60) as answer:
            content: bytes = answer.read()
        return content

    page = fetch(f"{address}/").decode()
    if 'type="module"' not in page:
        raise Stumble("the page is not built")
    threads: list[dict[str, Any]] = json.loads(fetch(f"{address}/api/threads"))["items"]
    if not threads:
        raise Stumble("there is nothing to look at")
    say(f"  {len(threads)} sessions, the first: {threads[0].get('title')}")
    question = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "weather"}]}
    answer = fetch(f"{address}/api/chat", {"id": "walk", "messages": [question]}).decode()
    if "Vard" not in answer:
        raise Stumble("the demo agent does not answer")
    say("  the demo agent answers")
