"""Messages → a Responses request."""

import re
from typing import Final

import pytest

from partita.errors import ConversionError
from partita.formats.format import Dumped, ToolSpec
from partita.formats.model_view import model_view
from partita.formats.openai_responses.stream import ResponsesDecoder
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
    Approval,
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
    ReasoningPart,
    SourceUrlPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolResultPart,
    UrlCitationSource,
)
from tests.decoding import accumulated
from tests.formats.openai_responses_requests import build_request
from tests.formats.openai_responses_samples import function, message, output_text, reasoning, response
from tests.tables import each_row

HELLO: Final = UserMessage(id="u", content="Tide?")


def openai(**fields: Json) -> JsonObject:
    return {"openai": fields}


PART: Final = re.compile(r"\$\[\d+\]\.content\.parts\[\d+\]")


def dropped_parts(dumped: Dumped) -> list[str]:
    """Return the paths of parts that are not sent."""
    return [loss.path for loss in dumped.losses if PART.fullmatch(loss.path)]


def send_step(*parts: AssistantPart, **settings: Json) -> tuple[list[Json], list[str]]:
    """Return the items of a step without added outputs, and the parts that are not sent."""
    view: list[Message] = [HELLO, AssistantMessage(id="a", content=parts)]
    dumped = build_request(view, model="tide-1", settings=settings or None)
    return without_outputs(dumped.payload.get("input", [])[1:]), dropped_parts(dumped)


def without_outputs(items: list[JsonObject]) -> list[Json]:
    return [item for item in items if item.get("type") != "function_call_output"]


def test_a_request_streams_and_is_not_stored() -> None:
    tool = ToolSpec(name="tide", description="Height of the sea", input_schema={"type": "object"})
    view: list[Message] = [SystemMessage(id="s", content="Be brief."), HELLO]
    assert build_request(view, model="tide-1", tools=[tool, ToolSpec(name="moon")]).payload == {
        "model": "tide-1",
        "input": [
            {"role": "system", "content": [{"type": "input_text", "text": "Be brief."}]},
            {"role": "user", "content": [{"type": "input_text", "text": "Tide?"}]},
        ],
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "tools": [
            {
                "type": "function",
                "name": "tide",
                "description": "Height of the sea",
                "parameters": {"type": "object"},
                "strict": False,
            },
            {
                "type": "function",
                "name": "moon",
                "parameters": {"type": "object", "properties": {}},
                "strict": False,
            },
        ],
    }


def test_settings_override_members() -> None:
    settings = {"store": True, "include": None, "temperature": 0, "tools": [{"type": "web_search"}]}
    payload = build_request([HELLO], model="tide-1", tools=[ToolSpec(name="tide")], settings=settings).payload
    assert payload["store"] is True
    assert "include" not in payload
    assert payload["temperature"] == 0
    assert [tool["type"] for tool in payload["tools"]] == ["function", "web_search"]


def test_an_empty_input_is_refused() -> None:
    with pytest.raises(ConversionError, match="no message to send"):
        build_request([], model="tide-1")
    stored = build_request([], model="tide-1", settings={"previous_response_id": "resp_1"}).payload
    assert "input" not in stored


USER_PARTS: Final[dict[str, tuple[UserPart, JsonObject | None]]] = {
    "text": (TextPart("Tide?"), {"type": "input_text", "text": "Tide?"}),
    "an image URL": (
        ImagePart("https://sea.example/a.png"),
        {"type": "input_image", "image_url": "https://sea.example/a.png"},
    ),
    "an inline image with a detail": (
        FilePart("data:image/png;base64,iVBO", "image/png", provider_metadata=openai(imageDetail="low")),
        {"type": "input_image", "image_url": "data:image/png;base64,iVBO", "detail": "low"},
    ),
    "an uploaded image": (
        FilePart("", "image/png", provider_reference={"openai": "file_1"}),
        {"type": "input_image", "file_id": "file_1"},
    ),
    "a file URL": (
        FilePart("https://sea.example/a.pdf", "application/pdf"),
        {"type": "input_file", "file_url": "https://sea.example/a.pdf"},
    ),
    "an inline file": (
        FilePart("data:application/pdf;base64,JVBE", "application/pdf"),
        {"type": "input_file", "filename": "file.pdf", "file_data": "data:application/pdf;base64,JVBE"},
    ),
    "a file with a name": (
        FilePart("data:text/csv;base64,YQ==", "text/csv", "a.csv"),
        {"type": "input_file", "filename": "a.csv", "file_data": "data:text/csv;base64,YQ=="},
    ),
    "an uploaded file": (
        FilePart("", "text/csv", provider_reference={"openai": "file_1"}),
        {"type": "input_file", "file_id": "file_1"},
    ),
    "sound": (
        FilePart("data:audio/mpeg;base64,SUQz", "audio/mpeg"),
        {"type": "input_audio", "input_audio": {"data": "SUQz", "format": "mp3"}},
    ),
    "unsupported audio": (FilePart("data:audio/ogg;base64,T2dn", "audio/ogg"), None),
    "a video": (FilePart("https://sea.example/a.mp4", "video/mp4"), None),
    "a stored file": (FilePart("blob:sha256:00", "application/pdf"), None),
    "a stored image": (ImagePart("blob:sha256:00"), None),
    "data": (DataPart("weather", {"wind": 3}), None),
    "a part of another format": (ForeignPart("moon", {"phase": "full"}), None),
}


