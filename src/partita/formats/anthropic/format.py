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
from partita.formats.core.metadata import add_notes, message_notes, notes
from partita.formats.core.report import Entry, Place, Record, Report
from partita.formats.core.residue import residue, restore
from partita.formats.core.rules import MOVED, Rules, arrange
from partita.formats.core.turns import Instructions, Placed, Prompt, Results, Step, Turn, join, split
from partita.formats.core.wire import read_wire, to_json
from partita.formats.format import Dumped, Format, Loaded, Request, ToolSpec
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import (
    ForeignPart,
    StepStartPart,
    TextPart,
)
from partita.types.tools import ToolResultPart
from partita.types.value import Extra

from . import wire
from .blocks import index_of, is_written, read_blocks, write_blocks
from .parts import RESULTS, TOOL_NAME, USER_BLOCKS
from .response import dump_response, is_response, load_response
from .server_tools import FIELDS, INDEX, Sources
from .stream import AnthropicDecoder
from .wire import MESSAGE, NAME

HINT: Final = "give a request, its messages, a response, or the events of a stream"
SYSTEM: Final = "system"
"""The id of the instructions before the conversation, and their place."""

# Notes about messages and step starts
FORM: Final = "content"  # `string` if the content was a string
STRING: Final = "string"
APART: Final = "apart"  # the message follows one of the same role
PLACE: Final = "place"  # `messages` for instructions among the messages

MAX_TOKENS: Final = 8192
"""The API requires a limit."""

RULES: Final = Rules(
    begins="user",  # "first message must use the user role"
    blank_text="drop",  # "text content blocks must contain non-whitespace text"
    trailing_space="strip",  # "final assistant content cannot end with trailing whitespace"
)

NAMES: Final = "the API takes letters, digits, `_` and `-` in names, 128 of them at most"
REPORT: Final = Report(
    NAME,
    default="the API has no place for it",
    reasons={
        "id": "messages of the API have no id",
        "createdAt": "messages of the API have no time",
        "usage": "messages of the API have no usage",
        "tool-call.id": "the API takes letters, digits, `_` and `-` in ids",
        "tool-call.name": NAMES,
        "input": "the API takes only objects as input",
        "output": "a result is text, or blocks of text, images and documents",
        "sourceId": "ids of sources are made when they are read",
    },
    spelling=frozenset({FORM, APART, PLACE, INDEX}),
)

JOINED: Final = "the API takes one message for neighbours of one role"
STEPS: Final = "a step begins where calls were answered"
LAST: Final = "calls that wait for their results come last"
MARKS: Final = "the API takes four cache marks, and none on thinking"
NO_THINKING: Final = "thinking needs the signed reasoning of the open step, which is missing"
REQUIRED: Final = "the API requires it"


def load(payload: Json) -> Loaded:
    """Read a request, its messages, one of them, a response, or the events of a stream."""
    match payload:
        case [*items]:
            if any(is_object(item) and "role" not in item and "type" in item for item in items):
                return _load_response(payload)
            return Loaded(tuple(join(_Reader(items, "$").messages)))
        case {"messages": [*messages]}:
            reader = _Reader(messages, "$.messages", payload.get("system"))
            return Loaded(tuple(join(reader.messages)), request=_read_request(payload))
        case {"messages": other}:
            raise ConversionError(f"messages is {kind_of(other)}", where="$.messages", hint="make it a list")
        case {"role": _} if payload.get("type") != "message":
            return Loaded(tuple(join(_Reader([payload], "$").messages)))
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
    writer = _Writer(None if request is None else _server_tools(request))
    payload = writer.write(messages)
    if request is not None:
        payload = _write_request(payload, request, writer.record)
    _limit_marks(payload, writer.record)
    return Dumped(payload, lambda: REPORT.compare(writer.record, _read_back(payload)))


def _read_back(payload: JsonObject) -> dict[Place, Any]:
    return _Reader(payload["messages"], "$", payload.get("system")).places


# Reading


