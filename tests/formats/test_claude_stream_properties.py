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
    answered,
    ask,
    begun,
    closed,
    decode,
    opened,
    piece,
    reply,
    result,
    stopped,
    system,
    text,
    thinking,
    use,
    user,
    whole,
)
from tests.strategies import damage_value, json_values
from tests.tables import each_row

UNFINISHED = {"input-streaming", "input-available", "approval-requested", "approval-responded"}


def fold(chunks: Sequence[Chunk]) -> AssistantMessage:
    """The message, by an accumulator that forgives nothing."""
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
    """An event of some turn, mostly with one value in it replaced or gone."""
    event = deepcopy(draw(st.sampled_from(EVENTS)))
    if is_object(event) and draw(st.booleans()):
        event.pop("uuid", None)  # with it, a message that comes again is passed over
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
        whole("m1", use("c", input={"a": DEEP})),
        whole("m1", use("c", input={"a": [DEEP]})),
    ],
    "a result": [whole("m1", use("c")), user({"type": "tool_result", "tool_use_id": "c", "content": DEEP})],
    "a failure": [user({"type": "tool_result", "tool_use_id": "c", "content": DEEP, "is_error": True})],
    "a block in both forms": [
        begun("m1"),
        opened(0, {"type": "x", "y": DEEP}),
        whole("m1", {"type": "x", "y": DEEP}),
    ],
    "a citation": [begun("m1"), opened(0, text("")), piece(0, "citations", DEEP), closed(0), *stopped()],
    "a reason": [result(stop_reason=DEEP, usage={"input_tokens": DEEP}, errors=DEEP, is_error=True)],
    "an id": [whole("m1", {"type": "tool_use", "id": DEEP}), {"type": DEEP}],
}


@each_row("events", DEEP_EVENTS.values(), ids=DEEP_EVENTS)
def test_too_deeply_nested_values_are_accepted(events: list[Json]) -> None:
    decoder = ClaudeStreamDecoder()
    assert [chunk for event in events for chunk in decoder.feed(event)]


# Events that get in each other's way: few ids, many agents

CALLS = ("a", "b", "c")
SOME_BLOCKS: list[JsonObject] = [
    *(text(words) for words in ("", "x", "xy")),
    *(thinking(words, signature) for words in ("", "t") for signature in ("", "S")),
    *(use(call, name, {"heat": 1}) for call in CALLS for name in ("Task", "mcp__x__y")),
    *({"type": "web_search_tool_result", "tool_use_id": call, "content": []} for call in CALLS),
    {"type": "server_tool_use", "id": "a", "name": None, "input": {}},
    {"type": "redacted_thinking", "data": "D"},
    {"type": "compaction", "content": None},
]


@st.composite
def colliding(draw: st.DrawFn) -> JsonObject:
    """An event about one of three calls, three answers and three messages."""
    under = draw(st.sampled_from((None, None, *CALLS)))
    index, call = draw(st.integers(0, 1)), draw(st.sampled_from(CALLS))
    block, words = draw(st.sampled_from(SOME_BLOCKS)), draw(st.sampled_from(("", "x", '{"a":', "1}")))
    uuids = draw(st.sets(st.sampled_from(("u1", "u2", "u3")), min_size=1))
    marks: JsonObject = draw(st.sampled_from([{}, {"aborted": True}, {"supersedes": sorted(uuids)}]))
    answer = whole(draw(st.sampled_from(("m1", "m2", None))), block, under=under, **marks)
    made_up = [
        begun(draw(st.sampled_from(("m1", "m2"))), under),
        opened(index, block, under),
        piece(index, draw(st.sampled_from(("text", "thinking", "signature", "input_json"))), words, under),
        closed(index, under),
        *stopped(under=under),
        answer,
        answer | {"uuid": max(uuids)},
        user(answered(call, words, is_error=draw(st.booleans())), under=under),
        user(answered(call, words), tool_use_result={"status": "async_launched"}),
        user(text("go on"), under=under),
        ask(draw(st.sampled_from(("r1", "r2"))), draw(st.sampled_from((call, None)))),
        reply(draw(st.sampled_from(("r1", "r2"))), behavior=draw(st.sampled_from(("allow", "deny")))),
        system("model_refusal_fallback", retracted_message_uuids=sorted(uuids)),
        system("permission_denied", tool_use_id=call),
        result(permission_denials=[{"tool_use_id": call}]),
    ]
    return draw(st.sampled_from(made_up))


@given(events=st.lists(colliding(), max_size=30))
def test_events_that_collide_fold_and_leave_nothing_open(events: list[Json]) -> None:
    assert not still_open(fold(decode(events)))


# Both forms of the same words

FORMS = ("events", "whole", "whole before the end", "whole after the end", "whole at last")


class Block:
    """Words, in pieces, and in which form they come."""

    def __init__(self, kind: str, pieces: list[str], form: str) -> None:
        self.kind, self.pieces, self.form = kind, pieces, form

    def __repr__(self) -> str:
        return f"Block({self.kind!r}, {self.pieces!r}, {self.form!r})"

    @property
    def words(self) -> str:
        return "".join(self.pieces)

    def events(self, index: int) -> list[JsonObject]:
        empty = text("") if self.kind == "text" else thinking("")
        come = [opened(index, empty), *[piece(index, self.kind, words) for words in self.pieces]]
        match self.form:
            case "whole":
                return [self.whole()]
            case "whole before the end":
                return [*come, self.whole(), closed(index)]
            case "whole after the end":
                return [*come, closed(index), self.whole()]
            case _:
                return [*come, closed(index)]

    def whole(self) -> JsonObject:
        block = text(self.words) if self.kind == "text" else thinking(self.words, f"signed {self.words}")
        return whole("m1", block)


@st.composite
def blocks(draw: st.DrawFn) -> list[Block]:
    """The blocks of an answer. No two say the same: whose words came twice could not be told."""
    found: list[Block] = []
    for number in range(draw(st.integers(1, 5))):
        pieces = [f"{number}: ", *draw(st.lists(st.text(max_size=4), max_size=4))]
        found.append(Block(draw(st.sampled_from(("text", "thinking"))), pieces, draw(st.sampled_from(FORMS))))
    return found


@given(answer=blocks())
def test_texts_are_emitted_once_and_in_order_in_any_form(answer: list[Block]) -> None:
    events = [event for index, block in enumerate(answer) for event in block.events(index)]
    events += [block.whole() for block in answer if block.form == "whole at last"]
    message = fold(decode([begun("m1"), *events, *stopped(), result()]))
    told = [
        ("text" if isinstance(part, TextPart) else "thinking", part.text, _signature(part))
        for part in message.parts
        if isinstance(part, TextPart | ReasoningPart)
    ]
    assert told == [(block.kind, block.words, _signed(block)) for block in answer]


def _signature(part: TextPart | ReasoningPart) -> str | None:
    metadata: JsonObject = (part.provider_metadata or {}).get("anthropic", {})
    signature = metadata.get("signature")
    return signature if isinstance(signature, str) else None


def _signed(block: Block) -> str | None:
    return None if block.kind == "text" or block.form == "events" else f"signed {block.words}"
