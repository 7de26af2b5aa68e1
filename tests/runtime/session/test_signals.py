"""What one process wants of a run that another one works on: stop, an answer, an output."""

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
from tests.runtime.session.puppets import Left, Puppet, Watcher, answer, left_by, notes, talk

ASKS = [*talk(), ToolInputAvailable("c", "dig", {"deep": 3}), ToolApprovalRequest("a", "c")]


def call_of(left: Left) -> ToolCallPart:
    (call,) = [part for part in left.message.parts if isinstance(part, ToolCallPart)]
    return call


@on_both_engines
async def test_a_run_is_stopped_from_elsewhere(pair: Pair) -> None:
    puppet = Puppet(*talk("so far"))
    run = await pair.one.start(puppet, "t1", "Well?")
    await Watcher(pair.other, run.id).until(TextDelta("t", "so far"))
    stopped = await pair.other.stop(run.id, "enough")
    assert (stopped.status, stopped.error) == ("cancelled", "enough")
    assert puppet.left.is_set()
    left = await left_by(pair.other.store, run.id)
    assert (left.words, left.ended) == ("so far", {"status": "cancelled", "reason": "enough"})
    assert await pair.other.stop(run.id, "twice") == stopped
    assert stopped.metadata is None


@on_both_engines
async def test_a_run_that_waits_in_line_is_stopped_from_elsewhere(pair: Pair) -> None:
    first = Puppet()
    run = await pair.one.start(first, "t1", "one?")
    waiting = await pair.one.start(Puppet(), "t1", "two?", busy="queue")
    stopped = await pair.other.stop(waiting.id, "never mind")
    assert (stopped.status, stopped.error) == ("cancelled", "never mind")
    first.end(*answer("one."))
    assert (await pair.other.wait(run.id)).status == "completed"


async def asking(pair: Pair) -> tuple[Puppet, str, "asyncio.Task[ApprovalDecision]"]:
    """An agent of the one process that waits for an approval."""
    puppet = Puppet(*ASKS)
    run = await pair.one.start(puppet, "t1", "Well?")
    await Watcher(pair.other, run.id).until(ASKS[-1])
    assert puppet.options.approvals is not None
    question = ApprovalRequest("a", "c", "dig", {"deep": 3})
    decision = asyncio.ensure_future(puppet.options.approvals.request(question))
    return puppet, run.id, decision


@on_both_engines
async def test_a_question_is_answered_from_elsewhere(pair: Pair) -> None:
    puppet, run_id, decision = await asking(pair)
    await pair.other.add_approval_response("t1", ApprovalResponse("a", True, "ada", "why not"))
    given = await decision
    assert given[:3] == (True, "why not", "ada")
    with pytest.raises(ApprovalError):
        await pair.other.add_approval_response("t1", ApprovalResponse("a", False, "bob"))
    puppet.end(
        ToolApprovalResponse("a", True, "why not"), ToolOutputAvailable("c", "dug"), MessageFinish("stop")
    )
    await pair.other.wait(run_id)
    left = await left_by(pair.other.store, run_id)
    approval = call_of(left).approval
    assert approval is not None
    assert (approval.approved, approval.responded_by, approval.reason) == (True, "ada", "why not")
    assert approval.responded_at is not None
    watcher = Watcher(pair.other, run_id, everything=True)
    await watcher.task
    assert len(notes(watcher.chunks, DECISION)) == 1


@pytest.mark.parametrize(
    "forged",
    [
        ApprovalResponse("b", True),
        ApprovalResponse("a", True, tool_name="fly"),
        ApprovalResponse("a", True, tool_call_id="d"),
        ApprovalResponse("a", True, input={"deep": 4}),
    ],
    ids=["another question", "another tool", "another call", "another input"],
)
async def test_a_forged_answer_from_elsewhere_changes_nothing(pair: Pair, forged: ApprovalResponse) -> None:
    puppet, run_id, decision = await asking(pair)
    before = await pair.other.store.runs.get(run_id)
    assert before is not None
    with pytest.raises(ApprovalError):
        await pair.other.add_approval_response("t1", forged)
    after = await pair.other.store.runs.get(run_id)
    assert after is not None
    assert (after.metadata, decision.done()) == (before.metadata, False)
    puppet.end(MessageFinish("stop"))
    await pair.one.wait(run_id)
    assert call_of(await left_by(pair.one.store, run_id)).state == "approval-requested"
    decision.cancel()


