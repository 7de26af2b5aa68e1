"""What a model said in a request → the parts of an answer: thoughts, words, calls."""

from typing import Any, Final

from msgspec import UNSET

from partita.errors import DecodeError
from partita.formats.answers.outlet import RAW_INPUT
from partita.formats.losses import Loss
from partita.formats.openai_chat.details import visible_text
from partita.formats.openai_chat.dialects import Dialect
from partita.formats.openai_chat.looking import is_empty, word
from partita.formats.openai_chat.notes import CONTENT, FIELDS, FUNCTION, LEGACY, SAID
from partita.formats.openai_chat.thoughts import REASONINGS
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import CustomPart, ReasoningPart, TextPart

from .items import foreign, read_said
from .messages import form_of, kept_of, named

USUAL: Final = frozenset({"role", "content", "tool_calls"})
"""The members of most answers."""

WORDS: Final = "arguments are text"
NO_ID: Final = "the call has none: it gets one, so that its result can be told"


class Said:
    """One assistant message on its way: its parts, and the form it came in."""

    def __init__(self, raw: JsonObject, id_: str, path: str, dialect: Dialect, losses: list[Loss]) -> None:
        self.parts: list[AssistantPart] = []
        self._raw = raw
        self._id = id_
        self._path = path
        self._dialect = dialect
        self._losses = losses
        self._read: list[str] = []
        """The members that are understood."""
        if raw.keys() <= USUAL:
            self._speak()
        else:
            self._think()
            self._speak()
            self._refuse()
            self._sound()
        self._call()
        self.notes = {**self._form(), **kept_of(raw, *self._read)}

    def _form(self) -> JsonObject:
        """The form of the content, where it is not the one that is written anyway."""
        form = form_of(self._raw)
        if form != {CONTENT: "null"}:
            return form
        return {} if self._raw.get("tool_calls") or self._raw.get(LEGACY) else form

    def _think(self) -> None:
        """Reasoning from the first place that has some; another place that says the same is remembered."""
        fields = sorted(REASONINGS, key=lambda field: field != self._dialect.reasoning)
        said = {field: self._raw[field] for field in fields if word(self._raw, field)}
        details = self._raw.get("reasoning_details")
        if is_array(details) and details and self._dialect.reasoning == "reasoning_details":
            self._think_in_detail(said, details)
        elif said:
            field, text = next(iter(said.items()))
            alike = [name for name, words in said.items() if words == text]
            own: JsonObject = {"field": field, SAID: alike[1:]} if alike[1:] else {"field": field}
            self._read += alike
            self.parts.append(ReasoningPart(text, provider_metadata=named(self._dialect, own)))

    def _think_in_detail(self, said: JsonObject, details: Json) -> None:
        field, text = next(iter(said.items()), ("reasoning_details", visible_text(details)))
        own: JsonObject = {"field": field, "reasoning_details": details}
        self._read.append("reasoning_details")
        if said.get("reasoning") == text:
            own[SAID] = ["reasoning"]
            self._read.append("reasoning")
        self.parts.append(ReasoningPart(text, provider_metadata=named(self._dialect, own)))

    def _speak(self) -> None:
        content = self._raw.get("content")
        if isinstance(content, str):
            self.parts += [TextPart(content, provider_metadata=self._signed())] if content else []
        elif is_array(content):
            self.parts += [read_said(item, self._dialect) for item in content]

    def _signed(self) -> JsonObject | None:
        """Gemini's signature of an answer goes with its text."""
        signed = self._raw.get("extra_content")
        if is_empty(signed):
            return None
        self._read.append("extra_content")
        return named(self._dialect, {"extra_content": signed})

    def _refuse(self) -> None:
        refusal = word(self._raw, "refusal")
        if refusal:
            self._read.append("refusal")
            self.parts.append(TextPart(refusal, provider_metadata=named(self._dialect, {"refusal": True})))

    def _sound(self) -> None:
        audio = self._raw.get("audio")
        if is_object(audio) and audio:
            self._read.append("audio")
            kind = f"{self._dialect.namespace}.audio"
            self.parts.append(CustomPart(kind, provider_metadata=named(self._dialect, audio)))

    def _call(self) -> None:
        raw = self._raw
        calls, legacy = raw.get("tool_calls"), raw.get(LEGACY)
        if is_array(calls) and calls:
            self._read.append("tool_calls")
            self.parts += [self._read_call(call, place) for place, call in enumerate(calls)]
        if is_object(legacy) and isinstance(legacy.get("name"), str):
            self._read.append(LEGACY)
            own = {"type": LEGACY, **_rest(legacy, "name", "arguments")}
            path = f"{self._path}.{LEGACY}"
            self.parts.append(self._function(f"{self._id}:call", legacy, own, path))

    def _read_call(self, call: Json, place: int) -> AssistantPart:
        path = f"{self._path}.tool_calls[{place}]"
        match call:
            case {"custom": {"name": str(), "input": str()}, "type": "custom"} if is_object(call):
                return self._custom(call, self._call_id(call, place, path))
            case {"function": {"name": str()}, "type": "function"} if is_object(call):
                pass
            case {"function": {"name": str()}} if is_object(call) and "type" not in call:
                pass
            case _:
                return foreign(call, self._dialect, "tool_calls")
        function = call["function"]
        own = {**_rest(call, "id", "type", "function"), **_more(function, "name", "arguments")}
        return self._function(self._call_id(call, place, path), function, own, f"{path}.function")

    def _call_id(self, call: JsonObject, place: int, path: str) -> str:
        said = call.get("id")
        if isinstance(said, str):
            return said
        made = f"{self._id}:call-{place + 1}"
        self._losses.append(Loss.of(f"{path}.id", said, NO_ID, "repaired"))
        return made

    def _custom(self, call: JsonObject, id_: str) -> ToolCallPart:
        custom = call["custom"]
        own = {"type": "custom", **_rest(call, "id", "type", "custom"), **_more(custom, "name", "input")}
        metadata = named(self._dialect, own)
        return ToolCallPart(
            id_,
            custom["name"],
            "input-available",
            custom["input"],
            input_encoding="text",
            call_provider_metadata=metadata,
        )

    def _function(self, id_: str, function: JsonObject, own: JsonObject, path: str) -> ToolCallPart:
        words = function.get("arguments")
        given: dict[str, Any]
        if isinstance(words, str):
            given, kept = input_of(words)
        else:
            # None at all is an empty object, and anything else is what the words would have meant.
            value: JsonObject = {}
            given, kept = dict[str, Any](input=value if words is None else words), {}
            self._losses.append(Loss.of(f"{path}.arguments", words, WORDS, "changed"))
        metadata = named(self._dialect, {**own, **kept})
        return ToolCallPart(
            id_, function["name"], "input-available", call_provider_metadata=metadata, **given
        )


def input_of(words: str) -> tuple[dict[str, Any], JsonObject]:
    """The input that words mean, and the words themselves where the input does not give them back."""
    try:
        value: Json = loads(words) if words.strip() else {}
    except DecodeError:
        return {"input": UNSET, "raw_input": words}, {RAW_INPUT: words}
    is_plain = not isinstance(value, str) and dumps(value).decode() == words
    return {"input": value}, {} if is_plain else {RAW_INPUT: words}


def _rest(raw: JsonObject, *read: str) -> JsonObject:
    rest = {key: value for key, value in raw.items() if key not in read}
    return {FIELDS: rest} if rest else {}


def _more(raw: JsonObject, *read: str) -> JsonObject:
    rest = {key: value for key, value in raw.items() if key not in read}
    return {FUNCTION: rest} if rest else {}
