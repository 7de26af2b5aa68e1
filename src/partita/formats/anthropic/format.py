"""Requests of Anthropic's Messages API ↔ canonical messages.

The steps of the model and the results between them form one message, with step starts between the steps. A
message is `message-N`, where N is the number of its first message in the request. Text after results in one
message of the request is a message of its own.

Wire: https://docs.claude.com/en/api/messages
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeGuard

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.answers.outlet import RAW_INPUT
from partita.formats.core.metadata import message_notes, notes
from partita.formats.core.report import Place, Record, Report
from partita.formats.core.residue import residue, restore
from partita.formats.core.role_messages import APART, JOINED, RoleReader, RoleWriter
from partita.formats.core.rules import MOVED, Rules, arrange
from partita.formats.core.tools import Tools
from partita.formats.core.turns import Instructions, Placed, Prompt, Results, Step, Turn, join, split
from partita.formats.core.wire import read_wire, to_json
from partita.formats.format import Dumped, Format, Loaded, Request, ToolSpec
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import (
    Message,
    SystemContent,
    SystemMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import (
    ForeignPart,
    TextPart,
)
from partita.types.tools import ToolResultPart

from . import wire
from .blocks import index_of, is_written, read_blocks, write_blocks
from .parts import RESULTS, TOOL_NAME, USER_BLOCKS
from .response import dump_response, is_response, load_response
from .server_tools import FIELDS, INDEX, Sources
from .stream import AnthropicDecoder
from .wire import CONTENT, MESSAGE, NAME

HINT: Final = "give a request, its messages, a response, or the events of a stream"
SYSTEM: Final = "system"
"""The id of the instructions before the conversation, and their place."""

# Notes about messages and step starts
FORM: Final = "content"  # `string` if the content was a string
STRING: Final = "string"
PLACE: Final = "place"  # `messages` for instructions among the messages

MAX_TOKENS: Final = 8192
"""The API requires a limit."""

RULES: Final = Rules(
    begins="user",  # "first message must use the user role"
    blank_text="drop",  # "text content blocks must contain non-whitespace text"
    trailing_space="strip",  # "final assistant content cannot end with trailing whitespace"
)

TAKEN: Final = "the API takes JPEG, PNG, GIF, WebP, PDF and text, of the user only"
NAMES: Final = "the API takes letters, digits, `_` and `-` in names, 128 of them at most"
REPORT: Final = Report(
    NAME,
    default="the API has no place for it",
    reasons={
        "reasoning": "reasoning is sent only to the provider that signed it",
        "tool-call": "it is a server tool of another provider, or not declared in this request",
        "image": TAKEN,
        "file": TAKEN,
        "reasoning-file": TAKEN,
        "id": "messages of the API have no id",
        "createdAt": "messages of the API have no time",
        "usage": "messages of the API have no usage",
        "tool-call.id": "the API takes letters, digits, `_` and `-` in ids",
        "tool-call.name": NAMES,
        "input": "the API takes only objects as input",
        "output": "a result is text, or blocks of text, images and documents",
        "fields.cache_control": "the API takes four cache marks, and none on thinking",
        "sourceId": "ids of sources are made when they are read",
    },
    spelling=frozenset({FORM, APART, PLACE, INDEX, RAW_INPUT}),
)

LAST: Final = "calls that wait for their results come last"
NO_THINKING: Final = "thinking needs the signed reasoning of the open step, which is missing"
REQUIRED: Final = "the API requires it"


def load(payload: Json) -> Loaded:
    """Read a request, its messages, one of them, a response, or the events of a stream."""
    match payload:
        case [*items]:
            if any(is_object(item) and "role" not in item and "type" in item for item in items):
                return _load_response(payload)
            found = tuple(join(_Reader(items, "$").messages))
            return Loaded(found, again=lambda: dump(found).payload["messages"])
        case {"messages": [*messages]}:
            reader = _Reader(messages, "$.messages", payload.get("system"))
            return Loaded(tuple(join(reader.messages)), request=_read_request(payload))
        case {"messages": other}:
            raise ConversionError(f"messages is {kind_of(other)}", where="$.messages", hint="make it a list")
        case {"role": _} if payload.get("type") != "message":
            found = tuple(join(_Reader([payload], "$").messages))
            return Loaded(found, again=lambda: dump(found).payload["messages"])
        case _ if is_response(payload):
            return _load_response(payload)
        case _:
            raise ConversionError(f"{_found(payload)} is unknown to the Messages API", where="$", hint=HINT)


def _load_response(payload: Json) -> Loaded:
    assert RESPONSE.load is not None
    return RESPONSE.load(payload)


def _found(payload: Json) -> str:
    if is_object(payload):
        return f"an object with {', '.join(list(payload)[:5])}" if payload else "an empty object"
    return kind_of(payload)


def dump(messages: Sequence[Message], request: Request | None = None) -> Dumped:
    """Write `system` and `messages`, or a whole request."""
    names = (tool["name"] for tool in _own_tools(request or Request()) if is_object(tool) and "name" in tool)
    writer = _Writer(None if request is None else frozenset(map(str, names)))
    payload = writer.write(messages)
    if request is not None:
        payload = _write_request({**payload, **writer.container}, request, writer.record)
    _limit_marks(payload)
    return Dumped(payload, lambda: REPORT.compare(writer.record, _read_back(payload)))


def _read_back(payload: JsonObject) -> dict[Place, Any]:
    return _Reader(payload["messages"], "$", payload.get("system")).places


# Reading


class _Reader(RoleReader):
    """Reads messages. `system` has a place of its own."""

    def __init__(self, raws: Sequence[Json], path: str, system: Json = None) -> None:
        super().__init__(NAME)
        role = ""
        if system is not None:
            content = read_wire(CONTENT, system, "$.system", HINT)
            self._text(wire.Message(role="system", content=content), SYSTEM, {}, SYSTEM)
        for index, raw in enumerate(raws):
            where, id_ = f"{path}[{index}]", f"message-{index + 1}"
            message = read_wire(MESSAGE, raw, where, HINT)
            kept = residue(wire.Message(role=message.role, content=()), replace(message, content=()))
            noted: JsonObject = {FIELDS: kept} if kept else {}
            if message.role == role:
                noted[APART] = True
            role = message.role
            if not isinstance(message.content, str):
                _check_blocks(message.content, f"{where}.content")
            if role == "assistant":
                self._assistant(message, id_, noted, index)
            elif role == "system":
                noted.pop(APART, None)
                self._text(message, id_, {**noted, PLACE: "messages"}, index)
            else:
                self._text(message, id_, noted, index)

    def _assistant(self, message: wire.Message, id_: str, noted: JsonObject, index: int) -> None:
        blocks = message.content
        if isinstance(blocks, str):
            noted[FORM] = STRING
            blocks = (wire.Text(text=blocks),)
        self.add_step(id_, read_blocks(blocks, id_), noted, index)

    def _text(self, message: wire.Message, id_: str, noted: JsonObject, index: Any) -> None:
        """A message of the user or the system. Results that it contains come first."""
        content = message.content
        text = content if isinstance(content, str) else None
        blocks = enumerate((wire.Text(text=content),) if isinstance(content, str) else content)
        found = [(self._read(block, message.role), number) for number, block in blocks]
        results = [one for one in found if isinstance(one[0], ToolResultPart)]
        others = [one for one in found if one not in results]
        if results:
            self.add_results(id_, results, index)
        if results and not others:
            return
        metadata = {NAME: noted} if noted else None
        parts: Any = tuple(part for part, _ in others)
        given: Any = {"parts": parts, "content": text, "provider_metadata": metadata}
        if message.role == "system":
            self.add(SystemMessage(id=id_, content=SystemContent(**given)), index, others)
        else:
            self.add(UserMessage(id=id_, content=UserContent(**given)), index, others)

    def _read(self, block: Any, role: str) -> Any:
        if isinstance(block, wire.ToolResult) and role == "user":
            return RESULTS.read(block, dict(self.calls))
        is_text = isinstance(block, wire.Text)
        if is_text or (role == "user" and isinstance(block, wire.Image | wire.Document | wire.UnknownBlock)):
            return USER_BLOCKS.read(block, Sources(""))
        return ForeignPart(NAME, to_json(block))


CALLS: Final = ("tool_use", "server_tool_use", "mcp_tool_use")


def _check_blocks(blocks: Sequence[Any], path: str) -> None:
    """Refuse calls and results that cannot be matched."""
    for index, block in enumerate(blocks):
        kind = block.raw.get("type") if isinstance(block, wire.UnknownBlock) else None
        where = f"{path}[{index}]"
        if kind in CALLS:
            raise ConversionError(f"a {kind} has no id or no name", where=where, hint="give both")
        if isinstance(block, wire.ToolResult) and "content" in (block.extra or ()):
            hint = "make it a string or a list of blocks"
            raise ConversionError("the content of a result is unknown", where=f"{where}.content", hint=hint)
        if kind == "tool_result":
            hint = "give the id of its tool_use"
            raise ConversionError("a tool_result names no call", where=f"{where}.tool_use_id", hint=hint)


# Writing


class _Writer(RoleWriter):
    """Writes messages, and records what went where."""

    def __init__(self, declared: frozenset[str] | None) -> None:
        self.record = Record()
        super().__init__(NAME, self.record)
        self._declared = declared
        self._system: list[Json] = []
        self._is_string = False
        self.container: JsonObject = {}
        """The container of code that waits for results."""

    def write(self, messages: Sequence[Message]) -> JsonObject:
        """`system` and `messages`."""
        turns = list(split(messages, is_written))
        arranged = arrange(turns, RULES, self.record, is_written=is_written)
        for turn in _instructions_first(arranged, self.record):
            match turn:
                case Step():
                    self._step(turn)
                case Results():
                    self._results(turn)
                case Instructions():
                    self._instructions(turn)
                case Prompt():
                    blocks, places = _write_parts(turn.parts, is_text=False)
                    self.add("user", blocks, turn, places, _with_form(turn.message))
        written: JsonObject = {"messages": [to_json(_message(*one)) for one in self.messages]}
        text = _only_text(self._system) if self._is_string else None
        system = to_json(self._system) if text is None else text
        return {"system": system, **written} if self._system else written

    def _instructions(self, turn: Instructions) -> None:
        blocks, places = _write_parts(turn.parts, is_text=True)
        if _is_pinned(turn):
            self.add("system", blocks, turn, places, {**_with_form(turn.message), APART: True})
            return
        if self._system and blocks:
            self.record.losses.append(Loss(turn.path, "where the message begins", JOINED, "repaired"))
        start = len(self._system)
        self._is_string = not start and turn.message.content.content is not None
        self._system += blocks
        shifted = [None if one is None else (SYSTEM, start + one) for one in places]
        self.record.add(turn, (SYSTEM,) if blocks else None, shifted)

    def _step(self, step: Step) -> None:
        blocks, places = write_blocks(step.parts, self._declared)
        if step.text is not None:
            blocks.append(wire.Text(text=step.text))
        self.add_step(step, *self._calls_last(step, blocks, places))
        own = notes(step.message.content.metadata, NAME) if is_object(step.message.content.metadata) else {}
        container = own.get("container")
        if is_object(container) and isinstance(container.get("id"), str) and any(map(_by_code, blocks)):
            # Code that waits for results needs its container:
            # https://docs.claude.com/en/docs/agents-and-tools/tool-use/programmatic-tool-calling
            self.container = {"container": container["id"]}

    def _calls_last(
        self, step: Step, blocks: list[Json], places: list[Place | None]
    ) -> tuple[list[Json], list[Place | None]]:
        # "tool_use blocks must be followed by …": other blocks may not stand between a call and its result.
        answered = {str(block.get("tool_use_id")) for block in blocks if is_object(block)}
        calls = [_call_id(block) for block in blocks]
        is_call = [call is not None and call not in answered for call in calls]
        if True not in is_call or False not in is_call[is_call.index(True) :]:
            return blocks, places
        self.record.losses.append(Loss(step.path, "the order of calls and texts", LAST, "repaired"))
        order = sorted(range(len(blocks)), key=lambda index: is_call[index])
        moved = {old: new for new, old in enumerate(order)}
        return [blocks[index] for index in order], [
            moved[place] if type(place) is int else place for place in places
        ]

    def _results(self, turn: Results) -> None:
        indexes = [index_of(part.provider_metadata) for part, _ in turn.parts]
        order = sorted(range(len(indexes)), key=lambda at: (at if indexes[at] is None else indexes[at], at))
        blocks: list[Json] = [RESULTS.write(turn.parts[at].part) for at in order]
        self.add("user", blocks, turn, [order.index(number) for number in range(len(order))], {})


def _message(role: Any, blocks: Sequence[Any], noted: JsonObject) -> wire.Message:
    text = _only_text(blocks) if noted.get(FORM) == STRING else None
    message = wire.Message(role=role, content=tuple(blocks) if text is None else text)
    return restore(message, notes(noted, FIELDS))


def _only_text(blocks: Sequence[Json]) -> str | None:
    """The text of blocks that are one text without other members."""
    only = blocks[0] if len(blocks) == 1 else None
    return only.text if isinstance(only, wire.Text) and only == wire.Text(text=only.text) else None


def _instructions_first(turns: Sequence[Turn], record: Record) -> Iterator[Turn]:
    """Instructions go before the conversation, unless they were read among the messages."""
    first = [one for one in turns if isinstance(one, Instructions) and not _is_pinned(one)]
    yield from first
    has_others = False
    for turn in turns:
        if turn not in first:
            has_others = True
            yield turn
        elif has_others:
            record.losses.append(Loss(turn.path, "the place of the instructions", MOVED, "repaired"))


def _is_pinned(turn: Instructions) -> bool:
    return message_notes(turn.message, NAME).get(PLACE) == "messages"


def _with_form(message: Any) -> JsonObject:
    noted = message_notes(message, NAME)
    return noted if message.content.content is None else {**noted, FORM: STRING}


def _write_parts(parts: Sequence[Placed], *, is_text: bool) -> tuple[list[Json], list[Any]]:
    """The blocks of instructions or a prompt, and the number of each part's block."""
    blocks: list[Json] = []
    places: list[Any] = []
    for part, _ in parts:
        is_allowed = not is_text or isinstance(part, TextPart | ForeignPart)
        block = USER_BLOCKS.write(part) if is_allowed else None
        places.append(None if block is None else len(blocks))
        if block is not None:
            blocks.append(block)
    return blocks, places


