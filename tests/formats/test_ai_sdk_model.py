"""Model messages of AI SDK 4 to 7 and canonical messages: there, back, and what is told on the way."""

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError, FormatError
from partita.formats.ai_sdk import core_v4, model_dump, model_load, ui_dump, ui_load
from partita.formats.ai_sdk.convert import convert_to_model_messages
from partita.formats.format import Dumped, Loaded
from partita.types.codec import read_message, to_json
from partita.types.fold import state_after
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Message, SystemMessage, derive_type
from tests import canonical
from tests.strategies import ui_messages

VERSIONS = (4, 5, 6, 7)


def load(payload: Json, version: int) -> Loaded:
    return core_v4.load(payload) if version == 4 else model_load.load(payload, version)


def dump(messages: Sequence[Message], version: int) -> Dumped:
    return core_v4.dump(messages) if version == 4 else model_dump.dump(messages, version)


# --- model messages, as a release takes them -----------------------------------------------------------

TEXTS = st.text(st.sampled_from("ab é\n😀\ud83d"), max_size=4)
VALUES: SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.just(0.5) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=3,
)
OPTIONS = st.dictionaries(
    st.sampled_from(["openai", "anthropic"]),
    st.dictionaries(st.sampled_from(["a", "cacheControl"]), VALUES, max_size=2),
    max_size=2,
)
MEDIA_TYPES = st.sampled_from(["image/png", "text/plain", "application/pdf"])
BASE64 = st.sampled_from(["", "aGk=", "AAAA"])
URLS = st.sampled_from(
    ["https://example.org/a.png", "https://example.org", "data:text/plain;base64,aGk=", "data:,hi"]
)
REFERENCES = st.dictionaries(st.sampled_from(["openai", "google"]), TEXTS, max_size=2)


def _piece(type_: str, required: dict[str, Any], **optional: Any) -> SearchStrategy[JsonObject]:
    return st.fixed_dictionaries({"type": st.just(type_), **required}, optional=optional)


def _tagged(tag: str, values: SearchStrategy[Json]) -> SearchStrategy[JsonObject]:
    return st.fixed_dictionaries({"type": st.just(tag), tag: values})


TAGGED = (
    _tagged("data", BASE64) | _tagged("url", URLS) | _tagged("text", TEXTS) | _tagged("reference", REFERENCES)
)


def _file_parts(version: int, type_: str = "file") -> SearchStrategy[JsonObject]:
    data: SearchStrategy[Json] = URLS | BASE64
    if version == 7:
        data |= _tagged("data", BASE64) | _tagged("url", URLS)
    if version == 7 and type_ == "file":
        data |= TAGGED | REFERENCES
    name = {"filename": TEXTS} if type_ == "file" else {}
    media_type = "mimeType" if version == 4 else "mediaType"
    return _piece(type_, {"data": data, media_type: MEDIA_TYPES}, providerOptions=OPTIONS, **name)


def _image_parts(version: int) -> SearchStrategy[JsonObject]:
    image: SearchStrategy[Json] = URLS | BASE64
    if version == 7:
        image |= REFERENCES
    media_type = "mimeType" if version == 4 else "mediaType"
    return _piece("image", {"image": image}, providerOptions=OPTIONS, **{media_type: MEDIA_TYPES})


def _said_parts(version: int) -> SearchStrategy[JsonObject]:
    """What an assistant says, but for calls."""
    kinds = [_piece("text", {"text": TEXTS}, providerOptions=OPTIONS), _file_parts(version)]
    if version == 4:  # which has members for what became options of one provider
        options = st.fixed_dictionaries({"openai": OPTIONS})
        kinds.append(_piece("reasoning", {"text": TEXTS}, providerOptions=options, signature=TEXTS))
        kinds.append(_piece("redacted-reasoning", {"data": TEXTS}, providerOptions=options))
    else:
        kinds.append(_piece("reasoning", {"text": TEXTS}, providerOptions=OPTIONS))
    if version == 7:
        kinds.append(_piece("custom", {"kind": st.just("openai.thing")}, providerOptions=OPTIONS))
        kinds.append(_file_parts(7, "reasoning-file"))
    return st.one_of(kinds)


