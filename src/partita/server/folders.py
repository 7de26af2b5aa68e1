"""The folder that a client lets an agent work in: one that the server allows."""

from collections.abc import Sequence
from pathlib import Path

from .problems import Problem

WHERE = "$.cwd"


def allowed_folder(cwd: str, allowed: Sequence[str]) -> Path:
    """The folder of a request, if it is one of the allowed ones or below one. Symbolic links are resolved."""
    if not allowed:
        raise Problem(
            403,
            "clients cannot choose the folder of an agent here",
            where=WHERE,
            hint="the server has to allow folders: partita serve --cwd FOLDER, or asgi(…, cwds=[FOLDER])",
        )
    if not Path(cwd).is_absolute() or "\0" in cwd:
        raise Problem(400, f"{cwd[:200]!r} is not an absolute path", where=WHERE, hint="give the whole path")
    try:
        folder = Path(cwd).resolve()
    except (OSError, RuntimeError):  # a loop of links, or a name that is too long
        folder = Path(cwd)
    if not any(folder.is_relative_to(Path(each).expanduser().resolve()) for each in allowed):
        raise Problem(
            403,
            f"folder {cwd[:200]!r} is not allowed",
            where=WHERE,
            hint="use a folder that the server allows, or one below it",
        )
    if not folder.is_dir():
        raise Problem(400, f"there is no folder {cwd[:200]!r}", where=WHERE, hint="create it first")
    return folder


def remembered_folder(cwd: object, allowed: Sequence[str]) -> Path | None:
    """The folder of an earlier run, if it is still allowed."""
    try:
        return allowed_folder(cwd, allowed) if isinstance(cwd, str) else None
    except Problem:
        return None
