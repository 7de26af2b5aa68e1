"""What a message can hold, thing by thing, and what becomes of each in a format: kept, changed or lost."""

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

Fate: TypeAlias = Literal["kept", "changed", "lost"]
"""`kept`: written and read again it is equal. `changed`: it is there in another form. `lost`: it is gone."""

Take: TypeAlias = Callable[[list[JsonObject]], Json]
"""Takes a thing out of messages as JSON; `None` where it is not."""


@dataclass(frozen=True, slots=True)
class Feature:
    """One thing that a message can hold."""

    group: str
    name: str
    take: Take
    sign: str = ""
    """Words that stand nowhere but in it: where they are, it is, in whatever form."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a format makes of `full_conversation()`."""

    format: Format
    dumped: Dumped
    fates: dict[Feature, Fate]
    """What became of each thing that was there to be written."""


def measure(format_: Format, messages: Sequence[Message] | None = None) -> Measured:
    """Write the conversation that has everything, read it again, and see what is left of each feature.

    Of a format that is only written it is seen what stands in what was written. Other messages may be given:
    what they do not have is not measured.
    """
    if format_.dump is None:
        raise FormatError(f"{format_.name} is not written", hint="measure a format that has `dump`")
    said = full_conversation() if messages is None else messages
    dumped = write(Loaded(tuple(said)), format_)
    before = json_messages(said)
    there = [one for one in FEATURES if one.take(before) is not None]
    if format_.load is None:
        text = dumped.payload if isinstance(dumped.payload, str) else dumps(dumped.payload).decode()
        return Measured(format_, dumped, {one: _fate_in(one, text) for one in there})
    after = json_messages(fold(format_.load(dumped.payload).messages))
    return Measured(format_, dumped, {one: _fate(one, before, after) for one in there})


def _fate_in(feature: Feature, text: str) -> Fate:
    """What became of a thing in a text that nobody reads back: it is there in another form, or it is not."""
    return "changed" if feature.sign and feature.sign in text else "lost"


def _fate(feature: Feature, before: list[JsonObject], after: list[JsonObject]) -> Fate:
    there = feature.take(after)
    if there == feature.take(before):
        return "kept"
    if there is not None or (feature.sign and feature.sign in dumps(after).decode()):
        return "changed"
    return "lost"


# Takers: of messages by role, of parts by type and words, of calls by id.


def _parts(messages: list[JsonObject]) -> Iterator[JsonObject]:
    for message in messages:
        yield from message["content"]["parts"]


def _fields(found: JsonObject | None, names: tuple[str, ...]) -> Json:
    """What stands under some names, which may go deeper; `None` if nothing does."""
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


def _message(role: str, *names: str, place: int = 0) -> Take:
    """Fields of the first message of a role, or of the one in that place of them."""

    def take(messages: list[JsonObject]) -> Json:
        found = [message for message in messages if message["role"] == role]
        return _fields(found[place], names) if -len(found) <= place < len(found) else None

    return take


def _every(name: str) -> Take:
    """A field of all messages."""

    def take(messages: list[JsonObject]) -> Json:
        values = [message.get(name) for message in messages]
        return values if any(value is not None for value in values) else None

    return take


def _part(type_: str, words: str, *names: str) -> Take:
    """The part of a type that has some words in it, or fields of it."""

    def take(messages: list[JsonObject]) -> Json:
        found = (
            part for part in _parts(messages) if part.get("type") == type_ and words in dumps(part).decode()
        )
        return _fields(next(found, None), names)

    return take


def _call(id: str, *names: str) -> Take:
    """The call of an id, or fields of it."""

    def take(messages: list[JsonObject]) -> Json:
        found = (part for part in _parts(messages) if part.get("type") == "tool-call" and part["id"] == id)
        return _fields(next(found, None), names)

    return take


def _steps(messages: list[JsonObject]) -> Json:
    """How many steps there are; one message has them, another has none."""
    count = sum(part.get("type") == "step-start" for part in _parts(messages))
    return count or None


def _ids(messages: list[JsonObject]) -> Json:
    """The ids that the messages had from the beginning, and not those that a format makes up."""
    return [message["id"] for message in messages if message["id"] in IDS] or None


