"""Removed content is nowhere in a message, and a mark is left in its place."""

from partita.formats.redaction.removal import Choice, Leaving, Remover, is_left_out
from partita.types.chunks import (
    ChildChunk,
    Chunk,
    FileChunk,
    NetworkExecutionEnd,
    ReasoningDelta,
    TextDelta,
    ToolInputStart,
    ToolOutputAvailable,
)
from partita.types.codec import encode, to_json
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    NetworkExecution,
    NetworkResult,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import ContentOutput, FilePart, ReasoningPart, TextOutput, TextPart, ToolResultPart
from partita.types.value import Extra
from tests.tables import each_row

MESSAGES: tuple[Message, ...] = (
    SystemMessage(id="s", content="SYSTEM-WORDS"),
    UserMessage(
        id="u", content=[TextPart("Look."), FilePart(url="data:,FILE-WORDS", media_type="text/plain")]
    ),
    AssistantMessage(
        id="a",
        content=AssistantContent(
            parts=(
                ReasoningPart("REASON-WORDS", provider_metadata={"x": {"signature": "REASON-WORDS"}}),
                ToolCallPart(
                    id="c",
                    name="agent",
                    state="output-available",
                    input={"q": "CALL-WORDS"},
                    output=TextOutput(value="OUTPUT-WORDS"),
                    tool_metadata={"raw": "OUTPUT-WORDS"},
                    extra=Extra({"also": "OUTPUT-WORDS"}),
                    children=(
                        UserMessage(id="k1", content="CHILD-WORDS"),
                        AssistantMessage(id="k2", content=[TextPart("CHILD-WORDS"), TextPart("PART-WORDS")]),
                    ),
                ),
                ToolCallPart(
                    id="d",
                    name="look",
                    state="output-available",
                    output=ContentOutput(
                        value=(TextPart("seen"), FilePart(url="data:,FILE-WORDS", media_type="text/plain"))
                    ),
                ),
                TextPart("It is done."),
            ),
            content="REASON-WORDS CALL-WORDS OUTPUT-WORDS",
            metadata={"copy": ["REASON-WORDS", "CALL-WORDS", "OUTPUT-WORDS", "CHILD-WORDS", "PART-WORDS"]},
        ),
    ),
    AssistantMessage(
        id="n",
        content=AssistantContent(
            parts=(TextPart("Routed."),),
            network_execution=NetworkExecution(
                primitive_type="agent",
                primitive_id="clerk",
                input={"task": "CHILD-WORDS"},
                final_result=NetworkResult(text="CHILD-WORDS"),
            ),
        ),
    ),
    ToolMessage(
        id="t", content=[ToolResultPart(id="c", name="agent", output=TextOutput(value="OUTPUT-WORDS"))]
    ),
)

REMOVED: dict[Leaving, tuple[str, str]] = {
    "reasoning": ("REASON-WORDS", "[left out: reasoning]"),
    "tool-outputs": ("OUTPUT-WORDS", "[left out: the output of a tool]"),
    "tool-calls": ("CALL-WORDS", "[left out: a tool call]"),
    "files": ("FILE-WORDS", "[left out: a file]"),
    "system": ("SYSTEM-WORDS", "[left out: a system message]"),
    "sub-agents": ("CHILD-WORDS", "[left out: the messages of a sub-agent]"),
}


def remaining(choice: Choice) -> str:
    return encode(Remover(choice).messages(MESSAGES)).decode()


@each_row("kind", REMOVED)
def test_a_removed_kind_is_marked_and_other_kinds_stay(kind: Leaving) -> None:
    content, mark = REMOVED[kind]
    text = remaining(Choice(frozenset({kind})))
    assert content in encode(MESSAGES).decode()
    assert content not in text
    assert mark in text
    assert "It is done." in text


def test_a_removed_message_is_marked() -> None:
    text = remaining(Choice(messages=frozenset({"a", "t"})))
    assert "It is done." not in text
    assert "REASON-WORDS" not in text
    assert "OUTPUT-WORDS" not in text
    assert text.count("[left out: a message]") == 2
    assert "SYSTEM-WORDS" in text


