"""Spans of requests, runs and tool calls, by OpenTelemetry's conventions for generative AI.

The span of a run starts when its agent is called and ends with its response, maybe long after the request
that started the run; the span of that request is its parent.

https://opentelemetry.io/docs/specs/semconv/gen-ai/
"""

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as AsgiMessage

from partita.errors import MissingPackageError
from partita.extras import needs
from partita.runtime.log_context import get_logger
from partita.runtime.service import AgentService, InvokeOptions, Prompt, closed
from partita.types.chunks import (
    AgentStreamEvent,
    CancelledEvent,
    ChildChunk,
    Chunk,
    ChunkEvent,
    CompleteEvent,
    ErrorEvent,
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
from partita.types.json import Json, dumps, is_object
from partita.types.messages import Message, text_of
from partita.types.parts import ErrorJsonOutput, ErrorTextOutput, InterruptedOutput
from partita.types.usage import Usage

from .metrics import NO_ROUTE, RequestObservation, observation_of

if TYPE_CHECKING:  # an extra, which is not imported unless tracing is set up
    from opentelemetry.trace import Span, Tracer

MODULE: Final = "opentelemetry.trace"
PROVIDER: Final = "OTEL_PYTHON_TRACER_PROVIDER"
CONTENT: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
SCOPE: Final = "partita"
LOG: Final = get_logger("partita.server")


def get_tracer() -> "Tracer | None":
    """The tracer of Partita; `None` if no provider is set up. Setting one up imports the package."""
    trace = sys.modules.get(MODULE) or (_load_api() if PROVIDER in os.environ else None)
    if trace is None:
        return None
    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return None
    from partita.version import __version__

    tracer: Tracer = provider.get_tracer(SCOPE, __version__)
    return tracer


@cache
def _load_api() -> ModuleType | None:
    """The API of OpenTelemetry; `None`, with a warning in the log, if it is not installed."""
    try:
        with needs("partita[telemetry]", PROVIDER):
            return import_module(MODULE)
    except MissingPackageError as error:
        LOG.warning("%s", error)
        return None


def wants_content() -> bool:
    """Whether spans have the content of messages. It may be private: only if the variable requests it."""
    return os.environ.get(CONTENT, "").strip().lower() in ("true", "1", "span_only", "span_and_event")


# Spans of requests. The span of a client that sends `traceparent` is the parent.


class TracedRequests:
    """An application whose requests are spans, if tracing is set up."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond, in a span."""
        tracer = get_tracer() if scope["type"] == "http" else None
        if tracer is None:
            await self._app(scope, receive, send)
        else:
            await self._trace(tracer, scope, receive, send)

    async def _trace(self, tracer: "Tracer", scope: Scope, receive: Receive, send: Send) -> None:
        from opentelemetry.propagate import extract
        from opentelemetry.trace import SpanKind, use_span

        observed = observation_of(scope)
        carrier = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        span = tracer.start_span(
            observed.method,
            context=extract(carrier),
            kind=SpanKind.SERVER,
            attributes={
                "http.request.method": observed.method,
                "url.path": scope["path"],
                "url.scheme": scope.get("scheme", "http"),
            },
        )

        def observing(event: AsgiMessage) -> Awaitable[None]:
            if event["type"] == "http.response.start":
                observed.status = event["status"]
            return send(event)

        try:
            with use_span(span, record_exception=False, set_status_on_exception=False):
                await self._app(scope, receive, observing)
        finally:
            _end_request_span(span, observed)


def _end_request_span(span: "Span", observed: RequestObservation) -> None:
    from opentelemetry.trace import Status, StatusCode

    if observed.route != NO_ROUTE:
        span.update_name(f"{observed.method} {observed.route}")
        span.set_attribute("http.route", observed.route)
    if observed.status:
        span.set_attribute("http.response.status_code", observed.status)
    if observed.status >= 500:
        span.set_attribute("error.type", str(observed.status))
        span.set_status(Status(StatusCode.ERROR))
    span.end()


# Spans of runs and of their tool calls

STATUS: Final[Mapping[type[object], str]] = {
    CompleteEvent: "completed",
    ErrorEvent: "failed",
    CancelledEvent: "cancelled",
}
STOPPED: Final = "cancelled"
"""The status of a run whose agent was stopped before it sent a last event."""

NO_END: Final = "failed"
"""The status of a run whose agent ended without a last event."""

FAILED: Final = "agent_error"
FAILED_TOOL: Final = "tool_error"
DENIED: Final = "approval_denied"
FAILED_OUTPUTS: Final = (ErrorTextOutput, ErrorJsonOutput, InterruptedOutput)


class TracedAgent:
    """An agent whose runs and tool calls are spans, if tracing is set up. It is unchanged otherwise."""

    def __init__(self, agent: AgentService) -> None:
        self._agent = agent

    @property
    def name(self) -> str:
        """The name of the agent."""
        return self._agent.name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._agent, name)

    def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """The events of one response."""
        tracer = get_tracer()
        trace = None if tracer is None else RunTrace(tracer, self._agent, prompt, options or InvokeOptions())
        events = self._agent.invoke(prompt, cwd=cwd, session_id=session_id, options=options)
        return events if trace is None else trace.watch(events)


