"""One turn with a program: its lines → events, its questions → answers, and its end, whatever way it ends."""

import asyncio
import signal
from codecs import getincrementaldecoder
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final, TypeAlias, assert_never

from msgspec import UNSET

from partita.errors import AgentError, DecodeError
from partita.formats.agent_decoder import SESSION, Decoding
from partita.runtime.failures import report_failure
from partita.types.chunks import DataChunk, MessageFinish
from partita.types.codec import Codec
from partita.types.events import AgentStreamEvent, ChunkEvent, CompleteEvent, ErrorEvent
from partita.types.json import JsonObject, dumps, is_object
from partita.types.usage import Usage

from .dialogue import Action, Dialogue, Errand, Line, Outcome, Withdraw
from .process import Launch, Patience, Piece, Program

STDERR: Final = "data-partita-stderr"
"""The type of the chunk that tells what an agent wrote to its standard error."""

USAGE: Final[Codec[Usage]] = Codec(Usage)

Done: TypeAlias = asyncio.Task[Sequence[Action]]


async def converse(
    name: str, launch: Launch, dialogue: Dialogue, decoding: Decoding, patience: Patience
) -> AsyncGenerator[AgentStreamEvent, None]:
    """The events of one turn. Whoever stops reading stops the agent, and all that it started."""
    talk = Conversation(dialogue, decoding, patience)
    try:
        await talk.start(launch)
    except AgentError as error:
        report_failure(error)
        yield ErrorEvent(message=str(error), name=type(error).__name__)
        return
    try:
        for event in [*decoding.begin(), *talk.open()]:
            yield event
        while (piece := await talk.next()) is not None:
            for events in talk.read(piece):
                for event in events:
                    yield event
                for event in talk.respond(events):
                    yield event
            for event in talk.settle(piece):
                yield event
        await talk.stop()
        for event in talk.rest():
            yield event
        yield talk.last(name)
    finally:
        await talk.break_off()


