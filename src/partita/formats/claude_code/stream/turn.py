"""What is known of a turn while its events come: who speaks, which calls there are, who refused what."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from msgspec import UNSET, UnsetType

from partita.formats.claude_code.blocks import CallFacts, server_of
from partita.formats.claude_code.tool_results import output_chunk
from partita.types.chunks import Chunk, ToolOutputChunk
from partita.types.json import Json, JsonObject, is_object
from partita.types.tools import ExecutionDeniedOutput, InterruptedOutput, ToolOutput

from .call import UNKNOWN_TOOL, Call
from .looking import same
from .outlet import Outlet
from .speaker import Speaker

GOES_ON: Final = ("async_launched", "teammate_spawned")
"""States of a structured result after which the sub-agent works on."""


OVER: Final = ("done", "lost")
"""States of calls of which nothing more is expected."""


class Denial(NamedTuple):
    """That a call was refused: by what, and why, as far as anyone said."""

    kind: str
    reason: str | None = None


class Turn:
    """The state that the readers of events share."""

    def __init__(self, message_id: str | None) -> None:
        self.outlet = Outlet(message_id)
        self.main = Speaker(self.outlet)
        self.calls: dict[str, Call] = {}
        self.approvals: dict[str, Call] = {}  # by the id of the question
        self.denials: dict[str, Denial] = {}  # by call
        self.unnamed = 0  # messages of users that have no uuid
        self.is_interrupted = False
        self.has_result = False
        self._speakers: dict[str, Speaker] = {}
        self._seen: set[str] = set()  # uuids of whole messages
        self._used: dict[str, int] = {}  # how often ids of calls were used that were used again

    def is_new(self, event: JsonObject) -> bool:
        """Whether a message was not there before. One without a uuid always is."""
        uuid = event.get("uuid")
        if not isinstance(uuid, str):
            return True
        known = len(self._seen)
        self._seen.add(uuid)
        return len(self._seen) > known

    def speaker(self, parent: Json) -> Speaker | None:
        """Who speaks under that call; `None` when the call was taken back, and its sub-agent with it."""
        if not isinstance(parent, str) or not parent:
            return self.main
        call = self.calls.get(parent) or self.guess(parent)
        if call.state == "retracted":
            return None
        call_id = call.facts.call_id
        speaker = self._speakers.get(call_id)
        if speaker is None:
            self.settle(call)
            speaker = self._speakers[call_id] = Speaker(self.outlet, (*call.path, call_id))
        return speaker

    @property
    def is_at_work(self) -> bool:
        """Whether the main agent has spoken, and no result has ended that."""
        return self.main.has_spoken and (self.main.response is not None or not self.has_result)

    @property
    def speakers(self) -> Iterable[Speaker]:
        """All who speak, the deepest first, the main agent last."""
        return [*sorted(self._speakers.values(), key=lambda one: -len(one.path)), self.main]

    def take_back(self, uuids: set[str]) -> None:
        """Take back the messages with these uuids: an answer at hand, if they are all there is of it."""
        for speaker in self.speakers if uuids else ():
            if speaker.response is not None and speaker.response.uuids and speaker.response.uuids <= uuids:
                self._forget(speaker)

    def make_room(self, speaker: Speaker) -> None:
        """Another answer comes: one that broke off before anything of it was settled was a try."""
        if speaker.is_stuck:
            self._forget(speaker)

    def emit(self, call: Call, chunk: Chunk | None) -> None:
        """Tell a chunk of a call where the call is."""
        if chunk is not None:
            self.outlet.emit(chunk, call.path)

    def begin(self, facts: CallFacts, speaker: Speaker) -> Call:
        """A call that was not known before, was taken back, or has the id of one that is over.

        In a message every call has an id of its own, so an id that is used again gets a number.
        """
        name, known = facts.call_id, self.calls.get(facts.call_id)
        if known is not None and known.state != "retracted":
            self._used[name] = self._used.get(name, 1) + 1
            facts = facts._replace(call_id=f"{name}_{self._used[name]}")
            self.denials.pop(name, None)
        call = self.calls[name] = Call(facts, speaker.path, speaker.step, name)
        speaker.calls.append(call)
        return call

    def is_begun(self, call: Call | None, speaker: Speaker) -> bool:
        """Whether a call that a speaker makes is one that is known: some models use an id again later."""
        if call is None or call.state == "retracted":
            return False
        return call.state not in OVER or call.path != speaker.path or call.step == speaker.step

    def guess(self, call_id: str, name: str = "", input: Json | UnsetType = UNSET) -> Call:
        """A call that nobody told of, though there is a result, a question or a sub-agent."""
        facts = CallFacts(call_id, name or UNKNOWN_TOOL, None, None, server_of(name))
        call = self.begin(facts, self.main)
        self.emit(call, call.available(input))
        return call

    def settle(self, call: Call) -> None:
        """Make sure that the input of a call is told."""
        self.emit(call, call.settle())

    def whole(self, block: JsonObject, facts: CallFacts, speaker: Speaker, *, is_late: bool = False) -> None:
        """A whole call. It replaces what was written of it, as long as nothing came of the call.

        `is_late`: it belongs to an earlier answer than the current one.
        """
        call, whole = self.calls.get(facts.call_id), block.get("input", {})
        if call is None or not (is_late or self.is_begun(call, speaker)):
            call = self.begin(facts, speaker)
        elif call.path != speaker.path:
            self.outlet.puzzle(block)
            return
        elif not call.is_open:
            return
        elif call.state == "available":
            changed = call.facts.name != facts.name or not same(call.input, whole)
            if not changed or call.step != speaker.step or call.approval is not None:
                return
        call.facts = facts._replace(call_id=call.facts.call_id) if facts.name else call.facts
        call.name(UNKNOWN_TOOL)
        self.emit(call, call.available(whole))

    def end(self, block: JsonObject, structured: Json | UnsetType, denial: Denial | None) -> None:
        """A `tool_result` block: the output of a call, unless it has one."""
        call = self._answered(block)
        if call is None:
            return
        failed = block.get("is_error") is True
        denial = (denial or self.denials.get(call.wire_id)) if failed else None
        chunk = output_chunk(
            block,
            structured,
            denied=denial.kind if denial else None,
            reason=denial.reason if denial else None,
            provider_executed=call.facts.provider_executed,
        )
        status = structured.get("status") if is_object(structured) else None
        if status not in GOES_ON and call.facts.call_id in self._speakers:
            self._close_under(call)
        call.failure = (block, structured) if failed and denial is None else None
        self.emit(call, call.output(chunk))

    def end_served(self, block: JsonObject, chunks: Iterable[Chunk]) -> None:
        """A result of one of the API's own tools, and what came with it."""
        call = self._answered(block, name=str(block["type"]).removesuffix("_tool_result"))
        if call is None:
            return
        for chunk in chunks:
            self.emit(call, call.output(chunk) if isinstance(chunk, ToolOutputChunk) else chunk)

    def deny(self, call_id: str, kind: str) -> None:
        """The agent's own record says that a call was refused."""
        call = self.calls.get(call_id)
        denial = self.denials.setdefault(call_id, Denial(kind))
        if call is not None and call.failure is not None and call.state == "done":
            block, structured = call.failure
            chunk = output_chunk(block, structured, denied=denial.kind, reason=denial.reason)
            self.emit(call, call.output(chunk))
            call.failure = None

    def give_up(self, spared: str | None = None) -> None:
        """Close everything: nothing more is expected. Calls without an output say what became of them."""
        unanswered: dict[tuple[str, ...], list[Call]] = {}
        for call in self.calls.values():
            if call.is_open:
                unanswered.setdefault(call.path, []).append(call)
        for speaker in self.speakers:
            for call in unanswered.get(speaker.path, ()):
                self.settle(call)
                if call.is_open and call.wire_id != spared:
                    self.emit(call, call.give_up(self._ending(call)))
            speaker.end_step()

    def _answered(self, block: JsonObject, name: str = "") -> Call | None:
        """The call that a result is for; `None` when it is no result to tell, which is told as data."""
        call_id = block.get("tool_use_id")
        if not isinstance(call_id, str):
            self.outlet.puzzle(block)
            return None
        call = self.calls.get(call_id) or self.guess(call_id, name)
        if call.state == "retracted":
            self.outlet.tell("retracted", block)
            return None
        if call.state == "done":
            self.outlet.tell("repeated-result", block)
            return None
        self.settle(call)
        return call

    def _forget(self, speaker: Speaker) -> None:
        """Take back the answer of a speaker, its calls, and all that hangs under them."""
        for call in speaker.take_back():
            call.state = "retracted"
            path = (*call.path, call.facts.call_id)
            for other in self.calls.values():
                if other.path[: len(path)] == path:
                    other.state = "retracted"
            self._speakers = {
                id_: one for id_, one in self._speakers.items() if one.path[: len(path)] != path
            }

    def _close_under(self, call: Call) -> None:
        path = (*call.path, call.facts.call_id)
        for speaker in self.speakers:
            if speaker.path[: len(path)] == path:
                speaker.end_step()

    def _ending(self, call: Call) -> ToolOutput:
        denial = self.denials.get(call.wire_id)
        if denial is not None:
            return ExecutionDeniedOutput(denial.reason)
        return InterruptedOutput("aborted" if self.is_interrupted else "lost")
