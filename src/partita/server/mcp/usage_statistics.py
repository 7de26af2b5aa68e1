"""`usage_statistics`: tokens and costs, by day, project, model or agent."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta, field

from partita.errors import StoreError
from partita.store.values import StatFilter

from .archive import Archive
from .budget import USUAL, MaxChars, fitting
from .filters import Agent, Project, Since, Until
from .tool import Answer, Arguments, Tool, noted

if TYPE_CHECKING:  # loaded with the store
    from partita.store.values import UsageStat

UsageBy: TypeAlias = Literal["total", "day", "week", "month", "project", "model", "agent"]

PERIODS: Final = frozenset({"day", "week", "month"})


class UsageArguments(Arguments, kw_only=True):
    """What to tell, and by what."""

    by: Annotated[
        list[UsageBy],
        Meta(
            min_length=1, max_length=2, description='One thing to tell by, or two, such as ["day", "model"].'
        ),
    ] = field(default_factory=lambda: ["day"])
    agent: Agent = None
    project: Project = None
    model: Annotated[str | None, Meta(description="Only responses of this model.")] = None
    since: Since = None
    until: Until = None
    limit: Annotated[int, Meta(ge=1, le=400)] = 30
    max_chars: MaxChars = USUAL


class UsageRow(Answer, kw_only=True):
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


class UsageAnswer(Answer, kw_only=True):
    """Periods in order, the last ones; of other things, the most expensive."""

    rows: list[UsageRow]
    note: str | None = None


async def usage_statistics(archive: Archive, given: UsageArguments) -> UsageAnswer:
    """What models consumed."""
    if len(set(given.by)) < len(given.by) or ("total" in given.by and len(given.by) > 1):
        raise StoreError("`by` names one thing, or two different ones", where="by", hint='["day", "model"]')
    store = await archive.store()
    stats = await store.stats.totals(
        StatFilter(
            agent=archive.scope.agent_for(given.agent),
            project=archive.scope.project_for(given.project),
            model=given.model,
            since=archive.moment(given.since, "since"),
            until=archive.moment(given.until, "until"),
        ),
        by=given.by,
        zone=archive.zone,
    )
    rows = [
        _row(one, given.by) for one in stats if one.responses or (one.messages and "model" not in given.by)
    ]
    shown = _some(rows, given)
    note = None
    if not rows:
        note = "nothing was consumed: use fewer filters"
    elif len(shown) < len(rows):
        note = f"{len(rows) - len(shown)} more rows: since, a larger limit or max_chars shows them"
    return UsageAnswer(rows=shown, note=note)


def _some(rows: Sequence[UsageRow], given: UsageArguments) -> list[UsageRow]:
    """The last of periods, the first of others."""
    if PERIODS.isdisjoint(given.by):
        return list(fitting(rows[: given.limit], given.max_chars))
    newest = list(reversed(rows[-given.limit :]))
    return list(reversed(fitting(newest, given.max_chars)))


def _row(stat: "UsageStat", by: Sequence[UsageBy]) -> UsageRow:
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


def text(answer: UsageAnswer) -> str:
    """The answer in words."""
    lines: list[str] = []
    for one in answer.rows:
        name = ", ".join(value or "unknown" for value in one.key.values()) or "in all"
        cost = "no price known" if one.cost_usd is None else f"about {one.cost_usd:.2f} USD"
        lines.append(
            f"- {name}: {one.input_tokens:,} tokens in ({one.cached_input_tokens:,} cached), "
            f"{one.output_tokens:,} out, {cost}; sessions {one.sessions}, responses {one.responses}, "
            f"tool calls {one.tool_calls}"
        )
    return noted(lines, answer.note)


USAGE = Tool(
    name="usage_statistics",
    title="Statistics of usage",
    description=(
        "Tokens and estimated costs of past sessions, by day, week, month, project, model or agent. "
        "Days begin at midnight where this machine is."
    ),
    takes=UsageArguments,
    gives=UsageAnswer,
    call=usage_statistics,
    text=text,
)
