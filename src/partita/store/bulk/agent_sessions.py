"""Avoid duplicates of sessions of coding agents that were both run through Partita and imported from a log.

A run stores what the agent's stream reports. The agent also writes a log of the same session, and that log
may be imported before, during or after the run. The session id is stored with the thread of the run, so that
an import adds to that thread only the turns that the runs do not have. A turn is identified by the ids of its
responses; if a stream reports no ids, by its prompt, and in a resumed session also by its time.
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
from partita.store.sources import (
    REMOVED_STATE,
    SESSION,
    removed_threads,
    restore_removed,
    save_sources,
)
from partita.store.sql.transaction import Transaction, owner_of
from partita.store.threads import rows as threads
from partita.store.usage import record_usage
from partita.store.values import ConsumptionRecord, Source
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads
from partita.types.messages import AssistantMessage, Message, UserMessage, text_of
from partita.types.threads import Run, Thread

from .rows import ThreadRows
from .writer import ThreadCounts, compare_threads, known_threads, write_threads

AGENT_SESSION: Final = "agentSession"
"""In the metadata of a run: the session id of the agent."""

RESUMED: Final = "agentSessionResumed"
"""In the metadata of a run: true if the session existed before the run."""

LOG_RUNS: Final = "logRuns"
"""In the metadata of a run: the run ids that an import gives to the same turn."""

RESPONSE_IDS: Final = "responseIds"
"""In the metadata of an interrupted run: the ids of the responses that had started."""

RESPONSES: Final = ("claudeCode", "responses")
"""The path in the metadata of a message to the responses of the model, by id."""

MARGIN: Final = timedelta(seconds=5)
"""The maximal difference between the clocks of the agent and the store."""

UNNAMED: Final = "step-"
"""The start of the keys of responses without an id."""


class RecordedTurn(NamedTuple):
    """A turn that a run recorded, with the ids of its responses and its prompt."""

    run: Run
    responses: frozenset[str]
    prompt: str | None
    by_time: bool = False
    """Whether the time of a turn must match too."""

    @property
    def log_runs(self) -> list[str]:
        """The turns of a log that are known to be this turn."""
        known: Json = (self.run.metadata or {}).get(LOG_RUNS)
        return [one for one in known if isinstance(one, str)] if is_array(known) else []


class LogTurn(NamedTuple):
    """A turn in a log."""

    id: str
    responses: frozenset[str]
    prompt: str | None
    time: datetime | None


# A run of ours


def link_session(
    tx: Transaction,
    run_id: str,
    session_id: str,
    about: Thread,
    *,
    provisional_title: str | None = None,
    model: str | None = None,
    metadata: JsonObject | None = None,
) -> Run:
    """Store the id of an agent's session with a run and its thread.

    Fields that the thread does not have are taken from `about`; its title also replaces the provisional one.
    `model` and `metadata` are those of the run.
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
    updated = replace(
        thread,
        title=about.title if about.title and thread.title in (None, provisional_title) else thread.title,
        agent=thread.agent or about.agent,
        project=thread.project or about.project,
        metadata={**(thread.metadata or {}), **(about.metadata or {})} or None,
    )
    if updated != thread:
        threads.save(mine, updated)
    fields = {"metadata": dumps(metadata).decode(), "model": model or row.model}
    return runs.change(mine, row, fields)


def record_session_usage(
    tx: Transaction, run_id: str, session_id: str, records: Sequence[ConsumptionRecord]
) -> None:
    """Record what a run consumed. If an import has stored the session as a thread of its own, delete that."""
    row = runs.find(tx, run_id)
    mine = Transaction(tx.connection, row.owner, tx.now)
    if session_id != row.thread_id and threads.find_or_none(mine, session_id) is not None:
        records = _merge_imported(mine, row.thread_id, session_id, records)
    if records:
        record_usage(mine, records)


