"""Bringing a database to the schema of this version: never back, and never without a copy."""

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from partita.errors import StoreError
from partita.version import __version__

HEAD = "0001"
"""The schema of this version. Alembic is loaded only when a database has another one."""

SCRIPTS = "partita.store:migrations"
LOCK = 7_261_486_213
"""The advisory lock that servers which start at the same time take in turn."""


def revision_of(connection: Connection) -> str | None:
    """The schema a database has; `None` when it is empty."""
    tables = inspect(connection).get_table_names()
    if "alembic_version" in tables:
        revision: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        return revision
    if tables:
        raise StoreError(
            "this database holds something else",
            where=", ".join(sorted(tables)[:5]),
            hint="name another file or database, or import it: partita import --help",
        )
    return None


def refuse_newer(revision: str | None, head: str = HEAD) -> None:
    """Refuse a database that a newer Partita wrote."""
    if revision is not None and revision > head:
        raise StoreError(
            f"the store has schema {revision}, and Partita {__version__} knows up to {head}",
            hint="a newer Partita wrote it: upgrade with pip install -U partita",
        )


def upgrade(connection: Connection, scripts: str = SCRIPTS, head: str = HEAD) -> None:
    """Bring a database to the newest schema."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
    revision = revision_of(connection)
    refuse_newer(revision, head)
    if revision == head:
        return
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", scripts)
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def back_up(path: Path, revision: str) -> Path:
    """A copy of a SQLite file, whole and consistent, beside it."""
    target = path.with_name(f"{path.name}.schema-{revision}.bak")
    number = 1
    while target.exists():
        number += 1
        target = path.with_name(f"{path.name}.schema-{revision}-{number}.bak")
    unfinished = target.with_name(f"{target.name}.part")
    unfinished.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(unfinished)) as copy:
        source.backup(copy)
    unfinished.rename(target)
    return target
