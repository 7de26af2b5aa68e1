"""Formats of other packages as providers, over a real HTTP server, found by entry points."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from typing import Any

import pytest

from partita.errors import AgentError
from partita.formats import registry
from partita.formats.format import Format, HttpApi
from partita.formats.registry import all_formats, get_format
from partita.runtime.providers.format_service import FormatService
from partita.runtime.providers.registry import provider_service
from partita.runtime.registry import agent_names, get_agent
from partita.runtime.service import InvokeOptions
from partita.types.json import loads
from tests.runtime.scripted_server import ScriptedResponse, ScriptedServer
from tests.tables import each_row

from .families import FAMILIES
from .service_calls import ask, chunks, completion, error, fold, is_complete

CHAT = get_format("openai-chat")


def chat(name: str, api: HttpApi | None, **more: Any) -> Format:
    """A format of another package: Chat Completions under another name."""
    given: dict[str, Any] = {"decoder": CHAT.decoder, "takes_request": True, **more}
    return Format(name, "a harbour provider", CHAT.load, CHAT.dump, http_api=api, **given)


HARBOUR = chat("harbour", HttpApi("https://harbour.example/v1", "/chat", key_variable="HARBOUR_API_KEY"))
IN_PATH = chat(
    "in-path",
    HttpApi("https://harbour.example", "/models/{model}:chat", headers={"x-key": "{key}", "x-version": "2"}),
)
NO_DECODER = chat("no-decoder", HttpApi("https://harbour.example", "/chat"), decoder=None)
NO_API = chat("no-api", None)
FOUND = {"harbour": "HARBOUR", "in-path": "IN_PATH", "no-decoder": "NO_DECODER", "no-api": "NO_API"}


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the formats above as entry points."""
    entries = [EntryPoint(name, f"{__name__}:{one}", registry.ENTRY_POINTS) for name, one in FOUND.items()]
    monkeypatch.setattr(registry, "entry_points", EntryPoints(entries).select)
    all_formats.cache_clear()
    yield
    monkeypatch.undo()
    all_formats.cache_clear()


def body() -> bytes:
    return FAMILIES["openai-chat"].body


async def test_a_request_is_sent_to_the_api_and_its_response_is_read() -> None:
    async with ScriptedServer(ScriptedResponse(body=body())) as server:
        found = {"HARBOUR_BASE_URL": f"{server.address}/v2", "HARBOUR_API_KEY": "its-own"}
        service = provider_service("harbour:pilot-1", environment=found, settings={"temperature": 0})
        events = await ask(service, options=InvokeOptions(instructions="Be brief."))
    assert is_complete(fold(chunks(events)))
    assert completion(events).agent_type == "harbour"
    (request,) = server.requests
    assert request.path == "/v2/chat"
    assert request.headers["authorization"] == "Bearer its-own"
    sent = loads(request.body)
    assert (sent["model"], sent["stream"], sent["temperature"]) == ("pilot-1", True, 0)
    assert [message["role"] for message in sent["messages"]] == ["developer", "user"]


async def test_a_model_may_be_in_the_path_and_a_key_in_any_header() -> None:
    async with ScriptedServer(ScriptedResponse(body=body())) as server:
        service = FormatService(IN_PATH, "pilot-1", base_url=server.address, environment={})
        completion(await ask(service))
        keyed = FormatService(IN_PATH, "pilot-1", base_url=server.address, api_key="secret", environment={})
        completion(await ask(keyed))
    first, second = server.requests
    assert first.path == "/models/pilot-1:chat"
    assert "model" not in loads(first.body)
    assert ("x-key" in first.headers, first.headers["x-version"]) == (False, "2")
    assert second.headers["x-key"] == "secret"


async def test_a_request_is_retried_when_the_server_is_busy() -> None:
    busy = ScriptedResponse(
        status=503, headers={"retry-after": "0.01"}, body=b'{"error": {"message": "busy"}}'
    )
    async with ScriptedServer(busy, ScriptedResponse(body=body())) as server:
        service = FormatService(IN_PATH, "a", base_url=server.address, environment={})
        assert is_complete(fold(chunks(await ask(service))))
    assert len(server.requests) == 2


async def test_a_refusal_is_an_error_with_its_reason() -> None:
    refusal = ScriptedResponse(
        status=429, body=b'{"error": {"message": "too many", "code": "rate_limit_exceeded"}}'
    )
    async with ScriptedServer(refusal) as server:
        service = FormatService(IN_PATH, "a", base_url=server.address, max_retries=0, environment={})
        events = await ask(service)
    assert "too many" in str(error(events))
    assert len(server.requests) == 1


async def test_an_unreachable_server_is_an_error() -> None:
    service = FormatService(IN_PATH, "a", base_url="http://127.0.0.1:9", max_retries=0, environment={})
    assert error(await ask(service))


def test_agents_are_found_by_the_name_of_the_format(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARBOUR_API_KEY", "k")
    assert isinstance(get_agent("harbour:pilot-1"), FormatService)
    assert {"harbour", "in-path", "anthropic"} <= {*agent_names()}
    assert "no-api" not in agent_names()


REFUSED = {
    "no key": ("harbour:a", "set HARBOUR_API_KEY"),
    "no model": ("in-path", "write in-path:MODEL"),
    "no decoder": ("no-decoder:a", "a `decoder`"),
    "no API": ("no-api:a", "there are anthropic"),
}


@each_row(("name", "hint"), REFUSED.values(), ids=REFUSED)
def test_an_unusable_provider_is_refused_with_a_hint(name: str, hint: str) -> None:
    with pytest.raises(AgentError) as raised:
        provider_service(name, environment={})
    assert hint in raised.value.hint
