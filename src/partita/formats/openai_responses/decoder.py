"""Events of the Responses API, or a whole response → chunks. One answer is one step of a message.

Items are told apart by their place in the output, for some gateways change the id of an item from event to
event. A whole item has the last word, but words that came in pieces are not told again. What is not
understood is told as `data-openai-unknown`; nothing makes the decoder fail.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from partita.types.chunks import Chunk, DataChunk
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of

from . import ending
from .answer import Answer, Item, client_tools_of
from .fields import array, error_words, inner, objects, present, text, whole
from .hosted_calls import TOOLS, HostedCall
from .other_items import OtherItem, OutputItem
from .quoted_calls import QUOTINGS, QuotedCall
from .reasonings import ReasoningItem
from .texts import MessageItem
from .written_calls import FIELDS, WrittenCall

UNKNOWN: Final = "data-openai-unknown"

Make: TypeAlias = Callable[[Answer, JsonObject], Item]

MAKERS: Final[Mapping[str, Make]] = {
    **dict.fromkeys(TOOLS, HostedCall),
    **dict.fromkeys(QUOTINGS, QuotedCall),
    **dict.fromkeys(FIELDS, WrittenCall),
    "shell_call_output": OutputItem,
    "tool_search_output": OutputItem,
    "program_output": OutputItem,
    "message": MessageItem,
    "reasoning": ReasoningItem,
}
"""What each kind of item becomes; any other is kept whole."""

BEGINNINGS: Final = frozenset({"response.created", "response.queued", "response.in_progress"})
ENDINGS: Final = frozenset(
    {"response.completed", "response.incomplete", "response.failed", "response.cancelled"}
)
PROGRESS: Final = tuple(
    f"response.{tool}."
    for tool in (
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_list_tools",
        "mcp_call",
    )
)
STAGES: Final = frozenset(
    {"in_progress", "searching", "interpreting", "generating", "calling", "completed", "failed", "incomplete"}
)
"""How far a tool has come. Its item says it too."""

STRAYS: Final[tuple[tuple[str, str], ...]] = (
    ("response.output_text.", "message"),
    ("response.refusal.", "message"),
    ("response.reasoning", "reasoning"),
)
"""Events that tell the kind of their item: a stream taken up again begins in the middle of one."""


class ResponsesDecoder:
    """Events in, chunks out. One decoder reads one answer."""

    def __init__(self) -> None:
        self._answer = Answer()
        self._items: dict[int | str, Item] = {}
        self._ids: dict[str, Item] = {}
        self._counts: Counter[str] = Counter()
        self._response: JsonObject = {}
        self._beside: JsonObject = {}
        self._has_ended = False
        self._failures: set[str] = set()

    def feed(self, event: Json) -> list[Chunk]:
        """The chunks that one event amounts to. A string is a record that was no JSON."""
        self._answer.outlet.begin()
        if isinstance(event, str):
            self._answer.outlet.error(f"unparsable record: {event[:200]}")
        elif not is_object(event) or not self._take(event):
            self._answer.outlet.emit(DataChunk(UNKNOWN, event))
        return self._answer.outlet.take()

    def finish(self) -> list[Chunk]:
        """The chunks that end the message. Without the last event of a stream, it was cut."""
        if not self._answer.outlet.is_finished:
            for item in self._items.values():
                item.stop(whole=False)
            ending.finish(
                self._answer,
                self._response,
                self._beside,
                has_ended=self._has_ended,
                failed=bool(self._failures),
            )
        return self._answer.outlet.take()

    def read_body(self, body: Json) -> list[Chunk]:
        """The chunks of a whole answer that was not streamed, or of the error that came instead."""
        if is_object(body) and _is_response(body):
            self._read_response(body)
        else:
            self._has_ended = True
            self._fail(body if is_object(body) else f"the body is no response: {kind_of(body)}")
        return self.finish()

    def _take(self, event: JsonObject) -> bool:
        """Take an event; whether it was understood."""
        kind = text(event, "type")
        if kind in BEGINNINGS:
            self._update(inner(event, "response"))
        elif kind in ENDINGS:
            self._end(event)
        elif kind in ("response.output_item.added", "response.output_item.done"):
            return self._take_item(event, is_whole=kind.endswith("done"))
        elif kind == "error" or (not kind and event.get("error") is not None):
            self._fail(event)
        elif _is_progress(kind):
            pass
        elif not kind and _is_response(event):
            self._read_response(event)
        else:
            return self._hear(event)
        return True

    def _hear(self, event: JsonObject) -> bool:
        """Take an event inside an item. Without a known item it is for the last one that understands it."""
        item = self._find(event)
        if item is None and whole(event, "output_index") is None:
            return any(item.hear(event) for item in self._unended()) or self._hear_stray(event)
        return self._hear_stray(event) if item is None else item.hear(event)

    def _hear_stray(self, event: JsonObject) -> bool:
        item = self._stray(event)
        return item is not None and item.hear(event)

    def _unended(self) -> list[Item]:
        """The items that are not whole, the last first."""
        return [item for item in reversed(self._items.values()) if not item.is_ended]

    def _take_item(self, event: JsonObject, *, is_whole: bool) -> bool:
        given = inner(event, "item")
        if not text(given, "type"):
            return False
        item = self._find(event, given)
        if item is None and is_whole:
            item = self._find_open(given, whole(event, "output_index"))
        if item is None or item.kind != text(given, "type") or (item.is_ended and not is_whole):
            if item is not None:
                item.stop(whole=True)
            item = self._make(given, whole(event, "output_index"))
        if is_whole:
            item.end(given)
        return True

    def _find(self, event: JsonObject, given: JsonObject | None = None) -> Item | None:
        """The item that an event is about: by its place, else by its id."""
        place = whole(event, "output_index")
        if place is not None and place in self._items:
            return self._items[place]
        return self._ids.get(text(event, "item_id") or text(given or {}, "id"))

    def _find_open(self, given: JsonObject, place: int | None) -> Item | None:
        """The item that a whole one with another id completes: one with the same text, or the only one."""
        unended = [item for item in self._unended() if item.kind == text(given, "type")]
        for item in reversed(unended):
            if item.may_be(given):
                return item
        return unended[0] if place is None and len(unended) == 1 else None

    def _make(self, given: JsonObject, place: int | None) -> Item:
        kind = text(given, "type")
        item = MAKERS.get(kind, OtherItem)(self._answer, given)
        self._counts[kind] += 1
        self._items[f"item {len(self._items)}" if place is None else place] = item
        if text(given, "id"):
            self._ids[text(given, "id")] = item
        return item

    def _stray(self, event: JsonObject) -> Item | None:
        """An item that began before the stream did."""
        for beginning, kind in STRAYS:
            if text(event, "type").startswith(beginning):
                given = {"type": kind, **present(id=text(event, "item_id"))}
                return self._make(given, whole(event, "output_index"))
        return None

    def _end(self, event: JsonObject) -> None:
        """Take the last event. Its output fills what did not come in events of its own."""
        response = inner(event, "response")
        self._has_ended = True
        self._update(response)
        self._beside = {
            name: said
            for name, said in event.items()
            if name not in ("type", "response", "sequence_number", "event_id")
        }
        self._response.setdefault("status", text(event, "type").removeprefix("response."))
        self._fill(response)
        for item in self._items.values():
            if not item.is_ended:
                item.stop(whole=self._response["status"] == "completed")
        if response.get("error") is not None:
            self._fail(response["error"])

    def _fill(self, response: JsonObject) -> None:
        """End items that are open, and add those that never came: as many as are missing of their kind."""
        wanted = Counter(text(given, "type") for given in objects(response, "output"))
        for place, given in enumerate(array(response, "output")):
            kind = text(given, "type") if is_object(given) else ""
            if not kind:
                continue
            item = self._ids.get(text(given, "id")) or self._items.get(place)
            if item is not None and item.kind == kind:
                item.end(given)
            elif self._counts[kind] < wanted[kind]:
                self._make(given, None).end(given)

    def _update(self, response: JsonObject) -> None:
        """Take what is said of the response as a whole."""
        self._response = {**self._response, **response}
        self._answer.client_tools = client_tools_of(self._response)

    def _read_response(self, response: JsonObject) -> None:
        self._answer.client_tools = client_tools_of(response)
        for place, given in enumerate(array(response, "output")):
            if is_object(given):
                self._take_item({"item": given, "output_index": place}, is_whole=False)
                self._take_item({"item": given, "output_index": place}, is_whole=True)
        status = text(response, "status") or "completed"
        self._end({"type": f"response.{status}", "response": response})

    def _fail(self, error: Json) -> None:
        """Something failed. A failure is often told twice: as an event, and in the response."""
        words = error_words(error)
        if words not in self._failures:
            self._failures.add(words)
            self._answer.outlet.error(words)


def _is_response(body: JsonObject) -> bool:
    return is_array(body.get("output")) or body.get("object") == "response"


def _is_progress(kind: str) -> bool:
    return kind.startswith(PROGRESS) and kind.rpartition(".")[2] in STAGES
