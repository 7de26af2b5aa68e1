"""Every request of the table, made; and answers made comparable."""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import httpx

from .cases import CASES, Ask, path_of
from .harbour import Harbour, Ids, Route, nobodys, routes_of

UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
MOMENT: Final = re.compile(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)|(?<="created":)\d+')
FOLLOWING_FROM_IDS: Final = ("content-length", "date")
METRICS: Final = "GET /metrics"
ABOUT_RUNS: Final = ("/runs", "/chat", "/ag-ui", "/feed")
"""Words in the paths of routes that start, stop, answer or follow runs."""


class Comparison(NamedTuple):
    """One request about something of alice's, and the same about nothing."""

    name: str
    route: Route
    ask: Ask
    hers: Ids
    nobodys: Ids
    number: int = 0
    """Which of her threads it is about."""
    threads: int = 1
    """About how many of them the request is made."""

    @property
    def thread_matters(self) -> bool:
        """Whether the answer depends on what the run of the thread does."""
        return any(word in self.route.path for word in ABOUT_RUNS)


def comparisons(place: Harbour) -> Iterator[Comparison]:
    """All there are: each request of each route, about each of her threads."""
    for route in routes_of(place.app):
        for number, ask in enumerate(asks_of(route)):
            varies = "{" in route.path or ask != ask.about(place.hers[0])
            threads = place.hers if varies and route.method != "OPTIONS" else place.hers[:1]
            for place_of, hers in enumerate(threads):
                name = f"{route} #{number} ({hers['thread']})"
                yield Comparison(name, route, ask, hers, nobodys(hers), place_of, len(threads))


def asks_of(route: Route) -> tuple[Ask, ...]:
    """What is asked of a route. The router itself responds to `OPTIONS`."""
    return CASES[str(route)] if route.method != "OPTIONS" else (Ask(),)


async def send(client: httpx.AsyncClient, route: Route, ask: Ask, ids: Ids) -> httpx.Response:
    """The answer to a request about some ids."""
    filled = ask.about(ids)
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


class Told(NamedTuple):
    """An answer without what differs from request to request anyway."""

    status: int
    headers: list[tuple[str, str]]
    body: str


def told(answer: httpx.Response, ids: Ids, who: str = "") -> Told:
    """An answer, its ids and times masked."""
    headers = [
        (name, masked(value, ids, who))
        for name, value in answer.headers.multi_items()
        if name not in FOLLOWING_FROM_IDS
    ]
    return Told(answer.status_code, sorted(headers), masked(answer.text, ids, who))


def masked(text: str, ids: Ids, who: str = "") -> str:
    """A text with names in the places of ids."""
    for name, value in sorted(ids.items(), key=lambda item: -len(item[1])):
        if len(value) > 2:
            text = text.replace(value, "<message>" if name == "question" else f"<{name}>")
    if who:
        text = text.replace(who, "<who>")
    return MOMENT.sub("<moment>", UUID.sub("<uuid>", text))
