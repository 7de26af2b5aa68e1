"""Chunks for each release of the AI SDK, and the list of what it does not know."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import FormatError
from partita.formats.ai_sdk.schema import chunk_problems
from partita.stream.targets import DENIED, Target, adapt
from partita.types import chunks as c
from partita.types.chunks import Chunk
from partita.types.codec import to_json
from partita.types.json import Json, is_object
from partita.types.messages import UserMessage
from partita.types.parts import (
    Citation,
    ContentOutput,
    ErrorJsonOutput,
    ExecutionDeniedOutput,
    FilePart,
    InterruptedOutput,
    TextOutput,
    TextPart,
    UnknownPart,
    UrlCitationSource,
)
from partita.types.value import Extra
from tests import canonical
from tests.tables import each_row

TARGETS: dict[str, tuple[str, Target]] = {
    "a major version means its newest release": ("6", Target(6)),
    "a release": ("5.0.92", Target(5, 92)),
    "the first release": ("7.0.0", Target(7, 0)),
    "without a patch number": ("7.0", Target(7)),
    "an unknown minor version": ("7.1.3", Target(7)),
}


@each_row(("text", "target"), TARGETS.values(), ids=TARGETS)
def test_parse(text: str, target: Target) -> None:
    assert Target.parse(text) == target


@each_row("text", ["", "4.3.19", "8", "six", "v6", "6.x", "7.0.0-beta.1", "6.0.1.2", "٦", "6 "])
def test_an_invalid_release_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="AI SDK") as caught:
        Target.parse(text)
    assert caught.value.hint


PAGE = UrlCitationSource("s1", "https://example.com", provider_metadata={"p": {"a": 1}, "q": 2})
METADATA = {"openai": {"itemId": "1"}}

# A chunk, a release, the chunks its client is sent, and what is withheld.
CASES: dict[str, tuple[Chunk, str, list[Chunk], list[str]]] = {
    "a chunk that every client knows": (c.TextDelta("t", "hi"), "5.0.0", [c.TextDelta("t", "hi")], []),
    "a current field, for a current client": (c.MessageAbort("why"), "7", [c.MessageAbort("why")], []),
    "a newer field, for a strict client": (
        c.MessageAbort("why"),
        "6.0.14",
        [c.MessageAbort()],
        ["abort.reason"],
    ),
    "a newer field, for a loose client": (
        c.ToolOutputError("c", "bad", provider_metadata=METADATA),
        "5.0.217",
        [c.ToolOutputError("c", "bad", provider_metadata=METADATA)],
        [],
    ),
    "several newer fields": (
        c.ToolInputStart("c", "w", True, METADATA, {"server": "s"}, None, "Weather", "text"),
        "6.0.100",
        [c.ToolInputStart("c", "w", True, METADATA, title="Weather")],
        ["tool-input-start.toolMetadata", "tool-input-start.inputEncoding"],
    ),
    "a newer field of any type": (
        c.ToolApprovalRequest("a", "c", approval_descriptor=None),
        "6.0.200",
        [c.ToolApprovalRequest("a", "c")],
        ["tool-approval-request.approvalDescriptor"],
    ),
    "an extra field, for a strict client": (
        c.StepStart(extra=Extra({"x": 1, "y": 2})),
        "7.0.31",
        [c.StepStart()],
        ["start-step.x", "start-step.y"],
    ),
    "an extra field, for a loose one": (
        c.StepStart(extra=Extra({"x": 1})),
        "7.0.32",
        [c.StepStart(extra=Extra({"x": 1}))],
        [],
    ),
    "an extra field of data": (
        c.DataChunk("data-w", 1, extra=Extra({"x": 1})),
        "5.0.0",
        [c.DataChunk("data-w", 1)],
        ["data-w.x"],
    ),
    "a newer finish reason": (
        c.MessageFinish("interrupted"),
        "7.0.148",
        [c.MessageFinish("other")],
        ["finish.finishReason"],
    ),
    "a known finish reason": (
        c.MessageFinish("interrupted"),
        "7.0.149",
        [c.MessageFinish("interrupted")],
        [],
    ),
    "a removed finish reason": (
        c.MessageFinish("unknown", {"a": 1}),
        "6",
        [c.MessageFinish("other", {"a": 1})],
        ["finish.finishReason"],
    ),
    "a former finish reason": (c.MessageFinish("unknown"), "5", [c.MessageFinish("unknown")], []),
    "an unknown finish reason": (
        c.MessageFinish("bored"),
        "7",
        [c.MessageFinish("other")],
        ["finish.finishReason"],
    ),
    "a release without finish reasons": (
        c.MessageFinish("stop"),
        "5.0.91",
        [c.MessageFinish()],
        ["finish.finishReason"],
    ),
    "a file of the reasoning": (
        c.ReasoningFileChunk("data:,", "image/png", METADATA),
        "6",
        [c.FileChunk("data:,", "image/png", METADATA)],
        ["reasoning-file.type"],
    ),
    "a reset": (c.StepReset(), "7.0.69", [], ["reset-step"]),
    "a known reset": (c.StepReset(), "7.0.70", [c.StepReset()], []),
    "custom content": (c.CustomChunk("openai.thing"), "6", [], ["custom"]),
    "a steering message": (c.SteeringMessageChunk("u", ()), "7.0.77", [], ["steering-message"]),
    "unsupported parts of a steering message": (
        c.SteeringMessageChunk(
            "u", (TextPart("a"), UnknownPart(raw=Extra({"type": "x"})), FilePart("", "b"))
        ),
        "7",
        [c.SteeringMessageChunk("u", (TextPart("a"), FilePart("", "b")))],
        ["steering-message.parts[1]"],
    ),
    "provider metadata in a steering message": (
        c.SteeringMessageChunk("u", (TextPart("a", provider_metadata={"p": 1, "q": {}}),)),
        "7",
        [c.SteeringMessageChunk("u", (TextPart("a", provider_metadata={"q": {}}),))],
        ["steering-message.parts[0].providerMetadata.p"],
    ),
    "an approval request, for a release without approvals": (
        c.ToolApprovalRequest("a", "c"),
        "5",
        [],
        ["tool-approval-request"],
    ),
    "an approval request": (c.ToolApprovalRequest("a", "c"), "6", [c.ToolApprovalRequest("a", "c")], []),
    "an automatic approval request": (
        c.ToolApprovalRequest("a", "c", is_automatic=True),
        "6",
        [],
        ["tool-approval-request"],
    ),
    "an automatic approval request, for a release that knows them": (
        c.ToolApprovalRequest("a", "c", is_automatic=True),
        "7.0.0",
        [c.ToolApprovalRequest("a", "c", is_automatic=True)],
        [],
    ),
    "an approval response": (c.ToolApprovalResponse("a", True), "6", [], ["tool-approval-response"]),
    "a typed output": (
        c.ToolOutputChunk("c", TextOutput("ok"), tool_metadata={"a": 1}),
        "7",
        [c.ToolOutputAvailable("c", "ok", tool_metadata={"a": 1})],
        [],
    ),
    "content": (
        c.ToolOutputChunk("c", ContentOutput((TextPart("ok"),))),
        "7",
        [c.ToolOutputAvailable("c", {"type": "content", "value": [{"type": "text", "text": "ok"}]})],
        [],
    ),
    "a typed error": (
        c.ToolOutputChunk("c", ErrorJsonOutput({"a": 1})),
        "7",
        [c.ToolOutputError("c", '{"a":1}')],
        [],
    ),
    "an interruption": (
        c.ToolOutputChunk("c", InterruptedOutput("timeout")),
        "7",
        [c.ToolOutputError("c", "The tool call was interrupted: it took too long.")],
        ["tool-output-typed.output"],
    ),
    "a typed denial": (
        c.ToolOutputChunk("c", ExecutionDeniedOutput("too late")),
        "7",
        [c.ToolOutputDenied("c")],
        ["tool-output-typed.output.reason"],
    ),
    "a denial": (c.ToolOutputDenied("c"), "6", [c.ToolOutputDenied("c")], []),
    "a denial, for a release without approvals": (
        c.ToolOutputDenied("c"),
        "5",
        [c.ToolOutputError("c", DENIED)],
        ["tool-output-denied.type"],
    ),
    "invalid input, for a release without its chunk": (
        c.ToolInputError("c", "w", "no city", {"town": 1}),
        "5.0.6",
        [
            c.ToolInputStart("c", "w"),
            c.ToolInputDelta("c", '{"town":1}'),
            c.ToolOutputError("c", "no city"),
        ],
        ["tool-input-error.type"],
    ),
    "a preliminary output": (
        c.ToolOutputAvailable("c", 1, preliminary=True),
        "5.0.10",
        [c.ToolOutputAvailable("c", 1)],
        ["tool-output-available.preliminary"],
    ),
    "a missing output": (c.ToolOutputAvailable("c"), "7", [c.ToolOutputAvailable("c", None)], []),
    "a missing input": (
        c.ToolInputAvailable("c", "w"),
        "7",
        [c.ToolInputAvailable("c", "w", None)],
        [],
    ),
    "missing invalid input": (
        c.ToolInputError("c", "w", "bad"),
        "7",
        [c.ToolInputError("c", "w", "bad", None)],
        [],
    ),
    "missing data": (c.DataChunk("data-w"), "7", [c.DataChunk("data-w", None)], []),
    "missing metadata": (c.MessageMetadata(), "7", [c.MessageMetadata(None)], []),
    "missing optional metadata": (c.MessageStart("m"), "7", [c.MessageStart("m")], []),
    "metadata that is not by provider": (
        c.TextStart("t", {"openai": {}, "note": "x", "other": None}),
        "7",
        [c.TextStart("t", {"openai": {}})],
        ["text-start.providerMetadata.note", "text-start.providerMetadata.other"],
    ),
    "citations, repaired": (
        c.TextEnd("t", citations=(Citation(PAGE, -1, 2**53, "words"),)),
        "7",
        [
            c.TextEnd(
                "t",
                citations=(
                    Citation(
                        UrlCitationSource(
                            "s1", "https://example.com", provider_metadata={"p": {"a": 1}}, type="source"
                        ),
                        cited_text="words",
                    ),
                ),
            )
        ],
        [
            "text-end.citations[0].source.providerMetadata.q",
            "text-end.citations[0].startIndex",
            "text-end.citations[0].endIndex",
        ],
    ),
    "a chunk of a sub-agent": (
        c.ChildChunk(("call-1", "call-2"), c.TextDelta("t", "hi")),
        "5.0.0",
        [
            c.DataChunk(
                "data-child",
                {"path": ["call-1", "call-2"], "chunk": {"type": "text-delta", "id": "t", "delta": "hi"}},
                transient=True,
            )
        ],
        [],
    ),
    "a message of a sub-agent": (
        c.ChildMessage(("call-1",), UserMessage(id="m", content="go")),
        "7",
        [
            c.DataChunk(
                "data-child",
                {"path": ["call-1"], "message": to_json(UserMessage(id="m", content="go"))},
                transient=True,
            )
        ],
        [],
    ),
    "an unknown chunk": (
        c.UnknownChunk(raw=Extra({"type": "text-blink", "id": "t"})),
        "7",
        [],
        ["text-blink"],
    ),
    "a network outside a stream": (
        c.NetworkExecutionEnd(),
        "7",
        [],
        ["network-execution-end"],
    ),
}


@each_row(("chunk", "target", "chunks", "withheld"), CASES.values(), ids=CASES)
def test_chunks_are_adapted(chunk: Chunk, target: str, chunks: list[Chunk], withheld: list[str]) -> None:
    adapted = adapt(chunk, Target.parse(target))
    assert list(adapted.chunks) == chunks
    assert [item.what for item in adapted.withheld] == withheld
    assert all(item.why for item in adapted.withheld)


targets = st.builds(Target, st.sampled_from((5, 6, 7)), st.none() | st.integers(0, 400))


@given(chunk=canonical.chunks(), target=targets)
def test_the_newest_clients_accept_what_any_client_is_sent(chunk: Chunk, target: Target) -> None:
    for sent in adapt(chunk, target).chunks:
        assert not chunk_problems(to_json(sent), target.major)


@given(chunk=canonical.chunks(), target=targets)
def test_withheld_values_are_listed(chunk: Chunk, target: Target) -> None:
    adapted = adapt(chunk, target)
    if len(adapted.chunks) == 1 and type(adapted.chunks[0]) is type(chunk):
        listed = [item.what for item in adapted.withheld]
        before, after = to_json(chunk), to_json(adapted.chunks[0])
        lost = [path for path in leaves(before) if path not in set(leaves(after))]
        type_ = before["type"]
        assert all(any(f"{type_}.{path}".startswith(what) for what in listed) for path in lost)
    elif not adapted.chunks:
        assert len(adapted.withheld) == 1


def leaves(value: Json) -> list[str]:
    """Return the paths of the members of an object, two levels deep."""
    paths: list[str] = []
    for key, item in value.items():
        paths += [f"{key}.{inner}" for inner in item] if is_object(item) and item else [key]
    return paths
