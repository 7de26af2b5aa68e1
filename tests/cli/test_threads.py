"""`partita threads`."""

import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from partita.store.store import Store
from partita.store.values import ConsumptionRecord
from partita.types.codec import decode
from partita.types.json import loads
from partita.types.threads import Thread
from tests.cli.sample_store import BUILD, CLOCK, OTHER, add_threads, fill, new_store, on_terminal, partita

COLOURS = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z>=]|\x1b[>=]|\r")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("store") / "store.db")
    fill(path, add_threads)
    return path


def listed(store: str, *arguments: str) -> list[str]:
    result = partita(store, "threads", "--json", *arguments)
    assert result.exit_code == 0, result.stderr
    return [loads(line)["id"] for line in result.stdout.splitlines()]


def test_table_in_a_pipe_has_whole_ids(store: str) -> None:
    result = partita(store, "threads")
    assert (
        result.stdout
        == f"""\
id                                    title                     agent        project          msgs     last
{CLOCK}  Fix the flaky clock test  claude-code  /home/ada/clock     5  ✗  3 h ago
{BUILD}  The build is slow         codex        /srv/build          2     6 h ago
"""
    )
    assert result.stderr == ""


def test_empty_threads_are_hidden(store: str) -> None:
    assert listed(store) == [CLOCK, BUILD]
    assert listed(store, "--empty") == [CLOCK, BUILD, OTHER]


async def add_work(store: Store) -> None:
    """Add threads with costs, tools and a git branch; one is a fork."""
    await add_threads(store)
    await store.threads.update_metadata(BUILD, {"gitBranch": "main", "pinned": True})
    await store.threads.fork(BUILD, "q", new_id="copy")
    await store.usage.record(
        [
            ConsumptionRecord(thread_id=BUILD, key="a", model="opus-4", input_tokens=900, cost=12.5),
            ConsumptionRecord(thread_id=CLOCK, key="b", model="haiku-4", input_tokens=5_000, cost=0.5),
        ]
    )


def test_threads_are_selected_and_sorted_by_what_they_used(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    fill(path, add_work)
    assert listed(path, "--model", "opus-4") == [BUILD]
    assert listed(path, "--tool", "Bash") == [CLOCK]
    assert listed(path, "--branch", "main") == ["copy", BUILD]
    assert listed(path, "--sort", "cost") == [BUILD, CLOCK, "copy"]
    assert listed(path, "--sort", "tokens") == [CLOCK, BUILD, "copy"]
    assert listed(path, "--sort", "messages") == [CLOCK, BUILD, "copy"]
    assert listed(path, "--sort", "created", "--limit", "1") == ["copy"]
    found = loads(partita(path, "threads", "--json", "--model", "opus-4").stdout)
    assert (found["models"], found["cost"], found["inputTokens"]) == (["opus-4"], 12.5, 900)
    lines = partita(path, "threads", "--sort", "cost").stdout.splitlines()
    assert "opus-4   /srv/build          2     900  $12.50  ★ " in lines[1]
    assert "⑂" in lines[3]
    for columns in (60, 80, 100):
        shown = COLOURS.sub("", on_terminal(path, "threads", "--sort", "cost", columns=columns))
        assert "$12.50" in shown
        assert all(len(line) <= columns for line in shown.splitlines())


def test_unknown_agent_is_an_error(store: str) -> None:
    commands = (["threads"], ["runs"], ["stats"], ["search", "a"], ["export", "-o", "folder"])
    for command in commands:
        result = partita(store, *command, "--agent", "claud-code")
        assert (result.exit_code, result.stdout) == (1, ""), command
        assert "error: no agent 'claud-code'" in result.stderr
        assert "did you mean claude-code? known: " in result.stderr


def test_table_on_a_terminal_has_short_ids_and_colours(store: str) -> None:
    shown = on_terminal(store, "threads")
    assert "\x1b[33m0198a3c2-7\x1b[0m  Fix the flaky clock" in shown
    assert CLOCK not in shown


FILTERS: dict[str, tuple[list[str], list[str]]] = {
    "agent": (["--agent", "codex"], [BUILD]),
    "project": (["--project", "/srv/build/"], [BUILD]),
    "words": (["--text", "linker"], [BUILD]),
    "errors": (["--errors"], [CLOCK]),
    "since": (["--since", "4h"], [CLOCK]),
    "until": (["--until", "4h"], [BUILD]),
    "all together": (["--agent", "codex", "--since", "7h"], [BUILD]),
    "part of the project": (["--project", "clock"], [CLOCK]),
    "nothing": (["--text", "nobody"], []),
    "some": (["--limit", "1"], [CLOCK]),
    "all": (["--limit", "1", "--all"], [CLOCK, BUILD]),
}


@pytest.mark.parametrize(("arguments", "ids"), FILTERS.values(), ids=FILTERS)
def test_filters_select_threads(store: str, arguments: list[str], ids: list[str]) -> None:
    assert listed(store, *arguments) == ids


def test_all_reads_every_page(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partita.cli.threads.PAGE", 1)
    assert listed(store, "--all") == [CLOCK, BUILD]
    assert ["✗" in line for line in partita(store, "threads", "--all").stdout.splitlines()] == [
        False,
        True,
        False,
    ]


def test_json_is_the_whole_thread(store: str) -> None:
    lines = partita(store, "threads", "--json").stdout.splitlines()
    build = decode(lines[1], Thread)
    assert (build.id, build.metadata, build.message_count) == (BUILD, {"k": [1]}, 2)


def test_limit_is_reported_if_there_are_more_threads(store: str) -> None:
    assert (
        "there are more threads; increase --limit, or use --all"
        in partita(store, "threads", "--limit", "1").stderr
    )
    assert partita(store, "threads", "--limit", "2").stderr == ""


def test_exact_times_are_in_utc(store: str) -> None:
    hour = datetime.now(UTC) - timedelta(hours=3)
    assert f"{hour:%Y-%m-%dT%H:}" in partita(store, "threads", "--iso", "--limit", "1").stdout


def test_empty_store_has_a_hint(tmp_path: Path) -> None:
    result = partita(new_store(tmp_path / "new.db"), "threads")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "partita import" in result.stderr


def test_dot_is_the_current_directory(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    path = str(tmp_path / "store.db")
    fill(path, lambda opened: opened.threads.create("mine", project=str(here.resolve())))
    assert listed(path, "--project", ".", "--empty") == ["mine"]


def test_invalid_time_is_refused() -> None:
    result = partita("memory:", "threads", "--since", "soon")
    assert result.exit_code == 2
    assert "'soon' is not a time" in result.stderr


def test_control_characters_in_titles_are_escaped(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    fill(
        path,
        lambda opened: opened.threads.create(
            "t", title="\x1b[2J[red]x\u202e", agent="\x1b]0;a\x07", project="/\x9b"
        ),
    )
    shown = partita(path, "threads", "--empty").stdout
    assert "\\x1b[2J[red]x\\u202e  \\x1b]0;a\\x07  /\\x9b" in shown
    assert "\\u009b" in on_terminal(path, "threads", "--json", "--empty")


def test_command_imports_neither_the_store_nor_rich() -> None:
    code = "import sys, partita.cli.threads, partita.cli.show, partita.cli.search\n"
    code += "print([name for name in ('sqlalchemy', 'rich', 'pygments') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
