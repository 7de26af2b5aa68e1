"""The schema and the description of a tool come from its function."""

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypedDict, get_type_hints

import jsonschema_rs
import msgspec
import pydantic
import pytest
from msgspec import Meta

from partita.errors import AgentError
from partita.runtime.tools.context import ToolContext
from partita.runtime.tools.tool import Tool, as_tool, client_tool, tool
from partita.types.json import Json, JsonObject
from tests.tables import each_row

if TYPE_CHECKING:
    from decimal import Decimal


class Unit(enum.Enum):
    CELSIUS = "celsius"
    KELVIN = "kelvin"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Point:
    """A place on the map."""

    x: float
    y: float = 0.0


class Query(TypedDict, total=False):
    text: str
    limit: int


class Pair(NamedTuple):
    left: int
    right: str = ""


class Leaf(msgspec.Struct, tag="leaf"):
    value: int


class Fork(msgspec.Struct, tag="fork"):
    branches: "list[Leaf | Fork]"


class Item(pydantic.BaseModel):
    name: str
    count: int = 1


class Order(pydantic.BaseModel):
    items: list[Item]


class Folder(pydantic.BaseModel):
    name: str
    folders: list["Folder"] = []


POINT = {
    "title": "Point",
    "description": "A place on the map.",
    "type": "object",
    "properties": {"x": {"type": "number"}, "y": {"type": "number", "default": 0.0}},
    "required": ["x"],
}

