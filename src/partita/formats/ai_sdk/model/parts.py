"""Parts of model messages, but for tool calls and results, ↔ canonical parts.

Written by way of UI messages and the SDK's own conversion, so that a part that came from there gives what
the SDK gives. Only what a UI part cannot hold is written here: images, and files in other shapes.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.ai_sdk.convert.to_model import convert_to_model_messages
from partita.formats.ai_sdk.ui.dump import dump_bare, dump_part
from partita.formats.bare import is_bare
from partita.stream.rules import Version
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import Part
from partita.types.parts import (
    CustomPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningFilePart,
    ReasoningPart,
    TextPart,
)

from .files import FileData, read_data, write_data
from .marks import FORMAT, amended, difference, note_of, options_of, with_note, with_options

Speaker: TypeAlias = Literal["user", "assistant"]
FileLike: TypeAlias = FilePart | ReasoningFilePart | ImagePart

PLAIN_SHAPES = ("url", "base64")
"""Shapes of file data that all versions know."""

NEUTRAL_URL = "data:,"
"""Stands for a url that is put in after the conversion, which would refuse or change it."""

PLAIN_MEMBERS = frozenset({"type", "text", "providerOptions"})


class Pieces(NamedTuple):
    """What one part becomes: parts of the speaker's message, and of the tool message behind it.

    `None` where there is no message at all: version 5 has messages without content.
    """

    said: list[Json] | None
    answered: list[Json] | None = None


def read_part(raw: Json, role: Speaker, version: int) -> Any:
    """One part of a model message as a canonical part; as a foreign one if it fits nowhere."""
    type_ = raw.get("type") if is_object(raw) else None
    reader = _READERS[role].get(type_) if isinstance(type_, str) else None
    part = reader(raw) if reader else None
    if part is None:
        return ForeignPart(FORMAT, raw)
    # Most parts are plain text, and sure to be written as they were read.
    is_plain = isinstance(part, TextPart | ReasoningPart) and raw.keys() <= PLAIN_MEMBERS
    if is_plain and ("providerOptions" not in raw or part.provider_metadata is not None):
        return part
    return _noted(part, raw, role, version)


def is_plain(part: Part) -> bool:
    """Whether a part is words and no more, which every version has as UI messages have them."""
    return isinstance(part, TextPart | ReasoningPart) and is_bare(part)


def write_part(part: Part, role: Speaker, version: int, path: str) -> Pieces:
    """A canonical part, other than a tool call, as parts of a model message."""
    if is_plain(part):
        return Pieces([dump_bare(part)])
    if isinstance(part, ForeignPart) and part.format == FORMAT:
        return Pieces([part.value] if version == 7 or not _is_referenced_image(part.value) else None)
    note = note_of(part)
    if isinstance(part, ImagePart) and role == "user":
        pieces = Pieces([_write_image(part, note or {})])
    elif isinstance(part, FilePart | ReasoningFilePart) and note is not None:
        pieces = _write_file(part, note, role, version, path)
    else:
        pieces = by_way_of_ui(part, role, version, path)
    if note is None or pieces.said is None or len(pieces.said) != 1:
        return pieces
    return Pieces([amended(pieces.said[0], note)], pieces.answered)


def by_way_of_ui(part: Part, role: Speaker, version: int, path: str, superseded: bool = False) -> Pieces:
    """What the SDK makes of the UI part that this part is; nothing of a part that it refuses."""
    try:
        return pieces_of(convert_part(part, role, version, path, superseded), role, version)
    except ConversionError:
        return Pieces(None)


def convert_part(
    part: Part, role: Speaker, version: int, path: str, superseded: bool = False
) -> list[JsonObject]:
    """The model messages that the SDK makes of one part, told whether a user message follows somewhere."""
    ui = dump_part(part, path, [], ui_version(version))
    return [] if ui is None else convert_ui({"role": role, "parts": [ui]}, version, path, superseded)


def convert_ui(message: JsonObject, version: int, path: str, superseded: bool = False) -> list[JsonObject]:
    """The model messages that the SDK makes of one UI message."""
    later: list[JsonObject] = [{"role": "user", "parts": []}] if superseded else []
    try:
        converted = convert_to_model_messages([message, *later], version=ui_version(version))
    except ConversionError as error:
        where = error.where.removeprefix("messages[0]").removeprefix(".parts[0]")
        raise ConversionError(error.what, where=path + where, hint=error.hint) from None
    return converted[: len(converted) - len(later)]


def pieces_of(messages: list[JsonObject], role: Speaker, version: int) -> Pieces:
    """The content of what was converted, by who says it."""
    found: dict[str, list[Json]] = {message["role"]: message["content"] for message in messages}
    said, answered = found.get(role), found.get("tool")
    if version == 4:  # which had no messages without content
        return Pieces(said or None, answered or None)
    return Pieces(said, answered)


def ui_version(version: int) -> Version:
    """The version of UI messages on the way. Version 4 is written like 5, and translated."""
    return 5 if version == 4 else cast("Version", version)  # the others are checked at the door


def file_data(part: FileLike) -> FileData:
    """Where the file of a part is."""
    reference = part.provider_reference if isinstance(part, FilePart) else None
    return FileData(part.url, part.media_type, reference)


def _noted(part: Any, raw: JsonObject, role: Speaker, version: int) -> Any:
    """The part, with a note of what it does not say itself."""
    key = "image" if isinstance(part, ImagePart) else "data"
    written = _write_one(part, role, version)
    if written is None:
        return ForeignPart(FORMAT, raw)
    note: JsonObject = {}
    if key in raw and written.get(key) != raw[key]:
        data = read_data(raw[key], part.media_type)
        note = {} if data is None else {"data": data.shape}
        written = _write_one(with_note(part, note), role, version) or {}
    note |= difference(written, raw)
    return with_note(part, note) if note else part


def _write_one(part: Part, role: Speaker, version: int) -> JsonObject | None:
    """What is written for a part; `None` when the version has nothing like it."""
    try:
        said = write_part(part, role, version, "$").said
    except ConversionError:  # an address that is none
        return {}
    return said[0] if said else None


def _write_image(part: ImagePart, note: JsonObject) -> JsonObject:
    image = write_data(note.get("data", "url"), file_data(part))
    piece: JsonObject = {"type": "image", "image": part.url if image is UNSET else image}
    if part.media_type is not None:
        piece["mediaType"] = part.media_type
    return with_options(piece, part.provider_metadata)


def _write_file(
    part: FilePart | ReasoningFilePart, note: JsonObject, role: Speaker, version: int, path: str
) -> Pieces:
    shape = note.get("data")
    data = write_data(shape, file_data(part)) if version == 7 or shape in PLAIN_SHAPES else UNSET
    if data is UNSET:
        return by_way_of_ui(part, role, version, path)
    pieces = by_way_of_ui(replace(part, url=NEUTRAL_URL), role, version, path)
    if not pieces.said:
        return pieces
    return pieces._replace(said=[{**pieces.said[0], "data": data}])


def _read_text(raw: JsonObject) -> TextPart | None:
    text = raw.get("text")
    return TextPart(text, provider_metadata=options_of(raw)) if isinstance(text, str) else None


def _read_reasoning(raw: JsonObject) -> ReasoningPart | None:
    text = raw.get("text")
    return ReasoningPart(text, provider_metadata=options_of(raw)) if isinstance(text, str) else None


def _read_custom(raw: JsonObject) -> CustomPart | None:
    kind = raw.get("kind")
    return CustomPart(kind, provider_metadata=options_of(raw)) if isinstance(kind, str) else None


def _read_image(raw: JsonObject) -> ImagePart | None:
    media_type = raw.get("mediaType")
    known = media_type if isinstance(media_type, str) else None
    data = read_data(raw.get("image"), known)
    if data is None or data.reference is not None:
        return None
    return ImagePart(data.url, known, provider_metadata=options_of(raw))


def _is_referenced_image(raw: Json) -> bool:
    """Whether a part is an image that only a provider has, which version 7 brought."""
    return is_object(raw) and raw.get("type") == "image" and is_object(raw.get("image"))


def _read_file(raw: JsonObject) -> FilePart | None:
    media_type, filename = raw.get("mediaType"), raw.get("filename")
    if not isinstance(media_type, str):
        return None
    data = read_data(raw.get("data"), media_type)
    if data is None:
        return None
    name = filename if isinstance(filename, str) else None
    return FilePart(data.url, media_type, name, data.reference, provider_metadata=options_of(raw))


def _read_reasoning_file(raw: JsonObject) -> ReasoningFilePart | None:
    file = _read_file(raw)
    if file is None or file.provider_reference is not None:
        return None
    return ReasoningFilePart(
        file.url, file.media_type, file.filename, provider_metadata=file.provider_metadata
    )


_READERS: Mapping[Speaker, Mapping[str, Callable[[JsonObject], Any]]] = {
    "user": {"text": _read_text, "image": _read_image, "file": _read_file},
    "assistant": {
        "text": _read_text,
        "file": _read_file,
        "reasoning": _read_reasoning,
        "reasoning-file": _read_reasoning_file,
        "custom": _read_custom,
    },
}
