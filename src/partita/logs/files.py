"""The logs on this machine: those below the homes of agents, and those at given paths."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple

from partita.errors import FormatError, PartitaError

from .detection import DetectedLog, detect
from .lines.heads import first_values, is_empty, unreadable
from .sources.registry import AGENTS, SOURCES, log_format, source_of
from .sources.source import (
    WRITE_AHEAD,
    Environment,
    Folders,
    LogFile,
    LogSource,
    OnProblem,
    PathInfo,
    log_file,
)

# Below the homes of agents


def homes(
    *, home: Path | None = None, environment: Mapping[str, str] | None = None
) -> dict[str, tuple[Path, ...]]:
    """The folders under which each agent keeps its data, whether they exist or not."""
    found = _environment(home, environment)
    return {agent: tuple(source.homes(found)) for agent, source in SOURCES.items()}


def databases(agent: str) -> tuple[Path, ...]:
    """The databases of an agent that the environment names."""
    return tuple(source_of(agent).databases(_environment(None, None)))


def discover(
    *,
    home: Path | None = None,
    environment: Mapping[str, str] | None = None,
    roots: Mapping[str, Sequence[Path]] | None = None,
    agents: Sequence[str] | None = None,
    report: OnProblem | None = None,
) -> tuple[LogFile, ...]:
    """Every log of the agents, each once, without opening any.

    `roots` gives other homes for an agent. A folder that cannot be read is reported and skipped.
    """
    found: dict[str, LogFile] = {}
    for source, folders in _selected(home, environment, roots, agents):
        for folder in folders:
            for file in _walk(folder, source, report or _ignore):
                found.setdefault(file.identity, file)
        for path in _databases(source, home, environment, roots):
            database = log_file(path, source.agent, PathInfo("database"))
            if database:
                found.setdefault(database.identity, database)
    return tuple(found.values())


def roots(
    *,
    home: Path | None = None,
    environment: Mapping[str, str] | None = None,
    roots: Mapping[str, Sequence[Path]] | None = None,
    agents: Sequence[str] | None = None,
) -> tuple[Path, ...]:
    """What to watch for changes: folders, and the files of databases. Some may not exist yet."""
    watched: list[Path] = []
    for source, known in _selected(home, environment, roots, agents):
        watched += [path for top in known for name in source.watched for path in _matching(top, name)]
        watched += _databases(source, home, environment, roots)
    folders = [path for path in watched if path.suffix != ".db"]
    databases = [path for path in watched if path.suffix == ".db"]
    files = [path.with_name(path.name + end) for path in databases for end in ("", WRITE_AHEAD)]
    return tuple(dict.fromkeys([*folders, *files]))


def _matching(folder: Path, name: str) -> Iterable[Path]:
    return sorted(folder.glob(name)) if "*" in name else [folder / name]


def _environment(home: Path | None, environment: Mapping[str, str] | None) -> Environment:
    return Environment(
        Path.home() if home is None else home, os.environ if environment is None else environment
    )


def _selected(
    home: Path | None,
    environment: Mapping[str, str] | None,
    given: Mapping[str, Sequence[Path]] | None,
    agents: Sequence[str] | None,
) -> list[tuple[LogSource, Sequence[Path]]]:
    """The sources of the requested agents with their homes: the given ones, or else the known ones."""
    given = given or {}
    for name in [*given, *(agents or ())]:
        source_of(name)
    known = homes(home=home, environment=environment)
    return [
        (source, given.get(agent, known[agent]))
        for agent, source in SOURCES.items()
        if agents is None or agent in agents
    ]


def _databases(
    source: LogSource,
    home: Path | None,
    environment: Mapping[str, str] | None,
    given: Mapping[str, Sequence[Path]] | None,
) -> Iterable[Path]:
    """The databases that the environment names, unless other homes are given."""
    return () if source.agent in (given or {}) else source.databases(_environment(home, environment))


def _ignore(problem: PartitaError) -> None:
    """Skip a folder that cannot be read."""


def _walk(home: Path, source: LogSource, report: OnProblem) -> Iterator[LogFile]:
    """The logs below the home of an agent, in a stable order."""
    entered: set[tuple[int, int]] = set()
    waiting: list[tuple[str, Folders]] = [(os.fspath(home), ())]  # text, since folders without logs are many
    while waiting:
        folder, parts = waiting.pop()
        files, folders = _listing(folder, entered, report)
        infos = [(name, info) for name in files if (info := source.classify(parts, name))]
        path = Path(folder) if infos else home
        for name, info in infos:
            if not (name.endswith(".zst") and name.removesuffix(".zst") in files):
                found = log_file(path / name, source.agent, info, files[name])
                if found:
                    yield found
        for name in reversed(folders):
            below = (*parts, name)
            if source.may_contain(below):
                waiting.append((f"{folder}{os.sep}{name}", below))


def _listing(
    folder: str, entered: set[tuple[int, int]], report: OnProblem
) -> tuple[dict[str, os.DirEntry[str]], list[str]]:
    """The files by name and the names of the folders in a folder, sorted; empty if it was entered before.

    Links are followed, so that a folder that was moved elsewhere is found; `entered` ends loops.
    """
    files: list[os.DirEntry[str]] = []
    folders: list[str] = []
    try:
        itself = os.stat(folder)  # noqa: PTH116 # of text, see above
        if (itself.st_dev, itself.st_ino) in entered:
            return {}, []
        entered.add((itself.st_dev, itself.st_ino))
        with os.scandir(folder) as entries:
            for entry in entries:
                if _is_folder(entry):
                    folders.append(entry.name)
                else:
                    files.append(entry)
    except (FileNotFoundError, NotADirectoryError):
        return {}, []
    except OSError as error:
        report(unreadable(folder, error))
    return {entry.name: entry for entry in sorted(files, key=_name)}, sorted(folders)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder or a link to one. A link that points to itself is not."""
    try:
        return entry.is_dir()
    except OSError:
        return False


