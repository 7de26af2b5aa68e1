"""The formats by family, and their short names in the heads of tables."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from partita.formats.format import Format


class Family(NamedTuple):
    """A heading, and the beginnings of the names of the formats below it."""

    name: str
    prefixes: tuple[str, ...]


FAMILIES = (
    Family("Partita", ("canonical", "legacy", "plain")),
    Family("AI SDK", ("ai-sdk-",)),
    Family("Mastra, Cherry Studio, Smithers", ("mastra-", "cherry", "smithers")),
    Family("Chat Completions", ("openai-chat",)),
    Family(
        "Other model APIs",
        ("anthropic", "bedrock-converse", "cohere", "gemini-response", "openai-responses", "gemini"),
    ),
    Family(
        "Frameworks and protocols",
        ("openai-agents", "langchain", "pydantic-ai", "otel-genai", "ag-ui", "mcp", "a2a", "acp"),
    ),
    Family("Coding agents", ("claude-code-", "codex-", "gemini-cli", "opencode-")),
    Family("Documents and training data", ("markdown", "sharegpt", "chatml")),
)
OTHERS = "Others"

SHORT_NAMES: Mapping[str, str] = {
    **{f"ai-sdk-ui-v{version}": f"UI {version}" for version in range(4, 8)},
    **{f"ai-sdk-model-v{version}": f"model {version}" for version in range(4, 8)},
    "mastra-v2": "Mastra 2",
    "mastra-v1": "Mastra 1",
    "claude-code-log": "Claude Code",
    "openai-chat": "OpenAI",
    "openai-responses": "Responses",
    "anthropic": "Anthropic",
    "gemini": "Gemini",
    "bedrock-converse": "Bedrock",
    "cohere": "Cohere",
    "openai-agents": "OpenAI Agents",
    "langchain": "LangChain",
    "langchain-v0": "LangChain v0",
    "pydantic-ai": "Pydantic AI",
    "otel-genai": "OTel",
    "ag-ui": "AG-UI",
    "mcp": "MCP",
    "a2a": "A2A",
    "sharegpt": "ShareGPT",
    "chatml": "ChatML",
    "markdown": "Markdown",
}


def short_name(name: str) -> str:
    """Return the name of a format in the head of a table."""
    return SHORT_NAMES.get(name) or name.removeprefix("openai-chat-").replace("-", " ")


def family_of(name: str) -> str:
    """Return the family of a format. The longest prefix that matches decides."""
    matches = [
        (len(prefix), family.name)
        for family in FAMILIES
        for prefix in family.prefixes
        if name.startswith(prefix)
    ]
    return max(matches)[1] if matches else OTHERS


def by_family(formats: Sequence[Format]) -> dict[str, list[Format]]:
    """Return formats by family, in the order of `FAMILIES`. Empty families are left out."""
    found: dict[str, list[Format]] = {name: [] for name in (*(one.name for one in FAMILIES), OTHERS)}
    for format_ in formats:
        found[family_of(format_.name)].append(format_)
    return {name: members for name, members in found.items() if members}
