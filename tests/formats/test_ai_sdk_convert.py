import copy
import json
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import ConversionError, FormatError
from partita.formats.ai_sdk.convert import ModelTool, convert_to_model_messages
from partita.formats.ai_sdk.javascript import address, joined, json_text, spread, text_of
from partita.types.json import Json, JsonObject, is_array, is_object
from tests.recordings import at_least, cases
from tests.tables import each_row

# --- generated messages ------------------------------------------------------------------------------

# halves of a surrogate pair, characters JSON escapes, digits that make array indexes of keys
TEXTS = st.text(st.sampled_from('ab1 é\n"\\\ud83d\ude00,.-'), max_size=6)
SCALARS = (
    st.none() | st.booleans() | st.integers(-9, 2**53) | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES: st.SearchStrategy[Json] = st.recursive(
    SCALARS | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
METADATA = st.dictionaries(
    st.sampled_from(["openai", "google", "__proto__"]), st.dictionaries(TEXTS, VALUES, max_size=2), max_size=2
)
URLS = st.sampled_from(
    [
        "https://example.org/a.png",
        "HTTPS://Example.ORG/b/../c d",
        "https://münchen.example?q=é#ü",
        "data:text/plain,hi",
        "data:text/plain;base64,aGk=",
        "data:text/plain,a b?c d#e f",
        " data:,\ttabs ",
        "data:/a/../b",
        "blob:x",
        "mailto:\ud83d a?b c",
        "http://user:p w@[::1]:80/\\x%zz|",
        "/relative",
    ]
)
TOOL_NAMES = st.sampled_from(["look", "look-up", "gone", ""])
IDS = st.sampled_from(["i1", "i2"])


def _part(type_: str, required: dict[str, Any], **optional: Any) -> st.SearchStrategy[JsonObject]:
    return st.fixed_dictionaries({"type": st.just(type_), **required}, optional=optional)


STATES = {"state": st.sampled_from(["streaming", "done"]), "providerMetadata": METADATA}
SOURCE = {"type": st.just("source"), "id": IDS}
CITATION = st.fixed_dictionaries(
    {
        "source": st.fixed_dictionaries({**SOURCE, "sourceType": st.just("url"), "url": URLS})
        | st.fixed_dictionaries(
            {**SOURCE, "sourceType": st.just("document"), "mediaType": TEXTS, "title": TEXTS},
            optional={"filename": TEXTS, "providerMetadata": METADATA},
        )
    },
    optional={"startIndex": st.integers(0, 9), "endIndex": st.just(4.0), "citedText": TEXTS},
)
TEXT_PARTS = _part("text", {"text": TEXTS}, **STATES, citations=st.lists(CITATION, max_size=1))
FILE_PARTS = _part(
    "file",
    {"mediaType": st.just("image/png"), "url": URLS},
    filename=TEXTS,
    providerMetadata=METADATA,
    providerReference=st.dictionaries(TEXTS, TEXTS, max_size=1),
)
PLAIN_PARTS = (
    TEXT_PARTS
    | FILE_PARTS
    | _part("reasoning", {"text": TEXTS}, id=IDS, **STATES)
    | _part("reasoning-file", {"mediaType": TEXTS, "url": URLS}, providerMetadata=METADATA)
    | _part("custom", {"kind": st.just("openai.thing")}, providerMetadata=METADATA)
    | _part("source-url", {"sourceId": IDS, "url": URLS}, title=TEXTS, providerMetadata=METADATA)
    | _part("source-document", {"sourceId": IDS, "mediaType": TEXTS, "title": TEXTS}, filename=TEXTS)
    | _part("steering-message", {"id": IDS, "parts": st.lists(TEXT_PARTS | FILE_PARTS, max_size=2)})
    | _part("step-start", {})
    | st.sampled_from(["data-note", "data-x"]).flatmap(lambda type_: _part(type_, {"data": VALUES}, id=IDS))
)
APPROVAL = {
    "descriptor": VALUES,
    "signature": TEXTS,
    "inputSchemaInput": VALUES,
    "requestReason": TEXTS,
    "isAutomatic": st.booleans(),
}


def _approval(approved: st.SearchStrategy[bool] | None) -> st.SearchStrategy[JsonObject]:
    if approved is None:
        return st.fixed_dictionaries({"id": IDS}, optional=APPROVAL)
    return st.fixed_dictionaries({"id": IDS, "approved": approved}, optional={**APPROVAL, "reason": TEXTS})


GRANTED = _approval(st.just(True))
EMPTY: JsonObject = {}
INPUT: dict[str, Any] = {"input": VALUES | st.just(EMPTY)}
TOOL_STATES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "input-streaming": ({}, {"input": VALUES, "rawInput": TEXTS, "inputEncoding": st.just("json")}),
    "input-available": (INPUT, {}),
    "approval-requested": ({**INPUT, "approval": _approval(None)}, {}),
    "approval-responded": ({**INPUT, "approval": _approval(st.booleans())}, {}),
    "output-available": ({**INPUT, "output": VALUES}, {"preliminary": st.booleans(), "approval": GRANTED}),
    "output-error": ({"errorText": TEXTS}, {"input": VALUES, "rawInput": VALUES, "approval": GRANTED}),
    "output-denied": ({**INPUT, "approval": _approval(st.just(False))}, {}),
}
TOOL_OPTIONAL = {
    "title": TEXTS,
    "toolMetadata": st.dictionaries(TEXTS, VALUES, max_size=1),
    "providerExecuted": st.booleans(),
    "callProviderMetadata": METADATA,
    "resultProviderMetadata": METADATA,
}


@st.composite
def tool_parts(draw: st.DrawFn) -> JsonObject:
    state = draw(st.sampled_from(sorted(TOOL_STATES)))
    required, optional = TOOL_STATES[state]
    name = draw(TOOL_NAMES)
    part = draw(
        _part(
            f"tool-{name}",
            {"toolCallId": IDS, "state": st.just(state), **required},
            **TOOL_OPTIONAL,
            **optional,
        )
    )
    if draw(st.booleans()):
        part |= {"type": "dynamic-tool", "toolName": name}
        part |= draw(st.sampled_from([{}, {"dynamic": False}]))
    if "input" in part and "inputSchemaInput" in part.get("approval", {}) and draw(st.booleans()):
        part["approval"] |= {"inputSchemaInput": part["input"]}
    return part


def _plain_or_tool(tool: bool) -> st.SearchStrategy[JsonObject]:
    return tool_parts() if tool else PLAIN_PARTS


@st.composite
def ui_messages(draw: st.DrawFn) -> list[JsonObject]:
    """Messages that fit the types, mostly of one version or another."""
    message = st.fixed_dictionaries(
        {
            "id": IDS,
            "role": st.sampled_from(["assistant", "assistant", "user", "system"]),
            "parts": st.lists(st.booleans().flatmap(_plain_or_tool), max_size=4),
        },
        optional={"metadata": VALUES},
    )
    # through JSON once, which joins halves of surrogate pairs
    return list(json.loads(json.dumps(draw(st.lists(message, min_size=1, max_size=3)))))


ODD_VALUES = VALUES | st.sampled_from(
    [
        *("system", "user", "text", "file", "tool-look", "dynamic-tool", "step-start", "data-x", "done"),
        *(*TOOL_STATES, ["https://example.org"], [[None, 1e21], True], {"a": 1}, {}, [], 1e-7),
    ]
)


class Place(NamedTuple):
    """Where a value is: its path, and its container and key."""

    path: str
    container: Any
    key: Any


def _places(value: Json) -> list[Place]:
    """Every place in a list of messages."""
    found: list[Place] = []
    stack: list[tuple[str, Json]] = [("messages", value)]
    while stack:
        path, item = stack.pop()
        if is_object(item):
            inner = [Place(f"{path}.{key}", item, key) for key in item]
        else:
            inner = [Place(f"{path}[{key}]", item, key) for key in range(len(item) if is_array(item) else 0)]
        found.extend(inner)
        stack.extend((place.path, item[place.key]) for place in inner)
    return found


@st.composite
def broken_messages(draw: st.DrawFn) -> list[JsonObject]:
    """Messages with members missing, added, of another type or in the wrong place."""
    messages = draw(ui_messages())
    for _ in range(draw(st.integers(1, 3))):
        places = _places(messages)
        if not places:
            break
        _, container, key = draw(st.sampled_from(places))
        match draw(st.sampled_from(["drop", "drop", "null", "odd", "odd", "add"])):
            case "drop":
                del container[key]
            case "null":
                container[key] = None
            case "add" if is_object(container):
                container[draw(st.sampled_from(["x", "approval", "rawInput", "__proto__"]))] = draw(VALUES)
            case _:
                container[key] = copy.deepcopy(draw(ODD_VALUES))  # a later change may overwrite it
    return list(json.loads(json.dumps(messages)))


def exact(value: Json) -> Json:
    """A value that compares as JSON does: `True` is not `1`, `1` is `1.0`."""
    if is_object(value):
        return {key: exact(item) for key, item in value.items()}
    if is_array(value):
        return [exact(item) for item in value]
    return (type(value).__name__, value) if isinstance(value, bool) else value


# --- tables ------------------------------------------------------------------------------------------


def _message(role: str, *parts: JsonObject, **members: Json) -> JsonObject:
    return {"id": "m", "role": role, "parts": list(parts), **members}


def _text(text: str, **members: Json) -> JsonObject:
    return {"type": "text", "text": text, **members}


def _tool(state: str, **members: Json) -> JsonObject:
    return {"type": "tool-look-up", "toolCallId": "c", "state": state, "input": {"q": 1}, **members}


CALL = {"type": "tool-call", "toolCallId": "c", "toolName": "look-up", "input": {"q": 1}}
RESULT = {"type": "tool-result", "toolCallId": "c", "toolName": "look-up"}
ALL = (5, 6, 7)
OPTIONS = {"openai": {"a": 1}}
PNG = "https://example.org/a.png"
FILE = {"type": "file", "mediaType": "image/png", "filename": "a"}

Case = tuple[tuple[int, ...], list[JsonObject], list[JsonObject]]
CASES: dict[str, Case] = {
    "nothing": (ALL, [], []),
    "the texts of a system message are joined": (
        ALL,
        [_message("system", _text("a"), {"type": "file"}, _text("b"))],
        [{"role": "system", "content": "ab"}],
    ),
    "later provider options override earlier ones in a system message": (
        ALL,
        [_message("system", _text("", providerMetadata=OPTIONS), _text("", providerMetadata={"openai": 2}))],
        [{"role": "system", "content": "", "providerOptions": {"openai": 2}}],
    ),
    "user texts and files with URLs": (
        (5, 6),
        [_message("user", _text("hi", state="done"), {**FILE, "url": "a.png", "providerMetadata": OPTIONS})],
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "hi"},
                    {**FILE, "data": "a.png", "providerOptions": OPTIONS},
                ],
            }
        ],
    ),
    "version 7 tags files and normalizes their URL": (
        (7,),
        [_message("user", {**FILE, "url": "HTTPS://example.org/x/../a.png"})],
        [{"role": "user", "content": [{**FILE, "data": {"type": "url", "url": PNG}}]}],
    ),
    "version 7 prefers the provider's reference": (
        (7,),
        [_message("user", {**FILE, "url": "", "providerReference": {"openai": "f-1"}})],
        [
            {
                "role": "user",
                "content": [{**FILE, "data": {"type": "reference", "reference": {"openai": "f-1"}}}],
            }
        ],
    ),
    "version 5 drops options of the assistant's files": (
        (5,),
        [_message("assistant", {**FILE, "url": PNG, "providerMetadata": OPTIONS})],
        [{"role": "assistant", "content": [{**FILE, "data": PNG}]}],
    ),
    "a step becomes an assistant message and a tool message": (
        ALL,
        [
            _message(
                "assistant",
                {"type": "step-start"},
                {"type": "reasoning", "text": "hm", "id": "r"},
                _tool("output-available", output=[1]),
                {"type": "step-start"},
                _text("done"),
            )
        ],
        [
            {"role": "assistant", "content": [{"type": "reasoning", "text": "hm"}, CALL]},
            {"role": "tool", "content": [{**RESULT, "output": {"type": "json", "value": [1]}}]},
            {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
        ],
    ),
    "an error without a text is an unknown error": (
        ALL,
        [_message("assistant", _tool("output-error", errorText=None))],
        [
            {"role": "assistant", "content": [CALL]},
            {
                "role": "tool",
                "content": [{**RESULT, "output": {"type": "error-text", "value": "unknown error"}}],
            },
        ],
    ),
    "an error that is not a text is written as JSON": (
        ALL,
        [_message("assistant", _tool("output-error", errorText={"b": 1e21, "1": [True]}))],
        [
            {"role": "assistant", "content": [CALL]},
            {
                "role": "tool",
                "content": [{**RESULT, "output": {"type": "error-text", "value": '{"1":[true],"b":1e+21}'}}],
            },
        ],
    ),
    "results of provider-executed tools are in the assistant message": (
        ALL,
        [_message("assistant", _tool("output-error", errorText="no", providerExecuted=True))],
        [
            {
                "role": "assistant",
                "content": [
                    {**CALL, "providerExecuted": True},
                    {**RESULT, "output": {"type": "error-json", "value": "no"}},
                ],
            }
        ],
    ),
    "version 5 has no provider-executed dynamic tools": (
        (5,),
        [
            _message(
                "assistant",
                {
                    **_tool("output-available", output="x", providerExecuted=True),
                    "type": "dynamic-tool",
                    "toolName": "look-up",
                },
            )
        ],
        [
            {"role": "assistant", "content": [CALL]},
            {"role": "tool", "content": [{**RESULT, "output": {"type": "text", "value": "x"}}]},
        ],
    ),
    "version 5 keeps messages without content": (
        (5,),
        [_message("assistant", {"type": "data-x", "data": 1}, _tool("input-streaming"))],
        [{"role": "assistant", "content": []}, {"role": "tool", "content": []}],
    ),
    "versions 6 and 7 drop messages without content": (
        (6, 7),
        [_message("assistant", {"type": "data-x", "data": 1}, _tool("input-streaming"))],
        [],
    ),
    "a refused call gets a result in version 7 only": (
        (7,),
        [_message("assistant", _tool("approval-responded", approval={"id": "a", "approved": False}))],
        [
            {
                "role": "assistant",
                "content": [CALL, {"type": "tool-approval-request", "approvalId": "a", "toolCallId": "c"}],
            },
            {
                "role": "tool",
                "content": [
                    {"type": "tool-approval-response", "approvalId": "a", "approved": False},
                    {**RESULT, "output": {"type": "execution-denied"}},
                ],
            },
        ],
    ),
    "a denied call becomes an error that the model reads": (
        (6, 7),
        [
            _message(
                "assistant", _tool("output-denied", approval={"id": "a", "approved": False, "reason": "no"})
            )
        ],
        [
            {
                "role": "assistant",
                "content": [CALL, {"type": "tool-approval-request", "approvalId": "a", "toolCallId": "c"}],
            },
            {
                "role": "tool",
                "content": [
                    {"type": "tool-approval-response", "approvalId": "a", "approved": False, "reason": "no"},
                    {**RESULT, "output": {"type": "error-text", "value": "no"}},
                ],
            },
        ],
    ),
    "version 7 drops an approval request that the user ignored": (
        (7,),
        [
            _message("assistant", _tool("approval-requested", approval={"id": "a"})),
            _message("user", _text("go on")),
        ],
        [{"role": "user", "content": [{"type": "text", "text": "go on"}]}],
    ),
    "the input of a failed call may be raw": (
        ALL,
        [_message("assistant", _tool("output-error", input=None, rawInput="{", errorText="no"))],
        [
            {"role": "assistant", "content": [{**CALL, "input": "{"}]},
            {"role": "tool", "content": [{**RESULT, "output": {"type": "error-text", "value": "no"}}]},
        ],
    ),
    "a steering message between two steps of an assistant": (
        (7,),
        [
            _message(
                "assistant",
                _text("a"),
                {"type": "steering-message", "id": "s", "parts": [_text("stop")]},
                _text("b"),
            )
        ],
        [
            {"role": "assistant", "content": [{"type": "text", "text": "a"}]},
            {"role": "user", "content": [{"type": "text", "text": "stop"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "b"}]},
        ],
    ),
    "an older version skips new parts": (
        (5, 6),
        [_message("assistant", {"type": "custom", "kind": "a.b"}, {"type": "steering-message"})],
        [],
    ),
    "an assistant without parts is dropped": ((5, 6), [{"role": "assistant"}], []),
}


