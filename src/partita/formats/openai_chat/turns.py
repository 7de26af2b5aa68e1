"""Turns of a request: what the user and the model said, in messages of the API."""

from typing import Final, assert_never

from msgspec import UNSET

from partita.formats.answers.outlet import RAW_INPUT
from partita.formats.losses import Loss
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import AssistantMessage, AssistantPart, ToolCallPart, UserMessage, UserPart
from partita.types.parts import (
    CustomPart,
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningFilePart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    SteeringMessagePart,
    StepStartPart,
    TextPart,
    UnknownPart,
)

from .attachments import media_item
from .calls import FIELDS
from .dialects import Dialect
from .names import id_of, name_of
from .owning import own_of
from .texts import text_content

WRAPPED: Final = "input"
"""The key of an input that is no JSON, in the object that is sent instead."""

NO_SLOT: Final = "the API has no place for it in an answer"
NOT_FOR_MODELS: Final = "data of the application is not for the model"
NOT_TAKEN: Final = "the API takes no such part"
NOT_OURS: Final = "reasoning goes back to the server it came from, and only to it"
NOT_WANTED: Final = "the server does not want its reasoning back"
OVER: Final = "the server wants reasoning back only while the turn is at work"
SERVED: Final = "the API has no place for calls that a server ran"
NO_JSON: Final = "it is no JSON, which servers want: it is sent in an object"
RENAMED: Final = "the API takes letters, digits, `_` and `-`, 64 of them at most"
TEXTS_JOINED: Final = "an answer has one content"
BEFORE_CALLS: Final = "words stand before calls in an answer"
REFUSED_IN_TEXT: Final = "the server has no field for it: it is sent as text"


class Turn:
    """An answer of the model while it is put together."""

    def __init__(self, dialect: Dialect, path: str, losses: list[Loss], *, is_over: bool) -> None:
        """`is_over` says that the user has spoken since."""
        self.waiting: dict[str, str] = {}
        """Calls that need a result: their tools by id."""
        self._dialect = dialect
        self._path = path
        self._losses = losses
        self._is_over = is_over
        self._texts: list[str] = []
        self._items: list[JsonObject] = []
        """Content in the order it was said, for servers that take thoughts in it."""
        self._thoughts: list[str] = []
        self._details: list[Json] = []
        self._refusals: list[str] = []
        self._calls: list[JsonObject] = []
        self._fields: JsonObject = {}

    def lose(self, place: str, value: Json, why: str) -> None:
        """Tell that something is not sent."""
        self._losses.append(Loss.of(f"{self._path}.content.parts{place}", value, why))

    def text(self, part: TextPart, place: str) -> None:
        """Words, or a refusal."""
        own = own_of(part.provider_metadata, self._dialect) or {}
        if part.citations:
            self.lose(f"{place}.citations", to_json(part.citations), NO_SLOT)
        if own.get("refusal") is True and self._dialect.refusals:
            self._refusals.append(part.text)
            return
        if own.get("refusal") is True:
            self.lose(place, "refusal", REFUSED_IN_TEXT)
        if part.text:
            if self._calls:
                self.lose(place, "its place", BEFORE_CALLS)
            self._texts.append(part.text)
            self._items.append({"type": "text", "text": part.text})
        if "extra_content" in own:
            self._fields["extra_content"] = own["extra_content"]

    def reasoning(self, part: ReasoningPart, place: str) -> None:
        """Thoughts, if they are the server's own and it wants them back."""
        own, wanted = own_of(part.provider_metadata, self._dialect), self._dialect.reasoning
        if own is None or wanted is None:
            self.lose(place, to_json(part), NOT_WANTED if wanted is None else NOT_OURS)
            return
        if self._is_over and self._dialect.replays == "turn":
            self.lose(place, to_json(part), OVER)
            return
        details = own.get("reasoning_details")
        if wanted == "reasoning_details" and is_array(details):
            self._details += details
            return
        if details:
            self.lose(f"{place}.providerMetadata", details, NOT_WANTED)
        if part.text:
            self._thoughts.append(part.text)
            signed = {"signature": own["signature"]} if own.get("signature") else {}
            said = [{"type": "text", "text": part.text}]
            self._items.append({"type": "thinking", "thinking": said, **signed})

    def call(self, part: ToolCallPart, place: str) -> None:
        """A call for the client to run."""
        if part.provider_executed:
            self.lose(place, to_json(part), SERVED)
            return
        own, name = own_of(part.call_provider_metadata, self._dialect) or {}, name_of(part.name)
        if name != part.name:
            self.lose(f"{place}.name", part.name, RENAMED)
        self.waiting[part.id] = part.name
        fields = own.get(FIELDS)
        kept = fields if is_object(fields) else {}
        if own.get("type") == "custom" and isinstance(part.input, str):
            said: JsonObject = {"type": "custom", "custom": {"name": name, "input": part.input}}
        else:
            arguments = self._arguments(part, own, place)
            said = {"type": "function", "function": {"name": name, "arguments": arguments}}
        self._calls.append({"id": id_of(part.id, self._dialect), **said, **kept})

    def custom(self, part: CustomPart, place: str) -> None:
        """A call of the kind that tool calls replaced; nothing else."""
        own = own_of(part.provider_metadata, self._dialect)
        if own is None or not part.kind.endswith(".function_call"):
            self.lose(place, to_json(part), NOT_TAKEN)
        else:
            self._fields["function_call"] = own

    def message(self) -> JsonObject | None:
        """The message, or none if nothing is left to say."""
        content = self._content()
        if len(self._texts) > 1 and isinstance(content, str):
            self.lose("", "where one text ends", TEXTS_JOINED)
        more: JsonObject = {"refusal": "".join(self._refusals)} if self._refusals else {}
        more |= self._reasoned()
        more |= {"tool_calls": self._calls} if self._calls else {}
        more |= self._fields
        if content is None and not more:
            return None
        if content is None and "tool_calls" not in more and "function_call" not in more:
            content = ""  # only a call may stand without content
        if self._dialect.needs_reasoning and self._dialect.reasoning is not None:
            more.setdefault(self._dialect.reasoning, "")
        return {"role": "assistant", "content": content, **more}

    def _content(self) -> str | list[JsonObject] | None:
        if self._thoughts and self._dialect.reasoning == "thinking":
            return self._items
        return "".join(self._texts) or None

    def _reasoned(self) -> JsonObject:
        """The fields in which thoughts go back."""
        match self._dialect.reasoning:
            case "reasoning_details":
                thoughts = {"reasoning": "".join(self._thoughts)} if self._thoughts else {}
                return {"reasoning_details": self._details} if self._details else thoughts
            case "reasoning_content" | "reasoning" as field:
                return {field: "".join(self._thoughts)} if self._thoughts else {}
            case "thinking" | None:
                return {}

    def _arguments(self, part: ToolCallPart, own: JsonObject, place: str) -> str:
        """The input as text: the words it was written in, where they are known."""
        words = own.get(RAW_INPUT)
        if isinstance(words, str) and words:
            return words
        value = part.raw_input if part.input is UNSET else part.input
        if value is UNSET:
            return "{}"
        if not isinstance(value, str):
            return dumps(to_json(value)).decode()
        # A text is what was written of an input that came to nothing.
        self.lose(f"{place}.input", value, NO_JSON)
        return dumps({WRAPPED: value}).decode()


