"""Recordings without pytest: recorded through an endpoint or a model, replayed, and compared."""

import asyncio
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from msgspec.structs import replace

from partita.errors import AgentError, DecodeError
from partita.runtime.agent.agent import Agent
from partita.runtime.model_calls import ModelRequest, RequestCompressor, RequestExpander, request_marker
from partita.runtime.recordings.recording import (
    Exchange,
    RecordedResponse,
    Recording,
    origin_of,
    parse_recording,
    read_recording,
    response_of,
    write_recording,
)
from partita.runtime.recordings.redaction import clean
from partita.runtime.recordings.run_recording import exchanges_of
from partita.runtime.replay.recorded_run import RecordedRun
from partita.runtime.scripted import ScriptedService
from partita.runtime.service import AgentService
from partita.store.connection import open_store
from partita.store.logs.run_log import LogRecord
from partita.testing import Endpoint, RecordingError, Replay
from partita.testing.providers import get_provider, recorded_path
from partita.testing.replay import Mode
from partita.types.chunks import AgentStreamEvent, DataChunk, ErrorEvent, MessageStart
from partita.types.json import Json, JsonObject, dumps, loads
from partita.types.messages import text_of
from partita.types.threads import Run
from tests.runtime.providers.families import FAMILIES
from tests.runtime.replay.example_runs import SCRIPT, weather
from tests.runtime.scripted_server import JSON, ScriptedResponse, ScriptedServer
from tests.tables import each_row

from .fake_provider import fake_provider


@pytest.fixture
def upstream() -> Generator[str, None, None]:
    with fake_provider() as address:
        yield f"{address}/v1"


def ask(endpoint: Endpoint, text: str = "Say hello.", **settings: object) -> bytes:
    body = {"model": "m", "messages": [{"role": "user", "content": text}], **settings}
    headers = {"authorization": "Bearer a-key-of-mine", "content-type": "application/json"}
    request = Request(f"{endpoint.base_url}/chat/completions", dumps(body), headers)
    with urlopen(request) as response:
        content: bytes = response.read()
        return content


def record(folder: Path, upstream: str, *prompts: str, **options: object) -> list[str]:
    """Record requests with some prompts, and return the lines of the summary."""
    replay = Replay(folder, mode="all")
    endpoint = replay.endpoint("one", provider="openai", upstream=upstream, **options)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] # passed on
    for prompt in prompts:
        ask(endpoint, prompt)
    replay.wait_for_responses()
    replay.check()
    lines = replay.save()
    replay.close()
    return lines


def test_a_recording_is_replayed_byte_for_byte(tmp_path: Path, upstream: str) -> None:
    with Replay(tmp_path, mode="all") as replay:
        endpoint = replay.endpoint("one", provider="openai", upstream=upstream)
        live = [ask(endpoint, "Say hello.", stream=True), ask(endpoint, "My key is a-key-of-mine.")]
    with Replay(tmp_path) as replay:
        endpoint = replay.endpoint("one")
        assert ask(endpoint, "Say hello.", stream=True) == live[0]
        assert loads(ask(endpoint, "My key is a-key-of-mine.")) == loads(live[1])
        assert [text_of(message) for message in replay.messages("one")] == [
            "Hello from the weather desk."
        ] * 2
    text = (tmp_path / "one.json").read_text()
    assert "a-key-of-mine" not in text
    assert "My key is [redacted: custom 1]." in text


def test_a_chunked_request_body_is_recorded(tmp_path: Path, upstream: str) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Say hello."}]}
    text = dumps(body)
    with Replay(tmp_path, mode="all") as replay:
        endpoint = replay.endpoint("one", provider="openai", upstream=upstream)
        pieces = iter([text[:10], text[10:]])
        with urlopen(Request(f"{endpoint.base_url}/chat/completions", pieces, {"a": "b"})) as response:
            assert b"Hello from" in response.read()
    request = read_recording(tmp_path / "one.json").exchanges[0].request
    assert request is not None
    assert request.body == body


def test_a_long_api_key_is_removed_and_a_short_value_is_not(tmp_path: Path, upstream: str) -> None:
    key = "key-" + "x1" * 400
    with Replay(tmp_path, mode="all") as replay:
        endpoint = replay.endpoint("one", provider="openai", upstream=upstream)
        for secret in (key, "hello"):
            body = dumps({"model": "m", "messages": [{"role": "user", "content": f"Say hello to {key}."}]})
            headers = {"authorization": f"Bearer {secret}"}
            urlopen(Request(f"{endpoint.base_url}/chat/completions", body, headers)).close()
    text = (tmp_path / "one.json").read_text()
    assert "x1x1" not in text
    assert "Say hello to [redacted: custom" in text


