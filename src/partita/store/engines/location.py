"""Where a store is: URLs, the default file, and the files of a SQLite store."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import parse_qsl, unquote, urlencode

from partita.config.config import Config
from partita.errors import NotFoundError, StoreError, UnavailableError
from partita.private_files import create_file, is_shared, restrict
from partita.store.sql.texts import UNSTORABLE

if TYPE_CHECKING:  # importing it takes a third of a second, and most stores are files
    from sqlalchemy.engine import URL

EngineName: TypeAlias = Literal["sqlite", "postgresql"]

FORMS = "use sqlite:///FILE, postgresql://USER:PASSWORD@HOST/DATABASE, memory: or the path of a file"
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")  # two letters at least: `c:` is a drive

# The parameters of a server URL, and their names in the driver.
OPTIONS = {
    "host": "host",
    "port": "port",
    "user": "user",
    "password": "password",
    "passfile": "passfile",
    "ssl": "ssl",
    "sslmode": "ssl",
    "target_session_attrs": "target_session_attrs",
    "statement_cache_size": "statement_cache_size",
    "prepared_statement_cache_size": "prepared_statement_cache_size",
}
NUMBERS = ("port", "statement_cache_size", "prepared_statement_cache_size")
MOST_PORTS = 65535
SHOWN = ("host", "port")
ESCAPED = "in a password write %40 for @, %3F for ?, %2F for /"


@dataclass(frozen=True, slots=True)
class Location:
    """An engine, and the path of a file (`None`: in memory) or the URL of a server."""

    engine: EngineName
    path: Path | None = None
    url: str = ""

    @property
    def is_in_memory(self) -> bool:
        """Whether the store is new, and gone when it is closed."""
        return self.engine == "sqlite" and self.path is None


def default_path() -> Path:
    """The file in the user's data directory."""
    from platformdirs import user_data_path

    return user_data_path("partita", appauthor=False) / "partita.db"


def locate(url: str | os.PathLike[str] | None = None) -> Location:
    """The location of a URL; without a URL that of the settings, or the default file."""
    text = os.fspath(url) if url is not None else _configured()
    if not text:
        return Location("sqlite", default_path())
    if "\x00" in text:
        raise StoreError("the URL contains a NUL", hint=FORMS)
    if text in ("memory:", "sqlite://", "sqlite:///:memory:", ":memory:"):
        return Location("sqlite")
    scheme, separator, rest = text.partition("://")
    if not separator:
        return Location("sqlite", _path(text) if isinstance(url, os.PathLike) else _plain_path(text))
    match scheme.partition("+")[0]:
        case "sqlite":
            return Location("sqlite", _file(rest, text))
        case "postgresql" | "postgres":
            return Location("postgresql", url=_server(rest))
        case _:
            raise StoreError(f"no store has URLs with {scheme}://", where=without_password(text), hint=FORMS)


def _configured() -> str:
    """The store in `PARTITA_STORE` or in a `partita.toml`."""
    return str(Config().get("store") or "")


def _plain_path(text: str) -> Path:
    """The path of a text without `://`. A text that begins like a URL is refused."""
    if SCHEME.match(text):
        raise StoreError("this is neither a URL nor a path", where=text.partition(":")[0] + ":…", hint=FORMS)
    return _path(text)


def _path(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # `~name` of an unknown user
        raise StoreError("unknown user", where=text, hint="write the whole path") from None


def _file(rest: str, text: str) -> Path:
    path = unquote(rest.partition("?")[0])
    if not path.startswith("/") or path == "/" or "\x00" in path:
        raise StoreError(
            "the URL names no file", where=text, hint="three slashes, then the path: sqlite:///FILE"
        )
    return _path(path[1:])


def _server(rest: str) -> str:
    """The URL of a server, with the parameter names of the driver."""
    address, mark, query = rest.partition("?")
    url = f"postgresql+asyncpg://{address}"
    parsed = _parsed(url)
    if parsed is None or (parsed.port or 0) > MOST_PORTS or UNSTORABLE.search(unquote(rest)):
        raise StoreError("the URL of the server cannot be read", hint=f"{FORMS}; {ESCAPED}")
    options = parse_qsl(query, keep_blank_values=True)
    for name, value in options:
        if name not in OPTIONS:
            what = f"the driver has no option {name!r}"
        elif name in NUMBERS and not value.isdecimal():
            what = f"{name}={value} is not a number"
        else:
            continue
        hint = f"options after the ?: {', '.join(OPTIONS)}; {ESCAPED}"
        raise StoreError(what, where=without_password(url), hint=hint)
    return url + mark + urlencode([(OPTIONS[name], value) for name, value in options])


def _parsed(url: str) -> "URL | None":
    """The parts of a URL; `None` if it cannot be parsed."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        return None
    return None if "@" in (parsed.host or "") else parsed


def without_password(url: str) -> str:
    """A URL for messages: only the user, the host and the database."""
    scheme, separator, _ = url.partition("://")
    parsed = _parsed(url)
    if parsed is None:
        return f"{scheme}{separator}…"
    user = f"{parsed.username}@" if parsed.username else ""
    port = f":{parsed.port}" if parsed.port else ""
    options = parsed.normalized_query
    query = "&".join(f"{name}={','.join(options[name])}" for name in SHOWN if name in options)
    place = f"{user}{parsed.host or ''}{port}/{parsed.database or ''}"
    return f"{scheme}://{place}" + (f"?{query}" if query else "")


# Stores that do not exist


def check_store_file(location: Location) -> None:
    """Refuse a file that does not exist or is empty. A database on a server is not checked."""
    path = location.path
    if path is None:
        return
    try:
        if path.is_dir() or path.stat().st_size:
            return
        what = "the file of the store is empty"
    except (FileNotFoundError, NotADirectoryError):
        what = "the store does not exist"
    except OSError as error:
        raise UnavailableError(
            f"the store cannot be read: {error.strerror}", where=str(path), hint="check its permissions"
        ) from None
    raise NotFoundError(what, where=str(path), hint=no_store_hint(location))


def no_store_hint(location: Location) -> str:
    """The hint for a store that does not exist."""
    if location.path == default_path():
        return "`partita import` creates it, with the sessions of the agents on this machine"
    what = "URL" if location.path is None else "path"
    return f"check the {what}; `partita import` and `partita serve` create a store there"


# The files of a SQLite store


def store_files(path: Path) -> list[Path]:
    """The database, the files of SQLite next to it, and the copies from before upgrades."""
    real = path.resolve()
    names = (f"{real.name}-wal", f"{real.name}-shm", f"{real.name}-journal")
    existing = [file for file in (real, *map(real.with_name, names)) if file.exists()]
    return existing + copies_of(real)


def copies_of(path: Path) -> list[Path]:
    """The copies of a store from before upgrades of its schema."""
    real = path.resolve()
    return sorted(file for file in real.parent.iterdir() if file.name.startswith(f"{real.name}.schema-"))


def create_or_restrict(path: Path) -> None:
    """Create the file of a store for this user alone; SQLite gives its other files the same mode.

    The mode of an existing file may be intended, for example to share it with a group. It is changed only
    for the file in the user's data directory, which earlier versions created with the usual mode.
    """
    if not path.exists():
        create_file(path)
    elif is_shared(path) and path == default_path():
        for file in store_files(path):
            restrict(file)
