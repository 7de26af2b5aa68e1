"""Canonical values: what a message, a part, a chunk, a thread and a run are. No I/O, no clock, no ids."""

from typing import TYPE_CHECKING

from partita.lazy import lazy_exports

if TYPE_CHECKING:
    from .codec import Codec as Codec
    from .codec import decode as decode
    from .codec import decode_chunk as decode_chunk
    from .codec import decode_message as decode_message
    from .codec import encode as encode
    from .codec import read_chunk as read_chunk
    from .codec import read_message as read_message
    from .codec import to_json as to_json
    from .json import Json as Json
    from .json import JsonObject as JsonObject
    from .json import is_object as is_object
    from .legacy import LegacyFile as LegacyFile
    from .legacy import LegacyImage as LegacyImage
    from .legacy import LegacyMessage as LegacyMessage
    from .legacy import LegacyText as LegacyText
    from .legacy import LegacyThinking as LegacyThinking
    from .legacy import LegacyToolCall as LegacyToolCall
    from .legacy import LegacyToolResult as LegacyToolResult
    from .legacy import decode_legacy as decode_legacy
    from .legacy import read_legacy as read_legacy
    from .legacy import upgrade as upgrade
    from .messages import AssistantContent as AssistantContent
    from .messages import CanonicalMessage as CanonicalMessage
    from .messages import NetworkExecution as NetworkExecution
    from .messages import NetworkResult as NetworkResult
    from .messages import SystemContent as SystemContent
    from .messages import ToolContent as ToolContent
    from .messages import UserContent as UserContent
    from .messages import text_of as text_of
    from .parts import Approval as Approval
    from .parts import Citation as Citation
    from .parts import DocumentCitationSource as DocumentCitationSource
    from .parts import UrlCitationSource as UrlCitationSource
    from .schema import json_schema as json_schema
    from .schema import schema_components as schema_components
    from .threads import Run as Run
    from .threads import Thread as Thread
    from .tool_results import expand as expand
    from .tool_results import fold as fold
    from .usage import UsageNames as UsageNames
    from .value import Extra as Extra
    from .value import UnknownVariant as UnknownVariant


# The same names at run time, by the module that defines them: each module is imported on first use.
EXPORTS: dict[str, tuple[str, ...]] = {
    "partita.types.codec": (
        "Codec",
        "decode",
        "decode_chunk",
        "decode_message",
        "encode",
        "read_chunk",
        "read_message",
        "to_json",
    ),
    "partita.types.json": (
        "Json",
        "JsonObject",
        "is_object",
    ),
    "partita.types.legacy": (
        "LegacyFile",
        "LegacyImage",
        "LegacyMessage",
        "LegacyText",
        "LegacyThinking",
        "LegacyToolCall",
        "LegacyToolResult",
        "decode_legacy",
        "read_legacy",
        "upgrade",
    ),
    "partita.types.messages": (
        "AssistantContent",
        "CanonicalMessage",
        "NetworkExecution",
        "NetworkResult",
        "SystemContent",
        "ToolContent",
        "UserContent",
        "text_of",
    ),
    "partita.types.parts": (
        "Approval",
        "Citation",
        "DocumentCitationSource",
        "UrlCitationSource",
    ),
    "partita.types.schema": (
        "json_schema",
        "schema_components",
    ),
    "partita.types.threads": (
        "Run",
        "Thread",
    ),
    "partita.types.tool_results": (
        "expand",
        "fold",
    ),
    "partita.types.usage": ("UsageNames",),
    "partita.types.value": (
        "Extra",
        "UnknownVariant",
    ),
}

if not TYPE_CHECKING:  # type checkers would accept every name of a module with `__getattr__`
    __getattr__, __dir__, __all__ = lazy_exports(__name__, EXPORTS)
