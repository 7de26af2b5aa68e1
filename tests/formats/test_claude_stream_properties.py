"""Any events: the decoder does not fail, emits nothing twice and leaves nothing open."""

from collections.abc import Iterator, Sequence
from copy import deepcopy

from hypothesis import given
from hypothesis import strategies as st

from partita.formats.claude_code.stream import ClaudeStreamDecoder
from partita.stream.accumulator import Accumulator
from partita.types.chunks import Chunk
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantMessage, AssistantPart, ToolCallPart
from partita.types.parts import ReasoningPart, TextPart
from tests.formats.claude_turns import (
    TURNS,
    approval_request,
    approval_response,
    assistant_event,
    block_delta,
    block_start,
    block_stop,
    decode,
    message_end,
    message_start,
    result,
    system,
    text,
    thinking,
    tool_result,
    tool_use,
    user_event,
)
from tests.strategies import damage_value, json_values
from tests.tables import each_row

UNFINISHED = {"input-streaming", "input-available", "approval-requested", "approval-responded"}


def fold(chunks: Sequence[Chunk]) -> AssistantMessage:
    """The message of a strict accumulator."""
    accumulator = Accumulator(id="message", version=7)
    for chunk in chunks:
        accumulator.feed(chunk)
    assert not accumulator.diagnostics
    return accumulator.snapshot()


def parts_of(message: AssistantMessage) -> Iterator[AssistantPart]:
    """Every part of a message and of the messages under it."""
    for part in message.parts:
        yield part
        for child in part.children if isinstance(part, ToolCallPart) else ():
            if isinstance(child, AssistantMessage):
                yield from parts_of(child)


def still_open(message: AssistantMessage) -> list[AssistantPart]:
    return [part for part in parts_of(message) if getattr(part, "state", None) in {"streaming", *UNFINISHED}]


# Damaged turns

EVENTS = [event for turn in TURNS.values() for event in turn]


@st.composite
def damaged(draw: st.DrawFn) -> Json:
    """An event of a turn, usually with one value replaced or removed."""
    event = deepcopy(draw(st.sampled_from(EVENTS)))
    if is_object(event) and draw(st.booleans()):
        event.pop("uuid", None)  # repeated messages with a uuid are skipped
    if draw(st.integers(0, 3)) == 0:
        return event
    return damage_value(draw, event)


@given(events=st.lists(damaged() | st.sampled_from(EVENTS) | json_values(3), max_size=25))
def test_damaged_events_in_any_order_fold_and_leave_nothing_open(events: list[Json]) -> None:
    assert not still_open(fold(decode(events)))


def nested(depth: int) -> Json:
    value: Json = []
    for _ in range(depth):
        value = [value]
    return value


DEEP = nested(5000)

DEEP_EVENTS: dict[str, list[Json]] = {
    "an event": [DEEP],
    "an input in both forms": [
        assistant_event("m1", tool_use("c", input={"a": DEEP})),
        assistant_event("m1", tool_use("c", input={"a": [DEEP]})),
    ],
    "a result": [
        assistant_event("m1", tool_use("c")),
        user_event({"type": "tool_result", "tool_use_id": "c", "content": DEEP}),
    ],
    "a failure": [user_event({"type": "tool_result", "tool_use_id": "c", "content": DEEP, "is_error": True})],
    "a block in both forms": [
        message_start("m1"),
        block_start(0, {"type": "x", "y": DEEP}),
        assistant_event("m1", {"type": "x", "y": DEEP}),
    ],
    "a citation": [
        message_start("m1"),
        block_start(0, text("")),
        block_delta(0, "citations", DEEP),
        block_stop(0),
        *message_end(),
    ],
    "a reason": [result(stop_reason=DEEP, usage={"input_tokens": DEEP}, errors=DEEP, is_error=True)],
    "an id": [assistant_event("m1", {"type": "tool_use", "id": DEEP}), {"type": DEEP}],
}


@each_row("events", DEEP_EVENTS.values(), ids=DEEP_EVENTS)
def test_too_deeply_nested_values_are_accepted(events: list[Json]) -> None:
    decoder = ClaudeStreamDecoder()
    assert [chunk for event in events for chunk in decoder.feed(event)]


# Colliding events: few ids, many agents

CALLS = ("a", "b", "c")
SOME_BLOCKS: list[JsonObject] = [
    *(text(words) for words in ("", "x", "xy")),
    *(thinking(words, signature) for words in ("", "t") for signature in ("", "S")),
    *(tool_use(call, name, {"heat": 1}) for call in CALLS for name in ("Task", "mcp__x__y")),
    *({"type": "web_search_tool_result", "tool_use_id": call, "content": []} for call in CALLS),
    {"type": "server_tool_use", "id": "a", "name": None, "input": {}},
    {"type": "redacted_thinking", "data": "D"},
    {"type": "compaction", "content": None},
]