def _items(version: int) -> SearchStrategy[JsonObject]:
    """Items of a `content` output."""
    if version == 4:
        image = _piece("image", {"data": BASE64}, mimeType=MEDIA_TYPES)
        return _piece("text", {"text": TEXTS}) | image
    options = {} if version == 5 else {"providerOptions": OPTIONS}
    data: dict[str, Any] = {"data": BASE64, "mediaType": MEDIA_TYPES}
    kinds = [_piece("text", {"text": TEXTS}, **options)]
    if version < 7:
        kinds.append(_piece("media", data))
    if version > 5:
        ids: SearchStrategy[Json] = TEXTS | REFERENCES
        kinds += [
            _piece("file-data", data, filename=TEXTS, **options),
            _piece("file-url", {"url": URLS}, mediaType=MEDIA_TYPES, **options),
            _piece("file-id", {"fileId": ids}, **options),
            _piece("image-data", data, **options),
            _piece("image-url", {"url": URLS}, **options),
            _piece("image-file-id", {"fileId": ids}, **options),
            _piece("custom", {}, **options),
        ]
    if version == 7:
        kinds += [
            _piece("file", {"data": TAGGED, "mediaType": MEDIA_TYPES}, filename=TEXTS, **options),
            _piece("file-reference", {"providerReference": REFERENCES}, **options),
            _piece("image-file-reference", {"providerReference": REFERENCES}, **options),
        ]
    return st.one_of(kinds)


def _outputs(version: int) -> SearchStrategy[JsonObject]:
    options = {} if version == 5 else {"providerOptions": OPTIONS}
    kinds = [
        _piece("text", {"value": TEXTS}, **options),
        _piece("json", {"value": VALUES}, **options),
        _piece("error-text", {"value": TEXTS}, **options),
        _piece("error-json", {"value": VALUES}, **options),
        _piece("content", {"value": st.lists(_items(version), max_size=2)}),
    ]
    if version > 5:
        kinds.append(_piece("execution-denied", {}, reason=TEXTS, **options))
    return st.one_of(kinds)


def _results(version: int, call: JsonObject) -> SearchStrategy[JsonObject]:
    named = {"toolCallId": st.just(call["toolCallId"]), "toolName": st.just(call["toolName"])}
    if version > 4:
        return _piece("tool-result", {**named, "output": _outputs(version)}, providerOptions=OPTIONS)
    bare = _piece("tool-result", {**named, "result": VALUES}, isError=st.just(True), providerOptions=OPTIONS)
    content = st.lists(_items(4), max_size=2)
    shown = _piece("tool-result", {**named, "result": VALUES, "experimental_content": content})
    return bare | shown


@st.composite
def _turns(draw: DrawFn, version: int, number: int, *, last: bool) -> list[JsonObject]:
    """Assistant and tool messages of one turn, in the order that the SDK gives them."""
    turn: list[JsonObject] = []
    for step in range(draw(st.integers(1, 3))):
        if draw(st.integers(0, 3)) == 0:
            turn.append(draw(_messages("assistant", TEXTS)))
            continue
        content: list[JsonObject] = []
        responses: list[JsonObject] = []
        results: list[JsonObject] = []
        for place in range(draw(st.integers(0, 3))):
            if draw(st.booleans()):
                content.append(draw(_said_parts(version)))
            else:
                said, response, result = draw(_calls(version, f"c{number}.{step}.{place}", last=last))
                content += said
                responses += response
                results += result
                responses += [] if draw(st.booleans()) else [results.pop() for _ in result]
        turn.append(draw(_messages("assistant", st.just(content))))
        if responses and any(piece["type"] == "tool-result" for piece in responses):
            turn.append(draw(_messages("tool", st.just(responses))))
        elif responses:
            turn.append({"role": "tool", "content": responses})
        if results:
            turn.append(draw(_messages("tool", st.just(results))))
    return turn


