"""Stops, approvals and outputs for a run of another process."""

import asyncio

import pytest

from partita.errors import ApprovalError
from partita.formats.format import ToolSpec
from partita.runtime.run_fold import DECISION
from partita.runtime.service import ApprovalDecision, ApprovalRequest, InvokeOptions
from partita.runtime.session.client_replies import ApprovalResponse
from partita.types.chunks import (
    MessageFinish,
    TextDelta,
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolInputAvailable,
    ToolOutputAvailable,
)
from partita.types.messages import ToolCallPart
from partita.types.parts import TextOutput
from tests.runtime.engines import on_both_engines
from tests.runtime.session.conftest import Pair
from tests.runtime.session.controlled_agent import (
    ControlledAgent,
    Follower,
    StoredRun,
    checked_run,
    full_reply,
    notes,
    partial_reply,
)

REQUEST = [*partial_reply(), ToolInputAvailable("c", "dig", {"deep": 3}), ToolApprovalRequest("a", "c")]


def call_of(result: StoredRun) -> ToolCallPart:
    (call,) = [part for part in result.message.parts if isinstance(part, ToolCallPart)]
    return call


@on_both_engines
async def test_a_run_is_stopped_by_another_process(pair: Pair) -> None:
    agent = ControlledAgent(*partial_reply("so far"))
    run = await pair.one.start(agent, "t1", "Well?")
    await Follower(pair.other, run.id).until(TextDelta("t", "so far"))
    stopped = await pair.other.stop(run.id, "enough")
    assert (stopped.status, stopped.error) == ("cancelled", "enough")
    assert agent.stopped.is_set()
    result = await checked_run(pair.other.store, run.id)
    assert (result.text, result.ending) == ("so far", {"status": "cancelled", "reason": "enough"})
    assert await pair.other.stop(run.id, "twice") == stopped
    assert stopped.metadata is None


@on_both_engines
async def test_a_queued_run_is_stopped_by_another_process(pair: Pair) -> None:
    first = ControlledAgent()
    run = await pair.one.start(first, "t1", "one?")
    waiting = await pair.one.start(ControlledAgent(), "t1", "two?", busy="queue")
    stopped = await pair.other.stop(waiting.id, "never mind")
    assert (stopped.status, stopped.error) == ("cancelled", "never mind")
    first.complete(*full_reply("one."))
    assert (await pair.other.wait(run.id)).status == "completed"


async def request_approval(pair: Pair) -> tuple[ControlledAgent, str, "asyncio.Task[ApprovalDecision]"]:
    """An agent of the first process that waits for an approval."""
    agent = ControlledAgent(*REQUEST)
    run = await pair.one.start(agent, "t1", "Well?")
    await Follower(pair.other, run.id).until(REQUEST[-1])
    assert agent.options.approvals is not None
    request = ApprovalRequest("a", "c", "dig", {"deep": 3})
    decision = asyncio.ensure_future(agent.options.approvals.request(request))
    return agent, run.id, decision


@on_both_engines
async def test_an_approval_is_decided_by_another_process(pair: Pair) -> None:
    agent, run_id, decision = await request_approval(pair)
    await pair.other.add_approval_response("t1", ApprovalResponse("a", True, "ada", "why not"))
    given = await decision
    assert given[:3] == (True, "why not", "ada")
    with pytest.raises(ApprovalError):
        await pair.other.add_approval_response("t1", ApprovalResponse("a", False, "bob"))
    agent.complete(
        ToolApprovalResponse("a", True, "why not"), ToolOutputAvailable("c", "dug"), MessageFinish("stop")
    )
    await pair.other.wait(run_id)
    result = await checked_run(pair.other.store, run_id)
    approval = call_of(result).approval
    assert approval is not None
    assert (approval.approved, approval.responded_by, approval.reason) == (True, "ada", "why not")
    assert approval.responded_at is not None
    follower = Follower(pair.other, run_id, everything=True)
    await follower.task
    assert len(notes(follower.chunks, DECISION)) == 1


@pytest.mark.parametrize(
    "forged",
    [
        ApprovalResponse("b", True),
        ApprovalResponse("a", True, tool_name="fly"),
        ApprovalResponse("a", True, tool_call_id="d"),
        ApprovalResponse("a", True, input={"deep": 4}),
    ],
    ids=["another request", "another tool", "another call", "another input"],
)
async def test_a_mismatching_response_of_another_process_changes_nothing(
    pair: Pair, forged: ApprovalResponse
) -> None:
    agent, run_id, decision = await request_approval(pair)
    before = await pair.other.store.runs.get(run_id)
    assert before is not None
    with pytest.raises(ApprovalError):
        await pair.other.add_approval_response("t1", forged)
    after = await pair.other.store.runs.get(run_id)
    assert after is not None
    assert (after.metadata, decision.done()) == (before.metadata, False)
    agent.complete(MessageFinish("stop"))
    await pair.one.wait(run_id)
    assert call_of(await checked_run(pair.one.store, run_id)).state == "approval-requested"
    decision.cancel()


