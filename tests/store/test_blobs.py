"""Large values: moved to blobs on write, put back on read, stored once, deleted with their last reference."""

import base64
import os
from hashlib import sha256
from io import BytesIO
from typing import Any

import pytest
from sqlalchemy import func, select

from partita.errors import NotFoundError, StoreError
from partita.store.blobs import blobs as blob_files
from partita.store.blobs.moves import THRESHOLD
from partita.store.schema import blob_refs, blobs, messages
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.types.codec import to_json
from partita.types.json import Json
from partita.types.messages import AssistantMessage, ToolCallPart, UserMessage
from partita.types.parts import (
    ContentOutput,
    ErrorTextOutput,
    FilePart,
    ImagePart,
    JsonOutput,
    TextOutput,
    TextPart,
)
from tests.store.emptying import in_empty_store
from tests.store.examples import file_message, tool_output_message, user_message
from tests.tables import each_row

NOISE = os.urandom(40_000)
PICTURE = f"data:image/png;base64,{base64.b64encode(NOISE).decode()}"
LONG = "lantern " * 5_000


@pytest.fixture
async def thread(store: Store) -> str:
    await store.threads.create("t1")
    return "t1"


async def count(store: Store, table: Any) -> int:
    def work(tx: Transaction) -> int:
        return int(tx.run(select(func.count()).select_from(table)).scalar_one())

    return await store.read(work)


async def row_size(store: Store, id: str) -> int:
    def work(tx: Transaction) -> int:
        row = tx.row(select(messages.c.content).where(messages.c.id == id))
        assert row is not None
        return len(row.content)

    return await store.read(work)


def called(output: Any, **fields: Any) -> AssistantMessage:
    return AssistantMessage(
        id="m1",
        content=[
            ToolCallPart(id="c", name="read", state="output-available", input={}, output=output, **fields)
        ],
    )


LARGE: dict[str, tuple[Any, int]] = {
    "picture": (file_message("m1", PICTURE), 1),
    "image whose part has another media type": (file_message("m1", PICTURE, "image/jpeg"), 1),
    "image part without a type": (UserMessage(id="m1", content=[ImagePart(url=PICTURE)]), 1),
    "data url with parameters": (
        file_message("m1", PICTURE.replace("image/png", "text/plain;charset=utf-8"), "text/plain"),
        1,
    ),
    "non-canonical base64": (file_message("m1", PICTURE + "===="), 1),
    "data url without base64": (file_message("m1", "data:text/plain," + LONG), 1),
    "text output": (tool_output_message("m1", TextOutput(LONG)), 1),
    "output with half a surrogate": (tool_output_message("m1", TextOutput(LONG + "\ud800")), 1),
    "error output": (called(ErrorTextOutput(LONG)), 1),
    "json output": (
        tool_output_message("m1", JsonOutput({"rows": [{"n": n, "f": n / 7} for n in range(5000)]})),
        1,
    ),
    "json output that is a string": (tool_output_message("m1", JsonOutput(LONG)), 1),
    "content output": (
        called(ContentOutput((TextPart(LONG), FilePart(url=PICTURE, media_type="image/png")))),
        2,
    ),
    "a sub-agent's output": (
        called(TextOutput("short"), children=(tool_output_message("inner", TextOutput(LONG)),)),
        1,
    ),
    "two equal values": (UserMessage(id="m1", content=[ImagePart(url=PICTURE), ImagePart(url=PICTURE)]), 1),
    "long URL without data": (file_message("m1", "https://example.org/" + "x" * 2 * THRESHOLD), 0),
    "long text": (user_message("m1", LONG), 0),
}


@each_row(("message", "moved"), LARGE.values(), ids=LARGE)
@in_empty_store
async def test_large_values_are_restored_exactly(store: Store, message: Any, moved: int) -> None:
    await store.threads.create("t1")
    saved = (await store.messages.save([message], thread_id="t1"))[0]
    assert saved.content == message.content
    assert await count(store, blobs) == moved
    found = await store.messages.get("t1", "m1")
    assert found is not None
    assert found.content == message.content
    assert to_json(found.content) == to_json(message.content)
    if moved:
        assert await row_size(store, "m1") < THRESHOLD


@each_row(("message", "moved"), LARGE.values(), ids=LARGE)
@in_empty_store
async def test_references_can_be_saved_again(store: Store, message: Any, moved: int) -> None:
    await store.threads.create("t1")
    await store.messages.save([message], thread_id="t1")
    page = await store.messages.list("t1", blobs="reference")
    assert moved == 0 or b"blob:sha256:" in str(to_json(page.items)).encode("utf-8", "replace")
    await store.messages.save(page.items)
    found = await store.messages.get("t1", "m1")
    assert found is not None
    assert found.content == message.content
    assert await count(store, blobs) == moved


