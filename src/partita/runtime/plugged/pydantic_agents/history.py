"""Our messages → a message history of Pydantic AI, as the format `pydantic-ai` writes it.

Not sent are data, sources, calls that another provider ran, and files that only the store has. Of files
from the user and from tools, the model receives the names.
"""

from collections.abc import Collection, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter

from partita.formats.answers.model_view import model_view
from partita.formats.pydantic_ai.format import dump
from partita.formats.pydantic_ai.parts import RESPONSE_PARTS
from partita.types.data_url import data_url, parse_data_url
from partita.types.messages import AssistantMessage, Message, ToolCallPart, ToolMessage
from partita.types.parts import FilePart, ImagePart, ReasoningFilePart, ReasoningPart, TextPart
from partita.types.tools import ContentOutput, ToolResultPart

from .parts import restored

FILES = (FilePart, ImagePart, ReasoningFilePart)

M = TypeVar("M", bound=Message)


def history_of(messages: Sequence[Message], pending: Collection[str] = ()) -> list[ModelMessage]:
    """The history; the calls that are `pending` have no results yet."""
    sent = [_sent(message, pending) for message in model_view(messages).messages]
    history = ModelMessagesTypeAdapter.validate_python(dump(sent).payload)
    return [message for message in history if message.parts]


def _sent(message: M, pending: Collection[str]) -> M:
    """A message without pending results, and without what a model would refuse or not understand."""
    parts: list[Any] = list(message.parts)
    if isinstance(message, AssistantMessage):
        # The id of a reasoning is that of its stream here: that of the provider is among the notes.
        kept = (replace(part, id=None) if isinstance(part, ReasoningPart) else part for part in parts)
        parts = [restored(part) for part in kept if _is_sent(part)]
    elif isinstance(message, ToolMessage):
        parts = [_with_files(part) for part in parts if getattr(part, "id", None) not in pending]
    else:
        parts = [_file(part) for part in parts]
    content: Any = replace(message.content, parts=tuple(parts))
    return replace(message, content=content)


def _is_sent(part: Any) -> bool:
    match part:
        case TextPart():
            return bool(part.text)
        case ToolCallPart() if part.provider_executed:  # only the provider that ran it understands it
            written = RESPONSE_PARTS.write(part)
            return part.output is not None and getattr(written, "provider_name", None) is not None
        case FilePart() | ImagePart() | ReasoningFilePart():
            return parse_data_url(part.url) is not None
        case _:
            return True


def _with_files(part: Any) -> Any:
    """A result whose content can be sent."""
    if not isinstance(part, ToolResultPart) or not isinstance(part.output, ContentOutput):
        return part
    return replace(part, output=replace(part.output, value=tuple(map(_file, part.output.value))))


def _file(part: Any) -> Any:
    """A file that a model can open, or a text with its name."""
    if not isinstance(part, FILES) or getattr(part, "provider_reference", None):
        return part
    inline = parse_data_url(part.url)
    if inline is not None:
        return replace(part, url=data_url(inline.in_base64(), inline.media_type or part.media_type))
    if part.url.startswith(("http:", "https:")):
        return part
    name = part.name if isinstance(part, ImagePart) else part.filename
    return TextPart(f"[file {name or part.media_type or 'without a name'}, which cannot be sent]")
