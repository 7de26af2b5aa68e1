"""SIGINT, SIGTERM and SIGHUP at any time leave no damage and no partial results.

`PARTITA_CHAOS` is the total number of interruptions; without it there is one of each kind.
"""

import os
import shutil
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random
from threading import Timer

import httpx
import pytest

from partita.types.json import loads
from tests.importers.log_files import SESSION, gardening
from tests.processes import Ended, Piped
from tests.sampling import FULL

from .interruptible import COMMANDS, STORE, Command
from .workspace import Workspace

GIVEN = os.environ.get("PARTITA_CHAOS")
KINDS = [
    *((name, signal.SIGINT) for name in COMMANDS),
    ("import of logs", signal.SIGTERM),
    ("import of logs", signal.SIGHUP),
]
OTHERS = 5
"""The number of kinds in the other tests of this module."""

TIMES = max(int(GIVEN) // (len(KINDS) + OTHERS), 3) if GIVEN else 0
ENDS = {signal.SIGINT: 130, signal.SIGTERM: -signal.SIGTERM, signal.SIGHUP: -signal.SIGHUP}


@dataclass(frozen=True)
class Reference:
    """The initial folder of a command, its duration, and its result."""

    folder: Path
    seconds: float
    result: object


@pytest.fixture(scope="session")
def references(tmp_path_factory: pytest.TempPathFactory) -> "References":
    return References(tmp_path_factory.mktemp("works"))


class References:
    """Runs each command once without interruption."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._references: dict[str, Reference] = {}

    def get(self, name: str) -> Reference:
        """Return the reference of a command."""
        if name not in self._references:
            sample_data = self._folder / name
            sample_data.mkdir()
            command = COMMANDS[name]
            command.prepare(sample_data)
            place = self._folder / f"{name} once"
            place.mkdir()
            workspace = Workspace(place, sample_data)
            began = time.monotonic()
            ended = workspace.piped(*command.words.split()).end()
            seconds = time.monotonic() - began
            assert ended.code == 0, ended.talk
            self._references[name] = Reference(sample_data, seconds, command.result(workspace.folder))
            begun = shutil.copytree(sample_data, self._folder / f"{name} before")
            assert command.result(begun) != self._references[name].result, "the command changes something"
        return self._references[name]


def interruption_times(name: str, sent: int, seconds: float) -> list[float]:
    """Return times to interrupt, spread over the duration. They are pseudorandom and reproducible."""
    random = Random(f"{name} {sent}")
    count = TIMES or (3 if FULL else 1)
    return [(place + random.random()) / count * seconds for place in range(count)]


def interrupted(process: Piped, sent: int, after: float) -> Ended:
    timer = Timer(after, process.process.send, (sent,))
    timer.start()
    ended = process.end()
    timer.cancel()
    timer.join()
    return ended


@pytest.mark.parametrize(("name", "sent"), KINDS, ids=lambda one: getattr(one, "name", one))
def test_interrupted_command_can_be_repeated(
    references: References, tmp_path: Path, name: str, sent: signal.Signals
) -> None:
    reference = references.get(name)
    for number, after in enumerate(interruption_times(name, sent, reference.seconds)):
        folder = tmp_path / str(number)
        folder.mkdir()
        check(COMMANDS[name], reference, Workspace(folder, reference.folder), sent, after)
        shutil.rmtree(folder)


def check(
    command: Command,
    reference: Reference,
    workspace: Workspace,
    sent: signal.Signals,
    after: float,
) -> None:
    """Interrupt a command, check for damage, and repeat the command until it is done."""
    ended = interrupted(workspace.piped(*command.words.split()), sent, after)
    assert ended.code in (0, ENDS[sent]), (after, ended)
    assert ended.code == 0 or sent != signal.SIGINT or reports_interruption(ended.talk), (after, ended.talk)
    check_files(workspace.folder, killed=sent != signal.SIGINT)
    if not command.starts_unhealthy:
        check_healthy(workspace)
    is_done = command.once and command.result(workspace.folder) == reference.result
    if (ended.code or command.repeat) and not is_done:
        again = workspace.piped(*(command.repeat or command.words).split()).end()
        assert again.code == 0, (after, again.talk)
    assert command.result(workspace.folder) == reference.result, after
    if command.starts_unhealthy or TIMES:
        check_healthy(workspace)


def reports_interruption(talk: bytes) -> bool:
    """Whether the last line reports the interruption, or there is no output."""
    *before, last = talk.strip().splitlines() or [b""]
    return last in (b"", b"partita: interrupted") and all(
        line.startswith(b"partita: wrote ") for line in before
    )


def check_files(folder: Path, *, killed: bool) -> None:
    """Check that no temporary files are left, unless the process was killed."""
    assert killed or not list(folder.rglob("*.part"))


def check_healthy(workspace: Workspace) -> None:
    result = workspace.piped("doctor", "--full", "--json").end()
    # A command that is interrupted at once may have created the file and no tables yet.
    is_new = b"no tables of Partita" in result.talk or b"the file of the store is empty" in result.talk
    assert result.code == 0 or is_new, result
    for path in workspace.folder.glob("*.backup"):
        assert workspace.piped("backup", "--check", path.name).end().code == 0


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda one: one.name)
def test_interrupted_server_marks_its_runs_as_interrupted(tmp_path: Path, sent: signal.Signals) -> None:
    for number, after in enumerate(interruption_times("serve", sent, 0.5)):
        folder = tmp_path / str(number)
        folder.mkdir()
        workspace = Workspace(folder)
        process = workspace.piped("serve", "--port", "0", "--no-import", "--no-token", given=None)
        process.wait_for(b"Partita is at ")
        process.wait_for(b"docs)\n")
        url = process.written.split()[3].decode()
        chat = {
            "id": "c",
            "messages": [{"id": "u", "role": "user", "parts": [{"type": "text", "text": "flood"}]}],
        }
        with httpx.stream("POST", f"{url}/api/chat", json=chat, timeout=30) as response:
            next(response.iter_raw())
            ended = interrupted(process, sent, after)
        assert ended.code == 0, ended
        assert b"Traceback" not in ended.talk
        (run,) = workspace.piped("runs", "--thread", "c", "--json").end().output.splitlines()
        assert loads(run)["status"] == "interrupted", after
        check_healthy(workspace)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
def test_interrupted_watch_leaves_a_healthy_store(tmp_path: Path, sent: signal.Signals) -> None:
    for number, after in enumerate(interruption_times("watch", sent, 0.6)):
        folder = tmp_path / str(number)
        folder.mkdir()
        workspace = Workspace(folder)
        path = gardening().write(workspace.folder / "logs")
        process = workspace.piped("watch", "logs", given=None)
        for index in range(5):
            session = gardening(f"{index}{SESSION[1:]}")
            Timer(index / 10, session.write, (path.parent,)).start()
        ended = interrupted(process, sent, after)
        assert ended.code in (0, ENDS[sent]), ended
        assert b"Traceback" not in ended.talk
        check_healthy(workspace)
        time.sleep(0.5)  # until all sessions are written
        again = workspace.piped("import", "logs", "--workers", "1").end()
        assert again.code == 0
        listed = workspace.piped("threads", "--json").end().output.splitlines()
        assert sorted(loads(line)["id"][0] for line in listed) == ["0", "1", "2", "3", "4", "5"]


@pytest.mark.parametrize("after", [0.05, 0.3])
def test_ctrl_c_during_imports_changes_nothing(tmp_path: Path, after: float) -> None:
    workspace = Workspace(tmp_path)
    ended = interrupted(workspace.piped("import", "--demo", cold=True), signal.SIGINT, after)
    assert ended.output == b""
    if not _python_was_starting(ended):
        assert ended.code == 130
        assert ended.talk in (b"", b"partita: interrupted\n")
    assert not (workspace.folder / STORE).exists()


def _python_was_starting(ended: Ended) -> bool:
    """Whether Python was interrupted before it ran any code of Partita."""
    return ended.code == -signal.SIGINT or (
        ended.code == 1
        and b"KeyboardInterrupt" in ended.talk
        and b"partita/cli" not in ended.talk
        and b"partita/__main__" not in ended.talk
    )
