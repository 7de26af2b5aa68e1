"""How a sub-agent begins and ends, as events."""

from typing import Final, TypeAlias

from msgspec import UNSET

from partita.formats.ag_ui.names import AGENT
from partita.formats.ag_ui.notes import NAMESPACE, notes_in, rest_of
from partita.types.chunks import (
    Chunk,
    ErrorChunk,
    MessageAbort,
    MessageFinish,
    MessageMetadata,
    MessageStart,
)
from partita.types.json import Json, JsonObject, is_object

from .telling import Telling

Framed: TypeAlias = MessageStart | MessageFinish | MessageAbort | MessageMetadata | ErrorChunk

TOLD: Final = ("name", "description", "result", "parentToolCallId", "parentSubagentRunId")
"""Notes that the beginning or the end of a sub-agent tells."""


def started(call: str, tool: str | None, first: Chunk, above: str | None) -> JsonObject:
    """A sub-agent begins under a call, with its first chunk; `above` is the sub-agent that called it."""
    said = first.message_metadata if isinstance(first, MessageStart) else UNSET
    notes = notes_in(said) if is_object(said) else {}
    name, description = notes.get("name"), notes.get("description")
    event: JsonObject = {
        "type": "SUBAGENT_STARTED",
        AGENT: call,
        "name": name if isinstance(name, str) else tool or call,
        "parentToolCallId": call,
    }
    if isinstance(description, str):
        event["description"] = description
    if above is not None:
        event["parentSubagentRunId"] = above
    return event


class Frame:
    """Gathers what the end of a sub-agent tells."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self._result: Json = None
        self._failed: str | None = None

    def hear(self, chunk: Framed) -> None:
        """A message of the sub-agent begins, goes on or ends."""
        match chunk:
            case ErrorChunk():
                why = "the end of a sub-agent tells its last error"
                self._telling.lose("errorText", chunk.error_text, why, "minor")
                self._failed = chunk.error_text
            case MessageAbort():
                self._telling.lose("reason", chunk.reason, "a sub-agent cannot be told to have been stopped")
            case MessageStart() | MessageFinish() | MessageMetadata():
                if is_object(chunk.message_metadata):
                    self._note(chunk.message_metadata, is_end=isinstance(chunk, MessageFinish))

    def _note(self, metadata: JsonObject, *, is_end: bool) -> None:
        notes = notes_in(metadata)
        if is_end and "result" in notes:
            self._result = notes["result"]
        if rest := {**rest_of(metadata, NAMESPACE), **rest_of(notes, *TOLD)}:
            self._telling.lose("messageMetadata", rest, "sub-agents have no metadata")

    def ended(self, interrupts: list[JsonObject]) -> JsonObject:
        """The sub-agent has ended, failed, or waits for somebody."""
        agent = self._telling.agent
        if self._failed is not None:
            return {"type": "SUBAGENT_ERROR", AGENT: agent, "message": self._failed}
        event: JsonObject = {"type": "SUBAGENT_FINISHED", AGENT: agent}
        if self._result is not None:
            event["result"] = self._result
        if interrupts:
            event["outcome"] = {"type": "suspended", "interruptIds": [one["id"] for one in interrupts]}
        return event
