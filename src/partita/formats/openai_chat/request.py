"""Canonical messages → the body of a streaming request for Chat Completions, in the dialect of a server.

Rules that servers insist on are kept by repairing what breaks them: every call has its result right behind
the answer that made it, nothing stands between, and no message is empty. What is not sent is a loss.
"""

from collections.abc import Sequence
from typing import Final

from partita.errors import ConversionError
from partita.formats.format import Dumped, ToolSpec
from partita.formats.losses import Loss
from partita.types.json import JsonObject
from partita.types.messages import Message, UserMessage

from .dialects import OPENAI, Dialect
from .looking import items
from .names import name_of
from .talk import Talk
from .turns import RENAMED

LENGTHS: Final = ("max_tokens", "max_completion_tokens")
"""The names of one setting."""

NO_INPUT: Final[JsonObject] = {"type": "object", "properties": {}}
"""The schema of a tool that takes nothing."""


def build_request(
    view: Sequence[Message],
    *,
    model: str,
    tools: Sequence[ToolSpec] = (),
    settings: JsonObject | None = None,
    dialect: Dialect = OPENAI,
) -> Dumped:
    """The body of a request. `settings` are in the server's words and win; its `tools` join those given."""
    talk, last_user = Talk(dialect, []), _last_user(view)
    for index, message in enumerate(view):
        path = f"$[{index}]"
        places = [f"{path}.content.parts[{place}]" for place in range(len(message.parts))]
        talk.add(message, path, places, is_over=index < last_user)
    talk.end()
    if not talk.messages:
        raise ConversionError("no message to send", where="$", hint="give at least one that says something")
    payload: JsonObject = {"model": model, "messages": talk.messages, "stream": True}
    if dialect.stream_options:
        payload["stream_options"] = {"include_usage": True}
    given = settings or {}
    payload |= {dialect.max_tokens if key in LENGTHS else key: value for key, value in given.items()}
    declared = [*tools_of(tools, talk.losses), *items(given.get("tools"))]
    return Dumped(payload | ({"tools": declared} if declared else {}), tuple(talk.losses))


def _last_user(view: Sequence[Message]) -> int:
    """Where the user spoke last."""
    spoken = (index for index, message in enumerate(view) if isinstance(message, UserMessage))
    return max(spoken, default=-1)


def tools_of(tools: Sequence[ToolSpec], losses: list[Loss]) -> list[JsonObject]:
    """Tools as a request declares them."""
    return [_tool(tool, index, losses) for index, tool in enumerate(tools)]


def _tool(tool: ToolSpec, index: int, losses: list[Loss]) -> JsonObject:
    name = name_of(tool.name)
    if name != tool.name:
        losses.append(Loss.of(f"$.tools[{index}].name", tool.name, RENAMED, "repaired"))
    told = {} if tool.description is None else {"description": tool.description}
    parameters = NO_INPUT if tool.input_schema is None else tool.input_schema
    more = dict(tool.extra or {})
    return {"type": "function", "function": {"name": name, **told, "parameters": parameters, **more}}
