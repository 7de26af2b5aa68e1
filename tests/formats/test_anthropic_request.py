"""Canonical messages → an Anthropic request: where each part goes, and what is repaired to fit the API."""

from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import ConversionError
from partita.formats.anthropic.parts import CALL_ID, TOOL_NAME
from partita.formats.format import ToolSpec
from partita.formats.losses import NO_CALL, content_losses
from partita.runtime.providers.vendors import AnthropicService
from partita.types.json import Json, JsonObject
from partita.types.messages import (
    AssistantContent,
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
    SteeringMessagePart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolResultPart,
    UnknownPart,
)
from partita.types.tool_results import expand
from partita.types.value import Extra
from tests.canonical import messages
from tests.formats.anthropic_samples import build_request
from tests.tables import each_row

PIXEL: Final = "data:image/png;base64,aVZC"
UNANSWERED: Final = "The tool call was interrupted: its process went away. the call never got a result"


def user(*parts: UserPart | str) -> UserMessage:
    return UserMessage(id="u", content=[TextPart(part) if isinstance(part, str) else part for part in parts])


def assistant(*parts: AssistantPart | str, metadata: JsonObject | None = None) -> AssistantMessage:
    content = tuple(TextPart(part) if isinstance(part, str) else part for part in parts)
    return AssistantMessage(id="a", content=AssistantContent(parts=content, metadata=metadata))


def tool(*results: ToolResultPart) -> ToolMessage:
    return ToolMessage(id="t", content=results)


def call(id: str = "c", name: str = "tide", input: Json = None, **own: Json) -> ToolCallPart:
    metadata = {"anthropic": own} if own else None
    return ToolCallPart(id, name, "input-available", input or {}, call_provider_metadata=metadata)


def server_call(id: str, name: str, output: ToolOutput | None = None, **own: Json) -> ToolCallPart:
    metadata = {"anthropic": own} if own else None
    return ToolCallPart(
        id,
        name,
        "input-available" if output is None else "output-available",
        {},
        provider_executed=True,
        output=output,
        call_provider_metadata=metadata,
    )


def result(id: str = "c", output: ToolOutput | None = None) -> ToolResultPart:
    return ToolResultPart(id, "tide", output or TextOutput("06:04"))


def turns(*view: Message) -> list[tuple[str, list[Json]]]:
    request = build_request(view, model="claude-test")
    return [(turn["role"], turn["content"]) for turn in request.payload["messages"]]


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def use(id: str = "c", name: str = "tide", **input: Json) -> JsonObject:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def tool_result(id: str = "c", content: Json = "06:04", **more: Json) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


