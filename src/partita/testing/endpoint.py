"""A recording as the API of its provider: an address that a vendor's package is pointed at.

A recorded request gets the recorded response.
"""

import os
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from types import TracebackType
from typing import Final, Self

from partita.runtime.recordings.recording import Exchange, request_of
from partita.types.json import dumps

from .loopback import HOST, Incoming, LoopbackServer, Outgoing
from .matching import Matching, Terms, compare
from .providers import Provider, kept_path

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


REFUSED: Final = 400
"""A status that no package tries again."""

WAITS: Final = ("retry-after", "retry-after-ms")
AT_ONCE: Final = {"retry-after-ms": "1"}


class Replaying:
    """Answers requests from a recording."""

    def __init__(self, provider: Provider, matching: Matching, terms: Terms, pause: float) -> None:
        self._provider = provider
        self._matching = matching
        self._terms = terms
        self._pause = pause

    def __call__(self, incoming: Incoming) -> Outgoing:
        """The recorded answer, or a refusal that says what differs."""
        path = kept_path(self._provider, incoming.path)
        made = request_of(incoming.method, path, incoming.body)
        found = self._matching.take(lambda exchange: compare(exchange, made, self._terms))
        return refusal(found) if isinstance(found, str) else self._answer(found)

    def _answer(self, exchange: Exchange) -> Outgoing:
        response = exchange.response
        if response is None:  # it never got one
            return refusal(f"no answer was recorded: {(exchange.end or {}).get('message')}", status=504)
        headers = dict(response.headers)
        if any(headers.pop(name, None) is not None for name in WAITS):
            headers |= AT_ONCE  # so that a test does not wait for the usual time
        is_stream = response.stream is not None
        return Outgoing(response.status, headers, self._paced(response.pieces), is_stream)

    def _paced(self, pieces: Iterable[bytes]) -> Generator[bytes, None, None]:
        for place, piece in enumerate(pieces):
            if place and self._pause:
                time.sleep(self._pause)
            yield piece


def refusal(problem: str, status: int = REFUSED) -> Outgoing:
    """An error that every vendor's package can read and shows."""
    error = {"type": "partita_recording", "message": problem, "code": status, "status": "FAILED_PRECONDITION"}
    body = dumps({"type": "error", "error": error})
    headers = {"content-type": "application/json", "x-should-retry": "false"}
    return Outgoing(status, headers, (piece for piece in [body]), is_stream=False)
