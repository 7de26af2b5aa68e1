"""Rendering of messages: headers, parts, sub-agents, networks."""

from dataclasses import replace
from datetime import UTC, timedelta

from partita.cli.view.context import ViewContext
from partita.cli.view.message import blocks_of, draw_message, header, model_name
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    NetworkExecution,
    NetworkResult,
    SystemMessage,
    SystemPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import (
    Citation,
    CustomPart,
    DataPart,
    ErrorTextOutput,
    FilePart,
    ReasoningFilePart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    SteeringMessagePart,
    TextOutput,
    TextPart,
    ToolResultPart,
    UnknownPart,
    UrlCitationSource,
)
from partita.types.usage import Usage
from partita.types.value import Extra
from tests.cli.rendering import DEFAULT, FULL, numbered, render, render_blocks, render_part
from tests.cli.sample_threads import AGENT, REASON, START, at, call
from tests.tables import each_row

PARTS: dict[str, tuple[AssistantPart, str]] = {
    "reasoning, folded": (
        ReasoningPart(text=REASON),
        """\
  ∴ The test reads the wall clock, so it fails when a second ends in between. I
    should give the clock a source of time that the test can set. Who else reads
    it? If there is more than one caller, the source belongs into the
    constructor. Let me look before I change anything. Then run everything ten
    times, for a test that fails one time in ten needs more than one run to be
    … 2 more lines
""",
    ),
    "reasoning without text": (
        ReasoningPart(text="", token_count=420),
        "  (encrypted reasoning, 420 tokens)\n",
    ),
    "a source": (SourceUrlPart(source_id="s", url="https://a.example", title="A"), "  ↗ A  https://a.example\n"),
    "a document": (
        SourceDocumentPart(source_id="s", media_type="application/pdf", title="A", filename="a.pdf"),
        "  ↗ A · a.pdf · application/pdf\n",
    ),
    "a citation": (
        TextPart("So it is.", citations=(Citation(source=UrlCitationSource(id="s", url="https://a.example")),)),
        "  So it is.\n  ↗ https://a.example\n",
    ),
    "a file": (
        FilePart(url="data:text/plain,hello", media_type="text/plain", filename="a.txt"),
        "  ▣ file  a.txt · text/plain · 5 B\n",
    ),
    "a reasoning file": (
        ReasoningFilePart(url="https://a.example/f", media_type="image/png"),
        "  ▣ reasoning file  image/png · https://a.example/f\n",
    ),
    "data": (DataPart(name="weather", data={"sun": True}), '  ◆ weather  {"sun":true}\n'),
    "custom": (CustomPart(kind="acme.thing"), "  ◇ acme.thing\n"),
    "unknown": (UnknownPart(raw=Extra({"type": "new", "a": 1})), '  ? new  {"type":"new","a":1}\n'),
    "a steering message": (
        SteeringMessagePart(id="s", parts=(TextPart("Faster!"),)),
        "  user, during the run\n  ▌ Faster!\n",
    ),
}  # fmt: skip


@each_row(("part", "shown"), PARTS.values(), ids=PARTS)
def test_part_is_rendered(part: AssistantPart, shown: str) -> None:
    assert render_part(part) == shown


def test_sub_agent_is_summarized_or_rendered_below_its_call() -> None:
    assert (
        render_part(AGENT)
        == """\
  ✓ agent explorer  Who reads the wall clock?
  │ Find every caller.
  │ ⤷ 2 messages, 3 calls, 1 sub-agent; --full shows them
  │ → Two callers: `clock.py` and `timer.py`.
"""
    )
    assert (
        render_part(AGENT, FULL)
        == """\
  ✓ agent explorer  Who reads the wall clock?
  │ user · 14:02:41
  │ ▌ Find every caller.
  │
  │ explorer · 14:02:45 · 2.1k in, 90 out
  │ ✓ search  “time\\.time” in src  18 found
  │ │ src/clock.py:11
  │ │ src/timer.py:7
  │
  │ ✓ agent reader  Read the changelog
  │ │ user · 14:02:42
  │ │ ▌ What changed in March?
  │ │
  │ │ reader · 14:02:44
  │ │ ✓ read  CHANGELOG.md
  │ │ │ 1  # Changes
  │ │
  │ │ Nothing about clocks.
  │
  │ Two callers: `clock.py` and `timer.py`.
"""
    )


def test_sub_agents_are_rendered_at_any_depth() -> None:
    message: Message = AssistantMessage(id="m", content="the bottom")
    for level in range(500):
        part = call("Agent", {"description": f"level {level}"}, TextOutput("ok"), children=(message,))
        message = AssistantMessage(id=f"m{level}", content=[part])
    whole = render_blocks(blocks_of(message, FULL))
    assert "the bottom" in whole
    assert "sub-agent (level 500)" in whole
    assert "499 sub-agents;" in render_blocks(blocks_of(message, DEFAULT))


