import copy
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given

from partita.errors import ConversionError, DecodeError, FormatError, PartitaError
from partita.formats.ai_sdk.schema import SchemaProblem
from partita.formats.ai_sdk.validate import ToolSchemas, Validation, validate_ui_messages
from partita.types.json import Json, JsonObject, is_array, is_object
from tests.formats.test_ai_sdk_convert import broken_messages, exact, ui_messages
from tests.recordings import at_least, cases
from tests.tables import each_row

ALL = {5, 6, 7}


def _message(*parts: JsonObject, **members: Json) -> JsonObject:
    return {"id": "m", "role": "assistant", "parts": list(parts), **members}


def _tool(state: str, **members: Json) -> JsonObject:
    return {"type": "tool-look", "toolCallId": "c", "state": state, **members}


def _accepting(message: Json, **options: Any) -> set[int]:
    return {version for version in ALL if validate_ui_messages([message], version=version, **options).success}


# --- structure ---------------------------------------------------------------------------------------

GRANTED = {"id": "a", "approved": True}
MESSAGES: dict[str, tuple[Json, set[int]]] = {
    "empty assistant message": (_message(), ALL),
    "empty user message": (_message(role="user"), set()),
    "no id": ({"role": "user", "parts": [{"type": "text", "text": ""}]}, set()),
    "unknown role": (_message(role="tool"), set()),
    "parts that are not an array": (_message() | {"parts": {}}, set()),
    "null metadata": (_message(metadata=None), ALL),
    "null state": (_message({"type": "text", "text": "", "state": None}), set()),
    "unknown state of text": (_message({"type": "text", "text": "", "state": "x"}), set()),
    "unknown type": (_message({"type": "picture"}), set()),
    "custom": (_message({"type": "custom", "kind": "x"}), {7}),
    "a data part without data": (_message({"type": "data-x"}), set()),
    "data": (_message({"type": "data-", "data": None}), ALL),
    "call without input": (_message(_tool("input-available")), set()),
    "unfinished call without input": (_message(_tool("input-streaming")), ALL),
    "failed call without input": (_message(_tool("output-error", errorText="x")), ALL),
    "output too early": (_message(_tool("input-available", input=1, output=None)), set()),
    "unknown state": (_message(_tool("done", input=1)), set()),
    "approval": (_message(_tool("approval-requested", input=1, approval={"id": "a"})), ALL),
    "approval of a dynamic tool": (
        _message(
            {
                **_tool("approval-requested", input=1, approval={"id": "a"}),
                "type": "dynamic-tool",
                "toolName": "t",
            }
        ),
        {6, 7},
    ),
    "approval already given": (_message(_tool("approval-requested", input=1, approval=GRANTED)), set()),
    "output without approval": (
        _message(_tool("output-available", input=1, output=1, approval={"id": "a", "approved": False})),
        set(),
    ),
    "denied with a granted approval": (_message(_tool("output-denied", input=1, approval=GRANTED)), set()),
    "`dynamic` is false or absent": (
        _message({**_tool("input-streaming"), "type": "dynamic-tool", "toolName": "t", "dynamic": True}),
        set(),
    ),
    "new members are checked by new versions only": (
        _message(_tool("input-streaming", title=5, inputEncoding="x")),
        {5},
    ),
    "not a message": (None, set()),
}


@each_row(("message", "versions"), MESSAGES.values(), ids=MESSAGES)
def test_messages_are_accepted_by_the_versions_that_define_them(message: Json, versions: set[int]) -> None:
    assert _accepting(message) == versions


@each_row("messages", [None, [], {}, "x", 5])
def test_values_that_are_not_messages_are_refused(messages: Json) -> None:
    result = validate_ui_messages(messages)
    assert (result.success, result.messages, result.verdicts) == (False, None, ())
    assert isinstance(result.error, DecodeError)
    assert result.error.where == "messages"


WITH_UNKNOWN_MEMBER = {
    "type": "text",
    "text": "x",
    "colour": "red",
    "providerMetadata": {"a": {"b": [{"__proto__": 1}]}, "__proto__": 5},
}


