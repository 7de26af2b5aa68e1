"""Whatever comes, and wherever it stops: nothing fails, everything folds, nothing stays open."""

from hypothesis import given
from hypothesis import strategies as st

from partita.formats.gemini.stream import GeminiDecoder
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage
from partita.types.parts import ReasoningPart, TextPart
from tests.formats.gemini_answers import ANSWERS, call, decode, end_of, fold, response, text, thought
from tests.tables import each_row


def still_open(message: AssistantMessage) -> list[TextPart | ReasoningPart]:
    words = [part for part in message.parts if isinstance(part, TextPart | ReasoningPart)]
    return [part for part in words if part.state != "done"]


@each_row("events", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_that_stops_anywhere_folds_and_says_so(events: list[Json]) -> None:
    for length in range(len(events)):
        assert not still_open(fold(decode(events[:length])))
        assert end_of(events[:length]).get("complete", True) is ("finishReason" in str(events[:length]))


# Deep values


def nested(depth: int) -> Json:
    value: Json = []
    for _ in range(depth):
        value = [value]
    return value


DEEP = nested(5000)

DEEP_EVENTS: dict[str, Json] = {
    "an event": DEEP,
    "an object": {"x": DEEP},
    "a part": response({"x": DEEP}, {"text": DEEP}),
    "beside a text": response(text("x", y=DEEP)),
    "arguments": response(call("f", args={"a": DEEP})),
    "pieces of arguments": response(call("f", partialArgs=[{"jsonPath": "$.a", "nullValue": DEEP}, DEEP])),
    "code": response({"executableCode": {"code": DEEP}}, {"codeExecutionResult": {"output": DEEP}}),
    "a tool of the server": response({"toolCall": {"args": DEEP}}, {"toolResponse": {"response": DEEP}}),
    "sources": response(
        candidate={
            "groundingMetadata": {"groundingChunks": [{"web": {"uri": "https://a.example", "x": DEEP}}]}
        }
    ),
    "what is said of the answer": response(
        candidate={"safetyRatings": DEEP, "citationMetadata": {"x": DEEP}}
    ),
    "an error": {"error": DEEP},
    "counts": {"usageMetadata": {"x": DEEP, "toolUsePromptTokenCount": 1}},
    "a feedback": {"promptFeedback": DEEP, "responseId": DEEP},
}


@each_row("event", DEEP_EVENTS.values(), ids=DEEP_EVENTS)
def test_values_nested_too_deeply_to_look_at_are_passed_on(event: Json) -> None:
    assert decode([event])


# Streams and bodies

PARTS: list[JsonObject] = [
    text("a"),
    thought("b"),
    text("c", thoughtSignature="S"),
    thought("d", thoughtSignature="T"),
    call("f", args={"x": 1}, id="i"),
    call("g", mark="U"),
    {"inlineData": {"mimeType": "image/png", "data": "QQ=="}},
    {"executableCode": {"code": "1"}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
    {"toolCall": {"toolType": "X", "id": "s"}},
    {"toolResponse": {"toolType": "X", "id": "s", "response": {"n": 1}}},
    text("", thoughtSignature="V"),
    {"hologram": 1},
]


def follow(first: JsonObject, second: JsonObject) -> bool:
    """Whether two parts stay two when they are streamed: pieces of one kind are one, unless signed."""
    is_piece = "text" in first and "text" in second and first.get("thought") == second.get("thought")
    return not is_piece or "thoughtSignature" in first or not second["text"]


@given(st.lists(st.sampled_from(PARTS), max_size=8))
def test_a_body_says_what_the_stream_of_its_parts_says(parts: list[JsonObject]) -> None:
    apart: list[JsonObject] = []
    for part in parts:
        if not apart or follow(apart[-1], part):
            apart.append(part)
    streamed = fold(decode([*(response(part) for part in apart), response(end="STOP")]))
    body = response(*apart, end="STOP") if apart else response(end="STOP")
    assert fold(GeminiDecoder().read_body(body)) == streamed
