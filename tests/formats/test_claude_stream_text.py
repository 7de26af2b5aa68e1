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
    answered,
    begun,
    closed,
    folded,
    made,
    opened,
    piece,
    said,
    stopped,
    text,
    thinking,
    thought,
    user,
    whole,
    written,
)
from tests.tables import each_row

CITED: JsonObject = {"type": "web_search_result_location", "url": "https://rye.example", "cited_text": "rye"}

WORDS: dict[str, tuple[list[Json], Sequence[AssistantPart]]] = {
    "a whole message alone": ([whole("m1", text("Hello."))], [STEP, said("Hello.")]),
    "words that are no list of blocks": (
        [whole("m1") | {"message": {"id": "m1", "content": "Hello."}}],
        [STEP, said("Hello.")],
    ),
    "events alone": (
        [begun("m1"), *written(0, "text", "Hel", "lo."), *stopped()],
        [STEP, said("Hello.")],
    ),
    "both forms of a text": (
        [begun("m1"), *written(0, "text", "Hel", "lo."), whole("m1", text("Hello.")), *stopped()],
        [STEP, said("Hello.")],
    ),
    "the whole text before its end": (
        [
            begun("m1"),
            opened(0, text("")),
            piece(0, "text", "Hel"),
            piece(0, "text", "lo."),
            whole("m1", text("Hello.")),
            closed(0),
        ],
        [STEP, said("Hello.")],
    ),
    "the whole text before its pieces": (
        [
            begun("m1"),
            opened(0, text("")),
            piece(0, "text", "Hel"),
            whole("m1", text("Hello.")),
            piece(0, "text", "lo. "),
            piece(0, "text", "More."),
            closed(0),
        ],
        [STEP, said("Hello."), said(" More.")],
    ),
    "a text that begins with words": (
        [
            begun("m1"),
            opened(0, text("Hel")),
            piece(0, "text", "lo."),
            closed(0),
            whole("m1", text("Hello.")),
        ],
        [STEP, said("Hello.")],
    ),
    "whole texts in another order than they began in": (
        [
            begun("m1"),
            opened(0, thinking("")),
            piece(0, "thinking", "Hm."),
            opened(1, text("")),
            piece(1, "text", "Hello."),
            whole("m1", text("Hello.")),
            closed(1),
            whole("m1", thinking("Hm.", "S")),
            closed(0),
        ],
        [STEP, thought("0", "Hm.", "S"), said("Hello.")],
    ),
    "a whole text that comes when the next answer has begun": (
        [
            begun("m1"),
            *written(0, "text", "One."),
            *stopped(),
            begun("m2"),
            whole("m1", text("One.")),
            *written(0, "text", "Two."),
        ],
        [STEP, said("One."), STEP, said("Two.")],
    ),
    "a thought whose words are shown in one form alone": (
        [
            begun("m1"),
            opened(0, thinking("")),
            piece(0, "signature", "S"),
            closed(0),
            whole("m1", thinking("Hm.", "S")),
        ],
        [STEP, thought("0", "", "S"), thought("1", "Hm.")],
    ),
    "the same words twice": (
        [
            begun("m1"),
            *written(0, "text", "So."),
            *written(1, "text", "So."),
            whole("m1", text("So.")),
            whole("m1", text("So.")),
        ],
        [STEP, said("So."), said("So.")],
    ),
    "a text that did not stream, after one that did": (
        [begun("m1"), *written(0, "text", "One."), whole("m1", text("One.")), whole("m1", text("Other."))],
        [STEP, said("One."), said("Other.")],
    ),
    "messages that repeat what came before": (
        [whole("m1", text("One.")), whole("m1", text("One."), BAKE), whole("m1", text("One."), BAKE)],
        [STEP, said("One."), made("bake", LOST)],
    ),
    "a text before a call stays before it": (
        [whole("m1", text("I bake."), BAKE), user(answered("bake", "done"))],
        [STEP, said("I bake."), made("bake", DONE)],
    ),
    "a signature in an event": (
        [
            begun("m1"),
            opened(0, thinking("")),
            piece(0, "thinking", "Hm."),
            piece(0, "signature", "S"),
            closed(0),
        ],
        [STEP, thought("0", "Hm.", "S")],
    ),
    "a signature in the whole thought alone": (
        [begun("m1"), *written(0, "thinking", "Hm."), whole("m1", thinking("Hm.", "S")), *stopped()],
        [STEP, thought("0", "Hm.", "S")],
    ),
    "a thought that is told nowhere else": (
        [whole("m1", thinking("Hm.", "S")), whole("m1", text("Yes."))],
        [STEP, thought("0", "Hm.", "S"), said("Yes.")],
    ),
    "a thought without words": (
        [
            begun("m1"),
            opened(0, thinking("")),
            piece(0, "signature", "S"),
            closed(0),
            whole("m1", thinking("", "S")),
        ],
        [STEP, thought("0", "", "S")],
    ),
    "a redacted thought": (
        [
            begun("m1"),
            opened(0, {"type": "redacted_thinking", "data": "ENC"}),
            closed(0),
            whole("m1", {"type": "redacted_thinking", "data": "ENC"}),
        ],
        [
            STEP,
            ReasoningPart("", id="0", state="done", provider_metadata={"anthropic": {"redactedData": "ENC"}}),
        ],
    ),
    "citations": (
        [begun("m1"), opened(0, text("")), piece(0, "citations", CITED), piece(0, "text", "Rye."), closed(0)],
        [
            STEP,
            said(
                "Rye.",
                citations=(Citation(UrlCitationSource("0-0", "https://rye.example"), cited_text="rye"),),
                provider_metadata={"anthropic": {"citations": [CITED]}},
            ),
        ],
    ),
    "citations that are there at once": (
        [begun("m1"), opened(0, text("", citations=[CITED])), piece(0, "text", "Rye."), closed(0)],
        [
            STEP,
            said(
                "Rye.",
                citations=(Citation(UrlCitationSource("0-0", "https://rye.example"), cited_text="rye"),),
                provider_metadata={"anthropic": {"citations": [CITED]}},
            ),
        ],
    ),
    "citations in the whole text": (
        [whole("m1", text("Rye.", citations=[CITED]))],
        [
            STEP,
            said(
                "Rye.",
                citations=(Citation(UrlCitationSource("0-0", "https://rye.example"), cited_text="rye"),),
                provider_metadata={"anthropic": {"citations": [CITED]}},
            ),
        ],
    ),
    "citations that come too late for the text": (
        [begun("m1"), *written(0, "text", "Rye."), whole("m1", text("Rye.", citations=[CITED]))],
        [STEP, said("Rye."), DataPart("claude-block", text("Rye.", citations=[CITED]))],
    ),
    "words that stop in the middle": (
        [begun("m1"), opened(0, text("")), piece(0, "text", "Hal")],
        [STEP, said("Hal")],
    ),
    "words that someone stopped": (
        [whole("m1", text("Hal"), aborted=True)],
        [STEP, said("Hal", provider_metadata={"claudeCode": {"aborted": True}})],
    ),
    "words so far that the program repeats": (
        [begun("m1"), opened(0, text("")), piece(0, "text", "Hal"), whole("x", text("Half"), aborted=True)],
        [STEP, said("Half", provider_metadata={"claudeCode": {"aborted": True}})],
    ),
    "a delta of a block that nobody began": (
        [begun("m1"), piece(3, "text", "Hello."), closed(3)],
        [STEP, said("Hello.")],
    ),
}


@each_row(("events", "parts"), WORDS.values(), ids=WORDS)
def test_texts_are_emitted_once(events: list[Json], parts: Sequence[AssistantPart]) -> None:
    assert folded(events).parts == tuple(parts)
