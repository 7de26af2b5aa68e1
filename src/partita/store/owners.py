"""Delete everything that belongs to an owner."""

from dataclasses import dataclass

from sqlalchemy import Table, delete, func, select

from .data_migrations.progress import forget_owner
from .schema import api_keys, blobs, counters, messages, runs, sources, threads
from .search import index as search_index
from .sql.texts import required
from .sql.transaction import Transaction, owner_of


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerReport:
    """What an owner has, or had before it was deleted."""

    resource_id: str
    threads: int
    messages: int
    runs: int
    blobs: int
    sources: int
    keys: int


def describe_owner(tx: Transaction, resource_id: str) -> OwnerReport:
    """What an owner has."""
    owner = required(owner_of(tx, resource_id), "resource id")

    def count(table: Table) -> int:
        number: int = tx.run(
            select(func.count()).select_from(table).where(table.c.owner == owner)
        ).scalar_one()
        return number

    return OwnerReport(
        resource_id=owner,
        threads=count(threads),
        messages=count(messages),
        runs=count(runs),
        blobs=count(blobs),
        sources=count(sources),
        keys=count(api_keys),
    )


def delete_owner(tx: Transaction, resource_id: str) -> OwnerReport:
    """Delete the threads of an owner with all that they contain, and blobs, sources, keys and counters.

    The threads can be imported again.
    """
    report = describe_owner(tx, resource_id)
    owner = report.resource_id
    of_messages = [key for (key,) in tx.rows(select(messages.c.key).where(messages.c.owner == owner))]
    of_titles = [-key for (key,) in tx.rows(select(threads.c.key).where(threads.c.owner == owner))]
    search_index.delete(tx, [(owner, key) for key in (*of_messages, *of_titles)])
    for table in (threads, blobs, sources, api_keys):  # the rows of other tables refer to threads
        tx.run(delete(table).where(table.c.owner == owner))
    _delete_counters(tx, owner)
    forget_owner(tx, owner)
    return report


def _delete_counters(tx: Transaction, owner: str) -> None:
    """Delete the totals of the budgets of an owner: `cost 41 ada`."""
    names = [name for (name,) in tx.rows(select(counters.c.name)) if name.split(" ", 2)[2:] == [owner]]
    tx.run(delete(counters).where(tx.among(counters.c.name, names)))
