"""Plain recordings are read by a short way. It leads where the long way leads."""

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from partita.formats.otel.dump import dump
from partita.formats.otel.load import load, load_any
from partita.formats.otel.plainly import read_plainly
from partita.formats.otel.wrapping import CONVERSATION, INPUT, OUTPUT, SYSTEM, TOOLS
from partita.types.json import Json, JsonObject
from partita.types.messages import Message
from tests import canonical
from tests.formats.otel_recordings import RECORDINGS
from tests.leaves import changed, leaves
from tests.tables import each_row


def text(words: str) -> JsonObject:
    return {"type": "text", "content": words}


SYSTEM_SAID: JsonObject = {"role": "system", "parts": [text("You keep the register.")]}
ASKED: JsonObject = {"role": "user", "parts": [text("How tall is it?"), text("Is it lit?")]}
CALLS: list[JsonObject] = [
    {"type": "tool_call", "id": "c1", "name": "height", "arguments": {"tower": 1}},
    {"type": "tool_call", "id": "c2", "name": "lamp", "arguments": {}},
]
CALLED: JsonObject = {"role": "assistant", "parts": [{"type": "reasoning", "content": "Hm."}, *CALLS]}
RESULTS: list[JsonObject] = [
    {"type": "tool_call_response", "id": "c1", "response": {"metres": 39.5}},
    {"type": "tool_call_response", "id": "c2", "response": "lit"},
]
RETURNED: JsonObject = {"role": "tool", "parts": RESULTS}
ANSWERED: JsonObject = {"role": "assistant", "parts": [text("39.5 metres.")], "finish_reason": "stop"}
TALK = [SYSTEM_SAID, ASKED, CALLED, RETURNED]
PLAIN: Mapping[str, Json] = {
    "a talk": {INPUT: TALK, OUTPUT: [ANSWERED]},
    "a question": {INPUT: [ASKED]},
    "calls without results": {INPUT: [CALLED, ASKED, CALLED, ASKED], OUTPUT: [CALLED]},
    "with more besides": {
        INPUT: TALK,
        OUTPUT: [ANSWERED],
        CONVERSATION: "t1",
        TOOLS: [{"type": "function", "name": "height"}],
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.request.model": "some-model",
    },
    "results last": {INPUT: TALK, "gen_ai.usage.input_tokens": 12},
}


@each_row("recording", PLAIN.values(), ids=PLAIN)
def test_a_plain_recording_takes_the_short_way_to_the_same_messages(recording: Json) -> None:
    assert read_plainly(recording) is not None
    assert load(recording) == load_any(recording)
    for path in leaves(recording):
        other = changed(recording, path)
        if read_plainly(other) is not None:
            assert load(other) == load_any(other), path


@each_row("name", RECORDINGS)
def test_whatever_a_recording_holds_is_read_the_same(name: str) -> None:
    assert load(RECORDINGS[name]) == load_any(RECORDINGS[name])


def _behind(*parts: JsonObject) -> Json:
    return {INPUT: [CALLED, {"role": "tool", "parts": list(parts)}], OUTPUT: [ANSWERED]}


UNUSUAL: Mapping[str, Json] = {
    "a list": TALK,
    "texts": {INPUT: "[]"},
    "tools as text": {INPUT: [ASKED], TOOLS: "[]"},
    "instructions": {INPUT: [ASKED], SYSTEM: [text("Be calm.")]},
    "a span": {INPUT: [ASKED], "attributes": {INPUT: [ASKED]}},
    "an event": {INPUT: [ASKED], "name": "gen_ai.user.message"},
    "an answer among what was given": {INPUT: [ASKED, ANSWERED]},
    "two answers": {INPUT: [ASKED], OUTPUT: [ANSWERED, ANSWERED]},
    "another role": {INPUT: [{**ASKED, "role": "developer"}]},
    "a member that nobody knows": {INPUT: [{**ASKED, "mood": "calm"}]},
    "a part of another type": {INPUT: [{"role": "user", "parts": [{"type": "uri", "uri": "u"}]}]},
    "results in another order": _behind(*RESULTS[::-1]),
    "too few results": _behind(RESULTS[0]),
    "too many results": _behind(*RESULTS, RESULTS[0]),
    "no results": _behind(),
    "a result of another call": _behind({**RESULTS[0], "id": "x"}, RESULTS[1]),
    "results without calls": {INPUT: [ASKED, RETURNED]},
    "an id twice": {INPUT: [{"role": "assistant", "parts": [CALLS[0], CALLS[0]]}, ASKED]},
    "arguments as text": {INPUT: [{"role": "assistant", "parts": [{**CALLS[0], "arguments": "{}"}]}, ASKED]},
}


@each_row("recording", UNUSUAL.values(), ids=UNUSUAL)
def test_what_is_unusual_takes_the_long_way(recording: Json) -> None:
    assert read_plainly(recording) is None


said: st.SearchStrategy[list[JsonObject]] = st.lists(
    st.sampled_from([*TALK, CALLED, RETURNED, ANSWERED, {"role": "user", "parts": []}]), max_size=6
)
besides: st.SearchStrategy[JsonObject] = st.sampled_from(
    [{}, {CONVERSATION: "t"}, {CONVERSATION: 3}, {"gen_ai.usage.output_tokens": 3}]
)


@given(said, st.sampled_from([[], [ANSWERED], [CALLED], [ASKED]]), besides)
def test_both_ways_read_the_same(given_: list[JsonObject], made: Any, more: JsonObject) -> None:
    recording = {INPUT: given_, OUTPUT: made, **more}
    assert load(recording) == load_any(recording)


@given(st.lists(canonical.messages(), max_size=4))
def test_both_ways_read_the_same_of_what_we_write(messages: list[Message]) -> None:
    written = dump(messages).payload
    assert load(written) == load_any(written)
