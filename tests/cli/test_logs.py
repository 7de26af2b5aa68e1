"""`partita import` of logs, `partita watch` and `partita hook`, as a person or an agent meets them."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from partita.cli.hook import hook
from partita.cli.import_ import import_anything
from partita.types.json import loads
from tests.store.log_files import SESSION, gardening

PATIENCE = 40.0  # less than it takes until all is looked at again


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "store.db")


def bring_in(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(import_anything, [*arguments, "--workers", "1"], env=environment)


def test_an_import_tells_what_it_did_and_again_that_nothing_is_new(store: str, tmp_path: Path) -> None:
    path = str(gardening().write(tmp_path / "logs"))
    first = CliRunner().invoke(import_anything, [path, "--store", store])
    assert first.exit_code == 0, first.output
    assert "1 with news" in first.output
    assert "6 new, 0 changed, 0 unchanged" in first.output
    again = bring_in(path, "--store", store)
    assert "0 with news" in again.output


def test_without_paths_the_places_of_agents_are_searched(store: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    gardening().write(home / ".claude" / "projects" / "-work-garden")
    plain = {"HOME": str(home), "CLAUDE_CONFIG_DIR": "", "CODEX_HOME": "", "XDG_DATA_HOME": ""}
    result = bring_in("--store", store, "--json", **plain)
    report = loads(result.output)
    assert (report["files"], report["threads"]["new"], report["messages"]["new"]) == (1, 1, 6)
    nothing = bring_in("--store", store, "--agent", "codex", **plain)
    assert "No logs of agents were found." in nothing.output


def test_what_is_broken_is_listed_with_its_lines(store: str, tmp_path: Path) -> None:
    path = gardening().write(tmp_path / "logs")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], b"{broken\n", *lines[3:]]))
    result = bring_in(str(path), str(tmp_path / "nowhere.jsonl"), "--store", store)
    assert result.exit_code == 1
    assert "line 4" in result.output
    assert "nowhere.jsonl: no such file or folder" in result.output
    assert "6 new" in result.output


def test_damage_to_a_session_is_listed_with_its_lines(store: str, tmp_path: Path) -> None:
    path = gardening().write(tmp_path / "logs")
    lines = path.read_bytes().splitlines(keepends=True)
    uuid, parent = (json.loads(lines[1])[name] for name in ("uuid", "parentUuid"))
    lines[1] = lines[1].replace(f'"{parent}"'.encode(), b'"gone"')
    path.write_bytes(b"".join([*lines, lines[2], lines[-1][:-30]]))
    result = bring_in(str(path), "--store", store)
    assert result.exit_code == 0, result.output
    again = json.loads(lines[2])["uuid"]
    assert f"missing parent: gone, the parent of {uuid} (once, line 2)" in result.output
    assert f"duplicate uuid: {again}, first on line 3 (once, line {len(lines) + 1})" in result.output
    assert f"cut last line (once, line {len(lines) + 2})" in result.output


@pytest.mark.parametrize("name", ["notes.jsonl", "export.json", f"{SESSION}.jsonl"])
def test_an_empty_file_is_no_failure(store: str, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    result = bring_in(str(tmp_path / name), "--store", store)
    assert (result.exit_code, "could not" in result.output) == (0, False)


MISUSED = {
    "a dry run of logs": (["--dry-run"], "are for rows"),
    "two sources of rows": (["a", "b", "--from", "mastra"], "name one source"),
    "an agent nobody knows": (["--agent", "hal"], "no agent 'hal'"),
}


@pytest.mark.parametrize(("arguments", "words"), MISUSED.values(), ids=MISUSED)
def test_misuse_is_told(store: str, arguments: list[str], words: str) -> None:
    result = bring_in(*arguments, "--store", store)
    assert (result.exit_code, words in result.output) == (2, True)


def test_a_hook_stores_the_session_that_it_names(store: str, tmp_path: Path) -> None:
    path = gardening().write(tmp_path / "logs")
    told = json.dumps({"session_id": SESSION, "transcript_path": str(path), "hook_event_name": "Stop"})
    result = CliRunner().invoke(hook, ["claude-code", "--store", store], input=told)
    assert (result.exit_code, result.output) == (0, "")
    assert "0 with news" in bring_in(str(path), "--store", store).output


@pytest.mark.parametrize(("options", "code"), [((), 0), (("--strict",), 1)], ids=["lenient", "strict"])
def test_a_hook_that_fails_does_not_stop_the_agent(store: str, options: tuple[str, ...], code: int) -> None:
    result = CliRunner().invoke(hook, ["claude-code", "--store", store, *options], input="no JSON")
    assert (result.exit_code, "names no session" in result.output) == (code, True)


def test_watching_brings_in_new_lines_until_it_is_stopped(store: str, tmp_path: Path) -> None:
    talk = gardening()
    path = tmp_path / "logs" / f"{SESSION}.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"".join(talk.lines().splitlines(keepends=True)[:4]))
    command = [sys.executable, "-c", "from partita.cli.main import main; main()", "watch", str(path.parent)]
    with subprocess.Popen([*command, "--store", store, "--json"], stdout=subprocess.PIPE) as watching:
        assert watching.stdout is not None
        assert loads(watching.stdout.readline())["messages"]["new"] == 3
        talk.append(path, 4)
        new, end = 0, time.monotonic() + PATIENCE
        while new < 3 and time.monotonic() < end:
            new += loads(watching.stdout.readline())["messages"]["new"]
        watching.send_signal(signal.SIGINT)
        assert watching.wait(PATIENCE) == 0
    assert new == 3
