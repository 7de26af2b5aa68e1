"""`partita runs`, `replay`, `diff`, `fork` and `reproject`."""

import asyncio
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from partita.runtime.agent.agent import Agent
from partita.runtime.replay.playback import play
from partita.runtime.scripted import ScriptedService
from partita.store.store import Store
from partita.types.codec import encode
from partita.types.json import JsonObject, loads
from partita.types.messages import AssistantMessage, SystemMessage, UserMessage
from partita.types.parts import DataPart, TextPart
from tests.cli.sample_store import fill, new_store, on_terminal, partita
from tests.runtime.replay.example_runs import SCRIPT, launch, launched, run_turn, weather

FAILED = "✗ failed: out of luck"
COMMAND = "<command-name>/model</command-name>"
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


def run_of(store: str, thread: str, index: int = 0) -> str:
    """Return the id of a run of a thread, counted from the first."""
    return str(runs(store, "--thread", thread)[::-1][index]["id"])


# Runs


def test_runs_are_listed_newest_first_with_status_and_error(store: str) -> None:
    result = partita(store, "runs")
    head, first, *rest = result.stdout.splitlines()
    assert head.split() == ["id", "agent", "model", "duration", "tokens", "started", "error"]
    assert "✗" in first
    assert first.endswith("out of luck")
    assert len(rest) == 3
    assert all("✓  agent  scripted" in line for line in rest)


def test_runs_are_filtered_by_project_and_time(store: str) -> None:
    every = runs(store, "--all")
    assert runs(store, "--all", "--limit", "1") == every
    assert runs(store, "--since", "1h") == every
    assert runs(store, "--until", "1h") == []
    assert runs(store, "--project", "nowhere") == []


def test_runs_are_filtered_by_thread_and_status(store: str) -> None:
    assert len(runs(store, "--thread", "moon")) == 2
    assert [run["status"] for run in runs(store, "--status", "failed")] == ["failed"]
    assert "there are more" in partita(store, "runs", "--limit", "1").stderr


def test_short_id_on_a_terminal_identifies_the_run(store: str) -> None:
    shown = COLOURS.sub("", on_terminal(store, "runs", columns=120))
    short = shown.splitlines()[1].split()[0]
    assert 8 <= len(short) < 36
    assert partita(store, "replay", short, "--at-once").exit_code == 0


# Replay


