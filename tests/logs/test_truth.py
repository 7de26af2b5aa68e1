"""Real logs with counted truth, where the folder that holds them is there: every number is right."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from partita.errors import FormatError
from partita.logs.parsing import ParsedLog, parse_log_file
from partita.types.json import Json, JsonObject, is_object, loads
from tests.logs.counting import log_counts
from tests.tables import each_row

CORPUS = Path(__file__).parents[3] / "shared" / "corpora" / "agent-logs"

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpora are not here")

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
    # What another program printed about a session, with records in it: the truth finds no line that is one,
    # the reader finds some, and takes them for what was printed live.
    "claude-code/malformed/pretty-printed-not-jsonl.jsonl",
}

FINDINGS: dict[str, dict[str, int]] = {
    "claude-code/malformed/glued-records-v2.1.12.jsonl.gz": {
        "several records on one line": 2,  # two records each, all four read
    },
    "claude-code/malformed/pretty-printed-not-jsonl.jsonl": {  # see above
        "not JSON": 248,
        "on one line with something that is no record": 6,
        "value over several lines": 50,
    },
    # Arguments that somebody blacked out before publishing; they are kept as the texts they are.
    "codex/sessions/2026/02/23/rollout-2026-02-23T12-41-04-019c8a4d-8f45-7010-8b5d-7fad920aa6f9.jsonl": {
        "arguments of a call that are no JSON": 118,
    },
    "codex/sessions/2026/02/23/rollout-2026-02-23T13-19-38-019c8a70-dda7-7f33-98ea-f30553347322.jsonl": {
        "arguments of a call that are no JSON": 1,
    },
}
"""All that is not understood in files of known agents."""

ORPHANS: dict[str, set[str]] = {
    # Sub-agents that only warm a cache.
    "5ed31c36-bca8-40fd-8d24-f1a1f0af7901.jsonl": {"c3d572ee", "c63fe96c"},
    "7864f562-717b-4d70-a1cb-b588f7826a1a.jsonl": {"3ea04571", "b1f5d80e"},
    # The sub-agent that compaction itself is.
    "258c7280-ae70-4798-800f-63464d01a85d.jsonl.gz": {"acompact-fffbd0"},
}

UNKNOWN = ("claude-code/stream-json/control-protocol-tool-use.json", "codex/app-server/", "other/")
"""Recordings of protocols, and agents that are not read."""


@cache
def truth() -> JsonObject:
    told: JsonObject = loads((CORPUS / "truth.json").read_bytes())
    return told


def files(*formats: str) -> list[str]:
    return [name for name, told in truth()["files"].items() if told["format"] in formats]


def within(counts: Json, told: Json, where: str = "") -> Iterator[str]:
    """Where counts are not what the truth says; it may say more."""
    if is_object(counts) and is_object(told):
        for name, value in counts.items():
            yield from within(value, told.get(name), f"{where}.{name}")
    elif counts != told:
        yield f"{where}: {counts!r} for {told!r}"


@each_row("format", COUNTED)
def test_the_counts_of_every_file_are_right(format: str) -> None:
    names = [name for name in files(format) if name not in NOT_COUNTED]
    counts = log_counts([str(CORPUS / name) for name in names])
    wrong: dict[str, list[str]] = {}
    for name in names:
        found, told = counts["files"][str(CORPUS / name)], truth()["files"][name]
        assert len(found) >= COUNTED[format]
        if differences := list(within(found, told)):
            wrong[name] = differences
    assert names
    assert not wrong
    if format == "claude-jsonl":
        assert not list(within(counts["claude_totals"], truth()["claude_totals"]))


@cache
def parsed() -> dict[str, ParsedLog | None]:
    """Every file, read; `None` for one whose format is unknown."""
    logs: dict[str, ParsedLog | None] = {}
    for name in truth()["files"]:
        path = CORPUS / name
        if path.is_dir() or path.suffix == ".db":
            continue  # storages are not read as files
        try:
            logs[name] = parse_log_file(path)
        except FormatError:
            logs[name] = None
    return logs


def test_every_file_of_a_known_agent_is_read_and_no_other() -> None:
    assert sorted(name for name, log in parsed().items() if log is None) == sorted(
        name for name in parsed() if name.startswith(UNKNOWN)
    )


def test_what_is_not_understood_is_known() -> None:
    found = {
        name: {finding.what: finding.times for finding in log.findings}
        for name, log in parsed().items()
        if log is not None and log.findings
    }
    assert found == FINDINGS


def test_sub_agents_that_no_call_claims_are_known() -> None:
    orphans = {Path(name).name: set(log.orphans) for name, log in parsed().items() if log and log.orphans}
    assert orphans == ORPHANS


def test_parents_are_there_and_above() -> None:
    """Every message follows one that came before it, or none."""
    for name, log in parsed().items():
        seen = {""}
        for message in log.messages if log else ():
            assert message.parent_id in seen, (name, message.id)
            seen.add(message.id)
