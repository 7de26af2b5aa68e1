"""Codecs for blocks of model messages other than calls, for outputs of calls, and for items of content."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError
from partita.formats.ai_sdk.convert import DENIED
from partita.formats.ai_sdk.versions import REDACTED, SIGNATURE, signature_in, signed, unsigned
from partita.formats.core.codec import PartCodec, PartCodecs
from partita.formats.core.files import ANY_IMAGE, AnyFile, file_name
from partita.formats.core.metadata import add_notes, notes
from partita.formats.core.tool_text import interruption_text
from partita.formats.core.wire import Codec, Wire, to_json
from partita.types.data_url import OCTETS, data_url
from partita.types.json import Json, JsonObject, is_object
from partita.types.parts import (
    ContentItem,
    ContentOutput,
    CustomPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    ReasoningFilePart,
    ReasoningPart,
    TextOutput,
    TextPart,
    ToolOutput,
)

from . import wire
from .files import base64_of, output_data, read_source, sdk_data, source_of, write_source
from .wire import NAME

Role: TypeAlias = Literal["user", "assistant"]

UI: Final = "ai-sdk-ui"
"""The format of UI parts that are kept whole."""

SHAPE: Final = "data"
"""The note of the shape of a block's file, if the SDK's conversion of UI messages writes another one."""

OLD_OPTIONS: Final = "experimental_providerMetadata"
"""The first name of provider options in version 4: https://github.com/vercel/ai/releases/tag/ai%404.2.0"""

PLAIN_SHAPES: Final = ("url", "base64")
"""The shapes that all versions have."""


# Provider options are the provider metadata of a part without our notes


def options(metadata: JsonObject | None) -> JsonObject | UnsetType:
    """Return the provider options of a block."""
    if metadata is None:
        return UNSET
    if NAME not in metadata:
        return metadata
    return {name: value for name, value in metadata.items() if name != NAME} or UNSET


def metadata(given: JsonObject | UnsetType) -> JsonObject | None:
    """Return the provider metadata of a part. Empty options are residue."""
    return given or None


def with_new_options(raw: JsonObject) -> JsonObject:
    """Return a message or a block of version 4 with the later name of its options."""
    if OLD_OPTIONS not in raw or "providerOptions" in raw:
        return raw
    return {"providerOptions" if name == OLD_OPTIONS else name: value for name, value in raw.items()}


# Texts


def codec(
    block: type[Any],
    parts: type[Any] | Sequence[type[Any]],
    read: Callable[[Any], Any],
    write: Callable[[Any], JsonObject | None],
) -> PartCodec[None]:
    """Return the codec of a block that has options.

    `read` returns the part without metadata, `write` the members of the block besides its options, or `None`
    if it cannot hold the part.
    """

    def read_block(raw: Any, _: None) -> Any:
        part = read(raw)
        return replace(part, provider_metadata=raw.provider_options) if raw.provider_options else part

    def write_block(part: Any) -> Wire | None:
        members = write(part)
        return None if members is None else block(**members, provider_options=options(part.provider_metadata))

    return PartCodec(block, parts, read_block, write_block)


def plain_codec(block: type[Any], part: type[Any], member: str) -> PartCodec[None]:
    """Return the codec of a block that has one member besides its options, and a part with the same."""
    return codec(
        block, part, lambda raw: part(getattr(raw, member)), lambda one: {member: getattr(one, member)}
    )


# Reasoning of version 4


def read_reasoning_v4(block: wire.ReasoningV4, _: None) -> ReasoningPart:
    given = metadata(block.provider_options)
    own = None if block.signature is UNSET else signed(given, SIGNATURE, block.signature)
    return ReasoningPart(block.text, provider_metadata=own or given)


def read_redacted(block: wire.RedactedReasoningV4, _: None) -> ReasoningPart | None:
    own = signed(metadata(block.provider_options), REDACTED, block.data)
    return None if own is None else ReasoningPart("", provider_metadata=own)


