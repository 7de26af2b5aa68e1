"""What gives the messages, chunks and stream parts of the AI SDK away."""

from collections.abc import Mapping, Sequence
from typing import Final, get_args

from partita.types.chunks import Chunk, TaggedChunk
from partita.types.json import Json, JsonObject, is_array, is_object

from .sign import Sign, Test, any_item, has_member, has_role, has_type, inner, is_model, parts


def _is_ui(message: JsonObject) -> bool:
    """A role and parts, none of which is as others write theirs: without a type, or with `content`."""
    if not has_role(message) or not is_array(message.get("parts")) or "kind" in message:
        return False
    return all("type" in part and not ({"content", "arguments"} & part.keys()) for part in parts(message))


def _any_part(test: Test) -> Test:
    return lambda message: _is_ui(message) and any(test(part) for part in parts(message))


def _approval_says(*names: str) -> Test:
    return lambda part: any(name in inner(part, "approval") for name in names)


def _is_v4_message(message: JsonObject) -> bool:
    members = {"toolInvocations", "experimental_attachments", "revisionId", "annotations"}
    if not has_role(message) or "tool_calls" in message or "refusal" in message:
        return False
    spoken = isinstance(message.get("reasoning"), str) and "id" in message and "toolCalls" not in message
    return bool(members & message.keys()) or spoken or message["role"] == "data"


def _tagged_data(item: JsonObject) -> bool:
    return inner(item, "data").get("type") in ("data", "url", "reference", "text")


def _has_call_id(item: JsonObject) -> bool:
    return "toolCallId" in item and ("args" in item or "result" in item)


def _is_v4_file(item: JsonObject) -> bool:
    """A file of version 4. A picture with `data` is one of MCP, too."""
    return "mimeType" in item and ("image" in item or item.get("type") == "file")


def _chunk_types() -> frozenset[str]:
    types: Sequence[type[Chunk]] = get_args(TaggedChunk)
    return frozenset(str(type_.__struct_config__.tag) for type_ in types)


_CHUNK_TYPES: Final = _chunk_types()


def _is_chunk(event: JsonObject) -> bool:
    type_: Json = event.get("type")
    if not isinstance(type_, str) or "role" in event or "payload" in event:
        return False
    if type_ == "error":
        return "errorText" in event
    return type_ in _CHUNK_TYPES or type_.startswith("data-")


_FULL_STREAM: Final[Mapping[str, str]] = {
    "text-delta": "text",
    "reasoning-delta": "text",
    "tool-input-delta": "delta",
}


def _is_full_stream_part(event: JsonObject) -> bool:
    type_: Json = event.get("type")
    if "payload" in event:
        return False
    if type_ in ("tool-call", "tool-result", "tool-error", "source", "tool-input-end", "raw"):
        return "role" not in event
    if type_ in ("start-step", "finish-step"):
        return bool({"request", "warnings", "response", "usage"} & event.keys())
    named = isinstance(type_, str) and _FULL_STREAM.get(type_)
    return bool(named) and named in event and "toolCallId" not in event


def _has_name(item: JsonObject) -> bool:
    return is_object(item.get("input")) or "output" in item or "toolCallId" in item or "text" in item


_OWN_ITEMS: Final = has_type(("tool-call", "tool-result", "tool-approval-request", "reasoning"))

SIGNS: Final = (
    Sign("ai-sdk-ui-v4", 0.95, "members that version 4 alone has", _is_v4_message),
    Sign("ai-sdk-ui-v4", 0.95, "parts of version 4", _any_part(has_type(("tool-invocation", "source")))),
    Sign(
        "ai-sdk-ui-v4",
        0.95,
        "files and reasoning of version 4",
        _any_part(has_member("mimeType", "details")),
    ),
    Sign(
        "ai-sdk-ui-v7",
        0.95,
        "parts that version 7 brought",
        _any_part(has_type(("custom", "reasoning-file", "steering-message"))),
    ),
    Sign(
        "ai-sdk-ui-v7", 0.95, "members of version 7", _any_part(has_member("citations", "providerReference"))
    ),
    Sign(
        "ai-sdk-ui-v7",
        0.95,
        "approvals of version 7",
        _any_part(_approval_says("isAutomatic", "requestReason")),
    ),
    Sign("ai-sdk-ui-v6", 0.85, "approvals, which came with version 6", _any_part(has_member("approval"))),
    Sign("ai-sdk-ui-v7", 0.8, "a role and a list of parts", _is_ui),
    Sign("ai-sdk-model-v4", 0.9, "calls and results as version 4 writes them", any_item(_has_call_id)),
    Sign("ai-sdk-model-v4", 0.9, "files as version 4 writes them", any_item(_is_v4_file)),
    Sign("ai-sdk-model-v4", 0.9, "redacted reasoning", any_item(has_type(("redacted-reasoning",)))),
    Sign("ai-sdk-model-v7", 0.9, "files as version 7 writes them", any_item(_tagged_data)),
    Sign(
        "ai-sdk-model-v7",
        0.9,
        "parts that version 7 brought",
        any_item(has_type(("custom", "reasoning-file"))),
    ),
    Sign(
        "ai-sdk-model-v7",
        0.85,
        "calls and results with their own parts",
        any_item(lambda item: _OWN_ITEMS(item) and _has_name(item)),
    ),
    Sign("ai-sdk-model-v7", 0.85, "files with a mediaType", any_item(has_member("mediaType"))),
    Sign("ai-sdk-model-v7", 0.5, "a role and a content", is_model),
    Sign("ai-sdk-full-stream-v7", 0.9, "parts of a fullStream", _is_full_stream_part),
    Sign("ai-sdk-chunks", 0.8, "chunk types", _is_chunk),
)
