"""`partita threads`."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from partita.types.codec import decode
from partita.types.json import loads
from partita.types.threads import Thread
from tests.cli.sample_store import BUILD, CLOCK, OTHER, add_threads, fill, new_store, on_terminal, partita


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
{OTHER}  (no title)                codex                            0     9 h ago
"""
    )
    assert result.stderr == ""


def test_table_on_a_terminal_has_short_ids_and_colours(store: str) -> None:
    shown = on_terminal(store, "threads")
    assert "\x1b[33m0198a3c2-7\x1b[0m  Fix the flaky clock" in shown
    assert CLOCK not in shown


FILTERS: dict[str, tuple[list[str], list[str]]] = {
    "agent": (["--agent", "codex"], [BUILD, OTHER]),
    "project": (["--project", "/srv/build/"], [BUILD]),
    "words": (["--text", "linker"], [BUILD]),
    "errors": (["--errors"], [CLOCK]),
    "since": (["--since", "4h"], [CLOCK]),
    "until": (["--until", "4h"], [BUILD, OTHER]),
    "all together": (["--agent", "codex", "--since", "7h"], [BUILD]),
    "nothing": (["--agent", "nobody"], []),
    "some": (["--limit", "1"], [CLOCK]),
    "all": (["--limit", "1", "--all"], [CLOCK, BUILD, OTHER]),
}


@pytest.mark.parametrize(("arguments", "ids"), FILTERS.values(), ids=FILTERS)
def test_filters_select_threads(store: str, arguments: list[str], ids: list[str]) -> None:
    assert listed(store, *arguments) == ids


def test_all_reads_every_page(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partita.cli.threads.PAGE", 1)
    assert listed(store, "--all") == [CLOCK, BUILD, OTHER]
    assert ["✗" in line for line in partita(store, "threads", "--all").stdout.splitlines()] == [
        False,
        True,
        False,
        False,
    ]


def test_json_is_the_whole_thread(store: str) -> None:
    lines = partita(store, "threads", "--json").stdout.splitlines()
    build = decode(lines[1], Thread)
    assert (build.id, build.metadata, build.message_count) == (BUILD, {"k": [1]}, 2)


def test_limit_is_reported_if_there_are_more_threads(store: str) -> None:
    assert (
        "there are more threads; increase --limit, or use --all"
        in partita(store, "threads", "--limit", "2").stderr
    )
    assert partita(store, "threads", "--limit", "3").stderr == ""


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
    assert listed(path, "--project", ".") == ["mine"]


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
    shown = partita(path, "threads").stdout
    assert "\\x1b[2J[red]x\\u202e  \\x1b]0;a\\x07  /\\x9b" in shown
    assert "\\u009b" in on_terminal(path, "threads", "--json")


def test_command_imports_neither_the_store_nor_rich() -> None:
    code = "import sys, partita.cli.threads, partita.cli.show, partita.cli.search\n"
    code += "print([name for name in ('sqlalchemy', 'rich', 'pygments') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
