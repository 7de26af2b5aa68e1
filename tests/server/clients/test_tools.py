"""Tools of the server, tools of the client, and tools that need approval."""

from typing import Any

import pytest

from partita.runtime.agent.agent import Agent
from partita.runtime.tools.tool import client_tool, tool
from tests.server.clients.agents import ApprovalAgent, calls, scripted_by_word
from tests.server.clients.conftest import ServeChat
from tests.server.clients.releases import on_all_releases
from tests.server.clients.site import Chat
from tests.server.conftest import text_part

PLACE: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


def height(name: str) -> int:
    """How tall a light is, in metres."""
    if name == "Nowhere":
        raise LookupError("there is no such light")
    return 41


@tool(approval="always")
def switch_off(name: str) -> str:
    """Put out a light."""
    return f"{name} is dark"


def tools_of(state: Any) -> list[tuple[str, str]]:
    """The calls of the last message: the type of the part and its state."""
    return [(part["type"], part["state"]) for part in state.last["parts"] if part["type"].startswith("tool-")]


@on_all_releases
async def test_server_tools_run_step_by_step(site: ServeChat) -> None:
    steps = [
        [text_part("I look."), calls("height", {"name": "Bell"}), calls("height", {"name": "Nowhere"})],
        [text_part("Once more."), calls("height", {"name": "Marten"})],
        [text_part("Both are 41 metres tall.")],
    ]
    chat = await (await site(Agent(scripted_by_word(tall=steps), tools=[height]))).chat()
    await chat.send("How tall are they?")
    state = await chat.finished()
    assert tools_of(state) == [
        ("tool-height", "output-available"),
        ("tool-height", "output-error"),
        ("tool-height", "output-available"),
    ]
    assert [part["type"] for part in state.last["parts"]].count("step-start") == 3
    assert len(state.messages) == 2


WHERE = client_tool("where_am_i", "Where the user is.", PLACE)

WALK = scripted_by_word(
    walk=[
        [text_part("I ask your device."), calls("where_am_i", {}, "c1")],
        [text_part("And again."), calls("where_am_i", {}, "c2")],
        [text_part("You have walked far.")],
    ]
)


async def give(chat: Chat, call_id: str, **output: Any) -> None:
    """Send the output of a client tool, with the function of the release."""
    method = "addToolResult" if chat.site.browser.version == 5 else "addToolOutput"
    await chat.view.call(method, {"tool": "where_am_i", "toolCallId": call_id, **output})


@on_all_releases
@pytest.mark.parametrize("last_only", [False, True], ids=["all messages", "the last message"])
async def test_the_run_continues_after_the_output_of_a_client_tool(site: ServeChat, last_only: bool) -> None:
    here = await site(Agent(WALK, tools=[WHERE]))
    chat = await here.chat(sendWhen="tools", lastOnly=last_only)
    waiting = await chat.send("How far did I walk?")
    assert tools_of(waiting) == [("tool-where_am_i", "input-available")]
    assert waiting.messages == await here.stored()
    await give(chat, "c1", output={"north": 60.4})
    await chat.finished(texts=["And again."])
    await give(chat, "c2", state="output-error", errorText="no signal")
    state = await chat.finished(texts=["You have walked far."])
    assert tools_of(state) == [("tool-where_am_i", "output-available"), ("tool-where_am_i", "output-error")]
    assert len(state.messages) == 2


async def test_the_run_continues_after_the_outputs_of_all_client_tools(site: ServeChat) -> None:
    both = [calls("where_am_i", {}, "c1"), calls("where_am_i", {}, "c2")]
    model = scripted_by_word(walk=[both, [text_part("Not far.")]])
    chat = await (await site(Agent(model, tools=[WHERE]))).chat(sendWhen="tools")
    await chat.send("How far did I walk?")
    await give(chat, "c2", output="here")
    half = await chat.view.until(texts=["here"])
    assert [request.method for request in half.requests] == ["POST"]
    await give(chat, "c1", output="there")
    state = await chat.finished(texts=["Not far."])
    assert [part.get("output") for part in state.last["parts"] if "toolCallId" in part] == ["there", "here"]


