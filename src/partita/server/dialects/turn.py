"""A turn of a thread that a client requests, and the run that is started, resumed or found for it.

    POST /api/chat → `AiSdk.read` → `HistoryTurn` → `start_turn` → `StartedTurn` → `AiSdk.respond`

A `Turn` names what is new: messages, and replies to calls. A `HistoryTurn` is of a client whose messages have
ids, such as `useChat`. It sends its history, or the end of it; what is new is found by comparing it with the
stored messages.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import replace as with_fields
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from msgspec.structs import replace

from partita.errors import AgentError, ConflictError, ConversionError, DecodeError, NotFoundError
from partita.formats.format import ToolSpec
from partita.runtime.service import AgentService, InvokeOptions
from partita.runtime.session.client_replies import ApprovalResponse
from partita.runtime.session.session import Session
from partita.runtime.tools.tool import check_client_tools, client_tools, server_tools
from partita.server.callers import CallerView
from partita.server.file_urls import with_references
from partita.server.problems import Problem
from partita.store.runs.rows import ACTIVE
from partita.store.threads.threads import ThreadContext
from partita.store.values import MessageFilter, RunFilter
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage
from partita.types.threads import Run

from .client_messages import (
    ClientMessage,
    Reply,
    active_run,
    add_replies,
    add_reply,
    check_roles,
    check_seed,
    ids_of,
    is_replied,
    queued_ids,
    replied_at,
    rows_before,
    rows_from,
    same_parts,
    with_approvals,
)

ABANDONED: Final = "abandoned by the client"
"""The stop reason of a run that its client has abandoned."""

LAST_QUEUED: Final = 100
"""How many queued runs are checked for messages that the client has abandoned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn of a thread: new messages, replies to calls, and options."""

    thread_id: str
    agent: str | None = None
    """The name of the agent; `None` for that of the thread, or the default."""
    tools: Sequence[ToolSpec] = ()
    """Tools that the client runs."""
    instructions: str | None = None
    new: Sequence[Message] = ()
    replies: Sequence[Reply] = ()
    """Approval responses and outputs of calls that the run has waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryTurn(Turn):
    """A turn of a client that sends its history."""

    messages: Sequence[ClientMessage]
    """The history, or its end. The last message is the one to act on."""
    is_whole: bool = True
    """Whether `messages` is all that the client has, and not only the last message."""
    trigger: Literal["submit-message", "regenerate-message"] = "submit-message"
    message_id: str | None = None
    """The message that was edited, is continued, or gets another response."""
    cwd: str | None = None
    """The folder in which the agent works."""
    key: str | None = None
    """The idempotency key: requests with the same key start one run."""


class StartedTurn(NamedTuple):
    """The run of a turn. The client has all entries of its log up to `after`.

    `continued` is the message that the run continues, as it was before; the client has it as `message_id`.
    If the request was repeated, the run may have ended.
    """

    run: Run
    after: int = 0
    message_id: str | None = None
    continued: AssistantMessage | None = None


async def start_turn(caller: CallerView, turn: Turn, extra: JsonObject) -> StartedTurn:
    """The run of a turn. `extra` has the members of the request that only the agent uses."""
    options = caller.run_options(instructions=turn.instructions, body=extra)
    if isinstance(turn, HistoryTurn):
        return await _HistoryStart(caller, turn, options).start()
    return await _start_or_resume(caller, turn, options)


def offered_tools(tools: Sequence[ToolSpec], agent: AgentService) -> tuple[ToolSpec, ...]:
    """The tools of a request that the agent offers in addition to its own.

    Tools that the agent cannot offer, and names of tools that it runs itself, are refused. A tool that it
    declares for the client is left out: the agent offers it already.
    """
    try:
        check_client_tools(agent, tools)
    except AgentError as error:
        raise ConversionError(error.what, where="$.tools", hint=error.hint) from error
    taken, declared = server_tools(agent), client_tools(agent)
    for index, tool in enumerate(tools):
        if tool.name in taken:
            raise ConversionError(
                f"the agent already has a tool {tool.name!r}",
                where=f"$.tools[{index}]",
                hint="rename your tool",
            )
    return tuple(tool for tool in tools if tool.name not in declared)


# A turn that names its new messages and replies


