"""Approval of tool calls: requests are stored, decided once, and respected."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from partita.errors import AgentError, ApprovalError, BusyError
from partita.runtime.agent.agent import Agent
from partita.runtime.session.client_replies import ApprovalResponse
from partita.runtime.session.session import Session
from partita.runtime.tools.tool import Tool, tool
from partita.store.connection import open_store
from partita.store.store import Store
from partita.store.values import RunFilter
from partita.types.chunks import ToolApprovalRequest
from partita.types.messages import AssistantMessage, ToolCallPart, text_of
from partita.types.parts import Approval
from tests.runtime.agent.models import Model, Reply, calls_of, output_value, reply, summary_of
from tests.runtime.engines import on_both_engines
from tests.runtime.session.controlled_agent import checked_run


class Rocket:
    """An agent with a tool that needs approval, and the calls that ran."""

    def __init__(self, store: Store, *replies: Reply) -> None:
        self.ran: list[str] = []
        self.model = Model(*replies)
        self.store = store
        self.agent = Agent(self.model, tools=[self._tool()], session=Session(store, heartbeat=0.2))

    def _tool(self) -> Tool:
        @tool(approval="always")
        def launch(where: str, hurry: bool = False) -> str:
            """Rocket a rocket."""
            self.ran.append(where)
            return f"launched to {where}"

        return launch

    async def run_to_approval(self, input: str | None = "Go") -> AssistantMessage:
        """The message of a turn that ends with an approval request."""
        message = await self.agent.run("t1", input)
        assert [call.state for call in calls_of(message)] == ["approval-requested"] * len(calls_of(message))
        return message

    async def stored(self, id: str) -> AssistantMessage:
        message = await self.store.messages.get("t1", id)
        assert isinstance(message, AssistantMessage)
        return message


CALL = reply(("launch", {"where": "moon"}))


@pytest.fixture
async def launch(store: Store) -> AsyncIterator[Rocket]:
    made = Rocket(store, CALL, reply("Launched."), reply("Anything else?"))
    yield made
    await made.agent.session.close()


def approval_of(call: ToolCallPart) -> Approval:
    assert call.approval is not None
    return call.approval


def approval_id_of(message: AssistantMessage) -> str:
    """The id of the pending approval of the last call."""
    return approval_of(calls_of(message)[-1]).id


async def test_a_call_that_needs_approval_ends_the_run_with_a_request(launch: Rocket) -> None:
    chunks = [chunk async for chunk in launch.agent.stream("t1", "Go")]
    assert sum(isinstance(chunk, ToolApprovalRequest) for chunk in chunks) == 1
    (run,) = (await launch.store.runs.list(RunFilter(thread_id="t1"))).items
    result = await checked_run(launch.store, run.id)
    (call,) = calls_of(result.message)
    assert (run.status, call.state, approval_of(call).approved) == ("completed", "approval-requested", None)
    assert (launch.ran, len(launch.model.prompts)) == ([], 1)


async def test_an_approved_call_runs_once_and_the_message_continues(launch: Rocket) -> None:
    message = await launch.run_to_approval()
    await launch.agent.add_approval_response(
        "t1", ApprovalResponse(approval_id_of(message), True, "ada", "why not")
    )
    answered = await launch.stored(message.id)
    approval = approval_of(calls_of(answered)[0])
    assert (approval.approved, approval.responded_by, approval.reason) == (True, "ada", "why not")
    assert approval.responded_at is not None
    assert launch.ran == []
    continued = await launch.agent.run("t1")
    assert (continued.id, text_of(continued), launch.ran) == (message.id, "Launched.", ["moon"])
    (call,) = calls_of(continued)
    assert (call.state, approval_of(call)) == ("output-available", approval)
    assert summary_of(launch.model.prompts[1]) == [
        ("user", "Go"),
        ("call", "launch"),
        ("result", "launched to moon"),
    ]
    last = (await launch.store.runs.list(RunFilter(thread_id="t1"))).items[0]
    assert (await checked_run(launch.store, last.id, seed=answered)).message == continued
    with pytest.raises(AgentError, match="ends with a complete response"):
        await launch.agent.run("t1")
    assert launch.ran == ["moon"]


async def test_a_denied_call_does_not_run_and_the_model_receives_the_reason(launch: Rocket) -> None:
    message = await launch.run_to_approval()
    await launch.agent.add_approval_response(
        "t1", ApprovalResponse(approval_id_of(message), False, "ada", "too windy")
    )
    continued = await launch.agent.run("t1")
    (call,) = calls_of(continued)
    assert (call.state, launch.ran, text_of(continued)) == ("output-denied", [], "Launched.")
    assert summary_of(launch.model.prompts[1])[-1] == ("result", "execution-denied: too windy")
    await launch.agent.run("t1", "And now?")
    assert launch.ran == []


FORGED: dict[str, ApprovalResponse] = {
    "an unknown approval": ApprovalResponse("forged", True),
    "another input": ApprovalResponse("", True, input={"where": "mars"}),
    "an input with more": ApprovalResponse("", True, input={"where": "moon", "hurry": True}),
    "no input": ApprovalResponse("", True, input=None),
    "another tool": ApprovalResponse("", True, tool_name="land"),
    "another call": ApprovalResponse("", True, tool_call_id="call-0"),
}


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
async def test_a_response_that_does_not_match_the_call_changes_nothing(
    launch: Rocket, forged: ApprovalResponse
) -> None:
    message = await launch.run_to_approval()
    before = await launch.stored(message.id)
    with pytest.raises(ApprovalError):
        await launch.agent.add_approval_response(
            "t1", forged._replace(approval_id=forged.approval_id or approval_id_of(message))
        )
    assert await launch.stored(message.id) == before
    unchanged = await launch.agent.run("t1")  # it still waits, so nothing is done
    assert calls_of(unchanged)[0].state == "approval-requested"
    assert (launch.ran, len(launch.model.prompts)) == ([], 1)


async def test_a_response_with_the_stored_call_is_accepted(launch: Rocket) -> None:
    message = await launch.run_to_approval()
    (call,) = calls_of(message)
    shown = ApprovalResponse(approval_id_of(message), True, "ada", None, call.id, "launch", {"where": "moon"})
    await launch.agent.add_approval_response("t1", shown)
    assert calls_of(await launch.stored(message.id))[0].state == "approval-responded"


@pytest.mark.parametrize("second", [True, False])
async def test_a_second_response_is_refused(launch: Rocket, second: bool) -> None:
    message = await launch.run_to_approval()
    await launch.agent.add_approval_response("t1", ApprovalResponse(approval_id_of(message), True, "ada"))
    before = await launch.stored(message.id)
    for _ in range(2):
        with pytest.raises(ApprovalError, match="already decided by ada: approved"):
            await launch.agent.add_approval_response(
                "t1", ApprovalResponse(approval_id_of(message), second, "bob")
            )
        assert calls_of(await launch.stored(message.id))[0].approval == calls_of(before)[0].approval
    await launch.agent.run("t1")
    with pytest.raises(ApprovalError, match="already decided"):
        await launch.agent.add_approval_response(
            "t1", ApprovalResponse(approval_id_of(message), second, "bob")
        )
    assert launch.ran == ["moon"]


@on_both_engines
async def test_one_of_several_concurrent_responses_is_accepted(launch: Rocket) -> None:
    message = await launch.run_to_approval()
    responses = [
        ApprovalResponse(approval_id_of(message), number % 2 == 0, f"{number}") for number in range(6)
    ]
    results = await asyncio.gather(
        *(launch.agent.add_approval_response("t1", response) for response in responses),
        return_exceptions=True,
    )
    assert results.count(None) == 1
    approval = approval_of(calls_of(await launch.stored(message.id))[0])
    assert approval.responded_by == str(results.index(None))


@on_both_engines
async def test_an_approved_call_runs_once_if_the_turn_is_continued_concurrently(launch: Rocket) -> None:
    message = await launch.run_to_approval()
    await launch.agent.add_approval_response("t1", ApprovalResponse(approval_id_of(message), True))
    turns = [launch.agent.run("t1") for _ in range(3)]
    results = await asyncio.gather(*turns, return_exceptions=True)
    assert sum(isinstance(result, AssistantMessage) for result in results) == 1
    assert all(isinstance(result, AssistantMessage | BusyError | AgentError) for result in results)
    assert launch.ran == ["moon"]


async def test_a_queued_continuation_fails_if_the_turn_was_continued(launch: Rocket) -> None:
    message = await launch.run_to_approval()
    await launch.agent.add_approval_response("t1", ApprovalResponse(approval_id_of(message), True))
    runs = [await launch.agent.start("t1", busy="queue") for _ in range(2)]
    first, second = [await launch.agent.session.wait(run.id) for run in runs]
    assert (first.status, second.status) == ("completed", "failed")
    assert second.error is not None
    assert "has changed since" in str(second.error)
    assert (launch.ran, text_of(await launch.stored(message.id))) == (["moon"], "Launched.")


async def test_an_approval_request_survives_a_restart(url: str) -> None:
    async with open_store(url) as store:
        first = Rocket(store, CALL)
        message = await first.run_to_approval()
        await first.agent.session.close()
    async with open_store(url) as store:
        second = Rocket(store)
        await second.agent.add_approval_response("t1", ApprovalResponse(approval_id_of(message), True, "ada"))
        await second.agent.session.close()
    async with open_store(url) as store:
        third = Rocket(store, reply("Launched."))
        continued = await third.agent.run("t1")
        assert (third.ran, text_of(continued)) == (["moon"], "Launched.")
        assert approval_of(calls_of(continued)[0]).responded_by == "ada"
        await third.agent.session.close()


async def test_each_of_several_calls_is_decided_separately(store: Store) -> None:
    launch = Rocket(
        store, reply(("launch", {"where": "moon"}), ("launch", {"where": "mars"})), reply("Done.")
    )
    message = await launch.run_to_approval()
    moon, mars = (approval_of(call).id for call in calls_of(message))
    await launch.agent.add_approval_response("t1", ApprovalResponse(mars, False, reason="too far"))
    waiting = await launch.agent.run("t1")
    assert [call.state for call in calls_of(waiting)] == ["approval-requested", "output-denied"]
    assert len(launch.model.prompts) == 1
    await launch.agent.add_approval_response("t1", ApprovalResponse(moon, True))
    done = await launch.agent.run("t1")
    assert ([output_value(call.output) for call in calls_of(done)], launch.ran) == (
        ["launched to moon", None],
        ["moon"],
    )
    assert text_of(done) == "Done."
    assert summary_of(launch.model.prompts[1])[-2:] == [
        ("result", "launched to moon"),
        ("result", "execution-denied: too far"),
    ]
    await launch.agent.session.close()


async def texts_of(store: Store) -> list[str]:
    return [text_of(message) for message in await store.messages.list("t1")]


async def test_a_call_of_an_earlier_message_is_approved_and_run_with_after(store: Store) -> None:
    launch = Rocket(store, CALL, reply("Four."), reply("Launched, by the way."), reply("Bye."))
    message = await launch.run_to_approval()
    await launch.agent.run("t1", "What is two and two?")
    assert summary_of(launch.model.prompts[1])[2:] == [
        ("result", "interrupted: lost"),
        ("user", "What is two and two?"),
    ]
    await launch.agent.add_approval_response("t1", ApprovalResponse(approval_id_of(message), True, "ada"))
    with pytest.raises(AgentError, match="ends with a complete response") as caught:
        await launch.agent.run("t1")
    assert caught.value.hint is not None
    assert f"after={message.id!r}" in caught.value.hint
    assert launch.ran == []
    continued = await launch.agent.run("t1", after=message.id)
    assert (continued.id, text_of(continued), launch.ran) == (message.id, "Launched, by the way.", ["moon"])
    assert summary_of(launch.model.prompts[2]) == [
        ("user", "Go"),
        ("call", "launch"),
        ("result", "launched to moon"),
    ]
    assert await texts_of(store) == ["Go", "Launched, by the way.", "What is two and two?", "Four."]
    with pytest.raises(AgentError, match="ends with a complete response"):
        await launch.agent.run("t1", after=message.id)
    await launch.agent.run("t1", "Bye")
    assert [kind for kind, _ in summary_of(launch.model.prompts[3])].count("result") == 1
    assert launch.ran == ["moon"]
    await launch.agent.session.close()


async def test_the_denial_of_an_earlier_call_is_sent_with_the_next_turn(store: Store) -> None:
    launch = Rocket(store, CALL, reply("Four."), reply("Bye."))
    message = await launch.run_to_approval()
    await launch.agent.run("t1", "What is two and two?")
    await launch.agent.add_approval_response(
        "t1", ApprovalResponse(approval_id_of(message), False, reason="no")
    )
    await launch.agent.run("t1", "Bye")
    assert summary_of(launch.model.prompts[2])[:3] == [
        ("user", "Go"),
        ("call", "launch"),
        ("result", "execution-denied: no"),
    ]
    assert launch.ran == []
    await launch.agent.session.close()


async def test_a_response_during_a_run_that_continues_the_same_message_is_kept(store: Store) -> None:
    """The call for the moon is approved and running; that for mars is approved meanwhile and runs next."""
    started, released = asyncio.Event(), asyncio.Event()
    ran: list[str] = []

    @tool(approval="always")
    async def launch(where: str) -> str:
        """Rocket a rocket."""
        started.set()
        await released.wait()
        ran.append(where)
        return where

    model = Model(reply(("launch", {"where": "moon"}), ("launch", {"where": "mars"})), reply("Done."))
    agent = Agent(model, tools=[launch], store=store)
    moon, mars = (approval_of(call).id for call in calls_of(await agent.run("t1", "Go")))
    await agent.add_approval_response("t1", ApprovalResponse(moon, True))
    run = await agent.start("t1")
    await started.wait()
    with pytest.raises(BusyError, match="continues message"):
        await store.messages.change_call("t1", lambda call, message: call)  # the run would overwrite it
    await agent.add_approval_response("t1", ApprovalResponse(mars, True, "ada"))
    with pytest.raises(ApprovalError):
        await agent.add_approval_response("t1", ApprovalResponse(mars, False, "bob"))
    released.set()
    await agent.session.wait(run.id)
    assert ran == ["moon"]
    done = await agent.run("t1")
    assert (ran, text_of(done)) == (["moon", "mars"], "Done.")
    assert approval_of(calls_of(done)[1]).responded_by == "ada"
    await agent.session.close()
