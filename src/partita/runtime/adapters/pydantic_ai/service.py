"""Agents of Pydantic AI."""

from collections.abc import AsyncGenerator, Collection, Sequence
from typing import Any, Final, TypeVar

from msgspec.structs import replace
from pydantic_ai import AgentRunResultEvent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.agent import AbstractAgent
from pydantic_ai.capabilities import ReinjectSystemPrompt
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter
from pydantic_ai.tools import ToolApproved, ToolDefinition, ToolDenied
from pydantic_ai.toolsets import ExternalToolset

from partita.errors import AgentError
from partita.formats.core.metadata import notes
from partita.formats.core.tool_text import DENIED
from partita.formats.model_view import model_view
from partita.formats.pydantic_ai.format import dump
from partita.formats.pydantic_ai.parts import COMPACTION, RESPONSE_PARTS
from partita.formats.pydantic_ai.wire import NAME
from partita.runtime.adapters.agent_request import AgentRequest, value_for
from partita.runtime.adapters.frameworks import (
    PendingCalls,
    as_json,
    decision_reason,
    is_approved,
    pending_calls,
    with_line,
)
from partita.runtime.adapters.service import FunctionService
from partita.runtime.agent.calls import WAITING
from partita.runtime.service import InvokeOptions
from partita.store.ids import new_id
from partita.types.chunks import AgentStreamEvent, Chunk, CompleteEvent, MessageFinish, ToolApprovalRequest
from partita.types.data_url import data_url, parse_data_url
from partita.types.json import is_array
from partita.types.messages import AssistantMessage, AssistantPart, Message, ToolCallPart, ToolMessage
from partita.types.parts import (
    ContentOutput,
    CustomPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningFilePart,
    ReasoningPart,
    TextPart,
    ToolResultPart,
)

from .stream import RunStream, usage_of


class PydanticAgentService(FunctionService):
    """An agent of Pydantic AI. Calls that need approval, or that the client runs, end the run and wait."""

    def __init__(self, agent: AbstractAgent[Any, Any], *, name: str | None = None, deps: Any = None) -> None:
        """`deps` are passed to the tools of the agent, or a function of the request that returns them."""
        super().__init__(name or agent.name or NAME, self._stream)
        self._agent = agent
        self._deps = deps

    async def _stream(self, request: AgentRequest) -> AsyncGenerator[Chunk | AgentStreamEvent]:
        pending = pending_calls(request.continued)
        if pending.waiting:
            yield MessageFinish(WAITING)
            return
        async with (
            value_for(self._deps, request) as deps,
            self._agent.run_stream_events(deps=deps, **self._arguments(request, pending)) as events,
        ):
            stream = RunStream(events.all_messages)
            async for event in events:
                if not isinstance(event, AgentRunResultEvent):
                    for made in with_line(stream.chunks(event), event):
                        yield made
                    continue
                output = event.result.output
                waits = isinstance(output, DeferredToolRequests)
                asked = output.approvals if isinstance(output, DeferredToolRequests) else ()
                approvals = [ToolApprovalRequest(new_id(), call.tool_call_id) for call in asked]
                for made in with_line([*stream.end_response(), *approvals], event):
                    yield made
                result = {"finishReason": WAITING} if waits else {"output": as_json(output)}
                yield CompleteEvent(agent_result=result, usage=usage_of(event.result.usage))

    def _arguments(self, request: AgentRequest, pending: PendingCalls) -> dict[str, Any]:
        """The arguments of the run."""
        arguments: dict[str, Any] = {
            "message_history": history_of(request.messages, {call.id for call in pending.decided}),
            "conversation_id": request.conversation_key,
            "capabilities": [ReinjectSystemPrompt(id=None)],
            "infer_name": False,
            **_options(request.options),
        }
        if pending.decided:
            approvals: Any = {call.id: _approval(call) for call in pending.decided}
            arguments["deferred_tool_results"] = DeferredToolResults(approvals=approvals)
        known: Any = self._agent.output_type
        types: list[Any] = known if is_array(known) else [known]
        # The run may also end with calls that wait. But validators expect the agent's own output type: an
        # agent with validators may not be run with another one.
        has_validators = bool(getattr(self._agent, "_output_validators", ()))
        if not has_validators and DeferredToolRequests not in types:
            arguments["output_type"] = [known, DeferredToolRequests]
        return arguments


