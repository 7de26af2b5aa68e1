"""Bring a database to the schema of this version, in one transaction. A SQLite file is copied first.

A new database is created by `schema.create_statements`. A database with an earlier schema gets the steps that
it lacks, in order. One that is too old is refused, and not changed.
"""

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from sqlalchemy import Connection, inspect, text

from partita.errors import StoreError
from partita.private_files import create_file
from partita.version import __version__

from .engines.driver_errors import driver_error, is_conflict, is_gone
from .projects import WORKTREE_FOLDERS
from .schema import COUNT_MESSAGES, SQLITE_LOG, create_statements, split_statements

Statements: TypeAlias = Callable[[str], Iterable[str]]
"""Called with the name of the dialect, `sqlite` or `postgresql`."""


def _no_statements(dialect: str) -> Iterator[str]:
    yield from ()


class Step(NamedTuple):
    """A revision of the schema, and the statements that lead to it from the revision before."""

    revision: str
    tables: Statements = _no_statements
    data: Statements = _no_statements
    """Statements for the existing rows. They are also for the rows of a backup with an earlier schema."""


class Schema(NamedTuple):
    """The schema of a version of this program."""

    create: Callable[[str], Iterable[str]]
    """Called with the name of the dialect; returns the statements that create all tables."""
    oldest: str
    """The oldest revision that can be upgraded."""
    upgrades: Sequence[Step]

    @property
    def revision(self) -> str:
        """The revision of the schema."""
        return self.upgrades[-1].revision


def without_links(dialect: str) -> Iterator[str]:
    """0008: the rows of a run in `log_tail` are found by an index, not by links from row to row."""
    if dialect == "sqlite":
        yield "DROP TRIGGER runs_leave_no_tail"
        yield "DROP TRIGGER log_append_now"
        yield "DROP VIEW log_append"
        yield "ALTER TABLE log_tail DROP COLUMN previous"
    yield "ALTER TABLE runs DROP COLUMN tail"
    yield "ALTER TABLE runs DROP COLUMN tail_rows"
    if dialect == "sqlite":
        yield from split_statements(SQLITE_LOG)


def visible_counts(dialect: str) -> Iterator[str]:
    """0009: a thread counts the messages of its active branch that are not internal."""
    yield COUNT_MESSAGES


def with_repositories(dialect: str) -> Iterator[str]:
    """0010: a thread has the repository of its project, and a failed run counts as an error."""
    yield "ALTER TABLE threads ADD COLUMN repository TEXT"
    yield "CREATE INDEX threads_by_repository ON threads (repository, updated_at)"


def repositories(dialect: str) -> Iterator[str]:
    """The rows of 0010."""
    position = "instr" if dialect == "sqlite" else "strpos"
    places = [f"{position}(project, '{folder}')" for folder in WORKTREE_FOLDERS]
    cases = " ".join(f"WHEN {place} > 1 THEN substr(project, 1, {place} - 1)" for place in places)
    yield f"UPDATE threads SET repository = CASE {cases} ELSE project END WHERE project IS NOT NULL"
    yield (
        "UPDATE messages SET has_errors = TRUE WHERE NOT has_errors AND run_id IN"
        " (SELECT id FROM runs WHERE status = 'failed')"
        """ AND content LIKE '%"ended":{"status":"failed"%'"""
    )
    yield (
        "UPDATE threads SET error_count = (SELECT count(*) FROM messages m"
        " WHERE m.owner = threads.owner AND m.thread_id = threads.id AND m.has_errors)"
        " WHERE EXISTS (SELECT 1 FROM runs r"
        " WHERE r.owner = threads.owner AND r.thread_id = threads.id AND r.status = 'failed')"
    )


def with_parts_summaries(dialect: str) -> Iterator[str]:
    """0011: a message has a short text about its calls and reasoning."""
    yield "ALTER TABLE messages ADD COLUMN parts_summary TEXT"


