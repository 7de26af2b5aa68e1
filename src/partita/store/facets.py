"""Facets: how many threads there are by agent, project, model, tool, time, under a filter.

What a facet tells is narrowed by all of the filter but its own condition, so that it says what else there is.
The database counts threads that are alike, once for all facets. Models and tools are told of the newest
threads only: to look through every message of a large store would take too long for a menu.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, case, func, select, true

from partita.types.value import Value

from .tables import threads
from .thread_filter import CHOSEN, conditions, is_pinned, listed
from .transaction import Transaction
from .values import ThreadFilter

MOST_VALUES: Final = 50
"""How many values of a facet are told, the most frequent first."""

MOST_THREADS: Final = 20_000
"""Of how many threads, the newest, anything is told,"""

MOST_SEARCHED: Final = 2_000
"""and of how many models and tools are."""

MODELS: Final = """
SELECT value, count(*) AS threads FROM (
    SELECT DISTINCT c.model AS value, t.key FROM {chosen} CROSS JOIN consumptions c
    WHERE c.owner = t.owner AND c.thread_id = t.id AND c.model IS NOT NULL
) AS found GROUP BY value ORDER BY threads DESC, value LIMIT {most}
"""
TOOLS: Final = """
SELECT value, count(*) AS threads FROM (
    SELECT DISTINCT p.tool_name AS value, t.key FROM {chosen} CROSS JOIN messages m CROSS JOIN parts p
    WHERE m.owner = t.owner AND m.thread_id = t.id
        AND p.owner = m.owner AND p.message = m.key AND p.type = 'tool-call' AND p.tool_name IS NOT NULL
) AS found GROUP BY value ORDER BY threads DESC, value LIMIT {most}
"""

STRETCHES: Final = tuple(timedelta(days=days) for days in (1, 7, 30))


class FacetValue(Value):
    """A value, and how many threads have it."""

    value: str
    threads: int


class DateCounts(Value, kw_only=True):
    """In how many threads something was last said in a stretch of time, each without those before it."""

    today: int  # the last 24 hours
    week: int
    month: int
    older: int


class Facets(Value, kw_only=True):
    """What there is to choose from, and how many threads each choice would leave."""

    threads: int  # that the whole filter leaves
    agents: tuple[FacetValue, ...]
    projects: tuple[FacetValue, ...]
    models: tuple[FacetValue, ...]
    tools: tuple[FacetValue, ...]
    errors: int
    pinned: int
    dates: DateCounts
    complete: bool  # otherwise there are more threads than were looked at
    searched: int  # of how many threads, the newest, the models and tools are told


class _Alike(NamedTuple):
    """How many threads there are of which the same is known without looking into them."""

    agent: str | None
    project: str | None
    errors: bool
    pinned: bool
    timely: bool  # within the time that is asked for
    stretch: int  # the first of the stretches that something was last said in; behind the last: older
    threads: int


_Test = Callable[[_Alike], bool]


def facets(tx: Transaction, wanted: ThreadFilter) -> Facets:
    """The facets of the threads that are wanted."""
    tests = _tests(wanted)
    groups, complete = _counted_alike(tx, wanted)
    newest = _newest(tx, wanted)
    for_models = newest if wanted.model is None else _newest(tx, replace(wanted, model=None))
    for_tools = newest if wanted.tool is None else _newest(tx, replace(wanted, tool=None))
    return Facets(
        threads=_sum(_fitting(groups, tests)),
        agents=_counted((one.agent, one.threads) for one in _fitting(groups, tests, but="agent")),
        projects=_counted((one.project, one.threads) for one in _fitting(groups, tests, but="project")),
        models=_searched(tx, MODELS, for_models),
        tools=_searched(tx, TOOLS, for_tools),
        errors=_sum(one for one in _fitting(groups, tests, but="errors") if one.errors),
        pinned=_sum(one for one in _fitting(groups, tests, but="pinned") if one.pinned),
        dates=_dates(_fitting(groups, tests, but="time")),
        complete=complete,
        searched=len(newest),
    )


def _tests(wanted: ThreadFilter) -> dict[str, _Test]:
    """The conditions that can be told without looking into threads, by the facet that leaves each out."""
    tests: dict[str, _Test] = {}
    if wanted.agent is not None:
        tests["agent"] = lambda one: one.agent == wanted.agent
    if wanted.project is not None:
        tests["project"] = lambda one: one.project == wanted.project
    if wanted.has_errors is not None:
        tests["errors"] = lambda one: one.errors is wanted.has_errors
    if wanted.pinned is not None:
        tests["pinned"] = lambda one: one.pinned is wanted.pinned
    if wanted.since is not None or wanted.until is not None:
        tests["time"] = lambda one: one.timely
    return tests


def _fitting(groups: Sequence[_Alike], tests: dict[str, _Test], *, but: str = "") -> Sequence[_Alike]:
    """Those that meet all conditions but one."""
    asked = [test for name, test in tests.items() if name != but]
    return [one for one in groups if all(test(one) for test in asked)] if asked else groups


def _counted_alike(tx: Transaction, wanted: ThreadFilter) -> tuple[list[_Alike], bool]:
    """The newest threads that count for some facet, and whether these are all."""
    known = {
        "agent": threads.c.agent,
        "project": threads.c.project,
        "errors": threads.c.error_count > 0,
        "pinned": is_pinned(tx),
        "timely": _timely(wanted),
        "stretch": _stretch(tx),
    }
    some = _counting(tx, wanted, [column.label(name) for name, column in known.items()])
    inner = some.limit(MOST_THREADS).subquery()
    columns = [inner.c[name] for name in known]
    rows = tx.rows(select(*columns, func.count().label("threads")).group_by(*columns))
    groups = [_Alike._make(row) for row in rows]
    full = _sum(groups) == MOST_THREADS
    more = full and tx.row(_counting(tx, wanted, [threads.c.key]).offset(MOST_THREADS).limit(1)) is not None
    return groups, not more


def _counting(
    tx: Transaction, wanted: ThreadFilter, columns: Sequence[ColumnElement[Any]]
) -> Select[*tuple[Any, ...]]:
    """The threads that count for some facet, newest first: what is told by looking into them must hold."""
    inside = replace(wanted, agent=None, project=None, has_errors=None, pinned=None, since=None, until=None)
    return (
        select(*columns)
        .where(tx.mine(threads), *conditions(tx, inside))
        .order_by(threads.c.updated_at.desc(), threads.c.id.desc())
    )


def _timely(wanted: ThreadFilter) -> ColumnElement[bool]:
    moment = threads.c.updated_at
    since = true() if wanted.since is None else moment >= wanted.since
    return and_(since, true() if wanted.until is None else moment < wanted.until)


def _stretch(tx: Transaction) -> ColumnElement[int]:
    begins = [(threads.c.updated_at > tx.now - length, place) for place, length in enumerate(STRETCHES)]
    return case(*begins, else_=len(STRETCHES))


def _newest(tx: Transaction, wanted: ThreadFilter) -> list[int]:
    """The keys of the newest threads of a filter."""
    query = select(threads.c.key).where(tx.mine(threads), *conditions(tx, wanted))
    by = (threads.c.updated_at.desc(), threads.c.id.desc())
    return [row.key for row in tx.rows(query.order_by(*by).limit(MOST_SEARCHED))]


def _sum(groups: Iterable[_Alike]) -> int:
    return sum(one.threads for one in groups)


def _counted(values: Iterable[tuple[str | None, int]]) -> tuple[FacetValue, ...]:
    counts: Counter[str] = Counter()
    for value, number in values:
        if value is not None:
            counts[value] += number
    best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_VALUES]
    return tuple(FacetValue(value, number) for value, number in best)


def _searched(tx: Transaction, query: str, keys: Sequence[int]) -> tuple[FacetValue, ...]:
    """What is found inside of threads."""
    if not keys:
        return ()
    text = query.format(chosen=CHOSEN[tx.lite], most=MOST_VALUES)
    found = tx.sql(text, (listed(tx, keys),))
    return tuple(FacetValue(row.value, row.threads) for row in found)


def _dates(groups: Sequence[_Alike]) -> DateCounts:
    counts = [_sum(one for one in groups if one.stretch == place) for place in range(len(STRETCHES) + 1)]
    return DateCounts(today=counts[0], week=counts[1], month=counts[2], older=counts[3])
