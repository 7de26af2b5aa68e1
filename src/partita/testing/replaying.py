"""A recording as the answers of an API: the recorded request gets the recorded answer."""

import time
from collections.abc import Generator, Iterable
from typing import Final

from partita.runtime.recordings.recording import Exchange, request_of
from partita.types.json import dumps

from .loopback import Incoming, Outgoing
from .matching import Matching, Terms, compare
from .providers import Provider, kept_path

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
            headers |= AT_ONCE  # a test does not wait as long as it was told to then
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
