"""Requests of Cohere's chat API ↔ canonical messages.

A message is `message-N`, where N is the number of its first message in the request. Each result is a message
of its own there. Documents of a request are one of its settings.

Wire: https://docs.cohere.com/reference/chat
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import UNSET

from partita.errors import ConversionError
from partita.formats.core.metadata import notes
from partita.formats.core.report import Place, Record
from partita.formats.core.request import HINT, Requests, request_report
from partita.formats.core.residue import restore
from partita.formats.core.role_messages import APART, FORM, INDEX, STRING, RoleReader, RoleWriter
from partita.formats.core.rules import Rules
from partita.formats.core.tools import Tools
from partita.formats.core.turns import Instructions, Results, Step, Turn
from partita.formats.core.wire import Wire, read_wire, to_json
from partita.formats.format import Format, Request, ToolSpec
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import Message
from partita.types.parts import ForeignPart, TextPart

from . import wire
from .parts import (
    FIELDS,
    RESULTS,
    TOOL_NAME,
    USER_BLOCKS,
    as_string,
    is_written,
    read_assistant,
    write_assistant,
)
from .response import RESPONSES
from .stream import CohereDecoder
from .wire import NAME

RULES: Final = Rules(
    instructions="first",  # "system turn must be the first in the list"
    blank_text="drop",  # "message must not be empty in a turn": https://docs.cohere.com/reference/errors
)
REPORT: Final = request_report(
    NAME,
    {
        "output": "a result is text or documents, without a mark of errors",
        "text": "the API takes a tool plan beside calls, and no text",
    },
    frozenset({FORM, INDEX}),
)


# Reading


class _Reader(RoleReader):
    """Reads messages."""

    def __init__(self, raws: Sequence[Json], path: str, request: JsonObject) -> None:
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
                    self.add_content("user", id_, [(part, 0)], {}, index)
                case _:
                    self._text(message, id_, index)

    def _text(self, message: wire.System | wire.User, id_: str, index: int) -> None:
        content, is_system = message.content, isinstance(message, wire.System)
        text = content if isinstance(content, str) else None
        blocks = (wire.Text(text=content),) if isinstance(content, str) else content
        found: list[tuple[Any, Place]] = []
        for number, block in enumerate(blocks):
            part = USER_BLOCKS.read(block, None)
            is_kept = is_system and not isinstance(part, TextPart)
            found.append((ForeignPart(NAME, to_json(block)) if is_kept else part, number))
        noted: JsonObject = {FIELDS: dict(message.extra)} if message.extra else {}
        self.add_content("system" if is_system else "user", id_, found, noted, index, text)


# Writing


class _Writer(RoleWriter):
    """Writes messages, and records what went where. Each block of the base class is a whole message."""

    def write(self, messages: Sequence[Message]) -> JsonObject:
        """`messages`."""
        self.write_turns(messages, RULES, is_written)
        return {"messages": [to_json(_finished(blocks[0], noted)) for _, blocks, noted in self.messages]}

    def _append(self, role: str, blocks: list[Json], turn: Turn, noted: JsonObject) -> tuple[int, int]:
        return super()._append(role, blocks, turn, {**noted, APART: True})

    def write_blocks(self, turn: Turn, role: str) -> tuple[list[Json], Sequence[Place | None]]:
        if isinstance(turn, Step):
            message, places = write_assistant(turn.parts, is_request=True, text=turn.text)
            return ([] if message == wire.Assistant() else [message]), places
        blocks: list[Any] = []
        places = []
        for part, _ in turn.parts:
            is_foreign = isinstance(part, ForeignPart) and part.format == NAME
            if is_foreign and is_object(part.value) and "role" in part.value:
                return [part.value], [0] * len(turn.parts)  # a message of an unknown role
            is_allowed = role == "user" or isinstance(part, TextPart | ForeignPart)
            block = USER_BLOCKS.write(part) if is_allowed else None
            places.append(None if block is None else len(blocks))
            blocks += [] if block is None else [block]
        type_: Any = wire.User if role == "user" else wire.System
        return ([type_(content=tuple(blocks))] if blocks else []), places

    def write_results(self, turn: Results) -> None:
        for placed in turn.parts:
            self.add("tool", [RESULTS.write(placed.part)], turn._replace(parts=[placed]), [0], {})

    def write_instructions(self, turn: Instructions) -> None:
        blocks, places = self.write_blocks(turn, "system")
        self.add("system", blocks, turn, places, self.notes_of(turn))


def _finished(message: Any, noted: JsonObject) -> Any:
    """A message in the form that it was read in, with its residue."""
    if not isinstance(message, Wire):
        return message
    return restore(as_string(message) if noted.get(FORM) == STRING else message, notes(noted, FIELDS))


# Requests


def _read_tool(tool: wire.ToolDeclaration) -> ToolSpec:
    function = tool.function
    schema = function.parameters if is_object(function.parameters) else None
    return ToolSpec(function.name, function.description or None, schema)


def _write_tool(spec: ToolSpec) -> Wire:
    schema = {"type": "object", **(spec.input_schema or {})}
    function = wire.ToolFunction(name=spec.name, parameters=schema, description=spec.description or UNSET)
    return wire.ToolDeclaration(function=function)


TOOLS: Final = Tools(NAME, wire.TOOL, _read_tool, _write_tool, names=TOOL_NAME)


def _read_request(payload: JsonObject) -> Request:
    """The request around messages. Tools that are not functions stay among the settings."""
    settings = {key: item for key, item in payload.items() if key != "messages"}
    return Request(TOOLS.take(settings), settings, NAME)


def _write(messages: Sequence[Message], request: Request | None) -> tuple[JsonObject, Record]:
    """`messages`, or a whole request."""
    writer = _Writer(NAME)
    payload = writer.write(messages)
    if request is not None and not payload["messages"]:
        raise ConversionError("no message to send", where="$", hint="give at least one that has content")
    if request is not None:
        payload = TOOLS.add(request, {**payload, **request.settings}, writer.record)
    return payload, writer.record


RESPONSE: Final = RESPONSES.format(f"{NAME}-answer", "answers of Cohere's chat API")
REQUESTS: Final = Requests(
    REPORT,
    "Cohere",
    RESPONSE,
    read=_Reader,
    write=_write,
    read_request=_read_request,
    is_response=RESPONSES.is_response,
)
load, dump = REQUESTS.load, REQUESTS.dump
FORMAT: Final = Format(
    NAME,
    "Cohere's chat API, requests and answers",
    load,
    dump,
    CohereDecoder,
    takes_request=True,
    is_complete=True,
)
