"""Stores, converts, serves and shows the messages of AI agents, without loss."""

from typing import TYPE_CHECKING

from .lazy import lazy_exports
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
    from .errors import MissingPackageError as MissingPackageError
    from .errors import NotFoundError as NotFoundError
    from .errors import PartitaError as PartitaError
    from .errors import StoreError as StoreError
    from .errors import StreamError as StreamError
    from .errors import UnavailableError as UnavailableError
    from .formats.conversion import convert as convert
    from .formats.losses import Loss as Loss
    from .formats.registry import get_format as get_format
    from .runtime.adapters.as_agent import as_agent as as_agent
    from .runtime.agent.agent import Agent as Agent
    from .runtime.session.session import Session as Session
    from .runtime.tools.tool import tool as tool
    from .server.app import asgi as asgi
    from .store.blocking import open_store_sync as open_store_sync
    from .store.connection import open_store as open_store
    from .stream.accumulator import Accumulator as Accumulator
    from .stream.accumulator import accumulate as accumulate
    from .types.messages import AssistantMessage as AssistantMessage
    from .types.messages import Message as Message
    from .types.messages import Part as Part
    from .types.messages import SystemMessage as SystemMessage
    from .types.messages import ToolCallPart as ToolCallPart
    from .types.messages import ToolMessage as ToolMessage
    from .types.messages import UserMessage as UserMessage
    from .types.parts import ContentOutput as ContentOutput
    from .types.parts import CustomPart as CustomPart
    from .types.parts import DataPart as DataPart
    from .types.parts import ErrorJsonOutput as ErrorJsonOutput
    from .types.parts import ErrorTextOutput as ErrorTextOutput
    from .types.parts import ExecutionDeniedOutput as ExecutionDeniedOutput
    from .types.parts import FilePart as FilePart
    from .types.parts import ForeignPart as ForeignPart
    from .types.parts import ImagePart as ImagePart
    from .types.parts import InterruptedOutput as InterruptedOutput
    from .types.parts import JsonOutput as JsonOutput
    from .types.parts import ReasoningFilePart as ReasoningFilePart
    from .types.parts import ReasoningPart as ReasoningPart
    from .types.parts import SourceDocumentPart as SourceDocumentPart
    from .types.parts import SourceUrlPart as SourceUrlPart
    from .types.parts import SteeringMessagePart as SteeringMessagePart
    from .types.parts import StepStartPart as StepStartPart
    from .types.parts import TextOutput as TextOutput
    from .types.parts import TextPart as TextPart
    from .types.parts import ToolOutput as ToolOutput
    from .types.parts import ToolResultPart as ToolResultPart
    from .types.parts import UnknownPart as UnknownPart
    from .types.usage import Usage as Usage

# The same names at run time, by the module that defines them: each module is imported on first use.
EXPORTS: dict[str, tuple[str, ...]] = {
    "partita.errors": (
        "AgentError",
        "ApprovalError",
        "BudgetError",
        "BusyError",
        "ConfigError",
        "ConflictError",
        "ConversionError",
        "DecodeError",
        "FormatError",
        "MissingPackageError",
        "NotFoundError",
        "PartitaError",
        "StoreError",
        "StreamError",
        "UnavailableError",
    ),
    "partita.formats.conversion": ("convert",),
    "partita.formats.losses": ("Loss",),
    "partita.formats.registry": ("get_format",),
    "partita.runtime.adapters.as_agent": ("as_agent",),
    "partita.runtime.agent.agent": ("Agent",),
    "partita.runtime.session.session": ("Session",),
    "partita.runtime.tools.tool": ("tool",),
    "partita.server.app": ("asgi",),
    "partita.store.blocking": ("open_store_sync",),
    "partita.store.connection": ("open_store",),
    "partita.stream.accumulator": ("Accumulator", "accumulate"),
    "partita.types.messages": (
        "AssistantMessage",
        "Message",
        "Part",
        "SystemMessage",
        "ToolCallPart",
        "ToolMessage",
        "UserMessage",
    ),
    "partita.types.parts": (
        "ContentOutput",
        "CustomPart",
        "DataPart",
        "ErrorJsonOutput",
        "ErrorTextOutput",
        "ExecutionDeniedOutput",
        "FilePart",
        "ForeignPart",
        "ImagePart",
        "InterruptedOutput",
        "JsonOutput",
        "ReasoningFilePart",
        "ReasoningPart",
        "SourceDocumentPart",
        "SourceUrlPart",
        "SteeringMessagePart",
        "StepStartPart",
        "TextOutput",
        "TextPart",
        "ToolOutput",
        "ToolResultPart",
        "UnknownPart",
    ),
    "partita.types.usage": ("Usage",),
}

if not TYPE_CHECKING:  # type checkers would accept every name of a module with `__getattr__`
    __getattr__, __dir__, __all__ = lazy_exports(__name__, EXPORTS)
