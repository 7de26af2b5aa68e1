"""Events of calls and their results."""

from collections.abc import Mapping
from typing import Final

from partita.formats.ag_ui.content import read_content
from partita.formats.ag_ui.notes import noted, rest_of
from partita.types.chunks import ToolOutputAvailable, ToolOutputChunk
from partita.types.json import JsonObject, is_array
from partita.types.tools import ContentOutput

from .members import Handler, plain_role, text_in
from .run import BASE, Run


def call_start(run: Run, event: JsonObject) -> None:
    """A call begins."""
    id_, name = text_in(event, "toolCallId"), text_in(event, "toolCallName")
    run.start_call(id_, name, rest_of(event, *BASE, "toolCallId", "toolCallName"))


def call_args(run: Run, event: JsonObject) -> None:
    """The next piece of its input."""
    id_, delta = text_in(event, "toolCallId"), text_in(event, "delta")
    run.grow_call(id_, delta)
    run.rest(event, "toolCallId", "delta")


def call_end(run: Run, event: JsonObject) -> None:
    """Its input is whole."""
    id_ = text_in(event, "toolCallId")
    if id_ not in run.open_calls:
        raise KeyError(id_)
    run.end_call(id_, rest_of(event, *BASE, "toolCallId"))


def call_chunk(run: Run, event: JsonObject) -> None:
    """All of that in one."""
    id_ = event.get("toolCallId") or run.chunked_call
    if not isinstance(id_, str):
        raise KeyError("toolCallId")
    if id_ != run.chunked_call:
        call_start(run, {**rest_of(event, "delta"), "toolCallId": id_})
        run.chunked_call = id_
    else:
        run.rest(event, "toolCallId", "delta")
    if event.get("delta"):
        run.grow_call(id_, text_in(event, "delta"))


def call_result(run: Run, event: JsonObject) -> None:
    """What came of a call."""
    id_, content = text_in(event, "toolCallId"), event["content"]
    notes = rest_of(event, *BASE, "toolCallId", "content", *plain_role(event))
    run.end_call(id_, {})
    run.settle()
    if id_ not in run.known_calls:
        raise KeyError(id_)
    if is_array(content):
        output = ContentOutput(tuple(read_content(content, "$.content")))
        run.emit(ToolOutputChunk(id_, output, provider_metadata=noted(notes)))
    elif isinstance(content, str):
        run.emit(ToolOutputAvailable(id_, content, provider_metadata=noted(notes)))
    else:
        raise TypeError("content")
    run.answered(id_)


HANDLERS: Final[Mapping[str, Handler]] = {
    "TOOL_CALL_START": call_start,
    "TOOL_CALL_ARGS": call_args,
    "TOOL_CALL_END": call_end,
    "TOOL_CALL_CHUNK": call_chunk,
    "TOOL_CALL_RESULT": call_result,
}
"""What each event tells."""
