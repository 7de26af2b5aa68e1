"""The assistant message ↔ parts of a step: in requests and in responses.

It needs a module of its own because the message has no list of blocks: reasoning, texts, refusals and calls
are members, and all texts of a step become one content.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.core.members import items_in, text_in
from partita.formats.core.metadata import notes
from partita.formats.core.report import Place
from partita.formats.core.residue import residue, restore
from partita.formats.core.turns import Placed
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import CustomPart, ForeignPart, ReasoningPart, TextPart

from . import wire
from .parts import CONTENT, EMPTY, FIELD, FIELDS, LEGACY, LIST, SAID, TYPE, Codecs, is_plain

REASONING: Final = ("reasoning_content", "reasoning")
"""Members with reasoning as text."""

WITHIN: Final = "in"
"""The note of a part that is kept whole: the list that it is from, if that is not the content."""

CALLS: Final = "tool_calls"
AUDIO: Final = "audio"

ORDER: Final = ("reasoning", "content", "refusal", AUDIO, CALLS, LEGACY)
"""The order in which members are read."""


class PlacedPart(NamedTuple):
    """A part and its place in the message."""

    part: Any
    place: Place


class Piece(NamedTuple):
    """A part whose text is a piece of that of a member: from one character to another."""

    number: int
    member: str
    start: int
    end: int


class Written(NamedTuple):
    """The message of a step; `None` if there is nothing to send."""

    message: wire.Assistant | None
    places: list[Place | None]
    """Of each part: a member, or a member and an index."""
    pieces: list[Piece]
    """Parts that share a member with others."""


# Reading


def read_assistant(message: wire.Assistant, id_: str, codecs: Codecs) -> tuple[list[PlacedPart], JsonObject]:
    """The parts of a message, and notes about it. `id_` is for calls without an id."""
    found: list[PlacedPart] = []
    noted: JsonObject = {}
    content, calls = message.content, message.tool_calls
    is_usual = _read_reasoning(message, codecs, found)
    if isinstance(content, str):
        if content:
            signed = message.extra_content
            own = {} if signed is UNSET or not signed else {"extra_content": signed}
            is_usual = is_usual and not own
            found.append(PlacedPart(TextPart(content, provider_metadata=codecs.noted(own)), "content"))
    elif isinstance(content, tuple):
        noted[CONTENT] = LIST
        for index, item in enumerate(content):
            found.append(PlacedPart(codecs.answer_items.read(item, None), ("content", index)))
    if message.refusal:
        is_usual = False
        metadata = {codecs.namespace: {"refusal": True}}
        found.append(PlacedPart(TextPart(message.refusal, provider_metadata=metadata), "refusal"))
    if message.audio:
        is_usual = False
        found.append(PlacedPart(_custom(AUDIO, message.audio, codecs), AUDIO))
    for index, call in enumerate(calls or ()):
        part = codecs.calls.read(call, f"{id_}:call-{index + 1}")
        if isinstance(part, ForeignPart):
            part = replace(part, provider_metadata={codecs.namespace: {WITHIN: CALLS}})
        found.append(PlacedPart(part, (CALLS, index)))
    if isinstance(message.function_call, wire.Function):
        is_usual = False
        found.append(PlacedPart(_read_legacy(message.function_call, id_, codecs), LEGACY))
    # The residue: what the message has besides what is written for its parts
    if not content and not isinstance(content, tuple):
        content = None if calls or message.function_call else ""
    expected = type(message)(content=content, tool_calls=calls or UNSET)
    if not is_usual:
        written = write_assistant([Placed(part, "") for part, _ in found], noted, codecs).message
        if written is not None:
            members = {name: getattr(written, name) for name in _MEMBERS}
            expected = type(message)(content=content, tool_calls=calls or UNSET, **members)
    kept = residue(expected, message)
    if kept:
        noted[FIELDS] = kept
    elif not found and not noted:
        noted[CONTENT] = EMPTY
    return found, noted


_MEMBERS: Final = ("refusal", AUDIO, LEGACY, *REASONING, "reasoning_details", "extra_content")


def _read_reasoning(message: wire.Assistant, codecs: Codecs, found: list[PlacedPart]) -> bool:
    """Read reasoning from the first member that has some; whether there is none.

    Servers repeat it in others.
    """
    if not (message.reasoning_content or message.reasoning or message.reasoning_details):
        return True
    wanted = codecs.dialect.reasoning
    texts = {name: text for name in REASONING if (text := getattr(message, name))}
    # Only servers that have details are known to take them back.
    details = message.reasoning_details if wanted == "reasoning_details" else None
    if not texts and not details:
        return True
    if wanted in texts:
        texts = {wanted: texts[wanted], **texts}
    own: JsonObject = {}
    if details:
        field, text = next(iter(texts.items()), ("reasoning_details", visible_text(details)))
        own = {FIELD: field, "reasoning_details": details}
        others = [field] if field in REASONING else []
    else:
        field, text = next(iter(texts.items()))
        own = {FIELD: field}
        others = [name for name, other in texts.items() if other == text and name != field]
    if others:
        own[SAID] = others
    found.append(PlacedPart(ReasoningPart(text, provider_metadata={codecs.namespace: own}), "reasoning"))
    return False


def visible_text(details: Sequence[Json]) -> str:
    """The text in reasoning details, for servers that have it nowhere else."""
    names = {"reasoning.text": "text", "reasoning.summary": "summary"}
    return "".join(text_in(item, names.get(text_in(item, "type"), "")) for item in details)


def _read_legacy(call: wire.Function, id_: str, codecs: Codecs) -> ToolCallPart:
    kept = dict(call.extra or {})
    return codecs.read_function(f"{id_}:call", call, {TYPE: LEGACY, **({FIELDS: kept} if kept else {})})


def _custom(member: str, value: JsonObject, codecs: Codecs) -> CustomPart:
    return CustomPart(f"{codecs.namespace}.{member}", provider_metadata={codecs.namespace: value})


# Writing


class _Texts:
    """Texts that become one text of a member."""

    def __init__(self, member: str) -> None:
        self.member = member
        self.pieces: list[Piece] = []
        self.text = ""

    def add(self, number: int, text: str) -> None:
        self.pieces.append(Piece(number, self.member, len(self.text), len(self.text) + len(text)))
        self.text += text


def write_assistant(parts: Sequence[Placed], noted: JsonObject, codecs: Codecs) -> Written:
    """The message of a step. Texts are joined, unless the content was a list or has to be one."""
    writer = _StepWriter(noted, codecs, len(parts))
    for number, (part, _) in enumerate(parts):
        match part:
            case TextPart():
                writer.text(number, part)
            case ReasoningPart():
                writer.reasoning(number, part)
            case ToolCallPart():
                writer.call(number, part)
            case CustomPart():
                writer.custom(number, part)
            case ForeignPart():
                writer.foreign(number, part)
            case _:
                pass
    return writer.written()


def is_written(part: AssistantPart, codecs: Codecs) -> bool:
    """Whether a part has a place in a message."""
    match part:
        case TextPart():
            return bool(part.text)
        case ReasoningPart():
            return reasoning_field(part, codecs) is not None
        case ToolCallPart():
            return not part.provider_executed
        case CustomPart() | ForeignPart():
            return write_assistant([Placed(part, "")], {}, codecs).message is not None
        case _:
            return False


def reasoning_field(part: ReasoningPart, codecs: Codecs) -> str | None:
    """The member that reasoning is written in; `None` if it is not sent.

    Only the server that it is from accepts it, and some do not.
    """
    own = (part.provider_metadata or {}).get(codecs.namespace)
    if not is_object(own):
        return None
    details, field = own.get("reasoning_details"), own.get(FIELD)
    wanted = codecs.dialect.reasoning
    if codecs.is_exact:
        wanted = "reasoning_details" if details else field or wanted or REASONING[0]
    if wanted == "reasoning_details" and not (is_array(details) and details):
        wanted = "reasoning"
    return wanted if part.text or wanted == "reasoning_details" else None


class _StepWriter:
    """One message while its parts are added."""

    def __init__(self, noted: JsonObject, codecs: Codecs, count: int) -> None:
        self._noted, self._codecs = noted, codecs
        self._is_list = noted.get(CONTENT) == LIST
        self._places: list[Place | None] = [None] * count
        self._contents = _Texts("content")
        self._refusals = _Texts("refusal")
        self._reasonings = _Texts("reasoning")
        self._items: list[tuple[int, Any]] = []
        self._calls: list[Any] = []
        self._details: list[Json] = []
        self._members: dict[str, Any] = {}

    def text(self, number: int, part: TextPart) -> None:
        own = notes(part.provider_metadata, self._codecs.namespace)
        if own.get("refusal") is True and not own.get("item") and self._has_refusals:
            self._refusals.add(number, part.text)
            self._places[number] = "refusal"
            return
        if part.text or self._is_list:
            item = self._codecs.answer_items.write(part)
            self._contents.add(number, part.text)
            self._items.append((number, item))
            self._is_list |= not is_plain(item)
        if "extra_content" in own:
            self._members["extra_content"] = own["extra_content"]

    @property
    def _has_refusals(self) -> bool:
        return self._codecs.is_exact or self._codecs.dialect.refusals

    def reasoning(self, number: int, part: ReasoningPart) -> None:
        field = reasoning_field(part, self._codecs)
        if field is None:
            return
        if field == "thinking":
            self._items.append((number, self._codecs.answer_items.write(part)))
            self._is_list = True
            return
        own = notes(part.provider_metadata, self._codecs.namespace)
        self._places[number] = "reasoning"
        self._reasonings.add(number, part.text)
        if field == "reasoning_details":
            self._details += own["reasoning_details"]
            self._members["reasoning_details"] = self._details
        else:
            self._members[field] = self._members.get(field, "") + part.text
        others = items_in(own.get(SAID))
        if self._codecs.is_exact and own.get(FIELD) not in others:
            others = [*others, own.get(FIELD)]
        for name in others:
            if name in REASONING and name != field:
                self._members[name] = self._members.get(name, "") + part.text

    def call(self, number: int, part: ToolCallPart) -> None:
        own = notes(part.call_provider_metadata, self._codecs.namespace)
        if own.get(TYPE) == LEGACY:
            if LEGACY not in self._members:  # there is only one
                kept = notes(own, FIELDS)
                function = self._codecs.write_function(part)
                self._members[LEGACY] = restore(function, kept)
                self._places[number] = LEGACY
            return
        call = self._codecs.calls.write(part)
        if call is not None:
            self._places[number] = (CALLS, len(self._calls))
            self._calls.append(call)

    def custom(self, number: int, part: CustomPart) -> None:
        own = (part.provider_metadata or {}).get(self._codecs.namespace)
        member = part.kind.rpartition(".")[2]
        if is_object(own) and member in (AUDIO, LEGACY):
            self._members[member] = own
            self._places[number] = member
        elif is_object(own) and own.get("type") == member:  # an item that the decoder of streams kept
            self._items.append((number, own))
            self._is_list = True

    def foreign(self, number: int, part: ForeignPart) -> None:
        if part.format != self._codecs.dialect.format_name or not is_object(part.value):
            return
        if notes(part.provider_metadata, self._codecs.namespace).get(WITHIN) == CALLS:
            self._places[number] = (CALLS, len(self._calls))
            self._calls.append(part.value)
        else:
            self._items.append((number, part.value))
            self._is_list = True

    def written(self) -> Written:
        pieces = [*_shared(self._reasonings), *_shared(self._refusals)]
        content: Any = None
        if self._is_list:
            for index, (number, _) in enumerate(self._items):
                self._places[number] = ("content", index)
            content = tuple(item for _, item in self._items)
        else:
            for number, _ in self._items:
                self._places[number] = "content"
            pieces += _shared(self._contents)
            content = self._contents.text or None
        if self._refusals.text:
            self._members["refusal"] = self._refusals.text
        if self._calls:
            self._members[CALLS] = tuple(self._calls)
        if not content and not self._members and not self._noted:
            return Written(None, self._places, pieces)
        if content is None and CALLS not in self._members and LEGACY not in self._members:
            content = ""  # only calls may be without content
        return Written(wire.Assistant(content=content, **self._members), self._places, pieces)


def _shared(texts: _Texts) -> list[Piece]:
    return texts.pieces if len(texts.pieces) > 1 else []


def with_piece(part: Any, piece: Piece) -> Any:
    """The part of a member with only the text of one piece."""
    return replace(part, text=part.text[piece.start : piece.end])
