"""Hostile texts in every argument are stored unchanged, found alone, and have no effect."""

import contextlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import inspect

from partita.errors import PartitaError, StoreError
from partita.store.connection import open_store
from partita.store.sql.pages import to_cursor
from partita.store.sql.texts import UNSTORABLE as NO_TEXT
from partita.store.store import Store
from partita.store.values import PartFilter, RunFilter, SearchFilter, Source, ThreadFilter
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import TextOutput, TextPart
from partita.types.threads import Thread
from tests.store.emptying import in_empty_store, left_out
from tests.store.examples import tool_call_message, user_message
from tests.store.running import raws
from tests.tables import each_row

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

HOSTILE = (
    *("'", '"', "`", "\\", "\\'", "';--", "/*", "*/", "--", ";"),
    *("'; DROP TABLE threads; --", "' OR 1=1 --", '"; DELETE FROM messages; --', "x' UNION SELECT 1 --"),
    *("%", "_", "%%", "a%b", "a_b", "a\\%b", "acb", "%s", "%(name)s", "{}", "{0}", "${x}"),
    *("?", "??", "$1", "$$", ":name", "::text", "@x", "#", "NULL", "null", "true", "0", "1e9"),
    *("AND", "a AND b", "a OR b", "NOT a", "NEAR(a b)", "NEAR(a b, 2)", "title:x", "{title} : x", "^a", "a*"),
    *(
        "a + b",
        '"a" + "b"',
        '"',
        '"a',
        "a & b",
        "a | b",
        "!a",
        "a <-> b",
        "a:*",
        "':*",
        "(",
        ")",
        "-",
        "-a",
        "--a",
    ),
    *("$", "$.a", "$[0]", "$.a[*]", "a.b", "[0]", '{"a": 1}', "#>>", "{a,b}", "a=>b"),
    *("\n", "\r\n", "\t", " ", "  a  ", "\x1a", "\x7f", "\x1b[31m", "\ufeff", "\ufffd", "\uffff", "\u202e"),
    *("é", "e\u0301", "É", "ß", "SS", "ı", "I", "😀", "日本語", "A", "a", "x" * 250),
)
UNSTORABLE = ("\x00", "a\x00b", "\x00\x00", "\ud800", "a\udfff", "\ude00\ud83d")
"""No database accepts these texts: they are refused, or stored escaped in JSON."""

DISTINCT = tuple(dict.fromkeys(HOSTILE))
WORST = (
    "'; DROP TABLE threads; --",
    '"',
    "\\",
    "%",
    "_",
    "$1",
    "?",
    ":x",
    "{}",
    "a & !b",
    "NEAR(",
    "$.a[0]",
    "\n",
    "é",
)


def some_of(texts: tuple[str, ...], store: Store) -> list[str]:
    """All texts for a file; in memory and on a server the worst ones, and some of the others."""
    return [text for text in texts if text in WORST or not left_out(store.engine, text)]


async def tables(store: Store) -> set[str]:
    """The names of the tables."""
    return await store.read(lambda tx: set(inspect(tx.connection).get_table_names()))


def only(found: Any) -> Any:
    """The only item of a page."""
    (item,) = found
    return item


async def test_threads(store: Store) -> None:
    texts = some_of(DISTINCT, store)
    for text in texts:
        await store.threads.create(
            text, title=text, agent=text, project=text, resource_id=text, metadata={text: text, "all": text}
        )
    assert await store.threads.count() == len(texts)
    for text in texts:
        thread = await store.threads.get(text)
        assert thread is not None
        known = (thread.id, thread.title, thread.agent, thread.project, thread.resource_id, thread.metadata)
        assert known == (text, text, text, text, text, {text: text, "all": text})
        filters: list[dict[str, Any]] = [
            {"agent": text},
            {"project": text},
            {"resource_id": text},
            {"metadata": {text: text}},
            {"metadata": {"all": text}},
        ]
        for wanted in filters:
            assert only(await store.threads.list(ThreadFilter(**wanted))).id == text, wanted
        scoped = store.scoped(text)
        assert await scoped.threads.count() == 1
        assert (await scoped.threads.set_title(text, f"{text}!")).title == f"{text}!"
        assert (await scoped.threads.update_metadata(text, {"all": None})).metadata == {text: text}
        copy = await scoped.threads.clone(text, new_id=f"{text}2")
        assert copy.metadata is not None
        assert await scoped.threads.delete(copy.id)
    assert await store.threads.count() == len(texts)


