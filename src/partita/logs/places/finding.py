"""The logs that paths given by a person stand for."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from partita.errors import FormatError, PartitaError
from partita.formats.detection.agent_logs import LogFormatName
from partita.logs.lines.heads import first_values, is_empty

from .detection import Detected, detect
from .layouts import NO_LOGS, Report, listing, shape_of
from .log_file import SIDECAR, Kind, LogFile, Shape, is_uuid, log_file, unreadable
from .places import AGENTS

ENDINGS = (".jsonl", ".ndjson", ".json", ".jsonl.gz", ".json.gz", ".jsonl.zst")
"""How the names of files end that are looked into when a folder is searched."""

SURE_ENOUGH = 0.5
"""How sure it must be that a file is a log when nobody said that it is one."""

PASSED_BY = frozenset({".git", "node_modules", "__pycache__", ".venv", "tool-results", "tool-outputs"})
"""Folders that hold many files, none of them a log; what a tool printed may look like one."""

KINDS: Mapping[LogFormatName, Kind] = {
    "claude-code-log": "session",
    "claude-code-stream": "stream",
    "codex-rollout": "session",
    "codex-exec": "stream",
    "gemini-cli": "session",
    "gemini-cli-stream": "stream",
    "opencode-export": "document",
    "opencode-parts": "stream",
}


class Expansion(NamedTuple):
    """The logs found, in the order of the paths, each once; and what could not be read."""

    files: tuple[LogFile, ...]
    problems: tuple[PartitaError, ...]


def find_logs(paths: Iterable[str | Path]) -> Expansion:
    """The logs of any known agent: files as named, folders searched through. Never raises."""
    files: dict[str, LogFile] = {}
    problems: list[PartitaError] = []
    for path in map(Path, paths):
        if path.is_dir():
            found = list(_search(path, problems.append))
            if not found:
                problems.append(
                    PartitaError(
                        "no logs in this folder", where=str(path), hint=f"known: {', '.join(AGENTS)}"
                    )
                )
        else:
            found = list(_given(path, problems.append))
        for file in found:
            files.setdefault(file.identity, file)
    return Expansion(tuple(files.values()), tuple(problems))


def _given(path: Path, report: Report) -> Iterator[LogFile]:
    """The log that a file is. That it is one was said, so its name counts for little."""
    try:
        path.stat()
        shape = shape_of(path.absolute()) or _shape_by_content(path, at_least=0)
        found = log_file(path, shape) if shape else None
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
        elif not empty:  # an empty log is a session without messages
            report(
                FormatError("no log of a known agent", where=str(path), hint=f"known: {', '.join(AGENTS)}")
            )


def _search(top: Path, report: Report) -> Iterator[LogFile]:
    """The logs in a folder and below, in a stable order."""
    entered: set[tuple[int, int]] = set()
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        files, folders = listing(os.fspath(folder), entered, report)
        for name in files:
            shape = _shape(folder / name, report)
            found = log_file(folder / name, shape) if shape else None
            if found:
                yield found
        in_storage = folder.name == "storage"
        waiting.extend(
            folder / name
            for name in reversed(folders)
            if name not in PASSED_BY and not (in_storage and name in ("message", "part"))
        )


def _shape(path: Path, report: Report) -> Shape | None:
    if path.name in NO_LOGS or path.name.endswith(SIDECAR):
        return None
    shape = shape_of(path.absolute())
    if shape or not path.name.endswith(ENDINGS):
        return shape
    try:
        return _shape_by_content(path, at_least=SURE_ENOUGH)
    except PartitaError as problem:
        report(problem)
        return None


def _shape_by_content(path: Path, *, at_least: float) -> Shape | None:
    detected = detect(first_values(path), path.name)
    return _shape_of_detected(path, detected) if detected and detected.confidence >= at_least else None


def _shape_of_detected(path: Path, detected: Detected) -> Shape:
    """What a file is whose content tells the format; its path may still tell of whom it is a part."""
    kind, stem = KINDS[detected.format], path.name.split(".")[0]
    match detected.format:
        case "claude-code-log" if stem.startswith("agent-"):
            above = path.parent
            session = above.parent.name if above.name == "subagents" else ""
            return Shape(detected.agent, "subagent", session if is_uuid(session) else None)
        case "gemini-cli" if ".json" in path.suffixes:
            return Shape(detected.agent, "document")
        case _:
            return Shape(detected.agent, kind, stem if is_uuid(stem) and kind == "session" else None)
