"""Tools: of the server, of the client, and those that somebody has to allow."""

from typing import Any

import pytest

from partita.runtime.agent.agent import Agent
from partita.runtime.tools.tool import client_tool, tool
from tests.server.clients.agents import Asking, answers, calls
from tests.server.clients.conftest import ServeChat
from tests.server.clients.releases import on_all_releases
from tests.server.clients.site import Chat
from tests.server.conftest import says

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
    """The calls of the last message: the kind of part and its state."""
    return [(part["type"], part["state"]) for part in state.last["parts"] if part["type"].startswith("tool-")]


@on_all_releases
async def test_tools_of_the_server_run_step_by_step(site: ServeChat) -> None:
    steps = [
        [says("I look."), calls("height", {"name": "Bell"}), calls("height", {"name": "Nowhere"})],
        [says("Once more."), calls("height", {"name": "Marten"})],
        [says("Both are 41 metres tall.")],
    ]
    chat = await (await site(Agent(answers(tall=steps), tools=[height]))).chat()
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

WALK = answers(
    walk=[
        [says("I ask your device."), calls("where_am_i", {}, "c1")],
        [says("And again."), calls("where_am_i", {}, "c2")],
        [says("You have walked far.")],
    ]
)


async def give(chat: Chat, call_id: str, **output: Any) -> None:
    """Give the output of a client's tool, by the name that the release has for it."""
    method = "addToolResult" if chat.site.browser.version == 5 else "addToolOutput"
    await chat.view.call(method, {"tool": "where_am_i", "toolCallId": call_id, **output})


@on_all_releases
@pytest.mark.parametrize("last_only", [False, True], ids=["all messages", "the last message"])
async def test_a_tool_of_the_client_goes_on_by_itself(site: ServeChat, last_only: bool) -> None:
    here = await site(Agent(WALK, tools=[WHERE]))
    chat = await here.chat(goOn="tools", lastOnly=last_only)
    asked = await chat.send("How far did I walk?")
    assert tools_of(asked) == [("tool-where_am_i", "input-available")]
    assert asked.messages == await here.stored()
    await give(chat, "c1", output={"north": 60.4})
    await chat.finished(said=["And again."])
    await give(chat, "c2", state="output-error", errorText="no signal")
    state = await chat.finished(said=["You have walked far."])
    assert tools_of(state) == [("tool-where_am_i", "output-available"), ("tool-where_am_i", "output-error")]
    assert len(state.messages) == 2


async def test_all_tools_of_the_client_are_waited_for(site: ServeChat) -> None:
    both = [calls("where_am_i", {}, "c1"), calls("where_am_i", {}, "c2")]
    model = answers(walk=[both, [says("Not far.")]])
    chat = await (await site(Agent(model, tools=[WHERE]))).chat(goOn="tools")
    await chat.send("How far did I walk?")
    await give(chat, "c2", output="here")
    half = await chat.view.until(said=["here"])
    assert [request.method for request in half.requests] == ["POST"]
    await give(chat, "c1", output="there")
    state = await chat.finished(said=["Not far."])
    assert [part.get("output") for part in state.last["parts"] if "toolCallId" in part] == ["there", "here"]


async def test_an_output_may_come_after_the_page_was_loaded_anew(site: ServeChat) -> None:
    here = await site(Agent(WALK, tools=[WHERE]))
    await (await here.chat()).send("How far did I walk?")
    chat = await here.load(goOn="tools")
    await give(chat, "c1", output="here")
    state = await chat.finished(said=["And again."])
    assert len(state.messages) == 2


async def test_a_call_that_has_no_output_is_left_behind(site: ServeChat) -> None:
    model = answers(walk=[[calls("where_am_i", {}, "c1")]], never=[[says("All right.")]])
    here = await site(Agent(model, tools=[WHERE]))
    chat = await here.chat()
    await chat.send("How far did I walk?")
    await chat.send("Oh, never mind.")
    state = await chat.finished()
    assert state.text == "All right."


OFF = answers(dark=[[says("May I?"), calls("switch_off", {"name": "Bell"}, "c1")], [says("Good night.")]])

DECISIONS = {
    "allowed": (True, None, "output-available"),
    "refused": (False, None, "output-denied"),
    "refused for a reason": (False, "ships are near", "output-denied"),
}


@pytest.mark.parametrize("browser", [6, 7], indirect=True)
@pytest.mark.parametrize(("approved", "reason", "end"), DECISIONS.values(), ids=DECISIONS)
async def test_an_approval(site: ServeChat, approved: bool, reason: str | None, end: str) -> None:
    here = await site(Agent(OFF, tools=[switch_off]))
    chat = await here.chat(goOn="approvals")
    asked = await chat.send("Make it dark.")
    assert tools_of(asked) == [("tool-switch_off", "approval-requested")]
    assert asked.messages == await here.stored()
    (call,) = [part for part in asked.last["parts"] if "approval" in part]
    answer = {"id": call["approval"]["id"], "approved": approved}
    await chat.view.call(
        "addToolApprovalResponse", answer if reason is None else {**answer, "reason": reason}
    )
    state = await chat.finished(said=["Good night."])
    assert tools_of(state) == [("tool-switch_off", end)]
    (call,) = [part for part in state.last["parts"] if "approval" in part]
    assert (call["approval"]["approved"], call["approval"].get("reason")) == (approved, reason)
    answered = state.last["metadata"]["approvals"][call["approval"]["id"]]
    assert sorted(answered) == ["respondedAt", "respondedBy"]
    assert len(state.messages) == 2


@pytest.mark.parametrize("browser", [6, 7], indirect=True)
async def test_an_approval_may_come_after_the_page_was_loaded_anew(site: ServeChat) -> None:
    here = await site(Agent(OFF, tools=[switch_off]))
    asked = await (await here.chat()).send("Make it dark.")
    (call,) = [part for part in asked.last["parts"] if "approval" in part]
    chat = await here.load(goOn="approvals", lastOnly=True)
    await chat.view.call("addToolApprovalResponse", {"id": call["approval"]["id"], "approved": True})
    state = await chat.finished(said=["Good night."])
    assert tools_of(state) == [("tool-switch_off", "output-available")]


@pytest.mark.parametrize("browser", [6, 7], indirect=True)
@pytest.mark.parametrize(("approved", "end"), [(True, "output-available"), (False, "output-denied")])
async def test_an_agent_that_asks_while_it_works(site: ServeChat, approved: bool, end: str) -> None:
    chat = await (await site(Asking())).chat(goOn="approvals")
    asked = await chat.send("Make it dark.")
    assert tools_of(asked) == [("tool-switch_off", "approval-requested")]
    await chat.view.call("addToolApprovalResponse", {"id": "a1", "approved": approved})
    state = await chat.finished(said=["Good night."])
    assert tools_of(state) == [("tool-switch_off", end)]
    assert sorted(state.last["metadata"]["approvals"]["a1"]) == ["respondedAt", "respondedBy"]
    assert len(state.messages) == 2


@pytest.mark.parametrize("browser", [5], indirect=True)
async def test_a_client_that_knows_no_approvals_reads_on(site: ServeChat) -> None:
    chat = await (await site(Agent(OFF, tools=[switch_off]))).chat()
    await chat.send("Make it dark.")
    state = await chat.finished()
    assert (state.status, state.text) == ("ready", "May I?")
