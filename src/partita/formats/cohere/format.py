"""Requests of Cohere's chat API ↔ canonical messages.

A message is `message-N`, where N is the number of its first message in the request. Each result is a message
of its own there. Documents of a request are one of its settings.

Wire: https://docs.cohere.com/reference/chat
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.core.metadata import message_notes, notes
from partita.formats.core.report import Place, Record, Report
from partita.formats.core.residue import residue, restore
from partita.formats.core.role_messages import APART, INDEX, RoleReader, RoleWriter
from partita.formats.core.rules import Rules, arrange
from partita.formats.core.tools import Tools
from partita.formats.core.turns import Instructions, Prompt, Results, Step, join, split
from partita.formats.core.wire import Wire, read_wire, to_json
from partita.formats.format import Dumped, Format, Loaded, Request, ToolSpec
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import Message, SystemContent, SystemMessage, UserContent, UserMessage
from partita.types.parts import ForeignPart, TextPart

from . import wire
from .assistant import FORM, STRING, as_string, is_written, read_assistant, write_assistant
from .parts import FIELDS, RESULTS, TOOL_NAME, USER_BLOCKS
from .response import RESPONSES
from .stream import EVENTS, CohereDecoder
from .wire import NAME

HINT: Final = "give a request, its messages, a response, or the events of a stream"
RULES: Final = Rules(
    instructions="first",  # "system turn must be the first in the list"
    blank_text="drop",  # "message must not be empty in a turn": https://docs.cohere.com/reference/errors
)
NAMES: Final = "letters, digits, `_` and `-` are written in names, 64 of them at most"
REPORT: Final = Report(
    NAME,
    default="the API has no place for it",
    reasons={
        "id": "messages of the API have no id",
        "createdAt": "messages of the API have no time",
        "usage": "messages of the API have no usage",
        "tool-call.name": NAMES,
        "input": "the arguments of a call are an object",
        "output": "a result is text or documents, without a mark of errors",
        "text": "the API takes a tool plan beside calls, and no text",
    },
    spelling=frozenset({FORM, INDEX}),
)


def load(payload: Json) -> Loaded:
    """Read a request, its messages, one of them, a response, or the events of a stream."""
    match payload:
        case [*items] if not any(is_object(item) and "role" not in item for item in items):
            return _load_messages(items)
        case {"messages": [*messages]}:
            reader = _Reader(messages, "$.messages")
            return Loaded(tuple(join(reader.messages)), request=_read_request(payload))
        case {"messages": other}:
            raise ConversionError(f"messages is {kind_of(other)}", where="$.messages", hint="make it a list")
        case {"role": _}:
            return _load_messages([payload])
        case [*_] | {"message": _}:
            return _load_response(payload)
        case {"type": str(kind)} if kind in EVENTS:
            return _load_response(payload)
        case _:
            raise ConversionError(f"{kind_of(payload)} is unknown to Cohere", where="$", hint=HINT)


def _load_response(payload: Json) -> Loaded:
    assert RESPONSE.load is not None
    return RESPONSE.load(payload)


def _load_messages(items: Sequence[Json]) -> Loaded:
    """Messages without a request around them."""
    found = tuple(join(_Reader(items, "$").messages))
    return Loaded(found, again=lambda: dump(found).payload["messages"])


def dump(messages: Sequence[Message], request: Request | None = None) -> Dumped:
    """Write `messages`, or a whole request."""
    writer = _Writer()
    payload = writer.write(messages)
    if request is not None:
        payload = _write_request(payload, request, writer.record)
    return Dumped(payload, lambda: REPORT.compare(writer.record, _Reader(payload["messages"], "$").places))


# Reading


class _Reader(RoleReader):
    """Reads messages."""

    def __init__(self, raws: Sequence[Json], path: str) -> None:
        super().__init__(NAME)
        for index, raw in enumerate(raws):
            id_ = f"message-{index + 1}"
            message = read_wire(wire.MESSAGE, raw, f"{path}[{index}]", HINT)
            match message:
                case wire.Assistant():
                    found, noted = read_assistant(message)
                    self.add_step(id_, found, noted, index)
                case wire.Tool():
                    self.add_results(id_, [(RESULTS.read(message, self.calls), 0)], index)
                case wire.UnknownMessage():
                    part = ForeignPart(NAME, dict(message.raw))
                    self.add(UserMessage(id=id_, content=[part]), index, [(part, 0)])
                case _:
                    self._text(message, id_, index)

    def _text(self, message: wire.System | wire.User, id_: str, index: int) -> None:
        content = message.content
        text = content if isinstance(content, str) else None
        blocks = (wire.Text(text=content),) if isinstance(content, str) else content
        parts: list[Any] = [USER_BLOCKS.read(block, None) for block in blocks]
        if isinstance(message, wire.System):
            pairs = zip(parts, blocks, strict=True)
            parts = [
                part if isinstance(part, TextPart) else ForeignPart(NAME, to_json(raw)) for part, raw in pairs
            ]
        kept = residue(type(message)(content=()), replace(message, content=()))
        metadata = {NAME: {FIELDS: kept}} if kept else None
        given: Any = {"parts": tuple(parts), "content": text, "provider_metadata": metadata}
        found = [(part, number) for number, part in enumerate(parts)]
        if isinstance(message, wire.System):
            self.add(SystemMessage(id=id_, content=SystemContent(**given)), index, found)
        else:
            self.add(UserMessage(id=id_, content=UserContent(**given)), index, found)


# Writing


class _Writer(RoleWriter):
    """Writes messages, and records what went where. Each block of the base class is a whole message."""

    def __init__(self) -> None:
        self.record = Record()
        super().__init__(NAME, self.record)

    def write(self, messages: Sequence[Message]) -> JsonObject:
        """`messages`."""
        for turn in arrange(split(messages, is_written), RULES, self.record):
            match turn:
                case Step():
                    start = turn.boundaries[-1].part if turn.boundaries and turn.number > 1 else None
                    about = turn.message.content if start is None else start
                    message, places = write_assistant(turn.parts, is_request=True, text=turn.text)
                    is_empty = message == wire.Assistant()
                    noted = {**notes(about.provider_metadata, NAME), APART: True}
                    self.add("assistant", [] if is_empty else [message], turn, places, noted)
                case Results():
                    for placed in turn.parts:
                        block = RESULTS.write(placed.part)
                        self.add("tool", [block], turn._replace(parts=[placed]), [0], {APART: True})
                case _:
                    self._text(turn)
        return {"messages": [to_json(_finished(blocks[0], noted)) for _, blocks, noted in self.messages]}

    def _text(self, turn: Instructions | Prompt) -> None:
        is_system = isinstance(turn, Instructions)
        blocks: list[Any] = []
        places: list[Place | None] = []
        whole: JsonObject | None = None
        for part, _ in turn.parts:
            if isinstance(part, ForeignPart) and is_object(part.value) and "role" in part.value:
                whole = part.value if part.format == NAME else None  # a message of an unknown role
            is_allowed = not is_system or isinstance(part, TextPart | ForeignPart)
            block = USER_BLOCKS.write(part) if is_allowed else None
            places.append(None if block is None and whole is None else len(blocks))
            blocks += [] if block is None else [block]
        type_: Any = wire.System if is_system else wire.User
        message: list[Json] = [type_(content=tuple(blocks))] if blocks else []
        form = STRING if turn.message.content.content is not None else None
        noted = {**message_notes(turn.message, NAME), APART: True, FORM: form}
        self.add(
            "system" if is_system else "user", message if whole is None else [whole], turn, places, noted
        )


def _finished(message: Any, noted: JsonObject) -> Any:
    """A message in the form that it was read in, with its residue."""
    if not isinstance(message, Wire):
        return message
    return restore(as_string(message) if noted.get(FORM) == STRING else message, notes(noted, FIELDS))


# Requests


def _read_request(payload: JsonObject) -> Request:
    """The request around messages. Tools that are not functions stay among the settings."""
    settings: JsonObject = {key: item for key, item in payload.items() if key not in ("messages", "tools")}
    tools = payload.get("tools")
    if not is_array(tools):
        return Request((), settings if tools is None else {**settings, "tools": tools}, NAME)
    specs, others = TOOLS.read(tools)
    return Request(specs, {**settings, "tools": others} if others or not specs else settings, NAME)


def _is_own_tool(raw: Json) -> bool:
    match raw:
        case {"type": "function", "function": {"name": str()}}:
            return False
        case _:
            return True


def _read_tool(tool: wire.ToolDeclaration) -> ToolSpec:
    function = tool.function
    schema = function.parameters if is_object(function.parameters) else None
    return ToolSpec(function.name, function.description or None, schema)


def _write_tool(spec: ToolSpec) -> Wire:
    schema = {"type": "object", **(spec.input_schema or {})}
    function = wire.ToolFunction(
        name=TOOL_NAME.fit(spec.name), parameters=schema, description=spec.description or UNSET
    )
    return wire.ToolDeclaration(function=function)


TOOLS: Final = Tools(NAME, wire.TOOL, _read_tool, _write_tool, _is_own_tool)


def _write_request(payload: JsonObject, request: Request, record: Record) -> JsonObject:
    if not payload["messages"]:
        raise ConversionError("no message to send", where="$", hint="give at least one that has content")
    for index, spec in enumerate(request.tools):
        if TOOL_NAME.fit(spec.name) != spec.name:
            record.losses.append(Loss(f"$.tools[{index}].name", spec.name, NAMES, "repaired"))
    settings = dict(request.settings)
    others = settings.pop("tools", None)
    tools = TOOLS.write(request.tools, others if is_array(others) else ())
    return {**payload, **settings, **({"tools": tools} if tools or others is not None else {})}


FORMAT: Final = Format(
    NAME,
    "Cohere's chat API, requests and answers",
    load,
    dump,
    CohereDecoder,
    takes_request=True,
    is_complete=True,
)
RESPONSE: Final = Format(
    f"{NAME}-answer",
    "answers of Cohere's chat API",
    RESPONSES.load,
    RESPONSES.dump,
    CohereDecoder,
    is_complete=True,
)
