"""The overview of a thread: its messages, times and usage as a value for display."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from msgspec.structs import replace
from sqlalchemy import Row, select

from partita.store.messages.queries import of_thread, part_times
from partita.store.messages.rows import read_messages
from partita.store.runs import rows as runs
from partita.store.schema import consumptions, messages
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
"""How many messages are read at once."""


def overview(tx: Transaction, thread_id: str, *, through: str | None = None) -> ThreadOverview:
    """What happened on the active branch, or on the branch through a message, down to its latest message."""
    thread = threads.find(tx, thread_id)
    built = _build(tx, thread, through)
    metadata = threads.from_row(thread).metadata or {}
    branch: Json = metadata.get(GIT_BRANCH)
    is_running = runs.running(tx, thread_id) is not None
    return built.overview(is_running=is_running, branch=branch if isinstance(branch, str) else None)


def diff(
    tx: Transaction,
    thread_id: str,
    *,
    through: str | None = None,
    path: str | None = None,
    lines: int | None = None,
) -> ThreadDiff:
    """The files that a branch changed, or the one at a path, with at most so many lines of each diff."""
    files = _build(tx, threads.find(tx, thread_id), through).files.diffs()
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


def _build(tx: Transaction, thread: Row[Any], through: str | None) -> OverviewBuilder:
    """All messages of a branch, read in pages."""
    metadata = threads.from_row(thread).metadata or {}
    built = OverviewBuilder(
        thread.project, repository_url(metadata.get(GIT_REPOSITORY)), _responses(tx, thread)
    )
    ids = [row.id for row in outline(tx, thread.id, through=through, internal=True).rows]
    for start in range(0, len(ids), PAGE):
        some = ids[start : start + PAGE]
        times = part_times(tx, thread.id, some)
        for message, row in _page(tx, thread, some):
            known = {path: (started, ended) for path, started, ended in times.get(message.id, ())}
            again = None if row.blobs is None else partial(_with_values, tx, row)
            built.add(message, known, again)
    return built


def _page(tx: Transaction, thread: Row[Any], ids: Sequence[str]) -> Iterator[tuple[Message, Row[Any]]]:
    """Messages by number, with references to large values, and their rows."""
    query = select(messages).where(of_thread(thread), tx.among(messages.c.id, ids)).order_by(messages.c.seq)
    rows = tx.rows(query)
    return zip(read_messages(tx, rows, "reference"), rows, strict=True)


def _with_values(tx: Transaction, row: Row[Any]) -> Message:
    """A message with its large values."""
    return read_messages(tx, [row], "inline")[0]


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
