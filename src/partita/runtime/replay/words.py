"""Two texts word by word: what both have, what only the one, what only the other has."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final, Literal, NamedTuple, TypeAlias

WORDS: Final = re.compile(r"\w+|\s+|[^\w\s]")
LINES: Final = re.compile(r"[^\n]*\n|[^\n]+")
MOST_WORDS: Final = 4000
"""Texts with more words are compared line by line, so that no text takes long."""

MOST_LINES: Final = 5000

Mark: TypeAlias = Literal["=", "-", "+"]


class Piece(NamedTuple):
    """Some words, and who has them: both (`=`), the first text (`-`) or the second (`+`)."""

    mark: Mark
    text: str


def compare(old: str, new: str) -> tuple[Piece, ...]:
    """The pieces of two texts. Those of each text in a row are that text."""
    if old == new:
        return (Piece("=", old),) if old else ()
    before, after = _cut(old, new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    pieces: list[Piece] = []
    gone = come = ""
    for kind, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        left, right = "".join(before[old_start:old_end]), "".join(after[new_start:new_end])
        if kind != "equal" or (left.isspace() and gone and come and old_end < len(before)):
            gone, come = gone + left, come + right  # a blank between two changed words is no rest
            continue
        pieces += _changed(gone, come)
        pieces.append(Piece("=", left))
        gone = come = ""
    return (*pieces, *_changed(gone, come))


def _changed(gone: str, come: str) -> list[Piece]:
    pieces = [Piece("-", gone), Piece("+", come)]
    return [piece for piece in pieces if piece.text]


def _cut(old: str, new: str) -> tuple[Sequence[str], Sequence[str]]:
    for pattern, most in ((WORDS, MOST_WORDS), (LINES, MOST_LINES)):
        before, after = pattern.findall(old), pattern.findall(new)
        if max(len(before), len(after)) <= most:
            return before, after
    return ([old] if old else []), ([new] if new else [])


def plainly(pieces: Sequence[Piece]) -> str:
    """The pieces as one text: `[-gone-]`, `{+come+}`."""
    brackets = {"=": "{}", "-": "[-{}-]", "+": "{{+{}+}}"}
    return "".join(brackets[piece.mark].format(piece.text) for piece in pieces)
