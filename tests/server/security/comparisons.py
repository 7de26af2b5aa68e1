"""Sends the requests of the table of cases, and makes responses comparable."""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import httpx

from .cases import CASES, Request, path_of
from .multi_tenant import Ids, MultiTenantServer, Route, routes_of, unknown_ids

UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
MOMENT: Final = re.compile(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)|(?<="created":)\d+')
FOLLOWING_FROM_IDS: Final = ("content-length", "date")
METRICS: Final = "GET /metrics"
ABOUT_RUNS: Final = ("/runs", "/chat", "/ag-ui", "/feed")
"""Words in the paths of routes that start, stop, answer or follow runs."""


class Comparison(NamedTuple):
    """A request about data of alice, and the same request about data that does not exist."""

    name: str
    route: Route
    request: Request
    alice_ids: Ids
    unknown_ids: Ids
    number: int = 0
    """The index of her thread."""
    threads: int = 1
    """The number of her threads for which the request is sent."""

    @property
    def thread_matters(self) -> bool:
        """Whether the response depends on the run of the thread."""
        return any(word in self.route.path for word in ABOUT_RUNS)


def comparisons(server: MultiTenantServer) -> Iterator[Comparison]:
    """All comparisons: each request of each route, for each of her threads."""
    for route in routes_of(server.app):
        for number, request in enumerate(cases_of(route)):
            varies = "{" in route.path or request != request.about(server.alice_ids[0])
            threads = server.alice_ids if varies and route.method != "OPTIONS" else server.alice_ids[:1]
            for thread_index, alice_ids in enumerate(threads):
                name = f"{route} #{number} ({alice_ids['thread']})"
                yield Comparison(
                    name, route, request, alice_ids, unknown_ids(alice_ids), thread_index, len(threads)
                )


def cases_of(route: Route) -> tuple[Request, ...]:
    """The requests of a route. The router itself responds to `OPTIONS`."""
    return CASES[str(route)] if route.method != "OPTIONS" else (Request(),)


async def send(client: httpx.AsyncClient, route: Route, request: Request, ids: Ids) -> httpx.Response:
    """The response to a request with these ids."""
    filled = request.about(ids)
    body: dict[str, Any] = {} if filled.json is None else {"json": filled.json}
    if filled.body is not None:
        body = {"content": filled.body}
    return await client.request(
        route.method,
        path_of(route.path, ids),
        params=dict(filled.query),
        headers=dict(filled.headers),
        **body,
    )


class MaskedResponse(NamedTuple):
    """A response without the values that differ between requests."""

    status: int
    headers: list[tuple[str, str]]
    body: str


def masked_response(response: httpx.Response, ids: Ids, who: str = "") -> MaskedResponse:
    """A response with masked ids and times."""
    headers = [
        (name, masked(value, ids, who))
        for name, value in response.headers.multi_items()
        if name not in FOLLOWING_FROM_IDS
    ]
    return MaskedResponse(response.status_code, sorted(headers), masked(response.text, ids, who))


def masked(text: str, ids: Ids, who: str = "") -> str:
    """A text in which ids are replaced by names."""
    for name, value in sorted(ids.items(), key=lambda item: -len(item[1])):
        if len(value) > 2:
            text = text.replace(value, "<message>" if name == "question" else f"<{name}>")
    if who:
        text = text.replace(who, "<who>")
    return MOMENT.sub("<moment>", UUID.sub("<uuid>", text))
