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
    answered,
    begun,
    called,
    closed,
    decode,
    folded,
    live,
    made,
    opened,
    result,
    said,
    stopped,
    system,
    text,
    use,
    user,
    whole,
    written,
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
SEARCHED = made(
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
        [begun("m1"), *called(0, BAKE, '{"he', 'at":1}'), whole("m1", BAKE), user(answered("bake", "done"))],
        [STEP, made("bake", DONE)],
    ),
    "the input that was run is the one of the whole call": (
        [begun("m1"), *called(0, BAKE, '{"heat":3}'), whole("m1", BAKE), user(answered("bake", "done"))],
        [STEP, made("bake", DONE)],
    ),
    "a call whose input is there at once": (
        [begun("m1"), opened(0, BAKE), closed(0), user(answered("bake", "done"))],
        [STEP, made("bake", DONE)],
    ),
    "a call whose name comes late": (
        [begun("m1"), *called(0, BAKE | {"name": None}, '{"heat":1}'), whole("m1", BAKE)],
        [STEP, made("bake", LOST)],
    ),
    "a call whose name never comes": (
        [begun("m1"), *called(0, BAKE | {"name": None}, '{"heat":1}')],
        [STEP, made("bake", LOST, "unknown-tool")],
    ),
    "an input that was cut off": (
        [begun("m1"), *called(0, BAKE, '{"heat'), *stopped("max_tokens")],
        [
            STEP,
            made(
                "bake",
                ErrorTextOutput(
                    "the input is not JSON: invalid JSON: Unterminated string starting at"
                    " (at line 1, column 2); hint: check for a cut or a typo"
                ),
                input='{"heat',
            ),
        ],
    ),
    "an input that was cut off, and the next answer": (
        [begun("m1"), *called(0, BAKE | {"name": None}, '{"heat":1}'), *stopped(), whole("m2", text("Hm."))],
        [STEP, made("bake", LOST, "unknown-tool"), STEP, said("Hm.")],
    ),
    "an input that was cut off, and what the agent said about it": (
        [begun("m1"), *called(0, BAKE, '{"heat'), *stopped(), user(answered("bake", "cut", is_error=True))],
        [STEP, made("bake", ErrorTextOutput("cut"), input='{"heat')],
    ),
    "results in another order than calls": (
        [whole("m1", use("a"), use("b")), user(answered("b", "B")), user(answered("a", "A"))],
        [STEP, made("a", TextOutput("A")), made("b", TextOutput("B"))],
    ),
    "the result has no call right before it": (
        [user(answered("lost", "found")), whole("m1", text("Hm."))],
        [
            ToolCallPart("lost", "unknown-tool", "output-available", output=TextOutput("found")),
            STEP,
            said("Hm."),
        ],
    ),
    "a call told again after its result": (
        [whole("m1", BAKE), user(answered("bake", "done")), whole("m1", BAKE)],
        [STEP, made("bake", DONE)],
    ),
    "one call of two agents": (
        [whole("m1", BAKE, TASK), whole("c1", BAKE, under="task"), user(answered("task", "done"))],
        [
            STEP,
            made("bake", LOST),
            made(
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
        [whole("m1", BAKE), user(answered("bake", "done")), user(answered("bake", "again"))],
        [STEP, made("bake", DONE), DataPart("claude-repeated-result", answered("bake", "again"))],
    ),
    "a result for which no one can say what it is of": (
        [user({"type": "tool_result", "content": "?"})],
        [DataPart("claude-unknown", {"type": "tool_result", "content": "?"})],
    ),
    "a structured result": (
        [whole("m1", BAKE), user(answered("bake", "done"), tool_use_result={"loaves": 2})],
        [STEP, made("bake", DONE, tool_metadata={"claudeCode": {"toolUseResult": {"loaves": 2}}})],
    ),
    "a structured result of nobody knows which": (
        [whole("m1", use("a"), use("b")), user(answered("a", "A"), answered("b", "B"), tool_use_result=2)],
        [STEP, made("a", TextOutput("A")), made("b", TextOutput("B")), DataPart("claude-tool-use-result", 2)],
    ),
    "a server's tool keeps its name": (
        [whole("m1", use("c", "mcp__home__oven__on")), user(answered("c", "hot"), tool_use_result="hot")],
        [
            STEP,
            made(
                "c",
                TextOutput("hot"),
                "mcp__home__oven__on",
                tool_metadata={"claudeCode": {"server": "home", "tool": "oven__on", "toolUseResult": "hot"}},
            ),
        ],
    ),
    "a search of the API, live": (
        [begun("m1"), *called(0, SEARCH, '{"query":"rye"}'), opened(1, FOUND), closed(1), *stopped()],
        [STEP, SEARCHED, SourceUrlPart("search-0", "https://rye.example", "Rye")],
    ),
    "a search of the API, answered by a user": (
        [whole("m1", SEARCH), user(FOUND), user(FOUND)],
        [
            STEP,
            SEARCHED,
            SourceUrlPart("search-0", "https://rye.example", "Rye"),
            DataPart("claude-repeated-result", FOUND),
        ],
    ),
    "a search of the API, in both forms": (
        [
            begun("m1"),
            *called(0, SEARCH, '{"query":"rye"}'),
            whole("m1", SEARCH),
            opened(1, FOUND),
            closed(1),
            whole("m1", FOUND),
        ],
        [STEP, SEARCHED, SourceUrlPart("search-0", "https://rye.example", "Rye")],
    ),
    "a result of the API whose call came in an earlier turn": (
        [whole("m1", FOUND)],
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
        [whole("m1", {"type": "image", "source": {"type": "url", "url": "https://rye.example/a.png"}})],
        [STEP, FilePart("https://rye.example/a.png", "image/*")],
    ),
    "a block of tomorrow": (
        [whole("m1", {"type": "smell", "of": "bread"}, text("Mm."))],
        [STEP, DataPart("claude-unknown", {"type": "smell", "of": "bread"}), said("Mm.")],
    ),
    "a block of tomorrow in both forms": (
        [begun("m1"), opened(0, {"type": "smell"}), closed(0), whole("m1", {"type": "smell"})],
        [STEP, DataPart("claude-unknown", {"type": "smell"})],
    ),
    "a compaction that streams in": (
        [
            begun("m1"),
            opened(0, {"type": "compaction", "content": None}),
            live("content_block_delta", index=0, delta={"type": "compaction_delta", "content": "short"}),
            closed(0),
            whole("m1", {"type": "compaction", "content": "short"}),
        ],
        [STEP, DataPart("claude-compaction", {"type": "compaction", "content": "short"})],
    ),
    "an answer that was ready when it began": (
        [
            begun("m1", content=[BAKE], stop_reason="tool_use"),
            live("message_stop"),
            user(answered("bake", "done")),
        ],
        [STEP, made("bake", DONE)],
    ),
    "a step for every answer": (
        [whole("m1", BAKE), user(answered("bake", "done")), whole("m2", text("Eat."))],
        [STEP, made("bake", DONE), STEP, said("Eat.")],
    ),
    "a second beginning of the same answer": (
        [begun("m1"), *written(0, "text", "One."), begun("m1"), *written(1, "text", "Two."), *stopped()],
        [STEP, said("One."), said("Two.")],
    ),
    "a message told twice": (
        [same := whole("m1", text("Hello.")), same],
        [STEP, said("Hello.")],
    ),
    "a try that broke off": (
        [
            begun("m1"),
            *written(0, "text", "Half"),
            *called(1, BAKE, '{"heat'),
            begun("m2"),
            *written(0, "text", "Whole."),
            *stopped(),
        ],
        [STEP, said("Whole.")],
    ),
    "a try that broke off, and a whole answer": (
        [begun("m1"), *written(0, "text", "Half"), whole("m2", text("Whole."))],
        [STEP, said("Whole.")],
    ),
    "an answer that has ended is no try": (
        [begun("m1"), *written(0, "text", "One."), *stopped(), begun("m2"), *written(0, "text", "Two.")],
        [STEP, said("One."), STEP, said("Two.")],
    ),
    "an answer of which a whole message came is no try, even without a uuid": (
        [
            begun("m1"),
            *written(0, "text", "One."),
            whole("m1", text("One.")) | {"uuid": None},
            whole("m2", text("Two.")),
        ],
        [STEP, said("One."), STEP, said("Two.")],
    ),
    "an answer that another model takes back": (
        [
            whole("m1", text("Hm."), BAKE) | {"uuid": "u1"},
            refusal := system("model_refusal_fallback", retracted_message_uuids=["u1"]),
            user(answered("bake", "discarded", is_error=True)),
            whole("m2", text("Sure.")),
        ],
        [
            STEP,
            DataPart("claude-model-refusal-fallback", refusal),
            DataPart("claude-retracted", answered("bake", "discarded", is_error=True)),
            said("Sure."),
        ],
    ),
    "an answer that replaces another": (
        [whole("m1", text("Hm.")) | {"uuid": "u1"}, whole("m1", text("Yes."), supersedes=["u1"])],
        [STEP, said("Yes.")],
    ),
    "an answer that is only partly taken back stays": (
        [
            whole("m1", text("One.")) | {"uuid": "u1"},
            whole("m1", text("Two.")) | {"uuid": "u2"},
            whole("m2", text("Three."), supersedes=["u2"]),
        ],
        [STEP, said("One."), said("Two."), STEP, said("Three.")],
    ),
    "what a person says in between": (
        [
            whole("m1", text("One.")),
            user(text("go on"), {"type": "image", "source": {"type": "url", "url": "https://x.example"}})
            | {"uuid": "u1"},
            whole("m1", text("Two.")),
        ],
        [
            STEP,
            said("One."),
            SteeringMessagePart("u1", (TextPart("go on"), FilePart("https://x.example", "image/*"))),
            said("Two."),
        ],
    ),
    "what the program says in between": (
        [
            whole("m1", text("One.")),
            reminder := user(text("<task-notification>done</task-notification>")),
            note := user(text("be brief"), isSynthetic=True),
            peer := user(text("hi"), origin={"kind": "peer"}),
        ],
        [
            STEP,
            said("One."),
            DataPart("claude-synthetic", reminder),
            DataPart("claude-synthetic", note),
            DataPart("claude-synthetic", peer),
        ],
    ),
    "a prompt and its echo leave no trace": (
        [user(text("bake")), user(text("bake"), isReplay=True), whole("m1", text("Yes."))],
        [STEP, said("Yes.")],
    ),
    "a command that no model answered": ([result(result="0 dollars")], [STEP, said("0 dollars")]),
    "data that is replaced in place": (
        [
            system("task_progress", task_id="t", summary="half"),
            late := system("task_progress", task_id="t", summary="all"),
        ],
        [DataPart("claude-task-progress", late, "t")],
    ),
    "the next prompt leaves no trace": (
        [whole("m1", text("One.")), result(), user(text("and?")), whole("m2", text("Two.")), result()],
        [STEP, said("One."), STEP, said("Two.")],
    ),
    "work after the result": (
        [whole("m1", text("One.")), result(), whole("m2", text("Two.")), result()],
        [STEP, said("One."), STEP, said("Two.")],
    ),
}


@each_row(("events", "parts"), PARTS.values(), ids=PARTS)
def test_a_turn_becomes_parts(events: list[Json], parts: Sequence[AssistantPart]) -> None:
    assert folded(events).parts == tuple(parts)


def test_a_streamed_turn_is_emitted_as_it_arrives() -> None:
    events = [
        begun("m1"),
        *written(0, "text", "I ", "bake."),
        *called(1, BAKE, '{"heat":', "1}"),
        whole("m1", text("I bake.")),
        whole("m1", BAKE),
        user(answered("bake", "done")),
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


def test_a_block_ends_when_another_takes_its_place() -> None:
    chunks = decode([begun("m1"), opened(0, text("")), opened(0, text(""))], finish=False)
    assert chunks[-3:] == [TextStart("0"), TextEnd("0"), TextStart("1")]


def test_no_delta_of_an_input_follows_the_whole_input() -> None:
    start, *pieces, end = called(0, BAKE, '{"heat":', "1}")
    chunks = decode([begun("m1"), start, pieces[0], whole("m1", BAKE), pieces[1], end], finish=False)
    assert [type(chunk) for chunk in chunks[-3:]] == [ToolInputStart, ToolInputDelta, ToolInputAvailable]
