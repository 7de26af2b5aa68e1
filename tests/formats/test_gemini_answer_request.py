"""Requests to Gemini, and answers of Gemini that are sent back to it."""

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
from tests.formats.gemini_answers import build_request, call, decode, fold, response, text, thought
from tests.strategies import json_values
from tests.tables import each_row

OLD: Final = "gemini-2.5-flash"
NEW: Final = "gemini-3-pro-preview"


def user(*parts: UserPart | str) -> UserMessage:
    said = [TextPart(part) if isinstance(part, str) else part for part in parts]
    return UserMessage(id="u", content=said)


def step(*parts: AssistantPart | str) -> AssistantMessage:
    said = [TextPart(part) if isinstance(part, str) else part for part in parts]
    return AssistantMessage(id="a", content=said)


def asked(id: str, name: str = "knead", given: Json = None, **google: Json) -> ToolCallPart:
    metadata = {"google": google} if google else None
    return ToolCallPart(id, name, "input-available", given or {}, call_provider_metadata=metadata)


def answers(**outputs: ToolOutput) -> ToolMessage:
    return ToolMessage(
        id="t", content=[ToolResultPart(name, "knead", output) for name, output in outputs.items()]
    )


def contents(*view: Message, model: str = OLD) -> list[JsonObject]:
    found: list[JsonObject] = build_request(view, model=model).payload["contents"]
    return found


def lost(*view: Message, model: str = OLD) -> list[str]:
    return [loss.path for loss in build_request(view, model=model).losses]


# What the user says

