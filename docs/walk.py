"""Follows the README as a stranger would: a fresh clone, an empty home, nothing but what is written there.

    python docs/walk.py          every command of the README's `sh` blocks but `make test`, then the wheel
    python docs/walk.py --all    `make test` too

A command that serves is waited for until it says where it is; then its page is asked for, a thread is looked
at, the demo agent is asked something, and it is stopped with Ctrl-C.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ADDRESS = re.compile(r"Partita is at (http://\S+)")
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
PATIENCE = 900
SERVES = {"make run", "partita"}
LONG = {"make test"}


def main() -> None:
    """Walk, and say at every step what was seen."""
    with tempfile.TemporaryDirectory(prefix="partita-walk-") as place:
        clone, home = Path(place, "partita"), Path(place, "home")
        home.mkdir()
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        surroundings = {**strange(os.environ), "HOME": str(home), "PARTITA_PORT": "0"}
        for command in commands((clone / "README.md").read_text("utf-8")):
            if command in LONG and "--all" not in sys.argv:
                say(f"passed over: {command}")
            elif command in SERVES:
                visit(command, clone, surroundings)
            else:
                say(f"$ {command}")
                subprocess.run(command, shell=True, cwd=clone, env=surroundings, check=True)
        walk_wheel(clone, Path(place, "installed"), surroundings)
    say("the walk is done")


def strange(environment: Mapping[str, str]) -> dict[str, str]:
    """What a stranger has: how to reach the registries, and nothing of ours or of any agent's."""
    ours = ("PARTITA_", "VIRTUAL_ENV", "PYTHON")
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith(ours) and not name.endswith("_API_KEY")
    }


def commands(readme: str) -> list[str]:
    """The commands of the README, without what is said beside them."""
    lines = [line for block in BLOCK.findall(readme) for line in block.splitlines()]
    return [line.partition("#")[0].strip() for line in lines if line.partition("#")[0].strip()]


def walk_wheel(clone: Path, folder: Path, surroundings: dict[str, str]) -> None:
    """The package as others install it: built, put into an empty environment, called by its name."""
    builder = clone / ".venv" / "bin" / "python"
    run = [str(builder), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*run, "wheel", "--no-deps", "--wheel-dir", str(folder), str(clone)], check=True)
    (wheel,) = folder.glob("*.whl")
    say(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    pip = [str(folder / "venv" / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    constraints = ["-c", str(clone / "constraints.txt")]
    subprocess.run([*pip, "install", *constraints, str(wheel)], check=True)
    path = f"{folder / 'venv' / 'bin'}{os.pathsep}{surroundings['PATH']}"
    home = folder / "home"
    home.mkdir()
    visit("partita", folder, {**surroundings, "PATH": path, "HOME": str(home)})


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
        address = wait_for_address(process)
        say(f"ready after {time.monotonic() - began:.0f} s")
        look(address)
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(30)


def wait_for_address(process: "subprocess.Popen[str]") -> str:
    """Where it serves, once it says so; what it says meanwhile is shown."""
    assert process.stdout is not None
    until = time.monotonic() + PATIENCE
    for line in process.stdout:
        say(f"  {line.rstrip()}")
        if found := ADDRESS.search(line):
            return found[1]
        if time.monotonic() > until:
            break
    raise SystemExit("it never said where it is")


def look(address: str) -> None:
    """What a stranger would do first."""
    page = fetch(f"{address}/").decode()
    assert 'type="module"' in page, "the page is not built"
    threads: list[dict[str, Any]] = json.loads(fetch(f"{address}/api/threads"))["items"]
    assert threads, "there is nothing to look at"
    say(f"  {len(threads)} sessions, the first: {threads[0].get('title')}")
    question = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "weather"}]}
    answer = fetch(f"{address}/api/chat", {"id": "walk", "messages": [question]}).decode()
    assert "Vard" in answer, "the demo agent does not answer"
    say("  the demo agent answers")


def fetch(url: str, body: Any = None) -> bytes:
    """The bytes at an address of this machine."""
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(url, data, {"content-type": "application/json"} if data else {})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        content: bytes = answer.read()
    return content


def say(text: str) -> None:
    """Print at once."""
    print(text, flush=True)


if __name__ == "__main__":
    main()
