"""Open calls inside networks, answered by the real client, which only sees calls of the message itself."""

from typing import Any

import pytest

from partita import Agent, tool
from partita.agents import Network, client_tool
from tests.server.clients.agents import calls, scripted_by_word
from tests.server.clients.conftest import ServeChat
from tests.server.clients.site import Chat
from tests.server.conftest import text_part

removed: list[str] = []


@tool(approval="always")
def remove(name: str) -> str:
    """Remove a file."""
    removed.append(name)
    return f"{name} is gone"


WHERE = client_tool("where", "Where the user is.", {"type": "object", "properties": {}})


def route(id: str) -> dict[str, Any]:
    return calls(
        "route", {"primitiveType": "agent", "primitiveId": id, "input": "tidy", "selectionReason": "it can"}
    )


FINISHED = calls("finish", {"answer": "All done."})


def nested(agent: Agent) -> Network:
    """An agent in a network inside a network."""
    inner = Network(scripted_by_word(tidy=[[route("agent")], [FINISHED]]), agents={"agent": agent})
    return Network(scripted_by_word(tidy=[[route("inner")], [FINISHED]]), agents={"inner": inner})


def waiting(messages: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The call of a tool in the last message."""
    (part,) = [part for part in messages[-1]["parts"] if part["type"] == f"tool-{name}"]
    return part


async def decide(chat: Chat, approval: str, approved: bool) -> None:
    await chat.view.call("addToolApprovalResponse", {"id": approval, "approved": approved})


@pytest.mark.parametrize("reloaded", [False, True], ids=["live", "reloaded"])
@pytest.mark.parametrize("approved", [True, False], ids=["allowed", "refused"])
async def test_an_approval_inside_networks_continues_the_run(
    site: ServeChat, approved: bool, reloaded: bool
) -> None:
    removed.clear()
    model = scripted_by_word(tidy=[[calls("remove", {"name": "a"}, "c1")], [text_part("Gone.")]])
    here = await site(nested(Agent(model, tools=[remove])))
    chat = await here.chat(sendWhen="approvals")
    waiting_call = waiting((await chat.send("Please tidy up.")).messages, "remove")
    assert (waiting_call["state"], waiting_call["input"], removed) == (
        "approval-requested",
        {"name": "a"},
        [],
    )
    if reloaded:
        chat = await here.load(sendWhen="approvals")
    await decide(chat, waiting_call["approval"]["id"], approved)
    state = await chat.view.until(settled=True, texts=["All done."])
    assert removed == (["a"] if approved else [])
    stored = await here.stored()
    ends = [part["state"] for one in stored for part in one["parts"] if part["type"] == "tool-remove"]
    assert ends == ["output-available" if approved else "output-denied"]
    sent = [request.path for request in state.requests if request.method == "POST"]
    assert len(sent) == 2  # the client does not send again after all calls have results


async def test_an_output_of_a_client_tool_inside_networks_continues_the_run(site: ServeChat) -> None:
    model = scripted_by_word(tidy=[[calls("where", {}, "c1")], [text_part("Near.")]])
    here = await site(nested(Agent(model, tools=[WHERE])))
    chat = await here.chat(sendWhen="tools")
    waiting_call = waiting((await chat.send("Please tidy up.")).messages, "where")
    assert waiting_call["state"] == "input-available"
    await chat.view.call("addToolOutput", {"tool": "where", "toolCallId": "c1", "output": {"north": 60}})
    state = await chat.view.until(settled=True, texts=["All done."])
    sent = [request.path for request in state.requests if request.method == "POST"]
    assert len(sent) == 2
