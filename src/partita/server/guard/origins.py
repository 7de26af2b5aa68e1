"""Host names of the server, and the origins whose pages may use it: its own, and configured ones (CORS)."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv6Address
from typing import Final, NamedTuple, TypeAlias

from partita.errors import PartitaError
from partita.server.guard.addresses import is_loopback
from partita.server.guard.head import Head
from partita.server.problems import Problem

# Host names
#
# An attacker can let the name of a site point to 127.0.0.1 (DNS rebinding). To a browser, its pages and this
# server then have the same origin; only the host name in the request shows that it is not for this server.

AUTHORITY: Final = re.compile(rb"(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9._-]{1,254}))(?::([0-9]{0,5}))?")
LAST_PORT: Final = 65535


class Authority(NamedTuple):
    """A host name or an address, and the port, if one is given."""

    host: str
    port: int | None = None


@lru_cache(maxsize=512)
def parse_authority(text: bytes) -> Authority | None:
    """The value of a header `Host`, in lower case and without a final dot; `None` if it is invalid."""
    match = AUTHORITY.fullmatch(text)
    if match is None:
        return None
    port = int(match[3]) if match[3] else None
    if port is not None and port > LAST_PORT:
        return None
    if match[1]:
        try:
            return Authority(str(IPv6Address(match[1].decode("ascii"))), port)
        except ValueError:
            return None
    host = match[2].decode("ascii").lower().removesuffix(".")
    if not all(host.split(".")):
        return None
    return Authority(host, port)


class Hosts:
    """The host names of the server: those of this machine, and configured ones."""

    def __init__(self, hosts: Iterable[str], *, is_open: bool) -> None:
        allowed = [_allowed_host(host, is_open=is_open) for host in hosts]
        self._any = "*" in allowed or not (allowed or is_open)
        self._names = frozenset(name for name in allowed if not name.startswith("*"))
        self._suffixes = tuple(name[1:] for name in allowed if name.startswith("*."))

    def check(self, text: bytes, *, any_name: bool = False) -> Authority:
        """The host of a request; an error if it is not a name of the server, unless any name is allowed."""
        authority = parse_authority(text)
        if authority is None:
            raise Problem(
                400,
                "the host is not a host name" if text else "the host is missing",
                where="host",
                hint="send the name of the server, as every client does",
            )
        host = authority.host
        if self._any or any_name or is_loopback(host) or host in self._names or host.endswith(self._suffixes):
            return authority
        raise Problem(
            403,
            "the server does not have this host name",
            where="host",
            hint="allow it: asgi(hosts=[…]), --allow-host",
        )


def _allowed_host(host: str, *, is_open: bool) -> str:
    """A host of the settings, normalized like those of requests."""
    if host == "*":
        if is_open:
            raise PartitaError(
                "without keys, any host name would let any page use the server",
                where="hosts",
                hint="name the hosts, or use keys",
            )
        return host
    prefix = "*." if host.startswith("*.") else ""
    authority = parse_authority(host.removeprefix(prefix).encode("utf-8"))
    if authority is None or authority.port is not None:
        raise PartitaError(
            f"{host!r} is not a host name",
            where="hosts",
            hint="such as app.example or *.example, without a port",
        )
    return prefix + authority.host


# Origins

ORIGIN: Final = re.compile(rb"([a-z][a-z0-9+.-]{0,31})://([^/?#@\s]{1,270})", re.IGNORECASE)
PORTS: Final = {"http": 80, "https": 443}
HEADER_NAMES: Final = re.compile(rb"[A-Za-z0-9!#$%&'*+.^_`|~, -]{0,2000}")
METHODS: Final = b"GET, HEAD, POST, PUT, PATCH, DELETE"
EXPOSED: Final = (
    b"x-partita-run-id, x-partita-thread-id, x-request-id, x-vercel-ai-ui-message-stream,"
    b" location, link, etag, retry-after, content-disposition"
)
"""Headers that pages of other origins may read, in addition to those that they always may."""

MAX_AGE: Final = b"600"
"""Seconds for which a browser caches the response to a preflight request."""

Headers: TypeAlias = Sequence[tuple[bytes, bytes]]
VARY: Final = (b"vary", b"Origin")


class Origin(NamedTuple):
    """The origin of a page."""

    scheme: str
    authority: Authority

    @property
    def port(self) -> int | None:
        """The port, or that of the scheme."""
        return self.authority.port or PORTS.get(self.scheme)


@lru_cache(maxsize=512)
def parse_origin(text: bytes) -> Origin | None:
    """The value of a header `Origin`; `None` if it is `null` or invalid."""
    match = ORIGIN.fullmatch(text)
    authority = parse_authority(match[2]) if match else None
    if match is None or authority is None:
        return None
    scheme = match[1].decode("ascii").lower()
    port = None if authority.port == PORTS.get(scheme) else authority.port
    return Origin(scheme, Authority(authority.host, port))


class Origins:
    """The allowed origins, and the CORS headers for their pages."""

    def __init__(self, origins: Iterable[str], *, credentials: bool, is_open: bool) -> None:
        allowed = list(origins)
        self._any = "*" in allowed
        self._allowed = frozenset(_allowed_origin(origin) for origin in allowed if origin != "*")
        self._credentials = credentials
        # Responses depend on the origin of a request, unless all origins get the same.
        self._same_origin: Headers = (VARY,) if self._allowed and not self._any else ()
        if self._any and credentials:
            raise PartitaError(
                "every page could use the server with the cookies of its visitors",
                where="origins",
                hint="name the origins, or leave credentials out",
            )
        if self._any and is_open:
            raise PartitaError(
                "without keys, every page could use this machine",
                where="origins",
                hint="name the origins, or use keys",
            )

    def check(self, head: Head, host: Authority, *, is_public: bool = False) -> Headers:
        """The CORS headers of every response to a request; an error if its page may not send it.

        A browser that sends no `Origin` may still report that the request is of a page of another site, for
        an image, a script or a link. `is_public` is for paths without data: other sites may link to them.
        """
        if head.origin is None:
            if head.fetch_site.strip().lower() == b"cross-site" and not (is_public and head.is_safe):
                raise _foreign("sec-fetch-site")
            return self._same_origin
        origin = parse_origin(head.origin)
        if origin is not None and _is_same(origin, head, host):
            return self._same_origin
        if self._any:
            return ((b"access-control-allow-origin", b"*"), (b"access-control-expose-headers", EXPOSED))
        if origin is None or origin not in self._allowed:
            raise _foreign("origin")
        headers = (
            (b"access-control-allow-origin", head.origin),
            (b"access-control-expose-headers", EXPOSED),
            VARY,
        )
        return (*headers, (b"access-control-allow-credentials", b"true")) if self._credentials else headers


def is_preflight(head: Head, headers: Headers) -> bool:
    """Whether a request is the preflight request of a page of another origin."""
    return (
        head.method == "OPTIONS"
        and head.requested_method is not None
        and any(name == b"access-control-allow-origin" for name, _ in headers)
    )


def preflight_headers(head: Head) -> Headers:
    """What a page of another origin may do: everything that the caller may do."""
    requested = head.requested_headers
    names = requested if HEADER_NAMES.fullmatch(requested) else b""
    return (
        (b"access-control-allow-methods", METHODS),
        (b"access-control-max-age", MAX_AGE),
        *(((b"access-control-allow-headers", names),) if names else ()),
    )


def _is_same(origin: Origin, head: Head, host: Authority) -> bool:
    """Whether a page is of this server. A proxy before it may use https while the server does not."""
    port = PORTS.get(origin.scheme)
    if port is None or (head.scheme == "https" and origin.scheme != "https"):
        return False
    return origin.authority.host == host.host and origin.port == (host.port or port)


def _foreign(where: str) -> Problem:
    return Problem(
        403,
        "the request is of a page of another site",
        where=where,
        hint="allow its origin: asgi(origins=['https://…']), partita serve --origin",
    )


def _allowed_origin(text: str) -> Origin:
    origin = parse_origin(text.rstrip("/").encode("utf-8"))
    if origin is None:
        raise PartitaError(
            f"{text!r} is not an origin",
            where="origins",
            hint="such as https://app.example: scheme, host, port",
        )
    return origin
