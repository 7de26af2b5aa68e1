"""Losses are found by comparison, also for formats that report none."""

import re
from collections.abc import Sequence

from partita.formats.conversion import read, write
from partita.formats.format import Dumped, Format, Loaded
from partita.formats.log.session_file import SessionFacts
from partita.formats.losses import Loss
from partita.formats.registry import all_formats, get_format
from partita.types.json import Json, loads
from partita.types.messages import AssistantMessage, Message, ToolCallPart, ToolMessage, UserMessage
from partita.types.parts import DataPart, TextOutput, TextPart, ToolResultPart
from tests.tables import each_row


def test_a_loss_has_the_whole_value_and_prints_its_start() -> None:
    loss = Loss.of("$[0].text", "lamp " * 200, "no place")
    assert loss.what == f'"{"lamp " * 200}"'
    assert str(loss) == f"$[0].text: {loss.what[:500]}… (1002 characters) (no place)"


def read_texts(payload: Json) -> Loaded:
    return Loaded(tuple(UserMessage(id=str(at), content=one["text"]) for at, one in enumerate(payload)))


def write_texts(messages: Sequence[Message]) -> Dumped:
    texts = (part.text for message in messages for part in message.parts if isinstance(part, TextPart))
    return Dumped([{"text": text} for text in texts])


PAYLOAD: Json = [{"text": "How tall?", "mood": "curious"}, {"text": "And how old?"}]


def test_values_that_are_not_written_back_were_not_read() -> None:
    format_ = Format("texts", "reads and writes texts", read_texts, write_texts)
    assert [(loss.path, loss.what) for loss in read(PAYLOAD, format_).losses] == [("$[0].mood", '"curious"')]


def test_values_that_no_message_depends_on_were_not_read() -> None:
    format_ = Format("texts", "reads texts", read_texts)
    assert [(loss.path, loss.what) for loss in read(PAYLOAD, format_).losses] == [
        ("$[0]", '{"mood":"curious"}')
    ]


def test_values_that_are_not_read_back_were_not_written() -> None:
    format_ = Format("texts", "reads and writes texts", read_texts, write_texts)
    assert format_.dump is not None
    message = UserMessage(id="0", content=[TextPart("How tall?"), DataPart("mood", "curious")], run_id="r")
    assert [loss.path for loss in format_.dump([message]).losses] == ["$[0].runId", "$[0].content.parts[1]"]


def pending_call(id_: str) -> ToolCallPart:
    return ToolCallPart(id=id_, name="dig", input={}, state="input-available")


def result(id_: str) -> ToolResultPart:
    return ToolResultPart(id_, "dig", TextOutput("dug"))


CONVERSATION: list[Message] = [
    UserMessage(id="u1", content="Dig!"),
    AssistantMessage(id="a1", content=[pending_call("c1")]),
    ToolMessage(id="t1", content=[result("c1")]),
    AssistantMessage(id="a2", content=[pending_call("c2")]),
    ToolMessage(id="t2", content=[result("c2")]),
    AssistantMessage(id="a3", content=[TextPart("Done."), DataPart("a3", {"depth": 1})]),
    UserMessage(id="a3", content="More!"),  # a repeated id
    AssistantMessage(id="a4", content=[DataPart("a4", {"depth": 2}), TextPart("No.")]),
]


@each_row("name", [name for name, format_ in all_formats().items() if format_.dump is not None])
@each_row("session", [None, SessionFacts(cwd="/garden")])
def test_paths_of_losses_point_to_the_given_messages(name: str, session: SessionFacts | None) -> None:
    losses = write(Loaded(tuple(CONVERSATION)), get_format(name), session=session).losses
    for loss in losses:
        found = re.fullmatch(r"\$\[(\d+)\](\.id|\.content\.parts\[(\d+)\])", loss.path)
        if found is not None and found[2] == ".id":
            assert loads(loss.what) == CONVERSATION[int(found[1])].id
        elif found is not None and '"data"' in loss.what:
            part = CONVERSATION[int(found[1])].content.parts[int(found[3])]
            assert isinstance(part, DataPart)
            assert part.name in loss.what


STATES = ("input-streaming", "input-available", "approval-requested", "output-error", "output-denied")
WRITABLE = [
    name for name in all_formats() if get_format(name).dump is not None and get_format(name).load is not None
]


@each_row("name", WRITABLE)
def test_a_contradictory_state_round_trips_or_is_a_loss(name: str) -> None:
    for state in STATES:
        call = ToolCallPart(id="c", name="look", state=state, input={"a": 1}, output=TextOutput("Here."))
        messages = [UserMessage(id="u", content="Where?"), AssistantMessage(id="m", content=[call])]
        written = write(Loaded(tuple(messages)), get_format(name))
        back = [
            part for message in read(written.payload, get_format(name)).messages for part in message.parts
        ]
        states = [part.state for part in back if isinstance(part, ToolCallPart)]
        lost = [loss.path for loss in written.losses]
        where = "$[1].content.parts[0]"
        assert states == [state] or f"{where}.state" in lost or where in lost, (state, states, lost)
