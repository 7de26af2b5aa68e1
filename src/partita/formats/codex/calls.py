"""Calls of tools: their inputs, their outputs, and what events say beside them, all joined by call id."""

from collections import OrderedDict
from typing import Final

from partita.errors import DecodeError
from partita.types.chunks import SourceUrlChunk, ToolInputAvailable, ToolOutputChunk
from partita.types.json import Json, JsonObject, loads
from partita.types.tools import ErrorTextOutput, InterruptedOutput, TextOutput, ToolOutput

from .fields import AGENT
from .patches import changes_in_input
from .responses import Response, Responses
from .shell import Outcome, failed
from .telling import Telling
from .turn_items import Work

REMEMBERED: Final = 1024
PATCHING: Final = frozenset(
    {"apply_patch", "shell", "local_shell", "exec_command", "shell_command", "container.exec"}
)
"""Tools whose input may be a patch, or hold one."""


class Call:
    """One call, as far as it has come."""

    __slots__ = ("message_id", "metadata", "outcome", "run_id", "work")

    def __init__(self, message_id: str, metadata: JsonObject, run_id: str | None = None) -> None:
        self.message_id = message_id
        self.run_id = run_id
        self.metadata = metadata
        self.outcome: Outcome | None = None
        self.work: Work | None = None


class Calls:
    """The calls of the turns at hand."""

    def __init__(self, telling: Telling, responses: Responses) -> None:
        self._telling = telling
        self._responses = responses
        self._calls: OrderedDict[str, Call] = OrderedDict()
        self._aborted: set[str] = set()

    def knows(self, call_id: str) -> bool:
        """Whether a call of that id was made."""
        return call_id in self._calls

    def was_aborted(self, call_id: str) -> bool:
        """Whether a call was given up when its turn was stopped."""
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
        run_id = self._telling.teller.run_id
        known = self._calls.get(call_id)
        if known is not None and known.run_id == run_id:  # in a later turn, an id may be used again
            self._telling.teller.puzzle("a call that was told before", detail=call_id)
            return
        if name in PATCHING and (changes := changes_in_input(input)) is not None:
            metadata = metadata | {"changes": changes}
        self._remember(call_id, Call(response.id, metadata, run_id))
        self._responses.grow(
            response,
            ToolInputAvailable(
                call_id,
                name,
                input,
                provider_executed=by_provider or None,
                tool_metadata={AGENT: metadata} if metadata else None,
            ),
        )

    def end(self, call_id: str, outcome: Outcome) -> bool:
        """The output of a call; whether the call is known."""
        call = self._calls.get(call_id) or self._past(call_id)
        if call is None:
            return False
        call.outcome = outcome
        self._tell(call_id, call)
        return True

    def work(self, response: Response, work: Work, kind: str) -> None:
        """A call that only an event tells of, with its output."""
        self.begin(
            response,
            work.id,
            work.name,
            work.input,
            work.metadata | {"type": kind},
            by_provider=work.by_provider,
        )
        if work.output is not None:
            self.end(work.id, Outcome(work.output, {}))
        for url, title in work.sources:
            self._responses.grow(response, SourceUrlChunk(url, url, title))

    def enrich(self, work: Work) -> None:
        """What an event says of a call. Until the output itself comes, the event's stands for it."""
        call = self._calls[work.id]
        call.work = work
        call.metadata = call.metadata | work.metadata
        self._tell(work.id, call)

    def abort(self) -> None:
        """The turn was stopped: calls that are at work will not end."""
        for call_id, call in self._calls.items():
            if call.outcome is None:
                call.outcome = Outcome(InterruptedOutput("aborted"), {})
                self._aborted.add(call_id)
                self._tell(call_id, call)

    def forget(self) -> None:
        """A new turn: calls that have ended are done with."""
        done = [call_id for call_id, call in self._calls.items() if call.outcome is not None]
        for call_id in done:
            del self._calls[call_id]

    def _tell(self, call_id: str, call: Call) -> None:
        outcome, work = call.outcome, call.work
        output: ToolOutput | None = work.output if work is not None else None
        metadata = call.metadata
        if outcome is not None:
            if work is not None:
                outcome = _joined(outcome, work)
            output, metadata = outcome.output, metadata | outcome.metadata
        if output is None:
            return
        self._telling.teller.grow(
            call.message_id,
            ToolOutputChunk(
                call_id,
                output,
                tool_metadata={AGENT: metadata} if metadata else None,
                preliminary=None if outcome is not None else True,
            ),
        )

    def _past(self, call_id: str) -> Call | None:
        """A call of an earlier turn, as far as anyone remembers it."""
        message_id = self._telling.teller.call_message(call_id)
        return None if message_id is None else Call(message_id, {})

    def _remember(self, call_id: str, call: Call) -> None:
        self._calls[call_id] = call
        if len(self._calls) > REMEMBERED:
            self._calls.popitem(last=False)


def _joined(outcome: Outcome, work: Work) -> Outcome:
    """An output with what an event said of the call: its failure, and words that were cut for the model."""
    if work.is_failure:
        outcome = failed(outcome)
    output, event = outcome
    said = work.output
    if isinstance(said, TextOutput | ErrorTextOutput) and isinstance(output, TextOutput | ErrorTextOutput):
        words = said.value.strip()
        if words and words not in output.value:
            return Outcome(output, event | {"fullOutput": said.value})
    return outcome


def input_of(arguments: Json) -> tuple[Json, bool]:
    """The input that the arguments of a call say, and whether they could be read."""
    if not isinstance(arguments, str):
        return arguments, True
    try:
        return loads(arguments), True
    except DecodeError:
        return arguments, False