def parts_summaries(dialect: str) -> Iterator[str]:
    """The rows of 0011."""
    join = (
        "group_concat(line, char(10))" if dialect == "sqlite" else "string_agg(line, chr(10) ORDER BY number)"
    )
    line_feed = "char(10)" if dialect == "sqlite" else "chr(10)"
    work = "'tool-call', 'tool-result', 'reasoning', 'reasoning-file'"
    yield f"""
        UPDATE messages SET parts_summary = (
            SELECT {join} FROM (
                SELECT p.number, p.path || ' ' || CASE WHEN p.type IN ({work}) THEN p.type ELSE 'other' END
                    || ' ' || CASE WHEN p.state = 'approval-requested' THEN 'waiting'
                        WHEN p.error IS NULL THEN 'done' ELSE 'failed' END
                    || ' ' || replace(coalesce(p.tool_name, ''), {line_feed}, ' ') AS line
                FROM parts p
                WHERE p.owner = messages.owner AND p.message = messages.key AND p.path NOT LIKE '%.%'
                    AND p.path <> 'network' AND p.type <> 'step-start'
                ORDER BY p.number
            ) AS lines
        )
        WHERE EXISTS (
            SELECT 1 FROM parts p
            WHERE p.owner = messages.owner AND p.message = messages.key AND p.path NOT LIKE '%.%'
                AND p.type IN ({work})
        )"""


CURRENT: Final = Schema(
    create_statements,
    "0007",
    (
        Step("0008", tables=without_links),
        Step("0009", data=visible_counts),
        Step("0010", tables=with_repositories, data=repositories),
        Step("0011", tables=with_parts_summaries, data=parts_summaries),
    ),
)

HEAD: Final = CURRENT.revision

REVISION: Final = re.compile("[0-9]{4}")

CREATE_REVISION: Final = (
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL,"
    " CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)
"""The table of the revision has the name and column that Alembic uses, which made the first stores."""

LOCK: Final = 7_261_486_213
"""The number of the PostgreSQL advisory lock that makes servers which start together upgrade in turn."""


def revision_of(connection: Connection) -> str | None:
    """The revision of a database; `None` if it is empty. A database of another program is refused."""
    tables = inspect(connection).get_table_names()
    if "alembic_version" in tables:
        revision: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        if revision is not None and REVISION.fullmatch(revision):
            return revision
    if tables:
        raise StoreError(
            "this database holds something else",
            where=", ".join(sorted(tables)[:5]),
            hint="name another file or database, or import it: partita import --help",
        )
    return None


def check_revision(revision: str | None, schema: Schema = CURRENT) -> None:
    """Refuse a database that this version can neither use nor upgrade."""
    if revision is None:
        return
    if revision > schema.revision:
        raise StoreError(
            f"the store has schema {revision}, and Partita {__version__} knows up to {schema.revision}",
            hint="a newer Partita wrote it: upgrade with pip install -U partita",
        )
    if revision < schema.oldest:
        raise StoreError(
            f"the store has schema {revision} of a development version, and Partita {__version__}"
            f" supports {schema.oldest} and later",
            hint="nothing was changed; keep it, and import your sessions again into a new store:"
            " partita import --store sqlite:///NEW.db",
        )


def upgrade(connection: Connection, schema: Schema = CURRENT, file: Path | None = None) -> None:
    """Create the tables of an empty database, or apply the upgrades that a database does not have yet.

    If a statement fails, nothing is changed. A `file` with data is copied first; the error names the copy.
    """
    dialect = connection.dialect.name
    if dialect == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
    revision = revision_of(connection)  # now that no other process can change it
    check_revision(revision, schema)
    if revision == schema.revision:
        return
    copy = copy_file(file, revision) if file is not None and revision is not None else None
    try:
        for statement in _statements(schema, revision, dialect):
            connection.exec_driver_sql(statement)
    except Exception as error:
        if is_gone(error) or is_conflict(error):
            raise  # the engine tries again
        cause = driver_error(error)
        raise StoreError(
            f"the schema cannot be upgraded from {revision or 'nothing'} to {schema.revision}: {cause}",
            hint="nothing was changed" + (f"; a copy from before is {copy}" if copy else ""),
        ) from error


def data_statements(revision: str, dialect: str) -> Iterator[str]:
    """The statements for rows that were written with an earlier schema."""
    for step in CURRENT.upgrades:
        if step.revision > revision:
            yield from step.data(dialect)


def _statements(schema: Schema, revision: str | None, dialect: str) -> Iterator[str]:
    if revision is None:
        yield from schema.create(dialect)
        yield CREATE_REVISION
        yield f"INSERT INTO alembic_version (version_num) VALUES ('{schema.revision}')"
        return
    for step in schema.upgrades:
        if step.revision > revision:
            yield from step.tables(dialect)
            yield from step.data(dialect)
    yield f"UPDATE alembic_version SET version_num = '{schema.revision}'"


def copy_file(path: Path, revision: str) -> Path:
    """Copy a SQLite file to a new file in the same folder, and return its path."""
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
