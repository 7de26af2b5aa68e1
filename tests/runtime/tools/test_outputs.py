"""The value or the exception of a tool becomes a typed output."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec
import pydantic
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import AgentError
from partita.runtime.tools.outputs import (
    OUTPUT_LIMIT,
    ToolError,
    output_of,
    output_of_error,
    truncate_output,
    truncate_text,
)
from partita.types.codec import decode, encode
from partita.types.json import Json
from partita.types.parts import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    ReasoningPart,
    TextOutput,
    TextPart,
    ToolOutput,
)
from tests.canonical import tool_outputs
from tests.sampling import HUGE
from tests.strategies import json_values
from tests.tables import each_row


class Colour(str, enum.Enum):  # noqa: UP042 # whose `str()` is another
    RED = "red"


@dataclass
class Point:
    x: int
    when: datetime | None = None


class Row(msgspec.Struct):
    cells: tuple[int, ...]


class Pair(NamedTuple):
    left: int
    right: str


class Item(pydantic.BaseModel):
    name: str = pydantic.Field(alias="itemName")


class Broken(pydantic.BaseModel):
    value: Any


PNG = b"\x89PNG\r\n\x1a\nrest"
IMAGE = ImagePart(url="https://pictures.example/a.png")
FILE = FilePart(url="https://files.example/a.pdf", media_type="application/pdf")

RETURNED: Mapping[str, tuple[object, ToolOutput]] = {
    "text": ("hello", TextOutput("hello")),
    "empty text": ("", TextOutput("")),
    "text of an enum": (Colour.RED, TextOutput("red")),
    "nothing": (None, JsonOutput(None)),
    "a number": (5, JsonOutput(5)),
    "truth": (True, JsonOutput(True)),
    "a list": ([1, "a", None], JsonOutput([1, "a", None])),
    "a list of texts": (["a", "b"], JsonOutput(["a", "b"])),
    "an empty list": ([], JsonOutput([])),
    "a tuple": ((1, 2), JsonOutput([1, 2])),
    "a set": ({1}, JsonOutput([1])),
    "keys that are numbers": ({1: "a"}, JsonOutput({"1": "a"})),
    "not a number": (float("nan"), JsonOutput(None)),
    "a dataclass": (Point(1), JsonOutput({"x": 1, "when": None})),
    "a time inside": (
        [Point(1, datetime(2026, 5, 1, tzinfo=UTC))],
        JsonOutput([{"x": 1, "when": "2026-05-01T00:00:00Z"}]),
    ),
    "a struct": (Row((1, 2)), JsonOutput({"cells": [1, 2]})),
    "a named tuple": (Pair(1, "b"), JsonOutput([1, "b"])),
    "pydantic": (Item(itemName="pen"), JsonOutput({"itemName": "pen"})),
    "pydantic inside": ({"items": [Item(itemName="pen")]}, JsonOutput({"items": [{"itemName": "pen"}]})),
    "a part that is not content": (
        ReasoningPart(text="hm", token_count=3),
        JsonOutput({"type": "reasoning", "text": "hm", "tokenCount": 3}),
    ),
    "half of a pair": ("\ud83d", TextOutput("\ud83d")),
    "half of a pair inside": (["\ud83d"], JsonOutput(["\ud83d"])),
    "a part": (IMAGE, ContentOutput((IMAGE,))),
    "parts": ([TextPart("see"), IMAGE, FILE], ContentOutput((TextPart("see"), IMAGE, FILE))),
    "parts and texts": (("see", IMAGE), ContentOutput((TextPart("see"), IMAGE))),
    "an image": (
        PNG,
        ContentOutput((ImagePart(url="data:image/png;base64,iVBORw0KGgpyZXN0", media_type="image/png"),)),
    ),
    "a webp": (
        b"RIFF1234WEBPVP8",
        ContentOutput(
            (ImagePart(url="data:image/webp;base64,UklGRjEyMzRXRUJQVlA4", media_type="image/webp"),)
        ),
    ),
    "bytes": (
        b"\x00\x01",
        ContentOutput(
            (
                FilePart(
                    url="data:application/octet-stream;base64,AAE=", media_type="application/octet-stream"
                ),
            )
        ),
    ),
    "an output": (ExecutionDeniedOutput("no"), ExecutionDeniedOutput("no")),
    "an error": (ErrorTextOutput("no"), ErrorTextOutput("no")),
    "an output with a value that is not JSON": (JsonOutput(Point(1)), JsonOutput({"x": 1, "when": None})),
}


@each_row(("value", "output"), RETURNED.values(), ids=RETURNED)
def test_a_returned_value_becomes_an_output(value: object, output: ToolOutput) -> None:
    assert output_of(value) == output
    assert decode(encode(output_of(value)), ToolOutput) == output  # type: ignore[arg-type] # a union


ENDLESS: list[Any] = []
ENDLESS.append(ENDLESS)

NOT_JSON: Mapping[str, tuple[object, str]] = {
    "an object": (object(), "The tool returned a object, which cannot be written as JSON: "),
    "an object inside": ([object()], "The tool returned a list, which cannot be written as JSON: "),
    "keys that are tuples": ({(1, 2): 3}, "The tool returned a dict, which cannot be written as JSON: "),
    "an output with a value that is not JSON": (
        JsonOutput(object()),
        "The tool returned a JsonOutput, which cannot be written as JSON: ",
    ),
    "a pydantic model with a value that is not JSON": (
        Broken(value=object()),
        "The tool returned a Broken, which cannot be written as JSON: ",
    ),
    "a list that contains itself": (
        ENDLESS,
        "The tool returned a list that is nested too deeply or contains itself.",
    ),
    "a generator": (iter([1]), "The tool returned a list_iterator, which cannot be written as JSON: "),
}


@each_row(("value", "text"), NOT_JSON.values(), ids=NOT_JSON)
def test_a_value_that_is_not_json_becomes_an_error(value: object, text: str) -> None:
    output = output_of(value)
    assert isinstance(output, ErrorTextOutput)
    assert output.value.startswith(text)


@given(json_values())
def test_json_values_are_unchanged(value: Json) -> None:
    assert output_of(value) == (TextOutput(value) if isinstance(value, str) else JsonOutput(value))


@given(tool_outputs())
def test_a_typed_output_is_unchanged(output: ToolOutput) -> None:
    assert output_of(output) == output


class SilentError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


RAISED: Mapping[str, tuple[BaseException, ToolOutput]] = {
    "with words": (ValueError("too late"), ErrorTextOutput("ValueError: too late")),
    "without words": (TimeoutError(), ErrorTextOutput("TimeoutError")),
    "without a text": (SilentError(), ErrorTextOutput("SilentError")),
    "of ours": (
        AgentError("gone", where="x", hint="look"),
        ErrorTextOutput("AgentError: gone (at x); hint: look"),
    ),
    "for the model": (ToolError("No such city."), ErrorTextOutput("No such city.")),
    "with details": (
        ToolError("No such city.", details={"near": (1, 2)}),
        ErrorJsonOutput({"message": "No such city.", "details": {"near": [1, 2]}}),
    ),
    "with a text as details": (
        ToolError("No such city.", details="Olso"),
        ErrorJsonOutput({"message": "No such city.", "details": "Olso"}),
    ),
    "with details that are not JSON": (
        ToolError("No such city.", details=object()),
        ErrorTextOutput("No such city."),
    ),
}


@each_row(("error", "output"), RAISED.values(), ids=RAISED)
def test_an_exception_becomes_an_output(error: BaseException, output: ToolOutput) -> None:
    assert output_of_error(error) == output


# Sizes

TEN = "0123456789"

SIZES: Mapping[str, tuple[ToolOutput, ToolOutput]] = {
    "short text": (TextOutput(TEN), TextOutput(TEN)),
    "long text": (TextOutput(TEN * 2), TextOutput("01234\n… 10 characters left out …\n56789")),
    "long error": (ErrorTextOutput(TEN + "x"), ErrorTextOutput("01234\n… 1 characters left out …\n6789x")),
    "short json": (JsonOutput([1, 2, 3]), JsonOutput([1, 2, 3])),
    "json of short words in long bytes": (JsonOutput("éééééééé"), JsonOutput("éééééééé")),
    "long json": (
        JsonOutput([TEN]),
        TextOutput('["012\n… 4 characters left out …\n789"]'),
    ),
    "long json error": (ErrorJsonOutput([TEN]), ErrorTextOutput('["012\n… 4 characters left out …\n789"]')),
    "short content": (ContentOutput((TextPart("see"),)), ContentOutput((TextPart("see"),))),
    "long content": (
        ContentOutput(
            (TextPart("see"), ImagePart(url="data:" + TEN), TextPart(TEN), ForeignPart(format="f", value=TEN))
        ),
        ContentOutput(
            (
                TextPart("see"),
                TextPart("0123\n… 3 characters left out …\n789"),
                TextPart("… 2 parts left out, 67 characters …"),
            )
        ),
    ),
    "a file that fits after one that does not": (
        ContentOutput((FilePart(url="data:" + TEN, media_type="a/b"), ImagePart(url="blob:x"))),
        ContentOutput((ImagePart(url="blob:x"), TextPart("… 1 parts left out, 15 characters …"))),
    ),
    "denied": (ExecutionDeniedOutput("no"), ExecutionDeniedOutput("no")),
    "denied at length": (
        ExecutionDeniedOutput(TEN * 2),
        ExecutionDeniedOutput("01234\n… 10 characters left out …\n56789"),
    ),
    "interrupted": (InterruptedOutput("lost"), InterruptedOutput("lost")),
    "interrupted at length": (
        InterruptedOutput("lost", TEN * 2),
        InterruptedOutput("lost", "01234\n… 10 characters left out …\n56789"),
    ),
}


@each_row(("output", "short"), SIZES.values(), ids=SIZES)
def test_long_outputs_are_truncated(output: ToolOutput, short: ToolOutput) -> None:
    assert truncate_output(output, limit=10) == short


@each_row(
    ("unit", "count"),
    [("x", HUGE), (["x" * 1000], HUGE // 1000), (b"x", HUGE)],
    ids=["a text", "a list", "bytes"],
)
def test_a_huge_output_is_truncated_to_the_limit(unit: Any, count: int) -> None:
    output = truncate_output(output_of(unit * count))
    assert not isinstance(output, ErrorTextOutput)
    assert len(encode(output)) < OUTPUT_LIMIT * 1.1
    assert b"left out" in encode(output)


@given(st.text(), st.integers(0, 20))
def test_a_truncated_text_has_head_tail_and_the_number_of_characters_between(text: str, limit: int) -> None:
    short = truncate_text(text, limit)
    if len(text) <= limit:
        assert short == text
        return
    head, tail = (limit + 1) // 2, limit // 2
    assert (
        short == f"{text[:head]}\n… {len(text) - limit} characters left out …\n{text[-tail:] if tail else ''}"
    )


@given(tool_outputs(), st.integers(0, 60))
def test_truncation_keeps_whether_a_call_succeeded(output: ToolOutput, limit: int) -> None:
    good, bad = TextOutput | JsonOutput | ContentOutput, ErrorTextOutput | ErrorJsonOutput
    short = truncate_output(output, limit)
    assert isinstance(short, good) == isinstance(output, good)
    assert isinstance(short, bad) == isinstance(output, bad)
    assert short.provider_metadata == output.provider_metadata
