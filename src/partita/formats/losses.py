"""What a conversion could not carry, told one by one."""

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Final, Literal, NamedTuple, TypeAlias

from partita.types.codec import encode
from partita.types.fold import Origin
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


_PLACE: Final = re.compile(r"\$\[(\d+)\](?:\.content\.parts\[(\d+)\])?")
_OF_RESULTS: Final = (
    (".resultMessage", ""),
    (".resultProviderMetadata", "providerMetadata"),
    (".output", "output"),
)
"""Members of a call that come from its result, and what they are called there."""


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


def relocate(losses: Iterable[Loss], origins: Sequence[Origin]) -> Iterator[Loss]:
    """Losses of messages that were made of others, with the paths that these had."""
    for loss in losses:
        found = _PLACE.match(loss.path)
        if found is None or int(found[1]) >= len(origins):
            yield loss
        else:
            yield loss._replace(path=_relocated(loss.path, found, origins[int(found[1])]))


def _relocated(path: str, found: re.Match[str], origin: Origin) -> str:
    if found[2] is None or int(found[2]) >= len(origin.parts):
        return f"$[{origin.index}]{path[found.end(1) + 1 :]}"
    position = origin.parts[int(found[2])]
    rest = path[found.end() :]
    result = origin.results.get(position)
    if result is not None:
        message, part = result
        for of_call, of_result in _OF_RESULTS:
            if rest.startswith(of_call):
                inside = f"$[{message}].content.parts[{part}].{of_result}" if of_result else f"$[{message}]"
                return inside + rest[len(of_call) :]
    message, part = position
    return f"$[{message}].content.parts[{part}]{rest}"


def shown(value: Json) -> str:
    """A value as a loss shows it: whole when short, else its beginning, length and digest."""
    written = encode(value)
    text = written.decode()
    length = len(text)
    if length <= SHOWN:
        return text
    return f"{text[:BEGINNING]}… ({length} characters, sha256 {sha256(written).hexdigest()[:8]})"
