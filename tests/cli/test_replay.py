"""`partita runs`, `replay`, `diff`, `fork` and `reproject`, as a person or a pipe meets them."""

import asyncio
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from partita.cli.main import cli
from partita.runtime.agent.agent import Agent
from partita.runtime.replay.playback import play
from partita.runtime.scripted import ScriptedService
from partita.store.store import Store
from partita.types.codec import encode
from partita.types.json import JsonObject, loads
from partita.types.messages import UserMessage
from tests.cli.view_store import fill, on_terminal, partita
from tests.runtime.replay.example_runs import SCRIPT, launch, launched, run_turn, weather

COLOURS = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    async def work(opened: Store) -> None:
        agent = Agent(ScriptedService(SCRIPT), tools=[weather, launch], store=opened)
        await run_turn(agent, "sky", "weather?")
        await launched(agent, "moon")
        await run_turn(agent, "sky", "fail please")
        await agent.session.close()

    path = str(tmp_path_factory.mktemp("store") / "store.db")
    fill(path, work)
    return path


def runs(store: str, *arguments: str) -> list[JsonObject]:
    result = partita(store, "runs", "--json", *arguments)
    assert result.exit_code == 0, result.stderr
    return [loads(line) for line in result.stdout_bytes.splitlines()]


def run_of(store: str, thread: str, place: int = 0) -> str:
    """A run of a thread, counted from the first."""
    return str(runs(store, "--thread", thread)[::-1][place]["id"])


# Runs


def test_runs_newest_first_with_how_they_ended(store: str) -> None:
    result = partita(store, "runs")
    head, first, *rest = result.stdout.splitlines()
    assert head.split() == ["id", "agent", "model", "took", "tokens", "began"]
    assert "✗" in first
    assert first.endswith("out of luck")
    assert len(rest) == 3
    assert all("✓  agent  scripted" in line for line in rest)


def test_runs_of_a_thread_by_status(store: str) -> None:
    assert len(runs(store, "--thread", "moon")) == 2
    assert [run["status"] for run in runs(store, "--status", "failed")] == ["failed"]
    assert "there are more" in partita(store, "runs", "--limit", "1").stderr


def test_a_terminal_gets_as_much_of_an_id_as_it_needs(store: str) -> None:
    shown = COLOURS.sub("", on_terminal(store, "runs", columns=120))
    short = shown.splitlines()[1].split()[0]
    assert 8 <= len(short) < 36
    assert partita(store, "replay", short, "--at-once").exit_code == 0


# Replay


def test_a_run_in_a_pipe_is_drawn_as_it_ended(store: str) -> None:
    shown = partita(store, "replay", run_of(store, "sky")).stdout
    lines = [re.sub(r"\d\d:\d\d:\d\d|\d\.\d s|run \S+", "…", line) for line in shown.splitlines()]
    assert lines == [
        "… · agent · scripted · completed · …",
        "",
        "#1 user · …",
        "  ▌ weather?",
        "",
        "agent · scripted · 80 in, 4 out",
        "  ∴ I should look it up.",
        "",
        '  ✓ weather  city: "Oslo"',
        "  │ → sunny in Oslo",
        "",
        "  ╌╌ step 2",
        "",
        "  It is sunny in Oslo, and it will stay so.",
        "",
        "✓ completed · 29 chunks · … · 80 in, 4 out",
    ]


def test_a_failed_run_says_so(store: str) -> None:
    assert "✗ failed: out of luck" in partita(store, "replay", "last").stdout


def test_chunks_one_a_line(store: str) -> None:
    run_id = run_of(store, "moon", 1)
    lines = partita(store, "replay", run_id, "--json").stdout_bytes.splitlines()

    async def played() -> list[bytes]:
        from partita.store.connection import open_store

        async with open_store(store) as opened:
            return [encode(seen.chunk) async for seen in play(opened, run_id, speed=None)]

    assert lines == asyncio.run(played())
    assert b"data-partita-call" in partita(store, "replay", run_id, "--json", "--internal").stdout_bytes


def test_a_terminal_sees_it_grow_and_then_all_of_it(store: str) -> None:
    shown = on_terminal(store, "replay", run_of(store, "sky"), "--speed", "1000")
    assert "\x1b[?25l" in shown  # drawn over and over, with the cursor hidden
    ended = COLOURS.sub("", shown.rpartition("\x1b[?25h")[2])
    assert "It is sunny in Oslo, and it will stay so." in ended
    assert "✓ completed" in ended


def test_step_by_step_back_and_forth(store: str) -> None:
    environment = {"PARTITA_STORE": store, "COLUMNS": "80"}
    result = CliRunner().invoke(
        cli, ["replay", run_of(store, "sky"), "--step"], input="nn\nbfGgq", env=environment
    )
    assert result.exit_code == 0, result.output
    places = re.findall(r"^ ?(\d+)/(\d+)  \S+ \S+  (.*)$", result.stdout, re.MULTILINE)
    assert [name for _, _, name in places] == [
        "the beginning",
        "start",
        "start-step",
        "reasoning-start",
        "start-step",
        "tool-input-available",
        "finish",
        "the beginning",
    ]
    assert {count for _, count, _ in places} == {"33"}


