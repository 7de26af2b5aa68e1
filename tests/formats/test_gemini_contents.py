"""Requests to Gemini, read and written: the same comes back, repairs are told, nothing is lost in silence."""

from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from partita.errors import ConversionError, PartitaError
from partita.formats.format import Loaded, Request, ToolSpec
from partita.formats.losses import Severity
from partita.testing.full_conversation import full_conversation
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    JsonOutput,
    ReasoningPart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolResultPart,
)
from partita.types.usage import Usage
from tests.canonical import messages as any_message
from tests.formats.gemini_answers import ANSWERS, call, dump, dump_answer, load, load_answer, response, text
from tests.formats.gemini_requests import BAKERY, BODY, OLDER, REQUESTS, SNAKES
from tests.leaves import changed, leaves
from tests.tables import each_row

PLACEHOLDER: Final = "skip_thought_signature_validator"


def again(loaded: Loaded) -> Json:
    """What was loaded, written to the format it came from."""
    return dump(loaded.messages, loaded.request or Request()).payload


def calls_of(loaded: Loaded) -> list[ToolCallPart]:
    return [part for message in loaded.messages for part in message.parts if isinstance(part, ToolCallPart)]


# Read


def test_a_request_comes_back_as_it_was() -> None:
    loaded = load(BAKERY)
    assert not loaded.losses
    assert again(loaded) == BAKERY


def test_an_older_request_comes_back_as_it_was() -> None:
    loaded = load(OLDER)
    assert not loaded.losses
    assert again(loaded) == OLDER


def test_snake_case_is_read_and_what_is_the_tools_own_stays() -> None:
    loaded = load(SNAKES)
    [found] = calls_of(loaded)
    assert found.input == {"how_long": 9}
    assert found.output == JsonOutput({"mime_type": "dough"})
    assert not loaded.losses
    assert again(loaded) == SNAKES


CALL: Final[JsonObject] = {"name": "knead", "args": {"how_long": 9}}
DONE: Final[JsonObject] = {"name": "knead", "response": {"mime_type": "dough"}}
HELLO: Final[JsonObject] = {"role": "user", "parts": [{"text": "hi"}]}

AS_WRITTEN: dict[str, JsonObject] = {
    "names of both kinds in one part": {
        "contents": [
            HELLO,
            {"role": "model", "parts": [{"function_call": CALL, "thoughtSignature": "S"}]},
            {"role": "user", "parts": [{"functionResponse": DONE}, {"inline_data": {"mimeType": "a/b"}}]},
        ],
        "tools": [
            {"functionDeclarations": [{"name": "knead", "parameters_json_schema": {"type": "object"}}]}
        ],
    },
    "an attachment of a result in snake case": {
        "contents": [
            HELLO,
            {"role": "model", "parts": [{"functionCall": CALL, "thoughtSignature": "S"}]},
            {
                "role": "user",
                "parts": [
                    {
                        "functionResponse": {
                            **DONE,
                            "parts": [{"inline_data": {"mime_type": "image/png", "data": "QQ=="}}],
                        }
                    }
                ],
            },
        ]
    },
    "a tool of Google in snake case": {
        "contents": [
            HELLO,
            {
                "role": "model",
                "parts": [
                    {"toolCall": {"tool_type": "FILE_SEARCH", "args": {}, "id": "f"}},
                    {"toolResponse": {"tool_type": "FILE_SEARCH", "id": "f"}},
                    {"text": "done", "thought": False},
                ],
            },
            HELLO,
        ]
    },
    "tools that are one object, in snake case": {
        "contents": [HELLO],
        "tools": {
            "function_declarations": [{"name": "f", "description": "", "parameters": {"type": "object"}}]
        },
    },
    "tools between those of Google": {
        "contents": [HELLO],
        "tools": [
            {"googleSearch": {}},
            {"functionDeclarations": [{"name": "f"}], "codeExecution": {}},
            {"functionDeclarations": [{"name": "g", "parameters": {"type": "OBJECT", "nullable": True}}]},
            {"functionDeclarations": []},
        ],
    },
    "text instead of contents": {"contents": "hi", "system_instruction": "You bake."},
    "a content instead of contents, a part instead of parts": {
        "contents": {"role": "user", "parts": {"text": "hi"}},
        "systemInstruction": {"role": None, "parts": {"text": "You bake."}},
    },
    "contents with and without a role": {
        "contents": [
            {"parts": [{"text": "hi"}]},
            {"role": "model", "parts": [{"text": "ho"}], "x": 1},
            HELLO,
        ],
        "systemInstruction": None,
    },
    "results of code behind other parts": {
        "contents": [
            HELLO,
            {
                "role": "model",
                "parts": [
                    {"executableCode": {"code": "1", "id": "a"}},
                    {"executableCode": {"code": "2", "id": "b"}},
                    {"text": "Both run."},
                    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2", "id": "b"}},
                    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "id": "a"}},
                ],
            },
            HELLO,
        ]
    },
}


