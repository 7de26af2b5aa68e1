"""Sessions of coding agents that our own runs drove: they are stored once.

A live run stores what the agent's stream reports. The agent also writes a log of the same session, and that
log may be imported before, during or after the run. The session's id is kept with the thread of the run, so
that an import adds to that thread what the runs do not have: turns that somebody else began. Of a turn that a
run recorded nothing is added. A turn is recognised by the ids of its responses. Where a stream reports no
such ids it is recognised by its prompt, and in a session that others began also by its time.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from msgspec.structs import replace
from sqlalchemy import Row, delete, select

from partita.store.messages import queries as messages
from partita.store.messages.prepared import Prepared
from partita.store.messages.rows import read_messages
from partita.store.runs import rows as runs
from partita.store.schema import consumptions as ledger
from partita.store.schema import messages as message_table
from partita.store.schema import runs as run_table
from partita.store.schema import sources as source_table
from partita.store.sources import save_sources
from partita.store.sql.transaction import Transaction, owner_of
from partita.store.threads import rows as threads
from partita.store.usage import record_usage
from partita.store.values import ConsumptionRecord, Source
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads
from partita.types.messages import AssistantMessage, Message, UserMessage, text_of
from partita.types.threads import Run, Thread

from .rows import ThreadRows
from .writer import Counts, write_threads

SESSION: Final = "session:"
"""How the paths of sources begin that name a session of an agent, not a file."""

AGENT_SESSION: Final = "agentSession"
"""In the metadata of a run: the agent's own id of the conversation."""

RESUMED: Final = "agentSessionResumed"
"""In the metadata of a run: true if the session was there before the run."""

LOG_RUNS: Final = "logRuns"
"""In the metadata of a run: the ids under which an import knows the same turn."""

RESPONSE_IDS: Final = "responseIds"
"""In the metadata of a run that broke off: the responses that its stream had begun to report."""

RESPONSES: Final = ("claudeCode", "responses")
"""Where the metadata of a message has the responses of the model, by their ids."""

MARGIN: Final = timedelta(seconds=5)
"""How much clocks may differ between the agent and the store."""

UNNAMED: Final = "step-"
"""How the names of responses begin there that have no id of their own."""


class Recorded(NamedTuple):
    """A turn that a run recorded: the responses that it reports, and what was asked."""

    run: Run
    responses: frozenset[str]
    prompt: str | None
    by_time: bool = False
    """Whether its time has to tell it from turns that others began."""

    @property
    def log_runs(self) -> list[str]:
        """The turns of a log that are known to be this one."""
        known: Json = (self.run.metadata or {}).get(LOG_RUNS)
        return [one for one in known if isinstance(one, str)] if is_array(known) else []


class LogTurn(NamedTuple):
    """A turn as a log has it."""

    id: str
    responses: frozenset[str]
    prompt: str | None
    time: datetime | None


# A live run


def note(
    tx: Transaction,
    run_id: str,
    session_id: str,
    about: Thread,
    *,
    provisional_title: str | None = None,
    model: str | None = None,
    metadata: JsonObject | None = None,
) -> Run:
    """Keep the id of an agent's session with a run and its thread. `about` fills what the thread lacks.

    A title in `about` also replaces the provisional one. `model` and `metadata` are for the run.
    """
    row = runs.find(tx, run_id)
    mine = Transaction(tx.connection, row.owner, tx.now)
    thread = threads.from_row(threads.find(mine, row.thread_id, lock=True))
    row = runs.find(mine, run_id, lock=True)
    metadata = {**(runs.from_row(row).metadata or {}), AGENT_SESSION: session_id, **(metadata or {})}
    save_sources(
        mine,
        [Source(path=_path(session_id), agent=row.agent, state={"threadId": row.thread_id})],
        row.owner,
    )
    wanted = replace(
        thread,
        title=about.title if about.title and thread.title in (None, provisional_title) else thread.title,
        agent=thread.agent or about.agent,
        project=thread.project or about.project,
        metadata={**(thread.metadata or {}), **(about.metadata or {})} or None,
    )
    if wanted != thread:
        threads.save(mine, wanted)
    known = {"metadata": dumps(metadata).decode(), "model": model or row.model}
    return runs.change(mine, row, known)


def settle(tx: Transaction, run_id: str, session_id: str, records: Sequence[ConsumptionRecord]) -> None:
    """Record what a run consumed. A thread that an import made of the run's own session is removed."""
    row = runs.find(tx, run_id)
    mine = Transaction(tx.connection, row.owner, tx.now)
    if session_id != row.thread_id and threads.find_or_none(mine, session_id) is not None:
        records = _settle_copy(mine, row.thread_id, session_id, records)
    if records:
        record_usage(mine, records)


