"""Search results, their order, and their owner: the same on every engine."""

from collections.abc import Sequence
from datetime import timedelta
from hashlib import sha256
from itertools import product
from typing import Any

import pytest
from sqlalchemy import insert, update

from partita.errors import StoreError
from partita.store.blobs import blobs
from partita.store.engines.engine import Engine
from partita.store.schema import runs, thread_labels, threads
from partita.store.search import index as search_index
from partita.store.search import sqlite as search_sqlite
from partita.store.search.fields import SearchEntry, SearchFields
from partita.store.search.index import thread_ids_matching
from partita.store.search.search import search
from partita.store.sql.pages import to_cursor
from partita.store.sql.transaction import Transaction
from partita.store.threads.lists import list_threads
from partita.store.threads.rows import tag_label
from partita.store.values import SearchFilter, SearchHit, ThreadFilter
from partita.types.messages import AssistantMessage, Message, SystemMessage, ToolCallPart, UserMessage
from partita.types.parts import ReasoningPart, TextOutput, TextPart
from tests.store.emptying import in_empty_store
from tests.tables import each_row

from .searching import NO_FIELDS, NOW, put_message, put_thread, read, shown, write


def call(name: str, given: object, output: str) -> ToolCallPart:
    return ToolCallPart(
        id=f"call-{name}", name=name, state="output-available", input=given, output=TextOutput(value=output)
    )


MESSAGES: dict[str, str | Message] = {
    "fox": "The quick brown fox jumps over the lazy dog",
    "hen": "A brown hen, lazy as ever, sits on its eggs",
    "code": "getUserName() is in src/app/user_model.py; run it with --dry-run on x86_64, HTTPServer too",
    "tokyo": "今日は東京タワーに行きました。とても楽しかったです。",
    "seoul": "서울에서 만나요",
    "bangkok": "สวัสดีครับ ยินดีต้อนรับ",
    "coffee": "Un Café crème à la Straße, ÇA VA ? naïve",
    "moscow": "Ёлка стоит в Москве",
    "hindi": "मुझे हिन्दी पसंद है",
    "tools": AssistantMessage(
        id="tools",
        content=[
            ReasoningPart(text="Perhaps grepping helps"),
            call("search_files", {"pattern": "needle", "flags": ["-i", 42]}, "haystack.txt:7: rusty needle"),
            TextPart(text="It is in the haystack"),
        ],
    ),
    "odd": 'AND OR NOT NEAR "quoted" it\'s 100% {sure} C++ a\x00b',
}

