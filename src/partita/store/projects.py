"""Projects: the git repository that a project is in, and the projects that a text names.

The project of a thread is the folder in which its agent was started. Worktrees and folders of one repository
are one project in lists and statistics.
"""

import re
from pathlib import Path
from typing import Final

from sqlalchemy import ColumnElement, Table, or_

from partita.types.json import JsonObject

from .sql.distinct import among, distinct_texts
from .sql.texts import storable
from .sql.transaction import Transaction

GIT_ROOT: Final = "gitRoot"
"""The member of the metadata with the main folder of the git repository that the project is in."""

WORKTREE_FOLDERS: Final = tuple(
    folder.replace("/", separator)
    for folder in ("/.claude/worktrees/", "/.worktrees/", "/.conductor/")
    for separator in ("/", "\\")
)
"""Folders inside a repository in which agents and their tools put its worktrees."""

DRIVE: Final = re.compile("[a-zA-Z]:/")


def is_project(project: str | None, text: str) -> bool:
    """Whether a text names a project.

    An absolute path names the project with that path. Other text names the projects with these folders in
    their path, one after the other: `app` and `me/app` name `/home/me/app`. Case is ignored in it, and `\\`
    is the same as `/`.
    """
    if project is None:
        return False
    named = _absolute(text)
    if named.startswith("/"):
        return project == named
    path, folders = _folders(project), _folders(named)
    return path == folders if DRIVE.match(folders) else f"/{folders}/" in f"/{path}/"


def _absolute(text: str) -> str:
    """The text with the home folder for `~`, and without a slash at its end."""
    text = str(Path(text).expanduser()) if text == "~" or text.startswith("~/") else text
    return text.rstrip("/") or text


def _folders(path: str) -> str:
    """A path in the form that is compared. Lists show `…/` for the folders that do not fit."""
    return path.replace("\\", "/").removeprefix("…/").rstrip("/").casefold()


def repository_of(project: str | None, metadata: JsonObject | None) -> str | None:
    """The git repository with a project: as the metadata names it, or by its path; or else the project."""
    root = None if metadata is None else metadata.get(GIT_ROOT)
    if isinstance(root, str) and root:
        return root
    if project is None:
        return None
    places = (project.find(folder) for folder in WORKTREE_FOLDERS)
    return next((project[:place] for place in places if place > 0), project)


COLUMNS: Final = ("project", "repository")


def _matching(tx: Transaction, text: str) -> list[str]:
    """The projects and repositories that a text names: the one with exactly this name, if there is one."""
    storable(text, "the project")
    if text.startswith("/"):
        return [_absolute(text)]
    known = {name for column in COLUMNS for name in distinct_texts(tx, "threads", column)}
    return [text] if text in known else [project for project in known if is_project(project, text)]


def matches_project(tx: Transaction, threads: Table, text: str) -> ColumnElement[bool]:
    """The condition that a thread is in a project that a text names."""
    names = _matching(tx, text)
    return or_(*(tx.among(threads.c[column], names) for column in COLUMNS))


def project_condition(tx: Transaction, threads: str, text: str) -> tuple[str, tuple[object, ...]]:
    """The same condition as SQL text, for an alias of the table, and the values of its parameters."""
    names = tx.list_parameter(_matching(tx, text))
    alternatives = (among(tx, f"{threads}.{column}") for column in COLUMNS)
    return f"({' OR '.join(alternatives)})", tuple(names for _ in COLUMNS)
