"""Find in a thread, on every engine: each part with the words of a query, in the order of the messages."""

import pytest

from partita.errors import NotFoundError, StoreError
from partita.runtime.error_mask import mask_errors
from partita.store.search import find
from partita.store.store import Store
from partita.types.messages import AssistantMessage, ToolCallPart, UserMessage
from partita.types.parts import ReasoningPart, TextOutput, TextPart
from tests.tables import each_row

LONG = "wind and waves\n" * 20_000 + "the lantern again"

SAVED = [
    UserMessage(id="u1", content="Where is the Lantern? A lantern must be here."),
    AssistantMessage(
        id="a1",
        content=[
            ReasoningPart(text="The keeper moved the lantern."),
            ToolCallPart(
                id="c1",
                name="Task",
                state="output-available",
                input={"lantern": "find it"},
                children=(AssistantMessage(id="s1", content=[TextPart("Yes."), TextPart("No: a LANTERN!")]),),
                output=TextOutput(value="lantern: found; getLantern()"),
            ),
            TextPart("Nothing here."),
        ],
    ),
    AssistantMessage(id="a2", content=[TextPart("It is in the tower")]),
    UserMessage(id="u2", content="Another try", parent_id="u1"),
]


@pytest.fixture(autouse=True)
async def thread(store: Store) -> None:
    await store.threads.create("t")
    await store.threads.create("other")
    await store.messages.save(SAVED, thread_id="t")
    await store.messages.save([UserMessage(id="x", content="lantern")], thread_id="other")


Found = list[tuple[str, str | None, int]]

QUERIES: dict[str, Found] = {
    "lantern": [
        ("u1", "0", 2),
        ("a1", "0", 1),
        ("a1", "1", 2),  # the name of the parameter is not displayed
        ("a1", "1.children.0.1", 1),
    ],
    "tow": [("a2", "0", 1)],
    '"lantern must be"': [("u1", "0", 1)],
    "in:reasoning lantern": [("a1", "0", 1)],
    "try -lantern": [("u2", "0", 1)],
    "tool:Task": [("a1", None, 1)],
    "tool:Task keeper": [("a1", "0", 1)],
    "title:tower lantern": [],
    "fog": [],
}


@each_row(("query", "expected"), QUERIES.items(), ids=list(QUERIES))
async def test_every_occurrence_is_found_in_order(store: Store, query: str, expected: Found) -> None:
    found = await store.find_in_thread("t", query)
    assert [(one.message_id, one.part, one.count) for one in found.items] == expected
    assert found.complete


async def test_capital_letters_are_told_apart_on_request(store: Store) -> None:
    found = await store.find_in_thread("t", "Lantern", match_case=True)
    assert [(one.message_id, one.part, one.words) for one in found.items] == [
        ("u1", "0", ("Lantern",)),
        ("a1", "1", ("Lantern",)),
    ]
    everything = await store.find_in_thread("t", "Lantern")
    assert everything.items[0].words == ("Lantern", "lantern")


async def test_end_users_do_not_get_words_that_may_be_from_an_error(store: Store) -> None:
    found = mask_errors(await store.find_in_thread("t", "l*"))
    assert [one.words for one in found.items] == [()] * len(found.items) != []


async def test_words_in_blobs_are_found(store: Store) -> None:
    call = ToolCallPart(
        id="c2", name="Bash", state="output-available", input={}, output=TextOutput(value=LONG)
    )
    await store.messages.save([AssistantMessage(id="a3", content=[call])], thread_id="t")
    found = await store.find_in_thread("t", "again")
    assert [(one.message_id, one.part, one.count) for one in found.items] == []
    found = await store.find_in_thread("t", "waves")
    assert [(one.message_id, one.part) for one in found.items] == [("a3", "0")]


async def test_the_newest_messages_are_found_if_there_are_many(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "MAX_MESSAGES", 1)
    found = await store.find_in_thread("t", "lantern")
    assert {one.message_id for one in found.items} == {"a1"}
    assert not found.complete


async def test_a_query_or_a_thread_may_be_invalid(store: Store) -> None:
    with pytest.raises(StoreError, match="nothing to search for"):
        await store.find_in_thread("t", "-x")
    with pytest.raises(NotFoundError):
        await store.find_in_thread("nowhere", "lantern")


async def test_a_hit_of_the_search_names_its_part(store: Store) -> None:
    hits = {hit.message_id: hit.part for hit in await store.search("lantern") if hit.thread_id == "t"}
    assert hits["u1"] == "0"
    assert hits["a1"] in ("0", "1", "1.children.0.1")
    (hit,) = await store.search("keeper")
    assert hit.part == "0"
    (hit,) = await store.search("moved in:reasoning")
    assert hit.part == "0"
    (hit,) = await store.search('"no a lantern"')
    assert hit.part == "1.children.0.1"
    (hit,) = await store.search("tool:Task")
    assert hit.part is None
