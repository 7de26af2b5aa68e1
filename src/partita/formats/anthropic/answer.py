"""One answer while its events come: its blocks, what is said of it as a whole, and how it ends."""

from collections.abc import Iterable, Mapping
from typing import Final

from partita.formats.answers.outlet import INTERRUPTED, Outlet
from partita.types.chunks import CustomChunk, DataChunk, StepReset, ToolOutputAvailable, ToolOutputError
from partita.types.json import Json, JsonObject, is_array, is_object

from .blocks import CALLS, Block, CallBlock, CustomBlock, TextBlock, ThinkingBlock, ToldBlock
from .citations import Shelf, page_sources
from .consumption import merged, usage_of
from .results import MCP_MARK, MCP_RESULT, RESULT, document_of, pages_of, told, type_of
from .words import ANTHROPIC, RESULT_TYPE, text_of

UNKNOWN: Final = "data-anthropic-unknown"
UNNAMED: Final = "answer"
"""Stands for the id of an answer without one, in the ids of its sources."""

REASONS: Final[Mapping[str, str]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "tool-calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content-filter",
}
"""Finish reasons by stop reason; any other is `other`."""

CUT: Final = frozenset({"length", "content-filter", "error", INTERRUPTED})
"""Reasons that leave a call which was being written as it is: cut, and not wrong."""

SAID: Final[Mapping[str, str]] = {
    "stop_sequence": "stopSequence",
    "stop_details": "stopDetails",
    "context_management": "contextManagement",
    "request_id": "requestId",
}
"""What is said of an answer, and what it is called in the metadata. The rest keeps its name."""

LEFT_OUT: Final = (
    "type",
    "role",
    "content",
    "usage",
    "id",
    "model",
    "stop_reason",
    "delta",
    "message",
    "error",
)


