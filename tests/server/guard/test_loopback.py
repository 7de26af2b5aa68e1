"""Without keys, only this machine is served."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Scope

from partita.errors import PartitaError
from partita.runtime.principal import LOCAL
from partita.server.app import asgi
from partita.server.guard.addresses import Proxies, is_loopback
from partita.server.guard.auth import LoopbackAuth
from tests.server.guard.requests import scope_of
from tests.tables import each_row

HERE = ["localhost", "127.0.0.1", "127.255.0.9", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"]
ELSEWHERE = [
    "",
    "0.0.0.0",
    "::",
    "10.0.0.1",
    "192.168.0.1",
    "169.254.169.254",
    "::ffff:10.0.0.1",
    "fe80::1",
    "localhost.evil.example",
    "127.1",
    "127.0.0.01",
    "/run/partita.sock",
    "testclient",
]


@each_row("host", HERE)
def test_addresses_of_this_machine_are_loopback(host: str) -> None:
    assert is_loopback(host)


@each_row("host", ELSEWHERE)
def test_other_addresses_are_not_loopback(host: str) -> None:
    assert not is_loopback(host)


@given(address=st.ip_addresses(network="127.0.0.0/8"))
def test_the_network_127_is_loopback(address: object) -> None:
    assert is_loopback(str(address))
    assert is_loopback(f"::ffff:{address}")


@given(address=st.ip_addresses(v=4).filter(lambda address: not str(address).startswith("127.")))
def test_all_other_networks_are_not_loopback(address: object) -> None:
    assert not is_loopback(str(address))
    assert not is_loopback(f"::ffff:{address}")


ENDS = {
    "both here": (("127.0.0.1", 80), ("127.0.0.1", 5), True),
    "both here, IPv6": (("::1", 80, 0, 0), ("::1", 5), True),
    "a client elsewhere": (("127.0.0.1", 80), ("10.0.0.2", 5), False),
    "at an address that others can reach": (("10.0.0.1", 80), ("127.0.0.1", 5), False),
    "a Unix socket": (("/run/partita.sock", None), None, False),
    "unknown": (None, None, False),
}


@each_row(("server", "client", "here"), ENDS.values(), ids=ENDS)
async def test_both_ends_of_a_connection_must_be_local(server: object, client: object, here: bool) -> None:
    scope = scope_of(server=server, client=client)
    assert await LoopbackAuth()(scope) == (LOCAL if here else None)


PROXIED = [
    ("x-forwarded-for", "127.0.0.1"),
    ("x-forwarded-for", "192.0.2.1"),
    ("x-forwarded-host", "chat.example"),  # a rewrite of Next.js sends this, and its own Host
    ("x-forwarded-host", "localhost:3000"),
    ("x-forwarded-proto", "https"),
    ("x-forwarded-port", "3000"),
    ("x-forwarded-server", "proxy"),
    ("forwarded", "for=127.0.0.1;proto=http"),
    ("forwarded", "by=127.0.0.1"),
    ("via", "1.1 proxy"),
    ("x-real-ip", "127.0.0.1"),
    ("x-client-ip", "127.0.0.1"),
    ("cf-connecting-ip", "192.0.2.1"),
    ("true-client-ip", "192.0.2.1"),
]


def request(*headers: tuple[str, str], client: str = "127.0.0.1") -> Scope:
    return scope_of(
        headers=[(name.encode(), value.encode()) for name, value in headers], client=(client, 5000)
    )


@each_row("header", PROXIED, ids=map(str, PROXIED))
async def test_a_forwarded_request_is_not_local(header: tuple[str, str]) -> None:
    """Its header about the client is not trusted: anyone can send it."""
    assert await LoopbackAuth()(request(header)) is None
    assert await LoopbackAuth()(request(("x-other", "192.0.2.1"))) == LOCAL


TRUSTED: dict[str, tuple[bool | list[str], str, str, bool]] = {
    "any proxy, here": (True, "127.0.0.1", "127.0.0.1", True),
    "any proxy, with a port": (True, "[::1]:4711", "::1", True),
    "any proxy, elsewhere": (True, "192.0.2.1", "192.0.2.1", False),
    "an address written by the client": (True, "127.0.0.1, 192.0.2.1", "192.0.2.1", False),
    "no address": (True, "", "", False),
    "this machine": (["127.0.0.1"], "127.0.0.1", "127.0.0.1", True),
    "a chain": (["127.0.0.0/8", "10.0.0.0/8"], "127.0.0.1, 192.0.2.1, 10.0.0.9", "192.0.2.1", False),
    "another network": (["10.0.0.0/8"], "127.0.0.1", "127.0.0.1", False),
}


@each_row(("trust", "value", "client", "here"), TRUSTED.values(), ids=TRUSTED)
def test_a_trusted_proxy_names_the_client(
    trust: bool | list[str], value: str, client: str, here: bool
) -> None:
    proxies, scope = Proxies(trust), request(("x-forwarded-for", value), ("x-forwarded-host", "a.example"))
    assert proxies.client_of(scope) == client
    assert proxies.is_local(scope) is here
    assert not proxies.is_local(request(("x-forwarded-host", "a.example"))), (
        "without an address of the client"
    )
    assert proxies.client_of(request(("x-forwarded-for", value), client="192.0.2.9")) == (
        client if trust is True else "192.0.2.9"
    )


def test_only_networks_can_be_configured_as_trusted() -> None:
    with pytest.raises(PartitaError, match="is not a network"):
        Proxies(["proxy.example"])


def test_a_text_is_not_a_list_of_networks() -> None:
    with pytest.raises(PartitaError, match="is not a network"):
        asgi(None, store="memory:", trust_proxy="127.0.0.1")
