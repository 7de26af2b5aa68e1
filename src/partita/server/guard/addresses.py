"""Addresses: whether one is of this machine, the client of a request, and whether a proxy forwarded it."""

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, Final

from starlette.types import Scope

from partita.errors import PartitaError

FORWARDED_FOR: Final = b"x-forwarded-for"
FORWARDED: Final = b"x-forwarded"
"""The start of most headers that a proxy adds: `x-forwarded-for`, `-host`, `-proto`, `-port` …"""

PROXY_HEADERS: Final = frozenset(
    {
        b"forwarded",
        b"via",
        b"x-real-ip",
        b"x-client-ip",
        b"x-cluster-client-ip",
        b"x-original-forwarded-for",
        b"x-original-host",
        b"x-envoy-external-address",
        b"x-vercel-forwarded-for",
        b"x-appengine-user-ip",
        b"x-azure-clientip",
        b"true-client-ip",
        b"cf-connecting-ip",
        b"fly-client-ip",
        b"fastly-client-ip",
    }
)
"""Other headers that only proxies add."""


@lru_cache(maxsize=1024)
def is_loopback(host: str) -> bool:
    """Whether a host is this machine: `localhost`, or a loopback address."""
    if host == "localhost":
        return True
    address = _address(host)
    return address is not None and address.is_loopback


def came_through_proxy(scope: Scope) -> bool:
    """Whether a request has a header that only proxies add. A proxy that adds none cannot be detected."""
    return any(name.startswith(FORWARDED) or name in PROXY_HEADERS for name, _ in scope["headers"])


class Proxies:
    """The proxies whose `X-Forwarded-For` is trusted: none, any that connects, or those of some networks."""

    def __init__(self, trust: bool | Iterable[str] = False) -> None:
        self._any = trust is True
        self._networks = () if isinstance(trust, bool) else tuple(_network(text) for text in trust)

    def client_of(self, scope: Scope) -> str:
        """The address of the client that sent a request; empty if it is unknown.

        Proxies append the address of their peer to `X-Forwarded-For`. So the client is the last address in it
        that is not of a trusted proxy; the addresses before it were written by the client itself.
        """
        client = scope.get("client")
        address = str(client[0]) if client else ""
        hops = _hops(scope)
        if self._any:
            return hops[-1] if hops else address
        while hops and self._trusts(address):
            address = hops.pop()
        return address

    def is_local(self, scope: Scope) -> bool:
        """Whether a request came from this machine, to an address that only this machine can reach.

        For a request that a proxy forwarded, the proxy must be trusted and name a client on this machine.
        """
        if not _is_local(scope.get("server")) or not _is_local(scope.get("client")):
            return False
        if not came_through_proxy(scope):
            return True
        is_trusted = self._any or self._trusts(str(scope["client"][0]))
        return is_trusted and bool(_hops(scope)) and is_loopback(self.client_of(scope))

    def _trusts(self, host: str) -> bool:
        address = _address(host)
        return address is not None and any(address in network for network in self._networks)


def _is_local(end: Any) -> bool:
    """Whether an end of a connection is on this machine. Of a Unix socket, that is not known."""
    return bool(end) and is_loopback(str(end[0]))


def _hops(scope: Scope) -> list[str]:
    """The addresses in `X-Forwarded-For`, without ports, the nearest one last."""
    values = [value.decode("latin-1") for name, value in scope["headers"] if name == FORWARDED_FOR]
    return [_without_port(text.strip()) for value in values for text in value.split(",")]


def _without_port(text: str) -> str:
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text


@lru_cache(maxsize=1024)
def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        raise PartitaError(
            f"{text!r} is not a network",
            where="trust_proxy",
            hint="use True, or addresses and networks such as 10.0.0.0/8",
        ) from None