async def _start_or_resume(caller: CallerView, turn: Turn, options: InvokeOptions) -> StartedTurn:
    """Store replies, then start a run with the new messages, or continue the message that had the calls."""
    session, thread_id = caller.session, turn.thread_id
    agent = caller.state.agents.get(turn.agent)
    how: dict[str, Any] = {
        "busy": caller.state.settings.busy,
        "options": with_fields(options, tools=offered_tools(turn.tools, agent)),
    }
    active = await session.active_run(thread_id) if turn.replies else None
    produced, last_seq = ((), 0) if active is None else await session.progress(active)
    for reply in turn.replies:
        await add_reply(caller, thread_id, reply)
    if turn.new:
        return StartedTurn(await session.start(agent, thread_id, list(turn.new), **how))
    if active is not None and any(_is_awaited(reply, produced) for reply in turn.replies):
        return StartedTurn(active, last_seq, continued=produced[-1] if produced else None)
    page = await caller.store.messages.list(
        thread_id, MessageFilter(roles=("assistant",)), limit=1, order="desc"
    )
    last = _assistant(page.items[0]) if page.items else None
    if last is None:
        raise ConflictError(f"thread {thread_id!r} has no response", hint="send a message first")
    return StartedTurn(await session.start(agent, thread_id, None, after=last.id, **how), continued=last)


def _is_awaited(reply: Reply, produced: Sequence[AssistantMessage]) -> bool:
    """Whether a run may have waited for a reply. Not every approval request is for a call."""
    if isinstance(reply, ApprovalResponse):
        return True
    calls = (part for message in produced for part in message.parts if isinstance(part, ToolCallPart))
    return any(call.id == reply.tool_call_id for call in calls)


# A turn of a client that sends its history


def run_id_of(caller: CallerView, thread_id: str, key: str) -> str:
    """The id of the run that a request with an idempotency key starts: the same for the same request."""
    text = "\0".join((caller.principal.resource_id or "", thread_id, key))
    return f"once-{sha256(text.encode()).hexdigest()[:32]}"


