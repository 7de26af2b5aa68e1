"""Stored messages of both versions, which one table may have, → canonical messages.

Rows from before the middle of 2025 are V1. Networks still store V1 messages inside their executions.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from partita.errors import ConversionError
from partita.formats.core.turns import join, misplaced_results
from partita.formats.losses import Loss, json_losses
from partita.types.json import Json, JsonObject
from partita.types.messages import Message

from . import v1, v2
from .rows import in_row_form, is_v2, parse_content


class _Row(NamedTuple):
    """A stored message, and the result of reading it."""

    raw: Json
    message: Message
    content: v2.ReadContent | None
    """The content of a V2 message."""
    parts: Mapping[int, Any] | None
    """The parts of a V1 message by position."""


class StoredReader:
    """Reads stored messages. In `messages`, the results of V1 messages are in their calls.

    The position of a message is its number, that of a part its position in the message.
    """

    def __init__(self, raws: Sequence[Json], paths: Sequence[str], *, is_v1: bool = False) -> None:
        """`is_v1`: refuse V2 messages."""
        self.losses: list[Loss] = []
        self.messages: list[Message] = []
        self._is_v1 = is_v1
        self._rows = [
            self._read(raw, path, at) for at, (raw, path) in enumerate(zip(raws, paths, strict=True))
        ]
        at = 0
        for is_new, group in groupby(self._rows, lambda row: row.content is not None):
            found = [row.message for row in group]
            if not is_new:
                self.losses += misplaced_results(found, paths[at : at + len(found)])
            self.messages += found if is_new else join(found)
            at += len(found)

    def _read(self, raw: Json, path: str, index: int) -> _Row:
        parsed = raw if self._is_v1 else parse_content(raw, path, self.losses)
        if is_v2(parsed):
            if self._is_v1:
                hint = "load it as mastra-v2"
                raise ConversionError("the message is V2", where=f"{path}.content", hint=hint)
            message, content = v2.read_message(parsed, path, index)
            parts = None
        else:
            message, parts = v1.read_message(parsed, path, index)
            content = None
        return _Row(raw, message, content, parts)

    def positions(self) -> dict[tuple[Any, ...], Any]:
        """Return messages and parts by position."""
        positions: dict[tuple[Any, ...], Any] = {}
        for index, row in enumerate(self._rows):
            positions[index,] = row.message
            if row.content is not None:
                positions |= {(index, *place): part for place, part in row.content.positions().items()}
            positions |= {(index, position): part for position, part in (row.parts or {}).items()}
        return positions

    def write_back(self) -> list[JsonObject]:
        """Return the stored messages in their original form."""
        written: list[JsonObject] = []
        for is_new, group in groupby(self._rows, lambda row: row.content is not None):
            rows = list(group)
            if is_new:
                group_rows = [v2.write_back(row.message, row.content) for row in rows if row.content]
            else:
                group_rows = v1.write_messages([row.message for row in rows])
            if len(group_rows) == len(rows):
                group_rows = [in_row_form(one, row.raw) for one, row in zip(group_rows, rows, strict=True)]
            written += group_rows
        return written


def read_rows(raws: Sequence[Json]) -> tuple[Sequence[Message], bool]:
    """Read stored messages inside a network execution. Also returns whether they are read without losses."""
    reader = StoredReader(raws, [f"$[{index}]" for index in range(len(raws))])
    is_whole = not reader.losses and not any(json_losses(list(raws), reader.write_back(), "$", ""))
    return reader.messages, is_whole
