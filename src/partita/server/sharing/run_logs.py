"""The log of a run, to leave: chunks with the time since it began, and what the agent sent where it may."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from partita.formats.redaction.chunks import redacted_chunks, tells
from partita.formats.redaction.redactor import Redactor
from partita.formats.redaction.removal import Choice
from partita.formats.redaction.walking import redacted
from partita.store.log.blocks import Stored
from partita.types.chunks import Chunk
from partita.types.codec import decode_chunk
from partita.types.runs import Run

from .gathering import RunLog

MICROSECONDS: Final = 1_000_000


class CleanEntry(NamedTuple):
    """An entry of a log: seconds since the first one, a chunk, what the agent sent."""

    at: float
    chunk: Chunk | None
    raw: str | None


class CleanRun(NamedTuple):
    """A run and its log. `dropped` counts what agents sent and cannot leave."""

    run: Run
    entries: Sequence[CleanEntry]
    dropped: int
    cut: bool


def clean_run(log: RunLog, redactor: Redactor, choice: Choice) -> CleanRun:
    """A run without secrets. What an agent sent cannot be cut to what was chosen: then it stays."""
    run = redacted(replace(log.run, lease_owner=None, lease_expires_at=None), redactor, f"runs.{log.run.id}")
    if choice.messages or choice.parts:
        return CleanRun(run, (), sum(entry.raw is not None for entry in log.entries), cut=True)
    start = log.entries[0].time if log.entries else 0
    numbered = [
        (index, chunk)
        for index, entry in enumerate(log.entries)
        if entry.chunk is not None and not tells(chunk := decode_chunk(entry.chunk), choice.kinds)
    ]
    cleaned = redacted_chunks([chunk for _, chunk in numbered], redactor, f"runs.{log.run.id}")
    chunks = {index: chunk for (index, _), chunk in zip(numbered, cleaned.chunks, strict=True)}
    torn = _torn(log.entries, [numbered[place][0] for place in cleaned.torn])
    entries: list[CleanEntry] = []
    dropped = 0
    for index, entry in enumerate(log.entries):
        raw = (
            None if choice or index in torn else _text(entry.raw, redactor, f"runs.{log.run.id}.raw[{index}]")
        )
        dropped += entry.raw is not None and raw is None
        if index in chunks or raw is not None:
            at = round((entry.time - start) / MICROSECONDS, 6)
            entries.append(CleanEntry(at, chunks.get(index), raw))
    return CleanRun(run, entries, dropped, log.cut)


def _torn(entries: Sequence[Stored], places: Sequence[int]) -> set[int]:
    """Where raw bytes tell a piece of a secret: with the chunk, or with the first of those it gave."""
    torn: set[int] = set()
    for place in places:
        at = place
        while at >= 0 and entries[at].raw is None:
            at -= 1
        torn.add(at)
    return torn


def _text(raw: bytes | None, redactor: Redactor, path: str) -> str | None:
    """What an agent sent, without secrets; what is no text cannot be searched."""
    if raw is None:
        return None
    try:
        return redactor.joined([raw.decode()], path)[0]
    except UnicodeDecodeError:
        return None
