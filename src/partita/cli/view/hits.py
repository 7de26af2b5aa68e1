"""Hits of a search: where they are, and the passage that shows why."""

from datetime import datetime, tzinfo

from rich.console import Group
from rich.text import Text

from partita.store.search.search import Hit

from .listing import LONGEST_TITLE, NO_TITLE
from .rows import Beside
from .text import one_line, safe
from .times import ago


def draw_hit(
    hit: Hit, id: str, *, now: datetime, coloured: bool, same_thread: bool, zone: tzinfo | None = None
) -> Group:
    """A hit: its thread, unless that stands above already; who said it and when; the passage."""
    title = Text().append(one_line(id), "yellow").append("  ")
    title.append(one_line(hit.title or NO_TITLE, LONGEST_TITLE), "bold")
    about = [f"#{hit.seq}" if hit.seq is not None else "", hit.role or "", hit.field]
    said = Text("  " + " · ".join([*filter(None, about), ago(hit.created_at, now, zone)]), "dim")
    drawn = Beside("    ", passage(hit, coloured=coloured), "")
    return Group(said, drawn) if same_thread else Group(title, said, drawn)


def passage(hit: Hit, *, coloured: bool) -> Text:
    """The snippet with what was found in it marked: by colour, or by asterisks where there is none."""
    text = Text()
    place = 0
    for start, end in hit.highlights:
        text.append(safe(hit.snippet[place:start], tabs=1))
        found = safe(hit.snippet[start:end], tabs=1)
        text.append(found if coloured else f"**{found}**", "bold magenta")
        place = end
    return text.append(safe(hit.snippet[place:], tabs=1))