def _merge_imported(
    tx: Transaction, thread_id: str, session_id: str, records: Sequence[ConsumptionRecord]
) -> Sequence[ConsumptionRecord]:
    """Merge a session that was imported as a thread of its own; returns the records to write.

    If runs recorded all of its turns, the thread is deleted. Otherwise responses that both threads have are
    counted once.
    """
    query = select(message_table).where(
        tx.owned(message_table), message_table.c.thread_id == session_id, message_table.c.internal.is_(False)
    )
    stored = read_messages(tx, tx.rows(query.order_by(message_table.c.seq)), "inline")
    turns = _turns((message, text_of(message)) for message in stored)
    matched = _match(turns, _recorded(tx, thread_id, session_id))
    if turns and all(turn.id in matched for turn in turns):
        threads.discard_thread(tx, session_id)
        tx.run(delete(source_table).where(tx.owned(source_table), source_table.c.thread_id == session_id))
        return records
    totals = {record.run_id for record in records if record.key.startswith(f"{record.run_id}:")}
    duplicates = [turn for turn, recorded in matched.items() if recorded.run.id in totals]
    tx.run(
        delete(ledger).where(
            tx.owned(ledger), ledger.c.thread_id == session_id, tx.among(ledger.c.run_id, duplicates)
        )
    )
    return _with_known_keys(records, _ledger_rows(tx, session_id))


# An import


def write_sessions(
    tx: Transaction, sessions: Sequence[ThreadRows], resource_id: str | None, *, restore: bool = False
) -> list[ThreadCounts]:
    """Write imported sessions, all or none. Turns that runs have recorded are not stored again.

    Sessions whose threads were deleted are left out, unless `restore`.
    """
    mine = Transaction(tx.connection, owner_of(tx, resource_id), tx.now)
    removed = _removed(mine, sessions)
    if restore:
        restore_removed(mine, sorted(removed))
    else:
        for session in sessions:
            if session.thread.id in removed:
                files = [_without_content(one, session) for one in session.sources]
                save_sources(mine, files, mine.owner or "")
        sessions = [session for session in sessions if session.thread.id not in removed]
    return write_threads(mine, merge_sessions(mine, sessions), skip_empty=True)


def compare_sessions(
    tx: Transaction, sessions: Sequence[ThreadRows], resource_id: str | None, *, restore: bool = False
) -> list[ThreadCounts]:
    """What `write_sessions` would return; nothing is written."""
    mine = Transaction(tx.connection, owner_of(tx, resource_id), tx.now)
    removed = frozenset[str]() if restore else _removed(mine, sessions)
    sessions = [session for session in sessions if session.thread.id not in removed]
    return compare_threads(mine, merge_sessions(mine, sessions, dry_run=True), skip_empty=True)


def _removed(tx: Transaction, sessions: Sequence[ThreadRows]) -> frozenset[str]:
    """The threads of sessions, or of their sub-agents, that were deleted and not created again."""
    names = {session.thread.id: session.thread.id.partition("/")[0] for session in sessions}
    removed = removed_threads(tx, sorted({*names, *names.values()}))
    if not removed:
        return frozenset()
    found = {thread_id for thread_id, parent in names.items() if not removed.isdisjoint((thread_id, parent))}
    return frozenset(found.difference(known_threads(tx, sorted(found))))


def _without_content(source: Source, session: ThreadRows) -> Source:
    """A file of a deleted session. Other files, such as databases, have other sessions, too."""
    if source.thread_id != session.thread.id:
        return source
    return replace(source, offset=0, hash=None, state=REMOVED_STATE)


def merge_sessions(
    tx: Transaction, sessions: Sequence[ThreadRows], *, dry_run: bool = False
) -> list[ThreadRows]:
    """The rows to write for sessions. A session with an active run is left for a later import."""
    thread_ids = _threads_of(tx, [session.thread.id for session in sessions])
    if not thread_ids:
        return list(sessions)
    merged = [_merge(tx, session, thread_ids.get(session.thread.id), dry_run=dry_run) for session in sessions]
    return [session for session in merged if session is not None]


