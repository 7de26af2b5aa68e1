"""The framing of a response by its first byte, then by its content type; errors in bodies; retry delays."""

from partita.runtime.providers.response import error_in, framing_of, retry_after
from partita.runtime.providers.vendors import model_path
from partita.stream.records import Framing
from partita.types.json import Json
from tests.tables import each_row

STREAM, JSON = "text/event-stream; charset=utf-8", "application/json"
FRAMINGS: dict[str, tuple[int, str, bytes, Framing]] = {
    "events": (200, STREAM, b"data: {}", "sse"),
    "events with a wrong content type": (200, JSON, b"event: x", "sse"),
    "a comment first": (200, "", b": wait", "sse"),
    "white space first": (200, JSON, b"\n\n data: {}", "sse"),
    "an array of records": (200, JSON, b"[{", "sse"),
    "a complete response": (200, JSON, b'{"a"', "body"),
    "a complete response with a wrong content type": (200, STREAM, b' {"a"', "body"),
    "an HTML page": (200, "text/html", b"<p>", "body"),
    "a refusal": (400, STREAM, b"data: {}", "body"),
    "a refusal in an array": (400, JSON, b"[{", "body"),
    "an empty stream": (200, STREAM, b"", "sse"),
    "nothing": (200, JSON, b"", "body"),
}


@each_row(("status", "content_type", "head", "framing"), FRAMINGS.values(), ids=FRAMINGS)
def test_the_framing_of_a_response(status: int, content_type: str, head: bytes, framing: Framing) -> None:
    assert framing_of(status, content_type, head) == framing


ERRORS: dict[str, tuple[Json, Json]] = {
    "inside": ({"error": {"code": 1}}, {"code": 1}),
    "as text": ({"error": "no", "code": "x"}, "no"),
    "in a list": ([{"error": {"code": 1}}], {"code": 1}),
    "in a response": ({"type": "response.failed", "response": {"error": {"code": 1}}}, {"code": 1}),
    "by itself": ({"type": "error", "code": "x"}, {"type": "error", "code": "x"}),
    "none": (
        {"object": "error", "error": None, "code": 1},
        {"object": "error", "error": None, "code": 1},
    ),
    "words": ("no", "no"),
    "an empty list": ([], []),
}


@each_row(("body", "error"), ERRORS.values(), ids=ERRORS)
def test_the_error_in_a_body(body: Json, error: Json) -> None:
    assert error_in(body) == error


WAITS: dict[str, tuple[dict[str, str], Json, float | str | None]] = {
    "not given": ({}, None, None),
    "seconds": ({"retry-after": "7"}, None, 7.0),
    "milliseconds": ({"retry-after": "7", "retry-after-ms": "250"}, None, 0.25),
    "a date": ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, None, "Wed, 21 Oct 2026 07:28:00 GMT"),
    "in the body": ({}, {"details": [{"a": 1}, {"retryDelay": "32s"}]}, 32.0),
    "in the body, in another notation": ({}, {"details": "soon"}, None),
}


@each_row(("headers", "error", "delay"), WAITS.values(), ids=WAITS)
def test_the_retry_delay(headers: dict[str, str], error: Json, delay: float | str | None) -> None:
    assert retry_after(headers, error) == delay


PATHS = {
    ("flash", False): "models/flash",
    ("models/flash", False): "models/flash",
    ("tunedModels/mine", False): "tunedModels/mine",
    ("flash", True): "publishers/google/models/flash",
    ("meta/llama", True): "publishers/meta/models/llama",
    ("projects/p/endpoints/e", True): "projects/p/endpoints/e",
}


@each_row(("model", "is_vertex", "path"), [(*key, path) for key, path in PATHS.items()])
def test_the_path_of_a_gemini_model(model: str, is_vertex: bool, path: str) -> None:
    assert model_path(model, is_vertex=is_vertex) == path
