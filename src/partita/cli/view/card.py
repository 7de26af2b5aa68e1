"""What the drawing of one call is made of."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text

from .text import one_line


@dataclass(frozen=True, slots=True)
class Card:
    """A title, what came of the call, and what it was given where the title does not say it."""

    title: Text
    output: Sequence[RenderableType] = ()
    input: Sequence[RenderableType] = ()
    ending: str = ""  # how it ended, in better words than those of its state
    notes: Sequence[str] = ()  # for the end of the title; empty ones say nothing
    failed: bool = False  # although the tool does not say so


def named(name: str, about: str = "", limit: int | None = None) -> Text:
    """The title of a call: its name, and what it is about."""
    title = Text().append(one_line(name, 80), "bold")
    return title.append(f"  {one_line(about, limit)}") if about else title
