"""Bringing a database to the schema of this version: never back, and never without a copy."""

import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from partita.errors import StoreError
from partita.private_files import create_file
from partita.version import __version__

from . import (
    change_schema,
    content_schema,
    counter_schema,
    first_schema,
    key_schema,
    result_schema,
    role_schema,
)
from .engines.failures import is_conflict, is_gone, root

LOCK = 7_261_486_213
"""The advisory lock that servers which start at the same time take in turn."""


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema to bring databases to, and where Alembic finds the way there."""

    head: str
    scripts: str


STEPS = (
    first_schema,
    key_schema,
    change_schema,
    result_schema,
    content_schema,
    role_schema,
    counter_schema,
)
"""The modules that make the tables, step by step: those that `migrations` has, and in the same order."""

NEWEST = Schema(STEPS[-1].REVISION, "partita.store:migrations")
"""The schema of this version. Alembic is loaded only when a database has an older one."""

NAME = re.compile("[0-9]{4}")
STAMP = (
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL,"
    " CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))",
    f"INSERT INTO alembic_version (version_num) VALUES ('{NEWEST.head}')",
)
"""What Alembic reads to learn where a database is."""


def revision_of(connection: Connection) -> str | None:
    """The schema a database has; `None` when it is empty."""
    tables = inspect(connection).get_table_names()
    if "alembic_version" in tables:
        revision: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        if revision is not None and NAME.fullmatch(revision):
            return revision
    if tables:
        raise StoreError(
            "this database holds something else",
            where=", ".join(sorted(tables)[:5]),
            hint="name another file or database, or import it: partita import --help",
        )
    return None


def refuse_newer(revision: str | None, schema: Schema = NEWEST) -> None:
    """Refuse a database that a newer Partita wrote."""
    if revision is not None and revision > schema.head:
        raise StoreError(
            f"the store has schema {revision}, and Partita {__version__} knows up to {schema.head}",
            hint="a newer Partita wrote it: upgrade with pip install -U partita",
        )


def upgrade(connection: Connection, schema: Schema = NEWEST, file: Path | None = None) -> None:
    """Bring a database to a schema, all the way or not at all; of a file with data, a copy is made first."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
    revision = revision_of(connection)  # nobody else can change it now
    refuse_newer(revision, schema)
    if revision == schema.head:
        return
    backup = back_up(file, revision) if file is not None and revision is not None else None
    try:
        if revision is None:
            _make_tables(connection)
        if revision is not None or schema.head != NEWEST.head:
            run_scripts(connection, schema)
    except Exception as error:
        if is_gone(error) or is_conflict(error):
            raise  # the engine will try again
        raise StoreError(
            f"the schema cannot be brought from {revision or 'nothing'} to {schema.head}: {root(error)}",
            hint="nothing was changed" + (f"; a copy from before is {backup}" if backup else ""),
        ) from error


def _make_tables(connection: Connection) -> None:
    """The newest schema, as Alembic would make it: loading that takes longer than making the tables."""
    lite = connection.dialect.name == "sqlite"
    made = (statement for step in STEPS for statement in step.statements(lite=lite))
    for statement in (*made, *STAMP):
        connection.exec_driver_sql(statement)


def run_scripts(connection: Connection, schema: Schema) -> None:
    """What Alembic does to get to a schema."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", schema.scripts)
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, schema.head)


def back_up(path: Path, revision: str) -> Path:
    """A copy of a SQLite file, whole and consistent, beside it."""
    target = path.with_name(f"{path.name}.schema-{revision}.bak")
    number = 1
    while target.exists():
        number += 1
        target = path.with_name(f"{path.name}.schema-{revision}-{number}.bak")
    unfinished = target.with_name(f"{target.name}.part")
    unfinished.unlink(missing_ok=True)
    create_file(unfinished)
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(unfinished)) as copy:
        source.backup(copy)
    unfinished.rename(target)
    return target
