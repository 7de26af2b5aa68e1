import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import FormatError
from partita.formats.ai_sdk.schema import SchemaProblem, chunk_problems
from partita.types.json import Json, JsonObject
from tests.recordings import at_least, cases
from tests.tables import each_row

# --- generated chunks --------------------------------------------------------------------------------

TEXTS = st.text(st.sampled_from("ab\ud83d\n"), max_size=3)
VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=3,
)
RECORD = st.dictionaries(TEXTS, VALUES, max_size=2)
METADATA = st.dictionaries(st.sampled_from(["openai", "__proto__"]), RECORD, max_size=2)
FLAGS = st.booleans()

Members = dict[str, st.SearchStrategy[Any]]


def _texts(*names: str) -> Members:
    return dict.fromkeys(names, TEXTS)


BLOCK: Members = {"providerMetadata": METADATA}
CALL: Members = {
    "providerExecuted": FLAGS,
    "dynamic": FLAGS,
    "title": TEXTS,
    "toolMetadata": RECORD,
    "providerMetadata": METADATA,
}
SOURCE = st.fixed_dictionaries(
    {
        "type": st.just("source"),
        "sourceType": st.sampled_from(["url", "document"]),
        **_texts("id", "url", "mediaType", "title"),
    }
)
CITATION = st.fixed_dictionaries(
    {"source": SOURCE},
    optional={
        "startIndex": st.integers(-1, 2**53 + 9),
        "endIndex": st.sampled_from([1.0, 1.5]),
        "citedText": TEXTS,
    },
)
STEERING = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "file", "x"]), **_texts("text", "mediaType", "url")},
    optional={"providerReference": st.dictionaries(TEXTS, TEXTS, max_size=1), **BLOCK},
)
REASONS = ["stop", "length", "content-filter", "tool-calls", "error", "other", "unknown", "interrupted", "x"]
SHAPES: dict[str, tuple[Members, Members]] = {
    "start": ({}, {"messageId": TEXTS, "messageMetadata": VALUES}),
    "start-step": ({}, {}),
    "finish-step": ({}, {}),
    "reset-step": ({}, {}),
    "finish": ({}, {"finishReason": st.sampled_from(REASONS), "messageMetadata": VALUES}),
    "abort": ({}, {"reason": TEXTS}),
    "error": (_texts("errorText"), {}),
    "message-metadata": ({"messageMetadata": VALUES}, {}),
    "text-start": (_texts("id"), BLOCK),
    "text-delta": (_texts("id", "delta"), BLOCK),
    "text-end": (_texts("id"), {**BLOCK, "citations": st.lists(CITATION, max_size=2)}),
    "reasoning-start": (_texts("id"), BLOCK),
    "reasoning-delta": (_texts("id", "delta"), BLOCK),
    "reasoning-end": (_texts("id"), BLOCK),
    "file": (_texts("url", "mediaType"), BLOCK),
    "reasoning-file": (_texts("url", "mediaType"), BLOCK),
    "source-url": (_texts("sourceId", "url"), {**_texts("title"), **BLOCK}),
    "source-document": (_texts("sourceId", "mediaType", "title"), {**_texts("filename"), **BLOCK}),
    "custom": (_texts("kind"), BLOCK),
    "steering-message": ({**_texts("id"), "parts": st.lists(STEERING, max_size=2)}, {}),
    "data-x": ({"data": VALUES}, {**_texts("id"), "transient": FLAGS}),
    "tool-input-start": (
        _texts("toolCallId", "toolName"),
        {**CALL, "inputEncoding": st.sampled_from(["json", "text", "xml"])},
    ),
    "tool-input-delta": (_texts("toolCallId", "inputTextDelta"), {}),
    "tool-input-available": ({**_texts("toolCallId", "toolName"), "input": VALUES}, CALL),
    "tool-input-error": ({**_texts("toolCallId", "toolName", "errorText"), "input": VALUES}, CALL),
    "tool-approval-request": (
        _texts("approvalId", "toolCallId"),
        {
            **_texts("reason", "signature"),
            **dict.fromkeys(("approvalDescriptor", "inputSchemaInput"), VALUES),
            "isAutomatic": FLAGS,
        },
    ),
    "tool-approval-response": (
        {**_texts("approvalId"), "approved": FLAGS},
        {**_texts("reason"), "providerExecuted": FLAGS, **BLOCK},
    ),
    "tool-output-available": ({**_texts("toolCallId"), "output": VALUES}, {**CALL, "preliminary": FLAGS}),
    "tool-output-error": (_texts("toolCallId", "errorText"), CALL),
    "tool-output-denied": (_texts("toolCallId"), {}),
}


@st.composite
def chunks(draw: st.DrawFn) -> JsonObject:
    """A chunk that is valid in some version."""
    type_ = draw(st.sampled_from(sorted(SHAPES)))
    required, optional = SHAPES[type_]
    return draw(st.fixed_dictionaries({"type": st.just(type_), **required}, optional=optional))


@st.composite
def broken_chunks(draw: st.DrawFn) -> Json:
    """A chunk with one error, or a value that is not a chunk."""
    chunk = copy.deepcopy(draw(chunks()))
    key = draw(st.sampled_from(sorted(chunk)))
    match draw(st.sampled_from(["drop", "value", "extra", "none"])):
        case "drop":
            del chunk[key]
        case "value":
            chunk[key] = draw(VALUES)
        case "extra":
            chunk["extra"] = draw(VALUES)
        case _:
            return draw(VALUES)
    return chunk


