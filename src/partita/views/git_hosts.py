"""Web addresses of git repositories, from the addresses that `git remote` prints."""

import re
from typing import Final
from urllib.parse import quote

REMOTE: Final = re.compile(
    r"(?:(?:https?|ssh|git)://(?:[^@/\s]+@)?|[\w.-]+@)(?P<host>[\w.-]+)(?::\d+(?=/))?[:/]"
    r"(?P<path>[\w.~+/-]+?)(?:\.git)?/?"
)
"""`https://host/owner/name.git`, `ssh://git@host/owner/name` or `git@host:owner/name.git`."""

PATHS: Final = (
    ("github", "/commit/", "/tree/"),
    ("gitlab", "/-/commit/", "/-/tree/"),
    ("bitbucket", "/commits/", "/branch/"),
    ("codeberg", "/commit/", "/src/branch/"),
    ("gitea", "/commit/", "/src/branch/"),
    ("forgejo", "/commit/", "/src/branch/"),
)
"""By a label of the host's name: the paths of commits and branches."""


def repository_url(remote: object) -> str | None:
    """The page of a repository, given its remote; `None` if the host is not known."""
    found = REMOTE.fullmatch(remote) if isinstance(remote, str) else None
    if found is None or _paths(found["host"]) is None or "/" not in found["path"].strip("/"):
        return None
    return f"https://{found['host'].lower()}/{found['path'].strip('/')}"


def commit_url(repository: str | None, hash: str) -> str | None:
    """The page of a commit of a repository."""
    return _page(repository, 0, hash)


def branch_url(repository: str | None, branch: str | None) -> str | None:
    """The page of a branch of a repository."""
    return _page(repository, 1, branch)


def _page(repository: str | None, kind: int, name: str | None) -> str | None:
    paths = None if repository is None else _paths(repository.split("/")[2])
    return f"{repository}{paths[kind]}{quote(name)}" if paths is not None and name else None


def _paths(host: str) -> tuple[str, str] | None:
    labels = host.lower().split(".")
    return next(((commit, branch) for name, commit, branch in PATHS if name in labels), None)
