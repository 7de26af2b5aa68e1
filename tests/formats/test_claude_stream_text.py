"""Texts of the model are emitted once, completely and in order, from events and whole messages."""

from collections.abc import Sequence

from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantPart
from partita.types.parts import (
    Citation,
    DataPart,
    ReasoningPart,
    UrlCitationSource,
)
from tests.formats.claude_turns import (
    BAKE,
    DONE,
    LOST,
    STEP,
    assistant_event,
    block_delta,
    block_start,
    block_stop,
    call_part,
    folded,
    message_end,
    message_start,
    reasoning_part,
    streamed_text,
    text,
    text_part,
    thinking,
    tool_result,
    user_event,
)
from tests.tables import each_row

CITED: JsonObject = {"type": "web_search_result_location", "url": "https://rye.example", "cited_text": "rye"}

WORDS: dict[str, tuple[list[Json], Sequence[AssistantPart]]] = {
    "a whole message alone": ([assistant_event("m1", text("Hello."))], [STEP, text_part("Hello.")]),
    "content that is not a list of blocks": (
        [assistant_event("m1") | {"message": {"id": "m1", "content": "Hello."}}],
        [STEP, text_part("Hello.")],
    ),
    "events alone": (
        [message_start("m1"), *streamed_text(0, "text", "Hel", "lo."), *message_end()],
        [STEP, text_part("Hello.")],
    ),
    "both forms of a text": (
        [
            message_start("m1"),
            *streamed_text(0, "text", "Hel", "lo."),
            assistant_event("m1", text("Hello.")),
            *message_end(),
        ],
        [STEP, text_part("Hello.")],
    ),
    "the whole text before its end": (
        [
            message_start("m1"),
            block_start(0, text("")),
            block_delta(0, "text", "Hel"),
            block_delta(0, "text", "lo."),
            assistant_event("m1", text("Hello.")),
            block_stop(0),
        ],
        [STEP, text_part("Hello.")],
    ),
    "the whole text before its pieces": (
        [
            message_start("m1"),
            block_start(0, text("")),
            block_delta(0, "text", "Hel"),
            assistant_event("m1", text("Hello.")),
            block_delta(0, "text", "lo. "),
            block_delta(0, "text", "More."),
            block_stop(0),
        ],
        [STEP, text_part("Hello."), text_part(" More.")],
    ),
    "a text with text in its start event": (
        [
            message_start("m1"),
            block_start(0, text("Hel")),
            block_delta(0, "text", "lo."),
            block_stop(0),
            assistant_event("m1", text("Hello.")),
        ],
        [STEP, text_part("Hello.")],
    ),
    "whole texts in another order than they began in": (
        [
            message_start("m1"),
            block_start(0, thinking("")),
            block_delta(0, "thinking", "Hm."),
            block_start(1, text("")),
            block_delta(1, "text", "Hello."),
            assistant_event("m1", text("Hello.")),
            block_stop(1),
            assistant_event("m1", thinking("Hm.", "S")),
            block_stop(0),
        ],
        [STEP, reasoning_part("0", "Hm.", "S"), text_part("Hello.")],
    ),
    "a whole text after the start of the next response": (
        [
            message_start("m1"),
            *streamed_text(0, "text", "One."),
            *message_end(),
            message_start("m2"),
            assistant_event("m1", text("One.")),
            *streamed_text(0, "text", "Two."),
        ],
        [STEP, text_part("One."), STEP, text_part("Two.")],
    ),
    "a thought whose text is in one form only": (
        [
            message_start("m1"),
            block_start(0, thinking("")),
            block_delta(0, "signature", "S"),
            block_stop(0),
            assistant_event("m1", thinking("Hm.", "S")),
        ],
        [STEP, reasoning_part("0", "", "S"), reasoning_part("1", "Hm.")],
    ),
    "the same text twice": (
        [
            message_start("m1"),
            *streamed_text(0, "text", "So."),
            *streamed_text(1, "text", "So."),
            assistant_event("m1", text("So.")),
            assistant_event("m1", text("So.")),
        ],
        [STEP, text_part("So."), text_part("So.")],
    ),
    "a text that was not streamed after one that was": (
        [
            message_start("m1"),
            *streamed_text(0, "text", "One."),
            assistant_event("m1", text("One.")),
            assistant_event("m1", text("Other.")),
        ],
        [STEP, text_part("One."), text_part("Other.")],
    ),
    "messages that repeat earlier blocks": (
        [
            assistant_event("m1", text("One.")),
            assistant_event("m1", text("One."), BAKE),
            assistant_event("m1", text("One."), BAKE),
        ],
        [STEP, text_part("One."), call_part("bake", LOST)],
    ),
    "a text before a call stays before it": (
        [assistant_event("m1", text("I bake."), BAKE), user_event(tool_result("bake", "done"))],
        [STEP, text_part("I bake."), call_part("bake", DONE)],
    ),
    "a signature in an event": (
        [
            message_start("m1"),
            block_start(0, thinking("")),
            block_delta(0, "thinking", "Hm."),
            block_delta(0, "signature", "S"),
            block_stop(0),
        ],
        [STEP, reasoning_part("0", "Hm.", "S")],
    ),
    "a signature in the whole thought alone": (
        [
            message_start("m1"),
            *streamed_text(0, "thinking", "Hm."),
            assistant_event("m1", thinking("Hm.", "S")),
            *message_end(),
        ],
        [STEP, reasoning_part("0", "Hm.", "S")],
    ),
    "a thought that is only in the whole message": (
        [assistant_event("m1", thinking("Hm.", "S")), assistant_event("m1", text("Yes."))],
        [STEP, reasoning_part("0", "Hm.", "S"), text_part("Yes.")],
    ),
    "a thought without text": (
        [
            message_start("m1"),
            block_start(0, thinking("")),
            block_delta(0, "signature", "S"),
            block_stop(0),
            assistant_event("m1", thinking("", "S")),
        ],
        [STEP, reasoning_part("0", "", "S")],
    ),
    "a redacted thought": (
        [
            message_start("m1"),
            block_start(0, {"type": "redacted_thinking", "data": "ENC"}),
            block_stop(0),
            assistant_event("m1", {"type": "redacted_thinking", "data": "ENC"}),
        ],
        [
            STEP,
            ReasoningPart("", id="0", state="done", provider_metadata={"anthropic": {"redactedData": "ENC"}}),
        ],
    ),
    "citations": (
        [
            message_start("m1"),
            block_start(0, text("")),
            block_delta(0, "citations", CITED),
            block_delta(0, "text", "Rye."),
            block_stop(0),
        ],
        [
            STEP,
            text_part(
                "Rye.",
                citations=(Citation(UrlCitationSource("0-0", "https://rye.example"), cited_text="rye"),),
                provider_metadata={"anthropic": {"citations": [CITED]}},
            ),
        ],
    ),
    "citations in the start event": (
        [
            message_start("m1"),
            block_start(0, text("", citations=[CITED])),
            block_delta(0, "text", "Rye."),
            block_stop(0),
        ],
        [
            STEP,
            text_part(
                "Rye.",
                citations=(Citation(UrlCitationSource("0-0", "https://rye.example"), cited_text="rye"),),
                provider_metadata={"anthropic": {"citations": [CITED]}},
            ),
        ],
    ),
    "citations in the whole text": (
        [assistant_event("m1", text("Rye.", citations=[CITED]))],
        [
            STEP,
            text_part(
                "Rye.",
                citations=(Citation(UrlCitationSource("0-0", "https://rye.example"), cited_text="rye"),),
                provider_metadata={"anthropic": {"citations": [CITED]}},
            ),
        ],
    ),
    "citations after the end of the text": (
        [
            message_start("m1"),
            *streamed_text(0, "text", "Rye."),
            assistant_event("m1", text("Rye.", citations=[CITED])),
        ],
        [STEP, text_part("Rye."), DataPart("claude-block", text("Rye.", citations=[CITED]))],
    ),
    "a text that stops in the middle": (
        [message_start("m1"), block_start(0, text("")), block_delta(0, "text", "Hal")],
        [STEP, text_part("Hal")],
    ),
    "a text that the user stopped": (
        [assistant_event("m1", text("Hal"), aborted=True)],
        [STEP, text_part("Hal", provider_metadata={"claudeCode": {"aborted": True}})],
    ),
    "a partial text that is repeated": (
        [
            message_start("m1"),
            block_start(0, text("")),
            block_delta(0, "text", "Hal"),
            assistant_event("x", text("Half"), aborted=True),
        ],
        [STEP, text_part("Half", provider_metadata={"claudeCode": {"aborted": True}})],
    ),
    "a delta of a block without a start": (
        [message_start("m1"), block_delta(3, "text", "Hello."), block_stop(3)],
        [STEP, text_part("Hello.")],
    ),
}


@each_row(("events", "parts"), WORDS.values(), ids=WORDS)
def test_texts_are_emitted_once(events: list[Json], parts: Sequence[AssistantPart]) -> None:
    assert folded(events).parts == tuple(parts)