# --- tables ------------------------------------------------------------------------------------------

CALL_CHUNK = {"type": "tool-input-start", "toolCallId": "c", "toolName": "t"}
ACCEPTED: dict[str, tuple[Json, set[int]]] = {
    "known": ({"type": "text-delta", "id": "1", "delta": ""}, {5, 6, 7}),
    "extra members": ({"type": "start-step", "extra": [1]}, {5, 6, 7}),
    "missing": ({"type": "text-delta", "id": "1"}, set()),
    "null for an optional member": ({"type": "start", "messageId": None}, set()),
    "null for a member of any kind": ({"type": "start", "messageMetadata": None}, {5, 6, 7}),
    "null for a required member of any kind": ({"type": "data-x", "data": None}, {5, 6, 7}),
    "a required member of any kind is missing": ({"type": "data-x"}, set()),
    "metadata that is not two levels": ({"type": "text-end", "id": "1", "providerMetadata": {"a": 1}}, set()),
    "a member an older version does not check": ({**CALL_CHUNK, "title": 5}, {5}),
    "a reason of version 5": ({"type": "finish", "finishReason": "unknown"}, {5}),
    "a reason of version 7": ({"type": "finish", "finishReason": "interrupted"}, {7}),
    "approval": ({"type": "tool-approval-request", "approvalId": "a", "toolCallId": "c"}, {6, 7}),
    "approved": ({"type": "tool-approval-response", "approvalId": "a", "approved": True}, {7}),
    "true is not 1": ({"type": "tool-approval-response", "approvalId": "a", "approved": 1}, set()),
    "new in version 7": ({"type": "reset-step"}, {7}),
    "a citation out of range": (
        {
            "type": "text-end",
            "id": "1",
            "citations": [
                {"source": {"type": "source", "sourceType": "url", "id": "", "url": ""}, "startIndex": -1}
            ],
        },
        {5, 6},
    ),
    "an unknown type": ({"type": "picture"}, set()),
    "a type that is not a string": ({"type": 5}, set()),
    "not a chunk": ([], set()),
}


@each_row(("chunk", "versions"), ACCEPTED.values(), ids=ACCEPTED)
def test_chunks_are_accepted_by_the_versions_that_define_them(chunk: Json, versions: set[int]) -> None:
    assert {version for version in (5, 6, 7) if not chunk_problems(chunk, version)} == versions


PROBLEMS: dict[str, tuple[Json, SchemaProblem]] = {
    "missing": ({"type": "text-start"}, SchemaProblem("$.id", "string", "nothing")),
    "a wrong type": ({"type": "abort", "reason": 5}, SchemaProblem("$.reason", "string", "number")),
    "a nested member": (
        {"type": "text-start", "id": "1", "providerMetadata": {"a": []}},
        SchemaProblem("$.providerMetadata.a", "object", "array"),
    ),
    "an item of an array": (
        {"type": "steering-message", "id": "1", "parts": [{"type": "text", "text": None}]},
        SchemaProblem("$.parts[0].text", "string", "null"),
    ),
    "unknown": (
        {"type": "picture"},
        SchemaProblem("$.type", "a chunk type that version 7 knows", '"picture"'),
    ),
    "not a chunk": (None, SchemaProblem("$", "object", "null")),
}


@each_row(("chunk", "problem"), PROBLEMS.values(), ids=PROBLEMS)
def test_a_problem_has_a_path_and_a_description(chunk: Json, problem: SchemaProblem) -> None:
    assert chunk_problems(chunk) == [problem]


def test_metadata_nested_too_deeply_is_refused() -> None:
    deep: Json = {}
    for _ in range(100_000):
        deep = {"a": deep}
    chunk = {"type": "text-start", "id": "1", "providerMetadata": {"openai": {"x": deep}}}
    assert [problem.path for problem in chunk_problems(chunk)] == ["$.providerMetadata.openai.x"]


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(FormatError):
        chunk_problems({}, 4)


@pytest.mark.parametrize("version", [5, 6, 7])
@given(chunk=broken_chunks())
def test_problems_point_into_the_chunk(version: int, chunk: Json) -> None:
    assert all(problem.path.startswith("$") for problem in chunk_problems(chunk, version))


@given(chunk=chunks(), extra=VALUES)
def test_unknown_members_do_not_change_the_verdict(chunk: JsonObject, extra: Json) -> None:
    for version in (5, 6, 7):
        assert chunk_problems({**chunk, "extra": extra}, version) == chunk_problems(chunk, version)


@pytest.mark.parametrize("version", [6, 7])
def test_chunks_that_the_real_client_refuses_are_refused(version: int) -> None:
    checked = 0
    for case in cases("ai-sdk/accumulate.jsonl"):
        expected = case["expected"][str(version)].get("invalidChunks")
        if "chunks" in case and expected is not None:
            refused = [index for index, chunk in enumerate(case["chunks"]) if chunk_problems(chunk, version)]
            assert refused == expected, case["id"]
            checked += 1
    assert checked >= at_least(30, 300)
