"""Parts of A2A ↔ parts.

A2A has texts, files and data. Any other part is written as data of a media type of ours, and read back. Parts
have no tag on the wire, so there are no tables of codecs here; residue is kept in the same way.
"""

from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.core.metadata import add_notes, notes
from partita.formats.core.residue import residue, restore
from partita.formats.core.wire import Codec, Wire, to_json
from partita.types.data_url import OCTETS, data_url, inline_of, is_base64
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantPart, Part, ToolPart, UserPart
from partita.types.parts import DataPart, FilePart, ForeignPart, ImagePart, TextPart

from . import wire
from .wire import NAME, PART, new_part

OURS: Final = "application/vnd.partita.part+json"
"""The media type of data that is a canonical part."""

CONTENT: Final = ("text", "raw", "url", "data")
USER_PART: Final[Codec[Any]] = Codec(UserPart)
ASSISTANT_PART: Final[Codec[Any]] = Codec(AssistantPart)
TOOL_PART: Final[Codec[Any]] = Codec(ToolPart)


def read_part(raw: JsonObject, ours: Codec[Any]) -> Any:
    """A part. `ours` reads canonical parts; what is not understood is kept whole."""
    block = PART.read(new_part(raw))
    content = [name for name in CONTENT if getattr(block, name) is not UNSET]
    if len(content) != 1 or (block.extra and not block.extra.keys().isdisjoint(CONTENT)):
        return ForeignPart(NAME, raw)
    own = read_own(block, ours)
    if own is not None:
        return own
    part = _read(block)
    kept = residue(_write(part) or wire.Part(), block)
    if not kept:
        return part
    return replace(part, provider_metadata=add_notes(None, NAME, kept))


def read_own(block: wire.Part, ours: Codec[Any]) -> Any:
    """The canonical part that data is; `None` if it is none."""
    is_own = block.media_type == OURS and block.data is not UNSET
    if not is_own or block.extra or block.filename is not UNSET or block.metadata is not UNSET:
        return None
    try:
        return ours.read(_with_integers(block.data))
    except DecodeError:
        return None


def write_part(part: Part) -> Wire | JsonObject:
    """A part of A2A."""
    if isinstance(part, ForeignPart) and part.format == NAME and is_object(part.value):
        return part.value
    block = _write(part)
    if block is None:
        return wire.Part(data=to_json(part), media_type=OURS)
    kept = notes(getattr(part, "provider_metadata", None), NAME)
    # `untyped` is a note of older versions
    return restore(block, {name: kept[name] for name in kept if name != "untyped"}) if kept else block


def is_own(block: Wire | JsonObject) -> bool:
    """Whether a part was written as data of ours."""
    return isinstance(block, wire.Part) and block.media_type == OURS


def _read(block: wire.Part) -> TextPart | FilePart | DataPart:
    if block.text is not UNSET:
        return TextPart(block.text)
    if block.data is not UNSET:
        return DataPart(NAME, block.data)
    media_type = block.media_type or OCTETS
    url = data_url(block.raw, media_type) if block.raw is not UNSET else str(block.url)
    return FilePart(url, media_type, block.filename or None)


def _write(part: Any) -> wire.Part | None:
    """A text, a file with its bytes or at an address, or data without a name of ours."""
    match part:
        case TextPart():
            return wire.Part(text=part.text)
        case DataPart(name="a2a", id=None) if part.data is not UNSET:
            return wire.Part(data=part.data)
        case FilePart() | ImagePart():
            name = part.name if isinstance(part, ImagePart) else part.filename
            about: Any = {"media_type": part.media_type or UNSET, "filename": name or UNSET}
            inline = inline_of(part.url)
            if inline is not None and is_base64(inline.data):
                about["media_type"] = about["media_type"] or inline.media_type or UNSET
                return wire.Part(raw=inline.data, **about)
            is_address = part.url.startswith(("https://", "http://"))
            return wire.Part(url=part.url, **about) if is_address else None
        case _:
            return None


def _with_integers(value: Json) -> Json:
    """A value in which whole numbers are integers: the JSON of protobuf makes floats of them.

    Source: https://protobuf.dev/reference/protobuf/google.protobuf/#value
    """
    if isinstance(value, str):
        return value
    if is_object(value):
        return {key: _with_integers(inner) for key, inner in value.items()}
    if is_array(value):
        return [_with_integers(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
