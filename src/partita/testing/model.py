"""A recording in the place of a model: an agent service that answers with what was recorded."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from importlib import import_module
from pathlib import Path
from typing import Final

from partita.formats.agent_decoder import Decoding
from partita.formats.answers.model_view import model_view
from partita.formats.builtin import CHAT
from partita.formats.format import Request
from partita.formats.openai_chat.dialects import DIALECTS, OPENAI
from partita.runtime.providers.answering import Response as Answering
from partita.runtime.providers.answering import answer
from partita.runtime.providers.reading import Call
from partita.runtime.recordings.recording import Exchange, Response
from partita.runtime.requests import Asked
from partita.runtime.service import Options, Prompt
from partita.types.codec import CHUNK, EVENT
from partita.types.events import AgentStreamEvent, ChunkEvent, CompleteEvent, ErrorEvent
from partita.types.json import JsonObject, is_object
from partita.types.messages import Message, SystemMessage, UserMessage, text_of

from .differences import Difference, differences
from .matching import Matching, Terms
from .providers import family_of

TALK: Final[Mapping[str, tuple[str, ...]]] = {
    "openai-chat": ("messages", "tools"),
    "openai-responses": ("input", "tools"),
    "anthropic": ("system", "messages", "tools"),
    "gemini": ("systemInstruction", "contents", "tools"),
}
"""What of a request follows from what an agent is asked. The rest, as the model, is the service's own."""

NAME: Final = "recorded"

_MODEL: Final = re.compile(r"models/([^/:]+):")
"""The name of a model in the path of a request to Gemini, whose form depends on the model."""


class RecordedModel:
    """Answers with what a recording holds, and compares what it is asked with what was asked then."""

    name: str = NAME

    def __init__(self, matching: Matching, terms: Terms, model: str | None) -> None:
        self.model = model or NAME
        self._matching = matching
        self._terms = terms

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: Options | None = None,
    ) -> AsyncGenerator[AgentStreamEvent, None]:
        """The recorded answer; an error that says what differs, if it was asked something else."""
        messages = _messages(prompt, options)
        found = self._matching.take(lambda one: _compare(one, messages, options or Options(), self._terms))
        if isinstance(found, str):
            yield ErrorEvent(message=found, name="recording")
            return
        async with aclosing(_events(found, self.model)) as events:
            async for event in events:
                yield event


class _Canned:
    """A recorded response as if it came over the wire."""

    def __init__(self, response: Response) -> None:
        self.status_code = response.status
        self.headers: Mapping[str, str] = response.headers
        self._pieces = response.pieces

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece

    async def aclose(self) -> None:
        """There is nothing to close."""


async def _events(exchange: Exchange, model: str) -> AsyncGenerator[AgentStreamEvent, None]:
    request, response = exchange.request, exchange.response
    if request is not None and response is not None and exchange.format is not None:

        async def send() -> Answering:
            return _Canned(response)

        call = Call(NAME, exchange.format, {"provider": NAME, "model": model})
        body: JsonObject = request.body if is_object(request.body) else {}
        async with aclosing(answer(send, call, Asked(exchange.format, request.path, body))) as events:
            async for event in events:
                yield event
        return
    for event in _told(exchange):
        yield event
    yield CompleteEvent(agent_type=NAME) if exchange.end is None else EVENT.read(exchange.end)


def _told(exchange: Exchange) -> list[AgentStreamEvent]:
    if exchange.said is not None and exchange.format is not None:
        decoding = Decoding(exchange.format, exchange.framing or "lines")
        events = decoding.begin()
        for record in exchange.said:
            events += decoding.feed(record.encode())
        return [*events, *decoding.finish()]
    return [ChunkEvent(chunk=CHUNK.read(chunk)) for chunk in exchange.chunks or ()]


def _messages(prompt: Prompt, options: Options | None) -> list[Message]:
    asked: list[Message] = (
        [UserMessage(id="prompt", content=prompt)] if isinstance(prompt, str) else [*prompt]
    )
    if options is None or not options.instructions:
        return asked
    return [SystemMessage(id="instructions", content=options.instructions), *asked]


def _compare(
    exchange: Exchange, messages: Sequence[Message], options: Options, terms: Terms
) -> list[Difference]:
    """Where the conversation, the instructions and the tools differ from the recorded request."""
    request, family = exchange.request, family_of(exchange.format)
    if request is None or family is None or not is_object(request.body):
        return _compare_words(exchange, messages, terms)
    members = (*TALK[family], *options.settings)
    recorded = {name: request.body[name] for name in members if name in request.body}
    named = _MODEL.search(request.path)
    model = named[1] if named else ""
    built = _built(exchange.format or family, family, messages, options, model)
    made = {name: built[name] for name in members if name in built}
    return differences(terms.plain(recorded, family), terms.plain(made, family))


def _built(
    format_name: str, family: str, messages: Sequence[Message], options: Options, model: str
) -> JsonObject:
    """The request that the provider's own service would send."""
    view = model_view(messages).messages
    asked = Request(tuple(options.tools), {"model": model, "stream": True, **options.settings})
    if family in ("anthropic", "gemini"):
        dump = import_module(f"partita.formats.{family}.format").dump
        body: JsonObject = dump(view, asked).payload
        return body
    if family == CHAT:
        from partita.formats.openai_chat.format import dump as dump_chat

        namespace = format_name.removeprefix(family).removeprefix("-")
        dialect = next((one for one in DIALECTS.values() if one.namespace == namespace), OPENAI)
        chat: JsonObject = dump_chat(view, asked, dialect=dialect).payload
        return chat
    from partita.runtime.providers.openai_responses import build_request

    built: JsonObject = build_request(view, model, options.tools, options.settings).payload
    return built


def _compare_words(exchange: Exchange, messages: Sequence[Message], terms: Terms) -> list[Difference]:
    """Where nothing tells the request, the user's last words are compared."""
    if exchange.asked is None:
        return []
    words = next((text_of(one) for one in reversed(messages) if isinstance(one, UserMessage)), None)
    return differences(terms.plain({"asked": exchange.asked}, None), terms.plain({"asked": words}, None))
