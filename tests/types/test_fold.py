"""The merged view and the model view are converted into each other without losing anything."""

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

# --- examples --------------------------------------------------------------------------------------------

STEP = StepStartPart()
HELLO = TextPart("hello")
UNRELATED = ForeignPart("elsewhere", {"a": 1})
USER = UserMessage(id="u", content="hi")


WITHOUT_RESULT = {
    "state": "input-available",
    "output": None,
    "result_message": None,
    "result_provider_metadata": None,
}
"""The members of a call that come with a result, absent."""


def call(id: str, output: ToolOutput | None = None, *, source: ToolMessage | None = None) -> ToolCallPart:
    """Return a call whose state follows from its output."""
    state: ToolState = "input-available" if output is None else state_after(output)
    return ToolCallPart(id, "search", state, {"q": id}, output=output, result_message=source)


def result(id: str, value: str = "found", name: str = "search") -> ToolResultPart:
    return ToolResultPart(id, name, TextOutput(value))


def assistant(id: str, *parts: AssistantPart) -> AssistantMessage:
    """Return a message of type tool, like all messages that a merged message is split into."""
    return AssistantMessage(id=id, type="tool", content=parts)


def tool(id: str, *parts: ToolPart) -> ToolMessage:
    return ToolMessage(id=id, type="tool", content=parts)


FOUND = TextOutput("found")
OTHER = TextOutput("other")