@st.composite
def colliding(draw: st.DrawFn) -> JsonObject:
    """An event about one of three calls, three responses and three messages."""
    under = draw(st.sampled_from((None, None, *CALLS)))
    index, call = draw(st.integers(0, 1)), draw(st.sampled_from(CALLS))
    block, words = draw(st.sampled_from(SOME_BLOCKS)), draw(st.sampled_from(("", "x", '{"a":', "1}")))
    uuids = draw(st.sets(st.sampled_from(("u1", "u2", "u3")), min_size=1))
    marks: JsonObject = draw(st.sampled_from([{}, {"aborted": True}, {"supersedes": sorted(uuids)}]))
    response = assistant_event(draw(st.sampled_from(("m1", "m2", None))), block, under=under, **marks)
    made_up = [
        message_start(draw(st.sampled_from(("m1", "m2"))), under),
        block_start(index, block, under),
        block_delta(
            index, draw(st.sampled_from(("text", "thinking", "signature", "input_json"))), words, under
        ),
        block_stop(index, under),
        *message_end(under=under),
        response,
        response | {"uuid": max(uuids)},
        user_event(tool_result(call, words, is_error=draw(st.booleans())), under=under),
        user_event(tool_result(call, words), tool_use_result={"status": "async_launched"}),
        user_event(text("go on"), under=under),
        approval_request(draw(st.sampled_from(("r1", "r2"))), draw(st.sampled_from((call, None)))),
        approval_response(
            draw(st.sampled_from(("r1", "r2"))), behavior=draw(st.sampled_from(("allow", "deny")))
        ),
        system("model_refusal_fallback", retracted_message_uuids=sorted(uuids)),
        system("permission_denied", tool_use_id=call),
        result(permission_denials=[{"tool_use_id": call}]),
    ]
    return draw(st.sampled_from(made_up))


@given(events=st.lists(colliding(), max_size=30))
def test_events_that_collide_fold_and_leave_nothing_open(events: list[Json]) -> None:
    assert not still_open(fold(decode(events)))


# Both forms of the same text

FORMS = ("events", "whole", "whole before the end", "whole after the end", "whole at the end of the turn")


class Block:
    """A text in deltas, and the form in which it is sent."""

    def __init__(self, kind: str, pieces: list[str], form: str) -> None:
        self.kind, self.pieces, self.form = kind, pieces, form

    def __repr__(self) -> str:
        return f"Block({self.kind!r}, {self.pieces!r}, {self.form!r})"

    @property
    def words(self) -> str:
        return "".join(self.pieces)

    def events(self, index: int) -> list[JsonObject]:
        empty = text("") if self.kind == "text" else thinking("")
        come = [block_start(index, empty), *[block_delta(index, self.kind, words) for words in self.pieces]]
        match self.form:
            case "whole":
                return [self.whole_event()]
            case "whole before the end":
                return [*come, self.whole_event(), block_stop(index)]
            case "whole after the end":
                return [*come, block_stop(index), self.whole_event()]
            case _:
                return [*come, block_stop(index)]

    def whole_event(self) -> JsonObject:
        block = text(self.words) if self.kind == "text" else thinking(self.words, f"signed {self.words}")
        return assistant_event("m1", block)


@st.composite
def blocks(draw: st.DrawFn) -> list[Block]:
    """The blocks of a response, with different texts, so that repetitions can be detected."""
    found: list[Block] = []
    for number in range(draw(st.integers(1, 5))):
        pieces = [f"{number}: ", *draw(st.lists(st.text(max_size=4), max_size=4))]
        found.append(Block(draw(st.sampled_from(("text", "thinking"))), pieces, draw(st.sampled_from(FORMS))))
    return found


@given(response=blocks())
def test_texts_are_emitted_once_and_in_order_in_any_form(response: list[Block]) -> None:
    events = [event for index, block in enumerate(response) for event in block.events(index)]
    events += [block.whole_event() for block in response if block.form == "whole at the end of the turn"]
    message = fold(decode([message_start("m1"), *events, *message_end(), result()]))
    found = [
        ("text" if isinstance(part, TextPart) else "thinking", part.text, _signature(part))
        for part in message.parts
        if isinstance(part, TextPart | ReasoningPart)
    ]
    assert found == [(block.kind, block.words, _signed(block)) for block in response]


def _signature(part: TextPart | ReasoningPart) -> str | None:
    metadata: JsonObject = (part.provider_metadata or {}).get("anthropic", {})
    signature = metadata.get("signature")
    return signature if isinstance(signature, str) else None


def _signed(block: Block) -> str | None:
    return None if block.kind == "text" or block.form == "events" else f"signed {block.words}"
