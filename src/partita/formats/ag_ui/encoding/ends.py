"""How a run begins and ends, as events."""

from collections.abc import Mapping
from typing import Final

from msgspec import UNSET, UnsetType

from partita.formats.ag_ui.notes import NAMESPACE, notes_in, rest_of
from partita.stream.metadata import merge_metadata
from partita.types.chunks import ErrorChunk, MessageAbort, MessageFinish
from partita.types.json import Json, JsonObject, is_array, is_object

from .telling import Telling

USAGE: Final[Mapping[str, str]] = {
    "inputTokens": "inputTokens",
    "outputTokens": "outputTokens",
    "totalTokens": "totalTokens",
    "reasoningTokens": "reasoningTokens",
    "cachedInputTokens": "cachedInputTokens",
    "cacheWriteTokens": "cacheWriteInputTokens",
}
"""The counts of a usage, and what AG-UI calls them."""

AT_BEGIN: Final = ("threadId", "runId", "protocolVersion", "parentRunId", "input", "timestamp", "steps")
"""Notes that the beginning of a run tells, or its steps do."""


class Ends:
    """Gathers what the end of a run tells."""

    def __init__(self, thread_id: str | None, run_id: str | None) -> None:
        self._given = (thread_id, run_id)
        self.thread_id = thread_id or "thread-1"
        self.run_id = run_id or "run-1"
        self._metadata: Json | UnsetType = UNSET
        self._reason: str | None = None
        self._stopped = False
        self._errors: list[str] = []

    def begin(self, notes: JsonObject) -> None:
        """Take the ids that a stream brings, unless others were given."""
        thread, run = notes.get("threadId"), notes.get("runId")
        if self._given[0] is None and isinstance(thread, str):
            self.thread_id = thread
        if self._given[1] is None and isinstance(run, str):
            self.run_id = run

    def note(self, metadata: Json | UnsetType) -> None:
        """Metadata of the message, which the end of the run tells."""
        if metadata is not UNSET and metadata is not None:
            self._metadata = merge_metadata(self._metadata, metadata)

    def forget(self) -> None:
        """An earlier run of the message has ended: this one has not."""
        self._metadata = UNSET
        self._errors = []
        self.goes_on()

    def goes_on(self) -> None:
        """Another message begins: what ended was not the run."""
        self._reason = None
        self._stopped = False

    def hear(self, chunk: MessageFinish | MessageAbort | ErrorChunk, telling: Telling) -> None:
        """A message has ended, somehow."""
        match chunk:
            case MessageFinish():
                self._reason = chunk.finish_reason
                self.note(chunk.message_metadata)
                self._compare(chunk.message_metadata, telling)
            case MessageAbort():
                self._stopped = True
                if chunk.reason is not None:
                    telling.lose("reason", chunk.reason, "a run that was stopped does not say why")
            case ErrorChunk():
                if self._errors:
                    telling.lose("errorText", chunk.error_text, "a run fails once")
                self._errors.append(chunk.error_text)

    def _compare(self, metadata: Json | UnsetType, telling: Telling) -> None:
        """Tell the ids of a run that ends as another than the one that began."""
        notes = notes_in(metadata) if is_object(metadata) else {}
        for name, own in (("threadId", self.thread_id), ("runId", self.run_id)):
            if notes.get(name, own) != own:
                telling.lose(f"messageMetadata.agUi.{name}", notes[name], "the run began under another id")

    def tell(self, telling: Telling, interrupts: list[JsonObject], pending: list[str]) -> None:
        """Tell how the run ended, and what it waits for: somebody, or the results of calls."""
        metadata: JsonObject = dict(self._metadata) if is_object(self._metadata) else {}
        notes = rest_of(notes_in(metadata), *AT_BEGIN)
        said = rest_of(metadata, "usage", NAMESPACE)
        if self._errors:
            self._tell_error(telling, said, notes)
            return
        if self._reason is not None:
            said.setdefault("finishReason", self._reason)
        result = notes.pop("result", None)
        outcome = self._outcome(interrupts, pending, notes.pop("outcome", None))
        if notes:
            said[NAMESPACE] = notes
        telling.emit(
            "RUN_FINISHED",
            threadId=self.thread_id,
            runId=self.run_id,
            outcome=outcome,
            usage=_usage(self._metadata),
            metadata=said or None,
            result=result,
        )

    def _tell_error(self, telling: Telling, said: JsonObject, notes: JsonObject) -> None:
        code = notes.pop("code") if isinstance(notes.get("code"), str) else None
        if notes:
            said[NAMESPACE] = notes
        telling.emit(
            "RUN_ERROR",
            message=self._errors[0],
            code=code,
            usage=_usage(self._metadata),
            metadata=said or None,
        )

    def _outcome(self, interrupts: list[JsonObject], pending: list[str], kept: Json) -> JsonObject:
        if self._stopped:
            return {"type": "cancelled"}
        if interrupts:
            return {"type": "interrupt", "interrupts": interrupts}
        outcome: JsonObject = {"type": "success", **(kept if is_object(kept) else {})}
        if pending:
            outcome["pendingToolCallIds"] = pending
        return outcome


def _usage(metadata: Json | UnsetType) -> list[Json] | None:
    """The usage of a run, as AG-UI counts: an entry a model. One that came so goes back so."""
    found = metadata.get("usage") if is_object(metadata) else None
    if not is_object(found):
        return None
    raw = found.get("raw")
    if is_array(raw) and all(is_object(entry) for entry in raw):
        return raw
    entry: JsonObject = {
        name: found[own] for own, name in USAGE.items() if isinstance(found.get(own), int) and found[own] >= 0
    }
    model = metadata.get("model") if is_object(metadata) else None
    if isinstance(model, str):
        entry["model"] = model
    return [entry] if entry else None