class _Reader:
    """Reads messages. In `messages`, results are apart from their calls.

    The place of a block is its number, after that of its message; `system` has places of its own.
    """

    def __init__(self, raws: Sequence[Json], path: str, system: Json = None) -> None:
        self.messages: list[Message] = []
        self.places: dict[Place, Any] = {}
        self._head: AssistantMessage | None = None
        self._step = 0
        self._calls: dict[str, str] = {}  # names of the open calls by id
        self._continues = False
        self._role = ""
        if system is not None:
            raw = {"role": "system", "content": system}
            message = read_wire(MESSAGE, raw, "$.system", HINT)
            self._system(message, SYSTEM, {}, SYSTEM)
        for index, raw in enumerate(raws):
            where = f"{path}[{index}]"
            message = read_wire(MESSAGE, _checked(raw, where), where, HINT)
            kept = residue(wire.Message(role=message.role, content=()), replace(message, content=()))
            noted: JsonObject = {FIELDS: kept} if kept else {}
            if isinstance(message.content, str):
                noted[FORM] = STRING
            else:
                _check_blocks(message.content, f"{where}.content")
            if message.role == "system":
                self._system(message, f"message-{index + 1}", {**noted, PLACE: "messages"}, index)
            else:
                if self._role == message.role:
                    noted[APART] = True
                read = self._assistant if message.role == "assistant" else self._user
                read(message, f"message-{index + 1}", noted, index)
            self._role = message.role

    def _append(self, message: Message, place: Place) -> None:
        self._continues = False
        self.messages.append(message)
        self.places[place] = message

    def _system(self, message: wire.Message, id_: str, noted: JsonObject, index: Place) -> None:
        content = message.content
        if isinstance(content, str):
            noted.pop(FORM, None)  # `content` of the message says it
            parts: tuple[Any, ...] = (TextPart(content),)
        else:
            parts = tuple(
                USER_BLOCKS.read(one, Sources("")) if isinstance(one, wire.Text) else _foreign(one)
                for one in content
            )
        self.places |= {(index, number): part for number, part in enumerate(parts)}
        text = content if isinstance(content, str) else None
        given = SystemContent(parts=parts, content=text, provider_metadata=_noted(noted))
        self._append(SystemMessage(id=id_, content=given), (index,))

    def _assistant(self, message: wire.Message, id_: str, noted: JsonObject, index: int) -> None:
        content = message.content
        blocks = (wire.Text(text=content),) if isinstance(content, str) else content
        found = read_blocks(blocks, id_)
        self.places |= {(index, place): part for part, place in found}
        parts: tuple[AssistantPart, ...] = tuple(part for part, _ in found)
        if self._continues and self._head is not None:
            self._step += 1
            start = StepStartPart(provider_metadata=_noted(noted))
            self.places[index, "start"] = start
            content_ = AssistantContent(parts=(start, *parts))
            self._append(replace(self._head, id=f"{self._head.id}#{self._step}", content=content_), ())
        else:
            self._step = 1
            content_ = AssistantContent(parts=parts, provider_metadata=_noted(noted))
            self._head = AssistantMessage(id=id_, content=content_)
            self._append(self._head, (index,))
        calls = (part for part in parts if isinstance(part, ToolCallPart) and not part.provider_executed)
        self._calls = {part.id: part.name for part in calls}

    def _user(self, message: wire.Message, id_: str, noted: JsonObject, index: int) -> None:
        content = message.content
        if isinstance(content, str):
            noted.pop(FORM, None)
            text = TextPart(content)
            self.places[index, 0] = text
            given = UserContent(parts=(text,), content=content, provider_metadata=_noted(noted))
            self._append(UserMessage(id=id_, content=given), (index,))
            return
        parts: list[Any] = []
        results: list[ToolResultPart] = []
        for number, block in enumerate(content):
            is_result = isinstance(block, wire.ToolResult)
            part = RESULTS.read(block, self._calls) if is_result else _read_user(block)
            (results if is_result else parts).append(part)
            self.places[index, number] = part
        if results:
            self._results(results, id_, index)
        if parts or not results:
            given = UserContent(parts=tuple(parts), provider_metadata=_noted(noted))
            self._append(UserMessage(id=id_, content=given), (index,))

    def _results(self, results: Sequence[ToolResultPart], id_: str, index: int) -> None:
        """Results of the calls right before them, and others, which have no call."""
        own = {result.id: result for result in reversed(results) if result.id in self._calls}
        strays = [result for result in results if own.get(result.id) is not result]
        if own and self._head is not None:
            answered = [result for result in results if own.get(result.id) is result]
            if [one.id for one in answered] != [call for call in self._calls if call in own]:
                answered = [_at(position, result) for position, result in enumerate(answered)]
            message = ToolMessage(id=f"{self._head.id}#{self._step}:results", content=answered)
            self._append(message, (index, "results"))
            self._calls = {call: name for call, name in self._calls.items() if call not in own}
        self._continues = bool(own) and not strays
        if strays:
            self._append(ToolMessage(id=f"{id_}:results", content=strays), (index, "strays"))
            self._continues = False


