"""Messages as Mastra gives them to its clients: V2, V1 and UI messages."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from partita.formats.ai_sdk.ui.chat import join_runs
from partita.formats.mastra import v1, v2
from partita.formats.mastra.notes import strip_notes
from partita.formats.registry import get_format
from partita.server.problems import Problem
from partita.store.values import Order
from partita.stream.targets import Target
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import Message
from partita.types.parts import TextPart
from partita.types.times import json_date

UI: Final = "ai-sdk-ui-v"
VERSIONS: Final = ("4", "5", "6", "7")


def ui_format(asked: str | None, client: Target) -> str:
    """The name of the format of UI messages: `5`, `v5` and `ai-sdk-ui-v5` are the same."""
    version = str(client.major) if asked is None else asked.removeprefix(UI).removeprefix("v")
    if version not in VERSIONS:
        raise Problem(
            400, f"no UI messages of version {version[:40]!r}", where="query uiFormat", hint="use v4 to v7"
        )
    return UI + version


def ui_messages(messages: Sequence[Message], format_: str, order: Order = "asc") -> list[JsonObject]:
    """Messages as a page draws them. What agents said among themselves is not among them."""
    talk = [strip_notes(message) for message in messages if not message.internal]
    times = {message.id: message for message in talk}
    dump = get_format(format_).dump
    assert dump is not None, "UI messages are written"
    # Clients of release 4 cannot read our streams, so they have each message of a run by itself.
    shown: Sequence[Message] = talk
    if format_ != f"{UI}4":
        shown = join_runs(talk) if order == "asc" else join_runs(talk[::-1])[::-1]
    return [_placed(raw, times.get(raw["id"])) for raw in dump(shown).payload]


def _placed(raw: JsonObject, message: Message | None) -> JsonObject:
    """A UI message with its time, thread and owner in the metadata, where Mastra puts them."""
    metadata: Json = raw.get("metadata")
    if message is None or not (metadata is None or is_object(metadata)):
        return raw
    placed: JsonObject = {"threadId": message.thread_id, "resourceId": message.resource_id}
    if message.created_at is not None:
        placed["createdAt"] = json_date(message.created_at)
    return {**raw, "metadata": {key: item for key, item in placed.items() if item} | (metadata or {})}


def v1_messages(messages: Sequence[Message]) -> list[JsonObject]:
    """Messages as V1: the calls, the results and the words of an answer are messages of their own."""
    return [_owned(row) for row in v1.write_messages([_spoken(strip_notes(one)) for one in messages])]


def v2_messages(messages: Sequence[Message]) -> list[JsonObject]:
    """Messages as V2, with the words of each in one string too."""
    return [_owned(v2.write_message(_spoken(message))) for message in messages]


def _owned(row: JsonObject) -> JsonObject:
    """A message that says whose it is, even if it is nobody's."""
    return {"threadId": "", "resourceId": "", **row}


def _spoken(message: Message) -> Message:
    """A message with the string that clients read who know no parts."""
    texts = [part.text for part in message.content.parts if isinstance(part, TextPart)]
    if message.content.content is not None or not any(texts):
        return message
    content: Any = replace(message.content, content="\n".join(texts))
    changed: Message = replace(message, content=content)
    return changed
