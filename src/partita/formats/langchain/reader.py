"""Messages of LangChain → canonical messages, with the position of each part."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError
from partita.formats.core.members import without
from partita.formats.core.metadata import NO_NOTES, add_notes, message_notes, notes
from partita.formats.core.turns import Position
from partita.formats.core.wire import read_wire, residue, to_json
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolContent,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import (
    ErrorTextOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningPart,
    StepStartPart,
    TextPart,
    ToolResultPart,
)
from partita.types.tool_results import result_of, results_id, without_output

from . import wire
from .envelope import HINT, LISTS, Opened, open_payload
from .native import REASONING_CONTENT, SHAPES, STANDARD, STRING, default_shape, standardize
from .parts import (
    BLOCK,
    BLOCKS,
    ENTRY,
    ERROR,
    FORM,
    GOOGLE_SIGNATURES,
    LIST,
    NAMESPACES,
    NATIVE,
    POSITION,
    PROVIDER,
    ROLE,
    SERVER_RESULTS,
    SHAPE,
    UNSENT,
    USAGE,
    V1,
    VERSION,
    default_form,
    namespace_of,
    provider_of,
    read_call,
    read_output,
    write_call_block,
    write_call_entry,
    write_tool,
)
from .wire import MESSAGE, NAME

UNTYPED: Final = "__untyped__"
"""The type of items of a content that are neither texts nor blocks, while they are read."""
CHAT_ROLES: Final = {"assistant": "ai", "ai": "ai", "system": "system", "developer": "system"}
CALL_HINT: Final = "give calls as {name, args, id}"

PROMPT_PARTS: Final = (TextPart, ImagePart, FilePart)
EMPTY: Final[dict[type, Any]] = {type_: type_(content="") for type_ in (wire.System, wire.Human, wire.Ai)}
"""Empty messages, to compare others with."""


class Reader:
    """Reads messages. In `messages`, results are not merged into their calls.

    The position of a message is its index, that of a part its index and the number of the part. A form that
    `version` would not write is kept as a note.
    """

    def __init__(self, payload: Json, version: int) -> None:
        opened, self.state, self.losses = open_payload(payload)
        self.messages: list[Message] = []
        self.paths = [one.path for one in opened]
        self.positions: dict[Position, Any] = {}
        self._version = version
        self._answered = {id_ for one in opened if isinstance(id_ := one.data.get("tool_call_id"), str)}
        self._names: dict[str, str] = {}  # of calls, by id
        self._head: AssistantMessage | None = None  # the message that later responses may be steps of
        self._head_index = 0
        self._steps = 0
        for index, one in enumerate(opened):
            message = self._read(_read_message(one), one, index)
            self.messages.append(message)
            self.positions[index,] = message

    def _read(self, message: Any, opened: Opened, index: int) -> Message:
        id_: str = f"message-{index + 1}" if getattr(message, "id", None) is None else message.id
        type_ = type(message)
        role = CHAT_ROLES.get(message.role, "human") if type_ is wire.Chat else ""
        if type_ is wire.Tool:
            return self._tool(message, id_, index)
        if type_ is wire.Ai or role == "ai":
            return self._response(message, id_, index)
        self._head = None
        if type_ is wire.UnknownMessage:
            parts: list[Any] = [ForeignPart(NAME, opened.raw)]
            read: Message = UserMessage(id=id_, type="event", content=parts)
        else:
            read = self._prompt(message, id_, is_system=type_ is wire.System or role == "system")
        for number, part in enumerate(read.content.parts):
            self.positions[index, number] = part
        return read

    def _prompt(self, message: Any, id_: str, *, is_system: bool) -> Message:
        content = message.content
        text = content if isinstance(content, str) else None
        is_chat = type(message) is wire.Chat
        empty = wire.Chat(content="", role=message.role) if is_chat else EMPTY[type(message)]
        kept = residue(empty, replace(message, content="", id=None))
        if is_chat:
            kept[ROLE] = message.role
        if text is not None:
            parts: list[Any] = [TextPart(text)]
        else:
            parts = read_items(content, (TextPart,) if is_system else PROMPT_PARTS, self._version)
            if len(parts) == 1 and type(parts[0]) is TextPart and parts[0] == TextPart(parts[0].text):
                kept[FORM] = LIST
        about: Any = {"parts": tuple(parts), "content": text, "provider_metadata": _own(kept)}
        if is_system:
            return SystemMessage(id=id_, content=SystemContent(**about))
        return UserMessage(id=id_, content=UserContent(**about))

    def _tool(self, message: wire.Tool, id_: str, index: int) -> Message:
        if message.id is None and self._head is not None:
            id_ = results_id(self._head.id, self._steps)
        name = self._names.get(message.tool_call_id, "") if message.name is None else message.name
        content: Any = message.content
        items = [] if isinstance(content, str) else read_items(content, PROMPT_PARTS, self._version)
        result = ToolResultPart(message.tool_call_id, name, read_output(message, items))
        kept = residue(write_tool(result, ""), replace(message, content="", id=None))
        result = replace(result, provider_metadata=_own(kept)) if kept else result
        self.positions[index, 0] = result
        return ToolMessage(id=id_, content=ToolContent(parts=(result,)))

    def _response(self, message: Any, id_: str, index: int) -> Message:
        head = self._head if self._head and id_ == f"{self._head.id}#{self._steps + 1}" else None
        head_form = None if head is None else message_notes(head, NAME).get(FORM)
        read = _Response(message, id_, self._answered, self._version).read(head_form)
        for number, part in enumerate(read.content.parts):
            self.positions[index, number] = part
            if type(part) is ToolCallPart:
                self._names[part.id] = part.name
                if notes(part.result_provider_metadata, NAME).get(UNSENT) is True:
                    self.positions[index, number] = without_output(part)
                    self.positions[index, number, ERROR] = result_of(part)
        if head is None:
            self._head, self._head_index, self._steps = read, index, 1
            return read
        self._steps += 1
        return self._step(read, head, index)

    def _step(self, read: AssistantMessage, head: AssistantMessage, index: int) -> AssistantMessage:
        """Return a message as a step of another, into which `join` merges it. All steps have its type."""
        kept = dict(message_notes(read, NAME))
        if kept.get("response_metadata") == {PROVIDER: provider_of(head)}:
            del kept["response_metadata"]
        form = kept.pop(FORM, None)
        start = StepStartPart(provider_metadata=None if form is None else {NAME: {FORM: form}})
        self.positions[index, FORM] = start
        parts = (start, *read.parts)
        content = replace(read.content, parts=parts, content=None, provider_metadata=_own(kept))
        type_ = read.type
        if type_ != head.type and content == AssistantContent(parts=parts):
            type_ = "tool"
            if head.type != "tool":
                self._head = replace(head, type="tool")
                for at, one in enumerate(self.messages[self._head_index :], self._head_index):
                    if type(one) is AssistantMessage:
                        self.messages[at] = replace(one, type="tool")
        return replace(read, type=type_, content=content)


def _own(kept: JsonObject) -> JsonObject | None:
    return {NAME: kept} if kept else None


def _read_message(opened: Opened) -> Any:
    data = opened.data
    message = read_wire(MESSAGE, data, opened.path, HINT)
    if type(message) is wire.UnknownMessage and is_array(content := data.get("content")):
        items = [item if _is_item(item) else {"type": UNTYPED, "value": item} for item in content]
        message = read_wire(MESSAGE, {**data, "content": items}, opened.path, HINT)
    for name in LISTS if message.extra and type(message) is wire.Ai else ():
        if name in message.extra:
            raise ConversionError("a call of the wrong shape", where=f"{opened.path}.{name}", hint=CALL_HINT)
    is_empty = type(message) is not wire.UnknownMessage and message.content is None
    return replace(message, content="") if is_empty else message


def _is_item(item: Json) -> bool:
    return isinstance(item, str) or (is_object(item) and isinstance(item.get("type"), str))


# Items of contents


class _Item(Struct, frozen=True):
    """A standard block, or a text, and the native block that it was read from."""

    block: Any
    raw: Json = None
    shape: str | None = None
    residue: JsonObject = NO_NOTES
    namespace: str | None = None
    """The provider whose shape the native block has."""


def _standard(item: Any) -> Sequence[_Item]:
    """Return the standard blocks for an item of a content."""
    if isinstance(item, str):
        return (_Item(wire.Text(text=item), item, STRING),)
    raw = to_json(item) if item.extra or type(item) is wire.UnknownBlock else None
    found = None if raw is None else standardize(raw)
    if found is None:
        return (_Item(item),)
    shape, blocks, rest = found
    namespace = SHAPES[shape].namespace
    return [
        _Item(wire.BLOCK.read(block), raw, shape, NO_NOTES if number else rest, namespace)
        for number, block in enumerate(blocks)
    ]


def read_items(content: Sequence[Any], fitting: tuple[type, ...], version: int) -> list[Any]:
    """Return the parts of the content of a prompt or a result. Unexpected parts are kept as they are."""
    parts: list[Any] = []
    for item in content:
        found = _standard(item)
        part = _read_item(found[0], None, version) if len(found) == 1 else None
        parts.append(part if isinstance(part, fitting) else ForeignPart(NAME, _raw(item)))
    return parts


def _read_item(item: _Item, namespace: str | None, version: int) -> Any:
    """Return the part of an item that is not a call."""
    namespace = namespace or item.namespace
    part = BLOCKS.read(item.block, namespace)
    if type(part) is ForeignPart:
        return ForeignPart(NAME, _raw(item.block) if item.raw is None else item.raw)
    return _with_notes(part, _shape_notes(item, namespace, version))


def _shape_notes(item: _Item, namespace: str | None, version: int) -> JsonObject:
    """Return the notes of the shape of a block."""
    if item.shape is None and (version == 1 or type(item.block) is wire.Text):
        return {}
    default = None if version == 1 else default_shape(to_json(item.block), namespace)
    kept: JsonObject = {} if item.shape == default else {SHAPE: item.shape or STANDARD}
    return {**kept, NATIVE: item.residue} if item.residue else kept


def _with_notes(part: Any, kept: JsonObject, field: str = "") -> Any:
    if not kept:
        return part
    field = field or ("call_provider_metadata" if type(part) is ToolCallPart else "provider_metadata")
    return replace(part, **{field: add_notes(getattr(part, field), NAME, kept)})


def _raw(item: Any) -> Json:
    raw = item if isinstance(item, str) else to_json(item)
    return raw["value"] if is_object(raw) and raw["type"] == UNTYPED else raw


# Responses


class _Entries:
    """The entries of calls. Each entry is returned once, by its id."""

    def __init__(self, entries: Sequence[Any]) -> None:
        self._left = dict(enumerate(entries))
        self._by_id: defaultdict[str | None, list[int]] = defaultdict(list)
        for index, entry in reversed(self._left.items()):
            self._by_id[entry.id].append(index)

    def take(self, id_: str | None) -> Any:
        """Return the next call with an id; `None` if there is none."""
        indices = self._by_id.get(id_)
        return self._left.pop(indices.pop()) if indices else None

    def rest(self) -> list[Any]:
        """Return the calls that were not taken."""
        return list(self._left.values())


class _Response:
    """Reads a response of a model."""

    def __init__(self, message: Any, id_: str, answered: set[str], version: int) -> None:
        self._message, self._id, self._answered, self._version = message, id_, answered, version
        self._metadata: JsonObject = message.response_metadata or {}
        self._kwargs: JsonObject = message.additional_kwargs or {}
        self._content = message.content
        is_v1 = self._metadata.get(VERSION) == "v1"
        self._form = STRING if isinstance(self._content, str) else V1 if is_v1 else LIST
        provider = self._metadata.get(PROVIDER)
        self._namespace = NAMESPACES.get(provider) if isinstance(provider, str) else None
        self._calls: Any = getattr(message, "tool_calls", None) or ()
        self._invalid: Any = getattr(message, "invalid_tool_calls", None) or ()
        self._signatures: JsonObject = {}
        self._parts: list[Any] = []
        self._server_calls: dict[str, int] = {}

    def read(self, head_form: Json) -> AssistantMessage:
        """Read the message. `head_form`: the form of the message that it is a step of."""
        about: JsonObject = {"content": "", "id": None}
        self._signatures = self._google_signatures()
        reasoning = self._kwargs.get(REASONING_CONTENT)
        if isinstance(reasoning, str) and reasoning:
            item = _Item(wire.Reasoning(reasoning=reasoning), shape=REASONING_CONTENT)
            kept = _shape_notes(item, self._namespace, self._version)
            self._parts.append(ReasoningPart(reasoning, provider_metadata=_own(kept)))
            about["additional_kwargs"] = without(self._kwargs, REASONING_CONTENT)
        if self._signatures:
            about["additional_kwargs"] = without(self._kwargs, REASONING_CONTENT, GOOGLE_SIGNATURES)
        if self._form == V1:
            about["response_metadata"] = without(self._metadata, VERSION)
        self._read_content()
        usage, message, empty = None, self._message, EMPTY[wire.Ai]
        if type(message) is wire.Chat:
            empty = wire.Chat(content="", role=message.role)
        else:
            usage = None if message.usage_metadata is None else USAGE.read(message.usage_metadata)
            about |= {"tool_calls": (), "invalid_tool_calls": (), "usage_metadata": None}
        kept = residue(empty, replace(message, **about))
        if type(message) is wire.Chat:
            kept[ROLE] = message.role
        namespace = None
        if self._version == 0 or head_form is not None:  # else the default form is V1
            namespace = namespace_of(self._metadata.get(PROVIDER), self._parts, self._version)
        if self._form != default_form(self._parts, None, namespace, self._version, head_form):
            kept[FORM] = self._form
        text = self._content if isinstance(self._content, str) else None
        content = AssistantContent(
            parts=tuple(self._parts), content=text, usage=usage, provider_metadata=_own(kept)
        )
        return AssistantMessage(id=self._id, content=content)

    def _read_content(self) -> None:
        calls, invalid = self._calls, self._invalid
        if not calls and not invalid and "tool_calls" in self._kwargs:
            calls, invalid = _openai_calls(self._kwargs["tool_calls"])
        entries = (_Entries(calls), _Entries(invalid)) if calls or invalid else None
        if isinstance(self._content, str):
            self._parts += [TextPart(self._content)] if self._content else []
        else:
            for position, item in enumerate(chain.from_iterable(map(_standard, self._content))):
                self._read_block(item, position, entries)
        for entry in (*entries[0].rest(), *entries[1].rest()) if entries else ():
            self._parts.append(self._call(None, entry))

    def _read_block(self, item: _Item, position: int, entries: tuple[_Entries, _Entries] | None) -> None:
        type_ = type(item.block)
        if type_ is wire.ToolCall or type_ is wire.InvalidToolCall:
            own = None if entries is None else entries[0 if type_ is wire.ToolCall else 1]
            self._parts.append(self._call(item, None if own is None else own.take(item.block.id)))
        elif type_ is not wire.ServerToolResult or not self._server_result(item, position):
            part = _read_item(item, self._namespace, self._version)
            if type(part) is ToolCallPart:
                self._server_calls[part.id] = len(self._parts)
            self._parts.append(part)

    def _call(self, item: _Item | None, entry: Any) -> ToolCallPart:
        """Return the call of a block, of an entry, or of both: LangChain runs the entry."""
        source: Any = entry if item is None or entry is not None else item.block
        call = read_call(source, f"{self._id}:call-{len(self._parts) + 1}")
        error = getattr(source, "error", None)
        kept: JsonObject = {}
        if item is not None:
            kept = residue(write_call_block(call, error), item.block)
            kept |= _shape_notes(item, self._namespace, self._version)
            if self._form == LIST and SHAPE not in kept:
                kept[BLOCK] = True
        elif self._form == V1:
            kept[BLOCK] = False
        rest = False if entry is None else residue(write_call_entry(call, error), entry)
        if rest is False or rest:
            kept[ENTRY] = rest
        if error is not None and call.id in self._answered:
            kept[ERROR] = error
        elif error is not None:
            about: Any = {
                "output": ErrorTextOutput(error),
                "result_provider_metadata": {NAME: {UNSENT: True}},
            }
            call = replace(call, state="output-error", **about)
        metadata = _own(kept)
        if signature := self._signatures.get(call.id):
            metadata = {**(metadata or {}), "google": {"thoughtSignature": signature}}
        return call if metadata is None else replace(call, call_provider_metadata=metadata)

    def _server_result(self, item: _Item, position: int) -> bool:
        """Add a result to the call of a server tool, or as a separate part if there is no such call."""
        at = self._server_calls.get(item.block.tool_call_id)
        if at is None or self._parts[at].output is not None:
            return False
        call = SERVER_RESULTS.read(item.block, self._parts[at])
        if type(call) is not ToolCallPart:
            return False
        kept = _shape_notes(item, self._namespace, self._version)
        if at < len(self._parts) - 1:
            kept[POSITION] = position
        self._parts[at] = _with_notes(call, kept, "result_provider_metadata")
        return True

    def _google_signatures(self) -> JsonObject:
        """Return the signatures of calls, if they all belong to calls of the message."""
        found = self._kwargs.get(GOOGLE_SIGNATURES) if self._namespace == "google" else None
        if not is_object(found) or not all(isinstance(value, str) for value in found.values()):
            return {}
        return found if found.keys() <= {call.id for call in self._calls} else {}


def _openai_calls(raws: Json) -> tuple[list[Any], list[Any]]:
    """Return calls in the form of Chat Completions, which messages without `tool_calls` have."""
    calls: list[Any] = []
    invalid: list[Any] = []
    for raw in raws if is_array(raws) else ():
        match raw:
            case {"function": {"name": str(name), **function}}:
                id_, arguments = raw.get("id"), function.get("arguments")
                about: Any = {"name": name, "id": id_ if isinstance(id_, str) else None}
            case _:
                continue
        try:
            args = loads(arguments or "{}")
        except (DecodeError, TypeError):
            args = None
        if is_object(args):
            calls.append(wire.CallEntry(args=args, **about))
        else:
            text = arguments if isinstance(arguments, str) else dumps(arguments).decode()
            invalid.append(wire.InvalidCallEntry(args=text, **about))
    return calls, invalid