# Queries, and the messages (by the names above) or titles that they find.
QUERIES: dict[str, set[str]] = {
    "brown": {"fox", "hen"},
    "BROWN": {"fox", "hen"},
    "brown lazy": {"fox", "hen"},
    "brown fox": {"fox"},
    "fox hen": set(),
    '"brown fox"': {"fox"},
    '"fox brown"': set(),
    "“brown fox”": {"fox"},
    '"brown fox': {"fox"},
    "brown -fox": {"hen"},
    'lazy -"lazy dog"': {"hen"},
    "bro": {"fox", "hen"},
    "bro fox": set(),
    "bro* fox": {"fox"},
    "q": {"fox", "odd"},
    "brown q": {"fox"},
    "q brown": set(),
    "q*": {"fox", "odd"},
    '"q"': set(),
    "fox OR hen": {"fox", "hen"},
    "lazy fox OR hen": {"fox", "hen"},
    "fox OR hen dog": {"fox"},
    "hen OR nowhere": {"hen"},
    'tokyo OR "lazy dog" OR egg': {"fox", "hen"},
    'tokyo OR "lazy dog" OR "egg"': {"fox"},
    "fox OR hen -eggs": {"fox"},
    "fox OR needle OR greetings": {"fox", "tools", "greetings"},
    "tool:search_files": {"tools"},
    "tool:SEARCH_files": {"tools"},
    "tool:search*": {"tools"},
    "tool:search": set(),
    "tool:search_files needle": {"tools"},
    "tool:search_files fox": set(),
    "tool:search_files -needle": set(),
    "tool:search_files -fox": {"tools"},
    "lazy -tool:search_files": {"fox", "hen"},
    "needle -tool:search_files": set(),
    "tool:other OR tool:search_files": {"tools"},
    "tool:other tool:search_files": set(),
    "file:needle": {"tools"},
    "file:haystack.txt": set(),
    "file:need": {"tools"},
    'file:"need"': set(),
    "needle -file:flags": set(),
    "brown -file:needle": {"fox", "hen"},
    "file:needle OR file:nothing": {"tools"},
    "title:greetings": {"greetings"},
    "title:greet": {"greetings"},
    "greetings title:everywhere": {"greetings"},
    "brown title:everywhere": {"fox", "hen"},
    "brown title:nowhere": set(),
    "brown -title:everywhere": set(),
    "brown -title:nowhere": {"fox", "hen"},
    "greetings -title:everywhere": set(),
    "everywhere -tool:search_files": {"greetings"},
    "everywhere role:user": set(),
    "brown role:user": {"fox", "hen"},
    "brown -role:user": set(),
    "brown role:assistant OR role:user": {"fox", "hen"},
    "needle role:assistant": {"tools"},
    "role:assistant": {"tools"},
    "in:reasoning grepping": {"tools"},
    "in:text grepping": set(),
    "haystack in:tool-output": {"tools"},
    "-in:title everywhere": set(),
    "everywhere in:title OR in:text": {"greetings"},
    "agent:a brown": {"fox", "hen"},
    "agent:b brown": set(),
    "agent:a OR agent:b brown": {"fox", "hen"},
    "-agent:b brown": {"fox", "hen"},
    "project:p role:assistant": {"tools"},
    'project:"q" role:assistant': set(),
    "-project:p brown": set(),
    "before:2030-05-05 brown": {"fox", "hen"},
    "before:2030-05-04T11:00Z brown": set(),
    "after:2030-05-04T11:00Z brown": {"fox", "hen"},
    "after:2030-05-04T13:00Z brown": set(),
    "-after:2030-05-04T13:00Z brown": {"fox", "hen"},
    "http://needle foo:bar": set(),
    "sure:C++": {"odd"},
    '"tool:search_files"': set(),
    '"bro"': set(),
    "lazy bro": {"fox", "hen"},
    "getUserName": {"code"},
    "getusername": {"code"},
    "user name": {"code"},
    "userName": {"code"},
    "getUserNa": {"code"},
    "user_model": {"code"},
    "src/app/user_model.py": {"code"},
    "app/user": {"code"},
    "model.py": {"code"},
    "model.js": set(),
    "--dry-run": {"code"},
    "dry-run": {"code"},
    "x86_64": {"code"},
    "x86": {"code"},
    "HTTPServer": {"code"},
    "httpserver": {"code"},
    "http server": {"code"},
    "server": {"code"},
    "東京": {"tokyo"},
    "京タ": {"tokyo"},
    "東京タワー": {"tokyo"},
    "京東": set(),
    "タワー 東京": {"tokyo"},
    "東京 -タワー": set(),
    "서울": {"seoul"},
    "울에": {"seoul"},
    "ยินดี": {"bangkok"},
    "ดีต้อน": {"bangkok"},
    "cafe": {"coffee"},
    "CAFÉ": {"coffee"},
    "cafe\u0301": {"coffee"},
    "strasse": {"coffee"},
    "straße": {"coffee"},
    "ça va": {"coffee"},
    "naive": {"coffee"},
    "елка": {"moscow"},
    "МОСКВЕ": {"moscow"},
    "हिन्दी": {"hindi"},
    "needle": {"tools"},
    "search_files": {"tools"},
    "pattern": {"tools"},
    "42": {"tools"},
    "haystack.txt": {"tools"},
    "grepping": {"tools"},
    "grepping needle haystack": {"tools"},
    "call-search_files": set(),
    "AND": {"odd"},
    "quoted": {"odd"},
    "NEAR(": {"odd"},
    "near or not": {"odd"},
    "c++": {"odd"},
    "c": {"odd", "coffee"},
    "100%": {"odd"},
    "a b": {"odd", "hen"},
    '"a b"': {"odd"},
    "greeting": {"greetings"},
    "greetings brown": set(),
}


