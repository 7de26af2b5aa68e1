"""The store without `await`, for scripts and notebooks. Written by `blocking.source`: do not edit."""

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from types import TracebackType
from typing import Literal

from msgspec import UNSET, UnsetType

from partita.store.calls import Change
from partita.store.excerpts import Excerpt
from partita.store.facade.messages import Role
from partita.store.facade.store import Store
from partita.store.facets import Facets
from partita.store.glances import Glance
from partita.store.growth import GrowthPoint
from partita.store.log.retention import Retention, RetentionReport
from partita.store.log.run_log import LogEntry, LogRecord
from partita.store.log.sealing import SealReport
from partita.store.numbered_messages import NumberedMessages, NumberedQuery
from partita.store.numbered_pages import Numbered, NumberedPage, ThreadTime
from partita.store.opening import open_store
from partita.store.run_stats import RunOrder, RunStat
from partita.store.search.search import Hit
from partita.store.stat_sources import StatFilter
from partita.store.summaries import ThreadSummary
from partita.store.thread_stats import ThreadOrder, ThreadStat
from partita.store.tool_stats import ToolStat
from partita.store.turns import Begun, Busy, Ending, Fold, Signal
from partita.store.values import (
    ApiKey,
    Blob,
    BlobMode,
    Branch,
    By,
    ConsumptionRecord,
    KeyRole,
    NewKey,
    Order,
    Page,
    Source,
    Stat,
    StoredPart,
    ThreadFilter,
    UsageTotals,
)
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, Message, MessageType, Part
from partita.types.runs import Run, RunStatus
from partita.types.threads import Thread
from partita.types.usage import Usage

from .portal import Portal


