"""The file of a project comes with whatever one clones: what it may decide without being asked.

What stays inside its folder and lets nobody in. The rest counts once the user trusts the folder.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from partita.errors import ConfigError

from .files import ConfigFile
from .relative import FILE_URL, IN_MEMORY, URL
from .settings import Setting, Value


def refusal(file: ConfigFile, setting: Setting, trusted: Sequence[str], own: Path) -> ConfigError | None:
    """Why the file of a project may not decide a setting; `None` when it may."""
    folder = file.path.parent
    if file.role == "user" or _is_trusted(folder, trusted):
        return None
    why = ""
    if _is_foreign(file.path):
        why = "the file belongs to another user"
    elif setting.guarded:
        why = "it lets others in, or runs something"
    elif setting.kind == "place" and not _is_inside(folder, file.values[setting.key]):
        why = "what you say would leave this folder"
    if not why:
        return None
    return ConfigError(
        f"the file of a project decides {setting.key}, and its folder is not trusted: {why}",
        where=file.where(setting.key),
        hint=f'if you trust it, write trusted = ["{folder}"] in {own}; else give the option yourself',
    )


def _is_trusted(folder: Path, trusted: Sequence[str]) -> bool:
    whole = folder.resolve()
    return any(whole.is_relative_to(Path(each).expanduser().resolve()) for each in trusted)


def _is_foreign(path: Path) -> bool:
    """Whether somebody else could have put it there: neither this user nor the machine's own."""
    if not hasattr(os, "geteuid"):
        return False
    try:
        return path.stat().st_uid not in (0, os.geteuid())
    except OSError:
        return True


def _is_inside(folder: Path, value: Value) -> bool:
    """Whether a store is a file in the folder or below, or nowhere at all."""
    url = str(value)
    if url in (*IN_MEMORY, "memory:", "sqlite://"):
        return True
    if url.startswith(FILE_URL):
        url = unquote(url.removeprefix(FILE_URL).partition("?")[0])
    elif URL.match(url):
        return False
    return Path(url).expanduser().resolve().is_relative_to(folder.resolve())
