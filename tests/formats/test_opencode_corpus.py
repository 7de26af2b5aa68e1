"""Real sessions of OpenCode with counted truth, where the folder that holds them is there."""

import gzip
from pathlib import Path

import pytest

from partita.formats.opencode.records import records_of
from partita.logs.opencode.opening import open_storage, records_in
from partita.types.codec import decode_message, encode
from partita.types.json import JsonObject, loads
from tests.formats.opencode_counts import counts, read
from tests.tables import each_row

CORPUS = Path(__file__).parents[3] / "shared" / "corpora" / "agent-logs"
TRUTH: JsonObject = loads((CORPUS / "truth.json").read_bytes())["files"] if CORPUS.is_dir() else {}
EXPORTS = [name for name in TRUTH if name.startswith("opencode/export/")]
ROWS = [name for name in TRUTH if name.startswith("opencode/parts-jsonl/")]
STORAGES = ["opencode/storage/", "opencode/opencode.db"]

pytestmark = pytest.mark.skipif(not TRUTH, reason="the corpora are not here")


def judged(records: list[JsonObject], truth: JsonObject) -> None:
    messages, assembly = read(records)
    found = counts(messages.values(), assembly)
    wanted = {key: truth[key] for key in found if key in truth}
    assert {key: found[key] for key in wanted} == wanted
    assert not list(assembly.diagnostics)
    assert read(records, range(len(records)))[0] == messages
    for message in messages.values():
        assert decode_message(encode(message)) == message
    ledger = assembly.take_ledger()
    if "tokens" in truth:
        assert sum(consumption.cost or 0 for consumption in ledger) == pytest.approx(truth["cost"])
        tokens = truth["tokens"]
        read_tokens = tokens["input"] + tokens["cache_read"] + tokens["cache_write"]
        assert sum(consumption.usage.input_tokens or 0 for consumption in ledger) == read_tokens
        assert sum(consumption.usage.output_tokens or 0 for consumption in ledger) == tokens["output"]


@each_row("name", EXPORTS)
def test_an_export_amounts_to_what_was_counted(name: str) -> None:
    content = (CORPUS / name).read_bytes()
    document = loads(gzip.decompress(content) if name.endswith(".gz") else content)
    judged(list(records_of(document)), TRUTH[name])


@each_row("name", ROWS)
def test_rows_amount_to_what_was_counted(name: str) -> None:
    records = [loads(line) for line in (CORPUS / name).read_bytes().split(b"\n") if line]
    judged(records, {"parts_by_type": TRUTH[name]["record_types"]})


@each_row("name", STORAGES)
def test_a_storage_amounts_to_what_was_counted(name: str) -> None:
    storage = open_storage(CORPUS / name)
    sessions: JsonObject = TRUTH[name]["sessions"]
    assert [session["id"] for session in storage.sessions()] == list(sessions)
    for session_id, truth in sessions.items():
        judged(list(records_in(storage, session_id)), truth)
    assert not storage.problems
    storage.close()
