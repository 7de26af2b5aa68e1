"""What a model said and did up to the next word of the user, and what came of its calls."""

from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.losses import Loss
from partita.formats.openai_responses.amending import amendments
from partita.formats.openai_responses.answer import Answer
from partita.formats.openai_responses.fields import NAMESPACE, text
from partita.formats.openai_responses.request_calls import ANSWER, FIELDS, hosted_items
from partita.formats.openai_responses.request_content import own
from partita.formats.openai_responses.request_steps import BEGINS
from partita.types.fold import state_after
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, AssistantPart, ToolCallPart
from partita.types.parts import StepStartPart

from .items import kept, metadata_of, noted, read_items
from .outputs import CALLS, answered_call, read_output
from .plain_items import plain_part

APPROVED: Final = "mcp_approval_response"
BEHIND: Final = {
    "shell_call_output": "shell_call",
    "tool_search_output": "tool_search_call",
    "program_output": "program",
}
"""Outputs of the provider's own calls, in an item right behind the call."""

MOVED: Final = "the outputs of calls stand behind the calls of their step, in their order"
MOVED_ANSWER: Final = "the answer to an approval stands right behind the question"


class Turn:
    """The parts of an assistant message, item by item."""

    def __init__(self, id: str, losses: list[Loss], client_tools: frozenset[str] | None = None) -> None:
        """`client_tools` are the names of the tools that the client runs, if they are known."""
        self.id = id
        self._client_tools = client_tools
        self.parts: list[AssistantPart] = []
        self._losses = losses
        self._sources = 0
        self._waiting: dict[str, list[int]] = {}
        """Calls of the client's without an output, by id; the next one to be answered is the first."""
        self._approvals: dict[str, int] = {}
        self._step = 0
        """Where the last step begins."""
        self._answered = -1
        """The last call of the step that got its output, if one did."""
        self._source = ""
        """The id of the item before, if it was no call."""
        self._last: tuple[JsonObject, int] | None = None
        """The item before, and where its parts begin."""

    def message(self) -> AssistantMessage:
        """The message."""
        return AssistantMessage(id=self.id, content=self.parts)

    def answers(self, item: JsonObject) -> bool:
        """Whether an item is an output of a call of this turn."""
        return text(item, "type") in CALLS and bool(self._waiting.get(answered_call(item)))

    def add(self, item: JsonObject, path: str) -> None:
        """Take the next item."""
        if self.answers(item):
            self._answer(item, path)
        elif text(item, "type") == APPROVED and text(item, "approval_request_id") in self._approvals:
            self._approve(item, path)
        elif self._last is not None and self._is_behind(self._last, item):
            before, place = self._last
            self.parts[place:] = self._read(before, item)
            self._last = None
        else:
            self._say(item)

    def _say(self, item: JsonObject) -> None:
        if self._answered >= 0:
            self.parts.append(StepStartPart())
            self._answered, self._step, self._source = -1, len(self.parts), ""
        place = len(self.parts)
        parts = self._read(item)
        source = _source(parts[0])
        if source and source == self._source:
            parts[0] = noted(parts[0], {BEGINS: True})
        self._source = source
        self.parts += parts
        self._last = (item, place)
        head = parts[0]
        if isinstance(head, ToolCallPart) and not head.provider_executed:
            self._waiting.setdefault(head.id, []).append(place)
        elif isinstance(head, ToolCallPart) and head.approval is not None:
            self._approvals[head.approval.id] = place

    def _read(self, *items: JsonObject) -> list[AssistantPart]:
        plain = plain_part(items[0]) if len(items) == 1 else None
        if plain is not None:
            return [plain]
        answer = Answer(self._sources, self._client_tools)
        parts = read_items(items, answer)
        self._sources = answer.sources
        return parts

    def _is_behind(self, last: tuple[JsonObject, int], item: JsonObject) -> bool:
        before, place = last
        head = self.parts[place]
        return (
            BEHIND.get(text(item, "type")) == text(before, "type")
            and isinstance(head, ToolCallPart)
            and bool(head.provider_executed)
            and item.get("call_id") == before.get("call_id")
        )

    def _answer(self, item: JsonObject, path: str) -> None:
        place = self._waiting[answered_call(item)].pop(0)
        if place < max(self._step, self._answered):
            self._losses.append(Loss(path, f"the place of {text(item, 'type')}", MOVED, "changed"))
        self._answered = max(self._answered, place)
        self._last = None
        call = self.parts[place]
        assert isinstance(call, ToolCallPart), "only calls wait"
        kind = text(own(call.call_provider_metadata), "type")
        result = read_output(item, call.name, kind if kind in FIELDS else "function_call")
        bad = call.input if call.output is not None else UNSET  # an input that is no JSON has failed before
        self.parts[place] = replace(
            call,
            input=UNSET if bad is not UNSET else call.input,
            raw_input=bad if bad is not UNSET else call.raw_input,
            state=state_after(result.output),
            output=result.output,
            result_provider_metadata=result.provider_metadata,
        )

    def _approve(self, item: JsonObject, path: str) -> None:
        """Take the answer to the question whether a call may run."""
        place = self._approvals.pop(text(item, "approval_request_id"))
        call = self.parts[place]
        if place != len(self.parts) - 1:
            self._losses.append(Loss(path, f"the place of {APPROVED}", MOVED_ANSWER, "changed"))
        assert isinstance(call, ToolCallPart), "only calls are approved"
        assert call.approval is not None, "those that ask for it"
        approved, reason = item.get("approve"), item.get("reason")
        if not isinstance(approved, bool):
            self.parts.append(kept(item))
            return
        approval = replace(
            call.approval, approved=approved, reason=reason if isinstance(reason, str) else None
        )
        answered = replace(call, approval=approval, state="approval-responded")
        more = amendments(item, hosted_items(answered)[-1])
        metadata = answered.call_provider_metadata or {}
        said = {**own(metadata), **({ANSWER: more} if more else {})}
        self.parts[place] = replace(answered, call_provider_metadata={**metadata, NAMESPACE: said})
        self._answered, self._last = max(self._answered, place), None


def _source(part: AssistantPart) -> str:
    return "" if isinstance(part, ToolCallPart) else text(own(metadata_of(part)), "itemId")
