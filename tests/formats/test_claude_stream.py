"""A streamed turn of Claude Code becomes one message: a small turn for each rule."""

from collections.abc import Sequence

from msgspec.structs import replace

from partita.types.chunks import (
    MessageAbort,
    MessageMetadata,
    MessageStart,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputStart,
    ToolOutputChunk,
)
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantContent, AssistantMessage, AssistantPart, ToolCallPart
from partita.types.parts import (
    DataPart,
    ErrorTextOutput,
    FilePart,
    JsonOutput,
    SourceUrlPart,
    SteeringMessagePart,
    TextOutput,
    TextPart,
)
from tests.formats.claude_turns import (
    BAKE,
    DONE,
    LOST,
    STEP,
    TASK,
    assistant_event,
    block_start,
    block_stop,
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
from tests.tables import each_row

PAGE: JsonObject = {"type": "web_search_result", "url": "https://rye.example", "title": "Rye"}
SEARCH: JsonObject = {
    "type": "server_tool_use",
    "id": "search",
    "name": "web_search",
    "input": {"query": "rye"},
}
FOUND: JsonObject = {"type": "web_search_tool_result", "tool_use_id": "search", "content": [PAGE]}
SEARCHED = call_part(
    "search",
    JsonOutput([PAGE]),
    "web_search",
    {"query": "rye"},
    provider_executed=True,
    call_provider_metadata={"anthropic": {"type": "server_tool_use"}},
    result_provider_metadata={"anthropic": {"type": "web_search_tool_result"}},
)

PARTS: dict[str, tuple[list[Json], Sequence[AssistantPart]]] = {
    "a call in both forms": (
        [
            message_start("m1"),
            *streamed_call(0, BAKE, '{"he', 'at":1}'),
            assistant_event("m1", BAKE),
            user_event(tool_result("bake", "done")),
        ],
        [STEP, call_part("bake", DONE)],
    ),
    "the input of the whole call is used": (
        [
            message_start("m1"),
            *streamed_call(0, BAKE, '{"heat":3}'),
            assistant_event("m1", BAKE),
            user_event(tool_result("bake", "done")),
        ],
        [STEP, call_part("bake", DONE)],
    ),
    "a call with its whole input in the first event": (
        [message_start("m1"), block_start(0, BAKE), block_stop(0), user_event(tool_result("bake", "done"))],
        [STEP, call_part("bake", DONE)],
    ),
    "a call with a late name": (
        [
            message_start("m1"),
            *streamed_call(0, BAKE | {"name": None}, '{"heat":1}'),
            assistant_event("m1", BAKE),
        ],
        [STEP, call_part("bake", LOST)],
    ),
    "a call without a name": (
        [message_start("m1"), *streamed_call(0, BAKE | {"name": None}, '{"heat":1}')],
        [STEP, call_part("bake", LOST, "unknown-tool")],
    ),
    "an input that was cut off": (
        [message_start("m1"), *streamed_call(0, BAKE, '{"heat'), *message_end("max_tokens")],
        [
            STEP,
            call_part(
                "bake",
                ErrorTextOutput(
                    "the input is not JSON: invalid JSON: Unterminated string starting at"
                    " (at line 1, column 2); hint: check for a cut or a typo"
                ),
                input='{"heat',
            ),
        ],
    ),
    "an input that was cut off, and the next response": (
        [
            message_start("m1"),
            *streamed_call(0, BAKE | {"name": None}, '{"heat":1}'),
            *message_end(),
            assistant_event("m2", text("Hm.")),
        ],
        [STEP, call_part("bake", LOST, "unknown-tool"), STEP, text_part("Hm.")],
    ),
    "an input that was cut off, and the error of the agent": (
        [
            message_start("m1"),
            *streamed_call(0, BAKE, '{"heat'),
            *message_end(),
            user_event(tool_result("bake", "cut", is_error=True)),
        ],
        [STEP, call_part("bake", ErrorTextOutput("cut"), input='{"heat')],
    ),
    "results in another order than calls": (
        [
            assistant_event("m1", tool_use("a"), tool_use("b")),
            user_event(tool_result("b", "B")),
            user_event(tool_result("a", "A")),
        ],
        [STEP, call_part("a", TextOutput("A")), call_part("b", TextOutput("B"))],
    ),
    "the result has no call right before it": (
        [user_event(tool_result("lost", "found")), assistant_event("m1", text("Hm."))],
        [
            ToolCallPart("lost", "unknown-tool", "output-available", output=TextOutput("found")),
            STEP,
            text_part("Hm."),
        ],
    ),
    "a call that is repeated after its result": (
        [assistant_event("m1", BAKE), user_event(tool_result("bake", "done")), assistant_event("m1", BAKE)],
        [STEP, call_part("bake", DONE)],
    ),
    "the same call id of two agents": (
        [
            assistant_event("m1", BAKE, TASK),
            assistant_event("c1", BAKE, under="task"),
            user_event(tool_result("task", "done")),
        ],
        [
            STEP,
            call_part("bake", LOST),
            call_part(
                "task",
                DONE,
                "Task",
                {"prompt": "weigh it"},
                children=(
                    AssistantMessage(
                        id="task/1",
                        content=AssistantContent(
                            parts=(STEP,),
                            metadata={
                                "model": "claude-baker",
                                "claudeCode": {"responses": {"c1": {"model": "claude-baker"}}},
                            },
                        ),
                    ),
                ),
            ),
            DataPart("claude-unknown", BAKE),
        ],
    ),
    "a second result": (
        [
            assistant_event("m1", BAKE),
            user_event(tool_result("bake", "done")),
            user_event(tool_result("bake", "again")),
        ],
        [STEP, call_part("bake", DONE), DataPart("claude-repeated-result", tool_result("bake", "again"))],
    ),
    "a result of an unknown call": (
        [user_event({"type": "tool_result", "content": "?"})],
        [DataPart("claude-unknown", {"type": "tool_result", "content": "?"})],
    ),
    "a structured result": (
        [assistant_event("m1", BAKE), user_event(tool_result("bake", "done"), tool_use_result={"loaves": 2})],
        [STEP, call_part("bake", DONE, tool_metadata={"claudeCode": {"toolUseResult": {"loaves": 2}}})],
    ),
    "a structured result of an unknown call": (
        [
            assistant_event("m1", tool_use("a"), tool_use("b")),
            user_event(tool_result("a", "A"), tool_result("b", "B"), tool_use_result=2),
        ],
        [
            STEP,
            call_part("a", TextOutput("A")),
            call_part("b", TextOutput("B")),
            DataPart("claude-tool-use-result", 2),
        ],
    ),
    "a server's tool keeps its name": (
        [
            assistant_event("m1", tool_use("c", "mcp__home__oven__on")),
            user_event(tool_result("c", "hot"), tool_use_result="hot"),
        ],
        [
            STEP,
            call_part(
                "c",
                TextOutput("hot"),
                "mcp__home__oven__on",
                tool_metadata={"claudeCode": {"server": "home", "tool": "oven__on", "toolUseResult": "hot"}},
            ),
        ],
    ),
    "a search of the API, live": (
        [
            message_start("m1"),
            *streamed_call(0, SEARCH, '{"query":"rye"}'),
            block_start(1, FOUND),
            block_stop(1),
            *message_end(),
        ],
        [STEP, SEARCHED, SourceUrlPart("search-0", "https://rye.example", "Rye")],
    ),
    "a search of the API, answered by a user": (
        [assistant_event("m1", SEARCH), user_event(FOUND), user_event(FOUND)],
        [
            STEP,
            SEARCHED,
            SourceUrlPart("search-0", "https://rye.example", "Rye"),
            DataPart("claude-repeated-result", FOUND),
        ],
    ),
    "a search of the API, in both forms": (
        [
            message_start("m1"),
            *streamed_call(0, SEARCH, '{"query":"rye"}'),
            assistant_event("m1", SEARCH),
            block_start(1, FOUND),
            block_stop(1),
            assistant_event("m1", FOUND),
        ],
        [STEP, SEARCHED, SourceUrlPart("search-0", "https://rye.example", "Rye")],
    ),
    "a result of the API for a call of an earlier turn": (
        [assistant_event("m1", FOUND)],
        [
            STEP,
            replace(
                ToolCallPart("search", "web_search", "output-available", output=JsonOutput([PAGE])),
                provider_executed=True,
                result_provider_metadata={"anthropic": {"type": "web_search_tool_result"}},
            ),
            SourceUrlPart("search-0", "https://rye.example", "Rye"),
        ],
    ),
    "a picture": (
        [
            assistant_event(
                "m1", {"type": "image", "source": {"type": "url", "url": "https://rye.example/a.png"}}
            )
        ],
        [STEP, FilePart("https://rye.example/a.png", "image/*")],
    ),
    "an unknown block": (
        [assistant_event("m1", {"type": "smell", "of": "bread"}, text("Mm."))],
        [STEP, DataPart("claude-unknown", {"type": "smell", "of": "bread"}), text_part("Mm.")],
    ),
    "an unknown block in both forms": (
        [
            message_start("m1"),
            block_start(0, {"type": "smell"}),
            block_stop(0),
            assistant_event("m1", {"type": "smell"}),
        ],
        [STEP, DataPart("claude-unknown", {"type": "smell"})],
    ),
    "a compaction that streams in": (
        [
            message_start("m1"),
            block_start(0, {"type": "compaction", "content": None}),
            stream_event(
                "content_block_delta", index=0, delta={"type": "compaction_delta", "content": "short"}
            ),
            block_stop(0),
            assistant_event("m1", {"type": "compaction", "content": "short"}),
        ],
        [STEP, DataPart("claude-compaction", {"type": "compaction", "content": "short"})],
    ),
    "a response that is complete in its first event": (
        [
            message_start("m1", content=[BAKE], stop_reason="tool_use"),
            stream_event("message_stop"),
            user_event(tool_result("bake", "done")),
        ],
        [STEP, call_part("bake", DONE)],
    ),
    "a step for every response": (
        [
            assistant_event("m1", BAKE),
            user_event(tool_result("bake", "done")),
            assistant_event("m2", text("Eat.")),
        ],
        [STEP, call_part("bake", DONE), STEP, text_part("Eat.")],
    ),
    "a second start of the same response": (
        [
            message_start("m1"),
            *streamed_text(0, "text", "One."),
            message_start("m1"),
            *streamed_text(1, "text", "Two."),
            *message_end(),
        ],
        [STEP, text_part("One."), text_part("Two.")],
    ),
    "a repeated message": (
        [same := assistant_event("m1", text("Hello.")), same],
        [STEP, text_part("Hello.")],
    ),
    "an interrupted attempt": (
        [
            message_start("m1"),
            *streamed_text(0, "text", "Half"),
            *streamed_call(1, BAKE, '{"heat'),
            message_start("m2"),
            *streamed_text(0, "text", "Whole."),
            *message_end(),
        ],
        [STEP, text_part("Whole.")],
    ),
    "an interrupted attempt, and a whole response": (
        [message_start("m1"), *streamed_text(0, "text", "Half"), assistant_event("m2", text("Whole."))],
        [STEP, text_part("Whole.")],
    ),
    "a response that has ended is not retracted": (
        [
            message_start("m1"),
            *streamed_text(0, "text", "One."),
            *message_end(),
            message_start("m2"),
            *streamed_text(0, "text", "Two."),
        ],
        [STEP, text_part("One."), STEP, text_part("Two.")],
    ),
    "a response with a whole message is not retracted, even without a uuid": (
        [
            message_start("m1"),
            *streamed_text(0, "text", "One."),
            assistant_event("m1", text("One.")) | {"uuid": None},
            assistant_event("m2", text("Two.")),
        ],
        [STEP, text_part("One."), STEP, text_part("Two.")],
    ),
    "a response that another model retracts": (
        [
            assistant_event("m1", text("Hm."), BAKE) | {"uuid": "u1"},
            refusal := system("model_refusal_fallback", retracted_message_uuids=["u1"]),
            user_event(tool_result("bake", "discarded", is_error=True)),
            assistant_event("m2", text("Sure.")),
        ],
        [
            STEP,
            DataPart("claude-model-refusal-fallback", refusal),
            DataPart("claude-retracted", tool_result("bake", "discarded", is_error=True)),
            text_part("Sure."),
        ],
    ),
    "a response that replaces another": (
        [
            assistant_event("m1", text("Hm.")) | {"uuid": "u1"},
            assistant_event("m1", text("Yes."), supersedes=["u1"]),
        ],
        [STEP, text_part("Yes.")],
    ),
    "a response that is only partly retracted stays": (
        [
            assistant_event("m1", text("One.")) | {"uuid": "u1"},
            assistant_event("m1", text("Two.")) | {"uuid": "u2"},
            assistant_event("m2", text("Three."), supersedes=["u2"]),
        ],
        [STEP, text_part("One."), text_part("Two."), STEP, text_part("Three.")],
    ),
    "prompts of the user between responses": (
        [
            assistant_event("m1", text("One.")),
            user_event(
                text("go on"), {"type": "image", "source": {"type": "url", "url": "https://x.example"}}
            )
            | {"uuid": "u1"},
            assistant_event("m1", text("Two.")),
        ],
        [
            STEP,
            text_part("One."),
            SteeringMessagePart("u1", (TextPart("go on"), FilePart("https://x.example", "image/*"))),
            text_part("Two."),
        ],
    ),
    "synthetic texts between responses": (
        [
            assistant_event("m1", text("One.")),
            reminder := user_event(text("<task-notification>done</task-notification>")),
            note := user_event(text("be brief"), isSynthetic=True),
            peer := user_event(text("hi"), origin={"kind": "peer"}),
        ],
        [
            STEP,
            text_part("One."),
            DataPart("claude-synthetic", reminder),
            DataPart("claude-synthetic", note),
            DataPart("claude-synthetic", peer),
        ],
    ),
    "a prompt and its repetition are ignored": (
        [
            user_event(text("bake")),
            user_event(text("bake"), isReplay=True),
            assistant_event("m1", text("Yes.")),
        ],
        [STEP, text_part("Yes.")],
    ),
    "a command without a response of a model": ([result(result="0 dollars")], [STEP, text_part("0 dollars")]),
    "data that is replaced in place": (
        [
            system("task_progress", task_id="t", summary="half"),
            late := system("task_progress", task_id="t", summary="all"),
        ],
        [DataPart("claude-task-progress", late, "t")],
    ),
    "the next prompt is ignored": (
        [
            assistant_event("m1", text("One.")),
            result(),
            user_event(text("and?")),
            assistant_event("m2", text("Two.")),
            result(),
        ],
        [STEP, text_part("One."), STEP, text_part("Two.")],
    ),
    "events after the result": (
        [assistant_event("m1", text("One.")), result(), assistant_event("m2", text("Two.")), result()],
        [STEP, text_part("One."), STEP, text_part("Two.")],
    ),
}


@each_row(("events", "parts"), PARTS.values(), ids=PARTS)
def test_a_turn_becomes_parts(events: list[Json], parts: Sequence[AssistantPart]) -> None:
    assert folded(events).parts == tuple(parts)


def test_a_streamed_turn_is_emitted_as_it_arrives() -> None:
    events = [
        message_start("m1"),
        *streamed_text(0, "text", "I ", "bake."),
        *streamed_call(1, BAKE, '{"heat":', "1}"),
        assistant_event("m1", text("I bake.")),
        assistant_event("m1", BAKE),
        user_event(tool_result("bake", "done")),
    ]
    chunks = [chunk for chunk in decode(events) if not isinstance(chunk, MessageMetadata)]
    assert chunks == [
        MessageStart(message_metadata={"model": "claude-baker"}),
        StepStart(),
        TextStart("0"),
        TextDelta("0", "I "),
        TextDelta("0", "bake."),
        TextEnd("0"),
        ToolInputStart("bake", "Oven"),
        ToolInputDelta("bake", '{"heat":'),
        ToolInputDelta("bake", "1}"),
        ToolInputAvailable("bake", "Oven", {"heat": 1}),
        ToolOutputChunk("bake", DONE),
        StepFinish(),
        MessageAbort("the stream ended without a result"),
    ]


def test_a_block_ends_when_another_has_its_index() -> None:
    chunks = decode([message_start("m1"), block_start(0, text("")), block_start(0, text(""))], finish=False)
    assert chunks[-3:] == [TextStart("0"), TextEnd("0"), TextStart("1")]


def test_no_delta_of_an_input_follows_the_whole_input() -> None:
    start, *pieces, end = streamed_call(0, BAKE, '{"heat":', "1}")
    chunks = decode(
        [message_start("m1"), start, pieces[0], assistant_event("m1", BAKE), pieces[1], end], finish=False
    )
    assert [type(chunk) for chunk in chunks[-3:]] == [ToolInputStart, ToolInputDelta, ToolInputAvailable]
