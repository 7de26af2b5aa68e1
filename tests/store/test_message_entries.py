"""The entries of a log that a message came from, on every engine: as they are appended, and once sealed."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from partita.errors import NotFoundError
from partita.store.logs.message_entries import (
    BEGINNING,
    Position,
    content_markers,
    entries_by_content,
    entries_by_number,
    entries_by_start,
)
from partita.store.logs.run_log import LogEntry
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.types.chunks import MessageStart, TextDelta

from .examples import answer, worked

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
OURS = [
    LogEntry(NOON, None, b"hello\n"),
    LogEntry(NOON, MessageStart("a1"), b"one begins\n"),
    LogEntry(NOON, TextDelta("t", "one"), b"\xff\xfe\x00\n"),
    LogEntry(NOON, MessageStart(), b"goes on\n"),
    LogEntry(NOON, MessageStart("a2"), b"two begins\n"),
    LogEntry(NOON, TextDelta("t", "two")),
]
THEIRS = [
    LogEntry(NOON, None, b'{"uuid":"w1","parentUuid":"a1"}\n'),
    LogEntry(NOON, None, b'{"uuid":"u2","parentUuid":"w1"}\n'),
    LogEntry(NOON, None, b'{"output_of":"c1"}\n'),
    LogEntry(NOON, None, b'{"text":"It is 41 metres tall."}\n'),
    LogEntry(NOON, None, b'{"text":"It is 4"}\n'),
]


async def logged(store: Store, entries: Sequence[LogEntry], *, sealed: bool) -> str:
    await store.threads.create("t")
    run = await store.runs.open("t", id="r")
    for entry in entries:  # in as many rows as can be
        await store.logs.append(run.id, [entry])
    if sealed:
        await store.runs.finish(run.id)
        await store.logs.seal(run.id)
    return run.id


def by_start(
    tx: Transaction, run: str, message: str, position: Position = BEGINNING
) -> list[tuple[int, bytes | None]]:
    return [(seq, entry.raw) for seq, entry in entries_by_start(tx, run, message, "a1", position)]


def by_content(
    tx: Transaction, run: str, marks: Sequence[bytes], position: Position = BEGINNING
) -> list[int]:
    return [seq for seq, _ in entries_by_content(tx, run, marks, position)]


def by_number(tx: Transaction, run: str, seqs: Sequence[int], position: Position = BEGINNING) -> list[int]:
    return [seq for seq, _ in entries_by_number(tx, run, seqs, position)]


SEALED = pytest.mark.parametrize("sealed", [False, True], ids=["open", "sealed"])


@SEALED
async def test_a_log_of_ours_says_where_a_message_begins(store: Store, sealed: bool) -> None:
    run = await logged(store, OURS, sealed=sealed)
    raws = [entry.raw for entry in OURS]
    assert await store.read(by_start, run, "a1") == list(enumerate(raws[:4], 1))
    assert await store.read(by_start, run, "a2") == list(enumerate(raws[4:], 5))
    assert await store.read(by_start, run, "a3") == []
    assert await store.read(by_start, run, "a1", Position(2, inside=True)) == list(enumerate(raws[2:4], 3))
    assert await store.read(by_start, run, "a1", Position(5, inside=False)) == []


@SEALED
async def test_a_log_of_an_agent_is_looked_through_for_marks(store: Store, sealed: bool) -> None:
    run = await logged(store, THEIRS, sealed=sealed)
    marks = content_markers(worked("w1"))
    assert await store.read(by_content, run, marks) == [1, 3, 4]
    assert await store.read(by_content, run, marks, Position(1)) == [3, 4]
    assert await store.read(by_content, run, content_markers(answer("nobody", "Short."))) == []


@SEALED
async def test_entries_by_their_numbers(store: Store, sealed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    run = await logged(store, OURS, sealed=sealed)
    for apart in (1, 256):  # read piece by piece, and at once
        monkeypatch.setattr("partita.store.logs.message_entries.MAX_GAP", apart)
        assert await store.read(by_number, run, [1, 2, 4, 6]) == [1, 2, 4, 6]
        assert await store.read(by_number, run, [1, 2, 4, 6], Position(2)) == [4, 6]
        assert await store.read(by_number, run, []) == []


async def test_nothing_is_told_of_another_owners_log(store: Store) -> None:
    run = await logged(store, OURS, sealed=False)
    bob = store.scoped("bob")
    with pytest.raises(NotFoundError, match="no run 'r'"):
        await bob.read(by_start, run, "a1")
    with pytest.raises(NotFoundError, match="no run 'r'"):
        await bob.read(by_number, run, [1, 2])
