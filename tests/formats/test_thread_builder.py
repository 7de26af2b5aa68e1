"""What a log contains becomes messages: when they are released, what still reaches them, their sub-agents."""

from datetime import UTC, datetime, timedelta

import pytest

from partita.formats.log import thread_builder as module
from partita.formats.log.sink import Consumption, LogSink, Position
from partita.formats.log.thread_builder import LogBuilder, SubAgentBuilder
from partita.types.chunks import (
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolOutputAvailable,
    ToolOutputChunk,
)
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCallPart,
    UserMessage,
    text_of,
)
from partita.types.parts import DataPart, InterruptedOutput, TextOutput
from partita.types.usage import Usage, add_usages
from tests.tables import each_row

NOON = datetime(2026, 4, 1, 12, tzinfo=UTC)


def asks(sink: LogSink, id: str, words: str = "Bake") -> None:
    sink.start_turn()
    sink.add_message(UserMessage(id=id, content=words))


def answers(sink: LogSink, id: str, words: str = "", *calls: str, parent: str | None = None) -> None:
    sink.open(AssistantMessage(id=id, parent_id=parent, content=AssistantContent(parts=())))
    if words:
        sink.append(id, TextStart("0"), TextDelta("0", words), TextEnd("0"))
    for call in calls:
        sink.append(id, ToolInputAvailable(call, "Oven", {}))


def gives(sink: LogSink, call: str, words: str = "warm") -> bool:
    return sink.append(sink.call_message(call) or "", ToolOutputChunk(call, TextOutput(words)))


def consumed(message: str, key: str, output: int = 1) -> Consumption:
    return Consumption(key, message, "baker", Usage(input_tokens=10, output_tokens=output))


def ids(messages: list[Message]) -> list[str]:
    return [message.id for message in messages]


def calls_of(message: Message) -> dict[str, ToolCallPart]:
    return {part.id: part for part in message.content.parts if isinstance(part, ToolCallPart)}


# When messages come out


def test_a_message_comes_out_when_it_is_whole_and_all_before_it_are() -> None:
    log = LogBuilder("t")
    asks(log, "p")
    answers(log, "a", "Warming", "c1")
    answers(log, "b", "Meanwhile")
    log.close("b")
    assert ids(log.take()) == ["p"]
    gives(log, "c1")
    assert ids(log.take()) == ["a", "b"]
    assert log.take() == []


def test_an_answer_is_open_until_the_next_one_of_its_chain() -> None:
    log = LogBuilder("t")
    answers(log, "a", "One")
    answers(log.agent("x"), "s", "Another's")
    log.add_message(UserMessage(id="q", content="queued"))
    assert log.take() == []
    log.append("a", TextStart("1"), TextDelta("1", " two"), TextEnd("1"))
    answers(log, "b")
    assert [text_of(message) for message in log.take()] == ["One two", "queued"]


def test_a_turn_that_begins_brings_everything_out_and_open_calls_are_lost() -> None:
    log = LogBuilder("t")
    asks(log, "p")
    answers(log, "a", "", "c1")
    asks(log, "q")
    _, answer = log.take()[:2]
    assert calls_of(answer)["c1"].output == InterruptedOutput("lost")


def test_what_is_pending_stays_as_open_as_it_is() -> None:
    log = LogBuilder("t")
    answers(log, "a", "", "c1")
    (answer,) = log.unfinished_messages()
    assert calls_of(answer)["c1"].state == "input-available"
    assert log.take() == []


@each_row("taken", [False, True], ids=["not out yet", "out already"])
@each_row("turns", [0, 1, 5])
def test_a_late_output_brings_its_message_out_again(turns: int, taken: bool) -> None:
    log = LogBuilder("t")
    found: dict[str, Message] = {}
    asks(log, "p")
    answers(log, "a", "", "c1")
    for number in range(turns):
        asks(log, f"q{number}")
        answers(log, f"b{number}", "Yes")
        if taken:
            found |= {message.id: message for message in log.take()}
    assert log.is_pending("c1")
    assert gives(log, "c1")
    assert not log.is_pending("c1")
    found |= {message.id: message for message in log.finish()}
    assert calls_of(found["a"])["c1"].output == TextOutput("warm")
    assert set(found) >= {"p", "a"}


def test_a_call_with_a_sub_agent_waits_for_its_output_whatever_comes_between() -> None:
    log = LogBuilder("t")
    asks(log, "p")
    answers(log, "a", "", "c1")
    log.link_agent("helper", "c1")
    answers(log.agent("helper"), "inner", "On it")
    asks(log, "q")
    log.take()
    assert log.is_pending("c1")
    assert gives(log, "c1")
    assert not log.is_pending("c1")
    found = {message.id: message for message in log.finish()}
    assert calls_of(found["a"])["c1"].output == TextOutput("warm")


def test_an_answer_that_is_out_can_still_grow_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED_RESPONSES", 2)
    log = LogBuilder("t")
    for number in range(4):
        answers(log, f"a{number}", "one")
    log.finish()
    for number, reached in enumerate([False, False, True, True]):
        assert log.append(f"a{number}", TextStart("1"), TextDelta("1", "two"), TextEnd("1")) is reached
    assert {message.id: text_of(message) for message in log.finish()} == {"a2": "onetwo", "a3": "onetwo"}
    (finding,) = log.unknown_records
    assert (finding.what, finding.times) == ("a chunk of a message that is not open", 2)


def test_a_chunk_that_does_not_fit_is_counted_and_changes_nothing() -> None:
    log = LogBuilder("t")
    log.line, log.offset = 7, 100
    answers(log, "a", "One")
    log.append("a", TextDelta("gone", "x"), TextStart("1"), TextDelta("1", "!"), TextEnd("1"))
    (answer,) = log.finish()
    assert text_of(answer) == "One!"
    (finding,) = log.unknown_records
    assert (finding.what, finding.positions) == ("a chunk that does not fit", (Position(7, 100),))


def test_preliminary_output_leaves_a_call_waiting() -> None:
    log = LogBuilder("t")
    answers(log, "a", "", "c1")
    log.append("a", ToolOutputAvailable("c1", "w", preliminary=True))
    assert log.is_pending("c1")
    assert not log.take_call_times()
    (answer,) = log.finish()
    call = calls_of(answer)["c1"]
    assert (call.state, call.output) == ("output-error", InterruptedOutput("lost", "w"))


# What follows what


def test_messages_follow_each_other_unless_they_say_otherwise() -> None:
    log = LogBuilder("t", tail="before")
    asks(log, "p")
    answers(log, "a", "Yes")
    log.add_message(UserMessage(id="q", content="otherwise", parent_id="p"))
    answers(log, "b", "No")
    parents = {message.id: message.parent_id for message in log.finish()}
    assert parents == {"p": "before", "a": "p", "q": "p", "b": "q"}


def test_a_message_said_again_before_it_is_out_is_replaced_in_its_place() -> None:
    log = LogBuilder("t")
    log.add_message(UserMessage(id="p", content="Bake"))
    answers(log, "a", "Yes")
    log.add_message(UserMessage(id="p", content="Bake rye"))
    first, second = log.finish()
    assert (text_of(first), first.parent_id, second.parent_id) == ("Bake rye", "", "p")


def test_notes_beside_each_other_are_one_message() -> None:
    log = LogBuilder("t")
    log.offset = 3
    log.add_record("mode", {"a": 1})
    log.add_record("mode", {"a": 2}, "x")
    asks(log, "p")
    log.offset = 9
    log.add_record("title", "Bread")
    notes, _, more = log.finish()
    assert isinstance(notes, SystemMessage)
    assert notes.parts == (DataPart("mode", {"a": 1}), DataPart("mode", {"a": 2}, "x"))
    assert (notes.id, notes.internal, notes.type) == ("notes-3", True, "event")
    assert (more.id, more.parent_id) == ("notes-9", "p")


# Turns, times, what was consumed, what is known


def test_turns_are_named_by_their_place_and_say_how_they_ended() -> None:
    log = LogBuilder("t")
    log.start_turn()
    log.set_time(NOON)
    log.end_turn("completed")
    log.line, log.offset = 5, 500
    log.set_time(NOON + timedelta(hours=1))
    asks(log, "p")
    log.end_turn("failed", "no heat")
    log.finish()
    first, second = log.take_turns()
    assert (first.id, first.position, first.started_at, first.end) == (
        "t@0",
        Position(0, 0),
        NOON,
        "completed",
    )
    assert (second.id, second.position, second.end, second.error) == (
        "t@500",
        Position(5, 500),
        "failed",
        "no heat",
    )
    assert log.take_turns() == []


def test_times_go_from_the_earliest_to_the_latest() -> None:
    log = LogBuilder("t")
    for hours in (3, 1, 7, 2):
        log.set_time(NOON + timedelta(hours=hours))
    assert (log.first_time, log.last_time) == (NOON + timedelta(hours=1), NOON + timedelta(hours=7))
    assert log.time == NOON + timedelta(hours=2)


def test_the_times_of_a_call_are_told_when_it_has_ended() -> None:
    log = LogBuilder("t")
    log.set_time(NOON)
    answers(log, "a", "", "c1", "c2")
    log.set_time(NOON + timedelta(seconds=5))
    gives(log, "c1")
    assert log.take_call_times() == {"c1": (NOON, NOON + timedelta(seconds=5))}
    assert log.take_call_times() == {}


def test_what_a_response_consumed_counts_once_and_the_later_word_wins() -> None:
    log = LogBuilder("t")
    asks(log, "p")
    answers(log, "a", "Yes")
    log.add_consumption(consumed("a", "k", 1))
    log.add_consumption(consumed("a", "k", 5))
    (entry,) = log.take_ledger()
    assert (entry.key, entry.usage.output_tokens, entry.run_id) == ("k", 5, "t@0")
    answer = log.finish()[-1]
    assert isinstance(answer, AssistantMessage)
    assert answer.content.usage == Usage(input_tokens=10, output_tokens=5)


def test_a_message_of_two_responses_has_consumed_what_both_have() -> None:
    log = LogBuilder("t")
    answers(log, "a", "Yes")
    log.add_consumption(consumed("a", "k1", 1))
    log.add_consumption(consumed("a", "k2", 5))
    (answer,) = log.finish()
    assert isinstance(answer, AssistantMessage)
    assert answer.content.usage == Usage(input_tokens=20, output_tokens=6)


def test_adding_up_leaves_unknown_what_nobody_knows() -> None:
    added = add_usages([Usage(input_tokens=1), Usage(input_tokens=2, reasoning_tokens=3)])
    assert added == Usage(input_tokens=3, reasoning_tokens=3)


def test_of_prompts_the_first_counts_and_of_all_else_the_last_word() -> None:
    log = LogBuilder("t")
    for word in ("one", "two"):
        log.set_fact("prompt", word)
        log.set_fact("title", word)
    log.agent("x").set_fact("title", "three")
    log.agent("x").set_fact("cwd", "/x")
    assert log.facts == {"prompt": "one", "title": "two", "cwd": "/x"}


# Sub-agents


def with_agent(*, link: bool = True) -> tuple[LogBuilder, SubAgentBuilder]:
    log = LogBuilder("t")
    asks(log, "p")
    answers(log, "a", "", "c1")
    agent = log.agent("x")
    agent.add_message(UserMessage(id="task", content="look"))
    answers(agent, "s", "Seen")
    if link:
        log.link_agent("x", "c1")
    return log, agent


def test_the_messages_of_a_sub_agent_stand_under_its_call() -> None:
    log, _ = with_agent()
    gives(log, "c1")
    _, answer = log.finish()
    assert [text_of(child) for child in calls_of(answer)["c1"].children] == ["look", "Seen"]
    assert not log.orphans()


def test_a_sub_agent_that_no_call_claims_is_told_apart() -> None:
    log, _ = with_agent(link=False)
    assert ids(log.finish()) == ["p", "a"]
    assert {name: ids(messages) for name, messages in log.orphans().items()} == {"x": ["task", "s"]}


def test_a_link_to_a_call_that_is_not_there_loses_nobody() -> None:
    log, _ = with_agent(link=False)
    log.link_agent("x", "gone")
    log.finish()
    assert list(log.orphans()) == ["x"]


def test_news_of_a_sub_agent_bring_the_message_above_out_again() -> None:
    log, agent = with_agent()
    gives(log, "c1")
    answers(log, "b", "Good")
    assert ids(log.take()) == ["p", "a"]
    answers(agent, "s2", "And more")
    last, answer = log.finish()
    assert (last.id, answer.id) == ("b", "a")
    assert [text_of(child) for child in calls_of(answer)["c1"].children] == ["look", "Seen", "And more"]
    assert log.finish() == []


def test_a_call_of_a_sub_agent_that_was_open_is_lost_in_the_end() -> None:
    log, agent = with_agent()
    answers(agent, "s2", "", "s-c1")
    gives(log, "c1")
    answers(log, "b")
    found = {message.id: message for message in log.take()}
    assert _inner_call(found["a"]).state == "input-available"
    found |= {message.id: message for message in log.finish()}
    assert _inner_call(found["a"]).output == InterruptedOutput("lost")


def _inner_call(message: Message) -> ToolCallPart:
    (inner,) = [
        part
        for child in calls_of(message)["c1"].children
        for part in child.content.parts
        if isinstance(part, ToolCallPart)
    ]
    return inner


def test_somebody_is_told_when_a_call_claims_a_sub_agent_once() -> None:
    log = LogBuilder("t")
    told: list[str] = []
    log.on_link = told.append
    log.claims = {"c2": "y"}
    answers(log, "a", "", "c1", "c2")
    log.link_agent("x", "c1")
    log.link_agent("x", "c1")
    log.link_agent("x", "c2")  # it hangs under the first
    assert told == ["x"]
    log.finish()  # what a sub-agent itself claims is looked at when its call is told
    assert told == ["x", "y"]


def test_a_turn_of_a_sub_agent_is_none_of_the_log() -> None:
    log, agent = with_agent()
    agent.start_turn()
    agent.end_turn("failed", "x")
    log.finish()
    assert [turn.end for turn in log.take_turns()] == [None]
    assert (agent.thread_id, agent.run_id, agent.position, agent.time) == ("t", "t@0", Position(0, 0), None)
