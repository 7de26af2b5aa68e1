"""The different values of a column."""

from .transaction import Transaction

# One step through an index of the column for each value, not one for each row.
DISTINCT = """
WITH RECURSIVE found (value) AS (
    SELECT min({column}) FROM {table} WHERE {column} IS NOT NULL
    UNION ALL
    SELECT (SELECT min({column}) FROM {table} WHERE {column} > found.value) FROM found
    WHERE found.value IS NOT NULL
)
SELECT value FROM found WHERE value IS NOT NULL
"""
AMONG = {True: "{} IN (SELECT value FROM json_each(?))", False: "{} = ANY(?::{}[])"}


def distinct_texts(tx: Transaction, table: str, column: str) -> list[str]:
    """The different texts in a column that begins an index, of all owners."""
    return [row.value for row in tx.sql(DISTINCT.format(table=table, column=column))]


def among(tx: Transaction, column: str, type: str = "text") -> str:
    """The condition, as SQL text, that a column holds one of the values of a `Transaction.list_parameter`."""
    return AMONG[tx.is_sqlite].format(column, type)
