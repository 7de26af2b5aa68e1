"""Two other ways to find the lines of a message, independent of the implementation.

A text that is in one line of a session only, and in a message: the line belongs to that message. If a line of
a message is blanked, the message changes or is missing.
"""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from partita.errors import DecodeError
from partita.runtime.rebuild.provenance import Provenance
from partita.runtime.rebuild.stored_session import StoredSession, agent_of, read_again
from partita.types.codec import encode
from partita.types.json import Json, is_array, is_object, loads
from partita.types.messages import AssistantMessage, Message, ToolCallPart

MIN_TEXT_LENGTH = 12
"""Shorter texts, and texts without a space such as ids, may occur anywhere."""


def messages_in(session: StoredSession, provenance: Provenance) -> dict[tuple[str, str], bytes]:
    """The content of the messages of a session, without that of the sub-agents in them."""
    found: dict[tuple[str, str], bytes] = {}
    reread = read_again(session)
    for top in reread.messages.values():
        found["", top.id] = _without_sub_agents(top)
        for child in _nested_messages(top):
            if child.id in provenance.nested:
                found[provenance.nested[child.id].agent, child.id] = _without_sub_agents(child)
    for agent, messages in reread.orphans.items():
        found |= {(agent, message.id): _without_sub_agents(message) for message in messages}
    return found


def actual_lines(provenance: Provenance, key: tuple[str, str]) -> set[tuple[str, int]]:
    """The lines of a message, by run and number."""
    by_run = provenance.by_run(provenance.lines[key])
    return {(run_id, seq) for run_id, seqs in by_run for seq in seqs}


def lines_by_text(
    session: StoredSession, contents: Mapping[tuple[str, str], bytes]
) -> Iterator[tuple[tuple[str, str], tuple[str, int]]]:
    """Messages, each with a line that has a text which no other line has."""
    positions: dict[str, set[tuple[str, int]]] = {}
    for run_id, seq, line in every_line(session):
        try:
            value = loads(line)
        except DecodeError:
            continue
        for text in _texts(value):
            positions.setdefault(text, set()).add((run_id, seq))
    unique = {text: next(iter(found)) for text, found in positions.items() if len(found) == 1}
    for key, content in contents.items():
        texts = set(_texts(loads(content)["content"].get("parts")))
        for text in texts & unique.keys():
            yield key, unique[text]


def every_line(session: StoredSession) -> Iterator[tuple[str, int, bytes]]:
    for kept in session.runs:
        yield from ((kept.run.id, seq, line) for seq, line in enumerate(kept.lines, 1))
    for agent in session.agents:
        run_id = f"{session.thread.id}/{agent.name}@0"
        yield from ((run_id, seq, line) for seq, line in enumerate(agent.stored, 1))


def with_blank_line(session: StoredSession, run_id: str, seq: int) -> StoredSession:
    """The session with a blank line: the lines after it keep their positions."""

    def blank(lines: list[bytes]) -> list[bytes]:
        line = lines[seq - 1]
        replacement = b"null" if session.is_document else bytes(10 if byte == 10 else 32 for byte in line)
        return [*lines[: seq - 1], replacement, *lines[seq:]]

    return session._replace(
        runs=[
            kept._replace(lines=blank(list(kept.lines))) if kept.run.id == run_id else kept
            for kept in session.runs
        ],
        agents=[
            agent._replace(stored=blank(list(agent.stored)))
            if agent.name == agent_of(run_id, session.thread.id)
            else agent
            for agent in session.agents
        ],
    )


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        if len(value) >= MIN_TEXT_LENGTH and " " in value:
            yield value
    elif is_object(value):
        for member in value.values():
            yield from _texts(member)
    elif is_array(value):
        for member in value:
            yield from _texts(member)


def _without_sub_agents(message: Message) -> bytes:
    if not isinstance(message, AssistantMessage):
        return encode(message)
    parts = tuple(
        replace(part, children=()) if isinstance(part, ToolCallPart) else part for part in message.parts
    )
    return encode(replace(message, parent_id="", content=replace(message.content, parts=parts)))


def _nested_messages(message: Message) -> Iterator[Message]:
    pending = [message]
    while pending:
        for part in pending.pop().content.parts:
            if isinstance(part, ToolCallPart):
                yield from part.children
                pending += part.children
