"""Backups: a whole store at one time, restored into either engine; after an error nothing is written."""

import asyncio
import os
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from sqlalchemy import select, text

from partita.errors import ConflictError, NotFoundError, StoreError
from partita.private_files import whole_file
from partita.store.backup.archive import MAGIC, End, Head, Record, Rows, TableSum, Writer, records, verify
from partita.store.backup.backup import check_backup, create_backup
from partita.store.backup.restore import restore_backup
from partita.store.connection import open_store
from partita.store.data_migrations.runner import migrate
from partita.store.doctor.doctor import check_store
from partita.store.schema import metadata
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.store.values import ConsumptionRecord, Source
from partita.types.parts import TextPart
from tests.store.workers import die_in_a_backup, exit_code, started
from tests.tables import each_row

from .examples import assistant_message, failed_call_message, file_message, tool_call_message, user_message
from .old_rows import without_checks
from .running import NOON, raws

PICTURE = b64encode(Random(7).randbytes(9000)).decode()
LOCAL = {"tail", "tail_seq", "tail_rows"}
QUERIES = ("lighthouse", "metres", "measure", "title", "tape")


async def fill(store: Store) -> None:
    """Write rows to every table: owners, branches, blobs, logs in every state, usage, keys."""
    for owner in ("ada", "bo"):
        mine = store.scoped(owner)
        await mine.threads.create("t1", title="A title with a lighthouse", metadata={"label": 1, "deep": [1]})
        await mine.messages.save(
            [user_message("m1"), tool_call_message("m2", output="x" * 40_000), failed_call_message("m3")],
            thread_id="t1",
        )
        await mine.messages.save([user_message("b1", "Rather not.", parent_id="m1")], thread_id="t1")
    await store.threads.create("t2", title="☃ snow\u2028line", agent="codex")
    await store.messages.save(
        [file_message("f1", f"data:image/png;base64,{PICTURE}"), user_message("gone")], thread_id="t2"
    )
    await store.messages.delete("t2", ["gone"])
    await store.runs.open("t2", id="sealed")
    await store.logs.append("sealed", raws(b'{"data":"' + PICTURE.encode() + b'"}', b"\xff\x00 no text"))
    await store.runs.finish("sealed", agent_result={"turns": 3})
    await store.logs.seal("sealed")
    await store.runs.open("t2", id="at-work", lease_owner="w1", lease_seconds=60)
    for number in range(5):
        await store.logs.append("at-work", raws(b"line %d" % number))
    await store.usage.record(
        [ConsumptionRecord(thread_id="t2", key="k", model="m", time=NOON, output_tokens=2**40, cost=0.1)]
    )
    await store.sources.save(Source(path="/logs/ä.jsonl", offset=7, state={"a": [1]}))
    await store.keys.create("admin", name="for a test")
    await migrate(store)


async def contents(store: Store) -> dict[str, Any]:
    """The whole content of a store, as Python values."""
    found = await store.read(_rows)
    found["log"] = [
        (run.id, await store.logs.read(run.id)) for run in sorted((await store.runs.list()).items, key=str)
    ]
    for query in QUERIES:
        hits = (await store.search(query, limit=100)).items
        found[f"search {query}"] = sorted((str(hit.resource_id), hit.thread_id, hit.snippet) for hit in hits)
    return found


def _rows(tx: Transaction) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, table in metadata.tables.items():
        if name not in ("write_tokens", "run_log"):  # the entries of logs are compared one by one
            columns = [column for column in table.columns if column.name not in LOCAL]
            found[name] = sorted(map(repr, tx.rows(select(*columns))))
    return found


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store, in a file or on a server."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres_url"))
    return str(tmp_path / "store.db")