def write_redacted(part: ReasoningPart) -> Wire | None:
    data = signature_in(part.provider_metadata, REDACTED)
    if part.text or data is None:
        return None
    given = options(unsigned(part.provider_metadata, REDACTED)) or UNSET
    return wire.RedactedReasoningV4(data=data, provider_options=given)


def write_reasoning_v4(part: ReasoningPart) -> Wire:
    signature = signature_in(part.provider_metadata, SIGNATURE)
    if signature is None:
        return wire.ReasoningV4(text=part.text, provider_options=options(part.provider_metadata))
    given = options(unsigned(part.provider_metadata, SIGNATURE)) or UNSET
    return wire.ReasoningV4(text=part.text, signature=signature, provider_options=given)


# Files


def _with_shape(given: JsonObject | None, raw: Json, shape: Json, default: Json) -> JsonObject | None:
    """Return provider metadata, with a note if other data would be written."""
    return given if raw == default else add_notes(given, NAME, {SHAPE: shape})


def read_file(version: int, block: Any, _: None) -> AnyFile | None:
    """Return the part of a file. Its data may have many shapes."""
    given = (block.mime_type, block.media_type) if version == 4 else (block.media_type,)
    media_type = next((one for one in given if one is not UNSET), None)
    source = None if media_type is None else read_source(block.data, media_type)
    if source is None or media_type is None:
        return None
    noted = _with_shape(metadata(block.provider_options), block.data, source.shape, _default(source, version))
    if isinstance(block, wire.ReasoningFile):
        is_referenced = source.reference is not None
        return None if is_referenced else ReasoningFilePart(source.url, media_type, provider_metadata=noted)
    filename = None if block.filename is UNSET else block.filename
    return FilePart(source.url, media_type, filename, source.reference, provider_metadata=noted)


def _default(source: Any, version: int) -> Json:
    try:
        return sdk_data(source, version)
    except ConversionError:
        return UNSET


def _media_type(part: AnyFile) -> str:
    return ANY_IMAGE if part.media_type is None else part.media_type


def _file_data(part: AnyFile, version: int) -> Json:
    """Return the data of a file, or unset if the SDK could not read its URL."""
    shape: Json = notes(part.provider_metadata, NAME).get(SHAPE)
    source = source_of(part)
    is_known = shape is not None and (version == 7 or shape in PLAIN_SHAPES)
    data = write_source(shape, source) if is_known else UNSET
    return _default(source, version) if data is UNSET else data


def write_file(version: int, role: Role, part: AnyFile) -> Wire | None:
    """Return the block of a file. Version 5 has no options for files of the assistant."""
    data = _file_data(part, version)
    if data is UNSET:
        return None
    name = file_name(part)
    is_bare = version < 6 and role == "assistant"
    about: JsonObject = {
        "data": data,
        "filename": UNSET if name is None else name,
        "provider_options": UNSET if is_bare else options(part.provider_metadata),
    }
    media_type = _media_type(part)
    if version == 4:
        return wire.FileV4(mime_type=media_type, **about)
    return wire.File(media_type=media_type, **about)


def write_reasoning_file(part: ReasoningFilePart) -> Wire | None:
    data = _file_data(part, 7)
    if data is UNSET:
        return None
    return wire.ReasoningFile(
        data=data, media_type=part.media_type, provider_options=options(part.provider_metadata)
    )


def read_image(version: int, block: Any, _: None) -> ImagePart | None:
    """Return the part of an image. One that only a provider has is kept whole."""
    given = (block.mime_type, block.media_type) if version == 4 else (block.media_type,)
    media_type = next((one for one in given if one is not UNSET), None)
    source = read_source(block.image, media_type)
    if source is None or source.reference is not None:
        return None
    noted = _with_shape(metadata(block.provider_options), block.image, source.shape, source.url)
    return ImagePart(source.url, media_type, provider_metadata=noted)


