"""`partita reproject` over runs of our own and imported ones, as a person meets it."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from partita.importers.logs.importer import import_logs
from partita.importers.logs.workers import Workers
from partita.logs.files import find_logs
from partita.runtime.agent.agent import Agent
from partita.runtime.scripted import ScriptedService
from partita.store.store import Store
from partita.types.json import loads
from partita.types.messages import AssistantMessage
from partita.types.parts import ReasoningPart
from tests.cli.view_store import fill, partita
from tests.logs.claude_session import SESSION, Session
from tests.runtime.replay.example_runs import SCRIPT, launch, run_turn, weather


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A run of our own, and two of an imported session, the first with a thought missing."""

    async def work(opened: Store) -> None:
        log = tmp_path / f"{SESSION}.jsonl"
        log.write_bytes(Session().work("Bake bread", "c1").turn("And rolls?").data)
        await import_logs(opened, find_logs([log]).files, workers=Workers(1))
        log.unlink()
        answer = (await opened.messages.list(SESSION)).items[1]
        assert isinstance(answer, AssistantMessage)
        parts = tuple(part for part in answer.parts if not isinstance(part, ReasoningPart))
        await opened.messages.save([replace(answer, content=replace(answer.content, parts=parts))])
        agent = Agent(ScriptedService(SCRIPT), tools=[weather, launch], store=opened)
        await run_turn(agent, "sky", "weather?")
        await agent.session.close()

    path = str(tmp_path / "store.db")
    fill(path, work)
    return path


def test_all_runs_are_told_by_their_kinds(store: str) -> None:
    dry = partita(store, "reproject", "--all", "--dry-run")
    assert dry.exit_code == 0
    assert dry.stdout.splitlines() == [
        f"~ run {SESSION}@0  would be changed",
        "    message msg-u-1",
        '      $.content.parts[1]: nothing → {"type":"reasoning","text":"hm","id":"0","state":"done",'
        '"providerMetadata":{"an…',
        "3 runs (1 of our own, 2 imported): 2 unchanged, 1 would be changed",
    ]
    done = partita(store, "reproject", "--all").stdout.splitlines()
    assert done[-1] == "3 runs (1 of our own, 2 imported): 2 unchanged, 1 changed"
    again = partita(store, "reproject", "--all").stdout
    assert again == "3 runs (1 of our own, 2 imported): 3 unchanged\n"


def test_of_a_session_the_run_that_was_named_is_told(store: str) -> None:
    partita(store, "reproject", "--all")
    told = partita(store, "reproject", f"{SESSION}@0").stdout.splitlines()
    assert told == [f"= run {SESSION}@0  unchanged", "2 runs (0 of our own, 2 imported): 2 unchanged"]


def test_as_json_each_run_says_whether_it_was_imported(store: str) -> None:
    lines = partita(store, "reproject", "--all", "--dry-run", "--json").stdout_bytes.splitlines()
    told = {one["threadId"]: (one["imported"], one["written"]) for one in map(loads, lines)}
    assert told == {SESSION: (True, False), "sky": (False, False)}
