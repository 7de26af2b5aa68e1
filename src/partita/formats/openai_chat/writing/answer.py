"""The last answer of a conversation → a `chat.completion` body, in the words of the server that gave it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.format import Dumped
from partita.formats.losses import Loss
from partita.formats.openai_chat.ending import FINISHES
from partita.formats.openai_chat.looking import word
from partita.formats.openai_chat.notes import NO_ANSWER
from partita.formats.openai_chat.owning import own_of
from partita.formats.openai_chat.turns import Turn, assistant_turn
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantMessage, AssistantPart, Message, ToolCallPart
from partita.types.parts import ReasoningPart, StepStartPart, TextPart
from partita.types.usage import Usage

from .beside import Beside
from .consumption import written_usage
from .speaking import dialect_of, with_words
from .untold import Untold

ONE_ANSWER: Final = "an answer is one message"
ONE_STEP: Final = "an answer is one step: it came before"
NO_RESULTS: Final = "an answer ends before the results of its calls"
FOREIGN_THOUGHT: Final = "another server's thought is told in words alone"
NO_WORD: Final = "the API has no word for it"
UNKNOWN_TIME: Final = "an answer says when it was made"
UNKNOWN_END: Final = "an answer says why it ended"
UNKNOWN_MODEL: Final = "an answer says which model gave it"
NO_WORDS: Final = "an answer without words has no content"

REASONS: Final[Mapping[str, str]] = {
    "stop": "stop",
    "tool-calls": "tool_calls",
    "length": "length",
    "content-filter": "content_filter",
}
"""Finish reasons in the words of the API."""

OF_CHOICE: Final = frozenset(
    {"stop_reason", "native_finish_reason", "content_filter_results", "content_filter_offsets", "seed"}
)
OF_MESSAGE: Final = frozenset({"audio", "annotations", "channel", "name", "thought_signature"})
"""Where servers say what else they say; all the rest stands beside the choices."""

_MADE_ID: Final = re.compile(r"message-\d+")

OF_METADATA: Final = frozenset(
    {"finishReason", "rawFinishReason", "usage", "model", "responseId", "complete", "errors"}
)


def dump_answer(messages: Sequence[Message]) -> Dumped:
    """The last answer as the body that a client of the API reads."""
    folded = fold(messages)
    spoken = [index for index, message in enumerate(folded) if isinstance(message, AssistantMessage)]
    last = spoken[-1] if spoken else -1
    losses = [
        Loss.of(f"$[{index}]", message, ONE_ANSWER) for index, message in enumerate(folded) if index != last
    ]
    if not spoken:
        return Dumped(dict(NO_ANSWER), tuple(losses))
    message = folded[last]
    assert isinstance(message, AssistantMessage), "only answers are looked at"
    return answer_body(message, f"$[{last}]", losses)


def answer_body(message: AssistantMessage, path: str = "$", losses: list[Loss] | None = None) -> Dumped:
    """One message as a `chat.completion`; `losses` are added to those that are known."""
    return _Answer(message, path, [] if losses is None else losses).body()


class _Answer:
    """One answer on its way to its body."""

    def __init__(self, message: AssistantMessage, path: str, losses: list[Loss]) -> None:
        self._message = message
        self._path = path
        self._losses = losses
        metadata = message.content.metadata
        self._metadata: JsonObject = metadata if is_object(metadata) else {}
        self._dialect = dialect_of(message, self._metadata)
        own = self._metadata.get(self._dialect.namespace)
        self._own: JsonObject = own if is_object(own) else {}
        self._logprobs: JsonObject = {}
        self._beside = Beside(self._dialect, losses)

    def body(self) -> Dumped:
        """All of it."""
        step = [(place, self._ready(part, place)) for place, part in self._step()]
        readied = [(place, part) for place, part in step if not self._beside.take(part, place)]
        turn = Turn(self._dialect, self._path, self._losses)
        said, places = [part for _, part in readied], [place for place, _ in readied]
        written = assistant_turn(turn, said, places).message()
        if written is None and self._failure is not None and not self._metadata.get("model"):
            body = {**self._rest(), "error": self._failure}
        else:
            body = self._around(self._choice(written or {"role": "assistant", "content": None}))
        self._tell(readied)
        return Dumped(body, tuple(self._losses))

    @property
    def _failure(self) -> Json:
        """What went wrong, as the server said it."""
        failures = self._own.get("errors")
        if not is_array(failures) or not failures:
            return None
        return failures[0] if len(failures) == 1 else failures

    def _rest(self) -> JsonObject:
        """What the server said beside the choices."""
        known = {"logprobs", "errors", "other_choices", "created"} | OF_CHOICE | OF_MESSAGE
        return {key: value for key, value in self._own.items() if key not in known}

    def _step(self) -> Iterator[tuple[str, AssistantPart]]:
        """The parts of the last step; those of others are told."""
        parts = self._message.parts
        starts = [index for index, part in enumerate(parts[:-1]) if isinstance(part, StepStartPart)]
        begin = starts[-1] if starts else 0
        for index, part in enumerate(parts):
            place = f"{self._path}.content.parts[{index}]"
            if index >= begin:
                yield place, part
            elif part != StepStartPart():
                self._losses.append(Loss.of(place, part, ONE_STEP))

    def _ready(self, part: AssistantPart, place: str) -> AssistantPart:
        """A part as an answer can hold it."""
        match part:
            case ToolCallPart() if not part.provider_executed:
                return self._call(part, place)
            case ReasoningPart():
                return self._thought(part, place)
            case TextPart():
                return self._text(part, place)
            case _:
                return part

    def _call(self, call: ToolCallPart, place: str) -> ToolCallPart:
        for name, value in (
            ("output", call.output),
            ("resultProviderMetadata", call.result_provider_metadata),
            ("resultMessage", call.result_message),
        ):
            if value is not None:
                self._losses.append(Loss.of(f"{place}.{name}", value, NO_RESULTS))
        if call.state != "input-available":
            self._losses.append(Loss.of(f"{place}.state", call.state, NO_RESULTS, "changed"))
        return replace(call, output=None, result_provider_metadata=None, result_message=None)

    def _thought(self, part: ReasoningPart, place: str) -> ReasoningPart:
        own = own_of(part.provider_metadata, self._dialect)
        if own is not None:
            return with_words(part, own, self._dialect)
        if part.provider_metadata:
            path = f"{place}.providerMetadata"
            self._losses.append(Loss.of(path, part.provider_metadata, FOREIGN_THOUGHT))
        return replace(part, provider_metadata={self._dialect.namespace: {}})

    def _text(self, part: TextPart, place: str) -> TextPart:
        """A text without what stands elsewhere in a body: its logprobs and what it cites."""
        own = own_of(part.provider_metadata, self._dialect) or {}
        self._beside.cite(part, place)
        if not is_array(own.get("logprobs")):
            return replace(part, citations=None)
        kind = "refusal" if own.get("refusal") else "content"
        self._logprobs.setdefault(kind, []).extend(own["logprobs"])
        rest = {key: value for key, value in own.items() if key != "logprobs"}
        metadata = {**(part.provider_metadata or {}), self._dialect.namespace: rest}
        return replace(part, citations=None, provider_metadata=metadata)

    def _choice(self, message: JsonObject) -> JsonObject:
        message.setdefault("refusal", None)
        message["content"] = message.get("content") or None
        kept = {key: value for key, value in self._own.items() if key in OF_MESSAGE}
        logprobs = self._own.get("logprobs")
        told = {**(logprobs if is_object(logprobs) else {}), **self._logprobs}
        return {
            "index": 0,
            "message": {**message, **self._beside.fields(kept)},
            "finish_reason": self._reason("tool_calls" in message),
            "logprobs": {"content": None, "refusal": None, **told} if told else None,
            **{key: value for key, value in self._own.items() if key in OF_CHOICE},
        }

    def _reason(self, has_calls: bool) -> str | None:
        raw, reason = self._metadata.get("rawFinishReason"), self._metadata.get("finishReason")
        if isinstance(raw, str) and (raw.lower() in FINISHES or self._own):
            return raw
        if isinstance(reason, str) and reason in REASONS:
            return REASONS[reason]
        if reason is not None:
            self._losses.append(
                Loss.of(f"{self._path}.content.metadata.finishReason", reason, NO_WORD, "changed")
            )
            return None if reason == "interrupted" else "stop"
        self._made_up("finishReason", UNKNOWN_END)
        return "tool_calls" if has_calls else "stop"

    def _model(self) -> str:
        model = word(self._metadata, "model")
        if not model:
            self._made_up("model", UNKNOWN_MODEL)
        return model

    def _made_up(self, name: str, why: str) -> None:
        self._losses.append(Loss(f"{self._path}.content.metadata.{name}", "nothing", why, "repaired"))

    def _around(self, choice: JsonObject) -> JsonObject:
        others = self._own.get("other_choices")
        body: JsonObject = {
            "id": word(self._metadata, "responseId") or self._id(),
            "object": "chat.completion",
            "created": self._created(),
            "model": self._model(),
            "choices": [choice, *(others if is_array(others) else [])],
        }
        usage = written_usage(self._usages(), self._path, self._losses)
        body |= {"usage": usage} if usage is not None else {}
        body |= {"citations": self._beside.mentioned} if self._beside.mentioned else {}
        body |= {"error": self._failure} if self._failure is not None else {}
        return {**self._rest(), **body}

    def _id(self) -> str:
        """The id of the message, unless it only says which message of a payload it was."""
        return "" if _MADE_ID.fullmatch(self._message.id) else self._message.id

    def _created(self) -> int:
        created, moment = self._own.get("created"), self._message.created_at
        if isinstance(created, int):
            return created
        if moment is not None:
            return int(moment.timestamp())
        self._losses.append(Loss(f"{self._path}.createdAt", "nothing", UNKNOWN_TIME, "repaired"))
        return 0

    def _usages(self) -> Iterator[tuple[str, Usage | Json]]:
        if self._message.content.usage is not None:
            yield "usage", self._message.content.usage
        if "usage" in self._metadata:
            yield "metadata.usage", self._metadata["usage"]

    def _tell(self, readied: Sequence[tuple[str, AssistantPart]]) -> None:
        """Tell what is in no body."""
        metadata = self._message.content.metadata
        taken = OF_METADATA | {self._dialect.namespace}
        told, failures = self._metadata.get("errors"), self._own.get("errors")
        if told is not None and not (is_array(failures) and is_array(told) and len(failures) == len(told)):
            taken -= {"errors"}
        rest: Json = {key: value for key, value in self._metadata.items() if key not in taken} or UNSET
        content = replace(
            self._message.content,
            metadata=rest if is_object(metadata) else metadata,
            usage=None,
            parts=(),
        )
        created = None if self._is_whole_second() else self._message.created_at
        shell = replace(self._message, content=content, created_at=created, type="text")
        id_ = "message-1" if word(self._metadata, "responseId") else self._id() or "message-1"
        untold = Untold(self._dialect, self._losses)
        untold.around(shell, self._path, id_)
        for place, part in readied:
            untold.part(part, place, is_asked=False)
            if isinstance(part, TextPart) and not part.text:
                self._losses.append(Loss.of(f"{place}.text", "", NO_WORDS, "minor"))

    def _is_whole_second(self) -> bool:
        moment = self._message.created_at
        return moment is None or ("created" not in self._own and moment.microsecond == 0)
