"""Which threads a request asks for."""

from typing import Final, TypeAlias

from litestar.di import NamedDependency, Provide

from partita.store.values import ThreadFilter

from .parameters import (
    Agent,
    HasErrors,
    Ids,
    Model,
    Pinned,
    Project,
    Since,
    Text,
    Tool,
    Until,
    each_of,
    moment_of,
)


def thread_filter(
    *,
    agent: Agent = None,
    project: Project = None,
    model: Model = None,
    tool: Tool = None,
    text: Text = None,
    since: Since = None,
    until: Until = None,
    has_errors: HasErrors = None,
    pinned: Pinned = None,
    ids: Ids = None,
) -> ThreadFilter:
    """The conditions of a request, all of which must hold."""
    return ThreadFilter(
        agent=agent,
        project=project,
        model=model,
        tool=tool,
        text=text,
        since=moment_of(since, "since"),
        until=moment_of(until, "until"),
        has_errors=has_errors,
        pinned=pinned,
        ids=None if ids is None else each_of(ids),
    )


Wanted: TypeAlias = NamedDependency[ThreadFilter]
NARROWED: Final = {"wanted": Provide(thread_filter, sync_to_thread=False)}