def _at(position: int, result: ToolResultPart) -> ToolResultPart:
    return replace(result, provider_metadata=add_notes(result.provider_metadata, NAME, {INDEX: position}))


def _read_user(block: Any) -> Any:
    is_known = isinstance(block, wire.Text | wire.Image | wire.Document | wire.UnknownBlock)
    return USER_BLOCKS.read(block, Sources("")) if is_known else _foreign(block)


def _foreign(block: Any) -> ForeignPart:
    return ForeignPart(NAME, to_json(block))


def _noted(noted: JsonObject) -> JsonObject | None:
    return {NAME: noted} if noted else None


def _checked(raw: Json, path: str) -> Json:
    if not is_object(raw):
        hint = 'give {"role": …, "content": …}'
        raise ConversionError(f"a message is {kind_of(raw)}", where=path, hint=hint)
    role, content = raw.get("role"), raw.get("content")
    if role not in ("user", "assistant", "system"):
        what = f"unknown role {role!r:.40}" if isinstance(role, str) else f"role is {kind_of(role)}"
        raise ConversionError(what, where=f"{path}.role", hint="use user, assistant or system")
    if not isinstance(content, str) and not is_array(content):
        found = kind_of(content) if "content" in raw else "missing"
        hint = "make it a string or a list of blocks"
        raise ConversionError(f"content of a message is {found}", where=f"{path}.content", hint=hint)
    return raw


CALLS: Final = ("tool_use", "server_tool_use", "mcp_tool_use")


def _check_blocks(blocks: Sequence[Any], path: str) -> None:
    """Refuse calls and results that cannot be matched."""
    for index, block in enumerate(blocks):
        kind = block.raw.get("type") if isinstance(block, wire.UnknownBlock) else None
        where = f"{path}[{index}]"
        if kind in CALLS:
            raise ConversionError(f"a {kind} has no id or no name", where=where, hint="give both")
        if kind == "tool_result":
            hint = "give the id of its tool_use"
            raise ConversionError("a tool_result names no call", where=f"{where}.tool_use_id", hint=hint)


# Writing