@each_row(("versions", "messages", "expected"), CASES.values(), ids=CASES)
def test_convert(versions: tuple[int, ...], messages: list[JsonObject], expected: list[JsonObject]) -> None:
    before = copy.deepcopy(messages)
    for version in versions:
        assert exact(convert_to_model_messages(messages, version=version)) == exact(expected)
    assert messages == before


Broken = tuple[tuple[int, ...], Any, str]
BROKEN: dict[str, Broken] = {
    "not a list": (ALL, {"role": "user"}, "messages"),
    "not a message": (ALL, [None], "messages[0]"),
    "an unknown role": (ALL, [_message("user"), _message("data")], "messages[1]"),
    "no parts": (ALL, [{"role": "user"}], "messages[0].parts"),
    "parts that are not an array": (ALL, [{"role": "system", "parts": "x"}], "messages[0].parts"),
    "an assistant without parts, in version 7": ((7,), [{"role": "assistant"}], "messages[0].parts"),
    "a part that is null": (ALL, [{"role": "system", "parts": [None]}], "messages[0].parts[0]"),
    "a part without type": (ALL, [{"role": "user", "parts": [{}]}], "messages[0].parts[0]"),
    "a relative URL, in version 7": (
        (7,),
        [_message("user", {**FILE, "url": "a.png"})],
        "messages[0].parts[0].url",
    ),
    "not a URL, in version 7": ((7,), [_message("assistant", FILE)], "messages[0].parts[0].url"),
    "steering without parts": (
        (7,),
        [_message("assistant", {"type": "steering-message"})],
        "messages[0].parts[0].parts",
    ),
}


