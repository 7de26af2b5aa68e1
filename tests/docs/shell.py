"""A shell that runs the commands of one page: one bash process with an empty home and folder.

In commands, files and outputs, the port 7272 is replaced by a free port, and `/home/ada` by the home.

Some commands keep running until Ctrl-C: `partita serve` and `partita watch`, commands that end in `&`, and
those of a block with the mark `background`. They run in the background until the page ends. The shell only
waits until they have printed what the page shows below them, or anything.
"""

import os
import select
import shlex
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.processes import fork_server

from .console_blocks import matches

HOME = "/home/ada"
PORT = "7272"
KEEP_RUNNING = frozenset({"serve", "watch"})
WITHOUT_OTHER_PLUGINS = "-p no:faker -p no:langsmith_plugin -p no:schemathesis"
"""Options of pytest that disable the plugins of packages which only other tests need."""


@dataclass(frozen=True)
class Result:
    """The output and exit code of a command."""

    output: str
    code: int


class Shell:
    """One bash process."""

    timeout = 40.0

    def __init__(self, home: Path, programs: Path, outputs: Path) -> None:
        self.home, self.folder = home, home / "desk"
        self.folder.mkdir()
        self._port = str(free_port())
        self._outputs = outputs
        self._count, self._code = 0, 0
        self._codes, code_writer = os.pipe()
        self._bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            env=self._environment(programs),
            pass_fds=[code_writer],
            start_new_session=True,
        )
        self._code_writer = code_writer
        os.close(code_writer)

    def _environment(self, programs: Path) -> dict[str, str]:
        path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
        return {
            "PATH": path,
            "HOME": str(self.home),
            "PARTITA_STORE": str(self.home / "partita.db"),
            "PARTITA_PORT": self._port,
            "BROWSER": "true",  # the program `true`, so that no browser opens
            "COLUMNS": "100",
            "NO_COLOR": "1",
            "PYTEST_ADDOPTS": WITHOUT_OTHER_PLUGINS,
            "LANG": "C.UTF-8",
            "TZ": "UTC",
        }

    def write(self, name: str, text: str) -> None:
        """Write a file of a page, in the folder or below `~/`."""
        path = self.home / name.removeprefix("~/") if name.startswith("~/") else self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.localized(text), "utf-8")

    def run(self, command: str) -> Result:
        """Run a command to its end. Its output includes its errors, as in a terminal."""
        output = self._send(command, after="")
        self._code = self._read_code(command)
        return Result(self._read(output), self._code)

    def start(self, command: str, expected: str) -> str:
        """Start a command in the background, wait for the expected output or any, and return the output."""
        output = self._send(command.rstrip("& "), after="&")
        self._read_code(command)
        text = ""
        deadline = time.monotonic() + self.timeout
        while time.monotonic() < deadline:
            text = self._read(output)
            if matches(f"{expected}\n…", text) if expected else text:
                return text
            time.sleep(0.05)
        pytest.fail(f"$ {command}\nexpected\n{expected or 'any output'}\nbut printed\n{text}")

    def close(self) -> None:
        """Stop all processes."""
        assert self._bash.stdin is not None, "it is a pipe"
        self._bash.stdin.close()
        self._bash.wait(self.timeout)
        os.close(self._codes)
        for number in (signal.SIGTERM, signal.SIGKILL):
            deadline = time.monotonic() + 5
            while time.monotonic() < deadline:
                try:
                    os.killpg(self._bash.pid, number)
                except ProcessLookupError:
                    return
                time.sleep(0.05)

    def localized(self, text: str) -> str:
        """Return a text of a page with the home and the port of this shell."""
        return text.replace(HOME, str(self.home)).replace(PORT, self._port)

    def _read(self, output: Path) -> str:
        """Return an output with the home and the port of the page."""
        text = output.read_text("utf-8", "replace")
        return text.replace(str(self.home), HOME).replace(self._port, PORT)

    def _send(self, command: str, after: str) -> Path:
        assert self._bash.stdin is not None, "it is a pipe"
        self._count += 1
        output = self._outputs / f"{self._count}.txt"
        output.touch()
        evaluated = f"(exit {self._code}); eval {shlex.quote(self.localized(command))}"
        group = f"{{ {evaluated}\n}} </dev/null >{shlex.quote(str(output))} 2>&1 {after}"
        self._bash.stdin.write(f"{group}\necho $? >&{self._code_writer}\n".encode())
        self._bash.stdin.flush()
        return output

    def _read_code(self, command: str) -> int:
        ready, _, _ = select.select([self._codes], [], [], self.timeout)
        if not ready:
            os.killpg(self._bash.pid, signal.SIGKILL)
            pytest.fail(
                f"$ {command}\ndid not end; mark a block whose commands keep running: ```console background"
            )
        code = os.read(self._codes, 64)
        if not code:
            pytest.fail(f"$ {command}\nended the shell")
        return int(code)


def keeps_running(command: str) -> bool:
    """Whether a command runs until it is stopped."""
    if command.endswith("&") and not command.endswith("&&"):
        return True
    words = shlex.split(command, comments=True)
    if words[:1] != ["partita"] or {"-h", "--help", "-V", "--version", "|", ">"} & {*words}:
        return False
    return words[1:2] != [] and words[1] in KEEP_RUNNING


def free_port() -> int:
    """Return a free port. It has five digits, so that no other number in an output is the same."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


def install_partita(folder: Path) -> Path:
    """Create a folder for the path with the `partita` under test. One process loads it for all commands."""
    folder.mkdir()
    command = folder / "partita"
    client = Path(__file__).with_name("fork_client.py")
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -IS {client} {fork_server().address} "$@"\n')
    command.chmod(0o755)
    return folder
