"""The formats that Partita brings. What reads and writes them is imported when it is first needed."""

from functools import partial
from typing import get_args

from partita.stream.rules import Version

from .format import Format
from .lazily import later
from .slots import in_list, in_messages

CHAT = "openai-chat"

CHAT_SERVERS = ("deepseek", "groq", "mistral", "ollama", "openrouter", "vllm", "xai")
"""Servers that speak Chat Completions and have a name of their own in metadata."""

VERSIONS: tuple[Version, ...] = get_args(Version)


def own_formats() -> list[Format]:
    """All of them, in the order of the documentation."""
    return [*_ours(), *_ai_sdk(), *_mastra(), *_rows(), *_providers(), *_agents()]


def _ours() -> list[Format]:
    return [
        Format(
            "canonical",
            "Partita's own messages",
            later("canonical", "load_canonical"),
            later("canonical", "dump_canonical"),
        ),
        Format("legacy", "messages with one content (deprecated)", later("canonical", "load_legacy")),
    ]


def _ai_sdk() -> list[Format]:
    return [
        Format(
            "ai-sdk-ui-v4",
            "AI SDK 4 UI messages",
            later("ai_sdk.ui.v4_load", "load"),
            later("ai_sdk.ui.v4_dump", "dump"),
            slot=in_list("annotations"),
        ),
        *(
            Format(
                f"ai-sdk-ui-v{v}",
                f"AI SDK {v} UI messages",
                later("ai_sdk.ui.load", "load"),
                partial(later("ai_sdk.ui.dump", "dump"), version=v),
                slot=in_messages("metadata"),
            )
            for v in VERSIONS
        ),
        Format(
            "ai-sdk-model-v4",
            "AI SDK 4 core messages",
            later("ai_sdk.model.core_v4", "load"),
            later("ai_sdk.model.core_v4", "dump"),
            slot=in_messages("providerOptions"),
        ),
        *(
            Format(
                f"ai-sdk-model-v{v}",
                f"AI SDK {v} model messages",
                partial(later("ai_sdk.model.load", "load"), version=v),
                partial(later("ai_sdk.model.dump", "dump"), version=v),
                slot=in_messages("providerOptions"),
            )
            for v in VERSIONS
        ),
        Format(
            "ai-sdk-chunks", "AI SDK UI message chunks, and ours", decoder=later("chunks", "ChunkDecoder")
        ),
        Format(
            "ai-sdk-data-stream-v4",
            "AI SDK 4 data stream lines",
            decoder=later("ai_sdk.streams.data_stream_v4", "DataStreamDecoder"),
        ),
        *(
            Format(
                f"ai-sdk-full-stream-v{v}",
                f"AI SDK {v} fullStream parts",
                decoder=partial(later("ai_sdk.streams.full_stream", "FullStreamDecoder"), version=v),
            )
            for v in VERSIONS
        ),
    ]


def _mastra() -> list[Format]:
    return [
        Format(
            "mastra-v2",
            "Mastra V2 messages and table rows",
            later("mastra.v2", "load"),
            later("mastra.v2", "dump"),
        ),
        Format("mastra-v1", "Mastra V1 messages", later("mastra.v1", "load"), later("mastra.v1", "dump")),
    ]


def _rows() -> list[Format]:
    return [
        Format("cherry", "Cherry Studio session messages (rows)", later("cherry.load", "load")),
        Format("smithers", "Smithers agents, events and memory (rows)", later("smithers.load", "load")),
        Format("plain", "rows of plain text, marked as reconstructed", later("plain", "load")),
    ]


def _providers() -> list[Format]:
    return [
        Format(
            "anthropic",
            "answers of Anthropic's Messages API",
            decoder=later("anthropic.decoder", "AnthropicDecoder"),
        ),
        Format(
            "gemini",
            "answers of Google's generateContent",
            decoder=later("gemini.decoder", "GeminiDecoder"),
        ),
        Format(
            "openai-responses",
            "answers of OpenAI's Responses API",
            decoder=later("openai_responses.decoder", "ResponsesDecoder"),
        ),
        Format(
            CHAT,
            "answers of OpenAI's Chat Completions",
            decoder=partial(later("openai_chat.decoder", "ChatDecoder"), "openai"),
        ),
        *(
            Format(
                f"{CHAT}-{server}",
                f"Chat Completions as {server} answers",
                decoder=partial(later("openai_chat.decoder", "ChatDecoder"), server),
            )
            for server in CHAT_SERVERS
        ),
    ]


def _agents() -> list[Format]:
    return [
        Format(
            "claude-code-log",
            "Claude Code session files",
            later("claude_code.log.load", "load"),
            later("claude_code.dump.session", "dump"),
        ),
        Format(
            "claude-code-stream",
            "Claude Code stream-json, Agent SDK",
            decoder=later("claude_code.stream.decoder", "ClaudeStreamDecoder"),
        ),
        Format(
            "codex-exec",
            "what codex exec --json prints, app server",
            decoder=later("codex.exec", "CodexExecDecoder"),
        ),
        Format("acp", "Agent Client Protocol, both sides", decoder=later("acp.decoder", "AcpDecoder")),
        Format(
            "gemini-cli-stream",
            "Gemini CLI stream-json",
            decoder=later("gemini_cli.stream", "GeminiStreamDecoder"),
        ),
    ]
