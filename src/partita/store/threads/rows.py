"""The rows of threads: found, created, changed and deleted."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from msgspec import UNSET, UnsetType
from sqlalchemy import (
    Row,
    and_,
    bindparam,
    delete,
    func,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from partita.errors import ConflictError, StoreError
from partita.store.blobs import blobs
from partita.store.data_migrations.progress import forget_thread
from partita.store.encoding import encode_json
from partita.store.projects import repository_of
from partita.store.schema import blob_refs, messages, run_blobs, runs, sources, thread_labels, threads
from partita.store.search import index as search_index
from partita.store.search.fields import NO_FIELDS, SearchEntry
from partita.store.sources import mark_removed
from partita.store.sql.statement import Statement
from partita.store.sql.texts import UNSTORABLE, required, storable
from partita.store.sql.transaction import Transaction, owner_of, require_row
from partita.store.usage import choose_counted, counted_in
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads
from partita.types.threads import Thread
from partita.types.value import Extra

TAGS: Final = "tags"
"""The member of the metadata that is the list of the tags of a thread."""

NOTE: Final = "note"
"""The member of the metadata with the user's note about a thread."""

RENAMED: Final = "renamed"
"""The member of the metadata that is `true` if an import must not replace the title of a thread."""

_OF_ANY_OWNER = select(threads).where(threads.c.id == bindparam("of_id")).limit(2)
_OF_OWNER = select(threads).where(
    threads.c.owner == bindparam("of_owner"), threads.c.id == bindparam("of_id")
)
_FIND_OF_ANY_OWNER = {False: Statement(_OF_ANY_OWNER), True: Statement(_OF_ANY_OWNER.with_for_update())}
_FIND_OF_OWNER = {False: Statement(_OF_OWNER), True: Statement(_OF_OWNER.with_for_update())}
"""By whether the row is locked, which SQLite ignores."""


def find(tx: Transaction, thread_id: str, resource_id: str | None = None, *, lock: bool = False) -> Row[Any]:
    """The row of a thread. Without an owner, an id that several owners have is an error."""
    return require_row(find_or_none(tx, thread_id, resource_id, lock=lock), "thread", thread_id)


def find_or_none(
    tx: Transaction, thread_id: str, resource_id: str | None = None, *, lock: bool = False
) -> Row[Any] | None:
    """The row of a thread, or `None`."""
    owner = tx.owner if resource_id is None else owner_of(tx, resource_id)
    if owner is not None:
        return _FIND_OF_OWNER[lock].row(tx, of_owner=owner, of_id=thread_id)
    rows = _FIND_OF_ANY_OWNER[lock].rows(tx, of_id=thread_id)
    if len(rows) > 1:
        raise ConflictError(
            f"several owners have a thread {thread_id!r}", hint="use the store of one: store.scoped(owner)"
        )
    return rows[0] if rows else None


def from_row(row: Row[Any]) -> Thread:
    """The thread of a row."""
    return Thread(
        id=row.id,
        resource_id=row.owner or None,
        title=row.title,
        metadata=None if row.metadata is None else loads(row.metadata),
        agent=row.agent,
        project=row.project,
        active_leaf_id=row.active_leaf_id,
        message_count=row.message_count,
        created_at=row.created_at,
        updated_at=row.updated_at,
        extra=None if row.extra is None else Extra(loads(row.extra)),
    )


def create(tx: Transaction, thread: Thread) -> Thread:
    """Create a thread. An id that exists already is a `ConflictError`."""
    required(thread.id, "thread id")
    row = _insert(tx, owner_of(tx, thread.resource_id), thread)
    if row is None:
        raise ConflictError(
            f"thread {thread.id!r} exists already", hint="choose another id, or change that thread"
        )
    return from_row(row)


def find_or_create(tx: Transaction, thread: Thread) -> Row[Any]:
    """The locked row of a thread, which is created if there is none."""
    required(thread.id, "thread id")
    row = find_or_none(tx, thread.id, thread.resource_id, lock=True)
    if row is None:
        row = _insert(tx, owner_of(tx, thread.resource_id), thread)
    return row or find(tx, thread.id, thread.resource_id, lock=True)  # another process has just created it


def _insert_unless_taken(insert: Any) -> Statement:
    new = {column.name: bindparam(f"new_{column.name}", type_=column.type) for column in threads.columns}
    return Statement(insert(threads).values(new).on_conflict_do_nothing().returning(threads))


_INSERT = {True: _insert_unless_taken(sqlite.insert), False: _insert_unless_taken(postgresql.insert)}


