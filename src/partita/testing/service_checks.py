"""The checks that every agent service must pass."""

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

from .contract import Candidate, Check, Collected, ContractError, begin, collect, collect_events, created
from .response_checks import (
    begins_with_start,
    can_be_decoded_again,
    closes_all_blocks,
    emits_fitting_chunks,
    ends_once,
    fails_with_an_event,
    keeps_raw_text,
)
from .stop_checks import stops_when_cancelled, stops_when_closed

# Approval requests


class FixedApprovals:
    """An approval gate that gives the same decision to every request, once observers have seen it."""

    def __init__(self, approved: bool, timeout: float) -> None:
        self._decision = ApprovalDecision(approved, "decided by the test")
        self._timeout = timeout
        self._shown: dict[str, asyncio.Event] = {}
        self.requests: list[ApprovalRequest] = []
        self.unseen: list[ApprovalRequest] = []
        """Requests for which no chunk was emitted."""

    async def request(self, request: ApprovalRequest) -> ApprovalDecision:
        """Wait until observers have seen the request, and return the decision."""
        self.requests.append(request)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._timeout):
                await self._event(request.approval_id).wait()
        if not self._event(request.approval_id).is_set():
            self.unseen.append(request)
        return self._decision

    def see(self, event: AgentStreamEvent) -> None:
        """Note the approval request in an event."""
        chunk = unwrapped(event.chunk)[1] if isinstance(event, ChunkEvent) else None
        if isinstance(chunk, ToolApprovalRequest):
            self._event(chunk.approval_id).set()

    def _event(self, approval_id: str) -> asyncio.Event:
        return self._shown.setdefault(approval_id, asyncio.Event())


async def requests_approval(candidate: Candidate) -> None:
    """An approval request reaches `options.approvals` and the observers; a denied call does not run."""
    for approved in (False, True):
        approvals = FixedApprovals(approved, candidate.timeout / 2)
        options = replace(candidate.options, approvals=approvals)
        asking = replace(candidate, prompt=candidate.approval_prompt or "", options=options)
        async with created(candidate.make) as service:
            collected = await collect_events(begin(service, asking), candidate.timeout, approvals.see)
        fold = collected.fold()
        if isinstance(fold, StreamError):
            continue  # another check reports it
        _check_requested(approvals)
        calls = {call.id: call for message in fold.snapshot() for call in _calls(message)}
        for request in approvals.requests:
            _check_decision(request, calls.get(request.tool_call_id), approved)


def _check_requested(approvals: FixedApprovals) -> None:
    if not approvals.requests:
        raise ContractError(
            "no approval was requested",
            hint="await options.approvals.request(ApprovalRequest(…)) before the call runs",
        )
    if approvals.unseen:
        raise ContractError(
            f"no chunk shows the approval request {approvals.unseen[0].approval_id!r}",
            hint="emit a ToolApprovalRequest with its approval id before awaiting the decision",
        )


def _check_decision(request: ApprovalRequest, call: ToolCallPart | None, approved: bool) -> None:
    where = f"call {request.tool_call_id}"
    if call is None or call.name != request.tool_name:
        raise ContractError(
            f"the approval request is about {request.tool_name!r}, which was not called",
            where=where,
            hint="request approval with the id and the name of the call",
        )
    if approved and call.state != "output-available":
        raise ContractError(
            f"the call was approved, but its state is {call.state!r}",
            where=where,
            hint="run it, and emit its output",
        )
    if not approved and call.state == "output-available":
        raise ContractError(
            "the call was denied, but ran", where=where, hint="wait for the decision before the call runs"
        )


def _calls(message: AssistantMessage) -> list[ToolCallPart]:
    return [part for part in message.parts if isinstance(part, ToolCallPart)]


# Name, runs in a session, concurrent responses

THREAD: Final = "thread"
STATE_HINT: Final = "keep the state of a response in local variables of invoke, not in the service"


async def has_a_name(candidate: Candidate) -> None:
    """Its name is a non-empty string that never changes."""
    async with created(candidate.make) as one, created(candidate.make) as other:
        name: object = getattr(one, "name", None)
        if not isinstance(name, str) or not name:
            raise ContractError(f"its name is {name!r}", hint="use a name such as `claude-code`")
        if other.name != name:
            raise ContractError(
                f"its name is {name!r}, and then {other.name!r}", hint="runs are found by this name"
            )


async def is_registered(candidate: Candidate) -> None:
    """`get_agent` finds it by its name."""
    named = candidate.registered or ""
    if named.partition(":")[0] not in agent_names():
        raise ContractError(
            f"there is no agent {named!r}",
            hint="add a factory to the entry point group `partita.agents`, and install the package",
        )
    try:
        service = get_agent(named)
    except PartitaError:
        raise
    except Exception as error:
        raise ContractError(
            f"{named!r} cannot be created: {type(error).__name__}: {error}",
            hint="the entry point must be a function that takes the text after the colon",
        ) from error
    if not callable(getattr(service, "invoke", None)):
        raise ContractError(
            f"{named!r} returns a {type(service).__name__}", hint="the entry point must return the service"
        )


