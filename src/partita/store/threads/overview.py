"""The overview of a thread: its messages, times and usage as a value for display."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final

from msgspec.structs import replace
from sqlalchemy import Row, select

from partita.store.context import StoreContext
from partita.store.messages.queries import of_thread, part_times
from partita.store.messages.rows import read_messages
from partita.store.runs import rows as runs
from partita.store.schema import consumptions, messages
from partita.store.schema import runs as run_table
from partita.store.sql.transaction import Transaction
from partita.types.json import Json
from partita.types.messages import Message
from partita.types.overview import DiffHunk, FileDiff, ThreadDiff, ThreadOverview
from partita.views.git_hosts import repository_url
from partita.views.overview import OverviewBuilder, Tokens

from . import rows as threads
from .branches import outline
from .filter import GIT_BRANCH

GIT_REPOSITORY: Final = "gitRepository"
"""The member of the metadata with the remote of the git repository."""

PAGE: Final = 200
"""How many messages are read in one transaction."""


async def overview(store: StoreContext, thread_id: str, *, through: str | None = None) -> ThreadOverview:
    """What happened on the active branch, or on the branch through a message, down to its latest message."""
    reading = _Reading(thread_id, through)
    await reading.run(store)
    return await store.read(reading.overview)


async def diff(
    store: StoreContext,
    thread_id: str,
    *,
    through: str | None = None,
    path: str | None = None,
    lines: int | None = None,
) -> ThreadDiff:
    """The files that a branch changed, or the one at a path, with at most so many lines of each diff."""
    reading = _Reading(thread_id, through)
    await reading.run(store)
    files = reading.built.files.diffs()
    return ThreadDiff(
        files=tuple(_cut(one, lines) for one in files if path is None or one.path == path),
    )


def _cut(file: FileDiff, lines: int | None) -> FileDiff:
    """A diff with at most so many lines."""
    if lines is None or file.line_count <= lines:
        return file
    hunks: list[DiffHunk] = []
    for hunk in file.hunks:
        if lines <= 0:
            break
        hunks.append(replace(hunk, lines=hunk.lines[:lines]))
        lines -= len(hunk.lines)
    return replace(file, hunks=tuple(hunks))


class _Reading:
    """The messages of a branch, read in pages: between them it can be cancelled, and others are served."""

    built: OverviewBuilder
    _thread: Row[Any]
    _ids: Sequence[str]

    def __init__(self, thread_id: str, through: str | None) -> None:
        self._thread_id = thread_id
        self._through = through

    async def run(self, store: StoreContext) -> None:
        """Read all messages."""
        await store.read(self._start)
        for start in range(0, len(self._ids), PAGE):
            await store.read(self._add, self._ids[start : start + PAGE])

    def _start(self, tx: Transaction) -> None:
        self._thread = thread = threads.find(tx, self._thread_id)
        metadata = threads.from_row(thread).metadata or {}
        repository = repository_url(metadata.get(GIT_REPOSITORY))
        used, ends = _responses(tx, thread), _run_ends(tx, thread)
        self.built = OverviewBuilder(thread.project, repository, used, ends)
        rows = outline(tx, thread.id, through=self._through, internal=True).rows
        self._ids = [row.id for row in rows]

    def _add(self, tx: Transaction, ids: Sequence[str]) -> None:
        times = part_times(tx, self._thread_id, ids)
        for message, row in _page(tx, self._thread, ids):
            known = {path: (started, ended) for path, started, ended in times.get(message.id, ())}
            again = None if row.blobs is None else partial(_with_values, tx, row)
            self.built.add(message, known, again)

    def overview(self, tx: Transaction) -> ThreadOverview:
        """The overview of what was read."""
        branch: Json = (threads.from_row(self._thread).metadata or {}).get(GIT_BRANCH)
        is_running = runs.running(tx, self._thread_id) is not None
        return self.built.overview(is_running=is_running, branch=branch if isinstance(branch, str) else None)


def _page(tx: Transaction, thread: Row[Any], ids: Sequence[str]) -> Iterator[tuple[Message, Row[Any]]]:
    """Messages by number, with references to large values, and their rows."""
    query = select(messages).where(of_thread(thread), tx.among(messages.c.id, ids)).order_by(messages.c.seq)
    rows = tx.rows(query)
    return zip(read_messages(tx, rows, "reference"), rows, strict=True)


def _with_values(tx: Transaction, row: Row[Any]) -> Message:
    """A message with its large values."""
    return read_messages(tx, [row], "inline")[0]


def _run_ends(tx: Transaction, thread: Row[Any]) -> dict[str, datetime]:
    """When the runs of the thread ended. Of interrupted ones that may be when it was noticed."""
    c = run_table.c
    query = select(c.id, c.finished_at).where(
        c.owner == thread.owner,
        c.thread_id == thread.id,
        c.finished_at.is_not(None),
        c.status != "interrupted",
    )
    return {row.id: row.finished_at for row in tx.rows(query)}


def _responses(tx: Transaction, thread: Row[Any]) -> dict[str, list[Tokens]]:
    """What each response of the thread consumed, by its message."""
    c = consumptions.c
    query = select(c.message_id, c.input_tokens, c.output_tokens, c.cost).where(
        c.owner == thread.owner, c.thread_id == thread.id
    )
    found: defaultdict[str, list[Tokens]] = defaultdict(list)
    for row in tx.rows(query.order_by(c.time, c.key)):
        found[row.message_id or ""].append(Tokens(row.input_tokens, row.output_tokens, row.cost))
    return dict(found)
