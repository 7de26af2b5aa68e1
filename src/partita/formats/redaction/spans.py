"""Where a secret stands."""

from typing import NamedTuple


class Span(NamedTuple):
    """A secret in a text."""

    start: int
    end: int
    kind: str
    secret: str
