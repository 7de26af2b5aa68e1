"""Tables of cases: one test runs every row and reports each failure.

`@each_row` has the parameters of `pytest.mark.parametrize`. A row is a call, not a collected test, so use
it for rows that need no fixtures of their own; fixtures of the test are shared by its rows.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from typing import Any, NamedTuple

import pytest

Test = Callable[..., Any]
Ids = Iterable[object] | Callable[[Any], object] | None


def each_row(names: str | Sequence[str], values: Iterable[Any], ids: Ids = None) -> Callable[[Test], Test]:
    """Call the test with each row of a table; `ids` name the rows in the report."""
    arguments = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = list(_table(arguments, list(values), ids))

    def decorate(test: Test) -> Test:
        if inspect.iscoroutinefunction(test):

            @wraps(test)
            async def run_async(**fixtures: Any) -> None:
                failures = Failures(len(table))
                for row in table:
                    with failures.of(row):
                        await test(**fixtures, **row.arguments)
                failures.report()

            run: Test = run_async
        else:

            @wraps(test)
            def run_sync(**fixtures: Any) -> None:
                failures = Failures(len(table))
                for row in table:
                    with failures.of(row):
                        test(**fixtures, **row.arguments)
                failures.report()

            run = run_sync
        signature = inspect.signature(test)
        missing = [name for name in arguments if name not in signature.parameters]
        if missing:
            raise TypeError(f"{test.__qualname__} has no argument {', '.join(missing)}")
        fixtures = [one for name, one in signature.parameters.items() if name not in arguments]
        # Read by pytest instead of the parameters of the test: the remaining ones are fixtures.
        setattr(run, "__signature__", signature.replace(parameters=fixtures))  # noqa: B010
        return run

    return decorate


class Row(NamedTuple):
    """One case of a table."""

    number: int
    id: object
    arguments: dict[str, Any]

    @property
    def name(self) -> str:
        """The name in the report: its id, or its index and its values."""
        return str(self.id) if self.id is not None else f"{self.number}: {self.arguments!r:.200}"


class Failures:
    """The failed rows of one test."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._found: list[Exception] = []
        self._row: Row | str = ""

    def of(self, row: "Row | str") -> "Failures":
        """Run a row, or a case of that name: `with failures.of(row):`."""
        self._row = row
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, pytest.skip.Exception):
            error = AssertionError(f"a row cannot be skipped, leave it out of the table: {error}")
        if isinstance(error, pytest.fail.Exception):
            error = AssertionError(str(error)).with_traceback(error.__traceback__)
        if not isinstance(error, Exception):
            return False
        error.add_note(f"row: {self._row.name if isinstance(self._row, Row) else self._row}")
        self._found.append(error)
        return True

    def report(self) -> None:
        """Fail if any row has failed."""
        if not self._total:
            pytest.fail("the table has no rows")
        if len(self._found) == 1:
            raise self._found[0]
        if self._found:
            raise ExceptionGroup(f"{len(self._found)} of {self._total} rows failed", self._found)


def _table(names: list[str], values: list[Any], ids: Ids) -> Iterator[Row]:
    given = None if ids is None or callable(ids) else list(ids)
    if given is not None and len(given) != len(values):
        raise ValueError(f"{len(given)} ids for {len(values)} rows")
    for number, value in enumerate(values):
        name = given[number] if given is not None else None
        row = (value,) if len(names) == 1 else value
        if isinstance(value, _Parameters):
            if value.marks:
                raise ValueError("a row has no marks: use pytest.mark.parametrize")
            name, row = value.id, value.values
        if name is None and callable(ids):
            name = "-".join(str(ids(one)) for one in row)
        yield Row(number, name, dict(zip(names, row, strict=True)))


_Parameters: type[Any] = type(pytest.param())
