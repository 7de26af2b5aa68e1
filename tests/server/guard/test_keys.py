"""Authentication by keys in a real store."""

import hmac
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from partita.runtime.principal import Principal
from partita.server.guard import auth as auth_module
from partita.server.guard.auth import CACHE_SECONDS, KeyAuth, key_in
from partita.store.connection import open_store
from partita.store.store import Store
from tests.server.guard.requests import client, guarded, scope_of
from tests.tables import each_row


class Clock:
    """A clock that the test sets."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with open_store("memory:") as opened:
        yield opened


def bearer(text: str) -> list[tuple[bytes, bytes]]:
    return [(b"authorization", f"Bearer {text}".encode())]


SHOWN: dict[str, tuple[list[tuple[bytes, bytes]], str]] = {
    "as a bearer": ([(b"authorization", b"Bearer pk_a_b")], "pk_a_b"),
    "in lower case": ([(b"authorization", b"bearer  pk_a_b ")], "pk_a_b"),
    "in the header `x-api-key`": ([(b"x-api-key", b"pk_a_b")], "pk_a_b"),
    "both: the bearer token is used": ([(b"x-api-key", b"pk_x"), (b"authorization", b"Bearer pk_a")], "pk_a"),
    "beside another scheme": ([(b"authorization", b"Basic eA=="), (b"x-api-key", b"pk_a")], "pk_a"),
    "another scheme": ([(b"authorization", b"Basic eA==")], ""),
    "no scheme": ([(b"authorization", b"pk_a_b")], ""),
    "twice": ([(b"authorization", b"Bearer a"), (b"authorization", b"Bearer b")], ""),
    "bytes that are not text": ([(b"x-api-key", b"\xff\xfe")], "ÿþ"),
    "a kilobyte": ([(b"x-api-key", b"a" * 1024)], ""),
    "nothing": ([], ""),
}


@each_row(("headers", "text"), SHOWN.values(), ids=SHOWN)
def test_the_key_of_a_request_is_found(headers: list[tuple[bytes, bytes]], text: str) -> None:
    assert key_in(headers) == text


async def test_a_key_identifies_its_caller(store: Store) -> None:
    auth = KeyAuth(lambda: store)
    hers = await store.keys.create("ada", "read")
    everyones = await store.keys.create(role="admin")
    assert await auth(scope_of(headers=bearer(hers.text))) == Principal("ada", "read", hers.key.id)
    found = await auth(scope_of(headers=[(b"x-api-key", everyones.text.encode())]))
    assert found == Principal(None, "admin", everyones.key.id)


async def test_a_revoked_key_stops_working_within_two_seconds(store: Store) -> None:
    clock = Clock()
    auth = KeyAuth(lambda: store, clock=clock)
    made = await store.keys.create("ada")
    scope = scope_of(headers=bearer(made.text))
    assert await auth(scope)
    await store.keys.revoke(made.key.id)
    assert await auth(scope)  # it is cached for a moment
    clock.now += CACHE_SECONDS
    assert await auth(scope) is None
    assert CACHE_SECONDS <= 2
    assert await auth(scope) is None


async def test_a_new_key_works_at_once(store: Store) -> None:
    auth = KeyAuth(lambda: store, clock=Clock())
    assert await auth(scope_of(headers=bearer("pk_x"))) is None
    made = await store.keys.create("ada")
    assert await auth(scope_of(headers=bearer(made.text)))


async def test_memory_is_bounded_and_holds_no_secret(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth_module, "MAX_CACHED", 3)
    auth = KeyAuth(lambda: store, clock=Clock())
    made = [await store.keys.create("ada") for _ in range(6)]
    for one in made:
        assert await auth(scope_of(headers=bearer(one.text)))
    assert len(auth.known) == 3
    assert not any(one.text[-20:] in repr(auth.known) for one in made)


async def test_the_store_is_queried_once_for_many_requests(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    lookups = _lookups(store, monkeypatch)
    auth = KeyAuth(lambda: store, clock=Clock())
    made = await store.keys.create("ada")
    for _ in range(5):
        await auth(scope_of(headers=bearer(made.text)))
    assert lookups == [made.text]


async def test_all_invalid_keys_are_refused_with_the_same_work(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    expired = await store.keys.create("ada", expires_at=datetime.now(UTC) + timedelta(microseconds=200_000))
    revoked, good = await store.keys.create("ada"), await store.keys.create("ada")
    await store.keys.revoke(revoked.key.id)
    monkeypatch.setattr(store, "clock", lambda: datetime.now(UTC) + timedelta(days=1))
    lookups = _lookups(store, monkeypatch)
    compared: list[object] = []
    compare = hmac.compare_digest

    def lookup(one: Any, other: Any) -> bool:
        compared.append(one)
        return compare(one, other)

    monkeypatch.setattr(hmac, "compare_digest", lookup)
    guard, behind = guarded(KeyAuth(lambda: store))
    wrong: dict[str, dict[str, str]] = {
        "missing": {},
        "no key": {"authorization": "Bearer nonsense"},
        "unknown": {"authorization": f"Bearer pk_{'0' * 16}_{'a' * 43}"},
        "another secret": {"authorization": f"Bearer {good.text[:20]}{'a' * 43}"},
        "expired": {"authorization": f"Bearer {expired.text}"},
        "revoked": {"authorization": f"Bearer {revoked.text}"},
    }
    responses: list[tuple[int, bytes, list[tuple[str, str]]]] = []
    async with client(guard) as asking:
        for headers in wrong.values():
            response = await asking.get("/api/threads", headers=headers)
            responses.append((response.status_code, response.content, sorted(response.headers.items())))
    assert responses == [responses[0]] * len(wrong)
    assert responses[0][0] == 401
    assert len(lookups) == len(compared) == len(wrong)
    assert behind.seen == []


def _lookups(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys that are looked up in the store from now on."""
    lookups: list[str] = []
    check = store.keys.check

    async def lookup(text: str) -> Any:
        lookups.append(text)
        return await check(text)

    monkeypatch.setattr(store.keys, "check", lookup)
    return lookups
