"""Calls in Gemini responses: client calls, streamed arguments, and tools that Gemini runs."""

from hypothesis import given
from hypothesis import strategies as st

from partita.formats.gemini.arguments import ArgumentWriter
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads
from partita.types.parts import JsonOutput
from tests.decoding import accumulated
from tests.formats.gemini_responses import (
    argument_delta,
    call,
    calls_of,
    content_chunks,
    decode,
    response,
    text,
)
from tests.tables import each_row

CALLS: dict[str, tuple[list[Json], list[JsonObject]]] = {
    "a complete call, which closes an open text": (
        [response(text("so"), call("f", args={"a": 1}, id="c1", signature="S"))],
        [
            {"type": "text-start", "id": "0"},
            {"type": "text-delta", "id": "0", "delta": "so"},
            {"type": "text-end", "id": "0"},
            {
                "type": "tool-input-start",
                "toolCallId": "c1",
                "toolName": "f",
                "providerMetadata": {"google": {"thoughtSignature": "S", "callId": "c1"}},
            },
            {"type": "tool-input-delta", "toolCallId": "c1", "inputTextDelta": '{"a":1}'},
            {
                "type": "tool-input-available",
                "toolCallId": "c1",
                "toolName": "f",
                "input": {"a": 1},
                "providerMetadata": {"google": {"thoughtSignature": "S", "callId": "c1"}},
            },
        ],
    ),
    "missing ids are derived from the response id": (
        [response(call("f"), responseId="r"), response(call("f"))],
        [
            {"type": "tool-input-start", "toolCallId": "r-0", "toolName": "f"},
            {"type": "tool-input-available", "toolCallId": "r-0", "toolName": "f", "input": {}},
            {"type": "tool-input-start", "toolCallId": "r-1", "toolName": "f"},
            {"type": "tool-input-available", "toolCallId": "r-1", "toolName": "f", "input": {}},
        ],
    ),
    "arguments may be text": (
        [response(call("f", args='{"a": 1}'))],
        [
            {"type": "tool-input-start", "toolCallId": "gemini-0", "toolName": "f"},
            {"type": "tool-input-delta", "toolCallId": "gemini-0", "inputTextDelta": '{"a": 1}'},
            {
                "type": "tool-input-available",
                "toolCallId": "gemini-0",
                "toolName": "f",
                "input": {"a": 1},
                "providerMetadata": {"google": {"rawInput": '{"a": 1}'}},
            },
        ],
    ),
    "deltas without a call: an empty one is dropped, others are kept": (
        [response(call(), call(args={"a": 1}))],
        [{"type": "data-google-unknown", "data": {"functionCall": {"args": {"a": 1}}}}],
    ),
    "code and its result": (
        [
            response(
                {"executableCode": {"language": "PYTHON", "code": "1", "id": "k"}, "thoughtSignature": "S"}
            ),
            response({"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "id": "k"}}),
        ],
        [
            {
                "type": "tool-input-available",
                "toolCallId": "k",
                "toolName": "code_execution",
                "input": {"language": "PYTHON", "code": "1"},
                "providerExecuted": True,
                "providerMetadata": {
                    "google": {"thoughtSignature": "S", "serverToolType": "CODE_EXECUTION", "callId": "k"}
                },
            },
            {
                "type": "tool-output-available",
                "toolCallId": "k",
                "output": {"outcome": "OUTCOME_FAILED", "output": ""},
                "providerExecuted": True,
                "providerMetadata": {"google": {"serverToolType": "CODE_EXECUTION", "callId": "k"}},
            },
        ],
    ),
    "a server tool and its result, matched by order": (
        [
            response({"toolCall": {"toolType": "MAPS", "args": {"q": "x"}}}),
            response({"toolResponse": {"toolType": "MAPS", "response": {"n": 1}}}),
        ],
        [
            {
                "type": "tool-input-available",
                "toolCallId": "gemini-0",
                "toolName": "server:MAPS",
                "input": {"q": "x"},
                "providerExecuted": True,
                "dynamic": True,
                "providerMetadata": {"google": {"serverToolType": "MAPS", "serverToolCallId": "gemini-0"}},
            },
            {
                "type": "tool-output-available",
                "toolCallId": "gemini-0",
                "output": {"n": 1},
                "providerExecuted": True,
                "providerMetadata": {"google": {"serverToolType": "MAPS", "serverToolCallId": "gemini-0"}},
            },
        ],
    ),
    "a result without a call is kept": (
        [response({"codeExecutionResult": {"outcome": "OUTCOME_OK"}})],
        [{"type": "data-google-unknown", "data": {"codeExecutionResult": {"outcome": "OUTCOME_OK"}}}],
    ),
}


@each_row(("events", "chunks"), CALLS.values(), ids=CALLS)
def test_calls_become_chunks(events: list[Json], chunks: list[JsonObject]) -> None:
    assert content_chunks(decode(events)) == chunks


def test_results_are_matched_to_their_calls_by_id() -> None:
    asked = [{"executableCode": {"code": name, "id": name}} for name in ("a", "b")]
    given_back = [{"codeExecutionResult": {"output": name, "id": name}} for name in ("b", "a")]
    calls = calls_of(accumulated(decode([response(*asked), response(*given_back)])))
    outputs = {
        "a": JsonOutput({"outcome": None, "output": "a"}),
        "b": JsonOutput({"outcome": None, "output": "b"}),
    }
    assert {call.id: call.output for call in calls} == outputs


def test_code_with_two_results_keeps_both() -> None:
    results = [{"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": name}} for name in ("a", "b")]
    [call] = calls_of(accumulated(decode([response({"executableCode": {"code": "x"}}, *results)])))
    metadata = call.result_provider_metadata or {}
    assert [result["output"]["output"] for result in metadata["google"]["results"]] == ["a", "b"]


def test_two_calls_with_the_same_id_are_two_calls() -> None:
    calls = calls_of(accumulated(decode([response(call("f", id="x"), call("g", id="x"))])))
    assert len({call.id for call in calls}) == 2
    assert [(call.call_provider_metadata or {})["google"]["callId"] for call in calls] == ["x", "x"]


# Streamed arguments

STREAMS: dict[str, tuple[list[JsonObject], list[str], Json]] = {
    "a text in several deltas": (
        [
            call("f", willContinue=True),
            call(
                partialArgs=[argument_delta("$.a", stringValue='x"', will_continue=True)], willContinue=True
            ),
            call(
                partialArgs=[argument_delta("$.a", stringValue="y\n", will_continue=True)], willContinue=True
            ),
            call(partialArgs=[argument_delta("$.a", stringValue="")], willContinue=True),
            call(),
        ],
        ['{"a":"x\\"', "y\\n", '"', "}"],
        {"a": 'x"y\n'},
    ),
    "values of every type": (
        [
            call(
                "f",
                partialArgs=[
                    argument_delta("$.a.b[0]", numberValue=1.5),
                    argument_delta("$.a.b[1].c", boolValue=False),
                    argument_delta("$.a.d", nullValue="NULL_VALUE"),
                    argument_delta("$['e f'][\"g'h\"]", stringValue="é"),
                ],
            )
        ],
        ['{"a":{"b":[1.5,{"c":false}],"d":null},"e f":{"g\'h":"é"', "}}"],
        {"a": {"b": [1.5, {"c": False}], "d": None}, "e f": {"g'h": "é"}},
    ),
    "no arguments": ([call("f", willContinue=True), call()], ["{}"], {}),
    "another call begins before the last delta": (
        [
            call("f", willContinue=True),
            call(partialArgs=[argument_delta("$.a", numberValue=1)], willContinue=True),
            call("g"),
        ],
        ['{"a":1', "}"],
        {"a": 1},
    ),
    "a text that ends with the next value": (
        [
            call(
                "f",
                partialArgs=[
                    argument_delta("$.a", stringValue="x", will_continue=True),
                    argument_delta("$.b", numberValue=2),
                ],
                willContinue=True,
            ),
            call(),
        ],
        ['{"a":"x","b":2', "}"],
        {"a": "x", "b": 2},
    ),
    "complete arguments at the end": (
        [call("f", willContinue=True), call(args={"a": 1})],
        [],
        {"a": 1},
    ),
}


@each_row(("parts", "deltas", "value"), STREAMS.values(), ids=STREAMS)
def test_streamed_arguments_are_accumulated(parts: list[JsonObject], deltas: list[str], value: Json) -> None:
    chunks = decode([*(response(part) for part in parts), response(end="STOP")])
    written = [
        c for c in content_chunks(chunks) if c["type"] == "tool-input-delta" and c["toolCallId"] == "gemini-0"
    ]
    assert [chunk["inputTextDelta"] for chunk in written] == deltas
    [first, *_] = calls_of(accumulated(chunks))
    assert first.input == value
    assert (first.call_provider_metadata or {}) == {}


def test_a_later_value_at_an_earlier_path_is_kept() -> None:
    pieces = [
        argument_delta("$.a.x", stringValue="p", will_continue=True),
        argument_delta("$.b", numberValue=1),
        argument_delta("$.a.x", stringValue="q"),
        argument_delta("$.a.y", numberValue=2),
        argument_delta("$.b", numberValue=3),
    ]
    [found] = calls_of(accumulated(decode([response(call("f", partialArgs=pieces))])))
    assert found.input == {"a": {"x": "pq", "y": 2}, "b": 3}


def test_the_signature_of_a_streamed_call_is_on_the_call() -> None:
    parts = [call("f", willContinue=True), call(signature="S")]
    [found] = calls_of(accumulated(decode([response(part) for part in parts])))
    assert found.call_provider_metadata == {"google": {"thoughtSignature": "S"}}


INVALID_DELTAS: dict[str, Json] = {
    "no path": {"stringValue": "x"},
    "a path without a root": argument_delta("a.b", stringValue="x"),
    "the root": argument_delta("$", stringValue="x"),
    "an incomplete path": argument_delta("$.a[", stringValue="x"),
    "a path that is too long": argument_delta("$" + ".a" * 5000, stringValue="x"),
    "no value": argument_delta("$.a"),
    "an array index in an object": argument_delta("$[0]", numberValue=1),
    "a member of a string": argument_delta("$.known.x", numberValue=1),
    "a value instead of an object": argument_delta("$.object", numberValue=1),
    "not an object": 7,
}


@each_row("bad", INVALID_DELTAS.values(), ids=INVALID_DELTAS)
def test_an_invalid_argument_delta_is_kept_and_affects_no_other(bad: Json) -> None:
    known = [argument_delta("$.known", stringValue="k"), argument_delta("$.object.a", numberValue=1)]
    part = call("f", partialArgs=[*known, bad, argument_delta("$.z", numberValue=2)])
    chunks = decode([response(part)])
    [found] = calls_of(accumulated(chunks))
    assert found.input == {"known": "k", "object": {"a": 1}, "z": 2}
    assert {"type": "data-google-unknown", "data": part} in content_chunks(chunks)


@each_row("end", [None, "MAX_TOKENS"])
def test_an_interrupted_call_stays_open_with_its_raw_input(end: str | None) -> None:
    parts = [
        call("f", willContinue=True),
        call(partialArgs=[argument_delta("$.a", stringValue="x", will_continue=True)]),
    ]
    [found] = calls_of(accumulated(decode([*(response(part) for part in parts), response(end=end)])))
    assert (found.state, found.raw_input) == ("input-streaming", '{"a":"x')


KEYS = st.text(st.characters(codec="utf-8", exclude_characters=".[]'\"\\"), min_size=1, max_size=4)
LEAVES = st.integers(-9, 9) | st.booleans() | st.none() | st.text(max_size=6)
TREES: st.SearchStrategy[Json] = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3) | st.dictionaries(KEYS, inner, min_size=1, max_size=3)
    ),
    max_leaves=8,
)


