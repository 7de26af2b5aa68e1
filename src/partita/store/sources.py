"""Sources: the files that messages were imported from, and how far each has been read."""

from typing import Any

from sqlalchemy import Row, delete, insert, select, update

from partita.types.json import dumps, loads

from .owners import owner_of
from .tables import sources
from .texts import required, storable
from .transaction import Transaction
from .values import Source


def save(tx: Transaction, source: Source, resource_id: str | None) -> Source:
    """Write how far a file has been read."""
    owner = owner_of(tx, resource_id)
    own = (sources.c.owner == owner, sources.c.path == required(source.path, "path"))
    fields = {
        "identity": storable(source.identity, "the identity"),
        "agent": storable(source.agent, "the agent"),
        "thread_id": storable(source.thread_id, "the thread id"),
        "offset": source.offset,
        "hash": storable(source.hash, "the hash"),
        "state": None if source.state is None else dumps(source.state).decode(),
        "updated_at": source.updated_at or tx.now,
    }
    if tx.run(update(sources).where(*own).values(**fields)).rowcount == 0:
        tx.run(insert(sources).values(owner=owner, path=source.path, **fields))
    row = tx.row(select(sources).where(*own))
    assert row is not None, "just written"
    return _source(row)


def get(tx: Transaction, path: str) -> Source | None:
    """The source of a path, or `None`."""
    row = tx.row(select(sources).where(sources.c.path == path, tx.mine(sources)))
    return None if row is None else _source(row)


def list_all(tx: Transaction, agent: str | None) -> tuple[Source, ...]:
    """All sources, or those of an agent, by path."""
    query = select(sources).where(tx.mine(sources)).order_by(sources.c.path)
    rows = tx.rows(query if agent is None else query.where(sources.c.agent == agent))
    return tuple(map(_source, rows))


def forget(tx: Transaction, path: str) -> bool:
    """Forget a source; its messages stay."""
    return tx.run(delete(sources).where(sources.c.path == path, tx.mine(sources))).rowcount > 0


def _source(row: Row[Any]) -> Source:
    return Source(
        path=row.path,
        identity=row.identity,
        agent=row.agent,
        thread_id=row.thread_id,
        offset=row.offset,
        hash=row.hash,
        state=None if row.state is None else loads(row.state),
        updated_at=row.updated_at,
    )
