"""Questions whether a call may run: asked, kept, answered once, and heeded."""

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
from tests.runtime.agent.models import Line, Model, calls_of, outcome, reply, seen
from tests.runtime.engines import on_both_engines
from tests.runtime.session.puppets import left_by


class Launch:
    """An agent with a tool that needs leave, and what became of it."""

    def __init__(self, store: Store, *answers: Line) -> None:
        self.ran: list[str] = []
        self.model = Model(*answers)
        self.store = store
        self.agent = Agent(self.model, tools=[self._tool()], session=Session(store, heartbeat=0.2))

    def _tool(self) -> Tool:
        @tool(approval="always")
        def launch(where: str, hurry: bool = False) -> str:
            """Launch a rocket."""
            self.ran.append(where)
            return f"launched to {where}"

        return launch

    async def asked(self, input: str | None = "Go") -> AssistantMessage:
        """The message of a turn that ends with a question."""
        message = await self.agent.run("t1", input)
        assert [call.state for call in calls_of(message)] == ["approval-requested"] * len(calls_of(message))
        return message

    async def stored(self, id: str) -> AssistantMessage:
        message = await self.store.messages.get("t1", id)
        assert isinstance(message, AssistantMessage)
        return message


ASKS = reply(("launch", {"where": "moon"}))


@pytest.fixture
async def launch(store: Store) -> AsyncIterator[Launch]:
    made = Launch(store, ASKS, reply("Launched."), reply("Anything else?"))
    yield made
    await made.agent.session.close()


def approval_of(call: ToolCallPart) -> Approval:
    assert call.approval is not None
    return call.approval


def question_of(message: AssistantMessage) -> str:
    """The id of the question that a message ends with."""
    return approval_of(calls_of(message)[-1]).id


async def test_a_call_that_needs_leave_asks_and_the_run_ends(launch: Launch) -> None:
    chunks = [chunk async for chunk in launch.agent.stream("t1", "Go")]
    assert sum(isinstance(chunk, ToolApprovalRequest) for chunk in chunks) == 1
    (run,) = (await launch.store.runs.list(RunFilter(thread_id="t1"))).items
    left = await left_by(launch.store, run.id)
    (call,) = calls_of(left.message)
    assert (run.status, call.state, approval_of(call).approved) == ("completed", "approval-requested", None)
    assert (launch.ran, len(launch.model.asked)) == ([], 1)


async def test_a_call_that_is_allowed_runs_once_and_the_message_goes_on(launch: Launch) -> None:
    message = await launch.asked()
    await launch.agent.add_approval_response(
        "t1", ApprovalResponse(question_of(message), True, "ada", "why not")
    )
    answered = await launch.stored(message.id)
    approval = approval_of(calls_of(answered)[0])
    assert (approval.approved, approval.responded_by, approval.reason) == (True, "ada", "why not")
    assert approval.responded_at is not None
    assert launch.ran == []
    gone_on = await launch.agent.run("t1")
    assert (gone_on.id, text_of(gone_on), launch.ran) == (message.id, "Launched.", ["moon"])
    (call,) = calls_of(gone_on)
    assert (call.state, approval_of(call)) == ("output-available", approval)
    assert seen(launch.model.asked[1]) == [
        ("user", "Go"),
        ("call", "launch"),
        ("result", "launched to moon"),
    ]
    last = (await launch.store.runs.list(RunFilter(thread_id="t1"))).items[0]
    assert (await left_by(launch.store, last.id, seed=answered)).message == gone_on
    with pytest.raises(AgentError, match="ends with a complete response"):
        await launch.agent.run("t1")
    assert launch.ran == ["moon"]


async def test_a_call_that_is_refused_never_runs_and_the_model_is_told(launch: Launch) -> None:
    message = await launch.asked()
    await launch.agent.add_approval_response(
        "t1", ApprovalResponse(question_of(message), False, "ada", "too windy")
    )
    gone_on = await launch.agent.run("t1")
    (call,) = calls_of(gone_on)
    assert (call.state, launch.ran, text_of(gone_on)) == ("output-denied", [], "Launched.")
    assert seen(launch.model.asked[1])[-1] == ("result", "execution-denied: too windy")
    await launch.agent.run("t1", "And now?")
    assert launch.ran == []


