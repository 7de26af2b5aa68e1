"""Rows that are written and read with SQL."""

from typing import Any

import pytest

from partita.errors import StoreError
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.types.json import Json, dumps
from partita.types.messages import AssistantMessage
from partita.types.parts import DataPart, TextPart
from tests.docs.blocks import all_blocks
from tests.store.engines import in_a_file_and_on_a_server
from tests.store.examples import tool_call_message, user_message
from tests.store.old_rows import set_content
from tests.tables import each_row

on_a_server = pytest.mark.parametrize("url", ["postgresql"], indirect=True)

INSERT = """
INSERT INTO messages (owner, thread_id, seq, role, type, content, active, internal,
    has_tool_calls, has_reasoning, has_files, has_errors, preview)
VALUES ('', 't', 9, '{role}', '{type}', '{{"format":2,"parts":[]}}', true, false,
    false, false, false, false, '')
"""


async def rows(store: Store, statement: str) -> list[tuple[Any, ...]]:
    def read(tx: Transaction) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in tx.sql(statement)]

    return await store.read(read)


async def write(store: Store, statement: str) -> None:
    await store.write(lambda tx: tx.sql(statement) and None)


@in_a_file_and_on_a_server
async def test_the_database_checks_roles_and_types_and_fills_in_ids_and_times(store: Store) -> None:
    await store.threads.create("t")
    (first,) = await store.messages.save([user_message("m1")], thread_id="t")
    for bad in ({"role": "ghost", "type": "text"}, {"role": "user", "type": "v2"}):
        with pytest.raises(StoreError):
            await write(store, INSERT.format(**bad))
    await write(store, INSERT.format(role="user", type="text"))
    (_, found) = (await store.messages.list("t")).items
    assert len(found.id) == 36
    assert found.created_at is not None
    assert first.created_at is not None
    assert abs((found.created_at - first.created_at).total_seconds()) < 60


ESCAPED: dict[str, tuple[str, str]] = {
    "NUL": ("a\x00b", r"a\u0000b"),
    "two of them": ("\x00\x00", r"\u0000\u0000"),
    "after a backslash": ("\\\x00", r"\\u0000"),
    "the text of an escape": (r"\u0000", r"\u0000"),
    "half a pair": ("\ud83d!", r"\ud83d!"),
    "the other half": ("\ude00", r"\ude00"),
    "a pair beside half of one": ("🏮\ud83d", "🏮\\ud83d"),
    "letters": ("Ünïcödé \U0001f3ee", "Ünïcödé \U0001f3ee"),
}


@each_row(("text", "shown"), ESCAPED.values(), ids=ESCAPED)
@on_a_server
async def test_the_view_returns_any_text(store: Store, text: str, shown: str) -> None:
    if await store.threads.get("t") is None:
        await store.threads.create("t")
    await store.messages.save([AssistantMessage(id="m", content=[TextPart(text)])], thread_id="t")
    assert await rows(store, "SELECT content #>> '{parts,0,text}' FROM message_contents") == [(shown,)]
    found = await store.messages.get("t", "m")
    assert found is not None
    assert found.content.parts == (TextPart(text),)  # unchanged


@on_a_server
async def test_text_that_is_not_json_is_a_json_string(store: Store) -> None:
    await store.threads.create("t")
    await store.messages.save([user_message("m1")], thread_id="t")
    for content in ("Just words.", '{"format":2,"parts":[{', ""):
        await set_content(store, "m1", content, "t")
        assert await rows(store, "SELECT content FROM message_contents") == [(content,)]


@on_a_server
async def test_contents_are_found_with_an_index(store: Store) -> None:
    await store.threads.create("t")
    data = AssistantMessage(id="m3", content=[DataPart(name="weather", data={"city": "Turku", "rain": True})])
    await store.messages.save([user_message("m1"), tool_call_message("m2"), data], thread_id="t")
    wanted: dict[str, Json] = {
        "m2": {"parts": [{"type": "tool-call", "name": "measure", "input": {"what": "lighthouse"}}]},
        "m3": {"parts": [{"data": {"rain": True}}]},
    }
    for name, pattern in wanted.items():
        query = f"SELECT id FROM message_contents WHERE content @> '{dumps(pattern).decode()}'"
        assert await rows(store, query) == [(name,)]

    def plan(tx: Transaction) -> str:
        tx.sql("SET LOCAL enable_seqscan = off")
        return "\n".join(str(row[0]) for row in tx.sql(f"EXPLAIN {query}"))

    assert "messages_by_content" in await store.read(plan)
    (example,) = [block.text for block in all_blocks("sql")]
    assert await rows(store, example) == [("t", "measure", 1, 0)]
    calls = await rows(store, "SELECT id FROM message_contents WHERE has_tool_calls")
    assert calls == [("m2",)]
