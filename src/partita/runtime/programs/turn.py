"""Programs as agents: one turn with a process, from its start to its end, however it ends."""

import asyncio
import signal
from abc import ABC, abstractmethod
from codecs import getincrementaldecoder
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeAlias, assert_never

from msgspec import UNSET

from partita.errors import AgentError, DecodeError
from partita.formats.call_decoder import SESSION, CallDecoder
from partita.runtime.failures import report_failure
from partita.runtime.service import InvokeOptions, Prompt
from partita.runtime.tools.tool import check_client_tools
from partita.types.chunks import (
    AgentStreamEvent,
    ChunkEvent,
    CompleteEvent,
    DataChunk,
    ErrorEvent,
    MessageFinish,
)
from partita.types.codec import Codec
from partita.types.json import JsonObject, dumps, is_object
from partita.types.usage import Usage

from .dialogue import Action, Cancel, Dialogue, Outcome, Send, Start
from .process import ChildProcess, Launch, ProcessEvent, Timeouts
from .prompts import UserInput, user_input

STDERR: Final = "data-partita-stderr"
"""The type of the chunk with what a program wrote to its standard error."""

USAGE: Final[Codec[Usage]] = Codec(Usage)

Work: TypeAlias = asyncio.Task[Sequence[Action]]
"""A task of the dialogue: its result are actions."""

Item: TypeAlias = ProcessEvent | Work


class ProgramService(ABC):
    """A program as an agent. All processes that it leaves running are ended with the turn."""

    supports_client_tools = False  # programs have tools of their own, and MCP servers in their settings

    def __init__(self, name: str, command: Sequence[str], timeouts: Timeouts | None) -> None:
        self.name = name
        self._command = tuple(command)
        self._timeouts = timeouts or Timeouts()

    def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncGenerator[AgentStreamEvent, None]:
        """The events of one turn; `session_id` is a session of the program to continue."""
        given = options or InvokeOptions()
        check_client_tools(self, given.tools)
        turn = self._turn(user_input(prompt, resumes=session_id is not None), cwd, session_id, given)
        return turn.events()

    @abstractmethod
    def _turn(
        self, input: UserInput, cwd: Path | None, session_id: str | None, options: InvokeOptions
    ) -> "ProgramTurn":
        """The turn that an invocation does."""


