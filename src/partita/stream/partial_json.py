"""Incomplete JSON text → value, by the repair rules of `parsePartialJson` in the npm package `ai`.

The repair is one scan from left to right that remembers the last character worth keeping and what is
still open there; the text is cut after that character and closed from the inside out. It looks at no
more of the grammar than it must: whether the result is JSON is for the parser to say. `PartialJson`
keeps the scan between reads, so a stream of deltas is scanned once however often it is read.

One difference is on purpose: JavaScript parses any depth, here a value nested about a thousand levels
deep is a failed parse.
"""

import re
from collections.abc import Callable
from enum import StrEnum, auto
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from partita.errors import DecodeError, FormatError
from partita.types.json import Json, has_surrogates, heal, is_array, is_object, loads

ParseState: TypeAlias = Literal["undefined-input", "successful-parse", "repaired-parse", "failed-parse"]


class Parsed(msgspec.Struct, frozen=True):
    """What a text so far amounts to; `value` is `UNSET` when it amounts to nothing."""

    state: ParseState
    value: Json = msgspec.UNSET


class PartialJson:
    """JSON text that arrives in deltas, and its value whenever somebody asks."""

    def __init__(self, text: str = "", version: int = 7) -> None:
        self._text = heal(text)
        self._deltas: list[str] = []
        self._repair = _Repair(_rules_of(version))
        self._parsed: Parsed | None = None

    def feed(self, delta: str) -> None:
        """Take the next piece of text; it is not looked at before the next read."""
        self._deltas.append(delta)
        self._parsed = None

    @property
    def text(self) -> str:
        """The text so far."""
        if self._deltas:
            # The seam is healed too: a delta may end between the halves of a surrogate pair.
            last = self._text[-1:]
            self._text = self._text[:-1] + heal(last + "".join(self._deltas))
            self._deltas.clear()
        return self._text

    def read(self) -> Parsed:
        """The value of the text so far; the very same one until the next delta, so do not change it."""
        if self._parsed is None:
            self._parsed = self._parse()
        return self._parsed

    def _parse(self) -> Parsed:
        text = self.text
        if _may_be_whole(text):
            try:
                return Parsed("successful-parse", secure_loads(text))
            except DecodeError:
                pass
        self._repair.scan(text)
        try:
            return Parsed("repaired-parse", secure_loads(self._repair.apply(text)))
        except DecodeError:
            return Parsed("failed-parse")


def parse_partial_json(text: str | None, version: int = 7) -> Parsed:
    """The value of JSON text that may stop anywhere, as `ai` of that major version reads it."""
    return Parsed("undefined-input") if text is None else PartialJson(text, version).read()


def secure_loads(text: str) -> Json:
    """The value of a JSON text, unless it holds a key that could reach a JavaScript prototype."""
    value = loads(_spell_out_halves(text))
    if _may_be_forbidden(text):
        _refuse_forbidden_keys(value)
    return value


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


class _Repair:
    """The scan so far: what is open, innermost last, and how much of the text is worth keeping."""

    def __init__(self, rules: _Rules) -> None:
        self._rules = rules
        self._open = [_At.ROOT]
        self._position = 0
        self._keep = 0  # length of the text worth keeping
        self._literal = 0  # where the literal being read begins
        self._hex_digits = 0
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
        unicode = text[position] == "u" and self._rules.needs_digits
        self._move(_Move((_At.UNICODE,), keep=False) if unicode else _CLOSED, position)
        return position + 1

    def pass_hex_digit(self, text: str, position: int) -> int:
        digit = _HEX_DIGIT.search(text, position)
        if digit is None:
            return len(text)
        self._hex_digits += 1
        if self._hex_digits == 4:
            self._hex_digits = 0
            self._move(_CLOSED, digit.start())
        return digit.end()

    def pass_number(self, text: str, position: int) -> int:
        run = _NUMBER_RUN.match(text, position)
        assert run is not None  # it matches the empty text
        if up_to_digit := run[0].rstrip("eE.-"):
            self._keep = position + len(up_to_digit)
        return self._leave(text, run.end())

    def pass_literal(self, text: str, position: int) -> int:
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


# What is passed over in states where that takes more than a run of characters.
_PASSES: dict[_At, Callable[[_Repair, str, int], int]] = {
    _At.ESCAPE: _Repair.pass_escaped,
    _At.UNICODE: _Repair.pass_hex_digit,
    _At.NUMBER: _Repair.pass_number,
    _At.LITERAL: _Repair.pass_literal,
}

# The parser.
_WHITESPACE = " \t\n\r"
_BRACKETS = {"{": "}", "[": "]", '"': '"'}
_HALF = re.compile(r"\\.|[\ud800-\udfff]", re.DOTALL)
# Letters of the forbidden words, written as escapes. Hardly anything else escapes these.
_ESCAPED_LETTER = re.compile(r"\\u00(?:5f|6[3ef]|7[02345])", re.IGNORECASE)


def _may_be_whole(text: str) -> bool:
    """Whether the first and the last character let `text` be complete JSON. Most prefixes fail here."""
    first, last = text.lstrip(_WHITESPACE)[:1], text.rstrip(_WHITESPACE)[-1:]
    return _BRACKETS.get(first, last) == last


def _spell_out_halves(text: str) -> str:
    """`text` with lone surrogates as escapes, so that they join an escaped other half, as in JavaScript."""
    if text.isascii() or not has_surrogates(text):
        return text
    return _HALF.sub(lambda match: match[0] if len(match[0]) == 2 else f"\\u{ord(match[0]):04x}", text)


def _may_be_forbidden(text: str) -> bool:
    return (
        "__proto__" in text
        or "constructor" in text
        or ("\\u00" in text and _ESCAPED_LETTER.search(text) is not None)
    )


def _refuse_forbidden_keys(value: Json) -> None:
    pending = [("$", value)]
    while pending:
        path, node = pending.pop()
        if is_object(node):
            _refuse_forbidden_members(node, path)
            pending.extend((f"{path}.{key}", item) for key, item in node.items())
        elif is_array(node):
            pending.extend((f"{path}[{index}]", item) for index, item in enumerate(node))


def _refuse_forbidden_members(node: dict[str, Json], path: str) -> None:
    constructor = node.get("constructor")
    if "__proto__" in node:
        key = "__proto__"
    elif is_object(constructor) and "prototype" in constructor:
        key = "constructor.prototype"
    else:
        return
    raise DecodeError(
        f"forbidden key {key!r}",
        where=f"{path}.{key}",
        hint="rename it: JavaScript readers refuse it, as it could change every object",
    )