BAD: dict[str, tuple[list[str], int, str]] = {
    "no such run": (["replay", "zebra"], 1, "`partita runs` lists them"),
    "no run at all": (["replay", ""], 1, "no run ''"),
    "a beginning that all have": (["replay", "0"], 1, "begins the ids of 4 runs"),
    "two ways at once": (["replay", "last", "--step", "--at-once"], 2, "exclude"),
    "steps as JSON": (["replay", "last", "--step", "--json"], 2, "exclude"),
    "a speed below none": (["replay", "last", "--speed", "-1"], 2, "--speed"),
    "which runs?": (["reproject"], 2, "name the runs"),
    "these, or all?": (["reproject", "last", "--all"], 2, "name the runs"),
    "no such message": (["fork", "sky", "99"], 1, "partita show sky shows their numbers"),
    "no such thread": (["fork", "nowhere", "1"], 1, "no thread 'nowhere'"),
}


@pytest.mark.parametrize(("arguments", "code", "told"), BAD.values(), ids=BAD)
def test_what_is_meant_must_be_clear(store: str, arguments: list[str], code: int, told: str) -> None:
    result = partita(store, *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert told in result.stderr


def test_the_last_of_no_runs(tmp_path: Path) -> None:
    assert "there are no runs yet" in partita(str(tmp_path / "new.db"), "replay", "last").stderr
    assert "no runs" in partita(str(tmp_path / "new.db"), "runs").stderr


# Diff


def test_two_runs_side_by_side(store: str) -> None:
    shown = partita(store, "diff", run_of(store, "sky"), run_of(store, "sky", 1)).stdout
    lines = shown.splitlines()
    assert lines[0].startswith("- run ")
    assert "~ status                     completed       failed" in lines
    assert "~ calls                              1            0  -100 %" in lines
    assert '    {"city":"Oslo"} → sunny in Oslo' in lines
    same = partita(store, "diff", "last", "last").stdout
    assert same.endswith("Both said and did the same.\n")


def test_two_runs_as_json(store: str) -> None:
    result = partita(store, "diff", run_of(store, "sky"), run_of(store, "sky", 1), "--json")
    found = loads(result.stdout_bytes)
    assert found["same"] is False
    assert {"name": "status", "a": "completed", "b": "failed"} in found["facts"]


# Fork and reproject


@pytest.mark.parametrize("message", ["1", "#1", "last"])
def test_a_thread_forked_at_a_message(store: str, message: str) -> None:
    result = partita(store, "fork", "moon", message, "--title", "to Mars")
    forked = result.stdout.strip()
    count = 2 if message == "last" else 1
    assert f"{count} message{'s' if count > 1 else ''}, up to #{count}" in result.stderr
    shown = partita(store, "show", forked, "--no-pager").stdout
    assert shown.startswith(f"to Mars\n{forked}")


def test_runs_that_come_out_as_they_are(store: str) -> None:
    result = partita(store, "reproject", "--all")
    assert (result.exit_code, result.stdout) == (0, "4 runs: 4 unchanged\n")
    named = partita(store, "reproject", run_of(store, "moon")).stdout.splitlines()
    assert [line.split()[0] for line in named] == ["=", "=", "2"]


def test_a_message_that_was_written_into_is_told_and_left(tmp_path: Path) -> None:
    from msgspec.structs import replace

    from partita.types.messages import AssistantMessage
    from partita.types.parts import TextPart

    async def work(opened: Store) -> None:
        agent = Agent(ScriptedService(SCRIPT), tools=[weather, launch], store=opened)
        await run_turn(agent, "sky", "weather?")
        message = (await opened.messages.list("sky")).items[-1]
        assert isinstance(message, AssistantMessage)
        parts = (*message.parts, TextPart("Mine."))
        await opened.messages.save([replace(message, content=replace(message.content, parts=parts))])
        await opened.threads.create("old")
        await opened.messages.save([UserMessage(id="u", content="hi")], thread_id="old")
        await agent.session.close()

    path = str(tmp_path / "store.db")
    fill(path, work)
    result = partita(path, "reproject", "--all")
    assert result.exit_code == 1
    assert "would lose something: left as it is" in result.stdout
    assert "- $.content.parts[5]: text 'Mine.'" in result.stdout
    dry = partita(path, "reproject", "--all", "--dry-run", "--json")
    (one,) = [loads(line) for line in dry.stdout_bytes.splitlines()]
    assert (dry.exit_code, one["outcome"], one["written"]) == (0, "would-lose", False)
    forced = partita(path, "reproject", "last", "--force")
    assert forced.exit_code == 0
    assert "written, with losses" in forced.stdout
    assert partita(path, "reproject", "last").stdout.endswith("1 run: 1 unchanged\n")