# Equal lists in both views: the merged view, the model view.
VIEWS: dict[str, tuple[list[Message], list[Message]]] = {
    "nothing": ([], []),
    "no outputs": (
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
    "one message per step": (
        [assistant("a", STEP, call("c", FOUND), STEP, HELLO, STEP, call("d", OTHER))],
        [
            assistant("a", STEP, call("c")),
            tool("a#1:results", result("c")),
            assistant("a#2", STEP, HELLO),
            assistant("a#3", STEP, call("d")),
            tool("a#3:results", result("d", "other")),
        ],
    ),
    "parts before the first step are a message": (
        [assistant("a", HELLO, STEP, call("c", FOUND))],
        [assistant("a", HELLO), assistant("a#2", STEP, call("c")), tool("a#2:results", result("c"))],
    ),
    "a repeated call id starts a message": (
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
    "a tool message with its own id": (
        [assistant("a", call("c", FOUND, source=tool("t")), call("d", OTHER, source=tool("t")))],
        [assistant("a", call("c"), call("d")), tool("t", result("c"), result("d", "other"))],
    ),
    "a tool message for each result": (
        [assistant("a", call("c", FOUND, source=tool("t")), call("d", OTHER, source=tool("v")))],
        [assistant("a", call("c"), call("d")), tool("t", result("c")), tool("v", result("d", "other"))],
    ),
    "two tool messages with the same id": (
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
    "a tool message with a derived id and other members": (
        [assistant("a", call("c", FOUND, source=replace(tool("a#1:results"), seq=2)))],
        [assistant("a", call("c")), replace(tool("a#1:results", result("c")), seq=2)],
    ),
    "other parts of a tool message": (
        [assistant("a", call("c", FOUND, source=tool("t"))), tool("t", UNRELATED, result("x"))],
        [assistant("a", call("c")), tool("t", result("c"), UNRELATED, result("x"))],
    ),
    "an empty tool message": (
        [assistant("a", call("c", FOUND, source=tool("t"))), tool("t")],
        [assistant("a", call("c")), tool("t", result("c")), tool("t")],
    ),
    "a result without a call": ([tool("t", result("x")), USER], [tool("t", result("x")), USER]),
    "a second result of a call": (
        [assistant("a", call("c", FOUND)), tool("t", result("c", "again"))],
        [assistant("a", call("c")), tool("a#1:results", result("c")), tool("t", result("c", "again"))],
    ),
    "a result before a call that has a result": (
        [tool("t", result("c", "early")), assistant("a", call("c", FOUND))],
        [tool("t", result("c", "early")), assistant("a", call("c")), tool("a#1:results", result("c"))],
    ),
    "another tool name in the result": (
        [assistant("a", call("c", FOUND, source=tool("t", ToolResultPart("c", "find", JsonOutput(None)))))],
        [assistant("a", call("c")), tool("t", result("c", name="find"))],
    ),
}


@each_row(("merged", "view"), VIEWS.values(), ids=VIEWS)
def test_the_two_views_are_converted_into_each_other(merged: list[Message], view: list[Message]) -> None:
    assert expand(merged) == view
    assert fold(view) == merged


# Lists that `fold` reorders; the original positions of results are lost.
FOLDED: dict[str, tuple[list[Message], list[Message]]] = {
    "a late result moves to its call": (
        [assistant("a", call("c")), USER, assistant("b", HELLO), tool("t", result("c"))],
        [assistant("a", call("c", FOUND, source=tool("t"))), USER, assistant("b", HELLO)],
    ),
    "a result before its call": (
        [tool("t", result("c")), assistant("a", call("c"))],
        [assistant("a", call("c", FOUND, source=tool("t")))],
    ),
    "a result before its calls belongs to the nearest one": (
        [tool("t", result("c")), assistant("a", call("c")), assistant("b", call("c"))],
        [assistant("a", call("c", FOUND, source=tool("t"))), assistant("b", call("c"))],
    ),
    "a result belongs to the nearest call before it": (
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
    "further results belong to the next call before, then to the nearest one after": (
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
    "in one message, results belong to calls with the same id in order": (
        [assistant("a", call("c"), call("c")), tool("t", result("c", "1"), result("c", "2"))],
        [
            assistant(
                "a",
                call("c", TextOutput("1"), source=tool("t")),
                call("c", TextOutput("2"), source=tool("t")),
            )
        ],
    ),
    "a call after a result belongs to the result after it": (
        [tool("t", result("c", "early")), assistant("a", call("c")), tool("v", result("c"))],
        [tool("t", result("c", "early")), assistant("a", call("c", FOUND, source=tool("v")))],
    ),
    "a split message without its first part stays a message": (
        [assistant("a#2", call("c")), tool("a#2:results", result("c"))],
        [assistant("a#2", call("c", FOUND, source=tool("a#2:results")))],
    ),
    "a split message after another message stays a message": (
        [assistant("a", HELLO), USER, assistant("a#2", STEP)],
        [assistant("a", HELLO), USER, assistant("a#2", STEP)],
    ),
    "a split message with a missing number stays a message": (
        [assistant("a", HELLO), assistant("a#3", STEP)],
        [assistant("a", HELLO), assistant("a#3", STEP)],
    ),
    "a split message with another time stays a message": (
        [assistant("a", HELLO), replace(assistant("a#2", STEP), seq=1)],
        [assistant("a", HELLO), replace(assistant("a#2", STEP), seq=1)],
    ),
    "split messages without results are joined": (
        [assistant("a", call("c")), tool("t", UNRELATED), assistant("a#2", STEP, HELLO)],
        [assistant("a", call("c"), STEP, HELLO), tool("t", UNRELATED)],
    ),
}


@each_row(("messy", "merged"), FOLDED.values(), ids=FOLDED)
def test_fold_merges_results_into_their_calls(messy: list[Message], merged: list[Message]) -> None:
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
def test_a_result_settles_its_open_call(output: ToolOutput, state: ToolState, before: ToolState) -> None:
    waiting = ToolCallPart("c", "search", before, {})
    folded = fold([assistant("a", waiting), tool("t", ToolResultPart("c", "search", output))])
    assert folded == [assistant("a", replace(waiting, state=state, output=output, result_message=tool("t")))]


REOPENED: dict[str, tuple[Approval | None, ToolState]] = {
    "no approval": (None, "input-available"),
    "a pending approval": (Approval("p"), "approval-requested"),
    "a granted approval": (Approval("p", approved=True), "approval-responded"),
    "a denied approval": (Approval("p", approved=False), "approval-responded"),
}


@each_row(("approval", "before"), REOPENED.values(), ids=REOPENED)
@each_row(("output", "state"), STATES.values(), ids=STATES)
def test_in_the_model_view_a_call_has_the_state_before_its_output(
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
def test_a_state_that_contradicts_the_output_is_kept(output: ToolOutput, state: ToolState) -> None:
    merged = [assistant("a", ToolCallPart("c", "search", state, {}, output=output))]
    view = expand(merged)
    assert fold(view) == merged
    assert (view == merged) == (state not in FINISHED_STATES)  # an open call keeps its output


def test_metadata_of_the_result_stay_with_the_output() -> None:
    part = replace(call("c", FOUND), call_provider_metadata={"p": 1}, result_provider_metadata={"p": 2})
    view = expand([assistant("a", part)])
    assert view == [
        assistant("a", replace(call("c"), call_provider_metadata={"p": 1})),
        tool("a#1:results", replace(result("c"), provider_metadata={"p": 2})),
    ]
    assert fold(view) == [assistant("a", part)]


@each_row("held", [{"result_provider_metadata": {"p": 1}}, {"result_message": tool("s")}])
def test_a_call_with_remains_of_another_result_gets_no_result(held: JsonObject) -> None:
    messy: list[Message] = [assistant("a", replace(call("c"), **held)), tool("t", result("c"))]
    assert fold(messy) == messy


def test_split_messages_repeat_the_members_of_the_message_except_the_content() -> None:
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


def test_all_members_of_a_result_message_round_trip() -> None:
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


def test_children_are_not_changed() -> None:
    inner = (assistant("i", call("c", FOUND)), assistant("j", call("d")), tool("k", result("d")))
    outer = assistant("a", replace(call("c"), children=inner))
    assert expand([outer]) == [outer]
    assert fold([outer, tool("t", result("d"))]) == [outer, tool("t", result("d"))]


def test_a_result_message_that_fold_would_not_write_stays_with_its_call() -> None:
    merged = [assistant("a", call("c", FOUND, source=tool("t", UNRELATED)))]
    assert expand(merged) == merged


# --- properties ------------------------------------------------------------------------------------------

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
TOOL_PARTS = RESULTS | st.just(UNRELATED) | st.just(UnknownPart(raw=Extra({"type": "hologram"})))
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
ASSISTANT_PARTS = CALLS | st.sampled_from([STEP, HELLO, UNRELATED])
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
"""Any list: results early, late, repeated or without a call; repeated ids."""

SPLIT_MESSAGES = ASSISTANTS.map(
    lambda message: replace(message, id="a#2", content=AssistantContent(parts=message.parts))
)
MESSY_WITH_PIECES = st.lists(ANY_MESSAGES | SPLIT_MESSAGES, max_size=6)
"""As above, with ids that normally only `expand` creates."""

UNKNOWN_RESULTS = RESULTS.map(lambda part: replace(part, id=NO_CALL))
MERGED = st.lists(ASSISTANTS | tools(UNKNOWN_RESULTS) | OTHERS, max_size=5)
"""Merged views: results in tool messages have no call."""


@st.composite
def provider_lists(draw: DrawFn) -> list[Message]:
    """Lists as sent by providers: calls with distinct ids, then their results in order."""
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
def test_fold_reverts_expand(merged: list[Message]) -> None:
    assert fold(expand(merged)) == merged


@given(MESSY)
def test_fold_reverts_expand_of_any_folded_list(messy: list[Message]) -> None:
    merged = fold(messy)
    assert fold(merged) == merged
    assert fold(expand(merged)) == merged


@given(st.lists(messages(COHERENT), max_size=3))
def test_recorded_messages_round_trip_unchanged(values: list[Message]) -> None:
    merged = fold(values)
    assert encode(fold(expand(merged))) == encode(merged)


@given(MERGED)
def test_expand_reverts_fold_of_a_model_view(merged: list[Message]) -> None:
    view = expand(merged)
    assert expand(fold(view)) == view


@given(provider_lists())
def test_expand_reverts_fold_of_provider_lists(view: list[Message]) -> None:
    assert expand(fold(view)) == view


@given(MERGED)
def test_in_the_model_view_every_output_directly_follows_its_call(merged: list[Message]) -> None:
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
    """Count everything in a list regardless of its position: calls, members of results, other parts."""
    return Counter(
        encode(thing) for message in messages for part in message.parts for thing in countable(part)
    )


def countable(part: Part) -> Iterator[object]:
    match part:
        case ToolCallPart(result_message=source):
            yield replace(part, **WITHOUT_RESULT)
            if part.output is not None:
                kept = [item for item in source.parts if isinstance(item, ToolResultPart)] if source else []
                (result_part,) = kept or [ToolResultPart(part.id, part.name, part.output)]
                metadata = part.result_provider_metadata
                yield replace(result_part, output=part.output, provider_metadata=metadata)
            elif part.result_provider_metadata is not None:
                yield ["metadata", part.result_provider_metadata]
        case _:
            yield part


def message_ids(messages: Iterable[Message]) -> Iterator[str]:
    """Return the ids of messages and of merged result messages."""
    for message in messages:
        yield message.id
        yield from (source.id for source in sources_in(message))


def with_derived(ids: Iterable[str]) -> Iterator[str]:
    """Return `ids` and those of the messages they may be split into."""
    for known in ids:
        yield known
        for number in range(1, 9):
            yield from (f"{known}#{number}", f"{known}#{number}:results")


def sources(messages: Iterable[Message]) -> set[bytes]:
    """Return the members of result messages, except those that `expand` creates itself."""
    found = [source for message in messages for source in sources_in(message)]
    return {encode(without_parts(source)) for source in found if not source.id.endswith(":results")}


def sources_in(message: Message) -> list[ToolMessage]:
    if isinstance(message, ToolMessage):
        return [message]
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    return [call.result_message for call in calls if call.result_message is not None]


def without_parts(message: ToolMessage) -> ToolMessage:
    return replace(message, content=replace(message.content, parts=()))
