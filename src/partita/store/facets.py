"""Facets: how many threads there are by agent, project, model, tool, time, under a filter.

What a facet tells is narrowed by all of the filter but its own condition, so that it says what else there is.
Models and tools are told of the newest threads only: to look through every message of a large store would
take too long for a menu.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import BigInteger, DateTime, Row, select, type_coerce

from partita.types.value import Value

from .tables import thread_labels, threads
from .thread_filter import CHOSEN, PINNED, conditions, label, listed
from .transaction import Transaction
from .values import ThreadFilter

MOST_VALUES: Final = 50
"""How many values of a facet are told, the most frequent first."""

MOST_THREADS: Final = 20_000
"""Of how many threads, the newest, anything is told,"""

MOST_SEARCHED: Final = 2_000
"""and of how many models and tools are."""

MODELS: Final = """
SELECT c.model AS value, count(DISTINCT t.key) AS threads FROM {chosen} CROSS JOIN consumptions c
WHERE c.owner = t.owner AND c.thread_id = t.id AND c.model IS NOT NULL
GROUP BY c.model ORDER BY threads DESC, value LIMIT {most}
"""
TOOLS: Final = """
SELECT p.tool_name AS value, count(DISTINCT t.key) AS threads
FROM {chosen} CROSS JOIN messages m CROSS JOIN parts p
WHERE m.owner = t.owner AND m.thread_id = t.id
    AND p.owner = m.owner AND p.message = m.key AND p.type = 'tool-call' AND p.tool_name IS NOT NULL
GROUP BY p.tool_name ORDER BY threads DESC, value LIMIT {most}
"""


class FacetValue(Value):
    """A value, and how many threads have it."""

    value: str
    threads: int


class DateCounts(Value, kw_only=True):
    """How many threads changed last in each stretch of time, each without those before it."""

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


class _Candidate(NamedTuple):
    """What is known of a thread without looking into it."""

    key: int
    agent: str | None
    project: str | None
    errors: bool
    pinned: bool
    updated: Any  # a moment as the engine has it: there are many


_Test = Callable[[_Candidate], bool]


def facets(tx: Transaction, wanted: ThreadFilter) -> Facets:
    """The facets of the threads that are wanted."""
    tests = _tests(tx, wanted)
    candidates = _candidates(tx, wanted)
    complete = len(candidates) <= MOST_THREADS
    candidates = candidates[:MOST_THREADS]
    fitting = _fitting(candidates, tests)
    for_models = fitting if wanted.model is None else _without(tx, replace(wanted, model=None), tests)
    for_tools = fitting if wanted.tool is None else _without(tx, replace(wanted, tool=None), tests)
    return Facets(
        threads=len(fitting),
        agents=_counted(one.agent for one in _fitting(candidates, tests, but="agent")),
        projects=_counted(one.project for one in _fitting(candidates, tests, but="project")),
        models=_searched(tx, MODELS, for_models),
        tools=_searched(tx, TOOLS, for_tools),
        errors=sum(one.errors for one in _fitting(candidates, tests, but="errors")),
        pinned=sum(one.pinned for one in _fitting(candidates, tests, but="pinned")),
        dates=_dates(tx, [one.updated for one in _fitting(candidates, tests, but="time")]),
        complete=complete,
        searched=min(len(fitting), MOST_SEARCHED),
    )


def _tests(tx: Transaction, wanted: ThreadFilter) -> dict[str, _Test]:
    """The conditions that can be told from a candidate, by the facet that leaves each one out."""
    tests: dict[str, _Test] = {}
    if wanted.agent is not None:
        tests["agent"] = lambda one: one.agent == wanted.agent
    if wanted.project is not None:
        tests["project"] = lambda one: one.project == wanted.project
    if wanted.has_errors is not None:
        tests["errors"] = lambda one: one.errors is wanted.has_errors
    if wanted.pinned is not None:
        tests["pinned"] = lambda one: one.pinned is wanted.pinned
    since, until = tx.instant(wanted.since), tx.instant(wanted.until)
    if since is not None or until is not None:
        tests["time"] = lambda one: (
            (since is None or one.updated >= since) and (until is None or one.updated < until)
        )
    return tests


def _fitting(
    candidates: Sequence[_Candidate], tests: dict[str, _Test], *, but: str = ""
) -> Sequence[_Candidate]:
    """Those that meet all conditions but one."""
    asked = [test for name, test in tests.items() if name != but]
    return [one for one in candidates if all(test(one) for test in asked)] if asked else candidates


def _candidates(tx: Transaction, wanted: ThreadFilter) -> list[_Candidate]:
    """The newest threads that meet the conditions that cannot be told from a candidate."""
    inside = replace(wanted, agent=None, project=None, has_errors=None, pinned=None, since=None, until=None)
    query = (
        select(
            threads.c.owner,
            threads.c.id,
            threads.c.key,
            threads.c.agent,
            threads.c.project,
            threads.c.error_count,
            type_coerce(threads.c.updated_at, BigInteger if tx.lite else DateTime).label("updated_at"),
        )
        .where(tx.mine(threads), *conditions(tx, inside))
        .order_by(threads.c.updated_at.desc(), threads.c.id.desc())
        .limit(MOST_THREADS + 1)
    )
    pinned = _pinned(tx)
    return [_candidate(row, (row.owner, row.id) in pinned) for row in tx.rows(query)]


def _candidate(row: Row[Any], pinned: bool) -> _Candidate:
    return _Candidate(row.key, row.agent, row.project, row.error_count > 0, pinned, row.updated_at)


def _pinned(tx: Transaction) -> set[tuple[str, str]]:
    table = thread_labels.c
    query = select(table.owner, table.thread_id).where(
        tx.mine(thread_labels), table.name == PINNED, table.value == label(True)
    )
    return {(row.owner, row.thread_id) for row in tx.rows(query)}


def _without(tx: Transaction, wanted: ThreadFilter, tests: dict[str, _Test]) -> Sequence[_Candidate]:
    """The threads of a filter that one condition was taken from."""
    return _fitting(_candidates(tx, wanted), tests)


def _counted(values: Iterable[str | None]) -> tuple[FacetValue, ...]:
    counts = Counter(value for value in values if value is not None)
    best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_VALUES]
    return tuple(FacetValue(value, threads) for value, threads in best)


def _searched(tx: Transaction, query: str, among: Sequence[_Candidate]) -> tuple[FacetValue, ...]:
    """What is found inside of the newest threads."""
    keys = [one.key for one in among[:MOST_SEARCHED]]
    if not keys:
        return ()
    text = query.format(chosen=CHOSEN[tx.lite], most=MOST_VALUES)
    found = tx.sql(text, (listed(tx, keys),))
    return tuple(FacetValue(row.value, row.threads) for row in found)


def _dates(tx: Transaction, times: Sequence[Any]) -> DateCounts:
    begins = (tx.instant(tx.now - timedelta(days=days)) for days in (1, 7, 30))
    day, week, month = (sum(one > begin for one in times) for begin in begins)
    return DateCounts(today=day, week=week - day, month=month - week, older=len(times) - month)
