"""After a reload, a client has the same messages as at the end of the stream: ids, parts and metadata."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from partita import Agent, tool
from partita.agents import Network
from partita.formats import dump_chat
from partita.runtime.service import AgentService, ApprovalRequest, InvokeOptions, Prompt
from partita.store.store import Store
from partita.store.values import MessageFilter
from partita.types.chunks import (
    AgentStreamEvent,
    ChildChunk,
    Chunk,
    ChunkEvent,
    CompleteEvent,
    MessageFinish,
    MessageStart,
    NetworkExecutionEnd,
    NetworkExecutionStart,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolInputAvailable,
    ToolOutputAvailable,
)
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, NetworkResult, UserMessage
from tests.server.clients.agents import PausingAgent, calls, scripted_by_word
from tests.server.clients.browser import State
from tests.server.clients.conftest import ServeChat
from tests.server.clients.releases import on_all_releases
from tests.server.conftest import scripted, text_part


@tool
def height(name: str) -> int:
    """How tall a light is, in metres."""
    if name == "Nowhere":
        raise LookupError("there is no such light")
    return 41


@tool
async def inspect(lights: int) -> JsonObject:
    """Inspect lights in sequence."""
    return {"lights": lights, "lit": True}


def route(kind: str, id: str, given: object) -> list[JsonObject]:
    chosen = {"primitiveType": kind, "primitiveId": id, "input": given, "selectionReason": "it fits"}
    return [calls("route", chosen)]


def finish(response: str) -> list[JsonObject]:
    return [calls("finish", {"answer": response})]


def keeper() -> Agent:
    steps = [
        [
            {"type": "reasoning", "text": "I look it up."},
            text_part("One moment."),
            calls("height", {"name": "Bell"}),
        ],
        [text_part("It is 41 metres tall.")],
    ]
    return Agent(scripted(*steps), tools=[height], name="keeper")


def network(router: AgentService, **more: AgentService) -> Network:
    return Network(router, agents={"keeper": keeper(), **more}, tools=[height], workflows=[inspect])


def executions(state: State) -> list[JsonObject]:
    return [part for part in state.last["parts"] if part["type"] == "dynamic-tool"]


def children_of(state: State, part: JsonObject) -> list[JsonObject]:
    """The messages of a sub-agent. Clients of release 5 drop tool metadata, so the message has them."""
    if "toolMetadata" in part:
        return list(part["toolMetadata"]["childMessages"])
    return list(state.last["metadata"]["childMessages"][part["toolCallId"]])


TALK = scripted_by_word(tall=[route("tool", "height", {"name": "Bell"}), finish("41.")], old=[finish("Old.")])

WHOLE = (
    route("agent", "keeper", "How tall is Bell?"),
    route("tool", "height", {"name": "Bell"}),
    route("tool", "height", {"name": "Nowhere"}),
    route("workflow", "inspect", {"lights": 2}),
    finish("Both are lit."),
)


@on_all_releases
async def test_a_network_is_one_message_live_and_after_a_reload(site: ServeChat, store: Store) -> None:
    chat = await (await site(network(scripted(*WHOLE)))).chat()
    await chat.send("How are the lights?")
    state = await chat.finished()
    assert [message["role"] for message in state.messages] == ["user", "assistant"]
    assert state.text == "Both are lit."
    assert [part["toolName"] for part in executions(state)] == ["agent", "tool", "tool", "workflow"]
    question, answered = executions(state)[0]["output"]["childMessages"]
    assert question["parts"] == [text_part("How tall is Bell?")]
    types = [part["type"] for part in answered["parts"]]
    assert types == ["step-start", "reasoning", "text", "tool-height", "step-start", "text"]
    assert executions(state)[0]["output"]["text"] == "One moment.It is 41 metres tall."
    failed = executions(state)[2]
    assert (failed["state"], "no such light" in failed["errorText"]) == ("output-error", True)
    assert all("childMessages" in part["output"] for part in executions(state) if "output" in part)
    rows = (await store.messages.list("harbour")).items
    assert len(rows) == 6
    assert rows[1].id == state.ids[1]
    assert dump_chat(rows, chat.site.browser.version).payload == state.messages  # type: ignore[arg-type] # 5, 6 or 7


async def test_the_next_message_follows_a_network(site: ServeChat, store: Store) -> None:
    here = await site(network(TALK))
    chat = await here.chat()
    first = await chat.send("How tall is it?")
    await chat.send("And how old?")
    state = await chat.finished()
    assert (state.text, state.ids[:2], len(state.messages)) == ("Old.", first.ids, 4)
    reloaded = await here.load()
    await reloaded.send("And how old is it now?")
    assert len((await reloaded.finished()).messages) == 6


@pytest.mark.parametrize("named", [False, True], ids=["the last answer", "a named answer"])
async def test_a_network_can_regenerate_and_its_question_can_be_edited(site: ServeChat, named: bool) -> None:
    here = await site(network(TALK))
    before = await (await here.chat()).send("How tall is it?")
    chat = await here.load()
    await chat.view.call("regenerate", {"messageId": before.ids[1]} if named else {})
    state = await chat.finished()
    assert (state.text, len(state.messages), len(executions(state))) == ("41.", 2, 1)
    assert state.ids[1] != before.ids[1]
    await chat.send("How old is it?", messageId=before.ids[0])
    state = await chat.finished()
    assert (state.text, len(state.messages), executions(state)) == ("Old.", 2, [])


@on_all_releases
@pytest.mark.parametrize("by_message", [False, True], ids=["the run", "its message"])
async def test_a_network_can_be_stopped(site: ServeChat, by_message: bool) -> None:
    held = PausingAgent(keeper(), "moment.")
    router = scripted(route("tool", "height", {"name": "Bell"}), route("agent", "held", "Look."))
    here = await site(network(router, held=held))
    chat = await here.chat()
    await chat.view.call("sendMessage", {"text": "How are the lights?"})
    shown = await chat.view.until(texts=["held"], status="streaming")
    body = {"messageId": shown.ids[1]} if by_message else {}
    response = await here.request("POST", "/api/chat/harbour/stop", json=body)
    assert response.json()["stopped"]
    state = await chat.finished()
    assert len(executions(state)) == 2
    stopped = executions(state)[1]
    assert (stopped["state"], stopped["errorText"]) == ("output-error", "interrupted: aborted")
    (_, cut) = children_of(state, stopped)
    assert [part.get("text") for part in cut["parts"]] == [None, "I look it up.", "One moment."]


@on_all_releases
async def test_a_network_can_be_resumed_in_the_middle(site: ServeChat) -> None:
    held = PausingAgent(keeper(), "moment.")
    steps = (route("tool", "height", {"name": "Bell"}), route("agent", "held", "Look."), finish("Done."))
    here = await site(network(scripted(*steps), held=held))
    left = await here.chat()
    await left.view.call("sendMessage", {"text": "How are the lights?"})
    before = await left.view.until(texts=["held"], status="streaming")
    await left.view.leave()
    chat = await here.load(resume=True)
    middle = await chat.view.until(texts=["held"], status="streaming")
    assert middle.messages == before.messages
    held.released.set()
    state = await chat.finished()
    assert (state.ids, state.text, len(executions(state))) == (before.ids, "Done.", 2)


async def test_the_next_message_stops_a_network_after_a_client_stop(site: ServeChat) -> None:
    held = PausingAgent(keeper(), "moment.")
    router = scripted_by_word(lights=[route("agent", "held", "Look.")], leave=[finish("Never mind.")])
    here = await site(network(router, held=held))
    chat = await here.chat()
    await chat.view.call("sendMessage", {"text": "How are the lights?"})
    await chat.view.until(texts=["held"], status="streaming")
    await chat.view.call("stop")
    await chat.view.until(settled=True)
    await chat.send("Oh, leave it.")
    state = await chat.view.until(settled=True)
    assert (state.error, state.text, len(state.messages)) == (None, "Never mind.", 4)
    assert [message["id"] for message in await here.stored()] == state.ids


async def test_a_network_inside_a_network_is_one_message(site: ServeChat) -> None:
    inner = network(scripted(route("agent", "keeper", "How tall?"), finish("It is 41 metres tall.")))
    outer = scripted(route("agent", "inner", "Ask."), finish("41."))
    chat = await (await site(network(outer, inner=inner))).chat()
    await chat.send("How tall is it?")
    state = await chat.finished()
    (execution,) = executions(state)
    parts = [part for child in execution["output"]["childMessages"] for part in child["parts"]]
    (nested,) = [part for part in parts if part["type"] == "dynamic-tool" and part["toolName"] == "agent"]
    assert nested["output"]["text"] == "One moment.It is 41 metres tall."
    assert len(nested["output"]["childMessages"]) == 2


class Waiting:
    """A network whose second execution waits for an approval: in an active run, or until a new one."""

    name = "waiting"

    def __init__(self, *, at_work: bool) -> None:
        self._at_work = at_work
        self._ids = (f"{number}-{at_work}" for number in range(1, 9))

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """Two executions and a response, from the current state of the thread."""
        assert options is not None
        last = prompt[-1]
        if isinstance(last, UserMessage):
            for chunk in self._begin():
                yield ChunkEvent(chunk=chunk)
            if not self._at_work:
                yield CompleteEvent()
                return
            assert options.approvals is not None
            decision = await options.approvals.request(ApprovalRequest("a1", "c1", "switch_off", {}))
            yield ChunkEvent(chunk=ToolApprovalResponse("a1", decision.approved, decision.reason))
        elif isinstance(last, AssistantMessage):
            yield ChunkEvent(chunk=MessageStart(last.id))
        for chunk in self._end():
            yield ChunkEvent(chunk=chunk)
        yield CompleteEvent()

    def _begin(self) -> list[Chunk]:
        first, self._second = next(self._ids), next(self._ids)
        path = (f"{self._second}:network",)
        return [
            MessageStart(first),
            NetworkExecutionStart("tool", "height", "it fits"),
            NetworkExecutionEnd(NetworkResult("41")),
            MessageFinish("stop"),
            MessageStart(self._second),
            NetworkExecutionStart("agent", "keeper", "it fits"),
            ChildChunk(path, MessageStart("s1")),
            ChildChunk(path, TextStart("t")),
            ChildChunk(path, TextDelta("t", "May I?")),
            ChildChunk(path, TextEnd("t")),
            StepStart(),  # like networks: a client replies when all calls of the last step have a result
            ToolInputAvailable("c1", "switch_off", {}),
            ToolApprovalRequest("a1", "c1"),
        ]

    def _end(self) -> list[Chunk]:
        return [
            ToolOutputAvailable("c1", "dark"),
            NetworkExecutionEnd(NetworkResult("It is dark.")),
            MessageFinish("stop"),
            MessageStart(next(self._ids)),
            TextStart("t"),
            TextDelta("t", "Good night."),
            TextEnd("t"),
            MessageFinish("stop"),
        ]


@pytest.mark.parametrize("browser", [6, 7], indirect=True)
@pytest.mark.parametrize("reloads", [False, True], ids=["live", "after a reload"])
@pytest.mark.parametrize("at_work", [False, True], ids=["ended", "at work"])
async def test_an_approval_in_a_network_continues_it(site: ServeChat, at_work: bool, reloads: bool) -> None:
    here = await site(Waiting(at_work=at_work))
    chat = await here.chat(sendWhen="approvals")
    waiting = await chat.send("Make it dark.")
    if not at_work:
        assert waiting.messages == await here.stored()
    if reloads:
        await chat.view.leave()
        chat = await here.load(sendWhen="approvals", resume=at_work)
        again = await chat.view.until(texts=["approval-requested"], settled=True)
        assert again.messages == waiting.messages
    await chat.view.call("addToolApprovalResponse", {"id": "a1", "approved": True})
    state = await chat.finished(texts=["Good night."])
    assert (state.ids, len(executions(state))) == (waiting.ids, 2)
    assert executions(state)[1]["output"]["text"] == "It is dark."
    assert sorted(state.last["metadata"]["approvals"]["a1"]) == ["respondedAt", "respondedBy"]


@tool(approval="always")
def switch_off(name: str) -> str:
    """Put out a light."""
    return f"{name} is dark"


@pytest.mark.parametrize("browser", [6, 7], indirect=True)
@pytest.mark.parametrize(("approved", "reloads"), [(True, False), (False, False), (True, True)])
async def test_an_agent_of_a_network_can_request_approval(
    site: ServeChat, approved: bool, reloads: bool
) -> None:
    steps = [[text_part("May I?"), calls("switch_off", {"name": "Bell"}, "c1")], [text_part("Good night.")]]
    guard = Agent(scripted(*steps), tools=[switch_off], name="guard")
    router = scripted(
        route("tool", "height", {"name": "Bell"}), route("agent", "guard", "Make it dark."), finish("Done.")
    )
    here = await site(network(router, guard=guard))
    chat = await here.chat(sendWhen="approvals")
    waiting = await chat.send("Make it dark.")
    if reloads:
        assert waiting.messages == await here.stored()
        await chat.view.leave()
        chat = await here.load(sendWhen="approvals")
    (call,) = [part for part in waiting.last["parts"] if part["type"] == "tool-switch_off"]
    await chat.view.call("addToolApprovalResponse", {"id": call["approval"]["id"], "approved": approved})
    state = await chat.finished(texts=["Done."])
    assert (state.ids, state.text) == (waiting.ids, "Done.")
    assert "Good night." in executions(state)[1]["output"]["text"]


class Delegating:
    """An agent with a sub-agent that sends more text after the output of its call."""

    name = "delegating"

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """One call, whose sub-agent ends after it."""
        chunks: list[Chunk] = [
            MessageStart(),
            ToolInputAvailable("c1", "ask", {"who": "keeper"}, tool_metadata={"kind": "agent"}),
            ChildChunk(("c1",), MessageStart("s1")),
            ChildChunk(("c1",), TextStart("t")),
            ChildChunk(("c1",), TextDelta("t", "I look.")),
            ToolOutputAvailable("c1", "41"),
            ChildChunk(("c1",), TextDelta("t", " It is off.")),
            ChildChunk(("c1",), TextEnd("t")),
            MessageFinish("stop"),
        ]
        for chunk in chunks:
            yield ChunkEvent(chunk=chunk)
        yield CompleteEvent()


@on_all_releases
async def test_the_messages_of_a_sub_agent_are_reloaded(site: ServeChat) -> None:
    chat = await (await site(Delegating())).chat()
    await chat.send("How tall is it?")
    state = await chat.finished()
    (call,) = state.last["parts"]
    assert call["output"] == "41"
    (child,) = children_of(state, call)
    assert child["parts"] == [{"type": "text", "text": "I look. It is off.", "state": "done"}]
    if chat.site.browser.version == 5:
        assert "toolMetadata" not in call
    else:
        assert call["toolMetadata"]["kind"] == "agent"


async def test_a_network_that_is_saved_again_is_unchanged(site: ServeChat, store: Store) -> None:
    here = await site(network(TALK))
    chat = await here.chat()
    await chat.send("How tall is it?")
    state = await chat.finished()
    rows = (await store.messages.list("harbour", MessageFilter(internal=None))).items
    path = f"/api/threads/harbour/messages?format=ai-sdk-ui-v{here.browser.version}"
    await here.request("PUT", path, json=await here.stored())
    assert (await store.messages.list("harbour", MessageFilter(internal=None))).items == rows
    async with httpx.AsyncClient(base_url=here.url) as client:
        changed = {**state.last, "parts": [text_part("42.")]}
        refused = await client.put(path, json=[changed])
    assert refused.status_code == 409
    assert (await store.messages.list("harbour", MessageFilter(internal=None))).items == rows


@pytest.mark.parametrize("order", ["ASC", "DESC"])
async def test_a_network_is_one_message_for_mastra(site: ServeChat, order: str) -> None:
    here = await site(network(scripted(*WHOLE)))
    chat = await here.chat()
    await chat.send("How are the lights?")
    state = await chat.finished()
    query = {"uiFormat": f"v{here.browser.version}", "orderBy[direction]": order}
    page = await here.request("GET", "/api/memory/threads/harbour/messages", params=query)
    messages = page.json()["uiMessages"][:: 1 if order == "ASC" else -1]
    assert [message["id"] for message in messages] == state.ids
    *drawn, response = messages[1]["parts"]
    assert [part["toolCallId"] for part in drawn] == [part["toolCallId"] for part in executions(state)]
    assert drawn[0]["output"] == "One moment.It is 41 metres tall."
    assert [child["role"] for child in drawn[0]["childMessages"]] == ["user", "assistant"]
    assert response["text"] == "Both are lit."
    assert len(page.json()["messages"]) == 6


async def test_a_network_is_one_row_for_assistant_ui(site: ServeChat) -> None:
    here = await site(network(TALK))
    chat = await here.chat()
    await chat.send("How tall is it?")
    await chat.view.call("regenerate")
    await chat.view.until(settled=True)
    await chat.send("And how old?")
    state = await chat.finished()
    query = {"format": f"ai-sdk/v{here.browser.version}", "shape": "page"}
    page = await here.request("GET", "/api/assistant-ui/threads/harbour/messages", params=query)
    rows = {row["id"]: row for row in page.json()["messages"]}
    assert len(rows) == 5
    assert page.json()["headId"] == state.ids[-1]
    assert [{"id": id_, **rows[id_]["content"]} for id_ in state.ids] == state.messages
    assert [rows[id_]["parent_id"] for id_ in state.ids] == [None, *state.ids[:-1]]
    await here.request("DELETE", f"/api/assistant-ui/threads/harbour/messages/{state.ids[1]}")
    assert [message["id"] for message in await here.stored()] == [state.ids[0], *state.ids[2:]]


@pytest.mark.parametrize("order", ["asc", "desc"])
async def test_pagination_does_not_split_a_network(site: ServeChat, order: str) -> None:
    here = await site(network(scripted_by_word(lights=list(WHOLE), old=[finish("Old.")])))
    chat = await here.chat()
    await chat.send("How are the lights?")
    await chat.send("And how old?")
    whole = (await chat.finished()).messages
    query: dict[str, Any] = {"format": f"ai-sdk-ui-v{here.browser.version}", "limit": 2, "order": order}
    pages: list[list[JsonObject]] = []
    cursor: str | None = ""
    while cursor is not None:
        more = {"cursor": cursor} if cursor else {}
        page = (await here.request("GET", "/api/threads/harbour/messages", params={**query, **more})).json()
        pages.append(page["items"])
        cursor = page.get("next")
    read = pages if order == "asc" else pages[::-1]
    assert [message for page in read for message in page] == whole