def _settle_copy(
    tx: Transaction, thread_id: str, session_id: str, records: Sequence[ConsumptionRecord]
) -> Sequence[ConsumptionRecord]:
    """Settle what an import made of a session as a thread of its own; returns the records to write.

    If runs recorded all of it, it is removed. Else it stays, and responses that both have are counted once.
    """
    query = select(message_table).where(
        tx.owned(message_table), message_table.c.thread_id == session_id, message_table.c.internal.is_(False)
    )
    stored = read_messages(tx, tx.rows(query.order_by(message_table.c.seq)), "inline")
    turns = _turns((message, text_of(message)) for message in stored)
    matched = _matched(turns, _recorded(tx, thread_id, session_id))
    if turns and all(turn.id in matched for turn in turns):
        threads.delete_thread(tx, session_id)
        tx.run(delete(source_table).where(tx.owned(source_table), source_table.c.thread_id == session_id))
        return records
    whole = {record.run_id for record in records if record.key.startswith(f"{record.run_id}:")}
    twice = [turn for turn, by in matched.items() if by.run.id in whole]
    tx.run(
        delete(ledger).where(
            tx.owned(ledger), ledger.c.thread_id == session_id, tx.among(ledger.c.run_id, twice)
        )
    )
    return _renamed(records, _keys(tx, session_id))


# An import


def write_sessions(tx: Transaction, sessions: Sequence[ThreadRows], resource_id: str | None) -> Counts:
    """Write imported sessions, all or none; turns that runs of ours recorded are not stored twice."""
    mine = Transaction(tx.connection, owner_of(tx, resource_id), tx.now)
    return write_threads(mine, adopt(mine, sessions), skip_empty=True)


def adopt(tx: Transaction, sessions: Sequence[ThreadRows]) -> list[ThreadRows]:
    """Sessions as they are to be written. One that a run is working on is left for a later import."""
    owners = _threads_of(tx, [session.thread.id for session in sessions])
    if not owners:
        return list(sessions)
    adopted = [_adopt(tx, session, owners.get(session.thread.id)) for session in sessions]
    return [session for session in adopted if session is not None]


def _threads_of(tx: Transaction, session_ids: Iterable[str]) -> dict[str, str]:
    """The threads of the runs that drove sessions, by the session."""
    paths = [_path(session_id) for session_id in session_ids]
    query = select(source_table.c.path, source_table.c.state).where(
        tx.owned(source_table), tx.among(source_table.c.path, paths)
    )
    states: dict[str, Json] = {row.path: loads(row.state) for row in tx.rows(query) if row.state is not None}
    return {
        path.removeprefix(SESSION): state["threadId"] for path, state in states.items() if is_object(state)
    }


def _adopt(tx: Transaction, session: ThreadRows, thread_id: str | None) -> ThreadRows | None:
    session_id = session.thread.id
    found = None if thread_id is None else threads.find_or_none(tx, thread_id)
    if found is None:
        return session
    recorded = _recorded(tx, found.id, session_id)
    if any(_is_at_work(tx, one.run) for one in recorded):
        return None
    turns = _log_turns(session)
    matched = _matched(turns, recorded)
    whole = _whole_records(tx, found.id)
    spent = [
        record
        for record in session.consumptions
        if (by := matched.get(record.run_id or "")) is None or by.run.id not in whole
    ]
    session = session._replace(consumptions=_renamed(spent, _keys(tx, found.id)))
    if found.id != session_id and threads.find_or_none(tx, session_id) is not None:
        return session
    is_known = any(one.log_runs for one in recorded)
    if not is_known and not (turns and turns[0].id in matched):
        return session  # others began this session: it is a thread of its own
    _keep_matches(tx, matched, recorded)
    return _moved(tx, session, threads.from_row(found), matched)


def _is_at_work(tx: Transaction, run: Run) -> bool:
    """Whether a process works on a run. One whose lease has run out is gone."""
    expires = run.lease_expires_at
    return run.status in runs.ACTIVE and (expires is None or expires > tx.now)


def _keep_matches(tx: Transaction, matched: dict[str, Recorded], recorded: Iterable[Recorded]) -> None:
    """Keep which turns of the log a run recorded: a later piece of the log may not tell it."""
    for one in recorded:
        known = one.log_runs
        new = [turn for turn, by in matched.items() if by.run.id == one.run.id and turn not in known]
        if new:
            metadata = {**(one.run.metadata or {}), LOG_RUNS: [*known, *new]}
            runs.change(tx, runs.find(tx, one.run.id, lock=True), {"metadata": dumps(metadata).decode()})


