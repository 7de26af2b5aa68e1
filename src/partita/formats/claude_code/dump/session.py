"""Canonical messages → the records of a Claude Code session file.

What came from such a file is written as it was, line for line; but for progress of tools, which the raw log
alone has: a stand-in keeps the chain of parents whole. What came from elsewhere, or was added, is written so
that the agent can go on from it: from the last message given. Lost, and told: reasoning that is not signed,
files that the API does not take, sources, data, and what else such files have no place for.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import UNSET

from partita.formats.claude_code.log.envelope import AGENT, SOURCE, SUBAGENT
from partita.formats.format import Dumped
from partita.formats.session_facts import SessionFacts
from partita.formats.session_losses import Losses
from partita.formats.session_names import Names, is_uuid, made_uuid
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Message, ToolCallPart, ToolMessage

from .envelopes import envelope_of, is_restored, restore
from .line import Line, in_order, joined
from .writer import Facts, Writer, is_inline

NO_LETTER: Final = re.compile("[^A-Za-z0-9]")
LONGEST_KEY: Final = 200
"""Longer keys of folders end in a digest, which differs between builds of Claude Code."""

VERSION: Final = "2.1.81"
"""The version of Claude Code that new lines are said to be of."""

GONE: Final = "the line is not kept; a stand-in has its place in the chain"
AROUND: Final = (
    "isSidechain",
    "agentId",
    "userType",
    "cwd",
    "sessionId",
    "version",
    "gitBranch",
    "timestamp",
)
"""What a stand-in says of itself: what the line after it says."""


def dump(messages: Sequence[Message]) -> Dumped:
    """The records of a session file."""
    return write_session(messages)


def dump_session(messages: Sequence[Message], known: SessionFacts) -> Dumped:
    """The records of a session file, with what is known of the session besides its messages."""
    return write_session(messages, known=known)


def session_path(payload: Json) -> str:
    """Where Claude Code looks for a session file, by the session and the folder that its lines name."""
    records: list[Json] = payload if is_array(payload) else []
    session, cwd = (
        next((str(record[name]) for record in records if is_object(record) and record.get(name)), "")
        for name in ("sessionId", "cwd")
    )
    key = NO_LETTER.sub("-", cwd)
    key = key if len(key) <= LONGEST_KEY else f"{key[:LONGEST_KEY]}-*"
    return f"~/.claude/projects/{key}/{session}.jsonl"


def write_session(
    messages: Sequence[Message],
    *,
    session_id: str | None = None,
    cwd: str | None = None,
    version: str | None = None,
    git_branch: str | None = None,
    known: SessionFacts | None = None,
) -> Dumped:
    """The records of a session file, in a session of that name.

    What is not given is what the messages say that came from a session file, else what is `known`.
    """
    losses = Losses()
    found = _facts(messages, known or SessionFacts())
    facts = Facts(
        session_id or found.session_id,
        found.cwd if cwd is None else cwd,
        version or found.version,
        found.git_branch if git_branch is None else git_branch,
    )
    records = _records(messages, facts, losses)
    if session_id is not None:
        records = [_of_session(record, session_id) for record in records]
    return Dumped(records, tuple(losses.told))


def dump_agents(messages: Sequence[Message]) -> dict[str, list[Json]]:
    """The records of sub-agents that have files of their own, by the agents' names."""
    facts = _facts(messages, SessionFacts())
    found: dict[str, list[Json]] = {}
    for name, own in _agents(messages):
        records = _records(own, facts._replace(agent=name), Losses())
        known = found.setdefault(name, records)
        known += [record for record in records if record not in known]
    return found


# What is known of the session


def _facts(messages: Sequence[Message], known: SessionFacts) -> Facts:
    thread = next((message.thread_id for message in messages if message.thread_id), "")
    told: JsonObject = {}
    for message in messages:
        told |= envelope_of(message) or {}
    made = thread if is_uuid(thread) else str(made_uuid("session", thread, *(one.id for one in messages[:1])))
    return Facts(
        _text(told, "sessionId", made),
        _text(told, "cwd", known.cwd or "/"),
        _text(told, "version", (known.version if known.agent == "claude-code" else None) or VERSION),
        _text(told, "gitBranch", known.git_branch or ""),
    )


