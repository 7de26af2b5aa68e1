"""`ToolRunner`: every call ends with exactly one output, whatever its function does."""

import asyncio
import contextvars
import functools
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from typing import Any

import pytest

from partita.errors import AgentError
from partita.runtime.tools.context import ToolContext
from partita.runtime.tools.outputs import ToolError
from partita.runtime.tools.runner import PendingCall, ToolRunner
from partita.runtime.tools.tool import Tool, Toolset, as_tool, client_tool, tool
from partita.types.json import Json
from partita.types.parts import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    TextPart,
    ToolOutput,
)
from tests.sampling import HUGE
from tests.tables import each_row

CALL = PendingCall("c1", "tool", {})
SHORT = 0.02  # for functions that never end: the timeout is reached in any case
LONG = 60.0  # for functions that end


class Collector:
    """Collects the outputs that are reported."""

    def __init__(self) -> None:
        self.reported: list[tuple[str, ToolOutput]] = []

    async def __call__(self, call: PendingCall, output: ToolOutput) -> None:
        self.reported.append((call.id, output))

    @property
    def outputs(self) -> list[ToolOutput]:
        return [output for _, output in self.reported]


def runner(**settings: Any) -> ToolRunner:
    merged: dict[str, Any] = {"grace": SHORT, **settings}
    return ToolRunner(**merged)


async def run(function: Callable[..., Any] | Tool, input: Json = None, **settings: Any) -> ToolOutput:
    made = as_tool(function)
    return await runner(**settings).run_call(made, CALL._replace(input=input), ToolContext())


async def until(condition: Callable[[], bool]) -> None:
    """Wait for an effect of a thread or a task."""
    while not condition():
        await asyncio.sleep(0.001)


# Functions that end


def says_hello(name: str) -> str:
    return f"hello {name}"


async def says_hello_later(name: str) -> str:
    await asyncio.sleep(0)
    return f"hello {name}"


@functools.wraps(says_hello_later)
def wrapped(*args: Any, **kwargs: Any) -> Any:
    return says_hello_later(*args, **kwargs)


def yields(name: str) -> Iterator[str]:
    yield "hello"
    yield f"hello {name}"


def yields_and_returns(name: str) -> Generator[str, None, str]:
    yield "hello"
    return f"hello {name}"  # on purpose


async def yields_later(name: str) -> AsyncIterator[str]:
    yield "hello"
    await asyncio.sleep(0)
    yield f"hello {name}"


@each_row("function", [says_hello, says_hello_later, wrapped, yields, yields_and_returns, yields_later])
async def test_sync_async_and_generator_functions_are_run(function: Callable[..., Any]) -> None:
    assert await run(function, {"name": "you"}) == TextOutput("hello you")


def returns_nothing() -> None: ...
def yields_nothing() -> Iterator[str]:
    yield from ()


async def yields_nothing_later() -> AsyncIterator[str]:
    for _ in ():
        yield ""


def returns_parts() -> list[TextPart]:
    return [TextPart("a")]


def returns_an_object() -> object:
    return object


def fails() -> None:
    raise ValueError("too late")


async def fails_later() -> None:
    await asyncio.sleep(0)
    raise ValueError("too late")


def fails_between() -> Iterator[str]:
    yield "hello"
    raise ValueError("too late")


async def fails_between_later() -> AsyncIterator[str]:
    yield "hello"
    raise ValueError("too late")


def fails_with_details() -> None:
    raise ToolError("too late", details={"by": 3})


def exits() -> None:
    sys.exit(3)


async def exits_later() -> None:
    sys.exit(3)


def stops() -> None:
    next(iter(()))


async def cancels_itself() -> None:
    raise asyncio.CancelledError


