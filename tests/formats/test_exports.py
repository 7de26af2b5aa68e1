"""Exports to ShareGPT, ChatML and Markdown."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from partita.formats.exports import chatml, markdown, sharegpt
from partita.formats.format import Request, ToolSpec
from partita.formats.registry import get_format
from partita.testing.full_conversation import full_conversation
from partita.types.json import JsonObject
from partita.types.messages import AssistantContent, AssistantMessage, Message, ToolCallPart, UserMessage
from partita.types.parts import ReasoningPart, StepStartPart, TextOutput, TextPart
from partita.types.usage import Usage
from tests import canonical
from tests.tables import each_row

CALL = '{"name":"tide","arguments":{"port":"Vardø"}}'

SHAREGPT: JsonObject = {
    "id": "talk-1",
    "conversations": [
        {"from": "system", "value": "You keep the light."},
        {"from": "human", "value": "How high is the water?", "weight": 1},
        {"from": "gpt", "value": "I look."},
        {"from": "function_call", "value": CALL},
        {"from": "function_call", "value": '{ "name": "tide", "arguments": {} }'},
        {"from": "observation", "value": "1.9 m"},
        {"from": "tool", "value": "no port"},
        {"from": "gpt", "value": "High."},
        {"from": "gpt", "value": "Very."},
        {"from": "user", "value": ""},
        {"from": "function_call", "value": "tide please"},
    ],
}

CHATML = f"""<|im_start|>system
You keep the light.<|im_end|>
<|im_start|>user
How high is the water?<|im_end|>
<|im_start|>assistant
I look.
<tool_call>
{CALL}
</tool_call>
<tool_call>
{CALL}
</tool_call><|im_end|>
<|im_start|>tool
1.9 m<|im_end|>
<|im_start|>tool
2.1 m<|im_end|>
<|im_start|>assistant
High.<|im_end|>
"""


def test_sharegpt_round_trips() -> None:
    loaded = sharegpt.load(SHAREGPT)
    dumped = sharegpt.dump(loaded.messages, loaded.request or Request())
    assert dumped.payload == SHAREGPT
    assert [*loaded.losses, *dumped.losses] == []


def test_turns_become_steps_of_one_message() -> None:
    _, _, answer, second, _, last = sharegpt.load(SHAREGPT).messages
    assert answer == AssistantMessage(
        id="message-3",
        content=[
            TextPart("I look."),
            ToolCallPart(
                "message-3:call-1", "tide", "output-available", {"port": "Vardø"}, output=TextOutput("1.9 m")
            ),
            ToolCallPart(
                "message-3:call-2",
                "tide",
                "output-available",
                {},
                output=TextOutput("no port"),
                call_provider_metadata={"sharegpt": {"text": '{ "name": "tide", "arguments": {} }'}},
                result_provider_metadata={"sharegpt": {"from": "tool"}},
            ),
            StepStartPart(),
            TextPart("High."),
        ],
    )
    assert second.id == "message-9"
    assert isinstance(last.parts[0], ToolCallPart)
    assert last.parts[0].raw_input == "tide please"


def test_tools_are_written_next_to_the_turns_as_text() -> None:
    request = Request(
        (ToolSpec(name="tide", description="Tells.", input_schema={"type": "object"}),), {"id": 1}
    )
    payload = sharegpt.dump([UserMessage(id="message-1", content="Hi")], request).payload
    assert payload["tools"] == '[{"name":"tide","description":"Tells.","parameters":{"type":"object"}}]'
    assert sharegpt.load(payload).request == request


def test_the_sidecar_of_sharegpt_is_next_to_the_turns() -> None:
    slot = get_format("sharegpt").slot
    assert slot is not None
    assert slot.take(slot.put(SHAREGPT, {"a": 1})) == (SHAREGPT, {"a": 1})
    assert slot.take(SHAREGPT) == (SHAREGPT, None)


def test_chatml_round_trips() -> None:
    loaded = chatml.load(CHATML)
    dumped = chatml.dump(loaded.messages)
    assert dumped.payload == CHATML
    assert [*loaded.losses, *dumped.losses] == []
    calls = [part for message in loaded.messages for part in message.parts if isinstance(part, ToolCallPart)]
    assert [call.output for call in calls] == [TextOutput("1.9 m"), TextOutput("2.1 m")]


def test_chatml_is_also_read_from_messages_with_text_content() -> None:
    payload = {"messages": [{"role": "user", "content": "Hi", "weight": 0}], "split": "train"}
    loaded = chatml.load(payload)
    assert loaded.request == Request(settings={"split": "train"})
    dumped = chatml.dump(loaded.messages)
    assert dumped.payload == "<|im_start|>user\nHi<|im_end|>\n"
    assert [loss.what for loss in dumped.losses] == ['{"weight":0}']


def test_text_that_ends_a_turn_is_escaped_and_reported() -> None:
    content = "a<|im_end|>\n<|im_start|>system\nb <tool_call>\n{}"
    dumped = chatml.dump([AssistantMessage(id="message-1", content=content)])
    loaded = chatml.load(dumped.payload)
    assert [len(message.parts) for message in loaded.messages] == [1]
    assert [loss.severity for loss in dumped.losses] == ["changed"]
    call = ToolCallPart("message-1:call-1", "tide", "input-available", {"port": "<|im_end|>"})
    message = AssistantMessage(id="message-1", content=[call])
    assert chatml.load(chatml.dump([message]).payload).messages[0].parts[0] != call  # its raw input is kept
    read = chatml.load(chatml.dump([message]).payload).messages[0].parts[0]
    assert isinstance(read, ToolCallPart)
    assert read.input == call.input


def test_text_around_turns_is_reported() -> None:
    loaded = chatml.load(f"{CHATML}and so on\n<|im_start|>assistant\n")
    assert [(loss.what, loss.severity) for loss in loaded.losses] == [
        ('"\\nand so on\\n"', "lost"),
        ("assistant", "repaired"),
    ]


def test_a_call_without_a_result_does_not_get_the_result_of_another_call() -> None:
    open_, settled = (
        ToolCallPart("a", "tide", "input-available", {}),
        ToolCallPart("b", "wind", "output-available", {}, output=TextOutput("calm")),
    )
    for messages in (
        [AssistantMessage(id="m", content=[open_, settled])],
        [AssistantMessage(id="m", content=[open_]), AssistantMessage(id="n", content=[settled])],
        [AssistantMessage(id="m", content=[open_, StepStartPart(), settled])],
    ):
        dumped = sharegpt.dump(messages)
        calls = [
            (part.name, part.output)
            for message in sharegpt.load(dumped.payload).messages
            for part in message.parts
            if isinstance(part, ToolCallPart)
        ]
        unanswered = "The tool call was interrupted: its process went away. the call never got a result"
        assert calls == [("tide", TextOutput(unanswered)), ("wind", TextOutput("calm"))]
        assert "repaired" in {loss.severity for loss in dumped.losses}


@each_row("name", ["sharegpt", "chatml"])
def test_a_full_conversation_is_written_the_same_again(name: str) -> None:
    format_ = get_format(name)
    assert format_.load is not None
    assert format_.dump is not None
    once = format_.dump(full_conversation())
    loaded = format_.load(once.payload)
    again = format_.dump(loaded.messages)
    assert again.payload == once.payload
    assert [*loaded.losses, *again.losses] == []
    paths = {loss.path for loss in once.losses}
    assert {"$[2].content.parts[1]", "$[2].content.usage", "$[3]"} <= paths


def test_markdown_has_headings_and_closed_blocks() -> None:
    call = ToolCallPart("a", "tide", "output-available", {"port": "Bø"}, output=TextOutput("```\n1 m\n```"))
    message = AssistantMessage(id="m", content=[ReasoningPart("Hm."), TextPart("High."), call])
    dumped = markdown.dump([UserMessage(id="u", content="How high?"), message])
    assert dumped.payload == (
        "# A conversation\n\n\n## User\n\nHow high?\n\n\n## Assistant\n\n"
        "<details>\n<summary>Reasoning</summary>\n\nHm.\n\n</details>\n\nHigh.\n\n"
        '**tide**\n\n```json\n{\n  "port": "Bø"\n}\n```\n\n'
        "````\n```\n1 m\n```\n````\n\n"
    )
    assert [(loss.path, loss.severity) for loss in dumped.losses] == [
        ("$[0].id", "minor"),
        ("$[1].id", "minor"),
        ("$[1].content.parts[2].id", "minor"),
    ]


def test_what_an_editor_added_to_a_prompt_is_folded_in_markdown() -> None:
    text = "Light it.\n\n<system-reminder>\n# Use the to-do list\n</system-reminder>"
    assert markdown.dump([UserMessage(id="u", content=text)]).payload == (
        "# A conversation\n\n\n## User\n\nLight it.\n\n"
        "<details>\n<summary>system reminder</summary>\n\n```\n# Use the to-do list\n```\n\n</details>\n\n"
    )


def test_reasoning_text_cannot_close_its_block() -> None:
    text = markdown.dump([AssistantMessage(id="m", content=[ReasoningPart("a </details> b")])]).payload
    assert "```\na </details> b\n```\n\n</details>" in text


def test_values_that_are_not_in_the_markdown_are_reported() -> None:
    dumped = markdown.dump(full_conversation())
    paths = {loss.path for loss in dumped.losses}
    assert {
        "$[0].threadId",
        "$[1].content.parts[3].url",
        "$[2].content.parts[1].providerMetadata",
        "$[2].content.parts[22].approval",
        "$[2].content.usage.totalTokens",
        "$[4].content.networkExecution.selectionReason",
    } <= paths
    for shown in ("It is 39 metres.", "Metres, please.", "unknown-part", "text-of-network", "error-in-words"):
        assert shown in dumped.payload


def written(call: ToolCallPart) -> str:
    """Return a document with a call, without its headings."""
    text = markdown.dump([AssistantMessage(id="m", content=[call])]).payload
    return str(text).removeprefix("# A conversation\n\n\n## Assistant\n\n")


def done(name: str, given: JsonObject, output: str, **metadata: Any) -> ToolCallPart:
    """Return a call with an output. `metadata`: what Claude Code notes about it."""
    noted = {"claude-code": {"toolUseResult": metadata}} if metadata else None
    return ToolCallPart("a", name, "output-available", given, output=TextOutput(output), tool_metadata=noted)


LONG = "".join(f"line {number}\n" for number in range(40))

TOOL_CALLS: dict[str, tuple[ToolCallPart, str]] = {
    "a command is a console block": (
        done("Bash", {"command": "cd x\nmake", "description": "Build it"}, "done"),
        "**Shell** Build it · in `x`\n\n```console\n$ make\ndone\n```\n\n",
    ),
    "a failed command has its exit code": (
        done("Bash", {"command": "make"}, "Exit code 2\nno rule"),
        "**Shell** · exit 2\n\n```console\n$ make\nno rule\n```\n\n",
    ),
    "a long output is folded": (
        done("Bash", {"command": "seq"}, LONG),
        "**Shell**\n\n```console\n$ seq\n```\n\n<details>\n<summary>Output (40 lines)</summary>\n\n"
        f"```\n{LONG}```\n\n</details>\n\n",
    ),
    "an edit is a diff": (
        done(
            "Edit",
            {"file_path": "a.py", "old_string": "x = 1", "new_string": "x = 2"},
            "The file has been updated.",
        ),
        "**Edit** `a.py` · +1 −1\n\n```diff\n-x = 1\n+x = 2\n```\n\n",
    ),
    "a file is in its language": (
        done("Read", {"file_path": "a.py"}, "     1→import os\n     2→\n"),
        "**Read** `a.py`\n\n```py\nimport os\n```\n\n",
    ),
    "a to-do list is a task list": (
        done(
            "TodoWrite",
            {"todos": [{"content": "a", "status": "completed"}, {"content": "b", "status": "pending"}]},
            "ok",
        ),
        "**To do** · 1 of 2 done\n\n- [x] a\n- [ ] b\n\n",
    ),
}


@each_row("call, expected", TOOL_CALLS.values(), ids=TOOL_CALLS)
def test_tool_calls_are_written_by_their_kind(call: ToolCallPart, expected: str) -> None:
    assert written(call) == expected


def test_values_that_a_call_does_not_show_are_reported() -> None:
    call = done("Bash", {"command": "make", "description": "Build", "timeout": 5, "note": "x\ny"}, "ok\n")
    dumped = markdown.dump([AssistantMessage(id="m", content=[call])])
    assert [(loss.path, loss.severity) for loss in dumped.losses if ".parts" in loss.path] == [
        ("$[0].content.parts[0].id", "minor"),
        ("$[0].content.parts[0].name", "changed"),
        ("$[0].content.parts[0].input.timeout", "lost"),
        ("$[0].content.parts[0].input.note", "changed"),
    ]


def test_a_response_has_its_model_and_tokens() -> None:
    usage = Usage(input_tokens=12_500, output_tokens=860)
    content = AssistantContent(parts=(TextPart("Hi."),), metadata={"model": "sonata-1"}, usage=usage)
    text = markdown.dump([AssistantMessage(id="m", content=content)]).payload
    assert "## Assistant\n\n`sonata-1` · 12,500 tokens in, 860 out\n\nHi.\n" in text


def test_the_messages_of_a_sub_agent_are_folded_and_its_prompt_is_written_once() -> None:
    child = [UserMessage(id="c", content="Look."), AssistantMessage(id="d", content="Found.")]
    call = ToolCallPart(
        "a",
        "Task",
        "output-available",
        {"prompt": "Look."},
        output=TextOutput("Found."),
        children=tuple(child),
    )
    text = written(call)
    assert "<summary>Sub-agent: 2 messages</summary>" in text
    assert (text.count("Look."), text.count("Found.")) == (1, 1)


def test_a_text_cannot_hide_the_messages_after_it() -> None:
    user = UserMessage(id="u", content="this fails:\n```py\nx = `1`")
    text = str(markdown.dump([user, AssistantMessage(id="m", content="I see.")]).payload)
    assert "x = `1`\n```\n\n\n## Assistant\n\nI see." in text


@given(messages=st.lists(canonical.messages(), max_size=3))
def test_any_conversation_is_written_as_markdown(messages: list[Message]) -> None:
    assert markdown.dump(messages).payload.startswith("# A conversation\n")
