"""The branches of a conversation: which message a prompt follows.

`parentUuid` forms a tree, but most of its branches are none of the conversation: parallel calls, progress,
hooks. The conversation branches where two prompts follow the same response (a rewind, an edit, a retry), or
where two processes write to one file.
"""

from itertools import islice
from typing import Final, NamedTuple

from msgspec import Struct, UnsetType

from partita.types.json import Json, JsonObject, is_object

MAX_LINES: Final = 8192
"""How many lines are found by their uuid. For rewinds further back, the parents of prompts are kept."""

ROOT: Final = ""
"""The parent of the first message."""


class BranchPosition(Struct, frozen=True, gc=False):
    """The position of a line: the prompt or response that it belongs to or follows, and its branch."""

    message: str
    branch: int


class Mark(NamedTuple):
    """The extent of `Branches` at some record."""

    parents: int
    followed: int
    tails: dict[int, str]
    last: BranchPosition | None
    branches: int


class Branches:
    """The lines of a conversation that new ones may follow, and its branches."""

    def __init__(self) -> None:
        self._recent: dict[str, BranchPosition] = {}
        self._parents: dict[str, BranchPosition] = {}  # of prompts, by uuid
        self._followed: dict[str, None] = {}  # messages that a prompt follows
        self._tails: dict[int, str] = {}
        self._last: BranchPosition | None = None
        self._count = 0

    def has_recent(self, uuid: str) -> bool:
        """Whether a line with that uuid is among the recent ones."""
        return uuid in self._recent

    def add_prompt(self, uuid: str, parent: Json | UnsetType, message_id: str) -> str | None:
        """Add a prompt; return the message that it branches off, `None` if it follows the last message."""
        above = BranchPosition(ROOT, 0) if parent is None else self._find(parent)
        last = self._last
        explicit = None
        if above is not None and last is not None and above.message != last.message:
            if above.message in self._followed:
                self._count += 1
                explicit, above = above.message, BranchPosition(above.message, self._count)
            elif above.branch != last.branch:
                explicit = self._tails.get(above.branch, above.message)
            else:
                above = last
        elif above is None:
            above = last or BranchPosition(ROOT, 0)
        self._followed[above.message] = None
        if isinstance(parent, str):
            position = above if explicit is None else BranchPosition(explicit, above.branch)
            self._parents.setdefault(parent, position)
        self._move(uuid, BranchPosition(message_id, above.branch))
        return explicit

    def add_response(self, uuid: str, parent: Json, message_id: str) -> str | None:
        """Add the first line of a response; return its parent, `None` if it follows the last message."""
        above = self._find(parent)
        last = self._last
        explicit = None
        if above is not None and last is not None and above.branch != last.branch:
            explicit = self._tails.get(above.branch, above.message)
        branch = above.branch if above is not None else last.branch if last is not None else 0
        self._move(uuid, BranchPosition(message_id, branch))
        return explicit

    def continue_response(self, uuid: str, parent: Json, message_id: str) -> None:
        """Add a further line of a response."""
        position = self._last
        if position is None or position.message != message_id:
            position = self._find(parent) or position
            position = BranchPosition(message_id, position.branch if position else 0)
        self._recent[uuid] = position

    def add_line(self, uuid: str, parent: Json) -> None:
        """Add a line that is neither prompt nor response. Lines that follow it follow its parent."""
        position = self._recent.get(parent) if isinstance(parent, str) else None
        if position is None:
            position = self._find(parent) or self._last or BranchPosition(ROOT, 0)
        self._remember(uuid, position)

    def mark(self) -> "Mark":
        """Return a mark of the current record. The dicts that it counts only grow after it."""
        return Mark(len(self._parents), len(self._followed), dict(self._tails), self._last, self._count)

    def state(self, mark: "Mark") -> JsonObject:
        """Return the state that reading continues from at a mark."""
        parents = islice(self._parents.items(), mark.parents)
        return {
            "far": {uuid: [position.message, position.branch] for uuid, position in parents},
            "followed": list(islice(self._followed, mark.followed)),
            "tails": {str(branch): message for branch, message in mark.tails.items()},
            "last": None if mark.last is None else [mark.last.message, mark.last.branch],
            "count": mark.branches,
        }

    def restore(self, state: JsonObject) -> None:
        """Continue from a state."""
        parents = state.get("far")
        self._parents = (
            {uuid: BranchPosition(*position) for uuid, position in parents.items()}
            if is_object(parents)
            else {}
        )
        self._followed = dict.fromkeys(state.get("followed", ()))
        self._tails = {int(branch): message for branch, message in state.get("tails", {}).items()}
        last = state.get("last")
        self._last = None if last is None else BranchPosition(*last)
        self._count = state.get("count", 0)

    def _find(self, uuid: Json) -> BranchPosition | None:
        if not isinstance(uuid, str):
            return None
        return self._recent.get(uuid) or self._parents.get(uuid)

    def _move(self, uuid: str, position: BranchPosition) -> None:
        self._last = position
        self._tails[position.branch] = position.message
        self._remember(uuid, position)

    def _remember(self, uuid: str, position: BranchPosition) -> None:
        self._recent[uuid] = position
        if len(self._recent) > 2 * MAX_LINES:
            self._recent = dict(islice(self._recent.items(), MAX_LINES, None))
