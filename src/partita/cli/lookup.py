"""Finding the thread or run that an argument names: an id, the beginning of one, or `last`."""

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Table, select

from partita.errors import ConflictError, NotFoundError, PartitaError, StoreError
from partita.store.schema import runs, threads
from partita.store.sql.transaction import Transaction
from partita.store.values import ThreadFilter

from .view.text import one_line

if TYPE_CHECKING:
    from partita.store.store import Store
    from partita.types.threads import Run, Thread

LAST = "last"
SHORTEST = 8
"""The least number of characters of an id that is printed."""

CANDIDATES = 8
"""How many ids an error lists."""

COMPARED = 20_000
"""How many ids an unknown id is compared with."""


class NamedThread(NamedTuple):
    """A thread in the list of an error."""

    id: str
    title: str | None

    def __str__(self) -> str:
        return f"{one_line(self.id)}  {one_line(self.title or '(no title)', 60)}"


async def find_thread(store: "Store", given: str) -> "Thread":
    """Return the thread that an argument names; raises an error that lists similar threads."""
    found = await _get_thread(store, given)
    if found is None and given == LAST:
        found = await store.threads.latest()
        if found is None:
            raise NotFoundError("there are no threads with messages yet", hint="run `partita import`")
        return found
    if found is None:
        found = await _get_thread(store, await _complete_thread_id(store, given))
    if found is None:  # it was deleted in between
        raise NotFoundError(f"no thread {given!r}", hint="`partita threads` lists them")
    return found


async def check_agent(store: "Store", agent: str | None) -> None:
    """Refuse the name of an agent that neither the store nor Partita knows."""
    if agent is None:
        return
    from partita.logs.sources.registry import AGENTS

    known = sorted({*AGENTS, *await store.threads.agents()})
    if agent not in known:
        similar = get_close_matches(agent, known, n=1)
        question = f"did you mean {similar[0]}? " if similar else ""
        raise NotFoundError(
            f"no agent {agent!r}", where="--agent", hint=f"{question}known: {', '.join(known)}"
        )


async def _get_thread(store: "Store", id: str) -> "Thread | None":
    try:
        return await store.threads.get(id)
    except ConflictError as error:
        error.hint = "name the owner with --resource"
        raise


async def _complete_thread_id(store: "Store", given: str) -> str:
    named = await store.threads.starting_with(given, limit=CANDIDATES + 1) if given else []
    found = {one.id: NamedThread(*one) for one in named}
    if len(found) == 1:
        return next(iter(found))
    if found:
        raise _ambiguous(given, "threads", list(map(str, found.values())))
    similar = await _similar_threads(store, given)
    hint = _list("did you mean", list(map(str, similar))) if similar else "`partita threads` lists them"
    raise NotFoundError(f"no thread {given!r}", hint=hint)


async def _similar_threads(store: "Store", given: str) -> list[NamedThread]:
    """Threads with a similar id, and threads that a search for the argument finds."""
    known = await store.read(_newest_threads)
    close = get_close_matches(given, [one.id for one in known], n=3, cutoff=0.7)
    similar = [one for one in known if one.id in close]
    try:
        page = await store.threads.list(ThreadFilter(text=given), limit=5)
    except PartitaError:  # the text cannot be searched for
        return similar
    return similar + [NamedThread(one.id, one.title) for one in page if one.id not in close]


def _newest_threads(tx: Transaction) -> list[NamedThread]:
    query = select(threads.c.id, threads.c.title).where(tx.owned(threads))
    rows = tx.rows(query.order_by(threads.c.updated_at.desc()).limit(COMPARED))
    return [NamedThread(row.id, row.title) for row in rows]


async def find_run(store: "Store", given: str) -> "Run":
    """Return the run that an argument names; raises an error that lists the runs that it may mean."""
    if given == LAST:
        page = await store.runs.list(limit=1)
        if not page.items:
            raise NotFoundError("there are no runs yet", hint="run `partita import`")
        return page.items[0]
    found = await store.read(_runs_beginning_with, given) if given else []
    if given not in found and len(found) > 1:
        raise _ambiguous(given, "runs", found)
    run = await store.runs.get(given if given in found or not found else found[0])
    if run is None:
        raise NotFoundError(f"no run {given!r}", hint="`partita runs` lists them")
    return run


async def find_thread_or_run(store: "Store", given: str) -> "Thread | Run":
    """Return the thread or the run that an argument names; `last` is a thread."""
    if given == LAST:
        return await find_thread(store, LAST)
    found = await store.runs.get(given) or await _get_thread(store, given)
    if found is not None:
        return found
    named = await store.threads.starting_with(given, limit=CANDIDATES + 1) if given else []
    begun = await store.read(_runs_beginning_with, given) if given else []
    of_others = [one for one in begun if not any(one.startswith(thread.id) for thread in named)]
    if len(named) + len(of_others) > 1:
        lines = [
            *(f"{NamedThread(*one)}" for one in named),
            *(f"{one_line(one)}  (run)" for one in of_others),
        ]
        raise _ambiguous(given, "threads and runs", lines)
    if named:
        return await find_thread(store, named[0].id)
    if of_others:
        return await find_run(store, of_others[0])
    raise NotFoundError(f"no thread or run {given!r}", hint="`partita threads` and `partita runs` list them")


def _runs_beginning_with(tx: Transaction, start: str) -> list[str]:
    query = select(runs.c.id).where(tx.owned(runs), runs.c.id.startswith(start, autoescape=True))
    return [row.id for row in tx.rows(query.distinct().order_by(runs.c.id).limit(CANDIDATES + 1))]


def _ambiguous(given: str, what: str, found: Sequence[str]) -> StoreError:
    count = "many" if len(found) > CANDIDATES else len(found)
    return StoreError(
        f"{given!r} is the beginning of {count} ids of {what}", hint=_list("use a longer prefix", found)
    )


def _list(title: str, items: Sequence[str]) -> str:
    lines = [f"\n       {item}" for item in items[:CANDIDATES]]
    more = "\n       …" if len(items) > CANDIDATES else ""
    return f"{title}:{''.join(lines)}{more}"


async def short_thread_ids(store: "Store", ids: Collection[str]) -> Mapping[str, str]:
    """Return for each id the shortest beginning by which `find_thread` finds it."""
    return await store.read(_short_ids, threads, ids)


async def short_run_ids(store: "Store", ids: Collection[str]) -> Mapping[str, str]:
    """Return for each id the shortest beginning by which `find_run` finds it."""
    return await store.read(_short_ids, runs, ids)


def _short_ids(tx: Transaction, table: Table, ids: Collection[str]) -> dict[str, str]:
    # In lower case, because SQLite ignores the case when it compares beginnings.
    stored = {row.id.lower() for row in tx.rows(select(table.c.id).where(tx.owned(table)))}
    every = sorted(stored | {one.lower() for one in ids})
    places = {known: place for place, known in enumerate(every)}
    short: dict[str, str] = {}
    for one in ids:
        place = places[one.lower()]
        neighbours = [every[other] for other in (place - 1, place + 1) if 0 <= other < len(every)]
        lengths = [_common_length(one.lower(), other) + 1 for other in neighbours]
        short[one] = one[: max([SHORTEST, *lengths])]
    return short


def _common_length(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
