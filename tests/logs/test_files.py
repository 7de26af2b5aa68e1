"""Finding logs: below the homes of agents, and at given paths."""

import gzip
import os
import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import pytest

from partita.errors import PartitaError
from partita.logs.files import Expansion, discover, find_logs, homes, log_of, roots
from partita.logs.sources.claude_code import sidecar_of
from partita.logs.sources.source import Kind, LogFile
from partita.types.json import dumps
from tests.recordings import folders
from tests.tables import each_row

Shape: TypeAlias = tuple[str, Kind, str | None]
"""The agent, the kind and the session of a file."""

ONE = "1b6d3f8a-0c55-4d8e-9a10-6f2f4c1f7a01"
TWO = "2c7e4f9b-1d66-4e9f-8b21-7a3a5d2a8b02"
ROLLOUT = f"rollout-2026-02-03T04-05-06-{ONE}"
SESSIONS = ".local/share/opencode/storage/session/global"

KNOWN: dict[str, tuple[str, Shape]] = {
    "a session of Claude Code": (
        f".claude/projects/-work/{ONE}.jsonl",
        ("claude-code", "session", ONE),
    ),
    "the older place of Claude Code": (
        f".config/claude/projects/-work/{ONE}.jsonl",
        ("claude-code", "session", ONE),
    ),
    "a sub-agent beside its session": (
        ".claude/projects/-work/agent-0a1b.jsonl",
        ("claude-code", "subagent", None),
    ),
    "a sub-agent below its session": (
        f".claude/projects/-work/{ONE}/subagents/agent-0a1b.jsonl",
        ("claude-code", "subagent", ONE),
    ),
    "a sub-agent of a workflow": (
        f".claude/projects/-work/{ONE}/subagents/workflows/run-1/agent-2.jsonl",
        ("claude-code", "subagent", ONE),
    ),
    "a rollout of Codex": (
        f".codex/sessions/2026/02/03/{ROLLOUT}.jsonl",
        ("codex", "session", ONE),
    ),
    "a compressed rollout": (
        f".codex/sessions/2026/02/03/{ROLLOUT}.jsonl.zst",
        ("codex", "session", ONE),
    ),
    "a rollout after a revert": (
        f".codex/sessions/2026/02/03/{ROLLOUT}_{TWO}.jsonl",
        ("codex", "session", ONE),
    ),
    "a rollout in the archive": (f".codex/archived_sessions/{ROLLOUT}.jsonl", ("codex", "session", ONE)),
    "a rollout without an id": (".codex/sessions/rollout-old.jsonl", ("codex", "session", None)),
    "a session of Gemini CLI": (
        ".gemini/tmp/shop/chats/session-2026-02-03T04-05-1b6d3f8a.jsonl",
        ("gemini-cli", "session", None),
    ),
    "a document of Gemini CLI": (
        ".gemini/tmp/shop/chats/session-2026-02-03T04-05-1b6d3f8a.json",
        ("gemini-cli", "document", None),
    ),
    "a sub-agent of Gemini CLI": (
        f".gemini/tmp/shop/chats/{ONE}/{TWO}.jsonl",
        ("gemini-cli", "subagent", ONE),
    ),
    "a session of OpenCode": (f"{SESSIONS}/ses_1.json", ("opencode", "storage-session", "ses_1")),
    "an old session of OpenCode": (
        ".local/share/opencode/project/shop/storage/session/info/ses_2.json",
        ("opencode", "storage-session", "ses_2"),
    ),
    "the database of OpenCode": (".local/share/opencode/opencode.db", ("opencode", "database", None)),
    "the database of a channel": (".local/share/opencode/opencode-dev.db", ("opencode", "database", None)),
}

NO_LOGS = (
    ".claude/history.jsonl",
    ".claude/projects/-work/sessions-index.json",
    ".claude/projects/-work/memory/notes.jsonl",
    f".claude/projects/-work/{ONE}/subagents/journal.jsonl",
    f".claude/projects/-work/{ONE}/subagents/agent-0a1b.meta.json",
    f".claude/projects/-work/{ONE}/tool-results/out.jsonl",
    ".codex/history.jsonl",
    ".codex/log/rollout-x.jsonl",
    ".gemini/tmp/shop/logs.json",
    ".gemini/tmp/shop/checkpoints/session-1.json",
    ".local/share/opencode/opencode.db-shm",
    ".local/share/opencode/snapshot/opencode.db",
    ".local/share/opencode/storage/message/ses_1/msg_1.json",
    ".local/share/opencode/storage/session/global/other.json",
)


def make(home: Path, paths: Iterable[str], content: bytes = b"") -> None:
    for path in paths:
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_bytes(content)


