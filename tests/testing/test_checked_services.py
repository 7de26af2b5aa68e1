"""Every agent service of Partita passes the checks for agent services."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from partita.runtime.agent.agent import Agent
from partita.runtime.programs.acp import AcpService
from partita.runtime.programs.claude_code import ClaudeCodeService
from partita.runtime.programs.codex import CodexService
from partita.runtime.replay.service import ReplayService
from partita.runtime.scripted import ScriptedService, as_script
from partita.runtime.service import AgentService
from partita.runtime.session.session import Session
from partita.store.connection import open_store
from partita.testing import CHECKS, Candidate, Check
from tests.runtime.programs import running
from tests.runtime.providers.conftest import clean_environment, one_certificate
from tests.runtime.providers.families import FAMILIES, Family
from tests.runtime.scripted_server import JSON, ScriptedResponse, ScriptedServer
from tests.tables import each_row

__all__ = ["clean_environment", "one_certificate"]

REFUSAL = ScriptedResponse(body=b'{"error":{"message":"not today"}}', status=400, content_type=JSON)
MISSING = ("/there/is/no/such/program",)

PROGRAMS: dict[str, Callable[..., AgentService]] = {
    "claude": ClaudeCodeService,
    "codex": CodexService,
    "acp": AcpService,
}


EXCLUDED = ("is-registered", "requests-approval")
"""Checks with separate tests: names in `test_registry`, approvals with each program."""

APPLYING: Sequence[Check] = [check for check in CHECKS if check.name not in EXCLUDED]


@each_row("check", APPLYING, ids=str)
@each_row("family", FAMILIES.values(), ids=FAMILIES)
async def test_services_of_models_pass(family: Family, check: Check) -> None:
    async with (
        ScriptedServer(ScriptedResponse(body=family.body, piece=97)) as playing,
        ScriptedServer(REFUSAL) as refusing,
    ):
        candidate = Candidate(
            make=lambda: family.service(playing.address), failing=lambda: family.service(refusing.address)
        )
        await check(candidate)


@pytest.mark.parametrize("check", APPLYING, ids=str)
@pytest.mark.parametrize(("name", "service"), PROGRAMS.items(), ids=PROGRAMS)
async def test_services_of_programs_pass(
    name: str, service: Callable[..., AgentService], check: Check, tmp_path: Path
) -> None:
    await check(
        Candidate(
            make=lambda: service(running.command(name), timeouts=running.LONG),
            options=running.options(tmp_path),
            failing=lambda: service(MISSING),
            timeout=60,
        )
    )


def weather(city: str) -> str:
    """The weather of a city."""
    return f"rain in {city}"


@each_row("check", [check for check in APPLYING if check.name != "fails-with-an-event"], ids=str)
async def test_an_agent_with_a_replayed_run_passes(check: Check) -> None:
    call: dict[str, Any] = {"type": "tool-call", "name": "weather", "input": {"city": "Bergen"}}
    steps = [{"parts": [call]}, {"parts": [{"type": "text", "text": "Take an umbrella."}]}]
    model = ScriptedService(as_script({"scenes": [{"steps": steps}]}))
    async with await open_store("memory:") as store, Session(store) as session:
        run = await Agent(model, tools=[weather], session=session).start("t", "Shall I go out?")
        await session.wait(run.id)
        await check(Candidate(make=lambda: Agent(ReplayService(store, run.id), tools=[weather])))
