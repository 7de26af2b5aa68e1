"""Recorded streams of Mastra with known readings."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import UNSET

from partita.errors import PartitaError
from partita.formats.ai_sdk.ui import format as ui
from partita.formats.mastra.stream import load
from partita.types.codec import decode_message, encode, to_json
from partita.types.json import Json, JsonObject, dumps, is_object
from partita.types.messages import AssistantMessage, Message, ToolCallPart, text_of
from partita.types.parts import (
    DataPart,
    FilePart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    SteeringMessagePart,
    TextPart,
)
from tests.formats.mastra_messages import load_v2
from tests.formats.test_mastra_corpus import cases
from tests.leaves import changed, leaves
from tests.sampling import picked
from tests.tables import each_row

FILES: Final = ("agent-chunks", "network-chunks")
WHOLE_RUN: Final = "network-stream"

OTHERWISE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("ac-0015", "ac-0016", "au-0002", "au-0075"), "an error is told beside the words"),
    **dict.fromkeys(("ac-0024", "ac-0026"), "a text of one id is one text"),
    "ac-0032": "redacted reasoning has no words",
    "ac-0040": "an input that breaks off is not whole",
    "ac-0052": "a call does not go back to writing its input",
    **dict.fromkeys(("ac-0060", "nc-0011"), "a verdict is data, and no words of the agent"),
    "ac-0068": "what a user says twice is there twice",
    "au-0050": "a result of a call that is not there is a call",
    **dict.fromkeys(("nu-0011", "ac-0096"), "a run is one, whatever is not said of it"),
    "nu-0042": "a name that is not there is not made up",
    **dict.fromkeys(("nc-0003", "nu-0004"), "the answer of a network is words"),
}
"""Where the readers of the time did otherwise, and how it is here."""


REPLACED: Final = frozenset({"ac-0041", "au-0096"})
"""Where an input is another one than the one that was streamed, or data replace others."""


def streams() -> Iterator[JsonObject]:
    for name in FILES:
        yield from cases(name)


def chunks_of(case: JsonObject) -> list[Json]:
    """The chunks of a case; bytes are as a stream would bring them, in base64."""
    found: list[Json] = [_with_bytes(chunk) for chunk in case["input"]["chunks"]]
    return found


def _with_bytes(chunk: JsonObject) -> JsonObject:
    match chunk:
        case {"payload": {"data": {"$bytes": str(encoded)}}}:
            return {**chunk, "payload": {**chunk["payload"], "data": encoded}}
        case _:
            return chunk


def sketch(messages: Sequence[Message]) -> list[Json]:
    """What messages say and do, without how they say it."""
    return [told for message in messages for told in (*_run(message), *_parts(message))]


def _run(message: Message) -> Iterator[Json]:
    run = message.content.network_execution if isinstance(message, AssistantMessage) else None
    if run is not None:
        yield ("call", run.primitive_id)


def _parts(message: Message) -> Iterator[Json]:
    for part in message.parts:
        match part:
            case TextPart(text=text) | ReasoningPart(text=text):
                yield (type(part), text)
            case ToolCallPart(dynamic=True) if is_object(part.input) and "primitiveId" in part.input:
                yield ("call", part.name)
            case ToolCallPart():
                is_whole = part.state != "input-streaming" and part.input is not UNSET
                output = None if part.output is None else to_json(part.output)
                yield ("call", part.name, part.id, part.state, part.input if is_whole else None, output)
            case SteeringMessagePart(parts=parts):
                yield from ((type(one), one.text) for one in parts if isinstance(one, TextPart))
                yield from ((type(one), one.url) for one in parts if isinstance(one, FilePart))
            case FilePart(url=url):
                yield (type(part), url)
            case SourceUrlPart(source_id=id_, title=title) | SourceDocumentPart(source_id=id_, title=title):
                yield (type(part), id_, title)
            case DataPart(name=name, data=data):
                yield (type(part), name, None if data is UNSET else data)
            case _:
                pass


def test_every_stream_is_read() -> None:
    for case in streams():
        loaded = load(chunks_of(case))
        lost = [loss for loss in loaded.losses if loss.severity != "minor"]
        assert bool(lost) == (case["id"] in REPLACED), case["id"]
        for message in loaded.messages:
            assert decode_message(encode(message)) == message


def test_streams_amount_to_what_their_readers_made_of_them() -> None:
    """They may say more here: chunks that were passed over are data."""
    wrong = set[str]()
    for case in streams():
        if case["kind"] == WHOLE_RUN or case["input"]["initial"]:
            continue
        ours = sketch(load(chunks_of(case)).messages)
        is_ui = case["kind"].endswith("-to-ui")
        theirs = sketch((ui.load if is_ui else load_v2)(case["expected"]).messages)
        added = [one for one in ours if one[0] is DataPart and one not in theirs]
        names_alone = "tool-execution-start" in str(case["input"])  # a run of a tool has no state
        said = [one[:2] if names_alone else one for one in ours if one not in added]
        if said != [one[:2] if names_alone else one for one in theirs]:
            wrong.add(case["id"])
    assert wrong == {case["id"] for case in streams() if case["id"] in OTHERWISE}


ANSWERS: Final = {"glass-n-run": "The tower is red.", "ns-0001": "the invoice has been generated."}
"""How the last message of a whole run ends."""


def runs() -> list[JsonObject]:
    return [case for case in cases("network-chunks") if case["kind"] == WHOLE_RUN]


@each_row("run", runs(), ids=lambda case: case["id"])
def test_a_whole_run_of_a_network_is_read_to_its_end(run: JsonObject) -> None:
    messages = load(chunks_of(run)).messages
    executions = [
        message.content.network_execution
        for message in messages
        if isinstance(message, AssistantMessage) and message.content.network_execution is not None
    ]
    assert [one.primitive_type for one in executions] == ["agent", "workflow", "tool"]
    assert all(one.final_result is not None for one in executions)
    assert text_of(messages[-1]).endswith(ANSWERS[run["id"]])


@each_row("run", runs(), ids=lambda case: case["id"])
def test_every_leaf_of_a_whole_run_counts(run: JsonObject) -> None:
    events = chunks_of(run)
    whole = told(events)
    silent = [path for path in picked(list(leaves(events)), 60) if told(changed(events, path)) == whole]
    assert silent == []


def told(events: Json) -> bytes | None:
    try:
        loaded = load(events)
    except PartitaError:
        return None
    return dumps([to_json(loaded.messages), loaded.losses])
