"""Compiled statements return the same as SQLAlchemy for the same expression."""

from datetime import timedelta
from typing import Any

from sqlalchemy import bindparam, select, update
from sqlalchemy.sql.selectable import ExecutableReturnsRows

from partita.store.engines.engine import Engine
from partita.store.runs import rows as runs
from partita.store.schema import messages, threads
from partita.store.schema import runs as run_table
from partita.store.sql.statement import Statement
from partita.store.sql.transaction import Transaction
from partita.types.threads import Run
from tests.store.emptying import in_empty_store
from tests.tables import each_row

from .running import NOON, with_thread

OF_ID = run_table.c.id == bindparam("of_id")
CASES: dict[str, tuple[ExecutableReturnsRows, dict[str, Any]]] = {
    "all columns, with times and without": (
        select(run_table).where(OF_ID),
        {"of_id": "r1"},
    ),
    "nothing": (select(run_table).where(OF_ID), {"of_id": "r2"}),
    "two tables": (
        select(run_table.c.id, threads.c.created_at, run_table.c.sealed).join(
            threads, (threads.c.owner == run_table.c.owner) & (threads.c.id == run_table.c.thread_id)
        ),
        {},
    ),
    "a value that is used twice": (
        select(run_table.c.id).where(OF_ID, run_table.c.status != bindparam("of_id")),
        {"of_id": "r1"},
    ),
    "a literal value": (select(run_table.c.id).order_by(run_table.c.id).limit(1), {}),
    "a compared time": (
        select(run_table.c.id).where(run_table.c.created_at >= bindparam("since")),
        {"since": NOON},
    ),
    "changed rows": (
        update(run_table)
        .where(OF_ID)
        .values(sealed=bindparam("new_sealed"), lease_expires_at=bindparam("until"))
        .returning(run_table),
        {"of_id": "r1", "new_sealed": True, "until": NOON + timedelta(seconds=1.5)},
    ),
}


@each_row(("expression", "values"), CASES.values(), ids=CASES)
@in_empty_store
async def test_rows_are_the_same_by_name_and_by_index(
    engine: Engine, expression: ExecutableReturnsRows, values: dict[str, Any]
) -> None:
    store = await with_thread(engine)
    await store.write(runs.open_run, Run(id="r1", thread_id="t1", status="running", cost=0.5))
    statement = Statement(expression)
    columns: list[Any] = list(expression.exported_columns)

    def both(tx: Transaction) -> None:
        expected = tx.rows(expression, values)
        found = statement.rows(tx, **values)
        assert [tuple(row) for row in found] == [tuple(row) for row in expected]
        for row, known in zip(found, expected, strict=True):
            assert {column.name: getattr(row, column.name) for column in columns} == {
                column.name: getattr(known, column.name) for column in columns
            }

    await store.write(both)


async def test_a_statement_without_rows_is_executed(engine: Engine) -> None:
    store = await with_thread(engine)
    rename = Statement(update(threads).where(threads.c.id == bindparam("of_id")).values(title="Garden"))
    await store.write(lambda tx: rename.run(tx, of_id="t1"))
    titles = await store.read(lambda tx: Statement(select(threads.c.title)).rows(tx))
    assert [row.title for row in titles] == ["Garden"]


async def test_the_first_row_or_none(engine: Engine) -> None:
    store = await with_thread(engine)
    first = Statement(select(threads.c.id))
    assert await store.read(first.row) == ("t1",)
    assert await store.read(Statement(select(messages.c.id)).row) is None