@st.composite
def _calls(
    draw: DrawFn, version: int, id_: str, *, last: bool
) -> tuple[list[JsonObject], list[JsonObject], list[JsonObject]]:
    """What is said about one call, how it was approved, and its result."""
    input_ = {"args" if version == 4 else "input": VALUES}
    executed = {} if version == 4 else {"providerExecuted": st.booleans()}
    named = {"toolCallId": st.just(id_), "toolName": st.sampled_from(["search", "read-file"])}
    call = draw(_piece("tool-call", {**named, **input_}, providerOptions=OPTIONS, **executed))
    said, responses = [call], list[JsonObject]()
    answer = draw(st.sampled_from([None, "asked", True, False])) if version > 5 else None
    if answer == "asked" and not last:
        answer = True  # version 7 drops what a later user message passed over
    if answer is not None:
        said.append(draw(_requests(version, id_)))
    if isinstance(answer, bool):
        fixed = {"approvalId": st.just(f"approve {id_}"), "approved": st.just(answer)}
        response = draw(_piece("tool-approval-response", fixed, reason=TEXTS))
        same = {"providerExecuted": call["providerExecuted"]} if "providerExecuted" in call else {}
        responses.append(response | draw(st.sampled_from([same, {}])))
    if answer == "asked" or draw(st.integers(0, 3)) == 0:
        return said, responses, []
    result = draw(_results(version, call))
    if call.get("providerExecuted"):
        return [*said, result], responses, []
    return said, responses, [result]


def _requests(version: int, call_id: str) -> SearchStrategy[JsonObject]:
    fixed = {"approvalId": st.just(f"approve {call_id}"), "toolCallId": st.just(call_id)}
    newer = {"reason": TEXTS, "isAutomatic": st.booleans()} if version == 7 else {}
    return _piece("tool-approval-request", fixed, signature=TEXTS, inputSchemaInput=VALUES, **newer)


def _messages(role: str, content: SearchStrategy[Json]) -> SearchStrategy[JsonObject]:
    return st.fixed_dictionaries(
        {"role": st.just(role), "content": content}, optional={"providerOptions": OPTIONS, "note": VALUES}
    )


@st.composite
def model_messages(draw: DrawFn, version: int) -> list[JsonObject]:
    """Messages of a release, in the order that it gives them."""
    asked = _piece("text", {"text": TEXTS}, providerOptions=OPTIONS)
    asked |= _image_parts(version) | _file_parts(version)
    said = _messages("user", TEXTS | st.lists(asked, max_size=3))
    messages: list[JsonObject] = draw(st.lists(_messages("system", TEXTS), max_size=1))
    turns = draw(st.integers(0, 3))
    for number in range(turns):
        messages += draw(st.lists(said, min_size=1 if number else 0, max_size=2))
        messages += draw(_turns(version, number, last=number == turns - 1))
    if draw(st.integers(0, 3)) == 0:
        messages += draw(_orphans(version))
    return messages


@st.composite
def _orphans(draw: DrawFn, version: int) -> list[JsonObject]:
    call = {"toolCallId": "gone", "toolName": "forget"}
    results = st.lists(_results(version, call), max_size=2)
    after = [{"role": "assistant", "content": "then"}] if draw(st.booleans()) else []
    return [draw(_messages("tool", results)), *after]


# --- what load makes of them ---------------------------------------------------------------------------

CALL: JsonObject = {"type": "tool-call", "toolCallId": "c1", "toolName": "look", "input": {"at": 1}}
REQUEST: JsonObject = {"type": "tool-approval-request", "approvalId": "a1", "toolCallId": "c1"}
RESPONSE: JsonObject = {"type": "tool-approval-response", "approvalId": "a1", "approved": True}
NAMED: JsonObject = {"type": "tool-result", "toolCallId": "c1", "toolName": "look"}
RESULT: JsonObject = {**NAMED, "output": {"type": "text", "value": "seen"}}
SIGNED: JsonObject = {"google": {"signature": "s"}}
CANONICAL_CALL = ToolCallPart("c1", "look", "output-available", {"at": 1}, output=TextOutput("seen"))


def _said(*content: Json) -> JsonObject:
    return {"role": "assistant", "content": list(content)}


def _answered(*content: Json) -> JsonObject:
    return {"role": "tool", "content": list(content)}


def _noted(note: JsonObject) -> Extra:
    return Extra({"ai-sdk-model": note})


