"""Canonical messages → V1 messages: the calls, the results and the words of an answer are messages apart."""

from collections.abc import Iterator, Sequence

from partita.formats.ai_sdk.model import format as model
from partita.formats.ai_sdk.model.marks import FORMAT as CORE_NOTE
from partita.types.fold import expand
from partita.types.json import Json, JsonObject
from partita.types.messages import Message, SystemMessage
from partita.types.parts import ForeignPart, TextPart
from partita.types.value import unkept

from .core import type_of
from .envelope import written_around
from .notes import FORMAT, kept_of


def dump_v1_messages(message: Message) -> list[JsonObject]:
    """The messages that one becomes. Those behind the first are called `ID__split-1`, `ID__split-2` …"""
    rows: list[JsonObject] = []
    for piece in expand([message]):
        for number, core in enumerate(_core_messages(piece)):
            is_own = number == 0 and not piece.id.startswith(f"{message.id}#")
            id_ = piece.id if is_own else f"{message.id}__split-{len(rows)}"
            row: JsonObject = {"id": id_, "role": core["role"], **written_around(piece)}
            row |= {"type": type_of(core["role"], core["content"]), "content": core["content"]}
            options = {key: item for key, item in core.items() if key not in row}
            rows.append({**row, **options, **(_kept(piece) if is_own else {})})
    return rows


def _kept(piece: Message) -> JsonObject:
    """Members without a name here. Notes on core messages are none: those are written as they say."""
    return {key: item for key, item in kept_of(piece).items() if key != CORE_NOTE}


def _core_messages(piece: Message) -> Iterator[JsonObject]:
    """The core messages of a piece. What Mastra itself had written otherwise is written so again."""
    match piece.content.parts:
        case (ForeignPart(format=format_, value=value),) if format_ == FORMAT:
            yield {"role": str(piece.__struct_config__.tag), "content": value}
        case parts if isinstance(piece, SystemMessage) and _is_in_pieces(parts):
            yield {"role": "system", "content": [_system_piece(part) for part in parts]}
        case _:
            yield from model.dump([piece], 4).payload


def _is_in_pieces(parts: Sequence[object]) -> bool:
    known = all(isinstance(part, TextPart) or _is_ours(part) for part in parts)
    return known and (len(parts) != 1 or (isinstance(parts[0], TextPart) and bool(parts[0].extra)))


def _is_ours(part: object) -> bool:
    return isinstance(part, ForeignPart) and part.format == FORMAT


def _system_piece(part: object) -> Json:
    if isinstance(part, ForeignPart):
        return part.value
    return {"type": "text", "text": part.text, **unkept(part.extra)} if isinstance(part, TextPart) else None
