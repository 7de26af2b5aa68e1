"""One request of a chat: what the client wants done, done, and the run that answers it."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from partita.errors import ConflictError, DecodeError, NotFoundError
from partita.runtime.service import AgentService
from partita.runtime.session.approvals import Answer
from partita.server.hub import CallerView
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage
from partita.types.runs import Run

from .body import ChatBody, id_of
from .reading import check_seed, read_message, replies_in, same_words

WAITING: Final = ("approval-requested", "input-available")
"""States of calls that wait for somebody."""

LEFT: Final = "the client has gone on without it"


class Begun(NamedTuple):
    """The run that answers a request, and what of it the client has: all up to a number."""

    run: Run
    after: int = 0


class ChatTurn:
    """Begins what a request asks for. Messages are known by their ids, never by their places."""

    def __init__(self, caller: CallerView, body: ChatBody) -> None:
        self._caller = caller
        self._store = caller.store
        self._session = caller.session
        self._body = body
        self._thread_id = body.id
        self._parent_id: str | None = None  # behind which message new ones are hung, if not at the end

    async def begin(self) -> Begun:
        """The run that answers the request: a new one, or the one that is at work on it."""
        said = self._body.said
        agent = await self._agent()
        if not said and self._body.trigger == "submit-message":
            raise DecodeError("no message", where="$.messages", hint="send messages, or one message")
        goes_on = bool(said) and said[-1].get("role") == "assistant"
        at_work = await self._session.active_run(self._thread_id) if goes_on else None
        heard = await self._session.last_seq(at_work.id) if at_work else 0
        await self._give_replies(said)
        if self._body.trigger == "regenerate-message":
            return Begun(await self._answer_again(agent, said))
        if not goes_on:
            return Begun(await self._say(agent, said))
        message_id = id_of(said[-1], len(said) - 1)
        if at_work is not None and at_work.message_id == message_id:
            return Begun(at_work, heard)  # it has waited for the reply, and goes on
        return Begun(await self._go_on(agent, message_id))

    async def _agent(self) -> AgentService:
        agents = self._caller.hub.agents
        if self._body.agent is None and len(agents.by_name) > 1:
            thread = await self._store.get_thread_by_id(self._thread_id)
            if thread is not None and thread.agent in agents.by_name:
                return agents.get(thread.agent)
        return agents.get(self._body.agent)

    # Replies to calls

    async def _give_replies(self, said: Sequence[JsonObject]) -> None:
        """Take the outputs and answers that the client's messages hold for calls that wait."""
        if not any(raw.get("role") == "assistant" for raw in said):
            return
        waiting = await self._waiting()
        for place, raw in enumerate(said):
            calls = waiting.get(id_of(raw, place), []) if raw.get("role") == "assistant" else []
            if not calls:
                continue
            message = read_message(raw, place, self._thread_id)
            for reply in replies_in(message, calls, self._caller.principal.name):
                if isinstance(reply, Answer):
                    await self._session.answer(self._thread_id, reply)
                else:
                    await self._session.give_output(
                        self._thread_id,
                        reply.tool_call_id,
                        reply.output,
                        tool_name=reply.tool_name,
                        input=reply.input,
                    )

    async def _waiting(self) -> dict[str, list[str]]:
        """The calls of the thread that wait for somebody, by message: of stored ones, and of one at work."""
        page = await self._store.find_parts(
            thread_id=self._thread_id, types=("tool-call",), states=WAITING, limit=500
        )
        waiting: dict[str, list[str]] = {}
        for part in page.items:
            if part.call_id is not None:
                waiting.setdefault(part.message_id, []).append(part.call_id)
        run = await self._session.active_run(self._thread_id)
        for message in await self._session.at_work(run) if run else ():
            waiting[message.id] = [
                part.id for part in message.parts if isinstance(part, ToolCallPart) and part.state in WAITING
            ]
        return waiting

    # What is wanted

    async def _say(self, agent: AgentService, said: Sequence[JsonObject]) -> Run:
        """A message of the user: a new one, one that was edited, or one that came before."""
        message = read_message(said[-1], len(said) - 1, self._thread_id)
        id_of(said[-1], len(said) - 1)
        known = await self._store.get_message(self._thread_id, message.id)
        if known is None:
            await self._leave(said[:-1])
            return await self._start(agent, [*await self._unknown(said), message])
        if not isinstance(known, UserMessage):
            raise ConflictError(f"message {message.id!r} is an answer", hint="give a new message a new id")
        run = await self._session.active_run(self._thread_id)
        if run is not None and await self._answers(run, known):
            if same_words(known, message) and self._body.trigger == "submit-message":
                return run  # it came twice
            await self._session.stop(run.id, LEFT)
        if not same_words(known, message):
            await self._store.edit_message(self._thread_id, message)
        return await self._start(agent, after=message.id)

    async def _answers(self, run: Run, message: UserMessage) -> bool:
        """Whether a run at work answers a message."""
        page = await self._store.list_messages(run.thread_id, limit=1, order="desc", roles=("user",))
        return bool(page.items) and page.items[0].id == message.id

    async def _leave(self, before: Sequence[JsonObject]) -> None:
        """Stop the run whose answer the client has, and goes on behind: it does not read it any more."""
        answers = [raw.get("id") for raw in before if raw.get("role") == "assistant"]
        run = await self._session.active_run(self._thread_id) if answers else None
        if run is not None and run.message_id in answers:
            await self._session.stop(run.id, LEFT)

    async def _unknown(self, said: Sequence[JsonObject]) -> list[Message]:
        """The messages before the last that nobody knows here, hung behind the last one that is known."""
        if not self._body.is_whole:
            return []
        new: list[Message] = []
        thread = await self._store.get_thread_by_id(self._thread_id)
        for place in range(len(said) - 2, -1, -1):
            known = await self._store.get_message(self._thread_id, id_of(said[place], place))
            if known is not None:
                if thread is None or thread.active_leaf_id != known.id:
                    self._parent_id = await self._end_of_answer(known)
                return new
            message = read_message(said[place], place, self._thread_id)
            if isinstance(message, AssistantMessage):
                check_seed(message, place)
            new.insert(0, message)
        if thread is not None and thread.message_count:
            self._parent_id = ""
        if self._parent_id is not None and any(isinstance(one, AssistantMessage) for one in new):
            raise ConflictError(
                "the client has answers that are not of this chat", hint="load its messages again"
            )
        return new

    async def _end_of_answer(self, message: Message) -> str:
        """The last message of the run that wrote one: to a client, all of them are one."""
        if message.run_id is None:
            return message.id
        page = await self._store.list_messages(self._thread_id, limit=None, after=message.seq)
        own = [one.id for one in page.items if one.run_id == message.run_id]
        return own[-1] if own else message.id

    async def _go_on(self, agent: AgentService, message_id: str) -> Run:
        """Go on with an answer, now that its calls have had their replies."""
        known = await self._store.get_message(self._thread_id, message_id)
        if not isinstance(known, AssistantMessage):
            raise NotFoundError(
                f"no answer {message_id!r} in chat {self._thread_id!r}", hint="load its messages again"
            )
        return await self._start(agent, after=message_id)

    async def _answer_again(self, agent: AgentService, said: Sequence[JsonObject]) -> Run:
        """Answer a message of the user once more, on a branch of its own."""
        wanted = self._body.message_id
        known = None if wanted is None else await self._store.get_message(self._thread_id, wanted)
        if known is None and said and said[-1].get("role") == "user":
            return await self._say(agent, said)
        if known is None:
            page = await self._store.list_messages(self._thread_id, limit=1, order="desc", roles=("user",))
            known = page.items[0] if page.items else None
        if known is None:
            raise NotFoundError(
                f"there is nothing to answer again in chat {self._thread_id!r}", hint="send a message first"
            )
        return await self._start(agent, after=await self._question_of(known))

    async def _question_of(self, message: Message) -> str:
        """The message of the user that one answers, or is."""
        current: Message | None = message
        while current is not None and not isinstance(current, UserMessage):
            parent = current.parent_id
            current = await self._store.get_message(self._thread_id, parent) if parent else None
        if current is None:
            raise ConflictError(f"message {message.id!r} answers nobody", hint="send a message first")
        return current.id

    async def _start(
        self, agent: AgentService, messages: Sequence[Message] = (), *, after: str | None = None
    ) -> Run:
        if messages and self._parent_id is not None:
            messages = [replace(messages[0], parent_id=self._parent_id), *messages[1:]]
        busy = self._caller.hub.settings.busy
        try:
            return await self._session.start(agent, self._thread_id, list(messages), after=after, busy=busy)
        except NotFoundError:
            if after is None:
                raise
            await self._store.switch_branch(self._thread_id, after)  # it was on another branch
        return await self._session.start(agent, self._thread_id, None, after=after, busy=busy)
