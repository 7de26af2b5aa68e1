"""Facets: the number of threads by agent, project, model, tool, tag and time, for a filter.

A facet is narrowed by the whole filter except its own condition, so that it shows the alternatives. The
database counts threads with equal values, once for all facets. Models, tools and tags are counted in the
newest threads only: reading every message of a large store would take too long for a menu.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, case, func, select, true

from partita.store.projects import matches_project
from partita.store.schema import is_before, threads
from partita.store.sql.transaction import Transaction
from partita.store.values import ThreadFilter
from partita.types.value import Value

from .filter import CHOSEN, conditions, is_active, is_pinned

MAX_VALUES: Final = 50
"""The number of values of a facet, the most frequent first."""

MAX_THREADS: Final = 20_000
"""The number of threads, the newest, that are counted."""

MAX_SEARCHED: Final = 2_000
"""The number of threads, the newest, whose models, tools and tags are counted."""

TAGS: Final = """
SELECT substr(l.name, 5) AS value, count(*) AS threads FROM {chosen} CROSS JOIN thread_labels l
WHERE l.owner = t.owner AND l.thread_id = t.id AND l.name LIKE 'tag:%' AND l.value = 'true'
GROUP BY l.name ORDER BY threads DESC, l.name LIMIT {most}
"""
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

AGES: Final = tuple(timedelta(days=days) for days in (1, 7, 30))


class FacetValue(Value):
    """A value, and the number of threads that have it."""

    value: str
    threads: int


class DateCounts(Value, kw_only=True):
    """The number of threads by the time of their last message; each period excludes the ones before it."""

    today: int  # the last 24 hours
    week: int
    month: int
    older: int


class Facets(Value, kw_only=True):
    """The values that a filter can select, and the number of threads for each."""

    threads: int  # that match the whole filter
    agents: tuple[FacetValue, ...]
    projects: tuple[FacetValue, ...]
    models: tuple[FacetValue, ...]
    tools: tuple[FacetValue, ...]
    tags: tuple[FacetValue, ...]
    errors: int
    pinned: int
    running: int  # with an active run
    dates: DateCounts
    complete: bool  # otherwise there are more threads than were counted
    searched: int  # the number of threads, the newest, whose models, tools and tags are counted


class _Group(NamedTuple):
    """The number of threads with equal values."""

    agent: str | None
    project: str | None
    in_project: bool  # that of the filter
    errors: bool
    pinned: bool
    active: bool
    in_time: bool  # between `since` and `until` of the filter
    age: int  # the index of the first of `AGES` that fits, or their number
    threads: int


_Test = Callable[[_Group], bool]


def thread_facets(tx: Transaction, filter: ThreadFilter | None = None) -> Facets:
    """The number of threads by agent, project, model, tool, tag and time, for a filter."""
    selected = filter or ThreadFilter()
    tests = _tests(selected)
    groups, complete = _groups(tx, selected)
    newest = _newest(tx, selected)
    for_models = newest if selected.model is None else _newest(tx, replace(selected, model=None))
    for_tools = newest if selected.tool is None else _newest(tx, replace(selected, tool=None))
    for_tags = _newest(tx, replace(selected, tags=())) if selected.tags else newest
    return Facets(
        threads=_sum(_matching(groups, tests)),
        agents=_counted((one.agent, one.threads) for one in _matching(groups, tests, but="agent")),
        projects=_counted((one.project, one.threads) for one in _matching(groups, tests, but="project")),
        models=_in_threads(tx, MODELS, for_models),
        tools=_in_threads(tx, TOOLS, for_tools),
        tags=_in_threads(tx, TAGS, for_tags),
        errors=_sum(one for one in _matching(groups, tests, but="errors") if one.errors),
        pinned=_sum(one for one in _matching(groups, tests, but="pinned") if one.pinned),
        running=_sum(one for one in _matching(groups, tests, but="active") if one.active),
        dates=_dates(_matching(groups, tests, but="time")),
        complete=complete,
        searched=len(newest),
    )


def _tests(filter: ThreadFilter) -> dict[str, _Test]:
    """The conditions on the values of a group, by the facet that leaves each out."""
    tests: dict[str, _Test] = {}
    if filter.agent is not None:
        tests["agent"] = lambda one: one.agent == filter.agent
    if filter.project is not None:
        tests["project"] = lambda one: one.in_project
    if filter.has_errors is not None:
        tests["errors"] = lambda one: one.errors is filter.has_errors
    if filter.pinned is not None:
        tests["pinned"] = lambda one: one.pinned is filter.pinned
    if filter.active is not None:
        tests["active"] = lambda one: one.active is filter.active
    if filter.since is not None or filter.until is not None:
        tests["time"] = lambda one: one.in_time
    return tests


def _matching(groups: Sequence[_Group], tests: dict[str, _Test], *, but: str = "") -> Sequence[_Group]:
    """The groups that match all conditions but one."""
    used = [test for name, test in tests.items() if name != but]
    return [one for one in groups if all(test(one) for test in used)] if used else groups


def _groups(tx: Transaction, filter: ThreadFilter) -> tuple[list[_Group], bool]:
    """The newest threads that count for some facet, in groups, and whether these are all."""
    values = {
        "agent": threads.c.agent,
        "project": threads.c.repository,
        "in_project": true() if filter.project is None else matches_project(tx, threads, filter.project),
        "errors": threads.c.error_count > 0,
        "pinned": is_pinned(tx),
        "active": is_active(tx),
        "in_time": _in_time(filter),
        "age": _age(tx),
    }
    counted = _counted_threads(tx, filter, [column.label(name) for name, column in values.items()])
    inner = counted.limit(MAX_THREADS).subquery()
    columns = [inner.c[name] for name in values]
    rows = tx.rows(select(*columns, func.count().label("threads")).group_by(*columns))
    groups = [_Group._make(row) for row in rows]
    if _sum(groups) < MAX_THREADS:
        return groups, True
    following = _counted_threads(tx, filter, [threads.c.key]).offset(MAX_THREADS).limit(1)
    return groups, tx.row(following) is None


def _counted_threads(
    tx: Transaction, filter: ThreadFilter, columns: Sequence[ColumnElement[Any]]
) -> Select[*tuple[Any, ...]]:
    """The threads that count for some facet, newest first: those that match the other conditions."""
    others = replace(
        filter,
        agent=None,
        project=None,
        has_errors=None,
        pinned=None,
        active=None,
        since=None,
        until=None,
    )
    return (
        select(*columns)
        .where(tx.owned(threads), *conditions(tx, others))
        .order_by(threads.c.updated_at.desc(), threads.c.id.desc())
    )


def _in_time(filter: ThreadFilter) -> ColumnElement[bool]:
    time = threads.c.updated_at
    since = true() if filter.since is None else time >= filter.since
    return and_(since, true() if filter.until is None else is_before(time, filter.until))


def _age(tx: Transaction) -> ColumnElement[int]:
    ages = [(threads.c.updated_at > tx.now - age, index) for index, age in enumerate(AGES)]
    return case(*ages, else_=len(AGES))


def _newest(tx: Transaction, filter: ThreadFilter) -> list[int]:
    """The keys of the newest threads of a filter."""
    query = select(threads.c.key).where(tx.owned(threads), *conditions(tx, filter))
    by = (threads.c.updated_at.desc(), threads.c.id.desc())
    return [row.key for row in tx.rows(query.order_by(*by).limit(MAX_SEARCHED))]


def _sum(groups: Iterable[_Group]) -> int:
    return sum(one.threads for one in groups)


def _counted(values: Iterable[tuple[str | None, int]]) -> tuple[FacetValue, ...]:
    counts: Counter[str] = Counter()
    for value, number in values:
        if value is not None:
            counts[value] += number
    best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MAX_VALUES]
    return tuple(FacetValue(value, number) for value, number in best)


def _in_threads(tx: Transaction, query: str, keys: Sequence[int]) -> tuple[FacetValue, ...]:
    """The values that a query finds in threads."""
    if not keys:
        return ()
    text = query.format(chosen=CHOSEN[tx.is_sqlite], most=MAX_VALUES)
    return tuple(FacetValue(row.value, row.threads) for row in tx.sql(text, (tx.list_parameter(keys),)))


def _dates(groups: Sequence[_Group]) -> DateCounts:
    counts = [_sum(one for one in groups if one.age == age) for age in range(len(AGES) + 1)]
    return DateCounts(today=counts[0], week=counts[1], month=counts[2], older=counts[3])