TURNS: dict[str, tuple[list[JsonObject], tuple[AssistantPart, ...]]] = {
    "a result is put into its call": ([_said(CALL), _answered(RESULT)], (CANONICAL_CALL,)),
    "steps are divided by step starts": (
        [
            _said(CALL),
            _answered(RESULT),
            _said({"type": "text", "text": "so"}, {"type": "text", "text": "it"}),
        ],
        (CANONICAL_CALL, StepStartPart(), TextPart("so"), TextPart("it")),
    ),
    "a provider's own result stands in the same message": (
        [_said({**CALL, "providerExecuted": True}, RESULT)],
        (replace(CANONICAL_CALL, provider_executed=True),),
    ),
    "a call without a result is open": (
        [_said(CALL)],
        (replace(CANONICAL_CALL, state="input-available", output=None),),
    ),
    "a request and its answer are an approval": (
        [
            _said(CALL, {**REQUEST, "reason": "why", "isAutomatic": True}),
            _answered({**RESPONSE, "reason": "ok"}),
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
    "a result may come in a message of its own": (
        [_said(CALL, REQUEST), _answered(RESPONSE), _answered(RESULT)],
        (
            replace(
                CANONICAL_CALL,
                approval=Approval("a1", True),
                result_message=ToolMessage(id="message-3", type="tool", content=()),
            ),
        ),
    ),
    "a refusal is told by its result": (
        [
            _said(CALL, REQUEST),
            _answered(
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
    "a refusal in the words of the conversion is a denial": (
        [
            _said(CALL, REQUEST),
            _answered(
                {**RESPONSE, "approved": False, "reason": "no"},
                {**NAMED, "output": {"type": "error-text", "value": "no"}},
            ),
        ],
        (replace(CANONICAL_CALL, state="output-denied", output=None, approval=Approval("a1", False, "no")),),
    ),
    "options of a call are repeated with its result": (
        [_said({**CALL, "providerOptions": SIGNED}), _answered({**RESULT, "providerOptions": SIGNED})],
        (replace(CANONICAL_CALL, call_provider_metadata=SIGNED),),
    ),
    "a result without the options of its call is noted": (
        [_said({**CALL, "providerOptions": SIGNED}), _answered(RESULT)],
        (replace(CANONICAL_CALL, call_provider_metadata=SIGNED, extra=_noted({})),),
    ),
    "options of a later message stand on its step start": (
        [_said(CALL), _answered(RESULT), {**_said(), "content": "so", "providerOptions": SIGNED}],
        (
            CANONICAL_CALL,
            StepStartPart(provider_metadata=SIGNED, extra=_noted({"content": "string"})),
            TextPart("so"),
        ),
    ),
    "what no one knows is kept whole": (
        [_said({"type": "future", "x": 1}, "text")],
        (ForeignPart("ai-sdk-model", {"type": "future", "x": 1}), ForeignPart("ai-sdk-model", "text")),
    ),
    "members that no one knows are noted": (
        [_said({"type": "text", "text": "so", "x": 1})],
        (TextPart("so", extra=_noted({"members": {"x": 1}})),),
    ),
}


@pytest.mark.parametrize(("payload", "parts"), TURNS.values(), ids=TURNS)
def test_a_turn_is_one_message(payload: list[JsonObject], parts: tuple[AssistantPart, ...]) -> None:
    loaded = model_load.load(payload)
    assert loaded == Loaded((AssistantMessage(id="message-1", content=parts),))
    assert model_dump.dump(loaded.messages) == Dumped(payload)


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


@pytest.mark.parametrize(("data", "part"), FILES.values(), ids=FILES)
def test_a_file_is_found_in_every_shape(data: Json, part: FilePart) -> None:
    payload = [{"role": "user", "content": [{"type": "file", "mediaType": "image/png", "data": data}]}]
    loaded = model_load.load(payload)
    (message,) = loaded.messages
    (file,) = message.parts
    assert isinstance(file, FilePart)
    assert replace(file, extra=None) == part
    assert model_dump.dump(loaded.messages) == Dumped(payload)


def test_a_string_stays_a_string_only_while_the_text_is_the_same() -> None:
    (message,) = model_load.load({"role": "user", "content": "hi"}).messages
    assert isinstance(message, UserMessage)
    assert message.content == UserContent(parts=(TextPart("hi"),), content="hi")
    edited = replace(message, content=replace(message.content, parts=(TextPart("ho"),)))
    dumped = model_dump.dump([edited])
    assert dumped.payload == [{"role": "user", "content": [{"type": "text", "text": "ho"}]}]
    assert [loss.path for loss in dumped.losses] == ["$[0].content.content"]


def test_results_without_a_call_stay_tool_messages() -> None:
    payload = [_said(CALL), _answered(RESULT, {**RESULT, "toolCallId": "c2"}), {**_said(), "content": "so"}]
    loaded = model_load.load(payload)
    assert [type(message).__name__ for message in loaded.messages] == [
        "AssistantMessage",
        "ToolMessage",
        "AssistantMessage",
    ]
    assert loaded.messages[1].parts == (ToolResultPart("c2", "look", TextOutput("seen")),)
    assert model_dump.dump(loaded.messages) == Dumped(payload)


PLACES: dict[str, tuple[list[JsonObject], list[str]]] = {
    "results in another order than their calls": (
        [_said(CALL, {**CALL, "toolCallId": "c2"}), _answered({**RESULT, "toolCallId": "c2"}, RESULT)],
        ["$[1].content"],
    ),
    "a result behind a later step": (
        [_said(CALL), {**_said(), "content": "so"}, _answered(RESULT)],
        ["$[2].content"],
    ),
    "a result behind a user message": (
        [_said(CALL), {"role": "user", "content": "and?"}, _answered(RESULT)],
        ["$[2]"],
    ),
    "a request away from its call": (
        [_said(CALL, {"type": "text", "text": "so"}, REQUEST)],
        ["$[0].content[2]"],
    ),
    "an own result of a tool that the provider did not run": ([_said(CALL, RESULT)], ["$[0].content[0]"]),
    "options of a message that only approves": (
        [_said(CALL, REQUEST), {**_answered(RESPONSE), "providerOptions": SIGNED}],
        ["$[1].providerOptions"],
    ),
}


@pytest.mark.parametrize(("payload", "paths"), PLACES.values(), ids=PLACES)
def test_what_is_moved_is_told(payload: list[JsonObject], paths: list[str]) -> None:
    loaded = model_load.load(payload)
    assert [loss.path for loss in loaded.losses] == paths
    assert model_dump.dump(loaded.messages).payload != payload


ERRORS: dict[str, tuple[Json, str, str]] = {
    "no message": ("hi", "a model message is an object, found string", "$"),
    "no role": ([{"content": "hi"}], "role is null", "$[0].role"),
    "another role": ([{"role": "data", "content": "hi"}], "unknown role 'data'", "$[0].role"),
    "no content": ([{"role": "user"}], "content of a user message is missing", "$[0].content"),
    "parts in a system message": (
        [{"role": "system", "content": []}],
        "content of a system message is array",
        "$[0].content",
    ),
    "a string in a tool message": (
        [{"role": "tool", "content": "x"}],
        "content of a tool message is string",
        "$[0].content",
    ),
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("payload", "what", "where"), ERRORS.values(), ids=ERRORS)
def test_what_is_no_message_is_refused(payload: Json, what: str, where: str, version: int) -> None:
    with pytest.raises(ConversionError) as caught:
        load(payload, version)
    assert (caught.value.what, caught.value.where) == (what, where)


def test_a_version_without_rules_is_refused() -> None:
    with pytest.raises(FormatError):
        model_load.load([], 4)
    with pytest.raises(FormatError):
        model_dump.dump([], 8)


# --- what dump makes of outputs ------------------------------------------------------------------------

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
        ["$[0].content.parts[0].state", "$[0].content.parts[0].output.type"],
    ),
    "an interruption": (
        InterruptedOutput("timeout", "after 5 s"),
        7,
        {"type": "error-text", "value": "The tool call was interrupted: it took too long. after 5 s"},
        [f"$[0].content.parts[0].output.{name}" for name in ("type", "reason", "message")],
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
    "a file that is elsewhere in version 5": (
        ContentOutput((FilePart("https://example.org/a", "text/plain"),)),
        5,
        {"type": "content", "value": [{"type": "text", "text": "https://example.org/a"}]},
        [f"$[0].content.parts[0].output.value[0].{name}" for name in ("type", "url", "mediaType")],
    ),
}


@pytest.mark.parametrize(("output", "version", "written", "paths"), OUTPUTS.values(), ids=OUTPUTS)
def test_typed_outputs_arrive(
    output: ToolOutput, version: int, written: JsonObject, paths: list[str]
) -> None:
    call = replace(CANONICAL_CALL, state=state_after(output), output=output)
    dumped = dump([AssistantMessage(id="message-1", content=[call])], version)
    assert dumped.payload == [_said(CALL), _answered({**NAMED, "output": written})]
    assert [loss.path for loss in dumped.losses] == paths


def test_an_output_of_a_provider_arrives_in_the_assistant_message() -> None:
    call = replace(CANONICAL_CALL, provider_executed=True, state="output-error", output=ErrorJsonOutput([1]))
    result = {**NAMED, "output": {"type": "error-json", "value": [1]}}
    dumped = dump([AssistantMessage(id="message-1", content=[call])], 7)
    assert dumped == Dumped([_said({**CALL, "providerExecuted": True}, result)])


def test_a_redacted_output_is_not_written_from_a_note() -> None:
    payload = [
        _said(
            {**CALL, "providerExecuted": True}, {**NAMED, "output": {"type": "error-text", "value": "secret"}}
        )
    ]
    (message,) = model_load.load(payload).messages
    (call,) = message.parts
    assert isinstance(message, AssistantMessage)
    assert isinstance(call, ToolCallPart)
    assert call.extra
    redacted = replace(message, content=[replace(call, output=ErrorTextOutput("gone"))])
    assert "secret" not in str(model_dump.dump([redacted]))


# --- version 4 -----------------------------------------------------------------------------------------

OLD_CALL: JsonObject = {"type": "tool-call", "toolCallId": "c1", "toolName": "look", "args": {"at": 1}}
OLD_PARTS: dict[str, tuple[list[JsonObject], AssistantPart]] = {
    "arguments and result": (
        [_said(OLD_CALL), _answered({**NAMED, "result": "seen"})],
        CANONICAL_CALL,
    ),
    "an error": (
        [_said(OLD_CALL), _answered({**NAMED, "result": "seen", "isError": True})],
        replace(CANONICAL_CALL, state="output-error", output=ErrorTextOutput("seen")),
    ),
    "what the model sees of a result": (
        [
            _said(OLD_CALL),
            _answered(
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
        [_said({"type": "reasoning", "text": "hm", "signature": "s"})],
        ReasoningPart("hm", provider_metadata={"anthropic": {"signature": "s"}}),
    ),
    "redacted reasoning": (
        [_said({"type": "redacted-reasoning", "data": "xyz"})],
        ReasoningPart("", provider_metadata={"anthropic": {"redactedData": "xyz"}}),
    ),
    "a file": (
        [_said({"type": "file", "data": "https://example.org/a", "mimeType": "text/plain"})],
        FilePart("https://example.org/a", "text/plain"),
    ),
}


@pytest.mark.parametrize(("payload", "part"), OLD_PARTS.values(), ids=OLD_PARTS)
def test_version_4_has_other_names(payload: list[JsonObject], part: AssistantPart) -> None:
    loaded = core_v4.load(payload)
    assert loaded == Loaded((AssistantMessage(id="message-1", content=[part]),))
    assert core_v4.dump(loaded.messages) == Dumped(payload)


def test_the_old_name_of_options_is_read_and_told() -> None:
    old = {"experimental_providerMetadata": SIGNED}
    loaded = core_v4.load([{"role": "user", "content": [{"type": "text", "text": "hi", **old}], **old}])
    (message,) = loaded.messages
    assert isinstance(message, UserMessage)
    assert message.content.provider_metadata == SIGNED
    assert message.parts == (TextPart("hi", provider_metadata=SIGNED),)
    assert [loss.path for loss in loaded.losses] == [
        f"$[0]{place}.experimental_providerMetadata" for place in ("", ".content[0]")
    ]


def test_version_4_has_no_results_in_assistant_messages() -> None:
    call = replace(CANONICAL_CALL, provider_executed=True)
    dumped = core_v4.dump([AssistantMessage(id="message-1", content=[call])])
    assert dumped.payload == [_said(OLD_CALL), _answered({**NAMED, "result": "seen"})]
    assert [loss.path for loss in dumped.losses] == ["$[0].content.parts[0].providerExecuted"]


# --- there and back ------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_dump_gives_back_what_load_read(version: int, data: st.DataObject) -> None:
    payload = data.draw(model_messages(version))
    before = copy.deepcopy(payload)
    loaded = load(payload, version)
    dumped = dump(loaded.messages, version)
    assert payload == before, "load must not change its input"
    assert dumped.payload == payload
    assert loaded.losses == ()
    assert dumped.losses == ()


@pytest.mark.parametrize("version", (5, 6, 7))
@given(data=st.data())
def test_ui_messages_become_what_the_sdk_converts_them_to(version: Any, data: st.DataObject) -> None:
    try:
        messages = ui_load.load(data.draw(ui_messages(version))).messages
    except ConversionError:
        reject()
    try:
        converted = convert_to_model_messages(ui_dump.dump(messages, version).payload, version=version)
    except ConversionError:
        with pytest.raises(ConversionError):
            dump(messages, version)
    else:
        assert dump(messages, version).payload == converted


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_what_load_does_not_give_back_is_told_by_dump(version: int, data: st.DataObject) -> None:
    # The texts of a system message become one.
    message = data.draw(
        _canonical_messages(version).filter(lambda message: not isinstance(message, SystemMessage))
    )
    dumped = dump([message], version)
    assume(not any(loss.why == model_dump.AMBIGUOUS for loss in dumped.losses))
    told = [loss.path for loss in dumped.losses]
    again = load(dumped.payload, version).messages
    if "$[0]" in told:
        assert dumped.payload == []
        return
    assert len(again) == 1
    before, after = _plain(message, told), _plain(again[0], [])
    if "networkExecution" in before["content"]:
        after["content"]["parts"].pop()  # drawn as a call
    assert list(_missing(before, after, "$[0]", told)) == []


def _plain(message: Message, told: Sequence[str]) -> JsonObject:
    """A message as JSON, without the parts that do not arrive, and without step starts."""
    plain: JsonObject = to_json(message)
    if message.type == derive_type(message.parts):
        del plain["type"]
    parts = {f"$[0].content.parts[{index}]": part for index, part in enumerate(plain["content"]["parts"])}
    arrived = {path: part for path, part in parts.items() if path not in told}
    steps = {path for path, part in arrived.items() if part["type"] == "step-start"}
    plain["content"]["parts"] = [(path, part) for path, part in arrived.items() if path not in steps]
    return plain


def _missing(before: Json, after: Json, path: str, told: Sequence[str]) -> Iterator[str]:
    """The leaves that are not there again, and that no loss tells of."""
    if path in told or before == after:
        return
    if path.endswith(".resultMessage") and after is None and f"{path}.id" in told:
        return  # it came in the message that results come in, which is not kept
    if isinstance(before, tuple) and isinstance(after, tuple):
        yield from _missing(before[1], after[1], before[0], told)
    elif is_object(before) and is_object(after):
        for key, item in before.items():
            yield from _missing(item, after.get(key), f"{path}.{key}", told)
    elif is_array(before) and is_array(after) and len(before) == len(after):
        for index, (item, other) in enumerate(zip(before, after, strict=True)):
            yield from _missing(item, other, f"{path}[{index}]", told)
    else:
        yield path


@st.composite
def _canonical_messages(draw: DrawFn, version: int) -> Message:
    """Canonical messages whose files are somewhere, and without messages of a user inside."""
    plain = to_json(draw(canonical.messages()))
    steering = "steering-message"
    plain["content"]["parts"] = [part for part in plain["content"]["parts"] if part.get("type") != steering]
    urls = draw(st.lists(URLS, min_size=1, max_size=3))
    for index, part in enumerate(_objects(plain)):
        if part.get("type") in ("file", "image", "reasoning-file"):
            part["url"] = urls[index % len(urls)]
        if part.get("state") == "input-streaming":
            part.pop("approval", None)  # an answer to a request that is not sent
            part["state"] = "input-available" if version == 5 else "input-streaming"
        if part.get("input") is None:
            part.pop("rawInput", None)  # it arrives, as the input
    return read_message(plain)


def _objects(value: Json) -> Iterator[JsonObject]:
    if is_object(value):
        yield value
    items = value.values() if is_object(value) else value if is_array(value) else ()
    for item in items:
        yield from _objects(item)


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_no_leaf_of_a_payload_is_lost_in_silence(version: int, data: st.DataObject) -> None:
    payload = data.draw(model_messages(version).filter(bool))
    changed = data.draw(_changed(payload))
    try:
        assert load(changed, version) != load(payload, version)
    except ConversionError:
        pass


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_no_leaf_of_a_message_is_lost_in_silence(version: int, data: st.DataObject) -> None:
    messages = data.draw(st.lists(_canonical_messages(version), min_size=1, max_size=3))
    plain = [to_json(message) for message in messages]
    try:
        changed = [read_message(message) for message in data.draw(_changed(plain))]
        assert dump(changed, version) != dump(messages, version)
    except (DecodeError, ConversionError):
        pass


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_what_is_out_of_order_or_broken_comes_back_or_is_told(version: int, data: st.DataObject) -> None:
    payload = data.draw(_damaged(version))
    try:
        loaded = load(payload, version)
        dumped = dump(loaded.messages, version)
    except ConversionError as error:
        assert error.hint
        return
    assert dumped.payload == payload or loaded.losses or dumped.losses


@st.composite
def _damaged(draw: DrawFn, version: int) -> Json:
    """Messages of a release, shuffled, mixed with those of another, and with something broken in them."""
    payload = draw(model_messages(version))
    if draw(st.booleans()):
        payload = copy.deepcopy(payload + draw(model_messages(draw(st.sampled_from(VERSIONS)))))
    if draw(st.booleans()):
        payload = draw(st.permutations(payload))
    for message in payload:
        if is_array(message["content"]) and draw(st.booleans()):
            message["content"] = draw(st.permutations(message["content"]))
    places = [(holder, key) for holder, key in _places(payload, inner=True)]
    for holder, key in draw(st.lists(st.sampled_from(places), max_size=2)) if places else ():
        holder[key] = draw(VALUES)
    return payload


@st.composite
def _changed(draw: DrawFn, value: Json) -> Json:
    """A copy of a JSON value with one leaf changed."""
    changed = copy.deepcopy(value)
    holder, key = draw(st.sampled_from(list(_places(changed))))
    holder[key] = _other(holder[key])
    return changed


def _places(value: Json, inner: bool = False) -> Iterator[tuple[Any, Any]]:
    """Where the leaves of a JSON value are, and if wanted the values that hold them."""
    entries = value.items() if is_object(value) else enumerate(value)
    for key, item in entries:
        is_leaf = not item or not (is_object(item) or is_array(item))
        if inner or is_leaf:
            yield value, key
        if not is_leaf:
            yield from _places(item, inner)


def _other(leaf: Json) -> Json:
    match leaf:
        case bool():
            return not leaf
        case str():
            return leaf + "x"
        case int() | float():
            return 0 if leaf else 1
        case _:
            return "x" if leaf is None else [leaf]


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
    "input": lambda deep: [_said({**CALL, "input": deep, "args": deep})],
    "output": lambda deep: [_said(CALL), _answered({**NAMED, "output": deep, "result": deep})],
    "value": lambda deep: [_said(CALL), _answered({**NAMED, "output": {"type": "json", "value": deep}})],
    "content": lambda deep: [_answered({**NAMED, "output": {"type": "content", "value": [deep]}})],
    "old content": lambda deep: [_answered({**NAMED, "result": deep, "experimental_content": [deep]})],
    "old options": lambda deep: [
        _answered({**NAMED, "experimental_providerMetadata": deep, "isError": deep})
    ],
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
@pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)
def test_depth_is_carried_or_refused(
    holder: Callable[[Json], Json], wrap: Callable[[Json], Json], version: int
) -> None:
    payload = holder(_nested(50_000, wrap))
    try:
        loaded = load(payload, version)
    except ConversionError:
        return
    for target in VERSIONS:
        try:
            dump(loaded.messages, target)
        except ConversionError as error:
            assert "deep" in error.what  # noqa: PT017 # carrying it is as good


@pytest.mark.parametrize("version", VERSIONS)
@given(payload=VALUES | st.lists(VALUES, max_size=2))
def test_any_json_is_loaded_or_refused(version: int, payload: Json) -> None:
    try:
        loaded = load(payload, version)
    except ConversionError as error:
        assert error.where.startswith("$")  # noqa: PT017 # an empty list is fine
    else:
        assert payload == []
        assert loaded == Loaded(())
