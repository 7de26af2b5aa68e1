"""Canonical messages → the body of a streaming request to the Messages API.

The API's rules are kept by repairing what breaks them: neighbours of one role become one turn, every call
that waits has its result in the very next turn, and results come before words. What is not sent is a loss.
"""

from collections.abc import Sequence
from typing import Final, assert_never

from partita.formats.format import Dumped, ToolSpec
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage
from partita.types.tools import ToolResultPart

from .names import name_of
from .settings import fields_of_tool, served_names
from .talk import Talk
from .turns import Turn
from .words import ANTHROPIC

MAX_TOKENS: Final = 8192
"""How long an answer may be when nobody says: the API insists on a number."""

RENAMED: Final = "the API takes letters, digits, `_` and `-`, 128 of them at most"
NO_THOUGHTS: Final = "thinking needs the signed thoughts of the open step, and they are not there"


def build_request(
    view: Sequence[Message],
    *,
    model: str,
    tools: Sequence[ToolSpec] = (),
    settings: JsonObject | None = None,
) -> Dumped:
    """The body of a request. `settings` are in the API's words and win; its `tools` join those given."""
    settings = settings or {}
    more: list[Json] = settings["tools"] if is_array(settings.get("tools")) else []
    talk = Talk(served_names(settings))
    container: JsonObject = {}
    for index, message in enumerate(view):
        container = _add(talk, message, _results_behind(view, index), f"$[{index}]") or container
    talk.end()
    payload: JsonObject = {"model": model, "max_tokens": MAX_TOKENS, "stream": True}
    payload |= {"system": talk.system} if talk.system else {}
    payload["messages"] = talk.turns
    payload |= container
    payload |= settings
    declared = [*(tool_block(tool, index, talk.losses) for index, tool in enumerate(tools)), *more]
    payload |= {"tools": declared} if declared else {}
    check_thinking(payload, talk.losses)
    return Dumped(payload, tuple(talk.losses))


def _add(talk: Talk, message: Message, results: dict[str, ToolResultPart], path: str) -> JsonObject:
    """Take a message; where code runs that called from it, if it did."""
    parts = f"{path}.content.parts"
    match message:
        case SystemMessage():
            talk.instruct(message.parts, parts, {})
        case UserMessage():
            talk.say(message.parts, parts, {})
        case AssistantMessage():
            turn, _ = talk.reply(list(enumerate(message.parts)), parts, {}, results)
            return container_of(message, turn)
        case ToolMessage():
            talk.answer([(f"{parts}[{index}]", part) for index, part in enumerate(message.parts)])
        case _:
            assert_never(message)
    return {}


def _results_behind(view: Sequence[Message], index: int) -> dict[str, ToolResultPart]:
    """The results in the tool messages right behind an answer, by call."""
    results: dict[str, ToolResultPart] = {}
    if not isinstance(view[index], AssistantMessage):
        return results
    for place in range(index + 1, len(view)):
        message = view[place]
        if not isinstance(message, ToolMessage):
            break
        for part in message.parts:
            if isinstance(part, ToolResultPart):
                results.setdefault(part.id, part)
    return results


def container_of(message: AssistantMessage, turn: Turn) -> JsonObject:
    """Where code runs that waits for the results of calls it made: the API wants it named again."""
    metadata = message.content.metadata
    own = metadata.get(ANTHROPIC) if is_object(metadata) else None
    match own:
        case {"container": {"id": str(id)}} if any(_is_called_by_code(block) for block in turn.blocks):
            return {"container": id}
        case _:
            return {}


def _is_called_by_code(block: JsonObject) -> bool:
    caller = block.get("caller")
    return block["type"] == "tool_use" and is_object(caller) and "tool_id" in caller


def tool_block(tool: ToolSpec, index: int, losses: list[Loss]) -> JsonObject:
    """A tool as the API is told of it."""
    name = name_of(tool.name)
    if name != tool.name:
        losses.append(Loss(f"$.tools[{index}].name", tool.name, RENAMED, "repaired"))
    described: JsonObject = {"description": tool.description} if tool.description else {}
    schema = {"type": "object", **(tool.input_schema or {})}
    return {"name": name, **described, "input_schema": schema, **fields_of_tool(tool)}


def check_thinking(payload: JsonObject, losses: list[Loss]) -> None:
    """Turn thinking off when the step that waits for results has lost its thoughts: the API refuses it."""
    thinking, turns = payload.get("thinking"), payload["messages"]
    if not is_object(thinking) or thinking.get("type") != "enabled" or not is_array(turns):
        return
    match turns:
        case [*_, {"content": [{"type": str(first)}, *_]}, {"content": [{"type": "tool_result"}, *_]}]:
            if first not in ("thinking", "redacted_thinking"):
                del payload["thinking"]
                losses.append(Loss.of("$.thinking", thinking, NO_THOUGHTS))
        case _:
            pass