@each_row(("path", "content"), [("0", "REASON-WORDS"), ("1.children.1.1", "PART-WORDS"), ("1", "CALL-WORDS")])
def test_a_removed_part_is_marked(path: str, content: str) -> None:
    text = remaining(Choice(parts=frozenset({("a", path)})))
    assert content not in text
    assert text.count("[left out: a part]") == 1
    assert "It is done." in text


def test_an_empty_choice_changes_nothing_and_removals_are_counted() -> None:
    assert Remover(Choice()).messages(MESSAGES) == MESSAGES
    remover = Remover(Choice(frozenset(REMOVED)))
    remover.messages(MESSAGES)
    assert remover.counts["a file"] == 1
    assert remover.counts["a tool call"] == 2


def test_the_messages_stay_readable() -> None:
    for kind in REMOVED:
        messages = Remover(Choice(frozenset({kind}))).messages(MESSAGES)
        assert [message["id"] for message in to_json(messages)] == ["s", "u", "a", "n", "t"]


INNER = ToolCallPart(
    id="e",
    name="look",
    state="output-available",
    input={"q": "CALL-WORDS"},
    output=TextOutput(value="OUTPUT-WORDS"),
)

AGENT = NetworkExecution(
    primitive_type="agent",
    primitive_id="clerk",
    final_result=NetworkResult(
        text="Looked.",
        tool_calls=(INNER,),
        messages=(AssistantMessage(id="k3", content=[ReasoningPart("REASON-WORDS"), INNER]),),
    ),
)
TOOL = NetworkExecution(
    primitive_type="tool",
    primitive_id="look",
    final_result=NetworkResult(tool_calls=(INNER,), value={"seen": "OUTPUT-WORDS"}),
)
LISTED = NetworkExecution(
    primitive_type="agent", primitive_id="clerk", final_result=NetworkResult("Looked.", (INNER,))
)


@each_row("kind", ["reasoning", "tool-outputs", "tool-calls"])
def test_a_kind_is_removed_from_network_executions(kind: Leaving) -> None:
    messages = [
        AssistantMessage(id=str(number), content=AssistantContent(parts=(), network_execution=execution))
        for number, execution in enumerate((AGENT, TOOL, LISTED))
    ]
    content, mark = REMOVED[kind]
    text = encode(Remover(Choice(frozenset({kind}))).messages(messages)).decode()
    assert content not in text
    assert mark in text
    assert "Looked." in text


CHUNK_KINDS: list[tuple[Chunk, Leaving]] = [
    (ReasoningDelta(id="r", delta="x"), "reasoning"),
    (FileChunk(url="data:,x", media_type="text/plain"), "files"),
    (ToolInputStart(tool_call_id="c", tool_name="n"), "tool-calls"),
    (ToolOutputAvailable(tool_call_id="c", output=1), "tool-outputs"),
    (ToolOutputAvailable(tool_call_id="c", output=1), "tool-calls"),
    (NetworkExecutionEnd(), "sub-agents"),
    (NetworkExecutionEnd(NetworkResult(tool_calls=(INNER,))), "tool-outputs"),
    (NetworkExecutionEnd(NetworkResult(value=1)), "tool-calls"),
    (ChildChunk(path=("c",), chunk=TextDelta(id="t", delta="x")), "sub-agents"),
    (ChildChunk(path=("c",), chunk=ReasoningDelta(id="t", delta="x")), "reasoning"),
]


@each_row(("chunk", "kind"), CHUNK_KINDS)
def test_chunks_are_excluded_by_kind(chunk: Chunk, kind: Leaving) -> None:
    assert is_left_out(chunk, frozenset({kind}))
    assert not is_left_out(chunk, frozenset({"system"}))
    assert not is_left_out(TextDelta(id="t", delta="x"), frozenset(REMOVED))
