"""The formats of Partita, in the order of the documentation. A module is imported when its format is used."""

from importlib import import_module
from typing import Final, NamedTuple, get_args

from partita.stream.rules import Version

from .format import Format

CHAT: Final = "openai-chat"

CHAT_SERVERS: Final = ("deepseek", "groq", "mistral", "ollama", "openrouter", "vllm", "xai")
"""Servers with Chat Completions that have a namespace of their own in provider metadata."""

VERSIONS: Final[tuple[Version, ...]] = get_args(Version)


class LazyFormat(NamedTuple):
    """A format that a module in `partita.formats` exports."""

    name: str
    module: str
    attribute: str = "FORMAT"

    def load(self) -> Format:
        """Import the module."""
        found: Format = getattr(import_module(f"partita.formats.{self.module}"), self.attribute)
        return found


BUILTIN: Final = (
    LazyFormat("canonical", "canonical"),
    LazyFormat("legacy", "canonical", "LEGACY"),
    # AI SDK
    LazyFormat("ai-sdk-ui-v4", "ai_sdk.ui_v4.format"),
    *(LazyFormat(f"ai-sdk-ui-v{v}", "ai_sdk.ui.format", f"V{v}") for v in VERSIONS),
    *(LazyFormat(f"ai-sdk-model-v{v}", "ai_sdk.model.format", f"V{v}") for v in (4, *VERSIONS)),
    LazyFormat("ai-sdk-chunks", "canonical", "CHUNKS"),
    LazyFormat("ai-sdk-data-stream-v4", "ai_sdk.data_stream_v4"),
    *(LazyFormat(f"ai-sdk-full-stream-v{v}", "ai_sdk.full_stream", f"V{v}") for v in VERSIONS),
    # Mastra
    LazyFormat("mastra-v2", "mastra.format", "V2"),
    LazyFormat("mastra-v1", "mastra.format", "V1"),
    LazyFormat("mastra-stream", "mastra.stream"),
    # Rows of applications
    LazyFormat("cherry", "cherry.format"),
    LazyFormat("smithers", "smithers.format"),
    LazyFormat("plain", "plain"),
    # APIs of models
    LazyFormat("anthropic", "anthropic.format"),
    LazyFormat("anthropic-answer", "anthropic.format", "RESPONSE"),
    LazyFormat("bedrock-converse", "bedrock.format"),
    LazyFormat("bedrock-converse-answer", "bedrock.format", "RESPONSE"),
    LazyFormat("cohere", "cohere.format"),
    LazyFormat("cohere-answer", "cohere.format", "RESPONSE"),
    LazyFormat("gemini", "gemini.format"),
    LazyFormat("gemini-answer", "gemini.format", "RESPONSE"),
    LazyFormat("openai-responses", "openai_responses.format"),
    LazyFormat("openai-responses-answer", "openai_responses.format", "RESPONSE"),
    LazyFormat(CHAT, "openai_chat.format"),
    LazyFormat(f"{CHAT}-answer", "openai_chat.format", "RESPONSE"),
    *(LazyFormat(f"{CHAT}-{one}", "openai_chat.format", one.upper()) for one in CHAT_SERVERS),
    # Frameworks
    LazyFormat("langchain", "langchain.format"),
    LazyFormat("langchain-v0", "langchain.format", "FORMAT_V0"),
    LazyFormat("pydantic-ai", "pydantic_ai.format"),
    LazyFormat("otel-genai", "otel.format"),
    LazyFormat("openai-agents", "openai_agents.format"),
    LazyFormat("ag-ui", "ag_ui.format"),
    # Agents, and protocols of agents
    LazyFormat("claude-code-log", "claude_code.format"),
    LazyFormat("claude-code-stream", "claude_code.format", "STREAM"),
    LazyFormat("codex-rollout", "codex.format"),
    LazyFormat("gemini-cli", "gemini_cli.chat"),
    LazyFormat("opencode-export", "opencode.session", "EXPORT"),
    LazyFormat("opencode-parts", "opencode.session", "PARTS"),
    LazyFormat("codex-exec", "codex.format", "EXEC"),
    LazyFormat("acp", "acp.decoder"),
    LazyFormat("mcp", "mcp.format"),
    LazyFormat("a2a", "a2a.format"),
    LazyFormat("gemini-cli-stream", "gemini_cli.stream"),
    # Exports
    LazyFormat("sharegpt", "exports.sharegpt"),
    LazyFormat("chatml", "exports.chatml"),
    LazyFormat("markdown", "exports.markdown"),
)
