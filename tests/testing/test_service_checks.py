"""The test kit: correct services pass, and each violation is reported by one check."""

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from partita.runtime import registry
from partita.runtime.agent.agent import Agent
from partita.runtime.network.network import Network
from partita.runtime.scripted import Scene, Script, ScriptedService, Step
from partita.runtime.service import AgentService
from partita.runtime.tools.tool import tool
from partita.testing import CHECKS, Candidate, Check, ContractError, check_service, checks_for
from partita.testing.contract import Make
from partita.types.chunks import (
    ChunkEvent,
    CompleteEvent,
    ErrorEvent,
    MessageStart,
    TextDelta,
    ToolInputStart,
)
from partita.types.json import Json
from partita.types.messages import ToolCallPart
from partita.types.parts import ReasoningPart, TextPart
from tests.tables import each_row

from . import broken
from .broken import DOOR, HELLO, Service, asking, emitting, responding

SHORT_TIMEOUT = 1.0
"""Seconds to wait for an event that never comes."""


@tool
async def add(one: int, other: int) -> int:
    """The sum."""
    await asyncio.sleep(0)
    return one + other


def call(name: str, **input: Json) -> Step:
    return Step(parts=(ToolCallPart("", name, "input-available", input),))


def scripted(*steps: Step, error: str | None = None) -> ScriptedService:
    last = Step(parts=(ReasoningPart("Hm, hm."), TextPart("Good morning to you.")), pause=0.001, error=error)
    return ScriptedService(Script(scenes=(Scene(steps=(*steps, last)),)))


def agent(error: str | None = None) -> Agent:
    return Agent(scripted(call("add", one=1, other=2), error=error), tools=[add])


def network(error: str | None = None) -> Network:
    routes = (
        call("route", primitiveType="agent", primitiveId="adder", input="Add.", selectionReason="It can."),
        call("route", primitiveType="tool", primitiveId="add", input={"one": 1, "other": 2}),
    )
    router = scripted(*routes, error=error)
    return Network(router, agents={"adder": agent()}, tools=[add])


GOOD: dict[str, Candidate] = {
    "scripted": Candidate(make=scripted, failing=lambda: scripted(error="no")),
    "agent": Candidate(make=agent, failing=lambda: agent("no")),
    "network": Candidate(make=network, failing=lambda: network("no")),
    "decoded": Candidate(make=lambda: Service(responding(*HELLO))),
    "asking": Candidate(make=lambda: Service(asking()), approval_prompt=DOOR),
}


@each_row(
    ("candidate", "check"),
    [
        pytest.param(candidate, check, id=f"{name}-{check}")
        for name, candidate in GOOD.items()
        for check in checks_for(candidate)
    ],
)
async def test_a_correct_service_passes_all_checks(candidate: Candidate, check: Check) -> None:
    await check(candidate)


def of(respond: broken.Respond) -> Make:
    return lambda: Service(respond)


