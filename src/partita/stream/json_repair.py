"""The repair of incomplete JSON text: one scan from left to right, by the rules of the npm package `ai`.

It remembers the last character worth keeping and what is still open there; the text is cut after that
character and closed from the inside out. It looks at no more of the grammar than it must: whether the
result is JSON is for the parser to say.
"""

import re
from collections.abc import Callable
from enum import StrEnum, auto
from typing import NamedTuple, TypeAlias

from partita.errors import FormatError


# The scan. Names follow what comes next: AFTER_KEY waits for a colon, and so on.
class _At(StrEnum):
    ROOT = auto()
    END = auto()
    STRING = auto()
    ESCAPE = auto()
    UNICODE = auto()
    LITERAL = auto()
    NUMBER = auto()
    OBJECT_START = auto()
    KEY = auto()
    AFTER_KEY = auto()
    BEFORE_VALUE = auto()
    AFTER_MEMBER = auto()
    NEXT_MEMBER = auto()
    ARRAY_START = auto()
    AFTER_ITEM = auto()
    NEXT_ITEM = auto()


class _Move(NamedTuple):
    """What takes the place of the innermost state, and whether the text is worth keeping up to here."""

    becomes: tuple[_At, ...]
    keep: bool


_Moves: TypeAlias = dict[_At, dict[str, _Move]]


class _Rules(NamedTuple):
    moves: _Moves
    runs: dict[_At, re.Pattern[str]]
    """By state, what is passed over in one go, up to a character with a move."""
    kept: frozenset[_At]
    """States where what is passed over is worth keeping."""
    needs_digits: bool
    """Whether a unicode escape is worth keeping only with its four digits."""


_CLOSED = _Move((), keep=True)


def _value_then(after: _At) -> dict[str, _Move]:
    opens = {
        '"': _At.STRING,
        "{": _At.OBJECT_START,
        "[": _At.ARRAY_START,
        **dict.fromkeys("tfn", _At.LITERAL),
        **dict.fromkeys("-0123456789", _At.NUMBER),
    }
    return {char: _Move((after, state), keep=char != "-") for char, state in opens.items()}


# A character that is missing here is passed over.
_MOVES: _Moves = {
    _At.ROOT: _value_then(_At.END),
    _At.STRING: {'"': _CLOSED, "\\": _Move((_At.STRING, _At.ESCAPE), keep=False)},
    _At.OBJECT_START: {'"': _Move((_At.KEY,), keep=False), "}": _CLOSED},
    _At.KEY: {'"': _Move((_At.AFTER_KEY,), keep=False)},  # an escaped quote ends a key as well
    _At.AFTER_KEY: {":": _Move((_At.BEFORE_VALUE,), keep=False)},
    _At.BEFORE_VALUE: _value_then(_At.AFTER_MEMBER),
    _At.AFTER_MEMBER: {",": _Move((_At.NEXT_MEMBER,), keep=False), "}": _CLOSED},
    _At.NEXT_MEMBER: {'"': _Move((_At.KEY,), keep=False)},
    _At.ARRAY_START: {**_value_then(_At.AFTER_ITEM), "]": _CLOSED},
    _At.AFTER_ITEM: {",": _Move((_At.NEXT_ITEM,), keep=False), "]": _CLOSED},
    _At.NEXT_ITEM: _value_then(_At.AFTER_ITEM),
}

_CLOSERS: dict[_At, str] = {
    _At.STRING: '"',
    **dict.fromkeys(
        (_At.OBJECT_START, _At.KEY, _At.AFTER_KEY, _At.BEFORE_VALUE, _At.AFTER_MEMBER, _At.NEXT_MEMBER), "}"
    ),
    **dict.fromkeys((_At.ARRAY_START, _At.AFTER_ITEM, _At.NEXT_ITEM), "]"),
}

_WORDS = {"t": "true", "f": "false", "n": "null"}
_NUMBER_RUN = re.compile(r"[0-9eE.\-]*")
_HEX_DIGIT = re.compile(r"[0-9A-Fa-f]")


def _build_rules(version: int) -> _Rules:
    moves, kept, needs_digits = dict(_MOVES), {_At.STRING, _At.AFTER_ITEM}, version >= 6
    if version < 7:  # `[x` and `[-` are kept as they are, and so cannot be parsed
        moves[_At.ARRAY_START] = {
            char: move._replace(keep=True) for char, move in _MOVES[_At.ARRAY_START].items()
        }
        kept.add(_At.ARRAY_START)
    runs = {state: f"[^{re.escape(''.join(by_char))}]*" for state, by_char in moves.items()}
    # Whole escapes belong to the run of a string. The limit is for memory: the engine notes each repetition.
    escape = r"\\(?:[^u]|u[0-9A-Fa-f]{4})" if needs_digits else r"\\[\s\S]"
    runs[_At.STRING] += rf'(?:{escape}[^"\\]*){{0,1000}}'
    compiled = {state: re.compile(run) for state, run in runs.items()}
    return _Rules(moves, compiled, frozenset(kept), needs_digits)