def fill(tx: Transaction) -> dict[int, str]:
    put_thread(tx, "t", "Greetings from everywhere")
    return {put_message(tx, message): name for name, message in MESSAGES.items()}


async def test_queries_find_the_same_on_every_engine(engine: Engine) -> None:
    names = await write(engine, fill)

    def found(tx: Transaction, query: str) -> set[str]:
        return {
            "greetings" if hit.message_id is None or hit.seq is None else names[hit.seq]
            for hit in search(tx, query)
        }

    def all_found(tx: Transaction) -> dict[str, set[str]]:
        return {query: found(tx, query) for query in QUERIES}

    assert await read(engine, all_found) == QUERIES


@each_row(
    "query", ["b", "b l", "fox b", "b -fox", "b OR l", "g", "in:title g", "file:n", "b role:user", "title:g"]
)
@in_empty_store
async def test_common_letters_are_found_like_rare_ones(engine: Engine, query: str) -> None:
    """In a large store, entries are read for a letter that is common. The result is the same."""
    await write(engine, fill)

    def found(tx: Transaction) -> list[tuple[set[int | None], set[int]]]:
        pages = [search(tx, query), search(tx, query, SearchFilter(roles=("user",)))]
        return [({hit.seq for hit in page}, {hit.thread_matches for hit in page}) for page in pages]

    for owner in (None, ""):
        rare = await read(engine, found, owner)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(search_sqlite, "COMMON", 1)
            assert await read(engine, found, owner) == rare
            patch.setattr(search_index, "CANDIDATES", 1)  # messages are counted in the threads
            assert [counts for _, counts in await read(engine, found, owner)] == [
                counts for _, counts in rare
            ]


async def test_a_hit_has_its_position(engine: Engine) -> None:
    def fill_one(tx: Transaction) -> int:
        put_thread(tx, "t", "On gardens", owner="u")
        message = SystemMessage(id="m", content="Water the roses at dawn")
        return put_message(tx, message, owner="u", at=NOW - timedelta(days=1))

    key = await write(engine, fill_one)
    (hit,) = await read(engine, lambda tx: search(tx, "rose"))
    assert (hit.thread_id, hit.message_id, hit.seq, hit.role) == ("t", "m", key, "system")
    assert (hit.resource_id, hit.title, hit.field) == ("u", "On gardens", "text")
    assert (hit.snippet, shown(hit)) == ("Water the roses at dawn", ["roses"])
    assert hit.created_at == NOW - timedelta(days=1)
    assert 0 < hit.score < 1
    (title,) = await read(engine, lambda tx: search(tx, "garden"))
    assert (title.thread_id, title.message_id, title.seq, title.role) == ("t", None, None, None)
    assert (title.field, title.snippet, shown(title), title.created_at) == (
        "title",
        "On gardens",
        ["gardens"],
        NOW,
    )
    assert title.score > 1


FIELDS = {
    ("needle", ()): "tool-input",
    ("pattern", ()): "tool-input",
    ("perhaps", ()): "reasoning",
    ("haystack", ()): "text",
    ("haystack", ("tool-output",)): "tool-output",
    ("haystack", ("tool-output", "text")): "text",
    ("needle", ("tool-input",)): "tool-input",
    ("rusty", ("tool-input", "tool-output")): "tool-output",
    ("haystack", ("reasoning", "tool-input")): None,
    ("perhaps", ("text",)): None,
    ("perhaps -needle", ("reasoning",)): "reasoning",
    ("search_files needle", ("tool-input",)): "tool-input",
    ('"rusty needle"', ("tool-input",)): None,
    ('"rusty needle"', ("tool-output",)): "tool-output",
    ("everywhere", ("title",)): "title",
    ("everywhere", ("text",)): None,
    ("haystack", ("title",)): None,
}


async def test_a_field_can_be_searched_alone(engine: Engine) -> None:
    await write(engine, fill)

    def all_found(tx: Transaction) -> dict[Any, str | None]:
        pages = {
            (query, fields): search(tx, query, SearchFilter(fields=fields)).items for query, fields in FIELDS
        }
        return {arguments: hits[0].field if hits else None for arguments, hits in pages.items()}

    assert await read(engine, all_found) == FIELDS


