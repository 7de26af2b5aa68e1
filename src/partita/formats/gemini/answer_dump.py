"""The last answer of a conversation → the body of a `GenerateContentResponse`.

Lost: all other messages, what the client's tools gave back, times and owners. Sources and citations are there
if the grounding that they were read from is.
"""

from collections.abc import Sequence
from typing import Final

from partita.errors import DecodeError
from partita.formats.answers.model_view import NOT_SENT as FOR_PEOPLE
from partita.formats.format import Dumped
from partita.formats.losses import Loss
from partita.types.codec import Codec
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantMessage, AssistantPart, Message, ToolCallPart
from partita.types.parts import DataPart, ForeignPart, SourceDocumentPart, SourceUrlPart, StepStartPart
from partita.types.usage import Usage

from .decoder import CANDIDATE
from .ending import BLOCKED, REASONS, STOP, TOOL_CALLS
from .looking import FORMAT, NAMESPACE, object_at, text_at
from .outputs import NOT_SENT
from .parts import UNKNOWN
from .rest import tell_message, tell_part
from .turns import NO_CITATIONS, part_of

ONE_ANSWER: Final = "a response holds one answer: the last one"
NO_RESULTS: Final = "an answer has calls, and not what came of them"
ONE_STEP: Final = "an answer is one step of a model"
NO_REASON: Final = "an answer that is whole says why it ended, and this one does not"
NO_ANSWER: Final = "there is no answer to write"
OTHER_WORD: Final = "another provider's word for why it ended"
SOURCES_FIRST: Final = "the sources of an answer stand apart from its parts"
NO_PLACE: Final = "a response has no place for it"

AROUND: Final = frozenset({"promptFeedback", "createTime", "modelStatus", "error"})
"""What is said of a response; the rest is said of its candidate."""

GROUNDS: Final = frozenset({"groundingMetadata", "citationMetadata"})
SAID: Final = frozenset(
    {"finishReason", "rawFinishReason", "model", "responseId", "usage", "complete", "errors"}
)
ENDS: Final = {"stop": STOP, TOOL_CALLS: STOP, "length": "MAX_TOKENS", BLOCKED: "SAFETY"}
FEEDBACK: Final = "promptFeedback:"
COUNTS: Final = frozenset(
    {
        "promptTokenCount",
        "candidatesTokenCount",
        "thoughtsTokenCount",
        "cachedContentTokenCount",
        "toolUsePromptTokenCount",
        "totalTokenCount",
        "trafficType",
    }
)
"""Members by one of which counts are known to be Google's."""

USAGE: Final[Codec[Usage]] = Codec(Usage)


def dump_answer(messages: Sequence[Message]) -> Dumped:
    """The response that the last answer came in."""
    losses: list[Loss] = []
    folded = fold(messages)
    places = [place for place, message in enumerate(folded) if isinstance(message, AssistantMessage)]
    chosen = places[-1] if places else None
    payload: JsonObject = {"candidates": []}
    if chosen is None:
        losses.append(Loss("$", "a response without candidates", NO_ANSWER, "repaired"))
    for place, message in enumerate(folded):
        if place == chosen and isinstance(message, AssistantMessage):
            payload = _Answer(message, f"$[{place}]", losses).response()
        else:
            losses.append(Loss.of(f"$[{place}]", message, ONE_ANSWER))
    return Dumped(payload, tuple(losses))


