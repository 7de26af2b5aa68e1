"""A recording that was made, written to its file: without secrets, and only if it tells something new."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from threading import Condition
from typing import Any, Final, NamedTuple, Protocol
from urllib.error import HTTPError
from urllib.parse import parse_qsl, urlsplit
from urllib.request import HTTPRedirectHandler, build_opener
from urllib.request import Request as Outbound

from msgspec import UNSET

from partita.errors import PartitaError
from partita.formats.redaction.custom import LONGEST, Custom
from partita.formats.redaction.redactor import Rules
from partita.runtime.recordings.recording import (
    EVENT_STREAM,
    Exchange,
    OriginKind,
    RecordedRequest,
    RecordedResponse,
    Recording,
    origin_of,
    read_recording,
    request_of,
    response_of,
    same_exchanges,
    write_recording,
)
from partita.runtime.recordings.redaction import clean
from partita.types.json import dumps, is_object

from .endpoint import Incoming, Outgoing, refusal
from .matching import Terms, compare
from .providers import KEYS, Provider, format_at, kept_path

# The way to the real provider and back: the client gets every byte as it comes, and all of it is kept.

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

    def _keep(self, number: int, incoming: Incoming, response: RecordedResponse) -> None:
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


TOLD: Final = 3
"""How many differences to the file before are told."""


class Source(Protocol):
    """Where a recording comes from while it is made."""

    @property
    def exchanges(self) -> list[Exchange]:
        """What was asked and answered so far."""
        ...

    @property
    def problems(self) -> list[str]:
        """What went wrong."""
        ...

    def settle(self) -> None:
        """Wait for what is under way."""
        ...


class Making(NamedTuple):
    """A recording that is being made."""

    path: Path
    kind: OriginKind
    agent: str
    source: Source
    terms: Terms
    secrets: Callable[[], AbstractSet[str]]
    """Keys that were sent."""


def saved(making: Making) -> str:
    """Write the file, unless nothing has changed; a line that says so."""
    path, exchanges = making.path, making.source.exchanges
    if not exchanges:
        return f"{path.name}: nothing was asked, so nothing is written"
    if making.terms.order == "any":
        exchanges = sorted(exchanges, key=lambda one: dumps(one.request))
    origin = origin_of(making.kind, agent=making.agent, model=_model(exchanges))
    rules = Rules(custom=tuple(_custom(making.secrets())))
    cleaned = clean(Recording(origin=origin, exchanges=exchanges), rules)
    before = _before(path)
    if before is not None and same_exchanges(before.exchanges, cleaned.recording.exchanges):
        return f"{path.name}: unchanged"
    write_recording(path, cleaned.recording)
    hidden = sum(finding.times for finding in cleaned.findings)
    secrets = f"; {hidden} secrets taken out" if hidden else ""
    return f"{path.name}: {_told(before, cleaned.recording, making.terms)}{secrets}"


def _custom(secrets: AbstractSet[str]) -> Iterator[Custom]:
    """Secrets as they are looked for: a long one piece by piece."""
    for secret in sorted(secrets):
        for start in range(0, len(secret), LONGEST):
            yield Custom(secret[start : start + LONGEST])


def _before(path: Path) -> Recording | None:
    try:
        return read_recording(path) if path.exists() else None
    except PartitaError:  # what cannot be read is written anew
        return None


def _told(before: Recording | None, now: Recording, terms: Terms) -> str:
    count = len(now.exchanges)
    told = "1 request" if count == 1 else f"{count} requests"
    if before is None:
        return f"recorded, {told}"
    if len(before.exchanges) != count:
        return f"recorded anew, {told}, before {len(before.exchanges)}"
    found = [
        f"\n  request {place}: {difference}"
        for place, (was, one) in enumerate(zip(before.exchanges, now.exchanges, strict=True), 1)
        for difference in compare(was, one.request or RecordedRequest(method="", path=""), terms)
    ]
    more = f"\n  … and {len(found) - TOLD} more" if len(found) > TOLD else ""
    same = ", the same requests, other answers" if not found else ""
    return f"recorded anew, {told}{same}{''.join(found[:TOLD])}{more}"


def _model(exchanges: Sequence[Exchange]) -> str | None:
    """The model that was asked first."""
    request = exchanges[0].request
    if request is None:
        return None
    named = request.body.get("model") if request.body is not UNSET and is_object(request.body) else None
    if isinstance(named, str):
        return named
    _, found, rest = request.path.partition("/models/")
    return rest.partition(":")[0] if found else None