def _call_id(block: Any) -> str | None:
    """The id of a call."""
    if isinstance(block, wire.Call):
        return block.id
    return str(block.get("id")) if is_object(block) and block["type"] in CALLS else None


def _by_code(block: Any) -> TypeGuard[wire.ToolUse]:
    return isinstance(block, wire.ToolUse) and is_object(block.caller) and "tool_id" in block.caller


# Requests

_NOT_SETTINGS: Final = ("system", "messages", "tools")


def _is_own_tool(raw: Json) -> bool:
    """Whether a tool is one of Anthropic: they have a type and no schema."""
    if not is_object(raw) or raw.get("type", "custom") not in (None, "custom"):
        return True
    return not isinstance(raw.get("name"), str) or not is_object(raw.get("input_schema"))


def _read_tool(tool: wire.Tool) -> ToolSpec:
    return ToolSpec(name=tool.name, description=tool.description or None, input_schema=tool.input_schema)


def _write_tool(spec: ToolSpec) -> wire.Tool:
    schema = {"type": "object", **(spec.input_schema or {})}
    name = TOOL_NAME.fit(spec.name)
    return wire.Tool(name=name, input_schema=schema, description=spec.description or UNSET)


TOOLS: Final = Tools(NAME, wire.TOOL, _read_tool, _write_tool, _is_own_tool)


