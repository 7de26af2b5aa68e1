"""Which settings a project's `partita.toml` may set. The file may come from a cloned repository.

An untrusted file can only set display and performance options. The rest applies once the user trusts the
folder (`trusted` in the user's file) or this file with its current content (`partita config trust`).
"""

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from partita.errors import ConfigError
from partita.private_files import whole_file

from .environment import Environment
from .files import ConfigFile
from .settings import Setting

APPROVALS: Final = "trusted"
"""The folder next to the user's file that contains a file for each trusted project file."""


def refusal(
    file: ConfigFile, setting: Setting, trusted: Sequence[str], environment: Environment
) -> ConfigError | None:
    """The error for a setting that a project's file must not set; `None` if it may."""
    if file.role == "user" or _is_trusted(file.path.parent, trusted) or is_approved(file, environment):
        return None
    why = "the file belongs to another user" if _is_foreign(file.path) else setting.trust_reason
    if not why:
        return None
    return ConfigError(
        f"the project's file sets {setting.key}, but is not trusted: {why}",
        where=file.location(setting.key),
        hint="read the file; if you trust it, run: partita config trust. Or set it yourself: "
        f"{_alternative(setting)}",
    )


def _alternative(setting: Setting) -> str:
    option = "--store, " if setting.key == "store" else ""
    return f"{option}{setting.environment} or your user partita.toml"


def is_approved(file: ConfigFile, environment: Environment) -> bool:
    """Whether the user trusts this file with its current content."""
    try:
        return _approval(file.path, environment).read_text() == _statement(file)
    except (OSError, UnicodeDecodeError):
        return False


def approve(file: ConfigFile, environment: Environment) -> None:
    """Trust a file until its content changes."""
    with whole_file(_approval(file.path, environment), force=True) as approval:
        approval.write(_statement(file).encode("utf-8", "surrogateescape"))


def revoke(path: Path, environment: Environment) -> bool:
    """Revoke the trust in a file; return whether it was trusted."""
    try:
        _approval(path, environment).unlink()
    except FileNotFoundError:
        return False
    return True


def _approval(path: Path, environment: Environment) -> Path:
    name = sha256(os.fsencode(path.resolve())).hexdigest()
    return environment.config_folder / APPROVALS / name


def _statement(file: ConfigFile) -> str:
    return f"{file.digest}  {file.path.resolve()}\n"  # as sha256sum writes it


def _is_trusted(folder: Path, trusted: Sequence[str]) -> bool:
    whole = folder.resolve()
    return any(whole.is_relative_to(Path(each).expanduser().resolve()) for each in trusted)


def _is_foreign(path: Path) -> bool:
    """Whether a file belongs to another user than this one and root."""
    if not hasattr(os, "geteuid"):
        return False
    try:
        return path.stat().st_uid not in (0, os.geteuid())
    except OSError:
        return True
