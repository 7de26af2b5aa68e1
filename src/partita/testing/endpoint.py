"""An address that a vendor's package is pointed at, as if it were the provider's."""

import os
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Final, Self

from .loopback import HOST, Incoming, LoopbackServer, Outgoing
from .providers import Provider
from .replaying import refusal

NO_KEY: Final = "recorded"
"""The key to give where none is needed."""

PROXIES: Final = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")


class Endpoint:
    """A provider's API on this machine, open until it is closed."""

    def __init__(
        self,
        provider: Provider,
        answer: Callable[[Incoming], Outgoing],
        problem: Callable[[str], object],
        *,
        is_live: bool,
    ) -> None:
        """`problem` is told of what goes wrong in here; `is_live` if real keys are needed."""
        self._provider = provider
        self._answer = answer
        self._problem = problem
        self._is_live = is_live
        self._server = LoopbackServer(self._safe)

    @property
    def provider(self) -> str:
        """Whose API it is: `openai`, `anthropic` or `gemini`."""
        return self._provider.name

    @property
    def base_url(self) -> str:
        """What to give to the package as its base address."""
        return f"http://{HOST}:{self._server.port}{self._provider.base}"

    @property
    def api_key(self) -> str:
        """What to give as the key: a word where nobody looks at it, your own while recording."""
        own = (os.environ.get(name) for name in self._provider.keys)
        return (next(filter(None, own), NO_KEY)) if self._is_live else NO_KEY

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables that point the package here, for code that makes its own client."""
        told = dict.fromkeys(self._provider.addresses, self.base_url)
        if not self._is_live:
            told[self._provider.keys[0]] = NO_KEY
        if any(name in os.environ for name in PROXIES):
            told |= dict.fromkeys(("NO_PROXY", "no_proxy"), HOST)
        return told

    def close(self) -> None:
        """Take it away."""
        self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _safe(self, incoming: Incoming) -> Outgoing:
        try:
            return self._answer(incoming)
        except Exception as error:  # a thread has nobody to raise to: the test is told
            problem = f"{incoming.method} {incoming.path} could not be answered: {error!r}"
            self._problem(problem)
            return refusal(problem, status=500)