@each_row("payload", AS_WRITTEN.values(), ids=AS_WRITTEN)
def test_a_request_is_written_back_with_the_names_and_forms_it_had(payload: JsonObject) -> None:
    loaded = load(payload)
    assert not loaded.losses
    assert again(loaded) == payload


def test_nulls_of_a_model_dump_are_ordinary_and_come_back() -> None:
    from google.genai import types

    built = [
        types.Content(role="user", parts=[types.Part(text="knead")]),
        types.Content(
            role="model", parts=[types.Part(function_call=types.FunctionCall(name="knead", args={"a": 1}))]
        ),
        types.Content(
            role="user",
            parts=[types.Part(function_response=types.FunctionResponse(name="knead", response={"b": 2}))],
        ),
    ]
    payload = {"contents": [one.model_dump(mode="json") for one in built]}
    loaded = load(payload)
    [call] = calls_of(loaded)
    assert call.output == JsonOutput({"b": 2})
    assert not loaded.losses
    assert again(loaded) == payload
    noted = loaded.messages[0].content.provider_metadata or {}
    assert "function_call" in noted["google"]["null"]
    assert loaded.messages[0].parts == (TextPart("knead"),)


def test_calls_without_ids_are_answered_in_order() -> None:
    assert [(found.id, found.output) for found in calls_of(load(OLDER))] == [
        ("message-2-0", JsonOutput({"loaves": ["rye"]})),
        ("message-2-1", ErrorTextOutput("no time")),
        ("message-2-2", ErrorJsonOutput({"code": 3})),
    ]


def test_tools_are_read_as_any_model_can_be_told_of_them() -> None:
    request = load(BAKERY).request
    assert request is not None
    assert [tool.name for tool in request.tools] == ["knead", "rest", "bake"]
    assert request.tools[1].input_schema == {"type": "object", "properties": {"h": {"type": "number"}}}
    assert request.settings["tools"] == [{"codeExecution": {}}]


def content(role: str, *parts: JsonObject) -> JsonObject:
    return {"role": role, "parts": list(parts)}


def answer(name: str, **members: Json) -> JsonObject:
    return {"functionResponse": {"name": name, "response": {}, **members}}


ODD: dict[str, tuple[list[JsonObject], str]] = {
    "words before an answer": (
        [content("model", call("f", args={})), content("user", text("a"), answer("f"))],
        "$[1].parts",
    ),
    "answers in another order": (
        [
            content("model", call("f", args={}, id="1"), call("f", args={}, id="2")),
            content("user", answer("f", id="2"), answer("f", id="1")),
        ],
        "$[1].parts[0].functionResponse.id",
    ),
    "answers in two contents": (
        [
            content("model", call("f", args={}), call("g", args={})),
            content("user", answer("f")),
            content("user", answer("g")),
        ],
        "$[1]",
    ),
    "calls in two contents before any answer": (
        [
            content("model", call("f", args={}, id="1")),
            content("model", call("f", args={}, id="2")),
            content("user", answer("f", id="1"), answer("f", id="2")),
        ],
        "$[1]",
    ),
}