CONVERSATIONS: Final[dict[str, tuple[list[Message], list[tuple[str, list[Json]]]]]] = {
    "roles alternate": (
        [user("Tide?"), assistant("Six."), user("Thanks")],
        [("user", [text("Tide?")]), ("assistant", [text("Six.")]), ("user", [text("Thanks")])],
    ),
    "adjacent messages of one role are merged": (
        [user("a"), user("b"), assistant("c"), assistant("d")],
        [("user", [text("a"), text("b")]), ("assistant", [text("c"), text("d")])],
    ),
    "results and the text after them are merged, results first": (
        [user("Tide?"), assistant(call()), tool(result()), user("And now?")],
        [
            ("user", [text("Tide?")]),
            ("assistant", [use()]),
            ("user", [tool_result(), text("And now?")]),
        ],
    ),
    "results are in the order of their calls": (
        [user("?"), assistant(call("c"), call("d")), tool(result("d"), result("c"))],
        [
            ("user", [text("?")]),
            ("assistant", [use("c"), use("d")]),
            ("user", [tool_result("c"), tool_result("d")]),
        ],
    ),
    "results in several messages": (
        [user("?"), assistant(call("c"), call("d")), tool(result("c")), tool(result("d"))],
        [
            ("user", [text("?")]),
            ("assistant", [use("c"), use("d")]),
            ("user", [tool_result("c"), tool_result("d")]),
        ],
    ),
    "a call without a result gets one": (
        [user("?"), assistant(call()), user("Stop")],
        [
            ("user", [text("?")]),
            ("assistant", [use()]),
            ("user", [tool_result(content=UNANSWERED, is_error=True), text("Stop")]),
        ],
    ),
    "a call without a result at the end gets one": (
        [user("?"), assistant(call())],
        [
            ("user", [text("?")]),
            ("assistant", [use()]),
            ("user", [tool_result(content=UNANSWERED, is_error=True)]),
        ],
    ),
    "a conversation that begins with the assistant": (
        [assistant("Hello"), user("Hi")],
        [("user", [text("Continue.")]), ("assistant", [text("Hello")]), ("user", [text("Hi")])],
    ),
    "pending calls come last": (
        [user("?"), assistant(call(), "I look."), tool(result())],
        [
            ("user", [text("?")]),
            ("assistant", [text("I look."), use()]),
            ("user", [tool_result()]),
        ],
    ),
    "an invalid id is replaced in call and result": (
        [user("?"), assistant(call("call:1", "harbour.tide")), tool(result("call:1"))],
        [
            ("user", [text("?")]),
            ("assistant", [use(CALL_ID.fit("call:1"), TOOL_NAME.fit("harbour.tide"))]),
            ("user", [tool_result(CALL_ID.fit("call:1"))]),
        ],
    ),
    "the caller of a call is sent again": (
        [user("?"), assistant(call(caller={"type": "code", "toolId": "s"}, fields={"toolset_name": "sea"}))],
        [
            ("user", [text("?")]),
            ("assistant", [use() | {"caller": {"type": "code", "tool_id": "s"}, "toolset_name": "sea"}]),
            ("user", [tool_result(content=UNANSWERED, is_error=True)]),
        ],
    ),
    "empty texts are dropped": (
        [user("", "a"), assistant("", StepStartPart(), "b"), user("c")],
        [("user", [text("a")]), ("assistant", [text("b")]), ("user", [text("c")])],
    ),
}


@each_row(("view", "expected"), CONVERSATIONS.values(), ids=CONVERSATIONS)
def test_conversations_become_valid_turns(
    view: list[Message], expected: list[tuple[str, list[Json]]]
) -> None:
    assert turns(*view) == expected


OUTPUTS: Final[dict[str, tuple[ToolOutput, JsonObject]]] = {
    "text": (TextOutput("06:04"), {"content": "06:04"}),
    "an empty text": (TextOutput(""), {}),
    "json": (JsonOutput({"at": [6, 4]}), {"content": '{"at":[6,4]}'}),
    "error-text": (ErrorTextOutput("no such port"), {"content": "no such port", "is_error": True}),
    "error-json": (ErrorJsonOutput({"code": 7}), {"content": '{"code":7}', "is_error": True}),
    "execution-denied": (ExecutionDeniedOutput("not now"), {"content": "not now"}),
    "execution-denied without a reason": (
        ExecutionDeniedOutput(),
        {"content": "Tool execution denied."},
    ),
    "interrupted": (
        InterruptedOutput("timeout", "after 5 s"),
        {"content": "The tool call was interrupted: it took too long. after 5 s", "is_error": True},
    ),
    "content": (
        ContentOutput(
            (
                TextPart("chart"),
                TextPart(""),
                ImagePart(PIXEL),
                FilePart("https://tides.example/t.pdf", "application/pdf", "t.pdf"),
                ForeignPart("anthropic", {"type": "search_result", "source": "s"}),
            )
        ),
        {
            "content": [
                text("chart"),
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aVZC"}},
                {
                    "type": "document",
                    "source": {"type": "url", "url": "https://tides.example/t.pdf"},
                    "title": "t.pdf",
                },
                {"type": "search_result", "source": "s"},
            ]
        },
    ),
    "no content": (ContentOutput(()), {}),
}


@each_row(("output", "expected"), OUTPUTS.values(), ids=OUTPUTS)
def test_outputs_become_tool_results(output: ToolOutput, expected: JsonObject) -> None:
    request = build_request([user("?"), assistant(call()), tool(result(output=output))], model="claude-test")
    block = request.payload["messages"][-1]["content"][0]
    assert block == {"type": "tool_result", "tool_use_id": "c", **expected}
    is_exact = isinstance(output, TextOutput | ErrorTextOutput)
    assert is_exact == (not [loss for loss in request.losses if ".output" in loss.path])


