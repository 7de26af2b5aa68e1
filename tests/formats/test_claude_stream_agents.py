"""Sub-agents are nested under the calls that started them, to any depth."""

from collections.abc import Sequence

from partita.types.chunks import (
    ChildChunk,
    ChildMessage,
    Chunk,
    DataChunk,
    MessageFinish,
    MessageMetadata,
    StepFinish,
    TextEnd,
    ToolOutputChunk,
)
from partita.types.json import Json
from partita.types.messages import AssistantMessage, AssistantPart, ToolCallPart, UserMessage
from partita.types.parts import DataPart, SteeringMessagePart, TextOutput, TextPart
from tests.formats.claude_turns import (
    BAKE,
    DONE,
    STEP,
    TASK,
    approval_request,
    assistant_event,
    block_delta,
    block_start,
    call_part,
    decode,
    folded,
    message_end,
    message_start,
    result,
    stream_event,
    streamed_call,
    streamed_text,
    system,
    text,
    text_part,
    tool_result,
    tool_use,
    user_event,
)


def children(parts: Sequence[AssistantPart], call_id: str) -> list[tuple[str, Sequence[object]]]:
    """The messages under a call: id and parts."""
    for part in parts:
        if isinstance(part, ToolCallPart) and part.id == call_id:
            return [(message.id, message.parts) for message in part.children]
    return []


def test_sub_agents_are_nested_under_their_calls() -> None:
    events = [
        assistant_event("m1", TASK),
        user_event(text("weigh it"), under="task") | {"uuid": "p1"},
        message_start("c1", "task"),
        *streamed_text(0, "text", "Let me ", "see.", under="task"),
        *streamed_call(1, tool_use("deep", "Task"), "{}", under="task"),
        *message_end("tool_use", "task"),
        user_event(text("closer"), under="deep") | {"uuid": "p2"},
        assistant_event("d1", tool_use("scale", "Scale"), under="deep", subagent_type="weigher"),
        user_event(tool_result("scale", "1 kg"), under="deep"),
        user_event(tool_result("deep", "1 kg"), under="task"),
        user_event(tool_result("task", "1 kg")),
        result(),
    ]
    message = folded(events)
    (prompt, _), (_, inner) = children(message.parts, "task")
    (deeper, _), (_, innermost) = children([part for part in inner if isinstance(part, ToolCallPart)], "deep")
    kilo = TextOutput("1 kg")
    assert (prompt, deeper) == ("p1", "p2")
    assert innermost == (STEP, call_part("scale", kilo, "Scale"))
    assert inner[:2] == (STEP, text_part("Let me see."))
    call = message.parts[1]
    assert isinstance(call, ToolCallPart)
    assert (call.output, call.children[0]) == (kilo, UserMessage(id="p1", content="weigh it"))
    assert isinstance(call.children[1], AssistantMessage)
    metadata: Json = call.children[1].content.metadata
    assert metadata["model"] == "claude-baker"
    assert metadata["claudeCode"]["responses"]["c1"]["usage"] == {"output_tokens": 9}


def test_the_texts_of_a_sub_agent_end_before_its_call() -> None:
    under = "task"
    events = [
        assistant_event("m1", TASK),
        message_start("c1", under),
        block_start(0, text(""), under),
        block_delta(0, "text", "Hm", under),
        user_event(tool_result("task", "done")),
    ]
    chunks = [chunk for chunk in decode(events, finish=False) if not _is_metadata(chunk)]
    assert chunks[-3:] == [
        ChildChunk(("task",), TextEnd("0")),
        ChildChunk(("task",), StepFinish()),
        ToolOutputChunk("task", DONE),
    ]


def _is_metadata(chunk: Chunk) -> bool:
    return isinstance(chunk, MessageMetadata) or (
        isinstance(chunk, ChildChunk) and isinstance(chunk.chunk, MessageMetadata)
    )


def test_a_sub_agent_that_continues_is_not_closed() -> None:
    events = [
        assistant_event("m1", TASK),
        message_start("c1", "task"),
        block_start(0, text(""), "task"),
        user_event(tool_result("task", "started"), tool_use_result={"status": "async_launched"}),
        block_delta(0, "text", "On", "task"),
        result(),
        user_event(tool_result("task", "late")),
        assistant_event("c2", text("And on."), under="task"),
    ]
    assert [parts for _, parts in children(folded(events).parts, "task")] == [
        (STEP, text_part("On"), STEP, text_part("And on."))
    ]
    assert decode(events)[-1] == MessageFinish()


def test_a_later_prompt_of_a_sub_agent_does_not_break_its_message() -> None:
    events = [
        assistant_event("m1", TASK),
        assistant_event("c1", tool_use("scale", "Scale"), under="task"),
        user_event(text("hurry"), under="task") | {"uuid": "p"},
        user_event(tool_result("scale", "1 kg"), under="task"),
    ]
    scale = call_part("scale", TextOutput("1 kg"), "Scale")
    assert [parts for _, parts in children(folded(events).parts, "task")] == [
        (STEP, scale, SteeringMessagePart("p", (TextPart("hurry"),)))
    ]


def test_a_sub_agent_of_an_unknown_call_gets_one() -> None:
    message = folded(
        [assistant_event("c1", text("Hm."), under="far"), user_event(tool_result("far", "done"))]
    )
    assert children(message.parts, "far") == [("far/1", (STEP, text_part("Hm.")))]


def test_unknown_events_of_a_sub_agent_are_nested_under_its_call() -> None:
    chunks = decode([assistant_event("m1", TASK), assistant_event("c1", "smell", under="task")], finish=False)
    assert chunks[-1] == ChildChunk(("task",), DataChunk("data-claude-unknown", "smell"))


def test_an_approval_request_of_a_sub_agent_is_nested_under_its_call() -> None:
    chunks = decode(
        [
            assistant_event("m1", TASK),
            assistant_event("c1", BAKE, under="task"),
            approval_request("r", "bake"),
        ],
        finish=False,
    )
    assert isinstance(chunks[-1], ChildChunk)
    assert chunks[-1].path == ("task",)


def test_events_under_a_retracted_call_are_data() -> None:
    events = [
        assistant_event("m1", TASK) | {"uuid": "u1"},
        assistant_event("c1", BAKE, under="task"),
        system("model_refusal_fallback", retracted_message_uuids=["u1"]),
        assistant_event("c2", text("Hm."), under="task"),
        user_event(tool_result("bake", "done")),
        stream_event("ping", "task"),
        result(),
    ]
    names = [part.name for part in folded(events).parts if isinstance(part, DataPart)]
    assert names == ["claude-model-refusal-fallback", *["claude-retracted"] * 3]


def test_the_prompt_of_a_sub_agent_is_a_message() -> None:
    chunks = decode(
        [assistant_event("m1", TASK), user_event(text("weigh it"), under="task") | {"uuid": "p"}],
        finish=False,
    )
    assert chunks[-1] == ChildMessage(("task",), UserMessage(id="p", content="weigh it"))


def test_a_prompt_without_an_id_gets_one_from_its_position() -> None:
    prompt = user_event(text("weigh it"), under="task")
    del prompt["uuid"]
    chunks = decode([assistant_event("m1", TASK), prompt], finish=False)
    assert chunks[-1] == ChildMessage(("task",), UserMessage(id="task/user-1", content="weigh it"))
