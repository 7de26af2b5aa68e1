"""Which version of the AI SDK is read and written how: a part of the page of formats."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from partita.formats.registry import all_formats
from partita.stream.encoder import SseEncoder
from partita.stream.state import RULES
from partita.stream.targets import CHUNKS, FIELDS, LOOSE, Since
from partita.types import chunks as c
from partita.types.chunks import Chunk
from partita.types.messages import UserMessage
from partita.types.parts import TextOutput
from partita.types.value import Extra

from . import markdown as md

TESTED = Path(__file__).parents[2] / "tests" / "package.json"
MAJORS = (4, 5, 6, 7)

BEFORE: tuple[Chunk, ...] = (
    c.MessageStart("m1"),
    c.ToolInputAvailable("call-1", "look_up", {"tower": "Slettnes"}),
)
"""What a client has heard before the chunk that is looked at."""

SAMPLES: Mapping[type[Any], Chunk] = {
    type(one): one
    for one in (
        c.StepReset(),
        c.ReasoningFileChunk("https://example.com/sketch.png", "image/png"),
        c.CustomChunk("openai.compaction"),
        c.SteeringMessageChunk("user-1", ()),
        c.ToolInputError("call-2", "look_up", "no such tower", input={}),
        c.ToolApprovalRequest("approval-1", "call-1"),
        c.ToolApprovalResponse("approval-1", True),
        c.ToolOutputDenied("call-1"),
        c.ToolOutputChunk("call-1", TextOutput("39 metres")),
        c.NetworkExecutionStart(primitive_type="agent", primitive_id="measurer"),
        c.NetworkExecutionEnd(),
        c.ChildChunk(("call-1",), c.TextStart("t")),
        c.ChildMessage(("call-1",), UserMessage(id="child-1", content="Measure the tower.")),
        c.UnknownChunk(raw=Extra({"type": "hologram"})),
    )
}
"""One of each chunk that not every client knows."""


def releases() -> str:
    """The section about the AI SDK."""
    said = (
        "Which shapes of each major version are read and written, and the release that the tests run side "
        "by side with ours."
    )
    chunks = (
        "A client stops at a chunk it does not know. So chunks are written for a release (`SseEncoder`, "
        "`partita serve --client`): as they are from the release that brought them, before it in older "
        "words, or not at all; `SseEncoder.withheld` lists what was not told. All other chunks are known to "
        "5, 6 and 7."
    )
    loose = ", ".join(_since(LOOSE, major).removeprefix("from ") for major in (5, 6, 7))
    return "\n\n".join(
        [
            "## Versions of the AI SDK",
            said,
            _versions(),
            "### Chunks that not every client knows",
            chunks,
            md.table(("chunk", "5", "6", "7"), _chunks()),
            "### Fields that not every client knows",
            "To a release before the one that brought it, a field is left out. Those from "
            f"{loose} on let any field pass.",
            md.table(("field", "5", "6", "7"), _fields()),
        ]
    )


def _versions() -> str:
    tested = json.loads(TESTED.read_text("utf-8"))["dependencies"]
    formats = all_formats()
    rows: list[list[str]] = []
    for major in MAJORS:
        streamed = f"ai-sdk-full-stream-v{major}" in formats
        rows.append(
            [
                f"AI SDK {major}",
                _can(f"ai-sdk-ui-v{major}"),
                _can(f"ai-sdk-model-v{major}"),
                "chunks, `fullStream`" if streamed else "data stream",
                "✓" if major in RULES else "",
                md.code(tested[f"ai{major}"].removeprefix("npm:")) if f"ai{major}" in tested else "",
            ]
        )
    head = ("", "UI messages", "model messages", "streams read", "streams written", "compared with")
    return md.table(head, rows)


def _can(name: str) -> str:
    format_ = all_formats()[name]
    words = ("read", format_.load), ("written", format_.dump)
    return ", ".join(word for word, can in words if can)


def _chunks() -> Iterator[list[str]]:
    for type_, since in CHUNKS.items():
        yield [_name(SAMPLES[type_]), *(_told(SAMPLES[type_], since, major) for major in (5, 6, 7))]


def _name(chunk: Chunk) -> str:
    if isinstance(chunk, c.UnknownChunk):
        return "a type nobody knows"
    return md.code(str(type(chunk).__struct_config__.tag))


def _told(chunk: Chunk, since: Since, major: int) -> str:
    first = since[major - 5]
    if first is not None:
        return "always" if first == 0 else f"from {major}.0.{first}"
    encoder, plain = SseEncoder(major), SseEncoder()
    begun = [SAMPLES[c.NetworkExecutionStart]] if isinstance(chunk, c.NetworkExecutionEnd) else []
    for before in (*BEFORE, *begun):
        encoder.encode(before)
        plain.encode(before)
    said = encoder.encode(chunk)
    if said == plain.encode(chunk):
        return "as it is"
    return "in other words" if said else "not told"


def _fields() -> Iterator[list[str]]:
    for type_, fields in FIELDS.items():
        tag = str(type_.__struct_config__.tag)
        for name, since in fields.items():
            yield [md.code(f"{tag}.{_camel(name)}"), *(_since(since, major) for major in (5, 6, 7))]


def _since(since: Since, major: int) -> str:
    first = since[major - 5]
    if first is None:
        return "–"
    return "always" if first == 0 else f"from {major}.0.{first}"


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)
