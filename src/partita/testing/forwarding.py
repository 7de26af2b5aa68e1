"""The way to the real provider and back: the client gets every byte as it comes, and all of it is kept."""

from collections.abc import Generator, Mapping
from http.client import HTTPException, HTTPResponse
from threading import Condition
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import parse_qsl, urlsplit
from urllib.request import HTTPRedirectHandler, build_opener
from urllib.request import Request as Outbound

from partita.runtime.recordings.recording import EVENT_STREAM, Exchange, Response, request_of, response_of

from .endpoint import refusal
from .loopback import Incoming, Outgoing
from .providers import KEYS, Provider, format_at, kept_path

TIMEOUT: Final = 600.0
PATIENCE: Final = 30.0
"""How many seconds an answer may still take when the test is over."""

AT_ONCE: Final = 64 * 1024
KEPT: Final = ("content-type", "retry-after", "retry-after-ms")
"""Headers of an answer that a recording holds."""

OWN: Final = frozenset(
    {"host", "content-length", "connection", "accept-encoding", "transfer-encoding", "keep-alive", "te"}
)
"""Headers that belong to one connection, not to the request."""

SHORTEST: Final = 8
"""What is shorter is no key, but a word that may stand anywhere."""

SECRET: Final = ("authorization", "x-api-key", "x-goog-api-key", "api-key")


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """A redirect is an answer like others: the client decides."""
        return


class Forwarding:
    """Sends requests on to a provider and keeps what came back."""

    def __init__(self, provider: Provider, upstream: str) -> None:
        self._provider = provider
        self._upstream = upstream.rstrip("/")
        self._opener = build_opener(_NoRedirect)
        self._lock = Condition()
        self._under_way = 0
        self._exchanges: dict[int, Exchange] = {}
        self._asked = 0
        self.secrets: set[str] = set()
        """Keys that were sent, which must not be in a file."""
        self.problems: list[str] = []

    @property
    def exchanges(self) -> list[Exchange]:
        """What was asked and answered, in the order of asking."""
        return [self._exchanges[number] for number in sorted(self._exchanges)]

    def __call__(self, incoming: Incoming) -> Outgoing:
        """The provider's answer."""
        with self._lock:
            number, self._asked = self._asked, self._asked + 1
            self._under_way += 1
            self.secrets |= _secrets(incoming)
        address = self._upstream + incoming.path.removeprefix(self._provider.base)
        headers = {name: value for name, value in incoming.headers.items() if name not in OWN}
        outbound = Outbound(
            address,
            data=incoming.body or None,
            headers={**headers, "accept-encoding": "identity"},
            method=incoming.method,
        )
        try:
            response = self._opener.open(outbound, timeout=TIMEOUT)
        except HTTPError as error:  # an answer that says no is an answer
            response = error
        except (OSError, HTTPException, ValueError) as error:
            self._done()
            return refusal(self._problem(f"{self._upstream} could not be asked: {error}"), status=502)
        return self._answer(number, incoming, response)

    def _answer(self, number: int, incoming: Incoming, response: HTTPResponse | HTTPError) -> Outgoing:
        status = response.status or 0
        headers = {name.lower(): value for name, value in response.headers.items()}
        kept: dict[str, str] = {name: headers[name] for name in KEPT if name in headers}
        passed = {n: v for n, v in headers.items() if n not in OWN and n not in ("date", "server")}
        is_stream = headers.get("content-type", "").startswith(EVENT_STREAM)
        pieces = self._pieces(number, incoming, response, status, kept)
        return Outgoing(status, passed, pieces, is_stream)

    def _pieces(
        self,
        number: int,
        incoming: Incoming,
        response: HTTPResponse | HTTPError,
        status: int,
        kept: Mapping[str, str],
    ) -> Generator[bytes, None, None]:
        body = bytearray()
        try:
            with response:
                try:
                    while piece := response.read1(AT_ONCE):
                        body += piece
                        yield piece
                finally:
                    body += response.read()  # also when the client has heard enough
                    self._keep(number, incoming, response_of(status, kept, bytes(body)))
        except (OSError, HTTPException) as error:
            self._problem(f"the answer of {self._upstream} broke off: {error}")
        finally:
            self._done()

    def _keep(self, number: int, incoming: Incoming, response: Response) -> None:
        path = kept_path(self._provider, incoming.path)
        request = request_of(incoming.method, path, incoming.body)
        with self._lock:
            self._exchanges[number] = Exchange(format=format_at(path), request=request, response=response)

    def _done(self) -> None:
        with self._lock:
            self._under_way -= 1
            self._lock.notify_all()

    def settle(self) -> None:
        """Wait for answers that are still under way."""
        with self._lock:
            if not self._lock.wait_for(lambda: self._under_way == 0, PATIENCE):
                self.problems.append(f"an answer of {self._upstream} did not end in {PATIENCE:.0f} seconds")

    def _problem(self, problem: str) -> str:
        with self._lock:
            self.problems.append(problem)
        return problem


def _secrets(incoming: Incoming) -> set[str]:
    found: set[str] = set()
    for name in SECRET:
        found.add(incoming.headers.get(name, "").rpartition(" ")[2])  # without `Bearer`
    found |= {value for name, value in parse_qsl(urlsplit(incoming.path).query) if name.lower() in KEYS}
    return {secret for secret in found if len(secret) >= SHORTEST}
