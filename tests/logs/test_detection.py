"""Detection of the agent and the format of a log."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import PartitaError
from partita.logs.detection import DetectedLog, detect
from partita.logs.lines.heads import LIMIT, WINDOW, first_values, values_of
from partita.types.json import Json, JsonObject, dumps, indented
from tests.recordings import folders, read_json
from tests.tables import each_row

ONE = "1b6d3f8a-0c55-4d8e-9a10-6f2f4c1f7a01"
NOON = "2026-02-03T12:00:00.000Z"


def line(**members: Json) -> JsonObject:
    """A line of the log of Claude Code."""
    return {"parentUuid": None, "isSidechain": False, "uuid": "u", "sessionId": ONE} | members


MESSAGE: JsonObject = {"role": "user", "content": "hello"}
SNAPSHOT: JsonObject = {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}
ANSWER: JsonObject = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}

FORMATS: dict[str, tuple[list[Json], str]] = {
    "a prompt of Claude Code": ([line(type="user", message=MESSAGE)], "claude-code-log"),
    "a summary before the conversation": (
        [{"type": "summary", "summary": "s", "leafUuid": "l"}, line(type="user", message=MESSAGE)],
        "claude-code-log",
    ),
    "a summary only": ([{"type": "summary", "summary": "s", "leafUuid": "l"}], "claude-code-log"),
    "snapshots only": ([SNAPSHOT, SNAPSHOT], "claude-code-log"),
    "a queue": ([{"type": "queue-operation", "operation": "enqueue", "sessionId": ONE}], "claude-code-log"),
    "a mode": ([{"type": "mode", "mode": "normal", "sessionId": ONE}], "claude-code-log"),
    "a title": ([{"type": "custom-title", "customTitle": "t", "sessionId": ONE}], "claude-code-log"),
    "an unknown record first": ([{"type": "new"}, 7, None, line(type="new")], "claude-code-log"),
    "the stream of Claude Code": (
        [{"type": "system", "subtype": "init", "session_id": "s", "tools": [], "cwd": "/"}],
        "claude-code-stream",
    ),
    "an old response in the stream": (
        [{"type": "assistant", "message": ANSWER, "session_id": "s"}],
        "claude-code-stream",
    ),
    "a prompt in the stream": (
        [{"type": "user", "message": MESSAGE, "session_id": "s", "parent_tool_use_id": None}],
        "claude-code-stream",
    ),
    "a delta in the stream": (
        [{"type": "stream_event", "event": {"type": "ping"}, "session_id": "s"}],
        "claude-code-stream",
    ),
    "a result of the stream": (
        [{"type": "result", "subtype": "success", "session_id": "s", "num_turns": 1}],
        "claude-code-stream",
    ),
    "a control request": (
        [{"type": "control_request", "request_id": "r", "request": {"subtype": "can_use_tool"}}],
        "claude-code-stream",
    ),
    "a rollout": ([{"timestamp": NOON, "type": "session_meta", "payload": {"id": "t"}}], "codex-rollout"),
    "a rollout in pages": (
        [{"timestamp": NOON, "ordinal": 0, "type": "session_meta", "payload": {"id": "t"}}],
        "codex-rollout",
    ),
    "a rollout that starts with an unknown record": (
        [{"timestamp": NOON, "type": "new_record", "payload": {}}],
        "codex-rollout",
    ),
    "a rollout before the envelope": (
        [{"id": "t", "timestamp": NOON, "instructions": None}, {"record_type": "state"}],
        "codex-rollout",
    ),
    "a rollout whose header is lost": ([{"record_type": "state"}], "codex-rollout"),
    "codex exec": ([{"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}], "codex-exec"),
    "codex exec without its start": (
        [{"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "x"}}],
        "codex-exec",
    ),
    "older codex exec": ([{"id": "0", "msg": {"type": "task_started"}}], "codex-exec"),
    "records of Gemini CLI": (
        [{"sessionId": ONE, "projectHash": "h", "startTime": NOON, "kind": "main"}, {"$set": {}}],
        "gemini-cli",
    ),
    "a rewind of Gemini CLI": ([{"$rewindTo": "m"}], "gemini-cli"),
    "a response of Gemini CLI": (
        [{"id": "m", "timestamp": NOON, "type": "gemini", "content": "x"}],
        "gemini-cli",
    ),
    "a document of Gemini CLI": (
        [{"sessionId": ONE, "projectHash": "h", "messages": []}],
        "gemini-cli",
    ),
    "a document with its header at the end": (
        [{"lastUpdated": NOON, "messages": [{"id": "m", "timestamp": NOON, "type": "user", "content": ""}]}],
        "gemini-cli",
    ),
    "the stream of Gemini CLI": (
        [{"type": "init", "timestamp": NOON, "session_id": "s", "model": "m"}],
        "gemini-cli-stream",
    ),
    "a tool in the stream of Gemini CLI": (
        [{"type": "tool_use", "tool_name": "t", "tool_id": "i", "parameters": {}}],
        "gemini-cli-stream",
    ),
    "an export": ([{"info": {"id": "ses_1"}, "messages": []}], "opencode-export"),
    "an export that is cut": ([{"info": {"id": "ses_1", "title": "cu"}}], "opencode-export"),
    "parts": (
        [{"type": "text", "text": "x", "messageID": "msg_1", "sessionID": "ses_1", "id": "prt_1"}],
        "opencode-parts",
    ),
    "parts without ids": (
        [{"type": "text", "text": "x"}, {"type": "tool", "tool": "bash", "callID": "c", "state": {}}],
        "opencode-parts",
    ),
}


@each_row(("values", "expected"), FORMATS.values(), ids=FORMATS)
def test_the_first_values_determine_the_format(values: list[Json], expected: str) -> None:
    detected = detect(values)
    assert detected is not None
    assert detected.format == expected
    assert expected.startswith(detected.agent)
    assert 0.5 < detected.confidence <= 1
    assert detected.why


OTHERS: dict[str, list[Json]] = {
    "nothing": [],
    "no objects": [1, "x", None, [], [{"type": "thread.started", "thread_id": "t"}]],
    "an empty object": [{}],
    "messages of an API": [MESSAGE, {"role": "assistant", "content": "x", "tool_calls": []}],
    "items of an API": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]}
    ],
    "prompts typed": [{"display": "x", "timestamp": 1, "project": "/", "sessionId": ONE}],
    "JSON-RPC": [{"id": 1, "result": {}}, {"method": "item/completed", "params": {"item": {}}}],
    "Copilot CLI": [{"type": "session.start", "data": {}, "id": "a", "timestamp": NOON, "parentId": None}],
    "Cursor": [{"role": "user", "message": {"content": []}}],
    "what Cursor prints": [
        {"type": "system", "subtype": "init", "session_id": "s", "model": "m", "cwd": "/"},
        {"type": "assistant", "message": {"role": "assistant", "content": []}, "session_id": "s"},
    ],
    "what Amp prints": [{"type": "system", "subtype": "init", "session_id": "T-1", "tools": []}],
    "Pi": [
        {"type": "session", "version": 3, "id": "a", "timestamp": NOON, "cwd": "/"},
        {"type": "message", "id": "b", "parentId": None, "timestamp": NOON, "message": MESSAGE},
    ],
    "Qwen Code": [
        {"uuid": "u", "parentUuid": None, "sessionId": ONE, "type": "user", "message": {"parts": []}},
        line(type="user", message={"role": "user", "parts": []}),
    ],
    "Factory Droid": [{"type": "session_start", "id": "a", "title": "t", "cwd": "/"}],
    "Kiro": [{"version": "v1", "kind": "Prompt", "data": {"message_id": "m"}}],
    "UI messages": [{"id": "m", "role": "user", "parts": [{"type": "text", "text": "x"}]}],
    "chunks": [{"type": "start"}, {"type": "start-step"}, {"type": "text-delta", "id": "0", "delta": "x"}],
    "members that are not text": [{"type": ["summary"], "summary": 1, "leafUuid": 2}, {"type": {}}],
}


@each_row("values", OTHERS.values(), ids=OTHERS)
def test_files_of_other_programs_are_not_detected_as_logs(values: list[Json]) -> None:
    assert detect(values) is None


NAMES: dict[str, tuple[str, list[Json], DetectedLog | None]] = {
    "an empty rollout": (
        "rollout-2026.jsonl",
        [],
        DetectedLog("codex", "codex-rollout", 0.3, "the name of an empty file"),
    ),
    "an empty session": (
        f"{ONE}.jsonl",
        [],
        DetectedLog("claude-code", "claude-code-log", 0.3, "the name of an empty file"),
    ),
    "an empty chat": (
        "session-1.jsonl",
        [],
        DetectedLog("gemini-cli", "gemini-cli", 0.3, "the name of an empty file"),
    ),
    "an empty file": ("notes.jsonl", [], None),
    "an empty document": (f"{ONE}.json", [], None),
    "bare items in a rollout": (
        "rollout-2026.jsonl",
        [{"type": "reasoning", "summary": []}],
        DetectedLog("codex", "codex-rollout", 0.7, "bare items in a rollout"),
    ),
    "unknown records of the session": (
        f"{ONE}.jsonl",
        [{"type": "new-state", "sessionId": ONE}],
        DetectedLog("claude-code", "claude-code-log", 0.7, "records of the session that names the file"),
    ),
    "records of another session": (f"{ONE}.jsonl", [{"type": "new-state", "sessionId": "x"}], None),
    "a name against its content": (f"{ONE}.jsonl", [{"version": "v1", "kind": "Prompt", "data": {}}], None),
}


@each_row(("name", "values", "expected"), NAMES.values(), ids=NAMES)
def test_the_file_name_decides_if_records_are_ambiguous(
    name: str, values: list[Json], expected: DetectedLog | None
) -> None:
    assert detect(values, name) == expected


def test_the_sign_with_the_highest_confidence_is_used() -> None:
    values: list[Json] = [SNAPSHOT, line(type="user", message=MESSAGE)]
    assert detect(values[:1]) == DetectedLog("claude-code", "claude-code-log", 0.9, "records about a session")
    assert detect(values) == DetectedLog("claude-code", "claude-code-log", 1.0, "lines chained by parentUuid")


def test_only_the_first_values_are_read() -> None:
    nothing: list[Json] = [{}] * LIMIT
    assert detect([*nothing, SNAPSHOT]) is None


MEMBERS = (
    *("type", "id", "timestamp", "payload", "message", "session_id", "sessionId", "projectHash", "info"),
    *("parentUuid", "isSidechain", "messages", "$set", "$rewindTo", "msg", "item", "request", "response"),
    *("record_type", "instructions", "state", "tools", "subtype", "tokens"),
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["init", "user", "tool", "item.started", "ses_"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=6),
    max_leaves=12,
)


@given(st.lists(values, max_size=5), st.sampled_from(["", f"{ONE}.jsonl", "rollout-1.jsonl"]))
def test_detection_accepts_any_values(some: list[Json], name: str) -> None:
    detected = detect(some, name)
    assert detected is None or 0 < detected.confidence <= 1


# The first values of a file.

TEXTS: dict[str, tuple[str, list[Json]]] = {
    "nothing": ("", []),
    "lines": ('{"a":1}\n{"a":2}\n', [{"a": 1}, {"a": 2}]),
    "no end of line": ('{"a":1}\n{"a":2}', [{"a": 1}, {"a": 2}]),
    "a cut last line": ('{"a":1}\n{"a":', [{"a": 1}]),
    "a cut first line": ('{"a":"x\n{"a":2}\n', [{"a": 2}]),
    "glued records": ('{"a":1}{"a":2}\n', [{"a": 1}, {"a": 2}]),
    "blank lines, NULs and a mark": ('\ufeff\n\0\0\0{"a":1}\r\n\r\n{"a":2}', [{"a": 1}, {"a": 2}]),
    "a document over many lines": ('{\n "a": {\n "b": 1\n }\n}\n', [{"a": {"b": 1}}]),
    "text between values": ('[10:00] hello\n {\n "a": 1\n}\nbye {"a":2}\n{"a":3}', [{"a": 1}, {"a": 3}]),
    "no JSON": ("hello\nworld\n", []),
    "control characters": ('{"a":"\t"}', [{"a": "\t"}]),
    "half a pair": ('{"a":"\\ud83d"}', [{"a": "\ud83d"}]),
}


@each_row(("text", "expected"), TEXTS.values(), ids=TEXTS)
def test_the_values_of_a_text(text: str, expected: list[Json]) -> None:
    assert values_of(text) == expected


def test_no_more_values_than_needed_are_parsed() -> None:
    assert values_of('{"a":1}\n' * 100) == [{"a": 1}] * LIMIT


LONG = "x" * (2 * WINDOW)
CUT: dict[str, tuple[bytes, str]] = {
    "a first line longer than the window": (
        dumps(line(type="user", message=MESSAGE | {"content": LONG})) + b"\n",
        "claude-code-log",
    ),
    "a document on one line": (
        dumps({"info": {"id": "ses_1"}, "messages": [{"x": LONG}]}),
        "opencode-export",
    ),
    "a document over many lines": (
        indented({"sessionId": ONE, "projectHash": "h", "messages": [{"id": "m", "content": LONG}]}),
        "gemini-cli",
    ),
    "a whole line before the long one": (
        dumps(SNAPSHOT) + b"\n" + dumps(line(message=LONG)),
        "claude-code-log",
    ),
}


@pytest.mark.parametrize(("content", "expected"), CUT.values(), ids=CUT)
def test_a_file_longer_than_the_window_is_detected_by_its_start(
    content: bytes, expected: str, tmp_path: Path
) -> None:
    (tmp_path / "x").write_bytes(content)
    detected = detect(first_values(tmp_path / "x"))
    assert detected is not None
    assert detected.format == expected


def test_a_compressed_file_is_detected_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(b'{"a":1}\n'))
    assert first_values(tmp_path / "x.jsonl.gz") == [{"a": 1}]


@pytest.mark.parametrize("name", ["x.gz", "x.zst", "x.jsonl"])
@pytest.mark.parametrize("content", [b'{"a":1}\n', gzip.compress(b'{"a":1}\n')], ids=["plain", "gzip"])
def test_the_content_decides_whether_a_file_is_compressed(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    assert first_values(tmp_path / name) == [{"a": 1}]


def test_the_head_of_a_large_compressed_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.gz").write_bytes(gzip.compress(b'{"a":1}\n' * WINDOW))
    assert first_values(tmp_path / "x.gz") == [{"a": 1}] * LIMIT


def test_a_compressed_file_that_is_cut_at_its_head_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.gz").write_bytes(gzip.compress(b'{"a":1}\n')[:20])
    with pytest.raises(PartitaError, match="cut off"):
        first_values(tmp_path / "x.gz")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PartitaError, match="cannot be read"):
        first_values(tmp_path / "missing")


@given(st.text(st.sampled_from('{}[]":,\\ab1 \n\0'), max_size=60), st.booleans())
def test_any_text_gives_values(text: str, cut: bool) -> None:
    assert all(isinstance(value, (dict, list, str, int, type(None))) for value in values_of(text, cut=cut))


@given(st.lists(values.filter(lambda value: isinstance(value, dict)), max_size=LIMIT))
def test_what_is_written_as_lines_is_read_back(some: list[Json]) -> None:
    assert values_of("".join(dumps(value).decode() + "\n" for value in some)) == some


def test_deep_nesting_is_not_an_error() -> None:
    assert values_of("[\n" * 5000) == []


# Real logs.

EXPECTED = {
    "claude-jsonl": "claude-code-log",
    "claude-stream-json": "claude-code-stream",
    "claude-control-recording": None,
    "codex-rollout": "codex-rollout",
    "codex-exec-json": "codex-exec",
    "codex-app-server": None,
    "gemini-json": "gemini-cli",
    "gemini-jsonl": "gemini-cli",
    "opencode-export": "opencode-export",
}
BY_NAME = {"claude-code/malformed/pretty-printed-not-jsonl.jsonl": "claude-code-stream"}


@each_row("folder", folders("agent-logs"))
def test_every_recorded_log_is_detected(folder: Path) -> None:
    wrong: dict[str, DetectedLog | None] = {}
    for name, facts in read_json(folder / "truth.json")["files"].items():
        if facts["format"] in ("opencode-sqlite", "opencode-storage"):
            continue
        parts = "opencode-parts" if name.startswith("opencode/") else None
        expected = BY_NAME.get(name, EXPECTED.get(facts["format"], parts))
        detected = detect(first_values(folder / name), Path(name).name)
        if (detected and detected.format) != expected:
            wrong[name] = detected
    assert not wrong