FORGED: dict[str, ApprovalResponse] = {
    "a question that nobody asked": ApprovalResponse("forged", True),
    "another input": ApprovalResponse("", True, input={"where": "mars"}),
    "an input with more": ApprovalResponse("", True, input={"where": "moon", "hurry": True}),
    "no input": ApprovalResponse("", True, input=None),
    "another tool": ApprovalResponse("", True, tool_name="land"),
    "another call": ApprovalResponse("", True, tool_call_id="call-0"),
}


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
async def test_a_forged_answer_changes_nothing(launch: Launch, forged: ApprovalResponse) -> None:
    message = await launch.asked()
    before = await launch.stored(message.id)
    with pytest.raises(ApprovalError):
        await launch.agent.add_approval_response(
            "t1", forged._replace(approval_id=forged.approval_id or question_of(message))
        )
    assert await launch.stored(message.id) == before
    unchanged = await launch.agent.run("t1")  # nothing to do: it still waits
    assert calls_of(unchanged)[0].state == "approval-requested"
    assert (launch.ran, len(launch.model.asked)) == ([], 1)


async def test_what_is_shown_truly_is_taken(launch: Launch) -> None:
    message = await launch.asked()
    (call,) = calls_of(message)
    shown = ApprovalResponse(question_of(message), True, "ada", None, call.id, "launch", {"where": "moon"})
    await launch.agent.add_approval_response("t1", shown)
    assert calls_of(await launch.stored(message.id))[0].state == "approval-responded"


@pytest.mark.parametrize("second", [True, False])
async def test_a_second_answer_is_refused(launch: Launch, second: bool) -> None:
    message = await launch.asked()
    await launch.agent.add_approval_response("t1", ApprovalResponse(question_of(message), True, "ada"))
    before = await launch.stored(message.id)
    for _ in range(2):
        with pytest.raises(ApprovalError, match="already decided by ada: approved"):
            await launch.agent.add_approval_response(
                "t1", ApprovalResponse(question_of(message), second, "bob")
            )
        assert calls_of(await launch.stored(message.id))[0].approval == calls_of(before)[0].approval
    await launch.agent.run("t1")
    with pytest.raises(ApprovalError, match="already decided"):
        await launch.agent.add_approval_response("t1", ApprovalResponse(question_of(message), second, "bob"))
    assert launch.ran == ["moon"]


@on_both_engines
async def test_of_many_answers_at_once_one_is_taken(launch: Launch) -> None:
    message = await launch.asked()
    answers = [ApprovalResponse(question_of(message), number % 2 == 0, f"{number}") for number in range(6)]
    results = await asyncio.gather(
        *(launch.agent.add_approval_response("t1", answer) for answer in answers), return_exceptions=True
    )
    assert results.count(None) == 1
    approval = approval_of(calls_of(await launch.stored(message.id))[0])
    assert approval.responded_by == str(results.index(None))


@on_both_engines
async def test_an_allowed_call_runs_once_though_the_talk_is_taken_up_twice(launch: Launch) -> None:
    message = await launch.asked()
    await launch.agent.add_approval_response("t1", ApprovalResponse(question_of(message), True))
    turns = [launch.agent.run("t1") for _ in range(3)]
    results = await asyncio.gather(*turns, return_exceptions=True)
    assert sum(isinstance(result, AssistantMessage) for result in results) == 1
    assert all(isinstance(result, AssistantMessage | BusyError | AgentError) for result in results)
    assert launch.ran == ["moon"]


async def test_one_who_waited_to_take_it_up_finds_it_done(launch: Launch) -> None:
    message = await launch.asked()
    await launch.agent.add_approval_response("t1", ApprovalResponse(question_of(message), True))
    runs = [await launch.agent.start("t1", busy="queue") for _ in range(2)]
    first, second = [await launch.agent.session.wait(run.id) for run in runs]
    assert (first.status, second.status) == ("completed", "failed")
    assert second.error is not None
    assert "has changed since" in str(second.error)
    assert (launch.ran, text_of(await launch.stored(message.id))) == (["moon"], "Launched.")


async def test_a_question_outlives_the_store_that_was_open(url: str) -> None:
    async with open_store(url) as store:
        first = Launch(store, ASKS)
        message = await first.asked()
        await first.agent.session.close()
    async with open_store(url) as store:
        second = Launch(store)
        await second.agent.add_approval_response("t1", ApprovalResponse(question_of(message), True, "ada"))
        await second.agent.session.close()
    async with open_store(url) as store:
        third = Launch(store, reply("Launched."))
        gone_on = await third.agent.run("t1")
        assert (third.ran, text_of(gone_on)) == (["moon"], "Launched.")
        assert approval_of(calls_of(gone_on)[0]).responded_by == "ada"
        await third.agent.session.close()