def _moved(tx: Transaction, session: ThreadRows, thread: Thread, matched: dict[str, Recorded]) -> ThreadRows:
    """What is new of a session, for the thread of the runs that drove it.

    Turns without talk, such as what stands before the first prompt, are about the process that was driven.
    """
    stored = select(run_table.c.id).where(tx.owned(run_table), run_table.c.thread_id == thread.id)
    talking = {turn.id for turn in _log_turns(session)} | {row.id for row in tx.rows(stored)}
    others = talking - matched.keys()
    kept: list[Prepared] = []
    behind: dict[str, str | None] = {}  # by message that is left out: which one takes its place as a parent
    for one in session.messages:
        message, by = one.message, matched.get(one.message.run_id or "")
        parent = behind.get(message.parent_id or "", message.parent_id)
        if by is not None and not _is_missing(one, by):
            behind[message.id] = by.run.message_id
        elif by is None and message.run_id not in others:
            behind[message.id] = parent or None
        else:
            own = message.run_id if by is None else by.run.id
            moved = replace(message, thread_id=thread.id, parent_id=parent, run_id=own)
            kept.append(one._replace(message=moved, thread_id=thread.id))
    spent: list[ConsumptionRecord] = []
    for record in session.consumptions:
        by = matched.get(record.run_id or "")
        moved = replace(record, thread_id=thread.id)
        if by is not None:
            moved = replace(moved, run_id=by.run.id, message_id=by.run.message_id)
        spent.append(moved)
    about = replace(session.thread, id=thread.id, title=thread.title or session.thread.title, created_at=None)
    return session._replace(
        thread=about,
        messages=_with_parents(tx, thread.id, kept),
        runs=[
            one._replace(run=replace(one.run, thread_id=thread.id))
            for one in session.runs
            if one.run.id in others
        ],
        consumptions=spent,
    )


def _with_parents(tx: Transaction, thread_id: str, kept: Sequence[Prepared]) -> list[Prepared]:
    """Messages for a thread. One whose parent was left out of an earlier piece stays where it is stored, or
    follows the last message.
    """
    wanted = [one.message.parent_id for one in kept if one.message.parent_id]
    query = select(message_table.c.id).where(
        tx.owned(message_table), message_table.c.thread_id == thread_id, tx.among(message_table.c.id, wanted)
    )
    known = {row.id for row in tx.rows(query)} | {one.message.id for one in kept}
    return [
        one if one.message.parent_id in known else one._replace(message=replace(one.message, parent_id=None))
        for one in kept
    ]


def _is_missing(one: Prepared, by: Recorded) -> bool:
    """Whether a run that was cut off does not have a response of its turn: its agent went on without it."""
    return (
        by.run.status == "interrupted"
        and bool(by.responses)
        and one.role == "assistant"
        and not one.message.internal
        and _response(one.message.id) not in by.responses
    )


# What both share


def _path(session_id: str) -> str:
    return f"{SESSION}{session_id}"


def _recorded(tx: Transaction, thread_id: str, session_id: str) -> list[Recorded]:
    """The turns that runs of a thread recorded of a session, the oldest first."""
    query = (
        select(run_table)
        .where(tx.owned(run_table), run_table.c.thread_id == thread_id)
        .where(run_table.c.metadata.like(f'%"{AGENT_SESSION}":%'))
        .order_by(run_table.c.created_at, run_table.c.id)
    )
    found = [run for row in tx.rows(query) if _session_of(run := runs.from_row(row)) == session_id]
    recorded = [_as_recorded(tx, run) for run in found]
    if found and (found[0].metadata or {}).get(RESUMED) is True:  # others may have asked the same before
        return [one._replace(by_time=True) for one in recorded]
    return recorded


def _session_of(run: Run) -> Json:
    return (run.metadata or {}).get(AGENT_SESSION)


def _as_recorded(tx: Transaction, run: Run) -> Recorded:
    query = select(message_table).where(
        tx.owned(message_table),
        message_table.c.thread_id == run.thread_id,
        message_table.c.run_id == run.id,
    )
    answers = read_messages(tx, tx.rows(query.order_by(message_table.c.seq)), "inline")
    known: Json = (run.metadata or {}).get(RESPONSE_IDS)
    responses = [response for answer in answers for response in _responses(answer)]
    responses += [response for response in known if isinstance(response, str)] if is_array(known) else []
    parent = answers[0].parent_id if answers else None
    asked = messages.get(tx, run.thread_id, parent) if parent else None
    return Recorded(run, frozenset(responses), None if asked is None else text_of(asked))


