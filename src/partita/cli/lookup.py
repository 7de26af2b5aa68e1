"""Which thread is meant: by its id, by the beginning of its id, or as the last one."""

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select

from partita.errors import ConflictError, NotFoundError, PartitaError, StoreError
from partita.store.beginnings import threads_beginning_with
from partita.store.tables import threads
from partita.store.transaction import Transaction

from .view.text import one_line

if TYPE_CHECKING:
    from partita.store.facade.store import Store
    from partita.types.threads import Thread

LAST = "last"
SHORTEST = 8
"""How much of an id is shown at least."""

CANDIDATES = 8
COMPARED = 20_000
"""How many ids an unknown one is compared with."""


class Known(NamedTuple):
    """A thread, as an error message names it."""

    id: str
    title: str | None

    def __str__(self) -> str:
        return f"{one_line(self.id)}  {one_line(self.title or '(no title)', 60)}"


async def find_thread(store: "Store", given: str) -> "Thread":
    """The thread that is meant; an error that names what may have been meant, if it is not clear."""
    found = await _exact(store, given)
    if found is None and given == LAST:
        page = await store.list_threads(limit=1)
        if not page.items:
            raise NotFoundError("there are no threads yet", hint="partita import brings some in")
        return page.items[0]
    if found is None:
        found = await _exact(store, await _whole_id(store, given))
    if found is None:  # it went away in between
        raise NotFoundError(f"no thread {given!r}", hint="partita threads lists them")
    return found


async def _exact(store: "Store", id: str) -> "Thread | None":
    try:
        return await store.get_thread_by_id(id)
    except ConflictError as error:
        error.hint = "--resource OWNER says whose"
        raise


async def _whole_id(store: "Store", given: str) -> str:
    named = await store.read(threads_beginning_with, given, CANDIDATES + 1) if given else []
    starting = [Known(*one) for one in named]
    ids = {known.id for known in starting}
    if len(ids) == 1:
        return ids.pop()
    if ids:
        raise StoreError(
            f"{given!r} begins the ids of {'many' if len(ids) > CANDIDATES else len(ids)} threads",
            hint=_listed("give more of it", starting),
        )
    near = await _near(store, given)
    hint = _listed("did you mean", near) if near else "partita threads lists them"
    raise NotFoundError(f"no thread {given!r}", hint=hint)


async def _near(store: "Store", given: str) -> list[Known]:
    """Threads with an id like the one given, and threads that a search for it finds."""
    known = await store.read(_newest)
    close = get_close_matches(given, [one.id for one in known], n=3, cutoff=0.7)
    alike = [one for one in known if one.id in close]
    try:
        page = await store.list_threads(text=given, limit=5)
    except PartitaError:  # no text to search for: that is no second error
        return alike
    return alike + [Known(one.id, one.title) for one in page if one.id not in close]


def _newest(tx: Transaction) -> list[Known]:
    query = select(threads.c.id, threads.c.title).where(tx.mine(threads))
    rows = tx.rows(query.order_by(threads.c.updated_at.desc()).limit(COMPARED))
    return [Known(row.id, row.title) for row in rows]


def _listed(words: str, known: Sequence[Known]) -> str:
    lines = [f"\n       {one}" for one in known[:CANDIDATES]]
    more = "\n       …" if len(known) > CANDIDATES else ""
    return f"{words}:{''.join(lines)}{more}"


async def short_ids(store: "Store", ids: Collection[str]) -> Mapping[str, str]:
    """By id, as much of it as `find_thread` needs to know it from all others."""
    every = sorted(set(await store.read(_all_ids)) | set(ids))
    places = {known: place for place, known in enumerate(every)}
    return {known: _unlike(known, every, places[known]) for known in ids}


def _all_ids(tx: Transaction) -> list[str]:
    return [row.id for row in tx.rows(select(threads.c.id).where(tx.mine(threads)))]


def _unlike(id: str, every: Sequence[str], place: int) -> str:
    """The beginning of an id that its neighbours in the sorted list do not have."""
    length = SHORTEST
    for other in (place - 1, place + 1):
        if 0 <= other < len(every):
            shared = _shared(id, every[other])
            length = max(length, shared + 1)
    return id[:length]


def _shared(one: str, other: str) -> int:
    for place, (mine, its) in enumerate(zip(one, other, strict=False)):
        if mine.lower() != its.lower():  # as SQLite compares beginnings
            return place
    return min(len(one), len(other))
