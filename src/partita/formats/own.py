"""The formats that Partita brings. What reads and writes them is imported when it is first needed."""

from functools import partial
from typing import get_args

from partita.stream.rules import Version

from .core.sidecar import in_list, in_messages
from .format import Format, Slot
from .lazily import LazyFormat, later, value_of

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


def _ours() -> list[Format]:
    return [
        Format(
            "canonical",
            "Partita's own messages",
            later("canonical", "load_canonical"),
            later("canonical", "dump_canonical"),
            implied=later("canonical", "implied_in_canonical"),
        ),
        Format(
            "legacy",
            "messages with one content (deprecated)",
            later("canonical", "load_legacy"),
            implied=later("canonical", "implied_in_legacy"),
        ),
    ]


def _ai_sdk() -> list[Format | LazyFormat]:
    return [
        Format(
            "ai-sdk-ui-v4",
            "AI SDK 4 UI messages",
            later("ai_sdk.ui.v4_load", "load"),
            later("ai_sdk.ui.v4_dump", "dump"),
            slot=in_list("annotations"),
            implied=value_of("implied", "AI_SDK_UI"),
        ),
        *(
            Format(
                f"ai-sdk-ui-v{v}",
                f"AI SDK {v} UI messages",
                later("ai_sdk.ui.load", "load"),
                partial(later("ai_sdk.ui.repair", "dump"), version=v),
                slot=in_messages("metadata"),
                implied=value_of("implied", "AI_SDK_UI"),
            )
            for v in VERSIONS
        ),
        *(LazyFormat(f"ai-sdk-model-v{v}", "ai_sdk.model.format", f"V{v}") for v in (4, *VERSIONS)),
        Format(
            "ai-sdk-chunks",
            "AI SDK UI message chunks, and ours",
            decoder=later("chunks", "ChunkDecoder"),
            encoder=later("chunks", "ChunkEncoder"),
            implied=value_of("implied", "AI_SDK_CHUNKS"),
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
            slot=in_messages("content", "metadata"),
            implied=later("mastra.implied", "implied_v2"),
        ),
        Format(
            "mastra-v1",
            "Mastra V1 messages",
            later("mastra.v1", "load"),
            later("mastra.v1", "dump"),
            implied=later("mastra.implied", "implied_v1"),
        ),
        Format(
            "mastra-stream",
            "chunks of Mastra's agents, workflows and networks",
            later("mastra.stream.load", "load"),
            decoder=later("mastra.stream.decoder", "MastraStreamDecoder"),
            implied=later("mastra.stream.implied", "implied"),
        ),
    ]


def _rows() -> list[Format]:
    return [
        Format(
            "cherry",
            "Cherry Studio session messages (rows)",
            later("cherry.load", "load"),
            implied=later("cherry.implied", "implied"),
        ),
        Format(
            "smithers",
            "Smithers agents, events and memory (rows)",
            later("smithers.load", "load"),
            implied=later("smithers.implied", "implied"),
        ),
        Format(
            "plain",
            "rows of plain text, marked as reconstructed",
            later("plain", "load"),
            implied=later("plain", "implied"),
        ),
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
        Format(
            "codex-rollout",
            "Codex session files (rollouts)",
            later("codex.load", "load"),
            later("codex.dump.session", "dump"),
            implied=value_of("implied", "CODEX"),
            dump_session=later("codex.dump.session", "write_rollout"),
            session_path=later("codex.dump.session", "session_path"),
        ),
        Format("gemini-cli", "Gemini CLI chats", later("gemini_cli.load", "load")),
        Format("opencode-export", "OpenCode sessions, exported", later("opencode.load", "load")),
        Format("opencode-parts", "OpenCode messages, one a line", later("opencode.load", "load")),
        Format(
            "codex-exec",
            "what codex exec --json prints, app server",
            decoder=later("codex.exec", "CodexExecDecoder"),
            implied=value_of("implied", "CODEX"),
        ),
        Format("acp", "Agent Client Protocol, both sides", decoder=later("acp.decoder", "AcpDecoder")),
        LazyFormat("mcp", "mcp.format"),
        LazyFormat("a2a", "a2a.format"),
        Format(
            "gemini-cli-stream",
            "Gemini CLI stream-json",
            decoder=later("gemini_cli.stream", "GeminiStreamDecoder"),
        ),
    ]


def _exports() -> list[Format]:
    return [
        Format(
            "sharegpt",
            "ShareGPT conversations, as trainers read them",
            later("exports.sharegpt", "load"),
            later("exports.sharegpt", "dump"),
            takes_request=True,
            slot=Slot(later("exports.sharegpt", "put"), later("exports.sharegpt", "take")),
            implied=value_of("exports.sharegpt", "IMPLIED"),
        ),
        Format(
            "chatml",
            "ChatML, a conversation as one text",
            later("exports.chatml", "load"),
            later("exports.chatml", "dump"),
            implied=value_of("exports.chatml", "IMPLIED"),
        ),
        Format("markdown", "a Markdown document to read", dump=later("exports.markdown", "dump")),
    ]
