"""OpenCode. Its data folder is that of the XDG base directories on all systems.

| version | path below the home | holds |
|---|---|---|
| the first ones | `project/NAME/storage/` | a JSON file for each session, message and part |
| to 1.1 | `storage/` | the same, in other folders |
| from 1.2 | `opencode.db`, `opencode-CHANNEL.db` | SQLite: the same JSON in rows, without its ids |
| from 2.0 | the same database | other tables: a row has a message with all its parts |

Seen in installations; `opencode_store` reads them.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from partita.lazy import lazy_function
from partita.types.json import JsonObject, is_object

from .source import Environment, Folders, LogFormat, LogSource, PathInfo, first_text

AGENT: Final = "opencode"
SESSION_CONTENTS: Final = (["message"], ["part"])
"""Folders beside those of sessions in the oldest layout. They have very many files."""

PIECES: Final = ("message", "part")
"""The folders with the messages of sessions, and with their parts."""


def _homes(environment: Environment) -> Iterator[Path]:
    data = environment.path("XDG_DATA_HOME") or environment.home / ".local" / "share"
    yield data / "opencode"


def _databases(environment: Environment) -> Iterator[Path]:
    """The database that the environment names. A relative path is below the home."""
    named = environment.variables.get("OPENCODE_DB", "").strip()
    if named and named != ":memory:":
        yield from (home / named for home in _homes(environment))


def _may_contain(folders: Folders) -> bool:
    match folders:
        case () | ("storage",) | ("project",) | ("project", _):
            return True
        case ("project", _, "storage", *below) | ("storage", *below):
            return len(below) < 3 and below[:1] in ([], ["session"]) and below[1:] not in SESSION_CONTENTS
        case _:
            return False


def _classify(folders: Folders, name: str) -> PathInfo | None:
    match folders:
        case () if name.startswith("opencode") and name.endswith(".db"):
            return PathInfo("database")
        case ("storage", "session", _) | ("project", _, "storage", "session", _):
            is_session = name.startswith("ses_") and name.endswith(".json")
            return PathInfo("storage-session", name.removesuffix(".json")) if is_session else None
        case _:
            return None


def _log_path(path: Path) -> Path | None:
    """The file of the session that a message or a part belongs to."""
    storage, content, owner = path.parents[2:3], path.parent.parent.name, path.parent.name
    if not storage or storage[0].name != "storage" or content not in PIECES:
        return path
    if content == "part":
        message = next(storage[0].glob(f"message/*/{owner}.json"), None)
        owner = message.parent.name if message else ""
    return next(storage[0].glob(f"session/*/{owner}.json"), None)


def _session_id(stem: str, records: Sequence[JsonObject]) -> str | None:
    return first_text(records, "sessionID") or _id_of_export(records)


def _id_of_export(records: Sequence[JsonObject]) -> str | None:
    for record in records:
        info = record.get("info", record)
        if is_object(info) and isinstance(info.get("id"), str) and info["id"].startswith("ses_"):
            return str(info["id"])
    return None


def _format(name: str, *, is_export: bool) -> LogFormat:
    return LogFormat(
        name,
        AGENT,
        lazy_function("partita.formats.opencode.session.OpenCodeDecoder"),
        kind="document" if is_export else "stream",
        records=lazy_function("partita.formats.opencode.session.records_of"),
        session_id=_session_id,
    )


SOURCE: Final = LogSource(
    agent=AGENT,
    formats=(_format("opencode-export", is_export=True), _format("opencode-parts", is_export=False)),
    resume=("opencode", "--session", "{session}"),  # https://opencode.ai/docs/cli/
    homes=_homes,
    watched=("storage", "project", "opencode.db", "opencode*.db"),
    may_contain=_may_contain,
    classify=_classify,
    databases=_databases,
    log_path=_log_path,
    open_store=lazy_function("partita.logs.sources.opencode_store.open_store"),
)
