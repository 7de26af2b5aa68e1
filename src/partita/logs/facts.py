"""What a log says about its conversation → a thread."""

from typing import Final

from partita.formats.log.sink import Fact
from partita.types.json import Json, JsonObject
from partita.types.threads import Thread

from .reading import LogReading

TITLES: Final[tuple[Fact, ...]] = ("title", "agentTitle", "summary", "prompt")
"""Where the title comes from, the best first."""

LONGEST_TITLE: Final = 120

TOLD: Final[dict[Fact, str]] = {
    "sessionId": "sessionId",
    "version": "agentVersion",
    "gitBranch": "gitBranch",
    "gitCommit": "gitCommit",
    "gitRepository": "gitRepository",
    "entrypoint": "entrypoint",
    "model": "model",
    "provider": "provider",
    "agentName": "agentName",
    "parentSessionId": "parentSessionId",
    "forkedFrom": "forkedFrom",
}
"""Facts that become members of the thread's metadata."""


def thread_of(reading: LogReading) -> Thread:
    """The thread that a log is about, as far as it has been read."""
    facts, assembly = reading.facts, reading.assembly
    metadata: JsonObject = {name: facts[fact] for fact, name in TOLD.items() if facts.get(fact) is not None}
    cwd = facts.get("cwd")
    return Thread(
        id=reading.thread_id,
        title=title_of(facts),
        agent=reading.format.agent,
        project=cwd if isinstance(cwd, str) else None,
        metadata=metadata or None,
        created_at=assembly.first_time,
        updated_at=assembly.last_time,
    )


def title_of(facts: dict[Fact, Json]) -> str | None:
    """The title of a conversation: a person's, the agent's, a summary, or the first words of the prompt."""
    for fact in TITLES:
        words = facts.get(fact)
        if isinstance(words, str) and words.strip():
            line = " ".join(words.split())
            return line if len(line) <= LONGEST_TITLE else f"{line[: LONGEST_TITLE - 1]}…"
    return None
