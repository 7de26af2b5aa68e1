"""Gemini requests and responses round-trip, repairs are reported, and nothing is lost silently."""

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
from tests.formats.gemini_requests import BODY, FULL_REQUEST, OLDER_REQUEST, REQUESTS, SNAKE_CASE_REQUEST
from tests.formats.gemini_responses import (
    RESPONSES,
    call,
    dump,
    dump_response,
    load,
    load_response,
    response,
    text,
)
from tests.leaves import changed, leaves
from tests.tables import each_row

PLACEHOLDER: Final = "skip_thought_signature_validator"


def written(loaded: Loaded) -> Json:
    """Return the loaded request, written in its own format."""
    return dump(loaded.messages, loaded.request or Request()).payload


def calls_of(loaded: Loaded) -> list[ToolCallPart]:
    return [part for message in loaded.messages for part in message.parts if isinstance(part, ToolCallPart)]


# Reading


def test_a_request_round_trips() -> None:
    loaded = load(FULL_REQUEST)
    assert not loaded.losses
    assert written(loaded) == FULL_REQUEST


def test_an_older_request_round_trips() -> None:
    loaded = load(OLDER_REQUEST)
    assert not loaded.losses
    assert written(loaded) == OLDER_REQUEST


def test_snake_case_is_read_and_members_of_tools_are_unchanged() -> None:
    loaded = load(SNAKE_CASE_REQUEST)
    [found] = calls_of(loaded)
    assert found.input == {"how_long": 9}
    assert found.output == JsonOutput({"mime_type": "dough"})
    assert not loaded.losses
    assert written(loaded) == SNAKE_CASE_REQUEST


CALL: Final[JsonObject] = {"name": "knead", "args": {"how_long": 9}}
DONE: Final[JsonObject] = {"name": "knead", "response": {"mime_type": "dough"}}
HELLO: Final[JsonObject] = {"role": "user", "parts": [{"text": "hi"}]}

