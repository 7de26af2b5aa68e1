"""Parts of V2 messages ↔ canonical parts.

The functions `read_x` and `write_x` convert the meaning of a part of AI SDK 4. Everything that
`write(read(part))` does not return is kept as a note and put back on write. All other parts have the
canonical form; a part that cannot be read is kept whole as a `ForeignPart`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.ai_sdk.ui.format import read_part as read_ui_part
from partita.formats.ai_sdk.ui.format import write_part as write_ui_part
from partita.formats.ai_sdk.ui.parts import CODECS
from partita.formats.ai_sdk.ui.parts import NAME as UI
from partita.formats.ai_sdk.ui_v4.parts import type_of
from partita.formats.ai_sdk.versions import REDACTED, SIGNATURE, SIGNER, signature_in
from partita.formats.core.files import ANY_IMAGE, file_url, guess_media_type, has_scheme
from partita.formats.core.metadata import FIELDS, notes, without_notes
from partita.formats.core.wire import residue, restore, to_json
from partita.types.codec import Codec
from partita.types.data_url import data_url
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Part, ToolCallPart
from partita.types.older_forms import file_reference
from partita.types.parts import (
    Approval,
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningPart,
    SourceUrlPart,
    ToolResultPart,
    UnknownPart,
)
from partita.types.tool_results import state_after
from partita.types.value import Extra, keep_fields

from .calls import OUTER, or_none, or_unset, read_call, write_call
from .notes import members_of, part_notes, unknown_members, with_part_notes
from .wire import (
    BLOCK,
    FOREIGN,
    NAME,
    AnyDetail,
    Block,
    File,
    Reasoning,
    RedactedDetail,
    Source,
    TextDetail,
    ToolInvocation,
    UrlSource,
)

BLOCKS: Final[Mapping[str, frozenset[str]]] = {
    "system": frozenset(),
    "user": frozenset({"file"}),
    "assistant": frozenset({"file", "source", "reasoning", "tool-invocation"}),
}
"""By role: the types of parts that AI SDK 4 writes differently from canonical parts."""

FLAT: Final[Mapping[str, str]] = {"tool-invocation": "toolInvocation", "source": "source", "data": "name"}
"""Types of parts whose members were directly in the part in older canonical messages.

