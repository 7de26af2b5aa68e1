"""Response items: what went to the model and what came from it."""

from collections import deque
from collections.abc import Callable
from typing import Final

from partita.types.json import Json, JsonObject, is_object
from partita.types.tools import JsonOutput

from .answers import MESSAGE
from .calls import input_of
from .crew import Crew
from .fields import inner, present, text
from .responses import Response
from .shell import Outcome, outcome_of
from .turn_items import Work, work_of

_ANY: Final = frozenset({"type", "id", "internal_chat_message_metadata_passthrough"})
KNOWN: Final[dict[str, frozenset[str]]] = {
    "function_call": _ANY | {"name", "namespace", "arguments", "call_id", "status"},
    "custom_tool_call": _ANY | {"name", "namespace", "input", "call_id", "status"},
    "function_call_output": _ANY | {"call_id", "output", "name", "status"},
    "custom_tool_call_output": _ANY | {"call_id", "output", "name", "status"},
    "local_shell_call": _ANY | {"call_id", "status", "action"},
    "tool_search_call": _ANY | {"call_id", "status", "execution", "arguments"},
    "tool_search_output": _ANY | {"call_id", "status", "execution", "tools"},
    "web_search_call": _ANY | {"call_id", "status", "action"},
    "image_generation_call": _ANY | {"call_id", "status", "revised_prompt", "result"},
}
"""The fields of items that are understood, or known to mean nothing to a reader."""

STATE: Final = frozenset(
    {"ghost_snapshot", "compaction", "compaction_summary", "context_compaction", "compaction_trigger"}
)
"""Items that are no talk."""


