"""The AI SDK 4 data stream → chunks."""

from contextlib import suppress

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from partita.errors import PartitaError, StreamError
from partita.formats.ai_sdk.data_stream_v4 import DataStreamDecoder
from partita.formats.ai_sdk.ui_v4.format import dump
from partita.formats.format import Decoder
from partita.stream.accumulator import Accumulator, accumulate
from partita.stream.state import Version
from partita.types.chunks import (
    Chunk,
    DataChunk,
    ErrorChunk,
    FileChunk,
    MessageFinish,
    MessageMetadata,
    MessageStart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    SourceUrlChunk,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputStart,
    ToolOutputAvailable,
)
from partita.types.codec import encode
from partita.types.json import Json, JsonObject, dumps
from partita.types.messages import AssistantContent, AssistantMessage, ToolCallPart
from partita.types.value import Extra
from tests import strategies
from tests.leaves import changes
from tests.tables import each_row

Line = tuple[str, Json]

STEP: Line = ("f", {"messageId": "m1"})
STEP_END: Line = ("e", {"finishReason": "tool-calls", "isContinued": False})
CONTINUED: Line = ("e", {"finishReason": "length", "isContinued": True})
END: Line = ("d", {"finishReason": "stop", "usage": {"promptTokens": 1, "completionTokens": 2}})
START: Line = ("b", {"toolCallId": "c", "toolName": "w"})
CALL: Line = ("9", {"toolCallId": "c", "toolName": "w", "args": {"a": 1}})
RESULT: Line = ("a", {"toolCallId": "c", "result": [1]})


def steps(*known: JsonObject) -> MessageMetadata:
    return MessageMetadata({"steps": list(known)})


def signature(value: str) -> JsonObject:
    return {"anthropic": {"signature": value}}


def decode(lines: list[Line], decoder: DataStreamDecoder | None = None) -> list[Chunk]:
    decoder = decoder or DataStreamDecoder()
    return [*(chunk for line in lines for chunk in decoder.feed(line)), *decoder.finish()]


