"""A line to be written, what is known of its place, and how lines are put in order."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType

from partita.types.json import Json, JsonObject, is_object

Numbered: TypeAlias = tuple[tuple[int, Json], ...]
"""Blocks of a content, each with its place in it."""


class Line(NamedTuple):
    """A record, and what is known of its place."""

    record: Json  # an object, but for lines that never were one
    at: int | None = None  # the number of the line it had in the file it came from
    begins: bool = False  # whether a message begins with it
    above: str | UnsetType | None = UNSET  # the line that its message follows, should its parent be gone
    blocks: Numbered | None = None  # what it has of a content that other lines have the rest of

    @property
    def uuid(self) -> str | None:
        """The id of the line."""
        uuid = self.record.get("uuid") if is_object(self.record) else None
        return uuid if isinstance(uuid, str) else None


def joined(lines: Iterable[Line]) -> list[Line]:
    """The lines, those in one that tell the same record."""
    whole: list[Line] = []
    places: dict[tuple[str, int | None], int] = {}
    for line in lines:
        if line.blocks is None:
            whole.append(line)
            continue
        place = places.setdefault((str(line.uuid), line.at), len(whole))
        if place == len(whole):
            whole.append(line)
        else:
            whole[place] = _joined(whole[place], line)
    return [line if line.blocks is None else _with_content(line, line.blocks) for line in whole]


def _joined(first: Line, second: Line) -> Line:
    message = first.record.get("message", second.record.get("message"))
    record = {**second.record, **first.record, **({} if message is None else {"message": message})}
    return first._replace(record=record, blocks=(first.blocks or ()) + (second.blocks or ()))


def _with_content(line: Line, blocks: Numbered) -> Line:
    content = [block for _, block in sorted(blocks, key=lambda numbered: numbered[0])]
    message: JsonObject = line.record.get("message", {"role": "user"})
    record: JsonObject = {**line.record, "message": {**message, "content": content}}
    return line._replace(record=record, blocks=None)


def in_order(lines: Sequence[Line]) -> list[Line]:
    """Lines of messages, in the order of the file they came from; new ones behind what they were told after.

    Messages of another file may follow: where one begins before the one before it did, order begins anew.
    """
    keys: list[tuple[int, int, int]] = []
    file = began = latest = 0
    for index, line in enumerate(lines):
        if line.at is not None:
            if line.begins and line.at < began:
                file, latest = file + 1, 0
            began = line.at if line.begins else began
            latest = max(latest, line.at)
        keys.append((file, latest if line.at is None else line.at, index))
    return [lines[index] for _, _, index in sorted(keys)]