@each_row(("contents", "path"), ODD.values(), ids=ODD)
def test_what_cannot_be_kept_of_odd_contents_is_told(contents: list[JsonObject], path: str) -> None:
    loaded = load(contents)
    assert loaded.losses[0].path == path
    assert all(found.output is not None for found in calls_of(loaded))


BAD: dict[str, Json] = {
    "a number": 7,
    "an object of another kind": {"messages": []},
    "contents that are a number": {"contents": 7},
    "a content that is none": [7],
    "an unknown role": [{"role": "oven", "parts": []}],
    "parts that are a text": [{"role": "user", "parts": "hi"}],
    "a part that is a text": [{"role": "user", "parts": ["hi"]}],
    "instructions that are a list": {"contents": [], "systemInstruction": []},
    "a declaration without a name": {"contents": [], "tools": [{"functionDeclarations": [{}]}]},
}


@each_row("payload", BAD.values(), ids=BAD)
def test_what_is_no_request_is_refused_with_a_place(payload: Json) -> None:
    with pytest.raises(ConversionError) as raised:
        load(payload)
    assert raised.value.where
    assert raised.value.hint


def test_contents_stand_for_themselves() -> None:
    one = content("user", text("hi"))
    assert load(one).messages == load([one]).messages == load({"contents": [one]}).messages
    assert load([]).messages == ()


# Written


def user(words: str = "-") -> UserMessage:
    return UserMessage(id="u", content=words)


def step(*parts: Json, id: str = "a") -> AssistantMessage:
    return AssistantMessage(id=id, content=list(parts))


def told(*messages: Message) -> dict[str, Severity]:
    """The losses of writing messages but for their ids, by path."""
    losses = dump(messages).losses
    return {loss.path: loss.severity for loss in losses if not loss.path.endswith(".id")}


def answered(output: ToolOutput) -> ToolCallPart:
    return ToolCallPart("c", "knead", "output-available", {}, output=output)


SIGNED: Final = {"google": {"thoughtSignature": "S"}}

REPAIRS: dict[str, tuple[list[Message], dict[str, Severity]]] = {
    "nothing to tell": ([user()], {}),
    "the user begins": ([step(TextPart("a")), user()], {"$": "repaired"}),
    "the user ends": ([user(), step(TextPart("a"))], {"$[2]": "repaired"}),
    "neighbours are one content": ([user(), user("b")], {"$[1]": "repaired"}),
    "steps are one content": (
        [user(), step(TextPart("a"), StepStartPart(), TextPart("b")), user()],
        {"$[1]": "repaired"},
    ),
    "instructions in the middle": (
        [user(), step(TextPart("a")), SystemMessage(id="s", content="b")],
        {"$[2].role": "changed"},
    ),
    "two instructions": (
        [SystemMessage(id="s", content="a"), SystemMessage(id="t", content="b"), user()],
        {"$[1]": "repaired"},
    ),
    "a foreign call is signed with the placeholder": (
        [user(), step(answered(TextOutput("x")))],
        {"$[1].content.parts[0]": "repaired"},
    ),
    "a name that is not allowed": (
        [user(), step(ToolCallPart("c", "ö", "output-available", {}, output=TextOutput("x")))],
        {"$[1].content.parts[0].name": "repaired", "$[1].content.parts[0]": "repaired"},
    ),
    "a call without an answer": (
        [user(), step(ToolCallPart("c", "f", "input-available", {}, call_provider_metadata=SIGNED))],
        {"$[1].content.parts[0].output": "repaired"},
    ),
    "the result has no call right before it": (
        [user(), ToolMessage(id="t", content=[ToolResultPart("c", "f", TextOutput("x"))])],
        {"$[1]": "lost"},
    ),
    "a part of another format": (
        [UserMessage(id="u", content=[TextPart("-"), ForeignPart("mastra-v2", {"text": "a"})])],
        {"$[0].content.parts[1]": "lost"},
    ),
    "a part of another format in an answer": (
        [user(), step(TextPart("-"), ForeignPart("mastra-v2", {"text": "a"})), user()],
        {"$[1].content.parts[1]": "lost"},
    ),
    "no words": ([user(), user("")], {"$[1].content.parts[0]": "minor"}),
    "what another thought": (
        [user(), step(ReasoningPart("a")), user()],
        {"$[1].content.parts[0]": "lost"},
    ),
}