async def test_messages_and_parts(store: Store) -> None:
    texts = some_of(DISTINCT, store)
    await store.threads.create("t1")
    made = [
        AssistantMessage(
            id=text,
            content=[
                TextPart(text=text),
                ToolCallPart(
                    id=text, name=text, state="output-available", input={text: text}, output=TextOutput(text)
                ),
            ],
            run_id=text,
        )
        for text in texts
    ]
    await store.messages.save(made, thread_id="t1")
    for message in made:
        assert message.id is not None
        stored = await store.messages.get("t1", message.id)
        assert stored is not None
        assert (stored.id, stored.content, stored.run_id) == (message.id, message.content, message.run_id)
        part = only(await store.messages.find_parts(PartFilter(tool=message.id)))
        assert (part.message_id, part.tool_name, part.call_id) == (message.id, message.id, message.id)
        near = await store.messages.around("t1", message.id, previous=0, following=0)
        assert only(near).id == message.id
    assert await store.messages.find_parts(
        PartFilter(types=list(HOSTILE), states=list(HOSTILE))
    ) == await store.messages.find_parts(PartFilter(tool="no"))
    assert await store.messages.delete("t1", texts) == len(texts)


async def test_runs(store: Store) -> None:
    texts = some_of(DISTINCT, store)
    await store.threads.create("t1")
    for text in texts:
        await store.runs.open(
            "t1",
            id=text,
            agent=text,
            model=text,
            message_id=text,
            metadata={text: text},
            lease_owner=text,
            lease_seconds=60,
        )
        assert await store.logs.append(text, raws(text.encode())) == 1
    for text in texts:
        run = only(await store.runs.list(RunFilter(agent=text)))
        known = (run.id, run.agent, run.model, run.message_id, run.metadata, run.lease_owner)
        assert known == (text, text, text, text, {text: text}, text)
        assert (await store.runs.renew_lease(text, text, 60)).lease_owner == text
        assert only(await store.logs.read(text)).raw == text.encode()
        assert (await store.runs.fail(text, text)).error == text
        await store.logs.seal(text)
        assert only(await store.logs.read(text)).raw == text.encode()


async def test_sources_and_blobs(store: Store) -> None:
    texts = some_of(DISTINCT, store)
    for text in texts:
        source = Source(path=text, identity=text, agent=text, thread_id=text, hash=text, state={text: text})
        await store.sources.save(source)
        blob = await store.blobs.put(text.encode(), media_type=text)
        assert await store.blobs.get(blob.url) == text.encode()
        assert (await store.blobs.describe(blob.url)).media_type == text
        with pytest.raises(StoreError, match="not a blob URL"):
            await store.blobs.get(text)
    for text in texts:
        found = await store.sources.get(text)
        assert found is not None
        known = (found.path, found.identity, found.agent, found.thread_id, found.hash, found.state)
        assert known == (text, text, text, text, text, {text: text})
        assert [source.path for source in await store.sources.list(agent=text)] == [text]
        assert await store.sources.delete(text)


async def test_search(store: Store) -> None:
    """Any query finds words or nothing; characters between words do not hide them."""
    await store.threads.create("t1", title="Lights")
    await store.messages.save(
        [user_message(f"m{n}", f"lantern {text} harbour") for n, text in enumerate(DISTINCT)], thread_id="t1"
    )
    for text in (*DISTINCT[::3], *UNSTORABLE):
        for query in (text, f"{text} harbour", f'"{text}"', f"-{text}", f"{text}*", f"zebra {text}"):
            with contextlib.suppress(StoreError):  # it has no word
                await store.search(query)
            with contextlib.suppress(StoreError):
                await store.threads.list(ThreadFilter(text=query))
    for wildcard in ("%", "_", "?", "*", ".", "$", "''", '""'):
        with pytest.raises(StoreError, match="nothing to search for"):
            await store.search(wildcard)
    assert len(await store.search("zebra' or '1'='1")) == 0
    assert len(await store.search("lantern", limit=1000)) == len(DISTINCT)
    assert len(await store.search("lantern zebra or harbour")) == 0


Lists = dict[str, Callable[[Store, str], Awaitable[Any]]]

LISTS: Lists = {
    "threads": lambda store, cursor: store.threads.list(cursor=cursor),
    "messages": lambda store, cursor: store.messages.list("t1", cursor=cursor),
    "parts": lambda store, cursor: store.messages.find_parts(cursor=cursor),
    "runs": lambda store, cursor: store.runs.list(cursor=cursor),
    "search": lambda store, cursor: store.search("lantern", cursor=cursor),
}


