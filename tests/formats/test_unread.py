"""Values of records that are not in the messages read from them."""

from partita.formats.core.unread import KNOWN, Fact, message_facts, read_completely, read_events
from partita.formats.format import Loaded
from partita.formats.losses import Loss
from partita.types.chunks import (
    Chunk,
    DataChunk,
    MessageStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolOutputChunk,
)
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, Message, ToolCallPart
from partita.types.parts import DataPart, TextOutput, TextPart


def read(*records: Json) -> list[Message]:
    """Return the message of a small log: texts, calls and unknown records."""
    parts: list[TextPart | ToolCallPart | DataPart] = []
    for record in records:
        match record:
            case {"text": str(text)}:
                parts.append(TextPart(text))
            case {"call": str(call), "input": given}:
                parts.append(ToolCallPart(id=call, name="tool", input=given, state="input-available"))
            case {"call": str(call), "output": str(text)}:
                parts.append(
                    ToolCallPart(
                        id=call, name="tool", input={}, output=TextOutput(text), state="output-available"
                    )
                )
            case {"begins": True}:
                pass
            case _:
                parts.append(DataPart("unknown", record))
    return [AssistantMessage(id="m", content=parts)]


def facts_of(record: Json) -> set[Fact]:
    facts = message_facts(read(record)) - {("id", "m")}
    return facts | {KNOWN} if record == {"begins": True} else facts


def losses(records: list[Json], messages: list[Message] | None = None, *, pieces: bool = False) -> list[Loss]:
    loaded = Loaded(tuple(read(*records) if messages is None else messages))
    found = read_completely(loaded, records, facts_of, content=frozenset({"text"}), pieces=pieces)
    return list(found.losses)


def test_read_records_have_no_losses() -> None:
    records: list[Json] = [
        {"text": "hello"},
        {"call": "c1", "input": {"path": ["a", 1, True]}},
        {"unknown": {"deep": [1]}},
        {"begins": True},
    ]
    assert losses(records) == []


def test_an_unread_member_next_to_a_read_one_is_minor() -> None:
    (loss,) = losses([{"text": "hello", "line": 7, "empty": []}])
    assert (loss.path, loss.what, loss.severity) == ("$[0]", '{"line":7}', "minor")


def test_a_record_that_is_not_in_the_messages_is_lost() -> None:
    record: JsonObject = {"text": "hello", "line": 7}
    (loss,) = losses([record], read({"text": "goodbye"}))
    assert (loss.what, loss.severity) == ('{"text":"hello","line":7}', "lost")


def test_unread_content_is_never_minor() -> None:
    records: list[Json] = [{"call": "c1", "input": {}, "text": 5}]
    (loss,) = losses(records)
    assert (loss.what, loss.severity) == ('{"text":5}', "lost")


class ToyDecoder:
    """Reads texts, calls and results; a result without its call has no effect."""

    def __init__(self) -> None:
        self._calls: set[Json] = set()

    def feed(self, event: Json) -> list[Chunk]:
        match event:
            case {"type": "begin"}:
                return [MessageStart()]
            case {"text": str(text)}:
                return [TextStart("t"), TextDelta("t", text), TextEnd("t")]
            case {"call_id": str(call), "input": given}:
                self._calls.add(call)
                return [ToolInputAvailable(call, "tool", given)]
            case {"call_id": str(call), "output": str(text)} if call in self._calls:
                return [ToolOutputChunk(call, TextOutput(text))]
            case {"call_id": str()}:
                return []
            case _:
                return [DataChunk("data-unknown", event)]

    def finish(self) -> list[Chunk]:
        return []


def test_an_event_is_read_together_with_events_of_the_same_id() -> None:
    events: list[Json] = [
        {"type": "begin"},
        {"text": "hello", "line": 1},
        {"call_id": "c1", "input": {"depth": 2}},
        {"text": "between"},
        {"call_id": "c1", "output": "dug", "line": 2},
    ]
    found = read_events(ToyDecoder, events).losses
    assert [(loss.path, loss.what, loss.severity) for loss in found] == [
        ("$[1]", '{"line":1}', "minor"),
        ("$[4]", '{"line":2}', "minor"),
    ]


def test_an_event_without_effect_is_lost() -> None:
    found = read_events(ToyDecoder, [{"text": "hello"}, {"call_id": "c1", "output": "dug"}]).losses
    assert [(loss.path, loss.what, loss.severity) for loss in found] == [
        ("$[1]", '{"call_id":"c1","output":"dug"}', "lost")
    ]


def test_a_delta_of_a_text_is_read() -> None:
    messages = read({"text": "hello"})
    assert losses([{"text": "hel"}, {"text": "lo"}], messages, pieces=True) == []
    assert len(losses([{"text": "hel"}, {"text": "lo"}], messages)) == 2
    assert len(losses([{"text": "help"}], messages, pieces=True)) == 1
