"""The records of a session file, as messages."""

from collections.abc import Callable
from copy import deepcopy

import pytest

from partita.errors import FormatError
from partita.formats.claude_code.format import load
from partita.formats.losses import Loss
from partita.types.json import Json
from partita.types.messages import AssistantMessage, SystemMessage, ToolCallPart, UserMessage, text_of
from partita.types.parts import DataPart, TextOutput
from tests.logs.claude_session import SESSION, Session, use
from tests.tables import each_row

from .claude_records import ALL, called, session


def test_records_are_the_messages_of_their_session() -> None:
    made = session().answer(text="Heating.", calls=[use("c1")]).result("c1", "hot").answer(text="Done.")
    loaded = load(made.records)
    assert loaded.lossless
    assert [type(message) for message in loaded.messages] == [UserMessage, AssistantMessage, AssistantMessage]
    assert [text_of(message) for message in loaded.messages] == ["Bake bread", "Heating.", "Done."]
    assert {message.thread_id for message in loaded.messages} == {SESSION}
    (call,) = [part for part in loaded.messages[1].content.parts if isinstance(part, ToolCallPart)]
    assert isinstance(call.output, TextOutput)
    assert call.output.value == "hot"


def test_one_record_is_read_like_a_list_of_one() -> None:
    (record,) = session().records
    assert load(record) == load([record])


@each_row("payload", [None, 5, "x", True])
def test_a_payload_that_is_not_a_list_of_records_is_refused(payload: Json) -> None:
    with pytest.raises(FormatError, match="list of records"):
        load(payload)


@each_row("make", ALL.values(), ids=ALL)
def test_reading_does_not_change_the_records(make: Callable[[], Session]) -> None:
    records = make().records
    before = deepcopy(records)
    load(records)
    assert records == before


def test_reading_does_not_change_progress_records() -> None:
    inner = Session(mark="s").prompt("Bake rolls").records[0]
    made = called().progress("c1", "agent_progress", agentId="a1", message=inner)
    before = deepcopy(made.records)
    load(made.records)
    assert made.records == before


def test_unknown_records_are_kept_and_reported() -> None:
    loaded = load([*session().about("dream", of="bread").records, 5])
    (notes,) = [message for message in loaded.messages if isinstance(message, SystemMessage)]
    assert [part.data for part in notes.parts if isinstance(part, DataPart)] == [
        {"type": "dream", "sessionId": SESSION, "of": "bread"},
        5,
    ]
    assert [(loss.path, loss.what) for loss in loaded.losses] == [
        ("$[1]", "unknown record type 'dream' (once, line 2)"),
        ("$[2]", "a line that is not an object (once, line 3)"),
    ]


def test_progress_is_reported_as_a_minor_loss() -> None:
    records = called().progress("c1", "bash_progress", fullOutput="x").result("c1").records
    (loss,) = load(records).losses
    assert loss == Loss.of("$[2]", records[2], "progress is only kept in the raw log", "minor")


def test_sub_agents_without_a_call_are_after_the_conversation() -> None:
    side = Session(mark="s")
    side.sidechain = True
    side.prompt("Clean the oven", parent=None).answer(text="Scrubbing")
    made = session()
    made.records += side.records
    made.answer(text="Yes")
    texts = [text_of(message) for message in load(made.records).messages]
    assert texts == ["Bake bread", "Yes", "Clean the oven", "Scrubbing"]


def test_a_damaged_chain_is_reported_if_all_records_are_given() -> None:
    session = Session().prompt("Bake").answer(text="Yes", parent="gone").prompt("More", uuid="u-1")
    losses = {loss.path: (loss.what, loss.severity) for loss in load(session.records).losses}
    assert losses == {
        "$[2]": ("duplicate uuid: u-1, first on line 1 (once, line 3)", "minor"),
        "$[1]": ("missing parent: gone, the parent of u-2 (once, line 2)", "minor"),
    }
    assert load(session.records[1:2]).losses == ()
