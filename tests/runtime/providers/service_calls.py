"""Calls of provider services, and checks of their events."""

from collections.abc import Sequence

from partita.formats.call_decoder import CALL, CALL_END, is_marker
from partita.runtime.model_calls import read_request_marker
from partita.runtime.service import InvokeOptions, Prompt
from partita.stream.accumulator import Accumulator, close_message
from partita.types.chunks import AgentStreamEvent, Chunk, ChunkEvent, CompleteEvent, ErrorEvent, raw_bytes
from partita.types.messages import AssistantMessage, ToolCallPart, text_of
from partita.types.parts import ReasoningPart
from tests.runtime.scripted_server import ScriptedResponse, ScriptedServer

from .families import Family, Service

REASONING = "Weather. A tool knows it."
TEXT = "Let me look."
TOOL_INPUT = [("weather", {"city": "Bergen"})]


async def ask(
    service: Service, prompt: Prompt = "How is the weather in Bergen?", options: InvokeOptions | None = None
) -> list[AgentStreamEvent]:
    """All events of one response, after the marker of the request."""
    try:
        first, *events = [event async for event in service.invoke(prompt, options=options)]
    finally:
        await service.aclose()
    assert isinstance(first, ChunkEvent)
    assert read_request_marker(first.chunk) is not None
    return events


async def ask_server(
    family: Family, *responses: ScriptedResponse, **arguments: object
) -> list[AgentStreamEvent]:
    """All events of a response of a server with these responses."""
    async with ScriptedServer(*responses) as server:
        return await ask(family.service(server.address, **arguments))


def raw(events: Sequence[AgentStreamEvent]) -> bytes:
    """All bytes that the events carry."""
    return b"".join(raw_bytes(event) or b"" for event in events)


def chunks(events: Sequence[AgentStreamEvent]) -> list[Chunk]:
    """The chunks of the events, without the marks around a call."""
    found = [event.chunk for event in events if isinstance(event, ChunkEvent)]
    return [chunk for chunk in found if not is_marker(chunk, CALL) and not is_marker(chunk, CALL_END)]


def fold(stream: Sequence[Chunk]) -> AssistantMessage:
    """The message of chunks. A chunk that does not fit is an error."""
    accumulator = Accumulator(id="m")
    for chunk in stream:
        accumulator.feed(chunk)
    return close_message(accumulator.snapshot(), "lost")


def reasoning_parts(message: AssistantMessage) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, ReasoningPart))


def calls(message: AssistantMessage) -> list[tuple[str, object]]:
    return [(part.name, part.input) for part in message.parts if isinstance(part, ToolCallPart)]


def is_complete(message: AssistantMessage) -> bool:
    """Whether a message has all parts of the response that each family sends."""
    return (reasoning_parts(message), text_of(message), calls(message)) == (REASONING, TEXT, TOOL_INPUT)


def error(events: Sequence[AgentStreamEvent]) -> ErrorEvent:
    """The last event, which is an error, and the only one of its kind."""
    *others, last = events
    assert isinstance(last, ErrorEvent)
    assert not any(isinstance(event, ErrorEvent | CompleteEvent) for event in others)
    return last


def completion(events: Sequence[AgentStreamEvent]) -> CompleteEvent:
    """The last event, which reports completion."""
    *others, last = events
    assert isinstance(last, CompleteEvent), last
    assert not any(isinstance(event, ErrorEvent | CompleteEvent) for event in others)
    return last
