"""All that every agent service must do, check by check."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from partita.errors import PartitaError, StreamError
from partita.runtime.registry import agent_names, get_agent
from partita.runtime.replay.model_calls import unwrapped
from partita.runtime.run_fold import fold_run
from partita.runtime.service import (
    AgentService,
    ApprovalDecision,
    ApprovalRequest,
    InvokeOptions,
    Prompt,
    closed,
)
from partita.runtime.session.session import Session
from partita.store.connection import open_store
from partita.store.store import Store
from partita.types.chunks import AgentStreamEvent, ChunkEvent, MessageStart, ToolApprovalRequest, raw_bytes
from partita.types.codec import encode
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import ReasoningPart, TextPart
from partita.types.threads import Run

from .contract import Candidate, Check, Collected, ContractError, begin, collect, collect_events, made
from .response_checks import (
    begins_with_start,
    can_be_read_again,
    closes_what_it_opens,
    ends_once,
    fails_with_an_event,
    folds,
    keeps_raw_text,
)
from .stop_checks import stops_when_cancelled, stops_when_closed

# The check that an agent asks for approval before a call, and follows the decision.


class Counter:
    """An approval gate that makes the same decision on every request, once observers have seen it."""

    def __init__(self, approved: bool, patience: float) -> None:
        self._decision = ApprovalDecision(approved, "so says the test")
        self._patience = patience
        self._shown: dict[str, asyncio.Event] = {}
        self.requests: list[ApprovalRequest] = []
        self.unseen: list[ApprovalRequest] = []
        """Requests that no chunk shows."""

    async def request(self, request: ApprovalRequest) -> ApprovalDecision:
        """The decision."""
        self.requests.append(request)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                await self._event(request.approval_id).wait()
        if not self._event(request.approval_id).is_set():
            self.unseen.append(request)
        return self._decision

    def see(self, event: AgentStreamEvent) -> None:
        """Observe an event."""
        chunk = unwrapped(event.chunk)[1] if isinstance(event, ChunkEvent) else None
        if isinstance(chunk, ToolApprovalRequest):
            self._event(chunk.approval_id).set()

    def _event(self, approval_id: str) -> asyncio.Event:
        return self._shown.setdefault(approval_id, asyncio.Event())


async def asks_before_it_acts(candidate: Candidate) -> None:
    """An approval request reaches `options.approvals` and the observers; a denied call does not run."""
    for approved in (False, True):
        approvals = Counter(approved, candidate.patience / 2)
        asking = replace(
            candidate, prompt=candidate.asking or "", options=replace(candidate.options, approvals=approvals)
        )
        async with made(candidate.make) as service:
            collected = await collect_events(begin(service, asking), candidate.patience, approvals.see)
        fold = collected.fold()
        if isinstance(fold, StreamError):
            continue  # that is for another check
        _has_requested(approvals)
        calls = {call.id: call for message in fold.snapshot() for call in _calls(message)}
        for request in approvals.requests:
            _was_heeded(request, calls.get(request.tool_call_id), approved)


def _has_requested(approvals: Counter) -> None:
    if not approvals.requests:
        raise ContractError(
            "it requested no approval",
            hint="await options.approvals.request(ApprovalRequest(…)) before the call runs",
        )
    if approvals.unseen:
        raise ContractError(
            f"no chunk shows the approval request {approvals.unseen[0].approval_id!r}",
            hint="emit a ToolApprovalRequest with its approval id before the decision is awaited",
        )


def _was_heeded(request: ApprovalRequest, call: ToolCallPart | None, approved: bool) -> None:
    where = f"call {request.tool_call_id}"
    if call is None or call.name != request.tool_name:
        raise ContractError(
            f"the approval request is about {request.tool_name!r}, which was not called",
            where=where,
            hint="request approval with the id and the name of the call",
        )
    if approved and call.state != "output-available":
        raise ContractError(
            f"the call was approved, and is {call.state!r}", where=where, hint="run it, and emit its output"
        )
    if not approved and call.state == "output-available":
        raise ContractError("the call was denied, and ran", where=where, hint="wait for the decision")


def _calls(message: AssistantMessage) -> list[ToolCallPart]:
    return [part for part in message.parts if isinstance(part, ToolCallPart)]


# Checks of a service in use: its name, its runs in a session, its concurrent responses.

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
        options: InvokeOptions | None = None,
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
                hint="a prompt may be words or messages; options may hold an approval gate, and ids",
            )
        if collected.is_complete:
            await _has_every_byte(store, begun, collected)
            await _has_the_message(store, begun, collected)


async def _has_every_byte(store: Store, run: Run, collected: Collected) -> None:
    said = b"".join(raw_bytes(event) or b"" for event in collected.events)
    kept = b"".join(record.raw or b"" for record in await store.logs.read(run.id))
    if said != kept:
        raise ContractError(
            f"{len(said)} bytes were said and {len(kept)} are in the log",
            hint="let the events of the answer carry them, each byte once",
        )


async def _has_the_message(store: Store, run: Run, collected: Collected) -> None:
    stored = await store.messages.get(THREAD, run.message_id or "")
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


def _check(
    run: Callable[[Candidate], Awaitable[None]], applies: Callable[[Candidate], bool] = lambda _: True
) -> Check:
    """The check that a function is: called like it, and described by it."""
    return Check(run.__name__.replace("_", "-"), inspect.getdoc(run) or "", run, applies)


CHECKS: Final[tuple[Check, ...]] = (
    _check(has_a_name),
    _check(is_registered, lambda candidate: candidate.registered is not None),
    _check(ends_once),
    _check(folds),
    _check(begins_with_start),
    _check(closes_what_it_opens),
    _check(keeps_raw_text),
    _check(can_be_read_again),
    _check(is_stored_whole),
    _check(keeps_answers_apart),
    _check(stops_when_closed),
    _check(stops_when_cancelled),
    _check(fails_with_an_event, lambda candidate: candidate.failing is not None),
    _check(asks_before_it_acts, lambda candidate: candidate.asking is not None),
)
"""Every check. `checks_for` leaves out what does not apply."""


def checks_for(candidate: Candidate) -> tuple[Check, ...]:
    """The checks that apply to a candidate."""
    return tuple(check for check in CHECKS if check.applies(candidate))


async def check_service(candidate: Candidate) -> None:
    """Make all checks that apply; the first breach is raised as a `ContractError`."""
    for check in checks_for(candidate):
        await check(candidate)