@each_row(("part", "expected"), USER_PARTS.values(), ids=USER_PARTS)
def test_user_parts_become_content(part: UserPart, expected: JsonObject | None) -> None:
    view = [UserMessage(id="u", content=[TextPart("Look:"), part])]
    dumped = build_request(view, model="tide-1")
    (item,) = dumped.payload["input"]
    assert item["content"][1:] == ([] if expected is None else [expected])
    assert dropped_parts(dumped) == (["$[0].content.parts[1]"] if expected is None else [])


def test_an_empty_message_is_dropped() -> None:
    view = [HELLO, UserMessage(id="v", content=[DataPart("weather")])]
    assert len(build_request(view, model="tide-1").payload["input"]) == 1


CITED: Final = Citation(UrlCitationSource("s", "https://sea.example/"), 0, 4)
AT: Final = "$[1].content.parts[0]"

ASSISTANT_PARTS: Final[dict[str, tuple[AssistantPart, list[JsonObject], list[str]]]] = {
    "a text of another provider": (
        TextPart("High", provider_metadata={"anthropic": {"x": 1}}),
        [
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "High", "annotations": []}],
            }
        ],
        [],
    ),
    "citations of another provider": (
        TextPart("High", citations=(CITED,)),
        [
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "High", "annotations": []}],
            }
        ],
        [],
    ),
    "an invalid message id": (
        TextPart("High", provider_metadata=openai(itemId="0d-3f")),
        [
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "High", "annotations": []}],
            }
        ],
        [],
    ),
    "reasoning of another provider": (
        ReasoningPart("Moon", provider_metadata={"anthropic": {"signature": "Zg=="}}),
        [],
        [AT],
    ),
    "reasoning without a following item": (
        ReasoningPart("", provider_metadata=openai(itemId="rs_1", reasoningEncryptedContent="Zg==")),
        [],
        [AT],
    ),
    "a function call": (
        ToolCallPart("c", "tide", "input-available", {"port": "Brest"}),
        [{"type": "function_call", "call_id": "c", "name": "tide", "arguments": '{"port":"Brest"}'}],
        [],
    ),
    "a call whose input is not JSON": (
        ToolCallPart(
            "c", "tide", "output-error", raw_input="{a", result_provider_metadata=openai(itemId="fc_1")
        ),
        [{"type": "function_call", "id": "fc_1", "call_id": "c", "name": "tide", "arguments": "{a"}],
        [],
    ),
    "a call with an edited input": (
        ToolCallPart(
            "c", "tide", "input-available", {"a": 2}, call_provider_metadata=openai(rawInput='{"a": 1}')
        ),
        [{"type": "function_call", "call_id": "c", "name": "tide", "arguments": '{"a":2}'}],
        [],
    ),
    "a call executed by another provider": (
        ToolCallPart(
            "c", "web_search", "output-available", {}, output=JsonOutput([]), provider_executed=True
        ),
        [],
        [AT],
    ),
    "a call that waits for approval": (
        ToolCallPart(
            "mcpr_1",
            "tide",
            "approval-requested",
            {},
            approval=Approval("mcpr_1"),
            provider_executed=True,
            call_provider_metadata=openai(itemId="mcpr_1", type="mcp_approval_request"),
        ),
        [],
        [AT],
    ),
    "an approved call": (
        ToolCallPart(
            "mcpr_1",
            "tide",
            "approval-responded",
            {},
            approval=Approval("mcpr_1", True, "fine"),
            provider_executed=True,
            call_provider_metadata=openai(
                itemId="mcpr_1", type="mcp_approval_request", item={"server_label": "sea"}
            ),
        ),
        [
            {
                "type": "mcp_approval_request",
                "id": "mcpr_1",
                "name": "tide",
                "arguments": "{}",
                "server_label": "sea",
            },
            {
                "type": "mcp_approval_response",
                "approval_request_id": "mcpr_1",
                "approve": True,
                "reason": "fine",
            },
        ],
        [],
    ),
    "a custom part of another provider": (
        CustomPart("moon.phase", provider_metadata={"moon": {"phase": "full"}}),
        [],
        [AT],
    ),
    "an image": (ImagePart("https://sea.example/a.png"), [], [AT]),
    "a source": (SourceUrlPart("s", "https://sea.example/"), [], [AT]),
    "data": (DataPart("weather"), [], [AT]),
}