@each_row("kind", LISTS)
@in_empty_store
async def test_cursors(store: Store, kind: str) -> None:
    """A text that is not a cursor is refused. A forged cursor finds only rows of its owner, or is refused."""
    texts = some_of(DISTINCT, store)
    await store.threads.create("t1")
    for text in (*texts, *UNSTORABLE):
        if not text.isdigit():  # the cursor of messages is the number of one
            with pytest.raises(StoreError, match="not a cursor"):
                await LISTS[kind](store, text)
    numbers = (0, -1, 2**62, 2**70)
    forged = [
        *(to_cursor(NOON, text) for text in texts),
        *(to_cursor(number) for number in numbers),
        *(to_cursor(number, other) for number in numbers for other in numbers),
        *(to_cursor(text) for text in texts),
    ]
    for cursor in forged:
        await harmless(partial(LISTS[kind], store, cursor))


async def harmless(call: Callable[[], Awaitable[Any]]) -> None:
    """Await a call that succeeds or is refused with a clear error."""
    with suppress(PartitaError):
        await call()


CALLS: Lists = {
    "create_thread id": lambda store, text: store.threads.create(text),
    "create_thread title": lambda store, text: store.threads.create(title=text),
    "create_thread agent": lambda store, text: store.threads.create(agent=text),
    "create_thread project": lambda store, text: store.threads.create(project=text),
    "create_thread owner": lambda store, text: store.threads.create(resource_id=text),
    "save_thread": lambda store, text: store.threads.save(Thread(id=text, title=text)),
    "get_thread": lambda store, text: store.threads.get(text),
    "set_title": lambda store, text: store.threads.set_title("t1", text),
    "set_title id": lambda store, text: store.threads.set_title(text, "x"),
    "delete_thread": lambda store, text: store.threads.delete(text + "x"),
    "clone_thread": lambda store, text: store.threads.clone("t1", new_id=text),
    "fork_thread": lambda store, text: store.threads.fork("t1", text),
    "fork_thread title": lambda store, text: store.threads.fork("t1", "m1", title=text),
    "switch_branch": lambda store, text: store.threads.switch_branch("t1", text),
    "list_threads agent": lambda store, text: store.threads.list(ThreadFilter(agent=text)),
    "list_threads project": lambda store, text: store.threads.list(ThreadFilter(project=text)),
    "list_threads owner": lambda store, text: store.threads.list(ThreadFilter(resource_id=text)),
    "list_threads text": lambda store, text: store.threads.list(ThreadFilter(text=text)),
    "list_threads label": lambda store, text: store.threads.list(ThreadFilter(metadata={text: text})),
    "scoped": lambda store, text: store.scoped(text).threads.count(),
    "scoped write": lambda store, text: store.scoped(text).threads.create(),
    "save_messages id": lambda store, text: store.messages.save([user_message(text)], thread_id="t1"),
    "save_messages thread": lambda store, text: store.messages.save([user_message("m")], thread_id=text),
    "save_messages parent": lambda store, text: store.messages.save(
        [user_message("m", parent_id=text)], thread_id="t1"
    ),
    "save_messages run": lambda store, text: store.messages.save(
        [user_message("m", run_id=text)], thread_id="t1"
    ),
    "save_messages owner": lambda store, text: store.messages.save(
        [user_message("m", resource_id=text)], thread_id="t1"
    ),
    "save_messages tool": lambda store, text: store.messages.save(
        [tool_call_message("w", tool=text, call=text, output=text)], thread_id="t1"
    ),
    "get_message": lambda store, text: store.messages.get("t1", text),
    "get_message thread": lambda store, text: store.messages.get(text, "m1"),
    "list_messages": lambda store, text: store.messages.list(text),
    "list_messages around": lambda store, text: store.messages.around("t1", text),
    "update_part": lambda store, text: store.messages.update_part("t1", text, 0, TextPart(text=text)),
    "delete_messages": lambda store, text: store.messages.delete("t1", [text]),
    "find_parts thread": lambda store, text: store.messages.find_parts(PartFilter(thread_id=text)),
    "find_parts tool": lambda store, text: store.messages.find_parts(PartFilter(tool=text)),
    "find_parts type": lambda store, text: store.messages.find_parts(PartFilter(types=[text], states=[text])),
    "find_parts agent": lambda store, text: store.messages.find_parts(PartFilter(agent=text, project=text)),
    "search": lambda store, text: store.search(text),
    "search thread": lambda store, text: store.search("tall", SearchFilter(thread_id=text)),
    "search tool": lambda store, text: store.search("tall", SearchFilter(tool=text)),
    "search agent": lambda store, text: store.search("tall", SearchFilter(agent=text, project=text)),
    "search field": lambda store, text: store.search("tall", SearchFilter(fields=[text])),
    "open_run id": lambda store, text: store.runs.open("t1", id=text),
    "open_run thread": lambda store, text: store.runs.open(text),
    "open_run agent": lambda store, text: store.runs.open("t1", agent=text),
    "open_run model": lambda store, text: store.runs.open("t1", model=text, message_id=text),
    "open_run lease": lambda store, text: store.runs.open("t1", lease_owner=text, lease_seconds=1),
    "open_run owner": lambda store, text: store.runs.open("t1", resource_id=text),
    "get_run": lambda store, text: store.runs.get(text),
    "list_runs thread": lambda store, text: store.runs.list(RunFilter(thread_id=text)),
    "list_runs agent": lambda store, text: store.runs.list(RunFilter(agent=text)),
    "append": lambda store, text: store.logs.append(text, raws(b"x")),
    "scoped append": lambda store, text: store.scoped(text).logs.append("r1", raws(b"x")),
    "read_log": lambda store, text: store.logs.read(text),
    "follow": lambda store, text: anext(aiter(store.logs.follow(text))),
    "finish_run": lambda store, text: store.runs.finish("r1", message_id=text),
    "fail_run": lambda store, text: store.runs.fail(text, text),
    "cancel_run": lambda store, text: store.runs.cancel("r1", text),
    "take_lease": lambda store, text: store.runs.take_lease("r1", text, 1),
    "heartbeat": lambda store, text: store.runs.renew_lease(text, text, 1),
    "seal_run": lambda store, text: store.logs.seal(text),
    "put_blob": lambda store, text: store.blobs.put(b"x", media_type=text, resource_id=text),
    "get_blob": lambda store, text: store.blobs.get(text),
    "describe_blob": lambda store, text: store.blobs.describe(f"blob:sha256:{text}"),
    "save_source": lambda store, text: store.sources.save(Source(path=text, state=text)),
    "save_source fields": lambda store, text: store.sources.save(Source(path="p", identity=text, hash=text)),
    "save_source owner": lambda store, text: store.sources.save(Source(path="p"), resource_id=text),
    "get_source": lambda store, text: store.sources.get(text),
    "list_sources": lambda store, text: store.sources.list(agent=text),
    "forget_source": lambda store, text: store.sources.delete(text),
}