class Answer:
    """The state that the readers of events share."""

    def __init__(self, known_calls: Iterable[str]) -> None:
        self.outlet = Outlet(ANTHROPIC)
        self.failures: list[Json] = []
        self._known = set(known_calls)
        self._replaced: list[str] = []
        self._clear()

    def _clear(self) -> None:
        self.id: str | None = None
        self._model: str | None = None
        self._stop: str | None = None
        self._usage: JsonObject = {}
        self._said: JsonObject = {}
        self._blocks: dict[int, Block] = {}
        self._calls: dict[str, CallBlock] = {}
        self._answered: set[str] = set()
        self._shelf = Shelf(UNNAMED, {}, set(), [])

    def puzzle(self, event: Json) -> None:
        """Keep what is not understood."""
        self.outlet.emit(DataChunk(UNKNOWN, event))

    def begin(self, message: JsonObject) -> None:
        """A message begins; or it is whole: then its blocks are in it. Another one replaces what came."""
        other = text_of(message.get("id"))
        if None not in (self.id, other) and other != self.id:
            self._start_over()
        self.outlet.begin()
        is_new, self.id = self.id is None, self.id or other
        self._shelf = self._shelf._replace(answer=self.id or UNNAMED)
        self.hear(message)
        content = message.get("content")
        for index, block in enumerate(content if is_array(content) and is_new else ()):
            self._take_whole(index, block)

    def hear(self, said: JsonObject) -> None:
        """Take what is said of the answer as a whole: how it stopped, what it consumed, the rest."""
        self._model = text_of(said.get("model")) or self._model
        self._stop = text_of(said.get("stop_reason")) or self._stop
        self._usage = merged(self._usage, said.get("usage"))
        self._said |= {
            SAID.get(key, key): item for key, item in said.items() if key not in LEFT_OUT and item is not None
        }

    def open(self, index: int, block: Json) -> bool:
        """A block begins; whether it is one. What is still open at its place is whole then."""
        self.close(index)
        opened = self._opened(index, block) if is_object(block) else None
        if opened is not None:
            self._blocks[index] = opened
        return opened is not None

    def grow(self, index: int, delta: JsonObject) -> bool:
        """A block goes on; whether such a piece belongs to one."""
        block = self._blocks.get(index)
        return block is not None and block.grow(delta)

    def close(self, index: int) -> bool:
        """A block is whole; whether there was one."""
        block = self._blocks.pop(index, None)
        if block is not None:
            block.stop()
        return block is not None

    def fail(self, error: Json, text: str) -> None:
        """The provider gave up."""
        self.failures.append(error)
        self.outlet.error(text)

    def end(self, *, is_cut: bool = False) -> None:
        """Nothing more comes. `is_cut` says that an error ended a stream and not a request."""
        if self.outlet.is_finished:
            return
        reason = self._reason()
        for block in self._blocks.values():
            if not isinstance(block, CallBlock):
                block.stop()
        for call in self._calls.values() if reason not in CUT else ():
            call.settle()
        for page in page_sources(self._shelf):
            self.outlet.emit(page)
        more: JsonObject = {"complete": False} if is_cut or reason == INTERRUPTED else {}
        more |= {"model": self._model} if self._model else {}
        more |= {"responseId": self.id} if self.id else {}
        own = self._own()
        more |= {ANTHROPIC: own} if own else {}
        self.outlet.finish(reason, self._stop, usage_of(self._usage), more)

    def _reason(self) -> str:
        if self.failures:
            return "error"
        return INTERRUPTED if self._stop is None else REASONS.get(self._stop, "other")

    def _own(self) -> JsonObject:
        errors: JsonObject = {"errors": self.failures} if self.failures else {}
        replaced: JsonObject = {"replaced": self._replaced} if self._replaced else {}
        return {**self._said, **errors, **replaced}

    def _start_over(self) -> None:
        """Another message begins while one is open: a proxy tried again. The first will never be finished."""
        self.outlet.end_all()
        self.outlet.calls.clear()
        self.outlet.emit(StepReset())
        self._replaced.append(self.id or "")
        self._clear()

    def _take_whole(self, index: int, block: Json) -> None:
        if not self.open(index, block):
            self.puzzle(block)
            return
        opened = self._blocks[index]
        if isinstance(opened, CallBlock):
            opened.show_given()
        self.close(index)

    def _opened(self, index: int, block: JsonObject) -> Block | None:
        match block:
            case {"type": "text"}:
                return TextBlock(self.outlet, str(index), block, self._shelf)
            case {"type": "thinking" | "redacted_thinking"}:
                return ThinkingBlock(self.outlet, str(index), block)
            case {"type": str(kind), "id": str(id), "name": str()} if kind in CALLS and id not in self._calls:
                call = self._calls[id] = CallBlock(self.outlet, index, block)
                return call
            case {"type": str(kind), "tool_use_id": str(id)} if kind.endswith(RESULT):
                return self._take_result(index, id, block)
            case {"type": str(kind)} if kind not in CALLS or _name(block) in self._calls:
                return CustomBlock(self.outlet, block)
            case _:
                return None

    def _take_result(self, index: int, id: str, block: JsonObject) -> Block:
        """The result of a server tool. One whose call is not in this message is content of its own."""
        document = document_of(block)
        if document is not None:
            self._shelf.documents[len(self._shelf.documents)] = document
        call = self._calls.get(id)
        if id in self._answered or (call is None and id not in self._known):
            self.outlet.emit(CustomChunk(f"{ANTHROPIC}.{block['type']}", {ANTHROPIC: block}))
        else:
            self._answered.add(id)
            self._give_output(index, id, block, call)
        for page in pages_of(block):
            self._shelf.pages.add(page.url)
            self.outlet.emit(page)
        return ToldBlock()

    def _give_output(self, index: int, id: str, block: JsonObject, call: CallBlock | None) -> None:
        result, is_remote = told(block, index), block["type"] == MCP_RESULT
        if call is not None:
            call.settle()
        server = call.metadata.get("serverName") if call is not None else None
        remote: JsonObject = {"type": MCP_MARK, "serverName": server} if is_remote else {}
        metadata: JsonObject = {ANTHROPIC: {**remote, **result.metadata}}
        if call is not None and block["type"] != type_of(call.call.name, remote):
            metadata[ANTHROPIC][RESULT_TYPE] = block["type"]
        dynamic = is_remote or None
        if result.error is None:
            self.outlet.emit(ToolOutputAvailable(id, result.value, True, metadata, dynamic=dynamic))
        else:
            self.outlet.emit(ToolOutputError(id, result.error, True, metadata, dynamic=dynamic))


def _name(call: JsonObject) -> str | None:
    """The id of a call, if it has one."""
    name = call.get("id")
    return name if isinstance(name, str) else None
