"""Requests to servers with the Chat Completions API, by dialect, and their losses."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from partita.formats.conversion import convert
from partita.formats.core.rules import INSTRUCTIONS_FIRST
from partita.formats.core.tool_text import UNANSWERED
from partita.formats.format import Dumped, Request, ToolSpec
from partita.formats.losses import JOINED, NO_CALL, ORDERED, RENAMED, REQUIRED, content_losses
from partita.formats.openai_chat.dialects import DIALECTS, GENERIC, OPENAI, Dialect
from partita.formats.openai_chat.format import ACCEPTED_FILES, BRIDGE, EARLIER_TURN, dump
from partita.formats.openai_chat.stream import ChatDecoder
from partita.formats.registry import get_format
from partita.runtime.adapters.agent_request import AgentRequest
from partita.runtime.service import InvokeOptions
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
)
from tests.decoding import accumulated
from tests.formats.openai_chat_samples import call_delta, decoded, record
from tests.tables import each_row

AS_TEXT = "a result is text"
NOT_SENT_BACK = "reasoning is sent back only to the server that it is from, if that wants it"
NOT_JSON = "arguments are JSON"
LOST = f"The tool call was interrupted: its process went away. {UNANSWERED}"
PIXEL = "data:image/png;base64,iVBORw=="
PAGE = "data:application/pdf;base64,JVBERi0="
SOUND = "data:audio/mpeg;base64,SUQz"


def user(*parts: UserPart | str) -> UserMessage:
    content = [TextPart(part) if isinstance(part, str) else part for part in parts]
    return UserMessage(id="u", content=content)


def assistant(*parts: AssistantPart | str) -> AssistantMessage:
    content = [TextPart(part) if isinstance(part, str) else part for part in parts]
    return AssistantMessage(id="a", content=content)


def system(text: str) -> SystemMessage:
    return SystemMessage(id="s", content=text)


def call_part(call_id: str, given: Json = None, name: str = "find", **facts: Any) -> ToolCallPart:
    return ToolCallPart(call_id, name, "input-available", given or {}, call_provider_metadata=facts or None)


def results(*outputs: tuple[str, ToolOutput]) -> ToolMessage:
    return ToolMessage(
        id="t", content=[ToolResultPart(call_id, "find", output) for call_id, output in outputs]
    )


def build_request(
    view: Sequence[Message],
    *,
    tools: Sequence[ToolSpec] = (),
    settings: JsonObject | None = None,
    dialect: Dialect = OPENAI,
) -> Dumped:
    """Return a request as the service of a provider builds it, with the losses that it reports."""
    dumped = dump(view, Request(tuple(tools), {"model": "m", **(settings or {})}), dialect=dialect)
    return Dumped(dumped.payload, lambda: content_losses(dumped.losses))


def built(*view: Message, dialect: Dialect = OPENAI) -> Dumped:
    return build_request(view, dialect=dialect)


def messages(*view: Message, dialect: Dialect = OPENAI) -> list[JsonObject]:
    sent: list[JsonObject] = built(*view, dialect=dialect).payload["messages"]
    return sent


def reasons(*view: Message, dialect: Dialect = OPENAI) -> list[tuple[str, str]]:
    return [(loss.path, loss.why) for loss in built(*view, dialect=dialect).losses]


def test_the_body_of_a_request() -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    tools = [ToolSpec(name="find", description="Finds.", input_schema=schema), ToolSpec(name="now")]
    dumped = build_request(
        [user("Hi")], tools=tools, settings={"temperature": 0, "max_tokens": 9, "stop": ["."]}
    )
    assert [(loss.path, loss.severity) for loss in dumped.losses] == [("$.tools[1].inputSchema", "repaired")]
    assert dumped.payload == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}],
        "temperature": 0,
        "max_completion_tokens": 9,
        "stop": ["."],
        "tools": [
            {
                "type": "function",
                "function": {"name": "find", "description": "Finds.", "parameters": schema},
            },
            {
                "type": "function",
                "function": {"name": "now", "parameters": {"type": "object", "properties": {}}},
            },
        ],
    }


def test_settings_override_members_and_their_tools_are_added() -> None:
    own = {"type": "custom", "custom": {"name": "sql"}}
    payload = build_request(
        [user("Hi")],
        tools=[ToolSpec(name="now")],
        settings={"model": "n", "stream": False, "tools": [own]},
    ).payload
    assert (payload["model"], payload["stream"]) == ("n", False)
    assert [tool["type"] for tool in payload["tools"]] == ["function", "custom"]


def test_an_invalid_tool_name_is_replaced_in_tools_and_calls() -> None:
    view: list[Message] = [
        user("Hi"),
        assistant(call_part("a", name="my tool")),
        results(("a", TextOutput("x"))),
    ]
    schema = {"type": "object"}
    dumped = build_request(view, tools=[ToolSpec(name="my tool", input_schema=schema)])
    name = dumped.payload["tools"][0]["function"]["name"]
    assert name.startswith("my_tool_")
    assert dumped.payload["messages"][1]["tool_calls"][0]["function"]["name"] == name
    assert [loss.path for loss in dumped.losses] == ["$.tools[0].name", "$[1].content.parts[0].name"]


SYSTEMS: dict[str, tuple[Dialect, list[JsonObject], list[str]]] = {
    "in place, as developer messages": (
        OPENAI,
        [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
            {"role": "developer", "content": "Be kind."},
        ],
        [],
    ),
    "joined, at the start": (
        GENERIC,
        [{"role": "system", "content": "Be brief.\n\nBe kind."}, {"role": "user", "content": "Hi"}],
        [INSTRUCTIONS_FIRST, JOINED],
    ),
}


@each_row(("dialect", "sent", "lost"), SYSTEMS.values(), ids=SYSTEMS)
def test_system_messages_are_written_as_the_server_requires(
    dialect: Dialect, sent: list[JsonObject], lost: list[str]
) -> None:
    view: list[Message] = [system("Be brief."), user("Hi"), system("Be kind.")]
    assert messages(*view, dialect=dialect) == sent
    assert [why for _, why in reasons(*view, dialect=dialect)] == lost


ITEMS: dict[str, tuple[UserPart, Json]] = {
    "an image URL": (
        ImagePart("https://x.test/a.png", provider_metadata={"openai": {"imageDetail": "low"}}),
        {"type": "image_url", "image_url": {"url": "https://x.test/a.png", "detail": "low"}},
    ),
    "an image": (ImagePart(PIXEL), {"type": "image_url", "image_url": {"url": PIXEL}}),
    "an image file": (
        FilePart(PIXEL, "image/png"),
        {"type": "image_url", "image_url": {"url": PIXEL}},
    ),
    "a pdf": (
        FilePart(PAGE, "application/pdf", "a.pdf"),
        {"type": "file", "file": {"filename": "a.pdf", "file_data": PAGE}},
    ),
    "an uploaded file": (
        FilePart("https://x.test", "application/pdf", provider_reference={"openai": "file-1"}),
        {"type": "file", "file": {"file_id": "file-1"}},
    ),
    "audio": (
        FilePart(SOUND, "audio/mpeg"),
        {"type": "input_audio", "input_audio": {"data": "SUQz", "format": "mp3"}},
    ),
    "a text": (
        FilePart("data:text/plain,a%20b", "text/plain", "a.txt"),
        {"type": "text", "text": "a.txt:\na b"},
    ),
}


@each_row(("part", "item"), ITEMS.values(), ids=ITEMS)
def test_user_parts_become_content_items(part: UserPart, item: Json) -> None:
    sent = messages(user(ImagePart(PIXEL), part, "Look."))[0]["content"]
    assert sent[1:] == [item, {"type": "text", "text": "Look."}]
    lost = [loss.path for loss in built(user(part, "Look.")).losses if loss.severity == "lost"]
    assert "$[0].content.parts[0]" not in lost


REFUSED: dict[str, tuple[UserPart, str]] = {
    "a PDF URL": (
        FilePart("https://x.test", "application/pdf"),
        ACCEPTED_FILES,
    ),
    "a video": (
        FilePart("data:video/mp4;base64,AAAA", "video/mp4"),
        ACCEPTED_FILES,
    ),
    "invalid base64": (ImagePart("data:image/png;base64,?"), ACCEPTED_FILES),
    "a stored file": (ImagePart("blob:sha256:00"), ACCEPTED_FILES),
    "an unsupported URL scheme": (ImagePart("ftp://x"), ACCEPTED_FILES),
    "data": (DataPart(name="n", data=1), "it is not for the model"),
    "a part of another format": (ForeignPart("f", {}), "it is content of another format"),
}


@each_row(("part", "why"), REFUSED.values(), ids=REFUSED)
def test_unsupported_user_parts_are_reported(part: UserPart, why: str) -> None:
    view = user("Look.", part)
    assert messages(view) == [{"role": "user", "content": "Look."}]
    assert reasons(view) == [("$[0].content.parts[1]", why)]


def test_a_server_that_fetches_files_gets_their_url() -> None:
    (sent,) = messages(
        user(FilePart("https://x.test/a.pdf?v=1", "application/pdf")), dialect=DIALECTS["openrouter"]
    )
    assert sent["content"] == [
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "https://x.test/a.pdf?v=1"}}
    ]


def test_several_texts_are_a_list_or_one_text() -> None:
    view = user("a", "b")
    assert messages(view)[0]["content"] == [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert messages(view, dialect=GENERIC)[0]["content"] == "a\nb"
    assert reasons(view, dialect=GENERIC) == [("$[0]", "neighbouring texts or messages are joined")]


OUTPUTS: dict[str, tuple[ToolOutput, Json, list[str]]] = {
    "text": (TextOutput(""), "", []),
    "json": (JsonOutput({"a": [1]}), '{"a":[1]}', [AS_TEXT]),
    "an error": (ErrorTextOutput("no"), "no", [AS_TEXT]),
    "an error in json": (ErrorJsonOutput({"e": 1}), '{"e":1}', [AS_TEXT]),
    "denied": (ExecutionDeniedOutput(), "Tool execution denied.", [AS_TEXT]),
    "denied with a reason": (ExecutionDeniedOutput("not now"), "not now", [AS_TEXT]),
    "interrupted": (
        InterruptedOutput("timeout", "10 s"),
        "The tool call was interrupted: it took too long. 10 s",
        [AS_TEXT],
    ),
    "content": (
        ContentOutput((TextPart("a"), TextPart("b"))),
        [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        [],
    ),
    "unknown content": (
        ContentOutput((TextPart("a"), ForeignPart("f", 1))),
        "a",
        [AS_TEXT],
    ),
}


@each_row(("output", "content", "lost"), OUTPUTS.values(), ids=OUTPUTS)
def test_outputs_become_tool_messages(output: ToolOutput, content: Json, lost: list[str]) -> None:
    view: list[Message] = [user("Hi"), assistant(call_part("a")), results(("a", output))]
    assert messages(*view)[2] == {"role": "tool", "tool_call_id": "a", "content": content}
    assert [why for _, why in reasons(*view)] == lost


def test_images_of_results_follow_all_results() -> None:
    seen = ContentOutput((TextPart("Seen."), ImagePart(PIXEL)))
    view: list[Message] = [
        user("Hi"),
        assistant(call_part("a"), call_part("b")),
        results(("a", seen), ("b", TextOutput("x"))),
    ]
    assert messages(*view)[2:] == [
        {"role": "tool", "tool_call_id": "a", "content": "Seen."},
        {"role": "tool", "tool_call_id": "b", "content": "x"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Content of the result of find (a):"},
                {"type": "image_url", "image_url": {"url": PIXEL}},
            ],
        },
    ]
    assert [(loss.path, loss.severity) for loss in built(*view).losses] == [
        ("$[1].content.parts[0].output.value[1]", "repaired"),
        ("$[1].content.parts[0].output", "changed"),
    ]


def test_results_follow_their_calls_in_order_and_missing_ones_are_added() -> None:
    view: list[Message] = [
        assistant(call_part("a"), call_part("b")),
        results(("x", TextOutput("whose?")), ("b", TextOutput("2"))),
        user("Go on."),
    ]
    assert messages(*view)[1:] == [
        {"role": "tool", "tool_call_id": "a", "content": LOST},
        {"role": "tool", "tool_call_id": "b", "content": "2"},
        {"role": "user", "content": "Go on."},
    ]
    assert reasons(*view) == [
        ("$[1]", NO_CALL),
        ("$[0].content.parts[0].output", UNANSWERED),
    ]


def test_a_message_with_text_and_calls() -> None:
    (sent,) = messages(assistant("Let me see.", call_part("a", {"q": 1})))[:1]
    assert sent == {
        "role": "assistant",
        "content": "Let me see.",
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "find", "arguments": '{"q":1}'}}],
    }


def test_only_messages_with_calls_have_no_content() -> None:
    refusal = TextPart("No.", provider_metadata={"openai": {"refusal": True}})
    assert messages(assistant(call_part("a")))[0]["content"] is None
    assert messages(assistant(refusal)) == [{"role": "assistant", "content": "", "refusal": "No."}]


INPUTS: dict[str, tuple[ToolCallPart, str, list[str]]] = {
    "the original text": (call_part("a", {"q": 1}, openai={"rawInput": '{ "q": 1 }'}), '{ "q": 1 }', []),
    "not the text of another provider": (
        call_part("a", {"q": 1}, other={"rawInput": '{ "q": 1 }'}),
        '{"q":1}',
        [],
    ),
    "an empty text": (call_part("a", openai={"rawInput": ""}), "{}", []),
    "text that is not JSON": (
        ToolCallPart("a", "find", "output-error", '{"q":'),
        '{"input":"{\\"q\\":"}',
        [NOT_JSON],
    ),
    "nothing": (ToolCallPart("a", "find", "input-available"), "{}", [REQUIRED]),
}


@each_row(("part", "arguments", "lost"), INPUTS.values(), ids=INPUTS)
def test_the_input_of_a_call_is_written_as_text(part: ToolCallPart, arguments: str, lost: list[str]) -> None:
    view = assistant(part)
    assert messages(view)[0]["tool_calls"][0]["function"]["arguments"] == arguments
    assert [why for _, why in reasons(view)] == [UNANSWERED, *lost]


NOT_SENT: dict[str, tuple[AssistantPart, str]] = {
    "a source": (SourceUrlPart("s", "https://x.test"), "it is not for the model"),
    "a file": (FilePart(PIXEL, "image/png"), ACCEPTED_FILES),
    "a call that a server executed": (
        ToolCallPart("s", "search", "output-available", {}, provider_executed=True),
        "the API has no place for calls that a server ran",
    ),
    "content of another provider": (CustomPart("x.y"), "the format has no place for it"),
    "reasoning": (
        ReasoningPart("hm"),
        NOT_SENT_BACK,
    ),
}


@each_row(("part", "why"), NOT_SENT.values(), ids=NOT_SENT)
def test_unsupported_assistant_parts_are_reported(part: AssistantPart, why: str) -> None:
    view = assistant("Hi", part)
    assert messages(view) == [{"role": "assistant", "content": "Hi"}]
    assert reasons(view) == [("$[0].content.parts[1]", why)]


def test_texts_of_a_message_are_joined_and_their_order_is_reported() -> None:
    view = assistant("a", call_part("x"), "b")
    assert messages(view)[0]["content"] == "ab"
    assert [why for _, why in reasons(view)] == [
        UNANSWERED,
        JOINED,
        ORDERED,
    ]


def reasoning(namespace: str, **facts: Any) -> ReasoningPart:
    return ReasoningPart("hm", provider_metadata={namespace: {"field": "reasoning", **facts}})


DETAILS = [{"type": "reasoning.encrypted", "data": "b1ob"}]

REASONING: dict[str, tuple[str, ReasoningPart, JsonObject]] = {
    "deepseek": ("deepseek", reasoning("deepseek"), {"content": "Yes", "reasoning_content": "hm"}),
    "groq": ("groq", reasoning("groq"), {"content": "Yes", "reasoning": "hm"}),
    "ollama": ("ollama", reasoning("ollama"), {"content": "Yes", "reasoning": "hm"}),
    "vllm": ("vllm", reasoning("vllm"), {"content": "Yes", "reasoning": "hm"}),
    "openrouter": ("openrouter", reasoning("openrouter"), {"content": "Yes", "reasoning": "hm"}),
    "openrouter with details": (
        "openrouter",
        reasoning("openrouter", reasoning_details=DETAILS),
        {"content": "Yes", "reasoning_details": DETAILS},
    ),
    "mistral": (
        "mistral",
        reasoning("mistral", signature="s1g"),
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "signature": "s1g"},
                {"type": "text", "text": "Yes"},
            ]
        },
    ),
}


@each_row(("name", "part", "expected"), REASONING.values(), ids=REASONING)
def test_reasoning_is_sent_back_in_the_member_of_its_server(
    name: str, part: ReasoningPart, expected: JsonObject
) -> None:
    assert messages(user("Hi"), assistant(part, "Yes"), dialect=DIALECTS[name])[1:] == [
        {"role": "assistant", **expected}
    ]


@each_row("name", DIALECTS)
def test_reasoning_of_other_providers_is_never_sent(name: str) -> None:
    part = reasoning("anthropic", signature="s1g", reasoning_details=DETAILS)
    dumped = built(user("Hi"), assistant(part, "Yes"), dialect=DIALECTS[name])
    assert "s1g" not in str(dumped.payload)
    assert "hm" not in str(dumped.payload)
    assert [loss.path for loss in dumped.losses if loss.severity == "lost"] == ["$[1].content.parts[0]"]


def test_reasoning_of_an_earlier_turn_is_sent_only_to_servers_that_require_it() -> None:
    groq, deepseek = (
        messages(assistant(reasoning(name), "Yes"), user("Go on."), dialect=DIALECTS[name])[0]
        for name in ("groq", "deepseek")
    )
    assert groq == {"role": "assistant", "content": "Yes"}
    assert deepseek["reasoning_content"] == "hm"


def test_deepseek_gets_empty_reasoning_if_there_is_none() -> None:
    assert messages(assistant("Yes"), dialect=DIALECTS["deepseek"])[0]["reasoning_content"] == ""
    first = replace(DIALECTS["deepseek"], reasoning=None)
    assert "reasoning_content" not in messages(assistant("Yes"), dialect=first)[0]


def test_mistral_gets_ids_of_nine_characters_and_no_user_message_after_a_tool_message() -> None:
    view: list[Message] = [
        assistant(call_part("call_1"), call_part("abcdefgh9")),
        results(("call_1", TextOutput("x"))),
        user("Go on."),
    ]
    dumped = built(*view, dialect=DIALECTS["mistral"])
    answer, first, second, bridge, last = dumped.payload["messages"]
    ids = [call["id"] for call in answer["tool_calls"]]
    assert [first["tool_call_id"], second["tool_call_id"]] == ids
    assert re.fullmatch("[a-z0-9]{9}", ids[0])
    assert ids[1] == "abcdefgh9"
    assert bridge == {"role": "assistant", "content": BRIDGE}
    assert last["role"] == "user"
    assert "stream_options" not in dumped.payload
    assert [(loss.why, loss.severity) for loss in dumped.losses] == [
        (UNANSWERED, "repaired"),
        (REQUIRED, "repaired"),
        (RENAMED, "repaired"),
    ]


THOUGHT = {"type": "reasoning.text", "index": 0}
SIGNED = {"google": {"thought_signature": "s/1+g="}}
SQL = {"name": "sql", "input": "select 1"}

SENT_BACK: dict[str, tuple[str, list[Json], JsonObject]] = {
    "details of OpenRouter": (
        "openrouter",
        [
            record({"reasoning": "h", "reasoning_details": [{**THOUGHT, "text": "h"}]}),
            record({"reasoning": "m", "reasoning_details": [{**THOUGHT, "text": "m"}]}),
            record({"reasoning_details": [{**THOUGHT, "signature": "s/1+g="}]}),
            record({"reasoning_details": [{"type": "reasoning.encrypted", "data": "b/1+b=", "index": 1}]}),
            record({"content": "Yes"}, finish="stop"),
        ],
        {
            "content": "Yes",
            "reasoning_details": [
                {"type": "reasoning.text", "text": "hm", "index": 0, "signature": "s/1+g="},
                {"type": "reasoning.encrypted", "data": "b/1+b=", "index": 1},
            ],
        },
    ),
    "a signature of Gemini on a call": (
        "openai",
        [
            record(
                {"tool_calls": [call_delta(0, '{ "q" : 1 }', id="a", name="find", extra_content=SIGNED)]},
                finish="tool_calls",
            )
        ],
        {
            "content": None,
            "tool_calls": [
                {
                    "id": "a",
                    "type": "function",
                    "function": {"name": "find", "arguments": '{ "q" : 1 }'},
                    "extra_content": SIGNED,
                }
            ],
        },
    ),
    "a signature of Gemini on a message": (
        "openai",
        [record({"content": "Yes", "extra_content": SIGNED}, finish="stop")],
        {"content": "Yes", "extra_content": SIGNED},
    ),
    "a signature of Mistral": (
        "mistral",
        [
            record({"content": [{"type": "thinking", "thinking": "hm", "signature": "s/1+g="}]}),
            record({"content": "Yes"}, finish="stop"),
        ],
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "signature": "s/1+g="},
                {"type": "text", "text": "Yes"},
            ]
        },
    ),
    "a custom call": (
        "openai",
        [record({"tool_calls": [{"index": 0, "id": "a", "custom": SQL}]}, finish="tool_calls")],
        {"content": None, "tool_calls": [{"id": "a", "type": "custom", "custom": SQL}]},
    ),
    "a legacy function call": (
        "openai",
        [record({"function_call": {"name": "find", "arguments": "{ }"}}, finish="function_call")],
        {"content": None, "function_call": {"name": "find", "arguments": "{ }"}},
    ),
}


@each_row(("name", "records", "expected"), SENT_BACK.values(), ids=SENT_BACK)
def test_streamed_responses_are_sent_back_unchanged(
    name: str, records: list[Json], expected: JsonObject
) -> None:
    answer = accumulated(decoded(records, DIALECTS[name].namespace))
    sent = messages(user("Hi"), answer, dialect=DIALECTS[name])
    assert sent[1] == {"role": "assistant", **expected}


def test_reasoning_details_of_a_body_are_sent_back_unchanged() -> None:
    details = [
        {"type": "reasoning.summary", "summary": "a", "id": None},
        {"type": "reasoning.summary", "summary": "b", "id": None},
    ]
    message = {"role": "assistant", "content": "Yes", "reasoning": "ab", "reasoning_details": details}
    body = {"choices": [{"message": message, "finish_reason": "stop"}]}
    answer = accumulated(ChatDecoder("openrouter").read_body(body))
    assert messages(answer, dialect=DIALECTS["openrouter"])[0]["reasoning_details"] == details


LOOK = {"id": "a", "type": "function", "function": {"name": "find", "arguments": "{}"}}
EARLIER = "It rains."
"""The reasoning of a finished turn."""


@each_row("server", ["groq", "ollama", "vllm"])
def test_reasoning_of_an_earlier_turn_is_dropped_by_convert_and_by_agents(server: str) -> None:
    """Earlier versions applied the rule only to requests of a service."""
    payload = {
        "model": "m",
        "messages": [
            {"role": "user", "content": "Does it rain?"},
            {"role": "assistant", "content": "Yes.", "reasoning": EARLIER},
            {"role": "user", "content": "Still?"},
            {"role": "assistant", "content": None, "reasoning": "Look again.", "tool_calls": [LOOK]},
            {"role": "tool", "tool_call_id": "a", "content": "dry"},
        ],
    }
    name = f"openai-chat-{server}"
    converted = convert(payload, name, name)
    history = convert(payload, name, "canonical")
    load = get_format(name).load
    assert load is not None
    asked = AgentRequest(messages=load(payload).messages, options=InvokeOptions())
    for sent in (converted.payload, asked.to(name)):
        assert [one.get("reasoning") for one in sent["messages"]] == [None, None, None, "Look again.", None]
    assert [(loss.path, loss.why) for loss in converted.losses] == [
        ("messages[1].content.parts[0]", EARLIER_TURN)
    ]
    assert EARLIER in str(history.payload)
    assert [loss.path for loss in history.losses] == ["$.model"]


def test_dumps_of_the_openai_package_round_trip() -> None:
    from openai.types.chat import ChatCompletion

    call = {"id": "a", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    choice = {
        "index": 0,
        "finish_reason": "tool_calls",
        "logprobs": None,
        "message": {"role": "assistant", "content": None, "tool_calls": [call]},
    }
    body = ChatCompletion.model_validate(
        {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    )
    dumped = body.choices[0].message.model_dump()
    assert dumped["refusal"] is None
    assert dumped["annotations"] is None
    payload = {
        "messages": [
            {"role": "user", "content": "Hi"},
            {**dumped, "annotations": []},
            {"role": "tool", "tool_call_id": "a", "content": "x"},
            {**dumped, "content": "Found.", "tool_calls": None},
        ]
    }
    again = convert(payload, "openai-chat", "openai-chat")
    assert again.payload == payload
    assert again.losses == ()
    whole = convert(body.model_dump(), "openai-chat-response", "openai-chat-response")
    assert whole.payload == body.model_dump()
    assert whole.losses == ()
