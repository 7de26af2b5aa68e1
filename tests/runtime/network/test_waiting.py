"""Networks that wait for a client: approvals and outputs of calls at any depth, and their continuation."""

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from partita import (
    Agent,
    AssistantMessage,
    ErrorTextOutput,
    JsonOutput,
    Session,
    TextOutput,
    TextPart,
    ToolCallPart,
    open_store,
    tool,
)
from partita.agents import (
    ApprovalRequest,
    ApprovalResponse,
    ChunkEvent,
    CompleteEvent,
    InvokeOptions,
    Network,
    Prompt,
    ScriptedService,
    as_script,
    client_tool,
)
from partita.chunks import (
    MessageFinish,
    MessageStart,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolInputAvailable,
    ToolOutputAvailable,
    ToolOutputDenied,
)
from partita.formats.format import ToolSpec
from partita.store import Store
from partita.store.values import MessageFilter, PartFilter
from partita.types import NetworkExecution, NetworkResult, text_of

Json = dict[str, Any]
removed: list[str] = []


@pytest.fixture(autouse=True)
def clear_removed() -> None:
    removed.clear()


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with await open_store("sqlite:///:memory:") as opened:
        yield opened


@tool(approval="always")
def remove(name: str) -> Json:
    """Remove a file."""
    removed.append(name)
    return {"removed": name}


@tool
def look(name: str) -> str:
    """Look at a file."""
    return f"{name} is old"


WHERE = client_tool("where", "Where the user is.", {"type": "object", "properties": {}})


def call_step(*names_and_inputs: tuple[str, Json]) -> Json:
    return {
        "parts": [{"type": "tool-call", "name": name, "input": value} for name, value in names_and_inputs]
    }


def route(kind: str, id: str, input: object) -> Json:
    return call_step(
        ("route", {"primitiveType": kind, "primitiveId": id, "input": input, "selectionReason": "it fits"})
    )


def text_step(text: str) -> Json:
    return {"parts": [{"type": "text", "text": text}]}


def scripted(*steps: Json) -> ScriptedService:
    return ScriptedService(as_script({"scenes": [{"steps": list(steps)}]}))


DONE = call_step(("finish", {"answer": "All done."}))


def cleaner(*steps: Json) -> Agent:
    return Agent(scripted(*steps), tools=[remove, look, WHERE], name="cleaner")


def agent_with_approval() -> Agent:
    return cleaner(call_step(("look", {"name": "a"}), ("remove", {"name": "a"})), text_step("It is gone."))


def in_a_network() -> Network:
    return Network(
        scripted(route("agent", "cleaner", "Clean up."), DONE), agents={"cleaner": agent_with_approval()}
    )


def in_a_network_of_networks() -> Network:
    return Network(scripted(route("agent", "inner", "Clean up."), DONE), agents={"inner": in_a_network()})


def three_deep() -> Network:
    return Network(
        scripted(route("agent", "inner", "Clean up."), DONE), agents={"inner": in_a_network_of_networks()}
    )


def as_a_tool() -> Network:
    return Network(scripted(route("tool", "remove", {"name": "a"}), DONE), tools=[remove])


def as_a_workflow() -> Network:
    return Network(scripted(route("workflow", "remove", {"name": "a"}), DONE), workflows=[remove])


NETWORKS: dict[str, Callable[[], Network]] = {
    "an agent": in_a_network,
    "an agent of a network in the network": in_a_network_of_networks,
    "an agent three networks deep": three_deep,
    "a tool of the network": as_a_tool,
    "a workflow of the network": as_a_workflow,
}


async def run(store: Store, network: Network, task: str | None = None) -> None:
    """Run a turn in a new session, as another process would."""
    async with Session(store) as session:
        started = await session.start(network, "t", task)
        ended = await session.wait(started.id)
        assert (ended.status, ended.error) == ("completed", None)


async def respond(store: Store, approval_id: str, approved: bool, reason: str | None = None) -> None:
    async with Session(store) as session:
        await session.add_approval_response(
            "t", ApprovalResponse(approval_id, approved, by="Ann", reason=reason)
        )


async def responses(store: Store) -> list[AssistantMessage]:
    """The assistant messages of the thread that clients receive."""
    page = await store.messages.list("t", limit=None)
    return [one for one in page.items if isinstance(one, AssistantMessage)]


