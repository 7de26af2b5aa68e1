"""Model messages of AI SDK 4 to 7 ↔ canonical messages."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from partita.errors import ConversionError, FormatError
from partita.formats.ai_sdk.model.format import dump, load
from partita.formats.core.wire import digest
from partita.formats.format import Dumped, Loaded
from partita.types.json import Json, JsonObject
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    ToolCallPart,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import (
    Approval,
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    ReasoningPart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolResultPart,
)
from partita.types.tool_results import state_after
from tests.tables import Failures, each_row

VERSIONS = (4, 5, 6, 7)


# --- load ------------------------------------------------------------------------------------------------

CALL: JsonObject = {"type": "tool-call", "toolCallId": "c1", "toolName": "look", "input": {"at": 1}}
REQUEST: JsonObject = {"type": "tool-approval-request", "approvalId": "a1", "toolCallId": "c1"}
RESPONSE: JsonObject = {"type": "tool-approval-response", "approvalId": "a1", "approved": True}
NAMED: JsonObject = {"type": "tool-result", "toolCallId": "c1", "toolName": "look"}
RESULT: JsonObject = {**NAMED, "output": {"type": "text", "value": "seen"}}
SIGNED: JsonObject = {"google": {"signature": "s"}}
CANONICAL_CALL = ToolCallPart("c1", "look", "output-available", {"at": 1}, output=TextOutput("seen"))


def _assistant(*content: Json) -> JsonObject:
    return {"role": "assistant", "content": list(content)}


def _tool(*content: Json) -> JsonObject:
    return {"role": "tool", "content": list(content)}


def _with_note(note: JsonObject) -> JsonObject:
    return {"ai-sdk-model": note}


TURNS: dict[str, tuple[list[JsonObject], tuple[AssistantPart, ...]]] = {
    "a result is merged into its call": ([_assistant(CALL), _tool(RESULT)], (CANONICAL_CALL,)),
    "steps begin with a step start": (
        [
            _assistant(CALL),
            _tool(RESULT),
            _assistant({"type": "text", "text": "so"}, {"type": "text", "text": "it"}),
        ],
        (CANONICAL_CALL, StepStartPart(), TextPart("so"), TextPart("it")),
    ),
    "a provider-executed result is in the same message": (
        [_assistant({**CALL, "providerExecuted": True}, RESULT)],
        (replace(CANONICAL_CALL, provider_executed=True),),
    ),
    "a call without a result is open": (
        [_assistant(CALL)],
        (replace(CANONICAL_CALL, state="input-available", output=None),),
    ),
    "an approval request and its response become an approval": (
        [
            _assistant(CALL, {**REQUEST, "reason": "why", "isAutomatic": True}),
            _tool({**RESPONSE, "reason": "ok"}),
        ],
        (
            replace(
                CANONICAL_CALL,
                state="approval-responded",
                output=None,
                approval=Approval("a1", True, "ok", "why", True),
            ),
        ),
    ),
    "a result may be in a separate message": (
        [_assistant(CALL, REQUEST), _tool(RESPONSE), _tool(RESULT)],
        (
            replace(
                CANONICAL_CALL,
                approval=Approval("a1", True),
                result_message=ToolMessage(id="message-3", type="tool", content=()),
            ),
        ),
    ),
    "a denied call without an approval": (
        [
            _assistant(CALL, REQUEST),
            _tool(
                {**RESPONSE, "approved": False},
                {**NAMED, "output": {"type": "execution-denied", "reason": "no"}},
            ),
        ],
        (
            replace(
                CANONICAL_CALL,
                state="output-denied",
                output=ExecutionDeniedOutput("no"),
                approval=Approval("a1", False),
            ),
        ),
    ),
    "a denied provider-executed call": (
        [
            _assistant({**CALL, "providerExecuted": True}, REQUEST),
            _tool(
                {**RESPONSE, "approved": False, "providerExecuted": True},
                {**NAMED, "output": {"type": "execution-denied"}},
            ),
        ],
        (
            replace(
                CANONICAL_CALL,
                state="approval-responded",
                output=None,
                approval=Approval("a1", False),
                provider_executed=True,
            ),
        ),
    ),
    "the denial text that the SDK writes is read as a denial": (
        [
            _assistant(CALL, REQUEST),
            _tool(
                {**RESPONSE, "approved": False, "reason": "no"},
                {**NAMED, "output": {"type": "error-text", "value": "no"}},
            ),
        ],
        (replace(CANONICAL_CALL, state="output-denied", output=None, approval=Approval("a1", False, "no")),),
    ),
    "a result repeats the options of its call": (
        [_assistant({**CALL, "providerOptions": SIGNED}), _tool({**RESULT, "providerOptions": SIGNED})],
        (replace(CANONICAL_CALL, call_provider_metadata=SIGNED),),
    ),
    "a result without the options of its call is noted": (
        [_assistant({**CALL, "providerOptions": SIGNED}), _tool(RESULT)],
        (
            replace(
                CANONICAL_CALL,
                call_provider_metadata={
                    **SIGNED,
                    **_with_note({"result": {"respelled": {"providerOptions": [digest(SIGNED)]}}}),
                },
            ),
        ),
    ),
    "options of a later message are kept in its step start": (
        [_assistant(CALL), _tool(RESULT), {**_assistant(), "content": "so", "providerOptions": SIGNED}],
        (
            CANONICAL_CALL,
            StepStartPart(provider_metadata={**SIGNED, **_with_note({"content": "string"})}),
            TextPart("so"),
        ),
    ),
    "unknown parts are kept": (
        [_assistant({"type": "future", "x": 1}, "text")],
        (ForeignPart("ai-sdk-model", {"type": "future", "x": 1}), ForeignPart("ai-sdk-model", "text")),
    ),
    "unknown members are kept": (
        [_assistant({"type": "text", "text": "so", "x": 1})],
        (TextPart("so", provider_metadata=_with_note({"x": 1})),),
    ),
}


@each_row(("payload", "parts"), TURNS.values(), ids=TURNS)
def test_the_messages_of_a_turn_become_one_message(
    payload: list[JsonObject], parts: tuple[AssistantPart, ...]
) -> None:
    loaded = load(payload)
    assert loaded == Loaded((AssistantMessage(id="message-1", content=parts),))
    assert dump(loaded.messages) == Dumped(payload)


PNG = "data:image/png;base64,AAAA"
FILES: dict[str, tuple[Json, FilePart]] = {
    "url": ("https://example.org/a", FilePart("https://example.org/a", "image/png")),
    "data url": (PNG, FilePart(PNG, "image/png")),
    "base64": ("AAAA", FilePart(PNG, "image/png")),
    "tagged data": ({"type": "data", "data": "AAAA"}, FilePart(PNG, "image/png")),
    "tagged url": ({"type": "url", "url": PNG}, FilePart(PNG, "image/png")),
    "tagged text": ({"type": "text", "text": "hi"}, FilePart("data:image/png;base64,aGk=", "image/png")),
    "tagged reference": (
        {"type": "reference", "reference": {"openai": "f1"}},
        FilePart("", "image/png", provider_reference={"openai": "f1"}),
    ),
    "reference": ({"openai": "f1"}, FilePart("", "image/png", provider_reference={"openai": "f1"})),
}


@each_row(("data", "part"), FILES.values(), ids=FILES)
def test_a_file_is_read_from_every_shape(data: Json, part: FilePart) -> None:
    payload = [{"role": "user", "content": [{"type": "file", "mediaType": "image/png", "data": data}]}]
    loaded = load(payload)
    (message,) = loaded.messages
    (file,) = message.parts
    assert isinstance(file, FilePart)
    assert replace(file, provider_metadata=None) == part
    assert dump(loaded.messages) == Dumped(payload)


def test_string_content_is_kept_until_the_text_is_edited() -> None:
    (message,) = load({"role": "user", "content": "hi"}).messages
    assert isinstance(message, UserMessage)
    assert message.content == UserContent(parts=(TextPart("hi"),), content="hi")
    edited = replace(message, content=replace(message.content, parts=(TextPart("ho"),)))
    dumped = dump([edited])
    assert dumped.payload == [{"role": "user", "content": [{"type": "text", "text": "ho"}]}]
    assert [loss.path for loss in dumped.losses] == ["$[0].content.content"]


def test_results_without_a_call_stay_tool_messages() -> None:
    payload = [
        _assistant(CALL),
        _tool(RESULT, {**RESULT, "toolCallId": "c2"}),
        {**_assistant(), "content": "so"},
    ]
    loaded = load(payload)
    assert [type(message).__name__ for message in loaded.messages] == [
        "AssistantMessage",
        "ToolMessage",
        "AssistantMessage",
    ]
    assert loaded.messages[1].parts == (ToolResultPart("c2", "look", TextOutput("seen")),)
    assert dump(loaded.messages) == Dumped(payload)


MOVED: dict[str, tuple[list[JsonObject], list[str]]] = {
    "results in a different order than their calls": (
        [_assistant(CALL, {**CALL, "toolCallId": "c2"}), _tool({**RESULT, "toolCallId": "c2"}, RESULT)],
        ["$[1].content"],
    ),
    "a result after a later step": (
        [_assistant(CALL), {**_assistant(), "content": "so"}, _tool(RESULT)],
        ["$[1].role", "$[1].content", "$[2].role", "$[2].content"],
    ),
    "a result after a user message": (
        [_assistant(CALL), {"role": "user", "content": "and?"}, _tool(RESULT)],
        ["$[1].role", "$[1].content", "$[2].role", "$[2].content"],
    ),
    "an approval request that does not follow its call": (
        [_assistant(CALL, {"type": "text", "text": "so"}, REQUEST)],
        ["$[0].content"],
    ),
    "a result in the assistant message of a client tool": ([_assistant(CALL, RESULT)], ["$[0]"]),
    "options of a message that only approves": (
        [_assistant(CALL, REQUEST), {**_tool(RESPONSE), "providerOptions": SIGNED}],
        ["$[1].providerOptions"],
    ),
}


@each_row(("payload", "paths"), MOVED.values(), ids=MOVED)
def test_what_is_moved_is_reported(payload: list[JsonObject], paths: list[str]) -> None:
    loaded = load(payload)
    assert [loss.path for loss in loaded.losses] == paths
    assert dump(loaded.messages).payload != payload


ERRORS: dict[str, tuple[Json, str, str]] = {
    "not a message": ("hi", "a model message is an object, found string", "$"),
    "no role": ([{"content": "hi"}], "role is null", "$[0].role"),
    "another role": ([{"role": "data", "content": "hi"}], "unknown role 'data'", "$[0].role"),
    "no content": ([{"role": "user"}], "content of a user message is missing", "$[0].content"),
    "parts in a system message": (
        [{"role": "system", "content": []}],
        "content of a system message is array",
        "$[0].content",
    ),
    "a string as the content of a tool message": (
        [{"role": "tool", "content": "x"}],
        "content of a tool message is string",
        "$[0].content",
    ),
}


@each_row("version", VERSIONS)
@each_row(("payload", "what", "where"), ERRORS.values(), ids=ERRORS)
def test_invalid_messages_are_refused(payload: Json, what: str, where: str, version: int) -> None:
    with pytest.raises(ConversionError) as caught:
        load(payload, version)
    assert (caught.value.what, caught.value.where) == (what, where)


def test_an_unsupported_version_is_refused() -> None:
    with pytest.raises(FormatError):
        load([], 3)
    with pytest.raises(FormatError):
        dump([], 8)


# --- dump of outputs -------------------------------------------------------------------------------------

DENIED = "Tool call execution denied."
IMAGE = ContentOutput((ImagePart(PNG, "image/png"),))
OUTPUTS: dict[str, tuple[ToolOutput, int, JsonObject, list[str]]] = {
    "text": (TextOutput("a"), 7, {"type": "text", "value": "a"}, []),
    "JSON that is a string": (JsonOutput("a"), 7, {"type": "json", "value": "a"}, []),
    "an error in JSON": (ErrorJsonOutput({"a": 1}), 5, {"type": "error-json", "value": {"a": 1}}, []),
    "options": (
        TextOutput("a", provider_metadata=SIGNED),
        7,
        {"type": "text", "value": "a", "providerOptions": SIGNED},
        [],
    ),
    "a denial": (ExecutionDeniedOutput(), 6, {"type": "execution-denied"}, []),
    "a denial in version 5": (
        ExecutionDeniedOutput(),
        5,
        {"type": "error-text", "value": DENIED},
        ["$[0].content.parts[0].state", "$[0].content.parts[0].output"],
    ),
    "an interruption": (
        InterruptedOutput("timeout", "after 5 s"),
        7,
        {"type": "error-text", "value": "The tool call was interrupted: it took too long. after 5 s"},
        ["$[0].content.parts[0].output"],
    ),
    "an image in version 7": (
        IMAGE,
        7,
        {
            "type": "content",
            "value": [{"type": "file", "data": {"type": "data", "data": "AAAA"}, "mediaType": "image/png"}],
        },
        ["$[0].content.parts[0].output.value[0].type"],
    ),
    "an image in version 6": (
        IMAGE,
        6,
        {"type": "content", "value": [{"type": "image-data", "data": "AAAA", "mediaType": "image/png"}]},
        [],
    ),
    "an image in version 5": (
        IMAGE,
        5,
        {"type": "content", "value": [{"type": "media", "data": "AAAA", "mediaType": "image/png"}]},
        ["$[0].content.parts[0].output.value[0].type"],
    ),
    "a file with a URL in version 5": (
        ContentOutput((FilePart("https://example.org/a", "text/plain"),)),
        5,
        {"type": "content", "value": [{"type": "text", "text": "https://example.org/a"}]},
        ["$[0].content.parts[0].output.value[0]"],
    ),
}


@each_row(("output", "version", "written", "paths"), OUTPUTS.values(), ids=OUTPUTS)
def test_typed_outputs_are_written(
    output: ToolOutput, version: int, written: JsonObject, paths: list[str]
) -> None:
    call = replace(CANONICAL_CALL, state=state_after(output), output=output)
    dumped = dump([AssistantMessage(id="message-1", content=[call])], version)
    assert dumped.payload == [_assistant(CALL), _tool({**NAMED, "output": written})]
    assert [loss.path for loss in dumped.losses] == paths


def test_a_provider_executed_output_is_written_in_the_assistant_message() -> None:
    call = replace(CANONICAL_CALL, provider_executed=True, state="output-error", output=ErrorJsonOutput([1]))
    result = {**NAMED, "output": {"type": "error-json", "value": [1]}}
    dumped = dump([AssistantMessage(id="message-1", content=[call])], 7)
    assert dumped == Dumped([_assistant({**CALL, "providerExecuted": True}, result)])


def test_a_redacted_output_is_not_restored_from_a_note() -> None:
    payload = [
        _assistant(
            {**CALL, "providerExecuted": True}, {**NAMED, "output": {"type": "error-text", "value": "secret"}}
        )
    ]
    (message,) = load(payload).messages
    (call,) = message.parts
    assert isinstance(message, AssistantMessage)
    assert isinstance(call, ToolCallPart)
    assert "ai-sdk-model" in (call.call_provider_metadata or {})
    redacted = replace(message, content=[replace(call, output=ErrorTextOutput("gone"))])
    assert "secret" not in str(dump([redacted]))


# --- version 4 -----------------------------------------------------------------------------------------

V4_CALL: JsonObject = {"type": "tool-call", "toolCallId": "c1", "toolName": "look", "args": {"at": 1}}
V4_PARTS: dict[str, tuple[list[JsonObject], AssistantPart]] = {
    "arguments and result": (
        [_assistant(V4_CALL), _tool({**NAMED, "result": "seen"})],
        CANONICAL_CALL,
    ),
    "an error": (
        [_assistant(V4_CALL), _tool({**NAMED, "result": "seen", "isError": True})],
        replace(CANONICAL_CALL, state="output-error", output=ErrorTextOutput("seen")),
    ),
    "the output that the model reads": (
        [
            _assistant(V4_CALL),
            _tool(
                {
                    **NAMED,
                    "result": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}],
                    "experimental_content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}],
                }
            ),
        ],
        replace(CANONICAL_CALL, output=ContentOutput((FilePart(PNG, "image/png"),))),
    ),
    "a signature": (
        [_assistant({"type": "reasoning", "text": "hm", "signature": "s"})],
        ReasoningPart("hm", provider_metadata={"anthropic": {"signature": "s"}}),
    ),
    "redacted reasoning": (
        [_assistant({"type": "redacted-reasoning", "data": "xyz"})],
        ReasoningPart("", provider_metadata={"anthropic": {"redactedData": "xyz"}}),
    ),
    "a file": (
        [_assistant({"type": "file", "data": "https://example.org/a", "mimeType": "text/plain"})],
        FilePart("https://example.org/a", "text/plain"),
    ),
}


@each_row(("payload", "part"), V4_PARTS.values(), ids=V4_PARTS)
def test_version_4_has_different_member_names(payload: list[JsonObject], part: AssistantPart) -> None:
    loaded = load(payload, 4)
    assert loaded == Loaded((AssistantMessage(id="message-1", content=[part]),))
    assert dump(loaded.messages, 4) == Dumped(payload)


def test_the_former_name_of_options_is_read_and_reported() -> None:
    old = {"experimental_providerMetadata": SIGNED}
    loaded = load([{"role": "user", "content": [{"type": "text", "text": "hi", **old}], **old}], 4)
    (message,) = loaded.messages
    assert isinstance(message, UserMessage)
    assert message.content.provider_metadata == SIGNED
    assert message.parts == (TextPart("hi", provider_metadata=SIGNED),)
    assert [loss.path for loss in loaded.losses] == [
        f"$[0]{place}.experimental_providerMetadata" for place in (".content[0]", "")
    ]


def test_version_4_has_no_results_in_assistant_messages() -> None:
    call = replace(CANONICAL_CALL, provider_executed=True)
    dumped = dump([AssistantMessage(id="message-1", content=[call])], 4)
    assert dumped.payload == [_assistant(V4_CALL), _tool({**NAMED, "result": "seen"})]
    assert [loss.path for loss in dumped.losses] == ["$[0].content.parts[0].providerExecuted"]


# --- depth ---------------------------------------------------------------------------------------------


def _nested(depth: int, wrap: Callable[[Json], Json]) -> Json:
    value: Json = 1
    for _ in range(depth):
        value = wrap(value)
    return value


WRAPS: dict[str, Callable[[Json], Json]] = {
    "arrays": lambda value: [value],
    "objects": lambda value: {"a": value},
}
HOLDERS: dict[str, Callable[[Json], Json]] = {
    "message": lambda deep: deep,
    "role": lambda deep: [{"role": deep, "content": "x"}],
    "part": lambda deep: [{"role": "user", "content": [deep]}],
    "options": lambda deep: [{"role": "user", "content": "x", "providerOptions": {"a": deep}}],
    "file": lambda deep: [{"role": "user", "content": [{"type": "file", "data": deep, "mediaType": "a/b"}]}],
    "input": lambda deep: [_assistant({**CALL, "input": deep, "args": deep})],
    "output": lambda deep: [_assistant(CALL), _tool({**NAMED, "output": deep, "result": deep})],
    "value": lambda deep: [_assistant(CALL), _tool({**NAMED, "output": {"type": "json", "value": deep}})],
    "content": lambda deep: [_tool({**NAMED, "output": {"type": "content", "value": [deep]}})],
    "old content": lambda deep: [_tool({**NAMED, "result": deep, "experimental_content": [deep]})],
    "old options": lambda deep: [_tool({**NAMED, "experimental_providerMetadata": deep, "isError": deep})],
}


@each_row("wrap", WRAPS.values(), ids=WRAPS)
def test_deeply_nested_values_are_converted_or_refused(wrap: Callable[[Json], Json]) -> None:
    deep = _nested(50_000, wrap)
    failures = Failures(len(HOLDERS) * len(VERSIONS))
    for name, holder in HOLDERS.items():
        for version in VERSIONS:
            with failures.of(f"{name}, version {version}"):
                _convert_or_refuse(holder(deep), version)
    failures.report()


def _convert_or_refuse(payload: Json, version: int) -> None:
    try:
        loaded = load(payload, version)
    except ConversionError:
        return
    for target in VERSIONS:
        try:
            dump(loaded.messages, target)
        except ConversionError as error:
            assert "deep" in error.what  # noqa: PT017 # converting it is as good
