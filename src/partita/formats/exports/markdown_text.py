"""Pieces of Markdown, as GitHub renders it: lines, blocks of code, quotes, links, and blocks that fold."""

import re
from html import escape
from typing import Final

from partita.views.text import counted, split_lines

MOST_LINES: Final = 24
MOST_CHARACTERS: Final = 4_000
"""Longer blocks are folded."""

_TICKS: Final = re.compile("`+")
_SPACES: Final = re.compile(r"\s+")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
WEB: Final = re.compile(r"https?://[^\s<>()\[\]]+")


def line(text: str) -> str:
    """A text on one line."""
    return _SPACES.sub(" ", text).strip()


def code(text: str) -> str:
    """A text as code on one line."""
    return f"`{line(text).replace('`', 'ˋ')}`"


def link(title: str, url: str) -> str:
    """A link, or only the title if the address is not on the web."""
    name = line(title).replace("[", "(").replace("]", ")")
    return f"[{name}]({url})" if WEB.fullmatch(url) else name


def quoted(text: str) -> str:
    """A text as a quotation."""
    return "".join(f"> {one}".rstrip() + "\n" for one in text.splitlines()) + "\n" if text else ""


def fenced(text: str, language: str = "") -> str:
    """A block of code, whose fence is longer than any in the text."""
    longest = max(map(len, _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}\n\n"


def is_long(text: str) -> bool:
    """Whether a block with this text is folded."""
    return len(text) > MOST_CHARACTERS or text.count("\n") > MOST_LINES


def folded(title: str, content: str) -> str:
    """A block that is closed until a reader opens it."""
    return f"<details>\n<summary>{escape(line(title), quote=False)}</summary>\n\n{content}</details>\n\n"


def block(title: str, text: str, language: str = "") -> str:
    """A block of code, which is folded if it is long. The title is only used then."""
    if not is_long(text):
        return fenced(text, language)
    return folded(f"{title} ({counted(len(split_lines(text)), 'line')})", fenced(text, language))


def prose(text: str) -> str:
    """A text that is Markdown itself. A block of code that it leaves open is closed."""
    opened = ""
    for one in text.splitlines():
        found = _FENCE.match(one)
        if found is None:
            continue
        fence, rest = found[1], found[2].strip()
        if not opened and not (fence[0] == "`" and "`" in rest):
            opened = fence
        elif opened and fence[0] == opened[0] and len(fence) >= len(opened) and not rest:
            opened = ""
    return f"{text}\n{opened}\n\n" if opened else f"{text}\n\n"