@pytest.mark.parametrize("texts", [WORST, UNSTORABLE], ids=["hostile", "unstorable"])
async def test_every_argument_is_harmless(store: Store, texts: tuple[str, ...]) -> None:
    """Each call succeeds or is refused; afterwards all tables and the old rows exist."""
    before = await tables(store)
    await store.threads.create("t1")
    await store.messages.save([user_message("m1")], thread_id="t1")
    await store.runs.open("t1", id="r1")
    for name, call in CALLS.items():
        for text in texts:
            try:
                await harmless(partial(call, store, text))
            except Exception as error:
                raise AssertionError(f"{name} with {text!r}: {error!r}") from error
    assert await tables(store) == before
    assert await store.messages.get("t1", "m1") is not None


@each_row("text", UNSTORABLE, ids=ascii)
@in_empty_store
async def test_unstorable_text_is_escaped_in_json_or_refused(store: Store, text: str) -> None:
    await store.threads.create("t1", metadata={text: text})
    thread = await store.threads.get("t1")
    assert thread is not None
    assert thread.metadata == {text: text}
    message = tool_call_message("m1", output=text)
    await store.messages.save([message], thread_id="t1")
    stored = await store.messages.get("t1", "m1")
    assert stored is not None
    assert stored.content == message.content
    for refused in (
        "create_thread id",
        "create_thread title",
        "create_thread agent",
        "save_messages id",
        "open_run id",
    ):
        with pytest.raises(StoreError, match="holds a NUL or half a surrogate pair"):
            await CALLS[refused](store, text)


@given(text=st.text(st.characters(), min_size=1))
async def test_any_text_is_stored_or_refused(text: str) -> None:
    """Any text is stored and read back, or refused."""
    async with open_store("memory:") as store:
        with contextlib.suppress(StoreError):  # it has no word
            await store.search(text)
        if NO_TEXT.search(text):
            with pytest.raises(StoreError, match="holds a NUL or half a surrogate pair"):
                await store.threads.create(text)
            return
        await store.threads.create(text, title=text, agent=text, metadata={text: text})
        assert only(await store.threads.list(ThreadFilter(agent=text, metadata={text: text}))).title == text
