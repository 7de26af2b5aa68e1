"""Parts of `fullStream` → chunks: what is converted, what is reported, what is refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import FormatError, StreamError
from partita.formats.ai_sdk.full_stream import MASKED, FullStreamDecoder, mask_error, show_error
from partita.formats.ai_sdk.full_stream_rules import RULES
from partita.formats.event_streams import fold_events
from partita.formats.registry import get_format
from partita.stream.accumulator import accumulate
from partita.stream.state import Version
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject
from partita.types.messages import ToolCallPart
from partita.types.parts import ErrorTextOutput, TextPart
from tests import strategies
from tests.tables import each_row

VERSIONS: tuple[Version, ...] = (5, 6, 7)
METADATA: JsonObject = {"openai": {"itemId": "1"}}

SDK: JsonObject = {"on_error": mask_error, "send_sources": False, "message_metadata": None}
"""The options with which the decoder sends what `toUIMessageStream` sends by default."""


def decoded(parts: list[JsonObject], version: Version = 7, **options: Any) -> list[Json]:
    decoder = FullStreamDecoder(version, **{**SDK, **options})
    return [to_json(chunk) for part in parts for chunk in decoder.feed(part)]


def typed(type_: str, **fields: Json) -> JsonObject:
    return {"type": type_, **fields}


def call(**fields: Json) -> JsonObject:
    return typed("tool-call", toolCallId="c", toolName="w", input={}, **fields)


def outcome(type_: str, **fields: Json) -> JsonObject:
    return typed(type_, toolCallId="c", toolName="w", input={}, **fields)


def of_any(part: JsonObject) -> Json:
    return part["type"]


def of_step(part: JsonObject) -> Json:
    return {"of": part["type"]} if part["type"] == "finish-step" else None


APPROVAL_REQUEST = typed(
    "tool-approval-request", approvalId="a", toolCall={"type": "tool-call", "toolCallId": "c"}
)

# Parts, the options, and the chunks of each version.
CASES: dict[str, tuple[list[JsonObject], JsonObject, dict[tuple[Version, ...], list[JsonObject]]]] = {
    "the id of the message": (
        [typed("start")],
        {"message_id": "m1"},
        {VERSIONS: [typed("start", messageId="m1")]},
    ),
    "an output that is undefined": (
        [outcome("tool-result")],
        {},
        {
            (5,): [typed("tool-output-available", toolCallId="c")],
            (6,): [typed("tool-output-available", toolCallId="c", output=None)],
            (7,): [typed("tool-output-available", toolCallId="c", output=None)],
        },
    ),
    "an input that is null": (
        [{**call(), "input": None}],
        {},
        {VERSIONS: [typed("tool-input-available", toolCallId="c", toolName="w", input=None)]},
    ),
    "null is absent": (
        [typed("text-start", id="t", providerMetadata=None)],
        {},
        {VERSIONS: [typed("text-start", id="t")]},
    ),
    "reasoning that is not sent": (
        [
            typed("reasoning-start", id="r"),
            typed("reasoning-delta", id="r", text="x"),
            typed("reasoning-end", id="r"),
        ],
        {"send_reasoning": False},
        {(5,): [typed("reasoning-start", id="r"), typed("reasoning-end", id="r")], (6,): [], (7,): []},
    ),
    "a file as the SDK's own object is written": (
        [typed("file", file={"base64Data": "aGk=", "mediaType": "text/plain"})],
        {},
        {VERSIONS: [typed("file", mediaType="text/plain", url="data:text/plain;base64,aGk=")]},
    ),
    "the error of a invalid call is reported once": (
        [
            call(invalid=True, error="bad"),
            outcome("tool-error", error="bad"),
            outcome("tool-error", error="late"),
        ],
        {"on_error": show_error},
        {
            (5, 6): [
                typed("tool-input-error", toolCallId="c", toolName="w", input={}, errorText="bad"),
                typed("tool-output-error", toolCallId="c", errorText="bad"),
                typed("tool-output-error", toolCallId="c", errorText="late"),
            ],
            (7,): [
                typed("tool-input-error", toolCallId="c", toolName="w", input={}, errorText="bad"),
                typed("tool-output-error", toolCallId="c", errorText="late"),
            ],
        },
    ),
    "the error of a tool that the provider ran": (
        [outcome("tool-error", error={"code": 5}, providerExecuted=True)],
        {},
        {
            (5,): [typed("tool-output-error", toolCallId="c", errorText=MASKED, providerExecuted=True)],
            (6,): [typed("tool-output-error", toolCallId="c", errorText='{"code":5}', providerExecuted=True)],
            (7,): [typed("tool-output-error", toolCallId="c", errorText='{"code":5}', providerExecuted=True)],
        },
    ),
    "the metadata of a step": (
        [typed("start-step"), typed("finish-step")],
        {"message_metadata": of_step},
        {
            (5, 6): [
                typed("start-step"),
                typed("finish-step"),
                typed("message-metadata", messageMetadata={"of": "finish-step"}),
            ],
            (7,): [
                typed("start-step"),
                typed("message-metadata", messageMetadata={"of": "finish-step"}),
                typed("finish-step"),
            ],
        },
    ),
    "metadata of start and finish are in their chunks": (
        [typed("start"), typed("raw", rawValue=1), typed("finish", finishReason="stop")],
        {"message_metadata": of_any},
        {
            VERSIONS: [
                typed("start", messageMetadata="start"),
                typed("message-metadata", messageMetadata="raw"),
                typed("finish", finishReason="stop", messageMetadata="finish"),
            ]
        },
    ),
    "metadata of dropped start and finish are dropped": (
        [typed("start"), typed("finish", finishReason="stop")],
        {"message_metadata": of_any, "send_start": False, "send_finish": False},
        {VERSIONS: []},
    ),
    "a request": (
        [{**APPROVAL_REQUEST, "signature": "s", "reason": "r", "isAutomatic": False}],
        {},
        {
            (5,): [],
            (6,): [typed("tool-approval-request", approvalId="a", toolCallId="c", signature="s")],
            (7,): [
                typed(
                    "tool-approval-request",
                    approvalId="a",
                    toolCallId="c",
                    signature="s",
                    reason="r",
                    isAutomatic=False,
                )
            ],
        },
    ),
    "a part that is in no version": (
        [typed("text-blink", id="t")],
        {"message_metadata": of_any},
        {VERSIONS: [typed("message-metadata", messageMetadata="text-blink")]},
    ),
}
ROWS = [
    pytest.param(parts, options, version, chunks, id=f"{name} ({version})")
    for name, (parts, options, by_version) in CASES.items()
    for versions, chunks in by_version.items()
    for version in versions
]


@each_row(("parts", "options", "version", "chunks"), ROWS)
def test_parts_become_chunks(
    parts: list[JsonObject], options: JsonObject, version: Version, chunks: list[JsonObject]
) -> None:
    assert decoded(parts, version, **options) == chunks


# Whether a call is dynamic: in the parts, by the tools, and in the chunks.
BEGUN = typed("tool-input-start", id="c", toolName="w", dynamic=False)
BAD = call(dynamic=True, invalid=True)
DONE = outcome("tool-result", output=1, dynamic=True)
KINDS: dict[str, tuple[list[JsonObject], dict[str, bool] | None, dict[Version, list[bool | None]]]] = {
    "a dynamic tool": ([call(dynamic=True), DONE], {"w": True}, {5: [True, True], 7: [True, True]}),
    "a static tool": ([call(dynamic=True), DONE], {"w": False}, {5: [None, None], 7: [None, None]}),
    "a tool of the provider": ([call(dynamic=True), DONE], {}, {5: [None, None], 7: [True, True]}),
    "a invalid call of a static tool": ([BEGUN, BAD], {"w": False}, {5: [None, None], 7: [None, None]}),
    "an invalid call of an unknown tool": ([BEGUN, BAD], None, {5: [None, None], 7: [False, True]}),
    "an unknown dynamic tool": ([call(dynamic=True), DONE], None, {5: [True, True], 7: [True, True]}),
    "the output of a call of an earlier message": ([DONE], {"w": True}, {5: [None], 7: [True]}),
}


@each_row("version", [5, 7])
@each_row(("parts", "tools", "expected"), KINDS.values(), ids=KINDS)
def test_dynamic_tools(
    parts: list[JsonObject],
    tools: dict[str, bool] | None,
    expected: dict[Version, list[bool | None]],
    version: Version,
) -> None:
    assert [chunk.get("dynamic") for chunk in decoded(parts, version, tools=tools)] == expected[version]


STEERING: dict[str, tuple[Json, list[JsonObject]]] = {
    "words": ("stop", [typed("text", text="stop")]),
    "a text": (
        [typed("text", text="stop", providerOptions=METADATA)],
        [typed("text", text="stop", providerMetadata=METADATA)],
    ),
    "a URL": (
        [typed("image", image="https://example.com")],
        [typed("file", mediaType="image", url="https://example.com/")],
    ),
    "a data URL with its media type": (
        [typed("file", data="data:image/png;base64,aGk=", mediaType="text/plain", filename="a.png")],
        [typed("file", mediaType="image/png", url="data:image/png;base64,aGk=", filename="a.png")],
    ),
    "base64": (
        [typed("file", data="aGk=", mediaType="text/plain")],
        [typed("file", mediaType="text/plain", url="data:text/plain;base64,aGk=")],
    ),
    "tagged data": (
        [typed("file", data={"type": "data", "data": "aGk="}, mediaType="text/plain")],
        [typed("file", mediaType="text/plain", url="data:text/plain;base64,aGk=")],
    ),
    "a tagged text": (
        [typed("file", data={"type": "text", "text": "hé"}, mediaType="text/plain")],
        [typed("file", mediaType="text/plain", url="data:text/plain;base64,aMOp")],
    ),
    "a tagged text with half a surrogate pair": (
        [typed("file", data={"type": "text", "text": "\ud83d"}, mediaType="text/plain")],
        [typed("file", mediaType="text/plain", url="data:text/plain;base64,77+9")],
    ),
    "a tagged URL": (
        [typed("file", data={"type": "url", "url": "https://example.com/a"}, mediaType="a/b")],
        [typed("file", mediaType="a/b", url="https://example.com/a")],
    ),
    "file ids by provider": (
        [typed("file", data={"openai": "file-1"}, mediaType="a/b")],
        [typed("file", mediaType="a/b", url="", providerReference={"openai": "file-1"})],
    ),
    "tagged file ids": (
        [typed("file", data={"type": "reference", "reference": {"openai": "file-1"}}, mediaType="a/b")],
        [typed("file", mediaType="a/b", url="", providerReference={"openai": "file-1"})],
    ),
}


@each_row(("content", "parts"), STEERING.values(), ids=STEERING)
def test_steering_messages_become_user_parts(content: Json, parts: list[JsonObject]) -> None:
    part = typed("steering-message", id="u", message={"role": "user", "content": content}, stepNumber=1)
    assert decoded([part]) == [typed("steering-message", id="u", parts=parts)]


# Losses

LISTED: dict[str, tuple[Version, list[JsonObject], JsonObject, list[str]]] = {
    "members of every step": (
        7,
        [
            typed("start-step", request={"body": "{}"}, warnings=[]),
            typed("finish-step", usage={"inputTokens": 1}, finishReason="stop", response={"id": "r"}),
            typed("finish", finishReason="stop", totalUsage={"inputTokens": 1}, rawFinishReason=None),
        ],
        {},
        ["$[0].request", "$[1].usage", "$[1].finishReason", "$[1].response", "$[2].totalUsage"],
    ),
    "raw events": (7, [typed("raw", rawValue={"a": 1})], {}, ["$[0].rawValue"]),
    "an empty ping": (7, [typed("ping")], {}, []),
    "metadata of a piece of input": (
        6,
        [
            typed("tool-input-start", id="c", toolName="w"),
            typed("tool-input-delta", id="c", delta="", providerMetadata=METADATA),
            typed("tool-input-end", id="c"),
        ],
        {},
        ["$[1].providerMetadata"],
    ),
    "a result whose call is another": (
        7,
        [call(), {**outcome("tool-result", output=1), "toolName": "v", "input": {"a": 1}}],
        {},
        ["$[1].input", "$[1].toolName"],
    ),
    "an input end without a start": (7, [typed("tool-input-end", id="c")], {}, ["$[0].id"]),
    "members that are not in an older version": (
        5,
        [
            typed("file", file={"base64": "", "mediaType": "a/b"}, providerMetadata=METADATA),
            outcome("tool-result", output=1, providerMetadata=METADATA),
            typed("text-end", id="t", citations=[{"source": {}}]),
        ],
        {},
        ["$[0].providerMetadata", "$[1].providerMetadata", "$[2].citations"],
    ),
    "a part that is not in the version": (6, [typed("custom", kind="a.b")], {}, ["$[0]"]),
    "a field that is in no version": (7, [typed("text-start", id="t", colour="red")], {}, ["$[0].colour"]),
    "sources, unless they are sent": (
        7,
        [typed("source", sourceType="url", id="s", url="u")],
        {},
        ["$[0]"],
    ),
    "an unknown kind of source": (
        7,
        [typed("source", sourceType="x", id="s")],
        {"send_sources": True},
        ["$[0]"],
    ),
    "a finish that is not sent": (
        7,
        [typed("finish", finishReason="stop")],
        {"send_finish": False},
        ["$[0]"],
    ),
    "a start that is not sent": (7, [typed("start")], {"send_start": False}, []),
    "an error that is masked": (7, [typed("error", error={"message": "secret"})], {}, ["$[0].error"]),
    "an error that is shown": (7, [typed("error", error="x")], {"on_error": show_error}, []),
    "the error of a tool of the provider": (
        7,
        [outcome("tool-error", error="x", providerExecuted=True)],
        {},
        [],
    ),
    "an already reported call": (
        7,
        [call(invalid=True, error="x"), outcome("tool-error", error="x")],
        {},
        ["$[0].error"],
    ),
}


@each_row(("version", "parts", "options", "paths"), LISTED.values(), ids=LISTED)
def test_parts_that_are_not_converted_are_reported(
    version: Version, parts: list[JsonObject], options: JsonObject, paths: list[str]
) -> None:
    decoder = FullStreamDecoder(version, **{**SDK, **options})
    for part in parts:
        decoder.feed(part)
    assert sorted(loss.path for loss in decoder.losses) == sorted(paths)


STEPS: list[JsonObject] = [
    typed("start"),
    typed("start-step", request={"body": "{}"}, warnings=[{"type": "other", "message": "slow"}]),
    typed("source", sourceType="url", id="s", url="https://example.com"),
    typed("source", sourceType="document", id="d", mediaType="text/plain", title="Tides"),
    call(),
    outcome("tool-error", error={"message": "no network", "code": 5}),
    typed(
        "finish-step",
        usage={"inputTokens": 3, "outputTokens": 2, "inputTokenDetails": {"cacheReadTokens": 1}},
        finishReason="tool-calls",
        response={"id": "r1", "modelId": "m", "headers": {"x": "1"}},
    ),
    typed("start-step", request={}, warnings=[]),
    typed("error", error="overloaded"),
    typed(
        "finish-step", usage={"inputTokens": 4}, finishReason="stop", response={"id": "r2", "modelId": "m"}
    ),
    typed(
        "finish",
        finishReason="stop",
        totalUsage={"inputTokens": 7, "inputTokenDetails": {"cacheReadTokens": 1}},
    ),
]


@each_row("version", VERSIONS)
def test_a_reader_keeps_parts_that_are_not_sent_to_browsers(version: Version) -> None:
    make = get_format(f"ai-sdk-full-stream-v{version}").decoder
    assert make is not None
    folded = fold_events(make(), STEPS, losses=True)
    (message,) = folded.messages
    assert [type(part).__name__ for part in message.parts] == [
        *("StepStartPart", "SourceUrlPart", "SourceDocumentPart", "ToolCallPart", "StepStartPart")
    ]
    assert [part.output for part in message.parts if isinstance(part, ToolCallPart)] == [
        ErrorTextOutput("no network")
    ]
    assert folded.errors == ("overloaded",)
    metadata: Json = message.content.metadata
    assert metadata["errors"] == ["overloaded"]
    aborted: Json = (
        fold_events(make(), [STEPS[0], typed("abort", reason="enough")]).messages[0].content.metadata
    )
    assert aborted == {"ended": {"status": "cancelled", "reason": "enough"}}
    assert (metadata["usage"]["inputTokens"], metadata["usage"]["cachedInputTokens"]) == (7, 1)
    assert (metadata["model"], metadata["responseId"], metadata["finishReason"]) == ("m", "r2", "stop")
    cut: Json = fold_events(make(), STEPS[:-1]).messages[0].content.metadata
    assert (cut["usage"]["inputTokens"], cut["steps"]) == (7, metadata["steps"])
    first, second = metadata["steps"]
    assert first["warnings"] == [{"type": "other", "message": "slow"}]
    assert (first["usage"]["cachedInputTokens"], first["responseId"], second["responseId"]) == (1, "r1", "r2")
    assert [loss.path for loss in folded.losses] == [
        "$[1].request",
        "$[5].error.code",
        "$[6].response.headers",
    ]


ERRORS: dict[str, tuple[Json, str]] = {
    "its message": ({"name": "Error", "message": "no network"}, "no network"),
    "words": ("no network", "no network"),
    "all there is": ({"code": 5, "at": 1.0}, '{"code":5,"at":1}'),
    "nothing": (None, "null"),
}


@each_row(("error", "text"), ERRORS.values(), ids=ERRORS)
def test_errors_can_be_shown(error: Json, text: str) -> None:
    assert decoded([typed("error", error=error)], on_error=show_error) == [typed("error", errorText=text)]


# Refused parts

REFUSED: dict[str, tuple[Json, str, str]] = {
    "no object": (["start"], "a part is an object, found array", "$[1]"),
    "no type": ({"id": "t"}, "a part without a type", "$[1]"),
    "a type that is not a string": ({"type": 1}, "a part without a type", "$[1]"),
    "a field is missing": (typed("text-delta", id="t"), "text-delta part: missing field `text`", "$[1]"),
    "an invalid field": (
        typed("text-delta", id="t", text=5),
        "text-delta part: expected string, found number 5",
        "$[1].text",
    ),
    "an invalid nested field": (
        typed("text-end", id="t", citations=[{"source": {"sourceType": "url", "id": 1, "url": ""}}]),
        "text-end part: expected string, found number 1",
        "$[1].citations[0].source.id",
    ),
    "a file without content": (
        typed("file", file={"mediaType": "a/b"}),
        "file part: a file without its content",
        "$[1].file",
    ),
    "an approval request without a call": (
        typed("tool-approval-request", approvalId="a"),
        "tool-approval-request part: an approval request without its call",
        "$[1].toolCall",
    ),
    "a steering message without content": (
        typed("steering-message", id="u", message={}),
        "steering-message part: content is null",
        "$[1].message",
    ),
    "not a part of a user message": (
        typed("steering-message", id="u", message={"content": [typed("audio")]}),
        "steering-message part: not a part of a user message",
        "$[1].message.content[0]",
    ),
    "a data URL instead of base64": (
        typed(
            "steering-message",
            id="u",
            message={"content": [typed("file", data={"type": "data", "data": "data:,x"})]},
        ),
        "steering-message part: no data of a file",
        "$[1].message.content[0]",
    ),
    "not a URL": (
        typed(
            "steering-message",
            id="u",
            message={"content": [typed("file", data={"type": "url", "url": "nope"})]},
        ),
        "steering-message part: not an absolute URL: 'nope'",
        "$[1].message.content[0]",
    ),
    "a file without data": (
        typed("steering-message", id="u", message={"content": [typed("image")]}),
        "steering-message part: a file without data",
        "$[1].message.content[0]",
    ),
}


@each_row(("part", "what", "where"), REFUSED.values(), ids=REFUSED)
def test_bad_parts_are_refused_with_their_path(part: Json, what: str, where: str) -> None:
    decoder = FullStreamDecoder()
    decoder.feed(typed("start"))
    with pytest.raises(StreamError) as caught:
        decoder.feed(part)
    assert (caught.value.what, caught.value.where) == (what, where)
    assert caught.value.hint


def test_a_refused_part_changes_nothing() -> None:
    decoder = FullStreamDecoder(on_error=show_error)
    with pytest.raises(StreamError):
        decoder.feed({**call(invalid=True, usage={"a": 1}), "toolName": 5})
    assert decoder.losses == []
    assert [to_json(chunk) for chunk in decoder.feed(outcome("tool-error", error="x"))] == [
        typed("tool-output-error", toolCallId="c", errorText="x")
    ]


def test_an_unsupported_version_is_refused() -> None:
    with pytest.raises(FormatError, match="version 4"):
        FullStreamDecoder(4)  # type: ignore[arg-type] # the point of the test


def test_chunks_of_a_run_accumulate_into_a_message() -> None:
    parts = [
        typed("start"),
        typed("start-step", request={}, warnings=[]),
        typed("text-start", id="1"),
        typed("text-delta", id="1", text="Hello"),
        typed("text-end", id="1"),
        typed("finish-step", usage={}),
        typed("finish", finishReason="stop"),
    ]
    decoder = FullStreamDecoder(message_id="m1")
    message = accumulate([chunk for part in parts for chunk in decoder.feed(part)])
    assert message.id == "m1"
    assert message.parts[1:] == (TextPart("Hello", "done"),)


names = st.sampled_from(sorted({rule for rule in RULES if " " not in rule} | {"source", "new"}))
fields = st.sampled_from(
    sorted(
        {field.name for rule in RULES.values() for field in rule.fields}
        | {"file", "message", "error", "toolCall", "sourceType"}
    )
)
values = strategies.json_values() | strategies.texts() | strategies.provider_metadata()


def soup_part(name: str, rest: JsonObject) -> JsonObject:
    return {**rest, "type": name}


soups = st.lists(st.builds(soup_part, names, st.dictionaries(fields, values)))


@given(version=st.sampled_from(VERSIONS), soup=soups)
def test_any_parts_give_chunks_or_an_error_with_a_path(version: Version, soup: list[JsonObject]) -> None:
    decoder = FullStreamDecoder(version, send_sources=True)
    wrong: list[str] = []
    for part in soup:
        try:
            decoder.feed(part)
        except StreamError as error:
            wrong += [] if error.where.startswith(f"$[{decoder.fed}]") and error.hint else [str(error)]
    assert not wrong
