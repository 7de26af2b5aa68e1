"""`tool_statistics`: how often tools were called, how that went, how long it took."""

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from .archive import Archive
from .budget import USUAL, MaxChars, fitting
from .filters import Agent, Project, Since, Until
from .tool import Answer, Arguments, Tool, noted

if TYPE_CHECKING:  # loaded with the store
    from partita.store.stats.rankings import ToolStat


class ToolArguments(Arguments, kw_only=True):
    """What to tell of."""

    tool: Annotated[str | None, Meta(description="Only this tool.")] = None
    agent: Agent = None
    project: Project = None
    model: Annotated[str | None, Meta(description="Only calls by this model.")] = None
    since: Since = None
    until: Until = None
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    max_chars: MaxChars = USUAL


class ToolRow(Answer, kw_only=True):
    """One tool. Times are in seconds, of calls whose both ends are known."""

    tool: str | None = None
    calls: int
    errors: int
    denied: int
    interrupted: int
    sessions: int
    median_seconds: float | None = None
    p95_seconds: float | None = None
    longest_seconds: float | None = None
    total_seconds: float | None = None


class ToolAnswer(Answer, kw_only=True):
    """Tools, the most called first."""

    tools: list[ToolRow]
    note: str | None = None


async def tool_statistics(archive: Archive, given: ToolArguments) -> ToolAnswer:
    """Every tool that was called."""
    from partita.store.values import StatFilter

    store = await archive.store()
    wanted = StatFilter(
        agent=archive.scope.agent_for(given.agent),
        project=archive.scope.project_for(given.project),
        model=given.model,
        since=archive.moment(given.since, "since"),
        until=archive.moment(given.until, "until"),
    )
    rows = [_row(one) for one in await store.stats.tools(wanted) if given.tool in (None, one.tool)]
    shown = list(fitting(rows[: given.limit], given.max_chars))
    note = f"{len(rows) - len(shown)} more tools: a larger limit or max_chars shows them"
    if not rows:
        note = "no calls: use fewer filters"
    return ToolAnswer(tools=shown, note=note if len(shown) < len(rows) or not rows else None)


def _row(stat: "ToolStat") -> ToolRow:
    return ToolRow(
        tool=stat.tool,
        calls=stat.calls,
        errors=stat.errors,
        denied=stat.denied,
        interrupted=stat.interrupted,
        sessions=stat.threads,
        median_seconds=stat.median_seconds,
        p95_seconds=stat.p95_seconds,
        longest_seconds=stat.longest_seconds,
        total_seconds=stat.total_seconds,
    )


def text(answer: ToolAnswer) -> str:
    """The answer in words."""
    lines: list[str] = []
    for one in answer.tools:
        took = ""
        if one.median_seconds is not None and one.longest_seconds is not None:
            took = f" · median {one.median_seconds:.1f} s, longest {one.longest_seconds:.1f} s"
        lines.append(
            f"- {one.tool}: calls {one.calls}, sessions {one.sessions}, failed {one.errors}, "
            f"not allowed {one.denied}, interrupted {one.interrupted}{took}"
        )
    return noted(lines, answer.note)


TOOLS_TOLD = Tool(
    name="tool_statistics",
    title="Statistics of tools",
    description=(
        "How often each tool was called in past sessions, how often it failed, was refused or "
        "interrupted, and how long it took. Use it to see which tools fail or are slow."
    ),
    takes=ToolArguments,
    gives=ToolAnswer,
    call=tool_statistics,
    text=text,
)
