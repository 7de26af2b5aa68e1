"""The effect of each chunk on the message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import StreamError
from partita.stream.accumulator import Accumulator, accumulate
from partita.stream.checkpoint import Checkpoint
from partita.stream.state import Version
from partita.types.chunks import (
    ChildChunk,
    ChildMessage,
    Chunk,
    DataChunk,
    ErrorChunk,
    MessageAbort,
    MessageFinish,
    MessageMetadata,
    MessageStart,
    NetworkExecutionEnd,
    NetworkExecutionStart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StepFinish,
    StepReset,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputError,
    ToolInputStart,
    ToolOutputAvailable,
    ToolOutputChunk,
    ToolOutputDenied,
    ToolOutputError,
    UnknownChunk,
)
from partita.types.codec import decode, encode, read_chunk
from partita.types.json import JsonObject
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    NetworkExecution,
    NetworkResult,
    ToolCallPart,
    UserMessage,
)
from partita.types.parts import (
    Approval,
    ContentOutput,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    ReasoningPart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
)
from partita.types.value import Extra
from tests import strategies
from tests.tables import each_row

A = {"p": {"a": 1}}
B = {"p": {"b": 2}}

CASES: dict[str, tuple[list[Chunk], list[AssistantPart]]] = {
    "no chunks": ([], []),
    "deltas are joined": (
        [TextStart("a"), TextDelta("a", "Hel"), TextDelta("a", "lo"), TextEnd("a")],
        [TextPart("Hello", "done")],
    ),
    "an open text is streaming": ([TextStart("a"), TextDelta("a", "Hel")], [TextPart("Hel", "streaming")]),
    "texts keep the order of their starts": (
        [TextStart("a"), TextStart("b"), TextDelta("b", "2"), TextDelta("a", "1")],
        [TextPart("1", "streaming"), TextPart("2", "streaming")],
    ),
    "a reused id leaves the first text open": (
        [TextStart("a"), TextDelta("a", "A"), TextStart("a"), TextDelta("a", "B"), TextEnd("a")],
        [TextPart("A", "streaming"), TextPart("B", "done")],
    ),
    "a split surrogate pair is joined": (
        [TextStart("a"), TextDelta("a", "ok \ud83d"), TextDelta("a", "\ude00!")],
        [TextPart("ok 😀!", "streaming")],
    ),
    "later provider metadata replaces earlier ones": (
        [ReasoningStart("r"), ReasoningDelta("r", "x", A), ReasoningEnd("r", B)],
        [ReasoningPart("x", "r", "done", provider_metadata=B)],
    ),
    "an open text continues after its step": (
        [StepStart(), TextStart("a"), TextDelta("a", "A"), StepFinish(), StepStart(), TextDelta("a", "B")],
        [StepStartPart(), TextPart("AB", "streaming"), StepStartPart()],
    ),
    "an abort changes nothing": (
        [TextStart("a"), MessageAbort(), TextDelta("a", "more")],
        [TextPart("more", "streaming")],
    ),
    "a reset removes only the current step": (
        [StepStart(), TextStart("a"), StepStart(), TextStart("b"), DataChunk("data-q", 1), StepReset()],
        [StepStartPart(), TextPart("", "streaming"), StepStartPart()],
    ),
    "partial input is parsed": (
        [ToolInputStart("c", "w"), ToolInputDelta("c", '{"ci'), ToolInputDelta("c", 'ty":"S')],
        [ToolCallPart("c", "w", "input-streaming", {"city": "S"}, '{"city":"S')],
    ),
    "an output keeps the input": (
        [ToolInputAvailable("c", "w", {"city": "SF"}), ToolOutputAvailable("c", 1, preliminary=True)],
        [ToolCallPart("c", "w", "output-available", {"city": "SF"}, output=JsonOutput(1), preliminary=True)],
    ),
    "a final output is not preliminary": (
        [
            ToolInputAvailable("c", "w", {}),
            ToolOutputAvailable("c", 1, preliminary=True),
            ToolOutputAvailable("c", "two"),
        ],
        [ToolCallPart("c", "w", "output-available", {}, output=TextOutput("two"))],
    ),
    "a reused call id in a later step is another call": (
        [StepStart(), ToolInputAvailable("c", "w", 1), StepStart(), ToolInputAvailable("c", "w", 2)],
        [
            StepStartPart(),
            ToolCallPart("c", "w", "input-available", 1),
            StepStartPart(),
            ToolCallPart("c", "w", "input-available", 2),
        ],
    ),
    "an output belongs to the newest call of an earlier step": (
        [ToolInputAvailable("c", "w", 1), StepStart(), ToolOutputAvailable("c", None)],
        [ToolCallPart("c", "w", "output-available", 1, output=JsonOutput(None)), StepStartPart()],
    ),
    "static and dynamic calls with the same id are separate": (
        [ToolInputStart("c", "w"), ToolInputAvailable("c", "w", 1, dynamic=True)],
        [
            ToolCallPart("c", "w", "input-streaming"),
            ToolCallPart("c", "w", "input-available", 1, dynamic=True),
        ],
    ),
    "a repaired name replaces the first": (
        [ToolInputAvailable("c", "w", 1), ToolOutputAvailable("c", 1), ToolInputAvailable("c", "w2", 1)],
        [ToolCallPart("c", "w2", "input-available", 1)],
    ),
    "bad input ends the call": (
        [ToolInputError("c", "w", "no", "{bad")],
        [ToolCallPart("c", "w", "output-error", "{bad", output=ErrorTextOutput("no"))],
    ),
    "an approval is requested, granted and executed": (
        [
            ToolInputAvailable("c", "w", 1),
            ToolApprovalRequest("ap", "c", reason="risky"),
            ToolApprovalResponse("ap", False, "no"),
            ToolOutputDenied("c"),
        ],
        [
            ToolCallPart(
                "c", "w", "output-denied", 1, approval=Approval("ap", False, "no", request_reason="risky")
            )
        ],
    ),
    "data of one name and id is replaced in place": (
        [
            DataChunk("data-w", {"a": 1}, "d"),
            DataChunk("data-w", 1),
            DataChunk("data-w", 2),
            DataChunk("data-w", {"b": 2}, "d"),
            DataChunk("data-z", 3, "d"),
            DataChunk("data-w", 5, "t", transient=True),
        ],
        [DataPart("w", {"b": 2}, "d"), DataPart("w", 1), DataPart("w", 2), DataPart("z", 3, "d")],
    ),
    "data keep their metadata": (
        [DataChunk("data-w", 1, transient=False, extra=Extra({"name": "x"}))],
        [DataPart("w", 1, extra=Extra({"foreign:name": "x", "transient": False}))],
    ),
}


@each_row(("chunks", "parts"), CASES.values(), ids=CASES)
def test_accumulate(chunks: list[Chunk], parts: list[AssistantPart]) -> None:
    assert accumulate(chunks).parts == tuple(parts)


REFUSED: dict[str, tuple[list[Chunk], str]] = {
    "a delta without a start": ([TextDelta("a", "x")], "text-delta"),
    "an end without a start": ([ReasoningEnd("r")], "reasoning-end"),
    "a delta after the end": ([TextStart("a"), TextEnd("a"), TextDelta("a", "x")], "text-delta"),
    "an input delta without a start": ([ToolInputDelta("c", "{")], "tool-input-delta"),
    "an output without a call": ([ToolOutputAvailable("c", 1)], "tool-invocation"),
    "an error without a call": ([ToolOutputError("c", "x")], "tool-invocation"),
    "an approval response without a request": ([ToolApprovalResponse("ap", True)], "tool-approval-response"),
    "a network finish without a start": ([NetworkExecutionEnd()], "network-execution-end"),
    "a sub-agent without a call": ([ChildChunk(("c",), StepStart())], "child"),
    "metadata merged into a string": ([MessageMetadata("a"), MessageMetadata({"b": 1})], ""),
}


@each_row(("chunks", "chunk_type"), REFUSED.values(), ids=REFUSED)
def test_a_refused_chunk_changes_nothing(chunks: list[Chunk], chunk_type: str) -> None:
    accumulator = Accumulator()
    for chunk in chunks[:-1]:
        accumulator.feed(chunk)
    before = accumulator.checkpoint()
    with pytest.raises(StreamError) as raised:
        accumulator.feed(chunks[-1])
    assert accumulator.checkpoint() == before
    assert raised.value.chunk_type == chunk_type
    assert raised.value.where == f"chunk {len(chunks) - 1}"
    assert raised.value.hint


@each_row(("chunks", "chunk_type"), REFUSED.values(), ids=REFUSED)
def test_a_lenient_accumulator_skips_and_reports_invalid_chunks(chunks: list[Chunk], chunk_type: str) -> None:
    accumulator = Accumulator(lenient=True)
    for chunk in [*chunks, TextStart("z")]:
        accumulator.feed(chunk)
    assert accumulator.snapshot().parts[-1] == TextPart("", "streaming")
    assert [diagnostic.chunk for diagnostic in accumulator.diagnostics] == [len(chunks) - 1]


def test_an_unknown_chunk_is_skipped_and_reported() -> None:
    accumulator = Accumulator()
    assert not accumulator.feed(UnknownChunk(Extra({"type": "zap"})))
    assert "zap" in accumulator.diagnostics[0].what


MERGES: dict[str, tuple[list[object], object]] = {
    "objects merge deeply, arrays do not": (
        [
            {"a": 1, "n": {"x": 1, "y": [1, 2]}, "k": None},
            {"n": {"y": [3], "z": 2}},
            None,
            {"a": None, "k": {}},
        ],
        {"a": None, "n": {"x": 1, "y": [3], "z": 2}, "k": {}},
    ),
    "the first value is used unchanged": (["text"], "text"),
    "an array becomes an object with its indices as keys": ([[1, 2], {"b": 3}], {"0": 1, "1": 2, "b": 3}),
    "unsafe keys are skipped": ([{"a": 1}, {"constructor": 1, "__proto__": 2, "b": 2}], {"a": 1, "b": 2}),
    "a merged string adds its code units": ([{}, "a😀"], {"0": "a", "1": "\ud83d", "2": "\ude00"}),
    "a merged number adds nothing": ([{"a": 1}, 5], {"a": 1}),
}


@each_row(("values", "merged"), MERGES.values(), ids=MERGES)
def test_metadata_merges(values: list[object], merged: object) -> None:
    assert accumulate([MessageMetadata(value) for value in values]).content.metadata == merged


def test_errors_and_the_finish_reason_are_attributes_of_the_accumulator() -> None:
    accumulator = Accumulator(id="m")
    for chunk in (ErrorChunk("one"), ErrorChunk("two"), MessageFinish("stop", {"n": 1})):
        accumulator.feed(chunk)
    assert accumulator.errors == ("one", "two")
    assert accumulator.finish_reason == "stop"
    assert accumulator.snapshot().content.metadata == {"n": 1}


def test_a_start_with_another_id_begins_another_message() -> None:
    message = AssistantMessage(id="m0", content="old", thread_id="t", run_id="r")
    accumulator = Accumulator(message)
    accumulator.feed(MessageStart("m1", {"a": 1}))
    assert accumulator.snapshot().parts == ()
    assert (accumulator.snapshot().id, accumulator.snapshot().thread_id) == ("m1", "t")


def test_a_continued_message_keeps_its_other_members() -> None:
    part = ToolCallPart("c", "w", "input-available", 1)
    message = AssistantMessage(id="m0", content=[part], thread_id="t", seq=7)
    accumulator = Accumulator(message)
    for chunk in (MessageStart("m0"), ToolOutputAvailable("c", "x"), StepStart()):
        accumulator.feed(chunk)
    after = accumulator.snapshot()
    assert after.seq == 7
    assert after.parts == (
        ToolCallPart("c", "w", "output-available", 1, output=TextOutput("x")),
        StepStartPart(),
    )


def test_feed_returns_whether_the_message_changed() -> None:
    accumulator = Accumulator()
    seen = [
        accumulator.feed(chunk)
        for chunk in (
            MessageStart(),
            StepStart(),
            TextStart("a"),
            TextDelta("a", "x"),
            StepFinish(),
            MessageFinish("stop"),
            MessageStart("m"),
        )
    ]
    assert seen == [False, False, True, True, False, False, True]


def test_a_network_execution_is_added() -> None:
    message = accumulate(
        [
            NetworkExecutionStart("agent", "writer", "it writes", {"prompt": "go"}, 1),
            NetworkExecutionEnd(NetworkResult("done")),
        ]
    )
    expected = NetworkExecution("agent", "writer", "it writes", {"prompt": "go"}, NetworkResult("done"), 1)
    assert message.content.network_execution == expected


TYPED: dict[str, tuple[ToolOutput, str]] = {
    "text": (TextOutput("ok"), "output-available"),
    "JSON that is a string": (JsonOutput("ok"), "output-available"),
    "content": (ContentOutput((TextPart("ok"),)), "output-available"),
    "an error": (ErrorTextOutput("no"), "output-error"),
    "a JSON error": (ErrorJsonOutput({"code": 1}), "output-error"),
    "an interruption": (InterruptedOutput("aborted", "stopped"), "output-error"),
    "a denial": (ExecutionDeniedOutput("not today"), "output-denied"),
}


@each_row(("output", "state"), TYPED.values(), ids=TYPED)
def test_a_typed_output_sets_the_state_of_its_call(output: ToolOutput, state: str) -> None:
    chunks: list[Chunk] = [
        ToolInputAvailable("c", "t", {}),
        ToolOutputChunk("c", output, tool_metadata={"a": 1}),
    ]
    call = accumulate(chunks).parts[0]
    assert isinstance(call, ToolCallPart)
    assert (call.output, call.state, call.tool_metadata) == (output, state, {"a": 1})


def test_sub_agents_are_nested_under_their_calls_at_any_depth() -> None:
    message = accumulate(
        [
            ToolInputAvailable("outer", "task", {}),
            ChildMessage(("outer",), UserMessage(id="u", content="go")),
            ChildChunk(("outer",), MessageStart("c1")),
            ChildChunk(("outer",), ToolInputAvailable("inner", "task", {})),
            ChildChunk(("outer", "inner"), TextStart("t")),
            ChildChunk(("outer", "inner"), TextDelta("t", "deep")),
            ChildChunk(("outer",), MessageStart("c2")),
            ChildChunk(("outer",), TextStart("t")),
            ToolOutputAvailable("outer", "ok"),
        ]
    )
    outer = message.parts[0]
    assert isinstance(outer, ToolCallPart)
    assert [child.id for child in outer.children] == ["u", "c1", "c2"]
    inner = outer.children[1].parts[0]
    assert isinstance(inner, ToolCallPart)
    assert inner.children[0].parts == (TextPart("deep", "streaming"),)
    assert inner.children[0].id == "inner/1"


def test_a_refused_chunk_of_a_sub_agent_leaves_no_empty_message() -> None:
    accumulator = Accumulator(lenient=True)
    accumulator.feed(ToolInputAvailable("c", "task", {}))
    accumulator.feed(ChildChunk(("c",), TextDelta("t", "x")))
    call = accumulator.snapshot().parts[0]
    assert isinstance(call, ToolCallPart)
    assert call.children == ()


def test_finish_closes_open_texts() -> None:
    accumulator = Accumulator()
    for chunk in (TextStart("a"), ReasoningStart("r"), ToolInputAvailable("c", "w", 1)):
        accumulator.feed(chunk)
    assert accumulator.finish().parts == (
        TextPart("", "done"),
        ReasoningPart("", "r", "done"),
        ToolCallPart("c", "w", "input-available", 1),
    )
    with pytest.raises(StreamError, match="finished"):
        accumulator.feed(TextStart("b"))


def test_an_interrupted_finish_settles_open_calls() -> None:
    accumulator = Accumulator()
    accumulator.feed(ToolInputStart("c", "w"))
    accumulator.feed(ToolInputAvailable("d", "w", 1))
    accumulator.feed(ToolOutputAvailable("d", 2))
    lost, done = accumulator.finish("lost").parts
    assert lost == ToolCallPart("c", "w", "output-error", output=InterruptedOutput("lost"))
    assert done == ToolCallPart("d", "w", "output-available", 1, output=JsonOutput(2))


VERSIONS: tuple[Version, ...] = (5, 6, 7)


def read(chunks: list[JsonObject]) -> list[Chunk]:
    return [read_chunk(chunk) for chunk in chunks]


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_any_chunks_give_a_message_or_a_stream_error(version: Version, data: st.DataObject) -> None:
    chunks = read(data.draw(strategies.chunk_streams(version, valid=False)))
    try:
        message = accumulate(data.draw(st.permutations(chunks)), version=version)
    except StreamError:
        return
    assert decode(encode(message), AssistantMessage) == message


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_saving_and_resuming_gives_the_same_message(version: Version, data: st.DataObject) -> None:
    chunks = read(data.draw(strategies.chunk_streams(version, valid=data.draw(st.booleans()))))
    chunks = [chunk for chunk in chunks if not isinstance(chunk, UnknownChunk)]
    cut = data.draw(st.integers(0, len(chunks)))
    whole, first = (Accumulator(version=version, lenient=True) for _ in range(2))
    for chunk in chunks:
        whole.feed(chunk)
    for chunk in chunks[:cut]:
        first.feed(chunk)
    stored = decode(encode(first.checkpoint()), Checkpoint)
    second = Accumulator.resume(stored, version=version, lenient=True)
    for chunk in chunks[cut:]:
        second.feed(chunk)
    assert second.checkpoint() == whole.checkpoint()
    assert [d.what for d in first.diagnostics + second.diagnostics] == [d.what for d in whole.diagnostics]


@given(chunks=strategies.chunk_streams(7))
def test_snapshots_do_not_change_the_message(chunks: list[JsonObject]) -> None:
    watched, unwatched = Accumulator(), Accumulator()
    for chunk in read(chunks):
        watched.feed(chunk)
        watched.snapshot()
        unwatched.feed(chunk)
    assert watched.checkpoint() == unwatched.checkpoint()


@given(chunks=strategies.chunk_streams(7))
def test_a_nested_stream_accumulates_like_a_separate_one(chunks: list[JsonObject]) -> None:
    stream = [chunk for chunk in read(chunks) if not isinstance(chunk, MessageStart)]
    alone = accumulate([MessageStart("x", {}), *stream])
    nested = accumulate(
        [
            ToolInputAvailable("c", "task", {}),
            *(ChildChunk(("c",), chunk) for chunk in [MessageStart("x", {}), *stream]),
        ]
    )
    call = nested.parts[0]
    assert isinstance(call, ToolCallPart)
    assert call.children == (alone,)
