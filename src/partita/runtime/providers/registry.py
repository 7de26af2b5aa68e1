"""Provider services by name: `anthropic:MODEL`, `groq:MODEL`, or a format of another package and a model."""

import os
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from partita.errors import AgentError
from partita.formats.registry import api_formats

from .format_service import FormatService
from .service import ProviderService
from .vendors import AnthropicService, GeminiService, OpenAIChatService, OpenAIResponsesService


class Server(NamedTuple):
    """A server with a Chat Completions API."""

    base_url: str
    key_variable: str
    """The environment variable that holds the key."""
    is_key_needed: bool = True


SERVERS: Final[Mapping[str, Server]] = {
    "deepseek": Server("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "groq": Server("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": Server("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "ollama": Server("http://localhost:11434/v1", "OLLAMA_API_KEY", is_key_needed=False),
    "openrouter": Server("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "vllm": Server("http://localhost:8000/v1", "VLLM_API_KEY", is_key_needed=False),
    "xai": Server("https://api.x.ai/v1", "XAI_API_KEY"),
}
"""Servers by the name of their dialect. `NAME_BASE_URL` in the environment replaces the base URL."""

NO_KEY: Final = "none"
"""What is sent to a server that needs no key: the package requires one."""

SERVICES: Final[Mapping[str, Callable[..., ProviderService[Any]]]] = {
    "anthropic": AnthropicService,
    "gemini": GeminiService,
    "openai": OpenAIResponsesService,
    "openai-chat": OpenAIChatService,
}


def provider_service(
    name: str, *, environment: Mapping[str, str] = os.environ, **arguments: Any
) -> ProviderService[Any]:
    """The service for `PROVIDER:MODEL`. `arguments` are those of its constructor."""
    provider, _, model = name.partition(":")
    formats = {} if provider in SERVICES or provider in SERVERS else api_formats()
    if provider not in {*SERVICES, *SERVERS, *formats}:
        known = sorted({*SERVICES, *SERVERS, *formats})
        near = get_close_matches(provider, known, n=1)
        advice = f"did you mean {near[0]!r}? " if near else ""
        raise AgentError(f"no provider {provider!r}", hint=f"{advice}there are {', '.join(known)}")
    if not model:
        raise AgentError(f"no model in {name!r}", hint=f"write {provider}:MODEL")
    if provider in formats:
        return FormatService(formats[provider], model, environment=environment, **arguments)
    if provider in SERVICES:
        return SERVICES[provider](model, **arguments)
    return OpenAIChatService(model, **{**_address(provider, environment, arguments), **arguments})


def _address(provider: str, environment: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, Any]:
    """The base URL and the key of a server. The key of another server is never sent to it."""
    server = SERVERS[provider]
    address = environment.get(f"{provider.upper()}_BASE_URL", server.base_url)
    key = environment.get(server.key_variable)
    if not key and server.is_key_needed and not {"api_key", "client"} & given.keys():
        raise AgentError(f"no key for {provider}", hint=f"set {server.key_variable}, or give api_key")
    return {"dialect": provider, "base_url": address, "api_key": key or NO_KEY}


def make(name: str, argument: str) -> ProviderService[Any]:
    """The service for an agent name (see `partita.runtime.registry`)."""
    return provider_service(f"{name}:{argument}")