async def test_small_values_are_not_moved(store: Store, thread: str) -> None:
    await store.messages.save([tool_output_message("m1", TextOutput("x" * 1000))], thread_id=thread)
    assert await count(store, blobs) == 0


async def test_text_that_looks_like_a_reference_is_unchanged(store: Store, thread: str) -> None:
    fake = f"blob:sha256:{'0' * 64}#text"
    await store.messages.save(
        [tool_output_message("m1", TextOutput(fake)), file_message("m2", fake)], thread_id=thread
    )
    first, second = (await store.messages.list(thread)).items
    assert first.content == tool_output_message("m1", TextOutput(fake)).content
    assert second.content == file_message("m2", fake).content


async def test_a_shared_value_is_stored_once_and_deleted_with_its_last_reference(store: Store) -> None:
    for thread_id in ("a", "b"):
        await store.threads.create(thread_id)
        await store.messages.save(
            [file_message("m1", PICTURE), file_message("m2", PICTURE)], thread_id=thread_id
        )
    assert (await count(store, blobs), await count(store, blob_refs)) == (1, 4)
    await store.messages.delete("a", ["m1"])
    await store.threads.delete("a")
    assert (await count(store, blobs), await count(store, blob_refs)) == (1, 2)
    await store.messages.save([user_message("m1", "no picture any more")], thread_id="b")
    assert (await count(store, blobs), await count(store, blob_refs)) == (1, 1)
    await store.messages.delete("b", ["m2"])
    assert (await count(store, blobs), await count(store, blob_refs)) == (0, 0)


async def test_bytes_are_stored_by_hash(store: Store) -> None:
    blob = await store.blobs.put(NOISE, media_type="image/png")
    assert blob.url == f"blob:sha256:{sha256(NOISE).hexdigest()}"
    assert (blob.size, blob.media_type) == (len(NOISE), "image/png")
    assert await store.blobs.get(blob.url) == NOISE
    assert await store.blobs.describe(blob.url) == blob
    assert (await store.blobs.put(NOISE)).url == blob.url
    assert await store.blobs.get((await store.blobs.put(b"")).url) == b""


async def test_a_message_can_refer_to_an_uploaded_blob(store: Store, thread: str) -> None:
    blob = await store.blobs.put(NOISE, media_type="image/png")
    await store.messages.save([file_message("m1", blob.url)], thread_id=thread)
    found = await store.messages.get(thread, "m1")
    assert found is not None
    assert found.content == file_message("m1", PICTURE).content
    await store.threads.delete(thread)
    with pytest.raises(NotFoundError):
        await store.blobs.get(blob.url)


@each_row("given", ["", "blob:sha256:xyz", "blob:sha256:" + "g" * 64, "' OR 1=1 --"])
async def test_an_invalid_blob_url_is_an_error(store: Store, given: str) -> None:
    with pytest.raises(StoreError, match="not a blob URL"):
        await store.blobs.get(given)


async def test_the_reference_of_a_missing_blob_is_returned(store: Store, thread: str) -> None:
    await store.messages.save([tool_output_message("m1", TextOutput(LONG))], thread_id=thread)

    def delete(tx: Transaction) -> None:
        tx.sql("DELETE FROM blob_refs")
        tx.sql("DELETE FROM blobs")

    await store.write(delete)
    found = await store.messages.get(thread, "m1")
    assert found is not None
    value: Json = to_json(found)["content"]["parts"][0]["output"]["value"]
    assert value.startswith("blob:sha256:")


async def test_a_range_of_a_large_file_is_read_alone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blob_files, "LARGE", 1000)
    monkeypatch.setattr(blob_files, "PIECE", 300)
    data = b"".join(b"%06d" % number for number in range(700))
    digest = sha256(data).hexdigest()
    plain = await store.write(blob_files.put_file, BytesIO(data), len(data), digest, "text/plain", None)
    again = await store.write(blob_files.put_file, BytesIO(data), len(data), digest, "text/plain", None)
    assert (plain, plain.size) == (again, len(data))
    compressed = await store.blobs.put(data + b"!")  # as values of messages are
    small = await store.write(blob_files.put_file, BytesIO(b"abc"), 3, sha256(b"abc").hexdigest(), None, None)
    for start, end in [(0, 1), (0, len(data)), (299, 301), (1500, 2900), (len(data) - 1, len(data))]:
        assert await store.read(blob_files.read_range, plain.url, start, end) == data[start:end]
        assert await store.read(blob_files.read_range, compressed.url, start, end) is None
        for blob in (plain, compressed):
            file = BytesIO(b"what an earlier attempt wrote")
            await store.read(blob_files.copy, blob.url, start, end, file)
            assert file.getvalue() == data[start:end]
    assert await store.read(blob_files.read_range, small.url, 1, 3) == b"bc"
    assert await store.blobs.get(plain.url) == data
