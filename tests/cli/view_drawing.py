"""What a drawing looks like on a terminal of some width, without colours."""

from collections.abc import Iterable
from datetime import UTC

from rich.console import Console, RenderableType

from partita.cli.view.console import Block, laid_out, rendered
from partita.cli.view.look import THEME, Look
from partita.cli.view.message import blocks_of
from partita.types.messages import AssistantMessage, AssistantPart

LOOK = Look(agent="claude-code", project="/home/ada/clock", zone=UTC)
FULL = Look(agent="claude-code", project="/home/ada/clock", zone=UTC, full=True)


def drawn(*drawings: RenderableType, width: int = 80) -> str:
    """Drawings as text."""
    console = Console(width=width, theme=THEME, markup=False, emoji=False, highlight=False, color_system=None)
    return "".join(rendered(console, drawings))


def drawn_blocks(blocks: Iterable[Block], width: int = 80) -> str:
    """Blocks as text."""
    return drawn(*laid_out(blocks), width=width)


def drawn_part(part: AssistantPart, look: Look = LOOK, width: int = 80) -> str:
    """One part of an agent's message as text."""
    return drawn_blocks(blocks_of(AssistantMessage(id="m", content=[part]), look), width)
