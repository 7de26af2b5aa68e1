"""The test kit: services that keep the contract pass, and each breach is caught by its own check."""

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
from .broken import DOOR, HELLO, Service, asking, saying, telling

BRIEF = 1.0
"""Seconds to wait for what never comes."""


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
    "decoded": Candidate(make=lambda: Service(saying(*HELLO))),
    "asking": Candidate(make=lambda: Service(asking()), asking=DOOR),
}


@each_row(
    ("candidate", "check"),
    [
        pytest.param(candidate, check, id=f"{name}-{check}")
        for name, candidate in GOOD.items()
        for check in checks_for(candidate)
    ],
)
async def test_a_service_that_keeps_the_contract_passes(candidate: Candidate, check: Check) -> None:
    await check(candidate)


def of(answer: broken.Answer) -> Make:
    return lambda: Service(answer)


BROKEN: dict[str, tuple[Make, str, str]] = {
    "no name": (lambda: Service(saying(*HELLO), ""), "has-a-name", "its name is ''"),
    "a name that changes": (broken.renamed, "has-a-name", "and then"),
    "no end": (of(broken.without_end), "ends-once", "without saying how it ended"),
    "an event behind the end": (of(broken.BEHIND), "ends-once", "RawEvent comes behind CompleteEvent"),
    "two ends": (of(broken.TWICE), "ends-once", "CompleteEvent comes behind CompleteEvent"),
    "an error for an answer": (of(broken.FAILED), "ends-once", "was not answered: no"),
    "an exception": (of(broken.that_raises), "ends-once", "raised OSError: the line went dead"),
    "an exception at once": (of(broken.that_raises_at_once), "ends-once", "raised AgentError"),
    "a delta of nothing": (
        of(saying(*HELLO[:5], TextDelta("other", "!"), *HELLO[5:])),
        "folds",
        "'text-delta' does not fit",
    ),
    "no start": (of(saying(*HELLO[1:])), "begins-with-start", "begins with 'start-step'"),
    "a text left open": (of(saying(*HELLO[:5], *HELLO[6:])), "closes-what-it-opens", "text 't' is never"),
    "reasoning left open": (of(broken.OPEN_REASONING), "closes-what-it-opens", "reasoning 'r' is never"),
    "a step left open": (of(saying(*HELLO[:6], *HELLO[7:])), "closes-what-it-opens", "a step is never"),
    "an input left open": (
        of(broken.closing_nothing(ToolInputStart("c", "add"))),
        "closes-what-it-opens",
        "tool input 'c' is never",
    ),
    "a chunk of ours in a call": (of(broken.later("noon")), "can-be-read-again", "data-time"),
    "bytes outside a call": (
        of(telling(*broken.decoded()[1:-1], CompleteEvent())),
        "can-be-read-again",
        "outside the marks",
    ),
    "words only": (of(broken.for_words_only), "is-stored-whole", "breaks off: AssertionError"),
    "an id of its own": (
        of(
            telling(
                *(ChunkEvent(chunk=chunk) for chunk in (MessageStart("mine"), *HELLO[1:])), CompleteEvent()
            )
        ),
        "is-stored-whole",
        "under another id",
    ),
    "an event that changes": (
        of(broken.that_changes_its_words),
        "is-stored-whole",
        "not the one that was streamed",
    ),
    "one state for all answers": (broken.sharing, "keeps-answers-apart", "come out otherwise"),
    "a stream that cannot be closed": (
        lambda: broken.UnclosableService(saying(*HELLO)),
        "stops-when-closed",
        "cannot be closed",
    ),
    "a deaf reader": (of(broken.that_hears_no_cancellation), "stops-when-cancelled", "goes on though"),
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


@each_row(("make", "name", "words"), BROKEN.values(), ids=BROKEN)
async def test_a_breach_is_caught_by_its_check_and_no_other(make: Make, name: str, words: str) -> None:
    candidate = Candidate(make=make)
    caught = await breaches(candidate)
    assert caught.keys() == {name}
    assert words in str(caught[name])
    assert caught[name].hint


async def breaches(candidate: Candidate) -> dict[str, ContractError]:
    caught: dict[str, ContractError] = {}
    for check in checks_for(candidate):
        try:
            await check(candidate)
        except ContractError as error:
            caught[check.name] = error
    return caught


NEVER: dict[str, tuple[broken.Answer, str, str]] = {
    "silence": (broken.silent, "ends-once", "nothing more came"),
    "a question without need": (broken.that_waits_for_an_approval, "is-stored-whole", "it does not end"),
    "a question that nobody is shown": (
        asking(shows=False),
        "asks-before-it-acts",
        "no chunk shows the approval request 'a'",
    ),
    "a close that waits": (broken.that_waits_when_closed, "stops-when-closed", "has not stopped"),
    "a task, closed": (broken.that_leaves_a_task, "stops-when-closed", "task 'forgotten'"),
    "a task, cancelled": (broken.that_leaves_a_task, "stops-when-cancelled", "task 'forgotten'"),
}
if Path("/proc/self/stat").exists():  # elsewhere processes are not seen
    for how in ("closed", "cancelled"):
        NEVER[f"a process, {how}"] = (broken.that_leaves_a_process, f"stops-when-{how}", "process ")


@each_row(("answer", "name", "words"), NEVER.values(), ids=NEVER)
async def test_what_never_ends_is_found(answer: broken.Answer, name: str, words: str) -> None:
    (check,) = [check for check in CHECKS if check.name == name]
    with pytest.raises(ContractError) as caught:
        await check(Candidate(make=of(answer), asking=DOOR, patience=BRIEF))
    assert words in str(caught.value)


RAW: dict[str, tuple[broken.Answer, str]] = {
    "a message without text": (broken.raws(broken.stripped), "the agent's message has no raw_text"),
    "another text": (broken.raws(broken.garbled), "raw_text is not the agent's message"),
}


@each_row(("answer", "words"), RAW.values(), ids=RAW)
async def test_text_that_is_not_what_was_sent_is_found_and_cannot_be_read_again(
    answer: broken.Answer, words: str
) -> None:
    caught = await breaches(Candidate(make=of(answer)))
    assert caught.keys() == {"keeps-raw-text", "can-be-read-again"}
    assert words in str(caught["keeps-raw-text"])


FAILING: dict[str, tuple[Make, str]] = {
    "an exception": (of(broken.that_raises_at_once), "raised AgentError"),
    "complete": (of(saying(*HELLO)), "ends with CompleteEvent"),
    "no words": (of(telling(ErrorEvent(message=""))), "says nothing"),
    "more behind it": (of(telling(ErrorEvent(message="no"), ErrorEvent(message="no"))), "comes behind"),
}


@each_row(("failing", "words"), FAILING.values(), ids=FAILING)
async def test_a_failure_must_be_told(failing: Make, words: str) -> None:
    caught = await breaches(Candidate(make=scripted, failing=failing))
    assert caught.keys() == {"fails-with-an-event"}
    assert words in str(caught["fails-with-an-event"])


ASKING: dict[str, tuple[broken.Answer, str]] = {
    "it never asks": (asking(asks=False), "requested no approval"),
    "it does as it likes": (asking(heeds=False), "was denied, and ran"),
    "it asks about another": (asking(about="close"), "is about 'close', which was not called"),
}


@each_row(("answer", "words"), ASKING.values(), ids=ASKING)
async def test_a_question_must_be_asked_and_heeded(answer: broken.Answer, words: str) -> None:
    caught = await breaches(Candidate(make=of(answer), asking=DOOR))
    assert caught.keys() == {"asks-before-it-acts"}
    assert words in str(caught["asks-before-it-acts"])


def make_scripted(rest: str) -> AgentService:
    return scripted(Step(parts=(TextPart(rest),)))


MAKERS: dict[str, tuple[str, str | None]] = {
    "a maker": ("tests.testing.test_service_checks:make_scripted", None),
    "a function of nothing": (
        "tests.testing.test_service_checks:scripted_alone",
        "cannot be made: TypeError",
    ),
    "no service": ("builtins:str", "gives a str"),
}


def scripted_alone() -> AgentService:
    return scripted()


@pytest.mark.parametrize(("value", "words"), MAKERS.values(), ids=MAKERS)
async def test_an_entry_point_must_make_the_service(
    value: str, words: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = EntryPoint("tried", value, registry.ENTRY_POINTS)
    monkeypatch.setattr(registry, "entry_points", EntryPoints([entry]).select)
    registry._plugins.cache_clear()  # pyright: ignore[reportPrivateUsage] # what was installed has changed
    try:
        caught = await breaches(Candidate(make=scripted, registered="tried:Hello"))
    finally:
        registry._plugins.cache_clear()  # pyright: ignore[reportPrivateUsage]
    assert caught.keys() == (set() if words is None else {"is-registered"})
    assert words is None or words in str(caught["is-registered"])


async def test_a_name_that_nobody_registered_is_found() -> None:
    caught = await breaches(Candidate(make=scripted, registered="nobody"))
    assert "there is no agent 'nobody'" in str(caught["is-registered"])


async def test_all_checks_at_once_raise_the_first_breach() -> None:
    await check_service(GOOD["scripted"])
    with pytest.raises(ContractError, match="ended"):
        await check_service(Candidate(make=of(broken.without_end)))


def test_the_kit_needs_no_pytest() -> None:
    code = "import sys, partita.testing; print('pytest' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


def test_a_breach_is_a_failed_assertion() -> None:
    assert issubclass(ContractError, AssertionError)


def test_every_check_says_what_it_is_about() -> None:
    assert len({check.name for check in CHECKS}) == len(CHECKS)
    assert all(check.about for check in CHECKS)


def test_the_guide_lists_every_check() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "agents.md").read_text()
    listed = re.findall(r"^\| `([\w-]+)` \| (.+) \|$", guide, re.MULTILINE)
    assert [(check.name, check.about) for check in CHECKS] == listed