async def test_of_several_calls_each_has_its_own_answer(store: Store) -> None:
    launch = Launch(
        store, reply(("launch", {"where": "moon"}), ("launch", {"where": "mars"})), reply("Done.")
    )
    message = await launch.asked()
    moon, mars = (approval_of(call).id for call in calls_of(message))
    await launch.agent.add_approval_response("t1", ApprovalResponse(mars, False, reason="too far"))
    waiting = await launch.agent.run("t1")
    assert [call.state for call in calls_of(waiting)] == ["approval-requested", "output-denied"]
    assert len(launch.model.asked) == 1
    await launch.agent.add_approval_response("t1", ApprovalResponse(moon, True))
    done = await launch.agent.run("t1")
    assert ([outcome(call.output) for call in calls_of(done)], launch.ran) == (
        ["launched to moon", None],
        ["moon"],
    )
    assert text_of(done) == "Done."
    assert seen(launch.model.asked[1])[-2:] == [
        ("result", "launched to moon"),
        ("result", "execution-denied: too far"),
    ]
    await launch.agent.session.close()


async def words_of(store: Store) -> list[str]:
    return [text_of(message) for message in await store.messages.list("t1")]


async def test_a_question_that_the_talk_has_left_behind_is_answered_and_run_on_request(store: Store) -> None:
    launch = Launch(store, ASKS, reply("Four."), reply("Launched, by the way."), reply("Bye."))
    message = await launch.asked()
    await launch.agent.run("t1", "What is two and two?")
    assert seen(launch.model.asked[1])[2:] == [
        ("result", "interrupted: lost"),
        ("user", "What is two and two?"),
    ]
    await launch.agent.add_approval_response("t1", ApprovalResponse(question_of(message), True, "ada"))
    with pytest.raises(AgentError, match="ends with a complete response") as caught:
        await launch.agent.run("t1")
    assert caught.value.hint is not None
    assert f"after={message.id!r}" in caught.value.hint
    assert launch.ran == []
    gone_on = await launch.agent.run("t1", after=message.id)
    assert (gone_on.id, text_of(gone_on), launch.ran) == (message.id, "Launched, by the way.", ["moon"])
    assert seen(launch.model.asked[2]) == [("user", "Go"), ("call", "launch"), ("result", "launched to moon")]
    assert await words_of(store) == ["Go", "Launched, by the way.", "What is two and two?", "Four."]
    with pytest.raises(AgentError, match="ends with a complete response"):
        await launch.agent.run("t1", after=message.id)
    await launch.agent.run("t1", "Bye")
    assert [kind for kind, _ in seen(launch.model.asked[3])].count("result") == 1
    assert launch.ran == ["moon"]
    await launch.agent.session.close()


async def test_an_answer_to_what_the_talk_has_left_behind_is_told_with_the_next_turn(store: Store) -> None:
    launch = Launch(store, ASKS, reply("Four."), reply("Bye."))
    message = await launch.asked()
    await launch.agent.run("t1", "What is two and two?")
    await launch.agent.add_approval_response("t1", ApprovalResponse(question_of(message), False, reason="no"))
    await launch.agent.run("t1", "Bye")
    assert seen(launch.model.asked[2])[:3] == [
        ("user", "Go"),
        ("call", "launch"),
        ("result", "execution-denied: no"),
    ]
    assert launch.ran == []
    await launch.agent.session.close()


async def test_an_answer_while_the_run_goes_on_with_the_same_message_is_not_lost(store: Store) -> None:
    """The moon is allowed and on its way; mars is allowed meanwhile, and comes next."""
    begun, goes = asyncio.Event(), asyncio.Event()
    ran: list[str] = []

    @tool(approval="always")
    async def launch(where: str) -> str:
        """Launch a rocket."""
        begun.set()
        await goes.wait()
        ran.append(where)
        return where

    model = Model(reply(("launch", {"where": "moon"}), ("launch", {"where": "mars"})), reply("Done."))
    agent = Agent(model, tools=[launch], store=store)
    moon, mars = (approval_of(call).id for call in calls_of(await agent.run("t1", "Go")))
    await agent.add_approval_response("t1", ApprovalResponse(moon, True))
    run = await agent.start("t1")
    await begun.wait()
    with pytest.raises(BusyError, match="continues message"):
        await store.messages.change_call("t1", lambda call, message: call)  # the run would write over it
    await agent.add_approval_response("t1", ApprovalResponse(mars, True, "ada"))
    with pytest.raises(ApprovalError):
        await agent.add_approval_response("t1", ApprovalResponse(mars, False, "bob"))
    goes.set()
    await agent.session.wait(run.id)
    assert ran == ["moon"]
    done = await agent.run("t1")
    assert (ran, text_of(done)) == (["moon", "mars"], "Done.")
    assert approval_of(calls_of(done)[1]).responded_by == "ada"
    await agent.session.close()
