"""Differences of values, texts, messages and runs."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from partita.runtime.agent.agent import Agent
from partita.runtime.compare.differences import (
    MAX_DEPTH,
    MAX_ITEMS,
    MAX_TEXT,
    Difference,
    Shortener,
    TextPiece,
    diff_words,
    differences,
    format_pieces,
    is_id_or_time,
)
from partita.runtime.compare.message_losses import lost
from partita.runtime.compare.run_diff import diff_runs, to_object
from partita.runtime.scripted import ScriptedService, as_script
from partita.types.json import Json, dumps, is_array, is_object
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import Approval, FilePart, ReasoningPart, SourceUrlPart, TextOutput, TextPart
from tests.runtime.replay.example_runs import an_agent, call, launched, run_turn, text, weather
from tests.strategies_json import json_values
from tests.tables import each_row

# Values

DIFFERENCES: dict[str, tuple[Json, Json, list[Difference]]] = {
    "nothing": ({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}, []),
    "a member": ({"a": 1, "b": 2}, {"a": 1, "b": 3}, [Difference("$.b", 2, 3)]),
    "an added and a removed member": (
        {"a": 1},
        {"b": 1},
        [Difference("$.a", 1, UNSET), Difference("$.b", UNSET, 1)],
    ),
    "a name that needs quotes": ({"a b": 1}, {"a b": 2}, [Difference('$["a b"]', 1, 2)]),
    "an item in between": ([1, 2, 3], [1, 9, 2, 3], [Difference("$[1]", UNSET, 9)]),
    "two items in between": (
        ["a", "b", "c"],
        ["a", "x", "b", "y", "c"],
        [Difference("$[1]", UNSET, "x"), Difference("$[3]", UNSET, "y")],
    ),
    "items in another order": ([1, 2], [2, 1], [Difference("$[0]", 1, 2), Difference("$[1]", 2, 1)]),
    "a removed item": ([1, 2, 3], [1, 3], [Difference("$[1]", 2, UNSET)]),
    "another type": ({"a": [1]}, {"a": "1"}, [Difference("$.a", [1], "1")]),
    "a boolean is not a number": ([True], [1], [Difference("$[0]", True, 1)]),
    "inside an item": ([{"a": 1}, 5], [{"a": 2}, 5], [Difference("$[0].a", 1, 2)]),
}


@each_row(("old", "new", "found"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_differences_of_values(old: Json, new: Json, found: list[Difference]) -> None:
    assert differences(old, new) == found


@given(json_values(), json_values())
def test_only_equal_values_have_no_differences(one: Json, other: Json) -> None:
    assert not differences(one, one)
    assert bool(differences(one, other)) == (_sorted(one) != _sorted(other))


def _sorted(value: Json) -> object:
    if is_object(value):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if is_array(value) else dumps(value)


def test_a_difference_as_text() -> None:
    assert str(Difference("$.a", UNSET, "x" * 100)) == f'$.a: nothing → "{"x" * 78}…'


def nested(depth: int, core: Json = "core") -> Json:
    value = core
    for _ in range(depth):
        value = [value]
    return value


SHORTENED: dict[str, tuple[int, Json, Json]] = {
    "a long text": (10**6, "x" * (MAX_TEXT + 1), "x" * MAX_TEXT + "…"),
    "many items": (10**6, [1] * (MAX_ITEMS + 1), [*([1] * MAX_ITEMS), "…"]),
    "deep nesting": (10**6, nested(MAX_DEPTH + 1), nested(MAX_DEPTH, "…")),
    "no room left": (4, ["abc", "def", 1], ["abc", "d…", 1]),
}


@each_row(("budget", "value", "short"), SHORTENED.values(), ids=SHORTENED)
def test_a_large_value_is_shortened(budget: int, value: Json, short: Json) -> None:
    assert Shortener(budget)(value) == short


def test_values_of_any_depth_are_shortened() -> None:
    assert Shortener(100)(nested(100_000)) == Shortener(100)(nested(MAX_DEPTH + 1))


@given(json_values())
def test_a_small_value_is_unchanged(value: Json) -> None:
    assert Shortener(10**6)(value) == value


# Texts


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_pieces_form_both_texts(old: str, new: str) -> None:
    pieces = diff_words(old, new)
    assert "".join(piece.text for piece in pieces if piece.mark != "+") == old
    assert "".join(piece.text for piece in pieces if piece.mark != "-") == new


def test_texts_are_compared_by_words() -> None:
    assert format_pieces(diff_words("It is sunny today.", "It is cloudy today!")) == (
        "It is [-sunny-]{+cloudy+} today[-.-]{+!+}"
    )


IDS = {
    "a UUID": "see {}/plan.md",
    "an id of a call": "result of {} is ready",
    "a time": "written at {}, then read",
}
VALUES = {
    "a UUID": ("0b0c9d6e-54a5-4bb1-8f6f-1f3b7d5d3a01", "7a2e4f10-3c1d-4a52-9a77-2f8de0a4b9c2"),
    "an id of a call": ("toolu_01AbCdEfGh2345678901", "toolu_98ZyXwVuTs7654321098"),
    "a time": ("2026-03-02T09:00:01.250Z", "2026-04-12 17:31:09+02:00"),
}


@each_row("kind", IDS)
def test_ids_and_times_in_texts_are_equal(kind: str) -> None:
    old, new = (IDS[kind].format(value) for value in VALUES[kind])
    assert diff_words(old, new) == (TextPiece("=", old),)
    changed = diff_words(f"{old} now", f"{new} later")
    assert [piece for piece in changed if piece.mark != "="] == [
        TextPiece("-", "now"),
        TextPiece("+", "later"),
    ]


SAME: dict[str, tuple[str, Json, Json]] = {
    "a text with an id": (
        "$.output.value",
        f"/tmp/{VALUES['a UUID'][0]}/a",
        f"/tmp/{VALUES['a UUID'][1]}/a",
    ),
    "a time in milliseconds": ("$.input.createdAt", 1_772_442_000_000, 1_772_442_900_000),
    "a duration of a result": ("$.output.value.durationMs", 12, 3400),
}
DIFFERENT: dict[str, tuple[str, Json, Json]] = {
    "a line": ("$.input.start", 10, 20),
    "a time limit": ("$.input.timeout", 1000, 2000),
    "a duration that was asked for": ("$.input.duration", 5, 10),
    "a name with an underscore": ("$.input.name", "call_the_keeper_of_light", "call_the_keeper_of_sound"),
    "a number and a text": ("$.input.createdAt", 1_772_442_000_000, "2026-03-02T09:00:01Z"),
}


def test_values_that_differ_in_ids_and_times_only() -> None:
    assert [name for name, row in SAME.items() if not is_id_or_time(Difference(*row))] == []
    assert [name for name, row in DIFFERENT.items() if is_id_or_time(Difference(*row))] == []


def test_long_texts_are_compared_by_lines() -> None:
    lines = [f"line {number} of a long text\n" for number in range(3000)]
    other = [*lines[:1500], "another line\n", *lines[1500:]]
    pieces = diff_words("".join(lines), "".join(other))
    assert [(piece.mark, piece.text) for piece in pieces if piece.mark != "="] == [("+", "another line\n")]
    assert len(diff_words("\n" * 9000, "\n" * 9001)) == 2


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
    "words cut otherwise, of another type": (
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
        ["$.content.parts[2]: call c of f"],
    ),
    "an output": (
        OLD,
        AssistantMessage(id="m", content=[*OLD.parts[:2], replace(CALL, output=None), *OLD.parts[3:]]),
        ["$.content.parts[2]: the output of call c"],
    ),
    "a decision": (
        OLD,
        AssistantMessage(id="m", content=[*OLD.parts[:2], replace(CALL, approval=None), *OLD.parts[3:]]),
        ["$.content.parts[2]: the decision on call c"],
    ),
    "a file and a source": (
        OLD,
        AssistantMessage(id="m", content=OLD.parts[:3]),
        ["$.content.parts[3]: file", "$.content.parts[4]: source-url"],
    ),
    "a text of a sub-agent": (
        AssistantMessage(id="m", content=[SUB]),
        AssistantMessage(id="m", content=[CALL]),
        ["$.content.parts[0].children[0].content.parts[0]: text 'deep words'"],
    ),
}


@each_row(("old", "new", "found"), LOST.values(), ids=LOST)
def test_the_content_that_a_message_would_lose(
    old: AssistantMessage, new: AssistantMessage, found: list[str]
) -> None:
    assert lost(old, new) == found


# Runs


async def test_a_run_equals_itself() -> None:
    async with an_agent() as (store, agent):
        run = await run_turn(agent, "t", "weather?")
        other = await run_turn(agent, "u", "weather?")
        diff = await diff_runs(store, run.id, other.id)
    assert diff.same
    assert {part.kind for part in diff.parts} == {"same"}
    facts = {fact.name: (fact.a, fact.b) for fact in diff.facts}
    assert facts["tool calls"] == (1, 1)
    assert facts["steps"] == (2, 2)
    assert facts["input tokens"] == (80, 80)
    assert facts["finish reason"] == ("stop", "stop")


async def test_the_diff_of_two_runs_as_lines() -> None:
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
        run = await run_turn(agent, "t", "weather?")
        rival = Agent(ScriptedService(other), tools=[weather], session=agent.session, name="rival")
        again = await run_turn(rival, "u", "weather?")
        diff = await diff_runs(store, run.id, again.id)
    lines = [line for line in str(diff).splitlines() if "(s)" not in line]
    assert lines == [
        f"- {run.id}",
        f"+ {again.id}",
        "= status: completed",
        "~ agent: agent → rival",
        "= model: scripted",
        "= finish reason: stop",
        "= messages: 1",
        "= steps: 2",
        "= tool calls: 1",
        "~ input tokens: 80 → 31",
        "~ output tokens: 4 → None",
        "= assistant message",
        "= step",
        "- reasoning",
        "~ tool call weather",
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
    ], "content of one run only is complete"
    assert parts[2]["a"]["text"] == "I should look it up."
    assert [side["input"] for side in (parts[3]["a"], parts[3]["b"])] == [
        {"city": "Oslo"},
        {"city": "Bergen"},
    ]
    assert set(parts[3]["seconds"]) == {"a", "b"}


async def test_continuing_runs_are_compared_with_the_whole_message() -> None:
    async with an_agent() as (store, agent):
        first, second = await launched(agent)
        diff = await diff_runs(store, first.id, second.id)
    assert [part.label for part in diff.parts if part.kind == "added"] == [
        "step",
        "tool call weather",
        "step",
        "text",
    ]
