"""Plain talks of Chat Completions take a short way in both directions: it leads where the long way leads."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec.structs import replace

from partita.formats.format import Loaded
from partita.formats.openai_chat.dialects import DIALECTS, OPENAI
from partita.formats.openai_chat.reading.load import load
from partita.formats.openai_chat.reading.plainly import read_plainly
from partita.formats.openai_chat.writing.dump import write, write_at_length
from partita.formats.openai_chat.writing.plainly import write_plainly
from partita.types.json import Json, JsonObject
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    NetworkExecution,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import DataPart, ReasoningPart, StepStartPart, TextPart
from partita.types.tools import ErrorTextOutput, JsonOutput, TextOutput
from partita.types.usage import Usage
from tests import canonical
from tests.tables import each_row

from .test_plain_talk import counted, talks

MOMENT = datetime(2026, 3, 4, 12, tzinfo=UTC)
CALL = ToolCallPart("ninechars", "height", "output-available", {"tower": 1}, output=JsonOutput({"metres": 3}))
SAID, STEP = TextPart("Three metres."), StepStartPart()
ASKED = UserMessage(id="u", content="How tall?")
ANSWERED = AssistantMessage(id="a", content=[STEP, ReasoningPart("Hm."), CALL, STEP, SAID])
TOLD = SystemMessage(id="s", content="Be brief.")


def around(message: Message) -> Message:
    """The same message with something in the fields around its parts."""
    other = replace(message, thread_id="t", created_at=MOMENT, run_id="r")
    return replace(other, content=replace(other.content, metadata={"a": 1}))


def some_talks() -> SearchStrategy[list[Message]]:
    odd = st.lists(canonical.messages(canonical.KNOWN), max_size=1)
    whole = st.tuples(talks(), odd).map(_joined)
    return st.one_of(talks(), whole, whole.map(_all_around))


def _joined(talks_: tuple[list[Message], list[Message]]) -> list[Message]:
    return [*talks_[0], *talks_[1]]


def _all_around(talk: list[Message]) -> list[Message]:
    return [around(message) for message in talk]


@pytest.mark.parametrize("server", DIALECTS)
@given(talk=some_talks())
def test_a_talk_is_written_and_told_as_at_length(server: str, talk: list[Message]) -> None:
    assert write(talk, DIALECTS[server]) == write_at_length(talk, DIALECTS[server])


@pytest.mark.parametrize("server", DIALECTS)
@given(talk=talks())
def test_no_plain_message_is_written_in_another_way(server: str, talk: list[Message]) -> None:
    """One with a number is not plain, and its number is told."""
    long = write_at_length(counted(talk), DIALECTS[server])
    losses = [loss for loss in long.losses if not loss.path.endswith(".seq")]
    assert write_at_length(talk, DIALECTS[server]) == (long.messages, losses)
    assert write(talk, DIALECTS[server]) == (long.messages, losses)


@each_row("server", DIALECTS)
def test_a_plain_talk_is_written_in_one_walk(server: str) -> None:
    talk: list[Message] = [TOLD, ASKED, ANSWERED, around(ASKED), around(ANSWERED)]
    assert write_plainly(talk, DIALECTS[server]) == write_at_length(talk, DIALECTS[server])


def answer(*parts: AssistantPart) -> AssistantMessage:
    return AssistantMessage(id="a", content=parts)


ODD: dict[str, Message] = {
    "a result apart": ToolMessage(id="t", content=[]),
    "what may be a piece": replace(ASKED, id="u#2"),
    "an inner turn": replace(ASKED, internal=True),
    "a notice": replace(ANSWERED, type="event"),
    "notes on a question": UserMessage(
        id="u", content=UserContent(parts=(SAID,), provider_metadata={"openai": {"content": "list"}})
    ),
    "notes on an answer": replace(
        ANSWERED, content=AssistantContent(parts=(SAID,), provider_metadata={"openai": {"fields": {"x": 1}}})
    ),
    "a network": replace(
        ANSWERED, content=AssistantContent(parts=(), network_execution=NetworkExecution("agent", "x"))
    ),
    "a question without words": UserMessage(id="u", content=""),
    "a question in two texts": UserMessage(id="u", content=[SAID, SAID]),
    "a question of another kind": UserMessage(id="u", content=[DataPart("x", 1)]),
    "a text that says more": answer(TextPart("a", state="done")),
    "a thought that says more": answer(ReasoningPart("a", id="r")),
    "a step that says more": answer(StepStartPart(provider_metadata={"openai": {}}), SAID),
    "a text without words": answer(TextPart("")),
    "two texts": answer(SAID, SAID),
    "a text behind a call": answer(CALL, SAID),
    "another part": answer(DataPart("x", 1)),
    "nothing": answer(STEP),
    "a call that waits": answer(replace(CALL, state="input-available", output=None)),
    "a call that failed": answer(replace(CALL, state="output-error", output=ErrorTextOutput("no"))),
    "a call that says more": answer(replace(CALL, title="Height")),
    "an input that is a text": answer(replace(CALL, input="words")),
    "an output that is a text as JSON": answer(replace(CALL, output=JsonOutput("words"))),
    "an output that says more": answer(replace(CALL, output=TextOutput("a", provider_metadata={}))),
    "a tool by another name": answer(replace(CALL, name="two words")),
    "a call without an id": answer(replace(CALL, id="")),
    "two calls with one id": answer(CALL, CALL),
}


@each_row("message", ODD.values(), ids=ODD)
def test_what_is_unusual_is_written_at_length(message: Message) -> None:
    talk: list[Message] = [TOLD, ASKED, message, ASKED]
    assert write_plainly(talk, OPENAI) is None
    assert write(talk, OPENAI) == write_at_length(talk, OPENAI)


def test_rules_of_a_server_that_a_talk_breaks_are_kept_at_length() -> None:
    mistral = DIALECTS["mistral"]
    unsaid = answer(ReasoningPart("Hm."))
    broken: list[list[Message]] = [[ASKED, TOLD], [TOLD, TOLD], [unsaid, TOLD], [answer(CALL), ASKED]]
    for talk in broken:
        assert write_plainly(talk, OPENAI) is not None
        assert write_plainly(talk, mistral) is None
    assert write_plainly([answer(CALL), ANSWERED], mistral) is not None


def test_usage_is_told_in_the_same_walk() -> None:
    told = replace(ANSWERED, content=replace(ANSWERED.content, usage=Usage(1, 2)))
    written = write_plainly([told], OPENAI)
    assert written == write_at_length([told], OPENAI)
    assert written is not None
    assert "$[0].content.usage" in [loss.path for loss in written.losses]


def calling(*ids: str, words: str = "{}", **more: Json) -> JsonObject:
    calls = [{"id": id_, "type": "function", "function": {"name": "f", "arguments": words}} for id_ in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls, **more}


def result(id_: str) -> JsonObject:
    return {"role": "tool", "tool_call_id": id_, "content": f"of {id_}"}


SPOKEN: JsonObject = {"role": "assistant", "content": "Done."}
QUESTION: JsonObject = {"role": "user", "content": "How tall?"}
PLAIN: dict[str, list[Json]] = {
    "nothing": [],
    "words": [{"role": "system", "content": "a"}, {"role": "developer", "content": "b"}, QUESTION, SPOKEN],
    "answers without results between": [SPOKEN, SPOKEN],
    "a call and its result": [QUESTION, calling("a"), result("a"), SPOKEN],
    "words before calls": [calling("a", "b", content="I look."), result("a"), result("b")],
    "a call without a result": [calling("a"), QUESTION],
    "results of some calls": [calling("a", "b", "c"), result("b"), SPOKEN, calling("a", "b"), result("a")],
    "an id that comes again in another step": [calling("a"), result("a"), calling("a"), result("a")],
    "input in other words": [calling("a", words='{"b": 1}'), result("a")],
    "an input without words": [calling("a", words=" "), result("a")],
    "an input that is no object": [calling("a", words="[1]"), result("a")],
    "an input that is no JSON": [calling("a", words='{"b'), result("a"), calling("a", words="\ud83d")],
}
NOT_PLAIN: dict[str, list[Json]] = {
    "a name": [{**QUESTION, "name": "Ada"}],
    "a list": [{"role": "user", "content": [{"type": "text", "text": "a"}]}],
    "no words": [{"role": "user", "content": ""}],
    "an answer of nothing": [{"role": "assistant", "content": None}],
    "no calls": [{**SPOKEN, "tool_calls": []}],
    "a member of a call": [{**calling("a"), "tool_calls": [{**calling("a")["tool_calls"][0], "index": 0}]}],
    "a custom call": [{**calling(), "tool_calls": [{"id": "a", "type": "custom", "custom": {}}]}],
    "two calls with one id": [calling("a", "a"), result("a")],
    "a result of no call": [QUESTION, result("a")],
    "a result behind another turn": [calling("a"), QUESTION, result("a")],
    "two results of a call": [calling("a"), result("a"), result("a")],
    "results in another order": [calling("a", "b"), result("b"), result("a")],
}


def at_length(said: list[Json]) -> Loaded:
    """What is read of messages behind which one stands that is not plain."""
    loaded = load([*said, {**QUESTION, "name": "Ada"}])
    return Loaded(loaded.messages[:-1], loaded.losses)


@each_row("said", PLAIN.values(), ids=PLAIN)
def test_what_is_plain_is_read_as_at_length(said: list[Json]) -> None:
    assert read_plainly(said, OPENAI) == list(at_length(said).messages)
    assert load(said) == at_length(said)


@each_row("said", NOT_PLAIN.values(), ids=NOT_PLAIN)
def test_what_is_unusual_is_read_at_length(said: list[Json]) -> None:
    assert read_plainly(said, OPENAI) is None
    assert load(said) == at_length(said)


@given(talk=talks())
def test_what_is_written_is_read_as_at_length(talk: list[Message]) -> None:
    said: list[Json] = [*write(talk, OPENAI).messages]
    assert load(said) == at_length(said)