def test_recording_again_lists_the_changes(tmp_path: Path, upstream: str) -> None:
    assert record(tmp_path, upstream, "Hello?") == ["one.json: recorded, 1 request"]
    before = (tmp_path / "one.json").read_bytes()
    assert record(tmp_path, upstream, "Hello?") == ["one.json: unchanged"]
    assert (tmp_path / "one.json").read_bytes() == before
    (line,) = record(tmp_path, upstream, "Hi?")
    assert line.startswith("one.json: recorded again, 1 request")
    assert 'request 1: messages[0].content: "Hello?" → "Hi?"' in line
    (line,) = record(tmp_path, upstream, "Hi?", "Ho?")
    assert line == "one.json: recorded again, 2 requests, before 1"
    assert record(tmp_path, upstream) == ["one.json: not written, because no request was made"]


def test_nothing_is_written_when_a_test_fails(tmp_path: Path, upstream: str) -> None:
    def fail() -> None:
        with Replay(tmp_path, mode="all") as replay:
            ask(replay.endpoint("one", provider="openai", upstream=upstream))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_normalise_is_applied_to_both_bodies(tmp_path: Path, upstream: str) -> None:
    def without_digits(body: Json) -> Json:
        body["messages"][0]["content"] = body["messages"][0]["content"].rstrip("0123456789")
        return body

    record(tmp_path, upstream, "Say hello 1", "Say hello 2")
    with Replay(tmp_path) as replay:
        endpoint = replay.endpoint("one", normalise=without_digits)
        ask(endpoint, "Say hello 3")
        ask(endpoint, "Say hello 4")


def test_mode_missing_records_only_missing_files(tmp_path: Path, upstream: str) -> None:
    record(tmp_path, upstream, "Hello?")
    with Replay(tmp_path, mode="missing") as replay:
        ask(replay.endpoint("one", upstream="http://127.0.0.1:9"), "Hello?")
        ask(replay.endpoint("two", provider="openai", upstream=upstream), "Hello?")
    assert (tmp_path / "two.json").exists()


def test_a_file_recorded_in_the_same_run_is_replayed(tmp_path: Path, upstream: str) -> None:
    fresh: set[Path] = set()
    with Replay(tmp_path, mode="all", fresh=fresh) as replay:
        ask(replay.endpoint("one", provider="openai", upstream=upstream), "Hello?")
    assert fresh == {tmp_path / "one.json"}
    with Replay(tmp_path, mode="all", fresh=fresh) as replay:
        endpoint = replay.endpoint("one", provider="openai", upstream="http://127.0.0.1:9")
        assert b"Hello from" in ask(endpoint, "Hello?")


def test_requests_in_any_order_give_the_same_file(tmp_path: Path, upstream: str) -> None:
    record(tmp_path, upstream, "A", "B", order="any")
    assert record(tmp_path, upstream, "B", "A", order="any") == ["one.json: unchanged"]


def test_an_unreachable_provider_is_reported(tmp_path: Path) -> None:
    replay = Replay(tmp_path, mode="all")
    endpoint = replay.endpoint("one", provider="openai", upstream="http://127.0.0.1:9/v1")
    with pytest.raises(HTTPError) as caught:
        ask(endpoint)
    caught.value.close()
    with pytest.raises(RecordingError, match="cannot connect to"):
        replay.check()
    replay.close()


def test_incorrect_use_raises_an_error(tmp_path: Path, upstream: str) -> None:
    replay = Replay(tmp_path, mode="all")
    with pytest.raises(AgentError, match="provider to record is unknown"):
        replay.endpoint("one")
    with pytest.raises(AgentError, match="unknown provider"):
        replay.endpoint("one", provider="nonesuch")
    with pytest.raises(AgentError, match="unknown order"):
        replay.endpoint("one", provider="openai", order="random")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] # on purpose
    with pytest.raises(DecodeError, match="not a path"):
        replay.endpoint("one", provider="openai", ignore=["a["])
    with pytest.raises(AgentError, match="unknown mode"):
        Replay(tmp_path, mode="never")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] # on purpose
    replay.endpoint("one", provider="openai", upstream=upstream)
    with pytest.raises(AgentError, match="recorded already"):
        replay.endpoint("one", provider="openai", upstream=upstream)
    replay.close()