def test_unknown_members_are_removed_unless_lossless() -> None:
    message = _message(WITH_UNKNOWN_MEMBER, mood="good")
    stripped: JsonObject = {"type": "text", "text": "x", "providerMetadata": {"a": {"b": [{}]}}}
    assert validate_ui_messages([message]).messages == [_message(stripped)]
    assert validate_ui_messages([message], lossless=True).messages == [message]


def test_one_invalid_message_does_not_affect_the_others() -> None:
    good, bad = _message(), {"id": "bad", "role": "user", "parts": [{"type": "text"}, {"type": "x"}]}
    result = validate_ui_messages([good, bad, 5])
    assert result.messages is None
    assert result.valid_messages == [good]
    assert [(verdict.index, verdict.id, verdict.valid) for verdict in result.verdicts] == [
        (0, "m", True),
        (1, "bad", False),
        (2, None, False),
    ]
    assert result.verdicts[1].problems == (
        SchemaProblem("messages[1].parts[0].text", "string", "nothing"),
        SchemaProblem("messages[1].parts[1].type", "a part type that version 7 knows", '"x"'),
    )
    assert isinstance(result.error, DecodeError)
    assert (result.error.where, result.error.expected) == ("messages[1].parts[0].text", "string")


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(FormatError):
        validate_ui_messages([], version=8)


# --- schemas -----------------------------------------------------------------------------------------

OBJECT = {"type": "object", "required": ["q"]}
TOOLS: dict[str, Any] = {"tools": {"look": ToolSchemas(OBJECT, {"type": "string"})}}
FITTING = {"input": {"q": 1}}
EARLIER = {"id": "a", "inputSchemaInput": {"q": 1}}
SCHEMAS: dict[str, tuple[Json, dict[str, Any], set[int]]] = {
    "metadata fits": (_message(metadata={"q": 1}), {"metadata_schema": OBJECT}, ALL),
    "metadata does not fit": (_message(metadata={}), {"metadata_schema": OBJECT}, set()),
    "metadata is absent": (_message(), {"metadata_schema": OBJECT}, set()),
    "metadata may be absent": (_message(), {"metadata_schema": {}}, ALL),
    "data fits": (_message({"type": "data-x", "data": {"q": 1}}), {"data_schemas": {"x": OBJECT}}, ALL),
    "data does not fit": (_message({"type": "data-x", "data": 1}), {"data_schemas": {"x": OBJECT}}, set()),
    "data without schema": (_message({"type": "data-y", "data": 1}), {"data_schemas": {"x": OBJECT}}, set()),
    "input fits": (_message(_tool("input-available", **FITTING)), TOOLS, ALL),
    "input does not fit": (_message(_tool("input-available", input={})), TOOLS, set()),
    "streaming input is not checked": (_message(_tool("input-streaming", input=1)), TOOLS, ALL),
    "version 5 checks no input under approval": (
        _message(_tool("approval-requested", input=1, approval={"id": "a"})),
        TOOLS,
        {5},
    ),
    "output fits": (_message(_tool("output-available", **FITTING, output="x")), TOOLS, ALL),
    "output does not fit": (_message(_tool("output-available", **FITTING, output=1)), TOOLS, set()),
    "output of a call without input does not fit": (
        _message(_tool("output-available", input={}, output=1)),
        TOOLS,
        set(),
    ),
    "a schema of another tool": (_message(_tool("output-available", input=1, output="x")), TOOLS, set()),
    "unknown tool, unfinished call": (_message(_tool("input-available", **FITTING)), {"tools": {}}, set()),
    "unknown tool, call denied": (
        _message(_tool("output-denied", **FITTING, approval={"id": "a", "approved": False})),
        {"tools": {}},
        {6, 7},
    ),
    "a dynamic tool is not checked": (
        _message({**_tool("input-available", input=1), "type": "dynamic-tool", "toolName": "look"}),
        TOOLS,
        ALL,
    ),
    "the approved input is checked": (
        _message(_tool("approval-requested", **FITTING, approval=EARLIER)),
        TOOLS,
        ALL,
    ),
    "a changed input does not fit": (
        _message(_tool("approval-requested", input={"q": True}, approval=EARLIER)),
        TOOLS,
        {5},
    ),
}


