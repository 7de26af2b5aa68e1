"""Content blocks, results of tools, messages of prompts and sampling → canonical messages.

A message is `message-N`, by its place. A result without a call is a tool message of its own. Unknown blocks
and members are kept.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.blocks import checked_blocks
from partita.formats.format import Loaded, Request, ToolSpec
from partita.formats.framework.places import told_places
from partita.formats.losses import Loss
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolContent,
    ToolMessage,
    UserContent,
    UserMessage,
    UserPart,
)
from partita.types.parts import ForeignPart
from partita.types.tools import ToolResultPart
from partita.types.value import Extra

from .blocks import part_of
from .outputs import BLOCKS, STRUCTURED, result_part
from .words import FIELDS, FORM, LIST, MCP, noted, rest_of

HINT: Final = "give a result of a tool, content blocks, or messages of a prompt or of sampling"
UNNAMED: Final = "call-1"
"""The id of the call whose result comes alone."""

REASONS: Final[Mapping[str, str]] = {
    "endTurn": "stop",
    "stopSequence": "stop",
    "maxTokens": "length",
    "toolUse": "tool-calls",
}
"""Finish reasons by stop reason; any other is `other`."""

TURN: Final = ("role", "content")
CALL: Final = ("type", "id", "name", "input")
"""What every turn and every call has."""

MOVED: Final = "results come before words"
TWICE: Final = "its call has a result already"


def load(payload: Json) -> Loaded:
    """Whatever holds content of the protocol."""
    if is_array(payload):
        is_talk = bool(payload) and all(is_object(item) and "role" in item for item in payload)
        return _Talk().read(payload, "$") if is_talk or not payload else _load_blocks(payload, "$")
    if is_object(payload):
        if "messages" in payload:
            return _load_request(payload)
        if "role" in payload:
            return _load_answer(payload)
        if "content" in payload or STRUCTURED in payload:
            part = result_part(payload, UNNAMED, "", "$")
            return Loaded((ToolMessage(id="message-1:results", content=[part]),))
        if isinstance(payload.get("type"), str):
            return _load_blocks([payload], "$")
    what = f"an object with {', '.join(list(payload)[:5])}" if is_object(payload) else kind_of(payload)
    raise ConversionError(f"{what} is no content of the protocol", where="$", hint=HINT)


def _load_blocks(blocks: Json, path: str) -> Loaded:
    """Blocks that nobody says who said: the model, if it calls; else they are for it."""
    is_models = any(block["type"] == "tool_use" for block in checked_blocks(blocks, path, BLOCKS))
    return _Talk().read([{"role": "assistant" if is_models else "user", "content": blocks}], path, bare=True)


def _load_request(payload: JsonObject) -> Loaded:
    turns = payload["messages"]
    if not is_array(turns):
        raise ConversionError(f"messages is {kind_of(turns)}", where="$.messages", hint="make it a list")
    talk = _Talk().read(turns, "$.messages")
    left = {key: item for key, item in payload.items() if key != "messages"}
    system: list[Message] = []
    if isinstance(payload.get("systemPrompt"), str):
        system = [SystemMessage(id="system", content=str(left.pop("systemPrompt")))]
    tools: Json = left.get("tools")
    specs = [_spec(tool) for tool in tools] if is_array(tools) else [None]
    known = [spec for spec in specs if spec is not None]
    if len(known) == len(specs):
        del left["tools"]
    else:
        known = []
    return Loaded((*system, *talk.messages), talk.losses, Request(tuple(known), left))


def _load_answer(payload: JsonObject) -> Loaded:
    """One message; or what sampling gave, which names its model."""
    said = {key: payload[key] for key in payload if key not in ("model", "stopReason")}
    loaded = _Talk().read([said], "$", bare=True)
    stop, model = payload.get("stopReason"), payload.get("model")
    metadata: JsonObject = {}
    if isinstance(stop, str):
        metadata |= {"finishReason": REASONS.get(stop, "other"), "rawFinishReason": stop}
    if isinstance(model, str):
        metadata["model"] = model
    losses = [
        Loss.of(f"$.{key}", payload[key], "it is no text")
        for key in ("model", "stopReason")
        if key in payload and not isinstance(payload[key], str)
    ]
    messages = [
        replace(message, content=replace(message.content, metadata=metadata))
        if metadata and isinstance(message, AssistantMessage)
        else message
        for message in loaded.messages
    ]
    if metadata and not any(isinstance(message, AssistantMessage) for message in messages):
        losses += [Loss.of("$", metadata, "only the assistant's messages have it")]
    return Loaded(tuple(messages), (*loaded.losses, *losses))


class _Talk:
    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._paths: list[str] = []
        self._losses: list[Loss] = []
        self._names: dict[str, str] = {}
        self._asked: str | None = None
        self._answered: set[str] = set()

    def read(self, raws: Sequence[Json], path: str, *, bare: bool = False) -> Loaded:
        """Messages; `bare` says that there is one, and the path is its own."""
        for index, raw in enumerate(raws):
            where = path if bare else f"{path}[{index}]"
            self._add(raw, f"message-{index + 1}", where)
            self._paths += [where] * (len(self._messages) - len(self._paths))
        self._losses += told_places(self._messages, self._paths)
        return Loaded(tuple(fold(self._messages)), tuple(self._losses))

    def _add(self, raw: Json, id: str, path: str) -> None:
        turn = _checked(raw, path)
        content = turn["content"]
        is_list = is_array(content)
        blocks = checked_blocks(content if is_list else [content], f"{path}.content", BLOCKS)
        marks = {} if len(turn) == len(TURN) else rest_of(turn, TURN)
        if is_list and len(blocks) == 1:
            marks[FORM] = LIST
        if turn["role"] == "assistant":
            said = AssistantContent(parts=tuple(map(self._said, blocks)), provider_metadata=noted(marks))
            self._messages.append(AssistantMessage(id=id, content=said))
            self._asked = id
        else:
            self._user(blocks, marks, id, f"{path}.content", is_list=is_list)

    def _user(
        self, blocks: Sequence[JsonObject], marks: JsonObject, id: str, path: str, *, is_list: bool
    ) -> None:
        words: list[UserPart] = []
        results: list[ToolResultPart] = []
        for index, block in enumerate(blocks):
            call_id = block.get("toolUseId")
            if block["type"] != "tool_result" or not isinstance(call_id, str):
                words.append(part_of(block))
                continue
            where = f"{path}[{index}]" if is_list else path
            results.append(result_part(block, call_id, self._names.get(call_id, ""), where))
            if words:
                self._losses.append(Loss(where, "its place", MOVED, "repaired"))
            if call_id in self._answered:
                self._losses.append(Loss.of(where, call_id, TWICE, "changed"))
            self._answered.add(call_id)
        if results:
            own = None if words else noted(marks)
            name = f"{self._asked}#1:results" if self._asked else f"{id}:results"
            self._messages.append(
                ToolMessage(id=name, content=ToolContent(parts=tuple(results), provider_metadata=own))
            )
        if words or not results:
            said = UserContent(parts=tuple(words), provider_metadata=noted(marks))
            self._messages.append(UserMessage(id=id, content=said))

    def _said(self, block: JsonObject) -> AssistantPart:
        if block["type"] not in ("tool_use", "tool_result"):
            return part_of(block)
        call_id, name = block.get("id"), block.get("name")
        is_call = block["type"] == "tool_use" and "input" in block
        if not is_call or not isinstance(call_id, str) or not isinstance(name, str):
            return ForeignPart(MCP, block)
        self._names[call_id] = name
        self._answered.discard(call_id)
        note = None if len(block) == len(CALL) else noted(rest_of(block, CALL))
        return ToolCallPart(call_id, name, "input-available", block["input"], call_provider_metadata=note)


def _spec(tool: Json) -> ToolSpec | None:
    match tool:
        case {"name": str(name), "inputSchema": dict()}:
            words = tool.get("description")
            known = ("name", "inputSchema", *(["description"] if isinstance(words, str) else []))
            fields = {key: item for key, item in tool.items() if key not in known}
            return ToolSpec(
                name=name,
                description=words if isinstance(words, str) else None,
                input_schema=tool["inputSchema"],
                extra=Extra({MCP: {FIELDS: fields}}) if fields else None,
            )
        case _:
            return None


def _checked(raw: Json, path: str) -> JsonObject:
    if not is_object(raw):
        raise ConversionError(f"a message is {kind_of(raw)}", where=path, hint="give {role, content}")
    role = raw.get("role")
    if role not in ("user", "assistant"):
        what = f"unknown role {role!r:.40}" if isinstance(role, str) else f"role is {kind_of(role)}"
        raise ConversionError(what, where=f"{path}.role", hint="use user or assistant")
    if "content" not in raw:
        raise ConversionError(
            "a message has no content", where=f"{path}.content", hint="give a block or a list"
        )
    return raw
