"""An agent that is a stream of things said: whatever gives one, given what it is asked."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing
from inspect import isawaitable
from pathlib import Path
from typing import Any

from partita.errors import AgentError
from partita.runtime.client_tools import check_client_tools
from partita.runtime.failures import report_failure
from partita.runtime.service import Options, Prompt
from partita.types.events import AgentStreamEvent
from partita.types.json import kind_of

from .agent_request import AgentRequest, request_of
from .telling import ACCEPTED, Telling


class PluggedService:
    """Answers with what a function says; see `as_agent`."""

    supports_client_tools = True  # a function finds them in its request

    def __init__(
        self, name: str, answer: Callable[[AgentRequest], Any], format_name: str | None = None
    ) -> None:
        self.name = name
        self._answer = answer
        self._format_name = format_name

    def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: Options | None = None,
    ) -> AsyncGenerator[AgentStreamEvent]:
        """The events of one answer."""
        request = request_of(prompt, cwd, session_id, options)
        check_client_tools(self, request.options.tools)
        return _events(self._answer, request, Telling(self.name, request.message_id, self._format_name))


async def _events(
    answer: Callable[[AgentRequest], Any], request: AgentRequest, telling: Telling
) -> AsyncGenerator[AgentStreamEvent]:
    for event in telling.begin():
        yield event
    async with aclosing(_said(answer, request)) as things:
        while telling.ending is None:
            try:
                said = await anext(things)
            except StopAsyncIteration:
                break
            except Exception as error:  # of the plugged-in agent: it ends the answer
                report_failure(error)
                for event in telling.fail(error):
                    yield event
                return
            for event in telling.take(said):
                yield event
    for event in telling.end():
        yield event


async def _said(answer: Callable[[AgentRequest], Any], request: AgentRequest) -> AsyncGenerator[object]:
    """What a function says, however it says it: as a stream, in one piece, now or later."""
    async with AsyncExitStack() as stack:
        given = answer(request)
        if isawaitable(given):
            given = await _awaited(given)
        if hasattr(given, "__aenter__") and not hasattr(given, "__aiter__"):
            given = await stack.enter_async_context(given)  # a vendor's stream that is opened by `async with`
        if not hasattr(given, "__aiter__"):
            for said in _one_piece(given):
                yield said
            return
        stream: AsyncIterator[object] = aiter(given)
        stack.push_async_callback(_close, stream, given)
        async for said in stream:
            yield said


async def _awaited(given: Awaitable[Any]) -> Any:
    return await given


def _one_piece(given: object) -> list[object]:
    if type(given) in (list, tuple, set) or hasattr(given, "__next__"):
        raise AgentError(
            f"the function gave {kind_of(given)}", hint=f"write `async def` and `yield`, or return {ACCEPTED}"
        )
    return [] if given is None else [given]


async def _close(*streams: Any) -> None:
    """Close a stream, by whichever name its maker knows that."""
    for stream in streams:
        close = getattr(stream, "aclose", None) or getattr(stream, "close", None)
        if close is not None:
            closing = close()
            if isawaitable(closing):
                await closing
            return