class ProgramTurn:
    """One turn of a program: its process, the dialogue with it, and the decoder of its output."""

    def __init__(
        self, name: str, launch: Launch, dialogue: Dialogue, decoding: CallDecoder, timeouts: Timeouts
    ) -> None:
        self._name = name
        self._launch = launch
        self._dialogue = dialogue
        self._decoding = decoding
        self._timeouts = timeouts
        self._inbox: asyncio.Queue[Item] = asyncio.Queue()
        self._tasks: dict[str, Work] = {}
        self._line: list[bytes] = []  # pieces of a line that is not complete yet
        self._stderr = getincrementaldecoder("utf-8")("replace")
        self._deadline: float | None = None  # set once the turn is over: until then the process has to exit
        self._has_stopped = False
        self._is_idle = False
        self._usage: Usage | None = None
        self._session_id: str | None = None  # as it was reported last
        self._batches: Iterator[list[AgentStreamEvent]] = iter(())  # the rest of the output being read
        self._unhandled: list[AgentStreamEvent] = []  # of its current line

    async def events(self) -> AsyncGenerator[AgentStreamEvent, None]:
        """The events of the turn. Closing the stream stops the program, and all that it started."""
        try:
            self._process = await ChildProcess.start(self._launch, self._inbox.put_nowait, self._timeouts)
        except AgentError as error:
            report_failure(error)
            yield ErrorEvent(message=str(error), name=type(error).__name__)
            return
        try:
            for event in [*self._decoding.start(), *self._perform(self._dialogue.open())]:
                yield event
            while (item := await self._next()) is not None:
                self._batches = self._read(item)
                for batch in self._batches:
                    self._unhandled = batch
                    for event in batch:
                        yield event
                    for event in self._respond(batch):
                        yield event
                for event in self._complete(item):
                    yield event
            await self._stop()
            for event in self._remaining():
                yield event
            yield self._ending()
        finally:
            await self._close()

    async def _next(self) -> Item | None:
        """What happens next; `None` when nothing more is expected."""
        deadline = self._deadline
        if deadline is None and self._timeouts.idle is not None and not self._tasks:
            deadline = asyncio.get_running_loop().time() + self._timeouts.idle
        try:
            async with asyncio.timeout_at(deadline):
                item = await self._inbox.get()
        except TimeoutError:
            self._is_idle = self._deadline is None
            return None
        return None if isinstance(item, ProcessEvent) and item.kind == "closed" else item

    # What the program writes

    def _read(self, item: Item) -> Iterator[list[AgentStreamEvent]]:
        """The events of what the process wrote, line by line."""
        if not isinstance(item, ProcessEvent):
            return
        match item.kind:
            case "stdout":
                for line in self._lines(item.data):
                    yield self._decode(line)
            case "stderr":
                if text := self._stderr.decode(item.data):
                    yield [ChunkEvent(chunk=DataChunk(STDERR, {"text": text}, transient=True))]
            case "stdout-end":
                yield self._decode_last_line()
            case "closed":
                pass

    def _lines(self, data: bytes) -> Iterator[bytes]:
        """The lines that these bytes complete. Lines of ours are recorded between them, never inside one."""
        head, end, tail = data.rpartition(b"\n")
        if end:
            complete = b"".join([*self._line, head, end])
            self._line.clear()
            # Only a line feed ends a line: texts contain other separators.
            yield from (line + b"\n" for line in complete.split(b"\n")[:-1])
        if tail:
            self._line.append(tail)

    def _decode_last_line(self) -> list[AgentStreamEvent]:
        line = b"".join(self._line)
        self._line.clear()
        return self._decode(line) if line else []

    def _decode(self, line: bytes) -> list[AgentStreamEvent]:
        return self._with_usage(self._decoding.feed(line))

    def _with_usage(self, events: list[AgentStreamEvent]) -> list[AgentStreamEvent]:
        """The same events; the usage that they report is kept."""
        for event in events:
            chunk = event.chunk if isinstance(event, ChunkEvent) else None
            metadata = chunk.message_metadata if isinstance(chunk, MessageFinish) else None
            if is_object(metadata) and is_object(metadata.get("usage")):
                with suppress(DecodeError):
                    self._usage = USAGE.read(metadata["usage"])
        return events

    # What the dialogue does about it

    def _respond(self, events: Iterable[AgentStreamEvent]) -> list[AgentStreamEvent]:
        """Handle messages of the program. What is sent to it is returned as events."""
        recorded: list[AgentStreamEvent] = []
        self._unhandled = []
        for event in events:
            if event.raw_agent_message is not UNSET:
                recorded += self._perform(self._dialogue.receive(event.raw_agent_message))
                recorded += self._session_marker()
        return recorded

    def _session_marker(self) -> list[AgentStreamEvent]:
        """A marker with the session id, whenever it changes."""
        session_id = self._dialogue.session_id
        if session_id is None or session_id == self._session_id:
            return []
        self._session_id = session_id
        return [ChunkEvent(chunk=DataChunk(SESSION, {"sessionId": session_id}, transient=True))]

    def _perform(self, actions: Iterable[Action]) -> list[AgentStreamEvent]:
        recorded: list[AgentStreamEvent] = []
        for action in actions:
            match action:
                case Send(message=message, is_recorded=is_recorded):
                    line = dumps(message) + b"\n"
                    self._process.write(line)
                    recorded += self._decode(line) if is_recorded else []
                case Start(key=key, work=work):
                    self._start(key, asyncio.ensure_future(work))
                case Cancel(key=key):
                    if task := self._tasks.pop(key, None):
                        task.cancel()
                case _:
                    assert_never(action)
        return recorded

    def _start(self, key: str, task: Work) -> None:
        def done(_: Work) -> None:
            if self._tasks.get(key) is task:
                del self._tasks[key]
            self._inbox.put_nowait(task)

        self._tasks[key] = task
        task.add_done_callback(done)

    def _complete(self, item: Item) -> list[AgentStreamEvent]:
        """Finish the handling of an item, and end the program's input once the turn is over."""
        recorded: list[AgentStreamEvent] = []
        if isinstance(item, ProcessEvent):
            self._process.acknowledge(item)
        elif not item.cancelled():
            recorded = self._perform(item.result())
        is_end = isinstance(item, ProcessEvent) and item.kind == "stdout-end"
        is_over = is_end or self._dialogue.outcome is not None or self._process.has_exited
        is_first = is_over and self._deadline is None
        if is_first:
            self._process.close_stdin()
        is_output = isinstance(item, ProcessEvent) and item.kind == "stdout"
        if is_first or (self._deadline is not None and is_output):
            self._deadline = asyncio.get_running_loop().time() + self._timeouts.exit
        return recorded

    # The end of the turn

    async def _stop(self) -> None:
        """End the program and all that it started."""
        self._has_stopped = True
        await self._process.stop()

    def _remaining(self) -> list[AgentStreamEvent]:
        """The events of what was not read yet, and those that close the record."""
        events: list[AgentStreamEvent] = []
        while not self._inbox.empty():
            item = self._inbox.get_nowait()
            if not isinstance(item, ProcessEvent) and not item.cancelled():
                item.exception()  # retrieved, so that asyncio does not log it: it is too late to matter
            events += [event for batch in self._read(item) for event in batch]
        return [*events, *self._decode_last_line(), *self._with_usage(self._decoding.finish())]

    def _ending(self) -> AgentStreamEvent:
        """The event that reports how the turn ended."""
        outcome, code = self._dialogue.outcome, self._process.exit_code
        result: JsonObject = {"sessionId": self._dialogue.session_id, "exitCode": code}
        if outcome is not None:
            result |= outcome.result
        error = self._failure(outcome, code)
        if error is None:
            return CompleteEvent(agent_type=self._name, agent_result=result, usage=self._usage)
        stderr = self._process.stderr_tail
        return ErrorEvent(
            message=f"{error}: {stderr}" if stderr and outcome is None else error,
            name=(outcome.name if outcome is not None else None) or AgentError.__name__,
            details={**result, "stderr": stderr},
        )

    def _failure(self, outcome: Outcome | None, code: int | None) -> str | None:
        if outcome is not None and outcome.error is not None:
            return outcome.error
        if self._is_idle:
            return f"{self._name} sent nothing for {self._timeouts.idle} seconds"
        if code:
            ended = f"was ended by signal {-code}" if code < 0 else f"exited with code {code}"
            return f"{self._name} {ended}"
        return None if outcome is not None else f"{self._name} ended without a result"

    async def _close(self) -> None:
        """Stop the program if it still runs, first with an interrupt."""
        try:
            if not self._has_stopped:
                await self._interrupt()
        finally:
            tasks = [*self._tasks.values()]
            for task in tasks:
                task.cancel()
            try:
                if not self._has_stopped:
                    await self._stop()
            finally:
                await asyncio.gather(*tasks, return_exceptions=True)
                await self._dialogue.close()

    async def _interrupt(self) -> None:
        """Request the end of the turn, and give the program time to exit. No more events are emitted."""
        self._handle_silently([*self._unhandled, *(event for batch in self._batches for event in batch)])
        is_over = self._dialogue.outcome is not None or self._process.has_exited
        messages = () if is_over else self._dialogue.interrupt()
        for send in messages:
            self._process.write(dumps(send.message) + b"\n")
        if messages:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._timeouts.interrupt):
                    await self._drain()
        elif not is_over:
            self._process.signal(signal.SIGINT)
        self._process.discard_output()
        self._process.close_stdin()
        if is_over or not messages or self._dialogue.outcome is not None:
            was_asked = is_over or messages
            await self._process.wait(self._timeouts.exit if was_asked else self._timeouts.interrupt)

    async def _drain(self) -> None:
        """Read until the turn is over."""
        while self._dialogue.outcome is None:
            item = await self._inbox.get()
            if not isinstance(item, ProcessEvent):
                continue
            if item.kind in ("stdout-end", "closed"):
                break
            self._handle_silently([event for batch in self._read(item) for event in batch])
            self._process.acknowledge(item)

    def _handle_silently(self, events: Iterable[AgentStreamEvent]) -> None:
        """Handle messages of the program without emitting events or starting tasks."""
        for event in events:
            if event.raw_agent_message is UNSET:
                continue
            for action in self._dialogue.receive(event.raw_agent_message):
                if isinstance(action, Send):
                    self._process.write(dumps(action.message) + b"\n")
                elif isinstance(action, Start):
                    action.work.close()


def check_no_argument(name: str, argument: str) -> None:
    """Refuse an agent name with something behind its colon."""
    if argument:
        raise AgentError(
            f"{name} takes nothing behind a colon", where=f"{name}:{argument}", hint=f"write {name}"
        )