class RunTrace:
    """The span of one run, and those of its calls."""

    def __init__(self, tracer: "Tracer", agent: AgentService, prompt: Prompt, options: InvokeOptions) -> None:
        model: object = options.model or getattr(agent, "model", None)
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": agent.name,
            "gen_ai.request.model": model if isinstance(model, str) else None,
            "gen_ai.conversation.id": options.thread_id,
            "partita.run.id": options.run_id,
        }
        self._tracer = tracer
        self._content = wants_content()
        self._span = tracer.start_span(f"invoke_agent {agent.name}", attributes=_known(attributes))
        self._calls: dict[str, Span] = {}
        self._text: list[str] = []
        self._usage: Usage | None = None
        self._finishes: list[Usage] = []
        self._error: str | None = None
        if self._content:
            self._span.set_attribute("gen_ai.input.messages", _messages("user", _last_text(prompt)))

    async def watch(self, events: AsyncIterator[AgentStreamEvent]) -> AsyncIterator[AgentStreamEvent]:
        """The events of the run, unchanged. Its spans end with them."""
        status, error = NO_END, None
        try:
            async with closed(events) as open_events:
                async for event in open_events:
                    self._add_event(event)
                    status = STATUS.get(type(event), status)
                    yield event
        except Exception as raised:
            error = raised
            raise
        except BaseException:  # closed, or cancelled
            status = status if status != NO_END else STOPPED
            raise
        finally:
            self._end(status, error)

    def _add_event(self, event: AgentStreamEvent) -> None:
        if isinstance(event, ChunkEvent):
            self._add_chunk(event.chunk)
        elif isinstance(event, CompleteEvent):
            self._usage = event.usage
        elif isinstance(event, ErrorEvent):
            self._error = event.name or FAILED
            message = event.message if self._content else None  # it may quote messages
            self._span.add_event("exception", _known({"exception.message": message}))

    def _add_chunk(self, chunk: Chunk) -> None:
        match chunk:
            case TextDelta(delta=delta) if self._content:
                self._text.append(delta)
            case ToolInputAvailable():
                self._start_call(chunk)
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
            case MessageFinish(message_metadata=metadata):
                self._finishes += _usage_in(metadata)
            case ChildChunk(chunk=inner):
                if not isinstance(inner, TextDelta | MessageFinish):  # these are of another conversation
                    self._add_chunk(inner)
            case _:
                pass

    def _start_call(self, chunk: ToolInputAvailable) -> None:
        from opentelemetry.trace import set_span_in_context

        if chunk.tool_call_id in self._calls:
            return
        arguments = None if chunk.input is UNSET else chunk.input
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": chunk.tool_name,
            "gen_ai.tool.call.id": chunk.tool_call_id,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.arguments": dumps(arguments).decode() if self._content else None,
        }
        self._calls[chunk.tool_call_id] = self._tracer.start_span(
            f"execute_tool {chunk.tool_name}",
            context=set_span_in_context(self._span),
            attributes=_known(attributes),
        )

    def _end_call(self, call: str, error: str | None, output: Json) -> None:
        span = self._calls.pop(call, None)
        if span is None:
            return
        if self._content and output is not UNSET:
            span.set_attribute("gen_ai.tool.call.result", dumps(output).decode())
        _end_span(span, error)

    def _end(self, status: str, error: BaseException | None) -> None:
        for span in self._calls.values():
            span.end()
        usage = self._usage or _sum(self._finishes)
        attributes = {
            "gen_ai.usage.input_tokens": usage.input_tokens if usage else None,
            "gen_ai.usage.output_tokens": usage.output_tokens if usage else None,
            "gen_ai.output.messages": _messages("assistant", "".join(self._text)) if self._content else None,
            "partita.run.status": status,
        }
        self._span.set_attributes(_known(attributes))
        if error is not None:
            self._error = type(error).__qualname__
        _end_span(self._span, self._error or (FAILED if status == "failed" else None))


def _end_span(span: "Span", error: str | None) -> None:
    from opentelemetry.trace import Status, StatusCode

    if error is not None:
        span.set_attribute("error.type", error)
        span.set_status(Status(StatusCode.ERROR))
    span.end()


def _known(attributes: Mapping[str, str | int | None]) -> dict[str, str | int]:
    return {key: value for key, value in attributes.items() if value is not None}


def _last_text(prompt: Prompt) -> str:
    if isinstance(prompt, str):
        return prompt
    last: Message | None = prompt[-1] if prompt else None
    return text_of(last) if last is not None else ""


def _messages(role: str, text: str) -> str:
    return dumps([{"role": role, "parts": [{"type": "text", "content": text}]}]).decode()


def _usage_in(metadata: Json) -> list[Usage]:
    """The usage in the metadata at the end of a message."""
    usage: Json = metadata.get("usage") if is_object(metadata) else None
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
