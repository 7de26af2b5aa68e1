"""The formats: session files, which are read and written, and the stream, which is read.

Session files: https://docs.claude.com/en/docs/claude-code/settings (`cleanupPeriodDays`) names their folder;
the stream: https://docs.claude.com/en/docs/claude-code/headless
"""

import re
from collections.abc import Sequence
from typing import Final

from partita.formats.events import load_events
from partita.formats.format import Dumped, Format, Loaded
from partita.formats.session_facts import SessionFacts
from partita.types.json import Json, is_array, is_object
from partita.types.messages import Message

from .report import load, losses_of_file
from .session_writer import Facts, SessionWriter, agents_of, facts_of
from .stream import ClaudeStreamDecoder

NO_LETTER: Final = re.compile("[^A-Za-z0-9]")
LONGEST_KEY: Final = 200
"""Longer keys of folders end in a digest, which is different in different builds of Claude Code."""


def dump(messages: Sequence[Message]) -> Dumped:
    """The records of a session file."""
    return write_session(messages)


def dump_session(messages: Sequence[Message], known: SessionFacts) -> Dumped:
    """The records of a session file, with what is known about the session besides its messages."""
    return write_session(messages, known=known)


def write_session(
    messages: Sequence[Message],
    *,
    session_id: str | None = None,
    cwd: str | None = None,
    version: str | None = None,
    git_branch: str | None = None,
    known: SessionFacts | None = None,
) -> Dumped:
    """The records of a session file, in a session with that id.

    What is not given is taken from messages that came from a session file, else from what is `known`.
    """
    found = facts_of(messages, known or SessionFacts())
    facts = Facts(
        session_id or found.session_id,
        found.cwd if cwd is None else cwd,
        version or found.version,
        found.git_branch if git_branch is None else git_branch,
    )
    writer = SessionWriter(messages, facts)
    records = [line.record for line in writer.lines]
    if session_id is not None:
        records = [_of_session(record, session_id) for record in records]
    return Dumped(records, lambda: losses_of_file(writer))


def _of_session(record: Json, session_id: str) -> Json:
    return {**record, "sessionId": session_id} if is_object(record) and "sessionId" in record else record


def dump_agents(messages: Sequence[Message]) -> dict[str, list[Json]]:
    """The records of sub-agents that have files of their own, by the agents' names."""
    facts = facts_of(messages, SessionFacts())
    found: dict[str, list[Json]] = {}
    for name, own in agents_of(messages):
        records = [line.record for line in SessionWriter(own, facts._replace(agent=name)).lines]
        known = found.setdefault(name, records)
        known += [record for record in records if record not in known]
    return found


def session_path(payload: Json) -> str:
    """Where Claude Code looks for a session file, by the session and the folder in its lines."""
    records: list[Json] = payload if is_array(payload) else []
    session, cwd = (
        next((str(record[name]) for record in records if is_object(record) and record.get(name)), "")
        for name in ("sessionId", "cwd")
    )
    key = NO_LETTER.sub("-", cwd)
    key = key if len(key) <= LONGEST_KEY else f"{key[:LONGEST_KEY]}-*"
    return f"~/.claude/projects/{key}/{session}.jsonl"


def load_stream(payload: Json) -> Loaded:
    """The message of a recorded stream."""
    return load_events(ClaudeStreamDecoder(with_losses=True), payload if is_array(payload) else [payload])


FORMAT: Final = Format(
    "claude-code-log",
    "Claude Code session files",
    load,
    dump,
    dump_session=dump_session,
    session_path=session_path,
    is_complete=True,
)
STREAM: Final = Format(
    "claude-code-stream",
    "Claude Code stream-json, Agent SDK",
    load_stream,
    decoder=ClaudeStreamDecoder,
    is_complete=True,
)
