"""The log entries that a message was made of.

The log of our own runs has the start of each message. The log of an imported session holds the lines of
the agent; rereading it gives the numbers of the lines that belong to a message. If that is not possible,
the lines that contain the ids of the message or its calls, or the beginnings of its texts, are taken.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from partita.store.sql.transaction import Transaction
from partita.types.chunks import MessageStart
from partita.types.codec import decode_chunk
from partita.types.json import dumps
from partita.types.messages import Message, ToolCallPart
from partita.types.parts import ReasoningPart, TextPart, ToolResultPart

from .blocks import StoredEntry
from .run_log import stored_entries

START: Final = b'"type":"start"'

MARKER_LENGTH: Final = 48
"""The number of characters from the beginning of a text that identify it."""

MIN_TEXT_LENGTH: Final = 12
"""Shorter texts may occur in any line."""

PARENT: Final = re.compile(rb'"\w*[pP]arent\w*"\s*:\s*"[^"\\]*"')
"""The members of a line that refer to the line before it."""

MAX_GAP: Final = 256
"""Entries that are further apart are read without the entries between them."""


class Position(NamedTuple):
    """Where to continue in a log, and whether the entry before belongs to the message."""

    after: int = 0
    inside: bool = False


BEGINNING: Final = Position()


def entries_by_start(
    tx: Transaction, run_id: str, message_id: str, first_message_id: str, position: Position
) -> Iterator[tuple[int, StoredEntry]]:
    """The entries from the start of a message to the start of the next one."""
    inside = position.inside if position.after else first_message_id == message_id
    for seq, entry in stored_entries(tx, run_id, after=position.after):
        if entry.chunk is not None and START in entry.chunk:
            chunk = decode_chunk(entry.chunk)
            if isinstance(chunk, MessageStart) and chunk.message_id is not None:
                inside = chunk.message_id == message_id
        if inside:
            yield seq, entry


def entries_by_number(
    tx: Transaction, run_id: str, seqs: Sequence[int], position: Position = BEGINNING
) -> Iterator[tuple[int, StoredEntry]]:
    """The entries with these numbers, which are in order."""
    remaining = seqs[bisect_right(seqs, position.after) :]
    while remaining:
        count = next(
            (n for n, (seq, next_seq) in enumerate(pairwise(remaining), 1) if next_seq - seq > MAX_GAP),
            len(remaining),
        )
        near, remaining = remaining[:count], remaining[count:]
        numbers = frozenset(near)
        entries = stored_entries(tx, run_id, after=near[0] - 1, through=near[-1])
        yield from ((seq, entry) for seq, entry in entries if seq in numbers)


def entries_by_content(
    tx: Transaction, run_id: str, markers: Sequence[bytes], position: Position
) -> Iterator[tuple[int, StoredEntry]]:
    """The raw lines that contain one of the markers."""
    for seq, entry in stored_entries(tx, run_id, after=position.after):
        if entry.raw is None or not any(marker in entry.raw for marker in markers):
            continue
        line = PARENT.sub(b"", entry.raw)
        if any(marker in line for marker in markers):
            yield seq, entry


def content_markers(message: Message) -> list[bytes]:
    """JSON that lines of a message contain: its id, the ids of its calls, the beginnings of its texts."""
    ids = [message.id]
    texts: list[str] = []
    for part in message.content.parts:
        match part:
            case ToolCallPart(id=id) | ToolResultPart(id=id):
                ids.append(id)
            case TextPart(text=text) | ReasoningPart(text=text) if len(text.strip()) >= MIN_TEXT_LENGTH:
                texts.append(text.strip()[:MARKER_LENGTH])
            case _:
                pass
    return [*map(dumps, ids), *(dumps(text)[:-1] for text in texts)]
