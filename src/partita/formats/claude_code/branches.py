"""Which message a prompt follows.

`parentUuid` makes a tree with many false branches: parallel calls, progress, hooks. A real one is where two
prompts follow the same answer (a rewind, an edit, a retry) or where two processes write to one file.
"""

from itertools import islice
from typing import Final, NamedTuple

from msgspec import Struct, UnsetType

from partita.types.json import Json, JsonObject, is_object

RECENT: Final = 8192
"""How many lines can be found by their uuid. Rewinds further back are found by the parents of prompts."""

ROOT: Final = ""
"""Stands for the message that the first one follows."""


class Spot(Struct, frozen=True, gc=False):
    """Where a line hangs: the prompt or answer at or above it, and the branch that this is on."""

    message: str
    branch: int


class Mark(NamedTuple):
    """A moment in the growth of `Branches`."""

    far: int
    followed: int
    tails: dict[int, str]
    last: Spot | None
    branches: int


class Branches:
    """The lines of a conversation, as far as new ones may hang on them."""

    def __init__(self) -> None:
        self._recent: dict[str, Spot] = {}
        self._far: dict[str, Spot] = {}  # what prompts followed, by the uuid they named
        self._followed: dict[str, None] = {}  # messages that a prompt follows
        self._tails: dict[int, str] = {}
        self._last: Spot | None = None
        self._count = 0

    def knows(self, uuid: str) -> bool:
        """Whether a line of that uuid came not long ago."""
        return uuid in self._recent

    def prompt(self, uuid: str, parent: Json | UnsetType, message_id: str) -> str | None:
        """A prompt: the message it branches off, or `None` if it follows what came last."""
        above = Spot(ROOT, 0) if parent is None else self._find(parent)
        last = self._last
        explicit = None
        if above is not None and last is not None and above.message != last.message:
            if above.message in self._followed:
                self._count += 1
                explicit, above = above.message, Spot(above.message, self._count)
            elif above.branch != last.branch:
                explicit = self._tails.get(above.branch, above.message)
            else:
                above = last
        elif above is None:
            above = last or Spot(ROOT, 0)
        self._followed[above.message] = None
        if isinstance(parent, str):
            self._far.setdefault(parent, above if explicit is None else Spot(explicit, above.branch))
        self._move(uuid, Spot(message_id, above.branch))
        return explicit

    def answer(self, uuid: str, parent: Json, message_id: str) -> str | None:
        """The first line of an answer: what it follows, if that is not what came last."""
        above = self._find(parent)
        last = self._last
        explicit = None
        if above is not None and last is not None and above.branch != last.branch:
            explicit = self._tails.get(above.branch, above.message)
        branch = above.branch if above is not None else last.branch if last is not None else 0
        self._move(uuid, Spot(message_id, branch))
        return explicit

    def more(self, uuid: str, parent: Json, message_id: str) -> None:
        """A further line of an answer."""
        spot = self._last
        if spot is None or spot.message != message_id:
            spot = self._find(parent) or spot
            spot = Spot(message_id, spot.branch if spot else 0)
        self._recent[uuid] = spot

    def other(self, uuid: str, parent: Json) -> None:
        """A line that is neither prompt nor answer: what hangs on it hangs on what is above it."""
        spot = self._recent.get(parent) if isinstance(parent, str) else None
        if spot is None:
            spot = self._find(parent) or self._last or Spot(ROOT, 0)
        self._remember(uuid, spot)

    def mark(self) -> "Mark":
        """Where we are, to be told as a state later: what was remembered until then only grows."""
        return Mark(len(self._far), len(self._followed), dict(self._tails), self._last, self._count)

    def state(self, mark: "Mark") -> JsonObject:
        """What must be known to go on from a mark."""
        return {
            "far": {uuid: [spot.message, spot.branch] for uuid, spot in islice(self._far.items(), mark.far)},
            "followed": list(islice(self._followed, mark.followed)),
            "tails": {str(branch): message for branch, message in mark.tails.items()},
            "last": None if mark.last is None else [mark.last.message, mark.last.branch],
            "count": mark.branches,
        }

    def restore(self, state: JsonObject) -> None:
        """Go on from a state."""
        far = state.get("far")
        self._far = {uuid: Spot(*spot) for uuid, spot in far.items()} if is_object(far) else {}
        self._followed = dict.fromkeys(state.get("followed", ()))
        self._tails = {int(branch): message for branch, message in state.get("tails", {}).items()}
        last = state.get("last")
        self._last = None if last is None else Spot(*last)
        self._count = state.get("count", 0)

    def _find(self, uuid: Json) -> Spot | None:
        if not isinstance(uuid, str):
            return None
        return self._recent.get(uuid) or self._far.get(uuid)

    def _move(self, uuid: str, spot: Spot) -> None:
        self._last = spot
        self._tails[spot.branch] = spot.message
        self._remember(uuid, spot)

    def _remember(self, uuid: str, spot: Spot) -> None:
        self._recent[uuid] = spot
        if len(self._recent) > 2 * RECENT:
            self._recent = dict(islice(self._recent.items(), RECENT, None))
