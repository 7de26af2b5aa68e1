"""The git repository of a folder on this machine, for sessions that were recorded in it.

Only the files of git are read; git itself is not called.
"""

import re
from collections.abc import Iterator
from configparser import Error, RawConfigParser
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

GIT_DIRECTORY: Final = re.compile(r"^gitdir: (.+)$", re.MULTILINE)
# The folder of a worktree in its repository: https://git-scm.com/docs/gitrepository-layout
WORKTREE: Final = re.compile(r"^(?P<root>.+)[/\\]\.git[/\\]worktrees[/\\][^/\\]+$")
# `git@host:path`, the short form of SSH: https://git-scm.com/docs/git-clone#_git_urls
SHORT_SSH: Final = re.compile(r"^(?:[\w.-]+@)?(?P<host>[\w.-]+):(?!//)(?P<path>[^\s:]+)$")
LONGEST_CONFIG: Final = 1_000_000


class Repository(NamedTuple):
    """A repository: its main folder, and the address of its remote, if it has one."""

    root: str
    url: str | None


@lru_cache(maxsize=256)
def find_repository(folder: str) -> Repository | None:
    """The repository that a folder is in; `None` if the folder is in none, or does not exist."""
    path = Path(folder)
    if not path.is_absolute():
        return None
    try:
        found = next((place for place in (path, *path.parents) if (place / ".git").exists()), None)
        root = None if found is None else _main_folder(found)
        return None if root is None else Repository(str(root), _url(root))
    except (OSError, ValueError):  # a folder that may not be read, or a path that is not valid here
        return None


def _main_folder(folder: Path) -> Path:
    """The main folder of a repository, by the folder of one of its worktrees. A submodule is its own."""
    git = folder / ".git"
    if git.is_dir():
        return folder
    linked = GIT_DIRECTORY.search(git.read_text(errors="replace")[:4096])
    worktree = None if linked is None else WORKTREE.match(linked[1].strip())
    return folder if worktree is None else Path(worktree["root"])


def _url(root: Path) -> str | None:
    """The address of the remote `origin`, or of the only one."""
    remotes = dict(_remotes(root / ".git" / "config"))
    return remotes.get("origin") or (next(iter(remotes.values())) if len(remotes) == 1 else None)


def _remotes(config: Path) -> Iterator[tuple[str, str]]:
    if not config.is_file() or config.stat().st_size > LONGEST_CONFIG:
        return
    parser = RawConfigParser(strict=False, allow_no_value=True, interpolation=None)
    try:
        # Git indents the lines of a section; a parser of INI files would take them for continuations.
        parser.read_string(
            "\n".join(line.strip() for line in config.read_text(errors="replace").splitlines())
        )
    except Error:
        return
    for section in parser.sections():
        name = re.fullmatch(r'remote "(.+)"', section)
        if name and (url := parser.get(section, "url", fallback=None)):
            yield name[1], without_password(url)


def without_password(url: str) -> str:
    """The address of a remote without a user and a password, which may be a token."""
    short = SHORT_SSH.match(url)
    if short is not None and "://" not in url:
        return f"ssh://{short['host']}/{short['path'].lstrip('/')}"
    return re.sub(r"^(\w+://)[^/@\s]*@", r"\1", url)
