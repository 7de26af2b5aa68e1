"""Gemini requests, and Gemini responses that are sent back."""

import re
from typing import Final

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from partita.formats.format import ToolSpec
from partita.formats.gemini.parts import TOOL_NAME
from partita.formats.gemini.stream import GeminiDecoder
from partita.formats.model_view import model_view
from partita.types.json import Json, JsonObject
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
    UserPart,
)
from partita.types.parts import (
    Citation,
    ContentOutput,
    CustomPart,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    ReasoningFilePart,
    ReasoningPart,
    SourceUrlPart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolResultPart,
    UrlCitationSource,
)
from tests.decoding import accumulated
from tests.formats.gemini_responses import build_request, call, decode, response, text, thought
from tests.strategies import json_values
from tests.tables import each_row

OLD: Final = "gemini-2.5-flash"
NEW: Final = "gemini-3-pro-preview"


def user(*parts: UserPart | str) -> UserMessage:
    content = [TextPart(part) if isinstance(part, str) else part for part in parts]
    return UserMessage(id="u", content=content)


def step(*parts: AssistantPart | str) -> AssistantMessage:
    content = [TextPart(part) if isinstance(part, str) else part for part in parts]
    return AssistantMessage(id="a", content=content)


def call_part(id: str, name: str = "knead", given: Json = None, **google: Json) -> ToolCallPart:
    metadata = {"google": google} if google else None
    return ToolCallPart(id, name, "input-available", given or {}, call_provider_metadata=metadata)


def results_of(**outputs: ToolOutput) -> ToolMessage:
    return ToolMessage(
        id="t", content=[ToolResultPart(name, "knead", output) for name, output in outputs.items()]
    )


def contents(*view: Message, model: str = OLD) -> list[JsonObject]:
    found: list[JsonObject] = build_request(view, model=model).payload["contents"]
    return found


def lost(*view: Message, model: str = OLD) -> list[str]:
    return [loss.path for loss in build_request(view, model=model).losses]


# User parts

USER_PARTS: dict[str, tuple[UserPart, list[JsonObject], int]] = {
    "a text": (TextPart("hi"), [{"text": "hi"}], 0),
    "an empty text": (TextPart(""), [], 0),
    "an inline image": (
        ImagePart("data:image/png;base64,QUI="),
        [{"inlineData": {"mimeType": "image/png", "data": "QUI="}}],
        0,
    ),
    "an image of unknown type": (
        ImagePart("data:;base64,QUI=", media_type="image/*"),
        [{"inlineData": {"mimeType": "image/jpeg", "data": "QUI="}}],
        0,
    ),
    "an image URL": (
        ImagePart("https://a.example/x.png"),
        [{"fileData": {"fileUri": "https://a.example/x.png"}}],
        0,
    ),
    "a file": (
        FilePart("data:text/plain,caf%C3%A9", "text/plain"),
        [{"inlineData": {"mimeType": "text/plain", "data": "Y2Fmw6k="}}],
        0,
    ),
    "audio with media type parameters": (
        FilePart("data:audio/L16;rate=24000;base64,QUI=", "audio/L16;rate=24000"),
        [{"inlineData": {"mimeType": "audio/L16;rate=24000", "data": "QUI="}}],
        0,
    ),
    "an uploaded file with video metadata": (
        FilePart(
            "blob:sha256:00",
            "video/mp4",
            provider_reference={"google": "https://files.example/v"},
            provider_metadata={"google": {"videoMetadata": {"fps": 2}}},
        ),
        [
            {
                "fileData": {"mimeType": "video/mp4", "fileUri": "https://files.example/v"},
                "videoMetadata": {"fps": 2},
            }
        ],
        1,
    ),
    "the name of a file is lost": (
        FilePart("data:text/plain;base64,QUI=", "text/plain", "a.txt"),
        [{"inlineData": {"mimeType": "text/plain", "data": "QUI="}}],
        1,
    ),
    "a stored file": (FilePart("blob:sha256:00", "text/plain"), [], 1),
    "data": (DataPart(name="x", data=1), [], 1),
    "a foreign part": (ForeignPart(format="x", value=1), [], 1),
}


