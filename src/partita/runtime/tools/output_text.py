"""What a tool returned, as text."""

from typing import assert_never

from msgspec import UNSET, UnsetType

from partita.types.json import Json, dumps
from partita.types.parts import FilePart, ForeignPart, ImagePart, ReasoningFilePart, TextPart, UnknownPart
from partita.types.tools import (
    ContentItem,
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
)


def output_text(output: ToolOutput) -> str:
    """The output as text. Files are named, not included."""
    match output:
        case TextOutput(value=text):
            return text
        case ErrorTextOutput(value=text):
            return f"error: {text}"
        case JsonOutput(value=value):
            return plain_json(value)
        case ErrorJsonOutput(value=value):
            return f"error: {plain_json(value)}"
        case ContentOutput(value=items):
            return "\n".join(_item(item) for item in items)
        case ExecutionDeniedOutput(reason=reason):
            return f"not allowed{f': {reason}' if reason else ''}"
        case InterruptedOutput(reason=reason, message=message):
            return f"interrupted ({reason}){f': {message}' if message else ''}"
        case _:
            assert_never(output)


def _item(item: ContentItem) -> str:
    match item:
        case TextPart(text=text):
            return text
        case FilePart() | ImagePart():
            return file_label(item)
        case ForeignPart(value=value):
            return plain_json(value)
        case UnknownPart(raw=raw):
            return plain_json(dict(raw))
        case _:
            assert_never(item)


def file_label(part: FilePart | ReasoningFilePart | ImagePart) -> str:
    """The name and the type of a file."""
    name = part.name if isinstance(part, ImagePart) else part.filename
    return f"[file {name or 'without a name'}, {part.media_type or 'of unknown type'}]"


def plain_json(value: Json | UnsetType) -> str:
    """A string as it is, any other value as JSON, and nothing for `UNSET`."""
    if value is UNSET:
        return ""
    return value if isinstance(value, str) else dumps(value).decode()
