"""What is plain is written as AG-UI messages by a short way: it leads where the long way leads."""

from hypothesis import given
from msgspec.structs import replace

from partita.formats.ag_ui.dump import dump
from partita.formats.losses import Loss
from partita.types.messages import AssistantMessage, Message, Part, ToolCallPart
from partita.types.parts import ReasoningPart, StepStartPart, TextPart
from partita.types.tools import JsonOutput, TextOutput
from tests.tables import each_row

from .test_plain_talk import talks

MORE = (".tokenCount", ".providerMetadata", ".seq", ".citations", ".preliminary")
"""What is told of the members that make parts and messages odd."""


def odd(part: Part) -> Part:
    """The same part, with a member that says nothing or next to nothing."""
    match part:
        case TextPart():
            return replace(part, citations=())
        case ReasoningPart():
            return replace(part, token_count=1)
        case StepStartPart():
            return replace(part, provider_metadata={})
        case ToolCallPart():
            return replace(part, preliminary=False)
        case _:
            return part


def at_length(message: Message) -> Message:
    """The same message, of which nothing is plain."""
    content = message.content
    parts = tuple(odd(part) for part in content.parts)
    return replace(message, seq=7, content=replace(content, parts=parts))


def told(losses: tuple[Loss, ...]) -> list[Loss]:
    return [loss for loss in losses if not loss.path.endswith(MORE)]


@given(talk=talks())
def test_both_ways_write_the_same_and_tell_the_same(talk: list[Message]) -> None:
    short, long = dump(talk), dump([at_length(message) for message in talk])
    assert short.payload == long.payload
    assert list(short.losses) == told(long.losses)


@given(talk=talks())
def test_both_ways_write_the_same_of_sub_agents(talk: list[Message]) -> None:
    def under(children: list[Message]) -> list[Message]:
        call = ToolCallPart("agent", "ask", "input-available", {}, children=tuple(children))
        return [AssistantMessage(id="m", content=[call])]

    short, long = dump(under(talk)), dump(under([at_length(message) for message in talk]))
    assert short.payload == long.payload
    assert list(short.losses) == told(long.losses)


@each_row(
    ("output", "words", "changes"), [(TextOutput("lit"), "lit", 0), (JsonOutput({"a": 1}), '{"a":1}', 1)]
)
def test_a_call_and_its_result(output: TextOutput | JsonOutput, words: str, changes: int) -> None:
    call = ToolCallPart("c", "lamp", "output-available", {"tower": 1}, output=output)
    dumped = dump([AssistantMessage(id="a", content=[call, call])])
    function = {"name": "lamp", "arguments": '{"tower":1}'}
    written = {"id": "c", "type": "function", "function": function}
    assert dumped.payload == [
        {"id": "a", "role": "assistant", "toolCalls": [written, written]},
        {"id": "a#1:results", "role": "tool", "toolCallId": "c", "content": words},
        {"id": "a#1:results:2", "role": "tool", "toolCallId": "c", "content": words},
    ]
    assert len(dumped.losses) == 2 * changes
