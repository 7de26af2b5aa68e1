"""Responses of the model: the records that form one message, its tool calls, and its token counts.

A response is what the model sent between two inputs. It begins with its first item or event, and ends where
outputs, other messages or another turn begin. Its token count comes before its items (2025), after them or
after the outputs of its calls (2026), so a count belongs to the last response that has none.
"""

from collections import OrderedDict
from typing import Final, NamedTuple

from msgspec.structs import replace

from partita.formats.log.sink import Consumption
from partita.types.chunks import (
    MessageMetadata,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    SourceUrlChunk,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolOutputChunk,
)
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantContent, AssistantMessage
from partita.types.parts import ErrorTextOutput, InterruptedOutput, TextOutput, ToolOutput

from .content import Outcome, as_failure
from .thread import Thread
from .tool_items import ToolItem, read_patch_changes
from .usage import Count
from .wire import AGENT, codex_metadata


class Response:
    """One message of the model."""

    __slots__ = ("blocks", "counted", "has_items", "id", "is_ended")

    def __init__(self, id: str) -> None:
        self.id = id
        self.blocks = 0
        self.has_items = False  # not only events
        self.counted = False
        self.is_ended = False


class EarlyCount(NamedTuple):
    """A count that came before its response."""

    message: AssistantMessage
    consumption: Consumption
    copied: bool
    line: int


class Responses:
    """The current response of a thread."""

    def __init__(self, thread: Thread) -> None:
        self._thread = thread
        self._last: Response | None = None
        self._early_count: EarlyCount | None = None

    @property
    def is_open(self) -> bool:
        """Whether the current response has not ended."""
        return self._last is not None and not self._last.is_ended

    def current(self, record: JsonObject) -> Response:
        """Return the response that a record belongs to; begin one if none is open."""
        if self._last is not None and not self._last.is_ended:
            return self._last
        early_count, self._early_count = self._early_count, None
        if early_count is None:
            return self._open(self._message(record))
        return self._open_with_count(early_count, early_count.message)

    def text(self, response: Response, value: str, metadata: JsonObject | None) -> None:
        """Add a text."""
        block = self._block(response)
        self._thread.append(response.id, TextStart(block, metadata), TextDelta(block, value), TextEnd(block))

    def reasoning(self, response: Response, value: str, metadata: JsonObject | None) -> None:
        """Add reasoning. Without text, it may still have content that only the provider can read."""
        block = self._block(response)
        start = ReasoningStart(block, metadata)
        delta = [ReasoningDelta(block, value)] if value else []
        self._thread.append(response.id, start, *delta, ReasoningEnd(block))

    def count(self, count: Count, record: JsonObject) -> None:
        """Add a count to the last response, or to the next one if the last has a count."""
        thread, lineage = self._thread, self._thread.lineage
        key = f"{AGENT}:{thread.turn_id or lineage.origin or ''}:{count.position}"
        consumption = Consumption(key, "", thread.model, count.usage, thread.time, thread.provider)
        response = self._last
        if response is None or response.counted:
            self.end()
            self._early_count = EarlyCount(
                self._message(record), consumption, lineage.copied, thread.sink.line
            )
            return
        self._add_consumption(response, consumption, lineage.copied)
        response.is_ended = response.is_ended or response.has_items

    def end(self) -> None:
        """End the response, because the next record is not of the model."""
        self._add_early_count()
        if self._last is not None:
            self._last.is_ended = True

    def close(self) -> None:
        """Close the last response, because the turn has ended."""
        self._add_early_count()
        if self._last is not None:
            self._thread.sink.close(self._last.id)
            self._last = None

    def _message(self, record: JsonObject) -> AssistantMessage:
        """Return the message that begins with a record."""
        thread = self._thread
        metadata = thread.metadata()
        if thread.model is not None:
            metadata = {"model": thread.model, **metadata}
        content = AssistantContent(parts=(), metadata=metadata)
        return AssistantMessage(
            id=thread.new_id(record, "assistant"), created_at=thread.time, content=content
        )

    def _open(self, message: AssistantMessage) -> Response:
        self._thread.open(message)
        response = self._last = Response(message.id)
        self._thread.append(response.id, StepStart())
        return response

    def _open_with_count(self, early_count: EarlyCount, message: AssistantMessage) -> Response:
        with self._thread.sink.from_lines(early_count.line):
            response = self._open(message)
            self._add_consumption(response, early_count.consumption, early_count.copied)
        return response

    def _add_early_count(self) -> None:
        """Add a hidden message for a count whose response has no items, such as that of a compaction."""
        early_count, self._early_count = self._early_count, None
        if early_count is not None:
            self._open_with_count(early_count, replace(early_count.message, internal=True))

    def _add_consumption(self, response: Response, consumption: Consumption, copied: bool) -> None:
        response.counted = True
        if copied:  # it was counted in the thread that the history was copied from
            copy: JsonObject = {AGENT: {"copiedUsage": consumption.usage.raw}}
            self._thread.append(response.id, MessageMetadata(copy))
        else:
            self._thread.count(replace(consumption, message_id=response.id))

    @staticmethod
    def _block(response: Response) -> str:
        response.blocks += 1
        return str(response.blocks - 1)