def calls_of(message: AssistantMessage) -> list[ToolCallPart]:
    return [part for part in message.parts if isinstance(part, ToolCallPart)]


def execution(message: AssistantMessage) -> NetworkExecution:
    assert message.content.network_execution is not None
    return message.content.network_execution


def result(message: AssistantMessage) -> NetworkResult:
    found = execution(message).final_result
    assert found is not None
    return found


def innermost(message: AssistantMessage) -> list[AssistantMessage]:
    """The messages of the innermost agent."""
    nested = [one for one in result(message).messages if isinstance(one, AssistantMessage)]
    inner = [one for one in nested if one.content.network_execution is not None]
    return innermost(inner[-1]) if inner else nested


def originals(message: AssistantMessage) -> list[ToolCallPart]:
    return [part for one in innermost(message) for part in calls_of(one)]


@pytest.mark.parametrize("make", NETWORKS.values(), ids=NETWORKS)
async def test_a_call_is_not_run_before_it_is_approved(store: Store, make: Callable[[], Network]) -> None:
    await run(store, make(), "Tidy.")
    assert removed == []
    (waiting,) = await responses(store)
    (call,) = calls_of(waiting)
    assert (call.name, call.input, call.state) == ("remove", {"name": "a"}, "approval-requested")
    assert call.approval is not None
    await respond(store, call.approval.id, True)
    await run(store, make())
    assert removed == ["a"]
    executed, final = await responses(store)
    assert executed.id == waiting.id
    (call,) = calls_of(executed)
    assert (call.state, call.output) == ("output-available", JsonOutput({"removed": "a"}))
    assert call.approval is not None
    assert (call.approval.approved, call.approval.responded_by) == (True, "Ann")
    assert text_of(final) == "All done."
    calls = originals(executed) if result(executed).messages else list(result(executed).tool_calls)
    assert [(one.id, one.state) for one in calls if one.name == "remove"] == [(call.id, "output-available")]


@pytest.mark.parametrize("make", NETWORKS.values(), ids=NETWORKS)
async def test_a_denied_call_does_not_run_and_the_network_continues(
    store: Store, make: Callable[[], Network]
) -> None:
    await run(store, make(), "Tidy.")
    (call,) = calls_of((await responses(store))[-1])
    assert call.approval is not None
    await respond(store, call.approval.id, False, "keep it")
    await run(store, make())
    assert removed == []
    executed, final = await responses(store)
    assert [one.state for one in calls_of(executed)] == ["output-denied"]
    assert text_of(final) == "All done."
    if result(executed).messages:
        assert [one.state for one in originals(executed) if one.name == "remove"] == ["output-denied"]
    else:
        assert "keep it" in (result(executed).text or "")


def client_tool_of_agent() -> Network:
    agent = cleaner(call_step(("where", {})), text_step("You are near."))
    return Network(scripted(route("agent", "guide", "Guide."), DONE), agents={"guide": agent})


def client_tool_of_nested_agent() -> Network:
    return Network(
        scripted(route("agent", "inner", "Guide."), DONE), agents={"inner": client_tool_of_agent()}
    )


def client_tool_of_network() -> Network:
    return Network(scripted(route("tool", "where", {}), DONE), tools=[WHERE])


CLIENTS = {
    "an agent": client_tool_of_agent,
    "an agent of a nested network": client_tool_of_nested_agent,
    "a tool of the network": client_tool_of_network,
}


@pytest.mark.parametrize("make", CLIENTS.values(), ids=CLIENTS)
@pytest.mark.parametrize(
    "output", [JsonOutput({"north": 60}), ErrorTextOutput("no signal")], ids=["output", "error"]
)
async def test_the_client_runs_its_tool(
    store: Store, make: Callable[[], Network], output: JsonOutput | ErrorTextOutput
) -> None:
    await run(store, make(), "Where am I?")
    (waiting,) = await responses(store)
    (call,) = calls_of(waiting)
    assert (call.name, call.state) == ("where", "input-available")
    async with Session(store) as session:
        await session.add_tool_output("t", call.id, output)
    await run(store, make())
    executed, final = await responses(store)
    assert [one.output for one in calls_of(executed)] == [output]
    assert text_of(final) == "All done."
    if result(executed).messages:
        assert [one.output for one in originals(executed)] == [output]
        assert text_of(innermost(executed)[-1]) == "You are near."
    else:
        failed = isinstance(output, ErrorTextOutput)
        assert result(executed).error == ("no signal" if failed else None)
        assert result(executed).tool_calls[0].output == output