@each_row(("versions", "messages", "where"), BROKEN.values(), ids=BROKEN)
def test_broken_messages_are_refused_with_their_path(
    versions: tuple[int, ...], messages: Any, where: str
) -> None:
    for version in versions:
        with pytest.raises(ConversionError) as caught:
            convert_to_model_messages(messages, version=version)
        assert caught.value.where == where
        assert caught.value.hint


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(FormatError):
        convert_to_model_messages([], version=4)


def test_deeply_nested_values_are_converted_or_refused() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    convert_to_model_messages([_message("assistant", _tool("output-available", output=deep))])
    with pytest.raises(ConversionError, match="deep"):
        convert_to_model_messages([_message("assistant", _tool("output-error", errorText=deep))])
    with pytest.raises(ConversionError, match="deep"):
        convert_to_model_messages([_message("system", _text(cast("str", deep)))])


# --- options -----------------------------------------------------------------------------------------

INCOMPLETE = {
    "input-streaming": ALL,
    "input-available": ALL,
    "approval-requested": (6, 7),
    "nonsense": (6, 7),
}


@each_row("state", [*TOOL_STATES, "nonsense"])
@each_row("version", ALL)
def test_incomplete_calls_are_ignored_on_request(state: str, version: int) -> None:
    given_messages = [_message("assistant", _text("x"), _tool(state))]
    kept = convert_to_model_messages(given_messages, version=version, ignore_incomplete_tool_calls=True)
    assert (len(kept[0]["content"]) == 1) is (version in INCOMPLETE.get(state, ()))