CHUNKS: dict[str, tuple[list[Line], list[Chunk]]] = {
    "nothing": ([], []),
    "a text": (
        [STEP, ("0", "a"), ("0", "b"), STEP_END, END],
        [
            MessageStart("m1"),
            StepStart(),
            TextStart("text-1"),
            TextDelta("text-1", "a"),
            TextDelta("text-1", "b"),
            TextEnd("text-1"),
            steps({"messageId": "m1", "finishReason": "tool-calls", "isContinued": False}),
            StepFinish(),
            MessageFinish("stop", {"usage": {"promptTokens": 1, "completionTokens": 2}}),
        ],
    ),
    "an unfinished text": (
        [("0", "a")],
        [MessageStart(), TextStart("text-1"), TextDelta("text-1", "a"), TextEnd("text-1")],
    ),
    "a text continues after other parts": (
        [("0", "a"), CALL, ("0", "b")],
        [
            MessageStart(),
            TextStart("text-1"),
            TextDelta("text-1", "a"),
            ToolInputAvailable("c", "w", {"a": 1}),
            TextDelta("text-1", "b"),
            TextEnd("text-1"),
        ],
    ),
    "a text continues in the next step": (
        [("0", "a"), CONTINUED, STEP, ("0", "b")],
        [
            MessageStart(),
            TextStart("text-1"),
            TextDelta("text-1", "a"),
            steps({"finishReason": "length", "isContinued": True}),
            StepStart(),
            TextDelta("text-1", "b"),
            TextEnd("text-1"),
            steps({"finishReason": "length", "isContinued": True}, {"messageId": "m1"}),
        ],
    ),
    "a step without a start": (
        [("0", "a"), STEP_END, ("0", "b")],
        [
            MessageStart(),
            TextStart("text-1"),
            TextDelta("text-1", "a"),
            TextEnd("text-1"),
            steps({"finishReason": "tool-calls", "isContinued": False}),
            StepFinish(),
            StepStart(),
            TextStart("text-2"),
            TextDelta("text-2", "b"),
            TextEnd("text-2"),
        ],
    ),
    "a reasoning and its signature": (
        [("g", "a"), ("g", "b"), ("j", {"signature": "s"}), ("0", "c")],
        [
            MessageStart(),
            ReasoningStart("reasoning-1"),
            ReasoningDelta("reasoning-1", "a"),
            ReasoningDelta("reasoning-1", "b"),
            ReasoningEnd("reasoning-1", signature("s")),
            TextStart("text-2"),
            TextDelta("text-2", "c"),
            TextEnd("text-2"),
        ],
    ),
    "every signature belongs to its own text": (
        [("g", "a"), ("j", {"signature": "1"}), ("g", "b"), ("j", {"signature": "2"})],
        [
            MessageStart(),
            ReasoningStart("reasoning-1"),
            ReasoningDelta("reasoning-1", "a"),
            ReasoningEnd("reasoning-1", signature("1")),
            ReasoningStart("reasoning-2"),
            ReasoningDelta("reasoning-2", "b"),
            ReasoningEnd("reasoning-2", signature("2")),
        ],
    ),
    "a signature without a text": (
        [("j", {"signature": "s"})],
        [MessageStart(), ReasoningStart("reasoning-1"), ReasoningEnd("reasoning-1", signature("s"))],
    ),
    "redacted reasoning": (
        [("g", "a"), ("i", {"data": "x"})],
        [
            MessageStart(),
            ReasoningStart("reasoning-1"),
            ReasoningDelta("reasoning-1", "a"),
            ReasoningEnd("reasoning-1"),
            ReasoningStart("reasoning-2"),
            ReasoningEnd("reasoning-2", {"anthropic": {"redactedData": "x"}}),
        ],
    ),
    "a call from its first letter to its result": (
        [START, ("c", {"toolCallId": "c", "argsTextDelta": '{"a'}), CALL, RESULT],
        [
            MessageStart(),
            ToolInputStart("c", "w"),
            ToolInputDelta("c", '{"a'),
            ToolInputAvailable("c", "w", {"a": 1}),
            ToolOutputAvailable("c", [1]),
        ],
    ),
    "data": ([("2", [1, None])], [MessageStart(), DataChunk("data-data", 1), DataChunk("data-data", None)]),
    "annotations are appended": (
        [("8", []), ("8", [1]), ("8", [2, 3])],
        [
            MessageStart(),
            MessageMetadata({"annotations": [1]}),
            MessageMetadata({"annotations": [1, 2, 3]}),
        ],
    ),
    "parts before the message id are held back": (
        [("2", [1]), ("8", [2]), STEP],
        [
            MessageStart("m1"),
            DataChunk("data-data", 1),
            MessageMetadata({"annotations": [2]}),
            StepStart(),
            steps({"messageId": "m1"}),
        ],
    ),
    "the first id becomes the message id": (
        [STEP, STEP_END, ("f", {"messageId": "m2"})],
        [
            MessageStart("m1"),
            StepStart(),
            steps({"messageId": "m1", "finishReason": "tool-calls", "isContinued": False}),
            StepFinish(),
            StepStart(),
            steps(
                {"messageId": "m1", "finishReason": "tool-calls", "isContinued": False}, {"messageId": "m2"}
            ),
        ],
    ),
    "the stream continues after an error": (
        [("3", "no"), ("0", "a")],
        [
            MessageStart(),
            ErrorChunk("no"),
            TextStart("text-1"),
            TextDelta("text-1", "a"),
            TextEnd("text-1"),
        ],
    ),
    "source": (
        [
            (
                "h",
                {
                    "sourceType": "url",
                    "id": "s",
                    "url": "https://x.test/",
                    "title": "X",
                    "providerMetadata": {"p": {}},
                },
            )
        ],
        [MessageStart(), SourceUrlChunk("s", "https://x.test/", "X", {"p": {}})],
    ),
    "file": (
        [("k", {"data": "QUJD", "mimeType": "image/png"})],
        [MessageStart(), FileChunk("data:image/png;base64,QUJD", "image/png")],
    ),
    "an end without usage": ([("d", {"finishReason": "error"})], [MessageStart(), MessageFinish("error")]),
    "members that are not in version 4": (
        [("9", {"toolCallId": "c", "toolName": "w", "args": None, "mood": 1, "input": 2})],
        [
            MessageStart(),
            ToolInputAvailable("c", "w", None, extra=Extra({"mood": 1, "foreign:input": 2})),
        ],
    ),
}


