"""Formatting of numbers in tables of statistics."""

from partita.cli.view.statistics import bars_of, money, percent, short
from partita.store.values import UsageStat
from tests.tables import each_row

SHORT = {
    0: "0",
    999: "999",
    1_000: "1.0K",
    9_949: "9.9K",
    9_950: "10K",
    999_499: "999K",
    999_500: "1.0M",
    12_345_678: "12M",
    1_234_567_890: "1.2G",
    5_000_000_000_000_000: "5,000T",
}


@each_row("number", SHORT)
def test_number_is_shortened(number: int) -> None:
    assert short(number) == SHORT[number]


PERCENT = {
    (0, 0): "",
    (0, 5): "0%",
    (1, 100_000): "<0.1%",
    (1, 40): "2.5%",
    (99, 1000): "9.9%",
    (199, 2000): "10%",
    (1, 3): "33%",
    (5, 5): "100%",
}


@each_row("part", PERCENT)
def test_percentage_is_rounded_but_never_to_zero(part: tuple[int, int]) -> None:
    assert percent(*part) == PERCENT[part]


MONEY = {
    None: "–",
    0.0: "$0.00",
    0.0001: "<$0.01",
    0.01: "$0.01",
    1234.5: "$1,234.50",
    12_345.6: "$12,346",
}


@each_row("dollars", MONEY)
def test_money_is_rounded_to_cents(dollars: float | None) -> None:
    assert money(dollars) == MONEY[dollars]


def stat(cost: float | None, tokens: int = 0) -> UsageStat:
    return UsageStat(
        key=(),
        threads=1,
        messages=1,
        runs=0,
        seconds=0.0,
        responses=1,
        input_tokens=tokens,
        cached_input_tokens=0,
        cache_write_tokens=0,
        output_tokens=0,
        reasoning_tokens=0,
        cost=cost,
        unpriced=0,
        tool_calls=0,
        tool_errors=0,
        denied=0,
        interrupted=0,
    )


BARS: dict[str, tuple[list[UsageStat], list[str]]] = {
    "none": ([], []),
    "by cost": ([stat(10.0), stat(5.0), stat(0.625), stat(None, 99)], ["██████████", "█████", "▋", ""]),
    "by tokens without prices": ([stat(None, 80), stat(None, 8)], ["██████████", "█"]),
    "without tokens": ([stat(None), stat(0.0)], ["", ""]),
}


@each_row(("stats", "expected"), BARS.values(), ids=BARS)
def test_bars_are_relative_to_the_highest(stats: list[UsageStat], expected: list[str]) -> None:
    assert bars_of(stats) == expected
