"""Which agent wrote a log, in which format, and of which session: by the first values of the file."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from partita.formats.detection.agent_logs import LOG_SIGNS, SAMPLE_SIZE
from partita.types.json import Json, JsonObject, is_object

from .sources.registry import LOG_FORMATS, SOURCES
from .sources.source import LogFormat, stem_of

BY_RECORD: Final = 0.7
BY_NAME: Final = 0.3
"""The confidence if a record is ambiguous without the name of its file, or if there is only a name."""


class DetectedLog(NamedTuple):
    """An agent and one of its formats, how certain that is (from 0 to 1), and why."""

    agent: str
    format: str
    confidence: float
    why: str


def detect(first_values: Sequence[Json], name: str = "") -> DetectedLog | None:
    """The agent and the format of a log, by its first values (or its one document); `None` if unknown.

    `name` is the name of the file: it decides if the records are ambiguous, or if there are none.
    """
    best: DetectedLog | None = None
    for record in filter(is_object, first_values[:SAMPLE_SIZE]):
        for sign in LOG_SIGNS:
            if (best is None or sign.confidence > best.confidence) and sign.matches(record):
                agent = LOG_FORMATS[sign.format].agent
                best = DetectedLog(agent, sign.format, sign.confidence, sign.why)
        if best is None:
            best = _by_record_and_name(record, name)
    return best if first_values else _by_name(name)


def _by_record_and_name(record: JsonObject, name: str) -> DetectedLog | None:
    for source in SOURCES.values():
        if (why := source.recognize(record, name)) is not None:
            return DetectedLog(source.agent, source.formats[0].name, BY_RECORD, why)
    return None


def _by_name(name: str) -> DetectedLog | None:
    """Detect an empty file by its name."""
    if not name.partition(".")[2].startswith("jsonl"):
        return None
    for source in SOURCES.values():
        if source.is_named(name):
            return DetectedLog(source.agent, source.formats[0].name, BY_NAME, "the name of an empty file")
    return None


# Sessions


def thread_id_of(path: Path, format: LogFormat, values: Sequence[Json]) -> str:
    """The id of the thread: that of the session, so that a file that was moved or copied is the same thread.

    A log without one gets its name and a digest of its path.
    """
    made = f"{stem_of(path)}-{sha256(str(path).encode()).hexdigest()[:12]}"
    return session_id_of(path, format, values) or made


def session_id_of(path: Path, format: LogFormat, values: Sequence[Json]) -> str | None:
    """Return the id of the session in its records or in the name of the file."""
    return format.session_id(stem_of(path), list(filter(is_object, values)))
