"""Spans of runs and of tool calls, by the conventions for generative AI of OpenTelemetry.

A span of a run begins when its agent is asked and ends when it has answered, long after the request that
began it may be over; the span of that request is its parent.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from msgspec import UNSET

from partita.runtime.service import AgentService, Options, Prompt
from partita.types.chunks import (
    ChildChunk,
    Chunk,
    MessageFinish,
    TextDelta,
    ToolApprovalRequest,
    ToolInputAvailable,
    ToolInputError,
    ToolOutputAvailable,
    ToolOutputChunk,
    ToolOutputDenied,
    ToolOutputError,
)
from partita.types.codec import to_json
from partita.types.events import AgentStreamEvent, ChunkEvent, CompleteEvent, ErrorEvent
from partita.types.json import Json, dumps, is_object
from partita.types.messages import Message, text_of
from partita.types.tools import ErrorJsonOutput, ErrorTextOutput, InterruptedOutput
from partita.types.usage import Usage

from .agents import Watch, WatchedAgent
from .otel import tracer, wants_content

if TYPE_CHECKING:  # an extra
    from opentelemetry.trace import Span, Tracer

FAILED: Final = "agent_error"
FAILED_TOOL: Final = "tool_error"
DENIED: Final = "approval_denied"
FAILED_OUTPUTS: Final = (ErrorTextOutput, ErrorJsonOutput, InterruptedOutput)


def traced(agent: AgentService, prompt: Prompt, options: Options) -> Watch | None:
    """Watches a run when somebody wants traces."""
    make = tracer()
    return None if make is None else RunTrace(make, agent, prompt, options, content=wants_content())


def Traced(agent: AgentService) -> AgentService:  # noqa: N802 # it stands for a class: an agent around another
    """An agent whose runs and tool calls are spans."""
    return WatchedAgent(agent, [traced])


class RunTrace:
    """The span of one run, and those of its calls."""

    def __init__(
        self, make: "Tracer", agent: AgentService, prompt: Prompt, options: Options, *, content: bool
    ) -> None:
        model: object = options.model or getattr(agent, "model", None)
        said = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": agent.name,
            "gen_ai.request.model": model if isinstance(model, str) else None,
            "gen_ai.conversation.id": options.thread_id,
            "partita.run.id": options.run_id,
        }
        self._tracer = make
        self._content = content
        self._span = make.start_span(f"invoke_agent {agent.name}", attributes=_known(said))
        self._calls: dict[str, Span] = {}
        self._text: list[str] = []
        self._usage: Usage | None = None
        self._finishes: list[Usage] = []
        self._error: str | None = None
        if content:
            self._span.set_attribute("gen_ai.input.messages", _messages("user", _last_words(prompt)))

    def see(self, event: AgentStreamEvent) -> None:
        """An event of the run."""
        if isinstance(event, ChunkEvent):
            self._see(event.chunk)
        elif isinstance(event, CompleteEvent):
            self._usage = event.usage
        elif isinstance(event, ErrorEvent):
            self._error = event.name or FAILED
            self._span.add_event("exception", _known({"exception.message": self._told(event.message)}))

    def _see(self, chunk: Chunk) -> None:
        match chunk:
            case TextDelta(delta=delta) if self._content:
                self._text.append(delta)
            case ToolInputAvailable():
                self._begin_call(chunk)
            case ToolApprovalRequest(tool_call_id=call):
                if call in self._calls:
                    self._calls[call].add_event("approval requested")
            case ToolOutputAvailable(tool_call_id=call, output=output, preliminary=None | False):
                self._end_call(call, None, output)
            case ToolOutputChunk(tool_call_id=call, output=output, preliminary=None | False):
                failed = FAILED_TOOL if isinstance(output, FAILED_OUTPUTS) else None
                self._end_call(call, failed, to_json(output))
            case (
                ToolOutputError(tool_call_id=call, error_text=text)
                | ToolInputError(tool_call_id=call, error_text=text)
            ):
                self._end_call(call, FAILED_TOOL, text)
            case ToolOutputDenied(tool_call_id=call):
                self._end_call(call, DENIED, UNSET)
            case MessageFinish(message_metadata=said):
                self._finishes += _usage_in(said)
            case ChildChunk(chunk=inner):
                if not isinstance(inner, TextDelta | MessageFinish):  # these are of another conversation
                    self._see(inner)
            case _:
                pass

    def _begin_call(self, chunk: ToolInputAvailable) -> None:
        from opentelemetry.trace import set_span_in_context

        if chunk.tool_call_id in self._calls:
            return
        given = None if chunk.input is UNSET else chunk.input
        said = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": chunk.tool_name,
            "gen_ai.tool.call.id": chunk.tool_call_id,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.arguments": dumps(given).decode() if self._content else None,
        }
        self._calls[chunk.tool_call_id] = self._tracer.start_span(
            f"execute_tool {chunk.tool_name}",
            context=set_span_in_context(self._span),
            attributes=_known(said),
        )

    def _end_call(self, call: str, error: str | None, output: Json) -> None:
        span = self._calls.pop(call, None)
        if span is None:
            return
        if self._content and output is not UNSET:
            span.set_attribute("gen_ai.tool.call.result", dumps(output).decode())
        _end(span, error)

    def end(self, status: str, error: BaseException | None) -> None:
        """The run is over, and so is all that belongs to it."""
        for span in self._calls.values():
            span.end()
        usage = self._usage or _sum(self._finishes)
        said = {
            "gen_ai.usage.input_tokens": usage.input_tokens if usage else None,
            "gen_ai.usage.output_tokens": usage.output_tokens if usage else None,
            "gen_ai.output.messages": _messages("assistant", "".join(self._text)) if self._content else None,
            "partita.run.status": status,
        }
        self._span.set_attributes(_known(said))
        if error is not None:
            self._error = type(error).__qualname__
        _end(self._span, self._error or (FAILED if status == "failed" else None))

    def _told(self, text: str) -> str | None:
        """What an agent said of its failure: it may quote what was said."""
        return text if self._content else None


def _end(span: "Span", error: str | None) -> None:
    from opentelemetry.trace import Status, StatusCode

    if error is not None:
        span.set_attribute("error.type", error)
        span.set_status(Status(StatusCode.ERROR))
    span.end()


def _known(said: Mapping[str, str | int | None]) -> dict[str, str | int]:
    return {key: value for key, value in said.items() if value is not None}


def _last_words(prompt: Prompt) -> str:
    if isinstance(prompt, str):
        return prompt
    last: Message | None = prompt[-1] if prompt else None
    return text_of(last) if last is not None else ""


def _messages(role: str, text: str) -> str:
    return dumps([{"role": role, "parts": [{"type": "text", "content": text}]}]).decode()


def _usage_in(said: Json) -> list[Usage]:
    """What the end of a message says that it took."""
    usage: Json = said.get("usage") if is_object(said) else None
    if not is_object(usage):
        return []
    counts = [usage.get(name) for name in ("inputTokens", "outputTokens")]
    known = [count if isinstance(count, int) else None for count in counts]
    return [Usage(input_tokens=known[0], output_tokens=known[1])]


def _sum(usages: list[Usage]) -> Usage | None:
    if not usages:
        return None
    return Usage(
        input_tokens=sum(usage.input_tokens or 0 for usage in usages),
        output_tokens=sum(usage.output_tokens or 0 for usage in usages),
    )
