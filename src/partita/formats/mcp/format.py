"""Content of the Model Context Protocol ↔ canonical messages.

The reader accepts messages of prompts and of sampling (`{role, content}`), the requests and results that
contain them, results of `tools/call`, and content blocks. The writer returns messages of sampling, or a
request for sampling. Messages of the protocol have no ids: they are numbered `message-N`.

Specification: https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.core.metadata import add_notes
from partita.formats.core.report import Report
from partita.formats.core.role_messages import JOINED_NOTE, MessageWriter, numbered
from partita.formats.core.rules import Rules
from partita.formats.core.sidecar import in_messages
from partita.formats.core.tools import Tools
from partita.formats.core.turns import Instructions, Position, Results, Step, Turn, join, misplaced_results
from partita.formats.core.wire import read_wire, to_json
from partita.formats.format import Dumped, Format, Loaded, Request, ToolSpec
from partita.formats.losses import OBJECTS, REQUIRED, Loss
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolContent,
    ToolMessage,
    UserContent,
    UserMessage,
    text_of,
)
from partita.types.parts import ForeignPart, ToolResultPart
from partita.types.tool_results import results_id
from partita.types.value import Extra

from . import wire
from .parts import BLOCKS, RESULTS, is_cut, write_block
from .wire import MESSAGE, NAME

HINT: Final = "give a result of a tool, content blocks, or messages of a prompt or of sampling"
SYSTEM: Final = "system"
CALL_ID: Final = "call-1"
"""The call id of a result without its call."""

# Notes in the provider metadata of messages, next to the other members of a message
FORM: Final = "content"  # whether the content is a list, although it has one block
LIST: Final = "list"
MESSAGE_NOTES: Final = frozenset({FORM, JOINED_NOTE, "fields"})  # `fields` is of older versions

FINISH_REASONS: Final[Mapping[str, str]] = {
    "endTurn": "stop",
    "stopSequence": "stop",
    "maxTokens": "length",
    "toolUse": "tool-calls",
}
MAX_TOKENS: Final = 8192
"""`maxTokens` of requests that do not set it. The protocol requires it."""

REPORT: Final = Report(
    NAME,
    reasons={
        "input": OBJECTS,
        "output": "a result is blocks, or structured content",
    },
    spelling=frozenset({FORM, JOINED_NOTE}),
)


def load(payload: Json) -> Loaded:
    """Read messages, a request or a result with messages, a result of a tool, or content blocks."""
    if is_array(payload):
        has_roles = all(is_object(item) and "role" in item for item in payload)
        return _loaded(_Reader(payload)) if has_roles else _load_blocks(payload)
    if is_object(payload):
        if "messages" in payload:
            return _load_request(payload)
        if "role" in payload:
            return _load_message(payload)
        if "content" in payload or "structuredContent" in payload:
            return _load_result(payload)
        if isinstance(payload.get("type"), str):
            return _load_blocks(payload)
    what = f"an object with {', '.join(list(payload)[:5])}" if is_object(payload) else kind_of(payload)
    raise ConversionError(f"{what} is not content of the protocol", where="$", hint=HINT)


def dump(messages: Sequence[Message], request: Request | None = None) -> Dumped:
    """Write messages of sampling, or with a request the parameters of `sampling/createMessage`."""
    writer = _Writer(request)
    payload = writer.write(messages)
    return Dumped(payload, lambda: REPORT.compare(writer.record, _read(payload).positions))


# Kinds of payloads


def _read(payload: Json) -> "_Reader":
    """Return a reader of messages, or of a request with messages."""
    if is_array(payload):
        return _Reader(payload)
    if not is_array(payload["messages"]):
        what = f"messages is {kind_of(payload['messages'])}"
        raise ConversionError(what, where="$.messages", hint="make it a list")
    return _Reader(payload["messages"], "$.messages", payload.get("systemPrompt"))


def _loaded(reader: "_Reader", request: Request | None = None) -> Loaded:
    found = reader.messages
    return Loaded(tuple(join(found)), lambda: misplaced_results(found, reader.paths), request)


def _load_as(message: JsonObject, unwrap: Callable[[JsonObject], Json]) -> Loaded:
    """Read the message that was made of a payload. `unwrap` returns the payload of a message."""
    loaded = _loaded(_Reader([message], None))

    def write_back() -> Json:
        written = dump(loaded.messages).payload
        return unwrap(written[0]) if len(written) == 1 else written

    return Loaded(loaded.messages, loaded.losses, write_back=write_back)


def _load_blocks(payload: Json) -> Loaded:
    """Read blocks without a role. They belong to the assistant if they include calls."""
    blocks = payload if is_array(payload) else [payload]
    is_call = any(isinstance(block, wire.ToolUse) for block in read_wire(wire.BLOCKS, blocks, "$", HINT))
    message: JsonObject = {"role": "assistant" if is_call else "user", "content": payload}
    return _load_as(message, lambda written: written["content"])


def _load_result(payload: JsonObject) -> Loaded:
    content = payload.get("content", [])
    if not is_array(content):
        what = f"content is {kind_of(content)}"
        raise ConversionError(what, where="$.content", hint="make it a list of content blocks")
    read_wire(wire.BLOCKS, content, "$.content", HINT)
    added: JsonObject = {"type": "tool_result", "toolUseId": CALL_ID}
    message: JsonObject = {"role": "user", "content": {**payload, **added}}
    return _load_as(
        message,
        lambda one: {name: value for name, value in one["content"].items() if name not in added},
    )


def _load_message(payload: JsonObject) -> Loaded:
    """Read one message, or a result of sampling, which names its model."""
    known = {key: payload[key] for key in ("model", "stopReason") if isinstance(payload.get(key), str)}
    message = {key: payload[key] for key in payload if key not in ("model", "stopReason")}
    if len(message) == len(payload) or payload["role"] != "assistant":
        known = {}
    loaded = _load_as(message, lambda written: {**written, **known})
    metadata: JsonObject = {}
    if (stop := known.get("stopReason")) is not None:
        metadata |= {"finishReason": FINISH_REASONS.get(stop, "other"), "rawFinishReason": stop}
    if "model" in known:
        metadata["model"] = known["model"]
    messages = loaded.messages
    if metadata:
        first: Any = messages[0]
        messages = (replace(first, content=replace(first.content, metadata=metadata)), *messages[1:])
    return Loaded(messages, loaded.losses, write_back=loaded.write_back)


def _load_request(payload: JsonObject) -> Loaded:
    reader = _read(payload)
    is_text = isinstance(payload.get("systemPrompt"), str)
    settings = {
        name: value
        for name, value in payload.items()
        if name != "messages" and not (name == "systemPrompt" and is_text)
    }
    raws = settings.pop("tools", None)
    if not is_array(raws):
        return _loaded(reader, Request((), settings if raws is None else {**settings, "tools": raws}))
    tools, others = TOOLS.read(raws)
    return _loaded(reader, Request(tools, {**settings, "tools": others} if others or not raws else settings))


def _read_tool(tool: wire.Tool) -> ToolSpec:
    return ToolSpec(tool.name, tool.description or None, tool.input_schema)


def _write_tool(spec: ToolSpec) -> wire.Tool:
    description = UNSET if spec.description is None else spec.description
    schema = {"type": "object", **(spec.input_schema or {})}
    return wire.Tool(name=spec.name, input_schema=schema, description=description)


TOOLS: Final = Tools(NAME, wire.TOOL, _read_tool, _write_tool)


class _Reader:
    """Reads messages. In `messages` the results are still separate from their calls.

    The positions are those of `MessageWriter`.
    """

    def __init__(self, raws: Sequence[Json], path: str | None = "$", system: Json = None) -> None:
        """`path`: the path of the list; `None` if the payload is a single message."""
        self.messages: list[Message] = []
        self.paths: list[str] = []
        self.positions: dict[Position, Any] = {}
        self._names: dict[str, str] = {}  # of tools, by the ids of their calls
        self._head: str | None = None  # id of the last message of the assistant, until its results arrive
        if isinstance(system, str):
            self._add(SystemMessage(id=SYSTEM, content=system), "$.systemPrompt", (SYSTEM, 0))
        for index, raw in enumerate(raws):
            where = "$" if path is None else f"{path}[{index}]"
            self._read(read_wire(MESSAGE, raw, where, HINT), where, index)

    def _add(self, message: Message, path: str, place: tuple[Any, int]) -> None:
        self.messages.append(message)
        self.paths.append(path)
        self.positions[place] = message
        for number, part in enumerate(message.content.parts, place[1]):
            self.positions[place[0], number, 0] = part

    def _read(self, message: wire.Message, path: str, index: int) -> None:
        is_list = isinstance(message.content, tuple)
        blocks: Sequence[Any] = message.content if isinstance(message.content, tuple) else (message.content,)
        note: JsonObject = dict(message.extra or {})
        if message.meta is not UNSET:
            note["_meta"] = message.meta
        if is_list and len(blocks) == 1:
            note[FORM] = LIST
        id_ = f"message-{index + 1}"
        if message.role == "user":
            self._runs(blocks, note, id_, path, index)
            return
        parts = tuple([BLOCKS.read(block, None) for block in blocks])
        for part in parts:
            if type(part) is ToolCallPart:
                self._names[part.id] = part.name
        self._head = id_
        content = AssistantContent(parts=parts, provider_metadata=add_notes(None, NAME, note))
        self._add(AssistantMessage(id=id_, content=content), path, (index, 0))

    def _runs(self, blocks: Sequence[Any], note: JsonObject, id_: str, path: str, index: int) -> None:
        """A message of the user: each run of results, and of other parts, is a message."""
        runs: list[tuple[bool, list[Any]]] = []
        for part in map(self._part, blocks):
            is_tool = type(part) is ToolResultPart
            if not runs or runs[-1][0] is not is_tool:
                runs.append((is_tool, []))
            runs[-1][1].append(part)
        start = 0
        for is_tool, run in runs or [(False, [])]:
            metadata = add_notes(None, NAME, {JOINED_NOTE: True} if start else note)
            parts: tuple[Any, ...] = tuple(run)
            own = f"{id_}:{start}" if start > 1 else id_
            message: Message
            if is_tool:
                own = f"{own}:results" if self._head is None else results_id(self._head, 1)
                self._head = None
                message = ToolMessage(id=own, content=ToolContent(parts=parts, provider_metadata=metadata))
            else:
                message = UserMessage(id=own, content=UserContent(parts=parts, provider_metadata=metadata))
            self._add(message, path, (index, start))
            start += len(run)

    def _part(self, block: Any) -> Any:
        if type(block) is wire.ToolResult:
            return RESULTS.read(block, self._names.get(block.tool_use_id, ""))
        is_call = type(block) is wire.ToolUse
        return ForeignPart(NAME, to_json(block)) if is_call else BLOCKS.read(block, None)


class _Writer(MessageWriter):
    """Writes messages, and records the positions of messages and parts."""

    boundary_reason = REPORT.default

    def __init__(self, request: Request | None) -> None:
        # The results of all calls of a message are in the next message, which has nothing else:
        # https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#tool-result-messages
        super().__init__(NAME, joins_results=True)
        self._given = request
        self._prompts: list[str] = []

    def write(self, messages: Sequence[Message]) -> Json:
        """Return messages, or a request with them."""
        rules = Rules(instructions="anywhere" if self._given is None else "first", calls="any")
        self.write_turns(messages, rules, lambda part: write_block(part) is not None, results="all")
        written = [to_json(_write_message(*one)) for one in self.messages]
        return written if self._given is None else self._request(written, self._given)

    def write_blocks(self, turn: Turn, role: str) -> tuple[list[Json], list[int | None]]:
        if isinstance(turn, Results):
            calls = () if turn.step is None else turn.step.parts
            cut = {call.id for call, _ in calls if type(call) is ToolCallPart and is_cut(call)}
            return numbered(
                [None if getattr(part, "id", None) in cut else RESULTS.write(part) for part, _ in turn.parts]
            )
        blocks, numbers = numbered([write_block(part) for part, _ in turn.parts])
        if isinstance(turn, Step) and turn.text is not None:
            blocks.append(wire.Text(text=turn.text))
        return blocks, numbers

    def write_instructions(self, turn: Instructions) -> None:
        """Write instructions as one text. Only requests have them."""
        if self._given is None:
            self.record.add(turn, None, [None] * len(turn.parts))
            return
        self._prompts.append(text_of(turn.message))
        positions = [(SYSTEM, 0, 0) if part.type == "text" else None for part, _ in turn.parts]
        self.record.add(turn, (SYSTEM, 0), positions)

    def _request(self, messages: Json, request: Request) -> JsonObject:
        payload: JsonObject = {"messages": messages}
        if self._prompts:
            payload["systemPrompt"] = "\n\n".join(self._prompts)
        if "maxTokens" not in request.settings:
            payload["maxTokens"] = MAX_TOKENS
            self.record.losses.append(Loss("$.maxTokens", str(MAX_TOKENS), REQUIRED, "repaired"))
        payload |= request.settings
        own: Json = request.settings.get("tools")
        tools = TOOLS.write(request.tools, own if is_array(own) else [])
        return payload | {"tools": tools} if tools else payload


def _write_message(role: str, blocks: Sequence[Any], noted: JsonObject) -> wire.Message:
    is_single = len(blocks) == 1 and noted.get(FORM) != LIST
    members = {name: value for name, value in noted.items() if name not in MESSAGE_NOTES} if noted else {}
    return wire.Message(
        role="assistant" if role == "assistant" else "user",
        content=blocks[0] if is_single else tuple(blocks),
        meta=members.pop("_meta", UNSET),
        extra=Extra(members) if members else None,
    )


FORMAT: Final = Format(
    NAME,
    "Model Context Protocol: content, results of tools, prompts, sampling",
    load,
    dump,
    takes_request=True,
    slot=in_messages("_meta"),
    is_complete=True,
)