async def test_the_client_runs_a_tool_of_its_request(store: Store) -> None:
    options = InvokeOptions(
        tools=(ToolSpec(name="locate", description=None, input_schema={"type": "object"}),)
    )
    agent = Agent(scripted(call_step(("locate", {})), text_step("Thank you.")))
    network = Network(scripted(route("agent", "guide", "Guide."), DONE), agents={"guide": agent})
    async with Session(store) as session:
        await session.wait((await session.start(network, "t", "Go.", options=options)).id)
        (call,) = calls_of((await responses(store))[-1])
        assert (call.name, call.state) == ("locate", "input-available")
        await session.add_tool_output("t", call.id, TextOutput("here"))
        await session.wait((await session.start(network, "t", options=options)).id)
    executed, final = await responses(store)
    assert result(executed).text == "Thank you."
    assert text_of(final) == "All done."


async def test_a_promoted_call_has_the_path_to_its_original(store: Store) -> None:
    await run(store, in_a_network_of_networks(), "Tidy.")
    (waiting,) = await responses(store)
    (call,) = calls_of(waiting)
    (inner,) = [
        one for one in result(waiting).messages if isinstance(one, AssistantMessage) and not one.internal
    ]
    assert call.call_provider_metadata == {
        "partita": {"networkPath": [f"{waiting.id}:network", f"{inner.id}:network"]}
    }
    (copy,) = calls_of(inner)
    assert copy.id == call.id
    assert execution(waiting).final_result is not None
    assert result(waiting).text is None


async def test_the_router_continues_with_its_earlier_turns(store: Store) -> None:
    """The earlier turns count towards the limit, and the router receives their outputs."""
    prompts: list[Sequence[object]] = []

    class Router:
        name = "router"
        _script = scripted(
            route("tool", "look", {"name": "a"}),
            route("agent", "painter", "Paint."),
            route("agent", "cleaner", "Clean up."),
            DONE,
        )

        def invoke(self, prompt: Prompt, **options: Any) -> AsyncIterator[Any]:
            assert not isinstance(prompt, str)
            prompts.append(prompt)
            return self._script.invoke(prompt, **options)

    def make() -> Network:
        return Network(Router(), tools=[look], agents={"cleaner": agent_with_approval()}, max_iterations=4)

    await run(store, make(), "Tidy.")
    (call,) = calls_of((await responses(store))[-1])
    assert call.approval is not None
    await respond(store, call.approval.id, True)
    await run(store, make())
    outputs = [
        part.output
        for message in prompts[-1]
        for part in getattr(message, "parts", ())
        if isinstance(part, ToolCallPart)
    ]
    assert outputs[0] == TextOutput("a is old")
    assert isinstance(outputs[1], ErrorTextOutput)
    assert outputs[2] == TextOutput("It is gone.")
    everything = (await store.messages.list("t", MessageFilter(internal=None), limit=None)).items
    numbers = [one.content.metadata["network"]["iteration"] for one in everything if one.internal]  # type: ignore[index]
    assert numbers == [1, 2, 3, 4]
    assert [execution(one).iteration for one in await responses(store) if one.content.network_execution] == [
        1,
        3,
    ]
    assert text_of((await responses(store))[-1]) == "All done."


async def test_two_calls_are_decided_one_after_the_other(store: Store) -> None:
    def make() -> Network:
        agent = cleaner(call_step(("remove", {"name": "a"}), ("remove", {"name": "b"})), text_step("Both."))
        return Network(scripted(route("agent", "cleaner", "Clean up."), DONE), agents={"cleaner": agent})

    await run(store, make(), "Tidy.")
    first, second = calls_of((await responses(store))[-1])
    assert first.approval is not None
    assert second.approval is not None
    await respond(store, first.approval.id, True)
    await run(store, make())
    assert removed == ["a"]
    (waiting,) = await responses(store)
    assert [one.state for one in calls_of(waiting)] == ["output-available", "approval-requested"]
    await respond(store, second.approval.id, False)
    await run(store, make())
    assert removed == ["a"]
    executed, final = await responses(store)
    assert [one.state for one in calls_of(executed)] == ["output-available", "output-denied"]
    assert [one.state for one in originals(executed)] == ["output-available", "output-denied"]
    assert text_of(final) == "All done."


