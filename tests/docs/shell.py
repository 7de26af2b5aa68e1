"""A place in which the commands of one page are run: an empty home, a folder, and one bash for all of them.

The port 7272 stands for one that is free, and `/home/ada` for the home: in commands, in files and in what
is printed. A command that goes on until Ctrl-C (`partita serve`, `partita watch`, one that ends in `&`,
those of a block marked `background`) runs beside the others. It is waited for until it has said what stands
below it, or anything, and is stopped when the page is done.
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

from .console import matches

HOME = "/home/ada"
PORT = "7272"
PATIENCE = 40.0
SERVES = frozenset({"serve", "watch"})
WITHOUT_OTHER_PLUGINS = "-p no:faker -p no:langsmith_plugin -p no:schemathesis"
"""Options of pytest: these packages are here for other tests, and a reader need not have them."""


@dataclass(frozen=True)
class Done:
    """What came of a command."""

    output: str
    code: int


class Shell:
    """One bash, in a home of its own."""

    def __init__(self, home: Path, programs: Path, outputs: Path) -> None:
        self.home, self.folder = home, home / "desk"
        self.folder.mkdir()
        self._port = str(free_port())
        self._outputs = outputs
        self._count, self._code = 0, 0
        reading, writing = os.pipe()
        self._answers = reading
        self._bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            env=self._environment(programs),
            pass_fds=[writing],
            start_new_session=True,
        )
        self._answer_to = writing
        os.close(writing)

    def _environment(self, programs: Path) -> dict[str, str]:
        path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
        return {
            "PATH": path,
            "HOME": str(self.home),
            "PARTITA_STORE": str(self.home / "partita.db"),
            "PARTITA_PORT": self._port,
            "BROWSER": "true",  # the program of that name: nothing is opened
            "COLUMNS": "100",
            "NO_COLOR": "1",
            "PYTEST_ADDOPTS": WITHOUT_OTHER_PLUGINS,
            "LANG": "C.UTF-8",
            "TZ": "UTC",
        }

    def write(self, name: str, text: str) -> None:
        """A file of the page, where its block says: in the folder, or with ~ in the home."""
        path = self.home / name.removeprefix("~/") if name.startswith("~/") else self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._here(text), "utf-8")

    def run(self, command: str) -> Done:
        """A command to its end, with its output and errors as a terminal shows them."""
        output = self._send(command, after="")
        code = self._answer(command)
        self._code = code
        return Done(self._there(output.read_text("utf-8", "replace")), code)

    def start(self, command: str, expected: str) -> str:
        """A command that goes on; comes back when it has said what is expected, or the first thing at all."""
        output = self._send(command.rstrip("& "), after="&")
        self._answer(command)
        said = ""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            said = self._there(output.read_text("utf-8", "replace"))
            if matches(f"{expected}\n…", said) if expected else said:
                return said
            time.sleep(0.05)
        pytest.fail(f"$ {command}\nwas expected to say\n{expected or 'anything'}\nand said\n{said}")

    def close(self) -> None:
        """Stop what still runs."""
        assert self._bash.stdin is not None, "it is a pipe"
        self._bash.stdin.close()
        self._bash.wait(PATIENCE)
        os.close(self._answers)
        for number in (signal.SIGTERM, signal.SIGKILL):
            until = time.monotonic() + 5
            while time.monotonic() < until:
                try:
                    os.killpg(self._bash.pid, number)
                except ProcessLookupError:
                    return
                time.sleep(0.05)

    def _send(self, command: str, after: str) -> Path:
        assert self._bash.stdin is not None, "it is a pipe"
        self._count += 1
        output = self._outputs / f"{self._count}.txt"
        output.touch()
        evaluated = f"(exit {self._code}); eval {shlex.quote(self._here(command))}"
        group = f"{{ {evaluated}\n}} </dev/null >{shlex.quote(str(output))} 2>&1 {after}"
        self._bash.stdin.write(f"{group}\necho $? >&{self._answer_to}\n".encode())
        self._bash.stdin.flush()
        return output

    def _answer(self, command: str) -> int:
        ready, _, _ = select.select([self._answers], [], [], PATIENCE)
        if not ready:
            os.killpg(self._bash.pid, signal.SIGKILL)
            pytest.fail(f"$ {command}\ndid not end; a command that goes on is marked: ```console background")
        answer = os.read(self._answers, 64)
        assert answer, f"$ {command}\nended the shell"
        return int(answer)

    def _here(self, text: str) -> str:
        return text.replace(HOME, str(self.home)).replace(PORT, self._port)

    def _there(self, text: str) -> str:
        return text.replace(str(self.home), HOME).replace(self._port, PORT)


def goes_on(command: str) -> bool:
    """Whether a command goes on until it is stopped."""
    if command.endswith("&") and not command.endswith("&&"):
        return True
    words = shlex.split(command, comments=True)
    if words[:1] != ["partita"] or {"-h", "--help", "-V", "--version", "|", ">"} & {*words}:
        return False
    return words[1:2] != [] and words[1] in SERVES


def free_port() -> int:
    """A port that nobody has, of five digits: no other number in an output is likely to be the same."""
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


def programs(place: Path) -> Path:
    """A folder for the path in which `partita` is ours, loaded once for all commands."""
    place.mkdir()
    command = place / "partita"
    asking = Path(__file__).with_name("asking.py")
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -IS {asking} {fork_server().address} "$@"\n')
    command.chmod(0o755)
    return place
