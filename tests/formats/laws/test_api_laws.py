"""Laws of all APIs of models: requests are valid, and a conversation continues on any other API."""

from collections.abc import Sequence
from copy import deepcopy
from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from partita.formats.conversion import convert, read, write
from partita.formats.format import Loaded
from partita.formats.model_view import model_view
from partita.formats.registry import get_format
from partita.types.codec import read_message, to_json
from partita.types.json import Json, JsonObject, dumps, is_object
from partita.types.messages import Message, ToolMessage, UserMessage
from partita.types.parts import JsonOutput, ToolResultPart
from partita.types.tool_results import expand, fold
from tests import canonical
from tests.rules import APIS, REFUSED, problems
from tests.tables import Failures, each_row

from .apis import HISTORIES, OPAQUE, RESPONSES, TEXTS

PAIRS = list(product(HISTORIES, APIS))


@each_row("name", HISTORIES)
def test_a_history_is_valid_and_round_trips(name: str) -> None:
    assert problems(name, HISTORIES[name]) == []
    result = convert(HISTORIES[name], name, name)
    assert result.payload == HISTORIES[name]
    assert result.losses == ()


@each_row(("name", "path", "value"), [(name, *edit) for name, edits in REFUSED.items() for edit in edits])
def test_rules_refuse_what_the_api_refuses(name: str, path: str, value: Json) -> None:
    body: JsonObject = deepcopy(HISTORIES[name])
    *outer, last = [int(key) if key.isdecimal() else key for key in path.split(".")]
    inside: Json = body
    for key in outer:
        inside = inside[key]
    inside[last] = value
    assert problems(name, body)


@each_row(("source", "target"), PAIRS)
def test_a_history_continues_on_another_api(source: str, target: str) -> None:
    result = convert(HISTORIES[source], source, target)
    assert problems(target, result.payload) == []
    written = dumps(result.payload).decode()
    assert [text for text in TEXTS if text not in written] == []
    if source != target:
        assert [text for text in OPAQUE if text in written] == []


@each_row(("source", "target"), PAIRS)
def test_a_conversation_continues_with_a_response_of_another_api_and_returns(
    source: str, target: str
) -> None:
    began = read(HISTORIES[source], get_format(source))
    family = "openai-chat" if target.startswith("openai-chat") else target
    answered = read(RESPONSES[family], get_format(family))
    renamed = [replace(message, id=f"answer-{message.id}") for message in answered.messages]
    result = ToolResultPart("call_age", "age", JsonOutput({"built": 1905}))
    more = [ToolMessage(id="m-1", content=[result]), UserMessage(id="m-2", content="And the oldest?")]
    messages = fold([*began.messages, *renamed, *more])
    for name in (target, source):
        written = write(Loaded(tuple(messages)), get_format(name))
        assert problems(name, written.payload) == []
        assert "1905" in dumps(written.payload).decode()


@given(
    messages=st.lists(canonical.messages(), min_size=1, max_size=4),
    view=st.sampled_from(["stored", "expanded", "sent"]),
    asks_first=st.booleans(),
)
def test_any_conversation_becomes_a_valid_request(
    messages: list[Message], view: str, asks_first: bool
) -> None:
    question, others = UserMessage(id="?", content="?"), list(map(_with_objects, messages))
    given_: Sequence[Message] = [question, *others] if asks_first else [*others, question]
    if view != "stored":
        given_ = expand(given_) if view == "expanded" else model_view(given_).messages
    failures = Failures(len(APIS))
    for name in APIS:
        with failures.of(name):
            assert problems(name, write(Loaded(tuple(given_)), get_format(name)).payload) == []
    failures.report()


def _with_objects(message: Message) -> Message:
    """Return the message with objects as inputs of calls, as all tool schemas require."""
    value = to_json(message)
    for part in value["content"]["parts"]:
        if part["type"] == "tool-call":
            for name in ("input", "rawInput"):
                if name in part and not is_object(part[name]):
                    part[name] = {"value": part[name]}
    return read_message(value)
