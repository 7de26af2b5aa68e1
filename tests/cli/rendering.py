"""Rendering as on a terminal with a given width, without colours."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC

from rich.console import Console, RenderableType

from partita.cli.view.console import Block, indent_blocks, rendered
from partita.cli.view.context import THEME, ViewContext
from partita.cli.view.message import blocks_of
from partita.types.messages import AssistantMessage, AssistantPart

DEFAULT = ViewContext(agent="claude-code", project="/home/ada/clock", zone=UTC)
FULL = ViewContext(agent="claude-code", project="/home/ada/clock", zone=UTC, full=True)


def numbered(message_id: str, number: int) -> ViewContext:
    """Return a context in which a message has a number."""
    return replace(DEFAULT, numbers={message_id: number})


def render(*drawings: RenderableType, width: int = 80) -> str:
    """Return renderables as text."""
    console = Console(width=width, theme=THEME, markup=False, emoji=False, highlight=False, color_system=None)
    return "".join(rendered(console, drawings))


def render_blocks(blocks: Iterable[Block], width: int = 80) -> str:
    """Return blocks as text."""
    return render(*indent_blocks(blocks), width=width)


def render_part(part: AssistantPart, context: ViewContext = DEFAULT, width: int = 80) -> str:
    """Return a part of an assistant message as text."""
    return render_blocks(blocks_of(AssistantMessage(id="m", content=[part]), context), width)
