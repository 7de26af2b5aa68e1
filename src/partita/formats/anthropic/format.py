"""Requests of Anthropic's Messages API ↔ canonical messages.

The steps of the model and the results between them form one message, with step starts between the steps. A
message is `message-N`, where N is the number of its first message in the request. Text after results in one
message of the request is a message of its own.

Wire: https://docs.claude.com/en/api/messages
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import UNSET

from partita.errors import ConversionError
from partita.formats.answers.outlet import RAW_INPUT
from partita.formats.core.metadata import INDEX, notes
from partita.formats.core.report import Place, Record
from partita.formats.core.request import HINT, Requests, request_report
from partita.formats.core.residue import restore
from partita.formats.core.response import metadata_of
from partita.formats.core.role_messages import (
    APART,
    FORM,
    IN_MESSAGES,
    STRING,
    SYSTEM,
    RoleReader,
    RoleWriter,
)
from partita.formats.core.rules import Rules
from partita.formats.core.server_tools import BEHIND
from partita.formats.core.tools import Tools
from partita.formats.core.turns import Step, Turn
from partita.formats.core.wire import read_wire, to_json
from partita.formats.format import Format, Request, ToolSpec
from partita.formats.losses import Loss
from partita.formats.reasons import REQUIRED, SIGNED
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Message, ToolCallPart
from partita.types.parts import ForeignPart, TextPart
from partita.types.tools import ToolResultPart

from . import wire
from .parts import RESULTS, TOOL_NAME, USER_BLOCKS, is_written, read_blocks, write_blocks
from .response import RESPONSES
from .server_tools import FIELDS, Sources
from .stream import CALLS, AnthropicDecoder
from .wire import CONTENT, MESSAGE, NAME

MAX_TOKENS: Final = 8192
"""The API requires a limit."""

# The messages of errors are those of the API
RULES: Final = Rules(
    instructions="first",
    begins="user",  # "first message must use the user role"
    blank_text="drop",  # "text content blocks must contain non-whitespace text"
    trailing_space="strip",  # "final assistant content cannot end with trailing whitespace"
    order="calls-last",  # "tool_use blocks must be followed by …": nothing is between a call and its result
)

TAKEN: Final = "the API takes JPEG, PNG, GIF, WebP, PDF and text, of the user only"
REPORT: Final = request_report(
    NAME,
    {
        "reasoning": "reasoning is sent only to the provider that signed it",
        "tool-call": "it is a server tool of another provider, or not declared in this request",
        "image": TAKEN,
        "file": TAKEN,
        "reasoning-file": TAKEN,
        "output": "a result is text, or blocks of text, images and documents",
        "fields.cache_control": "the API takes four cache marks, and none on thinking",
        "sourceId": "ids of sources are made when they are read",
    },
    frozenset({FORM, APART, IN_MESSAGES, INDEX, BEHIND, RAW_INPUT}),
)


# Reading


class _Reader(RoleReader):
    """Reads messages. `system` has a place of its own."""

    def __init__(self, raws: Sequence[Json], path: str, request: JsonObject) -> None:
        super().__init__(NAME)
        role = ""
        if (system := request.get("system")) is not None:
            content = read_wire(CONTENT, system, "$.system", HINT)
            self._content(wire.Message(role="system", content=content), SYSTEM, {}, SYSTEM)
        for index, raw in enumerate(raws):
            where = f"{path}[{index}]"
            message = read_wire(MESSAGE, raw, where, HINT)
            noted: JsonObject = {}
            if message.extra:
                noted[FIELDS] = dict(message.extra)
            if message.role == "system":
                noted[IN_MESSAGES] = True
            elif message.role == role:
                noted[APART] = True
            role = message.role
            if not isinstance(message.content, str):
                _check_blocks(message.content, f"{where}.content")
            self._content(message, f"message-{index + 1}", noted, index)

    def _content(self, message: wire.Message, id_: str, noted: JsonObject, index: Any) -> None:
        content, role = message.content, message.role
        text = content if isinstance(content, str) else None
        blocks = (wire.Text(text=content),) if isinstance(content, str) else content
        if role == "assistant":
            noted |= {} if text is None else {FORM: STRING}
            self.add_step(id_, read_blocks(blocks, id_), noted, index)
        else:
            found = [(self._read(block, role), number) for number, block in enumerate(blocks)]
            self.add_content(role, id_, found, noted, index, text)

    def _read(self, block: Any, role: str) -> Any:
        if isinstance(block, wire.ToolResult) and role == "user":
            return RESULTS.read(block, self.calls)
        is_text = isinstance(block, wire.Text)
        if is_text or (role == "user" and isinstance(block, wire.Image | wire.Document | wire.UnknownBlock)):
            return USER_BLOCKS.read(block, Sources(""))
        return ForeignPart(NAME, to_json(block))


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
        """`declared` are the names of the server tools of the request; `None` if they are unknown."""
        super().__init__(NAME)
        self._declared = declared
        self.container: JsonObject = {}
        """The container of code that waits for results."""

    def write(self, messages: Sequence[Message]) -> JsonObject:
        """`system` and `messages`."""
        self.write_turns(messages, RULES, is_written)
        written: JsonObject = {"messages": [to_json(_message(*one)) for one in self.messages]}
        if not self.system:
            return written
        system = _message("system", self.system, self.system_notes)
        return {"system": to_json(system)["content"], **written}

    def write_step(self, step: Step) -> None:
        super().write_step(step)
        container = notes(notes(metadata_of(step.message), NAME), "container").get("id")
        if isinstance(container, str) and any(_is_called_by_code(part) for part, _ in step.parts):
            # Code that waits for results needs its container:
            # https://docs.claude.com/en/docs/agents-and-tools/tool-use/programmatic-tool-calling
            self.container = {"container": container}

    def write_blocks(self, turn: Turn, role: str) -> tuple[list[Json], Sequence[Place | None]]:
        if isinstance(turn, Step):
            return write_blocks(turn.parts, self._declared, turn.text)
        blocks: list[Json] = []
        places: list[Place | None] = []
        for part, _ in turn.parts:
            is_allowed = role == "user" or isinstance(part, TextPart | ForeignPart)
            codecs = RESULTS if type(part) is ToolResultPart else USER_BLOCKS
            block = codecs.write(part) if is_allowed else None
            places.append(None if block is None else len(blocks))
            if block is not None:
                blocks.append(block)
        return blocks, places


def _is_called_by_code(part: Any) -> bool:
    if type(part) is not ToolCallPart or part.provider_executed:
        return False
    return "toolId" in notes(notes(part.call_provider_metadata, NAME), "caller")


def _message(role: Any, blocks: Sequence[Any], noted: JsonObject) -> wire.Message:
    """A message in the form that it was read in, with its residue."""
    only = blocks[0] if len(blocks) == 1 and noted.get(FORM) == STRING else None
    is_text = isinstance(only, wire.Text) and only == wire.Text(text=only.text)
    message = wire.Message(role=role, content=only.text if is_text else tuple(blocks))
    return restore(message, notes(noted, FIELDS))


# Requests


def _read_tool(tool: wire.Tool) -> ToolSpec | None:
    """A tool of the client. Tools of Anthropic have a type."""
    if tool.extra and tool.extra.get("type") not in (None, "custom"):
        return None
    return ToolSpec(name=tool.name, description=tool.description or None, input_schema=tool.input_schema)


def _write_tool(spec: ToolSpec) -> wire.Tool:
    schema = {"type": "object", **(spec.input_schema or {})}
    return wire.Tool(name=spec.name, input_schema=schema, description=spec.description or UNSET)


TOOLS: Final = Tools(NAME, wire.TOOL, _read_tool, _write_tool, names=TOOL_NAME)


def _read_request(payload: JsonObject) -> Request:
    """The request around messages. Tools of Anthropic stay among the settings."""
    settings = {key: item for key, item in payload.items() if key not in ("system", "messages")}
    return Request(TOOLS.take(settings), settings, NAME)


def _write(messages: Sequence[Message], request: Request | None) -> tuple[JsonObject, Record]:
    """`system` and `messages`, or a whole request."""
    own = None if request is None else request.settings.get("tools", [])
    names = (str(tool.get("name")) for tool in (own if is_array(own) else ()) if is_object(tool))
    writer = _Writer(None if request is None else frozenset(names))
    payload = writer.write(messages)
    if request is not None:
        payload = _write_request({**payload, **writer.container}, request, writer.record)
    _limit_marks(payload)
    return payload, writer.record


def _write_request(payload: JsonObject, request: Request, record: Record) -> JsonObject:
    settings = request.settings
    written: JsonObject = {key: settings[key] for key in ("model", "max_tokens") if key in settings}
    if "max_tokens" not in settings:
        written["max_tokens"] = MAX_TOKENS
        record.losses.append(Loss("$.max_tokens", str(MAX_TOKENS), REQUIRED, "repaired"))
    written = TOOLS.add(request, {**written, **payload, **settings}, record)
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
                record.losses.append(Loss.of("$.thinking", thinking, SIGNED))
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


RESPONSE: Final = RESPONSES.format(f"{NAME}-answer", "answers of Anthropic's Messages API")
REQUESTS: Final = Requests(
    REPORT,
    "the Messages API",
    RESPONSE,
    read=_Reader,
    write=_write,
    read_request=_read_request,
    is_response=RESPONSES.is_response,
)
load, dump = REQUESTS.load, REQUESTS.dump
FORMAT: Final = Format(
    NAME,
    "Anthropic's Messages API, requests and answers",
    load,
    dump,
    AnthropicDecoder,
    takes_request=True,
    is_complete=True,
)
