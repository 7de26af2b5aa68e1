"""The sockets a server listens on: which addresses, whether they are of this machine alone, and for how long
a client may keep silent before the kernel lets go of it."""

import errno
import socket
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Final, NamedTuple

from partita.errors import PartitaError

UNREAD: Final = 120
"""Seconds that sent bytes may stay unacknowledged, or a full window closed, before the kernel hangs up."""

UNSENT: Final = 128 * 1024
"""Bytes that the kernel takes before it has sent those it has: more would wait here for slow clients."""

QUIET: Final = 60
"""Seconds without a word before the kernel asks whether the other end is still there."""

BACKLOG: Final = 2048
ATTEMPTS: Final = 10
LOOPBACK: Final = ("127.0.0.1", "::1")


class BindError(PartitaError):
    """A server cannot listen where it was told to."""


class PortTakenError(BindError):
    """Somebody else listens there."""


class Address(NamedTuple):
    """Where a server listens."""

    family: socket.AddressFamily
    host: str

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return ip_address(self.host.partition("%")[0]).is_loopback


def addresses(host: str) -> list[Address]:
    """The addresses of a host. `localhost` and `127.0.0.1` are both loopbacks: browsers choose either."""
    if host in ("localhost", LOOPBACK[0]):
        return [Address(socket.AF_INET, LOOPBACK[0]), Address(socket.AF_INET6, LOOPBACK[1])]
    try:
        found = socket.getaddrinfo(host or None, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise BindError(
            f"there is no address for {host!r}: {error.strerror}", hint="name an address of this machine"
        ) from None
    return list(dict.fromkeys(Address(family, str(where[0])) for family, _, _, _, where in found))


def listen(places: list[Address], port: int) -> list[socket.socket]:
    """Sockets that listen at all of these addresses, on one port; port 0 is any that is free at each."""
    for _ in range(ATTEMPTS):
        try:
            return _listen(places, port)
        except PortTakenError:
            if port:
                raise
    raise PortTakenError("no port is free at all addresses", hint="name one with --port")


def _listen(places: list[Address], port: int) -> list[socket.socket]:
    opened: list[socket.socket] = []
    try:
        for number, place in enumerate(places):
            one = _open(place, port or (port_of(opened[0]) if opened else 0), needed=number == 0)
            opened += [one] if one else []
    except BaseException:
        for one in opened:
            one.close()
        raise
    return opened


def _open(place: Address, port: int, *, needed: bool) -> socket.socket | None:
    """A socket; `None` when this machine has no such address and another one is listened at."""
    try:
        one = socket.socket(place.family, socket.SOCK_STREAM)
    except OSError:
        if needed:
            raise
        return None
    try:
        for level, option, value in _options(place.family):
            one.setsockopt(level, option, value)
        one.bind((place.host, port))
        one.listen(BACKLOG)
    except OSError as error:
        one.close()
        if error.errno == errno.EADDRINUSE:
            raise PortTakenError(
                f"port {port} is taken", where=place.host, hint="name another one with --port, or 0 for any"
            ) from None
        if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT) and not needed:
            return None
        raise BindError(
            f"cannot listen: {error.strerror}", where=f"{place.host} port {port}", hint="try another --port"
        ) from None
    return one


def _options(family: socket.AddressFamily) -> Iterator[tuple[int, int, int]]:
    """What the connections inherit from the socket they come in by."""
    yield socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
    yield socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1
    if family == socket.AF_INET6:
        yield socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1
    # Not every platform has these.
    wanted = {
        "TCP_USER_TIMEOUT": UNREAD * 1000,
        "TCP_NOTSENT_LOWAT": UNSENT,
        "TCP_KEEPIDLE": QUIET,
        "TCP_KEEPINTVL": 15,
        "TCP_KEEPCNT": 4,
    }
    for name, value in wanted.items():
        option: int | None = getattr(socket, name, None)
        if option is not None:
            yield socket.IPPROTO_TCP, option, value


def port_of(one: socket.socket) -> int:
    """The port that a socket listens on."""
    port: int = one.getsockname()[1]
    return port


def url_of(one: socket.socket) -> str:
    """The address of a socket, as a browser wants it."""
    host = str(one.getsockname()[0])
    if ip_address(host.partition("%")[0]).is_unspecified:
        host = LOOPBACK[0] if one.family == socket.AF_INET else LOOPBACK[1]
    return f"http://[{host}]:{port_of(one)}" if ":" in host else f"http://{host}:{port_of(one)}"