async def test_an_agent_may_request_another_approval_after_a_decision(store: Store) -> None:
    def make() -> Network:
        agent = cleaner(
            call_step(("remove", {"name": "a"})), call_step(("remove", {"name": "b"})), text_step("Both.")
        )
        return Network(scripted(route("agent", "cleaner", "Clean up."), DONE), agents={"cleaner": agent})

    await run(store, make(), "Tidy.")
    for _ in range(2):
        call = calls_of((await responses(store))[-1])[-1]
        assert call.approval is not None
        await respond(store, call.approval.id, True)
        await run(store, make())
    assert removed == ["a", "b"]
    executed, final = await responses(store)
    assert [one.state for one in calls_of(executed)] == ["output-available"] * 2
    assert result(executed).text == "Both."
    assert text_of(final) == "All done."


async def test_a_promoted_call_is_counted_once(store: Store) -> None:
    await run(store, in_a_network_of_networks(), "Tidy.")
    (call,) = calls_of((await responses(store))[-1])
    assert call.approval is not None
    await respond(store, call.approval.id, True)
    await run(store, in_a_network_of_networks())
    page = await store.messages.find_parts(PartFilter(thread_id="t", tool="remove"), limit=50)
    assert len(page.items) == 1


class WaitsForDecision:
    """An agent that waits for the decision within its stream."""

    name = "asking"

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[Any]:
        assert options is not None
        assert options.approvals is not None
        for chunk in (
            MessageStart(),
            StepStart(),
            ToolInputAvailable("c1", "remove", {"name": "a"}),
            ToolApprovalRequest("a1", "c1"),
        ):
            yield ChunkEvent(chunk=chunk)
        decision = await options.approvals.request(ApprovalRequest("a1", "c1", "remove", {"name": "a"}))
        for chunk in (
            ToolApprovalResponse("a1", decision.approved, decision.reason),
            ToolOutputAvailable("c1", "removed") if decision.approved else ToolOutputDenied("c1"),
            TextStart("t"),
            TextDelta("t", "Finished."),
            TextEnd("t"),
            MessageFinish("stop"),
        ):
            yield ChunkEvent(chunk=chunk)
        yield CompleteEvent()


@pytest.mark.parametrize(("approved", "state"), [(True, "output-available"), (False, "output-denied")])
async def test_an_agent_can_wait_for_a_decision_within_its_stream(
    store: Store, approved: bool, state: str
) -> None:
    network = Network(
        scripted(route("agent", "asking", "Clean up."), DONE), agents={"asking": WaitsForDecision()}
    )
    async with Session(store) as session:
        started = await session.start(network, "t", "Tidy.")
        async for some in session.follow(started.id):
            if any(isinstance(one.chunk, ToolApprovalRequest) for one in some):
                break
        await session.add_approval_response("t", ApprovalResponse("a1", approved))
        await session.wait(started.id)
    executed, final = await responses(store)
    assert [(one.id, one.state) for one in calls_of(executed)] == [("c1", state)]
    assert [one.state for one in originals(executed)] == [state]
    assert result(executed).text == "Finished."
    assert text_of(final) == "All done."


async def test_a_user_message_continues_without_a_decision(store: Store) -> None:
    scenes = [
        {"match": "never mind", "steps": [call_step(("finish", {"answer": "All right."}))]},
        {"steps": [route("agent", "cleaner", "Clean up."), DONE]},
    ]

    def make() -> Network:
        router = ScriptedService(as_script({"scenes": scenes}))
        return Network(router, agents={"cleaner": agent_with_approval()})

    await run(store, make(), "Tidy.")
    await run(store, make(), "Oh, never mind.")
    assert removed == []
    assert text_of((await responses(store))[-1]) == "All right."


async def test_an_agent_without_a_text_does_not_stop_its_network(store: Store) -> None:
    without_text = scripted({"parts": [{"type": "reasoning", "text": "Hm."}]})
    network = Network(scripted(route("agent", "silent", "Think."), DONE), agents={"silent": without_text})
    await run(store, network, "Go.")
    executed, final = await responses(store)
    assert result(executed).text == ""
    assert final.parts == (TextPart("All done.", state="done"),)
