"""Random requests: any path, query and body, similar enough to valid ones to reach the routes."""

from typing import Any, Final, NamedTuple
from urllib.parse import quote_from_bytes

from hypothesis import strategies as st

from partita.types.json import JsonObject, dumps, is_array, is_object

from .cases import CASES, IN_PATHS, Request
from .multi_tenant import Ids, Route

QUERIES: Final = (
    *("limit", "cursor", "order", "agent", "project", "text", "since", "until", "hasErrors", "metadata"),
    *("resourceId", "format", "bare", "before", "after", "around", "previous", "following", "roles", "types"),
    *("branch", "internal", "blobs", "q", "thread", "tool", "fields", "states", "hasError", "longerThan"),
    *("shorterThan", "by", "model", "zone", "status", "threadId", "timeout", "dryRun", "force", "speed"),
    *("longestPause", "version", "seq", "page", "perPage", "orderBy", "filter", "include", "sortDirection"),
    *("uiFormat", "includeSystemReminders", "searchQuery", "shape", "name", "filter[dateRange][start]"),
    *("include[0][id]", "orderBy[field]", "nonsense"),
)
HEADERS: Final = (
    *("last-event-id", "x-ai-sdk-version", "accept", "range", "if-none-match", "if-range", "content-type"),
)

TRAPS: Final = (
    *(
        b"",
        b"\x00",
        b"a\x00b",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b"\xee\x80\x80",
        b"a/b",
        b"/",
        b"..",
        b".",
        b"%",
    ),
    *(b"%2F", b"null", b"true", b"-1", b"1e400", b"9" * 30, b"NaN", b"inf", b"[]", b"{}", b"[" * 500, b"'\""),
    *(b"a" * 3000, b"\r\nx: y", b"2026-13-45", b"0001-01-01T00:00:00+14:00", b"9999-12-31T23:59:59-14:00"),
    *(b"blob:sha256:" + b"0" * 64, b"../../etc/passwd", b"*", b'"', b"-", b"raw", b"\xd9\xa3", b"1 day"),
)

NAMES: Final = ("thread", "question", "message", "answer", "run", "other", "digest", "approval", "call")
MARKS: Final[Ids] = {name: f"@{name}@" for name in NAMES}
"""Placeholders for ids."""

texts: Final[st.SearchStrategy[bytes]] = st.one_of(st.sampled_from(TRAPS), st.binary(max_size=40))
"""Values in a path or a query: any bytes."""

scalars: Final[st.SearchStrategy[Any]] = st.one_of(
    st.sampled_from([None, True, False, 0, -1, 2**31, 2**53, 2**63, 2**64, 10**300, 1e308, -0.0]),
    st.sampled_from(["", "x", "\x00", "\ud800", "\udfff\ud800", "text", "assistant", "0001-01-01T00:00:00Z"]),
    st.text(max_size=20),
)
values: Final[st.SearchStrategy[Any]] = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["", "id", "type", "role", "parts", "content", "a"]), inner, max_size=3
        ),
    ),
    max_leaves=6,
)
"""Arbitrary JSON."""


class Garbage(NamedTuple):
    """A request with placeholders for ids such as `@thread@`."""

    route: Route
    target: str
    headers: dict[str, str]
    body: bytes | None

    def about(self, ids: Ids) -> "Garbage":
        """The request with ids instead of placeholders."""
        target, body = self.target, self.body
        for name, value in ids.items():
            target = target.replace(f"@{name}@", value)
            body = None if body is None else body.replace(f"@{name}@".encode(), value.encode())
        return self._replace(target=target, body=body)


@st.composite
def requests(draw: st.DrawFn, route: Route) -> Garbage:
    """A request to a route with random changes."""
    request = draw(st.sampled_from(CASES[str(route)])).about(MARKS)
    query = [(name.encode(), value.encode()) for name, value in request.query.items()]
    query += draw(st.lists(st.tuples(st.sampled_from(QUERIES).map(str.encode), texts), max_size=3))
    target = _path(draw, route.path)
    if query:
        target += "?" + "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in query)
    headers = dict(request.headers)
    if draw(st.integers(0, 3)) == 0:
        headers[draw(st.sampled_from(HEADERS))] = _header(draw(texts))
    return Garbage(route, target, headers, _body(draw, request, headers))


def _path(draw: st.DrawFn, template: str) -> str:
    for name, placeholder in IN_PATHS.items():
        if name in template:
            own = MARKS.get(placeholder.strip("<>"), placeholder).encode()
            template = template.replace(name, _quoted(draw(st.one_of(st.just(own), texts)) or own))
    return template


def _quoted(value: bytes) -> str:
    return quote_from_bytes(value, safe="@").replace(".", "%2E")


def _header(value: bytes) -> str:
    return value.decode("latin-1").translate(dict.fromkeys((*range(32), 127), " "))


def _body(draw: st.DrawFn, request: Request, headers: dict[str, str]) -> bytes | None:
    if request.body is not None:
        return draw(st.binary(max_size=200))
    if request.json is None and draw(st.integers(0, 4)):
        return None
    headers.setdefault("content-type", "application/json")
    body = dumps(_garbled(draw, request.json) if request.json is not None else draw(values))
    return draw(st.sampled_from([body, body, body, body, body, body[:-1], b"\xff" + body, b"", b"NaN"]))


def _garbled(draw: st.DrawFn, value: Any) -> Any:
    """A value with some members replaced."""
    if draw(st.integers(0, 9)) == 0:
        return draw(values)
    if is_object(value):
        found: JsonObject = {
            name: _garbled(draw, one) for name, one in value.items() if draw(st.integers(0, 19)) > 0
        }
        return found
    if is_array(value):
        return [_garbled(draw, one) for one in value]
    return value