def shape(file: LogFile) -> Shape:
    return file.agent, file.kind, file.session


def relative(files: Iterable[LogFile], top: Path) -> list[str]:
    return [file.path.relative_to(top).as_posix() for file in files]


@pytest.mark.parametrize(("path", "expected"), KNOWN.values(), ids=KNOWN)
def test_a_log_is_discovered_and_found_in_its_folder(path: str, expected: Shape, tmp_path: Path) -> None:
    make(tmp_path, [path, *NO_LOGS], b"{}\n")
    status = (tmp_path / path).stat()
    found = LogFile(tmp_path / path, *expected, 3, status.st_mtime_ns, f"{status.st_dev}:{status.st_ino}")
    assert discover(home=tmp_path, environment={}) == (found,)
    assert found in find_logs([tmp_path]).files
    assert log_of(tmp_path / path) == found


def test_other_files_are_not_logs(tmp_path: Path) -> None:
    make(tmp_path, NO_LOGS, b"{}\n")
    assert discover(home=tmp_path, environment={}) == ()


def test_logs_come_in_an_order_that_does_not_depend_on_the_disk(tmp_path: Path) -> None:
    day = ".codex/sessions/2026/02/03"
    names = [f"{day}/rollout-{letter}.jsonl" for letter in "dbeacf"]
    make(tmp_path, [*names, f".codex/sessions/2025/12/31/{ROLLOUT}.jsonl"])
    expected = [f".codex/sessions/2025/12/31/{ROLLOUT}.jsonl", *sorted(names)]
    assert relative(discover(home=tmp_path, environment={}), tmp_path) == expected
    assert relative(find_logs([tmp_path]).files, tmp_path) == expected


def test_a_rollout_that_is_being_compressed_counts_once(tmp_path: Path) -> None:
    make(tmp_path, [f".codex/archived_sessions/{ROLLOUT}.jsonl{end}" for end in ("", ".zst")])
    assert [file.path.suffix for file in discover(home=tmp_path, environment={})] == [".jsonl"]


ENVIRONMENTS: dict[str, tuple[Mapping[str, str], dict[str, tuple[str, ...]]]] = {
    "none": (
        {},
        {
            "claude-code": (".claude", ".config/claude"),
            "codex": (".codex",),
            "gemini-cli": (".gemini",),
            "opencode": (".local/share/opencode",),
        },
    ),
    "several homes of Claude Code": (
        {"CLAUDE_CONFIG_DIR": "/a, ~/b ,,/c/projects"},
        {"claude-code": ("/a", "b", "/c")},
    ),
    "an empty variable": ({"CLAUDE_CONFIG_DIR": " "}, {"claude-code": (".claude", ".config/claude")}),
    "XDG folders": (
        {"XDG_CONFIG_HOME": "/x", "XDG_DATA_HOME": "/y"},
        {"claude-code": (".claude", "/x/claude"), "opencode": ("/y/opencode",)},
    ),
    "homes of the others": (
        {"CODEX_HOME": "/x", "GEMINI_CLI_HOME": "~/y"},
        {"codex": ("/x",), "gemini-cli": ("y/.gemini",)},
    ),
    "the home itself": ({"CODEX_HOME": "~"}, {"codex": ("",)}),
}


