"""Messages, on every engine."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from partita.errors import NotFoundError, StoreError
from partita.store.connection import open_store
from partita.store.store import Store
from partita.store.values import MessageFilter, ThreadFilter
from partita.types.codec import encode, read_message, to_json
from partita.types.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import DataPart, TextOutput, TextPart, ToolResultPart
from partita.types.value import Extra
from tests.canonical import messages as any_message
from tests.store.emptying import in_empty_store
from tests.store.examples import assistant_message, failed_call_message, tool_call_message, user_message
from tests.tables import each_row


@pytest.fixture
async def thread(store: Store) -> str:
    return await thread_in(store)


async def thread_in(store: Store) -> str:
    """The id of a new thread."""
    await store.threads.create("t1")
    return "t1"


def ids(messages: object) -> list[str]:
    return [message.id for message in messages]  # type: ignore[attr-defined]


async def test_messages_are_read_as_they_were_stored(store: Store, thread: str) -> None:
    saved = await store.messages.save(
        [user_message("m1"), tool_call_message("m2"), failed_call_message("m3")], thread_id=thread
    )
    assert [message.seq for message in saved] == [1, 2, 3]
    assert [message.parent_id for message in saved] == [None, "m1", "m2"]
    assert (await store.messages.list(thread)).items == saved
    assert await store.messages.get(thread, "m2") == saved[1]
    assert await store.messages.get(thread, "m9") is None
    found = await store.threads.get(thread)
    assert found is not None
    assert (found.message_count, found.active_leaf_id) == (3, "m3")


async def test_messages_are_ordered_by_arrival_and_not_by_time(store: Store, thread: str) -> None:
    late, early = datetime(2030, 1, 1, tzinfo=UTC), datetime(1999, 1, 1, tzinfo=UTC)
    await store.messages.save([user_message("m1", created_at=late)], thread_id=thread)
    await store.messages.save(
        [assistant_message("m2", created_at=early), user_message("m3", created_at=early)], thread_id=thread
    )
    assert ids(await store.messages.list(thread)) == ["m1", "m2", "m3"]


async def test_a_message_with_a_known_id_is_updated(store: Store, thread: str) -> None:
    saved = await store.messages.save(
        [user_message("m1"), assistant_message("m2"), user_message("m3")], thread_id=thread
    )
    again = (await store.messages.save([assistant_message("m2", "Forty-one.")], thread_id=thread))[0]
    assert (again.seq, again.created_at, again.parent_id) == (2, saved[1].created_at, "m1")
    assert (await store.messages.list(thread)).items == (saved[0], again, saved[2])
    assert (await store.threads.get(thread)).message_count == 3  # type: ignore[union-attr]


async def test_the_later_of_two_messages_with_one_id_is_stored(store: Store, thread: str) -> None:
    await store.messages.save(
        [user_message("m1", "a"), assistant_message("m2"), user_message("m1", "b")], thread_id=thread
    )
    page = await store.messages.list(thread)
    assert [(m.id, m.seq) for m in page] == [("m1", 1), ("m2", 2)]
    assert page.items[0].content.parts == (TextPart("b"),)


async def test_messages_are_saved_all_or_none(store: Store, thread: str) -> None:
    with pytest.raises(StoreError, match="NUL"):
        await store.messages.save([user_message("m1"), assistant_message("nul\x00")], thread_id=thread)
    with pytest.raises(NotFoundError, match="nowhere"):
        await store.messages.save(
            [user_message("m1", thread_id=thread), user_message("m2", thread_id="nowhere")]
        )
    assert len(await store.messages.list(thread)) == 0


async def test_a_message_is_saved_in_its_thread(store: Store) -> None:
    await store.threads.create("a")
    await store.threads.create("b")
    await store.messages.save(
        [
            user_message("m1", thread_id="b"),
            user_message("m1", thread_id="a"),
            user_message("m2", thread_id="b"),
        ]
    )
    assert ids(await store.messages.list("a")) == ["m1"]
    assert ids(await store.messages.list("b")) == ["m1", "m2"]
    with pytest.raises(StoreError, match="thread id"):
        await store.messages.save([user_message("m3")])


async def test_a_message_of_another_thread_is_refused(store: Store, thread: str) -> None:
    mine = await store.messages.save([user_message("m1")], thread_id=thread)
    other = user_message("m1", "Moved?", thread_id="elsewhere")
    for write in (
        store.messages.save([user_message("m0"), other], thread_id=thread),
        store.runs.start_turn(thread, [other]),
        store.messages.edit(thread, other),
    ):
        with pytest.raises(StoreError, match="'m1' belongs to thread 'elsewhere'") as refused:
            await write
        assert refused.value.where == "$.threadId"
    assert (await store.messages.list(thread)).items == mine
    assert not (await store.runs.list()).items


CALL = ToolCallPart(id="c1", name="measure", state="input-available", input={})


class Refused(NamedTuple):
    """A message that is refused, and the error."""

    message: Message
    where: str
    what: str


UNREADABLE = {
    "a call of a user": Refused(UserMessage(id="m", content=[CALL]), "$.content.parts[0].type", "user"),  # type: ignore[list-item]
    "a text of a tool": Refused(ToolMessage(id="m", content="done"), "$.content.parts[0].type", "tool"),  # type: ignore[arg-type]
    "not a number": Refused(
        AssistantMessage(id="m", content=[replace(CALL, input={"a": [1, float("nan")]})]),
        "$.content.parts[0].input.a[1]",
        "nan",
    ),
    "infinity, in a sub-agent's message": Refused(
        AssistantMessage(
            id="m",
            content=[
                replace(
                    CALL,
                    children=(AssistantMessage(id="n", content=[DataPart(name="d", data=float("-inf"))]),),
                )
            ],
        ),
        "$.content.parts[0].children[0].content.parts[0].data",
        "inf",
    ),
    "not a number in metadata": Refused(
        UserMessage(id="m", content=UserContent(parts=(), metadata={"a": float("nan")})),
        "$.content.metadata.a",
        "nan",
    ),
    "infinity in unknown fields": Refused(
        UserMessage(id="m", content="a", extra=Extra({"score": float("inf")})), "$.score", "inf"
    ),
    "a Python object": Refused(
        AssistantMessage(id="m", content=[DataPart(name="d", data={"at": datetime(2026, 1, 1, tzinfo=UTC)})]),
        "$.content.parts[0].data.at",
        "datetime",
    ),
    "an object": Refused(
        AssistantMessage(id="m", content=[DataPart(name="d", data=object())]),
        "$.content.parts[0].data",
        "object",
    ),
    "a key that is a number": Refused(
        AssistantMessage(id="m", content=[DataPart(name="d", data={1: 2})]),
        "$.content.parts[0].data",
        "key 1",
    ),
    "an unknown state": Refused(
        AssistantMessage(id="m", content=[replace(CALL, state="done")]),  # type: ignore[arg-type]
        "$.content.parts[0].state",
        "done",
    ),
    "an unknown type": Refused(UserMessage(id="m", content="a", type="note"), "$.type", "note"),  # type: ignore[arg-type]
    "an unknown field with the name of a known one": Refused(
        UserMessage(id="m", content=[TextPart("a", extra=Extra({"text": "b"}))]),
        "$.content.parts[0].text",
        "extra",
    ),
}


@each_row("case", UNREADABLE.values(), ids=UNREADABLE)
async def test_an_unreadable_message_is_refused(store: Store, thread: str, case: Refused) -> None:
    for write in (
        store.messages.save([user_message("m0"), case.message], thread_id=thread),
        store.runs.start_turn(thread, [case.message]),
    ):
        with pytest.raises(StoreError) as refused:
            await write
        assert refused.value.where == case.where
        assert case.what in refused.value.what
    assert len(await store.messages.list(thread)) == 0


async def test_unreadable_metadata_is_refused(store: Store, thread: str) -> None:
    never = {"a": [float("nan")]}
    for write in (
        store.threads.create("t2", metadata=never),
        store.runs.open(thread, metadata=never),
        store.runs.start_turn(thread, [user_message("m1")], metadata=never),
    ):
        with pytest.raises(StoreError) as refused:
            await write
        assert refused.value.where == "$.metadata.a[0]"
    assert await store.threads.get("t2") is None


async def test_tuples_and_lone_surrogates_are_json(store: Store, thread: str) -> None:
    kept = DataPart(name="d", data={"pair": (1, 2), "half": "\ud83d", "large": 10**30})
    await store.messages.save([AssistantMessage(id="m", content=[kept])], thread_id=thread)
    found = await store.messages.get(thread, "m")
    assert found is not None
    assert encode(found.content.parts[0]) == encode(kept)


async def test_saving_no_messages_is_allowed(store: Store) -> None:
    assert await store.messages.save([]) == ()


START = datetime(2026, 3, 1, tzinfo=UTC)


async def fill(store: Store, thread: str) -> None:
    """Ten messages: five questions and responses, the fourth pair internal, a notice, a tool message."""
    messages: list[Message] = []
    for number in range(5):
        moment = START + timedelta(hours=number)
        internal = number == 3
        messages.append(user_message(f"q{number}", created_at=moment, internal=internal))
        messages.append(
            (tool_call_message if number == 1 else assistant_message)(
                f"a{number}", created_at=moment, internal=internal
            )
        )
    messages[8] = SystemMessage(
        id="notice", content="compacted", type="event", created_at=messages[8].created_at
    )
    await store.messages.save(messages, thread_id=thread)


LISTS: dict[str, tuple[dict[str, object], list[str]]] = {
    "conversation only, by default": ({}, ["q0", "a0", "q1", "a1", "q2", "a2", "notice", "a4"]),
    "with internal messages": (
        {"internal": None},
        ["q0", "a0", "q1", "a1", "q2", "a2", "q3", "a3", "notice", "a4"],
    ),
    "internal messages only": ({"internal": True}, ["q3", "a3"]),
    "the last three": ({"order": "desc", "limit": 3}, ["a4", "notice", "a2"]),
    "after a number": ({"after": 5}, ["a2", "notice", "a4"]),
    "before a number": ({"before": 3}, ["q0", "a0"]),
    "the two before a number": ({"before": 5, "order": "desc", "limit": 2}, ["a1", "q1"]),
    "between numbers": ({"after": 1, "before": 5}, ["a0", "q1", "a1"]),
    "since, inclusive": ({"since": START + timedelta(hours=4)}, ["notice", "a4"]),
    "until, exclusive": ({"until": START + timedelta(hours=1)}, ["q0", "a0"]),
    "by role": ({"roles": ["user"]}, ["q0", "q1", "q2"]),
    "by roles": ({"roles": ["user", "system"]}, ["q0", "q1", "q2", "notice"]),
    "by type": ({"types": ["tool"]}, ["a1"]),
    "events": ({"types": ["event"]}, ["notice"]),
    "around one": ({"around": "q2", "previous": 2, "following": 1}, ["q1", "a1", "q2", "a2"]),
    "around one, with internal messages": (
        {"around": "a3", "previous": 1, "following": 1, "internal": None},
        ["q3", "a3", "notice"],
    ),
    "around the first": ({"around": "q0", "previous": 5, "following": 0}, ["q0"]),
    "all of them": ({"limit": None}, ["q0", "a0", "q1", "a1", "q2", "a2", "notice", "a4"]),
}


@each_row(("wanted", "expected"), LISTS.values(), ids=LISTS)
@in_empty_store
async def test_messages_are_listed_by_filter(
    store: Store, wanted: dict[str, object], expected: list[str]
) -> None:
    await fill(store, await thread_in(store))
    options = {name: wanted[name] for name in ("order", "limit", "previous", "following") if name in wanted}
    rest = {name: value for name, value in wanted.items() if name not in (*options, "around")}
    filter_ = MessageFilter(**rest)  # type: ignore[arg-type]
    found: object
    if isinstance(around := wanted.get("around"), str):
        found = await store.messages.around("t1", around, filter_, **options)  # type: ignore[arg-type]
    else:
        found = await store.messages.list("t1", filter_, **options)  # type: ignore[arg-type]
    assert ids(found) == expected


@each_row("order", ["asc", "desc"])
@in_empty_store
async def test_pages_cover_everything_once(store: Store, order: str) -> None:
    thread = await thread_in(store)
    await fill(store, thread)
    whole = ids(await store.messages.list(thread, order=order))  # type: ignore[arg-type]
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = await store.messages.list(thread, limit=3, order=order, cursor=cursor)  # type: ignore[arg-type]
        seen += ids(page)
        cursor = page.next
        if cursor is None:
            break
    assert seen == whole


async def test_messages_of_an_unknown_thread(store: Store, thread: str) -> None:
    with pytest.raises(NotFoundError, match="nowhere"):
        await store.messages.list("nowhere")
    with pytest.raises(NotFoundError, match="m9"):
        await store.messages.around(thread, "m9")
    assert await store.messages.get("nowhere", "m1") is None
    with pytest.raises(StoreError, match="cursor"):
        await store.messages.list(thread, cursor="seven")


async def test_a_part_can_be_changed(store: Store, thread: str) -> None:
    await store.messages.save([tool_call_message("m1")], thread_id=thread)
    changed = await store.messages.update_part(thread, "m1", 2, TextPart("It is 42 metres tall."))
    assert changed.content.parts[2] == TextPart("It is 42 metres tall.")
    assert await store.messages.get(thread, "m1") == changed
    with pytest.raises(StoreError, match="no part 3"):
        await store.messages.update_part(thread, "m1", 3, TextPart("x"))
    with pytest.raises(NotFoundError):
        await store.messages.update_part(thread, "m2", 0, TextPart("x"))


async def test_a_thread_is_consistent_after_deleting_messages(store: Store, thread: str) -> None:
    await store.messages.save(
        [user_message("m1"), failed_call_message("m2"), user_message("m3"), assistant_message("m4")],
        thread_id=thread,
    )
    assert await store.messages.delete(thread, ["m2", "m4", "unknown"]) == 2
    left = await store.messages.list(thread)
    assert [(m.id, m.seq, m.parent_id) for m in left] == [("m1", 1, None), ("m3", 3, "m1")]
    found = await store.threads.get(thread)
    assert found is not None
    assert (found.message_count, found.active_leaf_id) == (2, "m3")
    assert [t.id for t in await store.threads.list(ThreadFilter(has_errors=True))] == []
    new = (await store.messages.save([assistant_message("m5")], thread_id=thread))[0]
    assert (new.seq, new.parent_id) == (5, "m3")


async def test_tool_messages_and_unknown_fields_survive(store: Store, thread: str) -> None:
    tool = ToolMessage(id="m1", content=[ToolResultPart(id="c1", name="read", output=TextOutput("x"))])
    odd = read_message(
        {
            "id": "m2",
            "role": "assistant",
            "colour": "teal",
            "content": {"format": 2, "parts": [{"type": "hologram", "depth": 3}], "mood": "calm"},
        }
    )
    saved = await store.messages.save([tool, odd], thread_id=thread)
    listed = (await store.messages.list(thread)).items
    assert listed == saved
    plain = to_json(listed[1])
    assert plain["colour"] == "teal"
    assert plain["content"] == {"format": 2, "parts": [{"type": "hologram", "depth": 3}], "mood": "calm"}


def without_store_fields(message: Message) -> Message:
    """A message without the fields that the store sets."""
    return replace(message, thread_id=None, resource_id=None, seq=None, parent_id=None, created_at=None)


@given(messages=st.lists(any_message(), max_size=4, unique_by=lambda message: message.id))
async def test_any_message_is_read_as_it_was_stored(messages: list[Message]) -> None:
    """On SQLite only: the other engines store the same JSON text."""
    storable = [
        replace(m, id=f"m{number}", thread_id=None, parent_id=None, run_id=None, resource_id=None)
        for number, m in enumerate(messages)
    ]
    async with open_store("memory:") as store:
        await store.threads.create("t")
        await store.messages.save(storable, thread_id="t")
        listed = await store.messages.list("t", MessageFilter(internal=None, branch="all"))
        assert list(map(without_store_fields, listed)) == list(map(without_store_fields, storable))


ODD = ["\x00", "\ud800 half", "emoji 🏮", "ünïcödé", "'; DROP TABLE messages; --", "a" * 100_000]


@each_row("text", ODD)
@in_empty_store
async def test_any_text_is_read_as_it_was_stored(store: Store, text: str) -> None:
    thread = await thread_in(store)
    saved = await store.messages.save([UserMessage(id="m1", content=text)], thread_id=thread)
    assert (await store.messages.list(thread)).items == saved
    again = await store.messages.get(thread, "m1")
    assert isinstance(again, UserMessage)
    assert again.content.parts == (TextPart(text),)


async def test_the_type_of_a_message_is_kept(store: Store, thread: str) -> None:
    event = AssistantMessage(id="m1", content="interrupted", type="event", internal=True)
    await store.messages.save([event], thread_id=thread)
    found = await store.messages.get(thread, "m1")
    assert found is not None
    assert (found.type, found.internal) == ("event", True)
