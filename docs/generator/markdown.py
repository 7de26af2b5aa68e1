"""Pieces of Markdown that look the same on the site and in a repository."""

from collections.abc import Iterable, Sequence

FENCE = "```"


def page(title: str, said: str, *sections: str) -> str:
    """A whole page: its title, what it is, its sections."""
    note = "This page is made from the code by `make docs`; a test fails when the two disagree."
    return "\n\n".join([f"# {title}", f"{said.strip()} {note}", *(part.strip() for part in sections)]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, one row a line."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell(text) for text in line) + " |" for line in lines)


def cell(text: str) -> str:
    """Text as it may stand in a table."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """Text as code. A bar would end a cell of a table, so there it is written in another way."""
    if "|" in text or "`" in text:
        return f"<code>{escaped(text).replace('|', '&#124;')}</code>"
    return f"`{text}`"


def escaped(text: str) -> str:
    """Text that is no HTML, whatever is in it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def prose(text: str) -> str:
    """Words of a docstring: angle brackets and stars in them are meant as they are."""
    pieces = text.split("`")
    return "`".join(
        piece if number % 2 else escaped(piece).replace("*", "\\*").replace("&gt;", ">")
        for number, piece in enumerate(pieces)
    )


def block(text: str, language: str = "text") -> str:
    """A fenced block."""
    return f"{FENCE}{language}\n{text.rstrip()}\n{FENCE}"
