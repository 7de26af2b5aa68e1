"""The outline of a thread: what a page needs to draw a long one piece by piece."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final

import msgspec
from litestar import get
from litestar.params import FromPath, QueryParameter
from litestar.types import ControllerRouterHandler

from partita.server.hub import Caller
from partita.server.replies import Reply
from partita.store.outline import OutlineRow, outline
from partita.store.values import UsageTotals

from .parameters import routes_for_callers


class ThreadOutline(msgspec.Struct, rename="camel"):
    """All messages of a branch in a few words, oldest first."""

    items: Sequence[OutlineRow]
    """Of each: id, number (`seq`), role, type, time, how many bytes it takes, and its version."""
    siblings: Mapping[str, Sequence[str]]
    """Of a message with others in its place on other branches: the ids of all of them, in order."""
    total: int
    """How many there are."""
    models: Sequence[str]
    """The models that answered, the busiest first."""
    usage: UsageTotals
    """What all responses of the thread consumed."""


@get("/api/threads/{thread_id:str}/outline", tags=["messages"], summary="The outline of a thread")
async def get_outline(
    caller: Caller,
    thread_id: FromPath[str],
    branch: Annotated[
        str | None, QueryParameter(description="A message on the branch; without one, the active branch.")
    ] = None,
    internal: Annotated[bool, QueryParameter(description="Also what agents said among themselves.")] = False,
) -> Reply[ThreadOutline]:
    """Every message of a branch as one short row, to draw a list of any length and to load what is seen."""
    found = await caller.store.read(outline, thread_id, through=branch, internal=internal)
    usage = await caller.store.usage_of_thread(thread_id)
    return Reply(
        ThreadOutline(
            items=found.rows,
            siblings=found.siblings,
            total=len(found.rows),
            models=found.models,
            usage=usage,
        )
    )


OUTLINE: Final[list[ControllerRouterHandler]] = [routes_for_callers(get_outline)]