def fill_two(tx: Transaction) -> None:
    put_thread(tx, "one", "plum jam", agent="claude", project="kitchen")
    put_thread(tx, "two", None, agent="codex", project="garden")
    put_message(tx, "plum tree", thread="one")
    put_message(tx, SystemMessage(id="s", content="plum pudding"), thread="one", at=NOW - timedelta(days=3))
    plum = call("bake", {"fruit": "plum"}, "a pie")
    put_message(tx, AssistantMessage(id="a", content=[plum]), thread="two", at=NOW - timedelta(days=2))


FILTERS: dict[str, tuple[dict[str, Any], set[str | None]]] = {
    "nothing": ({}, {None, "m1", "s", "a"}),
    "thread": ({"thread_id": "two"}, {"a"}),
    "thread with its title": ({"thread_id": "one"}, {None, "m1", "s"}),
    "an unknown thread": ({"thread_id": "three"}, set()),
    "role": ({"roles": ("system",)}, {"s"}),
    "roles": ({"roles": ("system", "assistant")}, {"s", "a"}),
    "tool": ({"tool": "bake"}, {"a"}),
    "other tool": ({"tool": "cook"}, set()),
    "agent": ({"agent": "claude"}, {None, "m1", "s"}),
    "project": ({"project": "garden"}, {"a"}),
    "agent and project": ({"agent": "claude", "project": "garden"}, set()),
    "since": ({"since": NOW - timedelta(days=2)}, {None, "m1", "a"}),
    "until is exclusive": ({"until": NOW - timedelta(days=2)}, {"s"}),
    "between": ({"since": NOW - timedelta(days=2), "until": NOW}, {"a"}),
    "a quote": ({"agent": "' OR 1=1 --"}, set()),
}


async def test_filters_select_hits(engine: Engine) -> None:
    await write(engine, fill_two)

    def all_found(tx: Transaction) -> dict[str, set[str | None]]:
        return {
            name: {hit.message_id for hit in search(tx, "plum", SearchFilter(**narrowing))}
            for name, (narrowing, _) in FILTERS.items()
        }

    assert await read(engine, all_found) == {name: expected for name, (_, expected) in FILTERS.items()}


def fill_three(tx: Transaction) -> None:
    """Threads with different properties, each with one message, and two of them with a title that matches."""
    changes: dict[str, dict[str, Any]] = {
        "red": {"error_count": 2},
        "blue": {},
        "green": {"message_count": 1},
    }
    for name, change in changes.items():
        put_thread(tx, name, "plum" if change else None, agent=f"of {name}", project=f"/home/{name}")
        put_message(tx, UserMessage(id=f"in {name}", content="plum tree"), thread=name)
        tx.run(update(threads).where(threads.c.id == name).values(**change or {"message_count": 1}))
    labels = [("red", "pinned", "true"), ("blue", "gitBranch", '"main"'), ("red", "gitBranch", '"main"')]
    for thread, name, value in labels:
        tx.run(insert(thread_labels).values(owner="", thread_id=thread, name=name, value=value))
    tx.run(insert(thread_labels).values(owner="", thread_id="blue", name=tag_label("fruit"), value="true"))
    run = {"owner": "", "id": "r1", "thread_id": "blue", "last_seq": 0, "sealed": False}
    tx.run(insert(runs).values(**run, status="running", created_at=NOW, started_at=NOW))


THREAD_FILTERS: dict[str, tuple[ThreadFilter, set[str]]] = {
    "no condition": (ThreadFilter(), {"red", "blue", "green"}),
    "pinned": (ThreadFilter(pinned=True), {"red"}),
    "not pinned": (ThreadFilter(pinned=False), {"blue", "green"}),
    "errors": (ThreadFilter(has_errors=True), {"red"}),
    "no errors": (ThreadFilter(has_errors=False), {"blue", "green"}),
    "running": (ThreadFilter(active=True), {"blue"}),
    "a tag": (ThreadFilter(tags=("fruit",)), {"blue"}),
    "metadata": (ThreadFilter(metadata={"gitBranch": "main"}), {"red", "blue"}),
    "ids": (ThreadFilter(ids=("green", "blue", "none")), {"green", "blue"}),
    "an agent": (ThreadFilter(agent="of green"), {"green"}),
    "a project": (ThreadFilter(project="/home/green"), {"green"}),
    "a model": (ThreadFilter(model="opus"), set()),
    "a text": (ThreadFilter(text="in:title plum"), {"red", "green"}),
    "empty": (ThreadFilter(empty=True), {"red"}),
    "all together": (ThreadFilter(pinned=False, has_errors=False, active=False), {"green"}),
}