@each_row(("messages", "losses"), REPAIRS.values(), ids=REPAIRS)
def test_what_gemini_insists_on_is_mended_and_told(
    messages: list[Message], losses: dict[str, Severity]
) -> None:
    found = told(*messages)
    assert {path: found.get(path) for path in losses} == losses
    if not losses:
        assert not found


OUTPUTS: dict[str, tuple[ToolOutput, Severity | None]] = {
    "words": (TextOutput("a"), None),
    "an object": (JsonOutput({"a": 1}), None),
    "a list": (JsonOutput([1]), None),
    "an object that reads like words": (JsonOutput({"output": "a"}), "changed"),
    "an object that reads like an error": (JsonOutput({"error": "a"}), "changed"),
    "an error": (ErrorTextOutput("a"), None),
    "a refusal": (ExecutionDeniedOutput("late"), "changed"),
    "words and a picture": (
        ContentOutput((TextPart("a"), FilePart("data:image/png;base64,QUI=", "image/png"))),
        None,
    ),
    "texts": (ContentOutput((TextPart("a"), TextPart("b"))), "changed"),
    "a picture of another kind": (ContentOutput((ImagePart("data:image/png;base64,QUI="),)), "changed"),
}


@each_row(("output", "severity"), OUTPUTS.values(), ids=OUTPUTS)
def test_an_output_is_read_again_or_told(output: ToolOutput, severity: Severity | None) -> None:
    dumped = dump([user(), step(answered(output))])
    [found] = calls_of(load(dumped.payload))
    severities = [loss.severity for loss in dumped.losses if ".output" in loss.path]
    assert severities == ([] if severity is None else [severity])
    assert (found.output == output) is (severity is None)


def test_a_foreign_call_has_the_placeholder_and_one_of_gemini_has_not() -> None:
    foreign = dump([user(), step(answered(TextOutput("x")))]).payload["contents"][1]["parts"]
    own = dump(load(OLDER).messages).payload["contents"][1]["parts"]
    assert foreign[0]["thoughtSignature"] == PLACEHOLDER
    assert not any("thoughtSignature" in part for part in own)
    asked = dump(load(OLDER).messages, Request((), {"model": "gemini-3-pro"}))
    assert [part.get("thoughtSignature") for part in asked.payload["contents"][1]["parts"]] == [
        PLACEHOLDER,
        None,
        None,
    ]


def test_before_gemini_3_tools_of_google_give_way_to_declared_ones() -> None:
    request = Request((ToolSpec(name="f"),), {"model": "gemini-2.5-pro", "tools": [{"googleSearch": {}}]})
    asked = dump([user()], request)
    assert asked.payload["tools"] == [{"functionDeclarations": [{"name": "f"}]}]
    assert [loss.severity for loss in asked.losses if loss.path == "$.tools[0]"] == ["repaired"]


def test_parts_that_nobody_knows_go_back_where_they_were() -> None:
    payload = [content("user", {"hologram": 1}), content("model", {"scent": 2}), content("user", text("-"))]
    loaded = load(payload)
    assert [message.parts[0] for message in loaded.messages[:2]] == [
        ForeignPart("gemini", {"hologram": 1}),
        ForeignPart("gemini", {"scent": 2}),
    ]
    assert dump(loaded.messages).payload == {"contents": payload}


