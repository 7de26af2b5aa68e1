"""Calls in answers of Gemini: for the client, with arguments in pieces, and those that Gemini ran itself."""

from hypothesis import given
from hypothesis import strategies as st

from partita.formats.gemini.arguments import ArgumentWriter
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads
from partita.types.parts import JsonOutput
from tests.formats.gemini_answers import call, calls_of, decode, fold, piece, response, text, told
from tests.tables import each_row

CALLS: dict[str, tuple[list[Json], list[JsonObject]]] = {
    "a call is told in one go, and ends a text": (
        [response(text("so"), call("f", args={"a": 1}, id="c1", mark="S"))],
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
    "ids that are missing are made of the answer's": (
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
    "an empty piece of no call says nothing, another is kept": (
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
    "a tool of the server and its result, found by order": (
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
    "the result has no call right before it is kept": (
        [response({"codeExecutionResult": {"outcome": "OUTCOME_OK"}})],
        [{"type": "data-google-unknown", "data": {"codeExecutionResult": {"outcome": "OUTCOME_OK"}}}],
    ),
}


@each_row(("events", "chunks"), CALLS.values(), ids=CALLS)
def test_the_chunks_of_calls(events: list[Json], chunks: list[JsonObject]) -> None:
    assert told(decode(events)) == chunks


def test_results_find_their_calls_by_id_even_out_of_order() -> None:
    asked = [{"executableCode": {"code": name, "id": name}} for name in ("a", "b")]
    given_back = [{"codeExecutionResult": {"output": name, "id": name}} for name in ("b", "a")]
    calls = calls_of(fold(decode([response(*asked), response(*given_back)])))
    outputs = {
        "a": JsonOutput({"outcome": None, "output": "a"}),
        "b": JsonOutput({"outcome": None, "output": "b"}),
    }
    assert {call.id: call.output for call in calls} == outputs


def test_code_that_gives_back_twice_keeps_both_results() -> None:
    results = [{"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": name}} for name in ("a", "b")]
    [call] = calls_of(fold(decode([response({"executableCode": {"code": "x"}}, *results)])))
    metadata = call.result_provider_metadata or {}
    assert [result["output"]["output"] for result in metadata["google"]["results"]] == ["a", "b"]


def test_two_calls_that_claim_one_id_are_two_calls() -> None:
    calls = calls_of(fold(decode([response(call("f", id="x"), call("g", id="x"))])))
    assert len({call.id for call in calls}) == 2
    assert [(call.call_provider_metadata or {})["google"]["callId"] for call in calls] == ["x", "x"]


# Arguments in pieces

STREAMS: dict[str, tuple[list[JsonObject], list[str], Json]] = {
    "a text in pieces": (
        [
            call("f", willContinue=True),
            call(partialArgs=[piece("$.a", stringValue='x"', goes_on=True)], willContinue=True),
            call(partialArgs=[piece("$.a", stringValue="y\n", goes_on=True)], willContinue=True),
            call(partialArgs=[piece("$.a", stringValue="")], willContinue=True),
            call(),
        ],
        ['{"a":"x\\"', "y\\n", '"', "}"],
        {"a": 'x"y\n'},
    ),
    "values of every kind": (
        [
            call(
                "f",
                partialArgs=[
                    piece("$.a.b[0]", numberValue=1.5),
                    piece("$.a.b[1].c", boolValue=False),
                    piece("$.a.d", nullValue="NULL_VALUE"),
                    piece("$['e f'][\"g'h\"]", stringValue="é"),
                ],
            )
        ],
        ['{"a":{"b":[1.5,{"c":false}],"d":null},"e f":{"g\'h":"é"', "}}"],
        {"a": {"b": [1.5, {"c": False}], "d": None}, "e f": {"g'h": "é"}},
    ),
    "no arguments": ([call("f", willContinue=True), call()], ["{}"], {}),
    "the last part is missing, and another call begins": (
        [
            call("f", willContinue=True),
            call(partialArgs=[piece("$.a", numberValue=1)], willContinue=True),
            call("g"),
        ],
        ['{"a":1', "}"],
        {"a": 1},
    ),
    "a text that ends when another value comes": (
        [
            call(
                "f",
                partialArgs=[piece("$.a", stringValue="x", goes_on=True), piece("$.b", numberValue=2)],
                willContinue=True,
            ),
            call(),
        ],
        ['{"a":"x","b":2', "}"],
        {"a": "x", "b": 2},
    ),
    "whole arguments at last": (
        [call("f", willContinue=True), call(args={"a": 1})],
        [],
        {"a": 1},
    ),
}


@each_row(("parts", "deltas", "value"), STREAMS.values(), ids=STREAMS)
def test_arguments_in_pieces(parts: list[JsonObject], deltas: list[str], value: Json) -> None:
    chunks = decode([*(response(part) for part in parts), response(end="STOP")])
    written = [c for c in told(chunks) if c["type"] == "tool-input-delta" and c["toolCallId"] == "gemini-0"]
    assert [chunk["inputTextDelta"] for chunk in written] == deltas
    [first, *_] = calls_of(fold(chunks))
    assert first.input == value
    assert (first.call_provider_metadata or {}) == {}


def test_a_value_for_a_place_that_was_left_is_not_lost() -> None:
    pieces = [
        piece("$.a.x", stringValue="p", goes_on=True),
        piece("$.b", numberValue=1),
        piece("$.a.x", stringValue="q"),
        piece("$.a.y", numberValue=2),
        piece("$.b", numberValue=3),
    ]
    [found] = calls_of(fold(decode([response(call("f", partialArgs=pieces))])))
    assert found.input == {"a": {"x": "pq", "y": 2}, "b": 3}


def test_the_signature_of_a_call_in_pieces_is_on_the_call() -> None:
    parts = [call("f", willContinue=True), call(mark="S")]
    [found] = calls_of(fold(decode([response(part) for part in parts])))
    assert found.call_provider_metadata == {"google": {"thoughtSignature": "S"}}


NOT_UNDERSTOOD: dict[str, Json] = {
    "no path": {"stringValue": "x"},
    "a path from nowhere": piece("a.b", stringValue="x"),
    "the root": piece("$", stringValue="x"),
    "a path that breaks": piece("$.a[", stringValue="x"),
    "a path without an end": piece("$" + ".a" * 5000, stringValue="x"),
    "no value": piece("$.a"),
    "an array where an object is": piece("$[0]", numberValue=1),
    "a member of a text": piece("$.known.x", numberValue=1),
    "a value where an object is": piece("$.object", numberValue=1),
    "no piece": 7,
}


@each_row("bad", NOT_UNDERSTOOD.values(), ids=NOT_UNDERSTOOD)
def test_a_piece_that_is_not_understood_is_kept_and_harms_no_other(bad: Json) -> None:
    known = [piece("$.known", stringValue="k"), piece("$.object.a", numberValue=1)]
    part = call("f", partialArgs=[*known, bad, piece("$.z", numberValue=2)])
    chunks = decode([response(part)])
    [found] = calls_of(fold(chunks))
    assert found.input == {"known": "k", "object": {"a": 1}, "z": 2}
    assert {"type": "data-google-unknown", "data": part} in told(chunks)


@each_row("end", [None, "MAX_TOKENS"])
def test_a_call_that_is_cut_stays_open_with_what_was_written(end: str | None) -> None:
    parts = [call("f", willContinue=True), call(partialArgs=[piece("$.a", stringValue="x", goes_on=True)])]
    [found] = calls_of(fold(decode([*(response(part) for part in parts), response(end=end)])))
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


def pieces_of(value: Json, path: str, cut: int) -> list[JsonObject]:
    """The pieces in which a value comes: texts in pieces of `cut` characters."""
    if is_object(value):
        return [part for key, inner in value.items() for part in pieces_of(inner, f"{path}.{key}", cut)]
    if is_array(value):
        return [part for at, inner in enumerate(value) for part in pieces_of(inner, f"{path}[{at}]", cut)]
    if isinstance(value, str):
        words = [value[at : at + cut] for at in range(0, len(value), cut)]
        return [*(piece(path, stringValue=word, goes_on=True) for word in words), piece(path, stringValue="")]
    kind = "nullValue" if value is None else "boolValue" if isinstance(value, bool) else "numberValue"
    return [{"jsonPath": path, kind: value}]


@given(value=st.dictionaries(KEYS, TREES, max_size=4), cut=st.integers(1, 4))
def test_arguments_in_pieces_are_the_arguments(value: JsonObject, cut: int) -> None:
    writer = ArgumentWriter()
    texts = [writer.write(part) for part in pieces_of(value, "$", cut)]
    end, built = writer.close()
    whole = "".join(text or "" for text in texts) + end
    assert None not in texts
    assert built == value
    assert whole == dumps(value).decode()
    assert loads(whole) == value