async def test_a_search_has_the_filters_of_threads(engine: Engine) -> None:
    """The same threads are found in titles and messages, counted, and listed by the filter."""
    await write(engine, fill_three)

    def all_found(tx: Transaction) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for name, (wanted, _) in THREAD_FILTERS.items():
            page = search(tx, "plum", SearchFilter(threads=wanted))
            found[name] = {hit.thread_id for hit in page if hit.message_id is not None}
            assert found[name] == {thread.id for thread in list_threads(tx, wanted)}, name
            titled = {hit.thread_id for hit in page if hit.message_id is None}
            assert titled == found[name] & {"red", "green"}, name
            assert (page.threads, page.matches) == (len(found[name]), len(found[name])), name
        return found

    expected = {name: ids for name, (_, ids) in THREAD_FILTERS.items()}
    for owner in (None, ""):
        assert await read(engine, all_found, owner) == expected
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(search_index, "CANDIDATES", 1)  # messages are counted in the threads
            pinned = SearchFilter(threads=ThreadFilter(pinned=True))
            (*_, hit) = await read(engine, lambda tx, f=pinned: search(tx, "plum", f), owner)  # type: ignore[misc] # bound now
            assert (hit.thread_id, hit.thread_matches) == ("red", 1)


BAD: dict[str, dict[str, Any]] = {
    "an unknown field": {"fields": ("body",)},
    "an invalid cursor": {"cursor": "?"},
    "a cursor of another list": {"cursor": to_cursor("a")},
    "a NUL in a filter": {"agent": "a\x00"},
    "a NUL in a filter of threads": {"threads": ThreadFilter(model="a\x00")},
    "an empty query": {"query": " "},
    "only exclusions": {"query": "-plum -tool:bake"},
    "a filter alone": {"query": "", "tool": "bake"},
    "a time that is not one": {"query": "plum before:soon"},
}


@each_row("arguments", BAD.values(), ids=BAD)
async def test_invalid_arguments_are_refused(engine: Engine, arguments: dict[str, Any]) -> None:
    arguments = dict(arguments)
    query, cursor = arguments.pop("query", "plum"), arguments.pop("cursor", None)
    with pytest.raises(StoreError):
        await read(engine, lambda tx: search(tx, query, SearchFilter(**arguments), cursor=cursor))


async def test_titles_come_first_and_the_better_match_before_the_worse(engine: Engine) -> None:
    def work(tx: Transaction) -> None:
        put_thread(tx, "t", "All about owls")
        put_message(tx, AssistantMessage(id="best", content="owls, owls, owls"))
        reasoning = ReasoningPart(text="owls")
        put_message(tx, AssistantMessage(id="thought", content=[reasoning, TextPart(text="and much else")]))
        put_message(tx, AssistantMessage(id="worse", content="of owls and of " + "many other birds " * 20))

    await write(engine, work)
    hits = (await read(engine, lambda tx: search(tx, "owls"))).items
    assert [hit.message_id for hit in hits][:2] == [None, "best"]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len(hits) == 4


async def test_the_newest_of_equal_matches_comes_first(engine: Engine) -> None:
    def work(tx: Transaction) -> list[int]:
        put_thread(tx, "t")
        return [put_message(tx, "same words") for _ in range(5)]

    keys = await write(engine, work)
    hits = await read(engine, lambda tx: search(tx, "same"))
    assert [hit.seq for hit in hits] == keys[::-1]


