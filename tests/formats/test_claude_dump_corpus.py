"""Recorded session files: every line is written back in its position."""

import json
from functools import cache
from pathlib import Path

from msgspec import UNSET

from partita.formats.claude_code.format import dump, dump_agents, load
from partita.formats.log.session_file import SessionFacts
from partita.logs.lines.blocks import open_log
from partita.logs.lines.reader import LineReader
from partita.logs.log_reader import agent_files
from partita.logs.parsed_log import ParsedLog, parse_log_file
from partita.logs.sources.registry import log_format
from partita.types.json import Json, is_object
from partita.types.messages import Message
from tests.recordings import chosen, files
from tests.tables import each_row

NO_SESSIONS = {"pretty-printed-not-jsonl.jsonl"}
"""The output of another program about a session."""
FILES = [
    path
    for path in chosen(files("agent-logs/claude-code", "**/*.jsonl*"), 2)
    if path.parent.name != "stream-json" and path.name not in NO_SESSIONS
]
AGENTS = [path for path in FILES if path.parent.name != "subagents" and not path.name.startswith("agent-")]
"""Files of sessions; those of sub-agents may be beside them."""


def read(path: Path) -> ParsedLog:
    log = parse_log_file(path, agents=False)
    assert log.format == "claude-code-log"
    return log


@cache
def values(path: Path) -> list[Json]:
    """The lines of a file that are JSON."""
    reader = LineReader()
    lines = [line for block in open_log(path) for line in reader.feed(block)]
    return [line.value for line in [*lines, *reader.finish()] if line.value is not UNSET]


def kept(records: list[Json]) -> list[str]:
    """The records without progress, in a form that distinguishes true from 1."""
    others = [record for record in records if not is_object(record) or record.get("type") != "progress"]
    return [json.dumps(record, sort_keys=True) for record in others]


def all_messages(log: ParsedLog) -> list[Message]:
    """The messages of a file, and those of sub-agents that no call claims."""
    return [*log.messages, *(message for messages in log.orphans.values() for message in messages)]


@each_row("path", FILES)
def test_every_line_is_written_back_in_its_position(path: Path) -> None:
    once = dump(all_messages(read(path))).payload
    assert kept(once) == kept(values(path))
    linked = [record for record in once if is_object(record)]
    assert {record.get("parentUuid") for record in linked} <= {
        None,
        *(record.get("uuid") for record in linked),
    }
    assert dump(load(once).messages).payload == once


@each_row("path", AGENTS)
def test_sub_agents_are_written_back(path: Path) -> None:
    log = parse_log_file(path)
    written = dump_agents(log.messages, SessionFacts())
    for agent in agent_files(log_format("claude-code-log"), path):
        if agent.name not in log.orphans:
            assert kept(written[f"subagents/agent-{agent.name}.jsonl"]) == kept(values(agent.path))
