"""`partita reproject` of recorded and imported runs."""

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
from tests.cli.sample_store import fill, partita
from tests.logs.claude_session import SESSION, Session
from tests.runtime.replay.example_runs import SCRIPT, launch, run_turn, weather


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store with a recorded run and two imported ones, of which the first lacks its reasoning."""

    async def work(opened: Store) -> None:
        log = tmp_path / f"{SESSION}.jsonl"
        log.write_bytes(Session().work("Bake bread", "c1").turn("And rolls?").data)
        await import_logs(opened, find_logs([log]).files, workers=Workers(1))
        log.unlink()
        response = (await opened.messages.list(SESSION)).items[1]
        assert isinstance(response, AssistantMessage)
        parts = tuple(part for part in response.parts if not isinstance(part, ReasoningPart))
        await opened.messages.save([replace(response, content=replace(response.content, parts=parts))])
        agent = Agent(ScriptedService(SCRIPT), tools=[weather, launch], store=opened)
        await run_turn(agent, "sky", "weather?")
        await agent.session.close()

    path = str(tmp_path / "store.db")
    fill(path, work)
    return path


def test_recorded_and_imported_runs_are_counted(store: str) -> None:
    dry = partita(store, "reproject", "--all", "--dry-run")
    assert dry.exit_code == 0
    assert dry.stdout.splitlines() == [
        f"~ run {SESSION}@0  would change",
        "    message msg-u-1",
        '      $.content.parts[1]: nothing → {"type":"reasoning","text":"hm","id":"0","state":"done",'
        '"providerMetadata":{"an…',
        "3 runs (1 recorded, 2 imported): 2 unchanged, 1 would change",
    ]
    done = partita(store, "reproject", "--all").stdout.splitlines()
    assert done[-1] == "3 runs (1 recorded, 2 imported): 2 unchanged, 1 changed"
    again = partita(store, "reproject", "--all").stdout
    assert again == "3 runs (1 recorded, 2 imported): 3 unchanged\n"


def test_named_run_of_a_session_is_printed(store: str) -> None:
    partita(store, "reproject", "--all")
    lines = partita(store, "reproject", f"{SESSION}@0").stdout.splitlines()
    assert lines == [f"= run {SESSION}@0  unchanged", "2 runs (0 recorded, 2 imported): 2 unchanged"]


def test_json_marks_imported_runs(store: str) -> None:
    lines = partita(store, "reproject", "--all", "--dry-run", "--json").stdout_bytes.splitlines()
    found = {one["threadId"]: (one["imported"], one["written"]) for one in map(loads, lines)}
    assert found == {SESSION: (True, False), "sky": (False, False)}