class _Writer:
    """Writes messages, and records what went where."""

    def __init__(self, declared: frozenset[str] | None) -> None:
        self.record = Record()
        self._declared = declared
        self._system: list[Json] = []
        self._is_string = False
        self._messages: list[JsonObject] = []
        self._has_results = False  # the last message has only results so far
        self._strings: set[int] = set()
        self._container: JsonObject = {}

    def write(self, messages: Sequence[Message]) -> JsonObject:
        """`system` and `messages`."""
        turns = list(split(messages, is_written))
        for turn in _instructions_first(arrange(turns, RULES, self.record), self.record):
            match turn:
                case Step():
                    self._step(turn)
                case Results():
                    self._results(turn)
                case Instructions():
                    self._instructions(turn)
                case Prompt():
                    self._prompt(turn)
        for index in self._strings:
            text = _only_text(self._messages[index]["content"])
            self._messages[index]["content"] = self._messages[index]["content"] if text is None else text
        written: JsonObject = {"messages": to_json(tuple(map(_message, self._messages))), **self._container}
        text = _only_text(self._system) if self._is_string else None
        system = to_json(self._system) if text is None else text
        return {"system": system, **written} if self._system else written

    def _append(self, role: str, blocks: list[Json], turn: Turn, noted: JsonObject) -> tuple[int, int] | None:
        """Append blocks; the numbers of their message and of the first one."""
        if not blocks:
            return None
        had_results, self._has_results = self._has_results, isinstance(turn, Results)
        is_neighbour = bool(self._messages) and self._messages[-1]["role"] == role
        if is_neighbour and not (noted.get(APART) and not had_results):
            if not had_results and not self._has_results and turn.path:
                self.record.losses.append(Loss(turn.path, "where the message begins", JOINED, "repaired"))
            content: list[Json] = self._messages[-1]["content"]
            content += blocks
            return len(self._messages) - 1, len(content) - len(blocks)
        self._messages.append({"role": role, "content": blocks, "fields": notes(noted, FIELDS)})
        if noted.get(FORM) == STRING:
            self._strings.add(len(self._messages) - 1)
        return len(self._messages) - 1, 0

    def _record(self, turn: Turn, at: tuple[int, int] | None, places: Sequence[Place | None]) -> None:
        place = None if at is None else (at[0],)
        self.record.add(turn, place, [_shifted(at, one) for one in places])

    def _instructions(self, turn: Instructions) -> None:
        noted = message_notes(turn.message, NAME)
        blocks, places = _write_parts(turn.parts, is_text=True)
        if noted.get(PLACE) == "messages":
            at = self._append("system", blocks, turn, {**noted, APART: True, FORM: _form(turn.message)})
            self._record(turn, at, places)
            return
        if self._system and blocks:
            self.record.losses.append(Loss(turn.path, "where the message begins", JOINED, "repaired"))
        start = len(self._system)
        self._is_string = not start and turn.message.content.content is not None
        self._system += blocks
        shifted = [None if one is None else (SYSTEM, start + one) for one in places]
        self.record.add(turn, (SYSTEM,) if blocks else None, shifted)

    def _prompt(self, turn: Prompt) -> None:
        blocks, places = _write_parts(turn.parts, is_text=False)
        noted = message_notes(turn.message, NAME)
        at = self._append("user", blocks, turn, {**noted, FORM: _form(turn.message)})
        self._record(turn, at, places)

    def _step(self, step: Step) -> None:
        after_results = self._has_results
        blocks, places = write_blocks(step.parts, self._declared)
        if step.text is not None:
            blocks.append(wire.Text(text=step.text))
        start = step.boundaries[-1].part if step.boundaries and step.number > 1 else None
        metadata = step.message.content.provider_metadata if start is None else start.provider_metadata
        blocks, places = self._calls_last(step, blocks, places)
        at = self._append("assistant", blocks, step, notes(metadata, NAME))
        self._record(step, at, places)
        self._boundaries(step, at, divides=after_results)
        if step.number == 1 and after_results and at is not None:
            self.record.losses.append(Loss(step.path, "where the message begins", STEPS, "changed"))
        own = notes(step.message.content.metadata, NAME) if is_object(step.message.content.metadata) else {}
        container = own.get("container")
        if is_object(container) and isinstance(container.get("id"), str) and any(map(_by_code, blocks)):
            # Code that waits for results needs its container:
            # https://docs.claude.com/en/docs/agents-and-tools/tool-use/programmatic-tool-calling
            self._container = {"container": container["id"]}

    def _boundaries(self, step: Step, at: tuple[int, int] | None, *, divides: bool) -> None:
        for number, (part, path) in enumerate(step.boundaries, 1):
            is_last = number == len(step.boundaries)
            if is_last and step.number > 1 and divides and at is not None:
                self.record.entries.append(Entry(part, path, (at[0], "start")))
            elif step.number > 1 or part != StepStartPart():
                self.record.losses.append(Loss.of(path, part, STEPS, "repaired"))

    def _calls_last(
        self, step: Step, blocks: list[Json], places: list[Place | None]
    ) -> tuple[list[Json], list[Place | None]]:
        # "tool_use blocks must be followed by …": other blocks may not stand between a call and its result.
        is_call = [isinstance(block, wire.ToolUse) or _type_of(block) == "tool_use" for block in blocks]
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
        at = self._append("user", blocks, turn, {})
        places = [order.index(number) for number in range(len(order))]
        shifted = [_shifted(at, one) for one in places]
        self.record.add(turn, None if at is None else (at[0], "results"), shifted)


def _message(message: JsonObject) -> wire.Message:
    content, fields = message["content"], message["fields"]
    extra = Extra(fields) if fields else None
    return wire.Message(
        role=message["role"], content=content if isinstance(content, str) else tuple(content), extra=extra
    )


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


def _form(message: Any) -> str | None:
    return None if message.content.content is None else STRING


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


def _shifted(at: tuple[int, int] | None, place: Place | None) -> Place | None:
    if at is None or place is None:
        return None
    return at[0], at[1] + place if type(place) is int else place


def _type_of(block: Json) -> Json:
    return block.get("type") if is_object(block) else None


def _by_code(block: Any) -> TypeGuard[wire.ToolUse]:
    return isinstance(block, wire.ToolUse) and is_object(block.caller) and "tool_id" in block.caller


# Requests

_NOT_SETTINGS: Final = ("system", "messages", "tools")


