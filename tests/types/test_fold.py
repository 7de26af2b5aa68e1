"""Merged view and model's view: each is made from the other, and no list loses anything in either."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from msgspec.structs import replace

from partita.types.codec import encode
from partita.types.json import JsonObject
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    Part,
    SystemMessage,
    ToolCallPart,
    ToolContent,
    ToolMessage,
    ToolPart,
    UserMessage,
)
from partita.types.parts import (
    Approval,
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    ForeignPart,
    InterruptedOutput,
    JsonOutput,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolResultPart,
    ToolState,
    UnknownPart,
)
from partita.types.tool_results import FINISHED_STATES, expand, fold, state_after
from partita.types.usage import Usage
from partita.types.value import Extra
from tests.canonical import CALL_IDS, COHERENT, messages, tool_outputs
from tests.tables import each_row

# --- what happens, case by case -------------------------------------------------------------------------

STEP = StepStartPart()
HELLO = TextPart("hello")
STRANGE = ForeignPart("elsewhere", {"a": 1})
USER = UserMessage(id="u", content="hi")


BARE = {"state": "input-available", "output": None, "result_message": None, "result_provider_metadata": None}
"""What a call is without: the fields that come with a result."""


def call(id: str, output: ToolOutput | None = None, *, source: ToolMessage | None = None) -> ToolCallPart:
    """A call whose state says what its output says."""
    state: ToolState = "input-available" if output is None else state_after(output)
    return ToolCallPart(id, "search", state, {"q": id}, output=output, result_message=source)


def result(id: str, value: str = "found", name: str = "search") -> ToolResultPart:
    return ToolResultPart(id, name, TextOutput(value))


def assistant(id: str, *parts: AssistantPart) -> AssistantMessage:
    """A message that says it is about tools, as do all pieces of one that is."""
    return AssistantMessage(id=id, type="tool", content=parts)


def tool(id: str, *parts: ToolPart) -> ToolMessage:
    return ToolMessage(id=id, type="tool", content=parts)


FOUND = TextOutput("found")
OTHER = TextOutput("other")

# Lists that are each other's image: the merged view, the model's view.
VIEWS: dict[str, tuple[list[Message], list[Message]]] = {
    "nothing": ([], []),
    "no outputs, nothing to do": (
        [USER, assistant("a", STEP, call("c"), STEP, HELLO)],
        [USER, assistant("a", STEP, call("c"), STEP, HELLO)],
    ),
    "a call and its result": (
        [USER, assistant("a", HELLO, call("c", FOUND))],
        [USER, assistant("a", HELLO, call("c")), tool("a#1:results", result("c"))],
    ),
    "parallel calls share a tool message": (
        [assistant("a", call("c", FOUND), call("d"), call("e", OTHER))],
        [
            assistant("a", call("c"), call("d"), call("e")),
            tool("a#1:results", result("c"), result("e", "other")),
        ],
    ),
    "one piece a step": (
        [assistant("a", STEP, call("c", FOUND), STEP, HELLO, STEP, call("d", OTHER))],
        [
            assistant("a", STEP, call("c")),
            tool("a#1:results", result("c")),
            assistant("a#2", STEP, HELLO),
            assistant("a#3", STEP, call("d")),
            tool("a#3:results", result("d", "other")),
        ],
    ),
    "what stands before the first step is a piece too": (
        [assistant("a", HELLO, STEP, call("c", FOUND))],
        [assistant("a", HELLO), assistant("a#2", STEP, call("c")), tool("a#2:results", result("c"))],
    ),
    "a call id that comes again begins a piece": (
        [assistant("a", call("c"), call("c", FOUND), HELLO, call("c", OTHER))],
        [
            assistant("a", call("c")),
            assistant("a#2", call("c"), HELLO),
            tool("a#2:results", result("c")),
            assistant("a#3", call("c")),
            tool("a#3:results", result("c", "other")),
        ],
    ),
    "the same call id in two messages": (
        [assistant("a", call("c", FOUND)), assistant("b", call("c", OTHER)), assistant("d", call("c"))],
        [
            assistant("a", call("c")),
            tool("a#1:results", result("c")),
            assistant("b", call("c")),
            tool("b#1:results", result("c", "other")),
            assistant("d", call("c")),
        ],
    ),
    "a tool message with an id of its own": (
        [assistant("a", call("c", FOUND, source=tool("t")), call("d", OTHER, source=tool("t")))],
        [assistant("a", call("c"), call("d")), tool("t", result("c"), result("d", "other"))],
    ),
    "a tool message for each result": (
        [assistant("a", call("c", FOUND, source=tool("t")), call("d", OTHER, source=tool("v")))],
        [assistant("a", call("c"), call("d")), tool("t", result("c")), tool("v", result("d", "other"))],
    ),
    "two tool messages of one id": (
        [
            assistant(
                "a", call("c", FOUND, source=tool("t")), call("d", OTHER, source=replace(tool("t"), seq=2))
            )
        ],
        [
            assistant("a", call("c"), call("d")),
            tool("t", result("c")),
            replace(tool("t", result("d", "other")), seq=2),
        ],
    ),
    "a tool message that has the id of ours and more around it": (
        [assistant("a", call("c", FOUND, source=replace(tool("a#1:results"), seq=2)))],
        [assistant("a", call("c")), replace(tool("a#1:results", result("c")), seq=2)],
    ),
    "other parts of a tool message": (
        [assistant("a", call("c", FOUND, source=tool("t"))), tool("t", STRANGE, result("x"))],
        [assistant("a", call("c")), tool("t", result("c"), STRANGE, result("x"))],
    ),
    "an empty tool message": (
        [assistant("a", call("c", FOUND, source=tool("t"))), tool("t")],
        [assistant("a", call("c")), tool("t", result("c")), tool("t")],
    ),
    "a result of no call": ([tool("t", result("x")), USER], [tool("t", result("x")), USER]),
    "a result whose call has one already": (
        [assistant("a", call("c", FOUND)), tool("t", result("c", "again"))],
        [assistant("a", call("c")), tool("a#1:results", result("c")), tool("t", result("c", "again"))],
    ),
    "a result before a call that has one": (
        [tool("t", result("c", "early")), assistant("a", call("c", FOUND))],
        [tool("t", result("c", "early")), assistant("a", call("c")), tool("a#1:results", result("c"))],
    ),
    "an odd name in the result": (
        [assistant("a", call("c", FOUND, source=tool("t", ToolResultPart("c", "find", JsonOutput(None)))))],
        [assistant("a", call("c")), tool("t", result("c", name="find"))],
    ),
}


@each_row(("merged", "view"), VIEWS.values(), ids=VIEWS)
def test_the_two_views_are_made_from_each_other(merged: list[Message], view: list[Message]) -> None:
    assert expand(merged) == view
    assert fold(view) == merged


# Lists that `fold` brings into order; there is no way back to where the results were.
FOLDED: dict[str, tuple[list[Message], list[Message]]] = {
    "a late result moves to its call": (
        [assistant("a", call("c")), USER, assistant("b", HELLO), tool("t", result("c"))],
        [assistant("a", call("c", FOUND, source=tool("t"))), USER, assistant("b", HELLO)],
    ),
    "a result before its call": (
        [tool("t", result("c")), assistant("a", call("c"))],
        [assistant("a", call("c", FOUND, source=tool("t")))],
    ),
    "a result before its calls takes the nearest": (
        [tool("t", result("c")), assistant("a", call("c")), assistant("b", call("c"))],
        [assistant("a", call("c", FOUND, source=tool("t"))), assistant("b", call("c"))],
    ),
    "a result takes the nearest call before it": (
        [
            assistant("a", call("c")),
            assistant("b", call("c")),
            tool("t", result("c")),
            assistant("d", call("c")),
        ],
        [
            assistant("a", call("c")),
            assistant("b", call("c", FOUND, source=tool("t"))),
            assistant("d", call("c")),
        ],
    ),
    "then the next before it, then the nearest after it, and then none": (
        [
            assistant("a", call("c")),
            assistant("b", call("c")),
            tool("t", result("c", "1"), result("c", "2"), result("c", "3"), result("c", "4")),
            assistant("d", call("c")),
        ],
        [
            assistant("a", call("c", TextOutput("2"), source=tool("t"))),
            assistant("b", call("c", TextOutput("1"), source=tool("t"))),
            tool("t", result("c", "4")),
            assistant("d", call("c", TextOutput("3"), source=tool("t"))),
        ],
    ),
    "in one message, calls of the same id are served in order": (
        [assistant("a", call("c"), call("c")), tool("t", result("c", "1"), result("c", "2"))],
        [
            assistant(
                "a",
                call("c", TextOutput("1"), source=tool("t")),
                call("c", TextOutput("2"), source=tool("t")),
            )
        ],
    ),
    "a call behind a result is left to the result behind it": (
        [tool("t", result("c", "early")), assistant("a", call("c")), tool("v", result("c"))],
        [tool("t", result("c", "early")), assistant("a", call("c", FOUND, source=tool("v")))],
    ),
    "a piece without its message is a message": (
        [assistant("a#2", call("c")), tool("a#2:results", result("c"))],
        [assistant("a#2", call("c", FOUND, source=tool("a#2:results")))],
    ),
    "a piece behind another message is a message": (
        [assistant("a", HELLO), USER, assistant("a#2", STEP)],
        [assistant("a", HELLO), USER, assistant("a#2", STEP)],
    ),
    "a piece that skips a number is a message": (
        [assistant("a", HELLO), assistant("a#3", STEP)],
        [assistant("a", HELLO), assistant("a#3", STEP)],
    ),
    "a piece of its own time is a message": (
        [assistant("a", HELLO), replace(assistant("a#2", STEP), seq=1)],
        [assistant("a", HELLO), replace(assistant("a#2", STEP), seq=1)],
    ),
    "pieces without results are joined too": (
        [assistant("a", call("c")), tool("t", STRANGE), assistant("a#2", STEP, HELLO)],
        [assistant("a", call("c"), STEP, HELLO), tool("t", STRANGE)],
    ),
}


@each_row(("messy", "merged"), FOLDED.values(), ids=FOLDED)
def test_fold_brings_results_to_their_calls(messy: list[Message], merged: list[Message]) -> None:
    assert fold(messy) == merged
    assert fold(merged) == merged


STATES: dict[str, tuple[ToolOutput, ToolState]] = {
    "text": (FOUND, "output-available"),
    "json": (JsonOutput(None), "output-available"),
    "content": (ContentOutput((HELLO,)), "output-available"),
    "error-text": (ErrorTextOutput("no"), "output-error"),
    "error-json": (ErrorJsonOutput({}), "output-error"),
    "interrupted": (InterruptedOutput("timeout"), "output-error"),
    "execution-denied": (ExecutionDeniedOutput("no"), "output-denied"),
}


@each_row(("output", "state"), STATES.values(), ids=STATES)
@each_row("before", [state for state in get_args(ToolState) if state not in FINISHED_STATES])
def test_an_open_call_is_settled_by_its_result(
    output: ToolOutput, state: ToolState, before: ToolState
) -> None:
    waiting = ToolCallPart("c", "search", before, {})
    folded = fold([assistant("a", waiting), tool("t", ToolResultPart("c", "search", output))])
    assert folded == [assistant("a", replace(waiting, state=state, output=output, result_message=tool("t")))]


REOPENED: dict[str, tuple[Approval | None, ToolState]] = {
    "no one was asked": (None, "input-available"),
    "someone was asked": (Approval("p"), "approval-requested"),
    "someone said yes": (Approval("p", approved=True), "approval-responded"),
    "someone said no": (Approval("p", approved=False), "approval-responded"),
}


@each_row(("approval", "before"), REOPENED.values(), ids=REOPENED)
@each_row(("output", "state"), STATES.values(), ids=STATES)
def test_in_the_models_view_a_call_is_as_it_was_before_its_output(
    approval: Approval | None, before: ToolState, output: ToolOutput, state: ToolState
) -> None:
    settled = ToolCallPart("c", "search", state, {}, output=output, approval=approval)
    view = expand([assistant("a", settled)])
    assert view == [
        assistant("a", replace(settled, state=before, output=None)),
        tool("a#1:results", ToolResultPart("c", "search", output)),
    ]


@each_row("state", get_args(ToolState))
@each_row("output", [output for output, _ in STATES.values()], ids=STATES)
def test_a_state_that_says_something_else_than_the_output_survives(
    output: ToolOutput, state: ToolState
) -> None:
    merged = [assistant("a", ToolCallPart("c", "search", state, {}, output=output))]
    view = expand(merged)
    assert fold(view) == merged
    assert (view == merged) == (state not in FINISHED_STATES)  # an open call keeps its output


def test_metadata_of_the_result_goes_with_the_output() -> None:
    part = replace(call("c", FOUND), call_provider_metadata={"p": 1}, result_provider_metadata={"p": 2})
    view = expand([assistant("a", part)])
    assert view == [
        assistant("a", replace(call("c"), call_provider_metadata={"p": 1})),
        tool("a#1:results", replace(result("c"), provider_metadata={"p": 2})),
    ]
    assert fold(view) == [assistant("a", part)]


@each_row("held", [{"result_provider_metadata": {"p": 1}}, {"result_message": tool("s")}])
def test_a_call_that_holds_what_is_left_of_another_result_takes_none(held: JsonObject) -> None:
    messy: list[Message] = [assistant("a", replace(call("c"), **held)), tool("t", result("c"))]
    assert fold(messy) == messy


def test_pieces_repeat_what_is_around_the_content_and_nothing_else() -> None:
    around = {"thread_id": "t", "created_at": datetime(2024, 1, 1, tzinfo=UTC), "run_id": "r", "seq": 7}
    content = AssistantContent(
        parts=(call("c", FOUND), STEP),
        content="hello",
        metadata={"a": 1},
        provider_metadata={"p": {}},
        usage=Usage(input_tokens=1),
        extra=Extra({"x": 1}),
    )
    message = replace(assistant("a"), content=content, type="event", extra=Extra({"y": 1}), **around)
    first, results, second = expand([message])
    assert first == replace(message, content=replace(content, parts=(call("c"),)))
    assert results == replace(tool("a#1:results", result("c")), **around)
    assert second == replace(assistant("a#2", STEP), type="event", **around)


def test_everything_around_a_result_comes_back() -> None:
    source = ToolMessage(
        id="t",
        thread_id="thread",
        seq=3,
        created_at=datetime(2024, 1, 1, tzinfo=UTC),
        content=ToolContent(
            parts=(replace(result("c", name="find"), provider_metadata={"p": 1}, extra=Extra({"ms": 12})),),
            content="found",
            metadata=None,
            extra=Extra({"x": 1}),
        ),
        extra=Extra({"y": 1}),
    )
    view: list[Message] = [assistant("a", call("c")), source]
    (merged,) = fold(view)
    assert expand([merged]) == view
    assert encode(expand([merged])) == encode(view)


def test_children_are_left_as_they_are() -> None:
    inner = (assistant("i", call("c", FOUND)), assistant("j", call("d")), tool("k", result("d")))
    outer = assistant("a", replace(call("c"), children=inner))
    assert expand([outer]) == [outer]
    assert fold([outer, tool("t", result("d"))]) == [outer, tool("t", result("d"))]


def test_a_source_that_fold_would_not_write_keeps_the_output_with_its_call() -> None:
    merged = [assistant("a", call("c", FOUND, source=tool("t", STRANGE)))]
    assert expand(merged) == merged


# --- what always holds ----------------------------------------------------------------------------------

NO_CALL = "of no call"
MESSAGE_IDS = ("a", "b", "d", "e", "f", "u")
RESULTS = st.builds(
    ToolResultPart,
    st.sampled_from(CALL_IDS),
    st.sampled_from(["search", "find"]),
    tool_outputs(),
    provider_metadata=st.none() | st.just({"p": {"a": 1}}),
    extra=st.none() | st.just(Extra({"ms": 12})),
)
TOOL_PARTS = RESULTS | st.just(STRANGE) | st.just(UnknownPart(raw=Extra({"type": "hologram"})))
SOURCES = st.builds(
    ToolMessage,
    id=st.sampled_from(["s", "t"]),
    seq=st.none() | st.integers(0, 1),
    content=st.builds(ToolContent, parts=st.just(()), metadata=st.just({"a": 1}) | st.none()),
    extra=st.none() | st.just(Extra({"x": 1})),
)
CALLS = st.builds(
    ToolCallPart,
    st.sampled_from(CALL_IDS),
    st.sampled_from(["search", "write"]),
    st.sampled_from(get_args(ToolState)),
    st.just({}),
    output=st.none() | tool_outputs(),
    approval=st.sampled_from([None, Approval("p"), Approval("p", approved=True)]),
    preliminary=st.none() | st.booleans(),
    result_provider_metadata=st.none() | st.just({"p": {"b": 2}}),
    result_message=st.none() | SOURCES,
)
ASSISTANT_PARTS = CALLS | st.sampled_from([STEP, HELLO, STRANGE])
AROUND = {"thread_id": st.none() | st.just("thread"), "seq": st.none() | st.integers(0, 2)}
ASSISTANTS = st.builds(
    AssistantMessage,
    id=st.sampled_from(MESSAGE_IDS),
    content=st.builds(
        AssistantContent,
        parts=st.lists(ASSISTANT_PARTS, max_size=6).map(tuple),
        usage=st.none() | st.just(Usage(total_tokens=1)),
        metadata=st.none() | st.just({"m": 1}),
    ),
    **AROUND,
)
OTHERS = st.sampled_from([USER, SystemMessage(id="system", content="be brief")])


def tools(parts: SearchStrategy[ToolPart]) -> SearchStrategy[Message]:
    ids = st.sampled_from(["s", "t", *(f"{name}#1:results" for name in MESSAGE_IDS)])
    return st.builds(ToolMessage, id=ids, content=st.lists(parts, max_size=4), **AROUND)


ANY_MESSAGES = ASSISTANTS | tools(TOOL_PARTS) | OTHERS | messages()
MESSY = st.lists(ANY_MESSAGES, max_size=6)
"""Any list at all: results early, late, twice, of no call; ids that come again."""

PIECES = ASSISTANTS.map(
    lambda message: replace(message, id="a#2", content=AssistantContent(parts=message.parts))
)
MESSY_WITH_PIECES = st.lists(ANY_MESSAGES | PIECES, max_size=6)
"""As above, and with ids that only `expand` should make."""

UNKNOWN_RESULTS = RESULTS.map(lambda part: replace(part, id=NO_CALL))
MERGED = st.lists(ASSISTANTS | tools(UNKNOWN_RESULTS) | OTHERS, max_size=5)
"""Merged views: what is left in tool messages has no call."""


@st.composite
def provider_lists(draw: DrawFn) -> list[Message]:
    """What providers speak: calls with an id each, then their results, in order, in one message or more."""
    view: list[Message] = []
    for number in range(draw(st.integers(0, 3))):
        calls = [call(call_id) for call_id in draw(st.lists(st.sampled_from(CALL_IDS), unique=True))]
        approval = draw(st.sampled_from([None, Approval("p", approved=False)]))
        if approval:
            calls = [replace(part, approval=approval, state="approval-responded") for part in calls]
        view += [replace(USER, id=f"u{number}"), assistant(f"a{number}", HELLO, *calls)]
        answers = [replace(draw(RESULTS), id=part.id) for part in calls if draw(st.booleans())]
        cut = draw(st.integers(0, len(answers)))
        halves = [half for half in (answers[:cut], answers[cut:]) if half]
        view += [
            replace(tool(f"t{number}{n}", *half), seq=draw(st.none() | st.just(1)))
            for n, half in enumerate(halves)
        ]
    return view


@given(MERGED)
def test_fold_undoes_expand(merged: list[Message]) -> None:
    assert fold(expand(merged)) == merged


@given(MESSY)
def test_fold_undoes_expand_of_whatever_fold_gave(messy: list[Message]) -> None:
    merged = fold(messy)
    assert fold(merged) == merged
    assert fold(expand(merged)) == merged


@given(st.lists(messages(COHERENT), max_size=3))
def test_real_messages_come_back_to_the_byte(values: list[Message]) -> None:
    merged = fold(values)
    assert encode(fold(expand(merged))) == encode(merged)


@given(MERGED)
def test_expand_undoes_fold_of_a_models_view(merged: list[Message]) -> None:
    view = expand(merged)
    assert expand(fold(view)) == view


@given(provider_lists())
def test_expand_undoes_fold_of_what_providers_speak(view: list[Message]) -> None:
    assert expand(fold(view)) == view


@given(MERGED)
def test_in_the_models_view_every_moved_output_stands_right_behind_its_call(merged: list[Message]) -> None:
    calls: set[str] = set()
    for message in expand(merged):
        match message:
            case AssistantMessage():
                calls = {part.id for part in message.parts if isinstance(part, ToolCallPart)}
            case ToolMessage():
                results = {part.id for part in message.parts if isinstance(part, ToolResultPart)}
                assert results - {NO_CALL} <= calls
            case SystemMessage() | UserMessage():
                calls = set()


@pytest.mark.parametrize("change", [fold, expand])
@given(messy=MESSY_WITH_PIECES)
def test_no_list_loses_anything(
    change: Callable[[Sequence[Message]], list[Message]], messy: list[Message]
) -> None:
    changed = change(messy)
    assert contents(changed) == contents(messy)
    assert set(message_ids(messy)) <= set(with_derived(message_ids(changed)))
    assert sources(messy) <= sources(changed)


def contents(messages: Iterable[Message]) -> Counter[bytes]:
    """How often each thing is in a list, wherever it stands: calls, what came with results, other parts."""
    return Counter(encode(thing) for message in messages for part in message.parts for thing in things(part))


def things(part: Part) -> Iterator[object]:
    match part:
        case ToolCallPart(result_message=source):
            yield replace(part, **BARE)
            if part.output is not None:
                kept = [item for item in source.parts if isinstance(item, ToolResultPart)] if source else []
                (said,) = kept or [ToolResultPart(part.id, part.name, part.output)]
                metadata = part.result_provider_metadata
                yield replace(said, output=part.output, provider_metadata=metadata)
            elif part.result_provider_metadata is not None:
                yield ["metadata", part.result_provider_metadata]
        case _:
            yield part


def message_ids(messages: Iterable[Message]) -> Iterator[str]:
    """The ids of messages and of those that results came in."""
    for message in messages:
        yield message.id
        yield from (source.id for source in sources_in(message))


def with_derived(ids: Iterable[str]) -> Iterator[str]:
    """`ids`, and those of the pieces they may be cut into."""
    for known in ids:
        yield known
        for number in range(1, 9):
            yield from (f"{known}#{number}", f"{known}#{number}:results")


def sources(messages: Iterable[Message]) -> set[bytes]:
    """What was around results, but for messages that `expand` writes by itself."""
    found = [source for message in messages for source in sources_in(message)]
    return {encode(without_parts(source)) for source in found if not source.id.endswith(":results")}


def sources_in(message: Message) -> list[ToolMessage]:
    if isinstance(message, ToolMessage):
        return [message]
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    return [call.result_message for call in calls if call.result_message is not None]


def without_parts(message: ToolMessage) -> ToolMessage:
    return replace(message, content=replace(message.content, parts=()))
