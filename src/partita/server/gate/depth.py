"""How deep JSON is nested and how many values it has, without reading it: a few passes over the bytes."""

import re
from typing import Final

_NESTING: Final = bytes.maketrans(b"{}", b"[]")
_OTHER: Final = bytes(byte for byte in range(256) if byte not in b'[]{}"')
_BETWEEN: Final = bytes(byte for byte in range(256) if byte not in b'[{,"')
_RUNS: Final = re.compile(rb"(\[+)|\]+")


def is_deeper(text: bytes, limit: int) -> bool:
    """Whether JSON is nested deeper than that. What is not JSON may be called too deep when it is near."""
    if text.count(b"[") + text.count(b"{") <= limit:
        return False
    brackets = _brackets(text)
    for peeled in range(limit):
        # Each round takes the innermost pairs away, everywhere: one level less.
        left = brackets.replace(b"[]", b"")
        if 10 * len(left) > 9 * len(brackets):  # deep rather than wide: its slopes are few and long
            return _climbs(brackets, limit - peeled)
        brackets = left
    return bool(brackets)


def has_more_values(text: bytes, limit: int) -> bool:
    """Whether JSON has more values than that: each takes far more memory than its bytes."""
    if text.count(b",") + text.count(b"[") + text.count(b"{") <= limit:
        return False
    return len(_outside_strings(text, None, _BETWEEN)) > limit


def _brackets(text: bytes) -> bytes:
    """The brackets of JSON that are not inside strings, all as `[` and `]`."""
    return _outside_strings(text, _NESTING, _OTHER)


def _outside_strings(text: bytes, table: bytes | None, dropped: bytes) -> bytes:
    """What is left of JSON outside its strings, some bytes dropped."""
    if b'\\"' in text:  # else every quote opens or closes a string
        text = (text.replace(b"\\\\", b"") if b"\\\\" in text else text).replace(b'\\"', b"")
    marks = text.translate(table, dropped)
    # Two quotes with nothing between them may go, whether they open or close: what follows is where it was.
    marks = marks.replace(b'""', b"")
    return b"".join(marks.split(b'"')[::2]) if b'"' in marks else marks


def _climbs(brackets: bytes, limit: int) -> bool:
    """Whether brackets lead higher than that."""
    height = 0
    for slope in _RUNS.finditer(brackets):
        start, end = slope.span()
        if slope[1] is None:
            height -= end - start
        else:
            height += end - start
            if height > limit:
                return True
    return False
