"""Properties of Gemini responses: any prefix of a stream accumulates and leaves nothing open."""

from hypothesis import given
from hypothesis import strategies as st

from partita.formats.gemini.stream import GeminiDecoder
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage
from partita.types.parts import ReasoningPart, TextPart
from tests.decoding import accumulated
from tests.formats.gemini_responses import RESPONSES, call, decode, metadata_of, response, text, thought
from tests.tables import each_row


def still_open(message: AssistantMessage) -> list[TextPart | ReasoningPart]:
    words = [part for part in message.parts if isinstance(part, TextPart | ReasoningPart)]
    return [part for part in words if part.state != "done"]


@each_row("events", RESPONSES.values(), ids=RESPONSES)
def test_every_prefix_of_a_response_accumulates_and_is_marked_as_incomplete(events: list[Json]) -> None:
    for length in range(len(events)):
        assert not still_open(accumulated(decode(events[:length])))
        assert metadata_of(events[:length]).get("complete", True) is ("finishReason" in str(events[:length]))


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
    "next to a text": response(text("x", y=DEEP)),
    "arguments": response(call("f", args={"a": DEEP})),
    "argument deltas": response(call("f", partialArgs=[{"jsonPath": "$.a", "nullValue": DEEP}, DEEP])),
    "code": response({"executableCode": {"code": DEEP}}, {"codeExecutionResult": {"output": DEEP}}),
    "a server tool": response({"toolCall": {"args": DEEP}}, {"toolResponse": {"response": DEEP}}),
    "sources": response(
        candidate={
            "groundingMetadata": {"groundingChunks": [{"web": {"uri": "https://a.example", "x": DEEP}}]}
        }
    ),
    "metadata of the response": response(candidate={"safetyRatings": DEEP, "citationMetadata": {"x": DEEP}}),
    "an error": {"error": DEEP},
    "counts": {"usageMetadata": {"x": DEEP, "toolUsePromptTokenCount": 1}},
    "prompt feedback": {"promptFeedback": DEEP, "responseId": DEEP},
}


@each_row("event", DEEP_EVENTS.values(), ids=DEEP_EVENTS)
def test_deeply_nested_values_are_kept(event: Json) -> None:
    assert decode([event])


# Streams and bodies

PARTS: list[JsonObject] = [
    text("a"),
    thought("b"),
    text("c", thoughtSignature="S"),
    thought("d", thoughtSignature="T"),
    call("f", args={"x": 1}, id="i"),
    call("g", signature="U"),
    {"inlineData": {"mimeType": "image/png", "data": "QQ=="}},
    {"executableCode": {"code": "1"}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
    {"toolCall": {"toolType": "X", "id": "s"}},
    {"toolResponse": {"toolType": "X", "id": "s", "response": {"n": 1}}},
    text("", thoughtSignature="V"),
    {"hologram": 1},
]


def are_separate(first: JsonObject, second: JsonObject) -> bool:
    """Return whether two parts stay separate in a stream: texts of one kind are joined, unless signed."""
    is_piece = "text" in first and "text" in second and first.get("thought") == second.get("thought")
    return not is_piece or "thoughtSignature" in first or not second["text"]


@given(st.lists(st.sampled_from(PARTS), max_size=8))
def test_a_body_gives_the_message_of_the_stream_of_its_parts(parts: list[JsonObject]) -> None:
    apart: list[JsonObject] = []
    for part in parts:
        if not apart or are_separate(apart[-1], part):
            apart.append(part)
    streamed = accumulated(decode([*(response(part) for part in apart), response(end="STOP")]))
    body = response(*apart, end="STOP") if apart else response(end="STOP")
    assert accumulated(GeminiDecoder().read_body(body)) == streamed