def create_service(thing: Any, name: str | None, **values: Any) -> PydanticAgentService:
    """The service for an agent of Pydantic AI."""
    kind: type[Any] = AbstractAgent  # its type parameters cannot be known here
    if not isinstance(thing, kind):
        raise AgentError(f"{type(thing).__qualname__} of Pydantic AI is not an agent", hint="give an Agent")
    return PydanticAgentService(thing, name=name, **values)


def _options(options: InvokeOptions) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    if options.model is not None:
        arguments["model"] = options.model
    if options.instructions is not None:
        arguments["instructions"] = options.instructions
    if options.settings:
        arguments["model_settings"] = dict(options.settings)
    if options.tools:
        tools = [
            ToolDefinition(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=tool.input_schema or {"type": "object", "properties": {}},
            )
            for tool in options.tools
        ]
        arguments["toolsets"] = [ExternalToolset[Any](tools)]
    return arguments


def _approval(call: ToolCallPart) -> ToolApproved | ToolDenied:
    return ToolApproved() if is_approved(call) else ToolDenied(decision_reason(call) or DENIED)


# The history, as the format `pydantic-ai` writes it.
#
# Not sent are data, sources, calls that another provider ran, and files that only the store has. Of files
# from the user and from tools that cannot be sent, the model receives the names.

FILES: Final = (FilePart, ImagePart, ReasoningFilePart)

M = TypeVar("M", bound=Message)


def history_of(messages: Sequence[Message], pending: Collection[str] = ()) -> list[ModelMessage]:
    """The messages as a history; the calls that are `pending` have no results in it."""
    sent = [_sent(message, pending) for message in model_view(messages).messages]
    history = ModelMessagesTypeAdapter.validate_python(dump(sent).payload)
    return [message for message in history if message.parts]


def _sent(message: M, pending: Collection[str]) -> M:
    """A message without pending results, and without what a model would refuse or not understand."""
    parts: list[Any] = list(message.parts)
    if isinstance(message, AssistantMessage):
        # The id of a reasoning part is that of its stream; the provider's own is in the metadata.
        parts = [replace(part, id=None) if isinstance(part, ReasoningPart) else part for part in parts]
        parts = [_restored(part) for part in parts if _is_sent(part)]
    elif isinstance(message, ToolMessage):
        parts = [_with_files(part) for part in parts if getattr(part, "id", None) not in pending]
    else:
        parts = [_file(part) for part in parts]
    content: Any = replace(message.content, parts=tuple(parts))
    return replace(message, content=content)


def _is_sent(part: Any) -> bool:
    match part:
        case TextPart():
            return bool(part.text)
        case ToolCallPart() if part.provider_executed:  # only the provider that ran it understands it
            written = RESPONSE_PARTS.write(part)
            return part.output is not None and getattr(written, "provider_name", None) is not None
        case FilePart() | ImagePart() | ReasoningFilePart():
            return parse_data_url(part.url) is not None
        case _:
            return True


def _restored(part: AssistantPart) -> AssistantPart:
    """A part as the format writes it: a custom part that was kept whole is a part of the format."""
    if not isinstance(part, CustomPart) or not part.kind.startswith(f"{NAME}.") or part.kind == COMPACTION:
        return part
    return ForeignPart(NAME, notes(part.provider_metadata, NAME))


def _with_files(part: Any) -> Any:
    """A result with content that can be sent."""
    if not isinstance(part, ToolResultPart) or not isinstance(part.output, ContentOutput):
        return part
    return replace(part, output=replace(part.output, value=tuple(map(_file, part.output.value))))


def _file(part: Any) -> Any:
    """A file that a model can read, or a text with its name."""
    if not isinstance(part, FILES) or getattr(part, "provider_reference", None):
        return part
    inline = parse_data_url(part.url)
    if inline is not None:
        return replace(part, url=data_url(inline.in_base64(), inline.media_type or part.media_type))
    if part.url.startswith(("http:", "https:")):
        return part
    name = part.name if isinstance(part, ImagePart) else part.filename
    return TextPart(f"[file {name or part.media_type or 'without a name'}, which cannot be sent]")
