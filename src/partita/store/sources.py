"""`store.sources`: the files that messages were imported from, and how far each has been read."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, delete, select

from partita.types.json import dumps, loads

from .context import Namespace, reads, writes
from .schema import sources
from .sql.texts import required, storable
from .sql.transaction import Transaction, insert_text, owner_of
from .values import Source

_UPDATED = [column.name for column in sources.columns if column.name not in ("owner", "path")]
UPSERT = f"{insert_text(sources)} ON CONFLICT (owner, path) DO UPDATE SET " + ", ".join(
    f'"{name}" = excluded."{name}"' for name in _UPDATED
)


def save_source(tx: Transaction, source: Source, *, resource_id: str | None = None) -> Source:
    """Save how far a file has been read."""
    owner = owner_of(tx, resource_id)
    save_sources(tx, [source], owner)
    row = tx.row(select(sources).where(sources.c.owner == owner, sources.c.path == source.path))
    assert row is not None, "just written"
    return _source(row)


def save_sources(tx: Transaction, many: Sequence[Source], owner: str) -> None:
    """Save how far files have been read."""
    tx.many(
        UPSERT,
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


def get_source(tx: Transaction, path: str) -> Source | None:
    """The source of a path, or `None`."""
    row = tx.row(select(sources).where(sources.c.path == path, tx.owned(sources)))
    return None if row is None else _source(row)


def list_sources(
    tx: Transaction, *, agent: str | None = None, thread_id: str | None = None
) -> tuple[Source, ...]:
    """All sources, or those of an agent, or those that were read into a thread, by path."""
    query = select(sources).where(tx.owned(sources)).order_by(sources.c.path)
    if agent is not None:
        query = query.where(sources.c.agent == agent)
    if thread_id is not None:
        query = query.where(sources.c.thread_id == thread_id)
    return tuple(map(_source, tx.rows(query)))


def delete_source(tx: Transaction, path: str) -> bool:
    """Delete a source. Its messages stay."""
    return tx.run(delete(sources).where(sources.c.path == path, tx.owned(sources))).rowcount > 0


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


class Sources(Namespace):
    """The files that messages were imported from, and how far each has been read."""

    save = writes(save_source)
    get = reads(get_source)
    list = reads(list_sources)
    delete = writes(delete_source)