@each_row(("part", "sent", "losses"), USER_PARTS.values(), ids=USER_PARTS)
def test_user_parts_become_contents(part: UserPart, sent: list[JsonObject], losses: int) -> None:
    built = build_request([user("-", part)], model=OLD)
    assert built.payload == {"model": OLD, "contents": [{"role": "user", "parts": [{"text": "-"}, *sent]}]}
    assert len([loss for loss in built.losses if loss.severity == "lost"]) == losses
    assert all(loss.path.startswith("$[0].content.parts[1]") for loss in built.losses)


# Model parts


def google(**marks: Json) -> JsonObject:
    return {"google": marks}


CITED = Citation(UrlCitationSource("s", "https://a.example"))

MODEL_PARTS: dict[str, tuple[AssistantPart, list[JsonObject], int]] = {
    "a signed text": (
        TextPart("x", provider_metadata=google(thoughtSignature="S")),
        [{"text": "x", "thoughtSignature": "S"}],
        0,
    ),
    "an empty signed text": (
        TextPart("", provider_metadata=google(thoughtSignature="S")),
        [{"text": "", "thoughtSignature": "S"}],
        0,
    ),
    "an empty text": (TextPart(""), [], 0),
    "a signature of another provider": (
        TextPart("x", provider_metadata={"vertex": {"thoughtSignature": "S"}}),
        [{"text": "x"}],
        1,
    ),
    "a text with citations": (TextPart("x", citations=(CITED,)), [{"text": "x"}], 1),
    "reasoning": (
        ReasoningPart("x", provider_metadata=google(thought=True)),
        [{"text": "x", "thought": True}],
        0,
    ),
    "signed reasoning of the AI SDK": (
        ReasoningPart("x", provider_metadata=google(thoughtSignature="S")),
        [{"text": "x", "thought": True, "thoughtSignature": "S"}],
        0,
    ),
    "reasoning of another provider": (
        ReasoningPart("x", provider_metadata={"anthropic": {"signature": "S"}}),
        [],
        1,
    ),
    "empty reasoning": (ReasoningPart(""), [], 1),
    "a signed image": (
        FilePart("data:image/png;base64,QUI=", "image/png", provider_metadata=google(thoughtSignature="S")),
        [{"inlineData": {"mimeType": "image/png", "data": "QUI="}, "thoughtSignature": "S"}],
        0,
    ),
    "a reasoning image": (
        ReasoningFilePart("data:image/png;base64,QUI=", "image/png", provider_metadata=google(thought=True)),
        [{"inlineData": {"mimeType": "image/png", "data": "QUI="}, "thought": True}],
        0,
    ),
    "a reasoning image of another provider": (
        ReasoningFilePart("data:image/png;base64,QUI=", "image/png"),
        [],
        1,
    ),
    "Gemini code execution": (
        ToolCallPart(
            "k",
            "code_execution",
            "output-available",
            {"language": "PYTHON", "code": "1"},
            output=JsonOutput({"outcome": "OUTCOME_OK", "output": "1"}),
            provider_executed=True,
            call_provider_metadata=google(serverToolType="CODE_EXECUTION", callId="k"),
        ),
        [
            {"executableCode": {"language": "PYTHON", "code": "1", "id": "k"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        ],
        0,
    ),
    "a tool of another provider": (
        ToolCallPart("w", "web_search", "output-available", {}, provider_executed=True),
        [],
        1,
    ),
    "a source": (SourceUrlPart("s", "https://a.example"), [], 1),
    "data": (DataPart(name="x", data=1), [], 1),
    "a custom part": (CustomPart(kind="openai.compaction"), [], 1),
    "a step start": (StepStartPart(), [], 0),
}


@each_row(("part", "sent", "losses"), MODEL_PARTS.values(), ids=MODEL_PARTS)
def test_model_parts_become_contents(part: AssistantPart, sent: list[JsonObject], losses: int) -> None:
    built = build_request([user("-"), step("-", part), user("-")], model=OLD)
    assert built.payload["contents"][1] == {"role": "model", "parts": [{"text": "-"}, *sent]}
    assert len(built.losses) == losses


# Calls and results

OUTPUTS: dict[str, tuple[ToolOutput, JsonObject, int]] = {
    "text": (TextOutput("done"), {"output": "done"}, 0),
    "an object": (JsonOutput({"a": 1}), {"a": 1}, 0),
    "a list": (JsonOutput([1]), {"output": [1]}, 0),
    "nothing": (JsonOutput(None), {"output": None}, 0),
    "a text error": (ErrorTextOutput("too wet"), {"error": "too wet"}, 0),
    "a JSON error": (ErrorJsonOutput([1]), {"error": [1]}, 0),
    "a denial": (ExecutionDeniedOutput("too late"), {"error": "too late"}, 1),
    "a denial without a reason": (ExecutionDeniedOutput(), {"error": "Tool execution denied."}, 1),
    "an interruption": (
        InterruptedOutput("timeout"),
        {"error": "The tool call was interrupted: it took too long."},
        1,
    ),
    "text content": (ContentOutput((TextPart("a"), TextPart("b"))), {"output": "a\nb"}, 1),
    "empty content": (ContentOutput(()), {}, 1),
    "a foreign part": (ContentOutput((ForeignPart(format="x", value=1),)), {}, 1),
    "a stored file": (ContentOutput((ImagePart("blob:sha256:0"),)), {}, 1),
}


@each_row(("output", "answer", "losses"), OUTPUTS.values(), ids=OUTPUTS)
def test_outputs_become_function_responses(output: ToolOutput, answer: JsonObject, losses: int) -> None:
    built = build_request([user("-"), step(call_part("c")), results_of(c=output)], model=OLD)
    assert built.payload["contents"][2] == {
        "role": "user",
        "parts": [{"functionResponse": {"name": "knead", "response": answer}}],
    }
    assert len(built.losses) == losses


OUTPUT = "$[1].content.parts[0].output"
PICTURE = ContentOutput((TextPart("look"), ImagePart("data:image/png;base64,QUI=")))
SENT_PICTURE: JsonObject = {"inlineData": {"mimeType": "image/png", "data": "QUI="}}


def test_since_gemini_3_an_image_is_part_of_the_function_response() -> None:
    view: list[Message] = [user("-"), step(call_part("c")), results_of(c=PICTURE)]
    [part] = contents(*view, model=NEW)[2]["parts"]
    assert part["functionResponse"]["parts"] == [SENT_PICTURE]
    assert lost(*view, model=NEW) == ["$[1].content.parts[0]", "$[1].content.parts[0].output.value[1].type"]


def test_before_gemini_3_an_image_follows_all_function_responses() -> None:
    view: list[Message] = [
        user("-"),
        step(call_part("c"), call_part("d")),
        results_of(c=PICTURE, d=TextOutput("x")),
    ]
    parts = contents(*view)[2]["parts"]
    assert [*map(list, parts)] == [["functionResponse"], ["functionResponse"], ["inlineData"]]
    assert {path[: len(OUTPUT)] for path in lost(*view)} == {OUTPUT}


def test_results_are_in_the_order_of_their_calls_in_one_content() -> None:
    first = call_part("1", callId="1")
    view: list[Message] = [
        user("-"),
        step(first, call_part("2")),
        results_of(**{"2": TextOutput("b"), "1": TextOutput("a")}),
        user("x"),
    ]
    assert contents(*view)[2]["parts"] == [
        {"functionResponse": {"id": "1", "name": "knead", "response": {"output": "a"}}},
        {"functionResponse": {"name": "knead", "response": {"output": "b"}}},
        {"text": "x"},
    ]


UNANSWERED = "The tool call was interrupted: its process went away. the call never got a result"


def test_a_call_without_a_result_gets_one_and_a_result_without_a_call_is_reported() -> None:
    view: list[Message] = [user("-"), step(call_part("c")), results_of(x=TextOutput("a")), user("go on")]
    assert contents(*view)[2]["parts"] == [
        {"functionResponse": {"name": "knead", "response": {"error": UNANSWERED}}},
        {"text": "go on"},
    ]
    assert lost(*view) == ["$[2]", OUTPUT]


INPUTS: dict[str, tuple[ToolCallPart, JsonObject, int]] = {
    "an object": (ToolCallPart("c", "f", "input-available", {"a": 1}), {"a": 1}, 0),
    "none": (ToolCallPart("c", "f", "input-available", UNSET), {}, 1),
    "a list": (ToolCallPart("c", "f", "input-available", [1]), {"input": [1]}, 1),
    "text that is not JSON": (
        ToolCallPart("c", "f", "output-error", UNSET, '{"a"'),
        {"input": '{"a"'},
        1,
    ),
}


@each_row(("part", "arguments", "losses"), INPUTS.values(), ids=INPUTS)
def test_arguments_are_always_an_object(part: ToolCallPart, arguments: JsonObject, losses: int) -> None:
    built = build_request([user("-"), step(part), results_of(c=TextOutput(""))], model=OLD)
    assert built.payload["contents"][1]["parts"] == [{"functionCall": {"name": "f", "args": arguments}}]
    assert len([loss for loss in built.losses if "nput" in loss.path]) == losses


SIGNED: dict[str, tuple[str, ToolCallPart, str | None]] = {
    "a call of Gemini 3 keeps its signature": (NEW, call_part("c", thoughtSignature="S"), "S"),
    "a foreign call gets the placeholder": (NEW, call_part("c"), "skip_thought_signature_validator"),
    "a foreign call gets it also under another model name": (
        "models/gemini-flash-latest",
        call_part("c"),
        "skip_thought_signature_validator",
    ),
    "older models need no signature": (OLD, call_part("c"), None),
}


@each_row(("model", "part", "signature"), SIGNED.values(), ids=SIGNED)
def test_the_first_call_of_a_step_is_signed(model: str, part: ToolCallPart, signature: str | None) -> None:
    view: list[Message] = [
        user("-"),
        step(part, call_part("d")),
        results_of(c=TextOutput(""), d=TextOutput("")),
    ]
    first, second = contents(*view, model=model)[1]["parts"]
    assert first.get("thoughtSignature") == signature
    assert "thoughtSignature" not in second


# The request


def test_the_first_system_messages_are_the_instruction_and_later_ones_become_user_messages() -> None:
    system = [SystemMessage(id=str(number), content=f"rule {number}") for number in (1, 2, 3)]
    built = build_request([*system[:2], user("hi"), step("ho"), system[2]], model=OLD)
    assert built.payload["systemInstruction"] == {"parts": [{"text": "rule 1"}, {"text": "rule 2"}]}
    assert built.payload["contents"][-1] == {"role": "user", "parts": [{"text": "rule 3"}]}
    assert [loss.path for loss in built.losses] == ["$[1]", "$[4].role"]


def test_instructions_for_gemma_are_in_the_user_message() -> None:
    built = build_request([SystemMessage(id="s", content="rule"), user("hi")], model="gemma-3-27b-it")
    assert "systemInstruction" not in built.payload
    assert built.payload["contents"] == [{"role": "user", "parts": [{"text": "rule"}, {"text": "hi"}]}]


CONTINUE: JsonObject = {"role": "user", "parts": [{"text": "Continue."}]}

FRAMES: dict[str, tuple[list[Message], list[JsonObject]]] = {
    "nothing": ([], [CONTINUE]),
    "a conversation begins with the user": (
        [step("hi"), user("ho")],
        [CONTINUE, {"role": "model", "parts": [{"text": "hi"}]}, {"role": "user", "parts": [{"text": "ho"}]}],
    ),
    "a conversation ends with the user": (
        [user("hi"), step("ho")],
        [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": [{"text": "ho"}]}, CONTINUE],
    ),
    "adjacent contents are merged, empty ones are dropped": (
        [user("a"), user(""), step(""), user("b")],
        [{"role": "user", "parts": [{"text": "a"}, {"text": "b"}]}],
    ),
}


@each_row(("view", "sent"), FRAMES.values(), ids=FRAMES)
def test_user_and_model_alternate(view: list[Message], sent: list[JsonObject]) -> None:
    assert contents(*view) == sent


def test_tools_are_declared_next_to_those_of_the_settings_which_override_members() -> None:
    schema = {"type": "object", "properties": {"hours": {"type": "number"}}}
    built = build_request(
        [user("hi")],
        model=NEW,
        tools=[ToolSpec(name="bake", description="Bake it.", input_schema=schema), ToolSpec(name="rest")],
        settings={"generationConfig": {"temperature": 0}, "tools": [{"googleSearch": {}}], "contents": []},
    )
    assert built.payload == {
        "model": NEW,
        "contents": [],
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "bake", "description": "Bake it.", "parametersJsonSchema": schema},
                    {"name": "rest"},
                ]
            },
            {"googleSearch": {}},
        ],
        "generationConfig": {"temperature": 0},
    }


