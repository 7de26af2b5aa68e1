"""Canonical parts → parts of V2. The readers in `parts`, `calls` and `reasoning` take all of them back."""

from collections.abc import Sequence

from msgspec.structs import replace

from partita.formats.ai_sdk.ui.dump import dump_bare
from partita.formats.ai_sdk.ui.dump import dump_part as dump_ui_part
from partita.formats.ai_sdk.ui.tools import FORMAT as UI
from partita.formats.ai_sdk.ui.v4_shape import BESIDE, PROVIDER
from partita.formats.bare import is_bare
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Part, ToolCallPart
from partita.types.parts import (
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningPart,
    SourceUrlPart,
    UnknownPart,
)
from partita.types.tools import ToolResultPart

from .dump_calls import dump_call, dump_result
from .dump_files import as_file, dump_file, is_attachment
from .notes import FORMAT, kept_of, note_of
from .reasoning import detail_of


def dump_parts(parts: Sequence[Part]) -> list[Json]:
    """The parts of a content. Pieces of one reasoning are one part again; attachments are none."""
    dumped: list[Json] = []
    pieces: list[ReasoningPart] = []
    for part in parts:
        if isinstance(part, ReasoningPart) and pieces and note_of(part).get("continues") is True:
            pieces.append(part)
            dumped[-1] = _dump_reasoning(pieces)
            continue
        pieces = [part] if isinstance(part, ReasoningPart) else []
        if not (isinstance(part, FilePart) and is_attachment(part)):
            dumped.append(_dump_part(part))
    return dumped


def _dump_part(part: Part) -> Json:
    match part:
        case ToolCallPart():
            return dump_call(part)
        case ToolResultPart():
            return dump_result(part)
        case ReasoningPart():
            return _dump_reasoning([part])
        case FilePart():
            return dump_file(part)
        case ImagePart():
            return dump_file(as_file(part))
        case SourceUrlPart():
            return _dump_source(part)
        case ForeignPart(format=format_, value=value) if format_ in (FORMAT, UI):
            return value
        case UnknownPart() | ForeignPart():
            return to_json(part)
        case DataPart():
            return {**kept_of(part), **_object(dump_ui_part(replace(part, extra=None), "$", [], 7))}
        case _:
            bare = dump_bare(part)
            return {**kept_of(part), **_object(to_json(replace(part, extra=None)))} if bare is None else bare


def _object(raw: Json) -> JsonObject:
    return raw if is_object(raw) else {}


def _dump_reasoning(pieces: Sequence[ReasoningPart]) -> JsonObject:
    """One reasoning: its words, and each piece as a detail. What a note says of them has the word."""
    first, note = pieces[0], note_of(pieces[0])
    if len(pieces) == 1 and is_bare(first):
        return {"type": "reasoning", "reasoning": first.text, "details": [detail_of(first)]}
    result: JsonObject = {"type": "reasoning", "reasoning": "".join(piece.text for piece in pieces)}
    result["details"] = [detail_of(piece) for piece in pieces]
    result |= {name: note[name] for name in ("reasoning", "details") if name in note}
    without = note.get("without")
    gone: list[Json] = without if is_array(without) else []
    result = {name: item for name, item in result.items() if item is not None and name not in gone}
    metadata = _unmoved(first)
    around = replace(first, text="", extra=None, provider_metadata=metadata or None)
    fields = {key: item for key, item in _object(to_json(around)).items() if key not in ("type", "text")}
    kept = kept_of(first)  # where details of an unknown kind are kept, they are the details
    return {**kept, **result, **fields, **{name: kept[name] for name in ("details",) if name in kept}}


def _unmoved(part: ReasoningPart) -> JsonObject:
    """The provider metadata without what was taken from a detail."""
    metadata = dict(part.provider_metadata or {})
    moved, own = note_of(part).get("moved"), metadata.get(PROVIDER)
    if isinstance(moved, str) and is_object(own) and moved in own:
        left = {key: item for key, item in own.items() if key != moved}
        metadata[PROVIDER] = left
        if not left:
            del metadata[PROVIDER]
    return metadata


def _dump_source(part: SourceUrlPart) -> JsonObject:
    source: JsonObject = {"sourceType": "url", "id": part.source_id, "url": part.url}
    if part.title is not None:
        source["title"] = part.title
    result: JsonObject = {"type": "source", "source": source}
    if part.provider_metadata is not None:
        where = note_of(part).get("providerMetadata")
        for holder in (source, result) if where == "both" else (result if where == "part" else source,):
            holder["providerMetadata"] = part.provider_metadata
    for key, value in kept_of(part).items():
        (result if key.startswith(BESIDE) else source).setdefault(key.removeprefix(BESIDE), value)
    return result
