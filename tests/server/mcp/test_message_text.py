"""Messages as text for models: text as it is, reasoning, tool inputs and outputs shortened."""

from partita.runtime.tools.outputs import output_text
from partita.server.mcp.message_text import SHORT, render_message
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
    "reasoning without text": (ReasoningPart(""), ""),
    "a slash command": (DataPart("claude-code-command", {"command-name": "/model"}), "[/model]"),
    "call": (CALL, '[tool Bash, call c1, output-available] {"command":"ls"}\n[output] a.txt'),
    "call without input": (
        ToolCallPart("c", "Look", "input-streaming"), "[tool Look, call c, input-streaming]"),
    "broken input": (
        ToolCallPart("c", "Look", "output-error", raw_input="{a", output=ErrorTextOutput("no JSON")),
        "[tool Look, call c, output-error] {a\n[output] error: no JSON",
    ),
    "file": (FilePart(url="data:,x", media_type="text/csv", filename="t.csv"), "[file t.csv, text/csv]"),
    "image": (ImagePart(url="data:,x"), "[file without a name, of unknown type]"),
    "reasoning file": (
        ReasoningFilePart(url="data:,x", media_type="a/b"), "[file without a name, a/b]"),
    "URL source": (SourceUrlPart("s", "https://a.example", "A"), "[source A] https://a.example"),
    "document source": (SourceDocumentPart("s", "a/b", "Tides"), "[source Tides]"),
    "data": (DataPart("weather", {"wind": 3}), '[data weather] {"wind":3}'),
    "custom": (CustomPart("openai.compaction"), "[openai.compaction]"),
    "steering message": (SteeringMessagePart("s", (TextPart("Stop."),)), "[sent during the response]\nStop."),
    "foreign": (ForeignPart("mastra", {"a": 1}), '[part of mastra] {"a":1}'),
    "unknown": (UnknownPart(Extra({"type": "hologram"})), '[part of unknown type] {"type":"hologram"}'),
    "step start": (StepStartPart(), ""),
}  # fmt: skip


@each_row(("part", "text"), PARTS.values(), ids=PARTS)
def test_render_part(part: Part, text: str) -> None:
    message = AssistantMessage(id="m", content=AssistantContent(parts=(part,)))  # type: ignore[arg-type] # an assistant may hold all of these
    assert render_message(message) == (text, False)


def test_render_a_tool_message() -> None:
    message = ToolMessage(id="m", content=[ToolResultPart("c1", "Bash", TextOutput("a.txt"))])
    assert render_message(message).text == "[result of Bash, call c1]\n[output] a.txt"


def test_render_a_network_execution() -> None:
    question = UserMessage(id="u", content="Who?")
    result = NetworkResult("At Easter, Kari.", (CALL,), (question,))
    execution = NetworkExecution("agent", "keeper", final_result=result)
    message = AssistantMessage(id="m", content=AssistantContent(parts=(), network_execution=execution))
    assert render_message(message).text.startswith("[agent keeper]\nAt Easter, Kari.\n[tool Bash, call c1")
    assert render_message(message).text.endswith("[sub-agent: 1 messages; full: true shows all]")
    assert render_message(message, full=True).text.endswith("[sub-agent, user]\nWho?")


def test_long_reasoning_inputs_and_outputs_are_shortened_unless_full() -> None:
    long = "x" * (SHORT + 5)
    call = ToolCallPart("c1", "Bash", "output-available", long, output=TextOutput(long))
    message = AssistantMessage(id="m", content=[ReasoningPart(long), call, TextPart(long)])
    short = render_message(message)
    assert short.shortened
    assert short.text.count("… [shortened: ") == 3
    assert short.text.endswith(f"\n{long}")  # text parts are never shortened
    full = render_message(message, full=True)
    assert not full.shortened
    assert full.text.count(long) == 4


OUTPUTS: dict[str, tuple[ToolOutput, str]] = {
    "text": (TextOutput("a\n"), "a\n"),
    "JSON": (JsonOutput({"a": [1]}), '{"a":[1]}'),
    "JSON string": (JsonOutput("plain"), "plain"),
    "error": (ErrorTextOutput("gone"), "error: gone"),
    "JSON error": (ErrorJsonOutput({"code": 2}), 'error: {"code":2}'),
    "denied": (ExecutionDeniedOutput("too dear"), "not allowed: too dear"),
    "denied without a reason": (ExecutionDeniedOutput(), "not allowed"),
    "interrupted": (InterruptedOutput("timeout", "after 2 s"), "interrupted (timeout): after 2 s"),
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