def _threads_of(tx: Transaction, session_ids: Iterable[str]) -> dict[str, str]:
    """The threads of the runs of sessions, by session."""
    paths = [_path(session_id) for session_id in session_ids]
    query = select(source_table.c.path, source_table.c.state).where(
        tx.owned(source_table), tx.among(source_table.c.path, paths)
    )
    states: dict[str, Json] = {row.path: loads(row.state) for row in tx.rows(query) if row.state is not None}
    return {
        path.removeprefix(SESSION): state["threadId"] for path, state in states.items() if is_object(state)
    }


def _merge(
    tx: Transaction, session: ThreadRows, thread_id: str | None, *, dry_run: bool
) -> ThreadRows | None:
    session_id = session.thread.id
    found = None if thread_id is None else threads.find_or_none(tx, thread_id)
    if found is None:
        return session
    recorded = _recorded(tx, found.id, session_id)
    if any(_is_active(tx, one.run) for one in recorded):
        return None
    turns = _log_turns(session)
    matched = _match(turns, recorded)
    totals = _runs_with_totals(tx, found.id)
    usage = [
        record
        for record in session.consumptions
        if (turn := matched.get(record.run_id or "")) is None or turn.run.id not in totals
    ]
    session = session._replace(consumptions=_with_known_keys(usage, _ledger_rows(tx, found.id)))
    if found.id != session_id and threads.find_or_none(tx, session_id) is not None:
        return session
    is_known = any(one.log_runs for one in recorded)
    if not is_known and not (turns and turns[0].id in matched):
        return session  # it was not started by a run: it is a thread of its own
    if not dry_run:
        _save_matches(tx, matched, recorded)
    return _moved_to(tx, session, threads.from_row(found), matched)


def _is_active(tx: Transaction, run: Run) -> bool:
    """Whether a process works on a run: its lease has not expired."""
    expires = run.lease_expires_at
    return run.status in runs.ACTIVE and (expires is None or expires > tx.now)


def _save_matches(
    tx: Transaction, matched: dict[str, RecordedTurn], recorded: Iterable[RecordedTurn]
) -> None:
    """Save which turns of the log a run recorded: a later part of the log may not be enough to match them."""
    for one in recorded:
        known = one.log_runs
        of_run = [turn_id for turn_id, recorded_turn in matched.items() if recorded_turn.run.id == one.run.id]
        new = [turn_id for turn_id in of_run if turn_id not in known]
        if new:
            metadata = {**(one.run.metadata or {}), LOG_RUNS: [*known, *new]}
            runs.change(tx, runs.find(tx, one.run.id, lock=True), {"metadata": dumps(metadata).decode()})


def _moved_to(
    tx: Transaction, session: ThreadRows, thread: Thread, matched: dict[str, RecordedTurn]
) -> ThreadRows:
    """The new rows of a session, moved to the thread of its runs.

    Turns without messages of a conversation, such as those before the first prompt, are left out.
    """
    stored = select(run_table.c.id).where(tx.owned(run_table), run_table.c.thread_id == thread.id)
    turn_ids = {turn.id for turn in _log_turns(session)} | {row.id for row in tx.rows(stored)}
    new_turns = turn_ids - matched.keys()
    new: list[Prepared] = []
    parents: dict[
        str, str | None
    ] = {}  # for children of messages that are left out, by the id of the message
    for one in session.messages:
        message, turn = one.message, matched.get(one.message.run_id or "")
        parent = parents.get(message.parent_id or "", message.parent_id)
        if turn is not None and not _is_missing(one, turn):
            parents[message.id] = turn.run.message_id
        elif turn is None and message.run_id not in new_turns:
            parents[message.id] = parent or None
        else:
            run_id = message.run_id if turn is None else turn.run.id
            moved = replace(message, thread_id=thread.id, parent_id=parent, run_id=run_id)
            new.append(one._replace(message=moved, thread_id=thread.id))
    usage: list[ConsumptionRecord] = []
    for record in session.consumptions:
        turn = matched.get(record.run_id or "")
        moved = replace(record, thread_id=thread.id)
        if turn is not None:
            moved = replace(moved, run_id=turn.run.id, message_id=turn.run.message_id)
        usage.append(moved)
    about = replace(session.thread, id=thread.id, title=thread.title or session.thread.title, created_at=None)
    return session._replace(
        thread=about,
        messages=_with_parents(tx, thread.id, new),
        runs=[
            one._replace(run=replace(one.run, thread_id=thread.id))
            for one in session.runs
            if one.run.id in new_turns
        ],
        consumptions=usage,
    )


