"""Marks that say where to cache: the API takes four at most, and none on thoughts."""

from collections.abc import Iterator
from typing import Final, TypeGuard

from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_array, is_object

MARK: Final = "cache_control"
MOST: Final = 4

TOO_MANY: Final = "the API takes four marks at most: the last ones are kept"
ON_THOUGHTS: Final = "the API takes no mark on thoughts"


def check_marks(payload: JsonObject, losses: list[Loss]) -> None:
    """Take marks away that the API refuses."""
    marked = list(_marked(payload, "$"))
    kept: list[tuple[str, JsonObject]] = []
    for path, block in marked:
        if block.get("type") in ("thinking", "redacted_thinking"):
            losses.append(Loss.of(f"{path}.{MARK}", block.pop(MARK), ON_THOUGHTS, "repaired"))
        else:
            kept.append((path, block))
    for path, block in kept[:-MOST]:
        losses.append(Loss.of(f"{path}.{MARK}", block.pop(MARK), TOO_MANY, "repaired"))


def _marked(payload: JsonObject, path: str) -> Iterator[tuple[str, JsonObject]]:
    """The blocks that are marked, in the order in which the API reads them. Blocks are ours to change."""
    for name in ("tools", "system"):
        yield from _own_marked(payload, name, path)
    turns = payload.get("messages")
    for index, turn in enumerate(turns if is_array(turns) else ()):
        if is_object(turn) and _has_marks(turn.get("content")):
            yield from _own_marked(turn, "content", f"{path}.messages[{index}]")


def _own_marked(holder: JsonObject, name: str, path: str) -> Iterator[tuple[str, JsonObject]]:
    blocks: Json = holder.get(name)
    if not _has_marks(blocks):
        return
    holder[name] = blocks = [dict(block) if is_object(block) else block for block in blocks]
    for index, block in enumerate(blocks):
        if is_object(block) and block.get(MARK) is not None:
            yield f"{path}.{name}[{index}]", block


def _has_marks(blocks: Json) -> TypeGuard[list[Json]]:
    if is_array(blocks):
        for block in blocks:
            if isinstance(block, dict) and MARK in block:
                return True
    return False
