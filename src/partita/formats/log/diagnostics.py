"""What a reader of logs did not understand, counted by kind, with the first places of each kind."""

from collections.abc import Iterator
from typing import Final, NamedTuple

PLACES = 20
"""How many places of one kind are remembered; the others are only counted."""

KINDS = 1000
"""How many kinds are counted separately."""

OTHERS = "other things that were not understood"

DUPLICATE_UUID: Final = "duplicate uuid"
MISSING_PARENT: Final = "missing parent"
PARENT_CYCLE: Final = "cycle of parents"
CHAIN_FINDINGS: Final = frozenset({DUPLICATE_UUID, MISSING_PARENT, PARENT_CYCLE})
"""What may be wrong with the chain that records form. Nothing is lost by it."""

CUT_LAST_LINE: Final = "cut last line"


class Place(NamedTuple):
    """Where something is: the number of a line, from 1, and the offset of the line in bytes."""

    line: int
    offset: int


class Finding(NamedTuple):
    """One kind of thing that was not understood: how often, where first, and an example."""

    what: str
    times: int
    places: tuple[Place, ...]
    detail: str

    def __str__(self) -> str:
        lines = ", ".join(str(place.line) for place in self.places[:5])
        more = ", …" if self.times > min(len(self.places), 5) else ""
        detail = f": {self.detail}" if self.detail else ""
        times = "once" if self.times == 1 else f"{self.times} times"
        return f"{self.what}{detail} ({times}, line {lines}{more})"


class Diagnostics:
    """Findings by kind. Its size is limited by the number of kinds, not by the length of the log."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._places: dict[str, list[Place]] = {}
        self._details: dict[str, str] = {}

    def add(self, what: str, place: Place, detail: str = "") -> None:
        """Count one more."""
        if what not in self._counts and len(self._counts) >= KINDS:
            what, detail = OTHERS, what
        self._counts[what] = self._counts.get(what, 0) + 1
        places = self._places.setdefault(what, [])
        if len(places) < PLACES:
            places.append(place)
        if detail:
            self._details.setdefault(what, detail[:200])

    def __iter__(self) -> Iterator[Finding]:
        for what, count in self._counts.items():
            yield Finding(what, count, tuple(self._places[what]), self._details.get(what, ""))

    def __len__(self) -> int:
        return sum(self._counts.values())