def _parents(messages: list[JsonObject]) -> Json:
    return [message["parentId"] for message in messages if message.get("parentId") in IDS] or None


def _notice(messages: list[JsonObject]) -> Json:
    """What is said of the message that is a notice, and hidden."""
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
"""A call in every state."""

_MESSAGES = "Messages"
_WORDS = "Words and reasoning"
_MEDIA = "Files, sources, data"
_TOOLS = "Tool calls"
_STATES = "States of a call"
_OUTPUTS = "Outputs of a call"
_APPROVALS = "Approvals"
_UNKNOWN = "Unknown content"

FEATURES: tuple[Feature, ...] = (
    Feature(_MESSAGES, "system prompt", _message("system", "content.parts"), "lighthouse register"),
    Feature(_MESSAGES, "ids of messages", _ids),
    Feature(_MESSAGES, "times", _every("createdAt")),
    Feature(_MESSAGES, "thread", _every("threadId"), "thread-1"),
    Feature(_MESSAGES, "owner", _every("resourceId"), "owner-1"),
    Feature(_MESSAGES, "parents: branches", _parents),
    Feature(_MESSAGES, "run", _every("runId"), "run-1"),
    Feature(_MESSAGES, "number in the thread", _every("seq")),
    Feature(_MESSAGES, "notices, hidden messages", _notice),
    Feature(_MESSAGES, "metadata", _message("assistant", "content.metadata"), "rating-of-message"),
    Feature(
        _MESSAGES,
        "metadata of the provider",
        _message("assistant", "content.providerMetadata"),
        "provider-metadata-of-message",
    ),
    Feature(_MESSAGES, "usage", _message("assistant", "content.usage"), "inputTokens"),
    Feature(
        _MESSAGES,
        "turn of a network",
        _message("assistant", "content.networkExecution", place=-1),
        "reason-of-router",
    ),
    Feature(_WORDS, "text", _part("text", "I look it up.", "text"), "I look it up."),
    Feature(_WORDS, "text that is still coming", _part("text", "Thirty-ni", "state")),
    Feature(_WORDS, "citations", _part("text", "The register says", "citations"), "example.com/cited"),
    Feature(
        _WORDS,
        "metadata of a text",
        _part("text", "I look it up.", "providerMetadata"),
        "provider-metadata-of-text",
    ),
    Feature(_WORDS, "reasoning", _part("reasoning", "will know", "text"), "The register will know."),
    Feature(
        _WORDS,
        "signature of reasoning",
        _part("reasoning", "will know", "providerMetadata"),
        "signature-of-reasoning",
    ),
    Feature(_WORDS, "redacted reasoning", _part("reasoning", "redacted-reasoning"), "redacted-reasoning"),
    Feature(_WORDS, "tokens of reasoning", _part("reasoning", "will know", "tokenCount")),
    Feature(_WORDS, "steps", _steps),
    Feature(_WORDS, "words said meanwhile", _part("steering-message", "Metres, please."), "Metres, please."),
    Feature(_MEDIA, "image", _part("image", "tower.png"), "tower.png"),
    Feature(_MEDIA, "file at an address", _part("file", "register.pdf"), "example.com/register.pdf"),
    Feature(_MEDIA, "file inside the message", _part("file", "inline.txt"), "U2xldHRuZXMgbGlnaHRob3VzZQ"),
    Feature(_MEDIA, "file kept in the store", _part("file", "kept.csv"), "blob:sha256:9f86d081"),
    Feature(
        _MEDIA, "file kept by a provider", _part("file", "uploaded", "providerReference"), "file-uploaded"
    ),
    Feature(_MEDIA, "file the agent made", _part("file", "made.png"), "example.com/made.png"),
    Feature(_MEDIA, "file of the reasoning", _part("reasoning-file", "sketch.png"), "sketch.png"),
    Feature(_MEDIA, "source: web page", _part("source-url", "source-page"), "source-page"),
    Feature(_MEDIA, "source: document", _part("source-document", "source-document"), "document.pdf"),
    Feature(_MEDIA, "data of the application", _part("data", "data-of-assistant"), "data-of-assistant"),
    Feature(_MEDIA, "data in a question", _part("data", "data-of-user"), "data-of-user"),
    Feature(_MEDIA, "custom part of a provider", _part("custom", "custom-of"), "custom-of-provider"),
    Feature(_TOOLS, "name and input", _call("call-available", "name", "input"), "input-of-call"),
    Feature(_TOOLS, "input in words", _call("call-words", "input", "inputEncoding"), "input-in-words"),
    Feature(_TOOLS, "input so far", _call("call-streaming", "input", "rawInput")),
    Feature(_TOOLS, "input that failed", _call("call-bad", "rawInput"), "input-that-failed"),
    Feature(_TOOLS, "title", _call("call-described", "title"), "title-of-call"),
    Feature(_TOOLS, "dynamic", _call("call-described", "dynamic")),
    Feature(_TOOLS, "run by the provider", _call("call-described", "providerExecuted")),
    Feature(_TOOLS, "tool that is gone", _call("call-gone", "unavailable")),
    Feature(
        _TOOLS, "signature of a call", _call("call-described", "callProviderMetadata"), "signature-of-call"
    ),
    Feature(
        _TOOLS,
        "metadata of a result",
        _call("call-described", "resultProviderMetadata"),
        "metadata-of-result",
    ),
    Feature(_TOOLS, "metadata of the tool", _call("call-described", "toolMetadata"), "metadata-of-tool"),
    Feature(_TOOLS, "sub-agent", _call("call-child", "children"), "Measure the tower."),
    Feature(_TOOLS, "message of a result", _call("call-parted", "resultMessage"), "message-of-result"),
    *(Feature(_STATES, state, _call(CALLS[state], "state")) for state in get_args(ToolState)),
    Feature(_OUTPUTS, "text", _call("call-text", "output"), "output-in-words"),
    Feature(_OUTPUTS, "JSON", _call("call-json", "output"), "output-in-json"),
    Feature(_OUTPUTS, "text, images, files", _call("call-content", "output"), "text-in-content"),
    Feature(_OUTPUTS, "error in words", _call("call-error-text", "output"), "error-in-words"),
    Feature(_OUTPUTS, "error in JSON", _call("call-error-json", "output"), "error-in-json"),
    Feature(_OUTPUTS, "refusal", _call("call-denied", "output"), "reason-of-refusal"),
    Feature(_OUTPUTS, "interruption", _call("call-interrupted", "output"), "message-of-interruption"),
    Feature(_OUTPUTS, "output so far", _call("call-early", "preliminary")),
    Feature(
        _OUTPUTS,
        "metadata of an output",
        _call("call-noted", "output.providerMetadata"),
        "metadata-of-output",
    ),
    Feature(_APPROVALS, "question", _call("call-asking", "approval.id"), "approval-asked"),
    Feature(
        _APPROVALS, "why it is asked", _call("call-asking", "approval.requestReason"), "reason-of-question"
    ),
    Feature(
        _APPROVALS,
        "signature and what was asked",
        _call("call-asking", "approval.signature", "approval.descriptor", "approval.inputSchemaInput"),
        "signature-of-approval",
    ),
    Feature(_APPROVALS, "answer", _call("call-allowed", "approval.approved"), "approval-allowed"),
    Feature(
        _APPROVALS, "why it was answered so", _call("call-allowed", "approval.reason"), "reason-of-answer"
    ),
    Feature(_APPROVALS, "answered by a rule", _call("call-automatic", "approval.isAutomatic")),
    Feature(
        _APPROVALS,
        "who answered, and when",
        _call("call-answered-by", "approval.respondedBy", "approval.respondedAt"),
        "person-who-answered",
    ),
    Feature(_UNKNOWN, "field of a message", _message("assistant", "futureField"), "unknown-of-message"),
    Feature(_UNKNOWN, "field of a part", _part("text", "I look it up.", "futureField"), "unknown-of-part"),
    Feature(_UNKNOWN, "field of a call", _call("call-described", "futureField"), "unknown-of-call"),
    Feature(_UNKNOWN, "kind of part", _part("hologram", "unknown-part"), "unknown-part"),
    Feature(_UNKNOWN, "part of another format", _part("foreign", "foreign-part"), "foreign-part"),
)
"""Everything, in the order of the documentation."""
