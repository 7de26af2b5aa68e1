"""An answer of the model as a message of a request."""

from collections.abc import Sequence
from typing import Final, NamedTuple, assert_never

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.answers.outlet import RAW_INPUT
from partita.formats.losses import Loss, Severity
from partita.types.codec import encode
from partita.types.json import Json, JsonObject, dumps, is_object
from partita.types.messages import AssistantPart, ToolCallPart
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

from .dialects import Dialect
from .names import id_of, name_of
from .notes import CONTENT, FUNCTION, ITEM, LEGACY, WITHIN
from .owning import own_item, own_of
from .texts import fields_in, in_form, text_item
from .thoughts import Thoughts
from .user_turns import NOT_FOR_MODELS, NOT_TAKEN

WRAPPED: Final = "input"
"""The key of an input that is no JSON, in the object that is sent instead."""

NO_SLOT: Final = "the API has no place for it in an answer"
SERVED: Final = "the API has no place for calls that a server ran"
NO_JSON: Final = "it is no JSON, which servers want: it is sent in an object"
NO_WORDS: Final = "arguments are JSON: nothing is sent as an empty object"
RENAMED: Final = "the API takes letters, digits, `_` and `-`, 64 of them at most"
NEW_ID: Final = "the server takes ids of nine letters and digits"
TEXTS_JOINED: Final = "an answer has one content"
BEFORE_CALLS: Final = "words stand before calls in an answer"
REFUSED_IN_TEXT: Final = "the server has no field for it: it is sent as text"
NO_REASONING: Final = "the server wants to be told that there was none"
ONE_ID: Final = "every call of an answer has an id of its own"
ONE_CALL: Final = "an answer has one call of the old kind"


class Waiting(NamedTuple):
    """A call that needs a result, and the id that it is sent with."""

    call: ToolCallPart
    sent: str