ENDS: Mapping[str, tuple[Callable[..., Any], ToolOutput]] = {
    "nothing": (returns_nothing, JsonOutput(None)),
    "no value": (yields_nothing, JsonOutput(None)),
    "no value later": (yields_nothing_later, JsonOutput(None)),
    "parts": (returns_parts, ContentOutput((TextPart("a"),))),
    "raise": (fails, ErrorTextOutput("ValueError: too late")),
    "raise later": (fails_later, ErrorTextOutput("ValueError: too late")),
    "raise between": (fails_between, ErrorTextOutput("ValueError: too late")),
    "raise between later": (fails_between_later, ErrorTextOutput("ValueError: too late")),
    "raise with details": (
        fails_with_details,
        ErrorJsonOutput({"message": "too late", "details": {"by": 3}}),
    ),
    "exit": (exits, ErrorTextOutput("SystemExit: 3")),
    "exit later": (exits_later, ErrorTextOutput("SystemExit: 3")),
    "StopIteration": (stops, ErrorTextOutput("RuntimeError: the tool raised StopIteration")),
    "a cancellation by the function": (cancels_itself, InterruptedOutput("aborted")),
}


@each_row(("function", "output"), ENDS.values(), ids=ENDS)
async def test_a_call_has_one_output(function: Callable[..., Any], output: ToolOutput) -> None:
    assert await run(function) == output


async def test_a_result_that_is_not_json_is_an_error() -> None:
    output = await run(returns_an_object)
    assert isinstance(output, ErrorTextOutput)
    assert "cannot be written as JSON" in output.value


async def test_a_function_is_not_called_with_an_invalid_input() -> None:
    output = await run(exits, {"name": 1})
    assert isinstance(output, ErrorTextOutput)
    assert "$.name: expected no field" in output.value


async def test_a_client_tool_is_not_run_here() -> None:
    with pytest.raises(AgentError, match="the client runs this tool"):
        await run(client_tool("mark"))


# Preliminary values


@each_row("function", [yields, yields_later])
async def test_every_value_of_a_generator_is_reported(function: Callable[..., Any]) -> None:
    collector = Collector()
    call = CALL._replace(input={"name": "you"})
    output = await runner().run_call(as_tool(function), call, ToolContext(), on_preliminary=collector)
    assert collector.reported == [("c1", TextOutput("hello")), ("c1", TextOutput("hello you"))]
    assert output == TextOutput("hello you")


async def test_a_generator_waits_until_its_value_was_handled() -> None:
    yielded: list[int] = []
    yielded_when_reported: list[list[int]] = []

    def counts() -> Iterator[int]:
        for number in range(3):
            yielded.append(number)
            yield number

    async def slow(call: PendingCall, output: ToolOutput) -> None:
        for _ in range(10):
            await asyncio.sleep(0.001)
        yielded_when_reported.append(list(yielded))

    await runner().run_call(as_tool(counts), CALL, ToolContext(), on_preliminary=slow)
    assert yielded_when_reported == [[0], [0, 1], [0, 1, 2]]


async def test_an_exception_of_the_callback_is_not_an_error_of_the_tool() -> None:
    async def fail(call: PendingCall, output: ToolOutput) -> None:
        raise KeyError("mine")

    call = CALL._replace(input={"name": "you"})
    for function in (yields, yields_later):
        with pytest.raises(KeyError, match="mine"):
            await runner().run_call(as_tool(function), call, ToolContext(), on_preliminary=fail)


# Functions that do not end


def hangs(context: ToolContext) -> str:
    context.over.wait(LONG)
    return "late"


def hangs_between(context: ToolContext) -> Iterator[str]:
    yield "hello"
    context.over.wait(LONG)
    yield "late"


def yields_forever() -> Iterator[int]:
    while True:
        yield 1


async def hangs_later() -> None:
    await asyncio.Event().wait()


async def hangs_between_later() -> AsyncIterator[str]:
    yield "hello"
    await asyncio.Event().wait()


async def yields_forever_and_never_waits() -> AsyncIterator[int]:
    while True:
        yield 1


async def swallows_its_cancellation_and_ends() -> str:
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return "late"
    return "never"


async def swallows_its_cancellation_and_yields() -> AsyncIterator[int]:
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            yield 1


HANGING = [
    hangs,
    hangs_between,
    yields_forever,
    hangs_later,
    hangs_between_later,
    yields_forever_and_never_waits,
    swallows_its_cancellation_and_ends,
    swallows_its_cancellation_and_yields,
]


