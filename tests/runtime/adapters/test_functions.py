"""Functions as agents: what they may yield, and how the run ends."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from partita.errors import AgentError
from partita.runtime.adapters.agent_request import AgentRequest
from partita.runtime.adapters.as_agent import as_agent
from partita.runtime.session.session import Session
from partita.types.chunks import (
    CancelledEvent,
    ChunkEvent,
    CompleteEvent,
    DataChunk,
    ErrorEvent,
    MessageFinish,
    MessageStart,
    RawEvent,
    ReasoningDelta,
    ReasoningStart,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolInputStart,
    ToolOutputAvailable,
)
from partita.types.json import JsonObject, dumps
from partita.types.messages import AssistantMessage, text_of
from partita.types.parts import DataPart
from partita.types.usage import Usage
from tests.runtime.adapters import wires
from tests.runtime.adapters.objects import anthropic_events, openai_events
from tests.runtime.adapters.turns import THREAD, ended_turn, run_turn
from tests.tables import each_row

WORDS = ["start", "start-step", "text-start", "text-delta", "text-delta", "text-end", "finish-step", "finish"]

FAMILIES: dict[str, list[JsonObject]] = {
    "anthropic": wires.anthropic("Hello"),
    "openai-chat": wires.chat("Hel", "lo"),
    "openai-responses": wires.responses("Hello"),
    "gemini": wires.gemini("Hel", "lo"),
    "ai-sdk-chunks": wires.chunks("Hello"),
    "claude-code-stream": wires.claude_code("Hello"),
}


def agent_of(*items: Any) -> Callable[[AgentRequest], AsyncIterator[Any]]:
    """A function that yields these items. An exception is raised."""

    async def function(request: AgentRequest) -> AsyncIterator[Any]:
        for thing in items:
            if isinstance(thing, Exception):
                raise thing
            yield thing

    return function


async def test_texts_form_one_block_in_one_step(session: Session) -> None:
    left = await run_turn(session, agent_of("Hel", "", "lo"), "Hi")
    assert (left.types, left.text, left.run.status) == (WORDS, "Hello", "completed")
    assert left.run.agent == "function"


async def return_text(request: AgentRequest) -> str:
    return f"You said {request.text}."


async def return_nothing(request: AgentRequest) -> None:
    return None


async def later(request: AgentRequest) -> AsyncIterator[str]:
    return agent_of("You said ", "Hi.")(request)


class CallableObject:
    def __call__(self, request: AgentRequest) -> AsyncIterator[str]:
        return agent_of("You said Hi.")(request)


class OpenableStream:
    """As some packages return it: a stream behind `async with` that is closed by `close`."""

    def __init__(self) -> None:
        self.closed = 0

    async def __aenter__(self) -> "Stream":
        return Stream(self)

    async def __aexit__(self, *_: object) -> None:
        self.closed += 1


class Stream:
    def __init__(self, opened: OpenableStream) -> None:
        self.opened, self.left = opened, ["You said ", "Hi."]

    def __aiter__(self) -> "Stream":
        return self

    async def __anext__(self) -> str:
        if not self.left:
            raise StopAsyncIteration
        return self.left.pop(0)

    async def close(self) -> None:
        self.opened.closed += 1


def plain(request: AgentRequest) -> str:
    return f"You said {request.text}."


FUNCTIONS: dict[str, Any] = {
    "a coroutine that returns text": return_text,
    "a coroutine that returns a stream": later,
    "a callable object": CallableObject(),
    "a function that returns text": plain,
}


@each_row("function", FUNCTIONS.values(), ids=FUNCTIONS)
async def test_functions_of_every_kind(session: Session, function: Any) -> None:
    assert (await run_turn(session, function, "Hi")).text == "You said Hi."


async def test_a_stream_that_has_to_be_opened_is_opened_and_closed(session: Session) -> None:
    opened = OpenableStream()

    def give(request: AgentRequest) -> OpenableStream:
        return opened

    left = await run_turn(session, give, "Hi")
    assert (left.text, opened.closed) == ("You said Hi.", 2)


async def test_a_function_that_returns_nothing_completes(session: Session) -> None:
    left = await run_turn(session, return_nothing, "Hi")
    assert (left.types, left.run.status) == (["start", "finish"], "completed")


@each_row("name", FAMILIES)
@each_row("named", [False, True], ids=["recognised", "named"])
async def test_raw_events_of_every_provider(session: Session, name: str, named: bool) -> None:
    agent = as_agent(agent_of(*FAMILIES[name]), format=name if named else None)
    left = await run_turn(session, agent, "Hi")
    assert left.text == "Hello"
    assert left.run.status == "completed"
    assert left.raw == b"".join(dumps(event) + b"\n" for event in FAMILIES[name])
    for once in ("start", "start-step", "finish-step", "finish"):
        assert left.types.count(once) == 1
    assert left.run.usage is not None
    assert (left.run.usage.input_tokens, left.run.usage.output_tokens) == (5, 7)


def anthropic_object(event: JsonObject) -> Any:
    return anthropic_events().validate_python(event)


def chat_object(event: JsonObject) -> Any:
    from openai.types.chat import ChatCompletionChunk

    return ChatCompletionChunk.model_validate(event)


def responses_object(event: JsonObject) -> Any:
    return openai_events().validate_python(event)


def gemini_object(event: JsonObject) -> Any:
    from google.genai.types import GenerateContentResponse

    return GenerateContentResponse.model_validate(event)


MODELS: dict[str, Callable[[JsonObject], Any]] = {
    "anthropic": anthropic_object,
    "openai-chat": chat_object,
    "openai-responses": responses_object,
    "gemini": gemini_object,
}


@each_row("name", MODELS)
async def test_objects_of_the_vendors_packages(session: Session, name: str) -> None:
    left = await run_turn(session, agent_of(*map(MODELS[name], FAMILIES[name])), "Hi")
    assert (left.text, left.run.status) == ("Hello", "completed")
    assert left.run.usage is not None
    assert left.run.usage.output_tokens == 7


async def test_events_that_a_vendors_helper_adds_are_ignored(session: Session) -> None:
    from anthropic.lib.streaming import TextEvent

    first, *rest = map(MODELS["anthropic"], FAMILIES["anthropic"])
    echo = TextEvent(type="text", text="Hello", snapshot="Hello")
    left = await run_turn(session, agent_of(first, echo, *rest), "Hi")
    assert (left.text, b"snapshot" in left.raw) == ("Hello", False)


SSE = b"".join(b"data: " + dumps(event) + b"\n\n" for event in wires.chat("Hel", "lo")) + b"data: [DONE]\n\n"
LINES = b"".join(dumps(event) + b"\n" for event in wires.claude_code("Hello"))


@each_row("size", [1, 7, 100_000])
@each_row("data", [SSE, LINES], ids=["server-sent events", "lines"])
async def test_bytes_may_be_cut_anywhere(session: Session, data: bytes, size: int) -> None:
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    left = await run_turn(session, agent_of(*pieces), "Hi")
    assert (left.text, left.run.status, left.raw) == ("Hello", "completed", data)


async def test_a_hand_written_loop_is_one_message(session: Session) -> None:
    """Responses of a model, an output between them, and a text at the end."""
    output = ToolOutputAvailable("toolu_1", {"degrees": 4})
    items = [*wires.anthropic_call("weather", '{"city":"Bergen"}'), output]
    left = await run_turn(
        session, agent_of(*items, *wires.anthropic("Cold.", "msg_2"), " Take a coat."), "Weather?"
    )
    assert (left.texts, left.run.status) == (["Cold.", " Take a coat."], "completed")
    (call,) = left.calls
    assert (call.name, call.input, call.state) == ("weather", {"city": "Bergen"}, "output-available")
    assert (left.types.count("start-step"), left.types.count("finish-step")) == (3, 3)
    assert left.run.usage is not None
    assert (left.run.usage.input_tokens, left.run.usage.output_tokens) == (10, 14)
    assert left.chunks[-1] == MessageFinish("stop", left.chunks[-1].message_metadata)  # type: ignore[union-attr]  # a finish


async def test_items_within_a_response_follow_it(session: Session) -> None:
    first, *rest = wires.anthropic("Hello")
    left = await run_turn(session, agent_of(first, DataChunk("data-note", 1), "Bye", *rest), "Hi")
    assert left.texts == ["Hello", "Bye"]
    assert [part.data for part in left.message.parts if isinstance(part, DataPart)] == [1]


async def test_a_call_without_an_output_waits(session: Session) -> None:
    left = await run_turn(session, agent_of(*wires.anthropic_call("weather", "{}")), "Weather?")
    assert left.calls[0].state == "input-available"
    finish = left.chunks[-1]
    assert isinstance(finish, MessageFinish)
    assert finish.finish_reason == "tool-calls"


async def test_chunks_and_events_are_used_unchanged(session: Session) -> None:
    usage = Usage(1, 2, 3)
    items = [
        MessageStart("theirs", {"mood": "good"}),
        StepStart(),
        ReasoningStart("r"),
        ReasoningDelta("r", "Hm."),
        ChunkEvent(chunk=TextStart("t"), raw_text="one\n"),
        RawEvent(raw_text="two\n"),
        TextDelta("t", "Hello"),
        TextEnd("t"),
        StepFinish(),
        MessageFinish("stop", {"seed": 7}),
        CompleteEvent(agent_result={"ok": True}, usage=usage),
        "never said",
    ]
    left = await run_turn(session, agent_of(*items), "Hi")
    assert (left.text, left.raw, left.run.usage) == ("Hello", b"one\ntwo\n", usage)
    assert left.types.count("reasoning-end") == 1
    metadata: Any = left.message.content.metadata
    assert {"mood": "good", "agentMessageId": "theirs", "seed": 7}.items() <= metadata.items()


async def test_open_blocks_and_inputs_are_ended(session: Session) -> None:
    left = await run_turn(
        session, agent_of(TextStart("t"), TextDelta("t", "Hel"), ToolInputStart("c", "dig")), "Hi"
    )
    assert left.types[-4:] == ["text-end", "tool-input-error", "finish-step", "finish"]
    assert [call.state for call in left.calls] == ["output-error"]


FAILURES = {
    "words": (["Hel", ValueError("no more")], "Hel"),
    "an answer": ([*wires.anthropic("Hel")[:3], ValueError("no more")], "Hel"),
    "bytes": ([SSE[:200], ValueError("no more")], "Hel"),
    "nothing": ([ValueError("no more")], ""),
}


@each_row(("items", "text"), FAILURES.values(), ids=FAILURES)
async def test_a_failing_function_keeps_its_output(session: Session, items: list[Any], text: str) -> None:
    left = await run_turn(session, agent_of(*items), "Hi")
    assert (left.run.status, left.run.error, left.text) == ("failed", "ValueError: no more", text)


async def test_a_failure_has_the_name_of_its_error() -> None:
    *_, last = [event async for event in as_agent(agent_of("Hel", KeyError())).invoke("Hi")]
    assert last == ErrorEvent(message="KeyError", name="KeyError")


ENDINGS = {
    "a failure reported by the provider": (
        [
            *wires.anthropic("Hel")[:3],
            {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
        ],
        "failed",
        "busy",
    ),
    "a cut response of the provider": (wires.anthropic("Hel")[:3], "failed", "the response was cut off"),
    "a failure event": (["Hel", ErrorEvent(message="out of ink")], "failed", "out of ink"),
    "a cancellation event": (["Hel", CancelledEvent(reason="bored")], "cancelled", "bored"),
}


@each_row(("items", "status", "reason"), ENDINGS.values(), ids=ENDINGS)
async def test_how_a_function_ends_the_run(
    session: Session, items: list[Any], status: str, reason: str
) -> None:
    left = await run_turn(session, agent_of(*items), "Hi")
    assert (left.run.status, left.run.error, left.text) == (status, reason, "Hel")


async def test_a_cut_response_followed_by_text_is_not_a_failure(session: Session) -> None:
    left = await run_turn(session, agent_of(*wires.anthropic("Hel")[:3], "Sorry."), "Hi")
    assert (left.run.status, left.texts) == ("completed", ["Hel", "Sorry."])


UNKNOWN = {
    "a dict of no format": {"hello": 1},
    "bytes that are not a stream": b"hello world",
    "a number": 7,
    "an incomplete chunk": {"type": "text-delta"},
}


@each_row("thing", UNKNOWN.values(), ids=UNKNOWN)
async def test_unknown_items_are_refused(session: Session, thing: Any) -> None:
    with pytest.raises(AgentError, match=r"hint: .*(format=|yield)"):
        [event async for event in as_agent(agent_of("Hel", thing)).invoke("Hi")]
    left = await run_turn(session, agent_of("Hel", thing), "Hi")
    assert (left.run.status, left.text) == ("failed", "Hel")


async def test_stopping_closes_the_function(session: Session) -> None:
    started, closed = asyncio.Event(), asyncio.Event()

    async def endless(request: AgentRequest) -> AsyncIterator[str]:
        try:
            yield "Hel"
            started.set()
            await asyncio.Event().wait()
        finally:
            closed.set()

    run = await session.start(as_agent(endless), THREAD, "Hi")
    await started.wait()
    await session.stop(run.id, "enough")
    assert closed.is_set()
    chunks = [one.chunk async for seen in session.follow(run.id) for one in seen]
    left = await ended_turn(session.store, run.id, chunks)
    assert (left.run.status, left.text) == ("cancelled", "Hel")


async def test_a_reader_that_stops_closes_the_function() -> None:
    closed = asyncio.Event()

    async def endless(request: AgentRequest) -> AsyncIterator[str]:
        try:
            while True:
                yield "Hel"
        finally:
            closed.set()

    events = as_agent(endless).invoke("Hi")
    await anext(events)
    await anext(events)
    await events.aclose()  # type: ignore[attr-defined]  # it is a generator
    assert closed.is_set()


async def test_the_second_turn_sees_the_first(session: Session) -> None:
    seen: list[AgentRequest] = []

    async def echo(request: AgentRequest) -> str:
        seen.append(request)
        return f"{len(request.messages)}"

    await run_turn(session, echo, "One")
    left = await run_turn(session, echo, "Two")
    assert left.text == "3"
    request = seen[-1]
    assert [text_of(message) for message in request.messages] == ["One", "1", "Two"]
    assert (request.text, request.thread_id, request.run_id, request.message_id, request.continued) == (
        "Two",
        THREAD,
        left.run.id,
        left.message.id,
        None,
    )


async def test_a_function_continues_its_own_message(session: Session) -> None:
    seen: list[AssistantMessage | None] = []

    async def call_tool(request: AgentRequest) -> AsyncIterator[Any]:
        seen.append(request.continued)
        if request.continued is None:
            yield ToolInputAvailable("c1", "dig", {"deep": 2})
        else:
            yield "Done."

    first = await run_turn(session, call_tool, "Dig")
    second = await run_turn(session, call_tool)
    assert (second.message.id, second.text, len(seen)) == (first.message.id, "Done.", 2)
    assert seen[0] is None
    assert seen[1] is not None
