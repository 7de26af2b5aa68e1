"""How each agent lays out its logs below its home: which folders to enter, and what a path tells."""

import os
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, TypeAlias

from partita.errors import PartitaError

from .log_file import LogFile, Shape, is_uuid, log_file, unreadable

Parts: TypeAlias = tuple[str, ...]
"""The folders from an agent's home down to where a file lies."""

Report: TypeAlias = Callable[[PartitaError], None]


class Layout(NamedTuple):
    """Where an agent's logs lie. Both functions look at names only."""

    agent: str
    watched: tuple[str, ...]
    """What below the home to watch for changes."""

    holds: Callable[[Parts], bool]
    """Whether a folder may hold logs, itself or further down."""

    shape: Callable[[Parts, str], Shape | None]
    """What a file is, by its folder and its name."""


NO_LOGS = frozenset({"journal.jsonl", "history.jsonl"})
"""Lists of prompts and of sub-agents, where sessions lie too."""


def _claude_holds(parts: Parts) -> bool:
    match parts:
        case () | ("projects",) | ("projects", _):
            return True
        case ("projects", _, session):
            return session != "memory"
        case ("projects", _, _, "subagents", *_):
            return True
        case _:
            return False


def _claude_shape(parts: Parts, name: str) -> Shape | None:
    if not name.endswith(".jsonl") or name in NO_LOGS:
        return None
    match parts:
        case ("projects", _) if name.startswith("agent-"):
            return Shape("claude-code", "subagent")  # the session that it works for is told inside only
        case ("projects", _):
            return Shape("claude-code", "session", name.removesuffix(".jsonl"))
        case ("projects", _, session, "subagents", *_):
            return Shape("claude-code", "subagent", session)
        case _:
            return None


def _codex_holds(parts: Parts) -> bool:
    return not parts or parts[0] in ("sessions", "archived_sessions")


def _codex_shape(_: Parts, name: str) -> Shape | None:
    if not name.startswith("rollout-") or not name.endswith((".jsonl", ".jsonl.zst")):
        return None
    thread = name[len("rollout-2026-01-31T23-59-59-") :][:36]
    return Shape("codex", "session", thread if is_uuid(thread) else None)


def _gemini_holds(parts: Parts) -> bool:
    return parts[:1] in ((), ("tmp",)) and (len(parts) < 3 or (parts[2] == "chats" and len(parts) < 5))


def _gemini_shape(parts: Parts, name: str) -> Shape | None:
    if not name.endswith((".json", ".jsonl")):
        return None
    match parts:
        case ("tmp", _, "chats"):
            return Shape("gemini-cli", "document" if name.endswith(".json") else "session")
        case ("tmp", _, "chats", parent):
            return Shape("gemini-cli", "subagent", parent)
        case _:
            return None


def _opencode_holds(parts: Parts) -> bool:
    match parts:
        case () | ("storage",) | ("project",) | ("project", _):
            return True
        case ("project", _, "storage", *below) | ("storage", *below):
            return len(below) < 3 and below[:1] in ([], ["session"]) and below[1:] not in SESSION_CONTENTS
        case _:
            return False


SESSION_CONTENTS = (["message"], ["part"])
"""In the oldest layout they lie beside the sessions, and are many."""


def _opencode_shape(parts: Parts, name: str) -> Shape | None:
    match parts:
        case () if name.startswith("opencode") and name.endswith(".db"):
            return Shape("opencode", "database")
        case ("storage", "session", _) | ("project", _, "storage", "session", _):
            is_session = name.startswith("ses_") and name.endswith(".json")
            return Shape("opencode", "storage-session", name.removesuffix(".json")) if is_session else None
        case _:
            return None


LAYOUTS = {
    layout.agent: layout
    for layout in (
        Layout("claude-code", ("projects",), _claude_holds, _claude_shape),
        Layout("codex", ("sessions", "archived_sessions"), _codex_holds, _codex_shape),
        Layout("gemini-cli", ("tmp",), _gemini_holds, _gemini_shape),
        Layout("opencode", ("storage", "project"), _opencode_holds, _opencode_shape),
    )
}


def walk(home: Path, layout: Layout, report: Report) -> Iterator[LogFile]:
    """The logs below the home of an agent, in a stable order. Nothing is opened."""
    entered: set[tuple[int, int]] = set()
    waiting: list[tuple[str, Parts]] = [(os.fspath(home), ())]  # text, since folders without logs are many
    while waiting:
        folder, parts = waiting.pop()
        files, folders = listing(folder, entered, report)
        shapes = [(name, shape) for name in files if (shape := layout.shape(parts, name))]
        place = Path(folder) if shapes else home
        for name, shape in shapes:
            if not (name.endswith(".zst") and name.removesuffix(".zst") in files):
                found = log_file(place / name, shape, files[name])
                if found:
                    yield found
        for name in reversed(folders):
            below = (*parts, name)
            if layout.holds(below):
                waiting.append((f"{folder}{os.sep}{name}", below))


def listing(
    folder: str, entered: set[tuple[int, int]], report: Report
) -> tuple[dict[str, os.DirEntry[str]], list[str]]:
    """The files by name and the names of the folders in a folder, sorted; nothing of one entered before.

    Links are followed, so that a folder moved elsewhere is found; what was entered is how loops end.
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
                if entry.is_dir():
                    folders.append(entry.name)
                else:
                    files.append(entry)
    except (FileNotFoundError, NotADirectoryError):
        return {}, []
    except OSError as error:
        report(unreadable(folder, error))
    return {entry.name: entry for entry in sorted(files, key=_name)}, sorted(folders)


_name = attrgetter("name")


def shape_of(path: Path) -> Shape | None:
    """What a path tells wherever it lies, if it tells for sure."""
    *parts, name = path.parts
    for start in range(len(parts) + 1):
        below = tuple(parts[start:])
        for layout in LAYOUTS.values():
            shape = layout.shape(below, name)
            if shape and _is_sure(shape, name):
                return shape
    return None


def _is_sure(shape: Shape, name: str) -> bool:
    """Whether nobody else would give a file that name: folders called `projects` or `chats` are common."""
    match shape.agent, shape.kind:
        case "claude-code", "session":
            return is_uuid(shape.session or "")
        case "gemini-cli", "subagent":
            return is_uuid(shape.session or "")
        case "gemini-cli", _:
            return name.startswith("session-")
        case _:
            return True
