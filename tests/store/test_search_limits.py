"""Search with any query and any text of any length."""

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection

from partita.errors import StoreError
from partita.store.engines.engine import Engine
from partita.store.search.fields import MAX_FIELD
from partita.store.search.index import thread_ids_matching
from partita.store.search.query import MAX_PHRASE
from partita.store.search.search import search
from partita.store.search.tokens import subwords_of, tokens_of
from partita.store.sql.transaction import Transaction
from partita.store.values import SearchFilter
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import JsonOutput, ReasoningPart, TextPart
from tests.store.emptying import in_empty_store
from tests.tables import each_row

from .searching import put_message, put_thread, read, shown, undone, write

# All examples of a test share one engine: each is rolled back.
PLAIN = st.text()
QUALIFIED = (
    *(("file", value) for value in ("src/app.py", "hens", '"owls and"', "*")),
    *(("tool", value) for value in ("Bash", "ba*", "'")),
    *(("project", value) for value in ("p", "/p", "D:\\x", "~")),
    *(("agent", "a"), ("role", "user"), ("role", "king"), ("in", "text"), ("in", "title"), ("in", "x")),
    *(("title", "owls"), ("title", "o"), ("before", "2031-01-01"), ("after", "2d"), ("after", "soon")),
)
TYPED = st.text(st.sampled_from("ab \"'*-+()[]{}:^&|!<>~,.\\/$?%_;=\x00é東\ud800")) | st.lists(
    st.sampled_from(
        (
            *("AND", "OR", "NOT", "NEAR(", ")", "owls", '"', "-", "*", "text:", "{", "}", ":*", "<->", "--"),
            *(f"{sign}{name}:{value}" for sign in ("", "-") for name, value in QUALIFIED),
        )
    )
).map(" ".join)
INJECTIONS = (
    "' OR 1=1 --",
    "'; DROP TABLE search; --",
    'owls" OR "hens',
    "owls') UNION SELECT 1 --",
    "owner : x",
    "owls:A & hens",
    "$1 ? :x %s %(x)s",
    "\\' \\\\ '' \"\"",
    "\ue000" + "0" * 16,
    "\ue001",
)


def fill(tx: Transaction) -> None:
    put_thread(tx, "t", "owls")
    put_message(tx, "owls and hens")


@given(query=PLAIN | TYPED | st.sampled_from(INJECTIONS), fields=st.sampled_from(((), ("text",), ("title",))))
async def test_any_query_returns_a_page(engine: Engine, query: str, fields: tuple[str, ...]) -> None:
    def work(connection: Connection) -> None:
        def ask(tx: Transaction) -> None:
            fill(tx)
            try:
                found = {hit.message_id for hit in search(tx, query, SearchFilter(fields=fields))}
            except StoreError:
                with pytest.raises(StoreError):
                    thread_ids_matching(tx, query)
            else:
                grouped = search(tx, query, SearchFilter(fields=fields), per_thread=1)
                assert {hit.message_id for hit in grouped} == found <= {None, "m1"}
                assert all(hit.thread_matches == int("m1" in found) for hit in grouped)
                assert len(thread_ids_matching(tx, query)) <= 1
            assert len(search(tx, "owls")) == 2

        undone(connection, ask)

    await engine.write(work)


@each_row("query", INJECTIONS)
@in_empty_store
async def test_no_query_finds_rows_outside_of_its_filter(engine: Engine, query: str) -> None:
    await write(engine, fill)
    with contextlib.suppress(StoreError):
        assert len(await read(engine, lambda tx: search(tx, query))) == 0
    assert len(await read(engine, lambda tx: search(tx, "owls"))) == 2


IDENTIFIERS = st.from_regex(
    r"[a-z]{1,5}([A-Z][a-z0-9]{1,4}){1,3}|[a-z]{1,4}([_./-][a-z0-9]{1,4}){1,3}", fullmatch=True
)
HAN_AND_KANA = st.text(
    st.characters(min_codepoint=0x3041, max_codepoint=0x9FFF, categories=["Lo"]), min_size=1
)
TEXTS = st.lists(PLAIN | IDENTIFIERS | HAN_AND_KANA, min_size=1, max_size=8).map(" ".join)


def queries_of(text: str, data: st.DataObject) -> list[str]:
    """Some words, subwords and phrases of a text."""
    queries: list[str] = []
    words = tokens_of(text)
    if words:
        start = data.draw(st.integers(0, len(words) - 1))
        queries += [words[start], f'"{" ".join(words[start : start + 5])}"', " ".join(words[-8:])]
    queries += subwords_of(text)
    for run in text.split():
        if all("\u3041" <= char <= "\u9fff" for char in run):
            start = data.draw(st.integers(0, len(run) - 1))
            queries.append(run[start : start + data.draw(st.integers(1, 6))])
    return queries


