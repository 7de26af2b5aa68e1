"""One request of a chat: what the client wants done, done, and the run that answers it."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace as with_fields
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from partita.errors import ConflictError, DecodeError, NotFoundError
from partita.runtime.service import AgentService, Options
from partita.server.folders import allowed_folder, remembered_folder
from partita.server.forms import offered_tools
from partita.server.hub import CallerView
from partita.store.glances import Glance
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, Message, UserMessage
from partita.types.runs import Run

from . import rows
from .body import ChatBody, id_of
from .reading import check_seed, read_message, same_words
from .replying import give_replies

CWD: Final = "cwd"
"""Where the metadata of a run says in which folder its agent worked."""

LEFT: Final = "the client has gone on without it"


class Begun(NamedTuple):
    """The run that answers a request, and what of it the client has: all up to a number.

    `continued` is the message that the run continues, as it was before; the client has it as `message_id`.
    """

    run: Run
    after: int = 0
    message_id: str | None = None
    continued: AssistantMessage | None = None


class ChatTurn:
    """Begins what a request asks for. Messages are known by their ids, never by their places."""

    def __init__(self, caller: CallerView, body: ChatBody, options: Options) -> None:
        """`options` say how the agent shall work this time."""
        self._caller = caller
        self._options = options
        self._store = caller.store
        self._session = caller.session
        self._body = body
        self._thread_id = body.id
        self._how: dict[str, Any] = {}  # the folder of the run, as `Session.start` takes it
        self._parent_id: str | None = None  # behind which message new ones are hung, if not at the end
        self._seen = Glance(None, None, {}, {})
        self._looked_for: Sequence[str] = ()

    async def begin(self) -> Begun:
        """The run that answers the request: a new one, or the one that is at work on it."""
        said = self._body.said
        if not said and self._body.trigger == "submit-message":
            raise DecodeError("no message", where="$.messages", hint="send messages, or one message")
        await self._choose_folder()
        run = await self._begin_at_once(said)
        if run is not None:
            return Begun(run)
        await self._look(said)
        agent = self._agent()
        goes_on = bool(said) and said[-1].get("role") == "assistant"
        at_work = self._seen.run
        heard, before = 0, None
        if goes_on and at_work is not None:
            heard = await self._session.last_seq(at_work.id)
            before = await self._store.read(rows.at_work, self._thread_id)
        await give_replies(self._caller, self._thread_id, said, self._seen)
        if self._body.trigger == "regenerate-message":
            return Begun(await self._answer_again(agent, said))
        if not goes_on:
            return Begun(await self._say(agent, said))
        message_id = id_of(said[-1], len(said) - 1)
        if at_work is not None and message_id in await rows.ids_of(self._session, at_work):
            # It has waited for the reply, and goes on.
            continued = before[1] if before is not None else None
            return Begun(at_work, heard, message_id, _assistant(continued))
        continued = await self._last_row(message_id)
        run = await self._start(agent, after=continued.id)
        return Begun(run, message_id=message_id, continued=continued)

    async def _choose_folder(self) -> None:
        """The folder that the request names, or else that of the last run: its session is there."""
        allowed, cwd = self._caller.hub.settings.cwds, self._body.cwd
        if cwd is not None:
            folder: Path | None = allowed_folder(cwd, allowed)
        elif not allowed:
            return
        else:
            page = await self._store.list_runs(thread_id=self._thread_id, limit=1)
            last = page.items[0].metadata if page.items else None
            folder = remembered_folder((last or {}).get(CWD), allowed)
        if folder is not None:
            self._how = {"cwd": folder, "metadata": {CWD: str(folder)}}

    async def _begin_at_once(self, said: Sequence[JsonObject]) -> Run | None:
        """Begin with a message that came alone and is new, which most often needs no look at anything."""
        agents, body = self._caller.hub.agents, self._body
        if len(said) != 1 or said[0].get("role") != "user" or body.trigger != "submit-message":
            return None
        if body.message_id is not None or (body.agent is None and len(agents.by_name) > 1):
            return None
        id_of(said[0], 0)
        message = read_message(said[0], 0, self._thread_id)
        agent = agents.get(body.agent)
        options = self._options_for(agent)
        with suppress(ConflictError):  # it is there already, or the thread has a run at work
            return await self._session.start(
                agent, self._thread_id, [message], fresh=True, options=options, **self._how
            )
        return None

    async def _look(self, said: Sequence[JsonObject]) -> None:
        """Look at the thread, and at the last messages that the client has of it."""
        last = range(max(len(said) - 2, 0), len(said))
        wanted = [id_of(said[place], place) for place in last]
        if self._body.message_id is not None:
            wanted.append(self._body.message_id)
        self._looked_for = wanted
        self._seen = await self._store.glance(self._thread_id, wanted)

    async def _known(self, message_id: str) -> Message | None:
        """The stored message of an id."""
        if message_id in self._looked_for:
            return self._seen.messages.get(message_id)
        return await self._store.get_message(self._thread_id, message_id)

    def _agent(self) -> AgentService:
        agents, thread = self._caller.hub.agents, self._seen.thread
        if self._body.agent is None and thread is not None and thread.agent in agents.by_name:
            return agents.get(thread.agent)
        return agents.get(self._body.agent)

    # What is wanted

    async def _say(self, agent: AgentService, said: Sequence[JsonObject]) -> Run:
        """A message of the user: a new one, one that was edited, or one that came before."""
        message = read_message(said[-1], len(said) - 1, self._thread_id)
        known = await self._known(message.id)
        if known is None:
            await self._leave(said[:-1])
            return await self._start(agent, [*await self._unknown(said), message])
        if not isinstance(known, UserMessage):
            raise ConflictError(f"message {message.id!r} is an answer", hint="give a new message a new id")
        run = self._seen.run
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
        run = self._seen.run
        if run is None or not before:
            return
        ids = await rows.ids_of(self._session, run)
        if any(raw.get("id") in ids for raw in before):
            await self._session.stop(run.id, LEFT)
            await self._look(self._body.said)

    async def _unknown(self, said: Sequence[JsonObject]) -> list[Message]:
        """The messages before the last that nobody knows here, hung behind the last one that is known."""
        if not self._body.is_whole:
            return []
        new: list[Message] = []
        thread = self._seen.thread
        for place in range(len(said) - 2, -1, -1):
            known = await self._known(id_of(said[place], place))
            if known is not None:
                if thread is None or thread.active_leaf_id != known.id:
                    self._parent_id = (await rows.rows_from(self._store, known))[-1].id
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

    async def _last_row(self, message_id: str) -> AssistantMessage:
        """The message to continue, now that its calls have had their replies: the last of its run."""
        known = await self._store.get_message(self._thread_id, message_id)
        last = None if known is None else _assistant((await rows.rows_from(self._store, known))[-1])
        if last is None:
            raise NotFoundError(
                f"no answer {message_id!r} in chat {self._thread_id!r}", hint="load its messages again"
            )
        return last

    async def _answer_again(self, agent: AgentService, said: Sequence[JsonObject]) -> Run:
        """Answer a message of the user once more, on a branch of its own."""
        wanted = self._body.message_id
        known = None if wanted is None else await self._known(wanted)
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

    def _options_for(self, agent: AgentService) -> Options:
        return with_fields(self._options, tools=offered_tools(self._options.tools, agent))

    async def _start(
        self, agent: AgentService, messages: Sequence[Message] = (), *, after: str | None = None
    ) -> Run:
        options = self._options_for(agent)
        if messages and self._parent_id is not None:
            messages = [replace(messages[0], parent_id=self._parent_id), *messages[1:]]
        how: dict[str, Any] = {"busy": self._caller.hub.settings.busy, "options": options, **self._how}
        try:
            return await self._session.start(agent, self._thread_id, list(messages), after=after, **how)
        except NotFoundError:
            if after is None:
                raise
            await self._store.switch_branch(self._thread_id, after)  # it was on another branch
        return await self._session.start(agent, self._thread_id, None, after=after, **how)


def _assistant(message: Message | None) -> AssistantMessage | None:
    return message if isinstance(message, AssistantMessage) else None
