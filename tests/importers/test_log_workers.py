"""The processes that read logs give the same results as this process, even if they are killed."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from partita.importers.logs import workers as module
from partita.importers.logs.plan import Outcome, Plan, Task, units_of
from partita.importers.logs.workers import Workers, read_here
from partita.logs.files import find_logs
from partita.store.bulk.rows import ThreadRows
from tests.logs.claude_session import Session

FILES = 6


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> list[Task]:
    """Sessions to be read, large enough to be worth processes."""
    folder = tmp_path_factory.mktemp("sessions")
    for number in range(FILES):
        session = Session(f"0000000{number}-aaaa-4bbb-8ccc-dddddddddddd")
        for turn in range(8):
            session.turn(f"Question {turn} of {number}?", "Hm. " * 30_000)
        (folder / f"{session.id}.jsonl").write_bytes(session.data)
    found = units_of(find_logs([folder]).files)
    assert sum(unit.size for unit in found) > module.MIN_BYTES
    return [Task(unit, Plan("new"), lite=True) for unit in found]


def summary(items: Iterator[ThreadRows | Outcome]) -> tuple[dict[str, list[str]], dict[str, tuple[str, ...]]]:
    """The ids of messages by thread, and the problems by file."""
    messages: dict[str, list[str]] = {}
    problems: dict[str, tuple[str, ...]] = {}
    for item in items:
        if isinstance(item, Outcome):
            problems[Path(item.path).stem] = tuple(map(str, item.problems))
        else:
            messages.setdefault(item.thread.id, []).extend(one.message.id for one in item.messages)
    return messages, problems


def test_processes_give_the_results_of_reading_in_this_process(tasks: list[Task]) -> None:
    with Workers(3) as workers:
        found = summary(workers.read(tasks))
        again = summary(workers.read(tasks))
    assert found == again == summary(read_here(tasks))


def test_a_killed_process_loses_one_file(tasks: list[Task]) -> None:
    with Workers(2) as workers:
        items = workers.read(tasks)
        first = next(items)
        os.killpg(workers.processes[0].pid, signal.SIGKILL)
        messages, problems = summary(items)
    lost = {name for name, what in problems.items() if what}
    assert isinstance(first, ThreadRows)
    assert len(problems) == FILES
    assert 1 <= len(lost) <= 2
    assert all("killed" in problems[name][0] for name in lost)
    assert problems.keys() - lost <= messages.keys() | {first.thread.id}


def test_without_processes_reading_is_done_in_this_process(
    tasks: list[Task], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nothing = tmp_path / "nothing"
    nothing.write_text("#!/bin/sh\nexit 3\n")
    nothing.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(nothing))
    with Workers(2) as workers:
        found = summary(workers.read(tasks))
    assert found == summary(read_here(tasks))


def test_without_fork_reading_is_done_in_this_process(
    tasks: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CAN_FORK", False)
    with Workers(2) as workers:
        workers.start()
        assert workers.processes == []
        assert summary(workers.read(tasks)) == summary(read_here(tasks))


def test_processes_end_when_the_reader_stops(tasks: list[Task]) -> None:
    with Workers(2) as workers:
        items = workers.read(tasks)
        next(items)
        worker = workers.processes[0]
    assert worker.poll() is not None
    with pytest.raises(ProcessLookupError):
        os.killpg(worker.pid, 0)


def test_processes_import_nothing_from_the_folder_they_are_started_in(
    tasks: list[Task], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "json.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nfrom _json import *\n")
    monkeypatch.chdir(tmp_path)
    with Workers(2) as workers:
        found = summary(workers.read(tasks[:5]))
    assert not (tmp_path / "ran").exists()
    assert found == summary(read_here(tasks[:5]))
