"""Metrics of requests, streams and runs. `server/prometheus.py` writes them for Prometheus."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Awaitable
from functools import partial
from time import perf_counter
from typing import Any, Final, TypeAlias

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from partita.runtime.session.session import Session
from partita.server.responses import DIRECT
from partita.server.worker_pool import WorkerPool
from partita.store.store import Store
from partita.types.threads import Run

REQUEST_BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
STREAM_BOUNDS: Final = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)

REASONS: Final = {
    400: "invalid",
    401: "unknown caller",
    403: "not allowed",
    405: "method",
    408: "too slow",
    413: "too large",
    414: "target too long",
    415: "media type",
    421: "wrong host",
    429: "too many requests",
    431: "headers too large",
    503: "unavailable",
}
"""Why a request was refused, by the status of the response. Other statuses are not refusals."""


Labels: TypeAlias = tuple[str, ...]


class Durations:
    """A histogram of seconds."""

    __slots__ = ("bounds", "counts", "seconds")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        """How many durations were at most each bound, and above the bound before; last, those above all."""
        self.seconds = 0.0

    def observe(self, seconds: float) -> None:
        """Count a duration."""
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.seconds += seconds


class Metrics:
    """The numbers of one application. Labels are few and known: routes, names of agents, never an id."""

    def __init__(self) -> None:
        self.requests: Counter[Labels] = Counter()
        """By route, method and status."""
        self.request_seconds: dict[Labels, Durations] = defaultdict(partial(Durations, REQUEST_BOUNDS))
        """By route and method, without streams."""
        self.stream_seconds: dict[Labels, Durations] = defaultdict(partial(Durations, STREAM_BOUNDS))
        """By route."""
        self.refusals: Counter[Labels] = Counter()
        """By reason."""
        self.resumes: Counter[Labels] = Counter()
        """Clients that reconnected to a response: `live`, or `idle` when none was active."""
        self.runs_started: Counter[Labels] = Counter()
        """By agent."""
        self.runs_ended: Counter[Labels] = Counter()
        """By agent and status."""
        self.open_streams = 0
        self.events = 0
        """Server-sent events that were sent: chunks and keep-alive comments."""
        self.sent_bytes = 0
        self.log_lines_dropped = 0
        """Log lines that were left out because there were too many of their kind."""
        self.store: Store | None = None
        self.session: Session | None = None
        self.workers: WorkerPool | None = None

    def observe(self, store: Store, session: Session, workers: WorkerPool) -> None:
        """Include the numbers of a store, a session and worker processes."""
        self.store, self.session, self.workers = store, session, workers

    def drop_log_line(self) -> None:
        """Count a log line that was left out."""
        self.log_lines_dropped += 1

    def count_run(self, run: Run) -> None:
        """Count a run when it starts, and when it has ended."""
        agent = run.agent or ""
        if run.finished_at is None:
            self.runs_started[(agent,)] += 1
        else:
            self.runs_ended[agent, run.status] += 1

    def count_refusal(self, status: int) -> None:
        """Count a response if its status is that of a refusal."""
        if status in REASONS:
            self.refusals[(REASONS[status],)] += 1


OBSERVED: Final = "partita.observed"
"""The key of the scope with the `RequestObservation` of a request."""

METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
NO_ROUTE: Final = "(none)"
"""The route of a request that matched no route."""

EVENT_STREAM: Final = b"text/event-stream"


class RequestObservation:
    """The method, route and status of one request, and whether its response is a stream."""

    __slots__ = ("method", "route", "status", "streams")

    def __init__(self, method: str) -> None:
        self.method = method if method in METHODS else "other"
        self.route = NO_ROUTE
        self.status = 0
        self.streams = False


class MeasuredRequests:
    """An application whose requests are counted. It should wrap all other middleware."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle and count a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        observed = observation_of(scope)
        started = perf_counter()
        counting = self._counting(observed, send)
        scope[DIRECT] = counting
        try:
            await self._app(scope, receive, counting)
        finally:
            scope.pop(DIRECT, None)  # it refers to the scope: break the reference cycle
            self._count(observed, perf_counter() - started)

    def _counting(self, observed: RequestObservation, send: Send) -> Send:
        metrics = self.metrics

        def counting(event: Message) -> Awaitable[None]:  # not async, which saves a coroutine for each chunk
            if event["type"] == "http.response.body":
                body: bytes = event.get("body", b"")
                metrics.sent_bytes += len(body)
                if observed.streams:
                    metrics.events += body.count(b"\n\n")
            elif event["type"] == "http.response.start":
                observed.status = event["status"]
                if is_stream(event.get("headers", ())):
                    observed.streams = True
                    metrics.open_streams += 1
            return send(event)

        return counting

    def _count(self, observed: RequestObservation, seconds: float) -> None:
        metrics, route, method = self.metrics, observed.route, observed.method
        if observed.streams:
            metrics.open_streams -= 1
            metrics.stream_seconds[(route,)].observe(seconds)
        else:
            metrics.request_seconds[route, method].observe(seconds)
        metrics.requests[route, method, str(observed.status or "none")] += 1
        metrics.count_refusal(observed.status)
        if route.endswith("/stream") and method == "GET" and observed.status in (200, 204):
            metrics.resumes[("live" if observed.streams else "idle",)] += 1


def observation_of(scope: Scope) -> RequestObservation:
    """The observation of a request, shared by all middleware."""
    found = scope.get(OBSERVED)
    if not isinstance(found, RequestObservation):
        found = scope[OBSERVED] = RequestObservation(scope["method"])
    return found


def is_stream(headers: Any) -> bool:
    """Whether the headers of a response announce server-sent events."""
    return any(name.lower() == b"content-type" and value.startswith(EVENT_STREAM) for name, value in headers)


def note_route(scope: Scope, template: str) -> None:
    """Record the path, as a template, of the route that responds to a request."""
    observed: object = scope.get(OBSERVED)
    if isinstance(observed, RequestObservation):
        observed.route = template