BROKEN: dict[str, tuple[Make, str, str]] = {
    "no name": (lambda: Service(responding(*HELLO), ""), "has-a-name", "its name is ''"),
    "a name that changes": (broken.renamed, "has-a-name", "and then"),
    "no end": (of(broken.without_end), "ends-once", "stops without a final event"),
    "an event after the end": (of(broken.EVENT_AFTER_END), "ends-once", "RawEvent comes after CompleteEvent"),
    "two ends": (of(broken.TWO_ENDS), "ends-once", "CompleteEvent comes after CompleteEvent"),
    "an error": (of(broken.FAILED), "ends-once", "the response failed: no"),
    "an exception": (of(broken.raises_midway), "ends-once", "raised OSError: the connection was lost"),
    "an exception at once": (of(broken.raises_at_once), "ends-once", "raised AgentError"),
    "a delta without a start": (
        of(responding(*HELLO[:5], TextDelta("other", "!"), *HELLO[5:])),
        "emits-fitting-chunks",
        "'text-delta' does not fit",
    ),
    "no start": (of(responding(*HELLO[1:])), "begins-with-start", "begins with 'start-step'"),
    "a text left open": (of(responding(*HELLO[:5], *HELLO[6:])), "closes-all-blocks", "text 't' is never"),
    "reasoning left open": (of(broken.OPEN_REASONING), "closes-all-blocks", "reasoning 'r' is never"),
    "a step left open": (of(responding(*HELLO[:6], *HELLO[7:])), "closes-all-blocks", "a step is never"),
    "an input left open": (
        of(broken.without_close(ToolInputStart("c", "add"))),
        "closes-all-blocks",
        "tool input 'c' is never",
    ),
    "an added chunk in a call": (of(broken.with_data("noon")), "can-be-decoded-again", "data-time"),
    "bytes outside a call": (
        of(emitting(*broken.decoded()[1:-1], CompleteEvent())),
        "can-be-decoded-again",
        "outside the markers",
    ),
    "text prompts only": (of(broken.accepts_text_only), "is-stored-completely", "fails: AssertionError"),
    "another message id": (
        of(
            emitting(
                *(ChunkEvent(chunk=chunk) for chunk in (MessageStart("mine"), *HELLO[1:])), CompleteEvent()
            )
        ),
        "is-stored-completely",
        "not stored under the requested id",
    ),
    "an event that changes": (
        of(broken.changes_an_emitted_event),
        "is-stored-completely",
        "not the one that was streamed",
    ),
    "shared state": (broken.sharing, "isolates-responses", "differ from a single one"),
    "a stream that cannot be closed": (
        lambda: broken.UnclosableService(responding(*HELLO)),
        "stops-when-closed",
        "cannot be closed",
    ),
    "ignored cancellation": (of(broken.ignores_cancellation), "stops-when-cancelled", "continues although"),
}


@pytest.fixture(autouse=True)
async def cleaned_up() -> AsyncIterator[None]:
    yield
    for task in broken.HELD:
        task.cancel()
    for process in broken.PROCESSES:
        process.kill()
        await process.wait()
    broken.HELD.clear()
    broken.PROCESSES.clear()


@each_row(("make", "name", "message"), BROKEN.values(), ids=BROKEN)
async def test_a_violation_is_reported_by_exactly_one_check(make: Make, name: str, message: str) -> None:
    candidate = Candidate(make=make)
    caught = await violations(candidate)
    assert caught.keys() == {name}
    assert message in str(caught[name])
    assert caught[name].hint


async def violations(candidate: Candidate) -> dict[str, ContractError]:
    caught: dict[str, ContractError] = {}
    for check in checks_for(candidate):
        try:
            await check(candidate)
        except ContractError as error:
            caught[check.name] = error
    return caught


ENDLESS: dict[str, tuple[broken.Respond, str, str]] = {
    "a response that never ends": (broken.never_ends, "ends-once", "no event came"),
    "an unexpected approval request": (
        broken.waits_for_an_approval,
        "is-stored-completely",
        "it does not end",
    ),
    "an approval request without a chunk": (
        asking(emits=False),
        "requests-approval",
        "no chunk shows the approval request 'a'",
    ),
    "a close that hangs": (broken.hangs_when_closed, "stops-when-closed", "has not stopped"),
    "a task, closed": (broken.leaves_a_task, "stops-when-closed", "task 'forgotten'"),
    "a task, cancelled": (broken.leaves_a_task, "stops-when-cancelled", "task 'forgotten'"),
}
if Path("/proc/self/stat").exists():  # other systems cannot list child processes
    for how in ("closed", "cancelled"):
        ENDLESS[f"a process, {how}"] = (broken.leaves_a_process, f"stops-when-{how}", "process ")


@each_row(("respond", "name", "message"), ENDLESS.values(), ids=ENDLESS)
async def test_a_response_that_hangs_or_leaves_something_behind_is_reported(
    respond: broken.Respond, name: str, message: str
) -> None:
    (check,) = [check for check in CHECKS if check.name == name]
    with pytest.raises(ContractError) as caught:
        await check(Candidate(make=of(respond), approval_prompt=DOOR, timeout=SHORT_TIMEOUT))
    assert message in str(caught.value)


RAW: dict[str, tuple[broken.Respond, str]] = {
    "a message without text": (broken.with_events(broken.stripped), "the agent's message has no raw_text"),
    "another text": (broken.with_events(broken.garbled), "raw_text is not the agent's message"),
}