_name: Callable[[os.DirEntry[str]], str] = attrgetter("name")


# At given paths

ENDINGS: Final = (".jsonl", ".ndjson", ".json", ".jsonl.gz", ".json.gz", ".jsonl.zst")
"""The endings of the names of files that are opened when a folder is searched."""

LEAST_CONFIDENCE: Final = 0.5
"""The confidence that is required of a file in a searched folder."""

SKIPPED: Final = frozenset({".git", "node_modules", "__pycache__", ".venv", "tool-results", "tool-outputs"})
"""Folders with many files that are not logs. The output of a tool may look like one."""


class Expansion(NamedTuple):
    """The logs found, in the order of the paths, each once; and what could not be read."""

    files: tuple[LogFile, ...]
    problems: tuple[PartitaError, ...]


KNOWN: Final = f"known agents: {', '.join(AGENTS)}; other data needs --from"
"""The hint where no log was found."""


def find_logs(paths: Iterable[str | Path]) -> Expansion:
    """The logs of any known agent: the named files, with those of their sub-agents, and all in named folders.

    Their paths are absolute, because they identify the files in later imports. Never raises.
    """
    files: dict[str, LogFile] = {}
    problems: list[PartitaError] = []
    for path in map(Path, paths):
        if os.path.isdir(path):  # noqa: PTH112 # `is_dir` may raise an error
            before = len(problems)
            found = list(_search(path.absolute(), problems.append))
            if not found and len(problems) == before:
                problems.append(FormatError("no logs in this folder", where=str(path), hint=KNOWN))
        else:
            found = list(_named_file(path.absolute(), problems.append))
        for file in found:
            files.setdefault(file.identity, file)
    return Expansion(tuple(files.values()), tuple(problems))


def log_of(path: Path) -> LogFile | None:
    """Return the log that a changed file is or belongs to, by its path; `None` if there is none."""
    if path.name.endswith(WRITE_AHEAD):
        path = path.with_name(path.name.removesuffix(WRITE_AHEAD))
    for source in SOURCES.values():
        whole = source.log_path(path)
        if whole is None:
            return None
        path = whole
    return _known_log(path)


def _known_log(path: Path) -> LogFile | None:
    """Return the log at a path that identifies the file for certain, in any folder."""
    *parts, name = path.absolute().parts
    for start in range(len(parts) + 1):
        below = tuple(parts[start:])
        for source in SOURCES.values():
            info = source.classify(below, name)
            if info and source.is_certain(info, name):
                return log_file(path, source.agent, info)
    return None


def is_ignored(name: str) -> bool:
    """Whether a file of that name looks like a log and is not one."""
    return any(source.is_ignored(name) for source in SOURCES.values())


def _named_file(path: Path, report: OnProblem) -> Iterator[LogFile]:
    """Return the log in a file that the user named, whatever its name is."""
    try:
        path.stat()
        found = _known_log(path) or _log_by_content(path, at_least=0)
        empty = found is None and is_empty(path)
    except FileNotFoundError:
        report(PartitaError("no such file or folder", where=str(path), hint="check the spelling"))
    except OSError as error:
        report(unreadable(str(path), error))
    except PartitaError as problem:
        report(problem)
    else:
        if found:
            yield found
            yield from sub_agent_logs(found)
        elif not empty:  # an empty log is a session without messages
            report(FormatError("no log of a known agent", where=str(path), hint=KNOWN))


def sub_agent_logs(session: LogFile) -> Iterator[LogFile]:
    """The logs of the sub-agents of a session, as far as its files can be read."""
    source = SOURCES.get(session.agent)
    if source is None or source.sub_agents is None:
        return
    try:
        for path in source.sub_agents.find(session.path):
            found = log_of(path) or _log_by_content(path, at_least=0)
            if found is not None:
                yield found
    except (OSError, PartitaError):
        return


def _search(top: Path, report: OnProblem) -> Iterator[LogFile]:
    """The logs in a folder and below, in a stable order."""
    entered: set[tuple[int, int]] = set()
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        files, folders = _listing(os.fspath(folder), entered, report)
        for name in files:
            found = _found_log(folder / name, report)
            if found:
                yield found
        in_storage = folder.name == "storage"
        waiting.extend(
            folder / name
            for name in reversed(folders)
            if name not in SKIPPED and not (in_storage and name in ("message", "part"))
        )


def _found_log(path: Path, report: OnProblem) -> LogFile | None:
    """Return the log in a file of a searched folder."""
    if is_ignored(path.name):
        return None
    found = _known_log(path)
    if found or not path.name.endswith(ENDINGS) or not path.exists():  # a link may lead nowhere
        return found
    try:
        return _log_by_content(path, at_least=LEAST_CONFIDENCE)
    except PartitaError as problem:
        report(problem)
        return None


def _log_by_content(path: Path, *, at_least: float) -> LogFile | None:
    detected: DetectedLog | None = detect(first_values(path), path.name)
    if detected is None or detected.confidence < at_least:
        return None
    return log_file(path, detected.agent, log_format(detected.format).info_of(path))
