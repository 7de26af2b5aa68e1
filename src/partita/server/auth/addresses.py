"""Addresses: which are this machine's own, and whether a request began and ended there."""

import re
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Any, Final

from partita.server.plain import Scope

FORWARDED: Final = frozenset(
    (b"x-forwarded-for", b"x-real-ip", b"cf-connecting-ip", b"true-client-ip", b"forwarded")
)
"""Headers in which a proxy tells for whom it asks."""

FOR: Final = re.compile(r'(?:^|[;,\s])for="?(\[[^\]]*\]|[^";,\s]*)', re.IGNORECASE)
WITH_PORT: Final = re.compile(r"\[([^\]]+)\](?::\d+)?|([^:]+):\d+")


@lru_cache(maxsize=1024)
def is_loopback(host: str) -> bool:
    """Whether a host is this machine: `localhost`, or an address that leads back to it."""
    if host == "localhost":
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback


def is_local(scope: Scope) -> bool:
    """Whether a request came from this machine, over an address that only this machine can reach.

    A proxy on this machine asks for others: who they are it tells in a header, and they must be here too.
    """
    if not (_is_here(scope.get("server")) and _is_here(scope.get("client"))):
        return False
    return all(
        is_loopback(host)
        for name, value in scope["headers"]
        if name in FORWARDED
        for host in _hosts(name, value.decode("latin-1"))
    )


def _is_here(end: Any) -> bool:
    """Whether an end of a connection is at this machine. Of a Unix socket nobody knows who is behind it."""
    return bool(end) and is_loopback(str(end[0]))


def _hosts(name: bytes, value: str) -> Iterable[str]:
    found = FOR.findall(value) if name == b"forwarded" else value.split(",")
    for one in found or ("",):
        text = one.strip().strip('"')
        match = WITH_PORT.fullmatch(text)
        yield (match[1] or match[2]) if match else text


def client_of(scope: Scope) -> str:
    """The address that a request came from, as far as that is known."""
    client = scope.get("client")
    return str(client[0]) if client else ""