def test_a_preliminary_output_counts_as_incomplete() -> None:
    messages = [_message("assistant", _text("x"), _tool("output-available", output=1, preliminary=True))]
    assert convert_to_model_messages(messages, ignore_incomplete_tool_calls=True) == [
        {"role": "assistant", "content": [{"type": "text", "text": "x"}]}
    ]


def test_a_tool_chooses_the_output_that_the_model_reads() -> None:
    def show(tool_call_id: Json, input: Json, output: Json) -> JsonObject:
        return {"type": "json", "value": [tool_call_id, input, output]}

    messages = [_message("assistant", _tool("output-available", output="x"))]
    output = convert_to_model_messages(messages, tools={"look-up": ModelTool(show)})
    assert output[1]["content"][0]["output"] == {"type": "json", "value": ["c", {"q": 1}, "x"]}


REMOVED_TOOLS = {
    **_tool("output-available", output="secret"),
    "type": "dynamic-tool",
    "toolName": "t",
    "dynamic": False,
}
OMITTED = {"type": "text", "value": "Tool output omitted because the tool is no longer available."}


@each_row(
    ("tools", "output"), [(None, OMITTED), ({}, OMITTED), ({"t": None}, {"type": "text", "value": "secret"})]
)
@each_row("version", ALL)
def test_outputs_of_removed_tools_are_omitted(
    tools: dict[str, ModelTool | None] | None, output: JsonObject, version: int
) -> None:
    converted = convert_to_model_messages(
        [_message("assistant", REMOVED_TOOLS)], version=version, tools=tools
    )
    assert converted[1]["content"][0]["output"] == output