def _with_parents(tx: Transaction, thread_id: str, new: Sequence[Prepared]) -> list[Prepared]:
    """Messages without parents that the thread does not have.

    A message whose parent was left out keeps its stored parent, or follows the last message.
    """
    parents = [one.message.parent_id for one in new if one.message.parent_id]
    query = select(message_table.c.id).where(
        tx.owned(message_table), message_table.c.thread_id == thread_id, tx.among(message_table.c.id, parents)
    )
    known = {row.id for row in tx.rows(query)} | {one.message.id for one in new}
    return [
        one if one.message.parent_id in known else one._replace(message=replace(one.message, parent_id=None))
        for one in new
    ]


def _is_missing(one: Prepared, turn: RecordedTurn) -> bool:
    """Whether an interrupted run does not have a response of its turn: the agent continued after it."""
    return (
        turn.run.status == "interrupted"
        and bool(turn.responses)
        and one.role == "assistant"
        and not one.message.internal
        and _response(one.message.id) not in turn.responses
    )


# Used by both


def _path(session_id: str) -> str:
    return f"{SESSION}{session_id}"


def _recorded(tx: Transaction, thread_id: str, session_id: str) -> list[RecordedTurn]:
    """The turns of a session that runs of a thread recorded, the oldest first."""
    query = (
        select(run_table)
        .where(tx.owned(run_table), run_table.c.thread_id == thread_id)
        .where(run_table.c.metadata.like(f'%"{AGENT_SESSION}":%'))
        .order_by(run_table.c.created_at, run_table.c.id)
    )
    found = [run for row in tx.rows(query) if _session_of(run := runs.from_row(row)) == session_id]
    recorded = [_recorded_turn(tx, run) for run in found]
    if found and (found[0].metadata or {}).get(RESUMED) is True:  # an earlier turn may have the same prompt
        return [one._replace(by_time=True) for one in recorded]
    return recorded


def _session_of(run: Run) -> Json:
    return (run.metadata or {}).get(AGENT_SESSION)


def _recorded_turn(tx: Transaction, run: Run) -> RecordedTurn:
    query = select(message_table).where(
        tx.owned(message_table),
        message_table.c.thread_id == run.thread_id,
        message_table.c.run_id == run.id,
    )
    own = read_messages(tx, tx.rows(query.order_by(message_table.c.seq)), "inline")
    known: Json = (run.metadata or {}).get(RESPONSE_IDS)
    responses = [response for message in own for response in _responses(message)]
    responses += [response for response in known if isinstance(response, str)] if is_array(known) else []
    parent = own[0].parent_id if own else None
    prompt = messages.get(tx, run.thread_id, parent) if parent else None
    return RecordedTurn(run, frozenset(responses), None if prompt is None else text_of(prompt))


def _responses(message: Message) -> list[str]:
    """The ids of the responses of a message, as the stream reported them."""
    found: Json = message.content.metadata if isinstance(message, AssistantMessage) else None
    for name in RESPONSES:
        found = found.get(name) if is_object(found) else None
    return [name for name in found if not name.startswith(UNNAMED)] if is_object(found) else []


def _response(message_id: str) -> str:
    """The response id of a message of a log. A log may append the request, or a position."""
    return message_id.partition("/")[0]


def _log_turns(session: ThreadRows) -> list[LogTurn]:
    """The turns of an imported session."""
    return _turns((one.message, _text(one.content)) for one in session.messages if not one.message.internal)