class Turn:
    """An answer of the model while it is put together."""

    def __init__(
        self,
        dialect: Dialect,
        path: str,
        losses: list[Loss],
        *,
        is_over: bool = False,
        notes: JsonObject | None = None,
    ) -> None:
        """`is_over` says that the user has spoken since, `notes` the form that the answer came in."""
        self.waiting: list[Waiting] = []
        """Calls that need a result."""
        self._dialect = dialect
        self._path = path
        self._losses = losses
        self._notes = notes or {}
        self._is_list = self._notes.get(CONTENT) == "list"
        self._thoughts = Thoughts(dialect, losses, is_over=is_over)
        self._texts: list[str] = []
        self._items: list[JsonObject] = []
        """Content in the order it was said, for servers that take thoughts in it."""
        self._refusals: list[str] = []
        self._taken: set[str] = set()
        """The ids of calls so far."""
        self._calls: list[JsonObject] = []
        self._fields: JsonObject = {}

    def lose(self, place: str, value: Json, why: str, severity: Severity = "lost") -> None:
        """Tell that something is not sent, or not as it was."""
        self._losses.append(Loss.of(place, value, why, severity))

    def text(self, part: TextPart, place: str) -> None:
        """Words, or a refusal."""
        own = own_of(part.provider_metadata, self._dialect) or {}
        if part.citations:
            self.lose(f"{place}.citations", part.citations, NO_SLOT)
        if own.get("refusal") is True and self._refuse(part.text, own, place):
            return
        if part.text or self._is_list:
            if self._calls:
                self.lose(place, "its place", BEFORE_CALLS, "changed")
            self._texts.append(part.text)
            self._items.append(text_item(part.text, own))
            self._is_list |= bool(fields_in(own))
        if "extra_content" in own:
            self._fields["extra_content"] = own["extra_content"]

    def _refuse(self, text: str, own: JsonObject, place: str) -> bool:
        """Whether a refusal could be told as one."""
        if own.get(ITEM) is True:
            self._items.append({"type": "refusal", "refusal": text, **fields_in(own)})
            self._is_list = True
            return True
        if self._dialect.refusals:
            self._refusals.append(text)
            return True
        self.lose(place, "refusal", REFUSED_IN_TEXT, "changed")
        return False

    def reasoning(self, part: ReasoningPart, place: str) -> None:
        """Thoughts, if they are the server's own and it wants them back."""
        item = self._thoughts.add(part, place)
        if item is not None:
            self._items.append(item)

    def call(self, part: ToolCallPart, place: str) -> None:
        """A call for the client to run."""
        if part.provider_executed:
            self.lose(place, part, SERVED)
            return
        own = own_of(part.call_provider_metadata, self._dialect) or {}
        if own.get("type") == LEGACY:
            self._call_function(part, own, place)
            return
        sent = self._id(part, place)
        self._taken.add(sent)
        self.waiting.append(Waiting(part, sent))
        self._calls.append(self._said(part, sent, own, place))

    def _said(self, part: ToolCallPart, sent: str, own: JsonObject, place: str) -> JsonObject:
        name = self._name(part, place)
        if not own:
            function = {"name": name, "arguments": self._arguments(part, own, place)}
            return {"id": sent, "type": "function", "function": function}
        more = own.get(FUNCTION)
        rest, fields = more if is_object(more) else {}, fields_in(own)
        if own.get("type") == "custom" and isinstance(part.input, str):
            custom = {"name": name, "input": part.input, **rest}
            return {"id": sent, "type": "custom", "custom": custom, **fields}
        function = {"name": name, "arguments": self._arguments(part, own, place), **rest}
        return {"id": sent, "type": "function", "function": function, **fields}

    def _call_function(self, part: ToolCallPart, own: JsonObject, place: str) -> None:
        """A call of the kind that tool calls replaced: there is one, and it has no id."""
        if LEGACY in self._fields:
            self.lose(place, replace(part, output=None), ONE_CALL)
            return
        arguments = self._arguments(part, own, place)
        self._fields[LEGACY] = {"name": self._name(part, place), "arguments": arguments, **fields_in(own)}
        self.waiting.append(Waiting(part, ""))

    def _id(self, part: ToolCallPart, place: str) -> str:
        """The id of a call as it is sent: one that the server takes, and no other call has."""
        sent, number = id_of(part.id, self._dialect), 1
        while not sent or sent in self._taken:
            number += 1
            sent = id_of(f"{part.id or 'call'}-{number}", self._dialect)
        if sent != part.id:
            why = NEW_ID if number == 1 else ONE_ID
            self.lose(f"{place}.id", part.id, why, "repaired")
        return sent

    def _name(self, part: ToolCallPart, place: str) -> str:
        name = name_of(part.name)
        if name != part.name:
            self.lose(f"{place}.name", part.name, RENAMED, "repaired")
        return name

    def custom(self, part: CustomPart, place: str) -> None:
        """A call of the kind that tool calls replaced, or a sound by its id; nothing else."""
        own = own_of(part.provider_metadata, self._dialect)
        field = part.kind.rpartition(".")[2]
        if own is None or field not in (LEGACY, "audio"):
            self.lose(place, part, NOT_TAKEN)
        else:
            self._fields[field] = own

    def foreign(self, part: ForeignPart, place: str) -> None:
        """What the server said and nobody understood goes back as it was."""
        item = own_item(part, self._dialect)
        if item is None:
            self.lose(place, part, NOT_TAKEN)
        elif (own_of(part.provider_metadata, self._dialect) or {}).get(WITHIN) == "tool_calls":
            self._calls.append(item)
        else:
            self._items.append(item)
            self._is_list = True

    def message(self) -> JsonObject | None:
        """The message, or none if nothing is left to say."""
        content = self._content()
        if len(self._texts) > 1 and isinstance(content, str):
            self._join("where one text ends")
        if len(self._refusals) > 1:
            self._join("where one refusal ends")
        more: JsonObject = {"refusal": "".join(self._refusals)} if self._refusals else {}
        more |= self._thoughts.fields()
        if self._calls:
            more["tool_calls"] = self._calls
        more |= self._fields
        kept = fields_in(self._notes)
        if content is None and not more and not kept and CONTENT not in self._notes:
            return None
        if content is None and "tool_calls" not in more and LEGACY not in more:
            content = ""  # only a call may stand without content
        field = self._dialect.reasoning
        if self._dialect.needs_reasoning and field is not None and field not in {**more, **kept}:
            more[field] = ""
            self._losses.append(Loss(self._path, "no reasoning", NO_REASONING, "repaired"))
        return {**kept, "role": "assistant", **in_form(content, self._notes), **more}

    def _join(self, what: str) -> None:
        self._losses.append(Loss(f"{self._path}.content.parts", what, TEXTS_JOINED, "changed"))

    def _content(self) -> str | list[JsonObject] | None:
        if self._is_list or self._thoughts.are_items:
            return self._items or None
        return "".join(self._texts) or None

    def _arguments(self, part: ToolCallPart, own: JsonObject, place: str) -> str:
        """The input as text: the words it was written in, where they are known."""
        words = own.get(RAW_INPUT)
        if isinstance(words, str) and words:
            return words
        if words == "":
            self.lose(f"{place}.input", words, NO_WORDS, "repaired")
        value = part.raw_input if part.input is UNSET else part.input
        if value is UNSET:
            return "{}"
        if not isinstance(value, str):
            return encode(value).decode()
        # A text is what was written of an input that came to nothing.
        self.lose(f"{place}.input", value, NO_JSON, "changed")
        return dumps({WRAPPED: value}).decode()


def assistant_turn(turn: Turn, parts: Sequence[AssistantPart], places: Sequence[str]) -> Turn:
    """What the model said and did."""
    for part, place in zip(parts, places, strict=True):
        _add(turn, part, place)
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
        case ForeignPart():
            turn.foreign(part, place)
        case SourceUrlPart() | SourceDocumentPart():
            turn.lose(place, part, NO_SLOT)
        case ImagePart() | FilePart() | ReasoningFilePart() | SteeringMessagePart():
            turn.lose(place, part, NO_SLOT)
        case DataPart():
            turn.lose(place, part, NOT_FOR_MODELS)
        case UnknownPart():
            turn.lose(place, part, NOT_TAKEN)
        case StepStartPart():
            pass
        case _:
            assert_never(part)
