"""Which run is meant: by its id, by the beginning of its id, or as the last one."""

from typing import TYPE_CHECKING

from sqlalchemy import select

from partita.errors import NotFoundError, StoreError
from partita.store.tables import runs
from partita.store.transaction import Transaction

from .lookup import LAST

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from partita.store.facade.store import Store
    from partita.types.runs import Run

CANDIDATES = 8
SHORTEST = 8


async def find_run(store: "Store", given: str) -> "Run":
    """The run that is meant; an error that names what may have been meant, if it is not clear."""
    if given == LAST:
        page = await store.list_runs(limit=1)
        if not page.items:
            raise NotFoundError("there are no runs yet", hint="partita import brings some in")
        return page.items[0]
    starting = await store.read(_starting_with, given) if given else []
    if given not in starting and len(starting) > 1:
        listed = "".join(f"\n       {known}" for known in starting[:CANDIDATES])
        more = "\n       …" if len(starting) > CANDIDATES else ""
        raise StoreError(
            f"{given!r} begins the ids of {'many' if more else len(starting)} runs",
            hint=f"give more of it:{listed}{more}",
        )
    run = await store.get_run(given if given in starting or not starting else starting[0])
    if run is None:
        raise NotFoundError(f"no run {given!r}", hint="partita runs lists them")
    return run


def _starting_with(tx: Transaction, start: str) -> list[str]:
    query = select(runs.c.id).where(tx.mine(runs), runs.c.id.startswith(start, autoescape=True))
    return [row.id for row in tx.rows(query.distinct().order_by(runs.c.id).limit(CANDIDATES + 1))]


async def short_run_ids(store: "Store", ids: "Collection[str]") -> "Mapping[str, str]":
    """By id, as much of it as `find_run` needs to know it from all others."""
    return await store.read(_short_ids, ids)


def _short_ids(tx: Transaction, ids: "Collection[str]") -> dict[str, str]:
    every = sorted({row.id.lower() for row in tx.rows(select(runs.c.id).where(tx.mine(runs)))} | _lower(ids))
    places = {known: place for place, known in enumerate(every)}
    shown: dict[str, str] = {}
    for one in ids:
        place = places[one.lower()]
        near = [every[other] for other in (place - 1, place + 1) if 0 <= other < len(every)]
        shown[one] = one[: max([SHORTEST, *(_shared(one.lower(), other) + 1 for other in near)])]
    return shown


def _lower(ids: "Collection[str]") -> set[str]:
    return {one.lower() for one in ids}  # as SQLite compares beginnings


def _shared(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((place for place, (mine, its) in enumerate(pairs) if mine != its), min(len(one), len(other)))
