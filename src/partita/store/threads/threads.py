"""`store.threads`: conversations."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, select

from partita.store.context import Namespace, reads, writes
from partita.store.ids import new_id
from partita.store.messages import queries as messages
from partita.store.runs import rows as runs
from partita.store.schema import messages as message_table
from partita.store.schema import parts
from partita.store.sql.statement import Statement
from partita.store.sql.transaction import Transaction
from partita.types.json import JsonObject
from partita.types.messages import Message
from partita.types.threads import Run, Thread

from . import branches, copies, facets, lists, rows


class ThreadContext(NamedTuple):
    """What a request about a thread needs: the thread, its active run, messages, and its pending calls."""

    thread: Thread | None
    run: Run | None
    messages: dict[str, Message]
    """Those of the requested messages that exist, by id."""
    waiting: dict[str, list[str]]
    """The ids of the calls that have no output or wait for approval, by message."""


_WAITING = Statement(
    select(message_table.c.id, parts.c.call_id)
    .join(parts, (parts.c.owner == message_table.c.owner) & (parts.c.message == message_table.c.key))
    .where(
        message_table.c.owner == bindparam("of_owner"),
        message_table.c.thread_id == bindparam("of_thread"),
        message_table.c.has_tool_calls,
        (parts.c.state == "approval-requested") | (parts.c.state == "input-available"),
    )
)


def thread_context(tx: Transaction, thread_id: str, message_ids: Sequence[str] = ()) -> ThreadContext:
    """A thread, its active run, some of its messages, and its calls that wait for an output or approval."""
    row = rows.find_or_none(tx, thread_id)
    if row is None:
        return ThreadContext(None, None, {}, {})
    found = [messages.get(tx, thread_id, one) for one in dict.fromkeys(message_ids)]
    waiting: dict[str, list[str]] = {}
    for part in _WAITING.rows(tx, of_owner=row.owner, of_thread=row.id):
        if part.call_id is not None:
            waiting.setdefault(part.id, []).append(part.call_id)
    known = {one.id: one for one in found if one is not None}
    return ThreadContext(rows.from_row(row), runs.running(tx, thread_id), known, waiting)


class Threads(Namespace):
    """Create, find, list, change, copy and delete threads."""

    async def create(
        self,
        id: str | None = None,
        *,
        title: str | None = None,
        metadata: JsonObject | None = None,
        agent: str | None = None,
        project: str | None = None,
        resource_id: str | None = None,
    ) -> Thread:
        """Create a thread. An id that exists already is a `ConflictError`."""
        thread = Thread(
            id=new_id() if id is None else id,
            title=title,
            metadata=metadata,
            agent=agent,
            project=project,
            resource_id=resource_id,
        )
        return await self._write(rows.create, thread)

    save = writes(rows.save)
    get = reads(rows.get)
    list = reads(lists.list_threads)
    latest = reads(lists.latest)
    agents = reads(lists.agents)
    page = reads(lists.numbered_page)
    summaries = reads(lists.list_summaries)
    summary = reads(lists.summary)
    with_display_titles = reads(lists.with_display_titles)
    starting_with = reads(lists.starting_with)
    facets = reads(facets.thread_facets)
    count = reads(rows.count)
    context = reads(thread_context)
    outline = reads(branches.outline)
    change = writes(rows.change)
    set_title = writes(rows.set_title)
    tag = writes(rows.change_tags)
    update_metadata = writes(rows.merge_metadata)
    delete = writes(rows.delete_thread)
    clone = writes(copies.clone)
    fork = writes(copies.fork)
    copy_excerpt = writes(copies.copy_excerpt)
    switch_branch = writes(branches.switch_branch)