def _read_request(payload: JsonObject) -> Request:
    """The request around messages. Tools of Anthropic stay among the settings."""
    settings: JsonObject = {key: item for key, item in payload.items() if key not in _NOT_SETTINGS}
    tools: Json = payload.get("tools")
    if not is_array(tools):
        return Request((), settings if tools is None else {**settings, "tools": tools}, NAME)
    specs, own = TOOLS.read(tools)
    return Request(specs, {**settings, "tools": own} if own else settings, NAME)


def _own_tools(request: Request) -> list[Json]:
    tools = request.settings.get("tools")
    return tools if is_array(tools) else []


def _write_request(payload: JsonObject, request: Request, record: Record) -> JsonObject:
    settings = request.settings
    written: JsonObject = {key: settings[key] for key in ("model", "max_tokens") if key in settings}
    if "max_tokens" not in settings:
        written["max_tokens"] = MAX_TOKENS
        record.losses.append(Loss("$.max_tokens", str(MAX_TOKENS), REQUIRED, "repaired"))
    written |= {**payload, **settings}
    for index, spec in enumerate(request.tools):
        if TOOL_NAME.fit(spec.name) != spec.name:
            record.losses.append(Loss(f"$.tools[{index}].name", spec.name, NAMES, "repaired"))
    if tools := TOOLS.write(request.tools, _own_tools(request)):
        written["tools"] = tools
    _check_thinking(written, record)
    return written


