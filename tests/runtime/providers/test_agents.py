"""An agent over HTTP: the model calls a tool, the tool runs here, and the model receives its output."""

from collections.abc import Sequence

import pytest

import partita
from partita.formats.call_decoder import is_marker
from partita.runtime.agent.agent import Agent
from partita.runtime.model_calls import REQUEST, ModelRequest, RequestExpander
from partita.runtime.session.session import Session
from partita.store.connection import open_store
from partita.store.logs.run_log import LogRecord
from partita.store.values import RunFilter
from partita.types.json import dumps, loads
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import ReasoningPart
from tests.runtime.scripted_server import JSON, ScriptedResponse, ScriptedServer
from tests.tables import each_row

from .families import FAMILIES, Family

OPAQUE = {"anthropic": b"c2lnbmVk", "gemini": b"c2lnbmVk"}
"""Values that must be sent back to the provider unchanged."""


def requests_in(log: Sequence[LogRecord]) -> list[ModelRequest]:
    reader = RequestExpander()
    notes = [record.chunk for record in log if record.chunk is not None and is_marker(record.chunk, REQUEST)]
    return [received for note in notes if (received := reader.read(note)) is not None]


def weather(city: str) -> str:
    """The weather of a city."""
    return f"rain in {city}"


@each_row(("name", "family"), FAMILIES.items(), ids=FAMILIES)
async def test_a_response_with_tool_calls(name: str, family: Family) -> None:
    async with (
        ScriptedServer(ScriptedResponse(body=family.body)) as server,
        await open_store("memory:") as store,
        Session(store) as session,
    ):
        service = family.service(server.address)
        agent = Agent(service, tools=[weather], session=session, max_steps=2, instructions="Be brief.")
        message = await agent.run("t", "How is the weather in Bergen?")
        run = (await store.runs.list(RunFilter(thread_id="t"))).items[0]
        log = await store.logs.read(run.id)
        await service.aclose()
    first, second = (loads(request.body) for request in server.requests)
    assert [received.body for received in requests_in(log)] == [first, second]
    assert b"rain in Bergen" not in dumps(first)
    assert b"rain in Bergen" in dumps(second)
    assert b"Be brief." in dumps(second)
    assert OPAQUE.get(name, b"") in dumps(second)
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    assert [(call.name, call.input, call.state) for call in calls] == [
        ("weather", {"city": "Bergen"}, "output-available")
    ] * 2
    assert any(isinstance(part, ReasoningPart) for part in message.parts)
    assert b"".join(record.raw or b"" for record in log) == family.body * 2
    assert (run.status, run.model) == ("completed", "m-1")
    assert isinstance(message, AssistantMessage)
    assert message.content.usage is not None
    assert message.content.usage == run.usage


@each_row("family", FAMILIES.values(), ids=FAMILIES)
async def test_a_refused_request_is_an_error(family: Family) -> None:
    refusal = ScriptedResponse(status=401, body=dumps(family.refusal), content_type=JSON)
    async with ScriptedServer(refusal) as server, await partita.open_store("memory:") as store:
        service = family.service(server.address)
        agent = partita.Agent(service, store=store)
        with pytest.raises(partita.PartitaError) as caught:
            await agent.run("t", "How is the weather in Bergen?")
        await agent.session.close()
        await service.aclose()
        (run,) = (await store.runs.list(RunFilter(thread_id="t"))).items
    error = caught.value
    assert isinstance(error, partita.AgentError)
    assert (error.run_id, error.status) == (run.id, "failed") == (run.id, run.status)
    assert run.error is not None
    assert run.error in error.what