def _insert(tx: Transaction, owner: str, thread: Thread) -> Row[Any] | None:
    """The row of a new thread; `None` if the id exists already."""
    created = thread.created_at or tx.now
    key = tx.next_keys("threads", 1)[0]
    fields: dict[str, Any] = {
        "key": key,
        "owner": owner,
        "id": thread.id,
        "active_leaf_id": None,
        "next_seq": 1,
        "message_count": 0,
        "error_count": 0,
        "created_at": created,
        "updated_at": thread.updated_at or created,
        "changed_at": tx.now,
        **own_fields(thread),
    }
    row = _INSERT[tx.is_sqlite].row(tx, **{f"new_{name}": value for name, value in fields.items()})
    if row is not None:
        _write_derived(tx, owner, key, thread)
    return row


def own_fields(thread: Thread) -> dict[str, Any]:
    """The columns that the caller sets; the store computes the others."""
    return {
        "title": storable(thread.title, "the title"),
        "metadata": None if thread.metadata is None else encode_json(thread.metadata, "$.metadata"),
        "agent": storable(thread.agent, "the agent"),
        "project": storable(thread.project, "the project"),
        "repository": storable(repository_of(thread.project, thread.metadata), "the repository"),
        "extra": None if thread.extra is None else encode_json(dict(thread.extra), "$"),
    }


def _write_derived(tx: Transaction, owner: str, key: int, thread: Thread) -> None:
    """The title in the search index, and the scalars of the metadata as labels."""
    if thread.title:
        search_index.add(tx, [SearchEntry(owner, -key, thread.title, NO_FIELDS)])
    tx.insert(thread_labels, [(owner, thread.id, name, value) for name, value in labels(thread.metadata)])


def labels(metadata: JsonObject | None) -> list[tuple[str, str]]:
    """The scalars of metadata that a filter can select, as names and JSON texts; and each tag, as a name."""
    if metadata is None:
        return []
    found = {
        name: label(value)
        for name, value in metadata.items()
        if not isinstance(value, (list, dict)) and not UNSTORABLE.search(name)
    }
    found |= {tag_label(tag): label(True) for tag in tags_of(metadata) if not UNSTORABLE.search(tag)}
    return list(found.items())


def tags_of(metadata: JsonObject | None) -> tuple[str, ...]:
    """The tags in the metadata of a thread."""
    tags = None if metadata is None else metadata.get(TAGS)
    return tuple(tag for tag in tags if isinstance(tag, str)) if is_array(tags) else ()


def tag_label(tag: str) -> str:
    """The name of the label of a tag."""
    return f"tag:{tag}"


def label(value: Json) -> str:
    """A scalar as labels hold it: its JSON text."""
    return dumps(value).decode()


def rewrite_derived(tx: Transaction, row: Row[Any]) -> None:
    """Replace the title in the search index, the labels and the repository of a thread."""
    search_index.delete(tx, [(row.owner, -row.key)])
    of_thread = (thread_labels.c.owner == row.owner, thread_labels.c.thread_id == row.id)
    tx.run(delete(thread_labels).where(*of_thread))
    thread = from_row(row)
    _write_derived(tx, row.owner, row.key, thread)
    repository = repository_of(thread.project, thread.metadata)
    if repository != row.repository:
        same = (threads.c.owner == row.owner, threads.c.id == row.id)
        tx.run(update(threads).where(*same).values(repository=repository))


def save(tx: Transaction, thread: Thread) -> Thread:
    """Create a thread, or update the one with its id. The store keeps counters and active leaf itself."""
    required(thread.id, "thread id")
    row = find_or_none(tx, thread.id, owner_of(tx, thread.resource_id))
    if row is None:
        return create(tx, thread)
    times = {
        "created_at": thread.created_at or row.created_at,
        "updated_at": thread.updated_at or row.updated_at,
    }
    return _change(tx, row, {**own_fields(thread), **times})


def _change(tx: Transaction, row: Row[Any], fields: Mapping[str, Any]) -> Thread:
    change_row(tx, row, fields)
    changed = find(tx, row.id, row.owner)
    if {"title", "metadata"} & fields.keys():
        rewrite_derived(tx, changed)
    return from_row(changed)


def change_row(tx: Transaction, row: Row[Any], fields: Mapping[str, Any]) -> None:
    """Change columns of a thread and the time of the change, but not what is derived from the columns."""
    changed = {**fields, "changed_at": tx.now}
    values = {f"new_{name}": value for name, value in changed.items()}
    _update(tuple(changed)).run(tx, of_owner=row.owner, of_id=row.id, **values)


@cache
def _update(names: tuple[str, ...]) -> Statement:
    same = (threads.c.owner == bindparam("of_owner"), threads.c.id == bindparam("of_id"))
    new = {name: bindparam(f"new_{name}", type_=threads.c[name].type) for name in names}
    return Statement(update(threads).where(*same).values(new))


