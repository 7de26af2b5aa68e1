"""One request of a chat: what the client wants done, done, and the run that answers it."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace as with_fields
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from partita.errors import ConflictError, DecodeError, NotFoundError
from partita.runtime.service import AgentService, Options
from partita.server.files import with_references
from partita.server.folders import allowed_folder, remembered_folder
from partita.server.forms import offered_tools
from partita.server.hub import CallerView
from partita.server.problems import Problem
from partita.store.glances import Glance
from partita.store.runs import AT_WORK
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, Message, UserMessage
from partita.types.runs import Run

from . import rows
from .body import ChatBody, id_of
from .reading import check_roles, check_seed, read_message, same_words
from .replying import give_replies, is_replied

CWD: Final = "cwd"
"""Where the metadata of a run says in which folder its agent worked."""

LEFT: Final = "the client has gone on without it"

LAST_QUEUED: Final = 100
"""How many runs that wait in line are checked for messages that the client has left."""


class Begun(NamedTuple):
    """The run that answers a request, and what of it the client has: all up to a number.

    `continued` is the message that the run continues, as it was before; the client has it as `message_id`.
    The run may have ended: the request was repeated.
    """

    run: Run
    after: int = 0
    message_id: str | None = None
    continued: AssistantMessage | None = None


def run_id_of(caller: CallerView, thread_id: str, key: str) -> str:
    """The id of the run that a request with an idempotency key starts: the same for the same request."""
    named = "\0".join((caller.principal.resource_id or "", thread_id, key))
    return f"once-{sha256(named.encode()).hexdigest()[:32]}"


class ChatTurn:
    """Begins what a request asks for. Messages are known by their ids, never by their places."""

    def __init__(self, caller: CallerView, body: ChatBody, options: Options, key: str | None = None) -> None:
        """`options` say how the agent works this time; requests with the same `key` start one run."""
        self._caller = caller
        self._options = options
        self._store = caller.store
        self._session = caller.session
        self._body = body
        self._thread_id = body.id
        self._how: dict[str, Any] = {}  # the folder of the run, as `Session.start` takes it
        self._parent_id: str | None = None  # behind which message new ones are hung, if not at the end
        self._run_id = None if key is None else run_id_of(caller, body.id, key)
        self._seen = Glance(None, None, {}, {})
        self._looked_for: Sequence[str] = ()
        self._in_line: set[str] = set()  # messages of runs that wait, or have waited until this request

    async def begin(self) -> Begun:
        """The run that answers the request: a new one, or that of the same request, if it is repeated."""
        said = self._body.said
        repeated = await self._repeated(said)
        try:
            return repeated or await self._begin(said)
        except ConflictError:  # the same request may have been faster
            repeated = await self._repeated(said)
            if repeated is None:
                raise
            return repeated

    async def _repeated(self, said: Sequence[JsonObject]) -> Begun | None:
        """The run that an earlier request with the same idempotency key has started."""
        run = None if self._run_id is None else await self._store.get_run(self._run_id)
        return None if run is None else await self._replayed(run, said)

    async def _begin(self, said: Sequence[JsonObject]) -> Begun:
        if not said and self._body.trigger == "submit-message":
            raise DecodeError("no message", where="$.messages", hint="send messages, or one message")
        check_roles(said, self._caller.principal)
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
        given = await give_replies(self._caller, self._thread_id, said, self._seen)
        if self._body.trigger == "regenerate-message":
            return Begun(await self._answer_again(agent, said))
        if not goes_on:
            return Begun(await self._say(agent, said))
        message_id = id_of(said[-1], len(said) - 1)
        if at_work is not None and message_id in await rows.ids_of(self._session, at_work):
            # It has waited for the reply, and continues; or the request is repeated.
            continued = before[1] if before is not None else None
            if not given:
                heard = await rows.replied_at(self._store, at_work, self._copy(said)) or 0
            return Begun(at_work, heard, message_id, _assistant(continued))
        continued = await self._last_row(message_id)
        if not given and not is_replied(continued):
            ended = await self._store.get_run(continued.run_id) if continued.run_id else None
            if ended is not None and ended.status == "completed":
                heard = await rows.replied_at(self._store, ended, self._copy(said))
                if heard is not None:
                    copy = rows.with_approvals(self._copy(said), continued)
                    return Begun(ended, heard, message_id, copy)
        run = await self._start(agent, after=continued.id)
        return Begun(run, message_id=message_id, continued=continued)

    async def _replayed(self, run: Run, said: Sequence[JsonObject]) -> Begun:
        """The run that an earlier request has started. A client that continues its message has a part."""
        if not said or said[-1].get("role") != "assistant":
            return Begun(run)
        heard = await rows.replied_at(self._store, run, self._copy(said)) or 0
        message_id = id_of(said[-1], len(said) - 1)
        copy = rows.with_approvals(self._copy(said), await self._last_row(message_id))
        return Begun(run, heard, message_id, copy)

    def _copy(self, said: Sequence[JsonObject]) -> AssistantMessage:
        """The client's copy of the answer that it continues."""
        copy = _assistant(read_message(said[-1], len(said) - 1, self._thread_id))
        assert copy is not None, "its role is known"
        return copy

    async def _read(self, raw: JsonObject, place: int) -> Message:
        """A message of the client, with references to the files that it has uploaded."""
        message = read_message(raw, place, self._thread_id)
        return await with_references(self._caller, message, f"$.messages[{place}]")

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
        message = await self._read(said[0], 0)
        agent = agents.get(body.agent)
        options = self._options_for(agent)
        with suppress(ConflictError):  # it is there already, or the thread has a run at work
            return await self._session.start(
                agent,
                self._thread_id,
                [message],
                fresh=True,
                options=options,
                run_id=self._run_id,
                **self._how,
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
        message = await self._read(said[-1], len(said) - 1)
        known = await self._known(message.id)
        if known is None:
            await self._leave(said[:-1])
            return await self._start(agent, [*await self._unknown(said), message])
        if not isinstance(known, UserMessage):
            raise ConflictError(f"message {message.id!r} is an answer", hint="give a new message a new id")
        run = self._seen.run
        if run is not None and await self._answers(run, known):
            if same_words(known, message) and self._body.trigger == "submit-message":
                return run  # the request is repeated
            await self._stop(run)
        elif run is not None:
            await self._leave(said)
        answer = None if self._is_edited(known, message) else await self._completed(known)
        if answer is not None:
            return answer
        if not same_words(known, message):
            await self._store.edit_message(self._thread_id, message)
        return await self._start(agent, after=message.id)

    async def _answers(self, run: Run, message: UserMessage) -> bool:
        """Whether a run at work answers a message."""
        page = await self._store.list_messages(run.thread_id, limit=1, order="desc", roles=("user",))
        return bool(page.items) and page.items[0].id == message.id

    def _is_edited(self, known: Message, message: Message) -> bool:
        """Whether a message that is stored is sent to be answered again: `messageId` names an edited one."""
        wanted = self._body.trigger == "regenerate-message" or self._body.message_id is not None
        return wanted or not same_words(known, message)

    async def _completed(self, question: Message) -> Run | None:
        """The run that has answered a message, if it completed and nothing was said since.

        A client that lost the end of the answer repeats its request: the model is not called again.
        """
        thread = self._seen.thread
        leaf_id = None if thread is None else thread.active_leaf_id
        leaf = None if leaf_id is None else await self._store.get_message(self._thread_id, leaf_id)
        if not isinstance(leaf, AssistantMessage) or leaf.run_id is None:
            return None
        first = (await rows.rows_before(self._store, leaf))[0]
        run = await self._store.get_run(leaf.run_id) if first.parent_id == question.id else None
        return run if run is not None and run.status == "completed" else None

    async def _stop(self, run: Run) -> None:
        """Stop a run and wait until it has ended: the next one cannot start before."""
        if (await self._session.stop(run.id, LEFT)).status in AT_WORK:
            raise Problem(
                503,
                f"run {run.id!r} of this chat has not stopped yet",
                hint="send the message again later",
                headers={"retry-after": "5"},
            )

    async def _leave(self, before: Sequence[JsonObject]) -> None:
        """Stop the runs that the client has left, at work or in line, so that the next message is answered.

        `stop()` of `useChat` only disconnects, as a lost connection does. That the client sends the next
        message behind an answer or its question means that it has left that answer. A client that sends its
        last message alone has left an answer that no client reads.
        """
        run = self._seen.run
        if run is None:
            return
        waiting = await self._store.list_runs(
            thread_id=self._thread_id, status=("pending",), limit=LAST_QUEUED
        )
        sent = {raw.get("id") for raw in before}
        self._in_line = {id_ for one in waiting.items for id_ in rows.queued_ids(one)}
        for one in (*waiting.items, run):  # the last in line first, so that none of them begins meanwhile
            known = rows.queued_ids(one) if one is not run else await self._ids_with_question(run)
            if sent & known:
                await self._stop(one)
            elif not self._body.is_whole:
                await self._session.leave(one.id, LEFT)
        await self._look(self._body.said)

    async def _ids_with_question(self, run: Run) -> set[str]:
        """The ids of the message of a run at work, and of the message of the user that it answers."""
        page = await self._store.list_messages(run.thread_id, limit=1, order="desc", roles=("user",))
        return {*await rows.ids_of(self._session, run), *(one.id for one in page.items)}

    async def _unknown(self, said: Sequence[JsonObject]) -> list[Message]:
        """The messages before the last that nobody knows here, hung behind the last one that is known."""
        if not self._body.is_whole:
            return []
        new: list[Message] = []
        thread = self._seen.thread
        for place in range(len(said) - 2, -1, -1):
            if said[place].get("id") in self._in_line:
                return new  # it is stored once the run at work has ended, before this one
            known = await self._known(id_of(said[place], place))
            if known is not None:
                if thread is None or thread.active_leaf_id != known.id:
                    self._parent_id = (await rows.rows_from(self._store, known))[-1].id
                return new
            message = await self._read(said[place], place)
            if isinstance(message, AssistantMessage):
                check_seed(message, place, self._caller.principal)
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
        await self._leave([*said, {"id": known.id}])
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
        how: dict[str, Any] = {
            "busy": self._caller.hub.settings.busy,
            "options": options,
            "run_id": self._run_id,
            **self._how,
        }
        try:
            return await self._session.start(agent, self._thread_id, list(messages), after=after, **how)
        except NotFoundError:
            if after is None:
                raise
            await self._store.switch_branch(self._thread_id, after)  # it was on another branch
        return await self._session.start(agent, self._thread_id, None, after=after, **how)


def _assistant(message: Message | None) -> AssistantMessage | None:
    return message if isinstance(message, AssistantMessage) else None
