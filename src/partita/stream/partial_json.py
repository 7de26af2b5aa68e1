"""Incomplete JSON text → value, by the repair rules of `parsePartialJson` in the npm package `ai`.

`PartialJson` keeps its state between reads, so deltas are scanned once however often the value is read.
While all new text belongs to one open string, as when an agent writes a file, the value is not parsed again.

There is one intended difference: JavaScript parses any depth; here a value nested about a thousand levels
deep fails to parse.
"""

import re
from collections.abc import Callable
from enum import StrEnum, auto
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from partita.errors import DecodeError, FormatError
from partita.types.json import Json, has_surrogates, is_array, is_object, join_surrogates, loads

# The open string at the end of a value: while it grows, the rest of the value need not be parsed again.

# Complete characters of a string: plain characters and escapes, except those of surrogates.
_INSIDE = re.compile(
    r"""(?:[^"\\\x00-\x1f\ud800-\udfff]+|\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}))*"""
)


class OpenString:
    """The open string of a value, and the text that was added to it."""

    def __init__(self, root: Json, path: list[Any]) -> None:
        self._root = root
        self._path = path  # keys and indices, from the root to the string
        self._added: list[str] = []

    @classmethod
    def find(cls, root: Json, strings: int) -> "OpenString | None":
        """The open string of a value whose text contains that many strings and keys.

        It is the last string, unless a key is repeated: then the value contains fewer strings than its text,
        and its members are not in the order of the text.
        """
        path: list[Any] = []
        value = root
        while is_object(value) or is_array(value):
            if not value:
                return None
            path.append(next(reversed(value)) if is_object(value) else len(value) - 1)
            value = value[path[-1]]
        return cls(root, path) if isinstance(value, str) and _strings(root) == strings else None

    def take(self, added: str) -> bool:
        """Add text, if all of it belongs to the string; return whether it was added."""
        if not _INSIDE.fullmatch(added):
            return False
        self._added.append(added)
        return True

    def value(self) -> Json:
        """The value with the text that was added; the containers around the string are copied."""
        if self._added:
            added = "".join(self._added)
            self._added.clear()
            self._root = _extended(self._root, self._path, loads(f'"{added}"') if "\\" in added else added)
        return self._root


def _extended(value: Json, path: list[Any], added: str) -> Json:
    if not path:
        return value + added
    copy = value.copy()
    copy[path[0]] = _extended(value[path[0]], path[1:], added)
    return copy


