"""Counts of logs from their messages, as `tests/harness.py log` prints them."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from partita.formats.log.thread_builder import LogBuilder
from partita.logs.log_reader import LogReader
from partita.logs.parsed_log import ParsedLog, parse_log_file
from partita.logs.sources.opencode_store import open_store
from partita.logs.sources.registry import log_format
from partita.types.json import JsonObject
from partita.types.messages import Message
from tests.formats import codex_counts, gemini_counts, opencode_counts

from . import claude_counts

COUNTERS: dict[str, Callable[[list[Message], LogBuilder], JsonObject]] = {
    "claude-code-log": claude_counts.counts,
    "codex-rollout": codex_counts.counts,
    "gemini-cli": gemini_counts.counts,
    "opencode-export": opencode_counts.counts,
}


def log_counts(paths: Sequence[str]) -> JsonObject:
    """Counts by path, and for Claude Code the tokens over all files together."""
    files: JsonObject = {}
    claude: list[list[Message]] = []
    for path in paths:
        if Path(path).is_dir() or path.endswith(".db"):
            files[path] = {"sessions": sessions_counts(Path(path))}
            continue
        log = parse_log_file(path, agents=False)
        messages = all_messages(log)
        counter = COUNTERS.get(log.format)
        files[path] = {} if counter is None else counter(messages, log.reading.builder)
        if log.format == "claude-code-log":
            claude.append(messages)
    return {"files": files, **({"claude_totals": claude_counts.totals(claude)} if claude else {})}


def all_messages(log: ParsedLog) -> list[Message]:
    """The messages of a log, and those of sub-agents that no call claims."""
    return [*log.messages, *(message for messages in log.orphans.values() for message in messages)]


def sessions_counts(path: Path) -> JsonObject:
    """Counts of the sessions in a store of OpenCode, by session."""
    found: JsonObject = {}
    store = open_store(path)
    for session in list(store.list_sessions()):
        reading = LogReader(log_format("opencode-export"), session.id)
        messages, builder = _read(reading, store.records(session.id))
        found[session.id] = opencode_counts.counts(messages, builder)
    store.close()
    return found


def _read(reading: LogReader, records: Iterable[JsonObject]) -> tuple[list[Message], LogBuilder]:
    for record in records:
        reading.decoder.feed(record)
    messages = {message.id: message for message in reading.finish().messages}
    return list(messages.values()), reading.builder
