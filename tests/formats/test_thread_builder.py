"""What a log contains becomes messages: when they are released, late changes, and sub-agents."""

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


def add_prompt(sink: LogSink, id: str, text: str = "Bake") -> None:
    sink.start_turn()
    sink.add_message(UserMessage(id=id, content=text))


def add_response(sink: LogSink, id: str, text: str = "", *calls: str, parent: str | None = None) -> None:
    sink.open(AssistantMessage(id=id, parent_id=parent, content=AssistantContent(parts=())))
    if text:
        sink.append(id, TextStart("0"), TextDelta("0", text), TextEnd("0"))
    for call in calls:
        sink.append(id, ToolInputAvailable(call, "Oven", {}))


def add_output(sink: LogSink, call: str, text: str = "warm") -> bool:
    return sink.append(sink.call_message(call) or "", ToolOutputChunk(call, TextOutput(text)))


def consumed(message: str, key: str, output: int = 1) -> Consumption:
    return Consumption(key, message, "baker", Usage(input_tokens=10, output_tokens=output))


def ids(messages: list[Message]) -> list[str]:
    return [message.id for message in messages]


def calls_of(message: Message) -> dict[str, ToolCallPart]:
    return {part.id: part for part in message.content.parts if isinstance(part, ToolCallPart)}


# Release of messages


def test_a_message_is_released_when_it_and_all_before_it_are_complete() -> None:
    log = LogBuilder("t")
    add_prompt(log, "p")
    add_response(log, "a", "Warming", "c1")
    add_response(log, "b", "Meanwhile")
    log.close("b")
    assert ids(log.take()) == ["p"]
    add_output(log, "c1")
    assert ids(log.take()) == ["a", "b"]
    assert log.take() == []


def test_a_response_is_open_until_the_next_one_of_its_chain() -> None:
    log = LogBuilder("t")
    add_response(log, "a", "One")
    add_response(log.agent("x"), "s", "Another's")
    log.add_message(UserMessage(id="q", content="queued"))
    assert log.take() == []
    log.append("a", TextStart("1"), TextDelta("1", " two"), TextEnd("1"))
    add_response(log, "b")
    assert [text_of(message) for message in log.take()] == ["One two", "queued"]


def test_a_new_turn_releases_everything_and_open_calls_are_lost() -> None:
    log = LogBuilder("t")
    add_prompt(log, "p")
    add_response(log, "a", "", "c1")
    add_prompt(log, "q")
    _, response = log.take()[:2]
    assert calls_of(response)["c1"].output == InterruptedOutput("lost")


def test_unfinished_messages_stay_open() -> None:
    log = LogBuilder("t")
    add_response(log, "a", "", "c1")
    (response,) = log.unfinished_messages()
    assert calls_of(response)["c1"].state == "input-available"
    assert log.take() == []


@each_row("taken", [False, True], ids=["not released", "released"])
@each_row("turns", [0, 1, 5])
def test_a_late_output_releases_its_message_a_second_time(turns: int, taken: bool) -> None:
    log = LogBuilder("t")
    found: dict[str, Message] = {}
    add_prompt(log, "p")
    add_response(log, "a", "", "c1")
    for number in range(turns):
        add_prompt(log, f"q{number}")
        add_response(log, f"b{number}", "Yes")
        if taken:
            found |= {message.id: message for message in log.take()}
    assert log.is_pending("c1")
    assert add_output(log, "c1")
    assert not log.is_pending("c1")
    found |= {message.id: message for message in log.finish()}
    assert calls_of(found["a"])["c1"].output == TextOutput("warm")
    assert set(found) >= {"p", "a"}


def test_a_call_with_a_sub_agent_waits_for_its_output_across_turns() -> None:
    log = LogBuilder("t")
    add_prompt(log, "p")
    add_response(log, "a", "", "c1")
    log.link_agent("helper", "c1")
    add_response(log.agent("helper"), "inner", "On it")
    add_prompt(log, "q")
    log.take()
    assert log.is_pending("c1")
    assert add_output(log, "c1")
    assert not log.is_pending("c1")
    found = {message.id: message for message in log.finish()}
    assert calls_of(found["a"])["c1"].output == TextOutput("warm")


def test_recently_released_responses_can_still_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED_RESPONSES", 2)
    log = LogBuilder("t")
    for number in range(4):
        add_response(log, f"a{number}", "one")
    log.finish()
    for number, reached in enumerate([False, False, True, True]):
        assert log.append(f"a{number}", TextStart("1"), TextDelta("1", "two"), TextEnd("1")) is reached
    assert {message.id: text_of(message) for message in log.finish()} == {"a2": "onetwo", "a3": "onetwo"}
    (finding,) = log.unknown_records
    assert (finding.what, finding.times) == ("a chunk of a message that is not open", 2)


def test_an_invalid_chunk_is_reported_and_changes_nothing() -> None:
    log = LogBuilder("t")
    log.line, log.offset = 7, 100
    add_response(log, "a", "One")
    log.append("a", TextDelta("gone", "x"), TextStart("1"), TextDelta("1", "!"), TextEnd("1"))
    (response,) = log.finish()
    assert text_of(response) == "One!"
    (finding,) = log.unknown_records
    assert (finding.what, finding.positions) == ("a chunk that does not fit", (Position(7, 100),))


def test_preliminary_output_leaves_a_call_waiting() -> None:
    log = LogBuilder("t")
    add_response(log, "a", "", "c1")
    log.append("a", ToolOutputAvailable("c1", "w", preliminary=True))
    assert log.is_pending("c1")
    assert not log.take_call_times()
    (response,) = log.finish()
    call = calls_of(response)["c1"]
    assert (call.state, call.output) == ("output-error", InterruptedOutput("lost", "w"))


# Parents


def test_messages_follow_each_other_unless_a_parent_is_given() -> None:
    log = LogBuilder("t", tail="before")
    add_prompt(log, "p")
    add_response(log, "a", "Yes")
    log.add_message(UserMessage(id="q", content="otherwise", parent_id="p"))
    add_response(log, "b", "No")
    parents = {message.id: message.parent_id for message in log.finish()}
    assert parents == {"p": "before", "a": "p", "q": "p", "b": "q"}


def test_a_repeated_message_replaces_the_unreleased_one_in_its_position() -> None:
    log = LogBuilder("t")
    log.add_message(UserMessage(id="p", content="Bake"))
    add_response(log, "a", "Yes")
    log.add_message(UserMessage(id="p", content="Bake rye"))
    first, second = log.finish()
    assert (text_of(first), first.parent_id, second.parent_id) == ("Bake rye", "", "p")


def test_adjacent_notes_are_one_message() -> None:
    log = LogBuilder("t")
    log.offset = 3
    log.add_record("mode", {"a": 1})
    log.add_record("mode", {"a": 2}, "x")
    add_prompt(log, "p")
    log.offset = 9
    log.add_record("title", "Bread")
    notes, _, more = log.finish()
    assert isinstance(notes, SystemMessage)
    assert notes.parts == (DataPart("mode", {"a": 1}), DataPart("mode", {"a": 2}, "x"))
    assert (notes.id, notes.internal, notes.type) == ("notes-3", True, "event")
    assert (more.id, more.parent_id) == ("notes-9", "p")


# Turns, times, usage and facts


def test_turns_have_their_position_as_id_and_their_end() -> None:
    log = LogBuilder("t")
    log.start_turn()
    log.set_time(NOON)
    log.end_turn("completed")
    log.line, log.offset = 5, 500
    log.set_time(NOON + timedelta(hours=1))
    add_prompt(log, "p")
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


def test_the_times_of_a_call_are_returned_once_when_it_has_ended() -> None:
    log = LogBuilder("t")
    log.set_time(NOON)
    add_response(log, "a", "", "c1", "c2")
    log.set_time(NOON + timedelta(seconds=5))
    add_output(log, "c1")
    assert log.take_call_times() == {"c1": (NOON, NOON + timedelta(seconds=5))}
    assert log.take_call_times() == {}