@each_row("role", ["user", "assistant"])
def test_data_parts_are_converted_by_the_function(role: str) -> None:
    messages = [_message(role, {"type": "data-a", "data": 1}, {"type": "data-b", "data": 2}, _text("x"))]

    def convert(part: JsonObject) -> JsonObject | None:
        return {"type": "text", "text": "one"} if part["data"] == 1 else None

    converted = convert_to_model_messages(messages, convert_data_part=convert)
    assert converted == [
        {"role": role, "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "x"}]}
    ]


@pytest.mark.parametrize("version", ALL)
@given(messages=broken_messages())
def test_broken_messages_are_converted_or_raise_a_conversion_error(
    version: int, messages: list[JsonObject]
) -> None:
    try:
        converted = convert_to_model_messages(messages, version=version, ignore_incomplete_tool_calls=True)
    except ConversionError:
        return
    assert {message["role"] for message in converted} <= {"system", "user", "assistant", "tool"}


# --- JavaScript --------------------------------------------------------------------------------------

STRINGS: dict[str, tuple[Json, str]] = {
    "null": (None, "null"),
    "boolean": (True, "true"),
    "integral float": (1.0, "1"),
    "negative zero": (-0.0, "0"),
    "large": (123456789012345680000.0, "123456789012345680000"),
    "larger": (1e21, "1e+21"),
    "small": (0.000001, "0.000001"),
    "smaller": (-1.5e-7, "-1.5e-7"),
    "integer beyond a double": (2**53 + 1, "9007199254740992"),
    "integer beyond any double": (10**400, "Infinity"),
    "object": ({"a": 1}, "[object Object]"),
    "array": ([1, [None, "a"], {}], "1,,a,[object Object]"),
}


@each_row(("value", "text"), STRINGS.values(), ids=STRINGS)
def test_values_as_javascript_text(value: Json, text: str) -> None:
    assert text_of(value) == text


def test_adjacent_surrogate_halves_are_joined() -> None:
    assert joined(["\ud83d", "\ude00"], "") == "😀"


def test_json_text_orders_index_keys_and_escapes_lone_surrogates() -> None:
    value: JsonObject = {"b": 0.5, "10": None, "2": '\ud83d\x07"', "01": [], "4294967295": 1}
    assert json_text(value) == '{"2":"\\ud83d\\u0007\\"","10":null,"b":0.5,"01":[],"4294967295":1}'


def test_a_string_spreads_into_code_units() -> None:
    assert spread("a😀") == {"0": "a", "1": "\ud83d", "2": "\ude00"}
    assert spread([1]) == {"0": 1}
    assert spread(5) == {}


@given(rest=st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7F), max_size=8) | TEXTS)
def test_data_urls_that_skip_the_parser_are_already_normalized(rest: str) -> None:
    """The shortcut for data URLs gives the result of the URL parser."""
    from ada_url import URL

    whole = f"data:{rest}".encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert address(f"data:{rest}", "url") == URL(whole).href


