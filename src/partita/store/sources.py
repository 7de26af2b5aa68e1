"""Sources: the files that messages were imported from, and how far each has been read."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, delete, select

from partita.types.json import dumps, loads

from .owners import owner_of
from .tables import sources
from .texts import required, storable
from .transaction import Transaction, insert_text
from .values import Source

_CHANGED = [column.name for column in sources.columns if column.name not in ("owner", "path")]
AGAIN = " ON CONFLICT (owner, path) DO UPDATE SET " + ", ".join(
    f'"{name}" = excluded."{name}"' for name in _CHANGED
)


def save(tx: Transaction, source: Source, resource_id: str | None) -> Source:
    """Write how far a file has been read."""
    owner = owner_of(tx, resource_id)
    save_many(tx, [source], owner)
    row = tx.row(select(sources).where(sources.c.owner == owner, sources.c.path == source.path))
    assert row is not None, "just written"
    return _source(row)


def save_many(tx: Transaction, many: Sequence[Source], owner: str) -> None:
    """Write how far files have been read."""
    tx.many(
        insert_text(sources) + AGAIN,
        [
            (
                owner,
                required(source.path, "path"),
                storable(source.identity, "the identity"),
                storable(source.agent, "the agent"),
                storable(source.thread_id, "the thread id"),
                source.offset,
                storable(source.hash, "the hash"),
                None if source.state is None else dumps(source.state).decode(),
                tx.instant(source.updated_at or tx.now),
            )
            for source in many
        ],
    )


def get(tx: Transaction, path: str) -> Source | None:
    """The source of a path, or `None`."""
    row = tx.row(select(sources).where(sources.c.path == path, tx.mine(sources)))
    return None if row is None else _source(row)


def list_all(tx: Transaction, agent: str | None) -> tuple[Source, ...]:
    """All sources, or those of an agent, by path."""
    query = select(sources).where(tx.mine(sources)).order_by(sources.c.path)
    rows = tx.rows(query if agent is None else query.where(sources.c.agent == agent))
    return tuple(map(_source, rows))


def list_of_thread(tx: Transaction, thread_id: str) -> tuple[Source, ...]:
    """The sources that were read into a thread, by path."""
    query = select(sources).where(tx.mine(sources), sources.c.thread_id == thread_id).order_by(sources.c.path)
    return tuple(map(_source, tx.rows(query)))


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
