"""Under which names the server may be asked for.

A page of a site whose name suddenly leads to 127.0.0.1 (DNS rebinding) asks this server as if it were the
site's own; all that tells is the name, which is then none of ours.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv6Address
from typing import Final, NamedTuple

from partita.errors import PartitaError
from partita.server.auth.addresses import is_loopback
from partita.server.problems import Problem

AUTHORITY: Final = re.compile(rb"(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9._-]{1,254}))(?::([0-9]{0,5}))?")
LAST_PORT: Final = 65535


class Authority(NamedTuple):
    """A name or an address, and a port if one is told."""

    host: str
    port: int | None = None


@lru_cache(maxsize=512)
def parse_authority(text: bytes) -> Authority | None:
    """What a `Host` names, in small letters and without a last dot; `None` if it names nothing."""
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
    """The names that are ours: those of this machine, and those that were given."""

    def __init__(self, hosts: Iterable[str], *, is_open: bool) -> None:
        given = [_given(host, is_open=is_open) for host in hosts]
        self._any = "*" in given or not (given or is_open)
        self._names = frozenset(name for name in given if not name.startswith("*"))
        self._endings = tuple(name[1:] for name in given if name.startswith("*."))

    def check(self, text: bytes, *, any_name: bool = False) -> Authority:
        """What a request asks for; an error when it is nothing of ours, unless any name will do."""
        authority = parse_authority(text)
        if authority is None:
            raise Problem(
                400,
                "the host is no name of a host" if text else "the host is missing",
                where="host",
                hint="send the name of the server, as every client does",
            )
        host = authority.host
        if self._any or any_name or is_loopback(host) or host in self._names or host.endswith(self._endings):
            return authority
        raise Problem(
            403,
            "the server does not go by this name",
            where="host",
            hint="name it: asgi(hosts=[…]), --allow-host",
        )


def _given(host: str, *, is_open: bool) -> str:
    """A host of the settings, as requests are compared with it."""
    if host == "*":
        if is_open:
            raise PartitaError(
                "without keys, any name would let any page in",
                where="hosts",
                hint="name the hosts, or use keys",
            )
        return host
    start = "*." if host.startswith("*.") else ""
    authority = parse_authority(host.removeprefix(start).encode("utf-8"))
    if authority is None or authority.port is not None:
        raise PartitaError(
            f"{host!r} is no name of a host",
            where="hosts",
            hint="such as app.example or *.example, with no port",
        )
    return start + authority.host