The values are the members that only parts of Mastra have.
"""

OWN: Final = frozenset({FOREIGN, UI})
"""The formats of foreign parts that are written unchanged."""

DATA: Final = "data-"

# Notes about parts
CONTINUES: Final = "continues"  # the reasoning is a further detail of the previous part
MEDIA: Final = "media"  # the members of a file that have its media type and its address
DATA_URL: Final = "dataUrl"  # data in base64 are in a data URL

_FOREIGN: Final[Codec[ForeignPart]] = Codec(ForeignPart)


def read_part(
    raw: Json, role: str, waiting: Mapping[str, Approval] = {}, whole: Json = None
) -> Sequence[Any]:
    """Read a part: one canonical part, or several for reasoning with details.

    `waiting`: the approvals that calls wait for, by call id. `whole`: the part, completed from other members
    of the message.
    """
    type_ = type_of(raw)
    if type_ in BLOCKS[role]:
        block = BLOCK.read(raw)
        parts = _read_block(block if whole is None or whole is raw else BLOCK.read(whole), waiting)
        if parts:
            written = _write_block(parts)
            left = {} if written is None or written == block else residue(written, block)
            return (with_part_notes(parts[0], {FIELDS: left}), *parts[1:]) if left else parts
    return (_read_other(raw, role, type_),)


def write_as_read(group: Sequence[Part], raw: Json) -> Json:
    """Write a part in its original form.

    That is the form of AI SDK 4, of UI messages, or an older canonical form, which is read without losses.
    """
    part = group[0]
    type_ = type_of(raw)
    if not is_object(raw) or (type_ in BLOCKS["assistant"] and _read_block(BLOCK.read(raw), {})):
        return write_part(group)
    if type_ in FLAT:
        return raw
    if isinstance(part, ToolCallPart):
        return write_ui_part(part)
    if isinstance(part, ReasoningPart | FilePart | SourceUrlPart):
        written = _write_other(part)
        is_older = type_ in BLOCKS["assistant"] and not raw.keys() <= written.keys()
        return raw if is_older else written
    return write_part(group)


def _read_block(block: Any, waiting: Mapping[str, Approval]) -> Sequence[Any]:
    """Return the parts of a part of AI SDK 4, or none if it is not one."""
    match block:
        case ToolInvocation():
            part: Any = read_call(block, waiting)
        case Reasoning():
            return read_reasoning(block)
        case File():
            part = read_file(block)
        case Source():
            part = read_source(block)
        case _:
            part = None
    return () if part is None else (part,)


def _read_other(raw: Json, role: str, type_: str | None) -> Any:
    """Read a part in the canonical form, or that of UI messages."""
    try:
        if type_ == "foreign":
            part: Any = _FOREIGN.read(raw)
            return ForeignPart(FOREIGN, raw) if part.format in OWN else part
        if type_ in FLAT and is_object(raw):
            part = None if FLAT[type_] in raw else CODECS[role].read(raw)
            return ForeignPart(FOREIGN, raw) if isinstance(part, UnknownPart | None) else part
    except DecodeError:
        return ForeignPart(FOREIGN, raw)
    part = read_ui_part(raw, role)
    return replace(part, format=FOREIGN) if isinstance(part, ForeignPart) else part


def grouped(parts: Sequence[Part]) -> list[list[Part]]:
    """Group the parts that are written as one part."""
    groups: list[list[Part]] = []
    for part in parts:
        last = groups[-1][-1] if groups else None
        is_more = isinstance(part, ReasoningPart) and part_notes(part).get(CONTINUES) is True
        if is_more and isinstance(last, ReasoningPart):
            groups[-1].append(part)
        else:
            groups.append([part])
    return groups


def write_part(group: Sequence[Part]) -> Json:
    """Write a part, or the parts of one reasoning, with the notes about its form."""
    block = _write_block(group)
    if block is None:
        return _write_other(group[0])
    return to_json(restore(block, notes(part_notes(group[0]), FIELDS)))


def _write_block(group: Sequence[Any]) -> Block | None:
    """Return the part of AI SDK 4, or `None` if no such part can hold it."""
    match group[0]:
        case ToolCallPart() as part if not part.dynamic and not part.children:
            return write_call(part)
        case ToolResultPart() as part:
            return write_call(_as_call(part))
        case ReasoningPart():
            return write_reasoning(group)
        case FilePart() | ImagePart() as part:
            return write_file(part)
        case SourceUrlPart() as part:
            return write_source(part)
        case _:
            return None


def _write_other(part: Any) -> Json:
    """Write a part in the canonical form, or that of UI messages."""
    match part:
        case ToolCallPart():
            return _write_dynamic(part)
        case ForeignPart(format=format_, value=value) if format_ in OWN:
            return value
        case UnknownPart() | ForeignPart():
            return to_json(part)
        case _:
            pass
    plain = replace(part, extra=None, provider_metadata=without_notes(part.provider_metadata, NAME))
    written: JsonObject = to_json(plain)
    if isinstance(part, DataPart):
        del written["name"]
        written["type"] = f"{DATA}{part.name}"
    return {**members_of(part), **written}


# Calls


def _write_dynamic(part: ToolCallPart) -> JsonObject:
    """Write a call as a UI part: an invocation cannot have the messages of a sub-agent."""
    metadata = without_notes(part.call_provider_metadata, NAME)
    written: Json = write_ui_part(replace(part, extra=None, call_provider_metadata=metadata))
    outer = {name.removeprefix(OUTER): value for name, value in members_of(part).items()}
    return {**outer, **written, "type": "dynamic-tool", "toolName": part.name}


def _as_call(part: ToolResultPart) -> ToolCallPart:
    """Return a result without a call as a call that has ended."""
    call = ToolCallPart(part.id, part.name, state_after(part.output), output=part.output)
    return replace(call, result_provider_metadata=part.provider_metadata, extra=part.extra)


# Reasoning


class _Piece(NamedTuple):
    """A detail: its text, and its opaque members by their names in provider metadata."""

    text: str
    opaque: Mapping[str, str] = {}  # never changed


def read_reasoning(block: Reasoning) -> Sequence[ReasoningPart]:
    """Return the parts of reasoning, one for each detail; none if it is not in the form of AI SDK 4."""
    is_damaged = not {"reasoning", "details"}.isdisjoint(block.extra or ())
    if is_damaged or (block.reasoning is UNSET and block.details is UNSET):
        return ()
    pieces = [_read_detail(detail) for detail in block.details or ()] or [_Piece("")]
    # Mastra shows the whole text if there are no details, or they are one text without a signature.
    if block.reasoning and (
        not any(piece.text for piece in pieces) or (len(pieces) == 1 and not pieces[0].opaque)
    ):
        pieces[0] = pieces[0]._replace(text=block.reasoning)
    first = ReasoningPart(
        pieces[0].text,
        id=or_none(block.id),
        state=block.state if block.state in ("streaming", "done") else None,  # type: ignore[arg-type] # it is one of them
        token_count=or_none(block.token_count),
        provider_metadata=_signed(block.provider_metadata or None, pieces[0]),
        extra=keep_fields(unknown_members(block), ReasoningPart),
    )
    others = (
        with_part_notes(ReasoningPart(piece.text, provider_metadata=_signed(None, piece)), {CONTINUES: True})
        for piece in pieces[1:]
    )
    return (first, *others)


def _read_detail(detail: AnyDetail) -> _Piece:
    if isinstance(detail, RedactedDetail):
        return _Piece("", {REDACTED: detail.data})
    return _Piece(detail.text, {} if detail.signature is UNSET else {SIGNATURE: detail.signature})


def _signed(metadata: JsonObject | None, piece: _Piece) -> JsonObject | None:
    """Return provider metadata with the opaque members of a detail, unless it has them."""
    own = (metadata or {}).get(SIGNER, {})
    if not piece.opaque or not is_object(own):
        return metadata
    return {**(metadata or {}), SIGNER: {**piece.opaque, **own}}


def write_reasoning(pieces: Sequence[ReasoningPart]) -> Reasoning:
    """Return the reasoning that consists of these pieces."""
    first = pieces[0]
    extra = members_of(first)
    return Reasoning(
        reasoning="".join(piece.text for piece in pieces),
        details=tuple(map(_write_detail, pieces)),
        id=or_unset(first.id),
        state=or_unset(first.state),
        token_count=or_unset(first.token_count),
        provider_metadata=or_unset(without_notes(first.provider_metadata, NAME)),
        extra=Extra(extra) if extra else None,
    )


def _write_detail(piece: ReasoningPart) -> AnyDetail:
    data = signature_in(piece.provider_metadata, REDACTED)
    if data is not None and not piece.text:
        return RedactedDetail(data=data)
    return TextDetail(text=piece.text, signature=or_unset(signature_in(piece.provider_metadata, SIGNATURE)))


# Files


def read_file(block: File) -> FilePart | None:
    """Return the part of a file, or `None` for a file in the canonical form."""
    is_url, is_new = block.data is UNSET, block.mime_type is UNSET and block.media_type is not UNSET
    address = block.url if is_url else block.data
    if address is UNSET or (is_url and is_new and has_scheme(address)):
        return None
    named = block.media_type if block.mime_type is UNSET else block.mime_type
    filename = or_none(block.filename)
    media_type = guess_media_type(address, filename) if named is UNSET else named
    media = "mediaType" if is_new else "mimeType" if named is not UNSET else None
    note: JsonObject = {}
    if is_url or media != "mimeType":
        note[MEDIA] = [media, "url" if is_url else "data"]
    if address.startswith("data:"):
        note[DATA_URL] = True
    reference = file_reference(address)
    part = FilePart(
        file_url(address, media_type) if reference is None else "",
        media_type,
        filename,
        reference,
        provider_metadata=block.provider_metadata or None,
        extra=keep_fields(unknown_members(block), FilePart),
    )
    return with_part_notes(part, note)


def write_file(part: FilePart | ImagePart) -> File:
    """Write a file with the member names that it was read with, or those of version 4."""
    if isinstance(part, ImagePart):
        media_type: str = part.media_type or ANY_IMAGE
        filename, address = part.name, _address_in_base64(part, media_type)
    else:
        media_type, filename, address = part.media_type, part.filename, file_address(part)
    media, where = file_members(part)
    extra = members_of(part)
    return File(
        data=address if where == "data" else UNSET,
        url=address if where == "url" else UNSET,
        mime_type=media_type if media == "mimeType" else UNSET,
        media_type=media_type if media == "mediaType" else UNSET,
        filename=or_unset(filename),
        provider_metadata=or_unset(without_notes(part.provider_metadata, NAME)),
        extra=Extra(extra) if extra else None,
    )


def file_members(part: FilePart | ImagePart) -> tuple[str | None, str]:
    """Return the names of the members with the media type and the address of a file."""
    noted = part_notes(part).get(MEDIA)
    if is_array(noted) and len(noted) == 2 and noted[1] in ("data", "url"):
        return (noted[0] if noted[0] in ("mimeType", "mediaType") else None), noted[1]
    return "mimeType", "data"


def file_address(part: FilePart) -> str:
    """Return the address of a file: its id at a provider, data in base64, or its URL."""
    if not part.url and part.provider_reference:
        return next(iter(part.provider_reference.values()))
    return _address_in_base64(part, part.media_type)


def _address_in_base64(part: FilePart | ImagePart, media_type: str) -> str:
    """Return the data of a data URL in base64, as in version 4, or any other URL as it is."""
    if part_notes(part).get(DATA_URL) is True:
        return part.url
    data = part.url.removeprefix(data_url("", media_type))
    is_same = file_reference(data) is None and file_url(data, media_type) == part.url
    return data if is_same else part.url


# Sources


def read_source(block: Source) -> SourceUrlPart:
    """Return the part of a web page. Its provider metadata is in the source, in the part, or in both."""
    source = block.source
    metadata = source.provider_metadata or block.provider_metadata or None
    outer = {OUTER + name: value for name, value in unknown_members(block).items()}
    extra = keep_fields({**unknown_members(source), **outer}, SourceUrlPart)
    title = or_none(source.title)
    return SourceUrlPart(source.id, source.url, title, provider_metadata=metadata, extra=extra)


def write_source(part: SourceUrlPart) -> Source:
    """Write the source of a web page."""
    inner = members_of(part)
    outer = {name[len(OUTER) :]: inner.pop(name) for name in list(inner) if name.startswith(OUTER)}
    source = UrlSource(
        id=part.source_id,
        url=part.url,
        title=or_unset(part.title),
        provider_metadata=or_unset(without_notes(part.provider_metadata, NAME)),
        extra=Extra(inner) if inner else None,
    )
    return Source(source=source, extra=Extra(outer) if outer else None)