@on_both_engines
async def test_one_of_several_concurrent_responses_is_accepted(pair: Pair) -> None:
    agent, run_id, decision = await request_approval(pair)
    responses = [
        pair.one.add_approval_response("t1", ApprovalResponse("a", True, "ada")),
        pair.other.add_approval_response("t1", ApprovalResponse("a", False, "bob")),
        pair.other.add_approval_response("t1", ApprovalResponse("a", False, "cyd")),
        pair.one.add_approval_response("t1", ApprovalResponse("a", True, "dan")),
    ]
    results = await asyncio.gather(*responses, return_exceptions=True)
    assert [isinstance(result, ApprovalError) for result in results].count(False) == 1
    winner = ["ada", "bob", "cyd", "dan"][results.index(None)]
    assert (await decision).by == winner
    agent.complete(ToolApprovalResponse("a", (await decision).approved), MessageFinish("stop"))
    await pair.one.wait(run_id)
    approval = call_of(await checked_run(pair.one.store, run_id)).approval
    assert approval is not None
    assert approval.responded_by == winner


@pytest.mark.parametrize("process", [0, 1], ids=["here", "elsewhere"])
async def test_a_response_before_the_agent_waits_for_it_is_kept(pair: Pair, process: int) -> None:
    """The request is in the log, but the agent does not wait for the decision yet, or ends with it."""
    agent = ControlledAgent(*REQUEST)
    run = await pair.one.start(agent, "t1", "Well?")
    await Follower(pair[process], run.id).until(REQUEST[-1])
    await pair[process].add_approval_response("t1", ApprovalResponse("a", True, "ada"))
    assert agent.options.approvals is not None
    assert (await agent.options.approvals.request(ApprovalRequest("a", "c", "dig", {"deep": 3}))).by == "ada"
    agent.complete(MessageFinish("tool-calls"))
    await pair.one.wait(run.id)
    call = call_of(await checked_run(pair.one.store, run.id))
    assert call.approval is not None
    assert (call.state, call.approval.responded_by) == ("approval-responded", "ada")


@pytest.mark.parametrize("process", [0, 1], ids=["here", "elsewhere"])
async def test_an_output_during_the_run_is_kept(pair: Pair, process: int) -> None:
    agent = ControlledAgent(*REQUEST[:-1])
    run = await pair.one.start(agent, "t1", "Well?", options=InvokeOptions(tools=(ToolSpec("dig"),)))
    await Follower(pair[process], run.id).until(REQUEST[-2])
    await pair[process].add_tool_output("t1", "c", TextOutput("dug"), tool_name="dig", input={"deep": 3})
    with pytest.raises(ApprovalError):
        await pair[process].add_tool_output("t1", "c", TextOutput("dug again"))
    agent.complete(MessageFinish("tool-calls"))
    await pair.one.wait(run.id)
    call = call_of(await checked_run(pair.one.store, run.id))
    assert (call.state, call.output) == ("output-available", TextOutput("dug"))


@pytest.mark.parametrize("process", [0, 1], ids=["here", "elsewhere"])
async def test_an_output_for_a_call_that_the_agent_runs_is_refused(
    pair: Pair, process: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("partita.runtime.session.client_replies.END_TIMEOUT", 0.05)
    agent = ControlledAgent(*REQUEST[:-1])
    run = await pair.one.start(agent, "t1", "Well?")
    await Follower(pair[process], run.id).until(REQUEST[-2])
    with pytest.raises(ApprovalError, match="not run by the client"):
        await pair[process].add_tool_output("t1", "c", TextOutput("forged"))
    agent.complete(ToolOutputAvailable("c", "dug"), MessageFinish("stop"))
    await pair.one.wait(run.id)
    assert call_of(await checked_run(pair.one.store, run.id)).output == TextOutput("dug")


async def test_an_output_waits_for_the_end_of_a_run_that_leaves_the_call_to_the_client(pair: Pair) -> None:
    agent = ControlledAgent(*REQUEST[:-1])
    run = await pair.one.start(agent, "t1", "Well?")
    await Follower(pair.one, run.id).until(REQUEST[-2])
    submission = asyncio.create_task(pair.one.add_tool_output("t1", "c", TextOutput("dug")))
    await asyncio.sleep(0)
    agent.complete(MessageFinish("tool-calls"))
    await submission
    message = await pair.one.store.messages.get("t1", run.message_id or "")
    assert message is not None
    assert [part.output for part in message.parts if isinstance(part, ToolCallPart)] == [TextOutput("dug")]
