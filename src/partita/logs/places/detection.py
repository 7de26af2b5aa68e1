"""Whose log is this? The agent and the format, by the first values of a file."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from partita.formats.detection.agent_logs import LOG_SIGNS, LOOKED_AT, LogFormatName, is_bare_item
from partita.types.json import Json, JsonObject, is_object

from .log_file import is_uuid

AGENT_OF: Mapping[LogFormatName, str] = {
    "claude-code-log": "claude-code",
    "claude-code-stream": "claude-code",
    "codex-rollout": "codex",
    "codex-exec": "codex",
    "gemini-cli": "gemini-cli",
    "gemini-cli-stream": "gemini-cli",
    "opencode-export": "opencode",
    "opencode-parts": "opencode",
}


class Detected(NamedTuple):
    """An agent and one of its formats, how sure that is (from 0 to 1), and what gave it away."""

    agent: str
    format: LogFormatName
    confidence: float
    why: str


def detect(first_values: Sequence[Json], name: str = "") -> Detected | None:
    """What the first values of a file (or its one document) show; `None` when nobody known wrote it.

    `name` is the name of the file: it decides where records say too little, and alone when there are none.
    """
    best: Detected | None = None
    for record in filter(is_object, first_values[:LOOKED_AT]):
        for sign in LOG_SIGNS:
            if (best is None or sign.confidence > best.confidence) and sign.shows(record):
                best = Detected(AGENT_OF[sign.format], sign.format, sign.confidence, sign.why)
        if best is None:
            best = _with_name(record, name)
    return best if first_values else _by_name(name)


def _with_name(record: JsonObject, name: str) -> Detected | None:
    """What a record shows only together with the name of its file."""
    if name.startswith("rollout-") and is_bare_item(record):
        return Detected("codex", "codex-rollout", 0.7, "bare items in a rollout")
    stem = name.partition(".")[0]
    if is_uuid(stem) and record.get("sessionId") == stem and isinstance(record.get("type"), str):
        return Detected("claude-code", "claude-code-log", 0.7, "records of the session that names the file")
    return None


def _by_name(name: str) -> Detected | None:
    """What the name of an empty file says."""
    stem, _, ending = name.partition(".")
    if not ending.startswith("jsonl"):
        return None
    if stem.startswith("rollout-"):
        return Detected("codex", "codex-rollout", 0.3, "the name of an empty file")
    if stem.startswith("session-"):
        return Detected("gemini-cli", "gemini-cli", 0.3, "the name of an empty file")
    if is_uuid(stem) or stem.startswith("agent-"):
        return Detected("claude-code", "claude-code-log", 0.3, "the name of an empty file")
    return None
