"""Which settings a project's `partita.toml` may decide: it comes with whatever the user clones.

Without trust, it decides only how things look and how fast they are. The rest applies once the user trusts
the folder (`trusted` in the user's own file) or this file with its present content (`partita config trust`).
"""

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from partita.errors import ConfigError
from partita.private_files import whole_file

from .files import ConfigFile
from .settings import Setting
from .surroundings import Surroundings

APPROVALS: Final = "trusted"
"""The folder, next to the user's own file, with a file for each project file that is trusted."""


def refusal(
    file: ConfigFile, setting: Setting, trusted: Sequence[str], surroundings: Surroundings
) -> ConfigError | None:
    """Why a project's file may not decide a setting; `None` if it may."""
    if file.role == "user" or _is_trusted(file.path.parent, trusted) or is_approved(file, surroundings):
        return None
    why = "the file belongs to another user" if _is_foreign(file.path) else setting.guarded
    if not why:
        return None
    return ConfigError(
        f"the file of a project sets {setting.key}, and it is not trusted: {why}",
        where=file.where(setting.key),
        hint="read the file; if you trust it, run: partita config trust. Or set it yourself: "
        f"{_alternative(setting)}",
    )


def _alternative(setting: Setting) -> str:
    option = "--store, " if setting.key == "store" else ""
    return f"{option}{setting.environment} or your own partita.toml"


def is_approved(file: ConfigFile, surroundings: Surroundings) -> bool:
    """Whether the user trusts this file with the content that it has now."""
    try:
        return _approval(file.path, surroundings).read_text() == _statement(file)
    except (OSError, UnicodeDecodeError):
        return False


def approve(file: ConfigFile, surroundings: Surroundings) -> None:
    """Trust a file for as long as its content stays the same."""
    with whole_file(_approval(file.path, surroundings), force=True) as approval:
        approval.write(_statement(file).encode("utf-8", "surrogateescape"))


def revoke(path: Path, surroundings: Surroundings) -> bool:
    """Trust a file no longer; returns whether it was trusted with some content."""
    try:
        _approval(path, surroundings).unlink()
    except FileNotFoundError:
        return False
    return True


def _approval(path: Path, surroundings: Surroundings) -> Path:
    name = sha256(os.fsencode(path.resolve())).hexdigest()
    return surroundings.config_folder / APPROVALS / name


def _statement(file: ConfigFile) -> str:
    return f"{file.digest}  {file.path.resolve()}\n"  # as sha256sum writes it


def _is_trusted(folder: Path, trusted: Sequence[str]) -> bool:
    whole = folder.resolve()
    return any(whole.is_relative_to(Path(each).expanduser().resolve()) for each in trusted)


def _is_foreign(path: Path) -> bool:
    """Whether another user could have put it there: neither this user nor the administrator owns it."""
    if not hasattr(os, "geteuid"):
        return False
    try:
        return path.stat().st_uid not in (0, os.geteuid())
    except OSError:
        return True