FILES: dict[str, tuple[bytes, str]] = {
    "not JSON": (b"{", "this is not a recording"),
    "another file": (b'{"partita": "1.0"}', "its version is '1.0'"),
    "a list": (b"[]", "it has no version"),
    "a wrong member": (b'{"partita": "recording/1", "origin": 1}', "origin"),
    "an unknown member": (
        b'{"partita": "recording/1", "origin": {"kind": "run"}, "exchanges": [], "x": 1}',
        "unknown field",
    ),
}


@each_row(("data", "message"), FILES.values(), ids=FILES)
def test_an_invalid_recording_is_rejected(data: bytes, message: str) -> None:
    with pytest.raises(DecodeError, match=message):
        parse_recording(data, "a.json")


PIECES = {
    "data": (b"\xff\xfe", "image/png"),
    "text": (b"nothing", "text/plain"),
    "json": (b'{"a": 1}', "application/json"),
    "a stream": (b": hi\n\ndata: {}\r\n\r\ndata: x", "text/event-stream; charset=utf-8"),
}


@each_row(("body", "kind"), PIECES.values(), ids=PIECES)
def test_a_response_body_is_restored(body: bytes, kind: str) -> None:
    restored = b"".join(response_of(200, {"content-type": kind}, body).pieces)
    assert restored == body or loads(restored) == loads(body)


def test_paths_are_recorded_without_keys_and_versions() -> None:
    gemini = get_provider("gemini")
    path = "/v1beta/models/g:streamGenerateContent?alt=sse&key=secret"
    assert recorded_path(gemini, path) == "/models/g:streamGenerateContent?alt=sse"
    assert recorded_path(gemini, "/v1/models/g:generateContent?key=k") == "/models/g:generateContent"
    assert recorded_path(get_provider("openai"), "/v1/responses") == "/responses"


# Secrets

TOKEN = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_a_secret_split_over_events_is_removed_from_a_stream() -> None:
    pieces = [TOKEN[:9], TOKEN[9:20], f"{TOKEN[20:]} is it."]
    events: list[JsonObject] = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
    stream = [f"data: {dumps(event).decode()}\n\n" for event in [*events, {"done": True}]]
    response = RecordedResponse(status=200, headers={"content-type": "text/event-stream"}, stream=stream)
    exchange = Exchange(
        format="openai-chat", response=response, output=[dumps({"password": "hunter22x"}).decode() + "\n"]
    )
    cleaned = clean(Recording(origin=origin_of("run"), exchanges=[exchange]))
    (now,) = cleaned.recording.exchanges
    assert now.response is not None
    records = [loads(record[6:]) for record in now.response.stream or ()]
    texts = [one["choices"][0]["delta"]["content"] for one in records[:3]]
    assert texts == ["[redacted: github token 1]", "", " is it."]
    assert (now.response.stream or [])[3] == stream[3]
    assert now.output == ['{"password":"[redacted: password 1]"}\n']
    assert [one.times for one in cleaned.findings] == [1, 1]


# Models

RECORD_THEN_REPLAY: tuple[Mode, Mode] = ("all", "replay")

LINES = [
    {"type": "thread.started", "thread_id": "t"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "Done it."}},
    {"type": "turn.completed", "usage": {"input_tokens": 1, "cached_input_tokens": 0, "output_tokens": 1}},
]


async def events_of(model: AgentService, prompt: str) -> list[AgentStreamEvent]:
    return [event async for event in model.invoke(prompt)]


def test_the_output_of_a_program_is_replayed_as_a_model(tmp_path: Path) -> None:
    lines = [dumps(line).decode() + "\n" for line in LINES]
    exchange = Exchange(format="codex-exec", framing="lines", prompt="Do it.", output=lines)
    write_recording(tmp_path / "codex.json", Recording(origin=origin_of("run"), exchanges=[exchange]))
    with Replay(tmp_path) as replay:
        events = asyncio.run(events_of(replay.model("codex"), "Do it."))
        assert [text_of(message) for message in replay.messages("codex")] == ["Done it."]
    assert "".join(event.raw_text or "" for event in events) == "".join(lines)
    replay = Replay(tmp_path)
    last = asyncio.run(events_of(replay.model("codex"), "Undo it."))[-1]
    assert isinstance(last, ErrorEvent)
    with pytest.raises(RecordingError, match=r'asked: "Do it\." → "Undo it\."'):
        replay.check()


