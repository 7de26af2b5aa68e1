"""Models of Anthropic through the Messages API."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from partita.errors import AgentError, ConversionError
from partita.formats.format import Dumped, Request, ToolSpec
from partita.types.json import JsonObject
from partita.types.messages import Message

from .answering import Response
from .service import ProviderService

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

PATH: Final = "/v1/messages"
NO_KEY_HINT: Final = "give api_key, or set ANTHROPIC_API_KEY"


class AnthropicService(ProviderService["AsyncAnthropic"]):
    """A model behind Anthropic's Messages API, or a server that speaks it too."""

    name = "anthropic"
    extra = "anthropic"
    format_name = "anthropic"

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
            raise AgentError(str(error), hint=NO_KEY_HINT) from error
        sent = {name.lower() for name in self._headers}
        has_key = client.api_key or client.auth_token or client.credentials
        if not has_key and not sent & {"authorization", "x-api-key"}:
            raise AgentError("no key for Anthropic", hint=NO_KEY_HINT)
        return client

    async def _close(self, client: "AsyncAnthropic") -> None:
        await client.close()

    async def _send(self, client: "AsyncAnthropic", model: str, body: bytes) -> Response:
        import httpx2
        from anthropic import AsyncStream

        response = await client.post(
            PATH,
            cast_to=httpx2.Response,
            content=body,
            options={"timeout": client.timeout},  # else a header says that there is none
            stream=True,
            stream_cls=AsyncStream[Any],
        )
        # Asked for an httpx2.Response, the package hands out the one it got, unread; its types say otherwise.
        return cast("httpx2.Response", response)

    def _path(self, model: str) -> str:
        return PATH

    def _build(
        self, view: Sequence[Message], model: str, tools: Sequence[ToolSpec], settings: JsonObject
    ) -> Dumped:
        from partita.formats.anthropic.format import FORMAT

        assert FORMAT.dump is not None
        built: Dumped = FORMAT.dump(view, Request(tuple(tools), {"model": model, "stream": True, **settings}))
        if not built.payload["messages"]:
            raise ConversionError("no message to send", where="$", hint="give at least one that has content")
        return built