@each_row(("lines", "chunks"), CHUNKS.values(), ids=CHUNKS)
def test_decode(lines: list[Line], chunks: list[Chunk]) -> None:
    assert decode(lines) == chunks
    assert read(b"".join(map(line, lines))) == chunks


def line(lines_of: Line) -> bytes:
    code, value = lines_of
    return code.encode() + b":" + dumps(value) + b"\n"


def read(stream: bytes) -> list[Chunk]:
    decoder = DataStreamDecoder()
    return [*(chunk for each in stream.split(b"\n") for chunk in decoder.feed(each)), *decoder.finish()]


def test_the_decoder_implements_the_protocol() -> None:
    decoder: Decoder = DataStreamDecoder()
    assert decoder.feed('0:"a"\n') == [MessageStart(), TextStart("text-1"), TextDelta("text-1", "a")]
    assert decoder.finish() == [TextEnd("text-1")]
    assert decoder.finish() == []


def test_the_message_equals_that_of_version_4() -> None:
    lines: list[Line] = [
        ("8", ["note"]),
        STEP,
        ("g", "hm"),
        ("j", {"signature": "s"}),
        ("0", "look"),
        START,
        ("c", {"toolCallId": "c", "argsTextDelta": '{"a": 1}'}),
        CALL,
        RESULT,
        ("0", "ing"),
        STEP_END,
        ("f", {"messageId": "m2"}),
        ("0", "done"),
        ("h", {"sourceType": "url", "id": "s", "url": "https://x.test/"}),
        ("k", {"data": "QUJD", "mimeType": "image/png"}),
        STEP_END,
        END,
    ]
    call = {"state": "result", "step": 0, **CALL[1], **RESULT[1]}
    assert dump([accumulate(decode(lines))]).payload == [
        {
            "id": "m1",
            "role": "assistant",
            "content": "lookingdone",
            "reasoning": "hm",
            "annotations": ["note"],
            "toolInvocations": [call],
            "parts": [
                {"type": "step-start"},
                {
                    "type": "reasoning",
                    "reasoning": "hm",
                    "details": [{"type": "text", "text": "hm", "signature": "s"}],
                },
                {"type": "text", "text": "looking"},
                {"type": "tool-invocation", "toolInvocation": call},
                {"type": "step-start"},
                {"type": "text", "text": "done"},
                {"type": "source", "source": {"sourceType": "url", "id": "s", "url": "https://x.test/"}},
                {"type": "file", "mimeType": "image/png", "data": "QUJD"},
            ],
        }
    ]


def test_a_message_continues_under_its_id() -> None:
    message = AssistantMessage(
        id="m0",
        content=AssistantContent(
            parts=(ToolCallPart("c", "w", "input-available", {}),), metadata={"annotations": [1]}
        ),
    )
    accumulator = Accumulator(message)
    for chunk in decode([("8", [2]), STEP, RESULT, ("0", "a"), STEP_END], DataStreamDecoder(message)):
        accumulator.feed(chunk)
    (raw,) = dump([accumulator.finish()]).payload
    assert raw["id"] == "m0"
    assert raw["annotations"] == [1, 2]
    assert raw["toolInvocations"][0]["result"] == [1]
    assert [part["type"] for part in raw["parts"]] == ["tool-invocation", "step-start", "text"]


# --- invalid lines -------------------------------------------------------------------------------

