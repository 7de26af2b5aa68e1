"""The entries of a log that a message came from, on every engine: as they are appended, and once sealed."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from partita.errors import NotFoundError
from partita.store.facade.store import Store
from partita.store.log.of_message import NOWHERE, Place, marks_of, told_by_agent, told_by_us, told_in
from partita.store.log.run_log import LogEntry
from partita.store.transaction import Transaction
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
    await store.create_thread("t")
    run = await store.open_run("t", id="r")
    for entry in entries:  # in as many rows as can be
        await store.append(run.id, [entry])
    if sealed:
        await store.finish_run(run.id)
        await store.seal_run(run.id)
    return run.id


def by_us(tx: Transaction, run: str, message: str, place: Place = NOWHERE) -> list[tuple[int, bytes | None]]:
    return [(seq, entry.raw) for seq, entry in told_by_us(tx, run, message, "a1", place)]


def by_agent(tx: Transaction, run: str, marks: Sequence[bytes], place: Place = NOWHERE) -> list[int]:
    return [seq for seq, _ in told_by_agent(tx, run, marks, place)]


def by_number(tx: Transaction, run: str, seqs: Sequence[int], place: Place = NOWHERE) -> list[int]:
    return [seq for seq, _ in told_in(tx, run, seqs, place)]


SEALED = pytest.mark.parametrize("sealed", [False, True], ids=["open", "sealed"])


@SEALED
async def test_a_log_of_ours_says_where_a_message_begins(store: Store, sealed: bool) -> None:
    run = await logged(store, OURS, sealed=sealed)
    raws = [entry.raw for entry in OURS]
    assert await store.read(by_us, run, "a1") == list(enumerate(raws[:4], 1))
    assert await store.read(by_us, run, "a2") == list(enumerate(raws[4:], 5))
    assert await store.read(by_us, run, "a3") == []
    assert await store.read(by_us, run, "a1", Place(2, inside=True)) == list(enumerate(raws[2:4], 3))
    assert await store.read(by_us, run, "a1", Place(5, inside=False)) == []


@SEALED
async def test_a_log_of_an_agent_is_looked_through_for_marks(store: Store, sealed: bool) -> None:
    run = await logged(store, THEIRS, sealed=sealed)
    marks = marks_of(worked("w1"))
    assert await store.read(by_agent, run, marks) == [1, 3, 4]
    assert await store.read(by_agent, run, marks, Place(1)) == [3, 4]
    assert await store.read(by_agent, run, marks_of(answer("nobody", "Short."))) == []


@SEALED
async def test_entries_by_their_numbers(store: Store, sealed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    run = await logged(store, OURS, sealed=sealed)
    for apart in (1, 256):  # read piece by piece, and at once
        monkeypatch.setattr("partita.store.log.of_message.APART", apart)
        assert await store.read(by_number, run, [1, 2, 4, 6]) == [1, 2, 4, 6]
        assert await store.read(by_number, run, [1, 2, 4, 6], Place(2)) == [4, 6]
        assert await store.read(by_number, run, []) == []


async def test_nothing_is_told_of_another_owners_log(store: Store) -> None:
    run = await logged(store, OURS, sealed=False)
    bob = store.scoped("bob")
    with pytest.raises(NotFoundError, match="no run 'r'"):
        await bob.read(by_us, run, "a1")
    with pytest.raises(NotFoundError, match="no run 'r'"):
        await bob.read(by_number, run, [1, 2])
