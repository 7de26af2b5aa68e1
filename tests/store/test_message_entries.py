"""The log entries of a message, on every engine, in active and in sealed logs."""

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

from .examples import assistant_message, tool_call_message

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
OWN_LOG = [
    LogEntry(NOON, None, b"hello\n"),
    LogEntry(NOON, MessageStart("a1"), b"one begins\n"),
    LogEntry(NOON, TextDelta("t", "one"), b"\xff\xfe\x00\n"),
    LogEntry(NOON, MessageStart(), b"continues\n"),
    LogEntry(NOON, MessageStart("a2"), b"two begins\n"),
    LogEntry(NOON, TextDelta("t", "two")),
]
IMPORTED_LOG = [
    LogEntry(NOON, None, b'{"uuid":"w1","parentUuid":"a1"}\n'),
    LogEntry(NOON, None, b'{"uuid":"u2","parentUuid":"w1"}\n'),
    LogEntry(NOON, None, b'{"output_of":"c1"}\n'),
    LogEntry(NOON, None, b'{"text":"It is 41 metres tall."}\n'),
    LogEntry(NOON, None, b'{"text":"It is 4"}\n'),
]


async def logged(store: Store, entries: Sequence[LogEntry], *, sealed: bool) -> str:
    await store.threads.create("t")
    run = await store.runs.open("t", id="r")
    for entry in entries:  # one row for each entry
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
    tx: Transaction, run: str, markers: Sequence[bytes], position: Position = BEGINNING
) -> list[int]:
    return [seq for seq, _ in entries_by_content(tx, run, markers, position)]


def by_number(tx: Transaction, run: str, seqs: Sequence[int], position: Position = BEGINNING) -> list[int]:
    return [seq for seq, _ in entries_by_number(tx, run, seqs, position)]


SEALED = pytest.mark.parametrize("sealed", [False, True], ids=["open", "sealed"])


@SEALED
async def test_the_log_of_a_run_has_the_start_of_a_message(store: Store, sealed: bool) -> None:
    run = await logged(store, OWN_LOG, sealed=sealed)
    raws = [entry.raw for entry in OWN_LOG]
    assert await store.read(by_start, run, "a1") == list(enumerate(raws[:4], 1))
    assert await store.read(by_start, run, "a2") == list(enumerate(raws[4:], 5))
    assert await store.read(by_start, run, "a3") == []
    assert await store.read(by_start, run, "a1", Position(2, inside=True)) == list(enumerate(raws[2:4], 3))
    assert await store.read(by_start, run, "a1", Position(5, inside=False)) == []


@SEALED
async def test_an_imported_log_is_searched_for_markers(store: Store, sealed: bool) -> None:
    run = await logged(store, IMPORTED_LOG, sealed=sealed)
    markers = content_markers(tool_call_message("w1"))
    assert await store.read(by_content, run, markers) == [1, 3, 4]
    assert await store.read(by_content, run, markers, Position(1)) == [3, 4]
    assert await store.read(by_content, run, content_markers(assistant_message("unknown", "Short."))) == []


@SEALED
async def test_entries_by_their_numbers(store: Store, sealed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    run = await logged(store, OWN_LOG, sealed=sealed)
    for apart in (1, 256):  # read in several parts, and at once
        monkeypatch.setattr("partita.store.logs.message_entries.MAX_GAP", apart)
        assert await store.read(by_number, run, [1, 2, 4, 6]) == [1, 2, 4, 6]
        assert await store.read(by_number, run, [1, 2, 4, 6], Position(2)) == [4, 6]
        assert await store.read(by_number, run, []) == []


async def test_the_log_of_another_owner_is_not_found(store: Store) -> None:
    run = await logged(store, OWN_LOG, sealed=False)
    bob = store.scoped("bob")
    with pytest.raises(NotFoundError, match="no run 'r'"):
        await bob.read(by_start, run, "a1")
    with pytest.raises(NotFoundError, match="no run 'r'"):
        await bob.read(by_number, run, [1, 2])
