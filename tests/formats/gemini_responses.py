"""Samples of Gemini responses, and helpers to decode them."""

from collections.abc import Sequence
from typing import Final

from partita.formats.format import Dumped, Loaded, Request, ToolSpec
from partita.formats.gemini.format import FORMAT, RESPONSE
from partita.formats.gemini.stream import GeminiDecoder
from partita.types.chunks import Chunk
from partita.types.codec import encode
from partita.types.json import Json, JsonObject, is_object, loads
from partita.types.messages import AssistantMessage, Message, ToolCallPart
from tests.decoding import accumulated, decode_all


def load(payload: Json) -> Loaded:
    assert FORMAT.load is not None
    return FORMAT.load(payload)


def dump(messages: Sequence[Message], request: Request | None = None) -> Dumped:
    assert FORMAT.dump is not None
    return FORMAT.dump(messages, request)


def load_response(payload: Json) -> Loaded:
    assert RESPONSE.load is not None
    return RESPONSE.load(payload)


def dump_response(messages: Sequence[Message]) -> Dumped:
    assert RESPONSE.dump is not None
    return RESPONSE.dump(messages)


def build_request(
    view: Sequence[Message],
    *,
    model: str,
    tools: Sequence[ToolSpec] = (),
    settings: JsonObject | None = None,
) -> Dumped:
    """Return a request as the runtime sends it, without losses of ids and minor losses."""
    dumped = dump(view, Request(tuple(tools), {"model": model, **(settings or {})}))
    losses = [loss for loss in dumped.losses if not loss.path.endswith(".id") and loss.severity != "minor"]
    return Dumped(dumped.payload, losses)


def response(
    *parts: Json, end: str | None = None, candidate: JsonObject | None = None, **more: Json
) -> JsonObject:
    """Return a response with these parts."""
    content: JsonObject = {"content": {"role": "model", "parts": list(parts)}} if parts else {}
    reason: JsonObject = {} if end is None else {"finishReason": end}
    return {"candidates": [{**content, **reason, "index": 0, **(candidate or {})}], **more}


def text(content: str, **more: Json) -> JsonObject:
    return {"text": content, **more}


def thought(content: str, **more: Json) -> JsonObject:
    return {"text": content, "thought": True, **more}


def call(name: str | None = None, *, signature: str | None = None, **more: Json) -> JsonObject:
    named: JsonObject = {} if name is None else {"name": name}
    signed: JsonObject = {} if signature is None else {"thoughtSignature": signature}
    return {"functionCall": {**named, **more}, **signed}


def argument_delta(path: str, *, will_continue: bool = False, **value: Json) -> JsonObject:
    return {"jsonPath": path, **value, **({"willContinue": True} if will_continue else {})}


def decode(events: Sequence[Json]) -> list[Chunk]:
    return decode_all(GeminiDecoder(), events)


def content_chunks(chunks: Sequence[Chunk]) -> list[JsonObject]:
    """Return the chunks as JSON, without the start and finish chunks of every message."""
    frame = {"start", "start-step", "finish-step", "finish"}
    return [chunk for chunk in map(loads, map(encode, chunks)) if chunk["type"] not in frame]


def metadata_of(events: Sequence[Json]) -> JsonObject:
    """Return the metadata with which a response ends."""
    metadata: Json = accumulated(decode(events)).content.metadata
    assert is_object(metadata)
    return metadata


def calls_of(message: AssistantMessage) -> list[ToolCallPart]:
    return [part for part in message.parts if isinstance(part, ToolCallPart)]


SEARCH: Final[JsonObject] = {
    "groundingChunks": [
        {"web": {"uri": "https://bread.example/rye", "title": "Rye"}},
        {"web": {"uri": "https://bread.example/spelt", "title": "Spelt"}},
    ],
    "groundingSupports": [
        {"segment": {"endIndex": 9, "text": "Röggli."}, "groundingChunkIndices": [1, 0]},
    ],
    "webSearchQueries": ["bread of the alps"],
}

RESPONSES: Final[dict[str, list[Json]]] = {
    "a text": [
        response(
            text("Rye "), responseId="r1", modelVersion="gemini-9", usageMetadata={"promptTokenCount": 4}
        ),
        response(
            text("rises."), end="STOP", usageMetadata={"promptTokenCount": 4, "candidatesTokenCount": 3}
        ),
    ],
    "a signed text after reasoning": [
        response(thought("Which flour? ")),
        response(thought("Rye.")),
        response(text("Take rye.")),
        response(text("", thoughtSignature="c2lnbg=="), end="STOP"),
    ],
    "parallel calls": [
        response(call("knead", args={"minutes": 9}, signature="a25lYWQ="), responseId="r2"),
        response(call("rest", args={"hours": 2}, id="x7"), call("bake"), end="STOP"),
    ],
    "streamed arguments": [
        response(call("mix", willContinue=True, signature="bWl4"), responseId="r3"),
        response(
            call(
                partialArgs=[argument_delta("$.dough.flours[0]", stringValue="ry", will_continue=True)],
                willContinue=True,
            )
        ),
        response(call(partialArgs=[argument_delta("$.dough.flours[0]", stringValue="e")], willContinue=True)),
        response(call(partialArgs=[argument_delta("$.dough.salt", numberValue=12)], willContinue=True)),
        response(call(), end="STOP"),
    ],
    "code between texts": [
        response(text("I weigh it: ")),
        response(
            {
                "executableCode": {"language": "PYTHON", "code": "print(3)", "id": "k1"},
                "thoughtSignature": "S1",
            }
        ),
        response({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "3\n", "id": "k1"}}),
        response(text("three."), end="STOP"),
    ],
    "a server tool": [
        response({"toolCall": {"toolType": "FILE_SEARCH", "id": "f1"}, "thoughtSignature": "S1"}),
        response({"toolResponse": {"toolType": "FILE_SEARCH", "id": "f1"}, "thoughtSignature": "S2"}),
        response(text("In the book.", thoughtSignature="S3"), end="STOP"),
    ],
    "pictures": [
        response(text("A loaf:"), {"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}}),
        response({"inlineData": {"mimeType": "image/png", "data": "QUJD"}, "thought": True}, end="STOP"),
    ],
    "a search": [
        response(text("Röggli. "), candidate={"groundingMetadata": {}}),
        response(text("Done."), end="STOP", candidate={"groundingMetadata": SEARCH}),
    ],
    "a blocked prompt": [
        {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 2}}
    ],
    "an error in the middle": [
        response(text("Kne")),
        {"error": {"code": 503, "message": "the oven is full", "status": "UNAVAILABLE"}},
    ],
    "an array": [[response(text("a")), response(text("b"), end="STOP")]],
    "unknown events": [{"weather": "fine"}, response({"hologram": 1}, end="STOP"), "half a rec", None, 7],
}
"""Streamed responses by content."""
