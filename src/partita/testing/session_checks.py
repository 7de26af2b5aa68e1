"""Checks of a service in use: its name, its runs in a session, its concurrent responses."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Final, NamedTuple

from partita.errors import PartitaError, StreamError
from partita.runtime.closing import closed
from partita.runtime.folding import fold_run
from partita.runtime.registry import agent_names, get_agent
from partita.runtime.service import AgentService, Options, Prompt
from partita.runtime.session.session import Session
from partita.store.facade.store import Store
from partita.store.opening import open_store
from partita.types.chunks import MessageStart
from partita.types.codec import encode
from partita.types.events import AgentStreamEvent, raw_bytes
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import ReasoningPart, TextPart
from partita.types.runs import Run

from .candidate import Candidate, Collected, ContractError, begin, collect, collect_events, made

THREAD: Final = "thread"
APART: Final = "keep what belongs to an answer in invoke, not in the service"


async def has_a_name(candidate: Candidate) -> None:
    """Its name is text, and always the same."""
    async with made(candidate.make) as one, made(candidate.make) as other:
        name: object = getattr(one, "name", None)
        if not isinstance(name, str) or not name:
            raise ContractError(f"its name is {name!r}", hint="a word such as `claude-code`")
        if other.name != name:
            raise ContractError(
                f"it is called {name!r}, and then {other.name!r}", hint="runs are looked up by it"
            )


async def is_registered(candidate: Candidate) -> None:
    """`get_agent` knows it by its name."""
    named = candidate.registered or ""
    if named.partition(":")[0] not in agent_names():
        raise ContractError(
            f"there is no agent {named!r}",
            hint="name its maker in the entry point group `partita.agents`, and install the package",
        )
    try:
        service = get_agent(named)
    except PartitaError:
        raise
    except Exception as error:
        raise ContractError(
            f"{named!r} cannot be made: {type(error).__name__}: {error}",
            hint="the entry point is a function of what stands behind the colon",
        ) from error
    if not callable(getattr(service, "invoke", None)):
        raise ContractError(
            f"{named!r} gives a {type(service).__name__}", hint="the entry point makes the service"
        )


class Tapped:
    """A service, and the events that it emitted."""

    def __init__(self, service: AgentService, collected: Collected) -> None:
        self.name = service.name
        self._service = service
        self._collected = collected

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: Options | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """The events of the service."""
        stream = self._service.invoke(prompt, cwd=cwd, session_id=session_id, options=options)
        async with closed(stream):
            async for event in stream:
                self._collected.events.append(deepcopy(event))  # as it is now: it may be changed later
                yield event


async def is_stored_whole(candidate: Candidate) -> None:
    """In a session its response is stored as it was emitted, and every byte of it is in the log."""
    async with open_store("memory:") as store, Session(store) as session, made(candidate.make) as service:
        collected = Collected()
        tapped = Tapped(service, collected)
        begun = await session.start(tapped, THREAD, candidate.prompt, options=candidate.options)
        run = begun
        with suppress(TimeoutError):
            async with asyncio.timeout(candidate.patience):
                run = await session.wait(begun.id)
        if not collected.is_complete and (await collect(candidate)).is_complete:
            raise ContractError(
                f"in a session it breaks off: {run.error or 'it does not end'}",
                hint="a prompt may be words or messages; options may hold a desk, and ids",
            )
        if collected.is_complete:
            await _has_every_byte(store, begun, collected)
            await _has_the_message(store, begun, collected)


async def _has_every_byte(store: Store, run: Run, collected: Collected) -> None:
    said = b"".join(raw_bytes(event) or b"" for event in collected.events)
    kept = b"".join(record.raw or b"" for record in await store.read_log(run.id))
    if said != kept:
        raise ContractError(
            f"{len(said)} bytes were said and {len(kept)} are in the log",
            hint="let the events of the answer carry them, each byte once",
        )


async def _has_the_message(store: Store, run: Run, collected: Collected) -> None:
    stored = await store.get_message(THREAD, run.message_id or "")
    if not isinstance(stored, AssistantMessage):
        raise ContractError(
            "its answer is stored under another id than it was asked for",
            hint="leave messageId out of `start`, or take it from options.message_id",
        )
    try:
        folded = fold_run(collected.chunks, run.message_id or "", run_id=run.id)[-1]
    except StreamError:
        return  # chunks that do not fit are for another check
    if encode(folded.content) != encode(stored.content):
        raise ContractError(
            "the stored message is not the one that was streamed",
            hint="do not change an event once it is given",
        )


class Outcome(NamedTuple):
    """A response in a form that can be compared with another: without ids."""

    is_complete: bool
    folds: bool
    said: tuple[str, ...]


async def keeps_answers_apart(candidate: Candidate) -> None:
    """Two concurrent responses of one service are the same as two in sequence."""
    async with made(candidate.make) as service:

        def respond(name: str) -> Awaitable[Collected]:
            return collect_events(begin(service, candidate, name), candidate.patience)

        alone = [await respond(name) for name in ("one", "two")]
        together = await asyncio.gather(*map(respond, ("three", "four")))
    expected = {_outcome(collected) for collected in alone}
    for collected, other in zip(together, ("four", "three"), strict=True):
        if any(isinstance(chunk, MessageStart) and chunk.message_id == other for chunk in collected.chunks):
            raise ContractError("one answer has the id of another", hint=APART)
        found = _outcome(collected)
        if len(expected) == 1 and found not in expected:
            raise ContractError("two answers at once come out otherwise than one alone", hint=APART)
        if found[:2] not in {one[:2] for one in expected}:
            raise ContractError("of two answers at once, one is broken", hint=APART)


def _outcome(collected: Collected) -> Outcome:
    fold = collected.fold()
    is_complete = collected.raised is None and collected.is_complete
    if isinstance(fold, StreamError):
        return Outcome(is_complete, False, ())
    return Outcome(is_complete, True, tuple(_words(message) for message in fold.snapshot()))


def _words(message: AssistantMessage) -> str:
    """The texts and calls of a message."""
    said: list[object] = []
    for part in message.parts:
        match part:
            case TextPart(text=text) | ReasoningPart(text=text):
                said.append(text)
            case ToolCallPart(name=name, input=input):
                said.append((name, input))
            case _:
                pass
    return repr(said)
