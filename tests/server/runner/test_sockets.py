"""Addresses to listen on, and options of sockets."""

import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from partita.server.sockets import (
    USER_TIMEOUT_SECONDS,
    Address,
    BindError,
    PortTakenError,
    addresses,
    listen,
    port_of,
    url_of,
)
from tests.tables import each_row

V4 = Address(socket.AF_INET, "127.0.0.1")
V6 = Address(socket.AF_INET6, "::1")

LOCAL = {
    "127.0.0.1": True,
    "localhost": True,
    "::1": True,
    "127.1.2.3": True,
    "0.0.0.0": False,
    "::": False,
    "": False,
    "192.0.2.1": False,
}


@each_row(("host", "local"), LOCAL.items(), ids=repr)
def test_loopback_addresses_are_local(host: str, local: bool) -> None:
    assert all(place.is_local for place in addresses(host)) == local


def test_an_unknown_host_is_an_error() -> None:
    with pytest.raises(BindError, match=r"no-such-host\.invalid"):
        addresses("no-such-host.invalid")


@contextmanager
def listening(places: list[Address], port: int = 0) -> Generator[list[socket.socket]]:
    sockets = listen(places, port)
    yield sockets
    for one in sockets:
        one.close()


def test_both_loopback_addresses_have_the_same_port() -> None:
    with listening([V4, V6]) as sockets:
        assert len({port_of(one) for one in sockets}) == 1
        assert url_of(sockets[0]) == f"http://127.0.0.1:{port_of(sockets[0])}"


def test_a_port_in_use_is_an_error() -> None:
    with listening([V4]) as sockets, pytest.raises(PortTakenError) as caught:
        listen([V4], port_of(sockets[0]))
    assert "is taken" in caught.value.what
    assert "--port" in caught.value.hint


def test_sockets_are_closed_when_one_address_fails() -> None:
    if not socket.has_ipv6:
        pytest.skip("IPv6 is not available")
    with listening([V6]) as sockets:
        port = port_of(sockets[0])
        with pytest.raises(PortTakenError):
            listen([V4, V6], port)
        listen([V4], port)[0].close()  # so the first socket was closed


def test_an_address_of_another_machine_is_an_error() -> None:
    with pytest.raises(BindError, match="cannot listen"):
        listen([Address(socket.AF_INET, "192.0.2.1")], 0)


@pytest.mark.skipif(sys.platform != "linux", reason="options of Linux")
def test_connections_inherit_the_timeout_for_clients_that_never_read() -> None:
    with (
        listening([V4]) as (one,),
        socket.create_connection(("127.0.0.1", port_of(one))),
    ):
        accepted, _ = one.accept()
        with accepted:
            timeout = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
            alive = accepted.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    assert (timeout, alive) == (USER_TIMEOUT_SECONDS * 1000, 1)
