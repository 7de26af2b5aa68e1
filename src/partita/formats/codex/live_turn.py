"""A turn while it runs: when its message begins and ends, what it consumed, what was asked."""

from partita.types.chunks import (
    Chunk,
    DataChunk,
    ErrorChunk,
    MessageAbort,
    MessageFinish,
    MessageMetadata,
    MessageStart,
    StepFinish,
    StepStart,
    ToolApprovalRequest,
    ToolApprovalResponse,
)
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object
from partita.types.tools import Interruption

from .fields import present, text
from .legacy_events import Phase
from .stream_items import DATA, ItemStream
from .tokens import TokenCounts, usage_of
from .turn_items import Work

ASKED = ("command", "cwd", "changes")


class LiveTurn:
    """The turn at hand. Whatever comes first begins its message."""

    def __init__(self) -> None:
        self.items = ItemStream()
        self._counts = TokenCounts()
        self._facts: JsonObject = {}
        self._begun = False
        self._held: list[Chunk] = []  # what came before the first turn
        self._spent: list[JsonObject] = []
        self._asked: dict[str, str] = {}  # approvals by the id of their request

    def begin(self, turn_id: str | None = None) -> list[Chunk]:
        """The message of the turn begins, unless it has."""
        if self._begun:
            return []
        self._begun = True
        held, self._held = self._held, []
        return [MessageStart(turn_id, dict(self._facts)), StepStart(), *held]

    def item(self, phase: Phase, item: JsonObject) -> list[Chunk]:
        """An item begins, grows or ends."""
        return self.begin() + self.items.item(phase, item)

    def grow(self, name: str, words: str, *, reasoning: bool = False) -> list[Chunk]:
        """The next piece of a text or a reasoning."""
        return self.begin() + self.items.grow(name, words, reasoning=reasoning)

    def fail(self, error: JsonObject) -> list[Chunk]:
        """Something went wrong."""
        return [*self.begin(), ErrorChunk(text(error, "message") or "unknown error")]

    def abort(self, reason: str | None) -> list[Chunk]:
        """Someone stopped the turn."""
        return [*self.begin(), MessageAbort(reason), *self.end("other", "aborted")]

    def end(self, reason: str, why: Interruption = "lost") -> list[Chunk]:
        """The turn is over; calls that are still at work ended for the reason `why`."""
        chunks = self.begin() + self.items.close(why)
        finish = MessageFinish(reason, {"usage": self._usage()} if self._spent else None)
        self.items, self._begun, self._spent = ItemStream(), False, []
        return [*chunks, StepFinish(), finish]

    def finish(self) -> list[Chunk]:
        """The stream is over."""
        return (self.begin() if self._held else []) + (self.items.close("lost") if self._begun else [])

    def count(self, info: JsonObject) -> list[Chunk]:
        """A running total and the last call's usage: what is new in them was spent in this turn."""
        count = self._counts.take(info)
        if count is not None and is_object(count.usage.raw):
            self._spent.append(count.usage.raw)
        return []

    def spend(self, usage: Json) -> None:
        """All that the turn says it has spent."""
        if is_object(usage):
            self._spent = [usage]

    def know(self, facts: JsonObject) -> list[Chunk]:
        """Facts of the thread: they stand in the metadata of each message."""
        self._facts |= present(
            sessionId=text(facts, "id"),
            model=text(facts, "model"),
            cwd=text(facts, "cwd") or text(facts, "workdir"),
        )
        return [MessageMetadata(dict(self._facts))] if self._begun else []

    def ask(self, params: JsonObject, kind: str, request: str | None = None) -> list[Chunk]:
        """A question whether a call may run; one that has not begun begins with it."""
        call_id = item_id(params)
        approval = request or call_id
        if request is not None:
            self._asked[request] = approval
        given = {name: params[name] for name in ASKED if name in params}
        call = self.items.known(call_id) or Work(call_id, kind, given, None, {})
        question = ToolApprovalRequest(approval, call_id, reason=text(params, "reason"))
        return [*self.begin(), *self.items.begin(call), question]

    def decide(self, request: str, approved: bool) -> list[Chunk] | None:
        """An answer; `None` if nothing was asked by that request."""
        approval = self._asked.pop(request, None)
        return None if approval is None else [ToolApprovalResponse(approval, approved)]

    def keep(self, kind: str, data: Json) -> list[Chunk]:
        """Something unknown, kept; before the first turn it waits for it."""
        chunk = DataChunk(DATA + kind, data)
        if self._begun:
            return [chunk]
        self._held.append(chunk)
        return []

    def show(self, kind: str, data: Json) -> list[Chunk]:
        """Something that is shown while the turn runs, and not kept."""
        return [DataChunk(DATA + kind, data, transient=True)] if self._begun else []

    def _usage(self) -> JsonObject:
        names = dict.fromkeys(name for usage in self._spent for name in usage)
        sums: JsonObject = {
            name: sum(count for usage in self._spent if type(count := usage.get(name)) is int)
            for name in names
        }
        usage: JsonObject = to_json(usage_of(sums))
        return usage | {"raw": sums}


def item_id(params: JsonObject) -> str:
    """The item or call that an event is about."""
    return text(params, "item_id") or text(params, "call_id") or ""
