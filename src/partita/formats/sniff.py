"""Which format is this? A guess, how sure it is, and what gave it away.

Evidence is looked for in the first messages or events only; a payload may always be named by hand.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias, get_args

from partita.errors import FormatError
from partita.types.chunks import Chunk, TaggedChunk
from partita.types.json import Json, JsonObject, is_array, is_object

from .log_signs import LOG_SIGNS

LOOKED_AT = 50
"""How many messages or events are looked at."""


class Guess(NamedTuple):
    """A format, how sure the guess is (from 0 to 1), and what gave it away."""

    format: str
    confidence: float
    why: str


class Sign(NamedTuple):
    """Something that gives a format away."""

    format: str
    confidence: float
    why: str
    shows: Callable[[JsonObject], bool]


def sniff(payload: Json) -> list[Guess]:
    """The formats that a payload may be in, the likeliest first; empty when nothing fits."""
    items = payload if is_array(payload) else [payload]
    looked_at = [item for item in items[:LOOKED_AT] if is_object(item)]
    best: dict[str, Guess] = {}
    for sign in SIGNS:
        if any(sign.shows(item) for item in looked_at):
            known = best.get(sign.format)
            if known is None or known.confidence < sign.confidence:
                best[sign.format] = Guess(sign.format, sign.confidence, sign.why)
    return sorted(best.values(), key=lambda guess: -guess.confidence)


def guess_format(payload: Json) -> Guess:
    """The likeliest format, or a `FormatError` when there is none."""
    guesses = sniff(payload)
    if not guesses:
        raise FormatError("cannot tell which format this is", hint="name it: --from FORMAT")
    return guesses[0]


Parts: TypeAlias = Iterable[JsonObject]


def _parts(message: JsonObject) -> Parts:
    parts: Json = message.get("parts")
    return (part for part in parts if is_object(part)) if is_array(parts) else ()


def _items(message: JsonObject) -> Parts:
    content: Json = message.get("content")
    return (item for item in content if is_object(item)) if is_array(content) else ()


def _has_role(message: JsonObject) -> bool:
    return isinstance(message.get("role"), str)


def _is_ui(message: JsonObject) -> bool:
    return _has_role(message) and is_array(message.get("parts"))


def _is_model(message: JsonObject) -> bool:
    return _has_role(message) and "parts" not in message and isinstance(message.get("content"), str | list)


def _is_canonical(message: JsonObject) -> bool:
    content: Json = message.get("content")
    return _has_role(message) and is_object(content) and is_array(content.get("parts"))


def _is_legacy(message: JsonObject) -> bool:
    content: Json = message.get("content")
    return _has_role(message) and "timestamp" in message and (is_object(content) or isinstance(content, str))


def _any_part(test: Callable[[JsonObject], bool]) -> Callable[[JsonObject], bool]:
    return lambda message: _is_ui(message) and any(test(part) for part in _parts(message))


def _any_item(test: Callable[[JsonObject], bool]) -> Callable[[JsonObject], bool]:
    return lambda message: _is_model(message) and any(test(item) for item in _items(message))


def _has_type(types: Iterable[str]) -> Callable[[JsonObject], bool]:
    wanted = frozenset(types)
    return lambda item: isinstance(item.get("type"), str) and item["type"] in wanted


def _has_member(*names: str) -> Callable[[JsonObject], bool]:
    return lambda item: any(name in item for name in names)


def _approval_says(*names: str) -> Callable[[JsonObject], bool]:
    def shows(part: JsonObject) -> bool:
        approval: Json = part.get("approval")
        return is_object(approval) and any(name in approval for name in names)

    return shows


def _is_v4_message(message: JsonObject) -> bool:
    members = {"toolInvocations", "experimental_attachments", "revisionId", "annotations"}
    return _has_role(message) and (
        bool(members & message.keys())
        or isinstance(message.get("reasoning"), str)
        or message["role"] == "data"
    )


def _tagged_data(item: JsonObject) -> bool:
    data: Json = item.get("data")
    return is_object(data) and data.get("type") in ("data", "url", "reference", "text")


def _is_chunk(event: JsonObject) -> bool:
    type_: Json = event.get("type")
    known = isinstance(type_, str) and (type_ in _CHUNK_TYPES or type_.startswith("data-"))
    return known and "role" not in event


def _chunk_types() -> frozenset[str]:
    types: Sequence[type[Chunk]] = get_args(TaggedChunk)
    return frozenset(str(type_.__struct_config__.tag) for type_ in types)


_CHUNK_TYPES = _chunk_types()
_FULL_STREAM: Mapping[str, str] = {
    "text-delta": "text",
    "reasoning-delta": "text",
    "tool-input-delta": "delta",
}


def _is_full_stream_part(event: JsonObject) -> bool:
    type_: Json = event.get("type")
    if type_ in ("tool-call", "tool-result", "tool-error", "source", "tool-input-end", "raw"):
        return "role" not in event
    if type_ in ("start-step", "finish-step"):
        return bool({"request", "warnings", "response", "usage"} & event.keys())
    named = isinstance(type_, str) and _FULL_STREAM.get(type_)
    return bool(named) and named in event and "toolCallId" not in event


def _is_cherry(row: JsonObject) -> bool:
    """A row of a session, whose `data` or `content` is as Cherry Studio writes it, parsed or still text."""
    in_session = bool({"sessionId", "session_id"} & row.keys())
    for name, members in (("data", {"parts"}), ("content", {"blocks", "aiSDKChunks"})):
        value: Json = row.get(name)
        if isinstance(value, str):
            shows = in_session and value.lstrip().startswith("{")
        else:
            shows = is_object(value) and bool(members & value.keys())
        if shows and _has_role(row):
            return True
    return False


def _is_smithers(row: JsonObject) -> bool:
    if {"contentJson", "content_json"} & row.keys():
        return _has_role(row)
    tables = ("agents", "events", "toolCalls", "agent_stream_events", "tool_calls")
    signs = ({"execution_id", "prompt"}, {"agent_id", "event_type"}, {"agent_id", "tool_name"})
    return any(is_array(row.get(name)) for name in tables) or any(sign <= row.keys() for sign in signs)


def _is_plain(row: JsonObject) -> bool:
    return (
        _is_model(row) and isinstance(row["content"], str) and bool({"createdAt", "created_at"} & row.keys())
    )


def _v2_content(message: JsonObject) -> JsonObject:
    content: Json = message.get("content")
    return content if _has_role(message) and is_object(content) and is_array(content.get("parts")) else {}


def _has_v2_parts(message: JsonObject) -> bool:
    return bool(_v2_content(message))


def _is_signal(message: JsonObject) -> bool:
    return message.get("role") == "signal"


def _any_v2_part(test: Callable[[JsonObject], bool]) -> Callable[[JsonObject], bool]:
    return lambda message: any(test(part) for part in _parts(_v2_content(message)))


def _has_v2_mirrors(message: JsonObject) -> bool:
    return bool({"toolInvocations", "experimental_attachments", "annotations"} & _v2_content(message).keys())


def _has_v2_type(message: JsonObject) -> bool:
    return bool(_v2_content(message)) and message.get("type") not in (None, "text", "tool", "event")


def _is_network_text(part: JsonObject) -> bool:
    text: Json = part.get("text")
    return isinstance(text, str) and text.startswith('{"isNetwork":true')


def _is_mastra_row(message: JsonObject) -> bool:
    return _has_role(message) and "thread_id" in message and isinstance(message.get("content"), str)


def _is_mastra_v1(message: JsonObject) -> bool:
    is_typed = message.get("type") in ("text", "tool-call", "tool-result")
    return _is_model(message) and (is_typed or bool({"threadId", "resourceId"} & message.keys()))


LOGS = frozenset({"claude-code-log", "claude-code-stream", "codex-exec", "gemini-cli-stream"})
"""The formats of agents that a payload may be in; the others are read from files alone."""


def _log_signs() -> Iterable[Sign]:
    """What gives the logs and streams of agents away, a little less sure: a payload has no name."""
    return (
        Sign(sign.format, sign.confidence * 0.97, sign.why, sign.shows)
        for sign in LOG_SIGNS
        if sign.format in LOGS
    )


SIGNS: tuple[Sign, ...] = (
    Sign("mastra-v2", 0.97, "a signal", _is_signal),
    Sign("mastra-v2", 0.97, "a type that rows of Mastra have", _has_v2_type),
    Sign("mastra-v2", 0.97, "members of version 4 beside the parts", _has_v2_mirrors),
    Sign(
        "mastra-v2",
        0.97,
        "parts of version 4 in a content",
        _any_v2_part(_has_type(("tool-invocation", "source"))),
    ),
    Sign(
        "mastra-v2",
        0.97,
        "files, reasoning or times of Mastra's parts",
        _any_v2_part(_has_member("mimeType", "details", "createdAt")),
    ),
    Sign("mastra-v2", 0.97, "a network in a text", _any_v2_part(_is_network_text)),
    Sign("mastra-v2", 0.97, "a row with a thread and a text column", _is_mastra_row),
    Sign("mastra-v2", 0.6, "a content with parts", _has_v2_parts),
    Sign("mastra-v1", 0.95, "a core content with a thread or a type", _is_mastra_v1),
    Sign("cherry", 0.9, "a row of a session, with parts, blocks or chunks", _is_cherry),
    Sign("smithers", 0.9, "columns of Smithers' tables", _is_smithers),
    Sign("plain", 0.55, "a role, plain text and a time", _is_plain),
    Sign("canonical", 0.95, "the content is an object with parts", _is_canonical),
    Sign("legacy", 0.9, "one content and a timestamp", _is_legacy),
    Sign("ai-sdk-ui-v4", 0.95, "members that version 4 alone has", _is_v4_message),
    Sign(
        "ai-sdk-ui-v4",
        0.95,
        "parts of version 4",
        _any_part(_has_type(("tool-invocation", "source"))),
    ),
    Sign(
        "ai-sdk-ui-v4",
        0.95,
        "files and reasoning of version 4",
        _any_part(_has_member("mimeType", "details")),
    ),
    Sign(
        "ai-sdk-ui-v7",
        0.95,
        "parts that version 7 brought",
        _any_part(_has_type(("custom", "reasoning-file", "steering-message"))),
    ),
    Sign(
        "ai-sdk-ui-v7", 0.95, "members of version 7", _any_part(_has_member("citations", "providerReference"))
    ),
    Sign(
        "ai-sdk-ui-v7",
        0.95,
        "approvals of version 7",
        _any_part(_approval_says("isAutomatic", "requestReason")),
    ),
    Sign("ai-sdk-ui-v6", 0.85, "approvals, which came with version 6", _any_part(_has_member("approval"))),
    Sign("ai-sdk-ui-v7", 0.8, "a role and a list of parts", _is_ui),
    Sign(
        "ai-sdk-model-v4",
        0.9,
        "calls and files as version 4 writes them",
        _any_item(_has_member("args", "result", "mimeType")),
    ),
    Sign("ai-sdk-model-v4", 0.9, "redacted reasoning", _any_item(_has_type(("redacted-reasoning",)))),
    Sign("ai-sdk-model-v7", 0.9, "files as version 7 writes them", _any_item(_tagged_data)),
    Sign(
        "ai-sdk-model-v7",
        0.9,
        "parts that version 7 brought",
        _any_item(_has_type(("custom", "reasoning-file"))),
    ),
    Sign(
        "ai-sdk-model-v7",
        0.85,
        "calls and results with their own parts",
        _any_item(_has_type(("tool-call", "tool-result", "tool-approval-request", "reasoning"))),
    ),
    Sign("ai-sdk-model-v7", 0.5, "a role and a content", _is_model),
    *_log_signs(),
    Sign("ai-sdk-full-stream-v7", 0.9, "parts of a fullStream", _is_full_stream_part),
    Sign("ai-sdk-chunks", 0.8, "chunk types", _is_chunk),
)
