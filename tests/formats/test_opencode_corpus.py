"""Recorded sessions of OpenCode have the known counts."""

import gzip
from pathlib import Path

import pytest

from partita.formats.opencode.session import records_of
from partita.logs.sources.opencode_store import open_store
from partita.types.codec import decode_message, encode
from partita.types.json import JsonObject, loads
from tests.formats.opencode_counts import counts, read
from tests.recordings import cases_in, counted, files
from tests.tables import each_row


def counts_like(records: list[JsonObject], truth: JsonObject) -> None:
    messages, builder = read(records)
    found = counts(messages.values(), builder)
    wanted = {key: truth[key] for key in found if key in truth}
    assert {key: found[key] for key in wanted} == wanted
    assert not list(builder.unknown_records)
    assert read(records, range(len(records)))[0] == messages
    for message in messages.values():
        assert decode_message(encode(message)) == message
    ledger = builder.take_ledger()
    if "tokens" in truth:
        assert sum(consumption.cost or 0 for consumption in ledger) == pytest.approx(truth["cost"])
        tokens = truth["tokens"]
        read_tokens = tokens["input"] + tokens["cache_read"] + tokens["cache_write"]
        assert sum(consumption.usage.input_tokens or 0 for consumption in ledger) == read_tokens
        assert sum(consumption.usage.output_tokens or 0 for consumption in ledger) == tokens["output"]


@each_row("path", files("agent-logs", "opencode/export/*"), ids=lambda path: path.name)
def test_an_export_has_the_known_counts(path: Path) -> None:
    content = path.read_bytes()
    document = loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    counts_like(list(records_of(document)), counted(path))


@each_row("path", files("agent-logs", "opencode/parts-jsonl/*"), ids=lambda path: path.name)
def test_rows_have_the_known_counts(path: Path) -> None:
    counts_like(cases_in(path), {"parts_by_type": counted(path)["record_types"]})


@each_row("path", files("agent-logs", "opencode/storage", "opencode/opencode.db"))
def test_a_storage_has_the_known_counts(path: Path) -> None:
    store = open_store(path)
    sessions: JsonObject = counted(path)["sessions"]
    assert [session.id for session in store.list_sessions()] == list(sessions)
    for session_id, truth in sessions.items():
        counts_like(list(store.records(session_id)), truth)
    assert not store.problems
    store.close()