async def test_an_owner_finds_only_their_messages(engine: Engine) -> None:
    def work(tx: Transaction) -> None:
        for owner in ("", "ann", "ben"):
            put_thread(tx, "t", "secret plan", owner=owner)
            put_message(tx, f"the secret of {owner or 'no owner'}", owner=owner)

    await write(engine, work)
    arguments: dict[str, dict[str, Any]] = {
        "plain": {},
        "thread": {"thread_id": "t"},
        "field": {"fields": ("text",)},
    }
    for owner in ("ann", "ben", "", "eve", "' OR ''='"):
        for narrowing in arguments.values():
            hits = await read(engine, lambda tx, n=narrowing: search(tx, "secret", SearchFilter(**n)), owner)  # type: ignore[misc] # bound now
            assert {hit.resource_id for hit in hits} <= {owner or None}
            assert len(hits) == (0 if "e" in owner[:1] or "'" in owner else 2 - ("fields" in narrowing))
        threads = await read(engine, lambda tx: thread_ids_matching(tx, "secret"), owner)
        assert {found for found, _ in threads} <= {owner}
    assert len(await read(engine, lambda tx: search(tx, "secret"))) == 6


async def test_other_owners_do_not_crowd_out_the_candidates(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_index, "CANDIDATES", 3)

    def work(tx: Transaction) -> None:
        for owner in ("ann", "ben"):  # ben's are newer
            put_thread(tx, "t", "owls", owner=owner)
            for _ in range(4):
                put_message(tx, "owls", owner=owner)

    await write(engine, work)
    assert len(await read(engine, lambda tx: search(tx, "owls"), "ann")) == 1 + 3
    assert len(await read(engine, lambda tx: search(tx, "owls"))) == 2 + 3


async def test_deleted_entries_are_not_found(engine: Engine) -> None:
    def fill_three(tx: Transaction) -> list[int]:
        thread = put_thread(tx, "t", "owls", owner="ann")
        return [-thread, put_message(tx, "owls", owner="ann"), put_message(tx, "owls", owner="ann")]

    keys = await write(engine, fill_three)

    async def found() -> int:
        return await read(engine, lambda tx: len(search(tx, "owls")))

    await write(engine, lambda tx: search_index.delete(tx, [("ann", key) for key in keys]), owner="ben")
    await write(engine, lambda tx: search_index.delete(tx, [("ben", key) for key in keys]))
    await write(engine, lambda tx: search_index.delete(tx, [("ann", 12345), ("ann", -12345)]))
    assert await found() == 3
    await write(engine, lambda tx: search_index.delete(tx, [("ann", keys[1])]), owner="ann")
    assert await found() == 2
    await write(engine, lambda tx: search_index.delete(tx, [("ann", key) for key in keys]))
    assert await found() == 0
    assert await read(engine, lambda tx: thread_ids_matching(tx, "owls")) == []


async def test_a_reindexed_entry_is_found_by_its_new_text(engine: Engine) -> None:
    def work(tx: Transaction) -> None:
        put_thread(tx, "t")
        key = put_message(tx, "herons")
        search_index.delete(tx, [("", key)])
        search_index.add(tx, [SearchEntry("", key, "", SearchFields("cranes", "", "", ""))])

    await write(engine, work)
    assert len(await read(engine, lambda tx: search(tx, "cranes"))) == 1
    assert len(await read(engine, lambda tx: search(tx, "herons"))) == 0


async def test_a_deleted_row_is_not_found(engine: Engine) -> None:
    def work(tx: Transaction) -> None:
        put_thread(tx, "t", "herons")
        put_message(tx, "herons")
        entries = [("", 777), ("", -777), ("eve", 1), ("eve", -1)]
        strays = [
            entry for entry in entries if not tx.is_sqlite or abs(entry[1]) == 777
        ]  # one row for each key there
        search_index.add(tx, [SearchEntry(owner, key, "herons", NO_FIELDS) for owner, key in strays])

    await write(engine, work)
    assert len(await read(engine, lambda tx: search(tx, "herons"))) == 2
    assert await read(engine, lambda tx: thread_ids_matching(tx, "herons")) == [("", "t")]


