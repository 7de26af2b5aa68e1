"""The projects that a text names: the whole path of a project, or a part of it as lists show it."""

import re
from pathlib import Path
from typing import Final

from sqlalchemy import ColumnElement

from .sql.distinct import among, distinct_texts
from .sql.texts import storable
from .sql.transaction import Transaction

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


def matching_projects(tx: Transaction, text: str) -> list[str]:
    """The projects of stored threads that a text names: the one with exactly this name, if there is one."""
    storable(text, "the project")
    if text.startswith("/"):
        return [_absolute(text)]
    known = distinct_texts(tx, "threads", "project")
    return [text] if text in known else [project for project in known if is_project(project, text)]


def matches_project(tx: Transaction, column: ColumnElement[str], text: str) -> ColumnElement[bool]:
    """The condition that a column holds a project that a text names."""
    return tx.among(column, matching_projects(tx, text))


def project_condition(tx: Transaction, column: str, text: str) -> tuple[str, object]:
    """The same condition as SQL text, and the value of its parameter."""
    return among(tx, column), tx.list_parameter(matching_projects(tx, text))
