"""What one line of talk remembers, and what becomes of records that do not fit."""

from collections.abc import Callable
from itertools import islice
from typing import Final, TypeAlias

from msgspec import UnsetType

from partita.formats.log.sink import LogSink
from partita.types.json import Json, JsonObject

from .branches import Branches
from .envelope import (
    KNOWN,
    LINE,
)

RESPONSES: Final = 512
"""How many answers are remembered, for records of theirs that come late."""

FindAgent: TypeAlias = Callable[[str], str | None]
"""The sub-agent that got a prompt, where only its own file tells."""


def nobody(prompt: str) -> str | None:
    """No sub-agent has a file of its own."""
    return None


class Response:
    """An answer of the model, as far as its records have come."""

    __slots__ = ("base", "blocks", "id", "key", "lines", "most", "run_id", "stop")

    def __init__(self, id: str, key: str, base: JsonObject, run_id: str | None = None) -> None:
        self.id = id
        self.key = key
        self.base = base
        self.run_id = run_id
        self.blocks = 0
        self.lines: set[str] = set()
        self.most = -1
        self.stop: Json = None


class Side:
    """One line of talk: whom it is told to, and what was told."""

    def __init__(
        self, sink: LogSink, branches: Branches | None = None, find_agent: FindAgent = nobody
    ) -> None:
        self._sink = sink
        self._branches = branches
        self._find_agent = find_agent
        self._responses: dict[str, Response] = {}
        self._by_message: dict[str, Response] = {}
        self._said: dict[str, None] = {}
        self._early: dict[str, tuple[JsonObject, JsonObject, Json | UnsetType]] = {}  # results before calls
        self._tasks: dict[str, str] = {}  # the prompts of calls that start sub-agents nobody has named yet
        self.asked = False  # whether there was a prompt since the turn began
        self.answered = False

    def _puzzle_over(self, record: JsonObject, kind: str) -> None:
        for name in sorted(record.keys() - KNOWN[kind]):
            self._sink.report_unknown(f"unknown field {name!r:.60} of {kind}")

    def _own_id(self, uuid: Json, *, taken: bool) -> str:
        """The id of a message that is a line of its own. `taken`: a line of another kind has its uuid."""
        if not isinstance(uuid, str):
            return f"line-{self._sink.place.offset}"
        return f"{uuid}/{self._sink.place.offset}" if taken else uuid

    def _is_taken(self, id: str) -> bool:
        """Whether a line of another kind has that uuid."""
        known = self._branches is not None and self._branches.knows(id)
        return known or id in self._said or id in self._by_message

    def _is_again(self, record: JsonObject, uuid: Json) -> bool:
        """Whether a line was there before; it is kept beside the first, and changes nothing."""
        if type(uuid) is not str:
            return False
        if uuid in self._said:
            self._note("claude-code-again", record)
            return True
        self._said[uuid] = None
        if len(self._said) > RESPONSES * 8:
            self._said = dict.fromkeys(islice(self._said, RESPONSES * 4, None))
        return False

    def _keep(self, what: str, record: JsonObject) -> None:
        self._sink.report_unknown(what)
        self._note("claude-code-unknown", record)

    def _note(self, name: str, record: JsonObject) -> None:
        """Keep a record, under the number of its line."""
        self._sink.note(name, record, str(record.pop(LINE, self._sink.line)))
