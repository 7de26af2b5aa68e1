"""A history that began with one provider goes on with any other: its API would take every request."""

from collections.abc import Callable, Sequence
from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from partita.formats.answers.model_view import model_view
from partita.formats.converting import convert, read, write
from partita.formats.format import Loaded
from partita.formats.registry import get_format
from partita.types.fold import expand, fold
from partita.types.json import JsonObject, dumps
from partita.types.messages import Message, ToolMessage, UserMessage
from partita.types.tools import JsonOutput, ToolResultPart
from tests import canonical
from tests.rules import anthropic, bedrock, cohere, gemini, openai_chat, openai_responses
from tests.rules.histories import ANSWER, ANSWERS, HISTORIES, KEEPER, LEAD, MORE, PNG, QUESTION
from tests.tables import each_row

RULES: dict[str, Callable[[JsonObject], list[str]]] = {
    "openai-chat": openai_chat.problems,
    "openai-chat-mistral": lambda body: openai_chat.problems(body, openai_chat.MISTRAL),
    "openai-responses": openai_responses.problems,
    "anthropic": anthropic.problems,
    "gemini": gemini.problems,
    "bedrock-converse": bedrock.problems,
    "cohere": cohere.problems,
}
PAIRS = list(product(HISTORIES, RULES))


@each_row("name", HISTORIES)
def test_the_histories_themselves_keep_the_rules(name: str) -> None:
    assert RULES[name](HISTORIES[name]) == []


@each_row("name", HISTORIES)
def test_a_request_comes_back_as_it_was(name: str) -> None:
    result = convert(HISTORIES[name], name, name)
    assert result.payload == HISTORIES[name]
    assert result.losses == ()


@each_row(("source", "target"), PAIRS)
def test_a_history_goes_on_elsewhere(source: str, target: str) -> None:
    result = convert(HISTORIES[source], source, target)
    assert RULES[target](result.payload) == []
    said = dumps(result.payload).decode()
    for words in (KEEPER, QUESTION, LEAD, ANSWER, MORE, PNG, "39", "no answer from the lamp", "height"):
        assert words in said


@each_row(("source", "target"), PAIRS)
def test_it_goes_on_with_what_is_answered_there_and_comes_back(source: str, target: str) -> None:
    began = read(HISTORIES[source], get_format(source))
    family = "openai-chat" if target.startswith("openai-chat") else target
    answered = read(ANSWERS[family], get_format(family))
    messages = fold([*began.messages, *_renamed(answered.messages), *_more()])
    for name in (target, source):
        written = write(Loaded(tuple(messages)), get_format(name))
        assert RULES[name](written.payload) == []
        assert "1905" in dumps(written.payload).decode()


def _renamed(messages: tuple[Message, ...]) -> list[Message]:
    """The messages under ids that nobody else has."""
    return [replace(message, id=f"answer-{message.id}") for message in messages]


def _more() -> list[Message]:
    result = ToolResultPart("call_age", "age", JsonOutput({"built": 1905}))
    return [ToolMessage(id="more-1", content=[result]), UserMessage(id="more-2", content="And the oldest?")]


@each_row(("source", "target"), [pair for pair in PAIRS if pair[0] != pair[1]])
def test_thoughts_that_one_provider_signed_are_not_sent_to_another(source: str, target: str) -> None:
    said = dumps(convert(HISTORIES[source], source, target).payload).decode()
    for opaque in (
        "EqQB-signed",
        "hidden-words",
        "gAAAAB-opaque",
        "c2lnbmVk",
        "opaque-page",
        "YmVkcm9jay",
        "aGlkZGVu",
    ):
        assert opaque not in said


GENERATED = ("bedrock-converse", "cohere")
"""Formats whose rules any conversation keeps. Those of the others are in their own tests."""


@given(
    talk=st.lists(canonical.messages(), min_size=1, max_size=4),
    view=st.sampled_from(["stored", "apart", "sent"]),
)
def test_any_conversation_is_written_as_the_api_takes_it(talk: list[Message], view: str) -> None:
    messages: Sequence[Message] = [UserMessage(id="?", content="?"), *talk]
    if view != "stored":
        messages = expand(messages) if view == "apart" else model_view(messages).messages
    for name in GENERATED:
        dump = get_format(name).dump
        assert dump is not None
        assert RULES[name](dump(messages).payload) == []
