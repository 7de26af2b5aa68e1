"""Models behind the HTTP API of a format: formats of other packages that declare where requests go."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from partita.errors import AgentError
from partita.formats.format import Dumped, Format, HttpApi, Request
from partita.types.json import JsonObject
from partita.types.messages import Message

from .response import retry_after
from .service import ProviderService, Response

if TYPE_CHECKING:
    import httpx2

RETRIED: Final = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
"""Statuses after which a request is retried, as the packages of vendors do."""
FIRST_DELAY: Final = 0.5
LONGEST_DELAY: Final = 8.0
"""Seconds before a retry, unless the response names another delay."""


class FormatService(ProviderService["httpx2.AsyncClient"]):
    """A model behind the API of a format."""

    requirement = "httpx2"
    inputs = ()

    def __init__(
        self, format_: Format, model: str, *, environment: Mapping[str, str] = os.environ, **arguments: Any
    ) -> None:
        """`arguments`: those of `ProviderService`. The key and the base URL may be in the environment."""
        api = _api_of(format_)
        variable = f"{format_.name.upper().replace('-', '_')}_BASE_URL"
        arguments.setdefault("base_url", environment.get(variable, api.base_url))
        arguments.setdefault("api_key", environment.get(api.key_variable) if api.key_variable else None)
        super().__init__(model, **arguments)
        self.name = self.format_name = format_.name
        self._format, self._api = format_, api
        if api.key_variable and not self._api_key and self._given_client is None:
            raise AgentError(f"no key for {format_.name}", hint=f"set {api.key_variable}, or give api_key")

    def _connect(self) -> "httpx2.AsyncClient":
        import httpx2

        headers = {
            name: value.replace("{key}", self._api_key or "")
            for name, value in self._api.headers.items()
            if self._api_key or "{key}" not in value
        }
        return httpx2.AsyncClient(
            base_url=self._base_url or self._api.base_url,
            headers={"content-type": "application/json", **headers, **self._headers},
            timeout=self._timeout,
        )

    async def _close(self, client: "httpx2.AsyncClient") -> None:
        await client.aclose()

    async def _send(self, client: "httpx2.AsyncClient", model: str, body: bytes) -> Response:
        import httpx2

        for attempt in range(self._max_retries + 1):
            is_last = attempt == self._max_retries
            delay = min(FIRST_DELAY * 2**attempt, LONGEST_DELAY)
            request = client.build_request("POST", self._path(model).lstrip("/"), content=body)
            try:
                response = await client.send(request, stream=True)
            except httpx2.TransportError:
                if is_last:
                    raise
            else:
                if is_last or response.status_code not in RETRIED:
                    return response
                asked = retry_after(response.headers, None)
                delay = min(asked, LONGEST_DELAY) if isinstance(asked, float) else delay
                await response.aclose()
            await asyncio.sleep(delay)
        raise AssertionError("unreachable")

    def _path(self, model: str) -> str:
        return self._api.path.replace("{model}", model)

    def _default_settings(self, model: str) -> JsonObject:
        named: JsonObject = {} if "{model}" in self._api.path else {"model": model}
        return {**named, **self._api.settings}

    def _dump(self, view: Sequence[Message], request: Request) -> Dumped:
        assert self._format.dump is not None, "checked by _api_of"
        return self._format.dump(view, replace(request, api=self.format_name))


def _api_of(format_: Format) -> HttpApi:
    """The API of a format that writes requests and reads streams."""
    if format_.http_api is None:
        raise AgentError(f"{format_.name} is a format without an API", hint="give the format an `http_api`")
    if format_.dump is None or not format_.takes_request or format_.decoder is None:
        hint = "give it a `dump` with `takes_request=True`, and a `decoder`"
        raise AgentError(f"{format_.name} has an API, but cannot write requests and read streams", hint=hint)
    return format_.http_api
