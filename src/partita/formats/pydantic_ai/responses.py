"""A response ↔ an assistant message: its parts, what it cost, and what is said around it."""

from typing import Any

from partita.formats.framework.members import Members, metadata_of, noted
from partita.types.json import JsonObject, is_object
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Envelope,
    ToolCallPart,
    derive_type,
)

from .moments import moment_in, written_moment
from .parts import read_builtin_return, read_part
from .plain import read_plain
from .shapes import NAME, written
from .usage import read_usage, write_usage

RENAMED = (("vendor_id", "provider_response_id"), ("vendor_details", "provider_details"))
"""Members that had another name before."""


def read_response(members: Members, raws: list[JsonObject], id_: str) -> AssistantMessage:
    """The message that a response amounts to."""
    provider = members.left.get("provider_name")
    parts: list[AssistantPart] = []
    calls: dict[str, int] = {}
    for at, raw in enumerate(raws):
        plain = read_plain(raw)
        if plain is not None:
            parts.append(plain)
            continue
        if raw["part_kind"] == "builtin-tool-return" and _settle(raw, at, parts, calls):
            continue
        part = read_part(raw, provider, f"{id_}:call-{at + 1}")
        if isinstance(part, ToolCallPart) and part.provider_executed:
            calls[part.id] = len(parts)
        parts.append(part)
    usage = members.object("usage")
    envelope = around(members, id_)
    metadata = members.object("metadata")
    content: dict[str, Any] = {"parts": tuple(parts)}
    if metadata is not None:
        content["metadata"] = metadata
    if usage is not None:
        content["usage"] = read_usage(usage)
    note = metadata_of(NAME, members.left)
    envelope["type"] = derive_type(parts)
    return AssistantMessage(content=AssistantContent(**content, provider_metadata=note), **envelope)


def around(members: Members, id_: str) -> Envelope:
    """What a message says of its time, its run and its thread."""
    moment = moment_in(members.left.get("timestamp"))
    if moment is not None:
        members.any("timestamp")
    return Envelope(
        id=id_,
        created_at=moment,
        run_id=members.text("run_id"),
        thread_id=members.text("conversation_id"),
    )


def write_response(message: AssistantMessage, parts: list[JsonObject], *, is_first: bool) -> JsonObject:
    """A response; only the first of a message tells what it cost and what is said around it."""
    note = noted(message.content.provider_metadata, NAME)
    named: JsonObject = {key: note[key] for key in ("model_name", "provider_name") if key in note}
    response = written("response", note if is_first else named, {"parts": parts, "kind": "response"})
    for old, new in RENAMED:
        if old in response and response[new] is None:
            del response[new]  # it would win over the older name
    if message.created_at is not None:
        response["timestamp"] = written_moment(message.created_at)
    response |= {"run_id": message.run_id, "conversation_id": message.thread_id}
    if is_first and message.content.usage is not None:
        response["usage"] = write_usage(message.content.usage)
    if is_first and is_object(message.content.metadata):
        response["metadata"] = message.content.metadata
    return response


def _settle(raw: JsonObject, at: int, parts: list[AssistantPart], calls: dict[str, int]) -> bool:
    """Put what came of a provider's call into it."""
    place = calls.get(str(raw.get("tool_call_id")))
    call = None if place is None else parts[place]
    if place is None or not isinstance(call, ToolCallPart) or call.output is not None:
        return False
    settled = read_builtin_return(call, raw, None if place == len(parts) - 1 else at)
    if settled is None:
        return False
    parts[place] = settled
    return True
