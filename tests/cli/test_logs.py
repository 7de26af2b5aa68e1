"""`partita import` of logs, `partita watch` and `partita hook`."""

import asyncio
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import partita
from partita.cli.hook import hook
from partita.cli.import_ import import_anything
from partita.store.values import RunFilter
from partita.types.json import JsonObject, loads
from tests.importers.log_files import SESSION, gardening, just_now

UNCHANGED = "claude-code   1 file   1 unchanged session\n"
PATIENCE = 40.0  # shorter than the interval in which all files are checked


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "store.db")


def import_logs(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(import_anything, [*arguments, "--workers", "1"], env=environment)


def test_import_reports_changes_and_a_repeated_import_none(store: str, tmp_path: Path) -> None:
    path = str(gardening().write(tmp_path / "logs"))
    first = CliRunner().invoke(import_anything, [path, "--store", store])
    assert first.exit_code == 0, first.output
    assert first.stdout == "claude-code   1 file   1 new session   6 new messages\n"
    again = import_logs(path, "--store", store)
    assert again.stdout == UNCHANGED


def test_folders_of_agents_are_searched_without_paths(store: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    gardening().write(home / ".claude" / "projects" / "-work-garden")
    plain = {"HOME": str(home), "CLAUDE_CONFIG_DIR": "", "CODEX_HOME": "", "XDG_DATA_HOME": ""}
    result = import_logs("--store", store, "--json", **plain)
    report = loads(result.output)
    assert (report["files"], report["threads"]["new"], report["messages"]["new"]) == (1, 1, 6)
    assert [(one["agent"], one["project"], one["new"]) for one in report["sessions"]] == [
        ("claude-code", "/home/ada/garden", True)
    ]
    nothing = import_logs("--store", store, "--agent", "codex", **plain)
    assert (nothing.exit_code, nothing.stdout) == (0, "")
    assert nothing.stderr.splitlines() == [
        "No logs of codex were found in:",
        "  codex        ~/.codex",
        " hint: name files or folders, or set CLAUDE_CONFIG_DIR, CODEX_HOME, "
        "GEMINI_CLI_HOME or XDG_DATA_HOME",
    ]


def test_dry_run_shows_what_would_be_imported_and_creates_no_store(store: str, tmp_path: Path) -> None:
    session = gardening()
    path = session.write(tmp_path / "logs")
    planned = import_logs(str(path), "--store", store, "--dry-run")
    assert planned.exit_code == 0, planned.output
    assert planned.stdout.splitlines() == [
        "claude-code   1 file   1 new session   6 new messages",
        "",
        "would be imported:",
        "  new      claude-code  garden  Which beds need water?  +6 messages",
    ]
    assert planned.stderr == "Dry run: nothing was written.\n"
    assert not Path(store).exists()
    path.write_bytes(b"".join(session.lines().splitlines(keepends=True)[:4]))
    assert import_logs(str(path), "--store", store).exit_code == 0
    session.append(path, 4)
    report = loads(import_logs(str(path), "--store", store, "--dry-run", "--json").stdout)
    counts = {"new": 3, "changed": 0, "unchanged": 3}
    assert report["dryRun"]
    assert report["sessions"] == [
        {
            "id": SESSION,
            "agent": "claude-code",
            "project": "/home/ada/garden",
            "title": "Which beds need water?",
            "new": False,
            "messages": counts,
        }
    ]
    sessions = {"new": 0, "changed": 1, "unchanged": 0, "removed": 0}
    assert report["agents"] == {"claude-code": {"files": 1, "sessions": sessions, "messages": counts}}
    written = loads(import_logs(str(path), "--store", store, "--json").stdout)
    assert written == {**report, "dryRun": False}


def test_errors_precede_counts_and_name_each_path_once(store: str, tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").write_bytes(b"no JSON\n")
    paths = [str(tmp_path / name) for name in ("nowhere.jsonl", "notes.jsonl")]
    result = import_logs(*paths, "--store", store)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.splitlines() == [
        "error: no log of a known agent",
        f"   at: {paths[1]}",
        " hint: known agents: claude-code, codex, gemini-cli, opencode; other data needs --from",
        "error: no such file or folder",
        f"   at: {paths[0]}",
        " hint: check the spelling",
    ]


def test_paths_of_findings_are_relative(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = gardening().write(tmp_path / "logs")
    path.write_bytes(b"{broken\n" + path.read_bytes())
    monkeypatch.chdir(tmp_path)
    assert f"\n  logs/{path.name}: " in import_logs("logs", "--store", store).stdout
    monkeypatch.chdir("/")
    home = {"HOME": str(tmp_path)}
    again = import_logs(str(path), "--store", f"{store}2", **home)
    assert f"\n  ~/logs/{path.name}: " in again.stdout


def test_damaged_lines_and_missing_files_are_reported(store: str, tmp_path: Path) -> None:
    path = gardening().write(tmp_path / "logs")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], b"{broken\n", *lines[3:]]))
    result = import_logs(str(path), str(tmp_path / "nowhere.jsonl"), "--store", store)
    assert result.exit_code == 1
    assert "line 4" in result.output
    assert f"error: no such file or folder\n   at: {tmp_path}/nowhere.jsonl\n" in result.stderr
    assert "6 new" in result.stdout


