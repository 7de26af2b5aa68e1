"""The formats there are, by name. Others add theirs through the entry point group `partita.formats`."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache, partial
from typing import get_args

from partita.errors import FormatError
from partita.stream.rules import Version
from partita.types.codec import MESSAGES, read_message, to_json
from partita.types.json import Json, is_array
from partita.types.legacy import read_legacy, upgrade
from partita.types.messages import Message

from . import plain
from .ai_sdk.model import core_v4
from .ai_sdk.model import dump as model_dump
from .ai_sdk.model import load as model_load
from .ai_sdk.streams.data_stream_v4 import DataStreamDecoder
from .ai_sdk.streams.full_stream import FullStreamDecoder
from .ai_sdk.ui import dump as ui_dump
from .ai_sdk.ui import load as ui_load
from .ai_sdk.ui import v4_dump as ui_v4_dump
from .ai_sdk.ui import v4_load as ui_v4_load
from .cherry import load as cherry_load
from .chunks import ChunkDecoder
from .claude_code.dump import session as claude_dump
from .claude_code.log import load as claude_load
from .claude_code.stream.decoder import ClaudeStreamDecoder
from .codex.exec import CodexExecDecoder
from .format import Decoder, Dumped, Format, Loaded
from .gemini_cli.stream import GeminiStreamDecoder
from .mastra import v1 as mastra_v1
from .mastra import v2 as mastra_v2
from .plugins import Broken, read_plugins
from .smithers import load as smithers_load

CHAT = "openai-chat"

CHAT_SERVERS = ("deepseek", "groq", "mistral", "ollama", "openrouter", "vllm", "xai")
"""Servers that speak Chat Completions and have a name of their own in metadata."""

ALIASES: Mapping[str, str] = {
    "ui": "ai-sdk-ui-v7",
    "model": "ai-sdk-model-v7",
    "core": "ai-sdk-model-v4",
    "chunks": "ai-sdk-chunks",
    "message": "canonical",
}
"""Short names for what is meant most often."""


@cache
def all_formats() -> Mapping[str, Format]:
    """Every format by name: ours, then those that other packages bring."""
    own = {format_.name: format_ for format_ in _own()}
    return {**own, **read_plugins({*own, *ALIASES}).formats}


def broken_formats() -> Mapping[str, Broken]:
    """What other packages bring and cannot be used, by the name of the entry point."""
    return read_plugins({*ALIASES, *(format_.name for format_ in _own())}).broken


def get_format(name: str) -> Format:
    """The format of that name or alias."""
    known = all_formats()
    full = ALIASES.get(name, name)
    if full not in known:
        if broken := broken_formats().get(name):
            raise FormatError(
                f"the format {name!r} cannot be used: {broken.why}",
                where=broken.value,
                hint=f"mend or uninstall the package {broken.package}",
            )
        near = get_close_matches(name, [*known, *ALIASES], n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise FormatError(f"no format {name!r}", hint=f"{hint}there are {', '.join(sorted(known))}")
    return known[full]


def convert(payload: Json, source: str, target: str) -> Dumped:
    """A payload of one format in another, with the losses of both ways."""
    reading, writing = get_format(source), get_format(target)
    if reading.load is None:
        raise FormatError(f"{reading.name} is a stream, not a list of messages", hint="fold it first")
    if writing.dump is None:
        raise FormatError(f"{writing.name} can be read but not written", hint="choose another target")
    loaded = reading.load(payload)
    dumped = writing.dump(loaded.messages)
    return Dumped(dumped.payload, loaded.losses + dumped.losses)


def _own() -> list[Format]:
    versions: tuple[Version, ...] = get_args(Version)
    return [
        Format("canonical", "Partita's own messages", load_canonical, dump_canonical),
        Format("legacy", "messages with one content (deprecated)", load_legacy),
        Format("ai-sdk-ui-v4", "AI SDK 4 UI messages", ui_v4_load.load, ui_v4_dump.dump),
        *(
            Format(
                f"ai-sdk-ui-v{v}", f"AI SDK {v} UI messages", ui_load.load, partial(ui_dump.dump, version=v)
            )
            for v in versions
        ),
        Format("ai-sdk-model-v4", "AI SDK 4 core messages", core_v4.load, core_v4.dump),
        *(
            Format(
                f"ai-sdk-model-v{v}",
                f"AI SDK {v} model messages",
                partial(model_load.load, version=v),
                partial(model_dump.dump, version=v),
            )
            for v in versions
        ),
        Format("mastra-v2", "Mastra V2 messages and table rows", mastra_v2.load, mastra_v2.dump),
        Format("mastra-v1", "Mastra V1 messages", mastra_v1.load, mastra_v1.dump),
        Format("cherry", "Cherry Studio session messages (rows)", cherry_load.load),
        Format("smithers", "Smithers agents, events and memory (rows)", smithers_load.load),
        Format("plain", "rows of plain text, marked as reconstructed", plain.load),
        Format("claude-code-log", "Claude Code session files", claude_load.load, claude_dump.dump),
        Format("ai-sdk-chunks", "AI SDK UI message chunks, and ours", decoder=ChunkDecoder),
        Format("ai-sdk-data-stream-v4", "AI SDK 4 data stream lines", decoder=DataStreamDecoder),
        *(
            Format(
                f"ai-sdk-full-stream-v{v}",
                f"AI SDK {v} fullStream parts",
                decoder=partial(FullStreamDecoder, version=v),
            )
            for v in versions
        ),
        Format("claude-code-stream", "Claude Code stream-json, Agent SDK", decoder=ClaudeStreamDecoder),
        Format("codex-exec", "what codex exec --json prints, app server", decoder=CodexExecDecoder),
        Format("acp", "Agent Client Protocol, both sides", decoder=_acp_decoder),
        Format("gemini-cli-stream", "Gemini CLI stream-json", decoder=GeminiStreamDecoder),
        Format("anthropic", "answers of Anthropic's Messages API", decoder=_anthropic_decoder),
        Format("gemini", "answers of Google's generateContent", decoder=_gemini_decoder),
        Format("openai-responses", "answers of OpenAI's Responses API", decoder=_responses_decoder),
        Format(CHAT, "answers of OpenAI's Chat Completions", decoder=partial(_chat_decoder, "openai")),
        *(
            Format(
                f"{CHAT}-{server}",
                f"Chat Completions as {server} answers",
                decoder=partial(_chat_decoder, server),
            )
            for server in CHAT_SERVERS
        ),
    ]


# What reads answers of providers is imported when the first one is read.


def _anthropic_decoder() -> Decoder:
    from .anthropic.decoder import AnthropicDecoder

    return AnthropicDecoder()


def _gemini_decoder() -> Decoder:
    from .gemini.decoder import GeminiDecoder

    return GeminiDecoder()


def _responses_decoder() -> Decoder:
    from .openai_responses.decoder import ResponsesDecoder

    return ResponsesDecoder()


def _chat_decoder(namespace: str) -> Decoder:
    from .openai_chat.decoder import ChatDecoder

    return ChatDecoder(namespace)


def _acp_decoder() -> Decoder:
    from .acp.decoder import AcpDecoder

    return AcpDecoder()


def load_canonical(payload: Json) -> Loaded:
    """Canonical messages, one or a list, from plain JSON."""
    return Loaded(MESSAGES.read(payload) if is_array(payload) else (read_message(payload),))


def dump_canonical(messages: Sequence[Message]) -> Dumped:
    """Canonical messages as plain JSON."""
    return Dumped(to_json(messages))


def load_legacy(payload: Json) -> Loaded:
    """Messages of the old one-content shape."""
    raws = payload if is_array(payload) else [payload]
    return Loaded(tuple(upgrade(read_legacy(raw)) for raw in raws))
