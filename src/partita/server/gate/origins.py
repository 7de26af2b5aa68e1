"""Which pages may use the server: its own, and those of origins that were given (CORS)."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from partita.errors import PartitaError
from partita.server.problems import Problem

from .head import Head
from .hosts import Authority, parse_authority

ORIGIN: Final = re.compile(rb"([a-z][a-z0-9+.-]{0,31})://([^/?#@\s]{1,270})", re.IGNORECASE)
PORTS: Final = {"http": 80, "https": 443}
HEADER_NAMES: Final = re.compile(rb"[A-Za-z0-9!#$%&'*+.^_`|~, -]{0,2000}")
METHODS: Final = b"GET, HEAD, POST, PUT, PATCH, DELETE"
EXPOSED: Final = (
    b"x-partita-run-id, x-partita-thread-id, x-request-id, x-vercel-ai-ui-message-stream,"
    b" location, link, etag, retry-after, content-disposition"
)
"""Headers that pages of other origins may read, besides those that they always may."""

REMEMBERED: Final = b"600"
"""Seconds for which a browser need not ask again."""

Headers: TypeAlias = Sequence[tuple[bytes, bytes]]
VARY: Final = (b"vary", b"Origin")


class Origin(NamedTuple):
    """Where a page is from."""

    scheme: str
    authority: Authority

    @property
    def port(self) -> int | None:
        """The port, also when it is not told."""
        return self.authority.port or PORTS.get(self.scheme)


@lru_cache(maxsize=512)
def parse_origin(text: bytes) -> Origin | None:
    """What an `Origin` says; `None` for `null`, and for what is none."""
    match = ORIGIN.fullmatch(text)
    authority = parse_authority(match[2]) if match else None
    if match is None or authority is None:
        return None
    scheme = match[1].decode("ascii").lower()
    port = None if authority.port == PORTS.get(scheme) else authority.port
    return Origin(scheme, Authority(authority.host, port))


class Origins:
    """The origins that were given, and what is said to their pages."""

    def __init__(self, origins: Iterable[str], *, credentials: bool, is_open: bool) -> None:
        given = list(origins)
        self._any = "*" in given
        self._given = frozenset(_given(origin) for origin in given if origin != "*")
        self._credentials = credentials
        # What is said depends on who asks, unless the same is said to all.
        self._others: Headers = (VARY,) if self._given and not self._any else ()
        if self._any and credentials:
            raise PartitaError(
                "every page would get in with the cookies of whoever looks at it",
                where="origins",
                hint="name the origins, or leave credentials out",
            )
        if self._any and is_open:
            raise PartitaError(
                "without keys, every page could use this machine",
                where="origins",
                hint="name the origins, or use keys",
            )

    def check(self, head: Head, asked: Authority, *, is_page: bool = False) -> Headers:
        """The CORS headers of every answer to a request; an error for a page that may not send it.

        A browser that sends no `Origin` may still say that a page of another site wants something: an image,
        a script, a link. `is_page` is for what holds no data: a link of another site may lead there.
        """
        if head.origin is None:
            if head.fetch_site.strip().lower() == b"cross-site" and not (is_page and head.is_safe):
                raise _foreign("sec-fetch-site")
            return self._others
        origin = parse_origin(head.origin)
        if origin is not None and _is_same(origin, head, asked):
            return self._others
        if self._any:
            return ((b"access-control-allow-origin", b"*"), (b"access-control-expose-headers", EXPOSED))
        if origin is None or origin not in self._given:
            raise _foreign("origin")
        allowed = (
            (b"access-control-allow-origin", head.origin),
            (b"access-control-expose-headers", EXPOSED),
            VARY,
        )
        return (*allowed, (b"access-control-allow-credentials", b"true")) if self._credentials else allowed


def is_preflight(head: Head, headers: Headers) -> bool:
    """Whether a browser asks what a page of another origin may do."""
    return (
        head.method == "OPTIONS"
        and head.wanted_method is not None
        and any(name == b"access-control-allow-origin" for name, _ in headers)
    )


def preflight_headers(head: Head) -> Headers:
    """What a page of another origin may do: all that the one who asks may."""
    wanted = head.wanted_headers
    names = wanted if HEADER_NAMES.fullmatch(wanted) else b""
    return (
        (b"access-control-allow-methods", METHODS),
        (b"access-control-max-age", REMEMBERED),
        *(((b"access-control-allow-headers", names),) if names else ()),
    )


def _is_same(origin: Origin, head: Head, asked: Authority) -> bool:
    """Whether a page is from this server. In front of it may be a proxy that speaks https where we do not."""
    port = PORTS.get(origin.scheme)
    if port is None or (head.scheme == "https" and origin.scheme != "https"):
        return False
    return origin.authority.host == asked.host and origin.port == (asked.port or port)


def _foreign(where: str) -> Problem:
    return Problem(
        403,
        "the page that asks is from another site",
        where=where,
        hint="let it in by its origin: asgi(origins=['https://…']), partita serve --origin",
    )


def _given(text: str) -> Origin:
    origin = parse_origin(text.rstrip("/").encode("utf-8"))
    if origin is None:
        raise PartitaError(
            f"{text!r} is no origin", where="origins", hint="such as https://app.example: scheme, host, port"
        )
    return origin