@each_row(("part", "expected", "losses"), ASSISTANT_PARTS.values(), ids=ASSISTANT_PARTS)
def test_assistant_parts_become_items(
    part: AssistantPart, expected: list[JsonObject], losses: list[str]
) -> None:
    assert send_step(part) == (expected, losses)


def test_summaries_of_one_item_are_merged() -> None:
    items, losses = send_step(
        ReasoningPart("Moon", provider_metadata=openai(itemId="rs_1")),
        ReasoningPart("Sun", provider_metadata=openai(itemId="rs_1", reasoningEncryptedContent="Zg==")),
        TextPart("High", provider_metadata=openai(itemId="msg_1")),
    )
    assert items[0] == {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "Moon"}, {"type": "summary_text", "text": "Sun"}],
        "encrypted_content": "Zg==",
    }
    assert not losses


def test_reasoning_without_encrypted_content_is_dropped_and_so_is_the_id_of_the_next_item() -> None:
    parts = (
        ReasoningPart("Moon", provider_metadata=openai(itemId="rs_1", reasoningEncryptedContent=None)),
        TextPart("High", provider_metadata=openai(itemId="msg_1")),
    )
    items, losses = send_step(*parts)
    assert losses == [AT]
    assert [(item["type"], item.get("id")) for item in items] == [("message", None)]
    items, losses = send_step(*parts, store=True)
    assert items[0] == {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "Moon"}],
    }
    assert (items[1]["id"], losses) == ("msg_1", [])


OUTPUTS: Final[dict[str, tuple[ToolOutput, Json, bool]]] = {
    "text": (TextOutput("4 m"), "4 m", False),
    "an empty text": (TextOutput(""), "", False),
    "json": (JsonOutput({"m": 4}), '{"m":4}', True),
    "a text error": (ErrorTextOutput("no sea"), "no sea", True),
    "a JSON error": (ErrorJsonOutput({"code": 5}), '{"code":5}', True),
    "denied": (ExecutionDeniedOutput(), "Tool execution denied.", True),
    "denied with a reason": (ExecutionDeniedOutput("too deep"), "too deep", True),
    "interrupted": (
        InterruptedOutput("timeout"),
        "The tool call was interrupted: it took too long.",
        True,
    ),
    "content": (
        ContentOutput((TextPart("4 m"), ImagePart("https://sea.example/a.png"))),
        [
            {"type": "input_text", "text": "4 m"},
            {"type": "input_image", "image_url": "https://sea.example/a.png"},
        ],
        False,
    ),
    "empty content": (ContentOutput(()), "", True),
    "unsupported content": (ContentOutput((ImagePart("blob:sha256:00"),)), "", True),
}


def send_output(call: ToolCallPart, output: ToolOutput) -> tuple[list[Json], list[str]]:
    """Return the items of an output, and what is lost of it."""
    view: list[Message] = [
        HELLO,
        AssistantMessage(id="a", content=[call]),
        ToolMessage(id="t", content=[ToolResultPart(call.id, call.name, output)]),
    ]
    dumped = build_request(view, model="tide-1")
    paths = [loss.path for loss in dumped.losses if ".output" in loss.path or PART.fullmatch(loss.path)]
    return dumped.payload["input"][2:], paths


@each_row(("output", "expected", "lossy"), OUTPUTS.values(), ids=OUTPUTS)
def test_outputs_of_functions_become_items(output: ToolOutput, expected: Json, lossy: bool) -> None:
    items, losses = send_output(ToolCallPart("c", "tide", "input-available", {}), output)
    assert items == [{"type": "function_call_output", "call_id": "c", "output": expected}]
    assert bool(losses) == lossy


