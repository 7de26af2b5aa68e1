"""One record of a transport: its bytes, and what they say."""

from typing import Final, NamedTuple, Protocol

from msgspec import UNSET, UnsetType

from partita.errors import DecodeError
from partita.types.json import Json, loads

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
WHITE: Final = b" \t\r\n"


class Record(NamedTuple):
    """One record: its bytes with their framing, and what it says. `UNSET`: nothing (a comment, `[DONE]`).

    A record that is no JSON says its own text, as a string.
    """

    raw: bytes
    event: Json | UnsetType


class RecordReader(Protocol):
    """Bytes in, whole records out; they may be cut anywhere."""

    def feed(self, data: bytes) -> list[Record]:
        """The records that these bytes complete."""
        ...

    def finish(self) -> list[Record]:
        """What is left when the bytes end."""
        ...


def value_of(data: bytes) -> Json | UnsetType:
    """The JSON value of some bytes, else their text; `UNSET` for white space.

    A byte that is no UTF-8 spoils a letter, not the record: its event has the replacement character there.
    """
    bare = data.removeprefix(BYTE_ORDER_MARK).strip(WHITE)
    if not bare:
        return UNSET
    text = bare.decode(errors="replace")
    try:
        return loads(text)
    except DecodeError:
        return text
