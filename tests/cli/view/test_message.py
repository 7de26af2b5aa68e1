"""Messages part by part, and sub-agents below their calls."""

from dataclasses import replace
from datetime import UTC, timedelta

from partita.cli.view.look import Look
from partita.cli.view.message import blocks_of, draw_message, header, model_of
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
from tests.cli.view_drawing import FULL, LOOK, drawn, drawn_blocks, drawn_part
from tests.cli.view_threads import AGENT, BEGAN, REASON, at, call
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
    "reasoning that was kept back": (
        ReasoningPart(text="", token_count=420),
        "  (reasoning without words, 420 tokens)\n",
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
    "a file of the reasoning": (
        ReasoningFilePart(url="https://a.example/f", media_type="image/png"),
        "  ▣ file of the reasoning  image/png · https://a.example/f\n",
    ),
    "data": (DataPart(name="weather", data={"sun": True}), '  ◆ weather  {"sun":true}\n'),
    "custom": (CustomPart(kind="acme.thing"), "  ◇ acme.thing\n"),
    "unknown": (UnknownPart(raw=Extra({"type": "new", "a": 1})), '  ? new  {"type":"new","a":1}\n'),
    "said in between": (
        SteeringMessagePart(id="s", parts=(TextPart("Faster!"),)),
        "  user, in between\n  ▌ Faster!\n",
    ),
}  # fmt: skip


@each_row(("part", "shown"), PARTS.values(), ids=PARTS)
def test_a_part(part: AssistantPart, shown: str) -> None:
    assert drawn_part(part) == shown


def test_a_sub_agent_is_counted_or_drawn_below_its_call() -> None:
    assert (
        drawn_part(AGENT)
        == """\
  ✓ agent explorer  Who reads the wall clock?
  │ Find every caller.
  │ ⤷ 2 messages, 3 calls, 1 sub-agent of its own; --full shows them
  │ → Two callers: `clock.py` and `timer.py`.
"""
    )
    assert (
        drawn_part(AGENT, FULL)
        == """\
  ✓ agent explorer  Who reads the wall clock?
  │ user · 14:02:41
  │ ▌ Find every caller.
  │
  │ explorer · 14:02:45 · 2.1k in, 90 out
  │ ✓ search  “time\\.time” in src  2 found
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


def test_sub_agents_nest_to_any_depth() -> None:
    message: Message = AssistantMessage(id="m", content="the bottom")
    for level in range(500):
        part = call("Agent", {"description": f"level {level}"}, TextOutput("ok"), children=(message,))
        message = AssistantMessage(id=f"m{level}", content=[part])
    whole = drawn_blocks(blocks_of(message, FULL))
    assert "the bottom" in whole
    assert "sub-agent (level 500)" in whole
    assert "499 sub-agents of its own" in drawn_blocks(blocks_of(message, LOOK))


def test_a_network_shows_what_it_chose_and_why() -> None:
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
        drawn_blocks(blocks_of(AssistantMessage(id="m", content=content), LOOK))
        == """\
  ⇢ agent researcher  (turn 2)
  │ It knows clocks.
  │ prompt: Which?
  │ ⤷ 1 message, 0 calls; --full shows them
  │
  │ Sand clocks.
"""
    )


def test_results_apart_from_their_calls() -> None:
    parts = [
        ToolResultPart(id="c", name="measure", output=TextOutput("41 m")),
        ToolResultPart(id="d", name="measure", output=ErrorTextOutput("too dark")),
    ]
    assert (
        drawn(*draw_message(ToolMessage(id="t", content=parts, seq=3), LOOK, None))
        == """\
#3 tool
  ✓ result of measure
  │ 41 m

  ✗ result of measure  failed
  │ too dark
"""
    )


def test_a_notice_is_a_dim_line_with_its_time() -> None:
    content: list[SystemPart] = [DataPart(name="compaction", data={"before": 9}), TextPart("Summary of it.")]
    message = SystemMessage(id="e", type="event", content=content, created_at=at(5))
    assert (
        drawn(*draw_message(message, LOOK, BEGAN))
        == """\
  · 14:02:16  ◆ compaction  {"before":9}
  · Summary of it.
"""
    )


def test_the_header_tells_who_when_what_and_how_much() -> None:
    content = AssistantContent(
        parts=(),
        usage=Usage(input_tokens=12_480, output_tokens=860),
        metadata={"acme": {"model": "sonata-2"}},
    )
    message = AssistantMessage(id="m", content=content, created_at=at(4), seq=7, internal=True)
    assert str(header(message, LOOK, BEGAN)) == (
        "#7 claude-code · 14:02:15 · sonata-2 · 12.5k in, 860 out · internal"
    )


def test_the_model_of_the_run_counts_when_the_message_names_none() -> None:
    look = Look(models={"r1": "sonata-1"}, zone=UTC)
    assert model_of(AssistantMessage(id="m", content="x", run_id="r1"), look) == "sonata-1"
    assert model_of(UserMessage(id="m", content="x", run_id="r1"), look) == ""


def test_how_long_a_call_took() -> None:
    part = call("look", {}, TextOutput("ok"), id="slow")
    shown = drawn_part(part, Look(durations={"slow": timedelta(seconds=75)}))
    assert shown.startswith("  ✓ look  1 min 15 s\n")


def test_what_is_hidden_in_a_sub_agent_is_shown_when_asked_for() -> None:
    children = (
        UserMessage(id="n", content="Rules.", type="event", internal=True),
        UserMessage(id="u", content="Count the pears."),
    )
    part = call("Agent", {"description": "count"}, TextOutput("Seven."), children=children)
    assert "Rules." not in drawn_part(part, FULL)
    assert "Count the pears." in drawn_part(part, FULL)
    assert "Rules." in drawn_part(part, replace(FULL, internal=True))
