"""Models of Anthropic, OpenAI, Google and OpenAI-compatible servers, through the packages of the vendors.

A package connects, authenticates and retries. The request is written, and the response read, by our formats.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from partita.errors import AgentError
from partita.formats.format import Dumped, Request, ToolSpec
from partita.formats.openai_chat.dialects import DIALECTS, OPENAI, Dialect
from partita.formats.registry import get_format
from partita.types.json import JsonObject
from partita.types.messages import Message

from .service import MAX_RETRIES, TIMEOUT, ProviderService, Response

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic
    from google.genai import Client
    from openai import AsyncOpenAI


# Anthropic

NO_ANTHROPIC_KEY: Final = "give api_key, or set ANTHROPIC_API_KEY"


class AnthropicService(ProviderService["AsyncAnthropic"]):
    """A model behind Anthropic's Messages API, or behind a compatible server."""

    name = "anthropic"
    requirement = "partita[anthropic]"
    format_name = "anthropic"
    path = "/v1/messages"

    def _connect(self) -> "AsyncAnthropic":
        from anthropic import AnthropicError, AsyncAnthropic

        try:
            client = AsyncAnthropic(
                api_key=self._api_key,
                base_url=self._base_url,
                default_headers=self._headers,
                timeout=self._timeout,
                max_retries=self._max_retries,
            )
        except AnthropicError as error:
            raise AgentError(str(error), hint=NO_ANTHROPIC_KEY) from error
        sent = {name.lower() for name in self._headers}
        has_key = client.api_key or client.auth_token or client.credentials
        if not has_key and not sent & {"authorization", "x-api-key"}:
            raise AgentError("no key for Anthropic", hint=NO_ANTHROPIC_KEY)
        return client

    async def _close(self, client: "AsyncAnthropic") -> None:
        await client.close()

    async def _send(self, client: "AsyncAnthropic", model: str, body: bytes) -> Response:
        import httpx2
        from anthropic import AsyncStream

        response = await client.post(
            self.path,
            cast_to=httpx2.Response,
            content=body,
            options={"timeout": client.timeout},  # otherwise a header says that there is none
            stream=True,
            stream_cls=AsyncStream[Any],
        )
        # With this `cast_to`, the package returns the response it got, unread. Its types do not say so.
        return cast("httpx2.Response", response)


# OpenAI


class OpenAIService(ProviderService["AsyncOpenAI"]):
    """What both of OpenAI's APIs have in common: the client, and how a request is sent."""

    requirement = "partita[openai]"

    def _connect(self) -> "AsyncOpenAI":
        from openai import AsyncOpenAI, OpenAIError

        try:
            return AsyncOpenAI(
                api_key=self._api_key,
                base_url=self._base_url,
                default_headers=self._headers,
                timeout=self._timeout,
                max_retries=self._max_retries,
            )
        except OpenAIError as error:
            raise AgentError(str(error), hint="give api_key, or set OPENAI_API_KEY") from error

    async def _close(self, client: "AsyncOpenAI") -> None:
        await client.close()

    async def _send(self, client: "AsyncOpenAI", model: str, body: bytes) -> Response:
        import httpx2
        from openai import AsyncStream

        response = await client.post(
            self.path, cast_to=httpx2.Response, content=body, stream=True, stream_cls=AsyncStream[Any]
        )
        # With this `cast_to`, the package returns the response it got, unread. Its types do not say so.
        return cast("httpx2.Response", response)


class OpenAIResponsesService(OpenAIService):
    """A model behind OpenAI's Responses API, or behind a compatible server."""

    name = "openai"
    format_name = "openai-responses"
    path = "/responses"
    # Nothing is stored at OpenAI, so the response has to include its reasoning:
    # https://platform.openai.com/docs/guides/reasoning#encrypted-reasoning-items
    defaults: ClassVar[JsonObject] = {
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }
    inputs = ("input", "previous_response_id", "conversation", "prompt")