def _text(told: JsonObject, name: str, otherwise: str) -> str:
    value = told.get(name)
    return value if isinstance(value, str) else otherwise


def _of_session(record: Json, session_id: str) -> Json:
    return {**record, "sessionId": session_id} if is_object(record) and "sessionId" in record else record


# Sub-agents


def _agents(messages: Sequence[Message]) -> Iterator[tuple[str, Sequence[Message]]]:
    """The sub-agents that have files of their own: those of calls, and those that no call has claimed."""
    apart: dict[str, list[Message]] = {}
    for message in messages:
        record = envelope_of(message) or {}
        if record.get(SOURCE) == "progress":
            apart.setdefault(str(record.get(SUBAGENT)), []).append(message)
        for part in message.content.parts:
            if isinstance(part, ToolCallPart) and part.children:
                if not is_inline(part.children):
                    yield _name(part), part.children
                yield from _agents(part.children)
    yield from apart.items()


def _name(call: ToolCallPart) -> str:
    """The name of the sub-agent under a call: its own lines tell it, or the result does."""
    structured = (call.tool_metadata or {}).get(AGENT)
    result = structured.get("toolUseResult") if is_object(structured) else None
    told = [envelope_of(child) or {} for child in call.children] + [result if is_object(result) else {}]
    names = [record.get(key) for record in told for key in (SUBAGENT, "agentId")]
    return next((name for name in names if isinstance(name, str)), made_uuid("agent", call.id).hex[:17])


# Lines


def _records(messages: Sequence[Message], facts: Facts, losses: Losses) -> list[Json]:
    told = fold(messages) if any(isinstance(message, ToolMessage) for message in messages) else messages
    places = {message.id: index for index, message in reversed(list(enumerate(messages)))}
    is_mixed = not all(map(is_restored, told))
    names = Names(
        next((message.thread_id or "" for message in messages), ""), _taken(told) if is_mixed else ()
    )
    writer = Writer(facts, names, losses, closing=is_mixed, side=facts.agent is not None)
    lines: list[Line] = []
    for message in told:
        source = (envelope_of(message) or {}).get(SOURCE)
        path = f"$[{places[message.id]}]"
        if source == "progress" and facts.agent is None:
            losses.say(path, message.id, "a sub-agent has a file of its own")
        else:
            lines += writer.write_aside(message, path) if source == "inline" else writer.write(message, path)
    return [line.record for line in _linked(in_order(joined(lines)), losses)]


def _taken(messages: Sequence[Message]) -> Iterator[str]:
    """The names that restored lines have: of lines, responses and calls."""
    for message in messages:
        found = restore(message, "", Losses())
        for line in () if found is None else found.lines:
            inner = line.record.get("message") if is_object(line.record) else None
            own = inner.get("id") if is_object(inner) else None
            yield from (name for name in (line.uuid, own) if isinstance(name, str))
        yield from () if found is None else found.calls
        for part in message.content.parts:
            if isinstance(part, ToolCallPart):
                yield from _taken(part.children)


def _linked(lines: Sequence[Line], losses: Losses) -> Iterator[Line]:
    """The lines, with a stand-in before each whose parent is not there."""
    known = {line.uuid for line in lines}
    last: dict[Json, str | None] = {}
    for line in lines:
        if not is_object(line.record):
            yield line
            continue
        chain = str(line.record.get("agentId")) if line.record.get("isSidechain") else None
        parent = line.record.get("parentUuid")
        if isinstance(parent, str) and parent not in known:
            known.add(parent)
            losses.say("$", parent, GONE)
            above = last.get(chain) if line.above is UNSET else line.above
            yield Line(_stand_in(line.record, parent, above))
        last[chain] = line.uuid or last.get(chain)
        yield line


def _stand_in(record: JsonObject, uuid: str, above: str | None) -> JsonObject:
    """A record of progress that tells nothing, but which line follows which."""
    around: JsonObject = {name: record[name] for name in AROUND if name in record}
    return {
        "parentUuid": above,
        **around,
        "type": "progress",
        "data": {"type": "hook_progress"},
        "uuid": uuid,
    }
