"""Reasoning parts of V2 → canonical reasoning, one a detail.

The words stand in a part twice: in `reasoning`, and in pieces in `details`, where signatures and redacted
data are. Those go to the provider metadata, as all our reasoning has them, under the one provider that had
them when Mastra wrote it so. Where the parts alone would not give back what was there, a note says it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.ai_sdk.ui.v4_shape import PROVIDER, REDACTED, SIGNATURE
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import ReasoningPart

from .notes import extra_of, note_of


class _Detail(NamedTuple):
    """A piece of reasoning, what of it is opaque, and whether there is more that has no place."""

    text: str
    name: str = ""
    value: str = ""
    has_more: bool = False


def read_reasoning(raw: JsonObject) -> Sequence[ReasoningPart]:
    """The parts that a reasoning becomes; none when it is not in the words of version 4."""
    words, details = raw.get("reasoning", UNSET), raw.get("details", UNSET)
    if (words is UNSET and details is UNSET) or not (words is UNSET or isinstance(words, str)):
        return ()
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
    if words and not any(piece.text for piece in pieces):
        parts[0] = replace(parts[0], text=words)
    note: JsonObject = {}
    if "".join(part.text for part in parts) != words:
        note |= {"without": ["reasoning"]} if words is UNSET else {"reasoning": words}
    if not pieces or not all(map(_is_exact, pieces, parts)):
        note["details"] = None if details is UNSET else details
    extra = extra_of(rest, {**note_of(parts[0]), **note}, ReasoningPart)
    return (replace(parts[0], extra=extra), *parts[1:])


def _read_detail(raw: Json) -> _Detail | None:
    match raw:
        case {"type": "text", "text": str(text), "signature": str(signature), **rest}:
            return _Detail(text, SIGNATURE, signature, bool(rest))
        case {"type": "text", "text": str(text), **rest}:
            return _Detail(text, has_more=bool(rest))
        case {"type": "redacted", "data": str(data), **rest}:
            return _Detail("", REDACTED, data, bool(rest))
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


def _is_exact(piece: _Detail, part: ReasoningPart) -> bool:
    """Whether a part says all that a piece said."""
    is_moved = not piece.name or "moved" in note_of(part)
    return is_moved and not piece.has_more and part.text == piece.text
