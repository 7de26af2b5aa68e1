"""`partita rename`, `tag`, `pin`, `resume` and `open`."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from partita.cli.main import cli
from partita.logs.sources.registry import SOURCES
from partita.store.store import Store
from partita.types.json import loads
from partita.types.messages import UserMessage
from tests.cli.sample_store import BUILD, CLOCK, add_threads, fill
from tests.cli.test_completion import completed
from tests.cli.test_serve import Server, running
from tests.importers.log_files import SESSION, gardening
from tests.processes import Piped
from tests.tables import each_row

__all__ = ["running"]


def run(store: str, *arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(cli, list(arguments), env={"PARTITA_STORE": store, **environment})


@pytest.fixture
def store(tmp_path: Path) -> str:
    fill(str(tmp_path / "s.db"), add_threads)
    return str(tmp_path / "s.db")


@pytest.fixture
def imported(tmp_path: Path) -> str:
    """A store with a session, whose log and project folder exist."""
    log = gardening()
    for record in log.records:
        record["cwd"] = str(tmp_path / "garden")
    (tmp_path / "garden").mkdir()
    path = log.write(tmp_path / "logs")
    result = run(str(tmp_path / "s.db"), "import", str(path), "--workers", "1")
    assert result.exit_code == 0, result.output
    return str(tmp_path / "s.db")


def thread(store: str, id: str = CLOCK) -> dict[str, object]:
    lines = run(store, "threads", "--all", "--json").stdout.splitlines()
    return next(one for one in map(loads, lines) if one["id"] == id)


def test_a_thread_is_renamed(store: str) -> None:
    result = run(store, "rename", CLOCK[:12], " The  clock ")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", f"partita: {CLOCK}: The clock\n")
    assert thread(store)["title"] == "The clock"
    removed = loads(run(store, "rename", BUILD, "", "--json").stdout)
    assert (removed["id"], removed.get("title")) == (BUILD, None)
    assert run(store, "rename", "no-such-thread", "x").exit_code == 1


def test_a_title_tags_and_pin_are_kept_when_the_session_grows(imported: str, tmp_path: Path) -> None:
    path = tmp_path / "logs" / f"{SESSION}.jsonl"
    log = gardening()
    run(imported, "rename", SESSION, "My garden")
    run(imported, "tag", SESSION, "garden")
    run(imported, "pin", SESSION)

    def grow(title: str) -> dict[str, object]:
        start = len(log.records)
        log.raw(type="custom-title", customTitle=title, sessionId=SESSION)
        log.prompt(f"And the hedge? {title}").append(path, start)
        result = run(imported, "import", str(path), "--workers", "1")
        assert "1 new message\n" in result.stdout, result.output
        return thread(imported, SESSION)

    found = grow("Theirs")
    assert found["title"] == "My garden"
    assert isinstance(found["metadata"], dict)
    assert (found["metadata"]["tags"], found["metadata"]["pinned"]) == (["garden"], True)
    run(imported, "rename", SESSION, "")
    assert grow("Theirs again")["title"] == "Theirs again"


def test_tags_are_added_removed_and_listed(store: str) -> None:
    assert run(store, "tag", CLOCK, "bug", "flaky test").stdout.splitlines() == ["bug", "flaky test"]
    assert run(store, "tag", CLOCK, "bug", "slow").stdout.splitlines() == ["bug", "flaky test", "slow"]
    assert run(store, "tag", CLOCK, "bug", "none", "--remove").stdout.splitlines() == ["flaky test", "slow"]
    assert run(store, "tag", CLOCK).stdout.splitlines() == ["flaky test", "slow"]
    run(store, "tag", BUILD, "slow")
    assert ids(run(store, "threads", "--tag", "slow", "--json")) == {CLOCK, BUILD}
    assert ids(run(store, "threads", "--tag", "slow", "--tag", "flaky test", "--json")) == {CLOCK}
    assert completed("tag", CLOCK, "s", store=store).keys() == {"slow"}
    for name in ("", " x", "a,b", "a\nb"):
        result = run(store, "tag", CLOCK, name)
        assert (result.exit_code, "is not a tag" in result.stderr) == (1, True)


def ids(result: Result) -> set[str]:
    return {loads(line)["id"] for line in result.stdout.splitlines()}


def test_a_thread_is_pinned_and_unpinned(store: str) -> None:
    assert run(store, "pin", BUILD).stderr == f"partita: {BUILD} is pinned\n"
    assert ids(run(store, "threads", "--pinned", "--json")) == {BUILD}
    assert loads(run(store, "pin", BUILD, "--off", "--json").stdout)["metadata"] == {"k": [1]}
    assert run(store, "threads", "--pinned", "--json").stdout == ""


def test_resume_prints_the_command_of_the_agent(
    imported: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "garden"
    result = run(imported, "resume", "last")
    assert (result.stdout, result.stderr) == (f"cd {folder} && claude --resume {SESSION}\n", "")
    monkeypatch.chdir(folder)
    assert run(imported, "resume", SESSION[:8]).stdout == f"claude --resume {SESSION}\n"
    assert loads(run(imported, "resume", "last", "--json").stdout) == {
        "agent": "claude-code",
        "session": SESSION,
        "command": ["claude", "--resume", SESSION],
        "folder": str(folder),
    }


def test_resume_runs_the_command_in_the_folder_of_the_project(imported: str, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    claude = programs / "claude"
    claude.write_text('#!/bin/sh\npwd\necho "$@"\nexit 3\n')
    claude.chmod(0o755)
    environment = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(tmp_path), "PARTITA_STORE": imported}
    piped = Piped("resume", "last", "--run", environment=environment, folder=tmp_path)
    ended = piped.end(30)
    assert (ended.code, ended.output.decode().split()) == (3, [str(tmp_path / "garden"), "--resume", SESSION])


def test_resume_warns_of_a_missing_folder_and_session_file(imported: str, tmp_path: Path) -> None:
    (tmp_path / "garden").rmdir()
    (tmp_path / "logs" / f"{SESSION}.jsonl").unlink()
    result = run(imported, "resume", "last")
    assert result.exit_code == 0
    assert "the file of the session no longer exists: " in result.stderr
    assert "the folder of the project no longer exists: " in result.stderr
    refused = run(imported, "resume", "last", "--run")
    assert refused.exit_code == 1
    assert "error: the folder of the project no longer exists" in refused.stderr
    assert f"claude --resume {SESSION}" in refused.stderr


def test_resume_refuses_what_is_not_a_session(store: str, tmp_path: Path) -> None:
    for path in (CLOCK, BUILD):
        result = run(store, "resume", path)
        assert (result.exit_code, result.stdout) == (1, "")
        assert "is not a session of an agent" in result.stderr
        assert f"partita export {path} --to" in result.stderr


@each_row("agent", SOURCES)
def test_resume_commands_contain_the_session(agent: str) -> None:
    command = SOURCES[agent].resume
    assert not command or "{session}" in " ".join(command)
    if agent in ("claude-code", "codex", "gemini-cli", "opencode"):
        assert command


def test_open_prints_the_address_of_a_running_server(tmp_path: Path, running: list[Server]) -> None:
    async def add(store: Store) -> None:
        await store.threads.create("a/b c", title="Lamp")
        await store.messages.save([UserMessage(id="m", content="Hi")], thread_id="a/b c")

    path = str(tmp_path / "store.db")
    fill(path, add)
    plain = {"HOME": str(tmp_path), "CI": "1", "XDG_STATE_HOME": ""}
    alone = run(path, "open", "last", **plain)
    assert (alone.exit_code, alone.stdout) == (1, "")
    assert "no server of this store is running" in alone.stderr
    server = Server(tmp_path, "--port", "0", "--no-import", "--no-demo")
    running.append(server)
    opened = run(path, "open", "last", **plain)
    assert (opened.exit_code, opened.stdout) == (0, f"{server.address}#/t/a%2Fb%20c\n"), opened.output
    fill(str(tmp_path / "other.db"), add)
    assert run(str(tmp_path / "other.db"), "open", "last", **plain).exit_code == 1
    server.stop()
    assert run(path, "open", "last", **plain).exit_code == 1
    assert not list((tmp_path / ".local" / "state" / "partita").glob("server-*"))
