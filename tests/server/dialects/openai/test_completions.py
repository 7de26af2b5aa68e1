"""OpenAI's unmodified client against a real server."""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from partita import Agent, tool
from partita.runtime.service import InvokeOptions
from partita.server.app import asgi
from partita.store.store import Store
from partita.store.values import RunFilter
from partita.types.chunks import AgentStreamEvent, Chunk, ChunkEvent, MessageStart, TextDelta, TextStart
from partita.types.messages import AssistantMessage, ToolCallPart, UserMessage, text_of
from partita.types.parts import TextOutput
from tests.server.conftest import Serve, scripted, text_part

if TYPE_CHECKING:
    import openai

CALL: dict[str, Any] = {"type": "tool-call", "name": "show_map", "input": {"place": "Slettnes"}}
MAP: Any = {"type": "function", "function": {"name": "show_map", "parameters": {"type": "object"}}}
HELLO: Any = {"role": "user", "content": "How tall is it?"}


@tool
def look_up(tower: str) -> str:
    """Look up a tower."""
    return f"{tower}: 41"


def keeper() -> Agent:
    """An agent that calls a server tool, then a tool of the client."""
    own = {"type": "tool-call", "name": "look_up", "input": {"tower": "Slettnes"}}
    model = scripted([text_part("I look."), own], [text_part("Here."), CALL], [text_part("There it is.")])
    return Agent(model, tools=[look_up], name="keeper")


def client_of(address: str, **how: Any) -> "openai.AsyncOpenAI":
    import openai

    return openai.AsyncOpenAI(
        base_url=f"{address}/v1", api_key=how.pop("api_key", "none"), max_retries=0, **how
    )


@pytest.fixture
async def client(store: Store, serve: Serve) -> AsyncIterator["openai.AsyncOpenAI"]:
    agents = {"quick": scripted([text_part("Forty-one metres.")]), "keeper": keeper(), "mute": scripted()}
    async with client_of(await serve(asgi(agents, store=store))) as client:
        yield client


async def test_the_agents_are_models(client: "openai.AsyncOpenAI") -> None:
    assert [model.id async for model in client.models.list()] == ["quick", "keeper", "mute"]


async def test_a_completion_is_returned(client: "openai.AsyncOpenAI", store: Store) -> None:
    completion = await client.chat.completions.create(model="quick", messages=[HELLO])
    (choice,) = completion.choices
    assert (choice.message.content, choice.finish_reason) == ("Forty-one metres.", "stop")
    assert (completion.model, completion.object) == ("quick", "chat.completion")
    assert completion.created > 1_700_000_000
    assert (await store.threads.list()).items == (), "nothing is stored"
    second = await client.chat.completions.create(model="quick", messages=[HELLO])
    assert second.id != completion.id


async def test_a_completion_is_streamed(client: "openai.AsyncOpenAI") -> None:
    stream = await client.chat.completions.create(
        model="quick", messages=[HELLO], stream=True, stream_options={"include_usage": True}
    )
    pieces = [chunk async for chunk in stream]
    assert "".join(c.delta.content or "" for chunk in pieces for c in chunk.choices) == "Forty-one metres."
    reasons = [choice.finish_reason for chunk in pieces for choice in chunk.choices]
    assert reasons.count("stop") == 1
    assert len({chunk.id for chunk in pieces}) == 1


async def test_agent_and_client_run_their_own_tools(client: "openai.AsyncOpenAI") -> None:
    messages: list[Any] = [{"role": "system", "content": "Be brief."}, HELLO]
    first = await client.chat.completions.create(model="keeper", messages=messages, tools=[MAP])
    (choice,) = first.choices
    assert choice.message.content == "I look.\n\nHere."
    assert choice.finish_reason == "tool_calls"
    (call,) = choice.message.tool_calls or []
    assert call.type == "function"
    assert (call.function.name, call.function.arguments) == ("show_map", '{"place":"Slettnes"}')
    messages += [
        choice.message.model_dump(exclude_none=True),
        {"role": "tool", "tool_call_id": call.id, "content": "shown"},
    ]
    # The client does not have the call that the agent ran: for the script, this is the second response.
    last = await client.chat.completions.create(model="keeper", messages=messages, tools=[MAP])
    assert last.choices[0].message.content


async def test_calls_of_client_tools_are_streamed(client: "openai.AsyncOpenAI") -> None:
    async with client.chat.completions.stream(model="keeper", messages=[HELLO], tools=[MAP]) as stream:
        final = await stream.get_final_completion()
    (call,) = final.choices[0].message.tool_calls or []
    assert call.function.arguments == '{"place":"Slettnes"}'


async def test_a_thread_stores_the_turns(client: "openai.AsyncOpenAI", store: Store) -> None:
    kept: Any = {"thread_id": "t1"}
    first = await client.chat.completions.create(model="keeper", messages=[HELLO], tools=[MAP], metadata=kept)
    (call,) = first.choices[0].message.tool_calls or []
    messages: list[Any] = [
        HELLO,
        first.choices[0].message.model_dump(exclude_none=True),
        {"role": "tool", "tool_call_id": call.id, "content": "shown"},
    ]
    last = await client.chat.completions.create(
        model="keeper", messages=messages, tools=[MAP], extra_headers={"x-partita-thread-id": "t1"}
    )
    assert last.choices[0].message.content == "There it is."
    question, response = (await store.messages.list("t1")).items
    assert isinstance(question, UserMessage)
    assert isinstance(response, AssistantMessage)
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    assert [part.name for part in calls] == ["look_up", "show_map"]
    assert calls[1].output == TextOutput("shown")
    assert text_of(response).endswith("There it is.")


