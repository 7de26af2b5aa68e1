"""Responses of the model: which records form one message, its tool calls, what it consumed.

A response is what the model sent between two inputs: it begins with its first item or event, and ends where
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

from .content import Outcome, failed
from .thread import Thread
from .usage import Count
from .wire import AGENT, under_agent
from .work import Work, patch_changes


class Response:
    """One message of the model."""

    __slots__ = ("blocks", "counted", "filled", "id", "over")

    def __init__(self, id: str) -> None:
        self.id = id
        self.blocks = 0
        self.filled = False  # whether items came for it, not only events
        self.counted = False
        self.over = False


class Early(NamedTuple):
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
        self._early: Early | None = None

    @property
    def is_open(self) -> bool:
        """Whether a response has begun and not ended."""
        return self._last is not None and not self._last.over

    def current(self, record: JsonObject) -> Response:
        """The response that a record belongs to; a new one if none is open."""
        if self._last is not None and not self._last.over:
            return self._last
        early, self._early = self._early, None
        if early is None:
            return self._open(self._message(record))
        return self._open_counted(early, early.message)

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
        key = f"{AGENT}:{thread.turn_id or lineage.origin or ''}:{count.at}"
        consumption = Consumption(key, "", thread.model, count.usage, thread.time, thread.provider)
        response = self._last
        if response is None or response.counted:
            self.end()
            self._early = Early(self._message(record), consumption, lineage.copied, thread.sink.line)
            return
        self._consume(response, consumption, lineage.copied)
        response.over = response.over or response.filled

    def end(self) -> None:
        """The next record is not the model's."""
        self._settle_early()
        if self._last is not None:
            self._last.over = True

    def close(self) -> None:
        """The turn has ended: nothing more belongs to the last response."""
        self._settle_early()
        if self._last is not None:
            self._thread.sink.close(self._last.id)
            self._last = None

    def _message(self, record: JsonObject) -> AssistantMessage:
        """The message that begins with a record."""
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

    def _open_counted(self, early: Early, message: AssistantMessage) -> Response:
        with self._thread.sink.from_lines(early.line):
            response = self._open(message)
            self._consume(response, early.consumption, early.copied)
        return response

    def _settle_early(self) -> None:
        """A count whose response left no items, such as a compaction, gets a hidden message of its own."""
        early, self._early = self._early, None
        if early is not None:
            self._open_counted(early, replace(early.message, internal=True))

    def _consume(self, response: Response, consumption: Consumption, copied: bool) -> None:
        response.counted = True
        if copied:  # it was counted where the history comes from
            copy: JsonObject = {AGENT: {"copiedUsage": consumption.usage.raw}}
            self._thread.append(response.id, MessageMetadata(copy))
        else:
            self._thread.count(replace(consumption, message_id=response.id))

    @staticmethod
    def _block(response: Response) -> str:
        response.blocks += 1
        return str(response.blocks - 1)


# Tool calls: their inputs, their outputs, and what events say besides, joined by call id

REMEMBERED: Final = 1024


class Call:
    """One call."""

    __slots__ = ("message_id", "metadata", "outcome", "run_id", "work")

    def __init__(self, message_id: str, metadata: JsonObject, run_id: str | None = None) -> None:
        self.message_id = message_id
        self.run_id = run_id
        self.metadata = metadata
        self.outcome: Outcome | None = None
        self.work: Work | None = None


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
        """A call with its input."""
        run_id = self._thread.sink.run_id
        known = self._calls.get(call_id)
        if known is not None and known.run_id == run_id:  # a later turn may use an id again
            self._thread.report_unknown("a call that was read before", detail=call_id)
            return
        if (changes := patch_changes(name, input)) is not None:
            metadata = metadata | {"changes": changes}
        self._calls[call_id] = Call(response.id, metadata, run_id)
        if len(self._calls) > REMEMBERED:
            self._calls.popitem(last=False)
        chunk = ToolInputAvailable(
            call_id,
            name,
            input,
            provider_executed=by_provider or None,
            tool_metadata=under_agent(metadata),
        )
        self._thread.append(response.id, chunk)

    def end(self, call_id: str, outcome: Outcome) -> bool:
        """The output of a call; whether the call is known."""
        call = self._calls.get(call_id)
        if call is None:  # of an earlier turn
            message_id = self._thread.sink.call_message(call_id)
            if message_id is None:
                return False
            call = Call(message_id, {})
        call.outcome = outcome
        self._append_output(call_id, call)
        return True

    def add_work(self, response: Response, work: Work, kind: str) -> None:
        """A call of which there is only an event, with its output."""
        metadata = work.metadata | {"type": kind}
        self.begin(response, work.id, work.name, work.input, metadata, by_provider=work.by_provider)
        if work.output is not None:
            self.end(work.id, Outcome(work.output, {}))
        for url, title in work.sources:
            self._thread.append(response.id, SourceUrlChunk(url, url, title))

    def enrich(self, work: Work) -> None:
        """What an event says of a call. Its output is preliminary until that of the call comes."""
        call = self._calls[work.id]
        call.work = work
        call.metadata = call.metadata | work.metadata
        self._append_output(work.id, call)

    def abort(self) -> None:
        """The turn was stopped: calls without an output will not get one."""
        for call_id, call in self._calls.items():
            if call.outcome is None:
                call.outcome = Outcome(InterruptedOutput("aborted"), {})
                self._aborted.add(call_id)
                self._append_output(call_id, call)

    def forget(self) -> None:
        """Forget the calls that have ended: a new turn begins."""
        done = [call_id for call_id, call in self._calls.items() if call.outcome is not None]
        for call_id in done:
            del self._calls[call_id]

    def _append_output(self, call_id: str, call: Call) -> None:
        outcome, work = call.outcome, call.work
        output: ToolOutput | None = work.output if work is not None else None
        metadata = call.metadata
        if outcome is not None:
            if work is not None:
                outcome = _joined(outcome, work)
            output, metadata = outcome.output, metadata | outcome.metadata
        if output is None:
            return
        preliminary = None if outcome is not None else True
        chunk = ToolOutputChunk(call_id, output, tool_metadata=under_agent(metadata), preliminary=preliminary)
        self._thread.append(call.message_id, chunk)


def _joined(outcome: Outcome, work: Work) -> Outcome:
    """An output with what an event said of the call: its failure, and the text before it was truncated."""
    if work.is_failure:
        outcome = failed(outcome)
    output, metadata = outcome
    whole = work.output
    if isinstance(whole, TextOutput | ErrorTextOutput) and isinstance(output, TextOutput | ErrorTextOutput):
        printed = whole.value.strip()
        if printed and printed not in output.value:
            return Outcome(output, metadata | {"fullOutput": whole.value})
    return outcome