AS_WRITTEN: dict[str, JsonObject] = {
    "camel case and snake case in one part": {
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
    "tools as a single object, in snake case": {
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
    "code results after other parts": {
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
def test_a_request_keeps_its_spelling(payload: JsonObject) -> None:
    loaded = load(payload)
    assert not loaded.losses
    assert written(loaded) == payload


def test_nulls_of_a_model_dump_are_dropped_and_round_trip() -> None:
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
    assert written(loaded) == payload
    noted = loaded.messages[0].content.provider_metadata or {}
    assert "function_call" in noted["google"]["null"]
    assert loaded.messages[0].parts == (TextPart("knead"),)


def test_calls_without_ids_get_their_results_in_order() -> None:
    assert [(found.id, found.output) for found in calls_of(load(OLDER_REQUEST))] == [
        ("message-2-0", JsonOutput({"loaves": ["rye"]})),
        ("message-2-1", ErrorTextOutput("no time")),
        ("message-2-2", ErrorJsonOutput({"code": 3})),
    ]


def test_tools_become_tool_specs() -> None:
    request = load(FULL_REQUEST).request
    assert request is not None
    assert [tool.name for tool in request.tools] == ["knead", "rest", "bake"]
    assert request.tools[1].input_schema == {"type": "object", "properties": {"h": {"type": "number"}}}
    assert request.settings["tools"] == [{"codeExecution": {}}]


def content(role: str, *parts: JsonObject) -> JsonObject:
    return {"role": role, "parts": list(parts)}


def function_response(name: str, **members: Json) -> JsonObject:
    return {"functionResponse": {"name": name, "response": {}, **members}}


MISPLACED: dict[str, tuple[list[JsonObject], str]] = {
    "a text before a result": (
        [content("model", call("f", args={})), content("user", text("a"), function_response("f"))],
        "$[1].parts",
    ),
    "results in a different order": (
        [
            content("model", call("f", args={}, id="1"), call("f", args={}, id="2")),
            content("user", function_response("f", id="2"), function_response("f", id="1")),
        ],
        "$[1].parts[0].functionResponse.id",
    ),
    "results in two contents": (
        [
            content("model", call("f", args={}), call("g", args={})),
            content("user", function_response("f")),
            content("user", function_response("g")),
        ],
        "$[1]",
    ),
    "calls in two contents before any result": (
        [
            content("model", call("f", args={}, id="1")),
            content("model", call("f", args={}, id="2")),
            content("user", function_response("f", id="1"), function_response("f", id="2")),
        ],
        "$[1]",
    ),
}


@each_row(("contents", "path"), MISPLACED.values(), ids=MISPLACED)
def test_unusual_orders_are_reported(contents: list[JsonObject], path: str) -> None:
    loaded = load(contents)
    assert loaded.losses[0].path == path
    assert all(found.output is not None for found in calls_of(loaded))


BAD: dict[str, Json] = {
    "a number": 7,
    "an object of another format": {"messages": []},
    "contents that are a number": {"contents": 7},
    "a content that is not an object": [7],
    "an unknown role": [{"role": "oven", "parts": []}],
    "parts that are a text": [{"role": "user", "parts": "hi"}],
    "a part that is a text": [{"role": "user", "parts": ["hi"]}],
    "a system instruction that is a list": {"contents": [], "systemInstruction": []},
    "a declaration without a name": {"contents": [], "tools": [{"functionDeclarations": [{}]}]},
}


@each_row("payload", BAD.values(), ids=BAD)
def test_invalid_requests_are_refused_with_their_path(payload: Json) -> None:
    with pytest.raises(ConversionError) as raised:
        load(payload)
    assert raised.value.where
    assert raised.value.hint


def test_contents_are_also_read_without_a_request() -> None:
    one = content("user", text("hi"))
    assert load(one).messages == load([one]).messages == load({"contents": [one]}).messages
    assert load([]).messages == ()


# Writing


def user(content: str = "-") -> UserMessage:
    return UserMessage(id="u", content=content)


def step(*parts: Json, id: str = "a") -> AssistantMessage:
    return AssistantMessage(id=id, content=list(parts))


def losses_of(*messages: Message) -> dict[str, Severity]:
    """Return the severities of losses by path, without losses of ids."""
    losses = dump(messages).losses
    return {loss.path: loss.severity for loss in losses if not loss.path.endswith(".id")}


def finished_call(output: ToolOutput) -> ToolCallPart:
    return ToolCallPart("c", "knead", "output-available", {}, output=output)


SIGNED: Final = {"google": {"thoughtSignature": "S"}}

REPAIRS: dict[str, tuple[list[Message], dict[str, Severity]]] = {
    "nothing to repair": ([user()], {}),
    "a conversation that begins with the model": ([step(TextPart("a")), user()], {"$": "repaired"}),
    "a conversation that ends with the model": ([user(), step(TextPart("a"))], {"$[2]": "repaired"}),
    "adjacent contents are merged": ([user(), user("b")], {"$[1]": "repaired"}),
    "steps are merged": (
        [user(), step(TextPart("a"), StepStartPart(), TextPart("b")), user()],
        {"$[1]": "repaired"},
    ),
    "a later system message": (
        [user(), step(TextPart("a")), SystemMessage(id="s", content="b")],
        {"$[2].role": "changed"},
    ),
    "two system messages": (
        [SystemMessage(id="s", content="a"), SystemMessage(id="t", content="b"), user()],
        {"$[1]": "repaired"},
    ),
    "a foreign call gets the placeholder signature": (
        [user(), step(finished_call(TextOutput("x")))],
        {"$[1].content.parts[0]": "repaired"},
    ),
    "an invalid name": (
        [user(), step(ToolCallPart("c", "ö", "output-available", {}, output=TextOutput("x")))],
        {"$[1].content.parts[0].name": "repaired", "$[1].content.parts[0]": "repaired"},
    ),
    "a call without a result": (
        [user(), step(ToolCallPart("c", "f", "input-available", {}, call_provider_metadata=SIGNED))],
        {"$[1].content.parts[0].output": "repaired"},
    ),
    "a result without a call": (
        [user(), ToolMessage(id="t", content=[ToolResultPart("c", "f", TextOutput("x"))])],
        {"$[1]": "lost"},
    ),
    "a part of another format": (
        [UserMessage(id="u", content=[TextPart("-"), ForeignPart("mastra-v2", {"text": "a"})])],
        {"$[0].content.parts[1]": "lost"},
    ),
    "a part of another format in a model message": (
        [user(), step(TextPart("-"), ForeignPart("mastra-v2", {"text": "a"})), user()],
        {"$[1].content.parts[1]": "lost"},
    ),
    "an empty text": ([user(), user("")], {"$[1].content.parts[0]": "minor"}),
    "reasoning of another provider": (
        [user(), step(ReasoningPart("a")), user()],
        {"$[1].content.parts[0]": "lost"},
    ),
}


@each_row(("messages", "losses"), REPAIRS.values(), ids=REPAIRS)
def test_repairs_are_reported(messages: list[Message], losses: dict[str, Severity]) -> None:
    found = losses_of(*messages)
    assert {path: found.get(path) for path in losses} == losses
    if not losses:
        assert not found


OUTPUTS: dict[str, tuple[ToolOutput, Severity | None]] = {
    "content": (TextOutput("a"), None),
    "an object": (JsonOutput({"a": 1}), None),
    "a list": (JsonOutput([1]), None),
    "an object with only an output member": (JsonOutput({"output": "a"}), "changed"),
    "an object with only an error member": (JsonOutput({"error": "a"}), "changed"),
    "an error": (ErrorTextOutput("a"), None),
    "a denial": (ExecutionDeniedOutput("late"), "changed"),
    "a text and an image": (
        ContentOutput((TextPart("a"), FilePart("data:image/png;base64,QUI=", "image/png"))),
        None,
    ),
    "texts": (ContentOutput((TextPart("a"), TextPart("b"))), "changed"),
    "a single image": (ContentOutput((ImagePart("data:image/png;base64,QUI="),)), "changed"),
}


@each_row(("output", "severity"), OUTPUTS.values(), ids=OUTPUTS)
def test_an_output_round_trips_or_is_reported(output: ToolOutput, severity: Severity | None) -> None:
    dumped = dump([user(), step(finished_call(output))])
    [found] = calls_of(load(dumped.payload))
    severities = [loss.severity for loss in dumped.losses if ".output" in loss.path]
    assert severities == ([] if severity is None else [severity])
    assert (found.output == output) is (severity is None)


def test_only_foreign_calls_get_the_placeholder_signature() -> None:
    foreign = dump([user(), step(finished_call(TextOutput("x")))]).payload["contents"][1]["parts"]
    own = dump(load(OLDER_REQUEST).messages).payload["contents"][1]["parts"]
    assert foreign[0]["thoughtSignature"] == PLACEHOLDER
    assert not any("thoughtSignature" in part for part in own)
    asked = dump(load(OLDER_REQUEST).messages, Request((), {"model": "gemini-3-pro"}))
    assert [part.get("thoughtSignature") for part in asked.payload["contents"][1]["parts"]] == [
        PLACEHOLDER,
        None,
        None,
    ]


def test_before_gemini_3_google_tools_are_dropped_when_tools_are_declared() -> None:
    request = Request((ToolSpec(name="f"),), {"model": "gemini-2.5-pro", "tools": [{"googleSearch": {}}]})
    asked = dump([user()], request)
    assert asked.payload["tools"] == [{"functionDeclarations": [{"name": "f"}]}]
    assert [loss.severity for loss in asked.losses if loss.path == "$.tools[0]"] == ["repaired"]


def test_unknown_parts_round_trip_in_place() -> None:
    payload = [content("user", {"hologram": 1}), content("model", {"scent": 2}), content("user", text("-"))]
    loaded = load(payload)
    assert [message.parts[0] for message in loaded.messages[:2]] == [
        ForeignPart("gemini", {"hologram": 1}),
        ForeignPart("gemini", {"scent": 2}),
    ]
    assert dump(loaded.messages).payload == {"contents": payload}


def test_an_empty_history_is_an_empty_payload() -> None:
    assert dump([]).payload == {"contents": []}


# Responses


def test_a_response_round_trips() -> None:
    loaded = load_response(BODY)
    assert not loaded.losses
    dumped = dump_response(loaded.messages)
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
    "a text with a trailing signature": {
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
def test_a_body_keeps_its_null_empty_and_default_members(body: JsonObject) -> None:
    loaded = load_response(body)
    assert not loaded.losses
    assert dump_response(loaded.messages).payload == body


def test_a_body_of_google_genai_round_trips() -> None:
    from google.genai import types

    payload = types.GenerateContentResponse.model_validate(BODY).model_dump(mode="json")
    loaded = load_response(payload)
    assert not loaded.losses
    assert dump_response(loaded.messages).payload == payload
    found = loaded.messages[0]
    assert [part.citations for part in found.parts if isinstance(part, TextPart)] == [
        part.citations for part in load_response(BODY).messages[0].parts if isinstance(part, TextPart)
    ]


def test_a_response_of_another_provider_is_written_as_a_gemini_response() -> None:
    content_ = AssistantContent(
        parts=(TextPart("hi"),),
        metadata={"finishReason": "length", "rawFinishReason": "max_tokens"},
        usage=Usage(input_tokens=4, output_tokens=9, reasoning_tokens=2, raw={"prompt_tokens": 4}),
    )
    dumped = dump_response([user(), AssistantMessage(id="message-1", content=content_)])
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


def test_a_response_without_a_finish_reason_gets_one() -> None:
    dumped = dump_response([step(TextPart("hi"))])
    assert dumped.payload["candidates"][0]["finishReason"] == "STOP"
    assert [loss.severity for loss in dumped.losses if loss.path.endswith("finishReason")] == ["repaired"]
    assert [loss.severity for loss in dump_response([]).losses] == ["repaired"]


def test_replaced_usage_and_moved_signatures_of_a_stream_are_reported() -> None:
    counted = [
        response(text("a"), usageMetadata={"promptTokenCount": 4}),
        response(text("", thoughtSignature="S"), end="STOP", usageMetadata={"promptTokenCount": 5}),
    ]
    assert [(loss.path, loss.severity) for loss in load(counted).losses] == [
        ("$[0].usageMetadata.promptTokenCount", "minor"),
        ("$[1].candidates[0].content.parts[0]", "changed"),
    ]


# Losses

READ: dict[str, tuple[Callable[[Json], Loaded], Json]] = {
    **{f"request, {name}": (load, payload) for name, payload in REQUESTS.items()},
    "a body": (load_response, BODY),
    **{f"stream, {name}": (load_response, events) for name, events in RESPONSES.items()},
}


def outcome(read: Callable[[Json], Loaded], payload: Json) -> tuple[Json, Json] | None:
    """Return the messages and the written payload, or None if reading is refused."""
    try:
        loaded = read(payload)
    except PartitaError:
        return None
    written = (
        dump_response(loaded.messages)
        if read is load_response
        else dump(loaded.messages, loaded.request or Request())
    )
    request = None if loaded.request is None else (loaded.request.tools, loaded.request.settings)
    return (
        (to_json(loaded.messages), loaded.losses, request),
        (written.payload, loaded.losses, written.losses),
    )


@each_row(("read", "payload"), READ.values(), ids=READ)
def test_every_leaf_is_read_and_written_or_reported(read: Callable[[Json], Loaded], payload: Json) -> None:
    before = outcome(read, payload)
    assert before is not None
    silent = [
        path
        for path in leaves(payload)
        if (after := outcome(read, changed(payload, path))) is not None
        and (after[0] == before[0] or after[1] == before[1])
    ]
    assert not silent


def test_losses_of_a_full_conversation_are_reported() -> None:
    dumped = dump(full_conversation())
    for path in ("$[2].content.usage", "$[2].content.metadata", "$[2].content.parts[4].citations", "$[3]"):
        assert [loss for loss in dumped.losses if loss.path == path]
    assert {loss.severity for loss in dumped.losses} == {"lost", "changed", "repaired", "minor"}


@given(messages=st.lists(any_message(), max_size=4))
def test_any_messages_become_a_request_that_can_be_read(messages: list[Message]) -> None:
    payload = dump(messages).payload
    load(payload)
    load_response(dump_response(messages).payload)


# The official package


@each_row("payload", [FULL_REQUEST, SNAKE_CASE_REQUEST], ids=["all members", "in snake case"])
def test_the_official_package_reads_written_contents(payload: JsonObject) -> None:
    from google.genai import types

    for one in dump(load(payload).messages).payload["contents"]:
        types.Content.model_validate(one)


def test_the_official_package_reads_a_written_response() -> None:
    from google.genai import types

    read = types.GenerateContentResponse.model_validate(dump_response(load_response(BODY).messages).payload)
    assert read.candidates is not None
    assert read.candidates[0].finish_reason == types.FinishReason.STOP


def test_contents_of_the_official_package_are_read() -> None:
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
