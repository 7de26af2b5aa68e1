"""The section of the formats page about AI SDK versions: messages, streams, chunks and fields of each."""

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

PACKAGES = Path(__file__).parents[2] / "tests" / "package.json"
MAJORS = (4, 5, 6, 7)

BEFORE: tuple[Chunk, ...] = (
    c.MessageStart("m1"),
    c.ToolInputAvailable("call-1", "look_up", {"tower": "Slettnes"}),
)
"""The chunks before the sample in a stream."""

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
"""A sample of each chunk type that some clients do not support."""

INTRODUCTION = """\
The messages and streams of each major version that are read and written, and the release that the tests
compare with."""

CHUNKS_INTRODUCTION = """\
A client fails at a chunk type that it does not know. Chunks are therefore written for a release
(`SseEncoder`, `partita serve --client`): unchanged if the release supports them, otherwise as other chunks or
not at all. `SseEncoder.withheld` lists what was not sent. 5, 6 and 7 support all other chunk types."""

FIELDS_INTRODUCTION = """\
A field is left out for releases that do not support it (–). Clients accept unknown fields from {loose} on."""


def ai_sdk_versions() -> str:
    """Return the section."""
    loose = ", ".join(_supported(LOOSE, major).removeprefix("from ") for major in (5, 6, 7))
    return "\n\n".join(
        [
            "## AI SDK versions",
            INTRODUCTION,
            _versions(),
            "### Chunks that some releases do not support",
            CHUNKS_INTRODUCTION,
            md.table(("chunk", "5", "6", "7"), _chunks()),
            "### Fields that some releases do not support",
            FIELDS_INTRODUCTION.format(loose=loose),
            md.table(("field", "5", "6", "7"), _fields()),
        ]
    )


def _versions() -> str:
    installed = json.loads(PACKAGES.read_text("utf-8"))["dependencies"]
    formats = all_formats()
    rows: list[list[str]] = []
    for major in MAJORS:
        has_full_stream = f"ai-sdk-full-stream-v{major}" in formats
        rows.append(
            [
                f"AI SDK {major}",
                _directions(f"ai-sdk-ui-v{major}"),
                _directions(f"ai-sdk-model-v{major}"),
                "chunks, `fullStream`" if has_full_stream else "data stream",
                "✓" if major in RULES else "",
                md.code(installed[f"ai{major}"].removeprefix("npm:")) if f"ai{major}" in installed else "",
            ]
        )
    head = ("", "UI messages", "model messages", "streams read", "streams written", "compared with")
    return md.table(head, rows)


def _directions(name: str) -> str:
    format_ = all_formats()[name]
    directions = ("read", format_.load), ("written", format_.dump)
    return ", ".join(direction for direction, can in directions if can)


def _chunks() -> Iterator[list[str]]:
    for type_, since in CHUNKS.items():
        yield [_name(SAMPLES[type_]), *(_chunk_support(SAMPLES[type_], since, major) for major in (5, 6, 7))]


def _name(chunk: Chunk) -> str:
    if isinstance(chunk, c.UnknownChunk):
        return "an unknown type"
    return md.code(str(type(chunk).__struct_config__.tag))


def _chunk_support(chunk: Chunk, since: Since, major: int) -> str:
    """Return from which release a chunk is supported, or what is sent instead."""
    if since[major - 5] is not None:
        return _supported(since, major)
    encoder, unchanged = SseEncoder(major), SseEncoder()
    started = [SAMPLES[c.NetworkExecutionStart]] if isinstance(chunk, c.NetworkExecutionEnd) else []
    for before in (*BEFORE, *started):
        encoder.encode(before)
        unchanged.encode(before)
    encoded = encoder.encode(chunk)
    if encoded == unchanged.encode(chunk):
        return "unchanged"
    return "as other chunks" if encoded else "not sent"


def _fields() -> Iterator[list[str]]:
    for type_, fields in FIELDS.items():
        tag = str(type_.__struct_config__.tag)
        for name, since in fields.items():
            yield [md.code(f"{tag}.{_camel(name)}"), *(_supported(since, major) for major in (5, 6, 7))]


def _supported(since: Since, major: int) -> str:
    first = since[major - 5]
    if first is None:
        return "–"
    return "always" if first == 0 else f"from {major}.0.{first}"


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)
