"""Formats of rows and legacy messages: their sidecar and their implied values."""

import pytest

from partita.errors import PartitaError
from partita.formats.conversion import convert
from partita.formats.registry import get_format
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import TextOutput
from partita.types.tool_results import fold
from tests.formats.mastra_streams import AGENT, WORKFLOW
from tests.leaves import changed, leaves
from tests.tables import each_row

REST: JsonObject = {"version": 1, "more": ["x"]}

ROWS: dict[str, list[JsonObject]] = {
    "without metadata": [{"id": "m", "role": "user", "content": {"format": 2, "parts": []}}],
    "with metadata": [
        {"id": "m", "role": "user", "content": {"format": 2, "parts": [], "metadata": {"mode": "stream"}}},
        {"id": "n", "role": "user", "content": {"format": 2, "parts": []}},
    ],
    "the first one cannot have metadata": [
        {"id": "m", "role": "user", "content": {"format": 2, "parts": [], "metadata": [1]}},
        {"id": "n", "role": "user", "content": {"format": 2, "parts": []}},
    ],
}


@each_row("rows", ROWS.values(), ids=ROWS)
def test_the_sidecar_is_in_the_metadata_of_a_row(rows: list[JsonObject]) -> None:
    slot = get_format("mastra-v2").slot
    assert slot is not None
    filled = slot.put(rows, REST)
    assert filled != rows
    assert slot.take(filled) == (rows, REST)
    assert slot.take(rows) == (rows, None)


MOMENT = "2026-03-04T12:00:00.000Z"
LEGACY: list[JsonObject] = [
    {"id": "1", "role": "user", "content": "How tall?", "timestamp": MOMENT, "parentId": "0"},
    {
        "id": "2",
        "role": "assistant",
        "content": {"type": "tool-call", "id": "c", "name": "look_up", "input": {"tower": "Slettnes"}},
        "timestamp": MOMENT,
        "usage": {"input": 12, "output": 14},
    },
    {
        "id": "3",
        "role": "tool",
        "content": {
            "type": "tool-result",
            "id": "c",
            "name": "look_up",
            "output": {"type": "text", "value": "39"},
        },
        "timestamp": MOMENT,
    },
    {
        "id": "4",
        "role": "assistant",
        "content": {"type": "thinking", "reasoning": "Hm.", "tokenCount": 30},
        "timestamp": MOMENT,
    },
]


@pytest.mark.filterwarnings("ignore:LegacyMessage is deprecated:DeprecationWarning")
def test_legacy_messages_are_read_and_results_are_merged_into_their_calls() -> None:
    load = get_format("legacy").load
    assert load is not None
    loaded = load(LEGACY)
    assert loaded.lossless
    assert [message.id for message in loaded.messages] == ["1", "2", "3", "4"]
    answer = fold(loaded.messages)[1]
    assert isinstance(answer, AssistantMessage)
    (call,) = answer.parts
    assert isinstance(call, ToolCallPart)
    assert (call.state, call.output) == ("output-available", TextOutput("39"))
    assert [path for path in leaves(LEGACY) if _result_of(changed(LEGACY, path)) == _result_of(LEGACY)] == []


def _result_of(payload: Json) -> str:
    load = get_format("legacy").load
    assert load is not None
    try:
        loaded = load(payload)
    except PartitaError as error:
        return repr(error)
    return repr((to_json(loaded.messages), loaded.losses))


LOSSLESS: dict[str, tuple[str, Json]] = {
    "a workflow": ("mastra-stream", WORKFLOW),
    "an agent": (
        "mastra-stream",
        [event for event in AGENT if not event["type"].startswith(("data-", "object"))],  # they are replaced
    ),
    "a row": (
        "mastra-v2",
        [
            {
                "id": "m",
                "role": "assistant",
                "content": {
                    "format": 2,
                    "parts": [
                        {"type": "step-start"},
                        {
                            "type": "tool-invocation",
                            "toolInvocation": {
                                "state": "result",
                                "toolCallId": "c",
                                "toolName": "look_up",
                                "args": {"tower": "Slettnes"},
                                "result": {"name": "tall"},
                            },
                        },
                        {"type": "data-chart", "data": {"of": "towers"}},
                    ],
                },
            }
        ],
    ),
    "a V1 message": ("mastra-v1", [{"id": "m", "role": "user", "type": "text", "content": "Hello"}]),
    "a row of plain text": ("plain", [{"id": "m", "role": "user", "content": "Hello"}]),
    "a session message": (
        "cherry",
        {"id": "m", "role": "assistant", "data": {"parts": [{"type": "data-code", "data": {"of": "words"}}]}},
    ),
}


@each_row(("name", "payload"), LOSSLESS.values(), ids=LOSSLESS)
def test_known_payloads_have_no_losses(name: str, payload: Json) -> None:
    converted = convert(payload, name, "canonical")
    assert {loss.severity for loss in converted.losses} <= {"minor"}
