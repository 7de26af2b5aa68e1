"""Pictures and files inside raw lines: base64 that no compression makes smaller.

When a log is sealed they are taken out and kept as blobs, once, shared with the message that shows them; when
it is read they are put back where they were, byte for byte.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import NamedTuple

SHORTEST = 4096
"""How many characters of base64 are worth a blob."""

BASE64 = re.compile(rb"[A-Za-z0-9+/]{%d,}={0,2}" % SHORTEST)


class Cut(NamedTuple):
    """What was taken out: where it stood in what is left, and the hash of its bytes."""

    place: int
    hash: str


class Stripped(NamedTuple):
    """A line without its pictures, where they were, and their bytes by hash."""

    rest: bytes
    cuts: tuple[Cut, ...]
    pictures: dict[str, bytes]


def take_out(raw: bytes) -> Stripped:
    """A line without its pictures."""
    if len(raw) < SHORTEST or not _may_hold_one(raw):
        return Stripped(raw, (), {})
    kept: list[bytes] = []
    cuts: list[Cut] = []
    pictures: dict[str, bytes] = {}
    start = length = 0
    for match in BASE64.finditer(raw):
        end = match.start() + len(match.group()) // 4 * 4
        data = _decoded(raw[match.start() : end])
        if data is None:
            continue
        kept.append(raw[start : match.start()])
        length += len(kept[-1])
        cuts.append(Cut(length, sha256(data).hexdigest()))
        pictures[cuts[-1].hash] = data
        start = end
    kept.append(raw[start:])
    return Stripped(b"".join(kept), tuple(cuts), pictures)


def _may_hold_one(raw: bytes) -> bool:
    """Whether anything between two marks is long enough; base64 holds none of them. Much cheaper to ask."""
    return any(
        len(piece) >= SHORTEST
        for quoted in raw.split(b'"')
        if len(quoted) >= SHORTEST
        for piece in quoted.split()
    )


def _decoded(text: bytes) -> bytes | None:
    """The bytes of base64, if they are written again as the same text."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.b64encode(data) == text else None


def put_back(rest: bytes, cuts: Iterable[Cut], pictures: Mapping[str, bytes]) -> bytes:
    """The line as it was."""
    pieces: list[bytes] = []
    start = 0
    for place, digest in cuts:
        pieces += (rest[start:place], base64.b64encode(pictures[digest]))
        start = place
    return b"".join([*pieces, rest[start:]])