async def test_an_output_can_be_sent_after_a_reload(site: ServeChat) -> None:
    here = await site(Agent(WALK, tools=[WHERE]))
    await (await here.chat()).send("How far did I walk?")
    chat = await here.load(sendWhen="tools")
    await give(chat, "c1", output="here")
    state = await chat.finished(texts=["And again."])
    assert len(state.messages) == 2


async def test_a_call_without_an_output_is_ended_by_the_next_message(site: ServeChat) -> None:
    model = scripted_by_word(walk=[[calls("where_am_i", {}, "c1")]], never=[[text_part("All right.")]])
    here = await site(Agent(model, tools=[WHERE]))
    chat = await here.chat()
    await chat.send("How far did I walk?")
    await chat.send("Oh, never mind.")
    state = await chat.finished()
    assert state.text == "All right."


OFF = scripted_by_word(
    dark=[[text_part("May I?"), calls("switch_off", {"name": "Bell"}, "c1")], [text_part("Good night.")]]
)

DECISIONS = {
    "allowed": (True, None, "output-available"),
    "refused": (False, None, "output-denied"),
    "denied with a reason": (False, "ships are near", "output-denied"),
}


@pytest.mark.parametrize("browser", [6, 7], indirect=True)
@pytest.mark.parametrize(("approved", "reason", "end"), DECISIONS.values(), ids=DECISIONS)
async def test_an_approval_continues_the_run(
    site: ServeChat, approved: bool, reason: str | None, end: str
) -> None:
    here = await site(Agent(OFF, tools=[switch_off]))
    chat = await here.chat(sendWhen="approvals")
    waiting = await chat.send("Make it dark.")
    assert tools_of(waiting) == [("tool-switch_off", "approval-requested")]
    assert waiting.messages == await here.stored()
    (call,) = [part for part in waiting.last["parts"] if "approval" in part]
    response = {"id": call["approval"]["id"], "approved": approved}
    await chat.view.call(
        "addToolApprovalResponse", response if reason is None else {**response, "reason": reason}
    )
    state = await chat.finished(texts=["Good night."])
    assert tools_of(state) == [("tool-switch_off", end)]
    (call,) = [part for part in state.last["parts"] if "approval" in part]
    assert (call["approval"]["approved"], call["approval"].get("reason")) == (approved, reason)
    answered = state.last["metadata"]["approvals"][call["approval"]["id"]]
    assert sorted(answered) == ["respondedAt", "respondedBy"]
    assert len(state.messages) == 2


@pytest.mark.parametrize("browser", [6, 7], indirect=True)
async def test_an_approval_can_be_sent_after_a_reload(site: ServeChat) -> None:
    here = await site(Agent(OFF, tools=[switch_off]))
    waiting = await (await here.chat()).send("Make it dark.")
    (call,) = [part for part in waiting.last["parts"] if "approval" in part]
    chat = await here.load(sendWhen="approvals", lastOnly=True)
    await chat.view.call("addToolApprovalResponse", {"id": call["approval"]["id"], "approved": True})
    state = await chat.finished(texts=["Good night."])
    assert tools_of(state) == [("tool-switch_off", "output-available")]


@pytest.mark.parametrize("browser", [6, 7], indirect=True)
@pytest.mark.parametrize(("approved", "end"), [(True, "output-available"), (False, "output-denied")])
async def test_an_agent_can_request_approval_during_its_run(
    site: ServeChat, approved: bool, end: str
) -> None:
    chat = await (await site(ApprovalAgent())).chat(sendWhen="approvals")
    waiting = await chat.send("Make it dark.")
    assert tools_of(waiting) == [("tool-switch_off", "approval-requested")]
    await chat.view.call("addToolApprovalResponse", {"id": "a1", "approved": approved})
    state = await chat.finished(texts=["Good night."])
    assert tools_of(state) == [("tool-switch_off", end)]
    assert sorted(state.last["metadata"]["approvals"]["a1"]) == ["respondedAt", "respondedBy"]
    assert len(state.messages) == 2


@pytest.mark.parametrize("browser", [5], indirect=True)
async def test_a_client_without_approvals_reads_the_rest(site: ServeChat) -> None:
    chat = await (await site(Agent(OFF, tools=[switch_off]))).chat()
    await chat.send("Make it dark.")
    state = await chat.finished()
    assert (state.status, state.text) == ("ready", "May I?")