def write_image(version: int, part: ImagePart) -> Wire:
    shape: Json = notes(part.provider_metadata, NAME).get(SHAPE)
    image = UNSET if shape is None else write_source(shape, source_of(part))
    about: JsonObject = {
        "image": part.url if image is UNSET else image,
        "provider_options": options(part.provider_metadata),
    }
    media_type = UNSET if part.media_type is None else part.media_type
    if version == 4:
        return wire.ImageV4(mime_type=media_type, **about)
    return wire.Image(media_type=media_type, **about)


def _codecs(version: int, role: Role) -> PartCodecs[None]:
    file = wire.FileV4 if version == 4 else wire.File
    codecs = [plain_codec(wire.Text, TextPart, "text")]
    files: list[type[Any]] = [FilePart] if version == 7 else [FilePart, ReasoningFilePart]
    if role == "user":
        image = wire.ImageV4 if version == 4 else wire.Image
        read, write = partial(read_image, version), partial(write_image, version)
        codecs.append(PartCodec(image, ImagePart, read, write))
    else:
        files.append(ImagePart)
    codecs.append(PartCodec(file, files, partial(read_file, version), partial(write_file, version, role)))
    if role == "assistant" and version == 4:
        codecs += [
            PartCodec(wire.RedactedReasoningV4, ReasoningPart, read_redacted, write_redacted),
            PartCodec(wire.ReasoningV4, ReasoningPart, read_reasoning_v4, write_reasoning_v4),
        ]
    elif role == "assistant":
        codecs.append(plain_codec(wire.Reasoning, ReasoningPart, "text"))
    if role == "assistant" and version == 7:
        codecs += [
            PartCodec(wire.ReasoningFile, ReasoningFilePart, partial(read_file, 7), write_reasoning_file),
            plain_codec(wire.Custom, CustomPart, "kind"),
        ]
    return PartCodecs(NAME, *codecs, reserved=frozenset({SHAPE}))


PARTS: Final[Mapping[tuple[int, Role], PartCodecs[None]]] = {
    (version, role): _codecs(version, role) for version in wire.BLOCKS for role in ("user", "assistant")
}
BLOCK: Final[Mapping[int, Codec[Any]]] = {
    version: wire.union_codec(types) for version, types in wire.BLOCKS.items()
}


def read_block(raw: Json, version: int) -> Any:
    """Read a block; `None` if this version has no such block."""
    is_old = version == 4 and is_object(raw)
    return _read_wire(with_new_options(raw) if is_old else raw, BLOCK[version])


def _read_wire(raw: Json, codec: Codec[Any]) -> Any:
    try:
        block = codec.read(raw) if is_object(raw) else None
    except DecodeError:
        return None
    return None if isinstance(block, wire.UnknownBlock) else block


def read_part(raw: Json, block: Any, role: Role, version: int) -> Any:
    """Return the part of a block, or the block itself as a foreign part."""
    codecs = PARTS[version, role]
    return codecs.read(block, None) if codecs.reads(block) else ForeignPart(NAME, raw)


def write_part(part: Any, role: Role, version: int) -> Wire | Json:
    """Return the block of a part, or `None` if this version has none."""
    if type(part) is not ForeignPart:
        return PARTS[version, role].write(part)
    is_own = part.format == NAME and (version == 7 or not _is_referenced_image(part.value))
    return part.value if is_own else None


def _is_referenced_image(raw: Json) -> bool:
    """Whether a block is an image that only a provider has: new in version 7."""
    return is_object(raw) and raw.get("type") == "image" and is_object(raw.get("image"))


# Items of content


def _inline(part: AnyFile) -> JsonObject | None:
    encoded = base64_of(part.url)
    return None if encoded is None else {"data": encoded, "media_type": _media_type(part)}


def _read_inline(block: Any) -> FilePart:
    name = getattr(block, "filename", UNSET)
    url = data_url(block.data, block.media_type)
    return FilePart(url, block.media_type, None if name is UNSET else name)


