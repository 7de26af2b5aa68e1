"""The chunk of an output gives the call exactly that output."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from partita.runtime.tools.outputs import chunk_of_output
from partita.stream.accumulator import accumulate
from partita.types.chunks import (
    Chunk,
    ToolInputAvailable,
    ToolOutputAvailable,
    ToolOutputChunk,
    ToolOutputError,
)
from partita.types.codec import decode_chunk, encode
from partita.types.json import Json
from partita.types.messages import ToolCallPart
from partita.types.parts import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    TextPart,
    ToolOutput,
)
from tests.canonical import tool_outputs
from tests.tables import each_row

METADATA: Json = {"acme": {"id": "1"}}

CASES: Mapping[str, tuple[ToolOutput, bool, Chunk]] = {
    "text": (TextOutput("a"), False, ToolOutputAvailable("c", "a")),
    "preliminary text": (TextOutput("a"), True, ToolOutputAvailable("c", "a", preliminary=True)),
    "json": (JsonOutput({"a": 1}), False, ToolOutputAvailable("c", {"a": 1})),
    "null": (JsonOutput(None), False, ToolOutputAvailable("c", None)),
    "a JSON string is not a text": (JsonOutput("a"), False, ToolOutputChunk("c", JsonOutput("a"))),
    "error": (ErrorTextOutput("no"), False, ToolOutputError("c", "no")),
    "preliminary error": (
        ErrorTextOutput("no"),
        True,
        ToolOutputChunk("c", ErrorTextOutput("no"), preliminary=True),
    ),
    "error in json": (ErrorJsonOutput(1), False, ToolOutputChunk("c", ErrorJsonOutput(1))),
    "content": (
        ContentOutput((TextPart("a"),)),
        False,
        ToolOutputChunk("c", ContentOutput((TextPart("a"),))),
    ),
    "denied": (ExecutionDeniedOutput("no"), False, ToolOutputChunk("c", ExecutionDeniedOutput("no"))),
    "interrupted": (InterruptedOutput("timeout"), False, ToolOutputChunk("c", InterruptedOutput("timeout"))),
    "with metadata": (
        TextOutput("a", provider_metadata=METADATA),
        False,
        ToolOutputChunk("c", TextOutput("a", provider_metadata=METADATA)),
    ),
}


@each_row(("output", "preliminary", "chunk"), CASES.values(), ids=CASES)
def test_the_chunk_for_an_output(output: ToolOutput, preliminary: bool, chunk: Chunk) -> None:
    assert chunk_of_output("c", output, preliminary) == chunk


@given(tool_outputs(), st.booleans())
def test_the_chunk_gives_the_call_exactly_the_output(output: ToolOutput, preliminary: bool) -> None:
    chunk = decode_chunk(encode(chunk_of_output("c", output, preliminary)))
    message = accumulate([ToolInputAvailable("c", "find", {}), chunk])
    (part,) = message.content.parts
    assert isinstance(part, ToolCallPart)
    assert part.output == output
    assert part.preliminary == (preliminary or None)
