"""Parts and messages of A2A ↔ parts and messages. A context is a thread, a task is a run.

A2A has texts, files and data. Other parts are written as data with a media type of Partita. Parts
have no tag on the wire, so this module has no tables of codecs; residue is kept in the same way.
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError
from partita.formats.core.files import file_name
from partita.formats.core.metadata import add_notes, message_notes, notes, with_message_notes
from partita.formats.core.wire import Codec, Wire, read_wire, residue, restore, to_json
from partita.types.data_url import OCTETS, data_url, inline_data, is_base64
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    Part,
    SystemMessage,
    ToolContent,
    ToolMessage,
    ToolPart,
    UserContent,
    UserMessage,
    UserPart,
)
from partita.types.parts import DataPart, FilePart, ForeignPart, ImagePart, TextPart, ToolResultPart

from . import wire
from .wire import AGENT, MESSAGE, NAME, PART, USER, new_message, new_part, parts_of

CANONICAL_TYPE: Final = "application/vnd.partita.part+json"
"""The media type of data that is a canonical part."""

ROLE_HINT: Final = "give ROLE_USER or ROLE_AGENT; before protocol 1.0, user or agent"
CONTENT: Final = ("text", "raw", "url", "data")
USER_PART: Final[Codec[Any]] = Codec(UserPart)
ASSISTANT_PART: Final[Codec[Any]] = Codec(AssistantPart)
TOOL_PART: Final[Codec[Any]] = Codec(ToolPart)


def read_part(raw: JsonObject, canonical: Codec[Any]) -> Any:
    """Read a part. `canonical` reads canonical parts. An unknown part is kept as it is."""
    block = PART.read(new_part(raw))
    missing = (block.text, block.raw, block.url, block.data).count(UNSET)
    if missing != 3 or (block.extra and not block.extra.keys().isdisjoint(CONTENT)):
        return ForeignPart(NAME, raw)
    own = read_canonical(block, canonical)
    if own is not None:
        return own
    part = _read(block)
    kept = residue(_write(part) or wire.Part(), block)
    if not kept:
        return part
    return replace(part, provider_metadata=add_notes(None, NAME, kept))


def read_canonical(block: wire.Part, canonical: Codec[Any]) -> Any:
    """Return the canonical part in data, else `None`."""
    is_canonical = block.media_type == CANONICAL_TYPE and block.data is not UNSET
    if not is_canonical or block.extra or block.filename is not UNSET or block.metadata is not UNSET:
        return None
    try:
        return canonical.read(_with_integers(block.data))
    except DecodeError:
        return None


def write_part(part: Part) -> Wire | JsonObject:
    """Return a part as a part of A2A."""
    if isinstance(part, ForeignPart) and part.format == NAME and is_object(part.value):
        return part.value
    block = _write(part)
    if block is None:
        return wire.Part(data=to_json(part), media_type=CANONICAL_TYPE)
    kept = notes(getattr(part, "provider_metadata", None), NAME)
    # `untyped` is a note of older versions
    return restore(block, {name: kept[name] for name in kept if name != "untyped"}) if kept else block


def is_canonical(block: Wire | JsonObject) -> bool:
    """Whether a part was written as canonical data."""
    return isinstance(block, wire.Part) and block.media_type == CANONICAL_TYPE


def _read(block: wire.Part) -> TextPart | FilePart | DataPart:
    if block.text is not UNSET:
        return TextPart(block.text)
    if block.data is not UNSET:
        return DataPart(NAME, block.data)
    media_type = block.media_type or OCTETS
    url = data_url(block.raw, media_type) if block.raw is not UNSET else str(block.url)
    return FilePart(url, media_type, block.filename or None)


def _write(part: Any) -> wire.Part | None:
    """Return a text, a file with its bytes or its URL, or unnamed data; `None` for any other part."""
    match part:
        case TextPart():
            return wire.Part(text=part.text)
        case DataPart(name="a2a", id=None) if part.data is not UNSET:
            return wire.Part(data=part.data)
        case FilePart() | ImagePart():
            about: Any = {"media_type": part.media_type or UNSET, "filename": file_name(part) or UNSET}
            inline = inline_data(part.url)
            if inline is not None and is_base64(inline.data):
                about["media_type"] = about["media_type"] or inline.media_type or UNSET
                return wire.Part(raw=inline.data, **about)
            is_url = part.url.startswith(("https://", "http://"))
            return wire.Part(url=part.url, **about) if is_url else None
        case _:
            return None


def _with_integers(value: Json) -> Json:
    """Return a value with whole numbers as integers: the JSON of protobuf writes them as floats.

    Source: https://protobuf.dev/reference/protobuf/google.protobuf/#value
    """
    if type(value) is dict:
        return {
            name: one if type(one) is str else _with_integers(one)  # a shortcut: most members are texts
            for name, one in value.items()
        }
    if type(value) is list:
        return [_with_integers(one) for one in value]
    return int(value) if type(value) is float and value.is_integer() else value


# Messages


def read_message(raw: JsonObject, path: str, fallback: str) -> Message:
    """Read a message. `fallback` is its id if it has none."""
    raws = parts_of(raw, path)
    block = read_wire(MESSAGE, new_message(raw), path, ROLE_HINT)
    if block.role not in (USER, AGENT):
        raise ConversionError(f"unknown role {block.role!r:.40}", where=f"{path}.role", hint=ROLE_HINT)
    envelope: Any = {
        "id": block.message_id or fallback,
        "thread_id": block.context_id or None,
        "run_id": block.task_id or None,
    }
    message: Message
    if block.role == USER:
        user = tuple([read_part(part, USER_PART) for part in raws])
        message = UserMessage(content=UserContent(parts=user, metadata=block.metadata), **envelope)
    elif results := _results(raws):
        message = ToolMessage(content=ToolContent(parts=results, metadata=block.metadata), **envelope)
    else:
        parts = tuple([read_part(part, ASSISTANT_PART) for part in raws])
        message = AssistantMessage(content=AssistantContent(parts=parts, metadata=block.metadata), **envelope)
    return with_message_notes(message, NAME, residue(_write_message(message, block.parts), block))


def write_message(message: Message, blocks: tuple[Any, ...]) -> Wire | JsonObject:
    """Return a message of protocol 1.0 with these parts."""
    kept = message_notes(message, NAME)
    written = _write_message(message, blocks)
    return restore(written, kept) if kept else written


def _write_message(message: Message, blocks: tuple[Any, ...]) -> wire.Message:
    metadata = message.content.metadata
    return wire.Message(
        message_id=message.id,
        context_id=UNSET if message.thread_id is None else message.thread_id,
        task_id=UNSET if message.run_id is None else message.run_id,
        role=USER if isinstance(message, UserMessage | SystemMessage) else AGENT,
        parts=blocks,
        metadata=metadata if is_object(metadata) else UNSET,
    )


def _results(raws: Sequence[JsonObject]) -> tuple[ToolResultPart, ...]:
    """Return the results in parts; none if one of the parts is not a result."""
    results: list[ToolResultPart] = []
    for raw in raws:
        data = raw.get("data")
        is_result = is_object(data) and data.get("type") == "tool-result"
        found = read_canonical(PART.read(new_part(raw)), TOOL_PART) if is_result else None
        if not isinstance(found, ToolResultPart):
            return ()
        results.append(found)
    return tuple(results)
