"""Plain blocks, items and parts are read and written by a short way. It leads where the long way leads."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from partita.formats.losses import Loss
from partita.formats.openai_responses.answer import Answer
from partita.formats.openai_responses.reading.conversation import read_message, write_message
from partita.formats.openai_responses.reading.items import read_items
from partita.formats.openai_responses.reading.outputs import read_output
from partita.formats.openai_responses.reading.plain_items import plain_part
from partita.formats.openai_responses.request_calls import fit_call_id
from partita.formats.openai_responses.request_outputs import output_item
from partita.formats.openai_responses.request_steps import Step
from partita.formats.openai_responses.writing.parts import plain_losses, shell_losses, tell_part
from partita.formats.openai_responses.writing.turn import read_again
from partita.formats.registry import get_format
from partita.types.json import JsonObject, heal
from partita.types.messages import AssistantPart, Message, ToolCallPart, UserMessage
from partita.types.parts import ReasoningPart, TextPart
from partita.types.tools import JsonOutput, TextOutput, ToolResultPart
from tests import canonical
from tests.tables import each_row

texts = st.sampled_from(["", " ", "a", "two\nlines", "\ud83d", "\ud83d\ude00", "é"])
names = st.sampled_from(["", "c1", "msg_1", "fc_1", "a b", "x" * 70])
objects = st.sampled_from([{}, {"a": [1.5, None]}, {"\ud83d\ude00": "\udfff"}, {"b": {"c": True}}])
written = st.sampled_from(['{"a":1}', '{ "a":1}', "{}", "", "3", '"x"', "{", '{"\\ud83d\\ude00":1}'])
values = st.one_of(st.none(), st.booleans(), texts, objects, st.just([]))
more = st.dictionaries(st.sampled_from(["status", "citations", "id", "caller"]), values, max_size=1)
statuses = st.sampled_from([{}, {"status": "completed"}, {"status": "incomplete"}])
nothing: st.SearchStrategy[JsonObject] = st.builds(dict[str, Any])
ids = st.one_of(nothing, st.fixed_dictionaries({"id": names}))

healed = texts.map(heal)  # as all texts of messages are
outputs = st.one_of(st.builds(TextOutput, healed), st.builds(JsonOutput, values))
ended = st.builds(ToolCallPart, names, names, st.just("output-available"), values, output=outputs)
waiting = st.builds(ToolCallPart, names, names, st.just("input-available"), values)
plain = st.one_of(st.builds(TextPart, healed), st.builds(ReasoningPart, healed), ended, waiting)
any_parts = st.one_of(plain, canonical.parts("assistant"))


@st.composite
def objects_of(draw: st.DrawFn, members: JsonObject, extra: st.SearchStrategy[JsonObject]) -> JsonObject:
    """An object with these members, and now and then with more."""
    return {**draw(st.fixed_dictionaries(members)), **draw(st.one_of(nothing, extra))}


blocks = st.one_of(
    objects_of({"type": st.just("text"), "text": texts}, more),
    objects_of({"type": st.just("thinking"), "thinking": texts, "signature": texts}, more),
    objects_of({"type": st.just("tool_use"), "id": names, "name": names, "input": objects}, more),
)
passages = objects_of({"type": st.just("output_text"), "text": texts, "annotations": st.just([])}, more)
items = st.one_of(
    objects_of(
        {
            "type": st.just("message"),
            "role": st.sampled_from(["assistant", "other"]),
            "content": st.lists(passages, max_size=2),
        },
        st.builds(lambda *both: {**both[0], **both[1]}, ids, statuses),
    ),
    objects_of(
        {"type": st.just("function_call"), "call_id": names, "name": names, "arguments": written},
        st.builds(lambda *both: {**both[0], **both[1]}, ids, statuses),
    ),
)


@given(items)
def test_items_of_responses_are_the_parts_that_their_stream_gives(item: JsonObject) -> None:
    short = plain_part(item)
    assert short is None or [short] == read_items([item], Answer())


@each_row("around", [{}, {"status": "completed"}, {"id": "fc_1", "status": "completed"}])
def test_most_items_of_responses_are_plain(around: JsonObject) -> None:
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": 1}', **around}
    assert [plain_part(call)] == read_items([call], Answer())


@given(st.one_of(st.builds(UserMessage, id=names, content=texts), canonical.messages()))
def test_what_is_said_to_a_model_is_written_as_it_was_read(message: Message) -> None:
    if isinstance(message, UserMessage):
        item = write_message(message)
        assert write_message(read_message(item, "m")) == item


@given(names, texts)
def test_an_output_of_responses_is_written_as_it_was_read(call_id: str, words: str) -> None:
    item = {"type": "function_call_output", "call_id": call_id, "output": words}
    result = read_output(item, "f", "function_call")
    assert output_item(result, "function_call", fit_call_id(call_id), "", []) == [item]


@given(any_parts)
def test_what_responses_lose_of_plain_parts_is_what_reading_them_again_lacks(part: AssistantPart) -> None:
    short = plain_losses(part, "$")
    if short is not None:
        step = Step([], stored=True, whole=True)
        step.add(part, "$")
        written_items = step.whole_items()
        if isinstance(part, ToolCallPart) and part.output is not None:
            result = ToolResultPart(part.id, part.name, part.output)
            written_items += output_item(result, "function_call", part.id, "", [])
        again, _ = read_again(written_items, part)
        if isinstance(part, TextPart):
            again = replace(again, state=part.state)
        assert list(short) == tell_part(part, again, "$")


Shell = Callable[[Message], Iterator[Loss]]
shells: Sequence[Shell] = (
    lambda message: shell_losses(message, UserMessage(id="message-1", content=()), "$"),
)


@each_row("shell", shells, ids=["openai-responses"])
@each_row("id_", ["message-1", "other"])
def test_a_bare_message_loses_what_it_loses_beside_a_thread(shell: Shell, id_: str) -> None:
    bare = UserMessage(id=id_, content="Hello.")
    placed = UserMessage(id=id_, content="Hello.", thread_id="t")
    rest = [loss for loss in shell(placed) if loss.path != "$.threadId"]
    assert list(shell(bare)) == rest
    assert len(rest) == (id_ == "other")


@each_row("bad", [[], {}, 7, None])
def test_ids_types_and_tools_that_are_no_such_thing_make_nothing_fail(bad: Any) -> None:
    call: JsonObject = {"type": "tool_use", "id": bad, "name": "f", "input": {}}
    result: JsonObject = {"type": "web_search_tool_result", "tool_use_id": bad, "content": []}
    talk: list[JsonObject] = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": [result, {**call, "id": "c"}]},
    ]
    said: JsonObject = {"type": bad, "role": "assistant", "content": []}
    payloads: dict[str, JsonObject] = {
        "anthropic-answer": {"type": "message", "content": [call]},
        "anthropic": {"messages": talk},
        "openai-responses-answer": {"output": [said]},
        "openai-responses": {"input": [], "tools": [bad, {"type": "function", "name": "f"}]},
    }
    for name, payload in payloads.items():
        format_ = get_format(name)
        assert format_.load is not None
        assert format_.dump is not None
        format_.dump(format_.load(payload).messages)
