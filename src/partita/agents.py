"""Agents, tools, approvals, budgets, and the interface of agent services."""

from typing import TYPE_CHECKING

from partita.lazy import lazy_exports

if TYPE_CHECKING:
    from .runtime.adapters.agent_request import AgentRequest as AgentRequest
    from .runtime.agent.agent import TurnOptions as TurnOptions
    from .runtime.budgets import Budget as Budget
    from .runtime.budgets import Budgets as Budgets
    from .runtime.message_list import MessageList as MessageList
    from .runtime.network.network import Network as Network
    from .runtime.principal import Principal as Principal
    from .runtime.registry import agent_names as agent_names
    from .runtime.registry import get_agent as get_agent
    from .runtime.scripted import Scene as Scene
    from .runtime.scripted import Script as Script
    from .runtime.scripted import ScriptedService as ScriptedService
    from .runtime.scripted import Step as Step
    from .runtime.scripted import as_script as as_script
    from .runtime.service import AgentService as AgentService
    from .runtime.service import ApprovalDecision as ApprovalDecision
    from .runtime.service import ApprovalGate as ApprovalGate
    from .runtime.service import ApprovalRequest as ApprovalRequest
    from .runtime.service import InvokeOptions as InvokeOptions
    from .runtime.service import Prompt as Prompt
    from .runtime.service import UsageMeter as UsageMeter
    from .runtime.session.client_replies import ApprovalResponse as ApprovalResponse
    from .runtime.session.live_run import StoredChunk as StoredChunk
    from .runtime.session.recovery import RunProgress as RunProgress
    from .runtime.session.sse import SSE_HEADERS as SSE_HEADERS
    from .runtime.session.sse import Framing as Framing
    from .runtime.session.sse import follow_sse as follow_sse
    from .runtime.tools.context import ToolContext as ToolContext
    from .runtime.tools.outputs import ToolError as ToolError
    from .runtime.tools.runner import PendingCall as PendingCall
    from .runtime.tools.runner import ToolRunner as ToolRunner
    from .runtime.tools.signature import Parameter as Parameter
    from .runtime.tools.signature import Signature as Signature
    from .runtime.tools.tool import Tool as Tool
    from .runtime.tools.tool import Toolset as Toolset
    from .runtime.tools.tool import client_tool as client_tool
    from .types.chunks import AgentStreamEvent as AgentStreamEvent
    from .types.chunks import CancelledEvent as CancelledEvent
    from .types.chunks import ChunkEvent as ChunkEvent
    from .types.chunks import CompleteEvent as CompleteEvent
    from .types.chunks import ErrorEvent as ErrorEvent
    from .types.chunks import RawEvent as RawEvent


# The same names at run time, by the module that defines them: each module is imported on first use.
EXPORTS: dict[str, tuple[str, ...]] = {
    "partita.runtime.adapters.agent_request": ("AgentRequest",),
    "partita.runtime.agent.agent": ("TurnOptions",),
    "partita.runtime.budgets": (
        "Budget",
        "Budgets",
    ),
    "partita.runtime.message_list": ("MessageList",),
    "partita.runtime.network.network": ("Network",),
    "partita.runtime.principal": ("Principal",),
    "partita.runtime.registry": (
        "agent_names",
        "get_agent",
    ),
    "partita.runtime.scripted": (
        "Scene",
        "Script",
        "ScriptedService",
        "Step",
        "as_script",
    ),
    "partita.runtime.service": (
        "AgentService",
        "ApprovalDecision",
        "ApprovalGate",
        "ApprovalRequest",
        "InvokeOptions",
        "Prompt",
        "UsageMeter",
    ),
    "partita.runtime.session.client_replies": ("ApprovalResponse",),
    "partita.runtime.session.live_run": ("StoredChunk",),
    "partita.runtime.session.recovery": ("RunProgress",),
    "partita.runtime.session.sse": (
        "Framing",
        "SSE_HEADERS",
        "follow_sse",
    ),
    "partita.runtime.tools.context": ("ToolContext",),
    "partita.runtime.tools.outputs": ("ToolError",),
    "partita.runtime.tools.runner": (
        "PendingCall",
        "ToolRunner",
    ),
    "partita.runtime.tools.signature": (
        "Parameter",
        "Signature",
    ),
    "partita.runtime.tools.tool": (
        "Tool",
        "Toolset",
        "client_tool",
    ),
    "partita.types.chunks": (
        "AgentStreamEvent",
        "CancelledEvent",
        "ChunkEvent",
        "CompleteEvent",
        "ErrorEvent",
        "RawEvent",
    ),
}

if not TYPE_CHECKING:  # type checkers would accept every name of a module with `__getattr__`
    __getattr__, __dir__, __all__ = lazy_exports(__name__, EXPORTS)
