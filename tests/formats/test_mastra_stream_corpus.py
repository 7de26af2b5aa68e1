"""Recorded Mastra streams with known readings."""

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

DEVIATIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("ac-0015", "ac-0016", "au-0002", "au-0075"), "an error is not part of the text"),
    **dict.fromkeys(("ac-0024", "ac-0026"), "deltas of one id are one text"),
    "ac-0032": "redacted reasoning has no text",
    "ac-0040": "an interrupted input is incomplete",
    "ac-0052": "a call does not return to input-streaming",
    **dict.fromkeys(("ac-0060", "nc-0011"), "a verdict is data and not text"),
    "ac-0068": "a repeated user message is kept twice",
    "au-0050": "a result without a call becomes a call",
    **dict.fromkeys(("nu-0011", "ac-0096"), "an execution with missing members is one execution"),
    "nu-0042": "a missing name is not invented",
    **dict.fromkeys(("nc-0003", "nu-0004"), "the answer of a network is text"),
}
"""Intended deviations from the former readers of Mastra, with the reason."""


REPLACED: Final = frozenset({"ac-0041", "au-0096"})
"""Recordings in which an input differs from the streamed one, or data replace other data."""


def streams() -> Iterator[JsonObject]:
    for name in FILES:
        yield from cases(name)


def chunks_of(case: JsonObject) -> list[Json]:
    """Return the chunks of a case, with bytes in base64 as in a stream."""
    found: list[Json] = [_with_bytes(chunk) for chunk in case["input"]["chunks"]]
    return found


def _with_bytes(chunk: JsonObject) -> JsonObject:
    match chunk:
        case {"payload": {"data": {"$bytes": str(encoded)}}}:
            return {**chunk, "payload": {**chunk["payload"], "data": encoded}}
        case _:
            return chunk


def sketch(messages: Sequence[Message]) -> list[Json]:
    """Return the content of messages in a comparable form."""
    return [entry for message in messages for entry in (*_run(message), *_parts(message))]


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


def test_streams_give_the_messages_of_mastra_except_for_listed_deviations() -> None:
    """We keep unknown chunks as data, which Mastra skips."""
    wrong = set[str]()
    for case in streams():
        if case["kind"] == WHOLE_RUN or case["input"]["initial"]:
            continue
        ours = sketch(load(chunks_of(case)).messages)
        is_ui = case["kind"].endswith("-to-ui")
        theirs = sketch((ui.load if is_ui else load_v2)(case["expected"]).messages)
        added = [one for one in ours if one[0] is DataPart and one not in theirs]
        names_alone = "tool-execution-start" in str(case["input"])  # the execution of a tool has no state
        found = [one[:2] if names_alone else one for one in ours if one not in added]
        if found != [one[:2] if names_alone else one for one in theirs]:
            wrong.add(case["id"])
    assert wrong == {case["id"] for case in streams() if case["id"] in DEVIATIONS}


ANSWERS: Final = {"glass-n-run": "The tower is red.", "ns-0001": "the invoice has been generated."}
"""The ends of the last messages of complete runs."""


def runs() -> list[JsonObject]:
    return [case for case in cases("network-chunks") if case["kind"] == WHOLE_RUN]


@each_row("run", runs(), ids=lambda case: case["id"])
def test_a_complete_run_of_a_network_is_read(run: JsonObject) -> None:
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
def test_every_leaf_of_a_complete_run_is_read_or_reported(run: JsonObject) -> None:
    events = chunks_of(run)
    whole = result_of(events)
    silent = [path for path in picked(list(leaves(events)), 60) if result_of(changed(events, path)) == whole]
    assert silent == []


def result_of(events: Json) -> bytes | None:
    try:
        loaded = load(events)
    except PartitaError:
        return None
    return dumps([to_json(loaded.messages), loaded.losses])
