"""Rate limits of callers."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.runtime.principal import Principal
from partita.server.guard import rates
from partita.server.guard.rates import Rates, counted_address
from partita.server.problems import Problem
from partita.server.settings import Limits
from partita.store.connection import open_store
from tests.server.guard.requests import Somebody, client, guarded
from tests.store.empty_store import empty_store
from tests.tables import each_row


class Clock:
    """A clock that the test sets."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def take(counted: Rates, caller: str) -> None:
    asyncio.run(counted.take(caller))


def passes(counted: Rates, caller: str) -> bool:
    try:
        take(counted, caller)
    except Problem:
        return False
    return True


def test_the_limit_is_restored_within_a_minute() -> None:
    clock = Clock()
    counted = Rates(60, clock=clock)
    assert [passes(counted, "ada") for _ in range(61)] == [True] * 60 + [False]
    with pytest.raises(Problem) as caught:
        take(counted, "ada")
    assert (caught.value.status, caught.value.headers) == (429, {"retry-after": "1"})
    assert passes(counted, "bob")
    clock.now += 1
    assert [passes(counted, "ada") for _ in range(2)] == [True, False]
    clock.now += 3600
    assert sum(passes(counted, "ada") for _ in range(100)) == 60


def test_a_request_after_the_retry_time_is_allowed() -> None:
    clock = Clock()
    counted = Rates(7, clock=clock)
    while passes(counted, "ada"):
        pass
    with pytest.raises(Problem) as caught:
        take(counted, "ada")
    clock.now += float(caught.value.headers["retry-after"])
    assert passes(counted, "ada")


@given(
    per_minute=st.integers(1, 30),
    waits=st.lists(st.floats(0, 20, allow_nan=False), max_size=60),
)
def test_requests_never_exceed_burst_and_rate(per_minute: int, waits: list[float]) -> None:
    clock = Clock()
    counted = Rates(per_minute, clock=clock)
    taken = 0
    for wait in waits:
        clock.now += wait
        taken += passes(counted, "ada")
    assert taken <= per_minute * (1 + sum(waits) / 60) + 1e-6


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "MAX_CALLERS", 10)
    counted = Rates(1, clock=Clock())
    for number in range(100):
        take(counted, f"address {number}")
    assert len(counted.batches) == 10
    assert not passes(counted, "address 99")  # the last caller is still tracked


NETWORKS = {
    "192.0.2.1": "192.0.2.1",
    "2001:db8::1": "2001:db8::",
    "2001:db8::ffff:1": "2001:db8::",
    "2001:db8:0:1::1": "2001:db8:0:1::",
    "::ffff:192.0.2.1": "192.0.2.1",
    "fe80::1%eth0": "fe80::",
    "/run/socket": "/run/socket",
    "": "",
}


@each_row(("address", "network"), NETWORKS.items())
def test_addresses_of_a_network_are_counted_together(address: str, network: str) -> None:
    assert counted_address(address) == network


FEW = Limits(requests_per_minute=2)


async def test_keys_and_addresses_are_counted_separately() -> None:
    ada, anonymous = Somebody(Principal("ada", key_id="k1")), Somebody(None)
    guard, _ = guarded(ada, limits=FEW)
    async with client(guard) as asking:
        assert [(await asking.get("/api/threads")).status_code for _ in range(3)] == [200, 200, 429]
        ada.principal = Principal("ada", key_id="k2")
        assert (await asking.get("/api/threads")).status_code == 200
        ada.principal = Principal("bob")
        assert (await asking.get("/api/threads")).status_code == 200
    guard, _ = guarded(anonymous, limits=FEW)
    async with client(guard, address="192.0.2.1") as asking, client(guard, address="192.0.2.2") as other:
        responses = [await asking.get("/api/threads") for _ in range(3)]
        assert [response.status_code for response in responses] == [401, 401, 429]
        assert int(responses[-1].headers["retry-after"]) > 0
        assert (await other.get("/api/threads")).status_code == 401
        assert (await asking.get("/healthz")).status_code == 200


async def test_without_a_limit_nothing_is_counted() -> None:
    guard, _ = guarded()
    async with client(guard) as asking:
        assert {(await asking.get("/api/threads")).status_code for _ in range(50)} == {200}


async def test_processes_share_a_limit(tmp_path: Path) -> None:
    """Two servers on one store grant the limit together, and most requests need no transaction."""
    url = empty_store(tmp_path, "partita.db")
    async with open_store(url) as one, open_store(url) as other:
        one.clock = other.clock = lambda: datetime(2026, 3, 1, tzinfo=UTC)
        clock = Clock()
        servers = [Rates(200, lambda: one, clock=clock), Rates(200, lambda: other, clock=clock)]
        granted = 0
        for number in range(600):
            with suppress(Problem):
                await servers[number % 2].take("key k1")
                granted += 1
        assert 180 <= granted <= 200
        await servers[0].take("key k2")


async def test_an_unavailable_store_does_not_stop_counting(tmp_path: Path) -> None:
    async with open_store(empty_store(tmp_path, "partita.db")) as store:
        counted = Rates(2, lambda: store)
    await counted.take("ada")
    await counted.take("ada")
    with pytest.raises(Problem):
        await counted.take("ada")
