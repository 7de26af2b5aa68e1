"""Failed responses: the chunks received so far are kept, and one error at the end describes the failure."""

import asyncio
from contextlib import aclosing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.formats.call_decoder import CALL, is_marker
from partita.runtime.providers.response import error_name
from partita.types.chunks import ChunkEvent, CompleteEvent, ErrorChunk, ErrorEvent
from partita.types.json import Json, JsonObject, dumps, is_object
from partita.types.messages import text_of
from tests.runtime.scripted_server import JSON, ScriptedResponse, ScriptedServer
from tests.sampling import FULL
from tests.tables import each_row

from .families import FAILURE_NAMES, FAMILIES, Family, Service, framed
from .service_calls import ask, ask_server, chunks, completion, error, fold, is_complete, raw

SILENCE = 1.5
"""Seconds, long enough that a busy machine has sent something."""


def details(event: ErrorEvent) -> JsonObject:
    assert is_object(event.details)
    return event.details


@each_row("family", FAMILIES.values(), ids=FAMILIES)
async def test_a_refusal_is_an_error_with_all_details(family: Family) -> None:
    body = dumps(family.refusal)
    headers = {"retry-after": "7", "x-request-id": "r-1"}
    events = await ask_server(
        family, ScriptedResponse(status=429, body=body, content_type=JSON, headers=headers)
    )
    last = error(events)
    assert (last.name, last.message) == ("rate-limited", "Slow down.")
    assert details(last) == {"status": 429, "requestId": "r-1", "retryAfter": 7.0, "body": family.refusal}
    assert raw(events) == body
    assert [chunk.error_text for chunk in chunks(events) if isinstance(chunk, ErrorChunk)] == ["Slow down."]
    fold(chunks(events))


@each_row("family", FAMILIES.values(), ids=FAMILIES)
async def test_a_response_of_a_broken_proxy_is_an_error(family: Family) -> None:
    page = b"<html>\n\n<h1>Bad Gateway</h1></html>"
    events = await ask_server(family, ScriptedResponse(status=502, body=page, content_type="text/html"))
    assert error(events).name == "server-error"
    assert details(error(events))["body"] == page.decode()
    assert raw(events) == page


@each_row("status", [401, 503])
@each_row("family", FAMILIES.values(), ids=FAMILIES)
async def test_a_refusal_without_a_body_is_named_by_its_status(family: Family, status: int) -> None:
    events = await ask_server(family, ScriptedResponse(status=status, framing="length"))
    assert error(events).name == {401: "authentication", 503: "overloaded"}[status]


@each_row("family", FAMILIES.values(), ids=FAMILIES)
async def test_an_html_page_is_an_error(family: Family) -> None:
    events = await ask_server(
        family, ScriptedResponse(body=b"<p>Sign in first</p>", content_type="text/html")
    )
    error(events)
    assert raw(events) == b"<p>Sign in first</p>"
    fold(chunks(events))


@each_row("name", FAMILIES)
async def test_the_package_retries_a_refused_request(name: str) -> None:
    family = FAMILIES[name]
    busy = ScriptedResponse(
        status=429, body=dumps(family.refusal), content_type=JSON, headers={"retry-after-ms": "1"}
    )
    async with ScriptedServer(busy, ScriptedResponse(body=family.body)) as server:
        arguments = {"client": quick_gemini(server.address)} if name == "gemini" else {"max_retries": 1}
        events = await ask(family.service(server.address, **arguments))
    completion(events)
    assert is_complete(fold(chunks(events)))
    assert raw(events) == family.body
    bodies = {request.body for request in server.requests}
    assert (len(server.requests), len(bodies)) == (2, 1)


def quick_gemini(address: str) -> object:
    """A client that retries without delay."""
    from google.genai import Client
    from google.genai.types import HttpOptions, HttpRetryOptions

    at_once = HttpRetryOptions(attempts=2, initial_delay=0, max_delay=0, jitter=0)
    return Client(api_key="k", http_options=HttpOptions(base_url=address, retry_options=at_once))


@each_row("name", FAMILIES)
async def test_an_error_within_a_stream_ends_it(name: str) -> None:
    family = FAMILIES[name]
    body = framed(family.events[:4], names=family.names) + b"event: error\n" + framed([family.failure])
    events = await ask_server(family, ScriptedResponse(body=body))
    last = error(events)
    assert (last.name, last.message) == (FAILURE_NAMES[name], "Too much to do.")
    assert details(last)["body"] == family.failure
    assert raw(events) == body
    fold(chunks(events))


async def test_an_error_after_the_last_record_is_reported() -> None:
    family = FAMILIES["gemini"]
    body = framed(family.events[:3]) + b'{\n  "error": {\n    "code": 499,\n    "message": "Gone."\n  }\n}\n'
    events = await ask_server(family, ScriptedResponse(body=body))
    assert error(events).message == "Gone."
    assert raw(events) == body


