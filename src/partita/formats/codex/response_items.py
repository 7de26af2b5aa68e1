"""Response items: what the model received and what it sent.

A rollout has texts and reasoning twice: as an item, and as an event for the display. The item counts. Its
event comes just before or just after it; an event without an item is read itself, so that nothing is lost in
a log that was cut.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from partita.formats.core.members import present
from partita.types.chunks import DataChunk
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import JsonOutput

from .content import INPUTS, Outcome, block_text, blocks_of, content_text, outcome_of, read_call, rest_of
from .prompts import Prompts
from .responses import Calls, Response, Responses
from .thread import Spawns, Thread
from .wire import ITEM_MEMBERS, STATE_ITEMS, data_name, inner, text, texts, under_agent
from .work import Work, work_of

Kind: TypeAlias = Literal["text", "reasoning"]

RECENT: Final = 16
SECTIONS: Final = frozenset({"summary_text", "reasoning_text", "text"})
"""The types of sections of reasoning."""


class Heard(NamedTuple):
    """The text of an event whose item has not come yet."""

    kind: Kind
    text: str
    event: JsonObject
    line: int


class Echoes:
    """Pairs events with items, by their order and by their text."""

    def __init__(self) -> None:
        self._waiting: list[Heard] = []
        self._recent: deque[tuple[Kind, str]] = deque(maxlen=RECENT)  # of items without an event so far
        self._told: deque[tuple[Kind, str]] = deque(maxlen=RECENT)  # of events that were read themselves
        self._fresh = False  # whether events came since the last item

    def event(self, kind: Kind, value: str, event: JsonObject, line: int) -> bool:
        """The text of an event; whether it waits for its item."""
        if (kind, value) in self._recent:
            self._recent.remove((kind, value))
            return False
        self._waiting.append(Heard(kind, value, event, line))
        self._fresh = True
        return True

    def item(self, value: str | None, *, is_reasoning: bool = False) -> list[Heard]:
        """An item comes, with this text if it is a message; returns the reasoning that no item will have.

        Items come in the order of their events. So reasoning whose event came before that of this item, with
        no other item since, has only its event: it precedes this item.
        """
        fresh, self._fresh = self._fresh, False
        if is_reasoning or not fresh:
            return []
        found = [
            place for place, heard in enumerate(self._waiting) if (heard.kind, heard.text) == ("text", value)
        ]
        end = found[0] if found else len(self._waiting)
        alone = [heard for heard in self._waiting[:end] if heard.kind == "reasoning"]
        self._waiting = [heard for heard in self._waiting if heard not in alone]
        self._told.extend((heard.kind, heard.text) for heard in alone)
        return alone

    def is_new(self, kind: Kind, value: str) -> bool:
        """Whether the text of an item is new: no event with it was read itself."""
        mine = [heard for heard in self._waiting if heard.kind == kind]
        if mine:  # text may have been masked in one of the two records: then the order decides
            self._waiting.remove(next((heard for heard in mine if heard.text == value), mine[0]))
            return True
        if (kind, value) in self._told:
            self._told.remove((kind, value))
            return False
        self._recent.append((kind, value))
        return True

    def take_waiting(self) -> list[Heard]:
        """The events for which no item came; they are to be read themselves."""
        alone, self._waiting = self._waiting, []
        self._told.extend((heard.kind, heard.text) for heard in alone)
        return alone

    def forget(self) -> None:
        """Another turn begins: its texts do not repeat those of the last."""
        self._recent.clear()
        self._told.clear()


class ResponseItems:
    """Reads items, and what events repeat of them."""

    def __init__(
        self, thread: Thread, prompts: Prompts, responses: Responses, calls: Calls, spawns: Spawns
    ) -> None:
        self._thread, self._prompts, self._responses = thread, prompts, responses
        self._calls, self._spawns = calls, spawns
        self._echoes = Echoes()
        self._searches: list[tuple[Work, int]] = []  # of events whose item has not come, with their lines
        self._searched: deque[JsonObject] = deque(maxlen=8)  # of items whose event has not come
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

    def response(self, record: JsonObject) -> Response:
        """The response that an event belongs to."""
        if not self._responses.is_open:
            self._prompts.answered()
        return self._responses.current(record)

    def echo(self, kind: Kind, value: str, event: JsonObject) -> None:
        """The text of an event. It begins a response, and is read with its item or by `add_waiting`."""
        if self._echoes.event(kind, value, event, self._thread.sink.line):
            self.response(event)

    def search_ended(self, work: Work, event: JsonObject) -> None:
        """An event of a search; its item, which may have no id, comes before or after it."""
        known = next((action for action in self._searched if _is_same(work.input, action)), None)
        if known is not None:
            self._searched.remove(known)
            return
        self.response(event)
        self._searches.append((work, self._thread.sink.line))

    def add_waiting(self) -> None:
        """Read the events for which no item came: texts, reasoning, searches."""
        searches, self._searches = self._searches, []
        for work, line in searches:
            with self._thread.sink.from_lines(line):
                self._calls.add_work(self.response({"call_id": work.id}), work, "web_search_end")
        self._add_events(self._echoes.take_waiting())

    def end_response(self) -> None:
        """The next record is not the model's."""
        self.add_waiting()
        self._responses.end()

    def end_turn(self) -> None:
        """The turn has ended."""
        self.end_response()
        self._responses.close()
        self._calls.forget()
        self._echoes.forget()

    def abort(self) -> None:
        """The turn was stopped: calls without an output will not get one."""
        self.end_response()
        self._calls.abort()

    def _add_events(self, events: Sequence[Heard]) -> None:
        for heard in events:
            with self._thread.sink.from_lines(heard.line):
                response = self.response(heard.event)
                add = self._responses.text if heard.kind == "text" else self._responses.reasoning
                own = present(source="event", phase=text(heard.event, "phase"))
                add(response, heard.text, under_agent(own))

    def _filled(self, item: JsonObject) -> Response:
        """The response that an item belongs to."""
        kind = item.get("type")
        value = content_text(item.get("content")) if kind == "message" else None
        alone = self._echoes.item(value, is_reasoning=kind == "reasoning")
        response = self.response(alone[0].event if alone else item)
        self._add_events(alone)
        response.filled = True
        return response

    def _unknown(self, item: JsonObject) -> JsonObject | None:
        return self._thread.unknown_members(item, ITEM_MEMBERS[item["type"]], item["type"])

    # Messages and reasoning

    def _message(self, item: JsonObject) -> None:
        role = item.get("role")
        if role == "assistant":
            self._text(item)
            return
        self.end_response()
        extra = self._unknown(item)
        if role == "user":
            self._prompts.user(item, extra)
            return
        if role not in ("developer", "system"):
            self._thread.report_unknown(f"unknown role {role!r}"[:200])
        self._prompts.instructions(item, role if isinstance(role, str) else "", extra)

    def _agent_message(self, item: JsonObject) -> None:
        self.end_response()
        self._prompts.agent(item)

    def _text(self, item: JsonObject) -> None:
        """A message of the model: a part for each block of it."""
        response = self._filled(item)
        content = item.get("content")
        if not self._echoes.is_new("text", content_text(content)):
            return
        known = present(id=text(item, "id"), phase=text(item, "phase"), extra=self._unknown(item))
        for index, block in enumerate(blocks_of(content) or [""]):
            piece = block_text(block)
            if piece is None:
                self._thread.report_unknown("unknown content of an answer")
                self._thread.append(response.id, DataChunk(f"data-{data_name('content')}", block))
                continue
            notes = rest_of(block, "text") | known | present(continues=index > 0 or None)
            self._responses.text(response, piece, under_agent(notes))

    def _reasoning(self, item: JsonObject) -> None:
        """Reasoning: its text, and what only the provider can read."""
        response = self._filled(item)
        summary, content = texts(item, "summary"), texts(item, "content")
        are_new = [self._echoes.is_new("reasoning", value) for value in (*summary, *content)]
        encrypted = item.get("encrypted_content")
        if are_new and not any(are_new) and encrypted is None:
            return
        notes = present(
            id=text(item, "id"),
            encryptedContent=encrypted,
            content=content if summary and content else None,
            sections=_unusual_sections(item),
            extra=self._unknown(item),
        )
        self._responses.reasoning(response, "\n\n".join(summary or content), under_agent(notes))

    # Calls

    def _call(self, item: JsonObject) -> None:
        name, given, own = read_call(item)
        if item["type"] == "function_call" and "inputEncoding" in own:
            self._thread.report_unknown("arguments of a call that are no JSON", detail=str(item.get("name")))
        extra = self._unknown(item)
        response = self._filled(item)
        call_id = self._call_id(item, response)
        self._calls.begin(response, call_id, name, given, own | present(extra=extra))
        self._spawns.called(call_id, name, given)

    def _call_id(self, item: JsonObject, response: Response) -> str:
        own = text(item, "call_id") or text(item, "id")
        if own:
            return own
        response.blocks += 1
        return f"{response.id}-{response.blocks}"

    def _output(self, item: JsonObject) -> None:
        outcome = outcome_of(item.get("output"))
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
        self._spawns.answered(call_id, item.get("output"))

    # What the provider executes

    def _web_search_call(self, item: JsonObject) -> None:
        action = inner(item, "action")
        heard = next((one for one in self._searches if _is_same(one[0].input, action)), None)
        response = self._filled(item)
        if heard is not None:
            self._searches.remove(heard)
            work, line = heard
            with self._thread.sink.from_lines(line, self._thread.sink.line):
                self._calls.add_work(response, work, "web_search_call")
            return
        self._searched.append(action)
        self._provider(response, item, "web_search")

    def _image_generation_call(self, item: JsonObject) -> None:
        self._provider(self._filled(item), item, "image_generation")

    def _provider(self, response: Response, item: JsonObject, kind: str) -> None:
        """A call that the provider made and answered itself."""
        extra = self._unknown(item)
        work = work_of({**item, "type": kind})
        assert work is not None, "searches and generated images are work"
        metadata = work.metadata | present(extra=extra)
        own = self._call_id(item, response)
        self._calls.add_work(response, work._replace(id=own, metadata=metadata), item["type"])


def _unusual_sections(item: JsonObject) -> JsonObject | None:
    """The sections of reasoning that have more than a known type and a text; `None` if there are none."""
    lists = {name: item[name] for name in ("summary", "content") if is_array(item.get(name))}
    return {name: some for name, some in lists.items() if not all(map(_is_section, some))} or None


def _is_section(section: Json) -> bool:
    if not is_object(section):
        return isinstance(section, str)
    kind = section.get("type", "text")
    is_known = isinstance(kind, str) and kind in SECTIONS and section.keys() <= {"type", "text"}
    return is_known and isinstance(section.get("text"), str)


def _is_same(asked: Json, action: JsonObject) -> bool:
    """Whether an event's search is that of an item: it has the same action, and may repeat the query."""
    return is_object(asked) and {**asked, **action} == asked
