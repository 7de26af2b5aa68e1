"""Where logs are searched for: the folders of agents, and those that the user added; what each contains."""

import asyncio
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from partita.config.config import Config
from partita.errors import PartitaError
from partita.logs.files import Expansion, databases, discover, find_logs, homes, roots
from partita.logs.sources.source import LogFile
from partita.store.bulk.writer import known_threads
from partita.store.store import Store
from partita.store.values import Source

from .importer import stored_sessions


class ImportScope(NamedTuple):
    """Which logs are imported: those of some agents, or of all if there are none; also below some folders."""

    agents: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()

    def includes(self, agent: str) -> bool:
        """Whether the sessions of an agent are imported."""
        return not self.agents or agent in self.agents

    def search(self) -> Expansion:
        """The logs, each once; and what could not be read."""
        problems: list[PartitaError] = []
        files = {one.identity: one for one in discover(agents=self.agents or None, report=problems.append)}
        added = find_logs(self.folders)
        for file in added.files:
            if self.includes(file.agent):
                files.setdefault(file.identity, file)
        return Expansion(tuple(files.values()), (*problems, *added.problems))

    def roots(self) -> tuple[Path, ...]:
        """What to watch for changes."""
        return (*roots(agents=self.agents or None), *self.folders)


def configured_scope(agents: Sequence[str] | None = None) -> ImportScope:
    """The scope in the settings, but for these agents if they are given."""
    config = Config()
    chosen = config.get("import.agents") if agents is None else tuple(agents)
    folders = config.get("import.folders")
    assert isinstance(chosen, tuple), "its kind is a list"
    assert isinstance(folders, tuple), "its kind is a list"
    return ImportScope(chosen, tuple(Path(folder).expanduser().absolute() for folder in folders))


class Location(NamedTuple):
    """A place where logs are searched for, and what it contains."""

    agent: str | None
    """The agent whose home it is; `None` for a folder that the user added."""
    path: Path
    exists: bool
    is_imported: bool
    """Whether its logs are imported."""
    files: int = 0
    """The number of logs."""
    new_files: int = 0
    """How many of them were never imported."""
    sessions: int = 0
    """The number of stored sessions that were imported from it."""
    updated_at: datetime | None = None
    """When one of the logs was last written to."""
    problems: tuple[PartitaError, ...] = ()
    """What could not be read when it was searched."""


async def list_locations(store: Store, scope: ImportScope) -> list[Location]:
    """Every place where logs are searched for: those of the scope, and those of the other agents."""
    found, empty = await asyncio.to_thread(_search, scope)
    known = {source.path: source for source in await store.sources.list()}
    sessions = [[list(stored_sessions(file, known)) for file in files] for files in found.values()]
    ids = set(chain.from_iterable(chain.from_iterable(sessions)))
    stored = await store.read(known_threads, list(ids))
    return [
        _with_files(place, files, known, stored & set(chain.from_iterable(each)))
        for (place, files), each in zip(((empty[path], found[path]) for path in found), sessions, strict=True)
    ]


def _search(scope: ImportScope) -> tuple[dict[Path, list[LogFile]], dict[Path, Location]]:
    """The logs in each place, and the places without them."""
    every = scope._replace(agents=())
    files, problems = every.search()
    places = {
        path: Location(agent, path, _exists(path), scope.includes(agent))
        for agent, paths in homes().items()
        for path in (*paths, *databases(agent))
    } | {path: Location(None, path, _exists(path), is_imported=True) for path in scope.folders}
    logs: dict[Path, list[LogFile]] = {path: [] for path in places}
    for file in files:
        if place := _place_of(file.path, places):
            logs[place].append(file)
    for problem in problems:
        place = _place_of(Path(problem.where), places)
        if place is not None and places[place].exists:
            places[place] = places[place]._replace(problems=(*places[place].problems, problem))
    return logs, places


def _exists(path: Path) -> bool:
    return os.path.exists(path)  # noqa: PTH110 # it raises no error


def _place_of(path: Path, places: Iterable[Path]) -> Path | None:
    """The innermost place that contains a path."""
    containing = [place for place in places if path.is_relative_to(place)]
    return max(containing, key=lambda place: len(place.parts), default=None)


def _with_files(
    place: Location, files: Sequence[LogFile], known: Mapping[str, Source], sessions: set[str]
) -> Location:
    if not files:
        return place
    latest = max(file.mtime_ns for file in files)
    return place._replace(
        files=len(files),
        new_files=sum(str(file.path) not in known for file in files),
        sessions=len(sessions),
        updated_at=datetime.fromtimestamp(latest / 1e9, UTC),
    )
