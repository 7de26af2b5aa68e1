"""Forwards requests to a provider, and writes them to a recording, without secrets."""

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

from .endpoint import Incoming, Outgoing, error_response
from .providers import KEYS, Provider, format_at, recorded_path
from .request_matcher import MatchRules, compare_request

TIMEOUT: Final = 600.0
DRAIN_TIMEOUT: Final = 30.0
"""How many seconds to wait for pending responses at the end of the test."""

READ_SIZE: Final = 64 * 1024
RECORDED_HEADERS: Final = ("content-type", "retry-after", "retry-after-ms")
"""Headers of a response that are recorded."""

CONNECTION_HEADERS: Final = frozenset(
    {"host", "content-length", "connection", "accept-encoding", "transfer-encoding", "keep-alive", "te"}
)
"""Headers that belong to one connection, not to the request."""

MIN_SECRET: Final = 8
"""Shorter values are not treated as keys: they may occur in ordinary text."""

KEY_HEADERS: Final = ("authorization", "x-api-key", "x-goog-api-key", "api-key")


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Return the redirect to the client, which decides whether to follow it."""
        return


class Forwarder:
    """Forwards requests to a provider, streams the responses back, and records both."""

    def __init__(self, provider: Provider, upstream: str) -> None:
        self._provider = provider
        self._upstream = upstream.rstrip("/")
        self._opener = build_opener(_NoRedirect)
        self._lock = Condition()
        self._pending = 0
        self._exchanges: dict[int, Exchange] = {}
        self._count = 0
        self.secrets: set[str] = set()
        """Keys that were sent, which must not be written to a file."""
        self.problems: list[str] = []

    @property
    def exchanges(self) -> list[Exchange]:
        """The requests and responses so far, in the order of the requests."""
        return [self._exchanges[number] for number in sorted(self._exchanges)]

    def __call__(self, incoming: Incoming) -> Outgoing:
        """The provider's response."""
        with self._lock:
            number, self._count = self._count, self._count + 1
            self._pending += 1
            self.secrets |= _secrets(incoming)
        address = self._upstream + incoming.path.removeprefix(self._provider.base)
        headers = {name: value for name, value in incoming.headers.items() if name not in CONNECTION_HEADERS}
        outbound = Outbound(
            address,
            data=incoming.body or None,
            headers={**headers, "accept-encoding": "identity"},
            method=incoming.method,
        )
        try:
            response = self._opener.open(outbound, timeout=TIMEOUT)
        except HTTPError as error:  # an error status is a response, too
            response = error
        except (OSError, HTTPException, ValueError) as error:
            self._done()
            return error_response(
                self._add_problem(f"cannot connect to {self._upstream}: {error}"), status=502
            )
        return self._record(number, incoming, response)

    def _record(self, number: int, incoming: Incoming, response: HTTPResponse | HTTPError) -> Outgoing:
        status = response.status or 0
        headers = {name.lower(): value for name, value in response.headers.items()}
        recorded: dict[str, str] = {name: headers[name] for name in RECORDED_HEADERS if name in headers}
        dropped = CONNECTION_HEADERS | {"date", "server"}
        passed = {name: value for name, value in headers.items() if name not in dropped}
        is_stream = headers.get("content-type", "").startswith(EVENT_STREAM)
        pieces = self._pieces(number, incoming, response, status, recorded)
        return Outgoing(status, passed, pieces, is_stream)

    def _pieces(
        self,
        number: int,
        incoming: Incoming,
        response: HTTPResponse | HTTPError,
        status: int,
        headers: Mapping[str, str],
    ) -> Generator[bytes, None, None]:
        body = bytearray()
        try:
            with response:
                try:
                    while piece := response.read1(READ_SIZE):
                        body += piece
                        yield piece
                finally:
                    body += response.read()  # also when the client disconnects early
                    self._keep(number, incoming, response_of(status, headers, bytes(body)))
        except (OSError, HTTPException) as error:
            self._add_problem(f"the response of {self._upstream} ended early: {error}")
        finally:
            self._done()

    def _keep(self, number: int, incoming: Incoming, response: RecordedResponse) -> None:
        path = recorded_path(self._provider, incoming.path)
        request = request_of(incoming.method, path, incoming.body)
        with self._lock:
            self._exchanges[number] = Exchange(format=format_at(path), request=request, response=response)

    def _done(self) -> None:
        with self._lock:
            self._pending -= 1
            self._lock.notify_all()

    def wait_for_responses(self) -> None:
        """Wait for responses that are still being received."""
        with self._lock:
            if not self._lock.wait_for(lambda: self._pending == 0, DRAIN_TIMEOUT):
                self.problems.append(
                    f"a response of {self._upstream} did not end within {DRAIN_TIMEOUT:.0f} seconds"
                )

    def _add_problem(self, problem: str) -> str:
        with self._lock:
            self.problems.append(problem)
        return problem


