"""Provider services by name, and the keys and packages that they need."""

import sys

import pytest

from partita.errors import AgentError
from partita.formats.openai_chat.dialects import DIALECTS
from partita.formats.registry import CHAT, CHAT_SERVERS, get_format
from partita.runtime.providers.registry import SERVERS, provider_service
from partita.runtime.providers.vendors import (
    AnthropicService,
    GeminiService,
    OpenAIChatService,
    OpenAIResponsesService,
)
from tests.runtime.scripted_server import ScriptedResponse, ScriptedServer
from tests.tables import each_row

from .families import FAMILIES
from .service_calls import ask, completion

KINDS = {
    "anthropic:a": AnthropicService,
    "gemini:a": GeminiService,
    "openai:a": OpenAIResponsesService,
    "openai-chat:a": OpenAIChatService,
    "ollama:a": OpenAIChatService,
}


@each_row(("name", "kind"), KINDS.items(), ids=KINDS)
def test_a_name_selects_a_service_and_a_model(name: str, kind: type) -> None:
    service = provider_service(name, environment={})
    assert type(service) is kind
    assert service.model == "a"
    assert name.startswith(service.name)


def test_the_name_of_a_model_may_contain_colons_and_slashes() -> None:
    service = provider_service("openrouter:meta/llama:free", environment={"OPENROUTER_API_KEY": "k"})
    assert service.model == "meta/llama:free"


@pytest.mark.parametrize("server", SERVERS)
async def test_a_server_receives_only_its_own_key(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-for-others")
    async with ScriptedServer(ScriptedResponse(body=FAMILIES["openai-chat"].body)) as endpoint:
        found = {f"{server.upper()}_BASE_URL": endpoint.address, SERVERS[server].key_variable: "its-own"}
        service = provider_service(f"{server}:a", environment=found)
        assert completion(await ask(service)).agent_type == server
    assert endpoint.requests[0].headers["authorization"] == "Bearer its-own"


REFUSED = {
    "an unknown provider": ("antropic:a", "did you mean 'anthropic'"),
    "no model": ("gemini", "write gemini:MODEL"),
    "an empty model": ("groq:", "write groq:MODEL"),
    "no key": ("groq:a", "set GROQ_API_KEY"),
}


@each_row(("name", "hint"), REFUSED.values(), ids=REFUSED)
def test_invalid_names_are_refused(name: str, hint: str) -> None:
    with pytest.raises(AgentError) as raised:
        provider_service(name, environment={})
    assert hint in raised.value.hint


def test_every_server_has_a_dialect_and_a_format() -> None:
    assert set(SERVERS) == set(CHAT_SERVERS)
    assert {dialect.namespace for dialect in DIALECTS.values()} == {"openai", *CHAT_SERVERS}
    assert all(get_format(f"{CHAT}-{DIALECTS[server].namespace}").decoder for server in SERVERS)


PACKAGES = {
    "openai": "openai",
    "openai-chat": "openai",
    "anthropic": "anthropic",
    "gemini": "google.genai",
}


@pytest.mark.parametrize(("name", "package"), PACKAGES.items(), ids=PACKAGES)
def test_a_missing_package_is_named(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(AgentError) as raised:
        provider_service(f"{name}:a", api_key="k").invoke("Hi")
    assert (
        raised.value.hint == f"pip install 'partita[{package.rpartition('.')[2].replace('genai', 'gemini')}]'"
    )
