"""Where a store is: what a URL says, and the file that is used when nobody says anything."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import unquote

from partita.errors import StoreError

EngineName: TypeAlias = Literal["sqlite", "postgresql"]

URL_VARIABLE = "PARTITA_STORE"
FORMS = "use sqlite:///FILE, postgresql://USER:PASSWORD@HOST/DATABASE, memory: or the path of a file"


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
    """Where the store of this URL is; without one, what `PARTITA_STORE` says, or the default file."""
    text = os.fspath(url) if url is not None else os.environ.get(URL_VARIABLE, "")
    if not text:
        return Location("sqlite", default_path())
    if text in ("memory:", "sqlite://", "sqlite:///:memory:", ":memory:"):
        return Location("sqlite")
    scheme, separator, rest = text.partition("://")
    if not separator:
        return Location("sqlite", Path(text).expanduser())
    match scheme.partition("+")[0]:
        case "sqlite":
            return Location("sqlite", _file(rest, text))
        case "postgresql" | "postgres":
            return Location("postgresql", url=f"postgresql+asyncpg://{rest}")
        case _:
            raise StoreError(f"no store speaks {scheme!r}", where=without_password(text), hint=FORMS)


def _file(rest: str, text: str) -> Path:
    path = unquote(rest.partition("?")[0])
    if not path.startswith("/") or path == "/":
        raise StoreError(
            "the URL names no file", where=text, hint="three slashes, then the path: sqlite:///FILE"
        )
    relative = path[1:]
    return Path(relative).expanduser()


def without_password(url: str) -> str:
    """A URL that may be shown."""
    head, separator, rest = url.partition("://")
    credentials, at, host = rest.rpartition("@")
    user = credentials.partition(":")[0]
    return f"{head}{separator}{user}{at}{host}" if separator else url
