"""Models behind an HTTP API as agents: messages → request → response → events."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final, Generic, TypeVar

from partita.errors import AgentError, ConversionError
from partita.extras import needs
from partita.formats.format import Dumped, Request, ToolSpec
from partita.formats.losses import content_losses
from partita.formats.model_view import model_view
from partita.formats.registry import get_format
from partita.runtime.failures import report_failure
from partita.runtime.model_calls import ModelRequest, request_marker
from partita.runtime.service import InvokeOptions, Prompt, closed, prompt_messages
from partita.types.chunks import AgentStreamEvent, ChunkEvent
from partita.types.json import JsonObject, dumps
from partita.types.messages import Message

from .response import Call, Response, ResponseReader, no_response, response_in

TIMEOUT: Final = 600.0
"""How many seconds may pass without a byte."""

MAX_RETRIES: Final = 2

Client = TypeVar("Client")


class ProviderService(ABC, Generic[Client]):
    """A model behind an API. Connections are kept for the next call; `aclose` closes them."""

    name: str
    requirement: ClassVar[str]
    """The package or extra that it needs, as pip installs it."""
    format_name: str
    """The format of requests and responses."""
    path: ClassVar[str]
    """Where requests go, relative to the base URL of the API."""
    defaults: ClassVar[JsonObject] = {"stream": True}
    """Settings of every request, unless others are given; `None` removes one."""
    inputs: ClassVar[tuple[str, ...]] = ("messages",)
    """Members of a request of which the API requires one."""
    supports_client_tools = True

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT,
        max_retries: int = MAX_RETRIES,
        settings: JsonObject | None = None,
        client: Client | None = None,
    ) -> None:
        """Without an `api_key` the vendor's package reads its own environment variable.

        `settings` are named as in the API. A `client` of the vendor's package brings its own key, address,
        headers, timeout and retries, and is not closed with the service.
        """
        self.model = model
        self._api_key = api_key
        self._base_url = base_url
        self._headers = dict(headers or {})
        self._timeout = timeout
        self._max_retries = max_retries
        self._settings = settings or {}
        self._given_client = client
        self._own_client: Client | None = None

    def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncGenerator[AgentStreamEvent]:
        """The events of one response. `cwd` and `session_id` are ignored: an API has neither."""
        given = options or InvokeOptions()
        model = given.model or self.model
        view = model_view(prompt_messages(prompt, given.instructions))
        request = self.build_request(view.messages, model, given.tools, {**self._settings, **given.settings})
        facts: JsonObject = {"provider": self.name, "model": model}
        if view.repairs:
            facts["repairs"] = [str(repair) for repair in view.repairs]
        if losses := content_losses(request.losses):
            facts["losses"] = [str(loss) for loss in losses]
        client, body = self._client(), dumps(request.payload)
        return stream_response(
            Call(self.name, self.format_name, facts),
            ModelRequest(self.format_name, self._path(model), request.payload),
            lambda: self._send(client, model, body),
        )

    def build_request(
        self, view: Sequence[Message], model: str, tools: Sequence[ToolSpec], settings: JsonObject
    ) -> Dumped:
        """The body of a request, and what of the messages the API cannot take."""
        defaults = self._default_settings(model)
        chosen = {
            name: value
            for name, value in {**defaults, **settings}.items()
            if value is not None or name not in defaults
        }
        dumped = self._dump(view, Request(tuple(tools), chosen))
        if self.inputs and not any(dumped.payload.get(name) for name in self.inputs):
            raise ConversionError("no message to send", where="$", hint="give at least one that has content")
        return dumped

    async def aclose(self) -> None:
        """Close the connections that are kept."""
        client, self._own_client = self._own_client, None
        if client is not None:
            await self._close(client)

    @abstractmethod
    def _connect(self) -> Client:
        """A client of the vendor's package, made of the service's arguments."""

    @abstractmethod
    async def _close(self, client: Client) -> None:
        """Close a client that `_connect` made."""

    @abstractmethod
    async def _send(self, client: Client, model: str, body: bytes) -> Response:
        """The response to a request with exactly that body, as soon as its headers arrive."""

    def _path(self, model: str) -> str:
        """Where a request for a model goes, relative to the base URL of the API."""
        return self.path

    def _default_settings(self, model: str) -> JsonObject:
        return {"model": model, **self.defaults}

    def _dump(self, view: Sequence[Message], request: Request) -> Dumped:
        dump = get_format(self.format_name).dump
        assert dump is not None, "the format of an API writes requests"
        return dump(view, request)

    def _client(self) -> Client:
        if self._given_client is not None:
            return self._given_client
        if self._own_client is None:
            with needs(self.requirement, self.name, AgentError):
                self._own_client = self._connect()
        return self._own_client


async def stream_response(
    call: Call, request: ModelRequest, send: Callable[[], Awaitable[Response]]
) -> AsyncGenerator[AgentStreamEvent]:
    """The events of one call, which `send` makes: what is sent, the response as it arrives, how it ended."""
    yield ChunkEvent(chunk=request_marker(request))
    try:
        response = await send()
    except AgentError:
        raise
    except Exception as error:  # every vendor's package has exceptions of its own: all of them are reported
        report_failure(error)
        failed = response_in(error)
        if failed is None:
            yield no_response(error)
            return
        reader = ResponseReader(call, failed.status_code, failed.headers)
        for event in [*reader.feed(failed.content), *reader.finish()]:
            yield event
        yield reader.ending()
        return
    reader = ResponseReader(call, response.status_code, response.headers)
    failure: Exception | None = None
    try:
        async with closed(response.aiter_bytes()) as body:
            while True:
                try:
                    data = await anext(body)
                except StopAsyncIteration:
                    break
                except Exception as error:  # of the package that carries the bytes: they are cut off
                    report_failure(error)
                    failure = error
                    break
                for event in reader.feed(data):
                    yield event
    finally:
        await response.aclose()
    for event in reader.finish():
        yield event
    yield reader.ending(failure)