def _secrets(incoming: Incoming) -> set[str]:
    found: set[str] = set()
    for name in KEY_HEADERS:
        found.add(incoming.headers.get(name, "").rpartition(" ")[2])  # without `Bearer`
    found |= {value for name, value in parse_qsl(urlsplit(incoming.path).query) if name.lower() in KEYS}
    return {secret for secret in found if len(secret) >= MIN_SECRET}


MAX_LISTED: Final = 3
"""How many differences from the previous file are listed."""


class Source(Protocol):
    """Where the exchanges of a new recording come from."""

    @property
    def exchanges(self) -> list[Exchange]:
        """The requests and responses so far."""
        ...

    @property
    def problems(self) -> list[str]:
        """Errors so far."""
        ...

    def wait_for_responses(self) -> None:
        """Wait for responses that are still being received."""
        ...


class PendingRecording(NamedTuple):
    """A recording that is not written yet."""

    path: Path
    kind: OriginKind
    agent: str
    source: Source
    rules: MatchRules
    secrets: Callable[[], AbstractSet[str]]
    """Keys that were sent."""


def save_recording(pending: PendingRecording) -> str:
    """Write the file if it changed, and return a line about it."""
    path, exchanges = pending.path, pending.source.exchanges
    if not exchanges:
        return f"{path.name}: not written, because no request was made"
    if pending.rules.order == "any":
        exchanges = sorted(exchanges, key=lambda one: dumps(one.request))
    origin = origin_of(pending.kind, agent=pending.agent, model=_model(exchanges))
    redaction = Rules(custom=tuple(_custom_rules(pending.secrets())))
    cleaned = clean(Recording(origin=origin, exchanges=exchanges), redaction)
    before = _previous(path)
    if before is not None and same_exchanges(before.exchanges, cleaned.recording.exchanges):
        return f"{path.name}: unchanged"
    write_recording(path, cleaned.recording)
    hidden = sum(finding.times for finding in cleaned.findings)
    secrets = f"; {hidden} secrets removed" if hidden else ""
    return f"{path.name}: {_summary(before, cleaned.recording, pending.rules)}{secrets}"


def _custom_rules(secrets: AbstractSet[str]) -> Iterator[Custom]:
    """Redaction rules for secrets; a secret longer than a rule allows is split."""
    for secret in sorted(secrets):
        for start in range(0, len(secret), LONGEST):
            yield Custom(secret[start : start + LONGEST])


def _previous(path: Path) -> Recording | None:
    try:
        return read_recording(path) if path.exists() else None
    except PartitaError:  # an unreadable file is replaced
        return None


def _summary(before: Recording | None, now: Recording, rules: MatchRules) -> str:
    count = len(now.exchanges)
    requests = "1 request" if count == 1 else f"{count} requests"
    if before is None:
        return f"recorded, {requests}"
    if len(before.exchanges) != count:
        return f"recorded again, {requests}, before {len(before.exchanges)}"
    found = [
        f"\n  request {place}: {difference}"
        for place, (previous, one) in enumerate(zip(before.exchanges, now.exchanges, strict=True), 1)
        for difference in compare_request(previous, one.request or RecordedRequest(method="", path=""), rules)
    ]
    more = f"\n  … and {len(found) - MAX_LISTED} more" if len(found) > MAX_LISTED else ""
    same = ", the same requests, different responses" if not found else ""
    return f"recorded again, {requests}{same}{''.join(found[:MAX_LISTED])}{more}"


def _model(exchanges: Sequence[Exchange]) -> str | None:
    """The model of the first request."""
    request = exchanges[0].request
    if request is None:
        return None
    named = request.body.get("model") if request.body is not UNSET and is_object(request.body) else None
    if isinstance(named, str):
        return named
    _, found, rest = request.path.partition("/models/")
    return rest.partition(":")[0] if found else None