# Tool calls: their inputs, their outputs and their events, joined by call id

MAX_CALLS: Final = 1024


class Call:
    """A tool call, and the item of its event, if it has one."""

    __slots__ = ("message_id", "metadata", "outcome", "run_id", "tool_item")

    def __init__(self, message_id: str, metadata: JsonObject, run_id: str | None = None) -> None:
        self.message_id = message_id
        self.run_id = run_id
        self.metadata = metadata
        self.outcome: Outcome | None = None
        self.tool_item: ToolItem | None = None


class Calls:
    """The calls of the last turns."""

    def __init__(self, thread: Thread) -> None:
        self._thread = thread
        self._calls: OrderedDict[str, Call] = OrderedDict()
        self._aborted: set[str] = set()

    def __contains__(self, call_id: str) -> bool:
        return call_id in self._calls

    def was_aborted(self, call_id: str) -> bool:
        """Whether a call was interrupted when its turn was stopped."""
        return call_id in self._aborted

    def begin(
        self,
        response: Response,
        call_id: str,
        name: str,
        input: Json,
        metadata: JsonObject,
        *,
        by_provider: bool = False,
    ) -> None:
        """Begin a call, with its input."""
        run_id = self._thread.sink.run_id
        known = self._calls.get(call_id)
        if known is not None and known.run_id == run_id:  # a later turn may use an id again
            self._thread.report_unknown("a call that was read before", detail=call_id)
            return
        if (changes := read_patch_changes(name, input)) is not None:
            metadata = metadata | {"changes": changes}
        self._calls[call_id] = Call(response.id, metadata, run_id)
        if len(self._calls) > MAX_CALLS:
            self._calls.popitem(last=False)
        chunk = ToolInputAvailable(
            call_id,
            name,
            input,
            provider_executed=by_provider or None,
            tool_metadata=codex_metadata(metadata),
        )
        self._thread.append(response.id, chunk)

    def end(self, call_id: str, outcome: Outcome) -> bool:
        """Add the output of a call; return whether the call is known."""
        call = self._calls.get(call_id)
        if call is None:  # of an earlier turn
            message_id = self._thread.sink.call_message(call_id)
            if message_id is None:
                return False
            call = Call(message_id, {})
        call.outcome = outcome
        self._append_output(call_id, call)
        return True

    def add_tool_item(self, response: Response, tool_item: ToolItem, kind: str) -> None:
        """Add a call of which there is only an event, with its output."""
        metadata = tool_item.metadata | {"type": kind}
        self.begin(
            response,
            tool_item.id,
            tool_item.name,
            tool_item.input,
            metadata,
            by_provider=tool_item.by_provider,
        )
        if tool_item.output is not None:
            self.end(tool_item.id, Outcome(tool_item.output, {}))
        for url, title in tool_item.sources:
            self._thread.append(response.id, SourceUrlChunk(url, url, title))

    def add_event(self, tool_item: ToolItem) -> None:
        """Add the event of a call. The output in it is preliminary until the item of the output is read."""
        call = self._calls[tool_item.id]
        call.tool_item = tool_item
        call.metadata = call.metadata | tool_item.metadata
        self._append_output(tool_item.id, call)

    def abort(self) -> None:
        """Interrupt the calls without an output, because the turn was stopped."""
        for call_id, call in self._calls.items():
            if call.outcome is None:
                call.outcome = Outcome(InterruptedOutput("aborted"), {})
                self._aborted.add(call_id)
                self._append_output(call_id, call)

    def forget(self) -> None:
        """Forget the calls that have ended, because a new turn begins."""
        done = [call_id for call_id, call in self._calls.items() if call.outcome is not None]
        for call_id in done:
            del self._calls[call_id]

    def _append_output(self, call_id: str, call: Call) -> None:
        outcome, tool_item = call.outcome, call.tool_item
        output: ToolOutput | None = tool_item.output if tool_item is not None else None
        metadata = call.metadata
        if outcome is not None:
            if tool_item is not None:
                outcome = _with_event(outcome, tool_item)
            output, metadata = outcome.output, metadata | outcome.metadata
        if output is None:
            return
        preliminary = None if outcome is not None else True
        chunk = ToolOutputChunk(
            call_id, output, tool_metadata=codex_metadata(metadata), preliminary=preliminary
        )
        self._thread.append(call.message_id, chunk)


def _with_event(outcome: Outcome, tool_item: ToolItem) -> Outcome:
    """Return an output with what the event adds: the failure, and the text before it was truncated."""
    if tool_item.has_failed:
        outcome = as_failure(outcome)
    output, metadata = outcome
    full = tool_item.output
    if isinstance(full, TextOutput | ErrorTextOutput) and isinstance(output, TextOutput | ErrorTextOutput):
        printed = full.value.strip()
        if printed and printed not in output.value:
            return Outcome(output, metadata | {"fullOutput": full.value})
    return outcome
