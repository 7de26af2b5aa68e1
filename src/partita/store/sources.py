"""`store.sources`: the files that messages were imported from, and how far each has been read."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace
from sqlalchemy import Row, delete, or_, select

from partita.types.json import Json, dumps, is_object, loads

from .context import Namespace, reads, writes
from .schema import runs, sources
from .sql.texts import required, storable
from .sql.transaction import Transaction, insert_text, owner_of
from .values import Source

SESSION: Final = "session:"
"""The start of paths of sources that are a session of an agent, not a file."""

REMOVED: Final = "removed:"
"""The start of paths of sources that are a thread which was deleted: its session is not imported again."""

REMOVED_STATE: Final[Json] = {"removed": True}
"""The state of a file whose thread was deleted."""

STAMP: Final = ("size", "mtime")
"""The members of the state of a file that change when it is written."""

LOG_RUN: Final = '"log":'
"""In the metadata of runs that were imported from the log of an agent."""

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


# Threads that were deleted


def mark_removed(tx: Transaction, thread: Row[Any], *, until_changed: bool = False) -> None:
    """Keep a session whose thread is deleted from being imported again while its log exists.

    Its files keep their path and identity. What was read of them is forgotten. With `until_changed` they also
    keep their size and time, and the session is imported again when they change.
    """
    of_owner = sources.c.owner == thread.owner
    links = select(sources.c.path).where(
        of_owner,
        sources.c.path.startswith(SESSION, autoescape=True),
        sources.c.state == dumps({"threadId": thread.id}).decode(),
    )
    linked = [row.path for row in tx.rows(links)]
    ids = [thread.id, *(path.removeprefix(SESSION) for path in linked)]
    tx.run(delete(sources).where(of_owner, sources.c.path.in_(linked)))
    files = [_source(row) for row in tx.rows(select(sources).where(of_owner, sources.c.thread_id.in_(ids)))]
    marks = [replace(file, offset=0, hash=None, state=_removed_state(file, until_changed)) for file in files]
    if not until_changed and (files or linked or _is_imported(tx, thread)):
        marks += [Source(path=f"{REMOVED}{one}", agent=thread.agent, state=REMOVED_STATE) for one in ids]
    save_sources(tx, marks, thread.owner)


def _removed_state(file: Source, until_changed: bool) -> Json:
    if not until_changed or not is_object(file.state):
        return REMOVED_STATE
    return {"removed": True, **{name: file.state[name] for name in STAMP if name in file.state}}


def _is_imported(tx: Transaction, thread: Row[Any]) -> bool:
    """Whether a thread is a session of an agent, or a sub-agent of one."""
    metadata: Json = None if thread.metadata is None else loads(thread.metadata)
    if is_object(metadata) and "parentThreadId" in metadata:
        return True
    of_thread = (runs.c.owner == thread.owner, runs.c.thread_id == thread.id)
    found = select(runs.c.id).where(*of_thread, runs.c.metadata.contains(LOG_RUN, autoescape=True)).limit(1)
    return tx.row(found) is not None


def removed_threads(tx: Transaction, thread_ids: Sequence[str]) -> set[str]:
    """Those of the threads that were deleted here."""
    paths = [f"{REMOVED}{one}" for one in thread_ids]
    query = select(sources.c.path).where(tx.owned(sources), tx.among(sources.c.path, paths))
    return {row.path.removeprefix(REMOVED) for row in tx.rows(query)}


def restore_removed(tx: Transaction, thread_ids: Sequence[str]) -> None:
    """Let the sessions of deleted threads be imported again."""
    marks = tx.among(sources.c.path, [f"{REMOVED}{one}" for one in thread_ids])
    files = tx.among(sources.c.thread_id, thread_ids) & (sources.c.state.startswith('{"removed":true'))
    tx.run(delete(sources).where(tx.owned(sources), or_(marks, files)))


def is_marked(source: Source) -> bool:
    """Whether the thread that a file was read into was deleted."""
    return is_object(source.state) and source.state.get("removed") is True


def is_removed(source: Source, size: int, mtime: int) -> bool:
    """Whether a file that has this size and time now is left out because its thread was deleted."""
    state = source.state
    if not is_marked(source) or not is_object(state):
        return False
    return all(state.get(name, now) == now for name, now in zip(STAMP, (size, mtime), strict=True))


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