async def test_a_stored_run_is_returned_as_a_completion(client: "openai.AsyncOpenAI", store: Store) -> None:
    import openai

    kept: Any = {"thread_id": "t1"}
    stream = await client.chat.completions.create(model="quick", messages=[HELLO], metadata=kept, stream=True)
    live = "".join([c.delta.content or "" async for chunk in stream for c in chunk.choices])
    (run,) = (await store.runs.list(RunFilter(thread_id="t1"))).items
    raw = await client.get(f"../api/runs/{run.id}/stream?as=openai-chat", cast_to=httpx.Response)
    assert raw.text.endswith("data: [DONE]\n\n")
    assert live == "Forty-one metres."
    assert '"finish_reason":"stop"' in raw.text
    events = await client.get(f"../api/runs/{run.id}/stream?as=ag-ui", cast_to=httpx.Response)
    assert '"type":"RUN_FINISHED"' in events.text
    none = await client.get(f"../api/runs/{run.id}/replay?speed=0&as=ai-sdk", cast_to=httpx.Response)
    assert '"type":"text-delta"' in none.text
    with pytest.raises(openai.BadRequestError):
        await client.get(f"../api/runs/{run.id}/stream?as=gemini", cast_to=httpx.Response)


async def test_errors_have_the_types_of_openai(client: "openai.AsyncOpenAI") -> None:
    import openai

    with pytest.raises(openai.NotFoundError) as unknown:
        await client.chat.completions.create(model="gpt-none", messages=[HELLO])
    assert unknown.value.code == "model_not_found"
    odd: Any = [{"role": "oracle", "content": "?"}]
    with pytest.raises(openai.BadRequestError) as bad:
        await client.chat.completions.create(model="quick", messages=odd)
    assert bad.value.type == "invalid_request_error"
    taken: Any = {"type": "function", "function": {"name": "look_up"}}
    with pytest.raises(openai.BadRequestError, match="already has a tool"):
        await client.chat.completions.create(model="keeper", messages=[HELLO], tools=[taken])
    with pytest.raises(openai.InternalServerError, match="no more steps"):
        await client.chat.completions.create(model="mute", messages=[HELLO])
    stream = await client.chat.completions.create(model="mute", messages=[HELLO], stream=True)
    with pytest.raises(openai.APIError, match="no more steps"):
        await anext(piece async for piece in stream if not piece.choices)
    messages_sent: Any = [HELLO, {"role": "assistant", "content": "41"}]
    kept: Any = {"thread_id": "t1"}
    with pytest.raises(openai.BadRequestError, match="no new message"):
        await client.chat.completions.create(model="quick", messages=messages_sent, metadata=kept)


async def test_an_api_key_is_sent_as_a_bearer_token(store: Store, serve: Serve) -> None:
    import openai

    address = await serve(
        asgi(scripted([text_part("Forty-one.")]), store=store, keys=True, routes=["openai"])
    )
    key = (await store.keys.create("ada", "write")).text
    async with client_of(address, api_key=key) as client:
        completion = await client.chat.completions.create(model="scripted", messages=[HELLO])
    assert completion.choices[0].message.content == "Forty-one."
    async with client_of(address, api_key="pk_wrong") as client:
        with pytest.raises(openai.AuthenticationError):
            await client.models.list()


class Endless:
    """Sends text until it is stopped."""

    name = "endless"

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.stopped = asyncio.Event()

    async def invoke(
        self, prompt: Any, *, options: InvokeOptions | None = None, **_: Any
    ) -> AsyncIterator[AgentStreamEvent]:
        words: list[Chunk] = [MessageStart("m1"), TextStart("0")]
        try:
            for chunk in words:
                yield ChunkEvent(chunk=chunk)
            self.started.set()
            while True:
                yield ChunkEvent(chunk=TextDelta("0", "on and "))
                await asyncio.sleep(0.01)
        finally:
            self.stopped.set()


@pytest.mark.parametrize("stream", [True, False])
async def test_disconnecting_stops_a_response_that_is_not_stored(
    store: Store, serve: Serve, stream: bool
) -> None:
    agent = Endless()
    address = await serve(asgi(agent, store=store))
    body = {"model": "endless", "messages": [HELLO], "stream": stream}
    async with httpx.AsyncClient() as client:
        async with asyncio.timeout(5):
            asking = asyncio.create_task(_read_a_bit(client, f"{address}/v1/chat/completions", body))
            await agent.started.wait()
            asking.cancel()
            await agent.stopped.wait()


async def _read_a_bit(client: httpx.AsyncClient, url: str, body: Any) -> None:
    async with client.stream("POST", url, json=body) as response:
        async for _ in response.aiter_bytes():
            pass