class ResponseItems:
    """Takes items, whatever record they came in."""

    def __init__(self, crew: Crew) -> None:
        self._telling, self._prompts, self._responses, self._answers, self._calls, self._spawns = crew
        self._searches: list[tuple[Work, int]] = []  # that an event told of, in a line, and no item yet
        self._searched: deque[JsonObject] = deque(maxlen=8)  # the other way round
        self._handlers: dict[str, Callable[[JsonObject], None]] = {
            "message": self._message,
            "agent_message": self._agent_message,
            "reasoning": self._answers.reasoning,
            "function_call": self._function_call,
            "custom_tool_call": self._custom_tool_call,
            "local_shell_call": self._local_shell_call,
            "tool_search_call": self._tool_search_call,
            "function_call_output": self._output,
            "custom_tool_call_output": self._output,
            "tool_search_output": self._tool_search_output,
            "web_search_call": self._web_search_call,
            "image_generation_call": self._image_generation_call,
        }

    @property
    def kinds(self) -> frozenset[str]:
        """The types of items that are known."""
        return STATE | self._handlers.keys()

    def feed(self, item: JsonObject) -> None:
        """Take an item."""
        kind = item.get("type")
        handler = self._handlers.get(kind) if isinstance(kind, str) else None
        if handler is None:
            if not isinstance(kind, str) or kind not in STATE:
                self._telling.teller.puzzle(f"unknown item {kind!r}"[:200])
            self._telling.note(kind if isinstance(kind, str) and kind else "item", item)
            return
        if not self._telling.is_repeated(item):
            handler(item)

    def search_ended(self, work: Work, event: JsonObject) -> None:
        """An event tells of a search; its item, which may have no id, comes next to it."""
        told = next((action for action in self._searched if _is_same(work.input, action)), None)
        if told is not None:
            self._searched.remove(told)
            return
        self._answers.response(event)
        self._searches.append((work, self._telling.teller.line))

    def speak_for_events(self) -> None:
        """Tell what events said and no item has: texts, reasoning, searches."""
        searches, self._searches = self._searches, []
        for work, line in searches:
            with self._telling.teller.as_of(line):
                self._calls.work(self._answers.response({"call_id": work.id}), work, "web_search_end")
        self._answers.speak()

    def end_response(self) -> None:
        """Others than the model speak."""
        self.speak_for_events()
        self._responses.end()

    def end_turn(self) -> None:
        """The turn is over."""
        self.end_response()
        self._responses.close()
        self._calls.forget()
        self._answers.forget()

    def abort(self) -> None:
        """The turn was stopped: calls that are at work will not end."""
        self.end_response()
        self._calls.abort()

    # Words

    def _message(self, item: JsonObject) -> None:
        role = item.get("role")
        if role == "assistant":
            self._answers.text(item)
            return
        self.end_response()
        extra = self._telling.check(item, MESSAGE, "message")
        if role == "user":
            self._prompts.user(item, extra)
            return
        if role not in ("developer", "system"):
            self._telling.teller.puzzle(f"unknown role {role!r}"[:200])
        self._prompts.instructions(item, role if isinstance(role, str) else "", extra)

    def _agent_message(self, item: JsonObject) -> None:
        self.end_response()
        self._prompts.agent(item)

    # Calls

    def _function_call(self, item: JsonObject) -> None:
        arguments, readable = input_of(item.get("arguments"))
        if not readable:
            self._telling.teller.puzzle("arguments of a call that are no JSON", detail=str(item.get("name")))
        said = present(namespace=text(item, "namespace"), inputEncoding=None if readable else "text")
        self._begin(item, text(item, "name") or "", arguments, said)

    def _custom_tool_call(self, item: JsonObject) -> None:
        said = present(
            type="custom_tool_call",
            inputEncoding="text",
            namespace=text(item, "namespace"),
            status=_remarkable(item),
        )
        self._begin(item, text(item, "name") or "", item.get("input"), said)

    def _local_shell_call(self, item: JsonObject) -> None:
        said = present(type="local_shell_call", status=_remarkable(item))
        self._begin(item, "local_shell", item.get("action"), said)

    def _tool_search_call(self, item: JsonObject) -> None:
        said = present(type="tool_search_call", execution=text(item, "execution"))
        self._begin(item, "tool_search", item.get("arguments"), said)

    def _begin(self, item: JsonObject, name: str, input: Json, said: JsonObject) -> None:
        kind = item["type"]
        extra = self._telling.check(item, KNOWN[kind], kind)
        response = self._answers.filled(item)
        metadata = present(id=text(item, "id"), extra=extra) | said
        call_id = self._call_id(item, response)
        self._calls.begin(response, call_id, name, input, metadata)
        self._spawns.called(call_id, name, input)

    def _call_id(self, item: JsonObject, response: Response) -> str:
        own = text(item, "call_id") or text(item, "id")
        if own:
            return own
        response.blocks += 1
        return f"{response.id}-{response.blocks}"

    def _output(self, item: JsonObject) -> None:
        kind = item["type"]
        outcome = outcome_of(item.get("output"))
        extra = self._telling.check(item, KNOWN[kind], kind)
        if extra is not None:
            outcome = Outcome(outcome.output, outcome.metadata | {"extra": extra})
        self._end(item, outcome)

    def _tool_search_output(self, item: JsonObject) -> None:
        self._telling.check(item, KNOWN["tool_search_output"], "tool_search_output")
        self._end(
            item, Outcome(JsonOutput(present(tools=item.get("tools"), status=text(item, "status"))), {})
        )

    def _end(self, item: JsonObject, outcome: Outcome) -> None:
        self.end_response()
        call_id = text(item, "call_id") or ""
        if not self._calls.end(call_id, outcome):
            self._telling.teller.puzzle("an output without its call", detail=call_id)
            self._telling.note(item["type"], item)
        elif self._calls.was_aborted(call_id):  # its message may be out already
            self._telling.teller.puzzle("an output after its turn was aborted", detail=call_id)
            self._telling.note(f"late_{item['type']}", item)
        self._spawns.answered(call_id, item.get("output"))

    # What the provider does

    def _web_search_call(self, item: JsonObject) -> None:
        action = inner(item, "action")
        heard = next((one for one in self._searches if _is_same(one[0].input, action)), None)
        response = self._answers.filled(item)
        if heard is not None:
            self._searches.remove(heard)
            work, line = heard
            with self._telling.teller.as_of(line, self._telling.teller.line):
                self._calls.work(response, work, "web_search_call")
            return
        self._searched.append(action)
        self._provider(response, item, "web_search")

    def _image_generation_call(self, item: JsonObject) -> None:
        self._provider(self._answers.filled(item), item, "image_generation")

    def _provider(self, response: Response, item: JsonObject, kind: str) -> None:
        """A call that the provider made and answered itself."""
        call = item["type"]
        extra = self._telling.check(item, KNOWN[call], call)
        work = work_of({**item, "type": kind})
        assert work is not None, "searches and pictures are items that do something"
        metadata = work.metadata | present(extra=extra)
        own = self._call_id(item, response)
        self._calls.work(response, work._replace(id=own, metadata=metadata), call)


def _remarkable(item: JsonObject) -> str | None:
    """The status of a call, unless it is the usual one."""
    status = text(item, "status")
    return None if status == "completed" else status


def _is_same(asked: Json, action: JsonObject) -> bool:
    """Whether an event's search is that of an item: its action is, and the query may be told twice."""
    return is_object(asked) and {**asked, **action} == asked
