"""`tool_statistics` and `usage_statistics`: calls of tools, and usage of models."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta

from partita.errors import StoreError
from partita.store.values import StatFilter

from .archive import Archive
from .tool import (
    DEFAULT_CHARS,
    Agent,
    Arguments,
    MaxChars,
    Project,
    Result,
    Since,
    Tool,
    Until,
    fitting,
    result_text,
)

if TYPE_CHECKING:  # loaded with the store
    from partita.store.stats.rankings import ToolStat
    from partita.store.values import UsageStat


def _filter(archive: Archive, arguments: "ToolArguments | UsageArguments") -> StatFilter:
    return StatFilter(
        agent=archive.scope.agent_filter(arguments.agent),
        project=archive.scope.project_filter(arguments.project),
        model=arguments.model,
        since=archive.parse_time(arguments.since, "since"),
        until=archive.parse_time(arguments.until, "until"),
    )


# tool_statistics


class ToolArguments(Arguments, kw_only=True):
    """Which calls to count."""

    tool: Annotated[str | None, Meta(description="Only this tool.")] = None
    agent: Agent = None
    project: Project = None
    model: Annotated[str | None, Meta(description="Only calls by this model.")] = None
    since: Since = None
    until: Until = None
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    max_chars: MaxChars = DEFAULT_CHARS


class ToolRow(Result, kw_only=True):
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


class ToolResult(Result, kw_only=True):
    """Tools, the most called first."""

    tools: list[ToolRow]
    note: str | None = None


async def tool_statistics(archive: Archive, arguments: ToolArguments) -> ToolResult:
    """Count the calls of each tool."""
    store = await archive.store()
    stats = await store.stats.tools(_filter(archive, arguments))
    rows = [_tool_row(one) for one in stats if arguments.tool in (None, one.tool)]
    shown = list(fitting(rows[: arguments.limit], arguments.max_chars))
    note = None
    if not rows:
        note = "no calls: use fewer filters"
    elif len(shown) < len(rows):
        note = f"{len(rows) - len(shown)} more tools: a larger limit or max_chars shows them"
    return ToolResult(tools=shown, note=note)


def _tool_row(stat: "ToolStat") -> ToolRow:
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


def _render_tools(result: ToolResult) -> str:
    lines: list[str] = []
    for one in result.tools:
        times = ""
        if one.median_seconds is not None and one.longest_seconds is not None:
            times = f" · median {one.median_seconds:.1f} s, longest {one.longest_seconds:.1f} s"
        lines.append(
            f"- {one.tool}: calls {one.calls}, sessions {one.sessions}, failed {one.errors}, "
            f"not allowed {one.denied}, interrupted {one.interrupted}{times}"
        )
    return result_text(lines, result.note)


TOOL_STATISTICS = Tool(
    name="tool_statistics",
    title="Statistics of tools",
    summary=(
        "How often each tool was called in past sessions, how often it failed, was refused or "
        "interrupted, and how long it took. Use it to see which tools fail or are slow."
    ),
    takes=ToolArguments,
    gives=ToolResult,
    function=tool_statistics,
    render=_render_tools,
)


# usage_statistics


UsageBy: TypeAlias = Literal["total", "day", "week", "month", "project", "model", "agent", "thread"]

PERIODS: Final = frozenset({"day", "week", "month"})


class UsageArguments(Arguments, kw_only=True):
    """Which usage to sum up, and by what."""

    by: Annotated[
        UsageBy | Annotated[list[UsageBy], Meta(min_length=1, max_length=2)],
        Meta(description='One grouping or two, such as "model" or ["day", "model"].'),
    ] = "day"
    agent: Agent = None
    project: Project = None
    model: Annotated[str | None, Meta(description="Only responses of this model.")] = None
    since: Since = None
    until: Until = None
    limit: Annotated[int, Meta(ge=1, le=400)] = 30
    max_chars: MaxChars = DEFAULT_CHARS


class UsageRow(Result, kw_only=True):
    """One row. `input_tokens` include those that were read from a cache."""

    key: dict[str, str | None]
    sessions: int
    messages: int
    responses: int
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    cost_usd: float | None = None  # an estimate by list prices, of responses with a price
    unpriced_responses: int = 0
    tool_calls: int = 0
    tool_errors: int = 0


class UsageResult(Result, kw_only=True):
    """Periods in order, the last ones; of other things, the most expensive."""

    rows: list[UsageRow]
    note: str | None = None


async def usage_statistics(archive: Archive, arguments: UsageArguments) -> UsageResult:
    """Sum up the usage of models."""
    by = _groupings(arguments)
    if len(set(by)) < len(by) or ("total" in by and len(by) > 1):
        raise StoreError("`by` is one grouping, or two different ones", where="by", hint='["day", "model"]')
    store = await archive.store()
    stats = await store.stats.totals(_filter(archive, arguments), by=by, zone=archive.zone)
    rows = [_usage_row(one, by) for one in stats if one.responses or (one.messages and "model" not in by)]
    shown = _shown_rows(rows, arguments)
    note = None
    if not rows:
        note = "no usage: use fewer filters"
    elif len(shown) < len(rows):
        note = f"{len(rows) - len(shown)} more rows: since, a larger limit or max_chars shows them"
    return UsageResult(rows=shown, note=note)


def _groupings(arguments: UsageArguments) -> list[UsageBy]:
    return [arguments.by] if isinstance(arguments.by, str) else arguments.by


def _shown_rows(rows: Sequence[UsageRow], arguments: UsageArguments) -> list[UsageRow]:
    """The last rows of periods, and the first rows of everything else."""
    if PERIODS.isdisjoint(_groupings(arguments)):
        return list(fitting(rows[: arguments.limit], arguments.max_chars))
    newest = list(reversed(rows[-arguments.limit :]))
    return list(reversed(fitting(newest, arguments.max_chars)))


def _usage_row(stat: "UsageStat", by: Sequence[UsageBy]) -> UsageRow:
    names = [name for name in by if name != "total"]
    return UsageRow(
        key=dict(zip(names, stat.key, strict=False)),
        sessions=stat.threads,
        messages=stat.messages,
        responses=stat.responses,
        input_tokens=stat.input_tokens,
        cached_input_tokens=stat.cached_input_tokens,
        output_tokens=stat.output_tokens,
        cost_usd=stat.cost,
        unpriced_responses=stat.unpriced,
        tool_calls=stat.tool_calls,
        tool_errors=stat.tool_errors,
    )


def _render_usage(result: UsageResult) -> str:
    lines: list[str] = []
    for one in result.rows:
        name = ", ".join(value or "unknown" for value in one.key.values()) or "in all"
        cost = "no price known" if one.cost_usd is None else f"about {one.cost_usd:.2f} USD"
        lines.append(
            f"- {name}: {one.input_tokens:,} tokens in ({one.cached_input_tokens:,} cached), "
            f"{one.output_tokens:,} out, {cost}; sessions {one.sessions}, responses {one.responses}, "
            f"tool calls {one.tool_calls}"
        )
    return result_text(lines, result.note)


USAGE_STATISTICS = Tool(
    name="usage_statistics",
    title="Statistics of usage",
    summary=(
        "Tokens and estimated costs of past sessions, by day, week, month, project, model, agent or thread. "
        "Days begin at midnight in the time zone of this machine."
    ),
    takes=UsageArguments,
    gives=UsageResult,
    function=usage_statistics,
    render=_render_usage,
)
