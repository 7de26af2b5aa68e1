"""What a function gave back, or raised → a typed output."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeGuard, cast, get_args

import msgspec

from partita.errors import DecodeError
from partita.types.codec import to_json
from partita.types.json import Json, dumps, loads
from partita.types.parts import FilePart, ImagePart, TextPart
from partita.types.tools import (
    ContentItem,
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
)
from partita.types.value import Value

from .models import plain_model

_OUTPUTS = get_args(ToolOutput)
_ITEMS = get_args(ContentItem)
_Piece: TypeAlias = ContentItem | str | bytes

_SIGNS: Mapping[bytes, str] = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"%PDF-": "application/pdf",
}


class ToolError(Exception):
    """Raise it in a tool to tell the model what went wrong; details reach it as JSON."""

    def __init__(self, message: str, *, details: Json = None) -> None:
        super().__init__(message)
        self.details = details


def output_of(value: object) -> ToolOutput:
    """The output that a returned value stands for; what JSON cannot carry is an error that says so."""
    try:
        return _output(value)
    except (TypeError, ValueError, NotImplementedError, OverflowError) as error:
        return ErrorTextOutput(f"The tool returned {_kind(value)}, which JSON cannot carry: {error}")
    except (RecursionError, DecodeError):
        return ErrorTextOutput(
            f"The tool returned {_kind(value)} that is nested too deeply, or holds itself."
        )


def output_of_error(error: BaseException) -> ToolOutput:
    """What a model is told when a tool raises."""
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
            return msgspec.structs.replace(value, value=_plain(value.value))
        case _ if _is_output(value):
            return value
        case str():
            return TextOutput(str.__str__(value))  # of an enum or another subclass, the text alone
        case list() | tuple() if _are_pieces(items := cast("Sequence[object]", value)):  # of anything
            return ContentOutput(tuple(map(_item, items)))
        case _ if _is_piece(value):
            return ContentOutput((_item(value),))
        case _:
            return JsonOutput(_plain(value))


def _plain(value: object) -> Json:
    """A copy in plain JSON, as it will be read back: no tuples, no NaN, keys that are strings."""
    plain: Json
    if isinstance(value, Value):
        plain = to_json(value)
    else:
        plain = msgspec.to_builtins(value, str_keys=True, enc_hook=plain_model)
    return loads(dumps(plain))


# Things to look at


def _is_output(value: object) -> TypeGuard[ToolOutput]:
    return isinstance(value, _OUTPUTS)


def _is_piece(value: object) -> TypeGuard[_Piece]:
    return isinstance(value, (*_ITEMS, str, bytes))


def _are_pieces(items: Sequence[object]) -> TypeGuard[Sequence[_Piece]]:
    """Parts, and texts and bytes among them. Texts alone are a list like any other."""
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
    url = f"data:{media_type};base64,{b64encode(data).decode()}"
    if media_type.startswith("image/"):
        return ImagePart(url=url, media_type=media_type)
    return FilePart(url=url, media_type=media_type)


def _media_type(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    signs = (media_type for sign, media_type in _SIGNS.items() if data.startswith(sign))
    return next(signs, "application/octet-stream")


def _kind(value: object) -> str:
    return f"a {type(value).__name__}"


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # an exception whose own text fails still has a name
        return ""