SCREEN: Final = "https://sea.example/screen.png"

BUILT_IN: Final[dict[str, tuple[str, ToolOutput, list[JsonObject]]]] = {
    "a custom tool": (
        "custom_tool_call",
        TextOutput("1"),
        [{"type": "custom_tool_call_output", "call_id": "c", "output": "1"}],
    ),
    "a patch": (
        "apply_patch_call",
        TextOutput("done"),
        [{"type": "apply_patch_call_output", "call_id": "c", "status": "completed", "output": "done"}],
    ),
    "a failed patch": (
        "apply_patch_call",
        ErrorTextOutput("no file"),
        [{"type": "apply_patch_call_output", "call_id": "c", "status": "failed", "output": "no file"}],
    ),
    "a local shell": (
        "local_shell_call",
        TextOutput("a"),
        [{"type": "local_shell_call_output", "call_id": "c", "output": "a"}],
    ),
    "a shell": (
        "shell_call",
        JsonOutput({"output": [{"stdout": "a", "outcome": {"type": "exit", "exitCode": 2}}]}),
        [
            {
                "type": "shell_call_output",
                "call_id": "c",
                "output": [{"stdout": "a", "outcome": {"type": "exit", "exit_code": 2}}],
            }
        ],
    ),
    "a failed shell": (
        "shell_call",
        ErrorTextOutput("no shell"),
        [
            {
                "type": "shell_call_output",
                "call_id": "c",
                "output": [{"stdout": "", "stderr": "no shell", "outcome": {"type": "exit", "exit_code": 1}}],
            }
        ],
    ),
    "found tools": (
        "tool_search_call",
        JsonOutput({"tools": [{"name": "tide"}]}),
        [
            {
                "type": "tool_search_output",
                "call_id": "c",
                "execution": "client",
                "status": "completed",
                "tools": [{"name": "tide"}],
            }
        ],
    ),
    "a screenshot": (
        "computer_call",
        ContentOutput((ImagePart(SCREEN),)),
        [
            {
                "type": "computer_call_output",
                "call_id": "c",
                "output": {"type": "computer_screenshot", "image_url": SCREEN},
            }
        ],
    ),
    "no screenshot": ("computer_call", TextOutput("dark"), []),
}


@each_row(("kind", "output", "expected"), BUILT_IN.values(), ids=BUILT_IN)
def test_outputs_of_built_in_tools_become_items(
    kind: str, output: ToolOutput, expected: list[JsonObject]
) -> None:
    metadata = openai(itemId="item_1", type=kind)
    call = ToolCallPart("c", "tool", "input-available", {}, call_provider_metadata=metadata)
    items, losses = send_output(call, output)
    assert items == expected
    assert expected or losses


def test_a_long_id_is_shortened_the_same_in_call_and_output() -> None:
    call = ToolCallPart("c" * 65, "tide", "input-available", {})
    view: list[Message] = [
        HELLO,
        AssistantMessage(id="a", content=[call]),
        ToolMessage(id="t", content=[ToolResultPart(call.id, "tide", TextOutput("4"))]),
    ]
    _, call_item, answer = build_request(view, model="tide-1").payload["input"]
    assert call_item["call_id"] == answer["call_id"]
    assert len(call_item["call_id"]) <= 64


def test_an_output_without_its_call_is_dropped() -> None:
    view: list[Message] = [HELLO, ToolMessage(id="t", content=[ToolResultPart("c", "tide", TextOutput("4"))])]
    dumped = build_request(view, model="tide-1")
    assert len(dumped.payload["input"]) == 1
    assert dropped_parts(dumped) == ["$[1].content.parts[0]"]