MEDIA: Final[dict[str, tuple[UserPart, JsonObject]]] = {
    "an inline image": (
        FilePart(PIXEL, "image/png"),
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aVZC"}},
    ),
    "an image URL": (
        ImagePart("https://tides.example/a.png"),
        {"type": "image", "source": {"type": "url", "url": "https://tides.example/a.png"}},
    ),
    "an inline PDF": (
        FilePart("data:application/pdf;base64,JVBE", "application/pdf", "a.pdf"),
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"},
            "title": "a.pdf",
        },
    ),
    "an inline text": (
        FilePart("data:text/markdown;base64,IyBIVw==", "text/markdown"),
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "# HW"}},
    ),
    "an inline text that is not base64": (
        FilePart("data:text/plain,HW%206", "text/plain"),
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "HW 6"}},
    ),
    "an uploaded file": (
        FilePart("", "application/pdf", provider_reference={"anthropic": "file_1"}),
        {"type": "document", "source": {"type": "file", "file_id": "file_1"}},
    ),
    "a block that only the API has": (
        ForeignPart("anthropic", {"type": "container_upload", "file_id": "file_1"}),
        {"type": "container_upload", "file_id": "file_1"},
    ),
}


@each_row(("part", "block"), MEDIA.values(), ids=MEDIA)
def test_files_become_content_blocks(part: UserPart, block: JsonObject) -> None:
    assert turns(user(part)) == [("user", [block])]


LOST: Final[dict[str, tuple[Message, str, str]]] = {
    "sound": (user(FilePart("data:audio/wav;base64,UklG", "audio/wav")), "[0]", "takes JPEG"),
    "an HTML page": (user(FilePart("https://a.example/", "text/html")), "[0]", "takes JPEG"),
    "a stored file": (user(ImagePart("blob:sha256:00")), "[0]", "takes JPEG"),
    "an unsupported URL scheme": (user(ImagePart("gs://a/b")), "[0]", "takes JPEG"),
    "invalid base64": (
        user(FilePart("data:text/plain;base64,***", "text/plain")),
        "[0]",
        "takes JPEG",
    ),
    "a data part": (user(DataPart("tide", 6)), "[0]", "not for the model"),
    "an unknown part": (user(UnknownPart(Extra({"type": "smell"}))), "[0]", "no place for it"),
    "a block of another format": (user(ForeignPart("gemini", {"type": "text"})), "[0]", "another format"),
    "white space": (user(" \n"), "[0]", "only white space"),
    "reasoning of another provider": (
        assistant(ReasoningPart("hm", provider_metadata={"openai": {"signature": "x"}})),
        "[0]",
        "signed it",
    ),
    "unsigned reasoning": (assistant(ReasoningPart("hm")), "[0]", "signed it"),
    "an image in an assistant message": (assistant(ImagePart(PIXEL)), "[0]", "of the user only"),
    "a reasoning file": (assistant(ReasoningFilePart(PIXEL, "image/png")), "[0]", "of the user only"),
    "a steering message": (
        assistant(SteeringMessagePart("s", (TextPart("a"),))),
        "[0]",
        "a prompt of the user",
    ),
    "a source of another provider": (
        assistant(SourceUrlPart("s", "https://a.example/")),
        "[0]",
        "not for the model",
    ),
    "a server tool of another provider": (
        assistant(server_call("s", "web_search")),
        "[0]",
        "another provider",
    ),
    "a server tool without a declaration": (
        assistant(server_call("s", "advisor", index=0)),
        "[0]",
        "not declared",
    ),
    "an invalid output of a server tool": (
        assistant(server_call("s", "web_search", InterruptedOutput("lost"), index=0)),
        "[0].output",
        "a result is text",
    ),
    "content of another provider": (assistant(CustomPart("openai.thing")), "[0]", "no place for it"),
    "a custom block with deltas": (
        assistant(CustomPart("anthropic.v", provider_metadata={"anthropic": {"type": "v", "deltas": [1]}})),
        "[0]",
        "no place for it",
    ),
    "an input that is not an object": (assistant(call(input=[6])), "[0].input", "only objects"),
}


