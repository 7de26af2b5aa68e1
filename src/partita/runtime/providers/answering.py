"""One call of a model: request → response → bytes → events → how it ended."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Protocol

from partita.errors import AgentError
from partita.runtime.failures import report_failure
from partita.runtime.requests import Asked, note_of
from partita.types.events import AgentStreamEvent, ChunkEvent

from .ending import Ending, never_answered
from .failures import FailedResponse, response_in
from .reading import Call, Reading


class Response(Protocol):
    """An answer whose body is read while it comes. Those of httpx2 are such."""

    @property
    def status_code(self) -> int:
        """The HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The HTTP headers; case does not matter."""
        ...

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        """The body, piece by piece, without its content encoding."""
        ...

    async def aclose(self) -> None:
        """Close the connection, unless the body was read to its end."""
        ...


class Body:
    """The bytes of a response. That they broke off is no error to the reader, but it is known afterwards."""

    def __init__(self, response: Response) -> None:
        self.failure: Exception | None = None
        self._response = response

    async def pieces(self) -> AsyncGenerator[bytes]:
        """The bytes as they come."""
        try:
            async for piece in self._response.aiter_bytes():
                yield piece
        except Exception as error:  # of whatever carries the bytes
            report_failure(error)
            self.failure = error


async def answer(
    send: Callable[[], Awaitable[Response]], call: Call, asked: Asked
) -> AsyncGenerator[AgentStreamEvent]:
    """The events of one call; `send` makes it. The first tells what is asked, the last how it ended."""
    yield ChunkEvent(chunk=note_of(asked))
    try:
        response = await send()
    except AgentError:
        raise
    except Exception as error:  # every vendor's package has its own; all of them are told, none is lost
        report_failure(error)
        failed = response_in(error)
        for event in [never_answered(error)] if failed is None else _refusal(failed, call):
            yield event
        return
    try:
        async with aclosing(_events(response, call)) as events:
            async for event in events:
                yield event
    finally:
        await response.aclose()


async def _events(response: Response, call: Call) -> AsyncGenerator[AgentStreamEvent]:
    reading = Reading(call, response.status_code, response.headers)
    ending = Ending(call.agent, response.status_code, response.headers)
    body = Body(response)
    async with aclosing(body.pieces()) as pieces:
        async for piece in pieces:
            for event in reading.feed(piece):
                ending.see(event)
                yield event
    for event in reading.finish():
        ending.see(event, is_rest=reading.framing == "sse")
        yield event
    yield ending.event(body.failure)


def _refusal(failed: FailedResponse, call: Call) -> list[AgentStreamEvent]:
    """The events of an answer that says no."""
    reading = Reading(call, failed.status_code, failed.headers)
    ending = Ending(call.agent, failed.status_code, failed.headers)
    events = [*reading.feed(failed.content), *reading.finish()]
    for event in events:
        ending.see(event)
    return [*events, ending.event()]
