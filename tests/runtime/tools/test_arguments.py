"""The input of a call becomes arguments, or an error text for the model."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import jsonschema_rs
import msgspec
import pydantic
from hypothesis import given
from hypothesis import strategies as st

from partita.runtime.tools.arguments import read_arguments
from partita.runtime.tools.context import ToolContext
from partita.runtime.tools.tool import Tool, tool
from partita.types.json import Json, JsonObject, dumps, loads
from partita.types.parts import ErrorTextOutput
from tests.strategies import json_values
from tests.tables import each_row


class Unit(enum.Enum):
    CELSIUS = "celsius"
    KELVIN = "kelvin"


@dataclass
class Point:
    x: int
    y: int = 0

    def __post_init__(self) -> None:
        if self.x == 99:
            raise ValueError("99 is off the map")
        if self.x == 100:
            raise KeyError("hundred")


class Item(pydantic.BaseModel):
    name: str
    count: int = 1


class Chain(msgspec.Struct):
    next: "Chain | None" = None


@tool
def book(
    *,
    city: str,
    days: Annotated[int, msgspec.Meta(ge=1)],
    unit: Unit = Unit.CELSIUS,
    kind: Literal["fast", "slow"] = "fast",
    at: datetime | None = None,
    points: list[Point] = [],  # noqa: B006 # never changed
    rates: dict[str, float] = {},  # noqa: B006
    item: Item | None = None,
    context: ToolContext | None = None,
) -> None:
    """Book a journey."""


BASE: JsonObject = {"city": "Oslo", "days": 2}

GOOD: Mapping[str, tuple[JsonObject, dict[str, Any]]] = {
    "defaults are the function's own": ({}, {}),
    "enum": ({"unit": "kelvin"}, {"unit": Unit.KELVIN}),
    "time": ({"at": "2026-05-01T10:00:00"}, {"at": datetime(2026, 5, 1, 10)}),  # noqa: DTZ001
    "dataclasses": ({"points": [{"x": 1}]}, {"points": [Point(1)]}),
    "an integer is a number": ({"rates": {"a": 1}}, {"rates": {"a": 1.0}}),
    "pydantic": ({"item": {"name": "pen"}}, {"item": Item(name="pen")}),
}


@each_row(("more", "arguments"), GOOD.values(), ids=GOOD)
def test_a_valid_input_becomes_arguments(more: JsonObject, arguments: dict[str, Any]) -> None:
    assert read_arguments(book, {**BASE, **more}) == {**BASE, **arguments}


BAD: Mapping[str, tuple[Json, list[str]]] = {
    "no object": ("Oslo", ["$: expected an object, found string 'Oslo'"]),
    "an array": ([1], ["$: expected an object, found array"]),
    "nothing": (
        None,
        ["$.city: expected string, found nothing", "$.days: expected integer, found nothing"],
    ),
    "a number in a string": (
        {**BASE, "days": "3"},
        ["$.days: expected integer, found string '3'"],
    ),
    "a number that is too small": ({**BASE, "days": 0}, ["$.days: expected integer >= 1, found number 0"]),
    "true is not a number": ({**BASE, "days": True}, ["$.days: expected integer, found true"]),
    "null": ({**BASE, "city": None}, ["$.city: expected string, found null"]),
    "an unknown choice": (
        {**BASE, "unit": "kelvins"},
        ["$.unit: expected one of 'celsius', 'kelvin', found string 'kelvins'"],
    ),
    "an unknown literal": (
        {**BASE, "kind": "Fast"},
        ["$.kind: expected one of 'fast', 'slow', found string 'Fast'"],
    ),
    "no time": (
        {**BASE, "at": "tomorrow"},
        ["$.at: expected a value that its schema allows, found invalid RFC3339 encoded datetime"],
    ),
    "deep inside": (
        {**BASE, "points": [{"x": 1}, {"x": "1"}]},
        ["$.points[1].x: expected integer, found string"],
    ),
    "a field that is missing inside": (
        {**BASE, "points": [{"y": 1}]},
        ["$.points[0]: expected a value that its schema allows, found object missing required field `x`"],
    ),
    "any key": ({**BASE, "rates": {"a": "x"}}, ["$.rates[...]: expected number, found string"]),
    "pydantic": (
        {**BASE, "item": {"name": 1, "count": "x"}},
        [
            "$.item.name: expected what its model allows (Input should be a valid string), found number 1",
            "$.item.count: expected what its model allows (Input should be a valid integer, unable to parse "
            "string as an integer), found string 'x'",
        ],
    ),
    "a field that pydantic misses": (
        {**BASE, "item": {}},
        ["$.item.name: expected what its model allows (Field required), found nothing"],
    ),
    "a check of the type's own": (
        {**BASE, "points": [{"x": 99}]},
        ["$.points[0]: expected a value that its schema allows, found 99 is off the map"],
    ),
    "a check that raises another exception": (
        {**BASE, "points": [{"x": 100}]},
        ["$.points: expected a value of its type, found KeyError: 'hundred'"],
    ),
    "unknown fields": (
        {**BASE, "town": "Bergen"},
        [
            "$.town: expected no field but city, days, unit, kind, at, points, rates, item, "
            "found an unknown field"
        ],
    ),
    "the context is not a field": (
        {**BASE, "context": {}},
        [
            "$.context: expected no field but city, days, unit, kind, at, points, rates, item, "
            "found an unknown field"
        ],
    ),
    "everything at once": (
        {"city": 5, "town": 1},
        [
            "$.days: expected integer, found nothing",
            "$.town: expected no field but city, days, unit, kind, at, points, rates, item, "
            "found an unknown field",
            "$.city: expected string, found number 5",
        ],
    ),
}


@each_row(("input", "faults"), BAD.values(), ids=BAD)
def test_an_invalid_input_is_explained(input: Json, faults: list[str]) -> None:
    head = "The input does not fit the tool 'book'. Fix it and call again:"
    assert read_arguments(book, input) == ErrorTextOutput("\n- ".join([head, *faults]))


def test_a_tool_without_parameters_accepts_an_empty_input_or_none() -> None:
    @tool
    def ping() -> str:
        """Answer."""
        return "pong"

    assert read_arguments(ping, {}) == {}
    assert read_arguments(ping, None) == {}
    refused = read_arguments(ping, {"a": 1})
    assert isinstance(refused, ErrorTextOutput)
    assert "$.a: expected no field but none" in refused.value


def test_a_too_deeply_nested_input_is_explained() -> None:
    @tool
    def follow(chain: Chain) -> None:
        """Follow it."""

    deep: JsonObject = {}
    for _ in range(100_000):
        deep = {"next": deep}
    refused = read_arguments(follow, {"chain": deep})
    assert isinstance(refused, ErrorTextOutput)
    assert "JSON nested too deeply" in refused.value
    while deep:  # freed iteratively, because Python frees nested objects recursively
        deep = deep["next"]


# Values that fit the types fit the schema, and survive a round trip


class Query(TypedDict):
    text: str
    limit: int


class Pair(NamedTuple):
    left: int
    right: str = ""


@tool
def everything(
    *,
    text: str,
    number: float,
    flag: bool,
    unit: Unit,
    kind: Literal["a", "b", 3],
    day: date,
    pair: Pair,
    query: Query,
    point: Point,
    names: set[str],
    both: tuple[int, str],
    table: dict[str, list[int | None]],
    choice: int | str | None = None,
) -> None:
    """Take everything."""


SMALL = st.integers(-(2**53), 2**53)
VALUES: Mapping[str, st.SearchStrategy[Any]] = {
    "text": st.text(),
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "flag": st.booleans(),
    "unit": st.sampled_from(Unit),
    "kind": st.sampled_from(["a", "b", 3]),
    "day": st.dates(),
    "pair": st.builds(Pair, SMALL, st.text()),
    "query": st.fixed_dictionaries({"text": st.text(), "limit": SMALL}),
    "point": st.builds(Point, st.integers(-50, 50), SMALL),
    "names": st.sets(st.text()),
    "both": st.tuples(SMALL, st.text()),
    "table": st.dictionaries(st.text(), st.lists(SMALL | st.none())),
}


@given(st.fixed_dictionaries(dict(VALUES), optional={"choice": SMALL | st.text() | st.none()}))
def test_arguments_survive_a_round_trip_through_json(arguments: dict[str, Any]) -> None:
    given = loads(dumps(msgspec.to_builtins(arguments)))
    assert jsonschema_rs.is_valid(everything.input_schema, given)
    assert read_arguments(everything, given) == arguments


@given(st.sampled_from([book, everything]), st.dictionaries(st.sampled_from([*VALUES, *BASE]), json_values()))
def test_no_input_raises(tool: Tool, input: JsonObject) -> None:
    result = read_arguments(tool, input)
    if not isinstance(result, ErrorTextOutput):
        assert result.keys() == input.keys()
        assert jsonschema_rs.is_valid(tool.input_schema, input)
