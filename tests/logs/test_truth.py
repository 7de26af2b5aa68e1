"""Recorded logs have the counts that are known for them."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from partita.errors import FormatError
from partita.logs.parsed_log import ParsedLog, parse_log_file
from partita.types.json import Json, JsonObject, is_object
from tests.logs.counting import log_counts
from tests.recordings import folders, read_json
from tests.tables import each_row

FOLDERS = folders("agent-logs")

COUNTED: dict[str, int] = {
    "claude-jsonl": 14,
    "codex-rollout": 10,
    "gemini-json": 10,
    "gemini-jsonl": 10,
    "opencode-export": 12,
    "opencode-sqlite": 1,
    "opencode-storage": 1,
}
"""Formats whose files are counted, and how many fields of the truth each has at least."""

NOT_COUNTED = {
    # The output of another program about a session, with records in it: the truth counts no line as a
    # record; the reader finds some and reads them as a live stream.
    "claude-code/malformed/pretty-printed-not-jsonl.jsonl",
}

FINDINGS: dict[str, dict[str, int]] = {
    "claude-code/malformed/glued-records.jsonl": {"several records on one line": 2},
    "claude-code/malformed/torn-lines.jsonl": {
        "record cut off": 1,
        "not JSON": 1,
        "a line that is not an object": 1,
    },
    "claude-code/single/v2.1.140-every-record.jsonl": {"unknown record type 'hologram'": 1},
    "codex/single/v0.150.0-every-record.jsonl": {"unknown record type 'hologram'": 1},
    "claude-code/malformed/glued-records-v2.1.12.jsonl.gz": {
        "several records on one line": 2,  # two records each, all four read
        "duplicate uuid": 1,
    },
    "claude-code/malformed/pretty-printed-not-jsonl.jsonl": {  # see above
        "not JSON": 248,
        "on one line with something that is not a record": 6,
        "value over several lines": 50,
    },
    # Arguments that were masked before publishing; they are kept as texts.
    "codex/sessions/2026/02/23/rollout-2026-02-23T12-41-04-019c8a4d-8f45-7010-8b5d-7fad920aa6f9.jsonl": {
        "arguments of a call that are not JSON": 118,
    },
    "codex/sessions/2026/02/23/rollout-2026-02-23T13-19-38-019c8a70-dda7-7f33-98ea-f30553347322.jsonl": {
        "arguments of a call that are not JSON": 1,
    },
}
"""All unknown records in files of known agents."""

ORPHANS: dict[str, set[str]] = {
    # Sub-agents that only warm a cache.
    "f1772b66-e327-5e61-a8d6-a0f301c64058.jsonl": {"5e77e001"},
    "5ed31c36-bca8-40fd-8d24-f1a1f0af7901.jsonl": {"c3d572ee", "c63fe96c"},
    "7864f562-717b-4d70-a1cb-b588f7826a1a.jsonl": {"3ea04571", "b1f5d80e"},
    # The sub-agent that runs the compaction.
    "258c7280-ae70-4798-800f-63464d01a85d.jsonl.gz": {"acompact-fffbd0"},
}

UNKNOWN = ("claude-code/stream-json/control-protocol-tool-use.json", "codex/app-server/", "other/")
"""Recordings of protocols, and agents that are not read."""


def truth_of(folder: Path) -> JsonObject:
    return read_json(folder / "truth.json")


def within(counts: Json, truth: Json, where: str = "") -> Iterator[str]:
    """The counts that differ from the truth, which may have more members."""
    if is_object(counts) and is_object(truth):
        for name, value in counts.items():
            yield from within(value, truth.get(name), f"{where}.{name}")
    elif counts != truth:
        yield f"{where}: {counts!r} for {truth!r}"


@each_row("folder", FOLDERS)
@each_row("format", COUNTED)
def test_the_counts_of_every_file_are_right(format: str, folder: Path) -> None:
    truths: JsonObject = {
        name: truth
        for name, truth in truth_of(folder)["files"].items()
        if truth["format"] == format and name not in NOT_COUNTED
    }
    counts = log_counts([str(folder / name) for name in truths])
    wrong: dict[str, list[str]] = {}
    for name, truth in truths.items():
        found = counts["files"][str(folder / name)]
        assert len(found) >= COUNTED[format]
        if differences := list(within(found, truth)):
            wrong[name] = differences
    assert truths
    assert not wrong
    if format == "claude-jsonl":
        assert not list(within(counts["claude_totals"], truth_of(folder)["claude_totals"]))


@cache
def parsed() -> dict[str, ParsedLog | None]:
    """The log of every file; `None` if its format is unknown."""
    logs: dict[str, ParsedLog | None] = {}
    for folder in FOLDERS:
        for name in truth_of(folder)["files"]:
            path = folder / name
            if path.is_dir() or path.suffix == ".db":
                continue  # storages are not read as files
            try:
                logs[key_of(path)] = parse_log_file(path)
            except FormatError:
                logs[key_of(path)] = None
    return logs


def key_of(path: Path) -> str:
    """The root of a file, and its name below it."""
    (folder,) = (folder for folder in FOLDERS if path.is_relative_to(folder))
    return f"{folder.parent.name}: {path.relative_to(folder).as_posix()}"


def name_of(key: str) -> str:
    return key.partition(": ")[2]


def test_every_file_of_a_known_agent_is_read_and_no_other() -> None:
    assert sorted(name for name, log in parsed().items() if log is None) == sorted(
        name for name in parsed() if name_of(name).startswith(UNKNOWN)
    )


def test_all_unknown_records_are_expected() -> None:
    found = {
        name_of(name): {finding.what: finding.times for finding in log.unknown_records}
        for name, log in parsed().items()
        if log is not None and log.unknown_records
    }
    assert found == {name: FINDINGS[name] for name in map(name_of, parsed()) if name in FINDINGS}


def test_sub_agents_that_no_call_claims_are_known() -> None:
    orphans = {Path(name).name: set(log.orphans) for name, log in parsed().items() if log and log.orphans}
    known = {Path(name).name for name in parsed()}
    assert orphans == {name: ORPHANS[name] for name in ORPHANS if name in known}


def test_parents_exist_and_come_before_their_children() -> None:
    for name, log in parsed().items():
        seen = {""}
        for message in log.messages if log else ():
            assert message.parent_id in seen, (name, message.id)
            seen.add(message.id)
