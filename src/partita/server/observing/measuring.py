"""Counting requests from outside: how many, how long, what they were answered, what was sent."""

from collections.abc import Awaitable
from time import perf_counter
from typing import Any, Final, cast

from litestar.types import ASGIApp
from litestar.types import Receive as LitestarReceive
from litestar.types import Scope as LitestarScope
from litestar.types import Send as LitestarSend

from partita.server.plain import App, Event, Receive, Scope, Send

from .metrics import Metrics

OBSERVED: Final = "partita.observed"
"""Where the scope of a request keeps what is seen of it."""

DIRECT: Final = "partita.direct"
"""Where the scope keeps the way out for the pieces of a stream: who stands between looks at its head."""

METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
NOWHERE: Final = "(none)"
"""The route of what never came to one."""

EVENT_STREAM: Final = b"text/event-stream"


class Observed:
    """What is seen of one request."""

    __slots__ = ("method", "route", "status", "streams")

    def __init__(self, method: str) -> None:
        self.method = method if method in METHODS else "other"
        self.route = NOWHERE
        self.status = 0
        self.streams = False


class Measured:
    """An application whose requests are counted. Put it around everything else."""

    def __init__(self, app: App, metrics: Metrics) -> None:
        self._app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and count."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        observed = observed_in(scope)
        began = perf_counter()
        counting = self._counting(observed, send)
        scope[DIRECT] = counting
        try:
            await self._app(scope, receive, counting)
        finally:
            scope.pop(DIRECT, None)  # it holds the request, which holds the scope: let go of both now
            self._count(observed, perf_counter() - began)

    def _counting(self, observed: Observed, send: Send) -> Send:
        metrics = self.metrics

        def counting(event: Event) -> Awaitable[None]:  # not async: a chunk pays for no coroutine of ours
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

    def _count(self, observed: Observed, seconds: float) -> None:
        metrics, route, method = self.metrics, observed.route, observed.method
        if observed.streams:
            metrics.open_streams -= 1
            metrics.stream_seconds.labels(route).observe(seconds)
        else:
            metrics.request_seconds.labels(route, method).observe(seconds)
        metrics.requests.labels(route, method, str(observed.status or "none")).inc()
        metrics.refused(observed.status)
        if route.endswith("/stream") and method == "GET" and observed.status in (200, 204):
            metrics.resumes.labels("live" if observed.streams else "idle").inc()


def observed_in(scope: Scope) -> Observed:
    """What is seen of a request, for all who look at it."""
    found = scope.get(OBSERVED)
    if not isinstance(found, Observed):
        found = scope[OBSERVED] = Observed(scope["method"])
    return found


def is_stream(headers: Any) -> bool:
    """Whether the headers of an answer announce events."""
    return any(name.lower() == b"content-type" and value.startswith(EVENT_STREAM) for name, value in headers)


def note_route(app: ASGIApp) -> ASGIApp:
    """A middleware inside the routes: what is seen of a request learns which one it came to."""

    async def noting(scope: LitestarScope, receive: LitestarReceive, send: LitestarSend) -> None:
        seen = cast("Scope", scope)
        observed: object = seen.get(OBSERVED)
        if isinstance(observed, Observed):
            observed.route = scope["path_template"]
        await app(scope, receive, send)

    return noting
