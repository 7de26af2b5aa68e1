"""Draws `docs/tour.svg`: the message of `partita tour` in a terminal.

python docs/picture.py > docs/tour.svg
"""

import io
import re

from rich.console import Console

from partita import Accumulator
from partita.cli.tour import draw
from partita.cli.view.context import THEME
from partita.demo import recorded_stream


def picture() -> str:
    """Return the picture as SVG, without links to fonts on other hosts."""
    console = Console(record=True, width=92, file=io.StringIO(), force_terminal=True, theme=THEME)
    accumulator = Accumulator()
    for chunk in recorded_stream():
        accumulator.feed(chunk)
    console.print(draw(accumulator.finish()))
    svg = console.export_svg(title="partita tour", unique_id="tour")
    return re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)


if __name__ == "__main__":
    print(picture())
