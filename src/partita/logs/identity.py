"""Which thread a log is about."""

import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from partita.logs.places.log_file import is_uuid
from partita.types.json import Json, JsonObject, is_object

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def thread_id_of(path: Path, format: str, values: Sequence[Json]) -> str:
    """The id of the thread: the session's own, so that a file that was moved or copied is the same thread."""
    return session_id_of(path, format, values) or _made_up(path, _stem(path))


def session_id_of(path: Path, format: str, values: Sequence[Json]) -> str | None:
    """The id that the records or the file name give a session, if they do."""
    stem = _stem(path)
    records = [value for value in values if is_object(value)]
    if format == "claude-code-log":
        return stem if is_uuid(stem) or stem.startswith("agent-") else _first(records, "sessionId")
    if format == "codex-rollout":
        named = _UUID.findall(stem)
        return _codex(records) or (str(named[-1]) if named else None)
    if format.startswith("opencode"):
        return _first(records, "sessionID") or _of_info(records)
    return _first(records, "sessionId") or _first(records, "session_id")


def _stem(path: Path) -> str:
    return path.name.partition(".")[0]


def _first(records: Sequence[JsonObject], name: str) -> str | None:
    return next((record[name] for record in records if isinstance(record.get(name), str)), None)


def _codex(records: Sequence[JsonObject]) -> str | None:
    """The first line of a rollout: with an envelope since 0.30, without one before."""
    if not records:
        return None
    payload = records[0].get("payload")
    found = payload.get("id") if is_object(payload) else records[0].get("id")
    return found if isinstance(found, str) else None


def _of_info(records: Sequence[JsonObject]) -> str | None:
    """The session of an export."""
    for record in records:
        info = record.get("info", record)
        if is_object(info) and isinstance(info.get("id"), str) and info["id"].startswith("ses_"):
            return str(info["id"])
    return None


def _made_up(path: Path, stem: str) -> str:
    """For a log that does not say: its name, and a digest of where it is."""
    return f"{stem}-{sha256(str(path).encode()).hexdigest()[:12]}"
