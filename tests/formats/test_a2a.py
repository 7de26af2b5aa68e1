"""A2A messages, artifacts, tasks and streams, read and written."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import ConversionError
from partita.formats.a2a.format import dump, load
from partita.formats.core.wire import digest
from partita.formats.registry import get_format
from partita.testing.full_conversation import full_conversation
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, Message, SystemMessage, ToolCallPart, UserMessage
from partita.types.parts import (
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningPart,
    TextOutput,
    TextPart,
)
from tests.canonical import messages as any_message

OURS: Final = "application/vnd.partita.part+json"

QUESTION: Final[JsonObject] = {
    "messageId": "m1",
    "contextId": "bakery",
    "taskId": "bread",
    "role": "ROLE_USER",
    "parts": [
        {"text": "What is this?", "metadata": {"page": 3}},
        {"raw": "iVBORw==", "mediaType": "image/png", "filename": "loaf.png"},
        {"url": "https://films.example/knead"},
        {"data": {"grams": 500}, "mediaType": "application/json"},
    ],
    "metadata": {"mood": "hungry"},
    "referenceTaskIds": ["older"],
    "extensions": ["https://ext.example/1"],
}
TASK: Final[JsonObject] = {
    "id": "bread",
    "contextId": "bakery",
    "status": {
        "state": "TASK_STATE_COMPLETED",
        "timestamp": "2026-03-01T09:00:00Z",
        "message": {"messageId": "m3", "role": "ROLE_AGENT", "parts": [{"text": "Baked."}]},
    },
    "history": [QUESTION, {"messageId": "m2", "role": "ROLE_AGENT", "parts": [{"text": "A loaf."}]}],
    "artifacts": [
        {"artifactId": "a1", "name": "loaf", "parts": [{"text": "rye"}], "metadata": {"crust": "dark"}}
    ],
    "metadata": {"oven": 2},
}
STREAM: Final[list[JsonObject]] = [
    {"task": {"id": "bread", "contextId": "bakery", "status": {"state": "TASK_STATE_SUBMITTED"}}},
    {
        "statusUpdate": {
            "taskId": "bread",
            "contextId": "bakery",
            "status": {"state": "TASK_STATE_WORKING"},
            "metadata": {"step": 1},
        }
    },
    {
        "artifactUpdate": {
            "taskId": "bread",
            "contextId": "bakery",
            "artifact": {"artifactId": "a1", "name": "poem", "parts": [{"text": "Rye "}]},
        }
    },
    {
        "artifactUpdate": {
            "taskId": "bread",
            "contextId": "bakery",
            "artifact": {"artifactId": "a1", "parts": [{"text": "rises."}, {"data": [1]}]},
            "append": True,
            "lastChunk": True,
        }
    },
    {"message": {"messageId": "m9", "role": "ROLE_AGENT", "parts": [{"text": "Done."}]}},
]
OLD: Final[list[JsonObject]] = [
    {
        "kind": "task",
        "id": "bread",
        "contextId": "bakery",
        "status": {"state": "working"},
        "history": [
            {
                "kind": "message",
                "messageId": "m1",
                "role": "user",
                "parts": [
                    {"kind": "text", "text": "hi"},
                    {"kind": "file", "file": {"bytes": "QUI=", "mimeType": "image/png", "name": "a.png"}},
                    {"kind": "file", "file": {"uri": "https://a.example/b", "mimeType": "text/csv"}},
                    {"kind": "data", "data": {"a": 1}},
                ],
            }
        ],
    },
    {
        "kind": "status-update",
        "taskId": "bread",
        "contextId": "bakery",
        "final": True,
        "status": {
            "state": "completed",
            "message": {"messageId": "m2", "role": "agent", "parts": [{"kind": "text", "text": "ho"}]},
        },
    },
]
PAYLOADS: Final[dict[str, Json]] = {
    "a message": QUESTION,
    "a list": [QUESTION],
    "a task": TASK,
    "a stream": STREAM,
    "before 1.0": OLD,
    "a request": {"message": QUESTION, "configuration": {"historyLength": 3}, "metadata": {"a": "b"}},
    "an envelope": {"jsonrpc": "2.0", "id": 7, "result": TASK},
    "an unknown part": {"messageId": "m", "role": "ROLE_USER", "parts": [{"hologram": 1}]},
}


# Reading


def test_a_message_round_trips() -> None:
    loaded = load([QUESTION])
    [message] = loaded.messages
    assert message.parts == (
        TextPart("What is this?", provider_metadata={"a2a": {"metadata": {"page": 3}}}),
        FilePart("data:image/png;base64,iVBORw==", "image/png", "loaf.png"),
        FilePart(
            "https://films.example/knead",
            "application/octet-stream",
            provider_metadata={"a2a": {"respelled": {"mediaType": [digest("application/octet-stream")]}}},
        ),
        DataPart("a2a", {"grams": 500}, provider_metadata={"a2a": {"mediaType": "application/json"}}),
    )
    assert (message.id, message.thread_id, message.run_id) == ("m1", "bakery", "bread")
    dumped = dump(loaded.messages)
    assert dumped.payload == [QUESTION]
    assert not dumped.losses


def test_a_task_becomes_its_history_its_artifacts_and_its_status() -> None:
    question, answer, artifact, end = load(TASK).messages
    assert [message.id for message in (question, answer, artifact, end)] == ["m1", "m2", "a1", "m3"]
    assert artifact.parts == (
        DataPart("a2a-artifact", {"name": "loaf", "metadata": {"crust": "dark"}}),
        TextPart("rye"),
    )
    assert end.parts == (
        DataPart("a2a-task", {"id": "bread", "contextId": "bakery", "metadata": {"oven": 2}}),
        DataPart("a2a-status", {"state": "TASK_STATE_COMPLETED", "timestamp": "2026-03-01T09:00:00Z"}),
        TextPart("Baked."),
    )
    assert load(dump(load(TASK).messages).payload).messages == load(TASK).messages


def test_chunks_of_an_artifact_become_one_text() -> None:
    loaded = load(STREAM)
    [artifact] = [message for message in loaded.messages if message.id == "a1"]
    assert artifact.parts[1:] == (TextPart("Rye rises."), DataPart("a2a", [1]))
    assert {loss.severity for loss in loaded.losses} == {"minor"}
    assert loaded.messages[-1].id == "m9"


def test_kinds_of_before_protocol_1_are_read() -> None:
    question, working, answer = load(OLD).messages
    assert question.parts == (
        TextPart("hi"),
        FilePart("data:image/png;base64,QUI=", "image/png", "a.png"),
        FilePart("https://a.example/b", "text/csv"),
        DataPart("a2a", {"a": 1}),
    )
    assert working.type == "event"
    assert isinstance(answer, AssistantMessage)
    assert answer.parts[-1] == TextPart("ho")


def test_a_repeated_artifact_replaces_the_earlier_one() -> None:
    first, second = ({"artifactId": "a", "parts": [{"text": text}]} for text in ("rye", "spelt"))
    loaded = load([first, second, second])
    [message] = loaded.messages
    assert message.parts[-1] == TextPart("spelt")
    assert [loss.path for loss in loaded.losses] == ["$[1]"]


# Writing


def test_parts_without_an_a2a_equivalent_are_written_as_data_and_round_trip() -> None:
    call = ToolCallPart("c", "knead", "output-available", {"minutes": 9}, output=TextOutput("soft"))
    thought = ReasoningPart("Rye?", provider_metadata={"anthropic": {"signature": "S"}})
    message = AssistantMessage(id="a", content=[thought, call, TextPart("Done.")])
    dumped = dump([message])
    assert [part.get("mediaType") for part in dumped.payload[0]["parts"]] == [OURS, OURS, None]
    assert [(loss.path, loss.severity) for loss in dumped.losses] == [
        ("$[0].content.parts[0]", "changed"),
        ("$[0].content.parts[1]", "changed"),
    ]
    assert load(dumped.payload).messages == (message,)


def test_changed_parts_are_reported() -> None:
    picture = ImagePart("data:image/png;base64,QUI=", "image/png", "a.png")
    messages: list[Message] = [
        SystemMessage(id="s", content="You bake."),
        UserMessage(id="u", content=[picture, FilePart("blob:sha256:00", "text/csv")]),
    ]
    dumped = dump(messages)
    assert {loss.path: loss.severity for loss in dumped.losses} == {
        "$[0].role": "changed",
        "$[1].content.parts[0].type": "changed",
        "$[1].content.parts[1]": "changed",
    }
    again = load(dumped.payload).messages
    assert isinstance(again[0], UserMessage)
    assert again[1].parts == (
        FilePart("data:image/png;base64,QUI=", "image/png", "a.png"),
        FilePart("blob:sha256:00", "text/csv"),
    )


def test_unknown_parts_round_trip() -> None:
    payload = [PAYLOADS["an unknown part"]]
    [message] = load(payload).messages
    assert message.parts == (ForeignPart("a2a", {"hologram": 1}),)
    assert dump([message]).payload == payload


@given(messages=st.lists(any_message(), max_size=3))
def test_any_messages_round_trip(messages: list[Message]) -> None:
    payload = dump(messages).payload
    assert dump(load(payload).messages).payload == payload


# The official package


def test_the_official_package_reads_our_output_and_we_read_its_output() -> None:
    from a2a.types import Message as VendorMessage
    from google.protobuf.json_format import MessageToDict, ParseDict  # type: ignore[import-untyped] # it has no types

    payload = dump(full_conversation()).payload
    through = [MessageToDict(ParseDict(one, VendorMessage())) for one in payload]
    assert load(through).messages == load(payload).messages


def test_output_of_the_official_package_is_read() -> None:
    from a2a.types import StreamResponse, Task
    from google.protobuf.json_format import MessageToDict, ParseDict

    task = MessageToDict(ParseDict(TASK, Task()))
    assert load(task).messages == load(TASK).messages
    stream = [MessageToDict(ParseDict(event, StreamResponse())) for event in STREAM]
    assert load(stream).messages == load(STREAM).messages


def test_the_sidecar_is_in_the_metadata_and_the_official_package_accepts_it() -> None:
    from a2a.types import Message as VendorMessage
    from google.protobuf.json_format import ParseDict

    slot = get_format("a2a").slot
    assert slot is not None
    filled = slot.put([QUESTION], {"rest": 1})
    ParseDict(filled[0], VendorMessage())
    assert filled[0]["metadata"] == {"mood": "hungry", "partita": {"rest": 1}}
    assert slot.take(filled) == ([QUESTION], {"rest": 1})


@pytest.mark.parametrize(("member", "value"), [("role", ["ROLE_USER"]), ("parts", "What is this?")])
def test_an_error_has_the_path_of_its_message(member: str, value: Json) -> None:
    with pytest.raises(ConversionError) as caught:
        load([QUESTION, {**QUESTION, member: value}])
    assert caught.value.where == f"$[1].{member}"
