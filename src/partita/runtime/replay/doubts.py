"""Why kept lines may not be those that the stored messages were read from, or not where they stood.

What then comes out otherwise may come from the lines, and not from a better reader.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from partita.logs.agents import agent_name
from partita.logs.importing.checkpoints import HEAD, fingerprint
from partita.store.values import Source
from partita.types.json import is_object

from .kept_session import KeptSession

MOVED: Final = "blank lines, or several records on one line, stood in its log: where is not kept"
PACKED: Final = (".gz", ".zst")


def doubt_about(session: KeptSession) -> str | None:
    """What is doubtful about the lines of a session, before they are read."""
    if session.is_document:
        return f"{session.format.agent} writes its records anew: the kept ones may be older than the messages"
    if sum(not _is_part(source) for source in session.sources) > 1:
        return "several files were read into its thread, and which line was whose is not kept"
    agents = {agent.name: agent.lines for agent in session.agents}
    for source in session.sources:
        path = Path(source.path)
        if not _is_part(source):
            kept: Iterable[bytes] = _last_file(session)
        elif path.suffix not in PACKED and agent_name(path) in agents:
            kept = agents[agent_name(path)]
        else:
            continue
        if not _is_what_was_read(b"".join(line + b"\n" for line in kept), source):
            return MOVED
    return None


def _last_file(session: KeptSession) -> Iterator[bytes]:
    """The lines of the file as it was when it was last read."""
    last = session.runs[-1].generation
    return (line for kept in session.runs if kept.generation == last for line in kept.lines)


def _is_what_was_read(kept: bytes, source: Source) -> bool:
    """Whether the file held these bytes, as far as it was read; its last line may have had no end."""
    end = source.offset
    if len(kept) not in (end, end + 1):
        return False
    ends = kept[: min(HEAD, end)], kept[max(0, end - HEAD) : end]
    return source.hash is None or source.hash == fingerprint(*ends)


def length_of(lines: Iterable[bytes]) -> int:
    """How many bytes lines take in a file."""
    return sum(len(line) + 1 for line in lines)


def _is_part(source: Source) -> bool:
    """Whether it is the file of a sub-agent."""
    return is_object(source.state) and bool(source.state.get("part"))