async def test_a_live_model_is_recorded_and_replayed(tmp_path: Path) -> None:
    answers: list[str] = []
    for mode in RECORD_THEN_REPLAY:
        with Replay(tmp_path, mode=mode) as replay:
            async with open_store("memory:") as store:
                model = replay.model("sky", live=ScriptedService(SCRIPT))
                agent = Agent(model, tools=[weather], store=store)
                answers.append(text_of(await agent.run("t", "weather?")))
                await agent.session.close()
    assert answers == ["It is sunny in Oslo, and it will stay so."] * 2
    assert len(read_recording(tmp_path / "sky.json").exchanges) == 2


def test_a_failure_is_recorded_and_replayed(tmp_path: Path) -> None:
    ends: list[AgentStreamEvent] = []
    for mode in RECORD_THEN_REPLAY:
        with Replay(tmp_path, mode=mode) as replay:
            model = replay.model("bad", live=ScriptedService(SCRIPT))
            ends.append(asyncio.run(events_of(model, "fail please"))[-1])
    assert isinstance(ends[0], ErrorEvent)
    assert ends[0] == ends[1]


async def test_an_error_response_is_recorded_with_its_status(tmp_path: Path) -> None:
    family = FAMILIES["anthropic"]
    ends: list[AgentStreamEvent] = []
    async with ScriptedServer(
        ScriptedResponse(status=429, body=dumps(family.refusal), content_type=JSON)
    ) as server:
        for mode in RECORD_THEN_REPLAY:
            with Replay(tmp_path, mode=mode) as replay:
                service = family.service(server.address)
                model = replay.model("no", live=service)
                ends.append([event async for event in model.invoke("Hi?")][-1])
                await service.aclose()
    assert len(server.requests) == 1
    (one,) = read_recording(tmp_path / "no.json").exchanges
    assert one.response is not None
    assert one.response.status == 429
    for end in ends:
        assert isinstance(end, ErrorEvent)
        assert (end.name, end.message) == ("rate-limited", "Slow down.")


def test_recorded_retry_times_are_replaced_by_a_millisecond(tmp_path: Path, upstream: str) -> None:
    record(tmp_path, upstream, "Say hello.")
    recording = read_recording(tmp_path / "one.json")
    (one,) = recording.exchanges
    busy = RecordedResponse(
        status=429, headers={"retry-after": "60"}, json={"error": {"message": "Slow down."}}
    )
    write_recording(tmp_path / "one.json", replace(recording, exchanges=[replace(one, response=busy)]))
    with Replay(tmp_path) as replay:
        endpoint = replay.endpoint("one")
        with pytest.raises(HTTPError) as caught:
            ask(endpoint)
    assert (caught.value.code, caught.value.headers["retry-after-ms"]) == (429, "1")
    assert "retry-after" not in caught.value.headers
    caught.value.close()


# Requests to models, in the run log


def test_requests_are_stored_as_changes_to_the_previous_one() -> None:
    first: JsonObject = {"model": "m", "messages": [{"a": 1}], "tools": [1, 2]}
    second = {**first, "messages": [{"a": 1}, {"b": 2}], "temperature": 0}
    third = {"model": "n", "messages": [{"c": 3}], "tools": [1]}
    requests = [ModelRequest("openai-chat", "/chat/completions", body) for body in (first, second, third)]
    other = ModelRequest("anthropic", "/v1/messages", first)
    compressor, expander = RequestCompressor(), RequestExpander()
    markers = [compressor.compress(request_marker(one)) for one in [*requests, other]]
    assert [expander.read(marker) for marker in markers] == [*requests, other]
    assert markers[1].data == {
        "changes": {
            "model": {},
            "messages": {"keep": 1, "add": [{"b": 2}]},
            "tools": {},
            "temperature": {"set": 0},
        }
    }
    assert [list(one.body) for one in expand(markers)[1:3]] == [list(second), list(third)]
    assert RequestExpander().read(markers[1]) is None


def expand(markers: list[DataChunk]) -> list[ModelRequest]:
    expander = RequestExpander()
    return [request for marker in markers if (request := expander.read(marker)) is not None]


def test_a_request_without_a_response_is_recorded() -> None:
    marker = request_marker(ModelRequest("anthropic", "/v1/messages", {"model": "m"}))
    run = Run(id="r", thread_id="t", status="failed", error="no connection")
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    records = [LogRecord(1, moment, marker, None), LogRecord(2, moment, MessageStart("m"), None)]
    (one,) = exchanges_of(RecordedRun(run, records), "Hi?")
    assert one.request is not None
    assert one.request.path == "/v1/messages"
    assert one.end is not None
    assert one.end["message"] == "no connection"
    assert one.response is None
