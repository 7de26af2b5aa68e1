"""Parts of real runs give the chunks of the same runs: scripted models, releases 5, 6 and 7."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from partita.formats.ai_sdk.full_stream import FullStreamDecoder, mask_error, show_error
from partita.formats.ai_sdk.full_stream_rules import RULES
from partita.stream.state import Version
from partita.types.codec import to_json
from partita.types.json import JsonObject, is_object
from tests.conformance.bridge import RealPackage

VERSIONS: tuple[Version, ...] = (5, 6, 7)
OPTIONS: Mapping[str, tuple[str, Any]] = {
    "sendReasoning": ("send_reasoning", True),
    "sendSources": ("send_sources", False),
    "sendStart": ("send_start", True),
    "sendFinish": ("send_finish", True),
}
"""The SDK's options under our names, with the SDK's defaults."""


class Run(NamedTuple):
    """The response of a model, its tools, the options of the stream, and the releases that support it."""

    parts: list[JsonObject]
    tools: Mapping[str, JsonObject | None] = MappingProxyType({})
    options: Mapping[str, Any] = MappingProxyType({})
    since: Version = 5


METADATA: JsonObject = {"openai": {"itemId": "item-1"}}
STOP: JsonObject = {"type": "finish", "finishReason": "stop"}
CALLS: JsonObject = {"type": "finish", "finishReason": "tool-calls"}
WEATHER: JsonObject = {
    "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
}


def block(kind: str, *deltas: str, id: str = "b1", **fields: Any) -> list[JsonObject]:
    return [
        {"type": f"{kind}-start", "id": id, **fields},
        *({"type": f"{kind}-delta", "id": id, "delta": delta} for delta in deltas),
        {"type": f"{kind}-end", "id": id, **fields},
    ]


def call(
    id: str = "call-1", name: str = "weather", input: str = '{"city":"Oslo"}', **fields: Any
) -> JsonObject:
    return {"type": "tool-call", "toolCallId": id, "toolName": name, "input": input, **fields}


def streamed_call(
    id: str = "call-1", name: str = "weather", input: str = '{"city":"Oslo"}', **fields: Any
) -> list[JsonObject]:
    """Return a call whose input arrives in two deltas."""
    start: JsonObject = {"id": id, "toolName": name, **fields}
    return [
        {"type": "tool-input-start", **start},
        {"type": "tool-input-delta", "id": id, "delta": input[:5]},
        {"type": "tool-input-delta", "id": id, "delta": input[5:]},
        {"type": "tool-input-end", "id": id},
        call(id, name, input, **fields),
    ]


def result(value: Any, id: str = "call-1", name: str = "weather", **fields: Any) -> JsonObject:
    return {
        "type": "tool-result",
        "toolCallId": id,
        "toolName": name,
        "result": value,
        "providerExecuted": True,
        **fields,
    }


PROVIDER_TOOL: JsonObject = {"providerExecuted": True}
DYNAMIC: JsonObject = {"providerExecuted": True, "dynamic": True}
SOURCES: list[JsonObject] = [
    {"type": "source", "sourceType": "url", "id": "s1", "url": "https://example.com", "title": "Example"},
    {
        "type": "source",
        "sourceType": "url",
        "id": "s2",
        "url": "https://example.org",
        "providerMetadata": METADATA,
    },
    {"type": "source", "sourceType": "document", "id": "s3", "mediaType": "text/plain", "title": "Notes"},
    {
        "type": "source",
        "sourceType": "document",
        "id": "s4",
        "mediaType": "text/plain",
        "title": "Notes",
        "filename": "notes.txt",
        "providerMetadata": METADATA,
    },
]
REASONS = [*block("reasoning", "Hm", "m.", id="r1", providerMetadata=METADATA), *block("text", "Hi"), STOP]

RUNS: dict[str, Run] = {
    "nothing": Run([STOP]),
    "text": Run([*block("text", "Hello", " world", "", "😀"), STOP]),
    "text with metadata": Run([*block("text", "Hello", providerMetadata=METADATA), STOP]),
    "two texts at once": Run(
        [
            {"type": "text-start", "id": "a"},
            {"type": "text-start", "id": "b"},
            {"type": "text-delta", "id": "b", "delta": "2", "providerMetadata": METADATA},
            {"type": "text-delta", "id": "a", "delta": "1"},
            {"type": "text-end", "id": "a"},
            {"type": "text-end", "id": "b"},
            STOP,
        ]
    ),
    "citations": Run(
        [
            {"type": "text-start", "id": "a"},
            {"type": "text-delta", "id": "a", "delta": "So it is."},
            {
                "type": "text-end",
                "id": "a",
                "citations": [
                    {
                        "source": {
                            "type": "source",
                            "sourceType": "url",
                            "id": "s1",
                            "url": "https://example.com",
                        },
                        "startIndex": 0,
                        "endIndex": 2,
                        "citedText": "So",
                    }
                ],
            },
            STOP,
        ]
    ),
    "reasoning": Run(REASONS),
    "reasoning is not sent": Run(REASONS, options={"sendReasoning": False}),
    "no start": Run(REASONS, options={"sendStart": False}),
    "no finish": Run(REASONS, options={"sendFinish": False}),
    "sources": Run([*SOURCES, STOP], options={"sendSources": True}),
    "sources are not sent": Run([*SOURCES, STOP]),
    "files": Run(
        [
            {"type": "file", "mediaType": "image/png", "data": "iVBORw0KGgo="},
            {"type": "file", "mediaType": "text/plain", "data": "aGk=", "providerMetadata": METADATA},
            STOP,
        ]
    ),
    "files of the reasoning": Run(
        [{"type": "reasoning-file", "mediaType": "image/png", "data": "iVBORw0KGgo="}, STOP], since=7
    ),
    "files of the reasoning are not sent": Run(
        [{"type": "reasoning-file", "mediaType": "image/png", "data": "iVBORw0KGgo="}, STOP],
        options={"sendReasoning": False},
        since=7,
    ),
    "custom content": Run(
        [{"type": "custom", "kind": "openai.thing", "providerMetadata": METADATA}, STOP], since=7
    ),
    "a tool": Run(
        [*streamed_call(), CALLS, *block("text", "Sunny"), STOP], {"weather": {"output": {"sky": "blue"}}}
    ),
    "a tool called without deltas": Run([call(), CALLS, STOP], {"weather": {"output": "sunny"}}),
    "a tool with a title and metadata": Run(
        [*streamed_call(), CALLS, STOP],
        {"weather": {"output": 1, "title": "The weather", "metadata": {"server": "met"}}},
    ),
    "metadata of a call": Run(
        [*streamed_call(providerMetadata=METADATA), CALLS, STOP], {"weather": {"output": 1}}
    ),
    "a text input": Run([*streamed_call(inputEncoding="text"), CALLS, STOP], {"weather": {"output": 1}}),
    "a tool of the client": Run([*streamed_call(), CALLS], {"weather": None}),
    "a tool that returns null": Run([call(), CALLS, STOP], {"weather": {"output": None}}),
    "a tool that returns nothing": Run([call(), CALLS, STOP], {"weather": {"yields": []}}),
    "a tool with preliminary outputs": Run(
        [call(), CALLS, STOP], {"weather": {"yields": [1, {"a": 2}, "done"]}}
    ),
    "a tool that fails": Run([*streamed_call(), CALLS, STOP], {"weather": {"error": "no network"}}),
    "a tool that fails, with a shown error": Run(
        [*streamed_call(), CALLS, STOP], {"weather": {"error": "no network"}}, {"onError": "message"}
    ),
    "two tools at once": Run(
        [*streamed_call(), *streamed_call("call-2", "clock", "{}"), CALLS, STOP],
        {"weather": {"output": 1}, "clock": {"error": "stopped"}},
    ),
    "invalid input": Run([*streamed_call(input="{}"), CALLS, STOP], {"weather": {"output": 1, **WEATHER}}),
    "invalid input, with a shown error": Run(
        [call(input="{}"), CALLS, STOP],
        {"weather": {"output": 1, "title": "T", "metadata": {"m": 1}, **WEATHER}},
        {"onError": "message"},
    ),
    "input that is not JSON": Run(
        [*streamed_call(input='{"city":'), CALLS, STOP], {"weather": {"output": 1}}
    ),
    "invalid input of a dynamic tool": Run(
        [*streamed_call(input="{}"), CALLS, STOP], {"weather": {"output": 1, "dynamic": True, **WEATHER}}
    ),
    "an unknown tool": Run([*streamed_call(name="nope"), CALLS, STOP], {"weather": {"output": 1}}),
    "a call without tools": Run([*streamed_call(name="nope"), CALLS, STOP]),
    "invalid input, then valid input": Run(
        [call(input="{}"), CALLS, call(), CALLS, STOP], {"weather": {"output": 1, **WEATHER}}
    ),
    "a dynamic tool": Run(
        [*streamed_call(), CALLS, STOP], {"weather": {"output": 1, "dynamic": True, "title": "The weather"}}
    ),
    "a dynamic tool that fails": Run([call(), CALLS, STOP], {"weather": {"error": "no", "dynamic": True}}),
    "a dynamic tool in steps": Run([call(), CALLS, STOP], {"weather": {"yields": [1, 2], "dynamic": True}}),
    "a tool of the provider": Run(
        [*streamed_call(**PROVIDER_TOOL), result({"sky": "blue"}, providerMetadata=METADATA), STOP],
        {"weather": None},
    ),
    "a tool of the provider that fails": Run(
        [*streamed_call(**PROVIDER_TOOL), result({"code": 5, "what": ["a", 1.5, None]}, isError=True), STOP],
        {"weather": None},
    ),
    "a tool of the provider that fails with a text": Run(
        [*streamed_call(**PROVIDER_TOOL), result("too slow", isError=True), STOP], {"weather": None}
    ),
    "a dynamic tool of the provider": Run(
        [*streamed_call(name="mcp.search", **DYNAMIC), result([1], name="mcp.search", dynamic=True), STOP]
    ),
    "a dynamic tool of the provider that fails": Run(
        [
            call(name="mcp.search", **DYNAMIC),
            result("no", name="mcp.search", dynamic=True, isError=True),
            STOP,
        ],
        {"weather": {"output": 1}},
    ),
    "a preliminary output of a tool of the provider": Run(
        [*streamed_call(**PROVIDER_TOOL), result(1, preliminary=True), result(2), STOP], {"weather": None}
    ),
    "an approval": Run(
        [*streamed_call(), CALLS], {"weather": {"output": 1, "approval": "user-approval"}}, since=6
    ),
    "an approval of a dynamic tool": Run(
        [call(), CALLS], {"weather": {"output": 1, "approval": "user-approval", "dynamic": True}}, since=6
    ),
    "approved by the policy": Run(
        [*streamed_call(), CALLS, STOP], {"weather": {"output": 1, "approval": "approved"}}, since=7
    ),
    "denied by the policy": Run(
        [*streamed_call(), CALLS, STOP], {"weather": {"output": 1, "approval": "denied"}}, since=7
    ),
    "an error": Run([*block("text", "Hi"), {"type": "error", "error": {"message": "overloaded"}}, STOP]),
    "an error that is shown": Run(
        [{"type": "error", "error": {"message": "overloaded"}}, STOP], options={"onError": "message"}
    ),
    "a text error": Run([{"type": "error", "error": "overloaded"}, STOP], options={"onError": "message"}),
    "three steps": Run(
        [
            *[*block("reasoning", "Hm", id="r"), *streamed_call(), CALLS],
            *[*block("text", "Next"), *streamed_call("call-2"), CALLS],
            *[*block("text", "Done"), STOP],
        ],
        {"weather": {"output": 1}},
    ),
    "interrupted": Run([*block("text", "Hi"), {"type": "finish", "finishReason": "length"}]),
    "filtered": Run([*block("text", "Hi"), {"type": "finish", "finishReason": "content-filter"}]),
    "aborted": Run([*block("text", "Hello", " world"), STOP], options={"abortAfter": 2}),
    "aborted within a call": Run(
        [*streamed_call(), CALLS, STOP], {"weather": {"output": 1}}, {"abortAfter": 3}
    ),
}

CASES = [(name, version) for name, run in RUNS.items() for version in VERSIONS if version >= run.since]


def request_of(run: Run, version: Version) -> JsonObject:
    return {
        "op": "full_stream",
        "version": version,
        "parts": run.parts,
        "tools": dict(run.tools),
        "options": dict(run.options),
    }


@pytest.mark.parametrize(("name", "version"), CASES, ids=[f"{name} ({version})" for name, version in CASES])
def test_parts_of_a_run_give_its_chunks(real: RealPackage, name: str, version: Version) -> None:
    run = RUNS[name]
    answer = real.ask(request_of(run, version))
    decoder = FullStreamDecoder(
        version,
        tools={tool: is_object(how) and bool(how.get("dynamic")) for tool, how in run.tools.items()},
        on_error=show_error if run.options.get("onError") == "message" else mask_error,
        message_metadata=None,
        **{ours: run.options.get(theirs, default) for theirs, (ours, default) in OPTIONS.items()},
    )
    chunks = [to_json(chunk) for part in answer["parts"] for chunk in decoder.feed(part)]
    assert chunks == answer["chunks"]
    assert decoder.finish() == []


# Chunks that need more than one run, or more than a scripted model.
UNREACHED = {5: set[str](), 6: {"tool-output-denied"}, 7: {"steering-message"}}


@pytest.mark.parametrize("version", VERSIONS)
def test_the_runs_cover_every_chunk(real: RealPackage, version: Version) -> None:
    runs = [run for run in RUNS.values() if version >= run.since]
    answers = real.ask_many([request_of(run, version) for run in runs])
    reached = {chunk["type"] for answer in answers for chunk in answer["chunks"]}
    made = {rule.chunk for rule in RULES.values() if rule.chunk is not None and rule.since <= version}
    assert reached == made - UNREACHED[version]
