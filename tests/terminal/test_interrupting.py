"""Ctrl-C, a request to end and a closed window, at any moment: nothing is left half done, nothing is damaged.

`PARTITA_CHAOS` is how many interruptions to make in all; without it there is one of every kind.
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

from .desk import Desk
from .works import STORE, WORKS, Work

GIVEN = os.environ.get("PARTITA_CHAOS")
KINDS = [
    *((name, signal.SIGINT) for name in WORKS),
    ("import of logs", signal.SIGTERM),
    ("import of logs", signal.SIGHUP),
]
OTHERS = 5
"""As many kinds are tried further below."""

TIMES = max(int(GIVEN) // (len(KINDS) + OTHERS), 3) if GIVEN else 0
ENDS = {signal.SIGINT: 130, signal.SIGTERM: -signal.SIGTERM, signal.SIGHUP: -signal.SIGHUP}


@dataclass(frozen=True)
class Known:
    """What a command begins with, how long it takes, and what it comes to."""

    folder: Path
    seconds: float
    result: object


@pytest.fixture(scope="session")
def known(tmp_path_factory: pytest.TempPathFactory) -> "Knowing":
    return Knowing(tmp_path_factory.mktemp("works"))


class Knowing:
    """Does each work once, undisturbed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, Known] = {}

    def about(self, name: str) -> Known:
        """What is known of a work."""
        if name not in self._known:
            material = self._folder / name
            material.mkdir()
            work = WORKS[name]
            work.prepare(material)
            place = self._folder / f"{name} once"
            place.mkdir()
            desk = Desk(place, material)
            began = time.monotonic()
            ended = desk.piped(*work.words.split()).end()
            seconds = time.monotonic() - began
            assert ended.code == 0, ended.talk
            self._known[name] = Known(material, seconds, work.result(desk.folder))
            begun = shutil.copytree(material, self._folder / f"{name} before")
            assert work.result(begun) != self._known[name].result  # else nothing would be proven
        return self._known[name]


def moments(name: str, sent: int, seconds: float) -> list[float]:
    """When to interrupt: spread over the time that something takes, the same on every machine."""
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
def test_a_command(known: Knowing, tmp_path: Path, name: str, sent: signal.Signals) -> None:
    about = known.about(name)
    for place, after in enumerate(moments(name, sent, about.seconds)):
        folder = tmp_path / str(place)
        folder.mkdir()
        check(WORKS[name], about, Desk(folder, about.folder), sent, after)
        shutil.rmtree(folder)


def check(work: Work, about: Known, desk: Desk, sent: signal.Signals, after: float) -> None:
    """Interrupt a work, look for damage, and bring it to its end."""
    ended = interrupted(desk.piped(*work.words.split()), sent, after)
    assert ended.code in (0, ENDS[sent]), (after, ended)
    assert ended.code == 0 or sent != signal.SIGINT or is_told(ended.talk), (after, ended.talk)
    check_files(desk.folder, killed=sent != signal.SIGINT)
    if not work.sick:
        check_healthy(desk)
    if (ended.code or work.again) and not (work.once and work.result(desk.folder) == about.result):
        again = desk.piped(*(work.again or work.words).split()).end()
        assert again.code == 0, (after, again.talk)
    assert work.result(desk.folder) == about.result, after
    if work.sick or TIMES:
        check_healthy(desk)


def is_told(talk: bytes) -> bool:
    """Whether a command said that it was interrupted, or nothing; at the very end, after what it did."""
    *before, last = talk.strip().splitlines() or [b""]
    return last in (b"", b"partita: interrupted") and all(
        line.startswith(b"partita: wrote ") for line in before
    )


def check_files(folder: Path, *, killed: bool) -> None:
    """No file is half written under its own name; who is not killed leaves none under another."""
    assert killed or not list(folder.rglob("*.part"))


def check_healthy(desk: Desk) -> None:
    looked = desk.piped("doctor", "--full", "--json").end()
    assert looked.code == 0, looked.output
    for path in desk.folder.glob("*.backup"):
        assert desk.piped("backup", "--check", path.name).end().code == 0


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda one: one.name)
def test_a_server_with_a_run_at_work(tmp_path: Path, sent: signal.Signals) -> None:
    for place, after in enumerate(moments("serve", sent, 0.5)):
        folder = tmp_path / str(place)
        folder.mkdir()
        desk = Desk(folder)
        process = desk.piped("serve", "--port", "0", "--no-import", "--no-token", given=None)
        process.wait_for(b"Partita is at ")
        process.wait_for(b"docs)\n")
        url = process.written.split()[3].decode()
        chat = {
            "id": "c",
            "messages": [{"id": "u", "role": "user", "parts": [{"type": "text", "text": "flood"}]}],
        }
        with httpx.stream("POST", f"{url}/api/chat", json=chat, timeout=30) as answer:
            next(answer.iter_raw())
            ended = interrupted(process, sent, after)
        assert ended.code == 0, ended
        assert b"Traceback" not in ended.talk
        (run,) = desk.piped("runs", "--thread", "c", "--json").end().output.splitlines()
        assert loads(run)["status"] == "interrupted", after
        check_healthy(desk)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
def test_a_watcher(tmp_path: Path, sent: signal.Signals) -> None:
    for place, after in enumerate(moments("watch", sent, 0.6)):
        folder = tmp_path / str(place)
        folder.mkdir()
        desk = Desk(folder)
        path = gardening().write(desk.folder / "logs")
        process = desk.piped("watch", "logs", given=None)
        for number in range(5):
            talk = gardening(f"{number}{SESSION[1:]}")
            Timer(number / 10, talk.write, (path.parent,)).start()
        ended = interrupted(process, sent, after)
        assert ended.code in (0, ENDS[sent]), ended
        assert b"Traceback" not in ended.talk
        check_healthy(desk)
        time.sleep(0.5)  # until all have been written
        again = desk.piped("import", "logs", "--workers", "1").end()
        assert again.code == 0
        listed = desk.piped("threads", "--json").end().output.splitlines()
        assert sorted(loads(line)["id"][0] for line in listed) == ["0", "1", "2", "3", "4", "5"]


@pytest.mark.parametrize("after", [0.05, 0.3])
def test_a_command_that_is_still_loading(tmp_path: Path, after: float) -> None:
    desk = Desk(tmp_path)
    ended = interrupted(desk.piped("import", "--demo", cold=True), signal.SIGINT, after)
    assert ended.output == b""
    if not _python_was_starting(ended):
        assert ended.code == 130
        assert ended.talk in (b"", b"partita: interrupted\n")
    assert not (desk.folder / STORE).exists()


def _python_was_starting(ended: Ended) -> bool:
    """Whether it was interrupted before a line of ours was run: the interpreter itself knows no better."""
    return ended.code == -signal.SIGINT or (
        ended.code == 1
        and b"KeyboardInterrupt" in ended.talk
        and b"partita/cli" not in ended.talk
        and b"partita/__main__" not in ended.talk
    )
