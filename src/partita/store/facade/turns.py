"""The store's turns: a run and the messages it is about, together."""

from collections.abc import Sequence

from partita.store import calls, turns
from partita.store.calls import Change
from partita.store.glances import Glance, glance
from partita.store.ids import new_id
from partita.store.prepared import prepare
from partita.store.turns import Begun, Busy, Ending, Fold, Signal
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, Message
from partita.types.runs import Run, RunStatus

from .facade import Facade


class TurnStore(Facade):
    """Turns: begun and ended with their messages, one at a time in a thread; signals to who works on them."""

    async def glance(self, thread_id: str, message_ids: Sequence[str] = ()) -> Glance:
        """A thread, the run at work in it, some of its messages, and its calls that wait for somebody."""
        return await self.read(glance, thread_id, message_ids)

    async def begin_turn(
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
        run = Run(
            id=new_id() if id is None else id,
            thread_id=thread_id,
            status="running",
            message_id=message_id,
            agent=agent,
            model=model,
            metadata=metadata,
        )
        begun = await self.write(
            turns.begin,
            run,
            [prepare(message, thread_id) for message in messages],
            busy=busy,
            resource_id=resource_id,
            lease_owner=lease_owner,
            lease_seconds=lease_seconds,
        )
        self._expect_log(begun)
        return begun.run

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
    ) -> Begun:
        """Begin a turn as `begin_turn` does, in a new thread if there is none, and give what it begins with.

        That is the talk of the thread, and the text that its last run with the same agent noted in its
        metadata under the name `recall`. While the run waits behind another, neither is given. With `fresh`,
        a message that is there already is a `ConflictError`. `concurrent` limits the runs of the owner that
        run or wait at once.
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
        begun = await self.write(
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
        self._expect_log(begun)
        return begun

    async def begin_queued(self, run_id: str) -> Run | None:
        """Begin a run that waits, if it is the first of its thread; `None` if it is not yet."""
        return await self.write(turns.begin_queued, run_id)

    async def end_queued(self, run_id: str, status: RunStatus, reason: str | None = None) -> Run:
        """End a run that never began, and save what it would have begun with."""
        run = await self.write(turns.end_queued, run_id, Ending(status, reason))
        self._tell_end(run)
        return run

    async def end_turn(
        self, run_id: str, messages: Sequence[Message], ending: Ending, *, thread_id: str | None = None
    ) -> Run:
        """Save what a run came to, and end it, in one step."""
        prepared = [prepare(message, thread_id) for message in messages]
        run = await self.write(turns.end, run_id, prepared, ending)
        self._tell_end(run)
        return run

    async def recover_run(self, run_id: str, fold: Fold, ending: Ending, *, holder: str | None = None) -> Run:
        """End a run whose owner is gone: `fold` makes messages of its log, which nobody adds to meanwhile.

        The `holder` of a run may do so too, when all it knows for certain is what is stored.
        """
        run = await self.write(turns.recover, run_id, fold, ending, holder=holder)
        self._tell_end(run)
        return run

    async def signal_run(self, run_id: str, wanted: JsonObject) -> Run:
        """Leave word for whoever works on a run; it is taken up with the next `beat`."""
        run = await self.write(turns.signal, run_id, wanted)
        if run.lease_owner is not None:
            self.engine.tell(run.lease_owner)
        return run

    async def beat(self, lease_owner: str, seconds: float) -> Sequence[Signal]:
        """Hold all runs of an owner for so many seconds more, and take up what others want of them."""
        return await self.engine.write(self._in_transaction(turns.beat, lease_owner, seconds), urgent=True)

    async def change_call(
        self, thread_id: str, change: Change, metadata: Json = None
    ) -> AssistantMessage | None:
        """Change the newest call of a thread that `change` takes; the message it stands in, as stored.

        `metadata` is merged into that of the message.
        """
        return await self.write(calls.change_call, thread_id, change, metadata)

    def _expect_log(self, begun: Begun) -> None:
        """What a new run says first is then written as quickly as what follows."""
        if begun.key is not None:
            self.appender.expect(self.owner, begun.run.id, begun.key)

    def _tell_end(self, run: Run) -> None:
        self.appender.forget(self.owner, run.id)
        self.engine.tell(run.id)
