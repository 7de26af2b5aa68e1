"""Chunks → `chat.completion.chunk` objects.

However many steps an agent takes, to a client it is one answer: the texts of all steps, a blank line between
them, and the calls that are the client's to run. Calls that have their output by then are nobody's concern.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import UNSET

from partita.formats.call_owners import server_calls
from partita.formats.losses import Loss, Severity
from partita.formats.openai_chat.writing.consumption import written_usage
from partita.types.chunks import (
    Chunk,
    ErrorChunk,
    MessageAbort,
    MessageFinish,
    MessageMetadata,
    MessageStart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    SourceUrlChunk,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolApprovalRequest,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputError,
    ToolInputStart,
    ToolOutputAvailable,
    ToolOutputChunk,
    ToolOutputDenied,
    ToolOutputError,
)
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object

from .calls import Calls

Spoke: TypeAlias = TextStart | TextDelta | TextEnd | ReasoningStart | ReasoningDelta | ReasoningEnd

REASONS: Final[Mapping[str, str]] = {
    "stop": "stop",
    "tool-calls": "tool_calls",
    "length": "length",
    "content-filter": "content_filter",
}
"""Finish reasons in the words of the API."""

TOLD: Final = frozenset({"finishReason", "rawFinishReason", "usage", "model", "responseId"})
"""Metadata that have a place."""

NO_USAGE: Final = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}

PARAGRAPH: Final = "\n\n"
NO_PLACE: Final = "an answer of Chat Completions has no place for it"


class ChatEncoder:
    """Chunks in, objects of a stream out. One encoder writes one answer."""

    def __init__(
        self,
        *,
        id: str | None = None,
        model: str | None = None,
        created: int = 0,
        usage: bool = True,
        zero_usage: bool = False,
        live: Collection[str] | None = None,
        only_live: bool = False,
    ) -> None:
        """With `usage`, the last object has the usage; with `zero_usage`, also if it is not known.

        Calls of the tools in `live` are told while they are written, all others at the end if they have no
        output by then; with `only_live`, of those only the ones that a network repeats for its client.
        Without `live`, all are sent while they are written.
        """
        self._id = id
        self._model = model
        self._created = created
        self._wants_usage = usage
        self._zero_usage = zero_usage
        self._losses: list[Loss] = []
        self._number = 0
        self._begun = False
        self._texts: dict[str, str] = {}  # open texts: which member of a delta they go to
        self._has_spoken = False
        self._needs_space = False
        self._calls = Calls(self.lose, live, only_live=only_live)
        self._metadata: JsonObject = {}
        self._reason: str | None = None
        self._failed = False
        self._aborted = False

    @property
    def losses(self) -> Sequence[Loss]:
        """What could not be told so far; a path begins with the number of the chunk."""
        return self._losses

    def lose(self, name: str, value: Json, why: str = NO_PLACE, severity: Severity = "lost") -> None:
        """Tell that something of the chunk at hand does not arrive."""
        member = f".{name}" if name else ""
        self._losses.append(Loss.of(f"$[{self._number}]{member}", value, why, severity))

    def feed(self, chunk: Chunk) -> list[Json]:
        """The objects that tell of a chunk."""
        events: list[Json] = []
        if isinstance(chunk, MessageStart):
            self._name(chunk)
        if not self._begun:
            self._begun = True
            events.append(self._object({"role": "assistant", "content": ""}))
        events += self._told(chunk)
        self._number += 1
        return events

    def finish(self) -> list[Json]:
        """The objects that close the answer: calls that wait, why it ended, what it consumed."""
        if self._failed:
            return []
        events: list[Json] = [] if self._begun else [self._object({"role": "assistant", "content": ""})]
        self._begun = True
        if not self._aborted:  # the agent was stopped before it could run its calls
            events += [self._object({"tool_calls": [piece]}) for piece in self._calls.held()]
        events.append(self._object({}, self._finish_reason()))
        losses: list[Loss] = []
        usages = [("metadata.usage", self._metadata["usage"])] if "usage" in self._metadata else []
        usage = written_usage(usages, f"$[{self._number}]", losses)
        if usage is None and self._zero_usage:
            usage = dict(NO_USAGE)
        if usage is not None and self._wants_usage:
            self._losses += losses
            events.append({**self._object(None), "usage": usage})
        elif usage is not None:
            self.lose(
                "messageMetadata.usage", self._metadata.get("usage"), "the client did not ask for it", "minor"
            )
        return events

    def _object(self, delta: JsonObject | None, reason: str | None = None) -> JsonObject:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {
            "id": self._id or "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": self._created,
            "model": self._model or "unknown",
            "choices": [] if delta is None else [choice],
        }

    def _name(self, chunk: MessageStart) -> None:
        """Take the name of the answer, unless one was given."""
        if self._id is None and chunk.message_id is not None:
            self._id = f"chatcmpl-{chunk.message_id}"
        elif chunk.message_id is not None and self._id != f"chatcmpl-{chunk.message_id}":
            self.lose("messageId", chunk.message_id, "an answer has one id")
        model = chunk.message_metadata.get("model") if is_object(chunk.message_metadata) else None
        if self._model is None and isinstance(model, str):
            self._model = model

    def _told(self, chunk: Chunk) -> list[Json]:
        match chunk:
            case TextDelta() | TextStart() | TextEnd():
                self._untold(chunk)
                return self._text(chunk)
            case ReasoningDelta() | ReasoningStart() | ReasoningEnd():
                self._untold(chunk)
                return self._thought(chunk)
            case ToolInputStart() | ToolInputDelta() | ToolInputAvailable() | ToolInputError():
                return [self._object({"tool_calls": [piece]}) for piece in self._calls.tell(chunk)]
            case ToolOutputAvailable() | ToolOutputError() | ToolOutputDenied() | ToolOutputChunk():
                self._calls.answer(chunk.tool_call_id)
                self.lose("", to_json(chunk), "an answer ends before the results of its calls")
            case ToolApprovalRequest():
                self._calls.ask(chunk.tool_call_id)
                self.lose("", to_json(chunk), "somebody has to allow the call: it is not for the client")
            case SourceUrlChunk():
                self.lose("sourceId", chunk.source_id, "a citation has no id", "minor")
                page = {"url": chunk.url, "title": chunk.title or "", "start_index": 0, "end_index": 0}
                return [self._object({"annotations": [{"type": "url_citation", "url_citation": page}]})]
            case MessageStart() | MessageMetadata() | MessageFinish():
                self._note(chunk)
            case ErrorChunk():
                self._failed = True
                error = {"message": chunk.error_text, "type": "server_error", "param": None, "code": None}
                return [{"error": error}]
            case MessageAbort():
                self._aborted = True
                self.lose("", "abort", "an answer that was stopped has ended", "changed")
                if chunk.reason is not None:
                    self.lose("reason", chunk.reason)
            case StepStart() | StepFinish():
                pass
            case _:
                self.lose("", to_json(chunk))
        return []

    def _untold(self, chunk: Spoke) -> None:
        """Tell the metadata of a chunk that is itself told."""
        metadata = chunk.provider_metadata
        if metadata is not None and not _is_refusal(metadata):
            self.lose("providerMetadata", metadata)
        if isinstance(chunk, TextEnd) and chunk.citations is not None:
            self.lose("citations", to_json(chunk.citations))

    def _thought(self, chunk: ReasoningStart | ReasoningDelta | ReasoningEnd) -> list[Json]:
        if not isinstance(chunk, ReasoningDelta) or not chunk.delta:
            return []
        return [self._object({"reasoning_content": chunk.delta})]

    def _text(self, chunk: TextStart | TextDelta | TextEnd) -> list[Json]:
        match chunk:
            case TextStart():
                self._texts[chunk.id] = "refusal" if _is_refusal(chunk.provider_metadata) else "content"
                self._needs_space = self._has_spoken
            case TextDelta() if chunk.delta:
                delta = chunk.delta
                if self._needs_space:
                    self._needs_space = False
                    self.lose("delta", PARAGRAPH, "a text begins behind another one", "repaired")
                    delta = PARAGRAPH + delta
                self._has_spoken = True
                return [self._object({self._texts.get(chunk.id, "content"): delta})]
            case TextEnd():
                self._texts.pop(chunk.id, None)
            case _:
                pass
        return []

    def _note(self, chunk: MessageStart | MessageMetadata | MessageFinish) -> None:
        said = chunk.message_metadata
        if is_object(said):
            self._metadata |= said
            self._calls.keep(server_calls(said))
            if rest := {name: value for name, value in said.items() if name not in TOLD}:
                self.lose("messageMetadata", rest)
        elif said is not UNSET and said is not None:
            self.lose("messageMetadata", said)
        if isinstance(chunk, MessageFinish):
            self._reason = chunk.finish_reason

    def _finish_reason(self) -> str:
        if self._calls.wait:
            return "tool_calls"
        reason = self._reason
        if reason is None or reason == "tool-calls":
            return "stop"
        if reason not in REASONS:
            self.lose("finishReason", reason, "the API has no word for it", "changed")
        return REASONS.get(reason, "stop")


def _is_refusal(metadata: JsonObject | None) -> bool:
    """Whether metadata say that a text is a refusal, and nothing else."""
    values = list((metadata or {}).values())
    return len(values) == 1 and is_object(values[0]) and values[0] == {"refusal": True}