def test_damage_to_the_tree_of_a_session_is_reported_with_lines(store: str, tmp_path: Path) -> None:
    path = gardening().write(tmp_path / "logs")
    lines = path.read_bytes().splitlines(keepends=True)
    uuid, parent = (json.loads(lines[1])[name] for name in ("uuid", "parentUuid"))
    lines[1] = lines[1].replace(f'"{parent}"'.encode(), b'"gone"')
    path.write_bytes(b"".join([*lines, lines[2], lines[-1][:-30]]))
    result = import_logs(str(path), "--store", store)
    assert result.exit_code == 0, result.output
    again = json.loads(lines[2])["uuid"]
    assert f"missing parent: gone, the parent of {uuid} (once, line 2)" in result.output
    assert f"duplicate uuid: {again}, first on line 3 (once, line {len(lines) + 1})" in result.output
    assert f"cut last line (once, line {len(lines) + 2})" in result.output


@pytest.mark.parametrize("name", ["notes.jsonl", "export.json", f"{SESSION}.jsonl"])
def test_empty_file_is_not_an_error(store: str, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    result = import_logs(str(tmp_path / name), "--store", store)
    assert (result.exit_code, "error" in result.stderr) == (0, False)


INVALID = {
    "tables of logs": (["--tables", "t"], "require --from"),
    "two sources of rows": (["a", "b", "--from", "mastra"], "exactly one source"),
    "an empty path": ([""], "a path is empty"),
    "an unknown agent": (["--agent", "hal"], "unknown agent 'hal'"),
}


@pytest.mark.parametrize(("arguments", "message"), INVALID.values(), ids=INVALID)
def test_invalid_arguments_are_refused(store: str, arguments: list[str], message: str) -> None:
    result = import_logs(*arguments, "--store", store)
    assert (result.exit_code, message in result.output) == (2, True)


def test_hook_imports_the_session(store: str, tmp_path: Path) -> None:
    path = gardening().write(tmp_path / "logs")
    notice = json.dumps({"session_id": SESSION, "transcript_path": str(path), "hook_event_name": "Stop"})
    result = CliRunner().invoke(hook, ["claude-code", "--store", store], input=notice)
    assert (result.exit_code, result.output) == (0, "")
    assert import_logs(str(path), "--store", store).stdout == UNCHANGED


def statuses(store: str, thread_id: str) -> list[str]:
    """Return the statuses of the runs of a thread, oldest first."""

    async def read() -> list[str]:
        async with partita.open_store(store) as opened:
            runs = (await opened.runs.list(RunFilter(thread_id=thread_id))).items
        return [run.status for run in reversed(runs)]

    return asyncio.run(read())


EVENTS = {
    "a turn ended": ("Stop", "completed"),
    "the session ended": ("SessionEnd", "completed"),
    "a sub-agent ended": ("SubagentStop", "running"),
}


@pytest.mark.parametrize(("event", "status"), EVENTS.values(), ids=EVENTS)
@pytest.mark.parametrize("imported", [False, True], ids=["new", "imported before"])
def test_hook_completes_the_run_when_a_turn_ends(
    store: str, tmp_path: Path, imported: bool, event: str, status: str
) -> None:
    path = gardening(began=just_now()).write(tmp_path / "logs")
    if imported:
        import_logs(str(path), "--store", store)
        assert statuses(store, SESSION) == ["completed", "running"]
    notice = json.dumps({"transcript_path": str(path), "hook_event_name": event})
    result = CliRunner().invoke(hook, ["claude-code", "--store", store, "--strict"], input=notice)
    assert result.exit_code == 0, result.output
    assert statuses(store, SESSION) == ["completed", status]


THREAD = "019a2b3c-4d5e-7f80-9a1b-2c3d4e5f6071"


def codex_session(home: Path) -> Path:
    path = home / "sessions" / "2026" / "03" / "02" / f"rollout-2026-03-02T09-00-00-{THREAD}.jsonl"
    path.parent.mkdir(parents=True)
    records: list[JsonObject] = [
        {"type": "session_meta", "payload": {"id": THREAD, "cwd": "/home/ada/garden"}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": "Which beds need water?"}},
        {
            "type": "response_item",
            "payload": {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "The north bed."}],
            },
        },
    ]
    stamped = [{"timestamp": "2026-03-02T09:00:00.000Z", **record} for record in records]
    path.write_text("".join(json.dumps(record) + "\n" for record in stamped))
    return path