RESPONSE_ITEMS: Final[list[JsonObject]] = [
    {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "sea", "tools": [{"name": "tide"}]},
    reasoning("Moon", "Sun", encrypted_content="gAAA/+=="),
    {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "t"},
    },
    {
        "type": "file_search_call",
        "id": "fs_1",
        "status": "completed",
        "queries": ["tide"],
        "results": [{"file_id": "file_1", "filename": "a.pdf", "score": 0.5, "text": "low"}],
    },
    {
        "type": "code_interpreter_call",
        "id": "ci_1",
        "status": "completed",
        "code": "print(1)",
        "container_id": "cntr_1",
        "outputs": [{"type": "logs", "logs": "1"}],
    },
    {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "iVBO", "size": "1x1"},
    {
        "type": "mcp_call",
        "id": "mcp_1",
        "name": "tide",
        "arguments": '{ "port": "Brest" }',
        "server_label": "sea",
        "output": "4 m",
    },
    {"type": "mcp_call", "id": "mcp_2", "name": "tide", "arguments": "{}", "error": {"message": "no sea"}},
    {"type": "tool_search_call", "id": "tsc_1", "execution": "server", "arguments": {"paths": ["sea"]}},
    {"type": "tool_search_output", "id": "tso_1", "execution": "server", "tools": [{"name": "tide"}]},
    {
        "type": "shell_call",
        "id": "sh_1",
        "call_id": "call_8",
        "action": {"commands": ["ls"]},
        "environment": {"type": "container_reference", "container_id": "cntr_1"},
    },
    {
        "type": "shell_call_output",
        "id": "sho_1",
        "call_id": "call_8",
        "output": [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
    },
    {"type": "program", "id": "cm_1", "call_id": "call_9", "code": "tide()", "fingerprint": "gAAAB=="},
    {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAC=="},
    {"type": "moon_call", "id": "mo_1", "phase": "full"},
    message(
        output_text(
            "High", {"type": "url_citation", "url": "https://sea.example/", "start_index": 0, "end_index": 4}
        ),
        {"type": "refusal", "refusal": "No."},
        phase="final_answer",
    ),
    reasoning(id="rs_2", content=[{"type": "reasoning_text", "text": "raw"}]),
    function(
        '{"port": "Brest"}', namespace="sea", caller={"type": "program", "caller_id": "call_9"}, mood="calm"
    ),
    {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_2", "name": "sql", "input": "select 1"},
    {
        "type": "apply_patch_call",
        "id": "apc_1",
        "status": "completed",
        "call_id": "call_3",
        "operation": {"type": "delete_file", "path": "a.md"},
    },
    {
        "type": "local_shell_call",
        "id": "lsh_1",
        "status": "completed",
        "call_id": "call_4",
        "action": {"type": "exec", "command": ["ls"]},
    },
    {"type": "computer_call", "id": "cu_1", "call_id": "call_5", "action": {"type": "click"}},
    {
        "type": "tool_search_call",
        "id": "tsc_2",
        "call_id": "call_6",
        "execution": "client",
        "arguments": {"goal": "tide"},
    },
]


def test_a_response_round_trips() -> None:
    answer = accumulated(ResponsesDecoder().read_body(response(*RESPONSE_ITEMS)))
    view = model_view([HELLO, answer]).messages
    dumped = build_request(view[:2], model="tide-1")
    sent = [item for item in dumped.payload["input"][1:] if "id" in item]  # added outputs have no id
    assert without_nulls(sent) == RESPONSE_ITEMS
    assert not dropped_parts(dumped)


def without_nulls(items: list[JsonObject]) -> list[Json]:
    """Return the items without members that are null."""
    return [{name: value for name, value in item.items() if value is not None} for item in items]


def test_arguments_that_are_not_json_are_sent_back_unchanged() -> None:
    answer = accumulated(ResponsesDecoder().read_body(response(function("{a"))))
    view = model_view([HELLO, answer]).messages
    _, call_item, output_item = build_request(view, model="tide-1").payload["input"]
    assert (call_item["id"], call_item["arguments"]) == ("fc_1", "{a")
    assert output_item["call_id"] == call_item["call_id"]


def test_the_runtime_sends_valid_names() -> None:
    call = ToolCallPart("c", "sea.tide", "output-available", {}, output=TextOutput("4"))
    view: list[Message] = [HELLO, AssistantMessage(id="a", content=[call])]
    payload = build_request(view, model="tide-1", tools=[ToolSpec(name="sea.tide")]).payload
    assert payload["input"][1]["name"] == payload["tools"][0]["name"]
    assert re.fullmatch("[A-Za-z0-9_-]{1,64}", payload["tools"][0]["name"])


def test_a_request_of_stored_messages_equals_that_of_their_model_view() -> None:
    call = ToolCallPart("c", "tide", "output-available", {}, output=TextOutput("4"))
    messages: list[Message] = [HELLO, AssistantMessage(id="a", content=[call, TextPart("4 m")])]
    built = build_request(messages, model="tide-1").payload
    assert built == build_request(model_view(messages).messages, model="tide-1").payload
