"""Where a JSON value ends in bytes that contain more than it, less than it, or something else.

A parser refuses such bytes as a whole; a scan finds out how far they are valid. It builds nothing and does
not recurse, so huge and deep values are not a problem. It is as lenient as `recovery`: strings may contain
control characters and bytes that are not UTF-8, and `NaN` and `Infinity` are numbers.
"""

import re
from enum import Enum, auto
from typing import Final, Literal, TypeAlias


class State(Enum):
    """What the bytes so far are."""

    OPEN = auto()  # the start of a value
    WHOLE = auto()
    BROKEN = auto()


_Expected: TypeAlias = Literal[
    "value",
    "item or ]",
    "key or }",
    "key",
    "colon",
    "comma or ]",
    "comma or }",
    "end",  # of a value: what is expected after it depends on what it is in
]

# What is expected after a token, by what was expected before it. A closing bracket need not be compared with
# the opening one: a `}` is only expected inside an object.
_AFTER: Final[dict[tuple[_Expected, str | None], _Expected]] = {
    ("value", "object"): "key or }",
    ("value", "array"): "item or ]",
    ("value", "string"): "end",
    ("value", "scalar"): "end",
    ("item or ]", "object"): "key or }",
    ("item or ]", "array"): "item or ]",
    ("item or ]", "string"): "end",
    ("item or ]", "scalar"): "end",
    ("item or ]", "array_end"): "end",
    ("key or }", "string"): "colon",
    ("key or }", "object_end"): "end",
    ("key", "string"): "colon",
    ("colon", "colon"): "value",
    ("comma or ]", "comma"): "value",
    ("comma or ]", "array_end"): "end",
    ("comma or }", "comma"): "key",
    ("comma or }", "object_end"): "end",
}

_BODY = rb'[^"\\]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*+)*+'
_STRING_BODY = re.compile(_BODY)
_TOKEN = re.compile(
    rb"[ \t\r\n]*+(?:"
    rb'(?P<string>"' + _BODY + rb'")'
    rb"|(?P<comma>,)|(?P<colon>:)|(?P<object>\{)|(?P<object_end>\})|(?P<array>\[)|(?P<array_end>\])"
    rb"|(?P<scalar>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null|NaN|-?Infinity)"
    rb'|(?P<open_string>")'
    rb")?"
)


class Scan:
    """One value, read in as many pieces as it comes in. A piece must not end inside a number or a literal."""

    def __init__(self) -> None:
        self.state = State.OPEN
        self._expected: _Expected = "value"
        self._in_string = False
        self._brackets = bytearray()  # those that are open

    def feed(self, data: bytes, start: int = 0) -> int:
        """Continue at `start`; returns where the value ended or broke, or the end of `data`."""
        position = self._end_string(data, start) if self._in_string else start
        while self.state is State.OPEN and position < len(data):
            match = _TOKEN.match(data, position)
            assert match is not None  # everything in it may be absent
            position = match.end()
            token = match.lastgroup
            after = _AFTER.get((self._expected, token))
            if after == "end":
                self._end(token)
            elif after is not None:
                self._expected = after
                if token in ("object", "array"):
                    self._brackets += match[token]
            elif token == "open_string" and (self._expected, "string") in _AFTER:
                position = self._end_string(data, position)
            elif token is not None:
                self.state = State.BROKEN
                position = match.start(token)
            elif position < len(data):
                self.state = State.BROKEN
        return position

    def _end(self, token: str | None) -> None:
        """A value ended: with a bracket, or because it is a string or a scalar."""
        if token in ("object_end", "array_end"):
            del self._brackets[-1]
        if not self._brackets:
            self.state = State.WHOLE
        else:
            self._expected = "comma or }" if self._brackets.endswith(b"{") else "comma or ]"

    def _end_string(self, data: bytes, start: int) -> int:
        """Continue in a string that started in an earlier piece, or that is broken."""
        match = _STRING_BODY.match(data, start)
        assert match is not None  # it may be empty
        end = match.end()
        self._in_string = end == len(data)
        if self._in_string:
            return end
        if data[end : end + 1] != b'"':  # an invalid escape
            self.state = State.BROKEN
            return end
        after = _AFTER[self._expected, "string"]
        if after == "end":
            self._end("string")
        else:
            self._expected = after
        return end + 1