class _Answer:
    """One answer on its way."""

    def __init__(self, message: AssistantMessage, path: str, losses: list[Loss]) -> None:
        metadata: Json = message.content.metadata
        self._message = message
        self._path = path
        self._losses = losses
        self._said: JsonObject = metadata if is_object(metadata) else {}
        self._google = object_at(self._said, NAMESPACE)
        self._is_grounded = not self._google.keys().isdisjoint(GROUNDS)
        self._others: list[Json] = []
        self._has_spoken = False

    def response(self) -> JsonObject:
        """All of it."""
        parts: list[JsonObject] = []
        if not isinstance(next(iter(self._message.parts), None), StepStartPart):
            self._losses.append(Loss(f"{self._path}.content.parts", "no step start", ONE_STEP, "minor"))
        for number, part in enumerate(self._message.parts):
            parts += self._part(part, number)
        self._tell_around()
        about = {key: value for key, value in self._google.items() if key not in AROUND}
        candidate: JsonObject = {"content": {"role": "model", "parts": parts}} if parts else {}
        candidate |= self._reason(has_parts=bool(parts)) | about
        first: list[Json] = [{**candidate, "index": 0}] if candidate else []
        around = {key: value for key, value in self._google.items() if key in AROUND}
        found: JsonObject = {
            "candidates": [*first, *self._others],
            "usageMetadata": self._usage(),
            "modelVersion": text_at(self._said, "model"),
            "responseId": text_at(self._said, "responseId"),
        }
        kept = {key: value for key, value in found.items() if value is not None and value != []}
        return {**kept, **around} or {"candidates": []}

    def _part(self, part: AssistantPart, number: int) -> list[JsonObject]:
        path = f"{self._path}.content.parts[{number}]"
        match part:
            case DataPart(name=name, data=data) if f"data-{name}" == CANDIDATE:
                self._others.append(data)
                return []
            case DataPart(name=name, data=data) if f"data-{name}" == UNKNOWN:
                return part_of(ForeignPart(FORMAT, data), path, self._losses.append)
            case SourceUrlPart() | SourceDocumentPart() if self._is_grounded:
                if self._has_spoken:
                    self._losses.append(Loss(path, "where a source stood", SOURCES_FIRST, "changed"))
                return []
            case StepStartPart():
                if number:
                    self._losses.append(Loss(path, "where a step begins", ONE_STEP, "changed"))
                return []
            case ToolCallPart(provider_executed=executed, output=output) if (
                output is not None and not executed
            ):
                self._losses.append(Loss.of(f"{path}.output", output, NO_RESULTS))
            case _ if isinstance(part, FOR_PEOPLE) and not isinstance(part, ForeignPart):
                self._losses.append(Loss.of(path, part, NOT_SENT))
                return []
            case _:
                pass
        self._has_spoken = True
        if not isinstance(part, FOR_PEOPLE):
            tell_part(part, path, self._losses.append)
        return part_of(part, path, self._lose)

    def _lose(self, loss: Loss) -> None:
        if not (self._is_grounded and loss.why == NO_CITATIONS):
            self._losses.append(loss)

    def _tell_around(self) -> None:
        told: list[Loss] = []
        tell_message(self._message, self._path, told.append, "message-1")
        handled = {f"{self._path}.content.metadata", f"{self._path}.content.usage"}
        self._losses += [loss for loss in told if loss.path not in handled]
        metadata: Json = self._message.content.metadata
        where = f"{self._path}.content.metadata"
        if not is_object(metadata):
            self._losses += [loss for loss in told if loss.path == where]
        for key, value in self._said.items():
            if key not in SAID and not (key == NAMESPACE and is_object(value)):
                self._losses.append(Loss.of(f"{where}.{key}", value, NO_PLACE))

    def _reason(self, *, has_parts: bool) -> JsonObject:
        raw, unified = text_at(self._said, "rawFinishReason"), text_at(self._said, "finishReason")
        if raw is not None and (raw in REASONS or raw == raw.upper()):
            return {"finishReason": raw}
        if raw is not None and raw.startswith(FEEDBACK) and "promptFeedback" in self._google:
            return {}
        if unified is None and has_parts:
            self._losses.append(Loss(f"{self._path}.content.metadata", STOP, NO_REASON, "repaired"))
            return {"finishReason": STOP}
        if unified is None or unified in ("interrupted", "error"):
            is_own = unified is None or "error" in self._google or self._said.get("complete") is False
            if not is_own:
                self._losses.append(Loss.of(f"{self._path}.content.metadata.finishReason", unified, NO_PLACE))
            return {}
        if raw is not None:
            where = f"{self._path}.content.metadata.rawFinishReason"
            self._losses.append(Loss.of(where, raw, OTHER_WORD, "changed"))
        if unified not in ENDS:
            where = f"{self._path}.content.metadata.finishReason"
            self._losses.append(Loss.of(where, unified, OTHER_WORD, "changed"))
        return {"finishReason": ENDS.get(unified, "OTHER")}

    def _usage(self) -> JsonObject | None:
        usage, where = self._message.content.usage, f"{self._path}.content.usage"
        told = self._said.get("usage")
        if usage is None and is_object(told):
            usage, where = _read_usage(told), f"{self._path}.content.metadata.usage"
        if usage is None:
            return None
        raw: Json = usage.raw
        if is_object(raw) and (not raw or any(key in COUNTS for key in raw)):
            return raw
        if is_object(raw):
            self._losses.append(Loss.of(f"{where}.raw", raw, "the counts of another provider"))
        if usage.cache_write_tokens is not None:
            self._losses.append(Loss.of(f"{where}.cacheWriteTokens", usage.cache_write_tokens, NO_PLACE))
        return _counts(usage)


def _counts(usage: Usage) -> JsonObject | None:
    said = usage.output_tokens
    thought = usage.reasoning_tokens
    counts = {
        "promptTokenCount": usage.input_tokens,
        "candidatesTokenCount": said if said is None or thought is None else max(said - thought, 0),
        "thoughtsTokenCount": thought,
        "cachedContentTokenCount": usage.cached_input_tokens,
        "totalTokenCount": usage.total_tokens,
    }
    return {key: value for key, value in counts.items() if value is not None} or None


def _read_usage(told: JsonObject) -> Usage | None:
    try:
        return USAGE.read(told)
    except DecodeError:
        return None
