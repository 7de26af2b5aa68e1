"""Written sessions: their rules, and messages to write."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from partita.formats.claude_code.format import dump
from partita.formats.format import Dumped
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantContent, AssistantMessage, Message, ToolCallPart, UserMessage
from partita.types.parts import ToolOutput

NOON = datetime(2026, 4, 1, 12, 0, tzinfo=UTC)
LATER = datetime(2026, 4, 1, 12, 30, 15, 250_000, tzinfo=UTC)
CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
LINE = (
    "parentUuid",
    "isSidechain",
    "userType",
    "cwd",
    "sessionId",
    "version",
    "gitBranch",
    "uuid",
    "timestamp",
)
ANSWER = {"id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage"}


def asked(text: str = "Bake bread", **fields: Json) -> UserMessage:
    return UserMessage(id="u", content=text, **fields)


def answer(*parts: Json, **fields: Json) -> AssistantMessage:
    content = AssistantContent(parts=parts, metadata={"model": "baker"})
    return AssistantMessage(id="a", content=content, created_at=NOON, **fields)


def call(id: str = "c1", output: ToolOutput | None = None, **fields: Json) -> ToolCallPart:
    made: JsonObject = {"name": "Oven", "state": "output-available", "input": {"heat": 220}, **fields}
    return ToolCallPart(id=id, output=output, **made)


def records(*messages: Message) -> list[JsonObject]:
    payload: list[JsonObject] = dump(messages).payload
    return payload


def blocks(record: JsonObject) -> list[JsonObject]:
    content = record["message"]["content"]
    return content if is_array(content) else [{"type": "text", "text": content}]


def lost(dumped: Dumped) -> dict[str, str]:
    return {loss.path: loss.why for loss in dumped.losses}


# Rules for every line and every session


def check(session: Sequence[JsonObject]) -> None:
    """Assert that the API accepts the conversation, and the agent the lines."""
    uuids = [record["uuid"] for record in session]
    assert len(uuids) == len(set(uuids))
    assert len({record["sessionId"] for record in session}) <= 1
    for number, record in enumerate(session):
        check_line(record, uuids[:number])
    check_calls(session)
    responses = [record["message"]["id"] for record in session if record["type"] == "assistant"]
    begun = [id_ for number, id_ in enumerate(responses) if number == 0 or responses[number - 1] != id_]
    assert len(begun) == len(set(begun))


def check_line(record: JsonObject, before: Sequence[str]) -> None:
    assert record.keys() >= set(LINE)
    assert all(isinstance(record[name], str) for name in LINE[2:])
    assert record["isSidechain"] is False
    assert record["userType"] == "external"
    assert str(UUID(record["uuid"])) == record["uuid"]
    assert str(UUID(record["sessionId"])) == record["sessionId"]
    assert record["parentUuid"] is None or record["parentUuid"] in before
    assert TIME.fullmatch(record["timestamp"])
    assert "requestId" not in record
    match record["type"]:
        case "assistant":
            assert record["message"].keys() == ANSWER
            assert len(record["message"]["content"]) == 1
            assert record["message"]["stop_sequence"] is None
            assert all(count >= 0 for count in record["message"]["usage"].values() if isinstance(count, int))
        case "user":
            assert record["message"]["role"] == "user"
            assert blocks(record)
        case kind:
            assert (kind, record["subtype"]) == ("system", "informational")
    if "message" in record:
        for block in blocks(record):
            check_block(block)


def check_block(block: JsonObject) -> None:
    match block["type"]:
        case "text":
            assert block["text"].strip()
        case "thinking":
            assert block["signature"]
        case "redacted_thinking":
            assert isinstance(block["data"], str)
        case "tool_use":
            assert CALL_ID.fullmatch(block["id"])
            assert 0 < len(block["name"]) <= 200
            assert is_object(block["input"])
        case "tool_result":
            assert block["content"] or not block.get("is_error")
            for item in block["content"] if is_array(block["content"]) else ():
                check_block(item)
        case kind:
            assert kind in ("image", "document")
            assert block["source"]["type"] in ("base64", "text", "url", "file")


def check_calls(session: Sequence[JsonObject]) -> None:
    """Assert that every call has one result right after it, and every result a call."""
    open_: dict[str, str] = {}
    called: set[str] = set()
    response = None
    for record in session:
        if "message" not in record:
            continue
        if record["type"] == "assistant" and record["message"]["id"] != response:
            assert not open_
            response = record["message"]["id"]
        for block in blocks(record):
            match block["type"]:
                case "tool_use":
                    assert block["id"] not in called
                    called.add(block["id"])
                    open_[block["id"]] = record["uuid"]
                case "tool_result":
                    assert open_.pop(block["tool_use_id"]) == record["sourceToolAssistantUUID"]
                case _:
                    assert record["type"] == "assistant" or not open_
    assert not open_
