"""What a conversion could not carry, told one by one."""

from hashlib import sha256
from typing import NamedTuple

from partita.types.json import Json, dumps

SHOWN = 100
"""How many characters of a lost value a loss shows."""


class Loss(NamedTuple):
    """One thing that did not survive: where it was, what it was, and why it could not be carried."""

    path: str
    what: str
    why: str

    @classmethod
    def of(cls, path: str, value: Json, why: str) -> "Loss":
        """The loss of a JSON value."""
        return cls(path, shown(value), why)

    def __str__(self) -> str:
        return f"{self.path}: {self.what} ({self.why})"


def shown(value: Json) -> str:
    """A value as a loss shows it: whole when short, else its beginning, length and digest."""
    text = dumps(value).decode()
    if len(text) <= SHOWN:
        return text
    digest = sha256(text.encode()).hexdigest()[:8]
    return f"{text[: SHOWN - 40]}… ({len(text)} characters, sha256 {digest})"
