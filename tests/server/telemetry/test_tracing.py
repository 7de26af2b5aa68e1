"""Spans of runs and tool calls, from the events of an agent."""

import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from partita.runtime.agent.agent import Agent
from partita.runtime.scripted import ScriptedService, as_script
from partita.runtime.service import InvokeOptions, Prompt
from partita.runtime.tools.tool import tool
from partita.server.tracing import CONTENT, TracedAgent
from partita.types.chunks import AgentStreamEvent
from partita.types.json import JsonObject, loads

CALLS: JsonObject = {
    "scenes": [
        {
            "match": "fail",
            "steps": [{"parts": [{"type": "text", "text": "I shall"}], "error": "no more"}],
        },
        {
            "steps": [
                {
                    "parts": [
                        {"type": "tool-call", "name": "measure", "input": {"tower": "Slettnes"}},
                        {"type": "tool-call", "name": "collapse", "input": {}},
                    ],
                    "usage": {"inputTokens": 20, "outputTokens": 5},
                },
                {
                    "parts": [{"type": "text", "text": "Thirty-nine metres."}],
                    "usage": {"inputTokens": 30, "outputTokens": 4},
                },
            ]
        },
    ]
}
OPTIONS = InvokeOptions(thread_id="chat-1", run_id="run-1")


@tool
def measure(tower: str) -> int:
    return len(tower) * 5 - 1


@tool
def collapse() -> None:
    raise ValueError("it fell over")


def agent() -> Agent:
    return Agent(ScriptedService(as_script(CALLS)), tools=[measure, collapse], name="surveyor")


async def events_of(prompt: str) -> list[AgentStreamEvent]:
    return [event async for event in TracedAgent(agent()).invoke(prompt, options=OPTIONS)]


def by_name(exporter: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in exporter.get_finished_spans()}


def attributes(span: ReadableSpan) -> Mapping[str, Any]:
    return span.attributes or {}


async def test_a_run_is_a_span_with_its_usage(spans: InMemorySpanExporter) -> None:
    await events_of("How tall is it?")
    run = by_name(spans)["invoke_agent surveyor"]
    assert attributes(run) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "surveyor",
        "gen_ai.request.model": "scripted",
        "gen_ai.conversation.id": "chat-1",
        "partita.run.id": "run-1",
        "gen_ai.usage.input_tokens": 50,
        "gen_ai.usage.output_tokens": 9,
        "partita.run.status": "completed",
    }
    assert run.status.status_code is StatusCode.UNSET


async def test_every_tool_call_is_a_child_span(spans: InMemorySpanExporter) -> None:
    await events_of("How tall is it?")
    found = by_name(spans)
    run, good, bad = (
        found[name] for name in ("invoke_agent surveyor", "execute_tool measure", "execute_tool collapse")
    )
    assert run.context is not None
    for call in (good, bad):
        assert call.parent is not None
        assert call.parent.span_id == run.context.span_id
        assert attributes(call)["gen_ai.operation.name"] == "execute_tool"
    assert attributes(good)["gen_ai.tool.name"] == "measure"
    assert attributes(good)["gen_ai.tool.call.id"] == "call-1"
    assert "error.type" not in attributes(good)
    assert attributes(bad)["error.type"] == "tool_error"
    assert bad.status.status_code is StatusCode.ERROR


async def test_a_failure_has_its_type_and_not_its_message(spans: InMemorySpanExporter) -> None:
    await events_of("please fail")
    run = by_name(spans)["invoke_agent surveyor"]
    assert attributes(run)["error.type"] == "scripted"
    assert attributes(run)["partita.run.status"] == "failed"
    assert "no more" not in run.to_json()


async def test_content_is_left_out_unless_it_is_requested(
    spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    await events_of("How tall is it?")
    exported = "".join(span.to_json() for span in spans.get_finished_spans())
    assert "How tall" not in exported
    assert "Slettnes" not in exported
    spans.clear()
    monkeypatch.setenv(CONTENT, "true")
    await events_of("How tall is it?")
    found = by_name(spans)
    run, call = attributes(found["invoke_agent surveyor"]), attributes(found["execute_tool measure"])
    assert loads(call["gen_ai.tool.call.arguments"]) == {"tower": "Slettnes"}
    assert loads(call["gen_ai.tool.call.result"]) == 39
    assert loads(run["gen_ai.input.messages"])[0]["parts"][0]["content"] == "How tall is it?"
    assert loads(run["gen_ai.output.messages"])[0]["parts"][0]["content"] == "Thirty-nine metres."


async def test_a_stopped_run_ends_its_span_without_an_error(spans: InMemorySpanExporter) -> None:
    stream: Any = TracedAgent(agent()).invoke("How tall is it?", options=OPTIONS)
    async with aclosing(stream):
        await anext(stream)
    run = by_name(spans)["invoke_agent surveyor"]
    assert attributes(run)["partita.run.status"] == "cancelled"
    assert run.status.status_code is StatusCode.UNSET


class Broken:
    name = "broken"

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        raise ZeroDivisionError
        yield


async def test_the_span_of_an_agent_that_raises_has_the_exception_type(spans: InMemorySpanExporter) -> None:
    with pytest.raises(ZeroDivisionError):
        _ = [event async for event in TracedAgent(Broken()).invoke("?")]
    assert attributes(by_name(spans)["invoke_agent broken"])["error.type"] == "ZeroDivisionError"


async def test_tracing_does_not_change_the_agent() -> None:
    plain = [event async for event in agent().invoke("How tall is it?", options=OPTIONS)]
    assert len(await events_of("How tall is it?")) == len(plain)
    assert TracedAgent(agent()).name == "surveyor"
    assert getattr(TracedAgent(agent()), "model", None) == "scripted"


def test_a_provider_without_the_package_is_reported_once() -> None:
    program = (
        "import logging, os, sys\n"
        "sys.modules['opentelemetry.trace'] = None\n"
        "os.environ['OTEL_PYTHON_TRACER_PROVIDER'] = 'sdk_tracer_provider'\n"
        "logging.basicConfig(format='%(message)s', stream=sys.stdout)\n"
        "from partita.server.tracing import get_tracer\n"
        "assert get_tracer() is get_tracer() is None\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == (
        "OTEL_PYTHON_TRACER_PROVIDER needs partita[telemetry], which is not installed; "
        "hint: pip install 'partita[telemetry]'\n"
    )


def test_without_a_provider_the_package_is_not_imported() -> None:
    program = (
        "import asyncio, sys\n"
        "from partita.server.tracing import TracedAgent\n"
        "from partita.server.tracing import TracedRequests\n"
        "from partita.demo.agent import demo_agent\n"
        "async def main():\n"
        "    async for _ in TracedAgent(demo_agent()).invoke('fail'): pass\n"
        "asyncio.run(main())\n"
        "assert not any(name.startswith('opentelemetry') for name in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
