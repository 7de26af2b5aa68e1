"""New ids are UUIDs of version 7 in ascending order."""

from uuid import RFC_4122, UUID

import pytest

from partita.store import ids


def test_ids_are_unique_and_ascending() -> None:
    made = [ids.new_id() for _ in range(5000)]
    assert made == sorted(set(made))
    assert {(UUID(one).version, UUID(one).variant, len(one)) for one in made} == {(7, RFC_4122, 36)}


def test_an_id_starts_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ids, "_last", 0)
    monkeypatch.setattr(ids, "time_ns", lambda: 1_790_000_000_123_999_999)
    assert UUID(ids.new_id()).int >> 80 == 1_790_000_000_123


def test_ids_ascend_when_the_clock_is_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    before = ids.new_id()
    monkeypatch.setattr(ids, "time_ns", lambda: 0)
    assert before < ids.new_id() < ids.new_id()