def test_replay_in_a_pipe_prints_the_final_messages(store: str) -> None:
    shown = partita(store, "replay", run_of(store, "sky")).stdout
    lines = [re.sub(r"\d\d:\d\d:\d\d|\d\.\d s|run \S+", "…", line) for line in shown.splitlines()]
    assert lines == [
        "… · agent · scripted · completed · …",
        "",
        "#1 user · …",
        "  ▌ weather?",
        "",
        "#2 agent · scripted · 80 in, 4 out",
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


def test_replay_of_a_failed_run_ends_with_its_error(store: str) -> None:
    assert "✗ failed: out of luck" in partita(store, "replay", "last").stdout


def test_replay_prints_chunks_as_json_lines(store: str) -> None:
    run_id = run_of(store, "moon", 1)
    lines = partita(store, "replay", run_id, "--json").stdout_bytes.splitlines()

    async def chunks() -> list[bytes]:
        from partita.store.connection import open_store

        async with open_store(store) as opened:
            return [encode(played.chunk) async for played in play(opened, run_id, speed=None)]

    assert lines == asyncio.run(chunks())
    assert b"data-partita-call" in partita(store, "replay", run_id, "--json", "--internal").stdout_bytes


def test_replay_on_a_terminal_redraws_and_prints_the_final_messages(store: str) -> None:
    shown = on_terminal(store, "replay", run_of(store, "sky"), "--speed", "1000")
    assert "\x1b[?25l" in shown  # redrawn with a hidden cursor
    ended = COLOURS.sub("", shown.rpartition("\x1b[?25h")[2])
    assert "It is sunny in Oslo, and it will stay so." in ended
    assert "✓ completed" in ended


def test_replay_of_a_thread_plays_its_runs_with_their_questions(store: str) -> None:
    shown = partita(store, "replay", "sky").stdout
    headers = re.findall(r"^#(\d) (\w+)|^([✗✓] .*)$", shown, re.MULTILINE)
    assert ["".join(header) for header in headers] == ["1user", "2agent", "3user", "4agent", FAILED]
    assert shown.startswith("weather?\nsky")
    both = [run_of(store, "sky", index) for index in (0, 1)]
    lines = [partita(store, "replay", run, "--json").stdout for run in both]
    assert partita(store, "replay", "sky", "--json").stdout == "".join(lines)
    played = on_terminal(store, "replay", "sky", "--speed", "1000")
    assert COLOURS.sub("", played).count("▌ weather?") == 1


def test_continued_message_is_printed_once(store: str) -> None:
    shown = partita(store, "replay", "moon").stdout
    assert re.findall(r"^#(\d)", shown, re.MULTILINE) == ["1", "2"]


def test_interrupted_run_is_reported_once(tmp_path: Path) -> None:
    async def work(opened: Store) -> None:
        await opened.threads.create("t")
        await opened.runs.open("t", id="r")
        await opened.messages.save([AssistantMessage(id="m", content="Hm", run_id="r")], thread_id="t")
        await opened.runs.interrupt("r", "interrupted")

    path = str(tmp_path / "store.db")
    fill(path, work)
    assert partita(path, "replay", "last").stdout.count("interrupted") == 1


INVALID: dict[str, tuple[list[str], int, str]] = {
    "an unknown run": (["replay", "zebra"], 1, "`partita threads` and `partita runs` list them"),
    "an empty id": (["replay", ""], 1, "no thread or run ''"),
    "an ambiguous id": (["replay", "0"], 1, "is the beginning of 4 ids of threads and runs"),
    "steps in a pipe": (["replay", "last", "--step"], 2, "--step needs a terminal"),
    "two modes": (["replay", "last", "--step", "--at-once"], 2, "exclude"),
    "steps as JSON": (["replay", "last", "--step", "--json"], 2, "exclude"),
    "a negative speed": (["replay", "last", "--speed", "-1"], 2, "--speed"),
    "reproject without runs": (["reproject"], 2, "name the runs"),
    "reproject with runs and --all": (["reproject", "last", "--all"], 2, "name the runs"),
    "an unknown message": (["fork", "sky", "99"], 1, "partita show sky shows their numbers"),
    "an unknown thread": (["fork", "nowhere", "1"], 1, "no thread 'nowhere'"),
}


@pytest.mark.parametrize(("arguments", "code", "message"), INVALID.values(), ids=INVALID)
def test_invalid_arguments_are_refused(store: str, arguments: list[str], code: int, message: str) -> None:
    result = partita(store, *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr


def test_last_without_runs_is_an_error(tmp_path: Path) -> None:
    store = new_store(tmp_path / "new.db")
    assert "there are no threads with messages yet" in partita(store, "replay", "last").stderr
    assert "no runs" in partita(store, "runs").stderr


# Diff


def test_diff_prints_facts_and_parts(store: str) -> None:
    shown = partita(store, "diff", run_of(store, "sky"), run_of(store, "sky", 1)).stdout
    lines = shown.splitlines()
    assert lines[0].startswith("- run ")
    assert "~ status                   completed       failed" in lines
    assert "~ tool calls                       1            0  -100 %" in lines
    assert '    {"city":"Oslo"} → sunny in Oslo' in lines
    same = partita(store, "diff", "last", "last").stdout
    assert same.endswith("Both runs are equal.\n")


def test_diff_leaves_internal_parts_out(tmp_path: Path) -> None:
    async def work(opened: Store) -> None:
        await opened.threads.create("t")
        for run in ("r1", "r2"):
            record = DataPart("claude-code-system", {"uuid": run, "timestamp": "2026-03-30T08:02:12Z"})
            content = DataPart("claude-code-local_command", {"content": COMMAND, "uuid": run})
            await opened.runs.open("t", id=run)
            messages = [
                SystemMessage(id=f"{run}-i", type="event", internal=True, content=[record], run_id=run),
                SystemMessage(id=f"{run}-c", type="event", content=[content, TextPart(COMMAND)], run_id=run),
                AssistantMessage(id=f"{run}-a", content="Done.", run_id=run),
            ]
            await opened.messages.save(messages, thread_id="t")
            await opened.runs.save(replace(await opened.runs.finish(run), metadata={"log": {}}))

    path = str(tmp_path / "store.db")
    fill(path, work)
    result = partita(path, "diff", "r1", "r2", "--json")
    labels = [part["label"] for part in loads(result.stdout_bytes)["parts"]]
    assert labels == ["system message", "notice", "assistant message", "text"]
    assert partita(path, "diff", "r1", "r2").stdout.endswith("Both runs are equal.\n")


def test_diff_is_json_on_request(store: str) -> None:
    result = partita(store, "diff", run_of(store, "sky"), run_of(store, "sky", 1), "--json")
    found = loads(result.stdout_bytes)
    assert found["same"] is False
    assert {"name": "status", "a": "completed", "b": "failed"} in found["facts"]


# Fork and reproject


@pytest.mark.parametrize("message", ["1", "#1", "last"])
def test_fork_copies_a_thread_up_to_a_message(store: str, message: str) -> None:
    result = partita(store, "fork", "moon", message, "--title", "to Mars")
    forked = result.stdout.strip()
    count = 2 if message == "last" else 1
    assert f"partita: {count} message{'s' if count > 1 else ''}; partita show" in result.stderr
    shown = partita(store, "show", forked, "--no-pager").stdout
    assert shown.startswith(f"to Mars\n{forked}")


def test_reproject_reports_unchanged_runs(store: str) -> None:
    result = partita(store, "reproject", "--all")
    assert (result.exit_code, result.stdout) == (0, "4 runs: 4 unchanged\n")
    named = partita(store, "reproject", run_of(store, "moon")).stdout.splitlines()
    assert [line.split()[0] for line in named] == ["=", "=", "2"]


def test_reproject_does_not_overwrite_an_edited_message_unless_forced(tmp_path: Path) -> None:
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
    assert "not written: it would lose content" in result.stdout
    assert "- $.content.parts[5]: text 'Mine.'" in result.stdout
    dry = partita(path, "reproject", "--all", "--dry-run", "--json")
    (one,) = [loads(line) for line in dry.stdout_bytes.splitlines()]
    assert (dry.exit_code, one["outcome"], one["written"]) == (0, "would-lose", False)
    forced = partita(path, "reproject", "last", "--force")
    assert forced.exit_code == 0
    assert "written with losses" in forced.stdout
    assert partita(path, "reproject", "last").stdout.endswith("1 run: 1 unchanged\n")