def _read_request(payload: JsonObject) -> Request:
    """The request around messages. Tools of Anthropic stay among the settings."""
    settings: JsonObject = {key: item for key, item in payload.items() if key not in _NOT_SETTINGS}
    tools: Json = payload.get("tools")
    if not is_array(tools):
        return Request((), settings if tools is None else {**settings, "tools": tools}, NAME)
    specs = [_read_tool(tool) for tool in tools]
    known = [spec is not None for spec in specs]
    if known != sorted(known, reverse=True):
        specs = [spec and _noted_tool(spec, {INDEX: index}) for index, spec in enumerate(specs)]
    own = [tool for tool, spec in zip(tools, specs, strict=True) if spec is None]
    if own:
        settings["tools"] = own
    return Request(tuple(spec for spec in specs if spec is not None), settings, NAME)


def _read_tool(raw: Json) -> ToolSpec | None:
    if not is_object(raw) or raw.get("type", "custom") not in (None, "custom"):
        return None
    if not isinstance(raw.get("name"), str) or not is_object(raw.get("input_schema")):
        return None
    tool = wire.TOOL.read(raw)
    spec = ToolSpec(name=tool.name, description=tool.description or None, input_schema=tool.input_schema)
    kept = residue(_write_tool(spec, tool.name), tool)
    return _noted_tool(spec, {FIELDS: kept}) if kept else spec


def _write_tool(spec: ToolSpec, name: str) -> wire.Tool:
    schema = {"type": "object", **(spec.input_schema or {})}
    return wire.Tool(name=name, input_schema=schema, description=spec.description or UNSET)


def _tool_notes(spec: ToolSpec) -> JsonObject:
    return notes(dict(spec.extra) if spec.extra else None, NAME)


def _noted_tool(spec: ToolSpec, more: JsonObject) -> ToolSpec:
    return replace(spec, extra=Extra({NAME: {**_tool_notes(spec), **more}}))


def _server_tools(request: Request) -> frozenset[str]:
    tools = request.settings.get("tools")
    found: Sequence[Json] = tools if is_array(tools) else ()
    return frozenset(tool["name"] for tool in found if is_object(tool) and isinstance(tool.get("name"), str))


def _write_request(payload: JsonObject, request: Request, record: Record) -> JsonObject:
    if not payload["messages"]:
        raise ConversionError("no message to send", where="$", hint="give at least one that has content")
    settings = request.settings
    written: JsonObject = {key: settings[key] for key in ("model", "max_tokens") if key in settings}
    if "max_tokens" not in settings:
        written["max_tokens"] = MAX_TOKENS
        record.losses.append(Loss("$.max_tokens", str(MAX_TOKENS), REQUIRED, "repaired"))
    written |= {**payload, **settings}
    tools: list[Json] = list(settings["tools"]) if is_array(settings.get("tools")) else []
    front = 0
    for index, spec in enumerate(request.tools):
        name = TOOL_NAME.fit(spec.name)
        if name != spec.name:
            record.losses.append(Loss(f"$.tools[{index}].name", spec.name, NAMES, "repaired"))
        noted = _tool_notes(spec)
        at = noted.get(INDEX)
        place = max(0, min(at if type(at) is int else front, len(tools)))
        tools.insert(place, restore(_write_tool(spec, name), notes(noted, FIELDS)))
        front = place + 1
    if tools:
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


def _limit_marks(payload: JsonObject, record: Record) -> None:
    """Remove cache marks that the API refuses: on thinking, and all but the last four.

    https://docs.claude.com/en/docs/build-with-claude/prompt-caching#cache-limitations
    """
    lists: list[tuple[str, Any]] = [(f"$.{name}", payload.get(name)) for name in ("tools", "system")]
    lists += [(f"$.messages[{at}].content", one["content"]) for at, one in enumerate(payload["messages"])]
    marked = [
        (f"{path}[{index}]", blocks, index)
        for path, blocks in lists
        for index, block in enumerate(blocks if is_array(blocks) else ())
        if is_object(block) and block.get("cache_control") is not None
    ]
    on_thinking = [one for one in marked if "thinking" in str(one[1][one[2]].get("type"))]
    others = [one for one in marked if one not in on_thinking]
    for path, blocks, index in [*on_thinking, *others[:-4]]:
        blocks[index] = dict(blocks[index])  # the block may belong to a message
        mark = blocks[index].pop("cache_control")
        record.losses.append(Loss.of(f"{path}.cache_control", mark, MARKS, "repaired"))


FORMAT: Final = Format(
    NAME,
    "Anthropic's Messages API, requests and answers",
    load,
    dump,
    AnthropicDecoder,
    ask=dump,
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