class Conversation:
    """A program, how to speak to it, and what was heard so far."""

    def __init__(self, dialogue: Dialogue, decoding: Decoding, patience: Patience) -> None:
        self._dialogue = dialogue
        self._decoding = decoding
        self._patience = patience
        self._inbox: asyncio.Queue[Piece | Done] = asyncio.Queue()
        self._errands: dict[str, Done] = {}
        self._pieces: list[bytes] = []  # of a line that is not whole yet
        self._errors = getincrementaldecoder("utf-8")("replace")
        self._deadline: float | None = None
        self._has_stopped = False
        self._silent = False
        self._usage: Usage | None = None
        self._session_id: str | None = None  # as it was reported last
        self._reading: Iterator[list[AgentStreamEvent]] = iter(())  # the rest of the piece at hand
        self._unheard: list[AgentStreamEvent] = []  # of its line at hand

    async def start(self, launch: Launch) -> None:
        """Start the program."""
        self._program = await Program.start(launch, self._inbox.put_nowait, self._patience)

    def open(self) -> list[AgentStreamEvent]:
        """Say the first words."""
        return self._do(self._dialogue.open())

    async def next(self) -> Piece | Done | None:
        """What happens next; `None` when nothing more is expected."""
        try:
            async with asyncio.timeout_at(self._until()):
                item = await self._inbox.get()
        except TimeoutError:
            self._silent = self._deadline is None
            return None
        return None if isinstance(item, Piece) and item.channel == "gone" else item

    def read(self, item: Piece | Done) -> Iterator[list[AgentStreamEvent]]:
        """The events of a piece, line by line."""
        self._reading = self._read(item)
        for events in self._reading:
            self._unheard = events
            yield events

    def _read(self, item: Piece | Done) -> Iterator[list[AgentStreamEvent]]:
        if not isinstance(item, Piece):
            return
        match item.channel:
            case "output":
                for line in self._lines(item.data):
                    yield self._decoded(line)
            case "errors":
                if text := self._errors.decode(item.data):
                    yield [ChunkEvent(chunk=DataChunk(STDERR, {"text": text}, transient=True))]
            case "output-end":
                yield self._rest_of_line()
            case "gone":
                pass

    def respond(self, events: Iterable[AgentStreamEvent]) -> list[AgentStreamEvent]:
        """Do what the agent's messages ask for; what is said to it comes back as events."""
        told: list[AgentStreamEvent] = []
        self._unheard = []
        for event in events:
            if event.raw_agent_message is not UNSET:
                told += self._do(self._dialogue.hear(event.raw_agent_message))
                told += self._session()
        return told

    def _session(self) -> list[AgentStreamEvent]:
        """A note of the session's id, whenever the agent names another one."""
        session_id = self._dialogue.session_id
        if session_id is None or session_id == self._session_id:
            return []
        self._session_id = session_id
        return [ChunkEvent(chunk=DataChunk(SESSION, {"sessionId": session_id}, transient=True))]

    def settle(self, item: Piece | Done) -> list[AgentStreamEvent]:
        """A piece or an errand is dealt with: go on with what follows from it."""
        told: list[AgentStreamEvent] = []
        if isinstance(item, Piece):
            self._program.took(item)
        elif not item.cancelled():
            told = self._do(item.result())
        is_first = self._deadline is None and self._is_ending(item)
        if is_first:
            self._program.close_input()
        if is_first or (self._deadline is not None and isinstance(item, Piece) and item.channel == "output"):
            self._deadline = asyncio.get_running_loop().time() + self._patience.leave
        return told

    async def stop(self) -> None:
        """End the program and all that it started."""
        self._has_stopped = True
        await self._program.stop()

    def rest(self) -> list[AgentStreamEvent]:
        """What was still on its way, and what closes the record."""
        events: list[AgentStreamEvent] = []
        while not self._inbox.empty():
            item = self._inbox.get_nowait()
            if not isinstance(item, Piece) and not item.cancelled():
                item.exception()  # too late to matter
            events += [event for some in self.read(item) for event in some]
        return [*events, *self._rest_of_line(), *self._noted(self._decoding.finish())]

    def last(self, name: str) -> AgentStreamEvent:
        """The event that says how it all ended."""
        outcome, code = self._dialogue.outcome, self._program.exit_code
        result: JsonObject = {"sessionId": self._dialogue.session_id, "exitCode": code}
        if outcome is not None:
            result |= outcome.result
        error = self._failure(name, outcome, code)
        if error is None:
            return CompleteEvent(agent_type=name, agent_result=result, usage=self._usage)
        complaints = self._program.complaints
        return ErrorEvent(
            message=f"{error}: {complaints}" if complaints and outcome is None else error,
            name=(outcome.name if outcome is not None else None) or AgentError.__name__,
            details={**result, "stderr": complaints},
        )

    async def break_off(self) -> None:
        """Stop the program, politely first, if it has not been stopped; nothing of it is left behind."""
        try:
            if not self._has_stopped:
                await self._ask_to_stop()
        finally:
            errands = [*self._errands.values()]
            for errand in errands:
                errand.cancel()
            try:
                if not self._has_stopped:
                    await self.stop()
            finally:
                await asyncio.gather(*errands, return_exceptions=True)
                await self._dialogue.close()

    # Inside

    async def _ask_to_stop(self) -> None:
        self._hear([*self._unheard, *(event for events in self._reading for event in events)])
        is_over = self._dialogue.outcome is not None or self._program.has_exited
        lines = () if is_over else self._dialogue.interrupt()
        for line in lines:
            self._program.send(_bytes_of(line))
        if lines:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._patience.interrupt):
                    await self._hear_out()
        elif not is_over:
            self._program.signal(signal.SIGINT)
        self._program.ignore()
        self._program.close_input()
        if is_over or not lines or self._dialogue.outcome is not None:
            await self._program.wait(self._patience.leave if is_over or lines else self._patience.interrupt)

    async def _hear_out(self) -> None:
        """Listen, without telling anyone, until the turn is over."""
        while self._dialogue.outcome is None:
            item = await self._inbox.get()
            if not isinstance(item, Piece):
                continue
            if item.channel in ("output-end", "gone"):
                break
            self._hear([event for events in self._read(item) for event in events])
            self._program.took(item)

    def _hear(self, events: Iterable[AgentStreamEvent]) -> None:
        """Take note of what nobody is told any more."""
        for event in events:
            if event.raw_agent_message is not UNSET:
                self._humour(self._dialogue.hear(event.raw_agent_message))

    def _humour(self, actions: Iterable[Action]) -> None:
        """Answer what can be answered at once; start nothing more."""
        for action in actions:
            if isinstance(action, Line):
                self._program.send(_bytes_of(action))
            elif isinstance(action, Errand):
                action.work.close()

    def _is_ending(self, item: Piece | Done) -> bool:
        is_mute = isinstance(item, Piece) and item.channel == "output-end"
        return is_mute or self._dialogue.outcome is not None or self._program.has_exited

    def _until(self) -> float | None:
        """The moment until which something must happen."""
        if self._deadline is not None or self._patience.silence is None or self._errands:
            return self._deadline
        return asyncio.get_running_loop().time() + self._patience.silence

    def _lines(self, data: bytes) -> Iterator[bytes]:
        """The lines that these bytes complete. Ours may stand between them, never inside."""
        head, end, tail = data.rpartition(b"\n")
        if end:
            whole = b"".join([*self._pieces, head, end])
            self._pieces.clear()
            # Only a line feed ends a line: the other separators stand in texts.
            yield from (line + b"\n" for line in whole.split(b"\n")[:-1])
        if tail:
            self._pieces.append(tail)

    def _rest_of_line(self) -> list[AgentStreamEvent]:
        rest = b"".join(self._pieces)
        self._pieces.clear()
        return self._decoded(rest) if rest else []

    def _decoded(self, line: bytes) -> list[AgentStreamEvent]:
        return self._noted(self._decoding.feed(line))

    def _noted(self, events: list[AgentStreamEvent]) -> list[AgentStreamEvent]:
        """The same events, after a look at what the turn consumed."""
        for event in events:
            chunk = event.chunk if isinstance(event, ChunkEvent) else None
            metadata = chunk.message_metadata if isinstance(chunk, MessageFinish) else None
            if is_object(metadata) and is_object(metadata.get("usage")):
                with suppress(DecodeError):
                    self._usage = USAGE.read(metadata["usage"])
        return events

    def _do(self, actions: Iterable[Action]) -> list[AgentStreamEvent]:
        told: list[AgentStreamEvent] = []
        for action in actions:
            match action:
                case Line(is_told=is_told):
                    line = _bytes_of(action)
                    self._program.send(line)
                    told += self._decoded(line) if is_told else []
                case Errand(key=key, work=work):
                    self._run(key, asyncio.ensure_future(work))
                case Withdraw(key=key):
                    if errand := self._errands.pop(key, None):
                        errand.cancel()
                case _:
                    assert_never(action)
        return told

    def _run(self, key: str, errand: Done) -> None:
        def done(_: Done) -> None:
            if self._errands.get(key) is errand:
                del self._errands[key]
            self._inbox.put_nowait(errand)

        self._errands[key] = errand
        errand.add_done_callback(done)

    def _failure(self, name: str, outcome: Outcome | None, code: int | None) -> str | None:
        if outcome is not None and outcome.error is not None:
            return outcome.error
        if self._silent:
            return f"{name} said nothing for {self._patience.silence} seconds"
        if code:
            return f"{name} was ended by signal {-code}" if code < 0 else f"{name} exited with code {code}"
        return None if outcome is not None else f"{name} ended without a result"


def _bytes_of(line: Line) -> bytes:
    return dumps(line.message) + b"\n"