class _HistoryStart:
    """Starts the run of one `HistoryTurn`. Messages are identified by their ids, never by their position."""

    def __init__(self, caller: CallerView, turn: HistoryTurn, options: InvokeOptions) -> None:
        self._caller = caller
        self._turn = turn
        self._options = options
        self._store = caller.store
        self._session = caller.session
        self._thread_id = turn.thread_id
        self._last = turn.messages[-1] if turn.messages else None
        self._folder: dict[str, Any] = {}  # the folder of the run, as arguments of `Session.start`
        self._parent_id: str | None = None  # the parent of new messages, if it is not the last message
        self._run_id = None if turn.key is None else run_id_of(caller, turn.thread_id, turn.key)
        self._context = ThreadContext(None, None, {}, {})
        self._context_ids: Sequence[str] = ()  # the messages that were looked up for the context
        self._queued: set[str] = set()  # messages of runs that are queued, or were before this request

    async def start(self) -> StartedTurn:
        """The run of the turn: a new one, or that of an earlier request that this one repeats."""
        repeated = await self._repeated()
        try:
            return repeated or await self._start()
        except ConflictError:  # the same request may have been faster
            repeated = await self._repeated()
            if repeated is None:
                raise
            return repeated

    async def _repeated(self) -> StartedTurn | None:
        """The run that an earlier request with the same idempotency key has started."""
        run = None if self._run_id is None else await self._store.runs.get(self._run_id)
        if run is None:
            return None
        last = self._last
        if last is None or last.role != "assistant":
            return StartedTurn(run)
        copy = self._copy(last)
        after = await replied_at(self._store, run, copy) or 0
        return StartedTurn(run, after, last.id, with_approvals(copy, await self._last_row(last.id)))

    async def _start(self) -> StartedTurn:
        """Check the request, then start a run, or find the active one that it is about."""
        turn, last = self._turn, self._last
        if last is None and turn.trigger == "submit-message":
            raise DecodeError("no message", where="$.messages", hint="send messages, or one message")
        check_roles(turn.messages, self._caller.principal)
        await self._choose_folder()
        run = await self._start_with_only_message()
        if run is not None:
            return StartedTurn(run)
        await self._load_context()
        agent = self._choose_agent()
        if turn.trigger == "submit-message" and last is not None and last.role == "assistant":
            return await self._continue_response(agent, last)
        await self._add_replies()
        if turn.trigger == "regenerate-message":
            return StartedTurn(await self._regenerate(agent))
        return StartedTurn(await self._respond_to_last(agent))

    # Preparation

    async def _choose_folder(self) -> None:
        """Use the folder that the request names, or that of the last run: its agent session is there."""
        allowed, cwd = self._caller.state.settings.cwds, self._turn.cwd
        if cwd is not None:
            folder: Path | None = allowed_folder(cwd, allowed)
        elif not allowed:
            return
        else:
            page = await self._store.runs.list(RunFilter(thread_id=self._thread_id), limit=1)
            last = page.items[0].metadata if page.items else None
            folder = remembered_folder((last or {}).get(CWD), allowed)
        if folder is not None:
            self._folder = {"cwd": folder, "metadata": {CWD: str(folder)}}

    async def _load_context(self) -> None:
        """Read the state of the thread and the last messages that the client has of it."""
        ids = [message.id for message in self._turn.messages[-2:]]
        if self._turn.message_id is not None:
            ids.append(self._turn.message_id)
        self._context_ids = ids
        self._context = await self._store.threads.context(self._thread_id, ids)

    def _choose_agent(self) -> AgentService:
        """The agent that the request names, that of the thread, or the default."""
        agents, thread = self._caller.state.agents, self._context.thread
        if self._turn.agent is None and thread is not None and thread.agent in agents.by_name:
            return agents.get(thread.agent)
        return agents.get(self._turn.agent)

    async def _add_replies(self) -> int:
        """Store the replies in the client's messages to calls that wait for one; returns their number."""
        return await add_replies(self._caller, self._thread_id, self._turn.messages, self._context)

    def _copy(self, message: ClientMessage) -> AssistantMessage:
        """The client's copy of the response that it continues."""
        copy = message.read(self._thread_id)
        assert isinstance(copy, AssistantMessage), "its role is known"
        return copy

    async def _read(self, message: ClientMessage) -> Message:
        """A message of the client, with references to the files that it has uploaded."""
        return await with_references(self._caller, message.read(self._thread_id), message.where)

    async def _stored(self, message_id: str) -> Message | None:
        """The stored message of an id."""
        if message_id in self._context_ids:
            return self._context.messages.get(message_id)
        return await self._store.messages.get(self._thread_id, message_id)

    # The last message is a message of the user

    async def _start_with_only_message(self) -> Run | None:
        """Start with a single new message, which is the usual request and needs no context of the thread."""
        agents, turn = self._caller.state.agents, self._turn
        if len(turn.messages) != 1 or turn.trigger != "submit-message":
            return None
        (message,) = turn.messages
        if message.role != "user" or turn.message_id is not None:
            return None
        if turn.agent is None and len(agents.by_name) > 1:
            return None
        read = await self._read(message)
        agent = agents.get(turn.agent)
        with suppress(ConflictError):  # the message is stored already, or the thread has an active run
            return await self._session.start(
                agent,
                self._thread_id,
                [read],
                fresh=True,
                options=self._options_for(agent),
                run_id=self._run_id,
                **self._folder,
            )
        return None

    async def _respond_to_last(self, agent: AgentService) -> Run:
        """Start with the last message, one of the user: a new one, an edited one, or one sent before."""
        *earlier, last = self._turn.messages
        message = await self._read(last)
        stored = await self._stored(message.id)
        if stored is None:
            await self._stop_abandoned(earlier)
            return await self._start_run(agent, [*await self._unknown(earlier), message])
        if not isinstance(stored, UserMessage):
            raise ConflictError(
                f"message {message.id!r} is a response", hint="send a new message with a new id"
            )
        active = self._context.run
        latest = None if active is None else await self._last_user_message()
        if active is not None and latest is not None and latest.id == stored.id:
            if same_parts(stored, message) and self._turn.trigger == "submit-message":
                return active  # the request is repeated
            await stop_run(self._session, active, ABANDONED)
        elif active is not None:
            await self._stop_abandoned(self._turn.messages)
        completed = None if self._is_edited(stored, message) else await self._completed_response(stored)
        if completed is not None:
            return completed
        if not same_parts(stored, message):
            await self._store.messages.edit(self._thread_id, message)
        return await self._start_run(agent, after=message.id)

    def _is_edited(self, stored: Message, message: Message) -> bool:
        """Whether a stored message is sent for another response: `messageId` names an edited message."""
        explicit = self._turn.trigger == "regenerate-message" or self._turn.message_id is not None
        return explicit or not same_parts(stored, message)

    async def _completed_response(self, message: UserMessage) -> Run | None:
        """The run that has responded to a message, if it completed and the thread ends with it.

        A client that lost the end of the response repeats its request: the model is not called again.
        """
        thread = self._context.thread
        leaf_id = None if thread is None else thread.active_leaf_id
        leaf = None if leaf_id is None else await self._store.messages.get(self._thread_id, leaf_id)
        if not isinstance(leaf, AssistantMessage) or leaf.run_id is None:
            return None
        first = (await rows_before(self._store, leaf))[0]
        run = await self._store.runs.get(leaf.run_id) if first.parent_id == message.id else None
        return run if run is not None and run.status == "completed" else None

    async def _unknown(self, earlier: Sequence[ClientMessage]) -> list[Message]:
        """The messages before the last that are not stored. Their parent is the last one that is."""
        if not self._turn.is_whole:
            return []
        new: list[Message] = []
        thread = self._context.thread
        for message in reversed(earlier):
            if isinstance(message.raw_id, str) and message.raw_id in self._queued:
                return new  # it is stored once the active run has ended, before this one
            stored = await self._stored(message.id)
            if stored is not None:
                if thread is None or thread.active_leaf_id != stored.id:
                    self._parent_id = (await rows_from(self._store, stored))[-1].id
                return new
            read = await self._read(message)
            if isinstance(read, AssistantMessage):
                check_seed(read, message.where, self._caller.principal)
            new.insert(0, read)
        if thread is not None and thread.active_leaf_id is not None:  # it has messages
            self._parent_id = ""
        if self._parent_id is not None and any(isinstance(one, AssistantMessage) for one in new):
            raise ConflictError(
                "the client has responses that are not of this chat", hint="load its messages again"
            )
        return new

    # The last message is a response, with replies to its calls

    async def _continue_response(self, agent: AgentService, last: ClientMessage) -> StartedTurn:
        """The active run that has waited for the replies, or a run that continues the stored response."""
        active = self._context.run
        last_seq, before = 0, None
        if active is not None:  # read before the replies change its log
            last_seq = await self._session.last_seq(active.id)
            before = await self._store.read(active_run, self._thread_id)
        added = await self._add_replies()
        if active is not None and last.id in await ids_of(self._session, active):
            # Without a new reply, the request is repeated.
            after = last_seq if added else await replied_at(self._store, active, self._copy(last)) or 0
            return StartedTurn(active, after, last.id, None if before is None else _assistant(before[1]))
        row = await self._last_row(last.id)
        if not added and not is_replied(row):
            repeated = await self._repeated_reply(last, row)
            if repeated is not None:
                return repeated
        return StartedTurn(await self._start_run(agent, after=row.id), message_id=last.id, continued=row)

    async def _repeated_reply(self, last: ClientMessage, row: AssistantMessage) -> StartedTurn | None:
        """The run that has continued a message with the replies of an earlier request, if it completed."""
        run = await self._store.runs.get(row.run_id) if row.run_id else None
        if run is None or run.status != "completed":
            return None
        copy = self._copy(last)
        after = await replied_at(self._store, run, copy)
        return None if after is None else StartedTurn(run, after, last.id, with_approvals(copy, row))

    async def _last_row(self, message_id: str) -> AssistantMessage:
        """The message to continue, now that its calls have had their replies: the last of its run."""
        stored = await self._store.messages.get(self._thread_id, message_id)
        rows = [] if stored is None else await rows_from(self._store, stored)
        last = _assistant(rows[-1]) if rows else None
        if last is None:
            raise NotFoundError(
                f"no response {message_id!r} in chat {self._thread_id!r}", hint="load its messages again"
            )
        return last

    # Another response to a message of the user

    async def _regenerate(self, agent: AgentService) -> Run:
        """Respond to a message of the user a second time, on a new branch."""
        requested, last = self._turn.message_id, self._last
        stored = None if requested is None else await self._stored(requested)
        if stored is None and last is not None and last.role == "user":
            return await self._respond_to_last(agent)
        stored = stored or await self._last_user_message()
        if stored is None:
            raise NotFoundError(
                f"chat {self._thread_id!r} has no message of the user", hint="send a message first"
            )
        await self._stop_abandoned(self._turn.messages, also=stored.id)
        return await self._start_run(agent, after=await self._user_message_id_of(stored))

    async def _user_message_id_of(self, message: Message) -> str:
        """The message of the user that a message responds to, or is."""
        current: Message | None = message
        while current is not None and not isinstance(current, UserMessage):
            parent = current.parent_id
            current = await self._store.messages.get(self._thread_id, parent) if parent else None
        if current is None:
            raise ConflictError(
                f"message {message.id!r} responds to no message of the user", hint="send a message first"
            )
        return current.id

    async def _last_user_message(self) -> Message | None:
        page = await self._store.messages.list(
            self._thread_id, MessageFilter(roles=("user",)), limit=1, order="desc"
        )
        return page.items[0] if page.items else None

    # Runs

    def _options_for(self, agent: AgentService) -> InvokeOptions:
        return with_fields(self._options, tools=offered_tools(self._turn.tools, agent))

    async def _stop_abandoned(self, earlier: Sequence[ClientMessage], also: str | None = None) -> None:
        """Stop the active and queued runs that the client has abandoned, so that the next one can start.

        `stop()` of `useChat` only disconnects, as a lost connection does. If the client sends its next
        message after a response, or after the message that the response is for, it has abandoned that
        response. `also` is a message that counts as sent. A client that sends its last message alone has
        abandoned a response that no client reads.
        """
        active = self._context.run
        if active is None:
            return
        waiting = await self._store.runs.list(
            RunFilter(thread_id=self._thread_id, status=("pending",)), limit=LAST_QUEUED
        )
        sent = {message.raw_id for message in earlier if isinstance(message.raw_id, str)}
        sent |= set() if also is None else {also}
        self._queued = {id_ for run in waiting.items for id_ in queued_ids(run)}
        for run in (*waiting.items, active):  # the last in the queue first, so that none of them starts
            ids = queued_ids(run) if run is not active else await self._ids_of_exchange(run)
            if sent & ids:
                await stop_run(self._session, run, ABANDONED)
            elif not self._turn.is_whole:
                await self._session.stop_unread(run.id, ABANDONED)
        await self._load_context()

    async def _ids_of_exchange(self, run: Run) -> set[str]:
        """The ids of the message of an active run, and of the user's message that it responds to."""
        last = await self._last_user_message()
        return {*await ids_of(self._session, run), *([] if last is None else [last.id])}

    async def _start_run(
        self, agent: AgentService, messages: Sequence[Message] = (), *, after: str | None = None
    ) -> Run:
        if messages and self._parent_id is not None:
            messages = [replace(messages[0], parent_id=self._parent_id), *messages[1:]]
        how: dict[str, Any] = {
            "busy": self._caller.state.settings.busy,
            "options": self._options_for(agent),
            "run_id": self._run_id,
            **self._folder,
        }
        try:
            return await self._session.start(agent, self._thread_id, list(messages), after=after, **how)
        except NotFoundError:
            if after is None:
                raise
            await self._store.threads.switch_branch(self._thread_id, after)  # it is on another branch
        return await self._session.start(agent, self._thread_id, None, after=after, **how)


