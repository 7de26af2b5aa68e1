"""Every message an AI agent sends or receives, kept whole."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import __version__ as __version__

if TYPE_CHECKING:
    from .errors import AgentError as AgentError
    from .errors import ApprovalError as ApprovalError
    from .errors import BudgetError as BudgetError
    from .errors import BusyError as BusyError
    from .errors import ConfigError as ConfigError
    from .errors import ConflictError as ConflictError
    from .errors import ConversionError as ConversionError
    from .errors import DecodeError as DecodeError
    from .errors import FormatError as FormatError
    from .errors import NotFoundError as NotFoundError
    from .errors import PartitaError as PartitaError
    from .errors import StoreError as StoreError
    from .errors import StreamError as StreamError
    from .errors import UnavailableError as UnavailableError
    from .formats.agent_decoder import Decoding as Decoding
    from .formats.ai_sdk.convert import ModelTool as ModelTool
    from .formats.ai_sdk.convert import convert_to_model_messages as convert_to_model_messages
    from .formats.ai_sdk.model.repair import to_model_messages as to_model_messages
    from .formats.ai_sdk.ui.chat import dump_chat as dump_chat
    from .formats.ai_sdk.validate import ToolSchemas as ToolSchemas
    from .formats.ai_sdk.validate import Validation as Validation
    from .formats.ai_sdk.validate import Verdict as Verdict
    from .formats.ai_sdk.validate import validate_ui_messages as validate_ui_messages
    from .formats.conversion import convert as convert
    from .formats.format import Decoder as Decoder
    from .formats.format import Dumped as Dumped
    from .formats.format import Format as Format
    from .formats.format import Loaded as Loaded
    from .formats.log.diagnostics import Finding as Finding
    from .formats.losses import Loss as Loss
    from .formats.registry import all_formats as all_formats
    from .formats.registry import get_format as get_format
    from .formats.sniff import Guess as Guess
    from .formats.sniff import sniff as sniff
    from .logs.importing.live import watch_logs as watch_logs
    from .logs.importing.report import LogImportReport as LogImportReport
    from .logs.importing.runner import import_logs as import_logs
    from .logs.parsing import LogStream as LogStream
    from .logs.parsing import ParsedLog as ParsedLog
    from .logs.parsing import parse_log_file as parse_log_file
    from .logs.parsing import parse_log_stream as parse_log_stream
    from .logs.places.finding import find_logs as find_logs
    from .logs.places.log_file import LogFile as LogFile
    from .logs.places.places import discover as discover
    from .logs.tool_calls import ToolCall as ToolCall
    from .logs.tool_calls import extract_tool_calls as extract_tool_calls
    from .runtime.agent.agent import Agent as Agent
    from .runtime.budgets import Budget as Budget
    from .runtime.budgets import Budgets as Budgets
    from .runtime.message_list import MessageList as MessageList
    from .runtime.network.network import Network as Network
    from .runtime.plugged.agent_request import AgentRequest as AgentRequest
    from .runtime.plugged.as_agent import as_agent as as_agent
    from .runtime.principal import Principal as Principal
    from .runtime.registry import agent_names as agent_names
    from .runtime.registry import get_agent as get_agent
    from .runtime.replay.diff import RunDiff as RunDiff
    from .runtime.replay.diff import diff_runs as diff_runs
    from .runtime.replay.forking import rerun as rerun
    from .runtime.replay.playing import play as play
    from .runtime.replay.playing import play_sse as play_sse
    from .runtime.replay.reproject import reproject as reproject
    from .runtime.replay.reprojection import ReprojectReport as ReprojectReport
    from .runtime.replay.service import ReplayService as ReplayService
    from .runtime.replay.stepping import Stepper as Stepper
    from .runtime.scripted.script import as_script as as_script
    from .runtime.scripted.service import ScriptedService as ScriptedService
    from .runtime.service import AgentService as AgentService
    from .runtime.service import Decision as Decision
    from .runtime.service import Desk as Desk
    from .runtime.service import Options as Options
    from .runtime.service import Prompt as Prompt
    from .runtime.service import Question as Question
    from .runtime.session.approvals import Answer as Answer
    from .runtime.session.live_run import Seen as Seen
    from .runtime.session.session import Session as Session
    from .runtime.session.sse import SSE_HEADERS as SSE_HEADERS
    from .runtime.session.sse import follow_sse as follow_sse
    from .runtime.tools.context import ToolContext as ToolContext
    from .runtime.tools.outputs import ToolError as ToolError
    from .runtime.tools.tool import Tool as Tool
    from .runtime.tools.tool import client_tool as client_tool
    from .runtime.tools.tool import tool as tool
    from .server.app import PartitaApp as PartitaApp
    from .server.app import asgi as asgi
    from .server.auth.user import Connection as Connection
    from .server.settings import Limits as Limits
    from .server.settings import Settings as Settings
    from .store.blocking.store import SyncStore as SyncStore
    from .store.blocking.store import open_store_sync as open_store_sync
    from .store.facade.store import Store as Store
    from .store.log.retention import Retention as Retention
    from .store.log.run_log import LogEntry as LogEntry
    from .store.log.run_log import LogRecord as LogRecord
    from .store.memory import MemoryStore as MemoryStore
    from .store.opening import open_store as open_store
    from .store.search.search import Hit as Hit
    from .store.values import Blob as Blob
    from .store.values import ConsumptionRecord as ConsumptionRecord
    from .store.values import Page as Page
    from .store.values import Source as Source
    from .store.values import Stat as Stat
    from .store.values import StoredPart as StoredPart
    from .store.values import UsageTotals as UsageTotals
    from .stream.accumulator import Accumulator as Accumulator
    from .stream.accumulator import Diagnostic as Diagnostic
    from .stream.checkpoint import Checkpoint as Checkpoint
    from .stream.chunk_reader import ChunkReader as ChunkReader
    from .stream.encoder import SseEncoder as SseEncoder
    from .stream.messages import MessagesAccumulator as MessagesAccumulator
    from .stream.messages import MessagesCheckpoint as MessagesCheckpoint
    from .stream.messages import accumulate as accumulate
    from .stream.messages import accumulate_messages as accumulate_messages
    from .stream.partial_json import Parsed as Parsed
    from .stream.partial_json import PartialJson as PartialJson
    from .stream.partial_json import parse_partial_json as parse_partial_json
    from .stream.sse import SseDecoder as SseDecoder
    from .stream.targets import Target as Target
    from .types.chunks import ChildChunk as ChildChunk
    from .types.chunks import ChildMessage as ChildMessage
    from .types.chunks import Chunk as Chunk
    from .types.chunks import CustomChunk as CustomChunk
    from .types.chunks import DataChunk as DataChunk
    from .types.chunks import ErrorChunk as ErrorChunk
    from .types.chunks import FileChunk as FileChunk
    from .types.chunks import MessageAbort as MessageAbort
    from .types.chunks import MessageFinish as MessageFinish
    from .types.chunks import MessageMetadata as MessageMetadata
    from .types.chunks import MessageStart as MessageStart
    from .types.chunks import NetworkExecutionEnd as NetworkExecutionEnd
    from .types.chunks import NetworkExecutionStart as NetworkExecutionStart
    from .types.chunks import ReasoningDelta as ReasoningDelta
    from .types.chunks import ReasoningEnd as ReasoningEnd
    from .types.chunks import ReasoningFileChunk as ReasoningFileChunk
    from .types.chunks import ReasoningStart as ReasoningStart
    from .types.chunks import SourceDocumentChunk as SourceDocumentChunk
    from .types.chunks import SourceUrlChunk as SourceUrlChunk
    from .types.chunks import SteeringMessageChunk as SteeringMessageChunk
    from .types.chunks import StepFinish as StepFinish
    from .types.chunks import StepReset as StepReset
    from .types.chunks import StepStart as StepStart
    from .types.chunks import TextDelta as TextDelta
    from .types.chunks import TextEnd as TextEnd
    from .types.chunks import TextStart as TextStart
    from .types.chunks import ToolApprovalRequest as ToolApprovalRequest
    from .types.chunks import ToolApprovalResponse as ToolApprovalResponse
    from .types.chunks import ToolInputAvailable as ToolInputAvailable
    from .types.chunks import ToolInputDelta as ToolInputDelta
    from .types.chunks import ToolInputError as ToolInputError
    from .types.chunks import ToolInputStart as ToolInputStart
    from .types.chunks import ToolOutputAvailable as ToolOutputAvailable
    from .types.chunks import ToolOutputChunk as ToolOutputChunk
    from .types.chunks import ToolOutputDenied as ToolOutputDenied
    from .types.chunks import ToolOutputError as ToolOutputError
    from .types.chunks import UnknownChunk as UnknownChunk
    from .types.codec import decode as decode
    from .types.codec import decode_chunk as decode_chunk
    from .types.codec import decode_message as decode_message
    from .types.codec import encode as encode
    from .types.codec import read_chunk as read_chunk
    from .types.codec import read_message as read_message
    from .types.codec import to_json as to_json
    from .types.events import AgentStreamEvent as AgentStreamEvent
    from .types.events import CancelledEvent as CancelledEvent
    from .types.events import ChunkEvent as ChunkEvent
    from .types.events import CompleteEvent as CompleteEvent
    from .types.events import ErrorEvent as ErrorEvent
    from .types.events import RawEvent as RawEvent
    from .types.fold import expand as expand
    from .types.fold import fold as fold
    from .types.legacy import LegacyMessage as LegacyMessage
    from .types.legacy import decode_legacy as decode_legacy
    from .types.legacy import read_legacy as read_legacy
    from .types.legacy import upgrade as upgrade
    from .types.messages import AssistantContent as AssistantContent
    from .types.messages import AssistantMessage as AssistantMessage
    from .types.messages import CanonicalMessage as CanonicalMessage
    from .types.messages import Message as Message
    from .types.messages import NetworkExecution as NetworkExecution
    from .types.messages import NetworkResult as NetworkResult
    from .types.messages import Part as Part
    from .types.messages import SystemContent as SystemContent
    from .types.messages import SystemMessage as SystemMessage
    from .types.messages import ToolCallPart as ToolCallPart
    from .types.messages import ToolContent as ToolContent
    from .types.messages import ToolMessage as ToolMessage
    from .types.messages import UserContent as UserContent
    from .types.messages import UserMessage as UserMessage
    from .types.messages import text_of as text_of
    from .types.parts import Citation as Citation
    from .types.parts import CustomPart as CustomPart
    from .types.parts import DataPart as DataPart
    from .types.parts import FilePart as FilePart
    from .types.parts import ForeignPart as ForeignPart
    from .types.parts import ImagePart as ImagePart
    from .types.parts import ReasoningFilePart as ReasoningFilePart
    from .types.parts import ReasoningPart as ReasoningPart
    from .types.parts import SourceDocumentPart as SourceDocumentPart
    from .types.parts import SourceUrlPart as SourceUrlPart
    from .types.parts import SteeringMessagePart as SteeringMessagePart
    from .types.parts import StepStartPart as StepStartPart
    from .types.parts import TextPart as TextPart
    from .types.parts import UnknownPart as UnknownPart
    from .types.runs import Run as Run
    from .types.schema import json_schema as json_schema
    from .types.schema import schema_components as schema_components
    from .types.threads import Thread as Thread
    from .types.tools import Approval as Approval
    from .types.tools import ContentOutput as ContentOutput
    from .types.tools import ErrorJsonOutput as ErrorJsonOutput
    from .types.tools import ErrorTextOutput as ErrorTextOutput
    from .types.tools import ExecutionDeniedOutput as ExecutionDeniedOutput
    from .types.tools import InterruptedOutput as InterruptedOutput
    from .types.tools import JsonOutput as JsonOutput
    from .types.tools import TextOutput as TextOutput
    from .types.tools import ToolOutput as ToolOutput
    from .types.tools import ToolResultPart as ToolResultPart
    from .types.usage import Usage as Usage

# What is public, by home. Loaded on first use: `import partita` costs next to nothing.
EXPORTS: dict[str, tuple[str, ...]] = {
    "partita.errors": (
        "AgentError",
        "ApprovalError",
        "BudgetError",
        "BusyError",
        "ConfigError",
        "PartitaError",
        "DecodeError",
        "StreamError",
        "ConversionError",
        "FormatError",
        "StoreError",
        "NotFoundError",
        "ConflictError",
        "UnavailableError",
    ),
    "partita.types.messages": (
        "Message",
        "CanonicalMessage",
        "SystemMessage",
        "UserMessage",
        "AssistantMessage",
        "ToolMessage",
        "SystemContent",
        "UserContent",
        "AssistantContent",
        "ToolContent",
        "Part",
        "ToolCallPart",
        "NetworkExecution",
        "NetworkResult",
        "text_of",
    ),
    "partita.types.parts": (
        "TextPart",
        "ReasoningPart",
        "ImagePart",
        "FilePart",
        "ReasoningFilePart",
        "SourceUrlPart",
        "SourceDocumentPart",
        "DataPart",
        "StepStartPart",
        "CustomPart",
        "SteeringMessagePart",
        "ForeignPart",
        "UnknownPart",
        "Citation",
    ),
    "partita.types.tools": (
        "ToolOutput",
        "TextOutput",
        "JsonOutput",
        "ErrorTextOutput",
        "ErrorJsonOutput",
        "ExecutionDeniedOutput",
        "ContentOutput",
        "InterruptedOutput",
        "ToolResultPart",
        "Approval",
    ),
    "partita.types.usage": ("Usage",),
    "partita.types.threads": ("Thread",),
    "partita.types.runs": ("Run",),
    "partita.types.chunks": (
        "Chunk",
        "MessageStart",
        "MessageFinish",
        "MessageAbort",
        "MessageMetadata",
        "ErrorChunk",
        "StepStart",
        "StepFinish",
        "StepReset",
        "TextStart",
        "TextDelta",
        "TextEnd",
        "ReasoningStart",
        "ReasoningDelta",
        "ReasoningEnd",
        "FileChunk",
        "ReasoningFileChunk",
        "SourceUrlChunk",
        "SourceDocumentChunk",
        "CustomChunk",
        "SteeringMessageChunk",
        "DataChunk",
        "ToolInputStart",
        "ToolInputDelta",
        "ToolInputAvailable",
        "ToolInputError",
        "ToolApprovalRequest",
        "ToolApprovalResponse",
        "ToolOutputAvailable",
        "ToolOutputError",
        "ToolOutputChunk",
        "ToolOutputDenied",
        "NetworkExecutionStart",
        "NetworkExecutionEnd",
        "ChildChunk",
        "ChildMessage",
        "UnknownChunk",
    ),
    "partita.types.events": (
        "AgentStreamEvent",
        "ChunkEvent",
        "ErrorEvent",
        "RawEvent",
        "CompleteEvent",
        "CancelledEvent",
    ),
    "partita.types.legacy": (
        "LegacyMessage",
        "decode_legacy",
        "read_legacy",
        "upgrade",
    ),
    "partita.types.codec": (
        "decode",
        "decode_message",
        "decode_chunk",
        "read_message",
        "read_chunk",
        "encode",
        "to_json",
    ),
    "partita.types.fold": (
        "expand",
        "fold",
    ),
    "partita.types.schema": (
        "json_schema",
        "schema_components",
    ),
    "partita.stream.accumulator": (
        "Accumulator",
        "Diagnostic",
    ),
    "partita.stream.messages": (
        "MessagesAccumulator",
        "MessagesCheckpoint",
        "accumulate",
        "accumulate_messages",
    ),
    "partita.stream.checkpoint": ("Checkpoint",),
    "partita.stream.partial_json": (
        "PartialJson",
        "Parsed",
        "parse_partial_json",
    ),
    "partita.stream.sse": ("SseDecoder",),
    "partita.stream.chunk_reader": ("ChunkReader",),
    "partita.stream.targets": ("Target",),
    "partita.stream.encoder": ("SseEncoder",),
    "partita.formats.losses": ("Loss",),
    "partita.formats.format": (
        "Format",
        "Loaded",
        "Dumped",
        "Decoder",
    ),
    "partita.formats.ai_sdk.ui.chat": ("dump_chat",),
    "partita.formats.registry": (
        "all_formats",
        "get_format",
    ),
    "partita.formats.conversion": ("convert",),
    "partita.formats.sniff": (
        "sniff",
        "Guess",
    ),
    "partita.formats.ai_sdk.convert": (
        "convert_to_model_messages",
        "ModelTool",
    ),
    "partita.formats.ai_sdk.model.repair": ("to_model_messages",),
    "partita.formats.ai_sdk.validate": (
        "validate_ui_messages",
        "Validation",
        "Verdict",
        "ToolSchemas",
    ),
    "partita.logs.parsing": (
        "parse_log_file",
        "parse_log_stream",
        "ParsedLog",
        "LogStream",
    ),
    "partita.logs.tool_calls": (
        "extract_tool_calls",
        "ToolCall",
    ),
    "partita.logs.places.places": ("discover",),
    "partita.logs.places.finding": ("find_logs",),
    "partita.logs.places.log_file": ("LogFile",),
    "partita.logs.importing.runner": ("import_logs",),
    "partita.logs.importing.live": ("watch_logs",),
    "partita.logs.importing.report": ("LogImportReport",),
    "partita.formats.log.diagnostics": ("Finding",),
    "partita.store.opening": ("open_store",),
    "partita.store.blocking.store": (
        "open_store_sync",
        "SyncStore",
    ),
    "partita.store.facade.store": ("Store",),
    "partita.store.memory": ("MemoryStore",),
    "partita.store.values": (
        "Page",
        "StoredPart",
        "Source",
        "Blob",
        "ConsumptionRecord",
        "UsageTotals",
        "Stat",
    ),
    "partita.store.search.search": ("Hit",),
    "partita.store.log.run_log": (
        "LogEntry",
        "LogRecord",
    ),
    "partita.store.log.retention": ("Retention",),
    "partita.runtime.agent.agent": ("Agent",),
    "partita.runtime.tools.tool": (
        "tool",
        "client_tool",
        "Tool",
    ),
    "partita.runtime.tools.context": ("ToolContext",),
    "partita.runtime.tools.outputs": ("ToolError",),
    "partita.runtime.session.session": ("Session",),
    "partita.runtime.session.approvals": ("Answer",),
    "partita.runtime.session.live_run": ("Seen",),
    "partita.runtime.session.sse": (
        "follow_sse",
        "SSE_HEADERS",
    ),
    "partita.runtime.plugged.as_agent": ("as_agent",),
    "partita.runtime.plugged.agent_request": ("AgentRequest",),
    "partita.runtime.network.network": ("Network",),
    "partita.runtime.message_list": ("MessageList",),
    "partita.runtime.service": (
        "AgentService",
        "Prompt",
        "Options",
        "Desk",
        "Question",
        "Decision",
    ),
    "partita.formats.agent_decoder": ("Decoding",),
    "partita.runtime.registry": (
        "get_agent",
        "agent_names",
    ),
    "partita.runtime.replay.diff": (
        "RunDiff",
        "diff_runs",
    ),
    "partita.runtime.replay.forking": ("rerun",),
    "partita.runtime.replay.playing": (
        "play",
        "play_sse",
    ),
    "partita.runtime.replay.reproject": ("reproject",),
    "partita.runtime.replay.reprojection": ("ReprojectReport",),
    "partita.runtime.replay.service": ("ReplayService",),
    "partita.runtime.replay.stepping": ("Stepper",),
    "partita.runtime.scripted.service": ("ScriptedService",),
    "partita.runtime.scripted.script": ("as_script",),
    "partita.server.app": (
        "asgi",
        "PartitaApp",
    ),
    "partita.runtime.principal": ("Principal",),
    "partita.server.auth.user": ("Connection",),
    "partita.runtime.budgets": (
        "Budget",
        "Budgets",
    ),
    "partita.server.settings": (
        "Settings",
        "Limits",
    ),
}

_HOMES = {name: module for module, names in EXPORTS.items() for name in names}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 # pyright: ignore[reportUnsupportedDunderAll] # all are strings


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