def _responses(message: Message) -> list[str]:
    """The ids of the responses that a message was made of, as the stream reported them."""
    found: Json = message.content.metadata if isinstance(message, AssistantMessage) else None
    for name in RESPONSES:
        found = found.get(name) if is_object(found) else None
    return [name for name in found if not name.startswith(UNNAMED)] if is_object(found) else []


def _response(message_id: str) -> str:
    """The id of the response that a message of a log is. A log may add the request, or a place."""
    return message_id.partition("/")[0]


def _log_turns(session: ThreadRows) -> list[LogTurn]:
    """The turns of a session that is imported."""
    return _turns((one.message, _text(one.content)) for one in session.messages if not one.message.internal)


def _text(content: str) -> str:
    """The text of a content that is encoded."""
    parts: Json = loads(content).get("parts")
    texts = [part.get("text") for part in parts if is_object(part) and part.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))


def _turns(talk: Iterable[tuple[Message, str]]) -> list[LogTurn]:
    """Turns by their runs, of messages with their texts."""
    responses: dict[str, set[str]] = {}
    prompts: dict[str, str] = {}
    times: dict[str, datetime | None] = {}
    for message, text in talk:
        if message.run_id and message.type != "event":
            answers = responses.setdefault(message.run_id, set())
            times.setdefault(message.run_id, message.created_at)
            if isinstance(message, AssistantMessage):
                answers.add(_response(message.id))
            elif isinstance(message, UserMessage):
                prompts.setdefault(message.run_id, text)
    return [
        LogTurn(turn, frozenset(found), prompts.get(turn), times[turn]) for turn, found in responses.items()
    ]


def _matched(turns: Iterable[LogTurn], recorded: Sequence[Recorded]) -> dict[str, Recorded]:
    """Which turns of a log are those of runs."""
    matched = {turn: one for one in recorded for turn in one.log_runs}
    free = [one for one in recorded if not one.log_runs]
    for turn in turns:
        if turn.id in matched:
            continue
        by = next((one for one in free if _is_same(turn, one)), None)
        if by is not None:
            matched[turn.id] = by
            free.remove(by)
    return matched


def _is_same(turn: LogTurn, recorded: Recorded) -> bool:
    """Whether a turn of a log is one that a run recorded: by its responses if both have some."""
    if turn.responses and recorded.responses:
        return not turn.responses.isdisjoint(recorded.responses)
    if not turn.prompt or not recorded.prompt or (recorded.by_time and not _is_during(turn, recorded.run)):
        return False
    # What was said before may have been sent along, before the prompt. Agents differ in white space.
    return "".join(turn.prompt.split()).endswith("".join(recorded.prompt.split()))


def _is_during(turn: LogTurn, run: Run) -> bool:
    """Whether a turn began while a run was at work."""
    if turn.time is None or run.started_at is None or run.finished_at is None:
        return False
    return run.started_at - MARGIN <= turn.time <= run.finished_at + MARGIN


def _keys(tx: Transaction, thread_id: str) -> dict[str, Row[Any]]:
    """The keys under which a thread has responses in the ledger, with what they cost."""
    query = select(ledger.c.key, ledger.c.cost, ledger.c.price)
    found = tx.rows(query.where(tx.owned(ledger), ledger.c.thread_id == thread_id))
    return {row.key: row for row in found}


def _whole_records(tx: Transaction, thread_id: str) -> set[str]:
    """The runs of a thread that recorded what they consumed as a whole, not by response."""
    query = select(ledger.c.key, ledger.c.run_id).where(tx.owned(ledger), ledger.c.thread_id == thread_id)
    return {row.run_id for row in tx.rows(query) if row.run_id and row.key.startswith(f"{row.run_id}:")}


def _renamed(records: Sequence[ConsumptionRecord], known: Mapping[str, Row[Any]]) -> list[ConsumptionRecord]:
    """Records under the keys that are known of the same responses. A cost that one of both knows is kept.

    A log names the response and the request (`id:request`), a stream of some versions the response alone.
    """
    by_response = {key.partition(":")[0]: key for key in known if ":" in key}

    def known_as(key: str) -> str:
        response, colon, _ = key.partition(":")
        if colon:
            return response if response in known else key
        return key if key in known else by_response.get(key, key)

    renamed = [replace(record, key=known_as(record.key)) for record in records]
    return [
        replace(record, cost=row.cost, price=None if row.price is None else loads(row.price))
        if record.cost is None and (row := known.get(record.key)) is not None
        else record
        for record in renamed
    ]