def test_codex_hook_names_its_thread_in_an_argument(store: str, tmp_path: Path) -> None:
    codex_session(tmp_path / "codex")
    notice = {
        "type": "agent-turn-complete",
        "thread-id": THREAD,
        "turn-id": "1",
        "cwd": "/home/ada/garden",
        "input-messages": ["Which beds need water?"],
        "last-assistant-message": "The north bed.",
    }
    environment = {"CODEX_HOME": str(tmp_path / "codex")}
    arguments = ["codex", "--store", store, "--strict", json.dumps(notice)]
    result = CliRunner().invoke(hook, arguments, env=environment)
    assert (result.exit_code, result.output) == (0, "")
    assert set(statuses(store, THREAD)) == {"completed"}
    unknown = json.dumps({**notice, "thread-id": THREAD.replace("0", "1")})
    failed = CliRunner().invoke(hook, [*arguments[:-1], unknown], env=environment)
    assert (failed.exit_code, "there is no log of session" in failed.output) == (1, True)


@pytest.mark.parametrize("named", ["transcript_path", "session_id"])
def test_gemini_cli_hook_names_its_session_on_standard_input(store: str, tmp_path: Path, named: str) -> None:
    session = "7d5a1f0c-0000-4000-8000-000000000001"
    path = tmp_path / ".gemini" / "tmp" / "garden" / "chats" / "session-2026-03-02T09-00-7d5a1f0c.json"
    path.parent.mkdir(parents=True)
    messages = [
        {"id": "a", "timestamp": "2026-03-02T09:00:00.000Z", "type": "user", "content": "Which beds?"},
        {"id": "b", "timestamp": "2026-03-02T09:00:01.000Z", "type": "gemini", "content": "The north bed."},
    ]
    head = {"sessionId": session, "projectHash": "garden", "startTime": "2026-03-02T09:00:00.000Z"}
    path.write_text(json.dumps({**head, "messages": messages}))
    notice = {"session_id": session, "transcript_path": "", "hook_event_name": "AfterAgent", "cwd": "/"}
    if named == "transcript_path":
        notice[named] = str(path)
    result = CliRunner().invoke(
        hook,
        ["gemini-cli", "--store", store, "--strict"],
        input=json.dumps(notice),
        env={"GEMINI_CLI_HOME": str(tmp_path)},
    )
    assert (result.exit_code, result.output) == (0, "")
    assert set(statuses(store, session)) == {"completed"}


@pytest.mark.parametrize(("options", "code"), [((), 0), (("--strict",), 1)], ids=["lenient", "strict"])
def test_failed_hook_exits_with_0_unless_strict(store: str, options: tuple[str, ...], code: int) -> None:
    result = CliRunner().invoke(hook, ["claude-code", "--store", store, *options], input="no JSON")
    assert (result.exit_code, "names no session" in result.output) == (code, True)


def test_hook_prints_what_it_imported_as_json(store: str, tmp_path: Path) -> None:
    path = gardening().write(tmp_path / "logs")
    notice = json.dumps({"transcript_path": str(path), "hook_event_name": "Stop"})
    result = CliRunner().invoke(hook, ["claude-code", "--store", store, "--json"], input=notice)
    (session,) = loads(result.stdout)["sessions"]
    assert (session["id"], session["messages"]["new"]) == (SESSION, 6)
    failed = CliRunner().invoke(hook, ["claude-code", "--store", store, "--json"], input="no JSON")
    (problem,) = loads(failed.stdout)["problems"]
    assert (failed.exit_code, problem["what"]) == (0, "the input names no session")


def test_watch_names_the_sessions_that_change(store: str, tmp_path: Path) -> None:
    session = gardening()
    path = session.write(tmp_path / "logs")
    path.write_bytes(b"".join(session.lines().splitlines(keepends=True)[:4]))
    command = [sys.executable, "-c", "from partita.cli.main import main; main()", "watch", str(path.parent)]
    with subprocess.Popen([*command, "--store", store], stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        first = watching.stdout.readline()
        session.append(path, 4)
        second = watching.stdout.readline()
        watching.send_signal(signal.SIGINT)
        assert watching.wait(PATIENCE) == 0
    line = r"\d\d:\d\d:\d\d  claude-code  garden  Which beds need water\?  \+\d messages\n"
    assert re.fullmatch(line, first)
    assert re.fullmatch(line, second)


def test_watch_imports_new_lines_until_stopped(store: str, tmp_path: Path) -> None:
    session = gardening()
    path = tmp_path / "logs" / f"{SESSION}.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"".join(session.lines().splitlines(keepends=True)[:4]))
    command = [sys.executable, "-c", "from partita.cli.main import main; main()", "watch", str(path.parent)]
    with subprocess.Popen([*command, "--store", store, "--json"], stdout=subprocess.PIPE) as watching:
        try:
            assert watching.stdout is not None
            first = loads(watching.stdout.readline())
            assert first["messages"]["new"] == 3, str(first)
            session.append(path, 4)
            new, end = 0, time.monotonic() + PATIENCE
            while new < 3 and time.monotonic() < end:
                new += loads(watching.stdout.readline())["messages"]["new"]
            watching.send_signal(signal.SIGINT)
            assert watching.wait(PATIENCE) == 0
        finally:
            watching.kill()  # a failure must not wait for it
    assert new == 3
