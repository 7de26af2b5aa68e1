"""Storages of OpenCode to 1.1: a JSON file for each session, message and part."""

from collections.abc import Iterator
from pathlib import Path

from partita.errors import DecodeError
from partita.types.json import JsonObject, is_array

from .storage import DAMAGED, Stamp, object_in, told, unknown


class FolderStorage:
    """A JSON file for each session, message and part."""

    def __init__(self, path: Path) -> None:
        self.problems: list[DecodeError] = []
        self._path = path
        self._is_old = (path / "session" / "info").is_dir()

    def sessions(self) -> Iterator[JsonObject]:
        """What each session says of itself."""
        for file in self._session_files():
            yield self._session(file)

    def session(self, session_id: str) -> JsonObject:
        """What one session says of itself."""
        for file in self._session_files(_plain(session_id)):
            return self._session(file)
        raise unknown(session_id, self._path)

    def messages(self, session_id: str) -> Iterator[JsonObject]:
        """The messages of a session. Names sort by time, as ids of OpenCode do."""
        for file in self._message_files(session_id):
            info = {**self._read(file), "id": file.stem, "sessionID": session_id}
            inline = info.pop("parts", None)  # as the oldest versions have them
            parts = [
                {"type": DAMAGED, **self._read(part), "id": part.stem, "messageID": file.stem}
                for part in self._part_files(session_id, file.stem)
            ]
            yield {"info": info, "parts": [*(inline if is_array(inline) else ()), *parts]}

    def stamp(self, session_id: str) -> Stamp:
        """What tells whether a session has changed."""
        messages = self._message_files(session_id)
        parts = [part for file in messages for part in self._part_files(session_id, file.stem)]
        own = self._session_files(_plain(session_id))
        updated = max((_changed(file) for file in (*own, *messages, *parts)), default=0)
        return Stamp(updated, len(messages), len(parts))

    def close(self) -> None:
        """Nothing is held."""

    def _session(self, file: Path) -> JsonObject:
        return {"time": {}, **self._read(file), "id": file.stem}

    def _session_files(self, name: str = "*") -> list[Path]:
        return self._files("session/info" if self._is_old else "session/*", name)

    def _message_files(self, session_id: str) -> list[Path]:
        return self._files(f"{'session/' if self._is_old else ''}message/{_plain(session_id)}")

    def _part_files(self, session_id: str, message_id: str) -> list[Path]:
        if self._is_old:
            return self._files(f"session/part/{_plain(session_id)}/{message_id}")
        return self._files(f"part/{message_id}")

    def _files(self, folder: str, name: str = "*") -> list[Path]:
        with told(self._path):
            return sorted(self._path.glob(f"{folder}/{name}.json"), key=lambda file: file.name)

    def _read(self, file: Path) -> JsonObject:
        """What a file says. One that went away meanwhile says nothing."""
        with told(file):
            try:
                content = file.read_bytes()
            except FileNotFoundError:
                return {}
        return object_in(content, str(file), self.problems)


def _plain(name: str) -> str:
    """An id, if it can be the name of a file and of nothing else."""
    if not name.replace("_", "").replace("-", "").isalnum():
        raise unknown(name)
    return name


def _changed(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:  # gone meanwhile: the counts will tell
        return 0