def test_network_shows_its_selection_and_the_reason() -> None:
    network = NetworkExecution(
        primitive_type="agent",
        primitive_id="researcher",
        selection_reason="It knows clocks.",
        input={"prompt": "Which?"},
        iteration=2,
        final_result=NetworkResult(text="Sand clocks.", messages=(UserMessage(id="x", content="Which?"),)),
    )
    content = AssistantContent(parts=(), network_execution=network)
    assert (
        render_blocks(blocks_of(AssistantMessage(id="m", content=content), DEFAULT))
        == """\
  ⇢ agent researcher  (turn 2)
  │ It knows clocks.
  │ prompt: Which?
  │ ⤷ 1 message, 0 calls; --full shows them
  │
  │ Sand clocks.
"""
    )


def test_result_in_a_tool_message_names_its_tool() -> None:
    parts = [
        ToolResultPart(id="c", name="measure", output=TextOutput("41 m")),
        ToolResultPart(id="d", name="measure", output=ErrorTextOutput("too dark")),
    ]
    assert (
        render(*draw_message(ToolMessage(id="t", content=parts), numbered("t", 3), None))
        == """\
#3 tool
  ✓ result of measure
  │ 41 m

  ✗ result of measure  failed
  │ too dark
"""
    )


def test_encrypted_reasoning_is_only_shown_on_request() -> None:
    message = AssistantMessage(id="m", content=[ReasoningPart("", token_count=9), TextPart("Done.")])
    assert render_blocks(blocks_of(message, DEFAULT)) == "  Done.\n"
    assert "(encrypted reasoning, 9 tokens)" in render_blocks(blocks_of(message, FULL))


def test_slash_command_is_rendered_with_its_output() -> None:
    output = "<local-command-stdout>Kept model as \x1b[1mOpus\x1b[22m</local-command-stdout>"
    parts: list[SystemPart] = [DataPart("claude-code-local_command", {"content": output}), TextPart(output)]
    messages: list[Message] = [
        UserMessage(
            id="c", type="event", content=[DataPart("claude-code-command", {"command-name": "/model"})]
        ),
        SystemMessage(id="o", type="event", content=parts, created_at=at(5)),
    ]
    assert "".join(render(*draw_message(one, DEFAULT, START)) for one in messages) == (
        "  · /model\n  · 14:02:16  Kept model as Opus\n"
    )


def test_what_was_added_to_a_prompt_is_below_it() -> None:
    text = "Light it.\n\n<system-reminder>\n# Use the to-do list\n</system-reminder>"
    shown = render_blocks(blocks_of(UserMessage(id="u", content=text), DEFAULT))
    assert shown == "  ▌ Light it.\n\n  system reminder\n  # Use the to-do list\n"


def test_event_is_rendered_as_lines_with_its_time() -> None:
    content: list[SystemPart] = [DataPart(name="compaction", data={"before": 9}), TextPart("Summary of it.")]
    message = SystemMessage(id="e", type="event", content=content, created_at=at(5))
    assert (
        render(*draw_message(message, DEFAULT, START))
        == """\
  · 14:02:16  ◆ compaction  {"before":9}
  · Summary of it.
"""
    )


def test_header_contains_agent_time_model_and_tokens() -> None:
    content = AssistantContent(
        parts=(),
        usage=Usage(input_tokens=12_480, output_tokens=860),
        metadata={"acme": {"model": "sonata-2"}},
    )
    message = AssistantMessage(id="m", content=content, created_at=at(4), internal=True)
    assert str(header(message, numbered("m", 7), START)) == (
        "#7 claude-code · 14:02:15 · sonata-2 · 12.5k in, 860 out · internal"
    )


def test_model_is_that_of_the_run_if_the_message_has_none() -> None:
    context = ViewContext(models={"r1": "sonata-1"}, zone=UTC)
    assert model_name(AssistantMessage(id="m", content="x", run_id="r1"), context) == "sonata-1"
    assert model_name(UserMessage(id="m", content="x", run_id="r1"), context) == ""


def test_call_shows_its_duration() -> None:
    part = call("look", {}, TextOutput("ok"), id="slow")
    shown = render_part(part, ViewContext(durations={"slow": timedelta(seconds=75)}))
    assert shown.startswith("  ✓ look  1 min 15 s\n")


def test_internal_messages_of_a_sub_agent_are_shown_on_request() -> None:
    children = (
        UserMessage(id="n", content="Rules.", type="event", internal=True),
        UserMessage(id="u", content="Count the pears."),
    )
    part = call("Agent", {"description": "count"}, TextOutput("Seven."), children=children)
    assert "Rules." not in render_part(part, FULL)
    assert "Count the pears." in render_part(part, FULL)
    assert "Rules." in render_part(part, replace(FULL, internal=True))
