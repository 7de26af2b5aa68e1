"""Canonical messages → AG-UI messages, and the input of a run.

What a message of AG-UI has no room for in one piece is told in several: see `pieces`. Reasoning stands in
messages of its own before the piece it belongs to, results behind it, sub-agents' messages behind their call.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from partita.formats.ag_ui.writing.messages import Writer
from partita.formats.format import Dumped, Request, ToolSpec
from partita.types.json import JsonObject
from partita.types.messages import Message
from partita.types.value import unkept

from .losses import Losses

INPUT: Final = (
    "threadId",
    "runId",
    "protocolVersion",
    "parentRunId",
    "state",
    "context",
    "forwardedProps",
    "resume",
)
"""What the input of a run says besides messages and tools."""

IMPLIED: Final[Mapping[str, frozenset[str]]] = {
    "role": frozenset({"developer", "system", "user", "assistant", "tool", "activity", "reasoning"}),
    "type": frozenset({"function", "text", "image", "audio", "video", "document", "data", "url", "file"}),
}
"""Words that show in the form of a message."""


def dump(messages: Sequence[Message]) -> Dumped:
    """A list of AG-UI messages."""
    losses = Losses()
    return Dumped(Writer(messages, losses).written(), tuple(losses.told))


def ask(messages: Sequence[Message], request: Request) -> Dumped:
    """The input of a run. It has to name a thread and a run: those that the settings say, or made up ones."""
    losses = Losses()
    thread = next((message.thread_id for message in messages if message.thread_id), "thread-1")
    payload: JsonObject = {"threadId": thread, "runId": "run-1"}
    for name in payload:
        if name not in request.settings:
            losses.say(f"$.settings.{name}", payload[name], "the input of a run must name it", "repaired")
    for name, value in request.settings.items():
        if name in INPUT or name == "tools":
            payload[name] = value
        else:
            losses.say(f"$.settings.{name}", value, "the input of a run has no such setting")
    payload["messages"] = Writer(messages, losses).written()
    if request.tools:
        payload["tools"] = [_tool(tool, place, losses) for place, tool in enumerate(request.tools)]
    return Dumped(payload, tuple(losses.told))


def _tool(tool: ToolSpec, place: int, losses: Losses) -> JsonObject:
    rest = unkept(tool.extra)
    if tool.description is None and "description" not in rest:
        losses.say(f"$.tools[{place}].description", "", "a tool must have one", "repaired")
    schema = {} if tool.input_schema is None else {"parameters": tool.input_schema}
    return {"name": tool.name, "description": tool.description or "", **schema, **rest}
