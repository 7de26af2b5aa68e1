"""Example runs: tools, an approval, a failure, a network."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from partita.runtime.agent.agent import Agent
from partita.runtime.scripted import Script, ScriptedService, as_script
from partita.runtime.service import AgentService
from partita.runtime.session.client_replies import ApprovalResponse
from partita.runtime.tools.tool import tool
from partita.store.connection import open_store
from partita.store.store import Store
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.threads import Run


def call(name: str, input: Json) -> JsonObject:
    return {"type": "tool-call", "id": "", "name": name, "state": "input-available", "input": input}


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


WEATHER: JsonObject = {
    "steps": [
        {
            "parts": [
                {"type": "reasoning", "text": "I should look it up."},
                call("weather", {"city": "Oslo"}),
            ],
            "usage": {"inputTokens": 30, "outputTokens": 4},
        },
        {"parts": [text("It is sunny in Oslo, and it will stay so.")], "usage": {"inputTokens": 50}},
    ]
}
LAUNCH: JsonObject = {
    "match": "launch",
    "steps": [
        {"parts": [text("I need approval."), call("launch", {"where": "moon"})]},
        {"parts": [call("weather", {"city": "Tranquility"})]},
        {"parts": [text("Launched in fine weather.")]},
    ],
}
FAILS: JsonObject = {"match": "fail", "steps": [{"parts": [text("I try")], "error": "out of luck"}]}
SCRIPT: Script = as_script({"scenes": [LAUNCH, FAILS, WEATHER]})

ran: list[str] = []
"""The calls that ran."""


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    ran.append(f"weather {city}")
    return f"sunny in {city}"


@tool(approval="always")
def launch(where: str) -> dict[str, str]:
    """Launch a rocket."""
    ran.append(f"launch {where}")
    return {"launched": where}


@asynccontextmanager
async def an_agent(model: AgentService | None = None) -> AsyncGenerator[tuple[Store, Agent], None]:
    """An agent over a new store."""
    async with open_store("memory:") as store:
        agent = Agent(model or ScriptedService(SCRIPT), tools=[weather, launch], store=store)
        try:
            yield store, agent
        finally:
            await agent.session.close()


async def run_turn(agent: Agent, thread_id: str, words: str | None) -> Run:
    """Run a turn to its end."""
    run = await agent.start(thread_id, words)
    return await agent.session.wait(run.id)


async def launched(agent: Agent, thread_id: str = "t") -> tuple[Run, Run]:
    """Two runs of one message: the first requests an approval, the second continues after it."""
    first = await run_turn(agent, thread_id, "launch it")
    message = await last_message(agent.session.store, thread_id)
    waiting = [part for part in message.parts if isinstance(part, ToolCallPart)][-1]
    assert waiting.approval is not None
    await agent.add_approval_response(thread_id, ApprovalResponse(waiting.approval.id, True, by="ada"))
    return first, await run_turn(agent, thread_id, None)


async def last_message(store: Store, thread_id: str) -> AssistantMessage:
    message = (await store.messages.list(thread_id, limit=None)).items[-1]
    assert isinstance(message, AssistantMessage)
    return message


ROUTER = ScriptedService(
    as_script(
        {
            "scenes": [
                {
                    "steps": [
                        {
                            "parts": [
                                text("The helper knows."),
                                call(
                                    "route",
                                    {
                                        "primitiveType": "agent",
                                        "primitiveId": "helper",
                                        "input": "weather?",
                                        "reason": "it can look it up",
                                    },
                                ),
                            ],
                            "usage": {"inputTokens": 7, "outputTokens": 2},
                        },
                        {
                            "parts": [call("finish", {"answer": "Sunny."})],
                            "usage": {"inputTokens": 9, "outputTokens": 1},
                        },
                    ]
                }
            ]
        }
    ),
    name="router",
)
"""A network whose router calls its helper once, and finishes."""