@each_row("function", HANGING)
async def test_a_call_ends_at_its_timeout(function: Callable[..., Any]) -> None:
    tools = runner(grace=LONG)
    output = await tools.run_call(tool(timeout=SHORT)(function), CALL, ToolContext())
    assert output == InterruptedOutput("timeout", "The tool did not end within 0.02 seconds.")
    await until(lambda: tools.abandoned == 0)


@each_row("function", HANGING)
async def test_a_stopped_call_is_aborted(function: Callable[..., Any]) -> None:
    tools, context = runner(grace=LONG), ToolContext()
    waiting = asyncio.create_task(tools.run_call(tool(timeout=LONG)(function), CALL, context))
    await asyncio.sleep(0.01)
    context.cancelled.set()
    assert await waiting == InterruptedOutput("aborted")
    await until(lambda: tools.abandoned == 0)


@each_row("function", HANGING)
async def test_a_cancellation_of_the_waiting_task_propagates(function: Callable[..., Any]) -> None:
    tools = runner(grace=LONG)
    waiting = asyncio.create_task(tools.run_call(as_tool(function), CALL, ToolContext()))
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await until(lambda: tools.abandoned == 0)


async def test_a_stopped_run_starts_no_call() -> None:
    context = ToolContext()
    context.cancelled.set()
    assert await runner().run_call(as_tool(exits), CALL, context) == InterruptedOutput("aborted")


async def test_a_hanging_thread_is_abandoned_and_counted() -> None:
    release = threading.Event()

    @tool(timeout=SHORT)
    def uncancellable() -> None:
        """Ignore every stop."""
        release.wait(LONG)

    tools = runner()
    outputs = [await tools.run_call(uncancellable, CALL, ToolContext()) for _ in range(3)]
    assert {type(output) for output in outputs} == {InterruptedOutput}
    assert tools.abandoned == 3
    assert await tools.run_call(as_tool(returns_nothing), CALL, ToolContext()) == JsonOutput(None)
    release.set()
    await until(lambda: tools.abandoned == 0)


async def test_a_coroutine_that_does_not_end_is_abandoned_and_counted() -> None:
    release = asyncio.Event()

    @tool(timeout=SHORT)
    async def uncancellable() -> None:
        """Ignore every stop."""
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        raise ValueError("not retrieved")

    tools = runner()
    output = await tools.run_call(uncancellable, CALL, ToolContext())
    assert isinstance(output, InterruptedOutput)
    assert tools.abandoned == 1
    release.set()
    await until(lambda: tools.abandoned == 0)


async def test_a_stopped_generator_is_closed_in_its_thread() -> None:
    threads: list[int] = []

    def stream() -> Iterator[int]:
        threads.append(threading.get_ident())
        try:
            while True:
                yield 1
        finally:
            threads.append(threading.get_ident())

    context = ToolContext()

    async def stop(call: PendingCall, output: ToolOutput) -> None:
        context.cancelled.set()

    output = await runner().run_call(as_tool(stream), CALL, context, on_preliminary=stop)
    assert output == InterruptedOutput("aborted")
    await until(lambda: len(threads) == 2)
    assert threads[0] == threads[1] != threading.get_ident()


async def test_nothing_is_reported_after_the_end() -> None:
    collector = Collector()
    made = tool(timeout=SHORT)(swallows_its_cancellation_and_yields)
    await runner(grace=LONG).run_call(made, CALL, ToolContext(), on_preliminary=collector)
    assert collector.reported == []


# Limits


async def test_a_huge_output_is_truncated() -> None:
    def long_output() -> str:
        return "x" * HUGE

    output = await run(long_output)
    assert isinstance(output, TextOutput)
    assert len(output.value) < 10_000_100
    assert f"\n… {HUGE - 10_000_000} characters left out …\n" in output.value


