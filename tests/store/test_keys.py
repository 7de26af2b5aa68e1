"""API keys, on every engine."""

import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import NotFoundError, StoreError
from partita.store import keys
from partita.store.connection import open_store
from partita.store.store import Store
from tests.store.old_rows import everything
from tests.tables import each_row

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
DAY = timedelta(days=1)


class Clock:
    """A clock that the test moves."""

    now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def test_a_new_key_is_valid(url: str, clock: Clock) -> None:
    async with open_store(url, clock=clock) as store:
        made = await store.keys.create("ada", "read", name="her laptop", expires_at=NOW + DAY)
        assert re.fullmatch(r"pk_[0-9a-f]{16}_[A-Za-z0-9_-]{43}", made.text)
        assert made.text.startswith(f"pk_{made.key.id}_")
        key = made.key
        assert (key.resource_id, key.role, key.name) == ("ada", "read", "her laptop")
        assert (key.created_at, key.expires_at, key.revoked_at) == (NOW, NOW + DAY, None)
        assert await store.keys.check(made.text) == key
        assert await store.keys.list() == (key,)


async def test_an_admin_key_may_be_for_every_resource(store: Store) -> None:
    made = await store.keys.create(role="admin")
    found = await store.keys.check(made.text)
    assert found is not None
    assert (found.resource_id, found.role) == (None, "admin")


async def test_the_secret_is_not_stored(store: Store) -> None:
    made = await store.keys.create("ada")
    secret = made.text.removeprefix(f"pk_{made.key.id}_")
    assert secret not in repr(await everything(store))
    for shown in (made, made.key, await store.keys.list(), keys.new_text()):
        assert secret not in repr(shown)
    text = keys.new_text()
    assert text.secret not in repr(text)


async def test_key_texts_are_unique(store: Store) -> None:
    made = [await store.keys.create("ada") for _ in range(5)]
    assert len({one.text[-43:] for one in made}) == len({one.key.id for one in made}) == 5


def other_secret(text: str) -> str:
    return text[:-1] + ("A" if text[-1] != "A" else "B")


WRONG: dict[str, Callable[[str], str]] = {
    "nothing": lambda text: "",
    "another secret": other_secret,
    "another id": lambda text: "pk_" + "0" * 16 + text[19:],
    "no secret": lambda text: text[:20],
    "a part of the secret": lambda text: text[:-1],
    "more than the secret": lambda text: text + "A",
    "a line after it": lambda text: text + "\n",
    "a space before it": lambda text: " " + text,
    "in capitals": lambda text: text.upper(),
    "no prefix": lambda text: text[3:],
    "a NUL": lambda text: text.replace("_", "\x00"),
    "half a surrogate pair": lambda text: text[:-1] + "\ud800",
    "SQL": lambda text: "pk_' OR 1=1 --_x",
    "a megabyte": lambda text: "pk_" + "a" * 1_000_000,
}


@each_row("change", WRONG.values(), ids=WRONG)
async def test_a_wrong_text_is_not_a_key(store: Store, change: Callable[[str], str]) -> None:
    made = await store.keys.create("ada")
    assert await store.keys.check(change(made.text)) is None
    assert await store.keys.check(made.text) == made.key


@given(text=st.text())
def test_random_texts_are_not_keys(text: str) -> None:
    assert keys.TEXT.fullmatch(text) is None


async def test_the_secret_of_another_key_is_not_accepted(store: Store) -> None:
    one, other = await store.keys.create("ada"), await store.keys.create("bob")
    assert await store.keys.check(one.text[:20] + other.text[20:]) is None


async def test_a_key_expires(url: str, clock: Clock) -> None:
    async with open_store(url, clock=clock) as store:
        made = await store.keys.create("ada", expires_at=NOW + DAY)
        clock.now = NOW + DAY - timedelta(microseconds=1)
        assert await store.keys.check(made.text) == made.key
        clock.now = NOW + DAY
        assert await store.keys.check(made.text) is None
        assert await store.keys.list() == (made.key,)


async def test_a_key_can_be_revoked(url: str, clock: Clock) -> None:
    async with open_store(url, clock=clock) as store:
        made, other = await store.keys.create("ada"), await store.keys.create("ada")
        clock.now = NOW + DAY
        assert (await store.keys.revoke(made.key.id)).revoked_at == NOW + DAY
        clock.now = NOW + 2 * DAY
        assert (await store.keys.revoke(made.key.id)).revoked_at == NOW + DAY
        assert await store.keys.check(made.text) is None
        assert await store.keys.check(other.text) == other.key


async def test_keys_are_listed_newest_first(url: str, clock: Clock) -> None:
    async with open_store(url, clock=clock) as store:
        made: list[str] = []
        for number in range(3):
            clock.now = NOW + number * DAY
            made.insert(0, (await store.keys.create("ada", name=str(number))).key.id)
        assert [key.id for key in await store.keys.list()] == made


async def test_a_scoped_store_has_only_the_keys_of_its_owner(store: Store) -> None:
    ada, bob = store.scoped("ada"), store.scoped("bob")
    hers, his = await ada.keys.create(), await bob.keys.create("bob", "admin")
    everyones = await store.keys.create(role="admin")
    assert hers.key.resource_id == "ada"
    assert await ada.keys.list() == (hers.key,)
    assert len(await store.keys.list()) == 3
    for text in (his.text, everyones.text):
        assert await ada.keys.check(text) is None
    for key_id in (his.key.id, everyones.key.id):
        with pytest.raises(NotFoundError):
            await ada.keys.revoke(key_id)
    with pytest.raises(NotFoundError):
        await ada.keys.create("bob")
    assert await store.keys.check(his.text) == his.key


REFUSED: dict[str, tuple[Callable[[Store], Awaitable[Any]], str]] = {
    "every resource for a writer": (lambda store: store.keys.create(), "every resource"),
    "every resource for a reader": (lambda store: store.keys.create(role="read"), "every resource"),
    "the empty resource": (lambda store: store.keys.create("", "admin"), "no resource id"),
    "rows without an owner": (lambda store: store.scoped("").keys.create(role="admin"), "no resource id"),
    "an unknown role": (lambda store: store.keys.create("ada", "owner"), "unknown role 'owner'"),  # type: ignore[arg-type]
    "a time without a zone": (
        lambda store: store.keys.create("ada", expires_at=datetime(2099, 1, 1)),  # noqa: DTZ001
        "no zone",
    ),
    "a time in the past": (
        lambda store: store.keys.create("ada", expires_at=datetime(2001, 1, 1, tzinfo=UTC)),
        "expired already",
    ),
    "a NUL in the resource": (lambda store: store.keys.create("a\x00"), "NUL"),
    "a NUL in the name": (lambda store: store.keys.create("ada", name="a\x00"), "NUL"),
    "an unknown key": (lambda store: store.keys.revoke("unknown"), "no key 'unknown'"),
}


@each_row(("work", "message"), REFUSED.values(), ids=REFUSED)
async def test_invalid_arguments_are_refused(
    store: Store, work: Callable[[Store], Awaitable[Any]], message: str
) -> None:
    with pytest.raises(StoreError, match=message) as caught:
        await work(store)
    assert caught.value.hint
    assert await store.keys.list() == ()
