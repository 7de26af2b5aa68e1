"""Models of Google through `streamGenerateContent`, of the Gemini API or of Vertex AI."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from partita.errors import AgentError
from partita.formats.format import Dumped, Request, ToolSpec
from partita.types.json import JsonObject
from partita.types.messages import Message

from .answering import Response
from .service import ProviderService

if TYPE_CHECKING:
    import httpx2
    from google.genai import Client

STREAMED: Final = ":streamGenerateContent?alt=sse"
_WHOLE_NAMES: Final = ("models/", "tunedModels/", "publishers/", "projects/")
_UNSAFE: Final = ("..", "?", "&", "#")  # in a model's name, which becomes part of an address


class GeminiService(ProviderService["Client"]):
    """A model behind Google's API."""

    name = "gemini"
    extra = "gemini"
    format_name = "gemini"
    _http: "httpx2.AsyncClient | None" = None

    def _connect(self) -> "Client":
        import httpx2
        from google.genai import Client
        from google.genai.types import HttpOptions, HttpRetryOptions

        # With an HTTP client of ours, the package does not turn to aiohttp when that happens to be there.
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
        # The package has no public way to the bytes of a stream; below it, this is how it asks itself.
        api = client._api_client  # pyright: ignore[reportPrivateUsage]
        path = model_path(model, is_vertex=client.vertexai) + STREAMED
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
        return f"/{model_path(model, is_vertex=False)}{STREAMED}"

    def _build(
        self, view: Sequence[Message], model: str, tools: Sequence[ToolSpec], settings: JsonObject
    ) -> Dumped:
        from partita.formats.gemini.format import FORMAT

        if not model or any(mark in model for mark in _UNSAFE):
            raise AgentError(f"no name of a model: {model!r}", hint="give one like gemini-2.5-flash")
        assert FORMAT.dump is not None
        request = FORMAT.dump(view, Request(tuple(tools), {"model": model, **settings}))
        body = {name: value for name, value in request.payload.items() if name != "model"}
        return Dumped(body, lambda: request.losses)  # the model is named in the address, not in the body


def model_path(model: str, *, is_vertex: bool) -> str:
    """Where a model is to be found, named whole or in short."""
    if model.startswith(_WHOLE_NAMES):
        return model
    if not is_vertex:
        return f"models/{model}"
    publisher, slash, name = model.partition("/")
    return f"publishers/{publisher}/models/{name}" if slash else f"publishers/google/models/{model}"