def _check_thinking(payload: JsonObject, record: Record) -> None:
    """Turn thinking off if the step that waits for results has lost its reasoning: the API refuses that."""
    thinking = payload.get("thinking")
    if not is_object(thinking) or thinking.get("type") != "enabled":
        return
    match payload["messages"]:
        case [*_, {"content": [{"type": str(first)}, *_]}, {"content": [{"type": "tool_result"}, *_]}]:
            if first not in ("thinking", "redacted_thinking"):
                del payload["thinking"]
                record.losses.append(Loss.of("$.thinking", thinking, NO_THINKING))
        case _:
            pass


def _limit_marks(payload: JsonObject) -> None:
    """Remove cache marks that the API refuses: on thinking, and all but the last four.

    https://docs.claude.com/en/docs/build-with-claude/prompt-caching#cache-limitations
    """
    lists: list[Any] = [payload.get("tools"), payload.get("system")]
    lists += [message["content"] for message in payload["messages"]]
    marked = [
        (blocks, index)
        for blocks in lists
        for index, block in enumerate(blocks if is_array(blocks) else ())
        if is_object(block) and block.get("cache_control") is not None
    ]
    on_thinking = [(blocks, index) for blocks, index in marked if "thinking" in blocks[index].get("type", "")]
    others = [one for one in marked if one not in on_thinking]
    for blocks, index in [*on_thinking, *others[:-4]]:
        blocks[index] = dict(blocks[index])  # the block may belong to a message
        del blocks[index]["cache_control"]


FORMAT: Final = Format(
    NAME,
    "Anthropic's Messages API, requests and answers",
    load,
    dump,
    AnthropicDecoder,
    takes_request=True,
    is_complete=True,
)
RESPONSE: Final = Format(
    f"{NAME}-answer",
    "answers of Anthropic's Messages API",
    load_response,
    dump_response,
    AnthropicDecoder,
    is_complete=True,
)