def _text(content: str) -> str:
    """The text of a content in JSON."""
    parts: Json = loads(content).get("parts")
    texts = [part.get("text") for part in parts if is_object(part) and part.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))


def _turns(with_texts: Iterable[tuple[Message, str]]) -> list[LogTurn]:
    """The turns of messages and their texts, by run."""
    responses: dict[str, set[str]] = {}
    prompts: dict[str, str] = {}
    times: dict[str, datetime | None] = {}
    for message, text in with_texts:
        if message.run_id and message.type != "event":
            of_turn = responses.setdefault(message.run_id, set())
            times.setdefault(message.run_id, message.created_at)
            if isinstance(message, AssistantMessage):
                of_turn.add(_response(message.id))
            elif isinstance(message, UserMessage):
                prompts.setdefault(message.run_id, text)
    return [
        LogTurn(turn, frozenset(found), prompts.get(turn), times[turn]) for turn, found in responses.items()
    ]


def _match(turns: Iterable[LogTurn], recorded: Sequence[RecordedTurn]) -> dict[str, RecordedTurn]:
    """The recorded turns that are turns of a log, by the id of the latter."""
    matched = {turn: one for one in recorded for turn in one.log_runs}
    unmatched = [one for one in recorded if not one.log_runs]
    for turn in turns:
        if turn.id in matched:
            continue
        same = next((one for one in unmatched if _is_same(turn, one)), None)
        if same is not None:
            matched[turn.id] = same
            unmatched.remove(same)
    return matched


def _is_same(turn: LogTurn, recorded: RecordedTurn) -> bool:
    """Whether a turn of a log is a recorded one: by the ids of responses if both have some."""
    if turn.responses and recorded.responses:
        return not turn.responses.isdisjoint(recorded.responses)
    if not turn.prompt or not recorded.prompt or (recorded.by_time and not _is_during(turn, recorded.run)):
        return False
    # Earlier messages may have been sent before the prompt. Agents differ in white space.
    return "".join(turn.prompt.split()).endswith("".join(recorded.prompt.split()))


def _is_during(turn: LogTurn, run: Run) -> bool:
    """Whether a turn started during a run."""
    if turn.time is None or run.started_at is None or run.finished_at is None:
        return False
    return run.started_at - MARGIN <= turn.time <= run.finished_at + MARGIN


def _ledger_rows(tx: Transaction, thread_id: str) -> dict[str, Row[Any]]:
    """The key, cost and price of the responses of a thread in the ledger, by key."""
    query = select(ledger.c.key, ledger.c.cost, ledger.c.price)
    found = tx.rows(query.where(tx.owned(ledger), ledger.c.thread_id == thread_id))
    return {row.key: row for row in found}


def _runs_with_totals(tx: Transaction, thread_id: str) -> set[str]:
    """The runs of a thread that recorded their usage in total, not by response."""
    query = select(ledger.c.key, ledger.c.run_id).where(tx.owned(ledger), ledger.c.thread_id == thread_id)
    return {row.run_id for row in tx.rows(query) if row.run_id and row.key.startswith(f"{row.run_id}:")}


def _with_known_keys(
    records: Sequence[ConsumptionRecord], known: Mapping[str, Row[Any]]
) -> list[ConsumptionRecord]:
    """Records with the keys that the ledger has for the same responses, and with known costs.

    A log has the ids of the response and the request (`id:request`), a stream of some versions only the
    first one.
    """
    by_response = {key.partition(":")[0]: key for key in known if ":" in key}

    def known_key(key: str) -> str:
        response, colon, _ = key.partition(":")
        if colon:
            return response if response in known else key
        return key if key in known else by_response.get(key, key)

    with_keys = [replace(record, key=known_key(record.key)) for record in records]
    return [
        replace(record, cost=row.cost, price=None if row.price is None else loads(row.price))
        if record.cost is None and (row := known.get(record.key)) is not None
        else record
        for record in with_keys
    ]