TYPES: Mapping[str, tuple[Any, Json]] = {
    "str": (str, {"type": "string"}),
    "int": (int, {"type": "integer"}),
    "float": (float, {"type": "number"}),
    "bool": (bool, {"type": "boolean"}),
    "None": (None, {"type": "null"}),
    "Any": (Any, {}),
    "bytes": (bytes, {"type": "string", "contentEncoding": "base64"}),
    "a time": (datetime, {"type": "string", "format": "date-time"}),
    "times": (list[datetime], {"type": "array", "items": {"type": "string", "format": "date-time"}}),
    "a date": (date, {"type": "string", "format": "date"}),
    "Literal": (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
    "Literal of numbers": (Literal[1, 2], {"type": "integer", "enum": [1, 2]}),
    "Literal of several kinds": (Literal["a", 1], {"enum": [1, "a"]}),
    "Enum": (Unit, {"type": "string", "title": "Unit", "enum": ["celsius", "kelvin"]}),
    "IntEnum": (Level, {"type": "integer", "title": "Level", "enum": [1, 2]}),
    "list": (list[int], {"type": "array", "items": {"type": "integer"}}),
    "bare list": (list, {"type": "array"}),
    "Sequence": (Sequence[str], {"type": "array", "items": {"type": "string"}}),
    "set": (set[int], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}),
    "dict": (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
    "tuple of any length": (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
    "tuple": (
        tuple[int, str],
        {
            "type": "array",
            "minItems": 2,
            "maxItems": 2,
            "prefixItems": [{"type": "integer"}, {"type": "string"}],
            "items": False,
        },
    ),
    "optional": (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
    "union": (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
    "bounds": (Annotated[int, Meta(ge=1, le=9)], {"type": "integer", "minimum": 1, "maximum": 9}),
    "words of msgspec": (
        Annotated[str, Meta(description="Where.")],
        {"description": "Where.", "type": "string"},
    ),
    "words alone": (Annotated[str, "Where."], {"description": "Where.", "type": "string"}),
    "words inside": (
        list[Annotated[str, "Where."]],
        {"type": "array", "items": {"description": "Where.", "type": "string"}},
    ),
    "words for an optional": (
        Annotated[int | None, "How many."],
        {"description": "How many.", "anyOf": [{"type": "integer"}, {"type": "null"}]},
    ),
    "dataclass": (Point, POINT),
    "dataclass with words of its own": (
        Annotated[Point, "Where to."],
        {**POINT, "description": "Where to."},
    ),
    "dataclass inside": (list[Point], {"type": "array", "items": POINT}),
    "TypedDict": (
        Query,
        {
            "title": "Query",
            "type": "object",
            "properties": {"text": {"type": "string"}, "limit": {"type": "integer"}},
            "required": [],
        },
    ),
    "NamedTuple": (
        Pair,
        {
            "title": "Pair",
            "type": "array",
            "prefixItems": [{"type": "integer"}, {"type": "string", "default": ""}],
            "minItems": 1,
            "maxItems": 2,
        },
    ),
    "pydantic": (
        Order,
        {
            "title": "Order",
            "type": "object",
            "properties": {
                "items": {
                    "title": "Items",
                    "type": "array",
                    "items": {
                        "title": "Item",
                        "type": "object",
                        "properties": {
                            "name": {"title": "Name", "type": "string"},
                            "count": {"title": "Count", "type": "integer", "default": 1},
                        },
                        "required": ["name"],
                    },
                }
            },
            "required": ["items"],
        },
    ),
}


def tool_with_parameter(type_: Any) -> Callable[..., None]:
    """A function of one parameter, `value`, of a type that is not written in a source."""

    def function(value: Any) -> None:
        pass

    function.__annotations__["value"] = type_
    return function


@each_row(("type_", "schema"), TYPES.values(), ids=TYPES)
def test_the_schema_of_a_type(type_: Any, schema: Json) -> None:
    made = tool(tool_with_parameter(type_)).input_schema
    assert made == {
        "type": "object",
        "properties": {"value": schema},
        "required": ["value"],
        "additionalProperties": False,
    }
    assert jsonschema_rs.meta.is_valid(made)


@each_row(
    ("type_", "good", "bad"),
    [
        (Fork, {"type": "fork", "branches": [{"type": "leaf", "value": 1}]}, {"type": "fork", "branches": 1}),
        (Folder, {"name": "a", "folders": [{"name": "b"}]}, {"name": "a", "folders": [{"name": 1}]}),
        (Leaf | Fork, {"type": "leaf", "value": 1}, {"type": "leaf"}),
    ],
)
def test_a_recursive_type_becomes_a_definition(type_: Any, good: Json, bad: Json) -> None:
    made = tool(tool_with_parameter(type_)).input_schema
    assert jsonschema_rs.meta.is_valid(made)
    assert len(made["$defs"]) == 1
    assert "discriminator" not in made["properties"]["value"]
    assert jsonschema_rs.is_valid(made, {"value": good})
    assert not jsonschema_rs.is_valid(made, {"value": bad})


def test_models_with_the_same_name_get_different_definitions() -> None:
    def model(inner: type) -> type[pydantic.BaseModel]:
        fields: Any = {"value": (inner, ...), "child": ("Tree | None", None)}
        made: type[pydantic.BaseModel] = pydantic.create_model("Tree", **fields)
        return made

    def plant(first: Any, second: Any) -> None:
        pass

    plant.__annotations__ |= {"first": model(int), "second": model(str)}
    made = tool(plant).input_schema
    assert jsonschema_rs.is_valid(made, {"first": {"value": 1}, "second": {"value": "x"}})
    for child in ({"value": 1}, {"value": "x", "child": {"value": 1}}):
        assert not jsonschema_rs.is_valid(made, {"first": {"value": 1}, "second": child})


@tool
def get_weather(city: str, days: int = 1, *, unit: Unit = Unit.CELSIUS) -> str:
    """The weather of the next days
    in a city.

    It asks a service: slow.

    Args:
        city: Its name,
            in English.
        days (int): How many.
    """
    return f"{city} {days} {unit.value}"


def test_a_tool_has_the_descriptions_and_defaults_of_its_function() -> None:
    assert (get_weather.name, get_weather.description) == (
        "get_weather",
        "The weather of the next days in a city.",
    )
    assert get_weather.input_schema == {
        "type": "object",
        "properties": {
            "city": {"description": "Its name, in English.", "type": "string"},
            "days": {"description": "How many.", "type": "integer", "default": 1},
            "unit": {"type": "string", "title": "Unit", "enum": ["celsius", "kelvin"], "default": "celsius"},
        },
        "required": ["city"],
        "additionalProperties": False,
    }


def test_a_tool_can_be_called_like_its_function() -> None:
    assert get_weather("Oslo", unit=Unit.KELVIN) == "Oslo 1 kelvin"


def test_arguments_of_the_decorator_override_the_function() -> None:
    def asks(input: Json) -> bool:
        return bool(input)

    @tool(name="weather", description="Rain or shine.", approval=asks, timeout=2.5)
    def get(city: str) -> str:
        """Something else."""
        return city

    assert (get.name, get.description, get.approval, get.timeout) == ("weather", "Rain or shine.", asks, 2.5)
    assert (get_weather.approval, get_weather.timeout) == ("never", None)


def test_a_default_that_is_not_json_is_not_in_the_schema() -> None:
    marker = object()

    def find(where: str = marker) -> None:  # type: ignore[assignment] # pyright: ignore[reportArgumentType] # on purpose
        pass

    assert tool(find).input_schema["properties"] == {"where": {"type": "string"}}
    assert tool(find).input_schema["required"] == []


def test_a_dataclass_default_is_json_in_the_schema() -> None:
    def go(to: Point = Point(1, 2)) -> None:  # noqa: B008
        pass

    assert tool(go).input_schema["properties"]["to"]["default"] == {"x": 1, "y": 2}


def test_the_context_is_not_in_the_schema() -> None:
    def find(text: str, context: ToolContext, other: ToolContext | None = None) -> None:
        pass

    made = tool(find)
    assert list(made.input_schema["properties"]) == ["text"]
    assert made.signature.contexts == ("context", "other")


def test_the_type_of_the_result_is_not_resolved() -> None:
    def count(text: str) -> "Decimal":
        raise NotImplementedError

    with pytest.raises(NameError):
        get_type_hints(count)
    assert list(tool(count).input_schema["properties"]) == ["text"]


def test_a_bound_method_can_be_a_tool() -> None:
    class Shelf:
        def find(self, title: str) -> str:
            """Find a book."""
            return title + "!"

    made = as_tool(Shelf().find)
    assert (made.name, list(made.input_schema["properties"])) == ("find", ["title"])
    assert made("Emma") == "Emma!"


def test_as_tool_returns_a_tool_unchanged() -> None:
    assert as_tool(get_weather) is get_weather


# Refusals


def with_star(*names: str) -> None: ...
def with_stars(**names: str) -> None: ...
def with_slash(name: str, /) -> None: ...
def without_type(name: str) -> None: ...
def with_self(self: Any, name: str) -> None: ...
def with_unknown_type(amount: "Decimal") -> None: ...


del with_self.__annotations__["self"], without_type.__annotations__["name"]


class Callable_:  # noqa: N801
    def __call__(self, name: str) -> None: ...


REFUSED: Mapping[str, tuple[Callable[..., Any], str, str]] = {
    "star": (with_star, "a tool cannot take the parameter `*names: str`", "one by one"),
    "two stars": (with_stars, "a tool cannot take the parameter `**names: str`", "one by one"),
    "positional only": (with_slash, "a tool cannot take the parameter `name: str`", "remove the `/`"),
    "no type": (without_type, "the parameter `name` has no type", "`name: str`"),
    "self": (with_self, "the parameter `self` has no type", "as_tool(thing.method)"),
    "unknown type": (with_unknown_type, "name 'Decimal' is not defined", "TYPE_CHECKING"),
    "type without schema": (tool_with_parameter(complex), "the type of `value` cannot be used", "dataclass"),
    "function as a type": (
        tool_with_parameter(Callable[[int], int]),
        "the type of `value` cannot be used",
        "dataclass",
    ),
    "two plain dataclasses": (
        tool_with_parameter(Point | Query),
        "more than one dict-like type",
        "dataclass",
    ),
    "enum of things": (
        tool_with_parameter(enum.Enum("Odd", {"A": 1.5})),
        "the type of `value` cannot be used",
        "Enum",
    ),
    "no function": (Callable_(), "is not a function", "write a `def`"),
    "a class": (Point, "is not a function", "write a `def`"),
}


@each_row(("function", "what", "hint"), REFUSED.values(), ids=REFUSED)
def test_unsupported_functions_are_refused(function: Callable[..., Any], what: str, hint: str) -> None:
    with pytest.raises(AgentError) as caught:
        tool(function)
    assert what in caught.value.what
    assert hint in caught.value.hint
    name = getattr(function, "__qualname__", "Callable_")
    assert caught.value.where == f"{__name__}.{name}"


@each_row("settings", [{"approval": "sometimes"}, {"timeout": 0}, {"timeout": -1.0}])
def test_invalid_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(AgentError) as caught:
        tool(**settings)(with_known_type)
    assert caught.value.where == "with_known_type"
    assert caught.value.hint


def with_known_type(name: str) -> None: ...


# Tools that the client runs


@dataclass
class Place:
    """Where to put the mark."""

    point: Point
    labels: list[str] = field(default_factory=list[str])


SCHEMA: JsonObject = {"type": "object", "properties": {"a": {"type": "string"}}}

CLIENT_INPUTS: Mapping[str, tuple[Any, JsonObject]] = {
    "nothing": (None, {"type": "object", "properties": {}, "required": [], "additionalProperties": False}),
    "a schema": (SCHEMA, SCHEMA),
    "a type": (
        Place,
        {
            "additionalProperties": False,
            "title": "Place",
            "description": "Where to put the mark.",
            "type": "object",
            "properties": {
                "point": POINT,
                "labels": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["point"],
        },
    ),
}


@each_row(("input", "schema"), CLIENT_INPUTS.values(), ids=CLIENT_INPUTS)
def test_a_client_tool_has_a_schema_and_no_function(input: Any, schema: JsonObject) -> None:
    made = client_tool("mark", "Mark a place.", input)
    assert (made.name, made.description, made.function) == ("mark", "Mark a place.", None)
    assert made.input_schema == schema


def test_the_input_of_a_client_tool_may_be_a_recursive_type() -> None:
    made = client_tool("plant", input=Folder)
    assert made.input_schema["type"] == "object"
    assert jsonschema_rs.is_valid(made.input_schema, {"name": "a", "folders": [{"name": "b"}]})
    assert not jsonschema_rs.is_valid(made.input_schema, {"name": "a", "folders": [{}]})


@each_row(
    ("input", "what"),
    [
        ({"type": "objekt"}, "this is not a JSON schema"),
        ({"type": "string"}, "the input of a tool is an object"),
        ({}, "the input of a tool is an object"),
        (Pair, "the input of a tool is an object"),
        (complex, "the type of the input cannot be used"),
    ],
)
def test_an_input_type_that_is_not_an_object_is_refused(input: Any, what: str) -> None:
    with pytest.raises(AgentError) as caught:
        client_tool("mark", input=input)
    assert what in caught.value.what
    assert caught.value.where == "mark"


def test_a_client_tool_cannot_be_called_here() -> None:
    with pytest.raises(AgentError, match="the client runs this tool"):
        client_tool("mark")()


def test_tools_are_equal_by_identity() -> None:
    assert len({get_weather, tool(with_known_type), tool(with_known_type)}) == 3
    assert isinstance(get_weather, Tool)