class ObservedService:
    """A service whose events are collected."""

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
                self._collected.events.append(deepcopy(event))  # the service may change it later
                yield event


async def is_stored_completely(candidate: Candidate) -> None:
    """A session stores the response as it was emitted, and the log has every byte of it."""
    async with open_store("memory:") as store, Session(store) as session, created(candidate.make) as service:
        collected = Collected()
        observed = ObservedService(service, collected)
        begun = await session.start(observed, THREAD, candidate.prompt, options=candidate.options)
        run = begun
        with suppress(TimeoutError):
            async with asyncio.timeout(candidate.timeout):
                run = await session.wait(begun.id)
        if not collected.is_complete and (await collect(candidate)).is_complete:
            raise ContractError(
                f"in a session it fails: {run.error or 'it does not end'}",
                hint="accept text and messages as the prompt, and an approval gate and ids in the options",
            )
        if collected.is_complete:
            await _check_log(store, begun, collected)
            await _check_stored_message(store, begun, collected)


async def _check_log(store: Store, run: Run, collected: Collected) -> None:
    emitted = b"".join(raw_bytes(event) or b"" for event in collected.events)
    logged = b"".join(record.raw or b"" for record in await store.logs.read(run.id))
    if emitted != logged:
        raise ContractError(
            f"{len(emitted)} bytes were emitted, but {len(logged)} are in the log",
            hint="put each byte in exactly one event of the response",
        )


async def _check_stored_message(store: Store, run: Run, collected: Collected) -> None:
    stored = await store.messages.get(THREAD, run.message_id or "")
    if not isinstance(stored, AssistantMessage):
        raise ContractError(
            "its response is not stored under the requested id",
            hint="leave messageId out of `start`, or use options.message_id",
        )
    try:
        folded = fold_run(collected.chunks, run.message_id or "", run_id=run.id)[-1]
    except StreamError:
        return  # another check reports it
    if encode(folded.content) != encode(stored.content):
        raise ContractError(
            "the stored message is not the one that was streamed",
            hint="do not change an event after it was emitted",
        )


class Outcome(NamedTuple):
    """A response in a form that can be compared with another, without ids."""

    is_complete: bool
    folds: bool
    contents: tuple[str, ...]


async def isolates_responses(candidate: Candidate) -> None:
    """Two concurrent responses of one service equal two in sequence."""
    async with created(candidate.make) as service:

        def respond(name: str) -> Awaitable[Collected]:
            return collect_events(begin(service, candidate, name), candidate.timeout)

        alone = [await respond(name) for name in ("one", "two")]
        together = await asyncio.gather(*map(respond, ("three", "four")))
    expected = {_outcome(collected) for collected in alone}
    for collected, other in zip(together, ("four", "three"), strict=True):
        if any(isinstance(chunk, MessageStart) and chunk.message_id == other for chunk in collected.chunks):
            raise ContractError("a response has the id of another", hint=STATE_HINT)
        found = _outcome(collected)
        if len(expected) == 1 and found not in expected:
            raise ContractError("two concurrent responses differ from a single one", hint=STATE_HINT)
        if found[:2] not in {one[:2] for one in expected}:
            raise ContractError("one of two concurrent responses is broken", hint=STATE_HINT)


def _outcome(collected: Collected) -> Outcome:
    fold = collected.fold()
    is_complete = collected.raised is None and collected.is_complete
    if isinstance(fold, StreamError):
        return Outcome(is_complete, False, ())
    return Outcome(is_complete, True, tuple(_content(message) for message in fold.snapshot()))


def _content(message: AssistantMessage) -> str:
    """The texts and calls of a message."""
    content: list[object] = []
    for part in message.parts:
        match part:
            case TextPart(text=text) | ReasoningPart(text=text):
                content.append(text)
            case ToolCallPart(name=name, input=input):
                content.append((name, input))
            case _:
                pass
    return repr(content)


def _check(
    run: Callable[[Candidate], Awaitable[None]], applies: Callable[[Candidate], bool] = lambda _: True
) -> Check:
    """A function as a check, with its name and docstring."""
    return Check(run.__name__.replace("_", "-"), inspect.getdoc(run) or "", run, applies)


CHECKS: Final[tuple[Check, ...]] = (
    _check(has_a_name),
    _check(is_registered, lambda candidate: candidate.registered is not None),
    _check(ends_once),
    _check(emits_fitting_chunks),
    _check(begins_with_start),
    _check(closes_all_blocks),
    _check(keeps_raw_text),
    _check(can_be_decoded_again),
    _check(is_stored_completely),
    _check(isolates_responses),
    _check(stops_when_closed),
    _check(stops_when_cancelled),
    _check(fails_with_an_event, lambda candidate: candidate.failing is not None),
    _check(requests_approval, lambda candidate: candidate.approval_prompt is not None),
)
"""All checks. `checks_for` selects those that apply."""


def checks_for(candidate: Candidate) -> tuple[Check, ...]:
    """The checks that apply to a candidate."""
    return tuple(check for check in CHECKS if check.applies(candidate))


async def check_service(candidate: Candidate) -> None:
    """Run all checks that apply. Raises a `ContractError` at the first violation."""
    for check in checks_for(candidate):
        await check(candidate)
