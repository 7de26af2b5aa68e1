"""The reader of logs: turns, checkpoints, chunks of any size, and memory."""

import tracemalloc
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.formats.claude_code import branches, conversation
from partita.formats.log import message_tree, thread_builder
from partita.logs.log_reader import TAKE_EVERY, LogReader
from partita.logs.sources.registry import log_format
from partita.types.json import JsonObject, dumps, loads
from partita.types.messages import Message
from partita.types.parts import TextOutput
from tests.logs.claude_session import SESSION, Session, lines_of, read, rich, use
from tests.tables import each_row

CLAUDE = log_format("claude-code-log")


def whole(log: LogReader) -> dict[str, Message]:
    return {message.id: message for message in log.finish().messages}


def cuts_of(data: bytes) -> list[JsonObject]:
    """Every place between two turns, as a reader that reads line by line would remember it."""
    log = LogReader(CLAUDE, SESSION)
    states: dict[int, JsonObject] = {}
    for line in data.splitlines(keepends=True):
        log.feed(line)
        log.take()
        state = log.checkpoint()
        assert state is not None
        states[state["offset"]] = loads(dumps(state))  # as it comes back from a store
    return list(states.values())


@each_row("repeated", [1, 3])
def test_reading_continues_between_any_two_turns(repeated: int) -> None:
    data, last = b"", None
    for number in range(repeated):
        session = rich(f"v{number}", last)
        data, last = data + session.data, session.last
    at_once = read(data)
    states = cuts_of(data)
    assert len(states) == len(at_once.turns)
    for state in states:
        before, after = read(data[: state["offset"]]), read(data[state["offset"] :], state=state)
        assert before.by_id | after.by_id == at_once.by_id
        assert [turn.id for turn in after.turns] == [
            turn.id for turn in at_once.turns if turn.position.offset >= state["offset"]
        ]
        assert after.log.facts == at_once.log.facts
        assert after.log.thread == at_once.log.thread


def test_positions_are_counted_from_the_start_of_the_file() -> None:
    session = Session().turn("one").turn("two").add("telepathy")
    state = cuts_of(session.data)[-1]
    assert (state["offset"], state["line"]) == (len(lines_of(session.records[:2])), 2)
    rest = read(session.data[state["offset"] :], state=state)
    assert rest.unknown_records == {"unknown record type 'telepathy'": [5]}


def test_a_checkpoint_does_not_change_when_more_is_read() -> None:
    log = LogReader(CLAUDE, SESSION)
    log.feed(Session().turn("one").turn("two").data)
    state = log.checkpoint()
    kept = dumps(state)
    log.feed(rich("v").data)
    assert dumps(state) == kept


def test_a_rewritten_log_has_other_runs() -> None:
    data = Session().turn("one").turn("two").data
    again = read(data, log=LogReader(CLAUDE, SESSION, generation=2))
    assert not {turn.id for turn in again.turns} & {turn.id for turn in read(data).turns[1:]}


@given(st.lists(st.integers(0, 20_000), max_size=12), st.booleans())
def test_cutting_the_bytes_gives_the_same_messages(cuts: list[int], take: bool) -> None:
    data = rich().data
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    log = LogReader(CLAUDE, SESSION)
    found: dict[str, Message] = {}
    for start, end in pairwise(edges):
        log.feed(data[start:end])
        if take:
            found |= {message.id: message for message in log.take().messages}
    assert found | whole(log) == read(data).by_id
    assert log.unknown_records == read(data).log.unknown_records


def test_a_message_is_released_as_soon_as_it_is_complete() -> None:
    log = LogReader(CLAUDE, SESSION)
    session = Session().prompt("Bake")
    log.feed(session.data)
    assert [message.id for message in log.take().messages] == ["u-1"]
    log.feed(lines_of(session.answer(calls=[use("c1")]).records[1:]))
    assert log.take().messages == []  # more blocks may come, and the call has no output
    log.feed(lines_of(session.result("c1").records[2:]))
    assert log.take().messages == []
    log.feed(lines_of(session.answer(text="Done.").records[3:]))
    assert [message.id for message in log.take().messages] == ["msg-u-1"]
    assert [message.id for message in log.finish().messages] == ["msg-u-2"]