@each_row(("message", "options", "versions"), SCHEMAS.values(), ids=SCHEMAS)
def test_messages_are_accepted_by_the_versions_under_schemas(
    message: Json, options: dict[str, Any], versions: set[int]
) -> None:
    assert _accepting(message, **options) == versions


UNMATCHED: dict[str, JsonObject] = {
    "the tool was removed": {"type": "tool-gone", "state": "output-available", "input": 1, "output": 2},
    "the input is missing": {"type": "tool-look", "state": "output-available", "input": {}, "output": "x"},
    "the input is invalid": {"type": "tool-look", "state": "output-error", "input": 1, "errorText": "x"},
}


@each_row("part", UNMATCHED.values(), ids=UNMATCHED)
@each_row("version", sorted(ALL))
def test_a_finished_call_that_fits_no_tool_becomes_dynamic(part: JsonObject, version: int) -> None:
    result = validate_ui_messages([_message({"toolCallId": "c", **part})], version=version, **TOOLS)
    assert result.messages is not None
    name = part["type"].removeprefix("tool-")
    assert result.messages[0]["parts"] == [
        {"toolCallId": "c", **part, "type": "dynamic-tool", "toolName": name, "dynamic": False}
    ]


@each_row(
    ("version", "lossless", "kept"), [(5, False, False), (5, True, True), (6, False, True), (7, False, True)]
)
def test_version_5_drops_approval_and_raw_input_of_an_unmatched_call(
    version: int, lossless: bool, kept: bool
) -> None:
    part = _tool("output-error", rawInput="{", errorText="x", approval=GRANTED)
    result = validate_ui_messages([_message(part)], version=version, tools={}, lossless=lossless)
    assert result.messages is not None
    left = {"approval", "rawInput"} & result.messages[0]["parts"][0].keys()
    assert left == ({"approval", "rawInput"} if kept else set())


def _at_least_one(value: Json) -> Json:
    if not isinstance(value, int):
        raise msgspec.ValidationError("expected a number")
    if value < 1:
        raise ValueError("below one")
    if value > 9:
        raise PartitaError("above nine")
    return value * 10


@each_row(("value", "good"), [(1, True), (0, False), (10, False), ("x", False)])
def test_a_schema_may_be_a_function_that_changes_the_value(value: Json, good: bool) -> None:
    result = validate_ui_messages(
        [_message({"type": "data-x", "data": value}, metadata=value)],
        metadata_schema=_at_least_one,
        data_schemas={"x": _at_least_one},
    )
    assert result.success is good
    if result.messages is not None:
        assert result.messages == [_message({"type": "data-x", "data": 10}, metadata=10)]
    else:
        assert [problem.path for problem in result.verdicts[0].problems] == [
            "messages[0].metadata",
            "messages[0].parts[0].data",
        ]


def test_an_absent_value_stays_absent() -> None:
    assert validate_ui_messages([_message()], metadata_schema=lambda value: value).messages == [_message()]


@each_row("schema", [{"type": "nonsense"}, {"$ref": "https://example.org/schema.json"}])
def test_an_invalid_schema_is_refused_without_a_network_request(schema: JsonObject) -> None:
    with pytest.raises(ConversionError) as caught:
        validate_ui_messages([_message()], tools={"look": ToolSchemas(schema)})
    assert caught.value.where == "tools.look.input"


def test_a_lone_surrogate_is_a_string() -> None:
    message = _message({"type": "data-x", "data": {"\ud83d": "\ud83d"}})
    schema = {"type": "object", "additionalProperties": {"type": "string", "maxLength": 1}}
    assert validate_ui_messages([message], data_schemas={"x": schema}).messages == [message]


def _nested(depth: int) -> Json:
    value: Json = []
    for _ in range(depth):
        value = [value]
    return value


def _through_json(value: Json) -> Json:
    return json.loads(json.dumps(value))


