"""Canonical messages as V2: everything can be written, and what Mastra wrote comes back."""

from pathlib import Path

import pytest
from hypothesis import given

from partita.formats.mastra import v2
from partita.server.mastra.v2 import dump_v2
from partita.server.mastra.views import ui_messages, unmarked, v1_messages
from partita.types.json import JsonObject, dumps, loads
from partita.types.messages import AssistantMessage, Message, ToolCallPart, ToolMessage, UserMessage
from partita.types.parts import ImagePart, TextPart
from partita.types.tools import (
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    TextOutput,
    ToolOutput,
    ToolResultPart,
    ToolState,
)
from tests.canonical import messages

CORPUS = Path(__file__).parents[4] / "shared" / "corpora" / "mastra"


def call(state: ToolState, output: ToolOutput, *children: Message) -> AssistantMessage:
    return AssistantMessage(
        id="m", content=[ToolCallPart("c1", "stock", state, {}, output=output, children=children)]
    )


WRITTEN: dict[str, tuple[Message, list[JsonObject]]] = {
    "a picture is a file": (
        UserMessage(id="m", content=[ImagePart("https://a.example/p.png", "image/png", name="p.png")]),
        [{"type": "file", "data": "https://a.example/p.png", "mimeType": "image/png", "filename": "p.png"}],
    ),
    "a call that failed": (
        call("output-error", ErrorTextOutput("No stock.")),
        [
            {
                "type": "tool-invocation",
                "toolInvocation": {
                    "state": "output-error",
                    "toolCallId": "c1",
                    "toolName": "stock",
                    "args": {},
                    "errorText": "No stock.",
                },
            }
        ],
    ),
    "a call that was not allowed": (
        call("output-denied", ExecutionDeniedOutput("Too dear.")),
        [
            {
                "type": "tool-invocation",
                "toolInvocation": {
                    "state": "output-denied",
                    "toolCallId": "c1",
                    "toolName": "stock",
                    "args": {},
                    "approval": {"id": "c1", "approved": False, "reason": "Too dear."},
                },
            }
        ],
    ),
    "a call that never ended": (
        call("output-error", InterruptedOutput("aborted")),
        [
            {
                "type": "tool-invocation",
                "toolInvocation": {
                    "state": "output-error",
                    "toolCallId": "c1",
                    "toolName": "stock",
                    "args": {},
                    "errorText": "The tool call was interrupted: aborted.",
                },
            }
        ],
    ),
    "a result without its call": (
        ToolMessage(id="m", content=[ToolResultPart("c1", "stock", TextOutput("3"))]),
        [
            {
                "type": "tool-invocation",
                "toolInvocation": {
                    "state": "result",
                    "toolCallId": "c1",
                    "toolName": "stock",
                    "args": {},
                    "result": "3",
                },
            }
        ],
    ),
    "a sub-agent under its call": (
        call("output-available", TextOutput("3"), AssistantMessage(id="i", content="Three.")),
        [
            {
                "type": "dynamic-tool",
                "toolCallId": "c1",
                "toolName": "stock",
                "state": "output-available",
                "input": {},
                "output": "3",
                "childMessages": [
                    {"id": "i", "role": "assistant", "parts": [{"type": "text", "text": "Three."}]}
                ],
            }
        ],
    ),
}


@pytest.mark.parametrize(("message", "parts"), WRITTEN.values(), ids=WRITTEN)
def test_writes(message: Message, parts: list[JsonObject]) -> None:
    row = dump_v2(message)
    assert row["content"]["parts"] == parts
    assert row["role"] in ("user", "assistant")


def test_texts_are_repeated_for_readers_of_the_convenience_string() -> None:
    row = dump_v2(AssistantMessage(id="m", content=[TextPart("One."), TextPart("Two.")]))
    assert row["content"]["content"] == "One.\nTwo."


@given(message=messages())
def test_every_message_has_every_view(message: Message) -> None:
    """Whatever is stored, a client gets an answer, and Mastra's own reader can read the rows."""
    row = loads(dumps(dump_v2(message)))
    assert v2.load(row).messages[0].id == message.id
    dumps([ui_messages([message], f"ai-sdk-ui-v{version}") for version in (4, 5, 6, 7)])
    dumps(v1_messages([message]))


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpora are not here")
def test_rows_of_mastra_keep_their_parts() -> None:
    for line in (CORPUS / "message-list.jsonl").read_bytes().splitlines():
        case = loads(line)
        for row in case["expected"]["db"]:
            (message,) = v2.load(row).messages
            (again,) = v2.load(loads(dumps(dump_v2(message)))).messages
            assert unmarked(again).content.parts == unmarked(message).content.parts, case["id"]
