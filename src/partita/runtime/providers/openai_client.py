"""How services reach an API through OpenAI's package, whichever of its two APIs they speak."""

from typing import TYPE_CHECKING, Any, ClassVar, cast

from partita.errors import AgentError

from .answering import Response
from .service import ProviderService

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class OpenAIService(ProviderService["AsyncOpenAI"]):
    """What both APIs have in common: the client, and how a request is sent."""

    extra = "openai"
    path: ClassVar[str]

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

    def _path(self, model: str) -> str:
        return self.path

    async def _close(self, client: "AsyncOpenAI") -> None:
        await client.close()

    async def _send(self, client: "AsyncOpenAI", model: str, body: bytes) -> Response:
        import httpx2
        from openai import AsyncStream

        response = await client.post(
            self.path, cast_to=httpx2.Response, content=body, stream=True, stream_cls=AsyncStream[Any]
        )
        # Asked for an httpx2.Response, the package hands out the one it got, unread; its types say otherwise.
        return cast("httpx2.Response", response)