@given(text=TEXTS, data=st.data())
async def test_a_text_is_found_by_its_words_and_subwords(
    engine: Engine, text: str, data: st.DataObject
) -> None:
    queries = queries_of(text, data)

    def work(connection: Connection) -> dict[str, int]:
        def ask(tx: Transaction) -> dict[str, int]:
            put_thread(tx, "t")
            put_message(tx, text)
            return {query: len(search(tx, query)) for query in queries}

        return undone(connection, ask)

    assert await engine.write(work) == dict.fromkeys(queries, 1)


def long_message() -> AssistantMessage:
    """A message of more than a megabyte, with a phrase at both ends of each field."""
    filler = " ".join(f"filler{number % 5000} the" for number in range(20_000))
    text = f"alpha first {filler[: MAX_FIELD - 40]} last omega"
    output = JsonOutput(value=[f"begin {filler[: MAX_FIELD - 60]}", "東京" * 8, "closing remark"])
    call = ToolCallPart(id="c", name="n", state="output-available", input={"x": text}, output=output)
    return AssistantMessage(id="long", content=[TextPart(text=text), ReasoningPart(text=text[::-1]), call])


LONG: dict[str, tuple[dict[str, Any], bool]] = {
    "alpha": ({}, True),
    "omega": ({}, True),
    "alpha omega": ({}, True),
    "alpha remark": ({}, True),
    "alpha nowhere": ({}, False),
    "alpha -omega": ({}, False),
    "alpha -nowhere": ({}, True),
    '"alpha first"': ({}, True),
    '"last omega"': ({}, True),
    '"alpha last"': ({}, False),
    '"closing remark"': ({}, True),
    'alpha -"last omega"': ({}, False),
    'alpha -"omega last"': ({}, True),
    '"filler4321 the filler4322 the"': ({}, True),
    '"filler4321 filler4322"': ({}, False),
    "東京東京": ({}, True),
    "fillerX": ({}, False),
    "filler43": ({}, True),
    "closing": ({"fields": ("text",)}, False),
    "remark": ({"fields": ("tool-output",)}, True),
    '"closing remark" ': ({"fields": ("tool-output",)}, True),
    '"closing remark"  ': ({"fields": ("tool-input",)}, False),
    "omega ": ({"fields": ("tool-input",)}, True),
}


async def test_a_long_message_is_found_like_a_short_one(engine: Engine) -> None:
    def work(tx: Transaction) -> None:
        put_thread(tx, "t")
        put_message(tx, long_message())

    await write(engine, work)

    def ask(tx: Transaction) -> dict[str, bool]:
        return {
            query: len(search(tx, query, SearchFilter(**asked))) == 1 for query, (asked, _) in LONG.items()
        }

    assert await read(engine, ask) == {query: found for query, (_, found) in LONG.items()}
    (hit,) = await read(engine, lambda tx: search(tx, "omega"))
    assert shown(hit) == ["omega"]


WIDE = {
    "one repeated word": "again " * (MAX_FIELD // 6),
    "repeated characters": "東" * MAX_FIELD,
    "words of the maximal length": " ".join(f"{number:064}" for number in range(MAX_FIELD // 65)),
    "wide characters": " ".join(
        chr(0x10400 + number % 40) * 64 + str(number) for number in range(MAX_FIELD // 70)
    ),
    "one very long word": "x" * MAX_FIELD,
    "different words": " ".join(f"w{number}" for number in range(MAX_FIELD // 7)),
}


@each_row("text", WIDE.values(), ids=WIDE)
@in_empty_store
async def test_texts_at_the_limit_are_indexed(engine: Engine, text: str) -> None:
    last = tokens_of(text[-200:])[-1]

    def work(tx: Transaction) -> int:
        put_thread(tx, "t")
        put_message(tx, f"{text} {text}")  # truncated
        return len(search(tx, f'"{last}"'))

    assert await write(engine, work) == 1


async def test_phrases_across_the_parts_of_a_long_text_are_found(engine: Engine) -> None:
    words = [word for number in range(6000) for word in ("the", f"w{number}")]

    def work(tx: Transaction) -> list[int]:
        put_thread(tx, "t")
        put_message(tx, " ".join(words))
        starts = range(0, len(words) - MAX_PHRASE, MAX_PHRASE - 1)
        phrases = {start: " ".join(words[start : start + MAX_PHRASE]) for start in starts}
        return [start for start, phrase in phrases.items() if not thread_ids_matching(tx, f'"{phrase}"')]

    assert await write(engine, work) == []


async def test_very_long_queries_are_accepted(engine: Engine) -> None:
    def work(tx: Transaction) -> list[int]:
        put_thread(tx, "t")
        put_message(tx, "owl " * 300)
        queries = (
            "owl " * 5000,
            "owl." * 5000,
            f'"{"owl " * 5000}"',
            "(" * 5000 + "owl",
            "oWl" * 5000,
            "owl" * 9,
        )
        return [len(search(tx, query)) for query in queries]

    assert await write(engine, work) == [1, 1, 1, 1, 0, 0]