def change(
    tx: Transaction,
    thread_id: str,
    *,
    title: str | UnsetType | None = UNSET,
    metadata: JsonObject | None = None,
    touch: bool = False,
) -> Thread:
    """Change the title of a thread, and members of its metadata; a member that is `None` is removed.

    The time of its last message stays, unless `touch` sets it to now. An import of the session does not
    replace a title that was set here.
    """
    row = find(tx, thread_id, lock=True)
    fields: dict[str, Any] = {"updated_at": tx.now} if touch else {}
    known: Json = {} if row.metadata is None else loads(row.metadata)
    stored: JsonObject = known if is_object(known) else {}
    if title is not UNSET:
        fields["title"] = storable(title, "the title")
        if (RENAMED in stored) != (title is not None) and _is_imported(tx, row, stored):
            metadata = {RENAMED: None if title is None else True, **(metadata or {})}
    if metadata is not None:
        merged = {**stored, **metadata}
        kept = {name: value for name, value in merged.items() if value is not None}
        fields["metadata"] = encode_json(kept, "$.metadata")
    return _change(tx, row, fields) if fields else from_row(row)


def _is_imported(tx: Transaction, row: Row[Any], metadata: JsonObject) -> bool:
    """Whether a thread is a session of an agent, or was imported from another file."""
    of_thread = (sources.c.owner == row.owner, sources.c.thread_id == row.id)
    return "sessionId" in metadata or tx.row(select(sources.c.path).where(*of_thread).limit(1)) is not None


def change_tags(
    tx: Transaction, thread_id: str, *, add: Sequence[str] = (), remove: Sequence[str] = ()
) -> Thread:
    """Add tags to a thread, and remove others. They are a list in its metadata."""
    for tag in (*add, *remove):
        if not tag.strip() or tag != tag.strip() or "," in tag or not tag.isprintable():
            raise StoreError(
                f"{tag!r} is not a tag", hint="use words without commas, line breaks and blanks around them"
            )
    row = find(tx, thread_id, lock=True)
    tags = dict.fromkeys((*tags_of(from_row(row).metadata), *add))
    kept = [tag for tag in tags if tag not in remove]
    return change(tx, thread_id, metadata={TAGS: kept or None})


def set_title(tx: Transaction, thread_id: str, title: str | None) -> Thread:
    """Change the title of a thread. The time of its last message stays."""
    return change(tx, thread_id, title=title)


def merge_metadata(tx: Transaction, thread_id: str, changes: JsonObject) -> Thread:
    """Change members of the metadata of a thread; `None` removes one. The time of its last message stays."""
    return change(tx, thread_id, metadata=changes)


def get(tx: Transaction, thread_id: str) -> Thread | None:
    """The thread with that id, or `None`."""
    row = find_or_none(tx, thread_id)
    return None if row is None else from_row(row)


def delete_thread(tx: Transaction, thread_id: str) -> bool:
    """Delete a thread with its messages and runs, and blobs that only it refers to.

    Responses that it shares with other threads are counted in those from now on. If it was imported from the
    log of an agent, an import only creates it again if the log is named.
    """
    row = find_or_none(tx, thread_id, lock=True)
    if row is None:
        return False
    mark_removed(tx, row)
    discard_thread(tx, thread_id)
    return True


def delete_expired(tx: Transaction, thread_id: str) -> None:
    """Delete a thread that a policy does not keep: an import creates it again if its log changes."""
    mark_removed(tx, find(tx, thread_id, lock=True), until_changed=True)
    discard_thread(tx, thread_id)


def discard_thread(tx: Transaction, thread_id: str) -> None:
    """Delete a thread whose session is in another thread now: an import may create it again."""
    row = find(tx, thread_id, lock=True)
    of_thread = and_(messages.c.owner == row.owner, messages.c.thread_id == row.id)
    keys = [key for (key,) in tx.rows(select(messages.c.key).where(of_thread))]
    referred = _referred_blobs(tx, row)
    responses = counted_in(tx, row.owner, row.id)
    search_index.delete(tx, [(row.owner, key) for key in keys] + [(row.owner, -row.key)])
    tx.run(delete(threads).where(threads.c.owner == row.owner, threads.c.id == row.id))
    blobs.drop_unreferred(tx, row.owner, referred)
    choose_counted(tx, row.owner, responses)
    forget_thread(tx, row.owner, row.id)


def _referred_blobs(tx: Transaction, thread: Row[Any]) -> set[str]:
    """The hashes that the messages and logs of a thread refer to."""
    of_message = and_(messages.c.owner == blob_refs.c.owner, messages.c.key == blob_refs.c.message)
    of_run = and_(runs.c.owner == run_blobs.c.owner, runs.c.id == run_blobs.c.run_id)
    by_messages = select(blob_refs.c.hash).join(messages, of_message)
    by_logs = select(run_blobs.c.hash).join(runs, of_run)
    rows = [
        *tx.rows(by_messages.where(messages.c.owner == thread.owner, messages.c.thread_id == thread.id)),
        *tx.rows(by_logs.where(runs.c.owner == thread.owner, runs.c.thread_id == thread.id)),
    ]
    return {row.hash for row in rows}


def count(tx: Transaction) -> int:
    """The number of threads."""
    number: int = tx.run(select(func.count()).select_from(threads).where(tx.owned(threads))).scalar_one()
    return number
