"""The store without `await`."""

import inspect
from datetime import UTC, datetime
from threading import Timer

import pytest

from partita.errors import ConflictError, StoreError
from partita.store.blocking.store import SyncStore, open_store_sync
from partita.store.facade.store import Store
from partita.store.log.run_log import LogEntry
from tests.store.examples import ask, worked
from tests.tables import each_row

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WAITING = {
    name: method
    for name, method in inspect.getmembers(Store, inspect.iscoroutinefunction)
    if not name.startswith("_") and name not in ("read", "write", "close", "probe")
}


@each_row("name", WAITING)
def test_every_method_is_there_and_says_the_same(name: str) -> None:
    method = getattr(SyncStore, name)
    assert inspect.signature(method) == inspect.signature(WAITING[name])
    assert inspect.getdoc(method) == inspect.getdoc(WAITING[name])


def test_a_script_needs_no_await(url: str) -> None:
    with open_store_sync(url) as store:
        store.create_thread("t1", title="Lighthouses")
        saved = store.save_messages([ask("m1"), worked("m2")], thread_id="t1")
        assert store.list_messages("t1").items == saved
        assert [hit.message_id for hit in store.search("measure")] == ["m2"]
        with pytest.raises(ConflictError):
            store.create_thread("t1")
        assert store.scoped("ada").get_thread_by_id("t1") is None


def test_a_run_is_followed(url: str) -> None:
    with open_store_sync(url) as store:
        store.create_thread("t1")
        run = store.open_run("t1")
        store.append(run.id, [LogEntry(NOW, raw=b"one")])

        def end() -> None:
            store.append(run.id, [LogEntry(NOW, raw=b"two")])
            store.finish_run(run.id)

        timer = Timer(0.05, end)
        timer.start()
        seen = [record.raw for records in store.follow(run.id) for record in records]
        timer.join()
        assert seen == [b"one", b"two"]


def test_following_may_stop_early(url: str) -> None:
    with open_store_sync(url) as store:
        store.create_thread("t1")
        run = store.open_run("t1")
        store.append(run.id, [LogEntry(NOW, raw=b"one")])
        for records in store.follow(run.id):
            assert [record.seq for record in records] == [1]
            break


def test_what_cannot_be_opened_leaves_no_thread_behind() -> None:
    with pytest.raises(StoreError):
        open_store_sync("gopher://somewhere")