@pytest.fixture
async def target() -> AsyncIterator[Store]:
    """An empty store to restore to."""
    async with open_store("memory:") as store:
        yield store


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of a store with rows in every table."""
    folder = tmp_path_factory.mktemp("archive")

    async def make() -> None:
        async with open_store(folder / "store.db") as store:
            await fill(store)
            await create_backup(store, folder / "whole.backup")

    asyncio.run(make())
    return folder / "whole.backup"


# Into either engine


async def test_a_restored_store_equals_the_original(url: str, tmp_path: Path) -> None:
    async with open_store(url) as store:
        await fill(store)
        before = await contents(store)
        made = await create_backup(store, tmp_path / "a.backup")
    assert before["search tape"]
    assert (made.rows["threads"], made.engine) == (3, "sqlite" if "store.db" in url else "postgresql")
    assert check_backup(tmp_path / "a.backup") == made
    for number, target in enumerate((str(tmp_path / "new.db"), "memory:")):
        async with open_store(target) as store:
            assert await restore_backup(store, tmp_path / "a.backup") == made
            assert await contents(store) == before
            assert (await check_store(store, full=True)).healthy
            again = await create_backup(store, tmp_path / f"again-{number}.backup")
            assert (again.rows["messages"], again.rows["blobs"]) == (
                made.rows["messages"],
                made.rows["blobs"],
            )


async def test_a_backup_of_a_file_is_restored_on_a_server(archive: Path, postgres_url: str) -> None:
    async with open_store(archive.with_name("store.db")) as store:
        before = await contents(store)
    async with open_store(postgres_url) as store:
        await restore_backup(store, archive)
        assert await contents(store) == before
        assert (await check_store(store, full=True)).healthy


async def test_rows_that_violate_newer_checks_are_restored(url: str, tmp_path: Path) -> None:
    async with open_store(tmp_path / "old.db") as store:
        await store.threads.create("t")
        await store.messages.save([user_message("m1"), user_message("m2")], thread_id="t")
        await store.write(without_checks, "UPDATE messages SET type = 'v2' WHERE id = 'm1'")
        await create_backup(store, tmp_path / "old.backup")
    async with open_store(url) as store:
        await restore_backup(store, tmp_path / "old.backup")
        assert [message.type for message in await store.messages.list("t")] == ["v2", "text"]
        with pytest.raises(StoreError, match=r"messages_type|CHECK"):
            await store.write(lambda tx: tx.sql("UPDATE messages SET type = 'v2' WHERE id = 'm2'") and None)


async def test_a_restored_store_can_be_written(url: str, archive: Path) -> None:
    async with open_store(url) as store:
        await restore_backup(store, archive)
        known = {row[0] for row in await store.read(_keys)}
        await store.threads.create("new")
        await store.messages.save([user_message("n1", "Something new under the sun.")], thread_id="new")
        fresh = {row[0] for row in await store.read(_keys)} - known
        assert min(fresh) > max(known) + 1  # the number of the deleted message is not used again
        await store.logs.append("at-work", raws(b"one more"))
        assert [record.raw for record in await store.logs.read("at-work")] == [
            *(b"line %d" % number for number in range(5)),
            b"one more",
        ]
        assert len((await store.search("sun")).items) == 1
        assert (await check_store(store, full=True)).healthy


def _keys(tx: Transaction) -> Any:
    return tx.rows(text("SELECT key FROM messages"))


async def test_damaged_rows_are_restored_unchanged(tmp_path: Path) -> None:
    async with open_store(tmp_path / "a.db") as store:
        await store.threads.create("t1")
        large = tool_call_message("m1", output="a lighthouse " * 5000)
        await store.messages.save([large, user_message("m2", "A second lighthouse.")], thread_id="t1")
        await store.write(lambda tx: tx.sql("UPDATE blobs SET data = ?", (b"no zstd",)))
        await create_backup(store, tmp_path / "a.backup")
    async with open_store(tmp_path / "b.db") as store:
        assert (await restore_backup(store, tmp_path / "a.backup")).unfindable == 1
        assert [hit.message_id for hit in (await store.search("lighthouse")).items] == ["m2"]
        assert await store.read(lambda tx: tx.sql("SELECT data FROM blobs").scalar_one()) == b"no zstd"


# While others write


async def test_a_backup_has_everything_that_was_committed_before(url: str, tmp_path: Path) -> None:
    acknowledged = 0
    done = asyncio.Event()
    async with open_store(url) as store:
        await store.threads.create("t1")
        await store.runs.open("t1", id="r1")

        async def write() -> None:
            nonlocal acknowledged
            while not done.is_set():
                number = acknowledged
                await store.messages.save(
                    [user_message(f"q{number}"), assistant_message(f"a{number}")], thread_id="t1"
                )
                await store.logs.append("r1", raws(b"%d" % number))
                acknowledged += 1

        writer = asyncio.create_task(write())
        counts: list[int] = []
        for number in range(3):
            while acknowledged < 20 * (number + 1):
                await asyncio.sleep(0.01)
            counts.append(acknowledged)
            await create_backup(store, tmp_path / f"{number}.backup")
        done.set()
        await writer
    for number, before in enumerate(counts):
        async with open_store(tmp_path / f"restored-{number}.db") as store:
            await restore_backup(store, tmp_path / f"{number}.backup")
            ids = {message.id for message in (await store.messages.list("t1", limit=None)).items}
            entries = [record.raw for record in await store.logs.read("r1")]
            assert ids >= {f"{kind}{one}" for one in range(before) for kind in "qa"}
            assert entries[:before] == [b"%d" % one for one in range(before)]
            assert len(ids) % 2 == 0
            assert len(ids) // 2 - len(entries) in (0, 1)
            assert (await check_store(store, full=True)).healthy


# The file


async def test_an_existing_file_is_not_replaced_without_force(archive: Path, tmp_path: Path) -> None:
    target = tmp_path / "a.backup"
    target.write_text("mine")
    async with open_store(archive.with_name("store.db")) as store:
        with pytest.raises(ConflictError, match="already exists"):
            await create_backup(store, target)
        assert target.read_text() == "mine"
        await create_backup(store, target, force=True)
    assert check_backup(target).rows["threads"] == 3
    assert target.stat().st_mode & 0o077 == 0  # it has the same content as the store
    assert [path.name for path in tmp_path.iterdir()] == ["a.backup"]


async def test_a_cancelled_backup_leaves_no_file(tmp_path: Path) -> None:
    async with open_store(tmp_path / "a.db") as store:
        await store.threads.create("t1")
        await store.messages.save([user_message(f"m{number}") for number in range(600)], thread_id="t1")
        loop = asyncio.get_running_loop()

        def stop(_done: int, _total: int) -> None:
            loop.call_soon_threadsafe(task.cancel)

        (tmp_path / "out").mkdir()
        task = asyncio.create_task(create_backup(store, tmp_path / "out" / "a.backup", progress=stop))
        with pytest.raises(asyncio.CancelledError):
            await task
    assert list((tmp_path / "out").iterdir()) == []


async def test_a_killed_process_leaves_no_file_of_that_name(tmp_path: Path) -> None:
    async with open_store(tmp_path / "a.db") as store:
        await store.threads.create("t1")
        await store.messages.save([user_message(f"m{number}") for number in range(600)], thread_id="t1")
    assert await exit_code(started(die_in_a_backup, tmp_path)) == -9
    assert not (tmp_path / "a.backup").exists()
    assert [path.suffix for path in tmp_path.glob(".a.backup.*")] == [".part"]
    async with open_store(tmp_path / "a.db") as store:
        await create_backup(store, tmp_path / "a.backup")
    assert check_backup(tmp_path / "a.backup").rows["messages"] == 600


# Damage


def flipped(data: bytes, url: int) -> bytes:
    return data[:url] + bytes([data[url] ^ 0x10]) + data[url + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "only its first line": lambda data: data[: len(MAGIC)],
    "cut in the middle": lambda data: data[: len(data) // 2],
    "cut at the end": lambda data: data[:-1],
    "an additional byte": lambda data: data + b"\0",
    "another first line": lambda data: b"SQLite format 3\0" + data[16:],
    "another version": lambda data: data.replace(b"backup 1\n", b"backup 2\n", 1),
    "a bit in the middle": lambda data: flipped(data, len(data) // 2),
    "a bit of the hash": lambda data: flipped(data, len(data) - 1),
}


@each_row("damage", DAMAGES.values(), ids=DAMAGES)
async def test_damage_is_reported_and_nothing_is_restored(
    damage: Callable[[bytes], bytes], archive: Path, tmp_path: Path, target: Store
) -> None:
    broken = tmp_path / "broken.backup"
    broken.write_bytes(damage(archive.read_bytes()))
    with pytest.raises(StoreError, match=r"not a backup|newer|damaged") as raised:
        check_backup(broken)
    assert raised.value.where == str(broken)
    empty = await contents(target)
    with pytest.raises(StoreError, match=r"not a backup|newer|damaged"):
        await restore_backup(target, broken)
    assert await contents(target) == empty


def test_any_changed_byte_is_detected(archive: Path, tmp_path: Path) -> None:
    data = archive.read_bytes()
    broken = tmp_path / "broken.backup"
    for url in range(0, len(data), max(1, len(data) // 300)):
        broken.write_bytes(flipped(data, url))
        with pytest.raises(StoreError):
            check_backup(broken)


def test_a_missing_backup_is_reported(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        check_backup(tmp_path / "none")
    with pytest.raises(StoreError, match="cannot be read"):
        check_backup(tmp_path)


async def test_a_store_that_is_not_empty_is_not_changed(archive: Path, tmp_path: Path) -> None:
    async with open_store(tmp_path / "a.db") as store:
        await store.keys.create("admin")
        before = await contents(store)
        with pytest.raises(StoreError, match="not empty: it has api keys") as raised:
            await restore_backup(store, archive)
        assert (raised.value.where, await contents(store)) == (store.engine.where, before)


async def test_the_store_of_one_owner_has_no_backup(archive: Path, tmp_path: Path) -> None:
    async with open_store("memory:") as store:
        with pytest.raises(StoreError, match="one owner"):
            await create_backup(store.scoped("ada"), tmp_path / "a.backup")
        with pytest.raises(StoreError, match="one owner"):
            await restore_backup(store.scoped("ada"), archive)


# Files with a valid hash and invalid content


def rewritten(archive: Path, target: Path, change: Callable[[Record], Record | None]) -> Path:
    """Write another backup with changed records."""
    with archive.open("rb") as file, target.open("w+b") as new:
        writer = Writer(target, new)
        for record, _ in records(archive, file, verify(archive, file)):
            changed = change(record)
            if changed is not None:
                writer.write(changed)
        writer.finish()
    return target


def replaced(kind: type[Record], **fields: Any) -> Callable[[Record], Record]:
    return lambda record: msgspec.structs.replace(record, **fields) if isinstance(record, kind) else record


def without(kind: type[Record]) -> Callable[[Record], Record | None]:
    return lambda record: None if isinstance(record, kind) else record


def with_rows(table: str, rows: list[Any]) -> Callable[[Record], Record]:
    raw = msgspec.Raw(msgspec.msgpack.encode(rows))
    return lambda record: Rows(table, raw) if isinstance(record, Rows) and record.table == table else record


WRONG: dict[str, tuple[Callable[[Record], Record | None], str]] = {
    "a newer schema": (replaced(Head, schema="9999", partita="99.0"), "Partita 99.0 wrote it"),
    "an unknown table": (replaced(Head, tables={"nonsense": ["id"]}), "nonsense, which is not in the schema"),
    "an unknown column": (
        replaced(Head, tables={"threads": ["mood"]}),
        "threads.mood, which is not in the schema",
    ),
    "no head": (without(Head), "no list of its tables"),
    "no end": (without(End), "no end"),
    "no rows": (without(Rows), "0 rows of threads"),
    "other counts": (replaced(End, tables={"threads": TableSum(3, "0" * 64)}), "do not match its checksum"),
    "rows of another table": (with_rows("blob_refs", [["a"]]), "cannot be read"),
    "text for a number": (with_rows("blob_refs", [["a", "b", "c"]]), "cannot be read"),
    "a row that is not in the checksum": (with_rows("blob_refs", []), "rows of blob_refs"),
    "a row whose blob is missing": (with_rows("blob_refs", [["", 1, "0" * 64]]), ""),
}


@each_row(("change", "error"), WRONG.values(), ids=WRONG)
async def test_invalid_content_is_reported_and_nothing_is_restored(
    change: Callable[[Record], Record | None], error: str, archive: Path, tmp_path: Path, target: Store
) -> None:
    wrong = rewritten(archive, tmp_path / "wrong.backup", change)
    with pytest.raises(StoreError) as raised:
        check_backup(wrong)
    assert error in str(raised.value)
    empty = await contents(target)
    with pytest.raises(StoreError):
        await restore_backup(target, wrong)
    assert await contents(target) == empty


async def test_an_unknown_record_is_refused(archive: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.backup"
    with wrong.open("w+b") as file:
        writer = Writer(wrong, file)
        writer.write(TextPart(text="what?"))  # type: ignore[arg-type] # that is the point
        writer.finish()
    with pytest.raises(StoreError, match="record of the backup cannot be read"):
        check_backup(wrong)


async def test_columns_that_an_old_backup_lacks_get_their_defaults(archive: Path, tmp_path: Path) -> None:
    """The second schema had no `changed_at`."""
    names: list[str] = []
    digests: list[int] = []

    def older(record: Record) -> Record:
        match record:
            case Head(tables=tables):
                names.extend(tables["threads"])
                tables = tables | {"threads": [name for name in names if name != "changed_at"]}
                return msgspec.structs.replace(record, schema="0002", tables=tables)
            case Rows(table="threads", rows=raw):
                url = names.index("changed_at")
                rows = [row[:url] + row[url + 1 :] for row in msgspec.msgpack.decode(raw)]
                digests.extend(int.from_bytes(sha256(msgspec.msgpack.encode(row)).digest()) for row in rows)
                return Rows("threads", msgspec.Raw(msgspec.msgpack.encode(rows)))
            case End(tables=tables):
                total = f"{sum(digests) % 2**256:064x}"
                return msgspec.structs.replace(record, tables=tables | {"threads": TableSum(3, total)})
            case _:
                return record

    old = rewritten(archive, tmp_path / "old.backup", older)
    async with open_store(tmp_path / "a.db") as store:
        await restore_backup(store, old)
        assert len((await store.threads.list()).items) == 3
        never = await store.read(lambda tx: {row[0] for row in tx.sql("SELECT changed_at FROM threads")})
        assert never == {0}


def test_a_device_is_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ConflictError, match="a device"), whole_file(pipe, force=True):
        pass
    assert pipe.is_fifo()


def test_an_interrupt_right_after_the_unfinished_file_is_created_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = os.open

    def create_and_interrupt(*arguments: Any) -> int:
        os.close(create(*arguments))
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "open", create_and_interrupt)
    with pytest.raises(KeyboardInterrupt), whole_file(tmp_path / "out.backup"):
        pass
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []
