"""The features of messages, and whether a format keeps, changes or loses each."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from partita.errors import FormatError
from partita.formats.conversion import write
from partita.formats.core.sidecar import json_messages
from partita.formats.format import Dumped, Format, Loaded
from partita.types.json import Json, JsonObject, dumps, is_object
from partita.types.messages import Message
from partita.types.parts import ToolState
from partita.types.tool_results import fold

from .full_conversation import full_conversation

Outcome: TypeAlias = Literal["kept", "changed", "lost"]
"""`kept`: equal after a round trip. `changed`: present in another form. `lost`: not present."""

Getter: TypeAlias = Callable[[list[JsonObject]], Json]
"""Gets a feature from messages as JSON; `None` if they do not have it."""


@dataclass(frozen=True, slots=True)
class Feature:
    """Something that a message can contain."""

    group: str
    name: str
    get: Getter
    marker: str = ""
    """A text that occurs in this feature only, and identifies it in any form."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a format preserves of `full_conversation()`."""

    format: Format
    dumped: Dumped
    outcomes: dict[Feature, Outcome]
    """The outcome for each feature that the messages have."""


def measure(format_: Format, messages: Sequence[Message] | None = None) -> Measured:
    """Write a conversation with all features, read it back, and compare each feature.

    For a format that cannot be read, the markers of the features are searched in the output. Features that
    other `messages` do not have are left out.
    """
    if format_.dump is None:
        raise FormatError(f"{format_.name} cannot be written", hint="measure a format that has `dump`")
    written = full_conversation() if messages is None else messages
    dumped = write(Loaded(tuple(written)), format_)
    before = json_messages(written)
    features = [feature for feature in FEATURES if feature.get(before) is not None]
    if format_.load is None:
        text = dumped.payload if isinstance(dumped.payload, str) else dumps(dumped.payload).decode()
        return Measured(format_, dumped, {one: _outcome_in_text(one, text) for one in features})
    after = json_messages(fold(format_.load(dumped.payload).messages))
    return Measured(format_, dumped, {one: _outcome(one, before, after) for one in features})


def _outcome_in_text(feature: Feature, text: str) -> Outcome:
    """The outcome of a feature in output that cannot be read back."""
    return "changed" if feature.marker and feature.marker in text else "lost"


def _outcome(feature: Feature, before: list[JsonObject], after: list[JsonObject]) -> Outcome:
    found = feature.get(after)
    if found == feature.get(before):
        return "kept"
    if found is not None or (feature.marker and feature.marker in dumps(after).decode()):
        return "changed"
    return "lost"


# Getters: messages by role, parts by type and text, calls by id


def _parts(messages: list[JsonObject]) -> Iterator[JsonObject]:
    for message in messages:
        yield from message["content"]["parts"]


def _fields(found: JsonObject | None, names: tuple[str, ...]) -> Json:
    """The values of some fields, which may be dotted paths; `None` if all are missing."""
    if found is None or not names:
        return found
    values = [_at(found, name.split(".")) for name in names]
    return values if any(value is not None for value in values) else None


def _at(value: Json, names: list[str]) -> Json:
    for name in names:
        if not is_object(value):
            return None
        value = value.get(name)
    return value


def _message(role: str, *names: str, place: int = 0) -> Getter:
    """Fields of the message at `place` among those of a role."""

    def get(messages: list[JsonObject]) -> Json:
        found = [message for message in messages if message["role"] == role]
        return _fields(found[place], names) if -len(found) <= place < len(found) else None

    return get


def _every(name: str) -> Getter:
    """A field of all messages."""

    def get(messages: list[JsonObject]) -> Json:
        values = [message.get(name) for message in messages]
        return values if any(value is not None for value in values) else None

    return get


def _part(type_: str, text: str, *names: str) -> Getter:
    """The part of a type that contains a text, or fields of it."""

    def get(messages: list[JsonObject]) -> Json:
        found = (
            part for part in _parts(messages) if part.get("type") == type_ and text in dumps(part).decode()
        )
        return _fields(next(found, None), names)

    return get


def _call(id: str, *names: str) -> Getter:
    """The call with an id, or fields of it."""

    def get(messages: list[JsonObject]) -> Json:
        found = (part for part in _parts(messages) if part.get("type") == "tool-call" and part["id"] == id)
        return _fields(next(found, None), names)

    return get


def _steps(messages: list[JsonObject]) -> Json:
    """The number of steps."""
    count = sum(part.get("type") == "step-start" for part in _parts(messages))
    return count or None


def _ids(messages: list[JsonObject]) -> Json:
    """The original ids of the messages, without ids generated by a format."""
    return [message["id"] for message in messages if message["id"] in IDS] or None


def _parents(messages: list[JsonObject]) -> Json:
    return [message["parentId"] for message in messages if message.get("parentId") in IDS] or None


def _notice(messages: list[JsonObject]) -> Json:
    """The type and visibility of messages that are notices or hidden."""
    found = [message for message in messages if message.get("type") == "event" or message.get("internal")]
    return [[message.get("type"), message.get("internal")] for message in found] or None


IDS = {message.id for message in full_conversation()}

CALLS: dict[ToolState, str] = {
    "input-streaming": "call-streaming",
    "input-available": "call-available",
    "approval-requested": "call-asking",
    "approval-responded": "call-responded",
    "output-available": "call-json",
    "output-error": "call-error-text",
    "output-denied": "call-denied",
}
"""The id of a call in every state."""

_MESSAGES = "Messages"
_TEXT = "Text and reasoning"
_MEDIA = "Files, sources, data"
_TOOLS = "Tool calls"
_STATES = "States of a call"
_OUTPUTS = "Outputs of a call"
_APPROVALS = "Approvals"
_UNKNOWN = "Unknown content"

FEATURES: tuple[Feature, ...] = (
    Feature(_MESSAGES, "system prompt", _message("system", "content.parts"), "lighthouse register"),
    Feature(_MESSAGES, "message ids", _ids),
    Feature(_MESSAGES, "timestamps", _every("createdAt")),
    Feature(_MESSAGES, "thread id", _every("threadId"), "thread-1"),
    Feature(_MESSAGES, "owner", _every("resourceId"), "owner-1"),
    Feature(_MESSAGES, "branches (parent ids)", _parents),
    Feature(_MESSAGES, "run id", _every("runId"), "run-1"),
    Feature(_MESSAGES, "sequence number", _every("seq")),
    Feature(_MESSAGES, "events and internal messages", _notice),
    Feature(_MESSAGES, "message metadata", _message("assistant", "content.metadata"), "rating-of-message"),
    Feature(
        _MESSAGES,
        "provider metadata of a message",
        _message("assistant", "content.providerMetadata"),
        "provider-metadata-of-message",
    ),
    Feature(_MESSAGES, "token usage", _message("assistant", "content.usage"), "inputTokens"),
    Feature(
        _MESSAGES,
        "network execution",
        _message("assistant", "content.networkExecution", place=-1),
        "reason-of-router",
    ),
    Feature(_TEXT, "text", _part("text", "I look it up.", "text"), "I look it up."),
    Feature(_TEXT, "unfinished text", _part("text", "Thirty-ni", "state")),
    Feature(_TEXT, "citations", _part("text", "The register says", "citations"), "example.com/cited"),
    Feature(
        _TEXT,
        "provider metadata of a text",
        _part("text", "I look it up.", "providerMetadata"),
        "provider-metadata-of-text",
    ),
    Feature(_TEXT, "reasoning", _part("reasoning", "will know", "text"), "The register will know."),
    Feature(
        _TEXT,
        "reasoning signature",
        _part("reasoning", "will know", "providerMetadata"),
        "signature-of-reasoning",
    ),
    Feature(_TEXT, "redacted reasoning", _part("reasoning", "redacted-reasoning"), "redacted-reasoning"),
    Feature(_TEXT, "reasoning token count", _part("reasoning", "will know", "tokenCount")),
    Feature(_TEXT, "step boundaries", _steps),
    Feature(_TEXT, "steering message", _part("steering-message", "Metres, please."), "Metres, please."),
    Feature(_MEDIA, "image", _part("image", "tower.png"), "tower.png"),
    Feature(_MEDIA, "file by URL", _part("file", "register.pdf"), "example.com/register.pdf"),
    Feature(_MEDIA, "inline file (data URL)", _part("file", "inline.txt"), "U2xldHRuZXMgbGlnaHRob3VzZQ"),
    Feature(_MEDIA, "file in the blob store", _part("file", "kept.csv"), "blob:sha256:9f86d081"),
    Feature(
        _MEDIA, "file uploaded to a provider", _part("file", "uploaded", "providerReference"), "file-uploaded"
    ),
    Feature(_MEDIA, "file generated by the model", _part("file", "made.png"), "example.com/made.png"),
    Feature(_MEDIA, "file in reasoning", _part("reasoning-file", "sketch.png"), "sketch.png"),
    Feature(_MEDIA, "source URL", _part("source-url", "source-page"), "source-page"),
    Feature(_MEDIA, "source document", _part("source-document", "source-document"), "document.pdf"),
    Feature(_MEDIA, "custom data of the assistant", _part("data", "data-of-assistant"), "data-of-assistant"),
    Feature(_MEDIA, "custom data of the user", _part("data", "data-of-user"), "data-of-user"),
    Feature(_MEDIA, "custom provider part", _part("custom", "custom-of"), "custom-of-provider"),
    Feature(_TOOLS, "name and input", _call("call-available", "name", "input"), "input-of-call"),
    Feature(_TOOLS, "text input", _call("call-words", "input", "inputEncoding"), "input-in-words"),
    Feature(_TOOLS, "partial input", _call("call-streaming", "input", "rawInput")),
    Feature(_TOOLS, "invalid input", _call("call-bad", "rawInput"), "input-that-failed"),
    Feature(_TOOLS, "call title", _call("call-described", "title"), "title-of-call"),
    Feature(_TOOLS, "dynamic tool", _call("call-described", "dynamic")),
    Feature(_TOOLS, "executed by the provider", _call("call-described", "providerExecuted")),
    Feature(_TOOLS, "unavailable tool", _call("call-gone", "unavailable")),
    Feature(
        _TOOLS,
        "provider metadata of a call",
        _call("call-described", "callProviderMetadata"),
        "signature-of-call",
    ),
    Feature(
        _TOOLS,
        "provider metadata of a result",
        _call("call-described", "resultProviderMetadata"),
        "metadata-of-result",
    ),
    Feature(_TOOLS, "tool metadata", _call("call-described", "toolMetadata"), "metadata-of-tool"),
    Feature(_TOOLS, "sub-agent", _call("call-child", "children"), "Measure the tower."),
    Feature(_TOOLS, "result message", _call("call-parted", "resultMessage"), "message-of-result"),
    *(Feature(_STATES, state, _call(CALLS[state], "state")) for state in get_args(ToolState)),
    Feature(_OUTPUTS, "text", _call("call-text", "output"), "output-in-words"),
    Feature(_OUTPUTS, "JSON", _call("call-json", "output"), "output-in-json"),
    Feature(
        _OUTPUTS, "content parts (text, images, files)", _call("call-content", "output"), "text-in-content"
    ),
    Feature(_OUTPUTS, "text error", _call("call-error-text", "output"), "error-in-words"),
    Feature(_OUTPUTS, "JSON error", _call("call-error-json", "output"), "error-in-json"),
    Feature(_OUTPUTS, "denied execution", _call("call-denied", "output"), "reason-of-refusal"),
    Feature(
        _OUTPUTS, "interrupted execution", _call("call-interrupted", "output"), "message-of-interruption"
    ),
    Feature(_OUTPUTS, "preliminary output", _call("call-early", "preliminary")),
    Feature(
        _OUTPUTS,
        "provider metadata of an output",
        _call("call-noted", "output.providerMetadata"),
        "metadata-of-output",
    ),
    Feature(_APPROVALS, "approval request", _call("call-asking", "approval.id"), "approval-asked"),
    Feature(
        _APPROVALS,
        "request reason",
        _call("call-asking", "approval.requestReason"),
        "reason-of-question",
    ),
    Feature(
        _APPROVALS,
        "signature and requested input",
        _call("call-asking", "approval.signature", "approval.descriptor", "approval.inputSchemaInput"),
        "signature-of-approval",
    ),
    Feature(_APPROVALS, "decision", _call("call-allowed", "approval.approved"), "approval-allowed"),
    Feature(_APPROVALS, "decision reason", _call("call-allowed", "approval.reason"), "reason-of-answer"),
    Feature(_APPROVALS, "automatic decision", _call("call-automatic", "approval.isAutomatic")),
    Feature(
        _APPROVALS,
        "approver and time",
        _call("call-answered-by", "approval.respondedBy", "approval.respondedAt"),
        "person-who-answered",
    ),
    Feature(
        _UNKNOWN, "unknown field of a message", _message("assistant", "futureField"), "unknown-of-message"
    ),
    Feature(
        _UNKNOWN, "unknown field of a part", _part("text", "I look it up.", "futureField"), "unknown-of-part"
    ),
    Feature(_UNKNOWN, "unknown field of a call", _call("call-described", "futureField"), "unknown-of-call"),
    Feature(_UNKNOWN, "unknown part type", _part("hologram", "unknown-part"), "unknown-part"),
    Feature(_UNKNOWN, "part of another format", _part("foreign", "foreign-part"), "foreign-part"),
)
"""All features, in the order of the documentation."""