async def test_an_unreadable_record_is_reported_at_the_end() -> None:
    family = FAMILIES["openai-chat"]
    body = b"data: {oops\n\n" + family.body
    events = await ask_server(family, ScriptedResponse(body=body))
    assert error(events).name == "unparsable"
    assert is_complete(fold(chunks(events)))
    assert raw(events) == body


async def test_silence_within_a_stream_is_a_timeout() -> None:
    async def check(family: Family) -> None:
        seen = framed(family.events[:4], names=family.names)
        async with ScriptedServer(ScriptedResponse(body=seen, then="silence")) as server:
            events = await ask(family.service(server.address, timeout=SILENCE))
            await asyncio.wait_for(server.client_disconnected.wait(), 30)
        assert error(events).name == "timeout", family
        assert raw(events) == seen, family
        fold(chunks(events))

    await asyncio.gather(*map(check, FAMILIES.values()))


async def test_no_response_is_a_timeout() -> None:
    async def check(family: Family) -> None:
        events = await ask_server(family, ScriptedResponse(responds=False), timeout=0.3)
        assert error(events).name == "timeout", family
        assert len(events) == 1, family

    await asyncio.gather(*map(check, FAMILIES.values()))


@each_row("family", FAMILIES.values(), ids=FAMILIES)
async def test_an_unreachable_server_is_a_connection_error(family: Family) -> None:
    async with ScriptedServer() as server:
        address = server.address
    events = await ask(family.service(address))
    assert error(events).name == "connection"
    assert len(events) == 1


@each_row("stop", ["aclose", "cancel"])
@each_row("family", FAMILIES.values(), ids=FAMILIES)
async def test_a_reader_that_stops_closes_the_connection(family: Family, stop: str) -> None:
    async with ScriptedServer(
        ScriptedResponse(body=framed(family.events[:4], names=family.names), then="silence")
    ) as server:
        service = family.service(server.address)
        try:
            if stop == "aclose":
                await read_one(service)
            else:
                await read_until_cancelled(service, server)
            await asyncio.wait_for(server.client_disconnected.wait(), 30)
        finally:
            await service.aclose()


async def read_one(service: Service) -> None:
    async with aclosing(service.invoke("Hi")) as events:
        await anext(events)  # the request
        first = await anext(events)
    assert isinstance(first, ChunkEvent)
    assert is_marker(first.chunk, CALL)


async def read_until_cancelled(service: Service, server: ScriptedServer) -> None:
    async def read() -> None:
        async for _ in service.invoke("Hi"):
            pass

    task = asyncio.create_task(read())
    await asyncio.wait_for(server.is_silent.wait(), 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@each_row("framing", ["chunked", "length", "close"])
@each_row("name", FAMILIES)
@settings(max_examples=25 if FULL else 8)
@given(place=st.floats(0, 1))
def test_a_stream_can_be_cut_anywhere(name: str, framing: str, place: float) -> None:
    """The chunks before the cut form a message. The cut is reported unless all chunks had arrived."""
    family = FAMILIES[name]
    cut = round(place * len(family.body))
    stop: JsonObject = {"framing": framing}
    events = asyncio.run(ask_server(family, ScriptedResponse(body=family.body, cut=cut, **stop)))
    assert raw(events) == family.body[:cut]
    message = fold(chunks(events))
    assert "Let me look.".startswith(text_of(message))
    last = events[-1]
    if isinstance(last, CompleteEvent):
        assert is_complete(message)
    else:
        assert error(events).name == "cut"
    assert isinstance(last, ErrorEvent) or cut > len(family.body) / 2


NAMES: dict[str, tuple[Json, int | None, str]] = {
    "a code is more specific than a status": ({"code": "insufficient_quota"}, 429, "quota"),
    "a status is more specific than a type": ({"type": "invalid_request_error"}, 401, "authentication"),
    "a type": ({"type": "overloaded_error"}, None, "overloaded"),
    "a number as code": ({"code": 429}, None, "rate-limited"),
    "a status in the body": ({"status_code": 400}, None, "bad-request"),
    "a status of Google": ({"code": 499, "status": "DEADLINE_EXCEEDED"}, None, "timeout"),
    "an unknown status": (None, 418, "bad-request"),
    "an unknown failure": (None, 599, "server-error"),
    "only a message": ("it broke", None, "provider-error"),
    "nothing": (None, None, "provider-error"),
    "a code that is not a code": ({"code": {"a": 1}, "type": ["x"]}, None, "provider-error"),
}


@each_row(("body", "status", "name"), NAMES.values(), ids=NAMES)
def test_the_name_of_an_error(body: Json, status: int | None, name: str) -> None:
    assert error_name(body, status) == name


async def test_a_refusal_in_another_form_is_reported() -> None:
    body = ScriptedResponse(body=b'{"detail":"Invalid API Key"}', status=401, content_type="application/json")
    events = await ask_server(FAMILIES["openai-chat"], body)
    last = error(events)
    assert (last.message, last.name) == ("Invalid API Key", "authentication")
