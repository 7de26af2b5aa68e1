"""Messages of any format become a session file that Claude Code can continue."""

from collections.abc import Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from partita.formats.claude_code.format import dump, dump_agents, load
from partita.formats.format import Dumped
from partita.formats.log.session_file import SessionFacts
from partita.types.json import Json, is_object
from partita.types.messages import Message, SystemMessage, ToolCallPart, text_of
from partita.types.parts import SteeringMessagePart, TextPart
from partita.types.tool_results import fold
from tests import canonical

from .claude_records import any_records
from .claude_sessions import check


def texts_of(messages: Sequence[Message]) -> Iterator[str]:
    """The texts of a conversation that are not blank."""
    for message in messages:
        if isinstance(message, SystemMessage):
            yield from [text for text in [text_of(message)] if text.strip()]
            continue
        for part in message.content.parts:
            inner = part.parts if isinstance(part, SteeringMessagePart) else (part,)
            yield from (one.text for one in inner if isinstance(one, TextPart) and one.text.strip())


def calls(messages: Sequence[Message]) -> Iterator[tuple[str, Json]]:
    """The calls of a conversation; inputs that are not objects are `None`."""
    for message in messages:
        for part in message.content.parts:
            if isinstance(part, ToolCallPart):
                yield part.name, part.input if is_object(part.input) else None


conversations = st.lists(canonical.messages(), max_size=4)


@given(messages=conversations)
def test_any_messages_become_a_session_that_can_be_continued(messages: list[Message]) -> None:
    check(dump(messages).payload)


@given(messages=conversations)
def test_texts_and_calls_survive(messages: list[Message]) -> None:
    loaded = load(dump(messages).payload)
    assert not loaded.losses
    assert list(texts_of(loaded.messages)) == list(texts_of(fold(messages)))
    named = [(name or "unknown", input_) for name, input_ in calls(fold(messages))]
    again = [(name, input_) for name, input_ in calls(loaded.messages)]
    assert [name for name, _ in again] == [name for name, _ in named]
    assert all(one == other for (_, one), (_, other) in zip(again, named, strict=True) if other is not None)


@given(messages=st.lists(canonical.messages(canonical.BROKEN_STRINGS), max_size=3))
def test_a_written_session_is_written_back_unchanged(messages: list[Message]) -> None:
    once = dump(messages).payload
    loaded = load(once).messages
    assert dump(loaded) == Dumped(once)
    assert load(dump(loaded).payload).messages == loaded


@given(messages=conversations)
def test_the_same_messages_give_the_same_session(messages: list[Message]) -> None:
    assert dump(messages) == dump(list(messages))


@given(messages=st.lists(canonical.messages(), min_size=1, max_size=3))
def test_writing_messages_of_other_formats_is_never_lossless(messages: list[Message]) -> None:
    assert not dump(messages).lossless


def _came_from(record: Json, message: Message) -> Message:
    """The message with metadata as a reader of session files keeps it, valid or not."""
    return replace(message, content=replace(message.content, metadata={"claudeCode": record}))


MARKS = st.fixed_dictionaries(
    {},
    optional={
        "$line": st.integers(0, 3) | st.just("x"),
        "$string": st.booleans(),
        "$content": st.sampled_from(([], ["x"], [[5]], "x")),
        "$split": st.sampled_from(([1], [2, 1], ["x"], [-1, 3], 5)),
        "$with": st.sampled_from(([0], [1, 0], ["x"], [])),
        "$from": st.sampled_from(("inline", "progress", 5)),
        "without": st.sampled_from((["cwd"], 5)),
    },
)


def without_placeholders(records: Sequence[Json]) -> list[Json]:
    """The records without placeholders of removed lines."""
    return [record for record in records if not is_object(record) or record.get("type") != "progress"]


@given(data=st.data())
def test_unexpected_envelopes_are_accepted(data: st.DataObject) -> None:
    messages = data.draw(st.lists(canonical.messages(), min_size=1, max_size=3))
    marked = [
        _came_from({**record, **data.draw(MARKS)} if is_object(record) else record, message)
        for message in messages
        for record in [data.draw(any_records())]
    ]
    payload = dump(marked).payload
    dump_agents(marked, SessionFacts())
    assert without_placeholders(dump(load(payload).messages).payload) == without_placeholders(payload)
