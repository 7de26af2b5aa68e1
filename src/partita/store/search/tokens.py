"""The tokens of a text: the same on both engines, in the index and in queries.

A token is a run of letters and digits, without diacritics, in lower case. In scripts that are written without
spaces every character is a token, so that a phrase finds any part of a text. A camelCase word also gives a
token for each of its parts, its subwords. The engines receive tokens separated by spaces and split at spaces
only, so their own rules for Unicode never apply.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TypeAlias

LONGEST = 64
"""The number of characters of a token that are indexed: enough for a SHA-256 in hex."""

# Translating bytes is ten times as fast as translating text.
PUNCTUATION = bytes(code if chr(code).isalnum() else ord(" ") for code in range(256))
MAX_FOLDED = 3
"""Case folding turns a character into at most this many."""

SHAPE = bytes(
    ord("A") if chr(code).isupper() else ord("a") if chr(code).isalnum() else ord(" ") for code in range(256)
)
TOO_LONG = b"a" * (LONGEST + 1)

SIMPLE = r"\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
"""Most of Han, Kana and Hangul: every character is a token and needs no folding."""

NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
SIMPLE_OR_NOT = re.compile(rf"([{SIMPLE}]+)|[^{SIMPLE}]+")
ASCII_PUNCTUATION = re.compile(r"[\x00-\x1f!-/:-@\[-`{-\x7f]+")
SUBWORD = re.compile(r"[A-Z]+(?![^A-Z0-9])[0-9]*|[A-Z]?[^A-Z]+")  # of getUserName, HTTPServer, sha256Hash
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
"""A run of letters up to this length is likely to be a word that occurs again, so its folding is cached."""

ZERO_WIDTH_SPACE = "\u200b"


Span: TypeAlias = tuple[str, int, int]
"""A token with its start and end in a text."""


def index_text(text: str) -> str:
    """The tokens of a text, separated by spaces; the subwords of camelCase words follow at the end."""
    if text.isascii():
        return _indexed_ascii(text.encode().translate(PUNCTUATION)) if text else ""
    plain = fold_and_separate(text)
    if plain.isascii():  # dashes, arrows and ticks are punctuation: most texts are ASCII without them
        return _indexed_ascii(plain.encode())
    words = dict.fromkeys(plain.split())
    return _lower_case(plain, words, max(map(len, words), default=0) * MAX_FOLDED > LONGEST)


def _indexed_ascii(plain: bytes) -> str:
    shape = plain.translate(SHAPE)
    lower = plain.lower()
    no_capitals = lower == plain
    too_long = TOO_LONG in (shape if no_capitals else shape.lower())
    if not too_long and (no_capitals or (b"aA" not in shape and b"AAa" not in shape)):
        return lower.decode()
    text = plain.decode()
    return _lower_case(text, _camel_words(text, shape), too_long)


def _lower_case(plain: str, words: Iterable[str], too_long: bool) -> str:
    """The text and the subwords of its words in lower case. Tokens that are too long are cut."""
    subwords = [subword for word in words if not word.islower() for subword in camel_subwords(word)]
    folded = (" ".join([plain, *subwords]) if subwords else plain).casefold()
    return " ".join([word[:LONGEST] for word in folded.split()]) if too_long else folded


def _camel_words(plain: str, shape: bytes) -> dict[str, None]:
    """The different words of an ASCII text in which a capital follows a small letter, or begins a subword.

    `shape` is the text with every capital replaced by `A` and every other letter by `a`: searching it for
    `aA` and `AAa` is far faster than a regular expression.
    """
    words: dict[str, None] = {}
    for boundary in (b"aA", b"AAa"):
        index = shape.find(boundary)
        while index >= 0:
            end = shape.find(b" ", index)
            end = len(shape) if end < 0 else end
            words[plain[shape.rfind(b" ", 0, index) + 1 : end]] = None
            index = shape.find(boundary, end)
    return words


def _without_punctuation(ascii_text: str) -> str:
    return ascii_text.encode().translate(PUNCTUATION).decode()


def tokens_of(text: str) -> list[str]:
    """The tokens of a text, without the subwords of camelCase words."""
    return [as_token(word) for word in fold_and_separate(text).split()]


def subwords_of(text: str) -> list[str]:
    """The tokens of a text, each camelCase word replaced by its subwords."""
    words = fold_and_separate(text).split()
    return [as_token(subword) for word in words for subword in camel_subwords(word) or (word,)]


def fold_and_separate(text: str) -> str:
    """A text without diacritics and with spaces for punctuation, its case unchanged."""
    if text.isascii():
        return _without_punctuation(text)
    folded = _folded_text(unicodedata.normalize("NFC", text))
    return _without_punctuation(folded) if folded.isascii() else ASCII_PUNCTUATION.sub(" ", folded)


def as_token(word: str) -> str:
    """A word as the index holds it: in lower case, and cut if it is too long."""
    return word.casefold()[:LONGEST]


def camel_subwords(word: str) -> list[str]:
    """`get`, `User`, `Name` of `getUserName`; an empty list for a word with one subword only."""
    tail = word[1:]
    if tail == tail.lower() or word.isupper():
        return []
    subwords = SUBWORD.findall(word[:LONGEST])
    return subwords if len(subwords) > 1 else []


class _Folding(dict[int, str]):
    """What each character is replaced by, computed when it first occurs."""

    def __missing__(self, code: int) -> str:
        decomposed = unicodedata.normalize("NFKD", chr(code))
        bare = "".join(char for char in decomposed if not _is_in(char, DIACRITICS))
        folded = self[code] = "".join(map(_spaced, unicodedata.normalize("NFC", bare)))
        return folded


FOLDING = _Folding()
ASCII = bytes(range(128))
FEW = 24
"""Up to this many different characters are replaced one after the other with `str.replace`."""


def _folded_text(text: str) -> str:
    """A text with every character folded. Most texts have few different ones that need it, such as dashes."""
    # Bytes are filtered five times as fast as by a regular expression.
    encoded = text.encode("utf-8", "surrogatepass").translate(None, ASCII)
    not_ascii = frozenset(encoded.decode("utf-8", "surrogatepass"))
    if len(not_ascii) > FEW:
        return NOT_ASCII.sub(_fold_run, text)
    for char in not_ascii:
        text = text.replace(char, FOLDING[ord(char)])
    return text


def _fold_run(run: re.Match[str]) -> str:
    return _folded(run[0]) if len(run[0]) <= SHORT else SIMPLE_OR_NOT.sub(_fold_part, run[0])


@lru_cache(maxsize=8192)
def _folded(run: str) -> str:
    return run.translate(FOLDING)


def _fold_part(part: re.Match[str]) -> str:
    return f" {' '.join(part[0])} " if part.lastindex else part[0].translate(FOLDING)


def _spaced(char: str) -> str:
    """A letter or digit, between spaces if its script has none; a space or nothing for other characters."""
    if char.isascii():
        return char
    kind = unicodedata.category(char)
    if kind[0] in "LMN":
        return f" {char} " if _is_in(char, SPACELESS) else char
    return "" if kind == "Cf" and char != ZERO_WIDTH_SPACE else " "


def _is_in(char: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= ord(char) <= last for first, last in ranges)


def token_spans(text: str) -> tuple[list[Span], list[Span]]:
    """The tokens of a text in NFC with their positions, and the subwords of its camelCase words."""
    tokens: list[Span] = []
    subwords: list[Span] = []
    for run in RUN.finditer(text):
        word, start = run[0], run.start()
        if word.islower() and word.isascii():  # most are
            tokens.append((word[:LONGEST], start, start + len(word)))
            continue
        for cased, first, last in ((word, start, run.end()),) if word.isascii() else _spans_of_run(run):
            tokens.append((as_token(cased), first, last))
            subwords += _spans_of_subwords(cased, first, last)
    return tokens, subwords


def _spans_of_run(run: re.Match[str]) -> Iterator[Span]:
    letters: list[str] = []
    start = end = 0
    for index, char in enumerate(run[0], run.start()):
        for letter in char if char.isascii() else FOLDING[ord(char)]:
            if letter.isascii() and not letter.isalnum():
                if letters:
                    yield "".join(letters), start, end
                letters = []
                continue
            start = start if letters else index
            end = index + 1
            letters.append(letter)
    if letters:
        yield "".join(letters), start, end


def _spans_of_subwords(word: str, start: int, end: int) -> Iterator[Span]:
    is_exact = end - start == len(word)
    index = start
    for subword in camel_subwords(word):
        after = index + len(subword)
        yield (as_token(subword), index, after) if is_exact else (as_token(subword), start, end)
        index = after