def _strings(value: Json) -> int:
    """How many strings and keys a value contains."""
    count, stack = 0, [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            count += 1
        elif is_object(item):
            count += len(item)
            stack.extend(item.values())
        elif is_array(item):
            stack.extend(item)
    return count


# The repair of incomplete JSON text: one scan from left to right, by the rules of the npm package `ai`.
#
# It keeps the position of the last valid character and the containers that are open there; the text is cut
# after that character and closed from the inside out. It does not check the whole grammar: the parser does.


# The states of the scan are named after what was read: AFTER_KEY expects a colon, and so on.
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
    """The states that replace the innermost state, and whether the text is kept up to here."""

    becomes: tuple[_At, ...]
    keep: bool


_Moves: TypeAlias = dict[_At, dict[str, _Move]]


class _Rules(NamedTuple):
    moves: _Moves
    runs: dict[_At, re.Pattern[str]]
    """By state, the run of characters that is skipped at once, up to a character with a move."""
    kept: frozenset[_At]
    """States in which skipped characters are kept."""
    needs_digits: bool
    """Whether a unicode escape is kept only with all four digits."""


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


# Characters that are not listed are skipped.
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
    if version < 7:  # `[x` and `[-` are kept unchanged, so they fail to parse
        moves[_At.ARRAY_START] = {
            char: move._replace(keep=True) for char, move in _MOVES[_At.ARRAY_START].items()
        }
        kept.add(_At.ARRAY_START)
    runs = {state: f"[^{re.escape(''.join(by_char))}]*" for state, by_char in moves.items()}
    # Complete escapes belong to the run of a string. The limit bounds the memory of the regex engine.
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
    """The state of the scan: the open containers, innermost last, and the length of the text to keep."""

    def __init__(self, version: int) -> None:
        self._rules = _rules_of(version)
        self._open = [_At.ROOT]
        self._position = 0
        self._keep = 0  # length of the text to keep
        self._literal = 0  # the start of the current literal
        self._hex_digits = 0
        self.strings = 0  # the number of strings and keys that were opened
        self._half = False  # whether the last character scanned was the first half of a surrogate pair

    def scan(self, text: str) -> None:
        """Scan to the end of `text`, which starts with the text that was scanned before."""
        position = self._position
        if self._half and text[position - 1] > "\uffff":
            position -= 1  # the second half: it is scanned in the state that the first half left
        while position < len(text) and self._open[-1] is not _At.END:
            state = self._open[-1]
            run = self._rules.runs.get(state)
            position = self._pass_run(run, text, position) if run else _PASSES[state](self, text, position)
        self._position = len(text)
        self._half = "\ud800" <= text[-1:] <= "\udbff"

    def skip(self, position: int) -> None:
        """Skip text that is entirely inside the open string."""
        self._position = self._keep = position

    def is_in_string(self, text: str) -> bool:
        """Whether `text`, which was scanned last, ends inside a string, between two complete characters."""
        return self._open[-1] is _At.STRING and self._keep == len(text) and not self._half

    def apply(self, text: str) -> str:
        """`text`, which was scanned last, cut to the length to keep, and closed."""
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
        """One digit of a unicode escape; other characters are skipped."""
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
        # JavaScript counts UTF-16 units: the first one ended the value, the second is scanned next.
        return position if char > "\uffff" else position + 1

    def _move(self, move: _Move, position: int) -> None:
        self._open[-1:] = move.becomes
        if move.keep:
            self._keep = position + 1
        if self._open[-1] is _At.LITERAL:
            self._literal = position
        elif self._open[-1] in (_At.STRING, _At.KEY):
            self.strings += 1


# The states in which more than a run of characters is skipped.
_PASSES: dict[_At, Callable[[Repair, str, int], int]] = {
    _At.ESCAPE: Repair.pass_escaped,
    _At.UNICODE: Repair.pass_hex_digit,
    _At.NUMBER: Repair.pass_number,
    _At.LITERAL: Repair.pass_literal,
}


# JSON from untrusted sources, without keys that could change a JavaScript prototype.

_HALF = re.compile(r"\\.|[\ud800-\udfff]", re.DOTALL)
# Letters of the forbidden keys as escapes, which are hardly used otherwise.
_ESCAPED_LETTER = re.compile(r"\\u00(?:5f|6[3ef]|7[02345])", re.IGNORECASE)


def secure_loads(text: str) -> Json:
    """The value of a JSON text. A key that could change a JavaScript prototype is refused."""
    value = loads(_spell_out_halves(text))
    if may_be_forbidden(text):
        _refuse_forbidden_keys(value)
    return value


def _spell_out_halves(text: str) -> str:
    """`text` with lone surrogates as escapes, so that they combine with escaped ones, as in JavaScript."""
    if text.isascii() or not has_surrogates(text):
        return text
    return _HALF.sub(lambda match: match[0] if len(match[0]) == 2 else f"\\u{ord(match[0]):04x}", text)


def may_be_forbidden(text: str) -> bool:
    """Whether a JSON text may contain a forbidden key and must be checked; nearly none does."""
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


_WHITESPACE = " \t\n\r"
_BRACKETS = {"{": "}", "[": "]", '"': '"'}

ParseState: TypeAlias = Literal["undefined-input", "successful-parse", "repaired-parse", "failed-parse"]


class Parsed(msgspec.Struct, frozen=True):
    """The value of incomplete JSON; `UNSET` if there is none."""

    state: ParseState
    value: Json = msgspec.UNSET


class PartialJson:
    """JSON text that arrives in deltas, and its current value."""

    def __init__(self, text: str = "", version: int = 7) -> None:
        self._text = join_surrogates(text)
        self._deltas: list[str] = []
        self._repair = Repair(version)
        self._parsed: Parsed | None = None
        self._growing: OpenString | None = None

    def feed(self, delta: str) -> None:
        """Add the next piece of text, which is scanned on the next read."""
        self._deltas.append(delta)
        self._parsed = None

    @property
    def text(self) -> str:
        """The text so far."""
        if self._deltas:
            self._take("".join(self._deltas))
        return self._text

    def read(self) -> Parsed:
        """The value of the text so far. The same object is returned until the next delta."""
        if self._parsed is None:
            if self._deltas:
                self._take("".join(self._deltas))
            self._parsed = self._grown() or self._parse()
        return self._parsed

    def _take(self, added: str) -> None:
        self._deltas.clear()
        if self._growing is not None and not self._growing.take(added):
            self._growing = None
        # A delta may end between the two halves of a surrogate pair.
        last = self._text[-1:]
        if "\ud800" <= last <= "\udbff":
            self._text = self._text[:-1] + join_surrogates(last + added)
        else:
            self._text += join_surrogates(added)

    def _grown(self) -> Parsed | None:
        """The value, if all text since it was parsed belongs to its open string."""
        if self._growing is None:
            return None
        self._repair.skip(len(self._text))
        return Parsed("repaired-parse", self._growing.value())

    def _parse(self) -> Parsed:
        text = self._text
        if _may_be_whole(text):
            try:
                return Parsed("successful-parse", secure_loads(text))
            except DecodeError:
                pass
        self._repair.scan(text)
        try:
            value = secure_loads(self._repair.apply(text))
        except DecodeError:
            return Parsed("failed-parse")
        if self._repair.is_in_string(text):
            self._growing = OpenString.find(value, self._repair.strings)
        return Parsed("repaired-parse", value)


def parse_partial_json(text: str | None, version: int = 7) -> Parsed:
    """The value of incomplete JSON text, as that major version of `ai` reads it."""
    return Parsed("undefined-input") if text is None else PartialJson(text, version).read()


def _may_be_whole(text: str) -> bool:
    """Whether `text` may be complete JSON, judging by its first and last character."""
    first, last = text.lstrip(_WHITESPACE)[:1], text.rstrip(_WHITESPACE)[-1:]
    return _BRACKETS.get(first, last) == last
