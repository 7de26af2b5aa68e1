"""The APIs that recordings are of: where they live, how clients are pointed elsewhere, what ids they use."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlencode

from partita.errors import AgentError

KEYS: Final = frozenset({"key", "api_key", "api-key", "apikey", "access_token", "token", "code", "sig"})
"""Members of a query that are secrets."""

_VERSION: Final = re.compile(r"^/v1(?:beta|alpha)?[0-9]*(?=/)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider's API."""

    name: str
    upstream: str
    """Where it lives."""
    base: str
    """What of that address a client puts before every path."""
    addresses: tuple[str, ...]
    """The variables that point its package elsewhere."""
    keys: tuple[str, ...]
    """The variables that hold its key."""
    formats: tuple[str, ...]
    """What reads its answers."""


PROVIDERS: Final[Mapping[str, Provider]] = {
    "openai": Provider(
        name="openai",
        upstream="https://api.openai.com/v1",
        base="/v1",
        addresses=("OPENAI_BASE_URL",),
        keys=("OPENAI_API_KEY",),
        formats=("openai-chat", "openai-responses"),
    ),
    "anthropic": Provider(
        name="anthropic",
        upstream="https://api.anthropic.com",
        base="",
        addresses=("ANTHROPIC_BASE_URL",),
        keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
        formats=("anthropic",),
    ),
    "gemini": Provider(
        name="gemini",
        upstream="https://generativelanguage.googleapis.com",
        base="",
        addresses=("GOOGLE_GEMINI_BASE_URL",),
        keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        formats=("gemini",),
    ),
}

IDS: Final[Mapping[str, tuple[str, ...]]] = {
    "openai-chat": ("messages[*].tool_calls[*].id", "messages[*].tool_call_id"),
    "openai-responses": ("input[*].id", "input[*].call_id"),
    "anthropic": ("messages[*].content[*].id", "messages[*].content[*].tool_use_id"),
    "gemini": ("contents[*].parts[*].functionCall.id", "contents[*].parts[*].functionResponse.id"),
}
"""Where requests name calls and items. That two names are the same counts; how they are spelled does not."""


def get_provider(name: str) -> Provider:
    """The provider of that name."""
    if name not in PROVIDERS:
        raise AgentError(f"no provider {name!r}", hint=f"there are {', '.join(PROVIDERS)}")
    return PROVIDERS[name]


def provider_of(format_name: str | None) -> Provider | None:
    """The provider whose answers a format reads; `openai-chat-deepseek` is one of OpenAI's manner."""
    for provider in PROVIDERS.values():
        if any(format_name == one or (format_name or "").startswith(f"{one}-") for one in provider.formats):
            return provider
    return None


def family_of(format_name: str | None) -> str | None:
    """The manner that a format is of."""
    return next((f for f in IDS if format_name == f or (format_name or "").startswith(f"{f}-")), None)


def format_at(path: str) -> str | None:
    """Which API a path belongs to."""
    plain = path.partition("?")[0]
    if plain.endswith("/chat/completions"):
        return "openai-chat"
    if plain.endswith("/responses"):
        return "openai-responses"
    if plain.endswith("/messages"):
        return "anthropic"
    return "gemini" if plain.endswith(("enerateContent", "streamGenerateContent")) else None


def kept_path(provider: Provider, path: str) -> str:
    """A path as it is kept: behind the base, without keys; Google's without the version before it."""
    address, mark, query = path.partition("?")
    address = address.removeprefix(provider.base) if provider.base else address
    if provider.name == "gemini":
        address = _VERSION.sub("", address)
    members = parse_qsl(query, keep_blank_values=True)
    left = [(name, value) for name, value in members if name.lower() not in KEYS]
    if mark and len(left) == len(members):
        return f"{address}?{query}"
    return f"{address}?{urlencode(left)}" if left else address