@each_row(("message", "place", "why"), LOST.values(), ids=LOST)
def test_unsupported_parts_are_reported(message: Message, place: str, why: str) -> None:
    losses = content_losses(build_request([user("?"), message], model="claude-test").losses)
    reasons = [loss.why for loss in losses if loss.path == f"$[1].content.parts{place}"]
    assert any(why in reason for reason in reasons)


def test_a_result_without_a_call_is_reported() -> None:
    losses = build_request([user("?"), tool(result("gone"))], model="claude-test").losses
    assert [(loss.path, loss.why) for loss in losses if loss.path == "$[1]"] == [("$[1]", NO_CALL)]


def test_an_unfinished_call_is_not_sent() -> None:
    cut = ToolCallPart("c", "tide", "input-streaming", {"port": "Ob"}, raw_input='{"port": "Ob')
    assert turns(user("?"), assistant(cut)) == [("user", [text("?")])]


def test_an_input_that_is_not_json_is_sent_in_an_object() -> None:
    bad = ToolCallPart("c", "tide", "input-available", raw_input='{"port": "Ob')
    assert turns(user("?"), assistant(bad))[1] == ("assistant", [use(input='{"port": "Ob')])


def test_system_messages_are_moved_to_the_front() -> None:
    view: list[Message] = [
        SystemMessage(id="s", content="Be brief."),
        user("?"),
        SystemMessage(id="s", content="In verse."),
    ]
    request = build_request(view, model="claude-test")
    assert request.payload["system"] == [text("Be brief."), text("In verse.")]
    assert ("$[2]", "the place of the instructions") in [(loss.path, loss.what) for loss in request.losses]


def test_trailing_white_space_of_a_prefill_is_removed() -> None:
    request = build_request([user("?"), assistant("The tide ")], model="claude-test")
    assert request.payload["messages"][-1]["content"] == [text("The tide")]
    assert "white space at the end" in [loss.what for loss in request.losses]


def test_a_compaction_round_trips() -> None:
    part = TextPart("They met.", provider_metadata={"anthropic": {"type": "compaction"}})
    assert turns(user("?"), assistant(part))[1][1] == [{"type": "compaction", "content": "They met."}]


def test_required_members_have_defaults_and_settings_override_them() -> None:
    spec = ToolSpec("tide", "When it comes", {"properties": {}})
    search = {"type": "web_search_20250305", "name": "web_search"}
    request = build_request(
        [user("?")], model="claude-test", tools=[spec], settings={"max_tokens": 9, "tools": [search]}
    )
    assert request.payload == {
        "model": "claude-test",
        "max_tokens": 9,
        "stream": True,
        "messages": [{"role": "user", "content": [text("?")]}],
        "tools": [
            {
                "name": "tide",
                "description": "When it comes",
                "input_schema": {"type": "object", "properties": {}},
            },
            search,
        ],
    }
    bare = build_request([user("?")], model="claude-test").payload
    assert bare["max_tokens"] == 8192
    assert "tools" not in bare


def test_an_invalid_tool_name_is_replaced_and_reported() -> None:
    request = build_request([user("?")], model="claude-test", tools=[ToolSpec("harbour.tide")])
    assert request.payload["tools"][0]["name"] == TOOL_NAME.fit("harbour.tide")
    assert ("$.tools[0].name", "harbour.tide") in [(loss.path, loss.what) for loss in request.losses]


REASONING: Final = ReasoningPart("hm", provider_metadata={"anthropic": {"signature": "c2ln"}})
THINKING: Final[JsonObject] = {"thinking": {"type": "enabled", "budget_tokens": 1024}}

OPEN_STEPS: Final[dict[str, tuple[list[AssistantPart], bool]]] = {
    "with its reasoning": ([REASONING, call()], True),
    "without its reasoning": ([call()], False),
}