@each_row("size", [1, 3, 7, 100])
@in_empty_store
async def test_pages_have_every_hit_once(engine: Engine, size: int) -> None:
    def work(tx: Transaction) -> int:
        for number in range(3):
            put_thread(tx, f"t{number}", "owls" if number else "hens")
        texts = ["owls " * (1 + number % 3) + "and hens " * (number % 5) for number in range(12)]
        return len([put_message(tx, text, thread=f"t{n % 3}") for n, text in enumerate(texts)])

    count = 2 + await write(engine, work)
    seen: list[tuple[str, int | None]] = []
    cursor: str | None = None
    scores: list[float] = []
    while True:
        page = await read(engine, lambda tx, at=cursor: search(tx, "owls", limit=size, cursor=at))  # type: ignore[misc] # bound now
        seen.extend((hit.thread_id, hit.seq) for hit in page)
        scores.extend(hit.score for hit in page)
        assert len(page) == size or page.next is None
        cursor = page.next
        if cursor is None:
            break
        await write(
            engine, lambda tx: put_message(tx, "owls owls owls", thread="t0")
        )  # indexed after the first page
    assert len(seen) == len(set(seen)) == count
    if size == 100:
        assert scores == sorted(scores, reverse=True)


async def test_only_the_newest_candidates_are_ranked(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_index, "CANDIDATES", 10)

    def work(tx: Transaction) -> list[int]:
        put_thread(tx, "t")
        return [put_message(tx, "owls " * (20 - number)) for number in range(15)]

    keys = await write(engine, work)
    hits = await read(engine, lambda tx: search(tx, "owls", limit=100))
    assert {hit.seq for hit in hits} == set(keys[5:])


MATCHING: dict[str, list[tuple[str, str]]] = {
    "plum": [("", "one"), ("", "two")],
    "jam": [("", "one")],
    "pie": [("", "two")],
    "plum -pie": [("", "one")],
    "cherry": [],
    "plum OR nothing tool:bake": [("", "two")],
    "tool:bake": [("", "two")],
    "title:plum": [("", "one")],
    "project:garden": [("", "two")],
}


@each_row(("query", "expected"), MATCHING.items(), ids=MATCHING)
@in_empty_store
async def test_threads_match_by_title_or_message(
    engine: Engine, query: str, expected: list[tuple[str, str]]
) -> None:
    await write(engine, fill_two)
    assert sorted(await read(engine, lambda tx: thread_ids_matching(tx, query))) == expected
    assert len(await read(engine, lambda tx: thread_ids_matching(tx, query, limit=1))) == min(
        1, len(expected)
    )


async def test_many_entries_are_indexed_at_once(engine: Engine) -> None:
    def work(tx: Transaction) -> None:
        put_thread(tx, "t")
        keys = [put_message(tx, "") for _ in range(50)]
        search_index.delete(tx, [("", key) for key in keys])
        search_index.add(
            tx, [SearchEntry("", key, "", SearchFields(f"number {key}", "", "", "")) for key in keys]
        )
        search_index.add(tx, [])
        search_index.delete(tx, [])

    await write(engine, work)
    assert len(await read(engine, lambda tx: search(tx, "number", limit=100))) == 50


@each_row("numbers", [(10**30, 10**30, 10**30), (-5, 10**30, 10**30), (0, -1, -(10**30))])
@in_empty_store
async def test_a_forged_cursor_has_no_effect(engine: Engine, numbers: tuple[int, int, int]) -> None:
    await write(engine, fill_two)
    cursor = to_cursor(*numbers)
    assert len(await read(engine, lambda tx: search(tx, "plum", cursor=cursor))) in (0, 4)


BIRDS = b"herons and owls"
HASH = sha256(BIRDS).hexdigest()
MOVES = f'[[["parts",0,"output","value"],"{HASH}","text",null]]'


def listed(output: str) -> Message:
    part = ToolCallPart(
        id="c", name="list_birds", state="output-available", input={}, output=TextOutput(value=output)
    )
    return AssistantMessage(id="m", content=[part])