# --- recorded cases --------------------------------------------------------------------------------------

DATA_FUNCTIONS: dict[str, Callable[[JsonObject], JsonObject | None]] = {
    "type-as-text": lambda part: _text(f"[{part['type']}]"),
    "only-with-id": lambda part: _text(f"[{part['type']}]") if part.get("id") else None,
    "as-file": lambda part: {
        "type": "file",
        "mediaType": "application/json",
        "data": "data:application/json,1",
    },
}
TOOL_FUNCTIONS: dict[str | None, ModelTool | None] = {
    None: None,
    "wrap": ModelTool(lambda call, given, output: {"type": "json", "value": {"wrapped": output}}),
    "content": ModelTool(lambda call, given, output: {"type": "content", "value": [_text(f"ran {call}")]}),
}


@pytest.mark.parametrize("version", [6, 7])
def test_results_equal_those_of_the_real_package(version: int) -> None:
    known = cases("ai-sdk/model_messages.jsonl")
    assert len(known) >= at_least(20, 100)
    for case in known:
        options = case.get("options", {})
        convert = DATA_FUNCTIONS.get(options.get("convertDataPart"))
        tools = options.get("tools")
        expected = case["expected"][str(version)]
        try:
            result: list[JsonObject] | None = convert_to_model_messages(
                case["messages"],
                version=version,
                tools=None if tools is None else {name: TOOL_FUNCTIONS[kind] for name, kind in tools.items()},
                ignore_incomplete_tool_calls=options.get("ignoreIncompleteToolCalls", False),
                convert_data_part=convert,
            )
        except ConversionError:
            result = None
        assert exact(result) == exact(expected["result"]), case["id"]
