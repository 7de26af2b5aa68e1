"""Spans of requests. A caller that traces is gone on with: `traceparent` is honoured."""

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from partita.server.plain import App, Event, Receive, Scope, Send

from .measuring import NOWHERE, Observed, observed_in
from .otel import tracer

if TYPE_CHECKING:  # an extra
    from opentelemetry.trace import Span, Tracer


class TracedRequests:
    """An application whose requests are spans, when somebody wants traces."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, in a span."""
        make = tracer() if scope["type"] == "http" else None
        if make is None:
            await self._app(scope, receive, send)
        else:
            await self._trace(make, scope, receive, send)

    async def _trace(self, make: "Tracer", scope: Scope, receive: Receive, send: Send) -> None:
        from opentelemetry.propagate import extract
        from opentelemetry.trace import SpanKind, use_span

        observed = observed_in(scope)
        carrier = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        span = make.start_span(
            observed.method,
            context=extract(carrier),
            kind=SpanKind.SERVER,
            attributes={
                "http.request.method": observed.method,
                "url.path": scope["path"],
                "url.scheme": scope.get("scheme", "http"),
            },
        )

        def noting(event: Event) -> Awaitable[None]:
            if event["type"] == "http.response.start":
                observed.status = event["status"]
            return send(event)

        try:
            with use_span(span, record_exception=False, set_status_on_exception=False):
                await self._app(scope, receive, noting)
        finally:
            _end(span, observed)


def _end(span: "Span", observed: Observed) -> None:
    from opentelemetry.trace import Status, StatusCode

    if observed.route != NOWHERE:
        span.update_name(f"{observed.method} {observed.route}")
        span.set_attribute("http.route", observed.route)
    if observed.status:
        span.set_attribute("http.response.status_code", observed.status)
    if observed.status >= 500:
        span.set_attribute("error.type", str(observed.status))
        span.set_status(Status(StatusCode.ERROR))
    span.end()