async def test_the_limit_of_outputs_can_be_set() -> None:
    def long_output() -> Iterator[str]:
        yield "0123456789"
        raise ValueError("0123456789")

    collector = Collector()
    tools = ToolRunner(output_limit=4)
    output = await tools.run_call(as_tool(long_output), CALL, ToolContext(), on_preliminary=collector)
    assert collector.outputs == [TextOutput("01\n… 6 characters left out …\n89")]
    assert output == ErrorTextOutput("Va\n… 18 characters left out …\n89")


@pytest.mark.parametrize("is_async", [False, True])
async def test_output_that_a_tool_prints_is_ignored(is_async: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def print_much() -> str:
        for _ in range(50):
            print("x" * 1_000_000)
        return "done"

    async def print_much_async() -> str:
        return print_much()

    with open(os.devnull, "w") as null_device:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdout", null_device)
        assert await run(print_much_async if is_async else print_much) == TextOutput("done")


# The context of a function


NAME: contextvars.ContextVar[str] = contextvars.ContextVar("name")


async def test_a_function_receives_the_context_of_its_call() -> None:
    yielded_when_reported: list[ToolContext] = []

    def look(context: ToolContext, text: str = "") -> None:
        yielded_when_reported.append(context)

    run_context = ToolContext(thread_id="t", run_id="r", message_id="m")
    await runner().run_call(as_tool(look), CALL, run_context)
    (context,) = yielded_when_reported
    assert (context.thread_id, context.run_id, context.message_id, context.tool_call_id) == (
        "t",
        "r",
        "m",
        "c1",
    )
    assert context.cancelled is run_context.cancelled
    assert not context.is_cancelled
    run_context.cancelled.set()
    assert context.is_cancelled


@each_row("is_async", [False, True])
async def test_a_function_sees_the_context_variables_of_its_caller(is_async: bool) -> None:
    def look() -> str:
        return NAME.get()

    async def look_later() -> str:
        return NAME.get()

    NAME.set("mine")
    assert await run(look_later if is_async else look) == TextOutput("mine")


# Several calls


def calls_of(*names: str) -> list[PendingCall]:
    return [PendingCall(f"c{index}", name, {}) for index, name in enumerate(names)]


def blocked_tools(count: int) -> tuple[Toolset, list[asyncio.Event], list[str]]:
    """Tools that end when their event is set, and the names of those that have started."""
    events = [asyncio.Event() for _ in range(count)]
    started: list[str] = []

    def blocked(index: int) -> Tool:
        async def wait() -> str:
            started.append(f"gate{index}")
            await events[index].wait()
            return f"{index}"

        return tool(name=f"gate{index}")(wait)

    return Toolset([blocked(index) for index in range(count)]), events, started


async def test_results_are_reported_as_they_arrive_and_returned_in_order() -> None:
    tools, events, started = blocked_tools(3)
    collector = Collector()
    running = asyncio.create_task(
        runner().run_calls(calls_of("gate0", "gate1", "gate2"), tools, ToolContext(), on_result=collector)
    )
    await until(lambda: len(started) == 3)
    for number, index in enumerate((1, 2, 0), start=1):
        events[index].set()
        await until(lambda number=number: len(collector.reported) == number)  # type: ignore[misc] # a default
    assert await running == (TextOutput("0"), TextOutput("1"), TextOutput("2"))
    assert collector.reported == [("c1", TextOutput("1")), ("c2", TextOutput("2")), ("c0", TextOutput("0"))]


async def test_the_number_of_parallel_calls_is_limited() -> None:
    tools, events, started = blocked_tools(5)
    running = asyncio.create_task(runner(parallel=2).run_calls(calls_of(*tools), tools, ToolContext()))
    for index in range(5):
        await until(lambda index=index: len(started) == min(index + 2, 5))  # type: ignore[misc] # a default
        for _ in range(5):
            await asyncio.sleep(0)
        assert len(started) == min(index + 2, 5)
        events[index].set()
    assert len(await running) == 5


async def test_a_hanging_or_failing_call_does_not_delay_the_others() -> None:
    tools = Toolset([tool(timeout=SHORT)(hangs), fails, says_hello])
    calls = [
        *calls_of("hangs", "fails", "gone"),
        PendingCall("c3", "says_hello", {"name": "you"}),
    ]
    outputs = await runner().run_calls(calls, tools, ToolContext())
    assert outputs == (
        InterruptedOutput("timeout", "The tool did not end within 0.02 seconds."),
        ErrorTextOutput("ValueError: too late"),
        ErrorTextOutput("There is no tool 'gone'. Known tools: hangs, fails, says_hello."),
        TextOutput("hello you"),
    )


async def test_blocking_functions_run_in_parallel() -> None:
    meeting = threading.Barrier(8)

    def meet() -> str:
        meeting.wait(LONG)
        return "met"

    outputs = await runner(parallel=8).run_calls(calls_of(*["meet"] * 8), Toolset([meet]), ToolContext())
    assert outputs == (TextOutput("met"),) * 8


async def test_preliminary_values_are_reported_with_their_call() -> None:
    collector = Collector()
    calls = [PendingCall(name, "yields", {"name": name}) for name in ("a", "b")]
    await runner().run_calls(calls, Toolset([yields]), ToolContext(), on_preliminary=collector)
    assert sorted(collector.reported, key=lambda pair: pair[0]) == [
        ("a", TextOutput("hello")),
        ("a", TextOutput("hello a")),
        ("b", TextOutput("hello")),
        ("b", TextOutput("hello b")),
    ]


async def test_a_stopped_run_keeps_the_outputs_of_ended_calls() -> None:
    tools, events, started = blocked_tools(3)
    collector, context = Collector(), ToolContext()
    running = asyncio.create_task(
        runner(parallel=2).run_calls(calls_of(*tools), tools, context, on_result=collector)
    )
    await until(lambda: len(started) == 2)
    events[1].set()
    await until(lambda: len(collector.reported) == 1)
    context.cancelled.set()
    assert await running == (InterruptedOutput("aborted"), TextOutput("1"), InterruptedOutput("aborted"))


async def test_open_calls_of_a_cancelled_task_are_reported_before_it_ends() -> None:
    tools, events, started = blocked_tools(3)
    collector = Collector()
    running = asyncio.create_task(
        runner(parallel=2).run_calls(calls_of(*tools), tools, ToolContext(), on_result=collector)
    )
    await until(lambda: len(started) == 2)
    events[1].set()
    await until(lambda: len(collector.reported) == 1)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert collector.reported == [
        ("c1", TextOutput("1")),
        ("c0", InterruptedOutput("aborted")),
        ("c2", InterruptedOutput("aborted")),
    ]


async def test_an_exception_of_the_callback_stops_the_other_calls() -> None:
    async def fail(call: PendingCall, output: ToolOutput) -> None:
        raise KeyError("mine")

    tools = runner(grace=LONG)
    with pytest.raises(KeyError, match="mine"):
        await tools.run_calls(
            calls_of("hangs_later", "fails"), Toolset([hangs_later, fails]), ToolContext(), on_result=fail
        )
    assert tools.abandoned == 0


async def test_client_tools_are_refused_before_any_call_runs() -> None:
    started: list[int] = []

    def start() -> None:
        started.append(1)

    with pytest.raises(AgentError, match="the client runs this tool"):
        await runner().run_calls(
            calls_of("start", "mark"), Toolset([start, client_tool("mark")]), ToolContext()
        )
    assert started == []


async def test_without_calls_there_are_no_outputs() -> None:
    assert await runner().run_calls([], Toolset(), ToolContext()) == ()


def test_a_hanging_thread_does_not_keep_python_from_exiting() -> None:
    code = (
        "import asyncio, threading\n"
        "from partita.runtime.tools.context import ToolContext\n"
        "from partita.runtime.tools.runner import PendingCall, ToolRunner\n"
        "from partita.runtime.tools.tool import tool\n"
        "@tool(timeout=0.02)\n"
        "def hang() -> None:\n"
        "    threading.Event().wait()\n"
        "call = PendingCall('c', 'hang', {})\n"
        "print(asyncio.run(ToolRunner().run_call(hang, call, ToolContext())).reason)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=LONG, check=True
    )
    assert ended.stdout == "timeout\n"
