"""Imported sessions made again from the lines that are kept of their logs; the files may be gone.

A session is read as a whole, and told run by run: a run that would lose something is left alone. What the
log does not tell stays: titles, messages of other runs, which branch is the active one.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from partita.errors import ConflictError, NotFoundError, PartitaError, UnavailableError
from partita.store.facade.store import Store
from partita.store.values import Source
from partita.types.messages import Message
from partita.types.runs import Run
from partita.types.threads import Thread

from .comparing_sessions import Change, changes
from .kept_session import KeptSession, Skipped, kept_session
from .lineage import runs_of
from .reprojection import Outcome, Reprojected
from .rereading import Reread, reread
from .retelling import is_imported
from .writing_sessions import ThreadChanges, write_changes


class ReadThread(NamedTuple):
    """A thread as it is stored, and the messages that its log comes to now."""

    thread: Thread
    run_id: str  # of messages that are of none: those of a sub-agent that has a thread of its own
    stored: Mapping[str, Message]
    now: Sequence[Message]
    runs: Sequence[Run] = ()

    def changes(self) -> Iterator[Change]:
        """What comes out otherwise."""
        runs = {run.id for run in self.runs}
        return changes(self.thread.id, self.run_id, self.stored, self.now, runs)


async def reproject_session(
    store: Store, thread_id: str, sources: Sequence[Source], *, dry_run: bool, force: bool
) -> list[Reprojected]:
    """What came of the session that a thread was read from, run by run."""
    runs = [run for run in await runs_of(store, thread_id) if is_imported(run)]
    try:
        session = await kept_session(store, thread_id, sources)
        now = reread(session)
        threads = [_main(session, now), *await _orphans(store, session, now)]
        found = [change for thread in threads for change in thread.changes()]
        if found and now.doubt is not None:
            raise Skipped(now.doubt)
        written: set[str] = (
            set() if dry_run else {run.id for run in runs if _is_written(run, found, force=force)}
        )
        if written:
            await store.write(write_changes, _to_write(threads, found, now, written))
    except (Skipped, ConflictError) as reason:
        return _skipped(runs, str(reason))
    except UnavailableError:
        raise
    except NotFoundError as error:
        return _skipped(runs, error.what)
    except PartitaError as error:
        return _skipped(runs, str(error))
    return [_told(run, found, run.id in written) for run in runs]


def _skipped(runs: Sequence[Run], why: str) -> list[Reprojected]:
    return [Reprojected(run.id, run.thread_id, "skipped", why, imported=True) for run in runs]


def _main(session: KeptSession, now: Reread) -> ReadThread:
    return ReadThread(
        session.thread,
        session.runs[0].run.id,
        session.messages,
        list(now.messages.values()),
        session.every_run,
    )


async def _orphans(store: Store, session: KeptSession, now: Reread) -> list[ReadThread]:
    """The sub-agents that no call claims and that have threads of their own."""
    found: list[ReadThread] = []
    for name, messages in now.orphans.items():
        thread_id = f"{session.thread.id}/{name}"
        thread = await store.get_thread_by_id(thread_id)
        if thread is not None:
            page = await store.list_messages(thread_id, limit=None, branch="all", internal=None)
            own = [replace(message, thread_id=thread_id, run_id=None) for message in messages]
            stored = {message.id: message for message in page}
            found.append(ReadThread(thread, f"{thread_id}@0", stored, own))
    return found


def _outcome(run: Run, found: Sequence[Change]) -> Outcome:
    own = [change.told for change in found if change.run_id == run.id]
    if any(told.lost for told in own):
        return "would-lose"
    return "changed" if own else "unchanged"


def _is_written(run: Run, found: Sequence[Change], *, force: bool) -> bool:
    outcome = _outcome(run, found)
    return outcome == "changed" or (outcome == "would-lose" and force)


def _told(run: Run, found: Sequence[Change], written: bool) -> Reprojected:
    own = tuple(change.told for change in found if change.run_id == run.id)
    return Reprojected(run.id, run.thread_id, _outcome(run, found), None, own, written, imported=True)


def _to_write(
    threads: Sequence[ReadThread], found: Sequence[Change], now: Reread, written: Collection[str]
) -> list[ThreadChanges]:
    """The changes of runs that are written, by thread."""
    return [
        ThreadChanges(
            one.thread,
            own,
            [message.id for message in one.now],
            {message.id: message.seq for message in one.stored.values() if message.seq is not None},
            now.times,
            [run for run in one.runs if run.id in written],
            [some for some in now.consumptions if one.runs and some.run_id in written],
        )
        for one in threads
        if (own := [c for c in found if c.thread_id == one.thread.id and c.run_id in written])
    ]
