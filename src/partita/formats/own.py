"""The formats that Partita brings. What reads and writes them is imported when it is first needed."""

from typing import get_args

from partita.stream.rules import Version

from .format import Format
from .lazily import LazyFormat

CHAT = "openai-chat"

CHAT_SERVERS = ("deepseek", "groq", "mistral", "ollama", "openrouter", "vllm", "xai")
"""Servers with Chat Completions that have a namespace of their own in provider metadata."""

VERSIONS: tuple[Version, ...] = get_args(Version)


def own_formats() -> list[Format | LazyFormat]:
    """All of them, in the order of the documentation."""
    return [
        *_ours(),
        *_ai_sdk(),
        *_mastra(),
        *_rows(),
        *_providers(),
        *_frameworks(),
        *_agents(),
        *_exports(),
    ]


def _ours() -> list[LazyFormat]:
    return [LazyFormat("canonical", "canonical"), LazyFormat("legacy", "canonical", "LEGACY")]


def _ai_sdk() -> list[Format | LazyFormat]:
    return [
        LazyFormat("ai-sdk-ui-v4", "ai_sdk.ui_v4.format"),
        *(LazyFormat(f"ai-sdk-ui-v{v}", "ai_sdk.ui.format", f"V{v}") for v in VERSIONS),
        *(LazyFormat(f"ai-sdk-model-v{v}", "ai_sdk.model.format", f"V{v}") for v in (4, *VERSIONS)),
        LazyFormat("ai-sdk-chunks", "chunks"),
        LazyFormat("ai-sdk-data-stream-v4", "ai_sdk.data_stream_v4"),
        *(LazyFormat(f"ai-sdk-full-stream-v{v}", "ai_sdk.full_stream", f"V{v}") for v in VERSIONS),
    ]


def _mastra() -> list[LazyFormat]:
    return [
        LazyFormat("mastra-v2", "mastra.format", "V2"),
        LazyFormat("mastra-v1", "mastra.format", "V1"),
        LazyFormat("mastra-stream", "mastra.stream"),
    ]


def _rows() -> list[LazyFormat]:
    return [
        LazyFormat("cherry", "cherry.format"),
        LazyFormat("smithers", "smithers.format"),
        LazyFormat("plain", "plain"),
    ]


def _providers() -> list[Format | LazyFormat]:
    return [
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
    ]


def _frameworks() -> list[Format | LazyFormat]:
    return [
        LazyFormat("langchain", "langchain.format"),
        LazyFormat("langchain-v0", "langchain.format", "FORMAT_V0"),
        LazyFormat("pydantic-ai", "pydantic_ai.format"),
        LazyFormat("otel-genai", "otel.format"),
        LazyFormat("openai-agents", "openai_agents.format"),
        LazyFormat("ag-ui", "ag_ui.format"),
    ]


def _agents() -> list[Format | LazyFormat]:
    return [
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
    ]


def _exports() -> list[LazyFormat]:
    return [
        LazyFormat("sharegpt", "exports.sharegpt"),
        LazyFormat("chatml", "exports.chatml"),
        LazyFormat("markdown", "exports.markdown"),
    ]
