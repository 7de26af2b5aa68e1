"""Legacy messages with a single content item, which are still read and converted to current messages.

Creating one raises a `DeprecationWarning`, and type checkers mark the names. `upgrade` returns the current
message; members without an equivalent are kept in `extra`. Version 1.0 removes this module.
"""

import inspect
import sys
import warnings
from collections.abc import Mapping
from typing import Literal, TypeAlias, assert_never

from msgspec.structs import replace

from partita.errors import DecodeError

from .codec import Codec
from .json import Json, JsonObject
from .messages import (
    AssistantContent,
    AssistantMessage,
    Envelope,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from .older_forms import current_usage, data_url
from .parts import (
    FilePart,
    ImagePart,
    JsonOutput,
    ReasoningPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolResultPart,
    UnknownPart,
)
from .times import Timestamp
from .usage import Usage
from .value import Value, keep_fields

if sys.version_info >= (3, 13):
    from warnings import deprecated
else:
    from typing_extensions import deprecated

REMOVED_IN = "1.0"
"""The version that removes this module."""

REPLACEMENT = (
    f"LegacyMessage is deprecated and will be removed in version {REMOVED_IN}: "
    "use SystemMessage, UserMessage, AssistantMessage or ToolMessage; "
    "partita.types.legacy.upgrade() makes the right one"
)


class LegacyContentBase(Value, tag_field="type"):
    """The base class of legacy content."""


class LegacyText(LegacyContentBase, tag="text"):
    """Text of a legacy message."""

    text: str


class LegacyThinking(LegacyContentBase, tag="thinking"):
    """Reasoning of a legacy message."""

    reasoning: str
    token_count: int | None = None


class LegacyImage(LegacyContentBase, tag="image"):
    """An image of a legacy message: a URL or base64."""

    data: str
    media_type: str
    name: str | None = None


class LegacyFile(LegacyContentBase, tag="file"):
    """A file of a legacy message: a URL or base64."""

    data: str
    media_type: str
    filename: str | None = None


class LegacyToolCall(LegacyContentBase, tag="tool-call"):
    """A tool call of a legacy message."""

    id: str
    name: str
    input: Json


class LegacyToolResult(LegacyContentBase, tag="tool-result"):
    """The result of a tool in a legacy message: a typed output, or any JSON in older data."""

    id: str
    name: str
    output: Json


LegacyContent: TypeAlias = (
    LegacyText | LegacyThinking | LegacyImage | LegacyFile | LegacyToolCall | LegacyToolResult | UnknownPart
)
LegacyRole: TypeAlias = Literal["system", "user", "assistant", "tool"]


@deprecated(
    "Use SystemMessage, UserMessage, AssistantMessage or ToolMessage. Removed in version 1.0.", category=None
)
class LegacyMessage(Value, kw_only=True):
    """A message with a single content item. Deprecated: `upgrade` converts it."""

    id: str
    role: LegacyRole
    content: LegacyContent | str
    timestamp: Timestamp
    parent_id: str | None = None
    usage: JsonObject | None = None

    def __post_init__(self) -> None:
        warnings.warn(REPLACEMENT, DeprecationWarning, stacklevel=_level_outside())


UpgradedPart: TypeAlias = (
    TextPart | ReasoningPart | ImagePart | FilePart | ToolCallPart | ToolResultPart | UnknownPart
)

LEGACY: Codec[LegacyMessage] = Codec(LegacyMessage)
_OUTPUT: Codec[ToolOutput] = Codec(ToolOutput)
_USAGE: Codec[Usage] = Codec(Usage)

HOLDS: Mapping[LegacyRole, str] = {
    "system": "text",
    "user": "text, an image or a file",
    "assistant": "text, thinking, an image, a file, a tool call or a tool result",
    "tool": "a tool result",
}


@deprecated("Use decode_message. Removed in version 1.0.", category=None)
def decode_legacy(text: bytes | str) -> LegacyMessage:
    """A legacy message from its JSON text."""
    return LEGACY.decode(text)


@deprecated("Use read_message. Removed in version 1.0.", category=None)
def read_legacy(value: Json) -> LegacyMessage:
    """A legacy message from plain JSON."""
    return LEGACY.read(value)


@deprecated(
    "Use read_message, which reads messages with one content too. Removed in version 1.0.", category=None
)
def upgrade(legacy: LegacyMessage) -> Message:
    """The current message for a legacy one. Content that its role does not allow is a `DecodeError`."""
    message = _message(legacy, _part(legacy.content))
    unplaced: JsonObject = dict(legacy.extra or {})
    if legacy.usage is not None and not isinstance(message, AssistantMessage):
        unplaced["usage"] = legacy.usage
    if legacy.role == "assistant" and isinstance(message, ToolMessage):
        unplaced["role"] = legacy.role
    return replace(message, extra=keep_fields(unplaced, type(message)))


def _message(legacy: LegacyMessage, part: UpgradedPart) -> Message:
    envelope = Envelope(id=legacy.id, created_at=legacy.timestamp, parent_id=legacy.parent_id)
    match legacy.role, part:
        case "system", TextPart() | UnknownPart():
            return SystemMessage(content=[part], **envelope)
        case "user", TextPart() | ImagePart() | FilePart() | UnknownPart():
            return UserMessage(content=[part], **envelope)
        case (("tool" | "assistant"), ToolResultPart()):
            return ToolMessage(content=[part], **envelope)
        case "tool", UnknownPart():
            return ToolMessage(content=[part], **envelope)
        case "assistant", (
            TextPart() | ReasoningPart() | ImagePart() | FilePart() | ToolCallPart() | UnknownPart()
        ):
            usage = None if legacy.usage is None else _USAGE.read(current_usage(legacy.usage))
            return AssistantMessage(content=AssistantContent(parts=(part,), usage=usage), **envelope)
        case _:
            raise _refusal(legacy)


def _part(content: LegacyContent | str) -> UpgradedPart:
    match content:
        case str():
            return TextPart(text=content)
        case LegacyThinking():
            extra = keep_fields(content.extra or {}, ReasoningPart)
            return ReasoningPart(text=content.reasoning, token_count=content.token_count, extra=extra)
        case LegacyToolCall():
            return ToolCallPart(
                id=content.id,
                name=content.name,
                state="input-available",
                input=content.input,
                extra=keep_fields(content.extra or {}, ToolCallPart),
            )
        case LegacyToolResult():
            extra = keep_fields(content.extra or {}, ToolResultPart)
            return ToolResultPart(
                id=content.id, name=content.name, output=_output(content.output), extra=extra
            )
        case _:
            return _item(content)


def _item(
    content: LegacyText | LegacyImage | LegacyFile | UnknownPart,
) -> TextPart | ImagePart | FilePart | UnknownPart:
    match content:
        case LegacyText():
            return TextPart(text=content.text, extra=keep_fields(content.extra or {}, TextPart))
        case LegacyImage():
            return ImagePart(
                url=data_url(content.data, content.media_type),
                media_type=content.media_type,
                name=content.name,
                extra=keep_fields(content.extra or {}, ImagePart),
            )
        case LegacyFile():
            return FilePart(
                url=data_url(content.data, content.media_type),
                media_type=content.media_type,
                filename=content.filename,
                extra=keep_fields(content.extra or {}, FilePart),
            )
        case UnknownPart():
            return content
        case _:
            assert_never(content)


def _output(output: Json) -> ToolOutput:
    """A typed output unchanged; a string as text; any other value as JSON."""
    if isinstance(output, str):
        return TextOutput(value=output)
    try:
        return _OUTPUT.read(output)
    except DecodeError:
        return JsonOutput(value=output)


def _refusal(legacy: LegacyMessage) -> DecodeError:
    kind = "text" if isinstance(legacy.content, str) else legacy.content.__struct_config__.tag
    return DecodeError(
        f"{legacy.role} message {legacy.id!r} holds {kind}",
        where="$.content",
        hint=f"the role {legacy.role} holds {HOLDS[legacy.role]}: correct the role or the content",
        expected=HOLDS[legacy.role],
        found=str(kind),
    )


def _level_outside() -> int:
    """The stack level of the first frame outside this package, which the warning refers to."""
    frame = inspect.currentframe()
    level = 0
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith("partita."):
        frame = frame.f_back
        level += 1
    return level
