"""What a conversion could not carry, told one by one."""

from hashlib import sha256
from typing import Literal, NamedTuple, TypeAlias

from partita.types.codec import encode
from partita.types.json import Json

SHOWN = 100
"""How many characters of a lost value a loss shows."""

BEGINNING = SHOWN - 40
"""How many it shows of a longer one."""


Severity: TypeAlias = Literal["lost", "changed", "repaired", "minor"]
"""How bad it is.

`lost`: it is gone. `changed`: it is there in another form, and cannot be told from what had that form before.
`repaired`: something was added, moved or renamed because the target insists on it. `minor`: it is gone and
nobody who reads the messages will miss it, such as padding and counters of a stream.
"""


class Loss(NamedTuple):
    """One thing that did not survive: where it was, what it was, why, and how bad that is."""

    path: str
    what: str
    why: str
    severity: Severity = "lost"

    @classmethod
    def of(cls, path: str, value: Json, why: str, severity: Severity = "lost") -> "Loss":
        """The loss of a JSON value, or of one of ours."""
        return cls._make((path, shown(value), why, severity))  # in less time than `cls(…)` takes

    def __str__(self) -> str:
        return f"{self.path}: {self.what} ({self.why})"


def shown(value: Json) -> str:
    """A value as a loss shows it: whole when short, else its beginning, length and digest."""
    written = encode(value)
    text = written.decode()
    length = len(text)
    if length <= SHOWN:
        return text
    return f"{text[:BEGINNING]}… ({length} characters, sha256 {sha256(written).hexdigest()[:8]})"