@each_row(("parts", "thinks"), OPEN_STEPS.values(), ids=OPEN_STEPS)
def test_thinking_is_disabled_when_an_open_step_has_no_reasoning(
    parts: list[AssistantPart], thinks: bool
) -> None:
    view: list[Message] = [user("?"), assistant(*parts), tool(result())]
    request = build_request(view, model="claude-test", settings=THINKING)
    paths = [loss.path for loss in request.losses]
    assert ("thinking" in request.payload, "$.thinking" not in paths) == (thinks, thinks)


def test_a_finished_step_without_reasoning_keeps_thinking_enabled() -> None:
    view: list[Message] = [user("?"), assistant(call()), tool(result()), assistant("Six."), user("And now?")]
    assert "thinking" in build_request(view, model="claude-test", settings=THINKING).payload


CODE: Final[JsonObject] = {"type": "code_execution_20250825", "toolId": "srvtoolu_1"}

CONTAINERS: Final[dict[str, tuple[ToolCallPart, bool]]] = {
    "code with a pending call": (call(caller=CODE), True),
    "a call of the model": (call(caller={"type": "direct"}), False),
}


@each_row(("part", "named"), CONTAINERS.values(), ids=CONTAINERS)
def test_the_container_is_sent_while_its_code_waits_for_a_result(part: ToolCallPart, named: bool) -> None:
    answer = assistant(part, metadata={"anthropic": {"container": {"id": "container_1"}}})
    payload = build_request([user("?"), answer, tool(result())], model="claude-test").payload
    assert payload.get("container") == ("container_1" if named else None)


def test_a_late_result_stays_in_its_own_message() -> None:
    block: JsonObject = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
    late = CustomPart("anthropic.web_search_tool_result", provider_metadata={"anthropic": block})
    view: list[Message] = [
        user("?"),
        assistant(call(), server_call("s", "web_search", index=1)),
        tool(result()),
        assistant(late),
    ]
    assert turns(*view) == [
        ("user", [text("?")]),
        ("assistant", [use(), use("s", "web_search") | {"type": "server_tool_use"}]),
        ("user", [tool_result()]),
        ("assistant", [block]),
    ]


@each_row("view", [[], [user("")], [tool(result())]], ids=["no message", "only an empty text", "a result"])
def test_an_empty_request_is_an_error(view: list[Message]) -> None:
    with pytest.raises(ConversionError, match="no message to send"):
        AnthropicService("claude-test").build_request(view, "claude-test", (), {})


NAMES: Final = ["tide", "a-b_C9", "", "harbour.tide", "tide:1", "ö", "x" * 129, "\ud83d"]


@each_row("name", NAMES)
def test_names_and_ids_fit_the_api_and_stay_distinct(name: str) -> None:
    assert TOOL_NAME.fit(name).replace("-", "a").replace("_", "a").isalnum()
    assert TOOL_NAME.fit(name).isascii()
    assert len(TOOL_NAME.fit(name)) <= 128
    assert CALL_ID.fit(name).replace("-", "a").replace("_", "a").isalnum()
    assert [other for other in NAMES if TOOL_NAME.fit(other) == TOOL_NAME.fit(name)] == [name]
    assert [other for other in NAMES if CALL_ID.fit(other) == CALL_ID.fit(name)] == [name]


# Properties

NO_TURN: Final[JsonObject] = {"content": []}


@given(view=st.lists(messages(), min_size=1, max_size=4), apart=st.booleans())
def test_any_conversation_is_a_valid_request(view: list[Message], apart: bool) -> None:
    sent: list[JsonObject] = build_request(
        [user("?"), *(expand(view) if apart else view)], model="claude-test"
    ).payload["messages"]
    assert [turn["role"] for turn in sent] == ["user", "assistant", *["user", "assistant"] * len(sent)][
        : len(sent)
    ]
    for turn, following in pairwise([*sent, NO_TURN]):
        calls = [block["id"] for block in turn["content"] if block["type"] == "tool_use"]
        kinds = [block["type"] for block in following["content"]]
        results = [block["tool_use_id"] for block in following["content"] if block["type"] == "tool_result"]
        assert results == list(dict.fromkeys(calls))
        assert kinds[: len(results)] == ["tool_result"] * len(results)
        assert all(block["text"].strip() for block in turn["content"] if block["type"] == "text")