def test_an_empty_history_is_an_empty_payload() -> None:
    assert dump([]).payload == {"contents": []}


# Answers


def test_an_answer_comes_back_as_it_was() -> None:
    loaded = load_answer(BODY)
    assert not loaded.losses
    dumped = dump_answer(loaded.messages)
    assert dumped.payload == BODY
    assert not dumped.losses
    assert load(BODY) == loaded


BODIES: dict[str, JsonObject] = {
    "without an index": {"candidates": [{"content": {"role": "model", "parts": [{"text": "hi"}]}}]},
    "with nulls and empty members": {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": "hi", "thought": None}, {"text": ""}]},
                "finishReason": "STOP",
                "safetyRatings": [],
                "groundingMetadata": {},
                "finishMessage": None,
            }
        ],
        "promptFeedback": {},
        "usageMetadata": {},
        "modelVersion": "",
    },
    "without parts": {
        "candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS", "index": 0}]
    },
    "with empty parts": {"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}]},
    "an empty candidate": {"candidates": [{}]},
    "no candidates": {"candidates": [], "responseId": "r"},
    "candidates that are null": {"candidates": None, "promptFeedback": {"blockReason": "SAFETY"}},
    "two candidates": {
        "candidates": [{"content": {"parts": [{"text": "a"}]}}, {"index": 1, "content": {"parts": []}}]
    },
    "a text that is signed at its end": {
        "candidates": [
            {
                "content": {"parts": [{"text": "hi"}, {"text": "", "thoughtSignature": "S"}]},
                "finishReason": "STOP",
            }
        ]
    },
    "a call without arguments": {
        "candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": "f"}}]}, "index": 0}]
    },
    "an error": {"error": {"code": 429, "message": "later", "status": "RESOURCE_EXHAUSTED", "details": []}},
    "unknown members": {"candidates": [{"content": {"x": 1}, "y": 2}], "z": 3, "usageMetadata": {"new": 4}},
}


@each_row("body", BODIES.values(), ids=BODIES)
def test_a_body_comes_back_with_its_null_empty_and_default_members(body: JsonObject) -> None:
    loaded = load_answer(body)
    assert not loaded.losses
    assert dump_answer(loaded.messages).payload == body


def test_a_body_of_google_genai_comes_back() -> None:
    from google.genai import types

    payload = types.GenerateContentResponse.model_validate(BODY).model_dump(mode="json")
    loaded = load_answer(payload)
    assert not loaded.losses
    assert dump_answer(loaded.messages).payload == payload
    found = loaded.messages[0]
    assert [part.citations for part in found.parts if isinstance(part, TextPart)] == [
        part.citations for part in load_answer(BODY).messages[0].parts if isinstance(part, TextPart)
    ]


def test_the_answer_of_another_provider_is_told_in_the_words_of_gemini() -> None:
    content_ = AssistantContent(
        parts=(TextPart("hi"),),
        metadata={"finishReason": "length", "rawFinishReason": "max_tokens"},
        usage=Usage(input_tokens=4, output_tokens=9, reasoning_tokens=2, raw={"prompt_tokens": 4}),
    )
    dumped = dump_answer([user(), AssistantMessage(id="message-1", content=content_)])
    assert dumped.payload == {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": "hi"}]},
                "finishReason": "MAX_TOKENS",
                "index": 0,
            }
        ],
        "usageMetadata": {"promptTokenCount": 4, "candidatesTokenCount": 7, "thoughtsTokenCount": 2},
    }
    assert {loss.path: loss.severity for loss in dumped.losses} == {
        "$[0]": "lost",
        "$[1].content.metadata.rawFinishReason": "changed",
        "$[1].content.usage.raw.prompt_tokens": "lost",
    }


