"""The sockets on which a server listens: their addresses, and timeouts of the kernel for silent clients."""

import errno
import socket
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Final, NamedTuple

from partita.errors import PartitaError

USER_TIMEOUT_SECONDS: Final = 120
"""Seconds that sent bytes may stay unacknowledged, or a window full, before the kernel disconnects."""

MAX_UNSENT_BYTES: Final = 128 * 1024
"""Unsent bytes that the kernel buffers: more would be held for slow clients."""

KEEP_ALIVE_IDLE: Final = 60
"""Seconds of silence before the kernel checks whether the client still exists."""

BACKLOG: Final = 2048
ATTEMPTS: Final = 10
LOOPBACK: Final = ("127.0.0.1", "::1")


class BindError(PartitaError):
    """A server cannot listen on an address."""


class PortTakenError(BindError):
    """Another process listens on the port."""


class Address(NamedTuple):
    """An address to listen on."""

    family: socket.AddressFamily
    host: str

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return ip_address(self.host.partition("%")[0]).is_loopback


def addresses(host: str) -> list[Address]:
    """The addresses of a host. `localhost` and `127.0.0.1` mean both loopbacks: browsers use either."""
    if host in ("localhost", LOOPBACK[0]):
        return [Address(socket.AF_INET, LOOPBACK[0]), Address(socket.AF_INET6, LOOPBACK[1])]
    try:
        found = socket.getaddrinfo(host or None, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise BindError(
            f"no address for {host!r}: {error.strerror}", hint="use an address of this machine"
        ) from None
    return list(dict.fromkeys(Address(family, str(address[0])) for family, _, _, _, address in found))


def listen(found: list[Address], port: int) -> list[socket.socket]:
    """Sockets that listen on all of these addresses, on one port; port 0 is any that is free on each."""
    for _ in range(ATTEMPTS):
        try:
            return _listen(found, port)
        except PortTakenError:
            if port:
                raise
    raise PortTakenError("no port is free on all addresses", hint="choose one with --port")


def _listen(found: list[Address], port: int) -> list[socket.socket]:
    opened: list[socket.socket] = []
    try:
        for index, address in enumerate(found):
            one = _open(address, port or (port_of(opened[0]) if opened else 0), required=index == 0)
            opened += [one] if one else []
    except BaseException:
        for one in opened:
            one.close()
        raise
    return opened


def _open(address: Address, port: int, *, required: bool) -> socket.socket | None:
    """A socket; `None` if this machine has no such address and it is not required."""
    try:
        one = socket.socket(address.family, socket.SOCK_STREAM)
    except OSError:
        if required:
            raise
        return None
    try:
        for level, option, value in _options(address.family):
            one.setsockopt(level, option, value)
        one.bind((address.host, port))
        one.listen(BACKLOG)
    except OSError as error:
        one.close()
        if error.errno == errno.EADDRINUSE:
            raise PortTakenError(
                f"port {port} is taken",
                where=address.host,
                hint="choose another one with --port, or 0 for any free port",
            ) from None
        if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT) and not required:
            return None
        raise BindError(
            f"cannot listen: {error.strerror}", where=f"{address.host} port {port}", hint="try another --port"
        ) from None
    return one


def _options(family: socket.AddressFamily) -> Iterator[tuple[int, int, int]]:
    """Options that connections inherit from the listening socket."""
    yield socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
    yield socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1
    if family == socket.AF_INET6:
        yield socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1
    # Not every platform has these.
    tcp_options = {
        "TCP_USER_TIMEOUT": USER_TIMEOUT_SECONDS * 1000,
        "TCP_NOTSENT_LOWAT": MAX_UNSENT_BYTES,
        "TCP_KEEPIDLE": KEEP_ALIVE_IDLE,
        "TCP_KEEPINTVL": 15,
        "TCP_KEEPCNT": 4,
    }
    for name, value in tcp_options.items():
        option: int | None = getattr(socket, name, None)
        if option is not None:
            yield socket.IPPROTO_TCP, option, value


def port_of(one: socket.socket) -> int:
    """The port on which a socket listens."""
    port: int = one.getsockname()[1]
    return port


def url_of(one: socket.socket) -> str:
    """The URL of a socket, for a browser."""
    host = str(one.getsockname()[0])
    if ip_address(host.partition("%")[0]).is_unspecified:
        host = LOOPBACK[0] if one.family == socket.AF_INET else LOOPBACK[1]
    return f"http://[{host}]:{port_of(one)}" if ":" in host else f"http://{host}:{port_of(one)}"