class OpenAIChatService(OpenAIService):
    """A model behind Chat Completions. `dialect` describes what the server accepts."""

    path = "/chat/completions"

    def __init__(
        self,
        model: str,
        *,
        dialect: Dialect | str = OPENAI,
        api_key: str | None = None,
        base_url: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT,
        max_retries: int = MAX_RETRIES,
        settings: JsonObject | None = None,
        client: "AsyncOpenAI | None" = None,
    ) -> None:
        super().__init__(
            model,
            api_key=api_key,
            base_url=base_url,
            headers=headers,
            timeout=timeout,
            max_retries=max_retries,
            settings=settings,
            client=client,
        )
        if isinstance(dialect, str):
            if dialect not in DIALECTS:
                raise AgentError(f"no dialect {dialect!r}", hint=f"there are {', '.join(sorted(DIALECTS))}")
            dialect = DIALECTS[dialect]
        self._dialect = dialect
        self.format_name = get_format(dialect.format_name).name
        self.name = self.format_name if dialect is OPENAI else dialect.name

    def _default_settings(self, model: str) -> JsonObject:
        defaults = super()._default_settings(model)
        if self._dialect.stream_options:
            defaults["stream_options"] = {"include_usage": True}
        return defaults

    def _dump(self, view: Sequence[Message], request: Request) -> Dumped:
        dump = get_format(self.format_name).dump
        assert dump is not None, "the format of an API writes requests"
        return dump(view, request, dialect=self._dialect)


# Google

UNSAFE: Final = ("..", "?", "&", "#")
"""What the name of a model must not contain, because it becomes part of a URL."""
FULL_NAMES: Final = ("models/", "tunedModels/", "publishers/", "projects/")


class GeminiService(ProviderService["Client"]):
    """A model behind `streamGenerateContent`, of the Gemini API or of Vertex AI."""

    name = "gemini"
    requirement = "partita[gemini]"
    format_name = "gemini"
    path = ":streamGenerateContent?alt=sse"
    defaults: ClassVar[JsonObject] = {}
    inputs = ()
    _http: "httpx2.AsyncClient | None" = None

    def build_request(
        self, view: Sequence[Message], model: str, tools: Sequence[ToolSpec], settings: JsonObject
    ) -> Dumped:
        """The body of a request. It does not name the model, which is part of the URL."""
        dumped = super().build_request(view, model, tools, settings)
        body = {name: value for name, value in dumped.payload.items() if name != "model"}
        return Dumped(body, lambda: dumped.losses)

    def _connect(self) -> "Client":
        import httpx2
        from google.genai import Client
        from google.genai.types import HttpOptions, HttpRetryOptions

        # Without an HTTP client of ours, the package would use aiohttp where that is installed.
        self._http = httpx2.AsyncClient(follow_redirects=True)
        options = HttpOptions(
            base_url=self._base_url,
            headers=self._headers,
            timeout=round(self._timeout * 1000),
            retry_options=HttpRetryOptions(attempts=self._max_retries + 1),
            httpx_async_client=self._http,
        )
        try:
            return Client(api_key=self._api_key, http_options=options)
        except ValueError as error:
            raise AgentError(str(error), hint="give api_key, or set GEMINI_API_KEY") from error

    async def _close(self, client: "Client") -> None:
        client.close()
        await client.aio.aclose()
        if self._http is not None:
            await self._http.aclose()

    async def _send(self, client: "Client", model: str, body: bytes) -> Response:
        # The package has no public access to the bytes of a stream. This is how it sends its own requests.
        api = client._api_client  # pyright: ignore[reportPrivateUsage]
        path = model_path(model, is_vertex=client.vertexai) + self.path
        request = api._build_request("post", path, {})  # pyright: ignore[reportPrivateUsage]
        request.data = body
        answered = await api._async_request(request, stream=True)  # pyright: ignore[reportPrivateUsage]
        response: Any = answered.response_stream
        if not hasattr(response, "aiter_bytes"):
            hint = "make it with HttpOptions(httpx_async_client=httpx2.AsyncClient())"
            raise AgentError("the client does not use httpx2", hint=hint)
        opened: Response = response
        return opened

    def _path(self, model: str) -> str:
        return f"/{model_path(model, is_vertex=False)}{self.path}"


def model_path(model: str, *, is_vertex: bool) -> str:
    """The path of a model, given by its full or its short name."""
    if not model or any(mark in model for mark in UNSAFE):
        raise AgentError(f"{model!r} is not the name of a model", hint="give one like gemini-2.5-flash")
    if model.startswith(FULL_NAMES):
        return model
    if not is_vertex:
        return f"models/{model}"
    publisher, slash, name = model.partition("/")
    return f"publishers/{publisher}/models/{name}" if slash else f"publishers/google/models/{model}"