@on_both_engines
async def test_of_two_answers_at_once_one_is_refused(pair: Pair) -> None:
    puppet, run_id, decision = await asking(pair)
    answers = [
        pair.one.add_approval_response("t1", ApprovalResponse("a", True, "ada")),
        pair.other.add_approval_response("t1", ApprovalResponse("a", False, "bob")),
        pair.other.add_approval_response("t1", ApprovalResponse("a", False, "cyd")),
        pair.one.add_approval_response("t1", ApprovalResponse("a", True, "dan")),
    ]
    results = await asyncio.gather(*answers, return_exceptions=True)
    assert [isinstance(result, ApprovalError) for result in results].count(False) == 1
    winner = ["ada", "bob", "cyd", "dan"][results.index(None)]
    assert (await decision).by == winner
    puppet.end(ToolApprovalResponse("a", (await decision).approved), MessageFinish("stop"))
    await pair.one.wait(run_id)
    approval = call_of(await left_by(pair.one.store, run_id)).approval
    assert approval is not None
    assert approval.responded_by == winner


@pytest.mark.parametrize("who", [0, 1], ids=["here", "elsewhere"])
async def test_an_answer_that_comes_before_its_agent_waits_for_it_is_kept(pair: Pair, who: int) -> None:
    """The question is in the log, but the agent is still busy with something else, or will end there."""
    puppet = Puppet(*ASKS)
    run = await pair.one.start(puppet, "t1", "Well?")
    await Watcher(pair[who], run.id).until(ASKS[-1])
    await pair[who].add_approval_response("t1", ApprovalResponse("a", True, "ada"))
    assert puppet.options.approvals is not None
    assert (await puppet.options.approvals.request(ApprovalRequest("a", "c", "dig", {"deep": 3}))).by == "ada"
    puppet.end(MessageFinish("tool-calls"))
    await pair.one.wait(run.id)
    call = call_of(await left_by(pair.one.store, run.id))
    assert call.approval is not None
    assert (call.state, call.approval.responded_by) == ("approval-responded", "ada")


@pytest.mark.parametrize("who", [0, 1], ids=["here", "elsewhere"])
async def test_an_output_that_comes_while_its_run_is_at_work_is_kept(pair: Pair, who: int) -> None:
    puppet = Puppet(*ASKS[:-1])
    run = await pair.one.start(puppet, "t1", "Well?", options=InvokeOptions(tools=(ToolSpec("dig"),)))
    await Watcher(pair[who], run.id).until(ASKS[-2])
    await pair[who].add_tool_output("t1", "c", TextOutput("dug"), tool_name="dig", input={"deep": 3})
    with pytest.raises(ApprovalError):
        await pair[who].add_tool_output("t1", "c", TextOutput("dug again"))
    puppet.end(MessageFinish("tool-calls"))
    await pair.one.wait(run.id)
    call = call_of(await left_by(pair.one.store, run.id))
    assert (call.state, call.output) == ("output-available", TextOutput("dug"))


@pytest.mark.parametrize("who", [0, 1], ids=["here", "elsewhere"])
async def test_an_output_for_a_tool_that_the_agent_is_running_is_refused(
    pair: Pair, who: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("partita.runtime.session.client_replies.END_TIMEOUT", 0.05)
    puppet = Puppet(*ASKS[:-1])
    run = await pair.one.start(puppet, "t1", "Well?")
    await Watcher(pair[who], run.id).until(ASKS[-2])
    with pytest.raises(ApprovalError, match="not run by the client"):
        await pair[who].add_tool_output("t1", "c", TextOutput("forged"))
    puppet.end(ToolOutputAvailable("c", "dug"), MessageFinish("stop"))
    await pair.one.wait(run.id)
    assert call_of(await left_by(pair.one.store, run.id)).output == TextOutput("dug")


async def test_an_output_waits_for_the_end_of_a_run_that_leaves_its_call_to_the_client(pair: Pair) -> None:
    puppet = Puppet(*ASKS[:-1])
    run = await pair.one.start(puppet, "t1", "Well?")
    await Watcher(pair.one, run.id).until(ASKS[-2])
    giving = asyncio.create_task(pair.one.add_tool_output("t1", "c", TextOutput("dug")))
    await asyncio.sleep(0)
    puppet.end(MessageFinish("tool-calls"))
    await giving
    message = await pair.one.store.messages.get("t1", run.message_id or "")
    assert message is not None
    assert [part.output for part in message.parts if isinstance(part, ToolCallPart)] == [TextOutput("dug")]
