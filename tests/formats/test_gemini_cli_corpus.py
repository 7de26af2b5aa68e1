"""Real chats of Gemini CLI with counted truth, where the folder that holds them is there."""

from pathlib import Path

import pytest

from partita.formats.gemini_cli.records import records_of
from partita.types.codec import decode_message, encode
from partita.types.json import JsonObject, loads
from tests.formats.gemini_counts import counts, read
from tests.tables import each_row

CORPUS = Path(__file__).parents[3] / "shared" / "corpora" / "agent-logs"
FILES = sorted(path.relative_to(CORPUS).as_posix() for path in CORPUS.glob("gemini/json*/*"))

pytestmark = pytest.mark.skipif(not FILES, reason="the corpora are not here")


def records_in(file: Path) -> list[JsonObject]:
    content = file.read_bytes()
    if file.suffix == ".jsonl":
        return [loads(line) for line in content.split(b"\n") if line]
    return list(records_of(loads(content)))


@each_row("name", FILES)
def test_a_chat_amounts_to_what_was_counted(name: str) -> None:
    truth = loads((CORPUS / "truth.json").read_bytes())["files"][name]
    records = records_in(CORPUS / name)
    messages, assembly = read(records)
    found = counts(messages.values(), assembly)
    assert found == {key: truth[key] for key in found}
    assert not list(assembly.diagnostics)
    assert read(records, range(len(records)))[0] == messages
    for message in messages.values():
        assert decode_message(encode(message)) == message
