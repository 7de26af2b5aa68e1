"""Words as the search index knows them: the same for both engines, for what is indexed and for queries.

A word is letters and digits, without diacritics and case. Scripts that are written without spaces give a word
for every character, so that a phrase finds any part of a text. The engines get words between spaces and split
at spaces only: what they think of Unicode themselves never matters.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TypeAlias

LONGEST = 64
"""How many characters of a word count: enough for a SHA-256 in hex."""

# Of bytes, not of text: ten times as fast.
PUNCTUATION = bytes(code if chr(code).isalnum() else ord(" ") for code in range(256))
GROWTH = 3
"""How many characters case folding makes of one at most."""

SHAPE = bytes(
    ord("A") if chr(code).isupper() else ord("a") if chr(code).isalnum() else ord(" ") for code in range(256)
)
TOO_LONG = b"a" * (LONGEST + 1)

SIMPLE = r"\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
"""Most of Han, Kana and Hangul: characters that are words as they are."""

NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
SIMPLE_OR_NOT = re.compile(rf"([{SIMPLE}]+)|[^{SIMPLE}]+")
ASCII_PUNCTUATION = re.compile(r"[\x00-\x1f!-/:-@\[-`{-\x7f]+")
PIECE = re.compile(r"[A-Z]+(?![^A-Z0-9])[0-9]*|[A-Z]?[^A-Z]+")  # of getUserName, HTTPServer, sha256Hash
RUN = re.compile(r"[0-9A-Za-z\x80-\U0010ffff]+")

SPACELESS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1100, 0x11FF),  # Hangul
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # Han radicals
    (0x3005, 0x3007),
    (0x3040, 0x31FF),  # Hiragana, Katakana, Bopomofo, Hangul
    (0x3400, 0xA4CF),  # Han, Yi
    (0xA960, 0xA97F),  # Hangul
    (0xAC00, 0xD7FF),
    (0xF900, 0xFAFF),  # Han
    (0x1B000, 0x1B16F),  # Kana
    (0x20000, 0x3FFFF),  # Han
)
DIACRITICS = (
    (0x0300, 0x036F),  # Latin, Greek, Cyrillic
    (0x0483, 0x0489),
    (0x0591, 0x05C7),  # Hebrew points
    (0x0610, 0x061A),  # Arabic
    (0x064B, 0x065F),
    (0x0670, 0x0670),
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x20D0, 0x20FF),
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFE20, 0xFE2F),
    (0xE0100, 0xE01EF),
)
SHORT = 12
"""How long a run of letters is a word rather than a sentence: worth remembering."""

ZERO_WIDTH_SPACE = "\u200b"


Span: TypeAlias = tuple[str, int, int]
"""A word, and from where to where in a text it stands."""


def indexed(text: str) -> str:
    """The words of a text between spaces; the pieces of camelCase words follow at the end."""
    if text.isascii():
        return _indexed_ascii(text.encode().translate(PUNCTUATION)) if text else ""
    plain = separated(text)
    if plain.isascii():  # dashes, arrows and ticks are no letters: most texts end up here
        return _indexed_ascii(plain.encode())
    words = dict.fromkeys(plain.split())
    return _finished(plain, words, max(map(len, words), default=0) * GROWTH > LONGEST)


def _indexed_ascii(plain: bytes) -> str:
    shape = plain.translate(SHAPE)
    small = plain.lower()
    plainly = small == plain  # no capital at all: nothing is camelCase
    too_long = TOO_LONG in (shape if plainly else shape.lower())
    if not too_long and (plainly or (b"aA" not in shape and b"AAa" not in shape)):
        return small.decode()
    text = plain.decode()
    return _finished(text, _camel_words(text, shape), too_long)


def _finished(plain: str, cased: Iterable[str], too_long: bool) -> str:
    """The text with the pieces of its words, without case, its words cut where they are too long."""
    pieces = [piece for word in cased if not word.islower() for piece in camel_pieces(word)]
    folded = (" ".join([plain, *pieces]) if pieces else plain).casefold()
    return " ".join([word[:LONGEST] for word in folded.split()]) if too_long else folded


def _camel_words(plain: str, shape: bytes) -> dict[str, None]:
    """The different words of an ASCII text in which a capital follows a small letter, or begins a piece.

    Their shapes tell: searching a text of two letters for two of them is far faster than a pattern.
    """
    words: dict[str, None] = {}
    for boundary in (b"aA", b"AAa"):
        place = shape.find(boundary)
        while place >= 0:
            end = shape.find(b" ", place)
            end = len(shape) if end < 0 else end
            words[plain[shape.rfind(b" ", 0, place) + 1 : end]] = None
            place = shape.find(boundary, end)
    return words


def _without_punctuation(ascii_text: str) -> str:
    return ascii_text.encode().translate(PUNCTUATION).decode()


def words_of(text: str) -> list[str]:
    """The words of a text, without the pieces of camelCase words."""
    return [settled(word) for word in separated(text).split()]


def pieces_of(text: str) -> list[str]:
    """The words of a text, each camelCase word replaced by its pieces."""
    return [settled(piece) for word in separated(text).split() for piece in camel_pieces(word) or (word,)]


def separated(text: str) -> str:
    """A text without diacritics and with spaces for punctuation; its case is still there."""
    if text.isascii():
        return _without_punctuation(text)
    folded = _folded_text(unicodedata.normalize("NFC", text))
    return _without_punctuation(folded) if folded.isascii() else ASCII_PUNCTUATION.sub(" ", folded)


def settled(word: str) -> str:
    """A word as the index holds it."""
    return word.casefold()[:LONGEST]


def camel_pieces(word: str) -> list[str]:
    """`get`, `User`, `Name` of `getUserName`; nothing of a word that has one piece only."""
    tail = word[1:]
    if tail == tail.lower() or word.isupper():
        return []
    pieces = PIECE.findall(word[:LONGEST])
    return pieces if len(pieces) > 1 else []


class _Folding(dict[int, str]):
    """What becomes of a character; found out when it is first met."""

    def __missing__(self, code: int) -> str:
        apart = unicodedata.normalize("NFKD", chr(code))
        bare = "".join(char for char in apart if not _is_in(char, DIACRITICS))
        folded = self[code] = "".join(map(_spaced, unicodedata.normalize("NFC", bare)))
        return folded


FOLDING = _Folding()
ASCII = bytes(range(128))
FEW = 24
"""So many different characters are replaced one after the other, each in all of a text."""


def _folded_text(text: str) -> str:
    """A text with every character folded. Few need it in most texts, but many times: lines, ticks, dashes."""
    # Of bytes, not of text: five times as fast as a pattern.
    others = text.encode("utf-8", "surrogatepass").translate(None, ASCII)
    strange = frozenset(others.decode("utf-8", "surrogatepass"))
    if len(strange) > FEW:
        return NOT_ASCII.sub(_fold_run, text)
    for char in strange:
        text = text.replace(char, FOLDING[ord(char)])
    return text


def _fold_run(run: re.Match[str]) -> str:
    return _folded(run[0]) if len(run[0]) <= SHORT else SIMPLE_OR_NOT.sub(_fold_piece, run[0])


@lru_cache(maxsize=8192)
def _folded(run: str) -> str:
    return run.translate(FOLDING)


def _fold_piece(piece: re.Match[str]) -> str:
    return f" {' '.join(piece[0])} " if piece.lastindex else piece[0].translate(FOLDING)


def _spaced(char: str) -> str:
    """A character that belongs to a word, alone if its script has no spaces; else what stands for it."""
    if char.isascii():
        return char
    kind = unicodedata.category(char)
    if kind[0] in "LMN":
        return f" {char} " if _is_in(char, SPACELESS) else char
    return "" if kind == "Cf" and char != ZERO_WIDTH_SPACE else " "


def _is_in(char: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= ord(char) <= last for first, last in ranges)


def spans_of(text: str) -> tuple[list[Span], list[Span]]:
    """Every word of a text in NFC with its place, and the pieces of its camelCase words with theirs."""
    words: list[Span] = []
    pieces: list[Span] = []
    for run in RUN.finditer(text):
        word, start = run[0], run.start()
        if word.islower() and word.isascii():  # most are
            words.append((word[:LONGEST], start, start + len(word)))
            continue
        for cased, first, last in ((word, start, run.end()),) if word.isascii() else _spans_of_run(run):
            words.append((settled(cased), first, last))
            pieces += _spans_of_pieces(cased, first, last)
    return words, pieces


def _spans_of_run(run: re.Match[str]) -> Iterator[Span]:
    letters: list[str] = []
    start = end = 0
    for place, char in enumerate(run[0], run.start()):
        for letter in char if char.isascii() else FOLDING[ord(char)]:
            if letter.isascii() and not letter.isalnum():
                if letters:
                    yield "".join(letters), start, end
                letters = []
                continue
            start = start if letters else place
            end = place + 1
            letters.append(letter)
    if letters:
        yield "".join(letters), start, end


def _spans_of_pieces(word: str, start: int, end: int) -> Iterator[Span]:
    exact = end - start == len(word)
    place = start
    for piece in camel_pieces(word):
        after = place + len(piece)
        yield (settled(piece), place, after) if exact else (settled(piece), start, end)
        place = after
