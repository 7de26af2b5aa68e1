"""Host names of the server: other names that resolve to this machine are refused."""

import ipaddress
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import PartitaError
from partita.server.guard.addresses import is_loopback
from partita.server.guard.origins import Authority, parse_authority
from tests.server.guard.requests import Somebody, ask, client, guarded, scope_of
from tests.tables import each_row

AUTHORITIES: dict[bytes, Authority | None] = {
    b"localhost": Authority("localhost"),
    b"LocalHost:7272": Authority("localhost", 7272),
    b"localhost.": Authority("localhost"),
    b"localhost.:80": Authority("localhost", 80),
    b"localhost:": Authority("localhost"),
    b"127.0.0.1:1": Authority("127.0.0.1", 1),
    b"[::1]": Authority("::1"),
    b"[::1]:7272": Authority("::1", 7272),
    b"[0:0:0:0:0:0:0:1]": Authority("::1"),
    b"[::FFFF:127.0.0.1]": Authority(str(ipaddress.IPv6Address("::ffff:127.0.0.1"))),
    b"my_service:8000": Authority("my_service", 8000),
    b"": None,
    b".": None,
    b"localhost..": None,
    b"a..b": None,
    b":80": None,
    b"localhost:port": None,
    b"localhost:99999": None,
    b"localhost:1:2": None,
    b"::1": None,
    b"[::1": None,
    b"[::1]x": None,
    b"[fe80::1%25eth0]": None,
    b"[::zz]": None,
    b"user@localhost": None,
    b"localhost@evil.example": None,
    b"localhost#.evil.example": None,
    b"localhost/evil": None,
    b"localhost?x": None,
    b"localhost\\evil": None,
    b" localhost": None,
    b"localhost ": None,
    b"localhost\n": None,
    b"localhost,evil.example": None,
    b"localhost\x00": None,
    "löcalhost".encode(): None,
    b"a" * 300: None,
}


@each_row(("text", "found"), AUTHORITIES.items(), ids=map(repr, AUTHORITIES))
def test_a_host_header_is_parsed(text: bytes, found: Authority | None) -> None:
    assert parse_authority(text) == found


LABELS = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?", fullmatch=True)
PORTS = st.none() | st.integers(0, 65535)


@given(labels=st.lists(LABELS, min_size=1, max_size=4), port=PORTS, dot=st.booleans(), upper=st.booleans())
def test_spellings_of_a_name_are_equal(labels: list[str], port: int | None, dot: bool, upper: bool) -> None:
    name = ".".join(labels)
    text = (name.upper() if upper else name) + ("." if dot else "") + ("" if port is None else f":{port}")
    assert parse_authority(text.encode()) == Authority(name, port)


@given(address=st.ip_addresses(v=6), port=PORTS)
def test_spellings_of_an_address_are_equal(address: ipaddress.IPv6Address, port: int | None) -> None:
    for text in (address.compressed, address.exploded, address.exploded.upper()):
        whole = f"[{text}]" + ("" if port is None else f":{port}")
        assert parse_authority(whole.encode()) == Authority(str(address), port)


HERE = re.compile(rb"(localhost\.?|127(\.[0-9]+){3}\.?|\[[0-9a-f:.]+\])(:[0-9]*)?", re.IGNORECASE)


@given(text=st.binary(max_size=40) | st.text(alphabet="localhst127.:[]@%#/\\", max_size=20).map(str.encode))
def test_only_names_of_this_machine_are_local(text: bytes) -> None:
    found = parse_authority(text)
    if found is not None and is_loopback(found.host):
        assert HERE.fullmatch(text)


OPEN: dict[str, int] = {
    "localhost": 200,
    "localhost:7272": 200,
    "LOCALHOST.": 200,
    "127.0.0.1:9": 200,
    "127.8.9.1": 200,
    "[::1]:7272": 200,
    "evil.example": 403,
    "localhost.evil.example": 403,
    "evil-localhost": 403,
    "127.0.0.1.nip.io": 403,
    "127.1": 403,
    "2130706433": 403,
    "0.0.0.0:7272": 403,
    "[::]": 403,
    "192.168.1.5": 403,
    "testserver": 403,
    "localhost@evil.example": 400,
    "": 400,
}


@each_row(("host", "status"), OPEN.items(), ids=OPEN)
@each_row("method", ["GET", "POST"])
async def test_without_keys_only_names_of_this_machine_are_allowed(
    host: str, status: int, method: str
) -> None:
    guard, behind = guarded()
    answered = await ask(guard, scope_of(method, headers=[(b"host", host.encode())]))
    assert answered.status == status
    assert len(behind.seen) == (status == 200)
    if status != 200:
        assert answered.problem["where"] == "host"


NAMED: dict[str, int] = {
    "app.example": 200,
    "APP.example.:443": 200,
    "a.b.example.org": 200,
    "localhost": 200,
    "example.org": 403,
    "evilexample.org": 403,
    "other.example": 403,
    "xapp.example": 403,
}


@each_row(("host", "status"), NAMED.items(), ids=NAMED)
@each_row("open_", [True, False], ids=["open", "with keys"])
async def test_configured_names_are_allowed(host: str, status: int, open_: bool) -> None:
    guard, _ = guarded(None if open_ else Somebody(), hosts=("App.Example", "*.example.org"))
    assert (await ask(guard, scope_of(headers=[(b"host", host.encode())]))).status == status


async def test_with_keys_any_name_is_allowed() -> None:
    guard, _ = guarded(Somebody())
    assert (await ask(guard, scope_of(headers=[(b"host", b"anything.example")]))).status == 200
    assert (await ask(guard, scope_of(headers=[(b"host", b"a b")]))).status == 400


async def test_monitoring_may_use_the_address_of_the_server() -> None:
    guard, _ = guarded(Somebody(), hosts=("app.example",))
    assert (await ask(guard, scope_of(path="/healthz", headers=[(b"host", b"10.0.0.7:80")]))).status == 200
    assert (await ask(guard, scope_of(path="/api", headers=[(b"host", b"10.0.0.7:80")]))).status == 403


AMBIGUOUS = {
    "no host": scope_of(),
    "two hosts": scope_of(headers=[(b"host", b"localhost"), (b"host", b"evil.example")]),
    "the same host twice": scope_of(headers=[(b"host", b"localhost"), (b"host", b"localhost")]),
    "a full URL as the target": scope_of(path="http://evil.example/api", headers=[(b"host", b"localhost")]),
    "an asterisk as the target": scope_of("OPTIONS", "*", headers=[(b"host", b"localhost")]),
    "an authority as the target": scope_of("CONNECT", "evil.example:443", [(b"host", b"localhost")]),
}


@each_row("scope", AMBIGUOUS.values(), ids=AMBIGUOUS)
async def test_an_ambiguous_host_is_refused(scope: dict[str, object]) -> None:
    guard, behind = guarded()
    assert (await ask(guard, scope)).status == 400
    assert behind.seen == []


@each_row("host", ["", "app.example:80", "https://app.example", "*", "*.*.x", "a b", "*."])
def test_an_invalid_configured_name_is_refused_at_start(host: str) -> None:
    with pytest.raises(PartitaError) as caught:
        guarded(hosts=(host,))
    assert caught.value.where == "hosts"
    assert caught.value.hint


async def test_an_asterisk_allows_any_name_with_keys() -> None:
    guard, _ = guarded(Somebody(), hosts=("*",))
    async with client(guard, "http://whatever.example") as asking:
        assert (await asking.get("/api/threads")).status_code == 200