def test_an_invalid_tool_name_is_replaced_everywhere() -> None:
    name = "bröt backen"
    view: list[Message] = [user("-"), step(call_part("c", name)), results_of(c=TextOutput(""))]
    built = build_request(view, model=OLD, tools=[ToolSpec(name=name)])
    [declared] = built.payload["tools"][0]["functionDeclarations"]
    called = built.payload["contents"][1]["parts"][0]["functionCall"]
    answered = built.payload["contents"][2]["parts"][0]["functionResponse"]
    assert declared["name"] == called["name"] == answered["name"] == TOOL_NAME.fit(name)
    assert [loss.path for loss in built.losses if name in loss.what] == [
        "$.tools[0].name",
        "$[1].content.parts[0].name",
    ]


@given(names=st.lists(st.text(max_size=200), unique=True, max_size=4))
def test_replaced_names_are_valid_and_distinct(names: list[str]) -> None:
    rewritten = [TOOL_NAME.fit(name) for name in names]
    assert all(re.fullmatch("[A-Za-z_][A-Za-z0-9_.:-]{0,127}", name) for name in rewritten)
    assert len(set(rewritten)) == len(names)


# Round trips

PARTS: list[JsonObject] = [
    thought("Rye or spelt?"),
    thought("", thoughtSignature="dGhpbms="),
    text("I weigh it.", thoughtSignature="c2F5"),
    {
        "executableCode": {"language": "PYTHON", "code": "print(3)", "id": "k1"},
        "thoughtSignature": "Y29kZQ==",
    },
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "3\n", "id": "k1"}},
    {"toolCall": {"toolType": "FILE_SEARCH", "args": {"q": "rye"}, "id": "f1"}, "thoughtSignature": "YXNr"},
    {
        "toolResponse": {"toolType": "FILE_SEARCH", "response": {"n": 1}, "id": "f1"},
        "thoughtSignature": "Z2V0",
    },
    {"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}, "thoughtSignature": "ZHJhdw=="},
    {"inlineData": {"mimeType": "image/png", "data": "QUI="}, "thought": True},
    call("knead", args={"minutes": 9}, id="x7", signature="Y2FsbA=="),
    call("knead", args={"minutes": 2}, id="x8"),
    text("", thoughtSignature="ZW5k"),
]


