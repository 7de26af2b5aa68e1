"""Texts for display."""

from typing import Final

UNITS: Final = ("B", "KB", "MB", "GB", "TB")


def one_line(text: str, limit: int) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def split_lines(text: str) -> list[str]:
    """The lines of a text; a line break at its end begins no line."""
    return text.removesuffix("\n").split("\n") if text else []


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 file`, `2 files`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def size_of(count: float) -> str:
    """A number of bytes: `34 KB`."""
    unit = 0
    while count >= 1000 and unit < len(UNITS) - 1:
        count, unit = count / 1000, unit + 1
    return f"{count:.0f} {UNITS[unit]}" if count >= 10 or unit == 0 else f"{count:.1f} {UNITS[unit]}"
