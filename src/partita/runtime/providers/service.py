"""What all services have in common that ask a provider's API for one answer of a model."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final, Generic, TypeVar

from partita.errors import AgentError
from partita.formats.answers.model_view import View, model_view
from partita.formats.format import Dumped, ToolSpec
from partita.formats.losses import content_losses
from partita.runtime.requests import Asked
from partita.runtime.service import Options, Prompt
from partita.types.events import AgentStreamEvent
from partita.types.json import JsonObject, dumps
from partita.types.messages import Message, SystemMessage, UserMessage

from .answering import Response, answer
from .reading import Call

TIMEOUT: Final = 600.0
"""How many seconds may pass without a byte."""

MAX_RETRIES: Final = 2

Client = TypeVar("Client")


class ProviderService(ABC, Generic[Client]):
    """A model behind an API. Connections are kept for the next call; `aclose` closes them."""

    name: str
    extra: ClassVar[str]
    """What to install: the name of our extra."""
    format_name: str
    """How the answer is read."""
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
        """Without an `api_key` the vendor's package looks for one, as it does in the environment.

        `settings` are in the words of the API. A `client` of the vendor's package brings its own key,
        address, headers, time-out and retries, and is not closed with the service.
        """
        self.model = model
        self._api_key = api_key
        self._base_url = base_url
        self._headers = dict(headers or {})
        self._timeout = timeout
        self._max_retries = max_retries
        self._settings = settings or {}
        self._given = client
        self._own: Client | None = None

    def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: Options | None = None,
    ) -> AsyncGenerator[AgentStreamEvent]:
        """The events of one answer. An API knows no folder and no sessions: those are passed over."""
        chosen = options or Options()
        model = chosen.model or self.model
        view = model_view(_messages(prompt, chosen.instructions))
        request = self._build(view.messages, model, chosen.tools, {**self._settings, **chosen.settings})
        client, body = self._client(), dumps(request.payload)
        asked = Asked(self.format_name, self._path(model), request.payload)
        return answer(lambda: self._send(client, model, body), self._call(model, view, request), asked)

    async def aclose(self) -> None:
        """Close the connections that are kept."""
        client, self._own = self._own, None
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
        """The response to a request with exactly that body, as soon as it begins."""

    @abstractmethod
    def _path(self, model: str) -> str:
        """Where a request goes, behind the API's base address."""

    @abstractmethod
    def _build(
        self, view: Sequence[Message], model: str, tools: Sequence[ToolSpec], settings: JsonObject
    ) -> Dumped:
        """The body of a request."""

    def _client(self) -> Client:
        if self._given is not None:
            return self._given
        if self._own is None:
            try:
                self._own = self._connect()
            except ImportError as error:
                hint = f"pip install 'partita[{self.extra}]'"
                raise AgentError(f"{self.name} needs a package: {error}", hint=hint) from error
        return self._own

    def _call(self, model: str, view: View, request: Dumped) -> Call:
        facts: JsonObject = {"provider": self.name, "model": model}
        if view.repairs:
            facts["repairs"] = [str(repair) for repair in view.repairs]
        if losses := content_losses(request.losses):
            facts["losses"] = [str(loss) for loss in losses]
        return Call(self.name, self.format_name, facts)


def _messages(prompt: Prompt, instructions: str | None) -> list[Message]:
    asked: list[Message] = (
        [UserMessage(id="prompt", content=prompt)] if isinstance(prompt, str) else [*prompt]
    )
    if not asked:
        raise AgentError("nothing to ask", hint="give words, or a conversation whose last message asks")
    return [SystemMessage(id="instructions", content=instructions), *asked] if instructions else asked