@each_row(("there", "fields"), list(product((True, False), ((), ("tool-output",)))))
@in_empty_store
async def test_a_moved_output_is_shown_from_its_blob_or_by_the_name_of_its_tool(
    engine: Engine, there: bool, fields: tuple[str, ...]
) -> None:
    def work(tx: Transaction) -> None:
        put_thread(tx, "t")
        if there:
            blobs.write(tx, "", [(HASH, BIRDS, None)])
        put_message(tx, listed(BIRDS.decode()), kept=listed(f"blob:sha256:{HASH}#text"), blobs=MOVES)

    await write(engine, work)
    (hit,) = await read(engine, lambda tx: search(tx, "herons", SearchFilter(fields=fields)))
    assert (hit.snippet, shown(hit)) == (("herons and owls", ["herons"]) if there else ("list_birds", []))


def fill_threads(tx: Transaction) -> None:
    """Three threads: one with a title that matches, one with many matches, one with an owner."""
    put_thread(tx, "titled", "Of owls")
    put_thread(tx, "many", "Birds")
    put_thread(tx, "owned", "Birds", owner="ann")
    for number in range(7):
        put_message(tx, f"owls {'and hens ' * number}", thread="many")
    put_message(tx, "owls " * 9, thread="titled")
    put_message(tx, "no match", thread="many")
    put_message(tx, "owls, and much else " * 5, thread="owned", owner="ann")


@each_row("candidates", [1000, 4])
@in_empty_store
async def test_hits_are_grouped_by_thread_with_the_number_of_its_messages(
    engine: Engine, candidates: int
) -> None:
    """The number does not depend on how many messages are ranked."""
    await write(engine, fill_threads)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_index, "CANDIDATES", candidates)
        hits = (await read(engine, lambda tx: search(tx, "owls", per_thread=2))).items
    groups = {name: [hit for hit in hits if hit.thread_id == name] for name in ("titled", "many", "owned")}
    assert [hit.thread_id for hit in hits] == [
        one.thread_id for group in sorted_by(hits, groups) for one in group
    ]
    assert [hit.field for hit in groups["titled"]] == ["title", "text"]
    assert len(groups["many"]) == 2
    assert {name: {hit.thread_matches for hit in group} for name, group in groups.items()} == {
        "titled": {1},
        "many": {7},
        "owned": {1},
    }
    assert hits[0].thread_id == "titled"


def sorted_by(hits: Sequence[SearchHit], groups: dict[str, list[SearchHit]]) -> list[list[SearchHit]]:
    """The groups in the order in which their threads occur first."""
    return [groups[name] for name in dict.fromkeys(hit.thread_id for hit in hits)]


async def test_a_thread_that_only_its_title_matches_has_no_matching_messages(engine: Engine) -> None:
    await write(engine, fill_threads)
    (hit,) = await read(engine, lambda tx: search(tx, "birds", SearchFilter(thread_id="many"), per_thread=3))
    assert (hit.field, hit.thread_matches) == ("title", 0)


@each_row("size", [1, 2, 3])
@in_empty_store
async def test_pages_of_groups_have_every_hit_once(engine: Engine, size: int) -> None:
    await write(engine, fill_threads)
    whole = (await read(engine, lambda tx: search(tx, "owls", per_thread=2))).items
    seen: list[SearchHit] = []
    cursor: str | None = None
    while True:
        page = await read(
            engine,
            lambda tx, at=cursor: search(tx, "owls", limit=size, cursor=at, per_thread=2),  # type: ignore[misc] # bound now
        )
        seen.extend(page)
        cursor = page.next
        if cursor is None:
            break
        await write(
            engine, lambda tx: put_message(tx, "owls and hens", thread="titled")
        )  # after the first page
    assert [(hit.thread_id, hit.seq) for hit in seen] == [(hit.thread_id, hit.seq) for hit in whole]


async def test_a_query_without_words_lists_the_newest_messages(engine: Engine) -> None:
    await write(engine, fill_two)
    hits = await read(engine, lambda tx: search(tx, "after:2020-01-01"))
    assert [hit.message_id for hit in hits] == ["m1", "a", "s"]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    (hit,) = await read(engine, lambda tx: search(tx, "tool:bake"))
    assert (hit.field, hit.snippet.split()[0], hit.highlights) == ("tool-input", "bake", ())