@pytest.mark.parametrize(("environment", "expected"), ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_the_environment_sets_the_homes_of_agents(
    environment: Mapping[str, str], expected: dict[str, tuple[str, ...]], tmp_path: Path
) -> None:
    found = homes(home=tmp_path, environment=environment)
    assert {agent: found[agent] for agent in expected} == {
        agent: tuple(tmp_path / path for path in paths) for agent, paths in expected.items()
    }


@pytest.mark.parametrize("name", ["{home}/elsewhere/my.db", "my.db"], ids=["a whole path", "below the home"])
def test_the_environment_names_a_database(name: str, tmp_path: Path) -> None:
    environment = {"OPENCODE_DB": name.format(home=tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    path = tmp_path / "data" / "opencode" / environment["OPENCODE_DB"]
    make(tmp_path, [str(path)])
    assert [shape(file) for file in discover(home=tmp_path, environment=environment)] == [
        ("opencode", "database", None)
    ]
    assert {path, path.with_name("my.db-wal")} <= set(roots(home=tmp_path, environment=environment))
    assert discover(home=tmp_path, environment=environment, agents=["codex"]) == ()


def test_a_database_in_memory_is_not_a_file(tmp_path: Path) -> None:
    assert not any(
        ":memory:" in str(path) for path in roots(home=tmp_path, environment={"OPENCODE_DB": ":memory:"})
    )


def test_homes_and_agents_can_be_selected(tmp_path: Path) -> None:
    make(
        tmp_path,
        [
            f"backup/sessions/{ROLLOUT}.jsonl",
            f".codex/sessions/{ROLLOUT}.jsonl",
            KNOWN["a session of Claude Code"][0],
        ],
    )
    given = {"codex": [tmp_path / "backup", tmp_path / "none"]}
    assert relative(discover(home=tmp_path, environment={}, roots=given, agents=["codex"]), tmp_path) == [
        f"backup/sessions/{ROLLOUT}.jsonl"
    ]
    assert len(discover(home=tmp_path, environment={}, roots=given)) == 2


@pytest.mark.parametrize(
    "wrong", [{"agents": ["cobol"]}, {"roots": {"cobol": []}}], ids=["asked for", "given"]
)
def test_an_unknown_agent_is_refused(
    wrong: dict[str, list[str] | dict[str, list[Path]]], tmp_path: Path
) -> None:
    with pytest.raises(PartitaError, match=r"'cobol'.*hint: agents: claude-code, codex"):
        discover(home=tmp_path, environment={}, **wrong)  # type: ignore[arg-type] # one keyword of two types


def test_a_log_reached_by_two_ways_counts_once(tmp_path: Path) -> None:
    make(tmp_path, [KNOWN["a session of Claude Code"][0]])
    (tmp_path / ".config").mkdir()
    (tmp_path / ".config" / "claude").symlink_to(tmp_path / ".claude")
    assert len(discover(home=tmp_path, environment={})) == 1


def test_links_are_followed_without_loops(tmp_path: Path) -> None:
    make(tmp_path, [f"moved/-work/{ONE}.jsonl", f"moved/-work/{ONE}/subagents/agent-1.jsonl"])
    (tmp_path / "moved" / "-work" / ONE / "subagents" / "up").symlink_to(tmp_path / "moved")
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "projects").symlink_to(tmp_path / "moved")
    assert len(discover(home=tmp_path, environment={})) == 2
    assert len(find_logs([tmp_path / ".claude"]).files) == 2


def test_what_to_watch_need_not_exist(tmp_path: Path) -> None:
    make(tmp_path, [".local/share/opencode/opencode-dev.db"])
    data = tmp_path / ".local" / "share" / "opencode"
    assert roots(home=tmp_path, environment={}, agents=["codex", "opencode"]) == (
        tmp_path / ".codex" / "sessions",
        tmp_path / ".codex" / "archived_sessions",
        data / "storage",
        data / "project",
        data / "opencode.db",
        data / "opencode.db-wal",
        data / "opencode-dev.db",
        data / "opencode-dev.db-wal",
    )


def test_everything_discovered_is_watched(tmp_path: Path) -> None:
    make(tmp_path, [path for path, _ in KNOWN.values()])
    watched = roots(home=tmp_path, environment={})
    for file in discover(home=tmp_path, environment={}):
        assert any(file.path.is_relative_to(root) for root in watched), file


OTHER_USER = 65534


@contextmanager
def as_other_user() -> Generator[None]:
    """Without the rights of root, to whom nothing is forbidden."""
    if sys.platform == "win32" or os.geteuid() != 0:
        yield
        return
    os.seteuid(OTHER_USER)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(sys.platform == "win32", reason="a folder has no mode there")
def test_a_folder_without_permission_is_reported() -> None:
    with TemporaryDirectory() as folder:  # others may not read the folders of pytest
        home = Path(folder).resolve()
        home.chmod(0o755)
        make(home, [path for path, _ in KNOWN.values()])
        closed = home / ".codex" / "sessions"
        closed.chmod(0)
        try:
            with as_other_user():
                problems: list[PartitaError] = []
                found = discover(home=home, environment={}, report=problems.append)
                expansion = find_logs([home])
        finally:
            closed.chmod(0o700)
    assert [problem.where for problem in problems] == [str(closed)]
    assert [problem.where for problem in expansion.problems] == [str(closed)]
    assert len(found) == len(expansion.files) > 5


def test_a_folder_that_cannot_be_read_is_reported_and_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, [path for path, _ in KNOWN.values()])
    real = os.scandir

    def failing(path: str) -> object:
        if str(path).endswith("archived_sessions"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", failing)
    problems: list[PartitaError] = []
    found = discover(home=tmp_path, environment={}, agents=["codex"], report=problems.append)
    assert len(found) == 3
    assert [str(problem) for problem in problems] == [
        f"cannot be read: permission denied (at {tmp_path / '.codex' / 'archived_sessions'}); "
        "hint: check its permissions"
    ]


def test_the_sidecar_of_a_subagent(tmp_path: Path) -> None:
    make(
        tmp_path, ["agent-1.jsonl", "agent-1.meta.json", "agent-2.jsonl", f"{ONE}.jsonl", f"{ONE}.meta.json"]
    )
    assert sidecar_of(tmp_path / "agent-1.jsonl") == tmp_path / "agent-1.meta.json"
    assert sidecar_of(tmp_path / "agent-1.jsonl.gz") == tmp_path / "agent-1.meta.json"
    assert sidecar_of(tmp_path / "agent-2.jsonl") is None
    assert sidecar_of(tmp_path / f"{ONE}.jsonl") is None


STORAGE = ".local/share/opencode/storage"
PIECES = {
    "what SQLite keeps aside": (".local/share/opencode/opencode.db-wal", ".local/share/opencode/opencode.db"),
    "a sidecar": (
        ".claude/projects/-work/agent-0a1b.meta.json",
        ".claude/projects/-work/agent-0a1b.jsonl",
    ),
    "a message": (f"{STORAGE}/message/ses_1/msg_1.json", f"{SESSIONS}/ses_1.json"),
    "a part": (f"{STORAGE}/part/msg_1/prt_1.json", f"{SESSIONS}/ses_1.json"),
    "a part of a missing message": (f"{STORAGE}/part/msg_9/prt_1.json", None),
    "a message of a missing session": (f"{STORAGE}/message/ses_9/msg_1.json", None),
    "something else": (".claude/settings.json", None),
}


@pytest.mark.parametrize(("piece", "whole"), PIECES.values(), ids=PIECES)
def test_a_change_of_a_part_is_a_change_of_the_log(piece: str, whole: str | None, tmp_path: Path) -> None:
    make(tmp_path, [path for path, _ in KNOWN.values()])
    make(tmp_path, [piece, f"{STORAGE}/message/ses_1/msg_1.json"])
    found = log_of(tmp_path / piece)
    assert (found and found.path) == (tmp_path / whole if whole else None)


def test_a_database_changes_with_its_write_ahead_log(tmp_path: Path) -> None:
    path, ahead = tmp_path / "opencode.db", tmp_path / "opencode.db-wal"
    path.write_bytes(b"12345")
    ahead.touch()
    before = log_of(path)
    os.utime(ahead, ns=(10**18, path.stat().st_mtime_ns + 10**9))
    assert before == log_of(path)  # empty, as readers leave it
    ahead.write_bytes(b"123")
    os.utime(ahead, ns=(10**18, path.stat().st_mtime_ns + 10**9))
    after = log_of(path)
    assert before is not None
    assert after == before._replace(size=8, mtime_ns=path.stat().st_mtime_ns + 10**9)


def test_a_removed_log_is_not_found(tmp_path: Path) -> None:
    assert log_of(tmp_path / KNOWN["a session of Claude Code"][0]) is None


# What a person names.

LINE = dumps({"parentUuid": None, "isSidechain": False, "type": "user", "uuid": "u", "sessionId": ONE})
EXEC = dumps({"type": "thread.started", "thread_id": "t"})
DOCUMENT = dumps({"info": {"id": "ses_1"}, "messages": []})

BY_CONTENT: dict[str, tuple[str, bytes, Shape]] = {
    "a session under another name": ("kept.jsonl", LINE, ("claude-code", "session", None)),
    "a session under its own name": (f"{ONE}.jsonl", LINE, ("claude-code", "session", ONE)),
    "a compressed session": (f"{ONE}.jsonl.gz", gzip.compress(LINE), ("claude-code", "session", ONE)),
    "a sub-agent": ("agent-1.jsonl", LINE, ("claude-code", "subagent", None)),
    "a sub-agent of a copied session": (
        f"{ONE}/subagents/agent-1.jsonl",
        LINE,
        ("claude-code", "subagent", ONE),
    ),
    "what an agent printed": ("printed.ndjson", EXEC, ("codex", "stream", None)),
    "an export": ("export.json", DOCUMENT, ("opencode", "document", None)),
    "a document of Gemini CLI": (
        "x.json",
        dumps({"sessionId": ONE, "projectHash": "h", "messages": []}),
        ("gemini-cli", "document", None),
    ),
}


@pytest.mark.parametrize(("name", "content", "expected"), BY_CONTENT.values(), ids=BY_CONTENT)
def test_a_log_is_known_by_its_content(name: str, content: bytes, expected: Shape, tmp_path: Path) -> None:
    make(tmp_path, [name], content)
    for given in (tmp_path / name, tmp_path, str(tmp_path)):
        expansion = find_logs([given])
        assert [shape(file) for file in expansion.files] == [expected]
        assert not expansion.problems


def test_a_given_file_can_have_any_name(tmp_path: Path) -> None:
    make(tmp_path, ["transcript", "notes.txt"], LINE)
    assert len(find_logs([tmp_path / "transcript", tmp_path / "notes.txt"]).files) == 2
    assert not find_logs([tmp_path]).files  # but a folder is not searched for files of any name


def test_problems_do_not_stop_the_rest(tmp_path: Path) -> None:
    make(tmp_path, ["good.jsonl"], LINE)
    make(tmp_path, ["poem.txt"], b"roses are red\n")
    make(tmp_path, ["cut.jsonl.gz"], gzip.compress(LINE * 50)[:30])
    (tmp_path / "empty").mkdir()
    names = ["missing.jsonl", "good.jsonl", "poem.txt", "cut.jsonl.gz", "empty", "good.jsonl"]
    files, problems = find_logs(tmp_path / name for name in names)
    assert relative(files, tmp_path) == ["good.jsonl"]
    assert [(problem.what, Path(problem.where).name) for problem in problems] == [
        ("no such file or folder", "missing.jsonl"),
        ("no log of a known agent", "poem.txt"),
        ("compressed file is cut off", "cut.jsonl.gz"),
        ("no logs in this folder", "empty"),
    ]
    assert all(problem.hint for problem in problems)


def test_links_that_lead_nowhere_do_not_hide_the_logs_beside_them(tmp_path: Path) -> None:
    make(tmp_path, ["good.jsonl"], LINE)
    (tmp_path / "circle.jsonl").symlink_to("circle.jsonl")
    (tmp_path / "gone.jsonl").symlink_to("nowhere.jsonl")
    (tmp_path / "itself").symlink_to(".")
    files, problems = find_logs([tmp_path])
    assert (relative(files, tmp_path), problems) == (["good.jsonl"], ())
    (problem,) = find_logs([tmp_path / "circle.jsonl"]).problems
    assert problem.hint == "a link points to itself"


def test_a_folder_with_an_unreadable_log_is_one_problem(tmp_path: Path) -> None:
    make(tmp_path, ["cut.jsonl.gz"], gzip.compress(LINE * 50)[:30])
    assert [problem.what for problem in find_logs([tmp_path]).problems] == ["compressed file is cut off"]


@pytest.mark.parametrize("name", ["node_modules/a.jsonl", ".git/a.jsonl", f"{ONE}/tool-results/a.jsonl"])
def test_folders_without_logs_are_not_searched(name: str, tmp_path: Path) -> None:
    make(tmp_path, [name], LINE)
    assert find_logs([tmp_path]).files == ()


def test_relative_paths_are_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, [f".claude/projects/-work/{ONE}/subagents/agent-1.jsonl"])
    monkeypatch.chdir(tmp_path / ".claude" / "projects" / "-work" / ONE)
    for given in ("subagents", "subagents/agent-1.jsonl"):
        assert [shape(file) for file in find_logs([given]).files] == [("claude-code", "subagent", ONE)]


FOUND: dict[str, dict[tuple[str, str], int]] = {
    "fixtures": {
        ("claude-code", "session"): 13,
        ("claude-code", "subagent"): 4,
        ("claude-code", "stream"): 1,
        ("codex", "session"): 8,
        ("codex", "stream"): 1,
        ("gemini-cli", "session"): 2,
        ("gemini-cli", "document"): 1,
        ("opencode", "document"): 2,
        ("opencode", "stream"): 1,
        ("opencode", "storage-session"): 1,
        ("opencode", "database"): 1,
    },
    "corpora": {
        ("claude-code", "session"): 65,
        ("claude-code", "subagent"): 10,
        ("claude-code", "stream"): 2,
        ("codex", "session"): 17,
        ("codex", "stream"): 3,
        ("gemini-cli", "session"): 17,
        ("gemini-cli", "document"): 6,
        ("opencode", "document"): 3,
        ("opencode", "stream"): 3,
        ("opencode", "storage-session"): 1,
        ("opencode", "database"): 1,
    },
}
"""How many logs a folder of recordings holds."""


@each_row("folder", folders("agent-logs"))
def test_every_recorded_log_is_found_and_nothing_else(folder: Path) -> None:
    expansion = find_logs([folder])
    assert expansion == Expansion(expansion.files, ())
    counts: dict[tuple[str, str], int] = {}
    for file in expansion.files:
        counts[file.agent, file.kind] = counts.get((file.agent, file.kind), 0) + 1
    assert counts == FOUND[folder.parent.name]
