"""The store without `await`."""

import inspect
from datetime import UTC, datetime
from threading import Timer

import pytest

from partita.errors import ConflictError, StoreError
from partita.store.blocking import open_store_sync
from partita.store.logs.run_log import LogEntry
from partita.store.threads.threads import Threads
from tests.store.examples import tool_call_message, user_message

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_methods_have_their_names_signatures_and_docstrings() -> None:
    with open_store_sync("memory:") as store:
        assert {"threads", "messages", "runs", "search"} <= set(dir(store))
        assert {"create", "list", "delete"} <= set(dir(store.threads))
        assert inspect.signature(store.threads.list) == inspect.signature(store._target.threads.list)
        assert inspect.getdoc(store.threads.list) == inspect.getdoc(Threads.list)


def test_the_store_can_be_used_without_await(url: str) -> None:
    with open_store_sync(url) as store:
        store.threads.create("t1", title="Lighthouses")
        saved = store.messages.save([user_message("m1"), tool_call_message("m2")], thread_id="t1")
        assert store.messages.list("t1").items == saved
        assert [hit.message_id for hit in store.search("measure")] == ["m2"]
        with pytest.raises(ConflictError):
            store.threads.create("t1")
        assert store.scoped("ada").threads.get("t1") is None


def test_a_run_is_followed(url: str) -> None:
    with open_store_sync(url) as store:
        store.threads.create("t1")
        run = store.runs.open("t1")
        store.logs.append(run.id, [LogEntry(NOW, raw=b"one")])

        def end() -> None:
            store.logs.append(run.id, [LogEntry(NOW, raw=b"two")])
            store.runs.finish(run.id)

        timer = Timer(0.05, end)
        timer.start()
        seen = [record.raw for records in store.logs.follow(run.id) for record in records]
        timer.join()
        assert seen == [b"one", b"two"]


def test_following_can_stop_early(url: str) -> None:
    with open_store_sync(url) as store:
        store.threads.create("t1")
        run = store.runs.open("t1")
        store.logs.append(run.id, [LogEntry(NOW, raw=b"one")])
        for records in store.logs.follow(run.id):
            assert [record.seq for record in records] == [1]
            break


def test_a_failed_open_leaves_no_thread() -> None:
    with pytest.raises(StoreError):
        open_store_sync("gopher://somewhere")
