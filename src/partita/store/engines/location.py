"""Where a store is: what a URL or the settings say, and the file that is used when nobody says anything."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import parse_qsl, unquote, urlencode

from partita.config.config import Config
from partita.errors import StoreError
from partita.store.texts import UNSTORABLE

if TYPE_CHECKING:  # it takes a third of a second, and most stores are files
    from sqlalchemy.engine import URL

EngineName: TypeAlias = Literal["sqlite", "postgresql"]

FORMS = "use sqlite:///FILE, postgresql://USER:PASSWORD@HOST/DATABASE, memory: or the path of a file"
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")  # two letters at least: `c:` is a drive

# What may stand behind the `?` of a server's URL, and what the driver calls it.
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
    """Which engine, and where: the path of a file (`None`: in memory) or the URL of a server."""

    engine: EngineName
    path: Path | None = None
    url: str = ""


def default_path() -> Path:
    """The file in the user's data directory."""
    from platformdirs import user_data_path

    return user_data_path("partita", appauthor=False) / "partita.db"


def locate(url: str | os.PathLike[str] | None = None) -> Location:
    """Where the store of this URL is; without one, what the settings say, or the default file."""
    text = os.fspath(url) if url is not None else _configured()
    if not text:
        return Location("sqlite", default_path())
    if "\x00" in text:
        raise StoreError("the URL holds a NUL", hint=FORMS)
    if text in ("memory:", "sqlite://", "sqlite:///:memory:", ":memory:"):
        return Location("sqlite")
    scheme, separator, rest = text.partition("://")
    if not separator:
        return Location("sqlite", _path(text) if isinstance(url, os.PathLike) else _bare(text))
    match scheme.partition("+")[0]:
        case "sqlite":
            return Location("sqlite", _file(rest, text))
        case "postgresql" | "postgres":
            return Location("postgresql", url=_server(rest))
        case _:
            raise StoreError(f"no store speaks {scheme!r}", where=without_password(text), hint=FORMS)


def _configured() -> str:
    """What `PARTITA_STORE` or a `partita.toml` says."""
    return str(Config().get("store") or "")


def _bare(text: str) -> Path:
    """The path of a text that is no URL; one that looks like half of a URL is a mistake."""
    if SCHEME.match(text):
        raise StoreError("this is neither a URL nor a path", where=text.partition(":")[0] + ":…", hint=FORMS)
    return _path(text)


def _path(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # ~somebody who does not exist
        raise StoreError("there is no such user", where=text, hint="write the whole path") from None


def _file(rest: str, text: str) -> Path:
    path = unquote(rest.partition("?")[0])
    if not path.startswith("/") or path == "/" or "\x00" in path:
        raise StoreError(
            "the URL names no file", where=text, hint="three slashes, then the path: sqlite:///FILE"
        )
    return _path(path[1:])


def _server(rest: str) -> str:
    """The URL of a server in the words of the driver."""
    address, mark, query = rest.partition("?")
    url = f"postgresql+asyncpg://{address}"
    parsed = _parsed(url)
    if parsed is None or (parsed.port or 0) > MOST_PORTS or UNSTORABLE.search(unquote(rest)):
        raise StoreError("the URL of the server cannot be read", hint=f"{FORMS}; {ESCAPED}")
    options = parse_qsl(query, keep_blank_values=True)
    for name, value in options:
        if name not in OPTIONS or (name in NUMBERS and not value.isdecimal()):
            raise StoreError(
                f"the URL says {name}={value}" if name in NUMBERS else f"the driver has no option {name!r}",
                where=without_password(url),
                hint=f"after the ? may stand {', '.join(OPTIONS)}; {ESCAPED}",
            )
    return url + mark + urlencode([(OPTIONS[name], value) for name, value in options])


def _parsed(url: str) -> "URL | None":
    """The pieces of a URL; none when they cannot be told apart."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        return None
    return None if "@" in (parsed.host or "") else parsed


def without_password(url: str) -> str:
    """A URL that may be shown: nothing of it but user, host and database."""
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
