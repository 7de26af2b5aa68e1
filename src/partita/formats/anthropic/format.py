"""Requests of Anthropic's Messages API ↔ canonical messages.

The steps of the model and the results between them form one message, with step starts between the steps. A
message is `message-N`, where N is the number of its first message in the request. Text after results in one
message of the request is a message of its own.

Wire: https://docs.claude.com/en/api/messages
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.core.anthropic import FINISH_REASONS
from partita.formats.core.codec import BEHIND
from partita.formats.core.members import objects_in
from partita.formats.core.metadata import INDEX, NO_NOTES, RAW_INPUT, notes
from partita.formats.core.report import Record
from partita.formats.core.request import HINT, Requests, block_lists, request_report
from partita.formats.core.response import BodyFacts, ReadBody, Responses, metadata_of
from partita.formats.core.role_messages import APART, FORM, IN_MESSAGES, RoleReader, RoleWriter
from partita.formats.core.rules import Rules
from partita.formats.core.tools import object_tools
from partita.formats.core.turns import LocatedPart, Position, ReadPart, Step, Turn
from partita.formats.core.wire import read_wire
from partita.formats.event_streams import UNNAMED
from partita.formats.losses import REQUIRED, SIGNED, Loss
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import ToolCallPart

from . import wire
from .parts import BLOCKS, TOOL_NAME, read_blocks
from .server_tools import SEARCH, Sources
from .stream import CALLS, EVENTS, METADATA, USAGE, AnthropicDecoder, error_text, read_usage
from .wire import MESSAGE, NAME

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
    """Reads messages. `system` has a position of its own."""

    _role = ""  # of the message before

    def read(self, raw: Json, path: str, id_: str, index: Any) -> None:
        message = read_wire(MESSAGE, raw, path, HINT)
        noted: JsonObject = {APART: True} if message.role == self._role != "system" else {}
        self._role = message.role
        content, role = message.content, message.role
        if not isinstance(content, str):
            _check_blocks(content, f"{path}.content")
        text = content if isinstance(content, str) else None
        blocks = (wire.Text(text=content),) if isinstance(content, str) else content
        if role == "assistant":
            found = read_blocks(blocks, id_)
        else:
            calls, sources = self.calls, Sources("")
            parts = [BLOCKS.read(block, role, calls, sources) for block in blocks]
            found = [ReadPart(part, number) for number, part in enumerate(parts)]
        self.add_message(role, id_, found, index, extra=message.extra, noted=noted, text=text)


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


# The API takes these blocks back only while the tool is declared (seen in its error messages).
DECLARED: Final = ("advisor", SEARCH)


class _Writer(RoleWriter):
    """Writes messages, and records what went where."""

    rules, blocks, has_strings = RULES, BLOCKS, True

    _container: JsonObject = NO_NOTES  # the container of code that waits for results

    def write_step(self, step: Step) -> None:
        super().write_step(step)
        container = notes(notes(metadata_of(step.message), NAME), "container").get("id")
        if isinstance(container, str) and any(_is_called_by_code(part) for part, _ in step.parts):
            # Code that waits for results needs its container:
            # https://docs.claude.com/en/docs/agents-and-tools/tool-use/programmatic-tool-calling
            self._container = {"container": container}

    def write_blocks(self, turn: Turn, role: str) -> tuple[list[Json], Sequence[Position | None]]:
        parts = [
            LocatedPart(None, path) if self._is_refused(part) else LocatedPart(part, path)
            for part, path in turn.parts
        ]
        return self.blocks.write_all(parts, role, turn.text if isinstance(turn, Step) else None)

    def _is_refused(self, part: Any) -> bool:
        is_served = isinstance(part, ToolCallPart) and part.provider_executed
        if self.request is None or not is_served or not part.name.startswith(DECLARED):
            return False
        return all(tool.get("name") != part.name for tool in objects_in(self.request.settings.get("tools")))

    def complete(self, payload: JsonObject) -> JsonObject:
        if self.request is not None:
            first = {key: payload[key] for key in ("model", "max_tokens") if key in payload}
            if "max_tokens" not in payload:
                first["max_tokens"] = MAX_TOKENS
                self.record.losses.append(Loss("$.max_tokens", str(MAX_TOKENS), REQUIRED, "repaired"))
            payload = {**first, **self._container, **payload}
            _check_thinking(payload, self.record)
        _limit_marks(payload)
        return payload


def _is_called_by_code(part: Any) -> bool:
    if type(part) is not ToolCallPart or part.provider_executed:
        return False
    return "toolId" in notes(notes(part.call_provider_metadata, NAME), "caller")


# Requests


TOOLS: Final = object_tools(
    NAME,
    "input_schema",
    # Tools of Anthropic have a type
    is_own=lambda raw: is_object(raw) and raw.get("type") not in (None, "custom"),
    names=TOOL_NAME,
)


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
    marked = [
        (blocks, index)
        for _, blocks in block_lists(payload, "tools")
        for index, block in enumerate(blocks)
        if is_object(block) and block.get("cache_control") is not None
    ]
    on_thinking = [(blocks, index) for blocks, index in marked if "thinking" in blocks[index].get("type", "")]
    others = [one for one in marked if one not in on_thinking]
    for blocks, index in [*on_thinking, *others[:-4]]:
        blocks[index] = dict(blocks[index])  # the block may belong to a message
        del blocks[index]["cache_control"]


# Responses


def _read_body(response: wire.Response) -> ReadBody:
    return ReadBody(
        replace(response, content=()),
        read_blocks(response.content, response.id or UNNAMED),
        response.stop_reason,
        response.id,
        response.model,
        {"stop_sequence": response.stop_sequence},
    )


def _write_body(facts: BodyFacts, blocks: Sequence[Any]) -> wire.Response:
    stop_sequence = facts.members.pop("stop_sequence", None)
    return wire.Response(
        id=facts.id or facts.message.id,
        model=facts.model or "",
        content=tuple(blocks),
        stop_reason=facts.stop,
        stop_sequence=stop_sequence,
        usage=facts.usage,
        extra=facts.extra,
    )


RESPONSES: Final = Responses(
    NAME,
    AnthropicDecoder,
    wire.RESPONSE,
    is_body=lambda payload: payload.get("type") == "message",
    is_event=lambda payload: str(payload.get("type")) in EVENTS and payload["type"] != "error",
    error_text=lambda payload: error_text(payload["error"]) if "error" in payload else None,
    read_body=_read_body,
    write_body=_write_body,
    blocks=BLOCKS,
    required=("model", "responseId", "finishReason", "usage"),
    finish_reasons=FINISH_REASONS,
    other_reasons={"error": None},
    usage=USAGE,
    read_usage=read_usage,
    names=METADATA,
    spelling=frozenset({BEHIND}),
)
RESPONSE: Final = RESPONSES.format(f"{NAME}-response", "responses of Anthropic's Messages API")
REQUESTS: Final = Requests(
    REPORT,
    "the Messages API",
    RESPONSES,
    TOOLS,
    reader=_Reader,
    writer=_Writer,
)
load, dump = REQUESTS.load, REQUESTS.dump
FORMAT: Final = REQUESTS.format(NAME, "Anthropic's Messages API, requests and responses")
