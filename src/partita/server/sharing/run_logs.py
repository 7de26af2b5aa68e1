"""The log of a run, to leave: what was asked of models and what they answered, as far as it may."""

from collections.abc import Sequence
from typing import NamedTuple

from partita.formats.redaction.redactor import Redactor
from partita.formats.redaction.removal import Choice, is_left_out
from partita.formats.redaction.values import redacted_chunks
from partita.runtime.recordings.cleaning import clean_exchange
from partita.runtime.recordings.making import exchanges_in, is_note, words_before
from partita.runtime.recordings.recording import Exchange
from partita.runtime.replay.lineage import Recorded
from partita.store.log.blocks import Stored
from partita.store.log.run_log import LogRecord
from partita.store.microseconds import from_microseconds
from partita.types.codec import decode_chunk, to_json
from partita.types.messages import Message

from .gathering import RunLog


class CleanRun(NamedTuple):
    """The answers of a run. `dropped` counts what agents sent and cannot leave."""

    exchanges: Sequence[Exchange]
    dropped: int
    cut: bool


def clean_run(log: RunLog, messages: Sequence[Message], redactor: Redactor, choice: Choice) -> CleanRun:
    """A run without secrets. What agents sent cannot be cut to what was chosen: then it stays."""
    sent = sum(entry.raw is not None for entry in log.entries)
    if choice.messages or choice.parts:
        return CleanRun((), sent, cut=True)
    path = f"runs.{log.run.id}"
    words = words_before(messages, log.run)
    if choice or not log.whole:
        recorded = [decode_chunk(entry.chunk) for entry in log.entries if entry.chunk is not None]
        chunks = [chunk for chunk in recorded if not is_note(chunk) and not is_left_out(chunk, choice.kinds)]
        cleaned = [to_json(chunk) for chunk in redacted_chunks(chunks, redactor, path).chunks]
        asked = None if words is None else redactor.text(words, path)
        return CleanRun([Exchange(asked=asked, chunks=cleaned)] if cleaned else (), sent, log.cut)
    exchanges = exchanges_in(Recorded(log.run, list(map(_record, enumerate(log.entries, 1)))), words)
    cleaned_all = [clean_exchange(one, redactor, f"{path}[{place}]") for place, one in enumerate(exchanges)]
    return CleanRun(cleaned_all, 0, log.cut)


def _record(numbered: tuple[int, Stored]) -> LogRecord:
    number, entry = numbered
    chunk = None if entry.chunk is None else decode_chunk(entry.chunk)
    return LogRecord(number, from_microseconds(entry.time), chunk, entry.raw)
