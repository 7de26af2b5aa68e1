"""Reasoning parts of V2 → canonical reasoning, one a detail.

The words stand in a part twice: in `reasoning`, and in pieces in `details`, where signatures and redacted
data are. Those go to the provider metadata, as all our reasoning has them, under the one provider that had
them when Mastra wrote it so. Where the parts alone would not give back what was there, a note says it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.ai_sdk.ui.v4_shape import PROVIDER, REDACTED, SIGNATURE
from partita.types.json import Json, JsonObject, is_array, is_object, same
from partita.types.parts import ReasoningPart

from .notes import extra_of, note_of

FIELDS: Mapping[str, tuple[str, type]] = {
    "id": ("id", str),
    "state": ("state", str),
    "tokenCount": ("token_count", int),
}
"""Members that other writers add to a part: the fields they fill, and of which kind they must be."""

STATES = ("streaming", "done")


class _Detail(NamedTuple):
    """A piece of reasoning, and what of it is opaque."""

    text: str
    name: str = ""
    value: str = ""


def read_reasoning(raw: JsonObject) -> Sequence[ReasoningPart]:
    """The parts that a reasoning becomes; none when it is not in the words of version 4."""
    words, details = raw.get("reasoning", UNSET), raw.get("details", UNSET)
    if (words is UNSET and details is UNSET) or not (words is UNSET or isinstance(words, str)):
        return ()
    if len(raw) == 3 and details == [{"type": "text", "text": words}]:
        return (ReasoningPart(str(words)),)
    if details is not UNSET and not is_array(details):
        return ()
    read = [_read_detail(item) for item in details or ()]
    pieces = [piece for piece in read if piece is not None]
    if len(pieces) < len(read):
        return ()
    rest = {key: item for key, item in raw.items() if key not in ("type", "reasoning", "details")}
    metadata = rest.pop("providerMetadata") if is_object(rest.get("providerMetadata")) else None
    first, *others = pieces or [_Detail("")]
    parts = [_part(first, metadata), *(_part(piece, None, {"continues": True}) for piece in others)]
    if words and (not any(piece.text for piece in pieces) or _is_only_text(pieces)):
        parts[0] = replace(parts[0], text=words)
    note: JsonObject = {}
    if "".join(part.text for part in parts) != words:
        note |= {"without": ["reasoning"]} if words is UNSET else {"reasoning": words}
    if details is UNSET or not same([detail_of(part) for part in parts], details):
        note["details"] = None if details is UNSET else details
    fields = _fields(rest)
    extra = extra_of(rest, {**note_of(parts[0]), **note}, ReasoningPart)
    return (replace(parts[0], extra=extra, **fields), *parts[1:])


def _is_only_text(pieces: Sequence[_Detail]) -> bool:
    """Whether the details are one unsigned text: readers of Mastra then show the words beside them."""
    return len(pieces) == 1 and not pieces[0].name


def _fields(rest: JsonObject) -> JsonObject:
    """The members that have a field, taken out of `rest`."""
    known = {key: field for key, (field, kind) in FIELDS.items() if type(rest.get(key)) is kind}
    if "state" in known and rest["state"] not in STATES:
        del known["state"]
    return {field: rest.pop(key) for key, field in known.items()}


def detail_of(part: ReasoningPart) -> JsonObject:
    """The detail that a piece of reasoning is, with what is opaque in it."""
    own: Json = (part.provider_metadata or {}).get(PROVIDER)
    opaque: JsonObject = own if is_object(own) else {}
    if isinstance(opaque.get(REDACTED), str) and not part.text:
        return {"type": "redacted", "data": opaque[REDACTED]}
    signature = opaque.get(SIGNATURE)
    signed: JsonObject = {"signature": signature} if isinstance(signature, str) else {}
    return {"type": "text", "text": part.text, **signed}


def _read_detail(raw: Json) -> _Detail | None:
    match raw:
        case {"type": "text", "text": str(text), "signature": str(signature)}:
            return _Detail(text, SIGNATURE, signature)
        case {"type": "text", "text": str(text)}:
            return _Detail(text)
        case {"type": "redacted", "data": str(data)}:
            return _Detail("", REDACTED, data)
        case _:
            return None


def _part(piece: _Detail, metadata: JsonObject | None, note: JsonObject | None = None) -> ReasoningPart:
    """A piece as a part, with its signature in the metadata unless there is one already."""
    noted = note or {}
    own = (metadata or {}).get(PROVIDER, {})
    if piece.name and is_object(own) and piece.name not in own:
        metadata = {**(metadata or {}), PROVIDER: {**own, piece.name: piece.value}}
        noted = {**noted, "moved": piece.name}
    extra = extra_of({}, noted, ReasoningPart)
    return ReasoningPart(piece.text, provider_metadata=metadata, extra=extra)
