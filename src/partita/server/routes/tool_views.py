"""Views of tool calls that are not stored: those that the web UI has received in a stream, or replays."""

from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from partita.server.callers import ActingCaller
from partita.server.endpoints import Body, post
from partita.server.problems import Problem
from partita.types.codec import Codec
from partita.types.json import is_array, is_object
from partita.types.messages import ToolCallPart
from partita.types.tool_views import ToolView
from partita.views.tool_view import tool_view

MAX_CALLS: Final = 500
"""The largest number of calls of a request."""

CALL: Final[Codec[ToolCallPart]] = Codec(ToolCallPart)
EXAMPLE: Final = {
    "calls": [
        {
            "type": "tool-call",
            "id": "c1",
            "name": "Bash",
            "state": "input-available",
            "input": {"command": "ls"},
        }
    ]
}


class ToolViews(msgspec.Struct):
    """The views of the calls, in order."""

    views: Annotated[tuple[ToolView, ...], Meta(description="One view for each call.")]


@post(
    "/api/tool-views",
    status_code=200,
    tags=["messages"],
    summary="Get views of tool calls",
)
async def classify_calls(
    caller: ActingCaller,
    data: Annotated[
        Any,
        Body(
            description="`calls`: tool calls as parts of a message. `threadId`: their thread, for paths"
            " relative to its project.",
            examples=[EXAMPLE],
        ),
    ],
) -> ToolViews:
    """What each tool call is and what it did: a command, an edit with its changes, a search with matches …

    Nothing is stored. For stored messages, use `views=true` when you list them.
    """
    calls = data.get("calls") if is_object(data) else None
    if not is_array(calls) or len(calls) > MAX_CALLS:
        problem = f"expected a list of at most {MAX_CALLS} calls"
        raise Problem(400, problem, where="$.calls", hint="send the calls in several requests")
    thread_id = data.get("threadId")
    thread = await caller.store.threads.get(thread_id) if isinstance(thread_id, str) else None
    directory = thread.project if thread is not None else None
    return ToolViews(tuple(tool_view(CALL.read(call), directory) for call in calls))