def deltas_of(value: Json, path: str, cut: int) -> list[JsonObject]:
    """Return the deltas of a value, with texts in chunks of `cut` characters."""
    if is_object(value):
        return [part for key, inner in value.items() for part in deltas_of(inner, f"{path}.{key}", cut)]
    if is_array(value):
        return [part for at, inner in enumerate(value) for part in deltas_of(inner, f"{path}[{at}]", cut)]
    if isinstance(value, str):
        words = [value[at : at + cut] for at in range(0, len(value), cut)]
        return [
            *(argument_delta(path, stringValue=word, will_continue=True) for word in words),
            argument_delta(path, stringValue=""),
        ]
    kind = "nullValue" if value is None else "boolValue" if isinstance(value, bool) else "numberValue"
    return [{"jsonPath": path, kind: value}]


@given(value=st.dictionaries(KEYS, TREES, max_size=4), cut=st.integers(1, 4))
def test_accumulated_arguments_equal_the_arguments(value: JsonObject, cut: int) -> None:
    writer = ArgumentWriter()
    texts = [writer.write(part) for part in deltas_of(value, "$", cut)]
    end, built = writer.close()
    whole = "".join(text or "" for text in texts) + end
    assert None not in texts
    assert built == value
    assert whole == dumps(value).decode()
    assert loads(whole) == value
