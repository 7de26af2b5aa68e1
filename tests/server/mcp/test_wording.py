"""Messages in words: what was said as it is, what was done in short."""

from partita.server.mcp.wording import SHORT, output_text, words_of
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    NetworkExecution,
    NetworkResult,
    Part,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import (
    ContentOutput,
    CustomPart,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    ReasoningFilePart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    SteeringMessagePart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolResultPart,
    UnknownPart,
)
from partita.types.value import Extra
from tests.tables import each_row

CALL = ToolCallPart("c1", "Bash", "output-available", {"command": "ls"}, output=TextOutput("a.txt"))

PARTS: dict[str, tuple[Part, str]] = {
    "text": (TextPart("Two\nlines"), "Two\nlines"),
    "reasoning": (ReasoningPart("Hm."), "[reasoning] Hm."),
    "reasoning that nobody may read": (ReasoningPart(""), ""),
    "call": (CALL, '[tool Bash, call c1, output-available] {"command":"ls"}\n[output] a.txt'),
    "call without input": (
        ToolCallPart("c", "Look", "input-streaming"), "[tool Look, call c, input-streaming]"),
    "broken input": (
        ToolCallPart("c", "Look", "output-error", raw_input="{a", output=ErrorTextOutput("no JSON")),
        "[tool Look, call c, output-error] {a\n[output] error: no JSON",
    ),
    "file": (FilePart(url="data:,x", media_type="text/csv", filename="t.csv"), "[file t.csv, text/csv]"),
    "picture": (ImagePart(url="data:,x"), "[file without a name, of unknown type]"),
    "file of reasoning": (
        ReasoningFilePart(url="data:,x", media_type="a/b"), "[file without a name, a/b]"),
    "page": (SourceUrlPart("s", "https://a.example", "A"), "[source A] https://a.example"),
    "document": (SourceDocumentPart("s", "a/b", "Tides"), "[source Tides]"),
    "data": (DataPart("weather", {"wind": 3}), '[data weather] {"wind":3}'),
    "custom": (CustomPart("openai.compaction"), "[openai.compaction]"),
    "said meanwhile": (SteeringMessagePart("s", (TextPart("Stop."),)), "[said meanwhile]\nStop."),
    "foreign": (ForeignPart("mastra", {"a": 1}), '[part of mastra] {"a":1}'),
    "unknown": (UnknownPart(Extra({"type": "hologram"})), '[part of unknown type] {"type":"hologram"}'),
    "step": (StepStartPart(), ""),
}  # fmt: skip


@each_row(("part", "words"), PARTS.values(), ids=PARTS)
def test_parts(part: Part, words: str) -> None:
    message = AssistantMessage(id="m", content=AssistantContent(parts=(part,)))  # type: ignore[arg-type] # an assistant may hold all of these
    assert words_of(message) == (words, False)


def test_a_result_that_stands_alone() -> None:
    message = ToolMessage(id="m", content=[ToolResultPart("c1", "Bash", TextOutput("a.txt"))])
    assert words_of(message).text == "[result of Bash, call c1]\n[output] a.txt"


def test_a_network() -> None:
    asked = UserMessage(id="u", content="Who?")
    result = NetworkResult("At Easter, Kari.", (CALL,), (asked,))
    execution = NetworkExecution("agent", "keeper", final_result=result)
    message = AssistantMessage(id="m", content=AssistantContent(parts=(), network_execution=execution))
    assert words_of(message).text.startswith("[agent keeper]\nAt Easter, Kari.\n[tool Bash, call c1")
    assert words_of(message).text.endswith("[sub-agent: 1 messages; full: true shows all]")
    assert words_of(message, full=True).text.endswith("[sub-agent, user]\nWho?")


def test_what_is_long_is_shortened_unless_all_is_wanted() -> None:
    long = "x" * (SHORT + 5)
    call = ToolCallPart("c1", "Bash", "output-available", long, output=TextOutput(long))
    message = AssistantMessage(id="m", content=[ReasoningPart(long), call, TextPart(long)])
    words = words_of(message)
    assert words.shortened
    assert words.text.count("… [shortened: ") == 3
    assert words.text.endswith(f"\n{long}")  # what was said is never shortened
    full = words_of(message, full=True)
    assert not full.shortened
    assert full.text.count(long) == 4


OUTPUTS: dict[str, tuple[ToolOutput, str]] = {
    "text": (TextOutput("a\n"), "a\n"),
    "JSON": (JsonOutput({"a": [1]}), '{"a":[1]}'),
    "JSON that is a text": (JsonOutput("plain"), "plain"),
    "error": (ErrorTextOutput("gone"), "error: gone"),
    "error in JSON": (ErrorJsonOutput({"code": 2}), 'error: {"code":2}'),
    "refusal": (ExecutionDeniedOutput("too dear"), "not allowed: too dear"),
    "refusal without a word": (ExecutionDeniedOutput(), "not allowed"),
    "interruption": (InterruptedOutput("timeout", "after 2 s"), "interrupted (timeout): after 2 s"),
    "content": (
        ContentOutput(
            (
                TextPart("See:"),
                ImagePart(url="data:,x", media_type="image/png", name="chart"),
                ForeignPart("mcp", {"a": 1}),
                UnknownPart(Extra({"type": "t"})),
            )
        ),
        'See:\n[file chart, image/png]\n{"a":1}\n{"type":"t"}',
    ),
}


@each_row(("output", "text"), OUTPUTS.values(), ids=OUTPUTS)
def test_outputs(output: ToolOutput, text: str) -> None:
    assert output_text(output) == text
