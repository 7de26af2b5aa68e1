"""Any chats of Gemini CLI are read, with the same result at once and step by step."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from partita.formats.gemini_cli.stream import GeminiStreamDecoder
from partita.stream.accumulator import Accumulator
from partita.types.codec import decode_message, encode
from partita.types.json import Json, JsonObject
from partita.types.messages import Message
from tests.formats.gemini_counts import read
from tests.strategies_json import json_values, texts

IDS = ("m0", "m1", "m2", "m3")
CALL_IDS = ("c0", "c1", "c2")
TIMES = ("2026-05-01T08:00:00.000Z", "2026-05-01T08:00:07.5Z", "2026-05-01T10:00:00+02:00", "soon", None)
RUNNING = ("executing", "awaiting_approval", "validating")
STATUSES = ("success", "error", "cancelled", "odd", *RUNNING)
FIELDS = (
    *("id", "type", "timestamp", "content", "displayContent", "model", "thoughts", "tokens", "toolCalls"),
    *("sessionId", "projectHash", "messages", "summary", "directories", "$set", "$rewindTo", "other"),
)


@st.composite
def calls(draw: st.DrawFn, call_id: str) -> JsonObject:
    call: JsonObject = {"id": call_id, "name": "read_file", "args": {"path": draw(texts())}}
    call["status"] = draw(st.sampled_from(STATUSES))
    if draw(st.booleans()):
        response = {"id": call_id, "name": "read_file", "response": {"output": draw(texts())}}
        call["result"] = [{"functionResponse": response}]
    if draw(st.booleans()):
        call["resultDisplay"] = draw(json_values(2))
    return call


@st.composite
def responses(draw: st.DrawFn, id: str) -> JsonObject:
    thoughts = st.fixed_dictionaries({"subject": texts(), "description": texts()})
    names = draw(st.lists(st.sampled_from(CALL_IDS), unique=True, max_size=2))
    return {
        "id": id,
        "type": "gemini",
        "timestamp": draw(st.sampled_from(TIMES)),
        "content": draw(texts()),
        "model": "gemini-test",
        "thoughts": draw(st.lists(thoughts, max_size=2)),
        "tokens": {"input": draw(st.integers(0, 99)), "output": 1, "total": 1},
        "toolCalls": [draw(calls(f"{id}-{name}")) for name in names],
    }


@st.composite
def chat_messages(draw: st.DrawFn, id: str) -> JsonObject:
    if draw(st.booleans()):
        return draw(responses(id))
    type_ = draw(st.sampled_from(("user", "user", "user", "info", "error", "warning", "odd")))
    content = draw(texts() | st.just("<session_context> here") | results())
    return {"id": id, "type": type_, "timestamp": draw(st.sampled_from(TIMES)), "content": content}


@st.composite
def results(draw: st.DrawFn) -> Json:
    call = f"{draw(st.sampled_from(IDS))}-{draw(st.sampled_from(CALL_IDS))}"
    return [{"functionResponse": {"id": call, "name": "read_file", "response": {"output": draw(texts())}}}]


def any_message() -> st.SearchStrategy[JsonObject]:
    return st.sampled_from(IDS).flatmap(chat_messages)


def records() -> st.SearchStrategy[JsonObject]:
    headers = st.sampled_from(("s-1", "s-1", "s-2")).map(
        lambda name: {"sessionId": name, "projectHash": "9f"}
    )
    return st.one_of(
        any_message(),
        any_message(),
        any_message(),
        headers,
        st.sampled_from((*IDS, "who")).map(lambda name: {"$rewindTo": name}),
        st.lists(any_message(), max_size=3).map(lambda messages: {"$set": {"messages": messages}}),
        st.fixed_dictionaries({"$set": st.dictionaries(st.sampled_from(FIELDS), json_values(2), max_size=2)}),
    )


def random_records() -> st.SearchStrategy[JsonObject]:
    """Objects with the right names in the wrong places."""
    values = json_values(3) | st.sampled_from((*IDS, "user", "gemini", "info")) | records()
    return st.dictionaries(st.sampled_from(FIELDS), values | st.lists(values, max_size=2), max_size=5)


@given(st.lists(random_records() | records(), max_size=8))
def test_any_objects_give_messages_that_can_be_written_and_read(chat: list[JsonObject]) -> None:
    messages, _ = read(chat)
    for message in messages.values():
        assert decode_message(encode(message)) == message
        assert message.parent_id == "" or message.parent_id in messages


@given(st.lists(records() | random_records(), max_size=10), st.sets(st.integers(0, 9)))
def test_the_result_does_not_depend_on_when_messages_are_taken(
    chat: list[JsonObject], looks: set[int]
) -> None:
    assert settled(read(chat, looks)[0]) == settled(read(chat)[0])


def settled(messages: dict[str, Message]) -> dict[str, Message]:
    """Messages without runs: one from before the first run may be repeated in a later one and get it."""
    return {id_: replace(message, run_id=None) for id_, message in messages.items()}


@given(st.lists(records() | random_records(), max_size=10), st.integers(0, 10))
def test_a_longer_chat_keeps_the_ids_of_a_shorter_one(chat: list[JsonObject], length: int) -> None:
    longer, shorter = read(chat)[0], read(chat[:length])[0]
    assert shorter.keys() <= longer.keys()
    for id_, message in shorter.items():
        assert longer[id_].parent_id == message.parent_id
        assert None in (message.run_id, longer[id_].run_id) or message.run_id == longer[id_].run_id


@given(st.lists(any_message(), max_size=8))
def test_the_last_record_of_a_message_is_used(chat: list[JsonObject]) -> None:
    """A message that was written several times has the content of its last record."""
    messages, _ = read(chat)
    for record in {one["id"]: one for one in chat}.values():
        if record["type"] == "gemini" and not has_late(record):
            (alone,) = read([record])[0].values()
            assert messages[record["id"]].content == alone.content


def has_late(record: JsonObject) -> bool:
    """Whether calls still wait for outputs, which may come in other records."""
    return any("result" not in call or call["status"] in RUNNING for call in record["toolCalls"])


@given(
    st.lists(st.sampled_from(IDS), unique=True, min_size=1).flatmap(
        lambda ids: st.tuples(*map(responses, ids))
    )
)
def test_without_some_of_the_records_the_rest_is_the_same(chat: tuple[JsonObject, ...]) -> None:
    whole, _ = read(chat)
    for number, record in enumerate(chat):
        rest = [*chat[:number], *chat[number + 1 :]]
        garbled = [*chat[:number], {"type": record["type"]}, *chat[number + 1 :]]
        for others in (rest, garbled, [*rest, record], [one for one in chat for _ in range(2)]):
            messages, _ = read(others)
            for id_ in messages.keys() & whole.keys():
                assert messages[id_].content == whole[id_].content


EVENTS = ("init", "message", "tool_use", "tool_result", "error", "result", "odd")
EVENT_FIELDS = ("role", "content", "delta", "tool_id", "tool_name", "status", "output", "error", "message")
EVENT_VALUES = ("assistant", "c0", "c1", "error", True)


@st.composite
def events(draw: st.DrawFn) -> Json:
    values = json_values(2) | st.sampled_from(EVENT_VALUES)
    rest = draw(st.dictionaries(st.sampled_from(EVENT_FIELDS), values))
    return {"type": draw(st.sampled_from(EVENTS)), **rest} if draw(st.booleans()) else draw(json_values(2))


@given(st.lists(events(), max_size=10))
def test_any_events_give_chunks_that_fit(stream: list[Json]) -> None:
    decoder = GeminiStreamDecoder()
    accumulator = Accumulator(id="m")
    for event in stream:
        for chunk in decoder.feed(event):
            accumulator.feed(chunk)
    for chunk in decoder.finish():
        accumulator.feed(chunk)
    message = accumulator.finish()
    assert decode_message(encode(message)) == message