def sent_back(message: AssistantMessage, model: str = NEW) -> list[JsonObject]:
    """Return the parts of the model's contents when a message is sent back."""
    view = model_view([user("-"), message, user("-")])
    return [
        part
        for turn in contents(*view.messages, model=model)
        if turn["role"] == "model"
        for part in turn["parts"]
    ]


def test_a_response_round_trips() -> None:
    message = accumulated(decode([response(part) for part in PARTS] + [response(end="STOP")]))
    signed_thought = thought("Rye or spelt?", thoughtSignature="dGhpbms=")
    assert sent_back(message) == [signed_thought, *PARTS[2:]]


@given(parts=st.lists(st.sampled_from([*PARTS[2:4], PARTS[5], *PARTS[7:]]), max_size=6))
def test_signatures_round_trip_in_their_order(parts: list[JsonObject]) -> None:
    message = accumulated(GeminiDecoder().read_body(response(text("-"), *parts, end="STOP")))
    came = [part["thoughtSignature"] for part in parts if "thoughtSignature" in part]
    went = [part["thoughtSignature"] for part in sent_back(message, OLD) if "thoughtSignature" in part]
    assert went == came


def test_code_with_two_results_round_trips() -> None:
    parts: list[JsonObject] = [
        {"executableCode": {"language": "PYTHON", "code": "x"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "a"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "b"}, "thoughtSignature": "S"},
    ]
    assert sent_back(accumulated(GeminiDecoder().read_body(response(*parts, end="STOP")))) == parts


def test_generated_ids_are_not_sent() -> None:
    message = accumulated(decode([response(call("f", args={}), responseId="r", end="STOP")]))
    assert sent_back(message, OLD) == [{"functionCall": {"name": "f", "args": {}}}]


@given(value=json_values(3))
def test_any_input_and_output_are_sent_as_objects(value: Json) -> None:
    view: list[Message] = [user("-"), step(call_part("c", given=value)), results_of(c=JsonOutput(value))]
    payload = build_request(view, model=NEW).payload
    assert isinstance(payload["contents"][1]["parts"][0]["functionCall"]["args"], dict)
    assert isinstance(payload["contents"][2]["parts"][0]["functionResponse"]["response"], dict)