def test_an_answer_that_does_not_say_why_it_ended_ends() -> None:
    dumped = dump_answer([step(TextPart("hi"))])
    assert dumped.payload["candidates"][0]["finishReason"] == "STOP"
    assert [loss.severity for loss in dumped.losses if loss.path.endswith("finishReason")] == ["repaired"]
    assert [loss.severity for loss in dump_answer([]).losses] == ["repaired"]


def test_counts_that_a_stream_replaced_are_told_and_a_signature_that_moved() -> None:
    counted = [
        response(text("a"), usageMetadata={"promptTokenCount": 4}),
        response(text("", thoughtSignature="S"), end="STOP", usageMetadata={"promptTokenCount": 5}),
    ]
    assert [(loss.path, loss.severity) for loss in load(counted).losses] == [
        ("$[0].usageMetadata.promptTokenCount", "minor"),
        ("$[1].candidates[0].content.parts[0]", "changed"),
    ]


# Nothing in silence

READ: dict[str, tuple[Callable[[Json], Loaded], Json]] = {
    **{f"request, {name}": (load, payload) for name, payload in REQUESTS.items()},
    "a body": (load_answer, BODY),
    **{f"stream, {name}": (load_answer, events) for name, events in ANSWERS.items()},
}


def outcome(read: Callable[[Json], Loaded], payload: Json) -> tuple[Json, Json] | None:
    """What reading gives, and what writing it again gives; nothing, if it is refused."""
    try:
        loaded = read(payload)
    except PartitaError:
        return None
    written = (
        dump_answer(loaded.messages)
        if read is load_answer
        else dump(loaded.messages, loaded.request or Request())
    )
    request = None if loaded.request is None else (loaded.request.tools, loaded.request.settings)
    return (
        (to_json(loaded.messages), loaded.losses, request),
        (written.payload, loaded.losses, written.losses),
    )


@each_row(("read", "payload"), READ.values(), ids=READ)
def test_no_leaf_changes_in_silence(read: Callable[[Json], Loaded], payload: Json) -> None:
    before = outcome(read, payload)
    assert before is not None
    silent = [
        path
        for path in leaves(payload)
        if (after := outcome(read, changed(payload, path))) is not None
        and (after[0] == before[0] or after[1] == before[1])
    ]
    assert not silent


def test_all_that_a_message_can_hold_is_there_or_told() -> None:
    dumped = dump(full_conversation())
    for path in ("$[2].content.usage", "$[2].content.metadata", "$[2].content.parts[4].citations", "$[3]"):
        assert [loss for loss in dumped.losses if loss.path == path]
    assert {loss.severity for loss in dumped.losses} == {"lost", "changed", "repaired", "minor"}


@given(messages=st.lists(any_message(), max_size=4))
def test_any_messages_become_a_request_that_is_read_again(messages: list[Message]) -> None:
    payload = dump(messages).payload
    load(payload)
    load_answer(dump_answer(messages).payload)


# What Google's own package makes of it


@each_row("payload", [BAKERY, SNAKES], ids=["all of it", "in snake case"])
def test_google_reads_the_contents(payload: JsonObject) -> None:
    from google.genai import types

    for one in dump(load(payload).messages).payload["contents"]:
        types.Content.model_validate(one)


def test_google_reads_the_answer() -> None:
    from google.genai import types

    read = types.GenerateContentResponse.model_validate(dump_answer(load_answer(BODY).messages).payload)
    assert read.candidates is not None
    assert read.candidates[0].finish_reason == types.FinishReason.STOP


def test_what_google_builds_is_read() -> None:
    from google.genai import types

    built = types.Content(
        role="model",
        parts=[
            types.Part(text="a", thought_signature=b"sign"),
            types.Part(function_call=types.FunctionCall(name="f", args={"x": 1})),
        ],
    )
    plain = built.model_dump(mode="json", exclude_none=True)
    [message] = load([plain]).messages
    found = message.parts[1]
    assert isinstance(found, ToolCallPart)
    assert found.input == {"x": 1}
    assert found.raw_input is UNSET
