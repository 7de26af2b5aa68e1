"""Model messages are valid for every model: each call has exactly one result, and each repair is reported."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from partita import (
    AssistantMessage,
    FilePart,
    Message,
    StepStartPart,
    SystemMessage,
    TextOutput,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
    convert,
)
from partita.agents import MessageList
from partita.formats import to_model_messages
from partita.formats.losses import NO_PLACE, OTHER_ID
from partita.types import Approval, to_json
from tests import canonical
from tests.tables import each_row

ASK = UserMessage(id="u", content="Look")
OPEN = ToolCallPart("c1", "look", "input-available", {"at": 1})
DONE = ToolCallPart("c2", "look", "output-available", {"at": 2}, output=TextOutput("sky"))
CUT = ToolCallPart("c3", "look", "input-streaming", raw_input='{"at')


def answer(*parts: Any, id: str = "a") -> AssistantMessage:
    return AssistantMessage(id=id, content=parts)


def result(id: str, text: str = "sea", of: str = "r") -> ToolMessage:
    return ToolMessage(id=of, content=[ToolResultPart(id, "look", TextOutput(text))])


def pairs(payload: Any) -> tuple[list[str], list[str]]:
    """Return the ids of the calls and of the results, in order."""
    parts = [part for message in payload for part in message["content"] if isinstance(part, dict)]
    calls = [part["toolCallId"] for part in parts if part["type"] == "tool-call"]
    return calls, [part["toolCallId"] for part in parts if part["type"] == "tool-result"]


REPAIRS: dict[str, tuple[Sequence[Message], list[str], list[tuple[str, str, str]]]] = {
    "a call without a result gets one": (
        [ASK, answer(OPEN)],
        ["c1"],
        [("$[1].content.parts[0]", "the call never got a result", "repaired")],
    ),
    "an unfinished call is removed": (
        [ASK, answer(TextPart("So"), CUT, DONE)],
        ["c2"],
        [("$[1].content.parts[1]", "the input of the call was cut off", "lost")],
    ),
    "a result without a call is removed": (
        [result("x"), ASK],
        [],
        [("$[0].content.parts[0]", "the result has no call right before it", "lost")],
    ),
    "a second result is removed": (
        [ASK, answer(OPEN), result("c1"), result("c1", "sand", "r2")],
        ["c1"],
        [("$[3].content.parts[0]", "the call already has a result", "lost")],
    ),
    "a result of a call that has an output is removed": (
        [ASK, answer(DONE), result("c2")],
        ["c2"],
        [("$[2].content.parts[0]", "the call already has a result", "lost")],
    ),
    "a repeated call in a step is sent once": (
        [ASK, answer(ToolCallPart("c2", "look", "input-available", {"at": 2}), DONE)],
        ["c2"],
        [("$[1].content.parts[0]", "the same call is in another place too", "lost")],
    ),
    "a repeated call without a result is removed": (
        [answer(ToolCallPart("c2", "look", "input-available", {"at": 2}), id="b"), ASK, answer(DONE)],
        ["c2"],
        [("$[0].content.parts[0]", "the same call is in another place too", "lost")],
    ),
    "one of two repeated calls without a result gets one": (
        [answer(OPEN), ASK, answer(OPEN, id="b")],
        ["c1"],
        [
            ("$[0].content.parts[0]", "the call never got a result", "repaired"),
            ("$[2].content.parts[0]", "the same call is in another place too", "lost"),
        ],
    ),
    "the same id with another input is another call": (
        [answer(DONE), ASK, answer(ToolCallPart("c2", "look", "input-available", {"at": 3}), id="b")],
        ["c2", "c2"],
        [("$[2].content.parts[0]", "the call never got a result", "repaired")],
    ),
    "the same id in a later step is another call": (
        [ASK, answer(DONE, StepStartPart(), DONE)],
        ["c2", "c2"],
        [],
    ),
    "an output that contradicts the state is sent": (
        [ASK, answer(ToolCallPart("c", "look", "input-available", {}, output=TextOutput("sky")))],
        ["c"],
        [],
    ),
    "paths point to the given messages": (
        [answer(DONE), answer(OPEN, id="b"), result("c1"), ASK, answer(CUT, id="d")],
        ["c2", "c1"],
        [("$[4].content.parts[0]", "the input of the call was cut off", "lost")],
    ),
}


@each_row(("messages", "ids", "repairs"), REPAIRS.values(), ids=REPAIRS)
def test_every_call_has_exactly_one_result(
    messages: Sequence[Message], ids: list[str], repairs: list[tuple[str, str, str]]
) -> None:
    for version in (5, 6, 7):
        dumped = to_model_messages(messages, version=version)
        assert pairs(dumped.payload) == (ids, ids)
        found = [(loss.path, loss.why, loss.severity) for loss in dumped.losses]
        assert [one for one in found if one[1] not in (NO_PLACE, OTHER_ID)] == repairs
    view = MessageList(messages).model()
    assert [(one.path, one.why, one.severity) for one in view.repairs] == repairs
    calls = [part.id for one in view.messages for part in one.parts if isinstance(part, ToolCallPart)]
    results = [part.id for one in view.messages for part in one.parts if isinstance(part, ToolResultPart)]
    assert (calls, results) == (ids, ids)


def test_open_calls_may_be_removed() -> None:
    waiting = ToolCallPart("w", "look", "approval-requested", {}, approval=Approval("p"))
    denied = ToolCallPart("d", "look", "approval-responded", {}, approval=Approval("q", approved=False))
    dumped = to_model_messages([ASK, answer(OPEN, waiting, denied, DONE)], open_calls="remove")
    assert pairs(dumped.payload) == (["d", "c2"], ["d", "c2"])
    assert [(loss.path, loss.severity) for loss in dumped.losses[:2]] == [
        ("$[1].content.parts[0]", "lost"),
        ("$[1].content.parts[1]", "lost"),
    ]


def test_text_is_flattened_on_request() -> None:
    messages: list[Message] = [
        SystemMessage(id="s", content=[TextPart("Be brief."), TextPart("Be kind.")]),
        UserMessage(id="u", content=[TextPart("One"), TextPart("two")]),
        answer(TextPart("Three"), DONE, TextPart("four"), TextPart("five")),
        answer(StepStartPart(), TextPart("six"), id="b"),
    ]
    payload = to_model_messages(messages, flatten_text=True).payload
    assert [message["content"] for message in payload] == [
        "Be brief.\nBe kind.",
        "One\ntwo",
        [
            {"type": "text", "text": "Three"},
            {"type": "tool-call", "toolCallId": "c2", "toolName": "look", "input": {"at": 2}},
            {"type": "text", "text": "four\nfive"},
        ],
        [
            {
                "type": "tool-result",
                "toolCallId": "c2",
                "toolName": "look",
                "output": {"type": "text", "value": "sky"},
            }
        ],
        "six",
    ]


def test_parts_that_the_sdk_refuses_are_not_sent() -> None:
    odd = ToolCallPart("c", "look", "output-error", output=TextOutput("x"), call_provider_metadata={"p": 1})
    message = UserMessage(id="u", content=[TextPart("Look"), FilePart("/a.png", "image/png")])
    dumped = to_model_messages([message, answer(odd)], version=6)
    assert dumped.payload[0]["content"] == [{"type": "text", "text": "Look"}]
    (call,) = dumped.payload[1]["content"]
    assert call == {"type": "tool-call", "toolCallId": "c", "toolName": "look", "input": {}}
    paths = {loss.path for loss in dumped.losses}
    assert {"$[0].content.parts[1]", "$[1].content.parts[0].callProviderMetadata.p"} <= paths


def test_a_conversion_repairs_on_request() -> None:
    payload = to_json([ASK, answer(OPEN, CUT)])
    for target in ("ai-sdk-model-v6", "openai-chat", "anthropic", "ai-sdk-ui-v6", "mastra-v2"):
        kept = convert(payload, "canonical", target, repair="answer")
        why = [loss.why for loss in kept.losses]
        assert "the call never got a result" in why, target
        gone = convert(payload, "canonical", target, repair="remove")
        assert "c1" not in str(gone.payload), target
        assert "$[1].content.parts[0]" in [loss.path for loss in gone.losses], target


@given(st.lists(canonical.messages(), max_size=4))
def test_any_messages_have_calls_with_one_result(messages: list[Message]) -> None:
    for message in to_model_messages(messages).payload:
        if message["role"] == "tool":
            results = pairs([message])[1]
            assert len(results) == len(set(results))