BAD: dict[str, tuple[Json, str]] = {
    "no colon": ("hello", "without a colon"),
    "an unknown code": ('1:"a"', "unknown code '1'"),
    "an unknown code, parsed": (("z", 1), "unknown code 'z'"),
    "broken JSON": ('0:"a', "code 0 is invalid"),
    "not JSON": ("0:", "code 0 is invalid"),
    "broken UTF-8": (b'0:"\xff"', "not UTF-8"),
    "text that is not a string": ("0:5", "code 0 takes a string, found number"),
    "reasoning that is not a string": ("g:null", "code g takes a string, found null"),
    "an error that is not a string": ("3:{}", "code 3 takes a string, found object"),
    "data that are not an array": ("2:{}", "code 2 takes an array, found object"),
    "annotations that are not an array": ('8:"a"', "code 8 takes an array, found string"),
    "a call that is not an object": ("9:[]", "code 9 takes an object, found array"),
    "a call without a name": ('9:{"toolCallId":"c","args":{}}', "member 'toolName' of code 9"),
    "a call without arguments": ('9:{"toolCallId":"c","toolName":"w"}', "member 'args' of code 9"),
    "a call with a string for arguments": (
        '9:{"toolCallId":"c","toolName":"w","args":"{}"}',
        "takes an object, found string",
    ),
    "a result without a result": ('a:{"toolCallId":"c"}', "member 'result' of code a"),
    "a result of no call": ('a:{"toolCallId":"x","result":1}', "'x', which is missing"),
    "arguments of no call": ('c:{"toolCallId":"x","argsTextDelta":""}', "'x', which has not started"),
    "a start without a name": ('b:{"toolCallId":"c"}', "member 'toolName' of code b"),
    "a step without an id": ("f:{}", "member 'messageId' of code f"),
    "an end without a reason": ("d:{}", "member 'finishReason' of code d"),
    "a step end without a reason": ("e:{}", "member 'finishReason' of code e"),
    "a signature that is not a string": ('j:{"signature":1}', "member 'signature' of code j"),
    "redacted reasoning without data": ("i:{}", "member 'data' of code i"),
    "a file without its type": ('k:{"data":"QQ=="}', "member 'mimeType' of code k"),
    "a source that is not a URL": (
        'h:{"sourceType":"document","id":"s","url":"x"}',
        "member 'sourceType' of code h",
    ),
    "a source without a URL": ('h:{"sourceType":"url","id":"s"}', "member 'url' of code h"),
    "a title that is not a string": ('h:{"sourceType":"url","id":"s","url":"x","title":1}', "member 'title'"),
    "metadata that are not an object": (
        'h:{"sourceType":"url","id":"s","url":"x","providerMetadata":1}',
        "member 'providerMetadata'",
    ),
    "not a line": (5, "found number"),
    "a pair without a value": (["0"], "found array"),
    "too deep": ("2:" + "[" * 100_000, "nested too deeply"),
}


@each_row(("bad", "words"), BAD.values(), ids=BAD)
def test_an_invalid_line_is_refused_with_its_number_and_changes_nothing(bad: Json, words: str) -> None:
    decoder, other = DataStreamDecoder(), DataStreamDecoder()
    decoder.feed(STEP)
    with pytest.raises(StreamError) as raised:
        decoder.feed(bad)
    assert words in raised.value.what
    assert raised.value.where == "line 2"
    assert raised.value.hint
    other.feed(STEP)
    assert decode([CALL, STEP_END], decoder) == decode([CALL, STEP_END], other)


@each_row(("bad", "words"), BAD.values(), ids=BAD)
def test_a_lenient_decoder_lists_invalid_lines_and_continues(bad: Json, words: str) -> None:
    decoder = DataStreamDecoder(lenient=True)
    decoder.feed(STEP)
    assert decoder.feed(bad) == []
    assert decoder.feed(("0", "a"))
    ((number, what),) = decoder.diagnostics
    assert number == 2
    assert words in what


BLANK: dict[str, tuple[bytes, bytes]] = {
    "blank lines": (b'\n0:"a"\n\n\n0:"b"\n', b'0:"a"\n0:"b"\n'),
    "CRLF": (b'0:"a"\r\n\r\n0:"b"\r\n', b'0:"a"\n0:"b"\n'),
    "a byte order mark": (b'\xef\xbb\xbf0:"a"\n', b'0:"a"\n'),
    "spaces in the JSON": (b'0: "a" \n', b'0:"a"\n'),
    "no line end at the end": (b'0:"a"', b'0:"a"\n'),
}


@each_row(("stream", "plain"), BLANK.values(), ids=BLANK)
def test_framing(stream: bytes, plain: bytes) -> None:
    assert read(stream) == read(plain)


# --- properties ------------------------------------------------------------------------------------------

CALL_IDS = st.sampled_from(["c1", "c2"])


def objects(**members: st.SearchStrategy[Json]) -> st.SearchStrategy[JsonObject]:
    return st.fixed_dictionaries(members, optional={"more": strategies.json_values(2)})


def lines_of(code: str, value: st.SearchStrategy[Json]) -> st.SearchStrategy[Line]:
    return st.tuples(st.just(code), value)


NAMES = st.sampled_from(["w", ""])
USAGE = st.just({"promptTokens": 1, "completionTokens": None}) | strategies.json_values(2)
ARRAYS = st.lists(strategies.json_values(2), max_size=2)
TEXTS = strategies.texts()

