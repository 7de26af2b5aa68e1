"""A recording as a model, and a live model whose responses are recorded.

`messages_in` returns the messages of a recording.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from partita.errors import StreamError
from partita.formats.call_decoder import CallDecoder
from partita.formats.model_view import model_view
from partita.formats.openai_chat.dialects import DIALECTS, OPENAI
from partita.formats.registry import CHAT
from partita.runtime.model_calls import ModelRequest
from partita.runtime.providers.response import Call
from partita.runtime.providers.response import Response as HttpResponse
from partita.runtime.providers.service import ProviderService, stream_response
from partita.runtime.providers.vendors import (
    AnthropicService,
    GeminiService,
    OpenAIChatService,
    OpenAIResponsesService,
)
from partita.runtime.recordings.recording import Exchange, RecordedResponse, Recording
from partita.runtime.recordings.run_recording import exchanges_of
from partita.runtime.replay.recorded_run import RecordedRun
from partita.runtime.service import AgentService, InvokeOptions, Prompt, closed, prompt_messages
from partita.store.logs.run_log import LogRecord
from partita.stream.accumulator import Accumulator, close_message
from partita.types.chunks import (
    AgentStreamEvent,
    CancelledEvent,
    Chunk,
    ChunkEvent,
    CompleteEvent,
    ErrorEvent,
    RawEvent,
    raw_bytes,
)
from partita.types.codec import CHUNK, EVENT, MESSAGES, to_json
from partita.types.json import JsonObject, is_object
from partita.types.messages import Message, UserMessage, text_of
from partita.types.threads import Run

from .providers import family_of
from .request_matcher import Difference, MatchRules, RequestMatcher, body_differences

CONVERSATION: Final[Mapping[str, tuple[str, ...]]] = {
    "openai-chat": ("messages", "tools"),
    "openai-responses": ("input", "tools"),
    "anthropic": ("system", "messages", "tools"),
    "gemini": ("systemInstruction", "contents", "tools"),
}
"""The members of a request that depend on the conversation. The service adds others, such as the model."""

SERVICES: Final[Mapping[str, type[ProviderService[Any]]]] = {
    "openai-responses": OpenAIResponsesService,
    "anthropic": AnthropicService,
    "gemini": GeminiService,
}

NAME: Final = "recorded"

_MODEL: Final = re.compile(r"models/([^/:]+):")
"""The model in the path of a request to Gemini. The form of the request depends on the model."""


class RecordedModel:
    """Returns recorded responses, and compares each request with the recorded one."""

    name: str = NAME

    def __init__(self, matcher: RequestMatcher, rules: MatchRules, model: str | None) -> None:
        self.model = model or NAME
        self._matcher = matcher
        self._rules = rules

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncGenerator[AgentStreamEvent, None]:
        """The recorded response, or an error that lists the differences of the request."""
        given = options or InvokeOptions()
        messages = prompt_messages(prompt, given.instructions)
        found = self._matcher.match(lambda one: _compare(one, messages, given, self._rules))
        if isinstance(found, str):
            yield ErrorEvent(message=found, name="recording")
            return
        async with aclosing(_events(found, self.model)) as events:
            async for event in events:
                yield event


class _ReplayedResponse:
    """A recorded response with the interface of an HTTP response."""

    def __init__(self, response: RecordedResponse) -> None:
        self.status_code = response.status
        self.headers: Mapping[str, str] = response.headers
        self._pieces = response.pieces

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece

    async def aclose(self) -> None:
        """Do nothing."""


async def _events(exchange: Exchange, model: str) -> AsyncGenerator[AgentStreamEvent, None]:
    request, response = exchange.request, exchange.response
    if request is not None and response is not None and exchange.format is not None:

        async def send() -> HttpResponse:
            return _ReplayedResponse(response)

        call = Call(NAME, exchange.format, {"provider": NAME, "model": model})
        body: JsonObject = request.body if is_object(request.body) else {}
        sent = ModelRequest(exchange.format, request.path, body)
        async with aclosing(stream_response(call, sent, send)) as events:
            async for event in events:
                yield event
        return
    for event in _recorded_events(exchange):
        yield event
    yield CompleteEvent(agent_type=NAME) if exchange.end is None else EVENT.read(exchange.end)


def _recorded_events(exchange: Exchange) -> list[AgentStreamEvent]:
    if exchange.output is not None and exchange.format is not None:
        decoder = CallDecoder(exchange.format, exchange.framing or "lines")
        events = decoder.start()
        for record in exchange.output:
            events += decoder.feed(record.encode())
        return [*events, *decoder.finish()]
    return [ChunkEvent(chunk=CHUNK.read(chunk)) for chunk in exchange.chunks or ()]


def _compare(
    exchange: Exchange, messages: Sequence[Message], options: InvokeOptions, rules: MatchRules
) -> list[Difference]:
    """The differences in conversation, instructions and tools from the recorded request."""
    request, family = exchange.request, family_of(exchange.format)
    if request is None or family is None or not is_object(request.body):
        return _compare_prompts(exchange, messages, rules)
    members = (*CONVERSATION[family], *options.settings)
    recorded = {name: request.body[name] for name in members if name in request.body}
    named = _MODEL.search(request.path)
    model = named[1] if named else ""
    built = _build_request(exchange.format or family, family, messages, options, model)
    actual = {name: built[name] for name in members if name in built}
    return body_differences(rules.comparable(recorded, family), rules.comparable(actual, family))


def _build_request(
    format_name: str, family: str, messages: Sequence[Message], options: InvokeOptions, model: str
) -> JsonObject:
    """The request body that the service of the provider would send."""
    view = model_view(messages).messages
    if family == CHAT:
        namespace = format_name.removeprefix(family).removeprefix("-")
        dialect = next((one for one in DIALECTS.values() if one.namespace == namespace), OPENAI)
        service: ProviderService[Any] = OpenAIChatService(model, dialect=dialect)
    else:
        service = SERVICES[family](model)
    body: JsonObject = service.build_request(view, model, options.tools, options.settings).payload
    return body


def _compare_prompts(exchange: Exchange, messages: Sequence[Message], rules: MatchRules) -> list[Difference]:
    """Compare the last prompts, when no request was recorded."""
    if exchange.prompt is None:
        return []
    recorded, actual = ({"asked": prompt} for prompt in (exchange.prompt, _last_prompt(messages)))
    return body_differences(rules.comparable(recorded, None), rules.comparable(actual, None))


class RecordingModel:
    """Passes requests to a live model, and records them with the responses."""

    def __init__(self, live: AgentService) -> None:
        self.name = live.name
        model: object = getattr(live, "model", None)
        self.model = model if isinstance(model, str) else live.name
        self._live = live
        self.exchanges: list[Exchange] = []
        """Requests and responses so far."""
        self.problems: list[str] = []
        """Always empty: errors are reported as events."""

    def wait_for_responses(self) -> None:
        """Return at once: the caller has read every event."""

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncGenerator[AgentStreamEvent, None]:
        """The events of the model."""
        recorded: list[AgentStreamEvent] = []
        try:
            async with closed(
                self._live.invoke(prompt, cwd=cwd, session_id=session_id, options=options)
            ) as events:
                async for event in events:
                    recorded.append(event)
                    yield event
        finally:
            self.exchanges += _exchanges(recorded, _last_prompt(prompt))


def _exchanges(events: Sequence[AgentStreamEvent], prompt: str | None) -> list[Exchange]:
    now = datetime.now(UTC)
    records = [
        LogRecord(number, now, event.chunk if isinstance(event, ChunkEvent) else None, raw_bytes(event))
        for number, event in enumerate(events, 1)
        if isinstance(event, ChunkEvent | RawEvent)
    ]
    found = exchanges_of(RecordedRun(Run(id="live", thread_id="live", status="completed"), records), prompt)
    last = events[-1] if events else None
    if isinstance(last, ErrorEvent | CancelledEvent):
        end = to_json(last)
        found = (
            [*found[:-1], replace(found[-1], end=end)]
            if found
            else [Exchange(prompt=prompt, chunks=[], end=end)]
        )
    return found


def _last_prompt(prompt: Prompt | Sequence[Message]) -> str | None:
    """The text of the user's last message."""
    if isinstance(prompt, str):
        return prompt
    return next((text_of(one) for one in reversed(prompt) if isinstance(one, UserMessage)), None)


def messages_in(recording: Recording) -> tuple[Message, ...]:
    """The conversation; if none was stored, the responses, one message each."""
    if recording.messages:
        return MESSAGES.read(recording.messages)
    return tuple(_message(exchange, place) for place, exchange in enumerate(recording.exchanges, 1))


def _message(exchange: Exchange, place: int) -> Message:
    accumulator = Accumulator(id=f"answer-{place}")
    for chunk in _chunks(exchange):
        with suppress(StreamError):  # errors in the recording are kept as they were
            accumulator.feed(chunk)
    return close_message(accumulator.snapshot(), "lost")


def _chunks(exchange: Exchange) -> list[Chunk]:
    pieces = [] if exchange.response is None else exchange.response.pieces
    framing = exchange.framing if exchange.response is None else exchange.response.framing
    if exchange.output is not None:
        pieces = [record.encode() for record in exchange.output]
    if exchange.format is None or framing is None:
        return [CHUNK.read(chunk) for chunk in exchange.chunks or ()]
    decoder = CallDecoder(exchange.format, framing)
    events = [event for piece in pieces for event in decoder.feed(piece)] + decoder.finish()
    return [event.chunk for event in events if isinstance(event, ChunkEvent)]
