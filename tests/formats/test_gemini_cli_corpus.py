"""Recorded chats of Gemini CLI have the known counts."""

from pathlib import Path

from partita.formats.gemini_cli.chat import records_of
from partita.types.codec import decode_message, encode
from partita.types.json import JsonObject, loads
from tests.formats.gemini_counts import counts, read
from tests.recordings import counted, files
from tests.tables import each_row


def records_in(file: Path) -> list[JsonObject]:
    content = file.read_bytes()
    if file.suffix == ".jsonl":
        return [loads(line) for line in content.split(b"\n") if line]
    return list(records_of(loads(content)))


@each_row("path", files("agent-logs", "gemini/json*/*"), ids=lambda path: path.name)
def test_a_chat_has_the_known_counts(path: Path) -> None:
    truth = counted(path)
    records = records_in(path)
    messages, builder = read(records)
    found = counts(messages.values(), builder)
    assert found == {key: truth[key] for key in found}
    assert not list(builder.unknown_records)
    assert read(records, range(len(records)))[0] == messages
    for message in messages.values():
        assert decode_message(encode(message)) == message
