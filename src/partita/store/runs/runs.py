"""`store.runs`: runs, their leases, and the messages that they start and end with."""

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import UNSET, UnsetType

from partita.store.context import Namespace, reads, writes
from partita.store.ids import new_id
from partita.store.logs.timings import with_timings
from partita.store.messages.prepared import prepare
from partita.types.json import Json, JsonObject
from partita.types.messages import Message
from partita.types.threads import Run, RunStatus
from partita.types.usage import Usage

from . import rows, turns
from .rows import RunEnd
from .turns import Busy, Fold, Signal, StartedTurn


class Runs(Namespace):
    """Open, hold, end and list runs."""

    async def open(
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
        """Open a run of a thread, with a lease if it has a `lease_owner`."""
        run = Run(
            id=new_id() if id is None else id,
            thread_id=thread_id,
            status=status,
            message_id=message_id,
            agent=agent,
            model=model,
            metadata=metadata,
        )
        lease: dict[str, Any] = {"lease_owner": lease_owner, "lease_seconds": lease_seconds}
        return await self._write(rows.open_run, run, resource_id=resource_id, **lease)

    get = reads(rows.get)
    list = reads(rows.list_runs)
    active = reads(rows.running)
    save = writes(rows.save_run)
    renew_lease = writes(rows.renew_lease)
    take_lease = writes(rows.take_lease)
    release_lease = writes(rows.release_lease)
    lease_owners = reads(rows.lease_owners)
    abandoned = reads(rows.abandoned_runs)
    start_queued = writes(turns.start_queued)
    has_signals = reads(turns.has_signals)

    async def finish(
        self,
        run_id: str,
        *,
        usage: Usage | None = None,
        cost: float | None = None,
        message_id: str | None = None,
        agent_result: Json | UnsetType = UNSET,
    ) -> Run:
        """End a run that is complete. `agent_result` is any JSON value that the agent returned."""
        return await self._end(run_id, RunEnd("completed", None, usage, cost, agent_result), message_id)

    async def fail(
        self,
        run_id: str,
        error: str,
        *,
        usage: Usage | None = None,
        cost: float | None = None,
        message_id: str | None = None,
    ) -> Run:
        """End a run with an error."""
        return await self._end(run_id, RunEnd("failed", error, usage, cost), message_id)

    async def cancel(self, run_id: str, reason: str | None = None) -> Run:
        """End a run that a user stopped."""
        return await self._end(run_id, RunEnd("cancelled", reason))

    async def interrupt(self, run_id: str, reason: str) -> Run:
        """End a run whose process ended."""
        return await self._end(run_id, RunEnd("interrupted", reason))

    async def _end(self, run_id: str, ending: RunEnd, message_id: str | None = None) -> Run:
        return self._ended(await self._write(with_timings, rows.end, run_id, ending, message_id=message_id))

    # Turns: a run and its messages in one transaction

    async def start_turn(
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
    ) -> StartedTurn:
        """Save messages and open a run for them in one transaction. The thread is created if necessary.

        A thread has one active run. If it has one, this is a `BusyError`; with `busy="queue"` the new run is
        `pending` and its messages are saved when it starts.

        The history of the thread is returned too. `recall` is a name: the text that the last run with the
        same agent has under it in its metadata is returned. A queued run gets neither. With `fresh`, a
        message that exists already is a `ConflictError`. `concurrent` limits the number of active and pending
        runs of the owner.
        """
        run = Run(
            id=new_id() if id is None else id,
            thread_id=thread_id,
            status="running",
            message_id=message_id,
            agent=agent,
            model=model,
            metadata=metadata,
        )
        return await self._write(
            turns.start,
            run,
            [prepare(message, thread_id) for message in messages],
            busy=busy,
            recall=recall,
            fresh=fresh,
            concurrent=concurrent,
            lease_owner=lease_owner,
            lease_seconds=lease_seconds,
        )

    async def end_queued(self, run_id: str, status: RunStatus, reason: str | None = None) -> Run:
        """End a run that never started, and save the messages that it would have started with."""
        return self._ended(await self._write(turns.end_queued, run_id, RunEnd(status, reason)))

    async def end_turn(
        self, run_id: str, messages: Sequence[Message], ending: RunEnd, *, thread_id: str | None = None
    ) -> Run:
        """Save the messages of a run and end it in one transaction."""
        prepared = [prepare(message, thread_id) for message in messages]
        return self._ended(await self._write(turns.end, run_id, prepared, ending))

    async def recover(self, run_id: str, fold: Fold, ending: RunEnd, *, holder: str | None = None) -> Run:
        """End a run whose lease has expired with the messages that `fold` makes of its log.

        The `holder` of the lease may do so too, if only the store knows what was saved.
        """
        return self._ended(await self._write(turns.recover, run_id, fold, ending, holder=holder))

    async def signal(self, run_id: str, signal: JsonObject) -> Run:
        """Leave a signal for the process that holds a run. It receives it from `renew_leases`."""
        run = await self._write(turns.signal, run_id, signal)
        if run.lease_owner is not None:
            self._context.engine.notify(run.lease_owner)
        return run

    async def renew_leases(self, lease_owner: str, seconds: float) -> Sequence[Signal]:
        """Renew all leases of an owner, and take the signals for its runs."""
        work = self._context.in_transaction(turns.renew_leases, lease_owner, seconds)
        return await self._context.engine.write(work, urgent=True)

    def _ended(self, run: Run) -> Run:
        self._context.engine.notify(run.id)  # followers of the log return
        return run
