"""Formats by where they come from, and what each is called at the head of a column."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from partita.formats.format import Format


class Family(NamedTuple):
    """Formats of one kind: those of these names, and those that begin so."""

    name: str
    starts: tuple[str, ...]


FAMILIES = (
    Family("Our own", ("canonical", "legacy", "plain")),
    Family("AI SDK", ("ai-sdk-",)),
    Family("Mastra, Cherry Studio, Smithers", ("mastra-", "cherry", "smithers")),
    Family("Chat Completions", ("openai-chat",)),
    Family(
        "Other APIs of models",
        ("anthropic", "bedrock-converse", "cohere", "gemini-response", "openai-responses", "gemini"),
    ),
    Family(
        "Frameworks and protocols",
        ("openai-agents", "langchain", "pydantic-ai", "otel-genai", "ag-ui", "mcp", "a2a", "acp"),
    ),
    Family("Coding agents", ("claude-code-", "codex-", "gemini-cli", "opencode-")),
    Family("To read and to train", ("markdown", "sharegpt", "chatml")),
)
OTHERS = "Others"

SHORT: Mapping[str, str] = {
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


def short(name: str) -> str:
    """What a format is called at the head of a column."""
    return SHORT.get(name) or name.removeprefix("openai-chat-").replace("-", " ")


def family_of(name: str) -> str:
    """The family of a format: the longest start that fits decides."""
    fits = [
        (len(start), family.name) for family in FAMILIES for start in family.starts if name.startswith(start)
    ]
    return max(fits)[1] if fits else OTHERS


def by_family(formats: Sequence[Format]) -> dict[str, list[Format]]:
    """Formats in the order of the families; an empty family is not there."""
    found: dict[str, list[Format]] = {name: [] for name in (*(one.name for one in FAMILIES), OTHERS)}
    for format_ in formats:
        found[family_of(format_.name)].append(format_)
    return {name: members for name, members in found.items() if members}