def assistant_turn(
    message: AssistantMessage, path: str, dialect: Dialect, losses: list[Loss], *, is_over: bool
) -> Turn:
    """What the model said and did."""
    turn = Turn(dialect, path, losses, is_over=is_over)
    for index, part in enumerate(message.parts):
        _add(turn, part, f"[{index}]")
    return turn


def _add(turn: Turn, part: AssistantPart, place: str) -> None:
    match part:
        case TextPart():
            turn.text(part, place)
        case ReasoningPart():
            turn.reasoning(part, place)
        case ToolCallPart():
            turn.call(part, place)
        case CustomPart():
            turn.custom(part, place)
        case SourceUrlPart() | SourceDocumentPart():
            turn.lose(place, to_json(part), NO_SLOT)
        case ImagePart() | FilePart() | ReasoningFilePart() | SteeringMessagePart():
            turn.lose(place, to_json(part), NO_SLOT)
        case DataPart():
            turn.lose(place, to_json(part), NOT_FOR_MODELS)
        case ForeignPart() | UnknownPart():
            turn.lose(place, to_json(part), NOT_TAKEN)
        case StepStartPart():
            pass
        case _:
            assert_never(part)


def user_content(
    message: UserMessage, path: str, dialect: Dialect, losses: list[Loss]
) -> str | list[JsonObject]:
    """What a person said: text, or a list of items where there is more."""
    found = [
        _user_item(part, f"{path}.content.parts[{index}]", dialect, losses)
        for index, part in enumerate(message.parts)
    ]
    items = [item for item in found if item is not None]
    if any(item["type"] != "text" for item in items):
        return items
    return text_content([item["text"] for item in items], path, dialect, losses)


def _user_item(part: UserPart, path: str, dialect: Dialect, losses: list[Loss]) -> JsonObject | None:
    match part:
        case TextPart(text=text):
            return {"type": "text", "text": text} if text else None
        case ImagePart() | FilePart() | ReasoningFilePart():
            item = media_item(part, dialect)
            if not isinstance(item, str):
                return item
            losses.append(Loss.of(path, to_json(part), item))
        case DataPart():
            losses.append(Loss.of(path, to_json(part), NOT_FOR_MODELS))
        case ForeignPart() | UnknownPart():
            losses.append(Loss.of(path, to_json(part), NOT_TAKEN))
        case _:
            assert_never(part)
    return None
