"""The providers whose APIs can be recorded: their addresses, environment variables, formats and ids."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlencode

from partita.errors import AgentError

KEYS: Final = frozenset({"key", "api_key", "api-key", "apikey", "access_token", "token", "code", "sig"})
"""Query parameters that hold secrets."""

_VERSION: Final = re.compile(r"^/v1(?:beta|alpha)?[0-9]*(?=/)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """The API of a provider."""

    name: str
    upstream: str
    """Its base URL."""
    base: str
    """The path of the base URL, which clients put before every path."""
    address_variables: tuple[str, ...]
    """Environment variables with the base URL for its client library."""
    key_variables: tuple[str, ...]
    """Environment variables with its API key."""
    formats: tuple[str, ...]
    """The formats of its responses."""


PROVIDERS: Final[Mapping[str, Provider]] = {
    "openai": Provider(
        name="openai",
        upstream="https://api.openai.com/v1",
        base="/v1",
        address_variables=("OPENAI_BASE_URL",),
        key_variables=("OPENAI_API_KEY",),
        formats=("openai-chat", "openai-responses"),
    ),
    "anthropic": Provider(
        name="anthropic",
        upstream="https://api.anthropic.com",
        base="",
        address_variables=("ANTHROPIC_BASE_URL",),
        key_variables=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
        formats=("anthropic",),
    ),
    "gemini": Provider(
        name="gemini",
        upstream="https://generativelanguage.googleapis.com",
        base="",
        address_variables=("GOOGLE_GEMINI_BASE_URL",),
        key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        formats=("gemini",),
    ),
}

IDS: Final[Mapping[str, tuple[str, ...]]] = {
    "openai-chat": ("messages[*].tool_calls[*].id", "messages[*].tool_call_id"),
    "openai-responses": ("input[*].id", "input[*].call_id"),
    "anthropic": ("messages[*].content[*].id", "messages[*].content[*].tool_use_id"),
    "gemini": ("contents[*].parts[*].functionCall.id", "contents[*].parts[*].functionResponse.id"),
}
"""The paths of ids of calls and items in requests. Only which ids are equal is compared, not their values."""


def get_provider(name: str) -> Provider:
    """The provider with this name."""
    if name not in PROVIDERS:
        raise AgentError(f"unknown provider {name!r}", hint=f"use one of {', '.join(PROVIDERS)}")
    return PROVIDERS[name]


def provider_of(format_name: str | None) -> Provider | None:
    """The provider of a response format, or of the format it is a dialect of, as `openai-chat-deepseek`."""
    for provider in PROVIDERS.values():
        if any(_is_dialect(format_name, family) for family in provider.formats):
            return provider
    return None


def family_of(format_name: str | None) -> str | None:
    """The format that a format is a dialect of, or itself."""
    return next((name for name in IDS if _is_dialect(format_name, name)), None)


def _is_dialect(format_name: str | None, family: str) -> bool:
    return format_name == family or (format_name or "").startswith(f"{family}-")


def format_at(path: str) -> str | None:
    """The format of the API that a path belongs to."""
    plain = path.partition("?")[0]
    if plain.endswith("/chat/completions"):
        return "openai-chat"
    if plain.endswith("/responses"):
        return "openai-responses"
    if plain.endswith("/messages"):
        return "anthropic"
    return "gemini" if plain.endswith(("enerateContent", "streamGenerateContent")) else None


def recorded_path(provider: Provider, path: str) -> str:
    """A path as it is recorded: without base path and keys, and for Gemini without the version."""
    address, mark, query = path.partition("?")
    address = address.removeprefix(provider.base) if provider.base else address
    if provider.name == "gemini":
        address = _VERSION.sub("", address)
    members = parse_qsl(query, keep_blank_values=True)
    left = [(name, value) for name, value in members if name.lower() not in KEYS]
    if mark and len(left) == len(members):
        return f"{address}?{query}"
    return f"{address}?{urlencode(left)}" if left else address