def test_the_usage_of_a_response_is_counted_once_with_the_last_value() -> None:
    log = LogBuilder("t")
    add_prompt(log, "p")
    add_response(log, "a", "Yes")
    log.add_consumption(consumed("a", "k", 1))
    log.add_consumption(consumed("a", "k", 5))
    (entry,) = log.take_ledger()
    assert (entry.key, entry.usage.output_tokens, entry.run_id) == ("k", 5, "t@0")
    response = log.finish()[-1]
    assert isinstance(response, AssistantMessage)
    assert response.content.usage == Usage(input_tokens=10, output_tokens=5)


def test_a_message_of_two_responses_has_the_usage_of_both() -> None:
    log = LogBuilder("t")
    add_response(log, "a", "Yes")
    log.add_consumption(consumed("a", "k1", 1))
    log.add_consumption(consumed("a", "k2", 5))
    (response,) = log.finish()
    assert isinstance(response, AssistantMessage)
    assert response.content.usage == Usage(input_tokens=20, output_tokens=6)


def test_the_sum_of_usages_leaves_unknown_fields_unset() -> None:
    added = add_usages([Usage(input_tokens=1), Usage(input_tokens=2, reasoning_tokens=3)])
    assert added == Usage(input_tokens=3, reasoning_tokens=3)


def test_the_first_prompt_and_the_last_value_of_other_facts_are_used() -> None:
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
    add_prompt(log, "p")
    add_response(log, "a", "", "c1")
    agent = log.agent("x")
    agent.add_message(UserMessage(id="task", content="look"))
    add_response(agent, "s", "Seen")
    if link:
        log.link_agent("x", "c1")
    return log, agent


def test_the_messages_of_a_sub_agent_are_nested_under_its_call() -> None:
    log, _ = with_agent()
    add_output(log, "c1")
    _, response = log.finish()
    assert [text_of(child) for child in calls_of(response)["c1"].children] == ["look", "Seen"]
    assert not log.orphans()


def test_a_sub_agent_that_no_call_claims_is_an_orphan() -> None:
    log, _ = with_agent(link=False)
    assert ids(log.finish()) == ["p", "a"]
    assert {name: ids(messages) for name, messages in log.orphans().items()} == {"x": ["task", "s"]}


def test_a_sub_agent_linked_to_a_missing_call_is_an_orphan() -> None:
    log, _ = with_agent(link=False)
    log.link_agent("x", "gone")
    log.finish()
    assert list(log.orphans()) == ["x"]


def test_new_messages_of_a_sub_agent_release_the_parent_message_again() -> None:
    log, agent = with_agent()
    add_output(log, "c1")
    add_response(log, "b", "Good")
    assert ids(log.take()) == ["p", "a"]
    add_response(agent, "s2", "And more")
    last, response = log.finish()
    assert (last.id, response.id) == ("b", "a")
    assert [text_of(child) for child in calls_of(response)["c1"].children] == ["look", "Seen", "And more"]
    assert log.finish() == []


def test_an_open_call_of_a_sub_agent_is_lost_at_the_end() -> None:
    log, agent = with_agent()
    add_response(agent, "s2", "", "s-c1")
    add_output(log, "c1")
    add_response(log, "b")
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


def test_each_link_to_a_sub_agent_is_reported_once() -> None:
    log = LogBuilder("t")
    linked: list[str] = []
    log.on_link = linked.append
    log.claims = {"c2": "y"}
    add_response(log, "a", "", "c1", "c2")
    log.link_agent("x", "c1")
    log.link_agent("x", "c1")
    log.link_agent("x", "c2")  # it is nested under the first call
    assert linked == ["x"]
    log.finish()  # links of a sub-agent are resolved when its call is reported
    assert linked == ["x", "y"]


def test_a_turn_of_a_sub_agent_is_not_a_turn_of_the_log() -> None:
    log, agent = with_agent()
    agent.start_turn()
    agent.end_turn("failed", "x")
    log.finish()
    assert [turn.end for turn in log.take_turns()] == [None]
    assert (agent.thread_id, agent.run_id, agent.position, agent.time) == ("t", "t@0", Position(0, 0), None)
