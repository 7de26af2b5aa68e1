"""Tool calls, as updates tell of them, and the questions whether they may run."""

from typing import Final

from msgspec import UNSET

from partita.types.chunks import (
    Chunk,
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolInputAvailable,
    ToolInputStart,
    ToolOutputChunk,
)
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.tools import ExecutionDeniedOutput, InterruptedOutput, Interruption

from .content import ACP, output_of

UNKNOWN_TOOL: Final = "other"
"""The kind of a tool of which nothing is said; the protocol's own word."""

DESCRIBED: Final = ("kind", "locations", "_meta")
"""What is said of a call beside its input and output: it stands in the metadata of the tool."""

ENDED: Final = ("completed", "failed")


class Call:
    """What is known of a call; later words replace earlier ones, field by field."""

    __slots__ = ("approval", "denied", "fields", "id", "is_done", "is_told")

    def __init__(self, id: str) -> None:
        self.id = id
        self.fields: JsonObject = {}
        self.is_told = False  # its input
        self.is_done = False
        self.approval: str | None = None
        self.denied: str | None = None  # why, if someone refused it

    @property
    def name(self) -> str:
        """The name of the tool; versions that do not tell it tell the kind."""
        names = (self.fields.get("name"), self.fields.get("kind"))
        return next((name for name in names if isinstance(name, str) and name), UNKNOWN_TOOL)

    @property
    def title(self) -> str | None:
        """What it does, for people."""
        title = self.fields.get("title")
        return title if isinstance(title, str) else None

    @property
    def metadata(self) -> JsonObject | None:
        """What else is said of it."""
        told = {name: self.fields[name] for name in DESCRIBED if self.fields.get(name)}
        return {ACP: told} if told else None


class Calls:
    """The calls of a message."""

    def __init__(self) -> None:
        self._calls: dict[str, Call] = {}
        self._open: set[str] = set()
        self._asked: dict[str, tuple[Call, list[Json]]] = {}
        self.terminals: dict[str, JsonObject] = {}
        """What is known of terminals, by id: their output, and how they ended."""

    @property
    def has_open(self) -> bool:
        """Whether a call has no output yet."""
        return bool(self._open)

    def knows(self, call_id: Json) -> bool:
        """Whether a call of that id was told of."""
        return isinstance(call_id, str) and call_id in self._calls

    def update(self, update: JsonObject) -> list[Chunk] | None:
        """The chunks of a new call or of news about one; `None` if nobody says which."""
        call_id = update.get("toolCallId")
        if not isinstance(call_id, str):
            return None
        call = self._calls.get(call_id)
        is_new = call is None
        if call is None:
            call = self._calls[call_id] = Call(call_id)
            self._open.add(call_id)
        before = (call.name, call.title, call.fields.get("rawInput"), call.metadata)
        call.fields |= {name: value for name, value in update.items() if value is not None}
        changed = is_new or not _same(
            before, (call.name, call.title, call.fields.get("rawInput"), call.metadata)
        )
        chunks: list[Chunk] = []
        status = call.fields.get("status")
        if call.is_done:
            return (
                self._output(call, update) if changed or "content" in update or "rawOutput" in update else []
            )
        if call.is_told or status in ("in_progress", *ENDED) or call.fields.get("rawInput") is not None:
            chunks += self._available(call, changed)
        elif changed:
            chunks.append(ToolInputStart(call.id, call.name, tool_metadata=call.metadata, title=call.title))
        return chunks + self._output(call, update)

    def ask(self, approval: str, params: JsonObject) -> list[Chunk] | None:
        """A question whether a call may run; `None` if it cannot be one."""
        told = params.get("toolCall")
        chunks = self.update(told) if is_object(told) and approval not in self._asked else None
        call = self._calls.get(told["toolCallId"]) if chunks is not None and is_object(told) else None
        if chunks is None or call is None or call.is_done:
            return None
        options = params.get("options")
        self._asked[approval] = (call, options if is_array(options) else [])
        call.approval = approval
        asked = {name: value for name, value in params.items() if name not in ("toolCall", "sessionId")}
        question = ToolApprovalRequest(approval, call.id, asked or UNSET)
        return [*chunks, *self._available(call, False), question]

    def decide(self, approval: str, result: JsonObject) -> list[Chunk] | None:
        """An answer; `None` if nothing was asked by that id, or it does not matter any more."""
        asked = self._asked.pop(approval, None)
        if asked is None or asked[0].approval != approval or asked[0].is_done:
            return None
        call, options = asked
        outcome = result.get("outcome")
        chosen = outcome.get("optionId") if is_object(outcome) else None
        if chosen is None:
            return []  # taken back: what becomes of the call says the rest
        option = next((one for one in options if is_object(one) and one.get("optionId") == chosen), None)
        kind = option.get("kind") if is_object(option) else None
        approved = isinstance(kind, str) and kind.startswith("allow")
        name = option.get("name") if is_object(option) else None
        reason = name if isinstance(name, str) else None
        if not approved:
            call.denied = reason or ""
        answer = ToolApprovalResponse(approval, approved, None if approved else reason)
        return [answer]

    def close(self, why: Interruption) -> list[Chunk]:
        """Nothing more comes: calls without an output say what became of them."""
        chunks: list[Chunk] = []
        for call in [call for call in self._calls.values() if not call.is_done]:
            self._end(call)
            chunks += self._available(call, False)
            denied = call.denied
            output = InterruptedOutput(why) if denied is None else ExecutionDeniedOutput(denied or None)
            chunks.append(ToolOutputChunk(call.id, output))
        return chunks

    def _available(self, call: Call, changed: bool) -> list[Chunk]:
        """The input of a call, once; again if something else is said of it before anyone was asked."""
        if call.is_told and (not changed or call.approval is not None):
            return []
        call.is_told = True
        given = call.fields.get("rawInput", {})
        return [ToolInputAvailable(call.id, call.name, given, tool_metadata=call.metadata, title=call.title)]

    def _output(self, call: Call, update: JsonObject) -> list[Chunk]:
        """What the call gave back so far; the last of it when the call has ended."""
        status, fields = call.fields.get("status"), call.fields
        ended = status in ENDED
        if not ended and (not call.is_told or not update.get("content")):
            return []
        failed = status == "failed"
        if failed and call.denied is not None:
            self._end(call)
            return [ToolOutputChunk(call.id, ExecutionDeniedOutput(call.denied or None))]
        content, raw = fields.get("content"), fields.get("rawOutput")
        output = output_of(content, raw, failed=failed, terminals=self.terminals)
        metadata = call.metadata
        if raw is not None and is_array(content) and content:
            metadata = {ACP: {**(metadata or {}).get(ACP, {}), "rawOutput": raw}}
        if ended:
            self._end(call)
        preliminary = None if call.is_done else True
        return [ToolOutputChunk(call.id, output, tool_metadata=metadata, preliminary=preliminary)]

    def _end(self, call: Call) -> None:
        call.is_done = True
        self._open.discard(call.id)


def _same(one: Json, other: Json) -> bool:
    """Whether two values are equal. Values nested too deeply to tell are not."""
    try:
        return bool(one == other)
    except RecursionError:
        return False