RECURSIVE = {"type": "array", "items": {"$ref": "#"}}
DEEP: dict[str, tuple[JsonObject, dict[str, Any], bool]] = {
    "unread": (_message(metadata=_nested(100_000)), {}, True),
    "metadata of a provider": (
        _message({"type": "text", "text": "", "providerMetadata": {"a": {"b": _nested(100_000)}}}),
        {},
        False,
    ),
    "under a schema": (_message(metadata=_nested(100_000)), {"metadata_schema": RECURSIVE}, False),
    "a shallow value": (_message(metadata=_nested(600)), {"metadata_schema": RECURSIVE}, True),
    "under a function": (
        _message(metadata=_nested(100_000)),
        {"metadata_schema": _through_json},
        False,
    ),
    "compared values": (
        _message(
            _tool(
                "approval-requested",
                input=_nested(100_000),
                approval={"id": "a", "inputSchemaInput": _nested(100_000)},
            )
        ),
        {"tools": {"look": ToolSchemas()}},
        True,
    ),
}


@each_row(("message", "options", "good"), DEEP.values(), ids=DEEP)
def test_deeply_nested_values_are_accepted_or_refused(
    message: JsonObject, options: dict[str, Any], good: bool
) -> None:
    assert validate_ui_messages([message], **options).success is good


# --- properties --------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", sorted(ALL))
@given(messages=ui_messages() | broken_messages())
def test_a_validated_message_is_valid_and_unchanged(version: int, messages: list[JsonObject]) -> None:
    before = copy.deepcopy(messages)
    good = validate_ui_messages(messages, version=version).valid_messages
    assert messages == before
    if good:
        assert exact(validate_ui_messages(good, version=version).messages) == exact(good)


@pytest.mark.parametrize("version", sorted(ALL))
@given(messages=ui_messages() | broken_messages())
def test_lossless_gives_the_same_verdict_and_keeps_everything(
    version: int, messages: list[JsonObject]
) -> None:
    plain = validate_ui_messages(messages, version=version)
    lossless = validate_ui_messages(messages, version=version, lossless=True)
    assert lossless.verdicts == plain.verdicts
    kept = [message for message, verdict in zip(messages, lossless.verdicts, strict=True) if verdict.valid]
    assert exact(lossless.valid_messages) == exact(kept)
    assert all(_is_within(few, all_) for few, all_ in zip(plain.valid_messages, kept, strict=True))


def _is_within(few: Json, all_: Json) -> bool:
    if is_object(few) and is_object(all_):
        return all(key in all_ and _is_within(value, all_[key]) for key, value in few.items())
    if is_array(few) and is_array(all_):
        return len(few) == len(all_) and all(map(_is_within, few, all_))
    return bool(exact(few) == exact(all_))


@given(messages=broken_messages())
def test_a_verdict_does_not_depend_on_the_other_messages(messages: list[JsonObject]) -> None:
    together = validate_ui_messages(messages, tools={})
    alone = [validate_ui_messages([message], tools={}).success for message in messages]
    assert [verdict.valid for verdict in together.verdicts] == alone


# --- recorded cases --------------------------------------------------------------------------------------


def _run(case: JsonObject, version: int) -> Validation:
    options = case.get("options", {})
    tools = options.get("tools")
    return validate_ui_messages(
        case["messages"],
        version=version,
        metadata_schema=options.get("metadataSchema"),
        data_schemas=options.get("dataSchemas"),
        tools=None
        if tools is None
        else {
            name: ToolSchemas(tool.get("inputSchema"), tool.get("outputSchema"))
            for name, tool in tools.items()
        },
    )


@pytest.mark.parametrize("version", [6, 7])
def test_results_equal_those_of_the_real_package(version: int) -> None:
    known = cases("ai-sdk/validate.jsonl")
    assert len(known) >= at_least(25, 90)
    for case in known:
        if "zod-dependent" in case["tags"]:
            continue
        expected, result = case["expected"][str(version)], _run(case, version)
        assert result.success is expected["success"], case["id"]
        assert exact(result.messages) == exact(expected["data"]), case["id"]
        error: JsonObject = expected["error"] or {}
        for path in error.get("paths", []):
            assert _points_at(path, result), (case["id"], path)


def _points_at(path: list[Any], result: Validation) -> bool:
    """Return whether a problem is inside the part in which the SDK found one."""
    where = "messages" + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    found = [problem.path for verdict in result.verdicts for problem in verdict.problems]
    return any(place.startswith(where) for place in found or ["messages"])
