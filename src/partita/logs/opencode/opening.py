"""The storages of OpenCode, found and opened.

| version | where | what |
|---|---|---|
| the first ones | `project/NAME/storage/` | a JSON file for each session, message and part |
| to 1.1 | `storage/` | the same, in other folders |
| from 1.2 | `opencode.db`, `opencode-CHANNEL.db` | SQLite: the same JSON in rows, without its ids |
| from 2.0 | the same database | other tables: a row holds a message with all its parts |
"""

from collections.abc import Iterator
from pathlib import Path

from partita.errors import NotFoundError
from partita.types.json import JsonObject

from .database import DatabaseStorage
from .folders import FolderStorage
from .storage import Storage


def open_storage(path: Path) -> Storage:
    """The storage at `path`: a database, or a folder of JSON files."""
    if path.is_file():
        return DatabaseStorage(path)
    if (path / "session").is_dir():
        return FolderStorage(path)
    if path.exists():
        hint = "name opencode.db, or the folder `storage` beside it"
        raise NotFoundError("no sessions of OpenCode are here", where=str(path), hint=hint)
    raise NotFoundError(
        "there is no such file or folder", where=str(path), hint="is OpenCode installed here?"
    )


def storages_in(folder: Path) -> list[Path]:
    """The storages under OpenCode's data folder, the newest kind first."""
    folders = [folder / "storage", *sorted(folder.glob("project/*/storage"))]
    return [*sorted(folder.glob("opencode*.db")), *(path for path in folders if (path / "session").is_dir())]


def document_of(storage: Storage, session_id: str) -> JsonObject:
    """A session as `opencode export` gives it."""
    return {"info": storage.session(session_id), "messages": list(storage.messages(session_id))}


def records_in(storage: Storage, session_id: str) -> Iterator[JsonObject]:
    """A session as records: what it says of itself, then its messages, one at a time."""
    yield storage.session(session_id)
    yield from storage.messages(session_id)