_RULES = {version: _build_rules(version) for version in (5, 6, 7)}


def _rules_of(version: int) -> _Rules:
    if version not in _RULES:
        raise FormatError(f"no repair rules are known for ai {version}", hint="use version 5, 6 or 7")
    return _RULES[version]


class Repair:
    """The scan so far: what is open, innermost last, and how much of the text is worth keeping."""

    def __init__(self, version: int) -> None:
        self._rules = _rules_of(version)
        self._open = [_At.ROOT]
        self._position = 0
        self._keep = 0  # length of the text worth keeping
        self._literal = 0  # where the literal being read begins
        self._hex_digits = 0
        self.strings = 0  # how many strings and keys have begun
        self._half = False  # whether the last character scanned was the first half of a surrogate pair

    def scan(self, text: str) -> None:
        """Go on to the end of `text`, which begins with all that was scanned before."""
        position = self._position
        if self._half and text[position - 1] > "\uffff":
            position -= 1  # the other half came: it meets the state that its first half left
        while position < len(text) and self._open[-1] is not _At.END:
            state = self._open[-1]
            run = self._rules.runs.get(state)
            position = self._pass_run(run, text, position) if run else _PASSES[state](self, text, position)
        self._position = len(text)
        self._half = "\ud800" <= text[-1:] <= "\udbff"

    def skip(self, position: int) -> None:
        """Pass over text that is all inside the open string."""
        self._position = self._keep = position

    def is_in_string(self, text: str) -> bool:
        """Whether `text`, which was scanned last, ends inside a string, between two whole characters."""
        return self._open[-1] is _At.STRING and self._keep == len(text) and not self._half

    def apply(self, text: str) -> str:
        """`text` cut after what is worth keeping and closed; `text` is what was scanned last."""
        closers = "".join(_CLOSERS.get(state, "") for state in reversed(self._open))
        if self._open[-1] is _At.LITERAL:
            closers = _WORDS[text[self._literal]][len(text) - self._literal :] + closers
        return text[: self._keep] + closers

    def _pass_run(self, run: re.Pattern[str], text: str, position: int) -> int:
        state = self._open[-1]
        if (passed := run.match(text, position)) and passed.end() > position:
            position = passed.end()
            if state in self._rules.kept:
                self._keep = position
        move = self._rules.moves[state].get(text[position : position + 1])
        if move is None:
            return position
        self._move(move, position)
        return position + 1

    def pass_escaped(self, text: str, position: int) -> int:
        """The character after a backslash."""
        unicode = text[position] == "u" and self._rules.needs_digits
        self._move(_Move((_At.UNICODE,), keep=False) if unicode else _CLOSED, position)
        return position + 1

    def pass_hex_digit(self, text: str, position: int) -> int:
        """One digit of a unicode escape; whatever stands between is passed over."""
        digit = _HEX_DIGIT.search(text, position)
        if digit is None:
            return len(text)
        self._hex_digits += 1
        if self._hex_digits == 4:
            self._hex_digits = 0
            self._move(_CLOSED, digit.start())
        return digit.end()

    def pass_number(self, text: str, position: int) -> int:
        """A number, up to the character that ends it."""
        run = _NUMBER_RUN.match(text, position)
        assert run is not None  # it matches the empty text
        if up_to_digit := run[0].rstrip("eE.-"):
            self._keep = position + len(up_to_digit)
        return self._leave(text, run.end())

    def pass_literal(self, text: str, position: int) -> int:
        """`true`, `false` or `null`, up to the character that ends it."""
        start, word = self._literal, _WORDS[text[self._literal]]
        while position < len(text) and text[position] == word[position - start : position - start + 1]:
            position += 1
            self._keep = position
        return self._leave(text, position)

    def _leave(self, text: str, position: int) -> int:
        """End the number or literal before `position`, where another character ends it."""
        if position == len(text):
            return position
        self._open.pop()
        char = text[position]
        if move := self._rules.moves.get(self._open[-1], {}).get(char):
            self._move(move, position)
        # JavaScript counts halves: the first one ended the value, the second is still to be seen.
        return position if char > "\uffff" else position + 1

    def _move(self, move: _Move, position: int) -> None:
        self._open[-1:] = move.becomes
        if move.keep:
            self._keep = position + 1
        if self._open[-1] is _At.LITERAL:
            self._literal = position
        elif self._open[-1] in (_At.STRING, _At.KEY):
            self.strings += 1


# What is passed over in states where that takes more than a run of characters.
_PASSES: dict[_At, Callable[[Repair, str, int], int]] = {
    _At.ESCAPE: Repair.pass_escaped,
    _At.UNICODE: Repair.pass_hex_digit,
    _At.NUMBER: Repair.pass_number,
    _At.LITERAL: Repair.pass_literal,
}
