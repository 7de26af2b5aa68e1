"""Two ways to find out which lines a message came from that know nothing of how it is found out.

Words that stand in one line of a session alone, and in a message: that line is the message's. A line of a
message that is blotted out: the message is another one, or is gone.
"""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from partita.errors import DecodeError
from partita.runtime.rebuild.provenance import Provenance
from partita.runtime.rebuild.stored_session import StoredSession, agent_of, read_again
from partita.types.codec import encode
from partita.types.json import Json, is_array, is_object, loads
from partita.types.messages import AssistantMessage, Message, ToolCallPart

SHORTEST = 12
"""Shorter words, and single ones such as ids, may stand anywhere."""


def messages_in(session: StoredSession, provenance: Provenance) -> dict[tuple[str, str], bytes]:
    """All that the messages of a session say themselves, without those of sub-agents below them."""
    found: dict[tuple[str, str], bytes] = {}
    now = read_again(session)
    for top in now.messages.values():
        found["", top.id] = _alone(top)
        for child in _below(top):
            if child.id in provenance.nested:
                found[provenance.nested[child.id].agent, child.id] = _alone(child)
    for agent, messages in now.orphans.items():
        found |= {(agent, message.id): _alone(message) for message in messages}
    return found


def lines_told(provenance: Provenance, teller: tuple[str, str]) -> set[tuple[str, int]]:
    """The lines of a message, by run and number."""
    by_run = provenance.by_run(provenance.lines[teller])
    return {(run_id, seq) for run_id, seqs in by_run for seq in seqs}


def lines_by_words(
    session: StoredSession, said: Mapping[tuple[str, str], bytes]
) -> Iterator[tuple[tuple[str, str], tuple[str, int]]]:
    """Messages, each with a line that has words which no other line has."""
    places: dict[str, set[tuple[str, int]]] = {}
    for run_id, seq, line in every_line(session):
        try:
            value = loads(line)
        except DecodeError:
            continue
        for words in _words(value):
            places.setdefault(words, set()).add((run_id, seq))
    alone = {words: next(iter(found)) for words, found in places.items() if len(found) == 1}
    for teller, content in said.items():
        held = set(_words(loads(content)["content"].get("parts")))
        for words in held & alone.keys():
            yield teller, alone[words]


def every_line(session: StoredSession) -> Iterator[tuple[str, int, bytes]]:
    for kept in session.runs:
        yield from ((kept.run.id, seq, line) for seq, line in enumerate(kept.lines, 1))
    for agent in session.agents:
        run_id = f"{session.thread.id}/{agent.name}@0"
        yield from ((run_id, seq, line) for seq, line in enumerate(agent.stored, 1))


def without(session: StoredSession, run_id: str, seq: int) -> StoredSession:
    """The session with a line blotted out: what stands behind it stays where it was."""

    def blot(lines: list[bytes]) -> list[bytes]:
        line = lines[seq - 1]
        nothing = b"null" if session.is_document else bytes(10 if byte == 10 else 32 for byte in line)
        return [*lines[: seq - 1], nothing, *lines[seq:]]

    return session._replace(
        runs=[
            kept._replace(lines=blot(list(kept.lines))) if kept.run.id == run_id else kept
            for kept in session.runs
        ],
        agents=[
            agent._replace(stored=blot(list(agent.stored)))
            if agent.name == agent_of(run_id, session.thread.id)
            else agent
            for agent in session.agents
        ],
    )


def _words(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        if len(value) >= SHORTEST and " " in value:
            yield value
    elif is_object(value):
        for member in value.values():
            yield from _words(member)
    elif is_array(value):
        for member in value:
            yield from _words(member)


def _alone(message: Message) -> bytes:
    if not isinstance(message, AssistantMessage):
        return encode(message)
    parts = tuple(
        replace(part, children=()) if isinstance(part, ToolCallPart) else part for part in message.parts
    )
    return encode(replace(message, parent_id="", content=replace(message.content, parts=parts)))


def _below(message: Message) -> Iterator[Message]:
    waiting = [message]
    while waiting:
        for part in waiting.pop().content.parts:
            if isinstance(part, ToolCallPart):
                yield from part.children
                waiting += part.children
