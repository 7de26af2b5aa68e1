"""What a tool returned or raised → a typed output, its text, and the chunk that carries it."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, TypeGuard, assert_never, cast, get_args

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.core.tool_text import as_text
from partita.types.chunks import Chunk, ToolOutputAvailable, ToolOutputChunk, ToolOutputError
from partita.types.codec import encode, to_json
from partita.types.data_url import OCTETS, data_url
from partita.types.json import Json, dumps, loads
from partita.types.parts import (
    ContentItem,
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    ReasoningFilePart,
    TextOutput,
    TextPart,
    ToolOutput,
    UnknownPart,
)
from partita.types.value import Value

from .schema import plain_model

_OUTPUTS = get_args(ToolOutput)
_ITEMS = get_args(ContentItem)
_Piece: TypeAlias = ContentItem | str | bytes

_SIGNATURES: Mapping[bytes, str] = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"%PDF-": "application/pdf",
}


class ToolError(Exception):
    """Raise it in a tool to choose the error text for the model. The details are sent as JSON."""

    def __init__(self, message: str, *, details: Json = None) -> None:
        super().__init__(message)
        self.details = details


def output_of(value: object) -> ToolOutput:
    """The output for a returned value; an error output if the value cannot be written as JSON."""
    try:
        return _output(value)
    except (TypeError, ValueError, NotImplementedError, OverflowError) as error:
        return ErrorTextOutput(f"The tool returned {_kind(value)}, which cannot be written as JSON: {error}")
    except (RecursionError, DecodeError):
        return ErrorTextOutput(
            f"The tool returned {_kind(value)} that is nested too deeply or contains itself."
        )


def output_of_error(error: BaseException) -> ToolOutput:
    """The output for an exception of a tool."""
    message = _message(error)
    if not isinstance(error, ToolError):
        name = type(error).__name__
        return ErrorTextOutput(f"{name}: {message}" if message else name)
    if error.details is None:
        return ErrorTextOutput(message)
    details = output_of(error.details)
    if isinstance(details, TextOutput | JsonOutput):
        return ErrorJsonOutput({"message": message, "details": details.value})
    return ErrorTextOutput(message)


def _output(value: object) -> ToolOutput:
    match value:
        case JsonOutput() | ErrorJsonOutput():
            return replace(value, value=_plain(value.value))
        case _ if _is_output(value):
            return value
        case str():
            return TextOutput(str.__str__(value))  # the text of an enum or another subclass
        case list() | tuple() if _are_pieces(items := cast("Sequence[object]", value)):  # of anything
            return ContentOutput(tuple(map(_item, items)))
        case _ if _is_piece(value):
            return ContentOutput((_item(value),))
        case _:
            return JsonOutput(_plain(value))


def _plain(value: object) -> Json:
    """A value as JSON that is read back the same: without tuples and NaN, with keys that are strings."""
    plain: Json
    if isinstance(value, Value):
        plain = to_json(value)
    else:
        plain = msgspec.to_builtins(value, str_keys=True, enc_hook=plain_model)
    return loads(dumps(plain))


def _is_output(value: object) -> TypeGuard[ToolOutput]:
    return isinstance(value, _OUTPUTS)


def _is_piece(value: object) -> TypeGuard[_Piece]:
    return isinstance(value, (*_ITEMS, str, bytes))


def _are_pieces(items: Sequence[object]) -> TypeGuard[Sequence[_Piece]]:
    """Whether items are content: parts, texts and bytes. Texts alone are an ordinary list."""
    return all(map(_is_piece, items)) and not all(isinstance(item, str) for item in items)


def _item(piece: _Piece) -> ContentItem:
    match piece:
        case str():
            return TextPart(piece)
        case bytes():
            return _file(piece)
        case _:
            return piece


def _file(data: bytes) -> ImagePart | FilePart:
    media_type = _media_type(data)
    url = data_url(b64encode(data).decode(), media_type)
    if media_type.startswith("image/"):
        return ImagePart(url=url, media_type=media_type)
    return FilePart(url=url, media_type=media_type)


def _media_type(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    found = (media_type for start, media_type in _SIGNATURES.items() if data.startswith(start))
    return next(found, OCTETS)


def _kind(value: object) -> str:
    return f"a {type(value).__name__}"


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # an exception whose own text fails still has a name
        return ""


OUTPUT_LIMIT: Final = 10_000_000
"""The default limit of an output, in characters."""


def truncate_output(output: ToolOutput, limit: int = OUTPUT_LIMIT) -> ToolOutput:
    """The output; of one longer than `limit` characters the beginning, the end, and how much was left out."""
    match output:
        case TextOutput() | ErrorTextOutput():
            return (
                replace(output, value=truncate_text(output.value, limit))
                if len(output.value) > limit
                else output
            )
        case JsonOutput() | ErrorJsonOutput():
            return _truncate_json(output, limit)
        case ContentOutput():
            return _truncate_content(output, limit)
        case ExecutionDeniedOutput(reason=str(reason)) if len(reason) > limit:
            return replace(output, reason=truncate_text(reason, limit))
        case InterruptedOutput(message=str(message)) if len(message) > limit:
            return replace(output, message=truncate_text(message, limit))
        case ExecutionDeniedOutput() | InterruptedOutput():
            return output
        case _:
            assert_never(output)


def truncate_text(text: str, limit: int) -> str:
    """The text; of one longer than `limit` characters the beginning, the end, and how many were left out."""
    if len(text) <= limit:
        return text
    head, tail = (limit + 1) // 2, limit // 2
    return f"{text[:head]}\n… {len(text) - limit} characters left out …\n{text[len(text) - tail :]}"


def _truncate_json(output: JsonOutput | ErrorJsonOutput, limit: int) -> ToolOutput:
    """Truncated JSON is not JSON: it becomes text."""
    data = dumps(output.value)
    if len(data) <= limit or len(text := data.decode()) <= limit:
        return output
    type_ = TextOutput if isinstance(output, JsonOutput) else ErrorTextOutput
    return type_(truncate_text(text, limit), provider_metadata=output.provider_metadata)


def _truncate_content(output: ContentOutput, limit: int) -> ContentOutput:
    """The items that fit, in order. Texts are truncated; files are left out, as part of one is useless."""
    if sum(map(_length, output.value)) <= limit:
        return output
    kept: list[ContentItem] = []
    room, items, characters = limit, 0, 0
    for item in output.value:
        length = _length(item)
        if length <= room:
            kept.append(item)
            room -= length
        elif isinstance(item, TextPart) and room:
            kept.append(TextPart(truncate_text(item.text, room)))
            room = 0
        else:
            items, characters = items + 1, characters + length
    if items:
        kept.append(TextPart(f"… {items} parts left out, {characters} characters …"))
    return replace(output, value=tuple(kept))


def _length(item: ContentItem) -> int:
    match item:
        case TextPart(text=text):
            return len(text)
        case ImagePart(url=url) | FilePart(url=url):
            return len(url)
        case ForeignPart() | UnknownPart():
            return len(encode(item))
        case _:
            assert_never(item)


def output_text(output: ToolOutput) -> str:
    """The output as text. Files are named, not included."""
    match output:
        case TextOutput() | JsonOutput():
            return as_text(output.value)
        case ErrorTextOutput() | ErrorJsonOutput():
            return f"error: {as_text(output.value)}"
        case ContentOutput(value=items):
            return "\n".join(_item_text(item) for item in items)
        case ExecutionDeniedOutput(reason=reason):
            return f"not allowed{f': {reason}' if reason else ''}"
        case InterruptedOutput(reason=reason, message=message):
            return f"interrupted ({reason}){f': {message}' if message else ''}"
        case _:
            assert_never(output)


def _item_text(item: ContentItem) -> str:
    match item:
        case TextPart(text=text):
            return text
        case FilePart() | ImagePart():
            return file_label(item)
        case ForeignPart(value=value):
            return as_text(value)
        case UnknownPart(raw=raw):
            return as_text(dict(raw))
        case _:
            assert_never(item)


def file_label(part: FilePart | ReasoningFilePart | ImagePart) -> str:
    """The name and the type of a file."""
    name = part.name if isinstance(part, ImagePart) else part.filename
    return f"[file {name or 'without a name'}, {part.media_type or 'of unknown type'}]"


def plain_json(value: Json | UnsetType) -> str:
    """A string as it is, any other value as JSON, and an empty text for `UNSET`."""
    return "" if value is UNSET else as_text(value)


def chunk_of_output(call_id: str, output: ToolOutput, preliminary: bool = False) -> Chunk:
    """The chunk that gives exactly this output to a call: one of the AI SDK if it can carry the output."""
    early = True if preliminary else None
    if output.provider_metadata is None and not output.extra:
        match output:
            case TextOutput(value=value):
                return ToolOutputAvailable(call_id, value, preliminary=early)
            case JsonOutput(value=value) if not isinstance(value, str):
                return ToolOutputAvailable(call_id, value, preliminary=early)
            case ErrorTextOutput(value=value) if not preliminary:
                return ToolOutputError(call_id, value)
            case _:
                pass
    return ToolOutputChunk(call_id, output, preliminary=early)