async def stop_run(session: Session, run: Run, reason: str | None) -> None:
    """Stop a run and wait until it has ended: the next run of the thread cannot start before."""
    if (await session.stop(run.id, reason)).status in ACTIVE:
        raise Problem(
            503, f"run {run.id!r} has not stopped yet", hint="try again later", headers={"retry-after": "5"}
        )


def _assistant(message: Message | None) -> AssistantMessage | None:
    return message if isinstance(message, AssistantMessage) else None


# The folder in which an agent works: a client may choose one that the server allows.

CWD: Final = "cwd"
"""The member of a run's metadata with the folder in which its agent worked."""

WHERE: Final = "$.cwd"


def allowed_folder(cwd: str, allowed: Sequence[str]) -> Path:
    """The folder of a request, if it is an allowed one or below one. Symbolic links are resolved."""
    if not allowed:
        raise Problem(
            403,
            "clients cannot choose the folder of an agent here",
            where=WHERE,
            hint="allow folders on the server: partita serve --cwd FOLDER, or asgi(…, cwds=[FOLDER])",
        )
    if not Path(cwd).is_absolute() or "\0" in cwd:
        raise Problem(
            400, f"{cwd[:200]!r} is not an absolute path", where=WHERE, hint="send an absolute path"
        )
    try:
        folder = Path(cwd).resolve()
    except (OSError, RuntimeError):  # a loop of links, or a name that is too long
        folder = Path(cwd)
    if not any(folder.is_relative_to(Path(each).expanduser().resolve()) for each in allowed):
        raise Problem(
            403,
            f"folder {cwd[:200]!r} is not allowed",
            where=WHERE,
            hint="use a folder that the server allows, or one below it",
        )
    if not folder.is_dir():
        raise Problem(400, f"folder {cwd[:200]!r} does not exist", where=WHERE, hint="create it first")
    return folder


def remembered_folder(cwd: object, allowed: Sequence[str]) -> Path | None:
    """The folder of an earlier run, if it is still allowed."""
    try:
        return allowed_folder(cwd, allowed) if isinstance(cwd, str) else None
    except Problem:
        return None
