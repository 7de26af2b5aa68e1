"""`each_row` calls a test with every row and reports each failure."""

import inspect
from typing import Any

import pytest

from tests.tables import each_row


def test_every_row_is_called_and_every_failure_is_reported() -> None:
    called: list[tuple[int, str]] = []

    @each_row(("number", "text"), [(1, "one"), (2, "two"), (3, "three")], ids=["a", "b", "c"])
    def check(number: int, text: str) -> None:
        called.append((number, text))
        assert number == 2

    with pytest.raises(ExceptionGroup, match="2 of 3 rows failed") as caught:
        check()
    assert called == [(1, "one"), (2, "two"), (3, "three")]
    assert [error.__notes__ for error in caught.value.exceptions] == [["row: a"], ["row: c"]]


def test_a_single_failure_is_raised_unchanged() -> None:
    @each_row("number", [1, 2], ids="number {}".format)
    def check(number: int) -> None:
        if number == 2:
            raise KeyError(number)

    with pytest.raises(KeyError) as caught:
        check()
    assert caught.value.__notes__ == ["row: number 2"]


def test_pytest_fail_is_a_failure_of_its_row() -> None:
    @each_row("number", [1, 2])
    def check(number: int) -> None:
        pytest.fail(f"no {number}")

    with pytest.raises(ExceptionGroup, match="2 of 2 rows failed"):
        check()


def test_a_skipped_row_is_a_failure() -> None:
    @each_row("number", [1])
    def check(number: int) -> None:
        pytest.skip(f"no {number}")

    with pytest.raises(AssertionError, match=r"cannot be skipped.*no 1"):
        check()


async def test_coroutines_are_awaited() -> None:
    called: list[int] = []

    @each_row("number", [1, 2])
    async def check(number: int) -> None:
        called.append(number)
        assert number == 1

    with pytest.raises(AssertionError):
        await check()
    assert called == [1, 2]


def test_tables_multiply_and_fixtures_are_passed() -> None:
    called: list[tuple[Any, ...]] = []

    @each_row("number", [1, 2])
    @each_row("text", [pytest.param("a", id="first"), "b"])
    def check(number: int, text: str, fixture: str) -> None:
        called.append((number, text, fixture))

    assert list(inspect.signature(check).parameters) == ["fixture"]
    check(fixture="f")
    assert called == [(1, "a", "f"), (1, "b", "f"), (2, "a", "f"), (2, "b", "f")]


def test_a_table_without_rows_fails() -> None:
    @each_row("number", [])
    def check(number: int) -> None: ...

    with pytest.raises(pytest.fail.Exception, match="no rows"):
        check()


@each_row(
    "wrong",
    [{"names": "other"}, {"ids": ["a", "b"]}, {"values": [pytest.param(1, marks=[pytest.mark.skip])]}],
)
def test_an_invalid_table_is_refused(wrong: dict[str, Any]) -> None:
    def check(number: int) -> None: ...

    table: dict[str, Any] = {"names": "number", "values": [1], **wrong}
    with pytest.raises((TypeError, ValueError)):
        each_row(**table)(check)
