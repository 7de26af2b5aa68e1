"""Two values, two texts, two messages, two runs, side by side."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from partita.runtime.agent.agent import Agent
from partita.runtime.replay.diff import diff_runs, to_object
from partita.runtime.replay.differences import Difference, differences
from partita.runtime.replay.losses import lost
from partita.runtime.replay.words import compare, plainly
from partita.runtime.scripted.script import as_script
from partita.runtime.scripted.service import ScriptedService
from partita.types.json import Json, dumps, is_array, is_object
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import FilePart, ReasoningPart, SourceUrlPart, TextPart
from partita.types.tools import Approval, TextOutput
from tests.runtime.replay.recordings import an_agent, call, launched, text, told, weather
from tests.strategies_json import json_values
from tests.tables import each_row

# Values

DIFFERENCES: dict[str, tuple[Json, Json, list[Difference]]] = {
    "nothing": ({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}, []),
    "a member": ({"a": 1, "b": 2}, {"a": 1, "b": 3}, [Difference("$.b", 2, 3)]),
    "a member more, a member less": (
        {"a": 1},
        {"b": 1},
        [Difference("$.a", 1, UNSET), Difference("$.b", UNSET, 1)],
    ),
    "a name that is no word": ({"a b": 1}, {"a b": 2}, [Difference('$["a b"]', 1, 2)]),
    "an item in between": ([1, 2, 3], [1, 9, 2, 3], [Difference("$[1]", UNSET, 9)]),
    "an item less": ([1, 2, 3], [1, 3], [Difference("$[1]", 2, UNSET)]),
    "another kind": ({"a": [1]}, {"a": "1"}, [Difference("$.a", [1], "1")]),
    "a truth is no number": ([True], [1], [Difference("$[0]", True, 1)]),
    "inside an item": ([{"a": 1}, 5], [{"a": 2}, 5], [Difference("$[0].a", 1, 2)]),
}


@each_row(("old", "new", "found"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_where_values_differ(old: Json, new: Json, found: list[Difference]) -> None:
    assert differences(old, new) == found


@given(json_values(), json_values())
def test_values_differ_nowhere_only_if_they_are_the_same(one: Json, other: Json) -> None:
    assert not differences(one, one)
    assert bool(differences(one, other)) == (_sorted(one) != _sorted(other))


def _sorted(value: Json) -> object:
    if is_object(value):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if is_array(value) else dumps(value)


def test_a_difference_in_words() -> None:
    assert str(Difference("$.a", UNSET, "x" * 100)) == f'$.a: nothing → "{"x" * 78}…'


# Texts


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_pieces_of_each_text_are_that_text(old: str, new: str) -> None:
    pieces = compare(old, new)
    assert "".join(piece.text for piece in pieces if piece.mark != "+") == old
    assert "".join(piece.text for piece in pieces if piece.mark != "-") == new


def test_words_are_compared_as_words() -> None:
    assert plainly(compare("It is sunny today.", "It is cloudy today!")) == (
        "It is [-sunny-]{+cloudy+} today[-.-]{+!+}"
    )


def test_long_texts_are_compared_by_lines_and_in_no_time() -> None:
    lines = [f"line {number} of a long text\n" for number in range(3000)]
    other = [*lines[:1500], "another line\n", *lines[1500:]]
    pieces = compare("".join(lines), "".join(other))
    assert [(piece.mark, piece.text) for piece in pieces if piece.mark != "="] == [("+", "another line\n")]
    assert len(compare("\n" * 9000, "\n" * 9001)) == 2


# Messages

YES = Approval(id="a", approved=True)
CALL = ToolCallPart(
    id="c", name="f", state="output-available", input={}, output=TextOutput("ok"), approval=YES
)
OLD = AssistantMessage(
    id="m",
    content=[
        ReasoningPart("first think"),
        TextPart("then  speak\nand speak"),
        CALL,
        FilePart("data:,x", "text/plain"),
        SourceUrlPart("s", "https://example.org"),
    ],
)
SUB = replace(CALL, children=(AssistantMessage(id="n", content="deep words"),))
LOST: dict[str, tuple[AssistantMessage, AssistantMessage, list[str]]] = {
    "nothing": (OLD, OLD, []),
    "words cut otherwise, of another kind": (
        OLD,
        AssistantMessage(
            id="m", content=[TextPart("first think then"), TextPart("speak and speak"), *OLD.parts[2:]]
        ),
        [],
    ),
    "words": (
        OLD,
        AssistantMessage(id="m", content=OLD.parts[1:]),
        ["$.content.parts[0]: reasoning 'first think'"],
    ),
    "a call": (
        OLD,
        AssistantMessage(id="m", content=[*OLD.parts[:2], *OLD.parts[3:]]),
        ["$.content.parts[2]: the call c of f"],
    ),
    "an output": (
        OLD,
        AssistantMessage(id="m", content=[*OLD.parts[:2], replace(CALL, output=None), *OLD.parts[3:]]),
        ["$.content.parts[2]: the output of the call c"],
    ),
    "an answer": (
        OLD,
        AssistantMessage(id="m", content=[*OLD.parts[:2], replace(CALL, approval=None), *OLD.parts[3:]]),
        ["$.content.parts[2]: the answer that the call c got"],
    ),
    "a file and a source": (
        OLD,
        AssistantMessage(id="m", content=OLD.parts[:3]),
        ["$.content.parts[3]: file", "$.content.parts[4]: source-url"],
    ),
    "what a sub-agent said": (
        AssistantMessage(id="m", content=[SUB]),
        AssistantMessage(id="m", content=[CALL]),
        ["$.content.parts[0].children[0].content.parts[0]: text 'deep words'"],
    ),
}


@each_row(("old", "new", "found"), LOST.values(), ids=LOST)
def test_what_a_message_would_lose(old: AssistantMessage, new: AssistantMessage, found: list[str]) -> None:
    assert lost(old, new) == found


# Runs


async def test_a_run_beside_itself_is_the_same() -> None:
    async with an_agent() as (store, agent):
        run = await told(agent, "t", "weather?")
        other = await told(agent, "u", "weather?")
        diff = await diff_runs(store, run.id, other.id)
    assert diff.same
    assert {part.kind for part in diff.parts} == {"same"}
    facts = {fact.name: (fact.a, fact.b) for fact in diff.facts}
    assert facts["calls"] == (1, 1)
    assert facts["steps"] == (2, 2)
    assert facts["input tokens"] == (80, 80)
    assert facts["finish reason"] == ("stop", "stop")


async def test_two_runs_that_differ_line_by_line() -> None:
    other = as_script(
        {
            "scenes": [
                {
                    "steps": [
                        {"parts": [call("weather", {"city": "Bergen"})], "usage": {"inputTokens": 31}},
                        {"parts": [text("It is sunny in Bergen, and it will stay so.")]},
                    ]
                }
            ]
        }
    )
    async with an_agent() as (store, agent):
        run = await told(agent, "t", "weather?")
        rival = Agent(ScriptedService(other), tools=[weather], session=agent.session, name="rival")
        again = await told(rival, "u", "weather?")
        diff = await diff_runs(store, run.id, again.id)
    lines = [line for line in str(diff).splitlines() if "seconds" not in line]
    assert lines == [
        f"- {run.id}",
        f"+ {again.id}",
        "= status: completed",
        "~ agent: agent → rival",
        "= model: scripted",
        "= finish reason: stop",
        "= messages: 1",
        "= steps: 2",
        "= calls: 1",
        "~ input tokens: 80 → 31",
        "~ output tokens: 4 → None",
        "= message of assistant",
        "= step",
        "- reasoning",
        "~ call of weather",
        "    sunny in [-Oslo-]{+Bergen+}",
        '    $.input.city: "Oslo" → "Bergen"',
        "= step",
        "~ text",
        "    It is sunny in [-Oslo-]{+Bergen+}, and it will stay so.",
    ]
    assert not diff.same
    parts = to_object(diff)["parts"]
    assert [sorted(part) for part in parts[:3]] == [
        ["kind", "label"],
        ["kind", "label"],
        ["a", "kind", "label"],
    ], "what one run has alone is told whole"
    assert parts[2]["a"]["text"] == "I should look it up."
    assert [side["input"] for side in (parts[3]["a"], parts[3]["b"])] == [
        {"city": "Oslo"},
        {"city": "Bergen"},
    ]
    assert set(parts[3]["seconds"]) == {"a", "b"}


async def test_runs_that_went_on_with_a_message_are_compared_with_all_of_it() -> None:
    async with an_agent() as (store, agent):
        first, second = await launched(agent)
        diff = await diff_runs(store, first.id, second.id)
    assert [part.label for part in diff.parts if part.kind == "added"] == [
        "step",
        "call of weather",
        "step",
        "text",
    ]
