"""Markdown that renders the same on the site and in a repository."""

import re
from collections.abc import Iterable, Sequence

FENCE = "```"


def page(title: str, introduction: str, *sections: str) -> str:
    """Return a page with a title, an introduction and sections."""
    note = "This page is generated from the code."
    return "\n\n".join([f"# {title}", f"{introduction.strip()} {note}", *map(str.strip, sections)]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with one line for each row."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell(text) for text in line) + " |" for line in lines)


def cell(text: str) -> str:
    """Return text on one line, with the character that separates cells escaped."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """Return text as inline code. A bar would end a cell of a table, so text with one becomes HTML."""
    if "|" in text or "`" in text:
        return f"<code>{escaped(text).replace('|', '&#124;')}</code>"
    return f"`{text}`"


def escaped(text: str) -> str:
    """Return text with the characters of HTML escaped."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def prose(text: str) -> str:
    """Return the text of a docstring with angle brackets and stars escaped, except in code."""
    pieces = text.split("`")
    return "`".join(
        piece if number % 2 else escaped(piece).replace("*", "\\*").replace("&gt;", ">")
        for number, piece in enumerate(pieces)
    )


def block(text: str, language: str = "text") -> str:
    """Return a fenced code block."""
    return f"{FENCE}{language}\n{text.rstrip()}\n{FENCE}"


def slug(heading: str) -> str:
    """Return the anchor of a heading."""
    words = re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower()
    return re.sub(r"\s+", "-", words)