def _write_file_data(part: FilePart) -> JsonObject | None:
    inline = _inline(part)
    return None if inline is None else {**inline, "filename": _filename(part)}


def _filename(part: FilePart | ImagePart) -> str | UnsetType:
    name = file_name(part)
    return UNSET if name is None else name


def read_tagged(block: wire.TaggedFile, _: None) -> FilePart | None:
    source = read_source(block.data, block.media_type)
    if source is None:
        return None
    given = metadata(block.provider_options)
    noted = _with_shape(given, block.data, source.shape, output_data(source))
    name = None if block.filename is UNSET else block.filename
    return FilePart(source.url, block.media_type, name, source.reference, provider_metadata=noted)


def write_tagged(part: FilePart | ImagePart) -> Wire:
    source = source_of(part)
    data = write_source(notes(part.provider_metadata, NAME).get(SHAPE), source)
    return wire.TaggedFile(
        data=data if is_object(data) else output_data(source),
        media_type=_media_type(part),
        filename=_filename(part),
        provider_options=options(part.provider_metadata),
    )


def _read_file_url(block: wire.FileUrl) -> FilePart:
    return FilePart(block.url, OCTETS if block.media_type is UNSET else block.media_type)


def _write_file_url(part: FilePart) -> JsonObject | None:
    is_referenced = part.provider_reference is not None
    return None if is_referenced else {"url": part.url, "media_type": part.media_type}


def _reference_codec(block: type[Any], member: str) -> PartCodec[None]:
    """Return the codec of a file by its ids at providers."""

    def read(raw: Any) -> FilePart:
        return FilePart("", OCTETS, provider_reference=getattr(raw, member))

    def write(part: FilePart) -> JsonObject | None:
        return None if part.provider_reference is None else {member: part.provider_reference}

    return codec(block, FilePart, read, write)


def _read_image_v4(block: wire.ImageItemV4) -> FilePart:
    media_type = ANY_IMAGE if block.mime_type is UNSET else block.mime_type
    return FilePart(data_url(block.data, media_type), media_type)


def _write_image_v4(part: FilePart | ImagePart) -> JsonObject | None:
    encoded, media_type = base64_of(part.url), _media_type(part)
    mime_type = UNSET if media_type == ANY_IMAGE else media_type
    return None if encoded is None else {"data": encoded, "mime_type": mime_type}


def _write_text(part: TextPart | FilePart | ImagePart) -> JsonObject:
    """Return the members of a text. Files that a version has no item for are written as their URL."""
    return {"text": part.text if isinstance(part, TextPart) else part.url}


_FILES: Final = (FilePart, ImagePart)
_MEDIA: Final = codec(wire.Media, _FILES, _read_inline, _inline)
_TEXT: Final = codec(wire.Text, (TextPart, *_FILES), lambda block: TextPart(block.text), _write_text)
_FILES_6: Final = (
    codec(
        wire.ImageData,
        ImagePart,
        lambda block: ImagePart(data_url(block.data, block.media_type), block.media_type),
        _inline,
    ),
    codec(wire.ImageUrl, ImagePart, lambda block: ImagePart(block.url), lambda part: {"url": part.url}),
    _reference_codec(wire.FileId, "file_id"),
    codec(wire.FileData, FilePart, _read_inline, _write_file_data),
    codec(wire.FileUrl, FilePart, _read_file_url, _write_file_url),
)
_ITEM_CODECS: Final[Mapping[int, tuple[PartCodec[None], ...]]] = {
    4: (codec(wire.ImageItemV4, _FILES, _read_image_v4, _write_image_v4), _TEXT),
    5: (_MEDIA, _TEXT),
    6: (*_FILES_6, _MEDIA, _TEXT),
    7: (
        PartCodec(wire.TaggedFile, _FILES, read_tagged, write_tagged),
        *_FILES_6,
        _reference_codec(wire.FileReference, "provider_reference"),
        _TEXT,
    ),
}
ITEMS: Final = {
    version: PartCodecs(NAME, *codecs, reserved=frozenset({SHAPE}))
    for version, codecs in _ITEM_CODECS.items()
}
ITEM: Final = {version: wire.union_codec(types) for version, types in wire.ITEMS.items()}

