"""Rows of plain text → messages marked as reconstructed."""

from datetime import UTC, datetime

import pytest
from hypothesis import given

from partita.errors import ConversionError, PartitaError
from partita.formats.rows import load_plain, reconstructed
from partita.types.json import Json, JsonObject
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    SystemMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import DataPart, ForeignPart, TextPart
from partita.types.usage import Usage
from tests import strategies
from tests.tables import each_row

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


def marked(**more: Json) -> JsonObject:
    return {"reconstructed": True, "from": "plain", **more}


ROW: JsonObject = {
    "id": 7,
    "thread_id": "t",
    "parent_id": 6,
    "role": "user",
    "content": "Hello",
    "created_at": "2026-03-04 12:00:00",
    "tokens": 3,
    "from": "a colleague",
    "note": None,
}


def test_a_row_becomes_a_message() -> None:
    assert load_plain(ROW).messages == (
        UserMessage(
            id="7",
            thread_id="t",
            parent_id="6",
            created_at=NOON,
            content=UserContent(
                parts=(TextPart("Hello"),),
                metadata=marked(created_at=ROW["created_at"], tokens=3) | {"foreign:from": "a colleague"},
            ),
        ),
    )


ROLES: dict[str, tuple[str, type[Message], JsonObject]] = {
    "system": ("system", SystemMessage, {}),
    "user": ("user", UserMessage, {}),
    "assistant": ("assistant", AssistantMessage, {}),
    "another role name": ("agent", AssistantMessage, {"role": "agent"}),
    "an unknown role name": ("oracle", AssistantMessage, {"role": "oracle"}),
}


@each_row(("name", "type_", "kept"), ROLES.values(), ids=ROLES)
def test_role_names_are_mapped(name: str, type_: type[Message], kept: JsonObject) -> None:
    (message,) = load_plain([{"role": name, "text": "x"}]).messages
    assert isinstance(message, type_)
    assert message.id == "message-1"
    assert message.content.metadata == marked(**kept)


def test_invalid_content_is_kept() -> None:
    (message,) = load_plain({"role": "user", "content": [1]}).messages
    assert message.parts == (ForeignPart("plain", [1]),)


def test_a_message_can_be_reconstructed_from_values() -> None:
    message = reconstructed(
        "done",
        role="assistant",
        origin="agents.result",
        aside={"model": "sonnet"},
        more=[DataPart("result", {"ok": True})],
        usage=Usage(1, 2),
        id="a",
        created_at=NOON,
    )
    assert message == AssistantMessage(
        id="a",
        created_at=NOON,
        content=AssistantContent(
            parts=(TextPart("done"), DataPart("result", {"ok": True})),
            metadata={"reconstructed": True, "from": "agents.result", "model": "sonnet"},
            usage=Usage(1, 2),
        ),
    )


@each_row("row", [5, {"role": "user"}, {"content": "x"}, {"role": 1, "content": "x"}])
def test_invalid_rows_are_refused(row: Json) -> None:
    with pytest.raises(ConversionError):
        load_plain([row])


@given(payload=strategies.json_values(8))
def test_any_json_is_loaded_or_refused(payload: Json) -> None:
    try:
        load_plain([{"role": "user", "content": payload, "createdAt": payload, "id": payload}])
        load_plain(payload)
    except PartitaError:
        return
