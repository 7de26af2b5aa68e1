"""Response items: what the model received and what it sent.

A rollout has each text and each reasoning twice: as an item, and as an event for the display. The item is
used. Its event comes just before or just after it. An event without an item is used itself, so that nothing
is lost in a log that was cut.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from partita.formats.core.members import present
from partita.types.chunks import DataChunk
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import JsonOutput

from .content import (
    INPUTS,
    Outcome,
    block_text,
    blocks_in,
    content_text,
    other_members,
    read_call,
    read_outcome,
)
from .prompts import Prompts
from .responses import Calls, Response, Responses
from .thread import SpawnedAgents, Thread
from .tool_items import ToolItem, read_tool_item
from .wire import ITEM_MEMBERS, STATE_ITEMS, codex_metadata, data_name, nested, text, texts

Kind: TypeAlias = Literal["text", "reasoning"]

MAX_RECENT: Final = 16
SECTIONS: Final = frozenset({"summary_text", "reasoning_text", "text"})
"""The types of sections of reasoning."""


class PendingEvent(NamedTuple):
    """The text of an event whose item was not read yet."""

    kind: Kind
    text: str
    event: JsonObject
    line: int


class EventMatcher:
    """Pairs events with items, by their order and by their text."""

    def __init__(self) -> None:
        self._waiting: list[PendingEvent] = []
        self._recent: deque[tuple[Kind, str]] = deque(maxlen=MAX_RECENT)  # of items without an event so far
        self._emitted: deque[tuple[Kind, str]] = deque(
            maxlen=MAX_RECENT
        )  # of events that were used themselves
        self._has_new_events = False  # whether events came since the last item

    def event(self, kind: Kind, value: str, event: JsonObject, line: int) -> bool:
        """Add the text of an event; return whether it waits for its item."""
        if (kind, value) in self._recent:
            self._recent.remove((kind, value))
            return False
        self._waiting.append(PendingEvent(kind, value, event, line))
        self._has_new_events = True
        return True

    def item(self, value: str | None, *, is_reasoning: bool = False) -> list[PendingEvent]:
        """Add an item, with its text if it is a message; return the events of reasoning that has no item.

        Items are in the order of their events. So if an event of reasoning came before the event of this
        item, with no other item since, there is no item of that reasoning, and it precedes this item.
        """
        has_new_events, self._has_new_events = self._has_new_events, False
        if is_reasoning or not has_new_events:
            return []
        values = [pending.text if pending.kind == "text" else None for pending in self._waiting]
        end = values.index(value) if value is not None and value in values else len(values)
        unmatched = [pending for pending in self._waiting[:end] if pending.kind == "reasoning"]
        self._waiting = [pending for pending in self._waiting if pending not in unmatched]
        self._emitted.extend((pending.kind, pending.text) for pending in unmatched)
        return unmatched

    def is_new(self, kind: Kind, value: str) -> bool:
        """Whether the text of an item is new, because no event with it was used itself."""
        candidates = [pending for pending in self._waiting if pending.kind == kind]
        if candidates:  # text may have been masked in one of the two records: then the order decides
            self._waiting.remove(
                next((pending for pending in candidates if pending.text == value), candidates[0])
            )
            return True
        if (kind, value) in self._emitted:
            self._emitted.remove((kind, value))
            return False
        self._recent.append((kind, value))
        return True

    def take_unmatched(self) -> list[PendingEvent]:
        """Return the events without items, which the caller uses themselves."""
        unmatched, self._waiting = self._waiting, []
        self._emitted.extend((pending.kind, pending.text) for pending in unmatched)
        return unmatched

    def forget(self) -> None:
        """Forget all texts, because those of the next turn do not repeat them."""
        self._recent.clear()
        self._emitted.clear()


class ResponseItems:
    """Reads items, and the events that repeat them."""

    def __init__(
        self, thread: Thread, prompts: Prompts, responses: Responses, calls: Calls, spawns: SpawnedAgents
    ) -> None:
        self._thread, self._prompts, self._responses = thread, prompts, responses
        self._calls, self._spawns = calls, spawns
        self._matcher = EventMatcher()
        self._searches: list[tuple[ToolItem, int]] = []  # of events without an item so far, with their lines
        self._recent_actions: deque[JsonObject] = deque(maxlen=8)  # of items without an event so far
        self._handlers: dict[str, Callable[[JsonObject], None]] = {
            "message": self._message,
            "agent_message": self._agent_message,
            "reasoning": self._reasoning,
            **dict.fromkeys(INPUTS, self._call),
            "function_call_output": self._output,
            "custom_tool_call_output": self._output,
            "tool_search_output": self._tool_search_output,
            "web_search_call": self._web_search_call,
            "image_generation_call": self._image_generation_call,
        }

    @property
    def kinds(self) -> frozenset[str]:
        """The known types of items."""
        return STATE_ITEMS | self._handlers.keys()

    def feed(self, item: JsonObject) -> None:
        """Read an item."""
        kind = item.get("type")
        handler = self._handlers.get(kind) if isinstance(kind, str) else None
        if handler is None:
            if not isinstance(kind, str) or kind not in STATE_ITEMS:
                self._thread.report_unknown(f"unknown item {kind!r}"[:200])
            self._thread.note(kind if isinstance(kind, str) and kind else "item", item)
            return
        if not self._thread.is_repeated(item):
            handler(item)

    # Events

    def open_response(self, record: JsonObject) -> Response:
        """Return the response that a record belongs to; begin one if none is open."""
        if not self._responses.is_open:
            self._prompts.start_response()
        return self._responses.current(record)

    def add_event_text(self, kind: Kind, value: str, event: JsonObject) -> None:
        """Add the text of an event. It begins a response, and is used with its item or in `add_unmatched`."""
        if self._matcher.event(kind, value, event, self._thread.sink.line):
            self.open_response(event)

    def add_search(self, search: ToolItem, event: JsonObject) -> None:
        """Add an event of a search. Its item, which may have no id, comes before or after it."""
        known = next((one for one in self._recent_actions if _is_same_search(search.input, one)), None)
        if known is not None:
            self._recent_actions.remove(known)
            return
        self.open_response(event)
        self._searches.append((search, self._thread.sink.line))

    def add_unmatched(self) -> None:
        """Use the events without items: texts, reasoning, searches."""
        searches, self._searches = self._searches, []
        for search, line in searches:
            with self._thread.sink.from_lines(line):
                response = self.open_response({"call_id": search.id})
                self._calls.add_tool_item(response, search, "web_search_end")
        self._add_events(self._matcher.take_unmatched())

    def end_response(self) -> None:
        """End the response, because the next record is not of the model."""
        self.add_unmatched()
        self._responses.end()

    def end_turn(self) -> None:
        """End the turn."""
        self.end_response()
        self._responses.close()
        self._calls.forget()
        self._matcher.forget()

    def abort(self) -> None:
        """End the turn, which was stopped: calls without an output are interrupted."""
        self.end_response()
        self._calls.abort()

    def _add_events(self, events: Sequence[PendingEvent]) -> None:
        for pending in events:
            with self._thread.sink.from_lines(pending.line):
                response = self.open_response(pending.event)
                add = self._responses.text if pending.kind == "text" else self._responses.reasoning
                notes = present(source="event", phase=text(pending.event, "phase"))
                add(response, pending.text, codex_metadata(notes))

    def _response_with_item(self, item: JsonObject) -> Response:
        """Return the response that an item belongs to."""
        kind = item.get("type")
        value = content_text(item.get("content")) if kind == "message" else None
        unmatched = self._matcher.item(value, is_reasoning=kind == "reasoning")
        response = self.open_response(unmatched[0].event if unmatched else item)
        self._add_events(unmatched)
        response.has_items = True
        return response

    def _unknown(self, item: JsonObject) -> JsonObject | None:
        return self._thread.unknown_members(item, ITEM_MEMBERS[item["type"]], item["type"])

    # Messages and reasoning

    def _message(self, item: JsonObject) -> None:
        role = item.get("role")
        if role == "assistant":
            self._assistant_text(item)
            return
        self.end_response()
        extra = self._unknown(item)
        if role == "user":
            self._prompts.user_message(item, extra)
            return
        if role not in ("developer", "system"):
            self._thread.report_unknown(f"unknown role {role!r}"[:200])
        self._prompts.system_message(item, role if isinstance(role, str) else "", extra)

    def _agent_message(self, item: JsonObject) -> None:
        self.end_response()
        self._prompts.agent_message(item)

    def _assistant_text(self, item: JsonObject) -> None:
        """Add a message of the model: a part for each of its blocks."""
        response = self._response_with_item(item)
        content = item.get("content")
        if not self._matcher.is_new("text", content_text(content)):
            return
        known = present(id=text(item, "id"), phase=text(item, "phase"), extra=self._unknown(item))
        for index, block in enumerate(blocks_in(content) or [""]):
            piece = block_text(block)
            if piece is None:
                self._thread.report_unknown("unknown content of a response")
                self._thread.append(response.id, DataChunk(f"data-{data_name('content')}", block))
                continue
            notes = other_members(block, "text") | known | present(continues=index > 0 or None)
            self._responses.text(response, piece, codex_metadata(notes))

    def _reasoning(self, item: JsonObject) -> None:
        """Add reasoning: its text, and what only the provider can read."""
        response = self._response_with_item(item)
        summary, content = texts(item, "summary"), texts(item, "content")
        new_texts = [self._matcher.is_new("reasoning", value) for value in (*summary, *content)]
        encrypted = item.get("encrypted_content")
        if new_texts and not any(new_texts) and encrypted is None:
            return
        notes = present(
            id=text(item, "id"),
            encryptedContent=encrypted,
            content=content if summary and content else None,
            sections=_unusual_sections(item),
            extra=self._unknown(item),
        )
        self._responses.reasoning(response, "\n\n".join(summary or content), codex_metadata(notes))

    # Calls

    def _call(self, item: JsonObject) -> None:
        name, input_, notes = read_call(item)
        if item["type"] == "function_call" and "inputEncoding" in notes:
            self._thread.report_unknown("arguments of a call that are not JSON", detail=str(item.get("name")))
        extra = self._unknown(item)
        response = self._response_with_item(item)
        call_id = self._call_id(item, response)
        self._calls.begin(response, call_id, name, input_, notes | present(extra=extra))
        self._spawns.add_call(call_id, name, input_)

    def _call_id(self, item: JsonObject, response: Response) -> str:
        id_ = text(item, "call_id") or text(item, "id")
        if id_:
            return id_
        response.blocks += 1
        return f"{response.id}-{response.blocks}"

    def _output(self, item: JsonObject) -> None:
        outcome = read_outcome(item.get("output"))
        extra = self._unknown(item)
        if extra is not None:
            outcome = Outcome(outcome.output, outcome.metadata | {"extra": extra})
        self._end(item, outcome)

    def _tool_search_output(self, item: JsonObject) -> None:
        self._unknown(item)
        output = JsonOutput(present(tools=item.get("tools"), status=text(item, "status")))
        self._end(item, Outcome(output, present(execution=text(item, "execution"))))

    def _end(self, item: JsonObject, outcome: Outcome) -> None:
        self.end_response()
        call_id = text(item, "call_id") or ""
        if not self._calls.end(call_id, outcome):
            self._thread.report_unknown("an output without its call", detail=call_id)
            self._thread.note(item["type"], item)
        elif self._calls.was_aborted(call_id):  # its message may have been read already
            self._thread.report_unknown("an output after its turn was aborted", detail=call_id)
            self._thread.note(f"late_{item['type']}", item)
        self._spawns.add_output(call_id, item.get("output"))

    # Calls that the provider executes

    def _web_search_call(self, item: JsonObject) -> None:
        action = nested(item, "action")
        pending = next((one for one in self._searches if _is_same_search(one[0].input, action)), None)
        response = self._response_with_item(item)
        if pending is not None:
            self._searches.remove(pending)
            search, line = pending
            with self._thread.sink.from_lines(line, self._thread.sink.line):
                self._calls.add_tool_item(response, search, "web_search_call")
            return
        self._recent_actions.append(action)
        self._provider_call(response, item, "web_search")

    def _image_generation_call(self, item: JsonObject) -> None:
        self._provider_call(self._response_with_item(item), item, "image_generation")

    def _provider_call(self, response: Response, item: JsonObject, kind: str) -> None:
        """Add a call that the provider made and executed."""
        extra = self._unknown(item)
        tool_item = read_tool_item({**item, "type": kind})
        assert tool_item is not None, "searches and generated images are tool items"
        metadata = tool_item.metadata | present(extra=extra)
        call_id = self._call_id(item, response)
        self._calls.add_tool_item(response, tool_item._replace(id=call_id, metadata=metadata), item["type"])


def _unusual_sections(item: JsonObject) -> JsonObject | None:
    """Return the lists of sections that have more than known types and texts; `None` if there are none."""
    lists = {name: item[name] for name in ("summary", "content") if is_array(item.get(name))}
    return {name: some for name, some in lists.items() if not all(map(_is_section, some))} or None


def _is_section(section: Json) -> bool:
    if not is_object(section):
        return isinstance(section, str)
    kind = section.get("type", "text")
    is_known = isinstance(kind, str) and kind in SECTIONS and section.keys() <= {"type", "text"}
    return is_known and isinstance(section.get("text"), str)


def _is_same_search(search: Json, action: JsonObject) -> bool:
    """Whether the search of an event is that of an item: it has its action, and may repeat the query."""
    return is_object(search) and {**search, **action} == search
