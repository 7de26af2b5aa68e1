"""An agent that waits for an approval during its run: the stream ends, and continues after the decision."""

from collections.abc import AsyncIterator

import httpx
import pytest

from partita.server.app import asgi
from partita.store.store import Store
from partita.store.values import RunFilter
from partita.types.chunks import MessageStart
from partita.types.messages import AssistantMessage, ToolCallPart, text_of
from tests.server.clients.agents import ApprovalAgent
from tests.server.conftest import Serve

from .chat_client import Chat, shown, user


@pytest.fixture
async def chat(store: Store, serve: Serve) -> AsyncIterator[Chat]:
    app = asgi(ApprovalAgent(), store=store)
    async with httpx.AsyncClient(base_url=await serve(app), timeout=30) as client:
        yield Chat(client)


@pytest.mark.parametrize(("approved", "state"), [(True, "output-available"), (False, "output-denied")])
async def test_the_response_continues_after_the_decision(
    chat: Chat, store: Store, approved: bool, state: str
) -> None:
    first = await chat.ask(user("u1", "Clean up."))  # it ends, although the run continues
    waiting = first.message()
    (run,) = (await store.runs.list(RunFilter(thread_id="c1", status=("running",)))).items
    async with chat.resuming() as again:
        assert (await again.whole()).chunks == first.chunks
    copy = shown(waiting)
    call = copy["parts"][-1]
    call |= {"state": "approval-responded", "approval": {"id": "a1", "approved": approved}}
    rest = await chat.ask(user("u1", "Clean up."), copy, messageId=waiting.id)
    assert rest.run_id == run.id
    assert not any(isinstance(chunk, MessageStart) for chunk in rest.chunks)
    stored = (await store.messages.list("c1")).items[-1]
    assert isinstance(stored, AssistantMessage)
    assert (text_of(stored), stored.id) == ("Good night.", waiting.id)
    assert [part.state for part in stored.parts if isinstance(part, ToolCallPart)] == [state]
    assert [type(part) for part in rest.message(waiting).parts] == [type(part) for part in stored.parts]