SAID: dict[str, tuple[UserPart, list[JsonObject], int]] = {
    "a text": (TextPart("hi"), [{"text": "hi"}], 0),
    "no words": (TextPart(""), [], 0),
    "a picture in the message": (
        ImagePart("data:image/png;base64,QUI="),
        [{"inlineData": {"mimeType": "image/png", "data": "QUI="}}],
        0,
    ),
    "a picture of unknown kind": (
        ImagePart("data:;base64,QUI=", media_type="image/*"),
        [{"inlineData": {"mimeType": "image/jpeg", "data": "QUI="}}],
        0,
    ),
    "a picture at an address": (
        ImagePart("https://a.example/x.png"),
        [{"fileData": {"fileUri": "https://a.example/x.png"}}],
        0,
    ),
    "a file": (
        FilePart("data:text/plain,caf%C3%A9", "text/plain"),
        [{"inlineData": {"mimeType": "text/plain", "data": "Y2Fmw6k="}}],
        0,
    ),
    "a sound with parameters": (
        FilePart("data:audio/L16;rate=24000;base64,QUI=", "audio/L16;rate=24000"),
        [{"inlineData": {"mimeType": "audio/L16;rate=24000", "data": "QUI="}}],
        0,
    ),
    "a file that Gemini has, and how to look at it": (
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
    "the name of a file is not told": (
        FilePart("data:text/plain;base64,QUI=", "text/plain", "a.txt"),
        [{"inlineData": {"mimeType": "text/plain", "data": "QUI="}}],
        1,
    ),
    "a file that is nowhere": (FilePart("blob:sha256:00", "text/plain"), [], 1),
    "data": (DataPart(name="x", data=1), [], 1),
    "something foreign": (ForeignPart(format="x", value=1), [], 1),
}


@each_row(("part", "sent", "losses"), SAID.values(), ids=SAID)
def test_what_the_user_says(part: UserPart, sent: list[JsonObject], losses: int) -> None:
    built = build_request([user("-", part)], model=OLD)
    assert built.payload == {"model": OLD, "contents": [{"role": "user", "parts": [{"text": "-"}, *sent]}]}
    assert len([loss for loss in built.losses if loss.severity == "lost"]) == losses
    assert all(loss.path.startswith("$[0].content.parts[1]") for loss in built.losses)


# What the model said


def google(**marks: Json) -> JsonObject:
    return {"google": marks}


CITED = Citation(UrlCitationSource("s", "https://a.example"))

ANSWERED: dict[str, tuple[AssistantPart, list[JsonObject], int]] = {
    "a signed text": (
        TextPart("x", provider_metadata=google(thoughtSignature="S")),
        [{"text": "x", "thoughtSignature": "S"}],
        0,
    ),
    "no words, but a signature": (
        TextPart("", provider_metadata=google(thoughtSignature="S")),
        [{"text": "", "thoughtSignature": "S"}],
        0,
    ),
    "no words": (TextPart(""), [], 0),
    "the signature of another": (
        TextPart("x", provider_metadata={"vertex": {"thoughtSignature": "S"}}),
        [{"text": "x"}],
        1,
    ),
    "a text with citations": (TextPart("x", citations=(CITED,)), [{"text": "x"}], 1),
    "a thought": (
        ReasoningPart("x", provider_metadata=google(thought=True)),
        [{"text": "x", "thought": True}],
        0,
    ),
    "a signed thought, as the AI SDK has it": (
        ReasoningPart("x", provider_metadata=google(thoughtSignature="S")),
        [{"text": "x", "thought": True, "thoughtSignature": "S"}],
        0,
    ),
    "a thought of another": (
        ReasoningPart("x", provider_metadata={"anthropic": {"signature": "S"}}),
        [],
        1,
    ),
    "a thought of nobody": (ReasoningPart(""), [], 1),
    "a signed picture": (
        FilePart("data:image/png;base64,QUI=", "image/png", provider_metadata=google(thoughtSignature="S")),
        [{"inlineData": {"mimeType": "image/png", "data": "QUI="}, "thoughtSignature": "S"}],
        0,
    ),
    "a picture in thought": (
        ReasoningFilePart("data:image/png;base64,QUI=", "image/png", provider_metadata=google(thought=True)),
        [{"inlineData": {"mimeType": "image/png", "data": "QUI="}, "thought": True}],
        0,
    ),
    "a picture in the thought of another": (
        ReasoningFilePart("data:image/png;base64,QUI=", "image/png"),
        [],
        1,
    ),
    "code of Gemini": (
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
    "content of a provider": (CustomPart(kind="openai.compaction"), [], 1),
    "the beginning of a step": (StepStartPart(), [], 0),
}


@each_row(("part", "sent", "losses"), ANSWERED.values(), ids=ANSWERED)
def test_what_the_model_said(part: AssistantPart, sent: list[JsonObject], losses: int) -> None:
    built = build_request([user("-"), step("-", part), user("-")], model=OLD)
    assert built.payload["contents"][1] == {"role": "model", "parts": [{"text": "-"}, *sent]}
    assert len(built.losses) == losses


# Calls and results

OUTPUTS: dict[str, tuple[ToolOutput, JsonObject, int]] = {
    "text": (TextOutput("done"), {"output": "done"}, 0),
    "an object": (JsonOutput({"a": 1}), {"a": 1}, 0),
    "a list": (JsonOutput([1]), {"output": [1]}, 0),
    "nothing": (JsonOutput(None), {"output": None}, 0),
    "an error in words": (ErrorTextOutput("too wet"), {"error": "too wet"}, 0),
    "an error in JSON": (ErrorJsonOutput([1]), {"error": [1]}, 0),
    "a refusal": (ExecutionDeniedOutput("too late"), {"error": "too late"}, 1),
    "a refusal without a reason": (ExecutionDeniedOutput(), {"error": "Tool execution denied."}, 1),
    "an interruption": (
        InterruptedOutput("timeout"),
        {"error": "The tool call was interrupted: it took too long."},
        1,
    ),
    "words to look at": (ContentOutput((TextPart("a"), TextPart("b"))), {"output": "a\nb"}, 1),
    "nothing to look at": (ContentOutput(()), {}, 1),
    "something foreign": (ContentOutput((ForeignPart(format="x", value=1),)), {}, 1),
    "a file that is nowhere": (ContentOutput((ImagePart("blob:sha256:0"),)), {}, 1),
}


@each_row(("output", "answer", "losses"), OUTPUTS.values(), ids=OUTPUTS)
def test_what_a_tool_gave_back(output: ToolOutput, answer: JsonObject, losses: int) -> None:
    built = build_request([user("-"), step(asked("c")), answers(c=output)], model=OLD)
    assert built.payload["contents"][2] == {
        "role": "user",
        "parts": [{"functionResponse": {"name": "knead", "response": answer}}],
    }
    assert len(built.losses) == losses


OUTPUT = "$[1].content.parts[0].output"
PICTURE = ContentOutput((TextPart("look"), ImagePart("data:image/png;base64,QUI=")))
SENT_PICTURE: JsonObject = {"inlineData": {"mimeType": "image/png", "data": "QUI="}}


def test_since_gemini_3_a_picture_is_in_the_answer_of_the_tool() -> None:
    view: list[Message] = [user("-"), step(asked("c")), answers(c=PICTURE)]
    [part] = contents(*view, model=NEW)[2]["parts"]
    assert part["functionResponse"]["parts"] == [SENT_PICTURE]
    assert lost(*view, model=NEW) == ["$[1].content.parts[0]", "$[1].content.parts[0].output.value[1].type"]


def test_before_it_stands_behind_all_answers() -> None:
    view: list[Message] = [user("-"), step(asked("c"), asked("d")), answers(c=PICTURE, d=TextOutput("x"))]
    parts = contents(*view)[2]["parts"]
    assert [*map(list, parts)] == [["functionResponse"], ["functionResponse"], ["inlineData"]]
    assert {path[: len(OUTPUT)] for path in lost(*view)} == {OUTPUT}


def test_answers_stand_in_the_order_of_their_calls_and_all_in_one_content() -> None:
    first = asked("1", callId="1")
    view: list[Message] = [
        user("-"),
        step(first, asked("2")),
        answers(**{"2": TextOutput("b"), "1": TextOutput("a")}),
        user("x"),
    ]
    assert contents(*view)[2]["parts"] == [
        {"functionResponse": {"id": "1", "name": "knead", "response": {"output": "a"}}},
        {"functionResponse": {"name": "knead", "response": {"output": "b"}}},
        {"text": "x"},
    ]


UNANSWERED = "The tool call was interrupted: its process went away. the call never got a result"


def test_a_call_without_an_answer_gets_one_and_an_answer_without_a_call_is_told_as_lost() -> None:
    view: list[Message] = [user("-"), step(asked("c")), answers(x=TextOutput("a")), user("go on")]
    assert contents(*view)[2]["parts"] == [
        {"functionResponse": {"name": "knead", "response": {"error": UNANSWERED}}},
        {"text": "go on"},
    ]
    assert lost(*view) == ["$[2]", OUTPUT]


INPUTS: dict[str, tuple[ToolCallPart, JsonObject, int]] = {
    "an object": (ToolCallPart("c", "f", "input-available", {"a": 1}), {"a": 1}, 0),
    "none": (ToolCallPart("c", "f", "input-available", UNSET), {}, 1),
    "a list": (ToolCallPart("c", "f", "input-available", [1]), {"input": [1]}, 1),
    "words that are no JSON": (
        ToolCallPart("c", "f", "output-error", UNSET, '{"a"'),
        {"input": '{"a"'},
        1,
    ),
}


@each_row(("part", "arguments", "losses"), INPUTS.values(), ids=INPUTS)
def test_arguments_are_an_object(part: ToolCallPart, arguments: JsonObject, losses: int) -> None:
    built = build_request([user("-"), step(part), answers(c=TextOutput(""))], model=OLD)
    assert built.payload["contents"][1]["parts"] == [{"functionCall": {"name": "f", "args": arguments}}]
    assert len([loss for loss in built.losses if "nput" in loss.path]) == losses


SIGNED: dict[str, tuple[str, ToolCallPart, str | None]] = {
    "a call of Gemini 3 keeps its signature": (NEW, asked("c", thoughtSignature="S"), "S"),
    "a foreign call gets the placeholder": (NEW, asked("c"), "skip_thought_signature_validator"),
    "so it does under another name of the model": (
        "models/gemini-flash-latest",
        asked("c"),
        "skip_thought_signature_validator",
    ),
    "older models need none": (OLD, asked("c"), None),
}


@each_row(("model", "part", "signature"), SIGNED.values(), ids=SIGNED)
def test_the_first_call_of_a_step_is_signed(model: str, part: ToolCallPart, signature: str | None) -> None:
    view: list[Message] = [user("-"), step(part, asked("d")), answers(c=TextOutput(""), d=TextOutput(""))]
    first, second = contents(*view, model=model)[1]["parts"]
    assert first.get("thoughtSignature") == signature
    assert "thoughtSignature" not in second


# The frame of a request


def test_instructions_stand_apart_and_later_ones_become_words_of_the_user() -> None:
    system = [SystemMessage(id=str(number), content=f"rule {number}") for number in (1, 2, 3)]
    built = build_request([*system[:2], user("hi"), step("ho"), system[2]], model=OLD)
    assert built.payload["systemInstruction"] == {"parts": [{"text": "rule 1"}, {"text": "rule 2"}]}
    assert built.payload["contents"][-1] == {"role": "user", "parts": [{"text": "rule 3"}]}
    assert [loss.path for loss in built.losses] == ["$[1]", "$[4].role"]


def test_gemma_is_told_instructions_by_the_user() -> None:
    built = build_request([SystemMessage(id="s", content="rule"), user("hi")], model="gemma-3-27b-it")
    assert "systemInstruction" not in built.payload
    assert built.payload["contents"] == [{"role": "user", "parts": [{"text": "rule"}, {"text": "hi"}]}]


CONTINUE: JsonObject = {"role": "user", "parts": [{"text": "Continue."}]}

FRAMES: dict[str, tuple[list[Message], list[JsonObject]]] = {
    "nothing": ([], [CONTINUE]),
    "it begins with the user": (
        [step("hi"), user("ho")],
        [CONTINUE, {"role": "model", "parts": [{"text": "hi"}]}, {"role": "user", "parts": [{"text": "ho"}]}],
    ),
    "it ends with the user": (
        [user("hi"), step("ho")],
        [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": [{"text": "ho"}]}, CONTINUE],
    ),
    "neighbours become one, and what says nothing is left out": (
        [user("a"), user(""), step(""), user("b")],
        [{"role": "user", "parts": [{"text": "a"}, {"text": "b"}]}],
    ),
}


@each_row(("view", "sent"), FRAMES.values(), ids=FRAMES)
def test_user_and_model_take_turns(view: list[Message], sent: list[JsonObject]) -> None:
    assert contents(*view) == sent


def test_tools_are_declared_beside_those_of_the_settings_and_settings_win() -> None:
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


def test_a_name_that_is_not_allowed_is_the_same_other_one_everywhere() -> None:
    name = "bröt backen"
    view: list[Message] = [user("-"), step(asked("c", name)), answers(c=TextOutput(""))]
    built = build_request(view, model=OLD, tools=[ToolSpec(name=name)])
    [declared] = built.payload["tools"][0]["functionDeclarations"]
    asked_for = built.payload["contents"][1]["parts"][0]["functionCall"]
    answered = built.payload["contents"][2]["parts"][0]["functionResponse"]
    assert declared["name"] == asked_for["name"] == answered["name"] == TOOL_NAME.fit(name)
    assert [loss.path for loss in built.losses if name in loss.what] == [
        "$.tools[0].name",
        "$[1].content.parts[0].name",
    ]


@given(names=st.lists(st.text(max_size=200), unique=True, max_size=4))
def test_names_become_allowed_and_stay_different(names: list[str]) -> None:
    rewritten = [TOOL_NAME.fit(name) for name in names]
    assert all(re.fullmatch("[A-Za-z_][A-Za-z0-9_.:-]{0,127}", name) for name in rewritten)
    assert len(set(rewritten)) == len(names)


# There and back

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
    call("knead", args={"minutes": 9}, id="x7", mark="Y2FsbA=="),
    call("knead", args={"minutes": 2}, id="x8"),
    text("", thoughtSignature="ZW5k"),
]


def sent_back(message: AssistantMessage, model: str = NEW) -> list[JsonObject]:
    """The parts of the model's turns when a message is sent back."""
    view = model_view([user("-"), message, user("-")])
    return [
        part
        for turn in contents(*view.messages, model=model)
        if turn["role"] == "model"
        for part in turn["parts"]
    ]


def test_an_answer_goes_back_as_it_came() -> None:
    message = fold(decode([response(part) for part in PARTS] + [response(end="STOP")]))
    signed_thought = thought("Rye or spelt?", thoughtSignature="dGhpbms=")
    assert sent_back(message) == [signed_thought, *PARTS[2:]]


@given(parts=st.lists(st.sampled_from([*PARTS[2:4], PARTS[5], *PARTS[7:]]), max_size=6))
def test_signatures_go_back_byte_for_byte_in_their_order(parts: list[JsonObject]) -> None:
    message = fold(GeminiDecoder().read_body(response(text("-"), *parts, end="STOP")))
    came = [part["thoughtSignature"] for part in parts if "thoughtSignature" in part]
    went = [part["thoughtSignature"] for part in sent_back(message, OLD) if "thoughtSignature" in part]
    assert went == came


def test_code_that_gave_back_twice_goes_back_so() -> None:
    parts: list[JsonObject] = [
        {"executableCode": {"language": "PYTHON", "code": "x"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "a"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "b"}, "thoughtSignature": "S"},
    ]
    assert sent_back(fold(GeminiDecoder().read_body(response(*parts, end="STOP")))) == parts


def test_ids_that_were_made_up_are_not_sent() -> None:
    message = fold(decode([response(call("f", args={}), responseId="r", end="STOP")]))
    assert sent_back(message, OLD) == [{"functionCall": {"name": "f", "args": {}}}]


@given(value=json_values(3))
def test_a_request_is_made_of_any_input_and_output(value: Json) -> None:
    view: list[Message] = [user("-"), step(asked("c", given=value)), answers(c=JsonOutput(value))]
    payload = build_request(view, model=NEW).payload
    assert isinstance(payload["contents"][1]["parts"][0]["functionCall"]["args"], dict)
    assert isinstance(payload["contents"][2]["parts"][0]["functionResponse"]["response"], dict)