class SyncStore:
    """`Store`, each method waiting for its answer. Made by `open_store_sync`."""

    def __init__(self, portal: Portal, store: Store) -> None:
        self._portal = portal
        self._store = store

    def __enter__(self) -> "SyncStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write what waits, and let go of the database."""
        self._portal.wait(self._store.close())
        self._portal.close()

    def scoped(self, resource_id: str) -> "SyncStore":
        """The same store, for one owner: others' rows cannot be seen or touched through it."""
        return SyncStore(self._portal, self._store.scoped(resource_id))

    def follow(self, run_id: str, *, after: int = 0) -> Iterator[Sequence[LogRecord]]:
        """What a run's log holds after a number, then what comes, from whichever process, until it ends."""
        return self._portal.iterate(self._store.follow(run_id, after=after))

    def create_thread(
        self,
        id: str | None = None,
        *,
        title: str | None = None,
        metadata: JsonObject | None = None,
        agent: str | None = None,
        project: str | None = None,
        resource_id: str | None = None,
    ) -> Thread:
        """A new thread; an id that is taken is a `ConflictError`."""
        return self._portal.wait(
            self._store.create_thread(
                id, title=title, metadata=metadata, agent=agent, project=project, resource_id=resource_id
            )
        )

    def save_thread(self, thread: Thread) -> Thread:
        """Write a thread, new or known by its id. Counters and the active leaf are the store's own."""
        return self._portal.wait(self._store.save_thread(thread))

    def get_thread_by_id(self, thread_id: str) -> Thread | None:
        """The thread of that id, or `None`."""
        return self._portal.wait(self._store.get_thread_by_id(thread_id))

    def list_threads(
        self,
        *,
        resource_id: str | None = None,
        agent: str | None = None,
        project: str | None = None,
        text: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        has_errors: bool | None = None,
        metadata: Mapping[str, Json] | None = None,
        model: str | None = None,
        tool: str | None = None,
        pinned: bool | None = None,
        ids: Sequence[str] | None = None,
        limit: int = 50,
        cursor: str | None = None,
        order: Order = "desc",
    ) -> Page[Thread]:
        """Threads by when something was last said in them, newest first.

        `text` is searched in titles and messages. With `model` or `tool`: in which it answered, or was
        called. `pinned` is a member of the metadata.
        """
        return self._portal.wait(
            self._store.list_threads(
                resource_id=resource_id,
                agent=agent,
                project=project,
                text=text,
                since=since,
                until=until,
                has_errors=has_errors,
                metadata=metadata,
                model=model,
                tool=tool,
                pinned=pinned,
                ids=ids,
                limit=limit,
                cursor=cursor,
                order=order,
            )
        )

    def list_summaries(
        self,
        wanted: ThreadFilter | None = None,
        *,
        limit: int = 50,
        cursor: str | None = None,
        order: Order = "desc",
    ) -> Page[ThreadSummary]:
        """Threads as `list_threads` gives them, each with what a list says of it."""
        return self._portal.wait(self._store.list_summaries(wanted, limit=limit, cursor=cursor, order=order))

    def thread_facets(self, wanted: ThreadFilter | None = None) -> Facets:
        """How many threads there are by agent, project, model, tool and time, under a filter."""
        return self._portal.wait(self._store.thread_facets(wanted))

    def list_threads_by_number(
        self,
        page: NumberedPage,
        *,
        by: ThreadTime = "created_at",
        order: Order = "desc",
        resource_id: str | None = None,
        metadata: Mapping[str, Json] | None = None,
    ) -> Numbered[Thread]:
        """A page of threads by its number, and how many threads there are."""
        return self._portal.wait(
            self._store.list_threads_by_number(
                page, by=by, order=order, resource_id=resource_id, metadata=metadata
            )
        )

    def count_threads(self) -> int:
        """How many threads there are."""
        return self._portal.wait(self._store.count_threads())

    def set_title(self, thread_id: str, title: str | None) -> Thread:
        """Give a thread another title."""
        return self._portal.wait(self._store.set_title(thread_id, title))

    def update_metadata(self, thread_id: str, changes: JsonObject) -> Thread:
        """Change members of a thread's metadata; `None` removes one."""
        return self._portal.wait(self._store.update_metadata(thread_id, changes))

    def delete_thread(self, thread_id: str) -> bool:
        """Delete a thread and all that hangs on it; blobs nobody else refers to go too."""
        return self._portal.wait(self._store.delete_thread(thread_id))

    def clone_thread(self, thread_id: str, *, new_id: str | None = None, title: str | None = None) -> Thread:
        """A copy of a thread with all its branches; its metadata says under `clone` where it is from."""
        return self._portal.wait(self._store.clone_thread(thread_id, new_id=new_id, title=title))

    def copy_excerpt(
        self,
        thread_id: str,
        wanted: Excerpt,
        *,
        new_id: str | None = None,
        title: str | None = None,
        metadata: JsonObject | None = None,
    ) -> Thread:
        """A new thread with copies, under new ids, of what is shown of a thread, or of some of it."""
        return self._portal.wait(
            self._store.copy_excerpt(thread_id, wanted, new_id=new_id, title=title, metadata=metadata)
        )

    def fork_thread(
        self, thread_id: str, message_id: str, *, new_id: str | None = None, title: str | None = None
    ) -> Thread:
        """A new thread with everything up to a message, on the branch that leads to it."""
        return self._portal.wait(self._store.fork_thread(thread_id, message_id, new_id=new_id, title=title))

    def switch_branch(self, thread_id: str, message_id: str) -> Thread:
        """Make the branch through a message the active one; below it, the latest answers."""
        return self._portal.wait(self._store.switch_branch(thread_id, message_id))

    def save_messages(
        self, messages: Sequence[Message], *, thread_id: str | None = None
    ) -> tuple[Message, ...]:
        """Write messages, all or none, and give them as stored: with `seq`, parent, times.

        A message whose id is known in its thread is changed in place, a new one is added at the end of the
        active branch (or under its `parent_id`; `""` starts a new root). The thread must exist.
        """
        return self._portal.wait(self._store.save_messages(messages, thread_id=thread_id))

    def edit_message(self, thread_id: str, message: Message) -> Message:
        """Store another message under the id of one: a new branch beside it, with nothing behind it yet.

        The one that was there stays, with all that followed it, under a new id. A run at work is a
        `BusyError`.
        """
        return self._portal.wait(self._store.edit_message(thread_id, message))

    def list_messages(
        self,
        thread_id: str,
        *,
        limit: int | None = 50,
        order: Order = "asc",
        cursor: str | None = None,
        before: int | None = None,
        after: int | None = None,
        around: str | None = None,
        previous: int = 10,
        following: int = 10,
        since: datetime | None = None,
        until: datetime | None = None,
        roles: Sequence[Role] = (),
        types: Sequence[MessageType] = (),
        internal: bool | None = False,
        branch: Branch = "active",
        blobs: BlobMode = "inline",
    ) -> Page[Message]:
        """Messages of a thread, by number.

        `before` and `after` are numbers (`seq`), `since` (inclusive) and `until` times. `around` is the id of
        a message to give with `previous` and `following` neighbours instead of a page. `internal=None` gives
        talk and internal turns alike. With `blobs="reference"` large values stay `blob:` urls.
        """
        return self._portal.wait(
            self._store.list_messages(
                thread_id,
                limit=limit,
                order=order,
                cursor=cursor,
                before=before,
                after=after,
                around=around,
                previous=previous,
                following=following,
                since=since,
                until=until,
                roles=roles,
                types=types,
                internal=internal,
                branch=branch,
                blobs=blobs,
            )
        )

    def list_messages_by_number(self, thread_id: str, wanted: NumberedQuery) -> NumberedMessages:
        """A page of the active branch by its number, and how many messages there are; by time."""
        return self._portal.wait(self._store.list_messages_by_number(thread_id, wanted))

    def get_message(self, thread_id: str, message_id: str, *, blobs: BlobMode = "inline") -> Message | None:
        """The message of that id in a thread, or `None`."""
        return self._portal.wait(self._store.get_message(thread_id, message_id, blobs=blobs))

    def update_part(self, thread_id: str, message_id: str, index: int, part: Part) -> Message:
        """Put another part in the place of one."""
        return self._portal.wait(self._store.update_part(thread_id, message_id, index, part))

    def delete_messages(self, thread_id: str, message_ids: Sequence[str]) -> int:
        """Delete messages of a thread; what followed them follows what they followed. Gives how many."""
        return self._portal.wait(self._store.delete_messages(thread_id, message_ids))

    def delete_messages_by_id(self, message_ids: Sequence[str], *, thread_id: str | None = None) -> int:
        """Delete messages of whatever threads; an id that several threads have is a `ConflictError`."""
        return self._portal.wait(self._store.delete_messages_by_id(message_ids, thread_id=thread_id))

    def find_parts(
        self,
        *,
        thread_id: str | None = None,
        types: Sequence[str] = (),
        tool: str | None = None,
        states: Sequence[str] = (),
        has_error: bool | None = None,
        longer_than: timedelta | None = None,
        shorter_than: timedelta | None = None,
        agent: str | None = None,
        project: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[StoredPart]:
        """Parts across threads, of the newest message first: by kind, tool, state, error, duration."""
        return self._portal.wait(
            self._store.find_parts(
                thread_id=thread_id,
                types=types,
                tool=tool,
                states=states,
                has_error=has_error,
                longer_than=longer_than,
                shorter_than=shorter_than,
                agent=agent,
                project=project,
                since=since,
                until=until,
                limit=limit,
                cursor=cursor,
            )
        )

    def search(
        self,
        query: str,
        *,
        limit: int = 20,
        cursor: str | None = None,
        thread_id: str | None = None,
        roles: Sequence[Role] = (),
        tool: str | None = None,
        agent: str | None = None,
        project: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        fields: Sequence[str] = (),
    ) -> Page[Hit]:
        """Messages and titles that hold all words of a query, the best first, with highlighted snippets.

        `"a phrase"`, `-without`, `prefix*`; the last word is taken as a prefix too.
        """
        return self._portal.wait(
            self._store.search(
                query,
                limit=limit,
                cursor=cursor,
                thread_id=thread_id,
                roles=roles,
                tool=tool,
                agent=agent,
                project=project,
                since=since,
                until=until,
                fields=fields,
            )
        )

    def open_run(
        self,
        thread_id: str,
        *,
        id: str | None = None,
        status: Literal["pending", "running"] = "running",
        message_id: str | None = None,
        agent: str | None = None,
        model: str | None = None,
        metadata: JsonObject | None = None,
        resource_id: str | None = None,
        lease_owner: str | None = None,
        lease_seconds: float | None = None,
    ) -> Run:
        """A new run of a thread, held by `lease_owner` for so many seconds if one is named."""
        return self._portal.wait(
            self._store.open_run(
                thread_id,
                id=id,
                status=status,
                message_id=message_id,
                agent=agent,
                model=model,
                metadata=metadata,
                resource_id=resource_id,
                lease_owner=lease_owner,
                lease_seconds=lease_seconds,
            )
        )

    def get_run(self, run_id: str) -> Run | None:
        """The run of that id, or `None`."""
        return self._portal.wait(self._store.get_run(run_id))

    def list_runs(
        self,
        *,
        thread_id: str | None = None,
        status: Sequence[RunStatus] = (),
        agent: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Run]:
        """Runs, newest first."""
        return self._portal.wait(
            self._store.list_runs(thread_id=thread_id, status=status, agent=agent, limit=limit, cursor=cursor)
        )

    def active_run(self, thread_id: str) -> Run | None:
        """The run at work in a thread, if there is one."""
        return self._portal.wait(self._store.active_run(thread_id))

    def save_run(self, run: Run) -> Run:
        """Change what a run says of itself; how it ends is told by `finish_run` and its siblings."""
        return self._portal.wait(self._store.save_run(run))

    def append(self, run_id: str, entries: Sequence[LogEntry]) -> int:
        """Add to a run's log; gives the number of the last entry, once all are durable."""
        return self._portal.wait(self._store.append(run_id, entries))

    def read_log(self, run_id: str, *, after: int = 0, limit: int | None = None) -> Sequence[LogRecord]:
        """What a run's log holds after a number."""
        return self._portal.wait(self._store.read_log(run_id, after=after, limit=limit))

    def finish_run(
        self,
        run_id: str,
        *,
        usage: Usage | None = None,
        cost: float | None = None,
        message_id: str | None = None,
        agent_result: Json | UnsetType = UNSET,
    ) -> Run:
        """The run has done its work. `agent_result` is any JSON value that the agent returned."""
        return self._portal.wait(
            self._store.finish_run(
                run_id, usage=usage, cost=cost, message_id=message_id, agent_result=agent_result
            )
        )

    def fail_run(
        self,
        run_id: str,
        error: str,
        *,
        usage: Usage | None = None,
        cost: float | None = None,
        message_id: str | None = None,
    ) -> Run:
        """The run has failed, and why."""
        return self._portal.wait(
            self._store.fail_run(run_id, error, usage=usage, cost=cost, message_id=message_id)
        )

    def cancel_run(self, run_id: str, reason: str | None = None) -> Run:
        """Someone stopped the run."""
        return self._portal.wait(self._store.cancel_run(run_id, reason))

    def interrupt_run(self, run_id: str, reason: str) -> Run:
        """The run's owner went away."""
        return self._portal.wait(self._store.interrupt_run(run_id, reason))

    def heartbeat(self, run_id: str, lease_owner: str, seconds: float) -> Run:
        """The run's owner is alive: hold the run for so many seconds more."""
        return self._portal.wait(self._store.heartbeat(run_id, lease_owner, seconds))

    def take_lease(self, run_id: str, lease_owner: str, seconds: float) -> Run:
        """Take a run that nobody holds, or whose owner's time is up."""
        return self._portal.wait(self._store.take_lease(run_id, lease_owner, seconds))

    def release_lease(self, run_id: str, lease_owner: str) -> Run:
        """Let go of a run."""
        return self._portal.wait(self._store.release_lease(run_id, lease_owner))

    def abandoned_runs(self, *, limit: int = 100) -> Sequence[Run]:
        """Runs at work whose owner's time is up."""
        return self._portal.wait(self._store.abandoned_runs(limit=limit))

    def seal_run(self, run_id: str) -> SealReport:
        """Rewrite the log of a run that has ended as compressed blocks; every byte stays."""
        return self._portal.wait(self._store.seal_run(run_id))

    def seal_runs(self, *, limit: int = 100) -> Sequence[SealReport]:
        """Seal runs that have ended and are not sealed yet, one transaction each."""
        return self._portal.wait(self._store.seal_runs(limit=limit))

    def drop_logs(self, policy: Retention, *, dry_run: bool = False, limit: int = 1000) -> RetentionReport:
        """Drop raw logs of ended runs by age or size; messages stay. Nothing is dropped unless asked."""
        return self._portal.wait(self._store.drop_logs(policy, dry_run=dry_run, limit=limit))

    def glance(self, thread_id: str, message_ids: Sequence[str] = ()) -> Glance:
        """A thread, the run at work in it, some of its messages, and its calls that wait for somebody."""
        return self._portal.wait(self._store.glance(thread_id, message_ids))

    def begin_turn(
        self,
        thread_id: str,
        messages: Sequence[Message] = (),
        *,
        id: str | None = None,
        busy: Busy = "refuse",
        message_id: str | None = None,
        agent: str | None = None,
        model: str | None = None,
        metadata: JsonObject | None = None,
        resource_id: str | None = None,
        lease_owner: str | None = None,
        lease_seconds: float | None = None,
    ) -> Run:
        """Save messages and open a run for them, in one step. A thread has one run at work.

        While there is one, another is a `BusyError`, or with `busy="queue"` waits as `pending`: then its
        messages are saved when it begins.
        """
        return self._portal.wait(
            self._store.begin_turn(
                thread_id,
                messages,
                id=id,
                busy=busy,
                message_id=message_id,
                agent=agent,
                model=model,
                metadata=metadata,
                resource_id=resource_id,
                lease_owner=lease_owner,
                lease_seconds=lease_seconds,
            )
        )

    def start_turn(
        self,
        thread_id: str,
        messages: Sequence[Message] = (),
        *,
        id: str | None = None,
        busy: Busy = "refuse",
        message_id: str | None = None,
        agent: str | None = None,
        model: str | None = None,
        metadata: JsonObject | None = None,
        recall: str | None = None,
        fresh: bool = False,
        concurrent: int | None = None,
        lease_owner: str | None = None,
        lease_seconds: float | None = None,
    ) -> Begun:
        """Begin a turn as `begin_turn` does, in a new thread if there is none, and give what it begins with.

        That is the talk of the thread, and the text that its last run with the same agent noted in its
        metadata under the name `recall`. While the run waits behind another, neither is given. With `fresh`,
        a message that is there already is a `ConflictError`. `concurrent` limits the runs of the owner that
        run or wait at once.
        """
        return self._portal.wait(
            self._store.start_turn(
                thread_id,
                messages,
                id=id,
                busy=busy,
                message_id=message_id,
                agent=agent,
                model=model,
                metadata=metadata,
                recall=recall,
                fresh=fresh,
                concurrent=concurrent,
                lease_owner=lease_owner,
                lease_seconds=lease_seconds,
            )
        )

    def begin_queued(self, run_id: str) -> Run | None:
        """Begin a run that waits, if it is the first of its thread; `None` if it is not yet."""
        return self._portal.wait(self._store.begin_queued(run_id))

    def end_queued(self, run_id: str, status: RunStatus, reason: str | None = None) -> Run:
        """End a run that never began, and save what it would have begun with."""
        return self._portal.wait(self._store.end_queued(run_id, status, reason))

    def end_turn(
        self, run_id: str, messages: Sequence[Message], ending: Ending, *, thread_id: str | None = None
    ) -> Run:
        """Save what a run came to, and end it, in one step."""
        return self._portal.wait(self._store.end_turn(run_id, messages, ending, thread_id=thread_id))

    def recover_run(self, run_id: str, fold: Fold, ending: Ending, *, holder: str | None = None) -> Run:
        """End a run whose owner is gone: `fold` makes messages of its log, which nobody adds to meanwhile.

        The `holder` of a run may do so too, when all it knows for certain is what is stored.
        """
        return self._portal.wait(self._store.recover_run(run_id, fold, ending, holder=holder))

    def signal_run(self, run_id: str, wanted: JsonObject) -> Run:
        """Leave word for whoever works on a run; it is taken up with the next `beat`."""
        return self._portal.wait(self._store.signal_run(run_id, wanted))

    def beat(self, lease_owner: str, seconds: float) -> Sequence[Signal]:
        """Hold all runs of an owner for so many seconds more, and take up what others want of them."""
        return self._portal.wait(self._store.beat(lease_owner, seconds))

    def change_call(self, thread_id: str, change: Change, metadata: Json = None) -> AssistantMessage | None:
        """Change the newest call of a thread that `change` takes; the message it stands in, as stored.

        `metadata` is merged into that of the message.
        """
        return self._portal.wait(self._store.change_call(thread_id, change, metadata))

    def put_blob(self, data: bytes, *, media_type: str | None = None, resource_id: str | None = None) -> Blob:
        """Keep bytes under their hash; the `blob:` url may then stand in messages."""
        return self._portal.wait(self._store.put_blob(data, media_type=media_type, resource_id=resource_id))

    def get_blob(self, url: str) -> bytes:
        """The bytes of a `blob:` url."""
        return self._portal.wait(self._store.get_blob(url))

    def describe_blob(self, url: str) -> Blob:
        """The size and type of a `blob:` url, without its bytes."""
        return self._portal.wait(self._store.describe_blob(url))

    def save_source(self, source: Source, *, resource_id: str | None = None) -> Source:
        """Write how far a file has been read."""
        return self._portal.wait(self._store.save_source(source, resource_id=resource_id))

    def get_source(self, path: str) -> Source | None:
        """The source of a path, or `None`."""
        return self._portal.wait(self._store.get_source(path))

    def list_sources(self, *, agent: str | None = None) -> tuple[Source, ...]:
        """All sources, or those of an agent, by path."""
        return self._portal.wait(self._store.list_sources(agent=agent))

    def forget_source(self, path: str) -> bool:
        """Forget a source; its messages stay."""
        return self._portal.wait(self._store.forget_source(path))

    def rebuild(self) -> int:
        """Derive flags, part rows, branches, counters, index and ledger anew; gives how many messages."""
        return self._portal.wait(self._store.rebuild())

    def compact(self) -> None:
        """Give the space of what was deleted back to the disk."""
        return self._portal.wait(self._store.compact())

    def record_consumptions(
        self, records: Sequence[ConsumptionRecord], *, resource_id: str | None = None
    ) -> None:
        """Write what responses consumed, all or none.

        Told again in its thread, the word with more output tokens counts, or else the later one. Told in
        several threads, a response counts once in all totals.
        """
        return self._portal.wait(self._store.record_consumptions(records, resource_id=resource_id))

    def usage_of_thread(self, thread_id: str) -> UsageTotals:
        """What all responses of a thread consumed, those that it shares with other threads included."""
        return self._portal.wait(self._store.usage_of_thread(thread_id))

    def stats(
        self,
        *,
        by: By | Sequence[By] = "total",
        since: datetime | None = None,
        until: datetime | None = None,
        agent: str | None = None,
        project: str | None = None,
        model: str | None = None,
        thread_id: str | None = None,
        zone: tzinfo = UTC,
        with_ids: bool = False,
    ) -> tuple[Stat, ...]:
        """Statistics by one or two things: periods in their order, within them the most expensive first.

        Days begin at midnight in `zone`. `until` itself is outside. With ids, rows of few threads name them.
        """
        return self._portal.wait(
            self._store.stats(
                by=by,
                since=since,
                until=until,
                agent=agent,
                project=project,
                model=model,
                thread_id=thread_id,
                zone=zone,
                with_ids=with_ids,
            )
        )

    def tool_stats(self, wanted: StatFilter | None = None) -> tuple[ToolStat, ...]:
        """Every tool that was called, the most called first: how it went, and how long it took."""
        return self._portal.wait(self._store.tool_stats(wanted))

    def run_stats(
        self, wanted: StatFilter | None = None, *, order: RunOrder = "cost", limit: int = 20
    ) -> tuple[RunStat, ...]:
        """The runs that took most money, time or tokens."""
        return self._portal.wait(self._store.run_stats(wanted, order=order, limit=limit))

    def thread_stats(
        self, wanted: StatFilter | None = None, *, order: ThreadOrder = "cost", limit: int = 20
    ) -> tuple[ThreadStat, ...]:
        """The threads that took most money or tokens, or have most errors or messages."""
        return self._portal.wait(self._store.thread_stats(wanted, order=order, limit=limit))

    def growth_of_thread(self, thread_id: str) -> tuple[GrowthPoint, ...]:
        """How the context of a thread grew, response by response."""
        return self._portal.wait(self._store.growth_of_thread(thread_id))

    def create_key(
        self,
        resource_id: str | None = None,
        role: KeyRole = "write",
        name: str | None = None,
        expires_at: datetime | None = None,
    ) -> NewKey:
        """A new key for what belongs to a resource; without one, for everything, which takes `admin`.

        Its text is to be had now, and never again: the store keeps a hash.
        """
        return self._portal.wait(self._store.create_key(resource_id, role, name, expires_at))

    def list_keys(self) -> tuple[ApiKey, ...]:
        """All keys, the newest first: also those that have expired or were revoked."""
        return self._portal.wait(self._store.list_keys())

    def revoke_key(self, id: str) -> ApiKey:
        """Let nobody in any more who shows this key. Done again it changes nothing."""
        return self._portal.wait(self._store.revoke_key(id))

    def check_key(self, text: str) -> ApiKey | None:
        """The key of a text that somebody shows; `None` if it is none, has expired, or was revoked."""
        return self._portal.wait(self._store.check_key(text))


def open_store_sync(
    url: str | os.PathLike[str] | None = None, *, pool_size: int = 10, patience: float = 30.0
) -> SyncStore:
    """The store of a URL, as `open_store` takes it, for code without an event loop."""
    portal = Portal()
    try:
        return SyncStore(portal, portal.wait(_open(url, pool_size, patience)))
    except BaseException:
        portal.close()
        raise


async def _open(url: str | os.PathLike[str] | None, pool_size: int, patience: float) -> Store:
    return await open_store(url, pool_size=pool_size, patience=patience)
