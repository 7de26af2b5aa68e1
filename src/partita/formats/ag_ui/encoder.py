"""Chunks → AG-UI events.

The chunks of a stream form one run, even if they are of several messages. The run ends when the chunks end:
only then is it clear which calls still wait for a result.

Events: https://docs.ag-ui.com/concepts/events
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import UNSET, UnsetType

from partita.formats.core.members import without
from partita.formats.core.metadata import notes
from partita.formats.losses import Loss
from partita.stream.reducer import merge_metadata
from partita.types.chunks import (
    Chunk,
    ErrorChunk,
    MessageAbort,
    MessageFinish,
    MessageMetadata,
    MessageStart,
)
from partita.types.json import Json, JsonObject, is_array, is_object

from .agent_encoder import AgentEncoder, AgentOutput, RunOutput
from .events import COUNTS
from .wire import NAMESPACE

VERSION: Final = "1.0"

AT_START: Final = ("threadId", "runId", "protocolVersion", "parentRunId", "input", "timestamp", "steps")
"""Notes in the metadata of a message for other events than the end of the run."""


class AgUiEncoder:
    """Encodes the chunks of one run as events."""

    def __init__(
        self,
        thread_id: str | None = None,
        run_id: str | None = None,
        message_id: str | None = None,
        before: Iterable[Chunk] = (),
    ) -> None:
        """If an id is not given, the one in the chunks is used, or a generated one.

        `before`: the chunks of the message in an earlier run. They are not encoded again.
        """
        self._thread_id, self._run_id = thread_id, run_id
        self._run = RunOutput()
        self._output = AgentOutput(self._run)
        self._agent = AgentEncoder(self._run, message_id or "message-1")
        self._metadata: Json | UnsetType = UNSET
        self._reason: str | None = None
        self._is_aborted = False
        self._errors: list[str] = []
        self._is_begun = False
        for chunk in before:
            self.feed(chunk)
        if self._is_begun:
            self._reset(thread_id, run_id)

    def _reset(self, thread_id: str | None, run_id: str | None) -> None:
        """Start another run, which keeps only the ids of the message."""
        self._agent.close()
        self._agent.calls.discard_calls()
        self._agent.ids.end_step()
        self._run.events.clear()
        self._run.losses.clear()
        self._run.number = 0
        self._thread_id, self._run_id = thread_id, run_id
        self._metadata, self._reason, self._is_aborted, self._errors = UNSET, None, False, []
        self._is_begun = False

    @property
    def losses(self) -> Sequence[Loss]:
        """Return the losses so far. A path begins with the number of the chunk."""
        return self._run.losses

    def feed(self, chunk: Chunk) -> list[Json]:
        """Return the events of a chunk."""
        if not self._is_begun:
            self._begin(chunk)
        match chunk:
            case MessageStart():
                self._agent.start_message(chunk.message_id)
                self._note(chunk.message_metadata)
                self._reason, self._is_aborted = None, False
            case MessageMetadata():
                self._name_step(chunk.message_metadata)
                self._note(chunk.message_metadata)
            case MessageFinish():
                self._reason = chunk.finish_reason
                self._note(chunk.message_metadata)
                self._compare_ids(chunk.message_metadata)
            case MessageAbort():
                self._is_aborted = True
                if chunk.reason is not None:
                    self._output.report_loss("reason", chunk.reason, "a cancelled run has no reason")
            case ErrorChunk():
                if self._errors:
                    self._output.report_loss("errorText", chunk.error_text, "a run has one error, the first")
                self._errors.append(chunk.error_text)
            case _:
                self._agent.encode(chunk)
        self._run.number += 1
        return self._take()

    def finish(self) -> list[Json]:
        """Return the events that end everything that is open when the chunks end."""
        if not self._is_begun:
            self._begin(None)
        interrupts = self._agent.interrupts()
        self._agent.close()
        self._end(interrupts)
        return self._take()

    def _take(self) -> list[Json]:
        events = list(self._run.events)
        self._run.events.clear()
        return events

    def _begin(self, chunk: Chunk | None) -> None:
        self._is_begun = True
        found: JsonObject = {}
        if isinstance(chunk, MessageStart):
            found = _notes(chunk.message_metadata)
            self._agent.start_message(chunk.message_id)
        thread_id, run_id = found.get("threadId"), found.get("runId")
        self._thread_id = self._thread_id or (thread_id if isinstance(thread_id, str) else "thread-1")
        self._run_id = self._run_id or (run_id if isinstance(run_id, str) else "run-1")
        self._output.emit(
            "RUN_STARTED",
            threadId=self._thread_id,
            runId=self._run_id,
            protocolVersion=found.get("protocolVersion", VERSION),
            parentRunId=found.get("parentRunId"),
            input=found.get("input"),
            timestamp=found.get("timestamp"),
        )

    def _note(self, metadata: Json | UnsetType) -> None:
        """Keep metadata of the message for the end of the run."""
        if metadata is not UNSET and metadata is not None:
            self._metadata = merge_metadata(self._metadata, metadata)

    def _name_step(self, metadata: Json | UnsetType) -> None:
        steps = _notes(metadata).get("steps")
        if is_array(steps) and steps and isinstance(steps[-1], str):
            self._agent.next_step = steps[-1]

    def _compare_ids(self, metadata: Json | UnsetType) -> None:
        """Report the ids of a run that differ at its end."""
        found = _notes(metadata)
        for name, own in (("threadId", self._thread_id), ("runId", self._run_id)):
            if found.get(name, own) != own:
                path = f"messageMetadata.{NAMESPACE}.{name}"
                self._output.report_loss(path, found[name], "the run began with another id")

    def _end(self, interrupts: list[JsonObject]) -> None:
        metadata: JsonObject = self._metadata if is_object(self._metadata) else {}
        found = without(_notes(metadata), *AT_START)
        rest = without(metadata, "usage", NAMESPACE)
        members: JsonObject
        if self._errors:
            code = found.pop("code") if isinstance(found.get("code"), str) else None
            members = {"type": "RUN_ERROR", "message": self._errors[0], "code": code}
        else:
            if self._reason is not None:
                rest.setdefault("finishReason", self._reason)
            ids = {"threadId": self._thread_id, "runId": self._run_id}
            result, outcome = found.pop("result", None), found.pop("outcome", None)
            members = {"type": "RUN_FINISHED", **ids, "outcome": self._outcome(interrupts, outcome)}
            members["result"] = result
        if found:
            rest[NAMESPACE] = found
        self._output.emit(**members, usage=_usage(metadata), metadata=rest or None)

    def _outcome(self, interrupts: list[JsonObject], noted: Json) -> JsonObject:
        if self._is_aborted:
            return {"type": "cancelled"}
        if interrupts:
            return {"type": "interrupt", "interrupts": interrupts}
        outcome: JsonObject = {"type": "success", **(noted if is_object(noted) else {})}
        if pending := self._agent.calls.open_calls():
            outcome["pendingToolCallIds"] = pending
        return outcome


def _notes(metadata: Json | UnsetType) -> JsonObject:
    return notes(metadata, NAMESPACE) if is_object(metadata) else {}


def _usage(metadata: JsonObject) -> list[Json] | None:
    """Return the usage of a run: an entry for each model. Usage from AG-UI is written unchanged."""
    usage = metadata.get("usage")
    if not is_object(usage):
        return None
    raw = usage.get("raw")
    if is_array(raw) and all(is_object(entry) for entry in raw):
        return raw
    entry: JsonObject = {
        member: usage[name]
        for name, member in COUNTS.items()
        if isinstance(usage.get(name), int) and usage[name] >= 0
    }
    if isinstance(model := metadata.get("model"), str):
        entry["model"] = model
    return [entry] if entry else None
