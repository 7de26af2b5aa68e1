"""Every format reads and writes in linear time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from cProfile import Profile
from typing import Any, Final

from partita.errors import PartitaError
from partita.formats.registry import all_formats
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    ToolCallPart,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import StepStartPart, TextOutput, TextPart, ToolResultPart
from tests.sampling import sampled
from tests.tables import each_row

FEW: Final = 32
TIMES: Final = 4
MOST: Final = 6.0
"""The largest factor of function calls for `TIMES` times the input. Quadratic code is far above it."""

METADATA: Final = {"other": {"kept": True}}


def text(number: int) -> TextPart:
    """Return a text with metadata, so that formats do not use their fast paths."""
    return TextPart(f"text {number}", provider_metadata=METADATA)


def call(number: int) -> ToolCallPart:
    """Return a call with its result."""
    state, output = "output-available", TextOutput(f"result {number}")
    return ToolCallPart(
        f"call-{number}", "look", state, {"at": number}, output=output, call_provider_metadata=METADATA
    )


def assistant(number: int, *parts: AssistantPart) -> AssistantMessage:
    return AssistantMessage(id=f"a-{number}", content=AssistantContent(parts=parts))


def user(number: int, *parts: TextPart) -> UserMessage:
    return UserMessage(id=f"u-{number}", content=UserContent(parts=parts))


def pending_call(number: int) -> ToolCallPart:
    return ToolCallPart(f"call-{number}", "look", "input-available", {"at": number})


def result_message(number: int) -> ToolMessage:
    result = ToolResultPart(f"call-{number}", "look", TextOutput(f"result {number}"))
    return ToolMessage(id=f"t-{number}", content=[result])


SHAPES: Final[Mapping[str, Callable[[int], list[Message]]]] = {
    "assistant messages": lambda n: [user(0, text(0)), *(assistant(i, text(i)) for i in range(n))],
    "plain assistant messages": lambda n: [assistant(i, TextPart(f"text {i}")) for i in range(n)],
    "user messages": lambda n: [user(i, text(i)) for i in range(n)],
    "parts of a user": lambda n: [user(0, *map(text, range(n)))],
    "parts of an assistant": lambda n: [assistant(0, *map(text, range(n)))],
    "calls": lambda n: [assistant(0, *map(call, range(n)))],
    "steps": lambda n: [
        assistant(0, *(part for i in range(n) for part in (StepStartPart(), text(i), call(i))))
    ],
    "tool messages": lambda n: [assistant(0, *map(pending_call, range(n))), *map(result_message, range(n))],
    "results without calls": lambda n: list(map(result_message, range(n))),
}


def calls_of(function: Callable[[Any], Any], argument: Any) -> tuple[Any, int]:
    """Return the result of a function and the number of function calls it made."""
    profile = Profile(builtins=False)
    returned = profile.runcall(function, argument)
    return returned, sum(entry.callcount for entry in profile.getstats())


def growth(function: Callable[[Any], Any], few: Any, many: Any) -> tuple[Any, Any, float]:
    """Return both results of a function, and the factor by which its function calls grew."""
    function(few)  # imports and caches are counted neither time
    small, before = calls_of(function, few)
    large, after = calls_of(function, many)
    return small, large, after / before


def nonlinear_directions(name: str, shape: str) -> Iterator[str]:
    """Return the directions in which a format makes too many function calls for a shape of messages."""
    format_ = all_formats()[name]
    few, many = SHAPES[shape](FEW), SHAPES[shape](FEW * TIMES)
    try:
        if format_.dump is None:
            return
        small, large, times = growth(lambda messages: format_.dump(messages).payload, few, many)
        if times > MOST:
            yield f"writing takes {times:.1f} times as long"
        if format_.load is not None:
            _, _, times = growth(format_.load, small, large)
            if times > MOST:
                yield f"reading takes {times:.1f} times as long"
    except PartitaError:  # a format that refuses the shape
        return


CASES: Final[Sequence[tuple[str, str]]] = [
    (name, shape) for name in sorted(all_formats()) if all_formats()[name].dump for shape in SHAPES
]


ALWAYS: Final = [
    ("anthropic", "calls"),
    ("anthropic", "tool messages"),
    ("langchain", "steps"),
    ("pydantic-ai", "results without calls"),
]
"""Cases that took far too many calls before."""


@each_row(("name", "shape"), [*ALWAYS, *sampled(CASES, 6)], ids=str)
def test_what_is_four_times_as_long_takes_about_four_times_as_long(name: str, shape: str) -> None:
    assert not list(nonlinear_directions(name, shape))
