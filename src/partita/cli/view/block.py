"""A drawing is a list of blocks, each at its depth: sub-agents stand deeper, to any depth."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rich.console import RenderableType

from partita.types.messages import Message

from .rows import Beside

DEEPEST = 8
"""How many levels are drawn as levels; what is deeper stands at this one."""

INDENT = "  "
LEVEL = "│ "


class Block(NamedTuple):
    """Something drawn, how deep it stands, and whether a line is left free before it."""

    drawn: RenderableType
    depth: int = 0
    gap: bool = True


class Descend(NamedTuple):
    """Messages of a sub-agent, to be drawn here."""

    messages: tuple[Message, ...]
    depth: int
    name: str


def laid_out(blocks: Iterable[Block]) -> Iterator[RenderableType]:
    """Blocks with the rule of their depth beside them, and free lines between."""
    first = True
    for block in blocks:
        mark = INDENT + LEVEL * min(block.depth, DEEPEST)
        if block.gap and not first:
            yield Beside(mark.rstrip(), "")
        yield Beside(mark, block.drawn, "dim" if block.depth else "")
        first = False