GOOD: st.SearchStrategy[Line] = st.one_of(
    lines_of("0", TEXTS),
    lines_of("g", TEXTS),
    lines_of("2", ARRAYS),
    lines_of("3", TEXTS),
    lines_of("8", ARRAYS),
    lines_of("9", objects(toolCallId=CALL_IDS, toolName=NAMES, args=strategies.json_objects())),
    lines_of("a", objects(toolCallId=CALL_IDS, result=strategies.json_values())),
    lines_of("b", objects(toolCallId=CALL_IDS, toolName=NAMES)),
    lines_of("c", objects(toolCallId=CALL_IDS, argsTextDelta=TEXTS)),
    lines_of("d", objects(finishReason=TEXTS, usage=USAGE)),
    lines_of("e", objects(finishReason=TEXTS, isContinued=st.booleans(), usage=USAGE)),
    lines_of("f", objects(messageId=st.sampled_from(["m1", "m2"]))),
    lines_of("h", objects(sourceType=st.just("url"), id=TEXTS, url=TEXTS, title=TEXTS)),
    lines_of("i", objects(data=TEXTS)),
    lines_of("j", objects(signature=TEXTS)),
    lines_of("k", objects(data=TEXTS, mimeType=TEXTS)),
)
ANY: st.SearchStrategy[Line] = lines_of("0", strategies.json_values()) | st.tuples(
    st.sampled_from(list("0123456789abcdefghijkl")), strategies.json_values()
)


@pytest.mark.parametrize("version", [5, 6, 7])
@given(lines=st.lists(GOOD, max_size=12))
def test_the_chunks_accumulate_without_an_error(version: Version, lines: list[Line]) -> None:
    accumulator = Accumulator(version=version)
    for chunk in decode(lines, DataStreamDecoder(lenient=True)):
        accumulator.feed(chunk)
    assert not accumulator.diagnostics
    assert all(getattr(part, "state", None) != "streaming" for part in accumulator.snapshot().parts)


@given(lines=st.lists(GOOD, max_size=8))
def test_equivalent_forms_of_a_line_give_the_same_chunks(lines: list[Line]) -> None:
    chunks = decode(lines, DataStreamDecoder(lenient=True))
    as_bytes = DataStreamDecoder(lenient=True)
    as_text = DataStreamDecoder(lenient=True)
    for decoder in (as_bytes, as_text):
        again = [
            chunk
            for each in lines
            for chunk in decoder.feed(line(each) if decoder is as_bytes else line(each).decode())
        ]
        assert [*again, *decoder.finish()] == chunks


@given(st.binary(max_size=40) | st.lists(GOOD | ANY, max_size=6).map(lambda all_: b"".join(map(line, all_))))
def test_any_bytes_are_decoded_or_refused(stream: bytes) -> None:
    with suppress(StreamError):
        assert all(encode(chunk) for chunk in read(stream))


@given(data=st.data())
def test_every_leaf_is_in_the_message_or_in_a_loss(data: st.DataObject) -> None:
    drawn = data.draw(st.lists(GOOD, min_size=1, max_size=6))
    decoder = DataStreamDecoder(lenient=True)
    decode(drawn, decoder)
    refused = {number for number, _ in decoder.diagnostics}
    plain = [[code, value] for number, (code, value) in enumerate(drawn, 1) if number not in refused]
    assume(plain)
    _, other = data.draw(changes(plain))
    assume(dumps(plain) != dumps(other))  # a large number plus one may be the same number
    assert chunks_and_diagnostics(plain) != chunks_and_diagnostics(other)


def chunks_and_diagnostics(lines: list[list[Json]]) -> tuple[list[bytes], list[str]]:
    decoder = DataStreamDecoder(lenient=True)
    chunks = decode([(code, value) for code, value in lines], decoder)
    return [encode(chunk) for chunk in chunks], [what for _, what in decoder.diagnostics]


@given(lines=st.lists(ANY | GOOD, max_size=6))
def test_any_values_are_decoded_or_refused(lines: list[Line]) -> None:
    decoder = DataStreamDecoder()
    for each in lines:
        with suppress(PartitaError):
            decoder.feed(each)
    for chunk in decoder.finish():
        assert encode(chunk)
