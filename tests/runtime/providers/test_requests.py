"""Requests of provider services: the body that the format builds, with the given key and headers."""

from collections.abc import Sequence

import pytest

from partita.errors import AgentError, FormatError
from partita.formats.call_decoder import facts_of
from partita.formats.format import Dumped, Request, ToolSpec
from partita.formats.model_view import model_view
from partita.formats.openai_chat.dialects import DIALECTS, Dialect
from partita.formats.openai_chat.format import dump as dump_chat
from partita.runtime.providers.vendors import OpenAIChatService
from partita.runtime.service import InvokeOptions
from partita.types.chunks import ChunkEvent, DataChunk
from partita.types.json import JsonObject, dumps, loads
from partita.types.messages import AssistantMessage, Message, SystemMessage, ToolCallPart, UserMessage
from partita.types.parts import ReasoningPart, TextOutput, TextPart
from tests.formats import anthropic_samples, gemini_responses, openai_responses_requests
from tests.runtime.scripted_server import ScriptedResponse, ScriptedServer
from tests.tables import each_row

from .families import FAMILIES, Family
from .service_calls import ask, chunks, fold


def build_chat(
    view: Sequence[Message],
    *,
    model: str,
    tools: Sequence[ToolSpec] = (),
    settings: JsonObject | None = None,
    dialect: Dialect = DIALECTS["openai"],
) -> Dumped:
    """What `OpenAIChatService` sends."""
    streamed: JsonObject = {"model": model, "stream": True}
    if dialect.stream_options:
        streamed["stream_options"] = {"include_usage": True}
    return dump_chat(view, Request(tuple(tools), {**streamed, **(settings or {})}), dialect=dialect)


BUILDERS = {
    "openai-chat": build_chat,
    "openai-responses": openai_responses_requests.build_request,
    "anthropic": anthropic_samples.build_request,
    "gemini": gemini_responses.build_request,
}
TOOLS = (ToolSpec("weather", "How it is outside.", {"type": "object", "properties": {"city": {}}}),)
SETTINGS = {"temperature": 0.5, "not_known_to_any_package": {"ä": [1, None]}}


def expected(name: str, built: Dumped) -> bytes:
    body = {key: value for key, value in built.payload.items() if name != "gemini" or key != "model"}
    return dumps(body)


@each_row("name", FAMILIES)
async def test_the_body_is_that_of_the_format_byte_for_byte(name: str) -> None:
    family = FAMILIES[name]
    conversation: list[Message] = [
        UserMessage(id="1", content="Wie ist das Wetter? ☔"),
        AssistantMessage(
            id="2",
            content=[
                TextPart("I look."),
                ToolCallPart(
                    "call_7", "weather", "output-available", {"city": "Bergen"}, output=TextOutput("wet")
                ),
            ],
        ),
        UserMessage(id="3", content="And tomorrow?"),
    ]
    options = InvokeOptions(instructions="Be brief.", tools=TOOLS, settings=SETTINGS)
    async with ScriptedServer(ScriptedResponse(body=family.body)) as server:
        await ask(family.service(server.address, settings={"temperature": 1}), conversation, options)
    (request,) = server.requests
    view = model_view([SystemMessage(id="instructions", content="Be brief."), *conversation]).messages
    built = BUILDERS[name](view, model="m-1", tools=TOOLS, settings=SETTINGS)
    assert request.body == expected(name, built)
    assert (request.method, request.path) == ("POST", family.path)
    assert request.headers["content-type"] == "application/json"


@each_row("family", FAMILIES.values(), ids=FAMILIES)
async def test_keys_and_headers_are_sent(family: Family) -> None:
    async with ScriptedServer(ScriptedResponse(body=family.body)) as server:
        await ask(family.service(server.address, headers={"X-Team": "weather"}))
    (request,) = server.requests
    name, value = family.auth
    assert request.headers[name] == value
    assert request.headers["x-team"] == "weather"


@each_row("family", FAMILIES.values(), ids=FAMILIES)
async def test_a_response_is_part_of_the_next_request(family: Family) -> None:
    async with ScriptedServer(ScriptedResponse(body=family.body)) as server:
        first = fold(chunks(await ask(family.service(server.address))))
        await ask(family.service(server.address), [first, UserMessage(id="2", content="Go on.")])
    sent = server.requests[-1].body
    assert b"Let me look." in sent
    assert b"Bergen" in sent


@each_row("family", FAMILIES.values(), ids=FAMILIES)
async def test_repairs_and_losses_are_recorded_with_the_call(family: Family) -> None:
    call = ToolCallPart("c", "weather", "input-available", {"city": "Bergen"})
    unanswered = AssistantMessage(id="1", content=[call])
    async with ScriptedServer(ScriptedResponse(body=family.body)) as server:
        events = await ask(family.service(server.address), [unanswered, UserMessage(id="2", content="So?")])
    first = events[0]
    assert isinstance(first, ChunkEvent)
    assert isinstance(first.chunk, DataChunk)
    assert "never got a result" in facts_of(first.chunk)["repairs"][0]


async def test_the_options_can_select_another_model() -> None:
    family = FAMILIES["gemini"]
    async with ScriptedServer(ScriptedResponse(body=family.body)) as server:
        await ask(family.service(server.address), options=InvokeOptions(model="m-2"))
    assert "/models/m-2:" in server.requests[0].path


@each_row("name", sorted(DIALECTS))
async def test_a_dialect_defines_the_request_and_the_response(name: str) -> None:
    family, dialect = FAMILIES["openai-chat"], DIALECTS[name]
    async with ScriptedServer(ScriptedResponse(body=family.body)) as server:
        service = family.service(server.address, dialect=name)
        message = fold(chunks(await ask(service)))
    assert ("stream_options" in loads(server.requests[0].body)) == dialect.stream_options
    thought = next(part for part in message.parts if isinstance(part, ReasoningPart))
    assert (thought.provider_metadata or {}).keys() == {dialect.namespace}


def test_invalid_use_is_refused_before_anything_is_sent() -> None:
    nowhere = "http://127.0.0.1:1"
    with pytest.raises(AgentError, match="the prompt is empty"):
        FAMILIES["anthropic"].service(nowhere).invoke([])
    with pytest.raises(AgentError, match="is not the name of a model"):
        FAMILIES["gemini"].service(nowhere).invoke("Hi", options=InvokeOptions(model="../secrets"))


@each_row("name", FAMILIES)
def test_a_missing_key_is_an_error_before_anything_is_sent(name: str) -> None:
    with pytest.raises(AgentError) as raised:
        FAMILIES[name].make("m-1").invoke("Hi")
    assert "_API_KEY" in raised.value.hint


def test_unknown_dialects_are_refused() -> None:
    with pytest.raises(AgentError, match="klingon"):
        OpenAIChatService("m-1", dialect="klingon")
    with pytest.raises(FormatError, match="openai-chat-klingon"):
        OpenAIChatService("m-1", dialect=Dialect("klingon", "klingon"))
