"""What gives the rows and streams of Mastra away."""

from typing import Final

from partita.types.json import Json, JsonObject, is_array, is_object

from .sign import Sign, Test, begins, has_member, has_role, has_type, inner, is_model, is_text, parts


def _v2_content(message: JsonObject) -> JsonObject:
    content: Json = message.get("content")
    return content if has_role(message) and is_object(content) and is_array(content.get("parts")) else {}


def _has_v2_parts(message: JsonObject) -> bool:
    return bool(_v2_content(message))


def _is_signal(message: JsonObject) -> bool:
    return message.get("role") == "signal"


def _any_v2_part(test: Test) -> Test:
    return lambda message: any(test(part) for part in parts(_v2_content(message)))


def _has_v2_mirrors(message: JsonObject) -> bool:
    return bool({"toolInvocations", "experimental_attachments", "annotations"} & _v2_content(message).keys())


def _is_own_part(part: JsonObject) -> bool:
    """Data named by its type, or a file that holds its bytes."""
    return begins(part, "type", "data-") or (part.get("type") == "file" and "data" in part)


def _is_v2_text(message: JsonObject) -> bool:
    """A row from before there were parts."""
    content = inner(message, "content")
    return has_role(message) and content.get("format") == 2 and not is_array(content.get("parts"))


def _has_v2_type(message: JsonObject) -> bool:
    return bool(_v2_content(message)) and message.get("type") not in (None, "text", "tool", "event")


_NETWORK: Final = ('"isNetwork":true', '"isNetwork": true', '"primitiveType":')


def _is_network_text(part: JsonObject) -> bool:
    text: Json = part.get("text")
    return isinstance(text, str) and text.startswith("{") and any(sign in text for sign in _NETWORK)


def _is_of_network(message: JsonObject) -> bool:
    return inner(_v2_content(message), "metadata").get("mode") == "network"


def _has_network_field(message: JsonObject) -> bool:
    return inner(_v2_content(message), "networkExecution").get("isNetwork") is True


def _is_row(message: JsonObject) -> bool:
    return has_role(message) and "thread_id" in message and isinstance(message.get("content"), str)


def _is_v1(message: JsonObject) -> bool:
    is_typed = message.get("type") in ("text", "tool-call", "tool-result")
    return is_model(message) and (is_typed or bool({"threadId", "resourceId"} & message.keys()))


def _is_chunk(event: JsonObject) -> bool:
    """A chunk says whose it is. The run it belongs to may be missing."""
    told = "payload" in event or "runId" in event
    return is_text(event, "type", "from") and told and "role" not in event


def _is_run_chunk(event: JsonObject) -> bool:
    return is_text(event, "type", "runId") and is_object(event.get("payload")) and "timestamp" not in event


SIGNS: Final = (
    Sign("mastra-v2", 0.97, "a signal", _is_signal),
    Sign("mastra-v2", 0.97, "a type that rows of Mastra have", _has_v2_type),
    Sign("mastra-v2", 0.97, "members of version 4 beside the parts", _has_v2_mirrors),
    Sign(
        "mastra-v2",
        0.97,
        "parts of version 4 in a content",
        _any_v2_part(has_type(("tool-invocation", "source"))),
    ),
    Sign(
        "mastra-v2",
        0.97,
        "files, reasoning or times of Mastra's parts",
        _any_v2_part(has_member("mimeType", "details", "createdAt")),
    ),
    Sign("mastra-v2", 0.97, "data or files as Mastra's parts have them", _any_v2_part(_is_own_part)),
    Sign("mastra-v2", 0.97, "a network in a text", _any_v2_part(_is_network_text)),
    Sign("mastra-v2", 0.97, "the mode of a network", _is_of_network),
    Sign("mastra-v2", 0.97, "a network execution in its own field", _has_network_field),
    Sign("mastra-v2", 0.97, "a row with a thread and a text column", _is_row),
    Sign("mastra-v2", 0.9, "a content of format 2 without parts", _is_v2_text),
    Sign("mastra-v2", 0.6, "a content with parts", _has_v2_parts),
    Sign("mastra-v1", 0.95, "a core content with a thread or a type", _is_v1),
    Sign("mastra-stream", 0.97, "chunks with a payload, and whose they are", _is_chunk),
    Sign("mastra-stream", 0.9, "chunks with a payload and a run", _is_run_chunk),
)
