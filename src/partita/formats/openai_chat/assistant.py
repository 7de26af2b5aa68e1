"""The assistant message of a request ↔ parts of a step. Responses are written with the same functions.

The message has no list of blocks: reasoning, texts, refusals and calls
are members, and all texts of a step become one content.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.core.members import items_in, text_in
from partita.formats.core.metadata import notes
from partita.formats.core.turns import LocatedPart, Position
from partita.formats.core.wire import residue, restore
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import CustomPart, ForeignPart, ReasoningPart, TextPart

from . import wire
from .parts import CONTENT, EMPTY, FIELD, FIELDS, LEGACY, LIST, SAME_IN, TYPE, Codecs, is_plain

REASONING: Final = ("reasoning_content", "reasoning")
"""Members with reasoning as text."""

SOURCE_LIST: Final = "in"
"""The note of a part that is kept as it is: the list that it is from, if that is not the content."""

CALLS: Final = "tool_calls"
AUDIO: Final = "audio"

ORDER: Final[Mapping[Any, int]] = {
    name: number for number, name in enumerate(("reasoning", "content", "refusal", AUDIO, CALLS, LEGACY))
}
"""The order in which members are read."""


class TextSlice(NamedTuple):
    """A text that is a part of the text at another position: from one character to another."""

    whole: Position
    start: int
    end: int


class Written(NamedTuple):
    """The message of a step; `None` if there is nothing to send."""

    message: wire.Assistant | None
    positions: list[Position | None]
    """Of each part: a member, or a member and an index."""
    slices: Mapping[int, TextSlice]
    """Parts that share a member with others, by their number."""


# Reading


def read_assistant(
    message: wire.Assistant, id_: str, codecs: Codecs
) -> tuple[list[tuple[Any, Position]], JsonObject]:
    """Return the parts of a message with their positions, and its notes. `id_` is for calls without an id."""
    found: list[tuple[Any, Position]] = []
    noted: JsonObject = {}
    content, calls = message.content, message.tool_calls
    is_usual = True  # there are only content and calls
    if message.reasoning_content or message.reasoning or message.reasoning_details:
        is_usual = not _read_reasoning(message, codecs, found)
    if isinstance(content, tuple):
        noted[CONTENT] = LIST
        for index, item in enumerate(content):
            found.append((codecs.answer_items.read(item, None), ("content", index)))
    elif content:
        signed = message.extra_content
        own = {} if signed is UNSET or not signed else {"extra_content": signed}
        is_usual = is_usual and not own
        found.append((TextPart(content, provider_metadata=codecs.noted(own)), "content"))
    else:
        content = None if calls or message.function_call else ""
    if message.refusal:
        is_usual = False
        metadata = {codecs.namespace: {"refusal": True}}
        found.append((TextPart(message.refusal, provider_metadata=metadata), "refusal"))
    if message.audio:
        is_usual = False
        metadata = {codecs.namespace: message.audio}
        found.append((CustomPart(f"{codecs.namespace}.{AUDIO}", provider_metadata=metadata), AUDIO))
    for index, call in enumerate(calls or ()):
        part = codecs.calls.read(call, f"{id_}:call-{index + 1}")
        if type(part) is ForeignPart:
            part = replace(part, provider_metadata={codecs.namespace: {SOURCE_LIST: CALLS}})
        found.append((part, (CALLS, index)))
    if message.function_call:
        is_usual = False
        kept = dict(message.function_call.extra or {})
        own = {TYPE: LEGACY, **({FIELDS: kept} if kept else {})}
        found.append((codecs.read_function(f"{id_}:call", message.function_call, own), LEGACY))
    expected = wire.Assistant(content=content, tool_calls=calls or UNSET)
    if not is_usual:
        written = write_assistant([LocatedPart(part, "") for part, _ in found], noted, codecs).message
        if written is not None:
            members = {name: getattr(written, name) for name in _MEMBERS}
            expected = wire.Assistant(content=content, tool_calls=calls or UNSET, **members)
    kept = residue(expected, message)
    if kept:
        noted[FIELDS] = kept
    elif not found and not noted:
        noted[CONTENT] = EMPTY
    return found, noted


_MEMBERS: Final = ("refusal", AUDIO, LEGACY, *REASONING, "reasoning_details", "extra_content")


def _read_reasoning(message: wire.Assistant, codecs: Codecs, found: list[tuple[Any, Position]]) -> bool:
    """Read reasoning from the first member with some; return whether there is one. Servers repeat it."""
    wanted = codecs.dialect.reasoning
    texts = {name: text for name in REASONING if (text := getattr(message, name))}
    # Only servers that send details accept them.
    details = message.reasoning_details if wanted == "reasoning_details" else None
    if not texts and not details:
        return False
    if wanted in texts:
        texts = {wanted: texts[wanted], **texts}
    field, text = next(iter(texts.items()), ("reasoning_details", visible_text(details or ())))
    own: JsonObject = {FIELD: field}
    if details:
        own["reasoning_details"] = details
        others = [field] if field in REASONING else []
    else:
        others = [name for name, other in texts.items() if other == text and name != field]
    if others:
        own[SAME_IN] = others
    found.append((ReasoningPart(text, provider_metadata={codecs.namespace: own}), "reasoning"))
    return True


def visible_text(details: Sequence[Json]) -> str:
    """Return the text in reasoning details, for servers that have it in no other member."""
    names = {"reasoning.text": "text", "reasoning.summary": "summary"}
    return "".join(text_in(item, names.get(text_in(item, "type"), "")) for item in details)


# Writing


def write_assistant(parts: Sequence[LocatedPart], noted: JsonObject, codecs: Codecs) -> Written:
    """Return the message of a step. Texts are joined, unless the content was a list or must be one."""
    writer = _StepWriter(noted, codecs, len(parts))
    for number, (part, _) in enumerate(parts):
        write = _WRITERS.get(type(part))
        if write is not None:
            write(writer, number, part)
    return writer.written()


def is_written(part: AssistantPart, codecs: Codecs) -> bool:
    """Whether a part is written."""
    match part:
        case TextPart():
            return bool(part.text)
        case ToolCallPart():
            return not part.provider_executed
        case ReasoningPart():
            return reasoning_field(part, codecs) is not None
        case CustomPart() | ForeignPart():
            return write_assistant([LocatedPart(part, "")], {}, codecs).message is not None
        case _:
            return False


def reasoning_field(part: ReasoningPart, codecs: Codecs) -> str | None:
    """Return the member that reasoning is written in; `None` if it is not sent.

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
        self._positions: list[Position | None] = [None] * count
        self._items: list[tuple[int, Any]] = []  # of the content: parts, or items
        self._texts: dict[str, list[tuple[int, str]]] = {}  # of refusals and reasoning, by member
        self._calls: list[Any] = []
        self._members: dict[str, Any] = {}

    def text(self, number: int, part: TextPart) -> None:
        own = notes(part.provider_metadata, self._codecs.namespace)
        if own.get("refusal") is True and not own.get("item") and self._has_refusals:
            self._texts.setdefault("refusal", []).append((number, part.text))
            self._positions[number] = "refusal"
        elif part.text or self._is_list:
            self._items.append((number, part))
            self._is_list |= bool(own) and not is_plain(self._codecs.answer_items.write(part))
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
            self._items.append((number, part))
            self._is_list = True
            return
        own = notes(part.provider_metadata, self._codecs.namespace)
        self._positions[number] = "reasoning"
        self._texts.setdefault("reasoning", []).append((number, part.text))
        if field == "reasoning_details":
            self._members[field] = [*self._members.get(field, ()), *own[field]]
        names = {field, *items_in(own.get(SAME_IN)), *([own.get(FIELD)] if self._codecs.is_exact else [])}
        for name in REASONING:
            if name in names:
                self._members[name] = self._members.get(name, "") + part.text

    def call(self, number: int, part: ToolCallPart) -> None:
        own = notes(part.call_provider_metadata, self._codecs.namespace)
        if own.get(TYPE) == LEGACY:
            if LEGACY not in self._members:  # there is only one
                self._members[LEGACY] = restore(self._codecs.write_function(part), notes(own, FIELDS))
                self._positions[number] = LEGACY
            return
        call = self._codecs.calls.write(part)
        if call is not None:
            self._positions[number] = (CALLS, len(self._calls))
            self._calls.append(call)

    def custom(self, number: int, part: CustomPart) -> None:
        own = (part.provider_metadata or {}).get(self._codecs.namespace)
        member = part.kind.rpartition(".")[2]
        if is_object(own) and member in (AUDIO, LEGACY):
            self._members[member] = own
            self._positions[number] = member
        elif is_object(own) and own.get("type") == member:  # an item that the decoder of streams kept
            self._items.append((number, own))
            self._is_list = True

    def foreign(self, number: int, part: ForeignPart) -> None:
        if part.format != self._codecs.dialect.format_name or not is_object(part.value):
            return
        if notes(part.provider_metadata, self._codecs.namespace).get(SOURCE_LIST) == CALLS:
            self._positions[number] = (CALLS, len(self._calls))
            self._calls.append(part.value)
        else:
            self._items.append((number, part.value))
            self._is_list = True

    def written(self) -> Written:
        content: Any = None
        if self._is_list:
            write = self._codecs.answer_items.write
            content = tuple(item if is_object(item) else write(item) for _, item in self._items)
            for index, (number, _) in enumerate(self._items):
                self._positions[number] = ("content", index)
        elif self._items:
            content = "".join([part.text for _, part in self._items])
            for number, _ in self._items:
                self._positions[number] = "content"
            if len(self._items) > 1:
                self._texts["content"] = [(number, part.text) for number, part in self._items]
        if refusals := [text for _, text in self._texts.get("refusal", ()) if text]:
            self._members["refusal"] = "".join(refusals)
        if self._calls:
            self._members[CALLS] = tuple(self._calls)
        slices = self._slices() if self._texts else {}
        if not content and not self._members and not self._noted:
            return Written(None, self._positions, slices)
        if content is None and CALLS not in self._members and LEGACY not in self._members:
            content = ""  # only calls may be without content
        return Written(wire.Assistant(content=content, **self._members), self._positions, slices)

    def _slices(self) -> dict[int, TextSlice]:
        """Return the texts that share a member."""
        slices: dict[int, TextSlice] = {}
        for member, texts in self._texts.items():
            start = 0
            for number, text in texts if len(texts) > 1 else ():
                slices[number] = TextSlice(member, start, start + len(text))
                start += len(text)
        return slices


_WRITERS: Final[Mapping[type[Any], Callable[[_StepWriter, int, Any], None]]] = {
    TextPart: _StepWriter.text,
    ToolCallPart: _StepWriter.call,
    ReasoningPart: _StepWriter.reasoning,
    CustomPart: _StepWriter.custom,
    ForeignPart: _StepWriter.foreign,
}


def add_slices(positions: dict[Position, Any], slices: Mapping[Position, TextSlice]) -> None:
    """Add the parts whose texts are parts of others to those that were read."""
    for position, (whole, start, end) in slices.items():
        if whole in positions:
            positions[position] = replace(positions[whole], text=positions[whole].text[start:end])