NEW_ITEMS: Final[Mapping[str, int]] = {
    "file-data": 6,
    "file-url": 6,
    "file-id": 6,
    "image-data": 6,
    "image-url": 6,
    "image-file-id": 6,
    "custom": 6,
    "file": 7,
    "file-reference": 7,
    "image-file-reference": 7,
}
"""Items that not every version has, and the first that has them."""


def read_item(raw: Json, version: int) -> ContentItem:
    """Return the part of an item, or the item itself as a foreign part."""
    block = _read_wire(raw, ITEM[version])
    item: ContentItem = ForeignPart(NAME, raw) if block is None else ITEMS[version].read(block, None)
    return item


def write_item(part: ContentItem, version: int) -> Json:
    """Return the item of a part, or unset if this version has none."""
    if type(part) is not ForeignPart:
        written = ITEMS[version].write(part)
        return UNSET if written is None else to_json(written)
    kind = part.value.get("type") if is_object(part.value) else None
    is_known = not isinstance(kind, str) or NEW_ITEMS.get(kind, 4) <= version
    return part.value if part.format == NAME and is_known else UNSET


# Outputs


def _error_text(output: ErrorTextOutput | InterruptedOutput | ExecutionDeniedOutput) -> JsonObject:
    """Return the members of an error text. Version 5 has no other form for denied calls."""
    match output:
        case ErrorTextOutput():
            return {"value": output.value}
        case InterruptedOutput():
            return {"value": interruption_text(output)}
        case ExecutionDeniedOutput():
            return {"value": DENIED if output.reason is None else output.reason}


def write_items(items: tuple[ContentItem, ...], version: int) -> list[Any]:
    """Return the items of content, without those that this version has no form for."""
    written = (write_item(item, version) for item in items)
    return [item for item in written if item is not UNSET]


def _output_codecs(version: int) -> PartCodecs[None]:
    errors: list[type[Any]] = [ErrorTextOutput, InterruptedOutput]
    codecs = [
        plain_codec(wire.TextOut, TextOutput, "value"),
        plain_codec(wire.JsonOut, JsonOutput, "value"),
        plain_codec(wire.ErrorJsonOut, ErrorJsonOutput, "value"),
        codec(
            wire.ContentOut,
            ContentOutput,
            lambda block: ContentOutput(tuple(read_item(item, version) for item in block.value)),
            lambda output: {"value": write_items(output.value, version)},
        ),
    ]
    if version == 5:
        errors.append(ExecutionDeniedOutput)
    else:
        denied = codec(
            wire.DeniedOut,
            ExecutionDeniedOutput,
            lambda block: ExecutionDeniedOutput(None if block.reason is UNSET else block.reason),
            lambda output: {"reason": UNSET if output.reason is None else output.reason},
        )
        codecs.append(denied)
    codecs.append(codec(wire.ErrorTextOut, errors, lambda block: ErrorTextOutput(block.value), _error_text))
    return PartCodecs(NAME, *codecs)


OUTPUTS: Final = {version: _output_codecs(version) for version in wire.OUTPUTS}
OUTPUT: Final = {version: wire.union_codec(types) for version, types in wire.OUTPUTS.items()}


def read_output(raw: Json, version: int) -> ToolOutput:
    """Return an output. One of an unknown type is JSON."""
    block = None if raw is UNSET else _read_wire(raw, OUTPUT[version])
    output = None if block is None else OUTPUTS[version].read(block, None)
    return output if isinstance(output, ToolOutput) else JsonOutput(None if raw is UNSET else raw)


def write_output(output: ToolOutput, version: int) -> JsonObject:
    """Return an output as JSON."""
    written: JsonObject = to_json(OUTPUTS[version].write(output))
    return written
