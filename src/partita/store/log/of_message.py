"""The entries of a run's log that a message came from.

A log that we wrote ourselves says where each message begins. An imported one holds the lines of its agent and
no word on what became of them: whoever has read it once more knows their numbers. If that cannot be done,
those that name the message, its calls or its words are taken for its own.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from partita.store.transaction import Transaction
from partita.types.chunks import MessageStart
from partita.types.codec import decode_chunk
from partita.types.json import dumps
from partita.types.messages import Message, ToolCallPart
from partita.types.parts import ReasoningPart, TextPart
from partita.types.tools import ToolResultPart

from .blocks import Stored
from .run_log import stored_entries

START: Final = b'"type":"start"'
WORDS: Final = 48
"""So many of the first characters of a text tell it from others."""

PARENT: Final = re.compile(rb'"\w*[pP]arent\w*"\s*:\s*"[^"\\]*"')
"""What a line says of the one before it."""

APART: Final = 256
"""Entries that are further apart are not read with all that lies between them."""

FEWEST: Final = 12
"""A shorter text may stand in any line."""


class Place(NamedTuple):
    """Where to go on in a log, and whether the entry before belonged to the message."""

    after: int = 0
    inside: bool = False


NOWHERE: Final = Place()


def told_by_us(
    tx: Transaction, run_id: str, message_id: str, begins_with: str, place: Place
) -> Iterator[tuple[int, Stored]]:
    """The entries from the start of a message to that of the next; `begins_with` is the first of the run."""
    inside = place.inside if place.after else begins_with == message_id
    for seq, entry in stored_entries(tx, run_id, after=place.after):
        if entry.chunk is not None and START in entry.chunk:
            chunk = decode_chunk(entry.chunk)
            if isinstance(chunk, MessageStart) and chunk.message_id is not None:
                inside = chunk.message_id == message_id
        if inside:
            yield seq, entry


def told_in(
    tx: Transaction, run_id: str, seqs: Sequence[int], place: Place = NOWHERE
) -> Iterator[tuple[int, Stored]]:
    """The entries of those numbers, which are in order."""
    left = seqs[bisect_right(seqs, place.after) :]
    while left:
        count = next(
            (count for count, (seq, next_seq) in enumerate(pairwise(left), 1) if next_seq - seq > APART),
            len(left),
        )
        some, left = left[:count], left[count:]
        wanted = frozenset(some)
        entries = stored_entries(tx, run_id, after=some[0] - 1, through=some[-1])
        yield from ((seq, entry) for seq, entry in entries if seq in wanted)


def told_by_agent(
    tx: Transaction, run_id: str, marks: Sequence[bytes], place: Place
) -> Iterator[tuple[int, Stored]]:
    """The lines in which one of the marks stands."""
    for seq, entry in stored_entries(tx, run_id, after=place.after):
        if entry.raw is None or not any(mark in entry.raw for mark in marks):
            continue
        own = PARENT.sub(b"", entry.raw)
        if any(mark in own for mark in marks):
            yield seq, entry


def marks_of(message: Message) -> list[bytes]:
    """What the lines of a message have in them: its id, the ids of its calls, the beginnings of its texts."""
    ids = [message.id]
    texts: list[str] = []
    for part in message.content.parts:
        match part:
            case ToolCallPart(id=id) | ToolResultPart(id=id):
                ids.append(id)
            case TextPart(text=text) | ReasoningPart(text=text) if len(text.strip()) >= FEWEST:
                texts.append(text.strip()[:WORDS])
            case _:
                pass
    return [*map(dumps, ids), *(dumps(text)[:-1] for text in texts)]
