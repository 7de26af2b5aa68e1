"""`rerun` responds to a message a second time in a fork; the thread does not change."""

import pytest

from partita.errors import AgentError, NotFoundError
from partita.runtime.replay.service import rerun
from partita.runtime.scripted import ScriptedService, as_script
from partita.types.messages import AssistantMessage
from partita.types.parts import TextPart
from tests.runtime.replay.example_runs import an_agent, last_message, run_turn, text
from tests.tables import each_row

OTHER = ScriptedService(as_script({"scenes": [{"steps": [{"parts": [text("It rains.")]}]}]}), name="other")


@each_row("index", [0, 1])
async def test_another_agent_responds_to_the_same_message_in_a_fork(index: int) -> None:
    async with an_agent() as (store, agent):
        await run_turn(agent, "t", "weather?")
        await run_turn(agent, "t", "and now?")
        before = (await store.messages.list("t")).items
        run = await rerun(agent.session, OTHER, "t", before[index].id, title="once more")
        run = await agent.session.wait(run.id)
        response = await last_message(store, run.thread_id)
        forked = (await store.messages.list(run.thread_id)).items
        thread = await store.threads.get(run.thread_id)
        assert (await store.messages.list("t")).items == before
    assert thread is not None
    assert (thread.title, run.agent, run.status) == ("once more", "other", "completed")
    assert [message.id for message in forked] == [before[0].id, response.id]
    assert [part.text for part in response.parts if isinstance(part, TextPart)] == ["It rains."]


async def test_a_user_message_is_required() -> None:
    async with an_agent() as (store, agent):
        await store.threads.create("t")
        await store.messages.save([AssistantMessage(id="a", content="Hello?")], thread_id="t")
        with pytest.raises(NotFoundError, match="no message 'x'"):
            await rerun(agent.session, OTHER, "t", "x")
        with pytest.raises(AgentError, match="no user message before"):
            await rerun(agent.session, OTHER, "t", "a")
