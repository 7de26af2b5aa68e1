"""This machine, and nobody else."""

from hypothesis import given
from hypothesis import strategies as st

from partita.runtime.principal import LOCAL
from partita.server.auth.addresses import is_local, is_loopback
from partita.server.auth.loopback import Loopback
from tests.server.gate.asking import scope_of
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
def test_addresses_of_this_machine(host: str) -> None:
    assert is_loopback(host)


@each_row("host", ELSEWHERE)
def test_addresses_elsewhere(host: str) -> None:
    assert not is_loopback(host)


@given(address=st.ip_addresses(network="127.0.0.0/8"))
def test_a_whole_network_leads_back(address: object) -> None:
    assert is_loopback(str(address))
    assert is_loopback(f"::ffff:{address}")


@given(address=st.ip_addresses(v=4).filter(lambda address: not str(address).startswith("127.")))
def test_all_others_do_not(address: object) -> None:
    assert not is_loopback(str(address))
    assert not is_loopback(f"::ffff:{address}")


ENDS = {
    "both here": (("127.0.0.1", 80), ("127.0.0.1", 5), True),
    "both here, the new way": (("::1", 80, 0, 0), ("::1", 5), True),
    "asked from elsewhere": (("127.0.0.1", 80), ("10.0.0.2", 5), False),
    "asked for at an address others reach": (("10.0.0.1", 80), ("127.0.0.1", 5), False),
    "a Unix socket": (("/run/partita.sock", None), None, False),
    "not known": (None, None, False),
}


@each_row(("server", "client", "here"), ENDS.values(), ids=ENDS)
async def test_both_ends_are_here(server: object, client: object, here: bool) -> None:
    scope = scope_of(server=server, client=client)
    assert await Loopback()(scope) == (LOCAL if here else None)


FORWARDED: dict[tuple[str, str], bool] = {
    ("x-forwarded-for", "127.0.0.1"): True,
    ("x-forwarded-for", "::1, 127.0.0.1"): True,
    ("x-forwarded-for", "[::1]:4711"): True,
    ("x-forwarded-for", "127.0.0.1:4711"): True,
    ("x-forwarded-for", "192.0.2.1"): False,
    ("x-forwarded-for", "192.0.2.1, 127.0.0.1"): False,
    ("x-forwarded-for", "127.0.0.1, 192.0.2.1"): False,
    ("x-forwarded-for", "unknown"): False,
    ("x-forwarded-for", ""): False,
    ("x-real-ip", "192.0.2.1"): False,
    ("cf-connecting-ip", "192.0.2.1"): False,
    ("true-client-ip", "192.0.2.1"): False,
    ("forwarded", "for=127.0.0.1;proto=http"): True,
    ("forwarded", 'for="[::1]:80"'): True,
    ("forwarded", "for=127.0.0.1, for=192.0.2.1"): False,
    ("forwarded", "proto=http;For=192.0.2.1"): False,
    ("forwarded", "by=127.0.0.1"): False,
    ("x-other", "192.0.2.1"): True,
}


@each_row(("header", "here"), FORWARDED.items(), ids=map(str, FORWARDED))
def test_a_proxy_at_this_machine_asks_for_others(header: tuple[str, str], here: bool) -> None:
    name, value = header
    assert is_local(scope_of(headers=[(name.encode(), value.encode())])) is here