def test_unfinished_messages_of_a_running_agent_are_returned() -> None:
    log = LogReader(CLAUDE, SESSION)
    log.feed(Session().prompt("Bake").answer(text="Warming", calls=[use("c1")]).data)
    messages = log.finish(running=True).messages
    assert [message.id for message in messages] == ["u-1", "msg-u-1"]
    assert messages[1].content.parts[-1].state == "input-available"  # type: ignore[union-attr] # it is a call


def test_an_unfinished_line_is_not_read_yet() -> None:
    session = Session().turn("one").turn("two")
    data = session.data
    log = LogReader(CLAUDE, SESSION)
    log.feed(data[:-20])
    assert {message.id for message in log.finish(followed=True).messages} == {"u-1", "msg-u-1", "u-3"}
    assert log.unfinished
    assert log.offset == len(lines_of(session.records[:3]))
    assert not log.unknown_records


def test_raw_lines_are_kept_with_their_run_if_requested() -> None:
    data = rich().data
    log = LogReader(CLAUDE, SESSION, keep_lines=True)
    log.feed(data)
    lines = log.finish().lines
    assert b"".join(line.raw + b"\n" for line in lines) == data
    assert list(dict.fromkeys(line.run_id for line in lines)) == [turn.id for turn in read(data).turns]


def turns(count: int, words: int) -> Iterator[bytes]:
    """A long conversation, turn by turn, made while it is read."""
    session = Session()
    for number in range(count):
        session.records.clear()
        session.prompt(f"{number}? " + "word " * words)
        session.answer(
            thinking="hm " * words, text="yes " * words, calls=[use(f"c{number}a"), use(f"c{number}b")]
        )
        session.result(f"c{number}b", "out " * words).result(f"c{number}a", "put " * words)
        session.answer(text="done " * words).system("turn_duration", durationMs=number)
        yield session.data


def peak_of(pieces: Callable[[], Iterator[bytes]]) -> tuple[int, int]:
    """How much was read, and how much memory that took at most."""
    tracemalloc.start()
    try:
        log = LogReader(CLAUDE, SESSION)
        size = 0
        for piece in pieces():
            log.feed(piece)
            log.take()
            size += len(piece)
        log.finish()
        return size, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_long_log_uses_little_memory() -> None:
    size, peak = peak_of(lambda: turns(400, 1200))
    assert size > 13_000_000
    assert peak < 6_000_000


def test_a_longer_log_does_not_use_more_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits of remembered lines, responses and calls are low here."""
    monkeypatch.setattr(branches, "MAX_LINES", 50)
    monkeypatch.setattr(message_tree, "MAX_LINES", 50)
    monkeypatch.setattr(conversation, "MAX_RESPONSES", 10)
    monkeypatch.setattr(thread_builder, "REMEMBERED_CALLS", 20)
    size, peak = peak_of(lambda: turns(60, 600))
    longer, higher = peak_of(lambda: turns(600, 600))
    assert longer > 9 * size
    assert higher - peak < 500 * (600 - 60)  # the ids of prompts and what they follow, to find rewinds


def test_the_messages_of_a_long_turn_are_released_one_by_one() -> None:
    """Messages of a turn with thousands of steps are released although none are taken."""
    session = Session().prompt("Bake")
    for number in range(2 * TAKE_EVERY):
        session.answer(calls=[use(f"c{number}")]).result(f"c{number}")
    reading = read(session)
    assert len(reading.responses) == 2 * TAKE_EVERY
    assert {call.output for call in reading.calls.values()} == {TextOutput("done")}
