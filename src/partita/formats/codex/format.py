"""Codex: session files (rollouts), and the streams of `codex exec --json` and the app server."""

from collections.abc import Iterator, Sequence
from typing import Final

from partita.formats.core.unread import KNOWN, Fact, message_facts, read_completely, read_events
from partita.formats.format import Format, Loaded
from partita.formats.log.records import load_records, records_in
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import AssistantMessage, Message
from partita.types.times import parse_iso

from .exec import CodexExecDecoder
from .rollout import CodexRolloutDecoder
from .rollout_writer import dump, dump_session, session_path
from .tool_items import TOOL_EVENTS
from .usage import COUNTS
from .wire import integer, nested, text

LINE: Final = "codex-line"
CONTENT: Final = frozenset({"message", "text", "arguments", "input", "output"})
"""Members whose loss is not minor."""


def load(payload: Json) -> Loaded:
    """The records of a rollout, or one of them, as messages."""
    records = records_in(payload)
    loaded = load_records(records, CodexRolloutDecoder, LINE)
    return read_completely(loaded, records, _record_facts, content=CONTENT, more=_totals(loaded.messages))


def load_exec(payload: Json) -> Loaded:
    """The events of a stream as messages."""
    return read_events(CodexExecDecoder, payload if is_array(payload) else [payload])


def _record_facts(record: Json) -> set[Fact]:
    """The facts that a record of a rollout states. An output is read with a call before it."""
    if not is_object(record):
        return set()
    payload = nested(record, "payload") or record
    is_known = payload is record or record.get("type") in ("response_item", "event_msg")
    kind = (text(payload, "type") or "") if is_known else ""
    records: list[Json] = [record]
    if kind.endswith("_output"):
        call = {"type": "function_call", "name": "", "arguments": "", "call_id": payload.get("call_id")}
        records.insert(0, {**record, "type": "response_item", "payload": call})
    facts = message_facts(load_records(records, CodexRolloutDecoder, LINE).messages)
    if (time := parse_iso(text(record, "timestamp") or "")) is not None:
        facts.add(("time", time))
    if kind == "token_count":
        facts.add(_total(nested(nested(payload, "info"), "total_token_usage")))
    if kind in ("token_count", "context_compacted", *TOOL_EVENTS) or record.get("record_type") == "state":
        facts.add(KNOWN)
    return facts


def _totals(messages: Sequence[Message]) -> Iterator[Fact]:
    """The running totals of a thread, after each of its responses."""
    total = dict.fromkeys(COUNTS, 0)
    for message in messages:
        usage = message.content.usage if isinstance(message, AssistantMessage) else None
        if usage is not None and is_object(usage.raw):
            total = {name: count + (integer(usage.raw, name) or 0) for name, count in total.items()}
            yield _total(total)


def _total(total: JsonObject) -> Fact:
    return ("total", *(dumps(total.get(name, 0)) for name in COUNTS))


FORMAT = Format(
    "codex-rollout",
    "Codex session files (rollouts)",
    load,
    dump,
    dump_session=dump_session,
    session_path=session_path,
    is_complete=True,
)
EXEC = Format(
    "codex-exec",
    "what codex exec --json prints, app server",
    load_exec,
    decoder=CodexExecDecoder,
    is_complete=True,
)