@each_row(("respond", "message"), RAW.values(), ids=RAW)
async def test_raw_text_that_differs_from_the_message_is_reported_by_two_checks(
    respond: broken.Respond, message: str
) -> None:
    caught = await violations(Candidate(make=of(respond)))
    assert caught.keys() == {"keeps-raw-text", "can-be-decoded-again"}
    assert message in str(caught["keeps-raw-text"])


FAILING: dict[str, tuple[Make, str]] = {
    "an exception": (of(broken.raises_at_once), "raised AgentError"),
    "complete": (of(responding(*HELLO)), "ends with CompleteEvent"),
    "no message": (of(emitting(ErrorEvent(message=""))), "its error has no message"),
    "an event after it": (of(emitting(ErrorEvent(message="no"), ErrorEvent(message="no"))), "comes after"),
}


@each_row(("failing", "message"), FAILING.values(), ids=FAILING)
async def test_a_failure_must_be_reported_as_the_last_event(failing: Make, message: str) -> None:
    caught = await violations(Candidate(make=scripted, failing=failing))
    assert caught.keys() == {"fails-with-an-event"}
    assert message in str(caught["fails-with-an-event"])


ASKING: dict[str, tuple[broken.Respond, str]] = {
    "no request": (asking(asks=False), "no approval was requested"),
    "the decision is ignored": (asking(obeys=False), "was denied, but ran"),
    "a request for another tool": (asking(tool="close"), "is about 'close', which was not called"),
}


@each_row(("respond", "message"), ASKING.values(), ids=ASKING)
async def test_approval_must_be_requested_and_obeyed(respond: broken.Respond, message: str) -> None:
    caught = await violations(Candidate(make=of(respond), approval_prompt=DOOR))
    assert caught.keys() == {"requests-approval"}
    assert message in str(caught["requests-approval"])


def make_scripted(rest: str) -> AgentService:
    return scripted(Step(parts=(TextPart(rest),)))


FACTORIES: dict[str, tuple[str, str | None]] = {
    "a factory": ("tests.testing.test_service_checks:make_scripted", None),
    "a function without a parameter": (
        "tests.testing.test_service_checks:scripted_alone",
        "cannot be created: TypeError",
    ),
    "not a service": ("builtins:str", "returns a str"),
}


def scripted_alone() -> AgentService:
    return scripted()


@pytest.mark.parametrize(("value", "message"), FACTORIES.values(), ids=FACTORIES)
async def test_an_entry_point_must_create_the_service(
    value: str, message: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = EntryPoint("example", value, registry.ENTRY_POINTS)
    monkeypatch.setattr(registry, "entry_points", EntryPoints([entry]).select)
    registry._plugins.cache_clear()  # pyright: ignore[reportPrivateUsage] # the installed plugins have changed
    try:
        caught = await violations(Candidate(make=scripted, registered="example:Hello"))
    finally:
        registry._plugins.cache_clear()  # pyright: ignore[reportPrivateUsage]
    assert caught.keys() == (set() if message is None else {"is-registered"})
    assert message is None or message in str(caught["is-registered"])


async def test_an_unregistered_name_is_reported() -> None:
    caught = await violations(Candidate(make=scripted, registered="missing"))
    assert "there is no agent 'missing'" in str(caught["is-registered"])


async def test_check_service_raises_the_first_violation() -> None:
    await check_service(GOOD["scripted"])
    with pytest.raises(ContractError, match="without a final event"):
        await check_service(Candidate(make=of(broken.without_end)))


def test_the_kit_does_not_import_pytest() -> None:
    code = "import sys, partita.testing; print('pytest' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


def test_a_violation_is_an_assertion_error() -> None:
    assert issubclass(ContractError, AssertionError)


def test_every_check_has_a_name_and_a_description() -> None:
    assert len({check.name for check in CHECKS}) == len(CHECKS)
    assert all(check.about for check in CHECKS)


def test_the_guide_lists_every_check() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "agents.md").read_text()
    listed = re.findall(r"^\| `([\w-]+)` \| (.+) \|$", guide, re.MULTILINE)
    assert [(check.name, check.about) for check in CHECKS] == listed
