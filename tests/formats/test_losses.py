"""Losses are found by comparison, also of formats that report none."""

from collections.abc import Sequence

from partita.formats.conversion import read
from partita.formats.format import Dumped, Format, Loaded
from partita.formats.losses import Loss
from partita.types.json import Json
from partita.types.messages import Message, UserMessage
from partita.types.parts import DataPart, TextPart


def test_a_loss_has_the_whole_value_and_shows_its_start() -> None:
    loss = Loss.of("$[0].text", "lamp " * 200, "no place")
    assert loss.what == f'"{"lamp " * 200}"'
    assert str(loss) == f"$[0].text: {loss.what[:500]}… (1002 characters) (no place)"


def read_texts(payload: Json) -> Loaded:
    return Loaded(tuple(UserMessage(id=str(at), content=one["text"]) for at, one in enumerate(payload)))


def write_texts(messages: Sequence[Message]) -> Dumped:
    texts = (part.text for message in messages for part in message.parts if isinstance(part, TextPart))
    return Dumped([{"text": text} for text in texts])


PAYLOAD: Json = [{"text": "How tall?", "mood": "curious"}, {"text": "And how old?"}]


def test_what_is_not_written_back_was_not_read() -> None:
    format_ = Format("texts", "reads and writes texts", read_texts, write_texts)
    assert [(loss.path, loss.what) for loss in read(PAYLOAD, format_).losses] == [("$[0].mood", '"curious"')]


def test_what_no_message_depends_on_was_not_read() -> None:
    format_ = Format("texts", "reads texts", read_texts)
    assert [(loss.path, loss.what) for loss in read(PAYLOAD, format_).losses] == [
        ("$[0]", '{"mood":"curious"}')
    ]


def test_what_is_not_read_back_was_not_written() -> None:
    format_ = Format("texts", "reads and writes texts", read_texts, write_texts)
    assert format_.dump is not None
    message = UserMessage(id="0", content=[TextPart("How tall?"), DataPart("mood", "curious")], run_id="r")
    assert [loss.path for loss in format_.dump([message]).losses] == ["$[0].runId", "$[0].content.parts[1]"]
