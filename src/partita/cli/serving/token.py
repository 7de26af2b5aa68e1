"""The token of a server without keys: other users of this machine can connect to it, but do not know it.

It is kept in a file that only its owner can read, one for each port: so an open tab of a browser still works
after a restart, and programs of the same user can read it.
"""

import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43}")


def token_for(port: int) -> str:
    """The token of the server at a port: the one in its file, or a new one, which is then written there."""
    path = token_file(port)
    known = _read(path)
    if known is not None:
        return known
    token = secrets.token_urlsafe(32)
    with suppress(OSError):  # without the file, the address that is printed has it
        _write(path, token)
    return token


def token_file(port: int) -> Path:
    """The file that holds the token of the server at a port."""
    from platformdirs import user_state_path

    return user_state_path("partita", appauthor=False) / f"token-{port}"


def _read(path: Path) -> str | None:
    """The token in a file that only this user can read; `None` for any other file."""
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            text = file.read(100).decode("ascii", "replace").strip()
    except OSError:
        return None
    if os.name == "posix" and (found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077):
        return None
    return text if TOKEN.fullmatch(text) else None


def _write(path: Path, token: str) -> None:
    """Write a token, never into a file that is there already and that others may have open."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(f"{token}\n")
    new.replace(path)
