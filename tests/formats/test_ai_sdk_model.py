"""Model messages of AI SDK 4 to 7 and canonical messages: there, back, and what is told on the way."""

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from partita.errors import ConversionError, DecodeError
from partita.formats.ai_sdk import core_v4, model_dump, model_load, ui_dump, ui_load
from partita.formats.ai_sdk.convert import convert_to_model_messages
from partita.formats.format import Dumped, Loaded
from partita.types.codec import read_message, to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Message, SystemMessage, ToolMessage, derive_type
from tests import canonical
from tests.strategies import ui_messages

VERSIONS = (4, 5, 6, 7)


def load(payload: Json, version: int) -> Loaded:
    return core_v4.load(payload) if version == 4 else model_load.load(payload, version)


def dump(messages: Sequence[Message], version: int) -> Dumped:
    return core_v4.dump(messages) if version == 4 else model_dump.dump(messages, version)


# --- model messages, as a release takes them -----------------------------------------------------------

TEXTS = st.text(st.sampled_from("ab é\n😀\ud83d"), max_size=4)
VALUES: SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.just(0.5) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=3,
)
OPTIONS = st.dictionaries(
    st.sampled_from(["openai", "anthropic"]),
    st.dictionaries(st.sampled_from(["a", "cacheControl"]), VALUES, max_size=2),
    max_size=2,
)
MEDIA_TYPES = st.sampled_from(["image/png", "text/plain", "application/pdf"])
BASE64 = st.sampled_from(["", "aGk=", "AAAA"])
URLS = st.sampled_from(
    ["https://example.org/a.png", "https://example.org", "data:text/plain;base64,aGk=", "data:,hi"]
)
REFERENCES = st.dictionaries(st.sampled_from(["openai", "google"]), TEXTS, max_size=2)


def _piece(type_: str, required: dict[str, Any], **optional: Any) -> SearchStrategy[JsonObject]:
    return st.fixed_dictionaries({"type": st.just(type_), **required}, optional=optional)


def _tagged(tag: str, values: SearchStrategy[Json]) -> SearchStrategy[JsonObject]:
    return st.fixed_dictionaries({"type": st.just(tag), tag: values})


TAGGED = (
    _tagged("data", BASE64) | _tagged("url", URLS) | _tagged("text", TEXTS) | _tagged("reference", REFERENCES)
)


def _file_parts(version: int, type_: str = "file") -> SearchStrategy[JsonObject]:
    data: SearchStrategy[Json] = URLS | BASE64
    if version == 7:
        data |= _tagged("data", BASE64) | _tagged("url", URLS)
    if version == 7 and type_ == "file":
        data |= TAGGED | REFERENCES
    name = {"filename": TEXTS} if type_ == "file" else {}
    media_type = "mimeType" if version == 4 else "mediaType"
    return _piece(type_, {"data": data, media_type: MEDIA_TYPES}, providerOptions=OPTIONS, **name)


def _image_parts(version: int) -> SearchStrategy[JsonObject]:
    image: SearchStrategy[Json] = URLS | BASE64
    if version == 7:
        image |= REFERENCES
    media_type = "mimeType" if version == 4 else "mediaType"
    return _piece("image", {"image": image}, providerOptions=OPTIONS, **{media_type: MEDIA_TYPES})


def _said_parts(version: int) -> SearchStrategy[JsonObject]:
    """What an assistant says, but for calls."""
    kinds = [_piece("text", {"text": TEXTS}, providerOptions=OPTIONS), _file_parts(version)]
    if version == 4:  # which has members for what became options of one provider
        options = st.fixed_dictionaries({"openai": OPTIONS})
        kinds.append(_piece("reasoning", {"text": TEXTS}, providerOptions=options, signature=TEXTS))
        kinds.append(_piece("redacted-reasoning", {"data": TEXTS}, providerOptions=options))
    else:
        kinds.append(_piece("reasoning", {"text": TEXTS}, providerOptions=OPTIONS))
    if version == 7:
        kinds.append(_piece("custom", {"kind": st.just("openai.thing")}, providerOptions=OPTIONS))
        kinds.append(_file_parts(7, "reasoning-file"))
    return st.one_of(kinds)


def _items(version: int) -> SearchStrategy[JsonObject]:
    """Items of a `content` output."""
    if version == 4:
        image = _piece("image", {"data": BASE64}, mimeType=MEDIA_TYPES)
        return _piece("text", {"text": TEXTS}) | image
    options = {} if version == 5 else {"providerOptions": OPTIONS}
    data: dict[str, Any] = {"data": BASE64, "mediaType": MEDIA_TYPES}
    kinds = [_piece("text", {"text": TEXTS}, **options)]
    if version < 7:
        kinds.append(_piece("media", data))
    if version > 5:
        ids: SearchStrategy[Json] = TEXTS | REFERENCES
        kinds += [
            _piece("file-data", data, filename=TEXTS, **options),
            _piece("file-url", {"url": URLS}, mediaType=MEDIA_TYPES, **options),
            _piece("file-id", {"fileId": ids}, **options),
            _piece("image-data", data, **options),
            _piece("image-url", {"url": URLS}, **options),
            _piece("image-file-id", {"fileId": ids}, **options),
            _piece("custom", {}, **options),
        ]
    if version == 7:
        kinds += [
            _piece("file", {"data": TAGGED, "mediaType": MEDIA_TYPES}, filename=TEXTS, **options),
            _piece("file-reference", {"providerReference": REFERENCES}, **options),
            _piece("image-file-reference", {"providerReference": REFERENCES}, **options),
        ]
    return st.one_of(kinds)


def _outputs(version: int) -> SearchStrategy[JsonObject]:
    options = {} if version == 5 else {"providerOptions": OPTIONS}
    kinds = [
        _piece("text", {"value": TEXTS}, **options),
        _piece("json", {"value": VALUES}, **options),
        _piece("error-text", {"value": TEXTS}, **options),
        _piece("error-json", {"value": VALUES}, **options),
        _piece("content", {"value": st.lists(_items(version), max_size=2)}),
    ]
    if version > 5:
        kinds.append(_piece("execution-denied", {}, reason=TEXTS, **options))
    return st.one_of(kinds)


def _results(version: int, call: JsonObject) -> SearchStrategy[JsonObject]:
    named = {"toolCallId": st.just(call["toolCallId"]), "toolName": st.just(call["toolName"])}
    if version > 4:
        return _piece("tool-result", {**named, "output": _outputs(version)}, providerOptions=OPTIONS)
    bare = _piece("tool-result", {**named, "result": VALUES}, isError=st.just(True), providerOptions=OPTIONS)
    content = st.lists(_items(4), max_size=2)
    shown = _piece("tool-result", {**named, "result": VALUES, "experimental_content": content})
    return bare | shown


@st.composite
def _turns(draw: DrawFn, version: int, number: int, *, last: bool) -> list[JsonObject]:
    """Assistant and tool messages of one turn, in the order that the SDK gives them."""
    turn: list[JsonObject] = []
    for step in range(draw(st.integers(1, 3))):
        if draw(st.integers(0, 3)) == 0:
            turn.append(draw(_messages("assistant", TEXTS)))
            continue
        content: list[JsonObject] = []
        responses: list[JsonObject] = []
        results: list[JsonObject] = []
        for place in range(draw(st.integers(0, 3))):
            if draw(st.booleans()):
                content.append(draw(_said_parts(version)))
            else:
                said, response, result = draw(_calls(version, f"c{number}.{step}.{place}", last=last))
                content += said
                responses += response
                results += result
                responses += [] if draw(st.booleans()) else [results.pop() for _ in result]
        turn.append(draw(_messages("assistant", st.just(content))))
        if responses and any(piece["type"] == "tool-result" for piece in responses):
            turn.append(draw(_messages("tool", st.just(responses))))
        elif responses:
            turn.append({"role": "tool", "content": responses})
        if results:
            turn.append(draw(_messages("tool", st.just(results))))
    return turn


@st.composite
def _calls(
    draw: DrawFn, version: int, id_: str, *, last: bool
) -> tuple[list[JsonObject], list[JsonObject], list[JsonObject]]:
    """What is said about one call, how it was approved, and its result."""
    input_ = {"args" if version == 4 else "input": VALUES}
    executed = {} if version == 4 else {"providerExecuted": st.booleans()}
    named = {"toolCallId": st.just(id_), "toolName": st.sampled_from(["search", "read-file"])}
    call = draw(_piece("tool-call", {**named, **input_}, providerOptions=OPTIONS, **executed))
    said, responses = [call], list[JsonObject]()
    answer = draw(st.sampled_from([None, "asked", True, False])) if version > 5 else None
    if answer == "asked" and not last:
        answer = True  # version 7 drops what a later user message passed over
    if answer is not None:
        said.append(draw(_requests(version, id_)))
    if isinstance(answer, bool):
        fixed = {"approvalId": st.just(f"approve {id_}"), "approved": st.just(answer)}
        response = draw(_piece("tool-approval-response", fixed, reason=TEXTS))
        same = {"providerExecuted": call["providerExecuted"]} if "providerExecuted" in call else {}
        responses.append(response | draw(st.sampled_from([same, {}])))
    if answer == "asked" or draw(st.integers(0, 3)) == 0:
        return said, responses, []
    result = draw(_results(version, call))
    if call.get("providerExecuted"):
        return [*said, result], responses, []
    return said, responses, [result]


def _requests(version: int, call_id: str) -> SearchStrategy[JsonObject]:
    fixed = {"approvalId": st.just(f"approve {call_id}"), "toolCallId": st.just(call_id)}
    newer = {"reason": TEXTS, "isAutomatic": st.booleans()} if version == 7 else {}
    return _piece("tool-approval-request", fixed, signature=TEXTS, inputSchemaInput=VALUES, **newer)


def _messages(role: str, content: SearchStrategy[Json]) -> SearchStrategy[JsonObject]:
    return st.fixed_dictionaries(
        {"role": st.just(role), "content": content}, optional={"providerOptions": OPTIONS, "note": VALUES}
    )


@st.composite
def model_messages(draw: DrawFn, version: int) -> list[JsonObject]:
    """Messages of a release, in the order that it gives them."""
    asked = _piece("text", {"text": TEXTS}, providerOptions=OPTIONS)
    asked |= _image_parts(version) | _file_parts(version)
    said = _messages("user", TEXTS | st.lists(asked, max_size=3))
    messages: list[JsonObject] = draw(st.lists(_messages("system", TEXTS), max_size=1))
    turns = draw(st.integers(0, 3))
    for number in range(turns):
        messages += draw(st.lists(said, min_size=1 if number else 0, max_size=2))
        messages += draw(_turns(version, number, last=number == turns - 1))
    if draw(st.integers(0, 3)) == 0:
        messages += draw(_orphans(version))
    return messages


@st.composite
def _orphans(draw: DrawFn, version: int) -> list[JsonObject]:
    call = {"toolCallId": "gone", "toolName": "forget"}
    results = st.lists(_results(version, call), max_size=2)
    after = [{"role": "assistant", "content": "then"}] if draw(st.booleans()) else []
    return [draw(_messages("tool", results)), *after]


# --- there and back ------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_dump_gives_back_what_load_read(version: int, data: st.DataObject) -> None:
    payload = data.draw(model_messages(version))
    before = copy.deepcopy(payload)
    loaded = load(payload, version)
    dumped = dump(loaded.messages, version)
    assert payload == before, "load must not change its input"
    assert dumped.payload == payload
    assert loaded.losses == ()
    assert dumped.losses == ()


@pytest.mark.parametrize("version", (5, 6, 7))
@given(data=st.data())
def test_ui_messages_become_what_the_sdk_converts_them_to(version: Any, data: st.DataObject) -> None:
    try:
        messages = ui_load.load(data.draw(ui_messages(version))).messages
    except ConversionError:
        reject()
    try:
        converted = convert_to_model_messages(ui_dump.dump(messages, version).payload, version=version)
    except ConversionError:
        with pytest.raises(ConversionError):
            dump(messages, version)
    else:
        assert dump(messages, version).payload == converted


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_what_load_does_not_give_back_is_told_by_dump(version: int, data: st.DataObject) -> None:
    # The texts of a system message become one.
    message = data.draw(_canonical_messages(version).filter(lambda message: not isinstance(message, SystemMessage)))
    dumped = dump([message], version)
    assume(not any(loss.why == model_dump.AMBIGUOUS for loss in dumped.losses))
    told = [loss.path for loss in dumped.losses]
    again = load(dumped.payload, version).messages
    if "$[0]" in told:
        assert dumped.payload == []
        return
    assert len(again) == 1
    before, after = _plain(message, told), _plain(again[0], [])
    if "networkExecution" in before["content"]:
        after["content"]["parts"].pop()  # drawn as a call
    assert list(_missing(before, after, "$[0]", told)) == []


def _plain(message: Message, told: Sequence[str]) -> JsonObject:
    """A message as JSON, without the parts that do not arrive, and without step starts."""
    plain: JsonObject = to_json(message)
    if message.type == derive_type(message.parts):
        del plain["type"]
    parts = {f"$[0].content.parts[{index}]": part for index, part in enumerate(plain["content"]["parts"])}
    arrived = {path: part for path, part in parts.items() if path not in told}
    steps = {path for path, part in arrived.items() if part["type"] == "step-start"}
    plain["content"]["parts"] = [(path, part) for path, part in arrived.items() if path not in steps]
    return plain


def _missing(before: Json, after: Json, path: str, told: Sequence[str]) -> Iterator[str]:
    """The leaves that are not there again, and that no loss tells of."""
    if path in told or before == after:
        return
    if path.endswith(".resultMessage") and after is None and f"{path}.id" in told:
        return  # it came in the message that results come in, which is not kept
    if isinstance(before, tuple) and isinstance(after, tuple):
        yield from _missing(before[1], after[1], before[0], told)
    elif is_object(before) and is_object(after):
        for key, item in before.items():
            yield from _missing(item, after.get(key), f"{path}.{key}", told)
    elif is_array(before) and is_array(after) and len(before) == len(after):
        for index, (item, other) in enumerate(zip(before, after, strict=True)):
            yield from _missing(item, other, f"{path}[{index}]", told)
    else:
        yield path


@st.composite
def _canonical_messages(draw: DrawFn, version: int) -> Message:
    """Canonical messages whose files are somewhere, and without messages of a user inside."""
    plain = to_json(draw(canonical.messages()))
    steering = "steering-message"
    plain["content"]["parts"] = [part for part in plain["content"]["parts"] if part.get("type") != steering]
    urls = draw(st.lists(URLS, min_size=1, max_size=3))
    for index, part in enumerate(_objects(plain)):
        if part.get("type") in ("file", "image", "reasoning-file"):
            part["url"] = urls[index % len(urls)]
        if part.get("state") == "input-streaming":
            part.pop("approval", None)  # an answer to a request that is not sent
            part["state"] = "input-available" if version == 5 else "input-streaming"
        if part.get("input") is None:
            part.pop("rawInput", None)  # it arrives, as the input
    return read_message(plain)


def _objects(value: Json) -> Iterator[JsonObject]:
    if is_object(value):
        yield value
    items = value.values() if is_object(value) else value if is_array(value) else ()
    for item in items:
        yield from _objects(item)


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_no_leaf_of_a_payload_is_lost_in_silence(version: int, data: st.DataObject) -> None:
    payload = data.draw(model_messages(version).filter(bool))
    changed = data.draw(_changed(payload))
    try:
        assert load(changed, version) != load(payload, version)
    except ConversionError:
        pass


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_no_leaf_of_a_message_is_lost_in_silence(version: int, data: st.DataObject) -> None:
    messages = data.draw(st.lists(_canonical_messages(version), min_size=1, max_size=3))
    plain = [to_json(message) for message in messages]
    try:
        changed = [read_message(message) for message in data.draw(_changed(plain))]
        assert dump(changed, version) != dump(messages, version)
    except (DecodeError, ConversionError):
        pass


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_what_is_out_of_order_or_broken_comes_back_or_is_told(version: int, data: st.DataObject) -> None:
    payload = data.draw(_damaged(version))
    try:
        loaded = load(payload, version)
        dumped = dump(loaded.messages, version)
    except ConversionError as error:
        assert error.hint
        return
    assert dumped.payload == payload or loaded.losses or dumped.losses


@st.composite
def _damaged(draw: DrawFn, version: int) -> Json:
    """Messages of a release, shuffled, mixed with those of another, and with something broken in them."""
    payload = draw(model_messages(version))
    if draw(st.booleans()):
        payload = copy.deepcopy(payload + draw(model_messages(draw(st.sampled_from(VERSIONS)))))
    if draw(st.booleans()):
        payload = draw(st.permutations(payload))
    for message in payload:
        if is_array(message["content"]) and draw(st.booleans()):
            message["content"] = draw(st.permutations(message["content"]))
    places = [(holder, key) for holder, key in _places(payload, inner=True)]
    for holder, key in draw(st.lists(st.sampled_from(places), max_size=2)) if places else ():
        holder[key] = draw(VALUES)
    return payload


@st.composite
def _changed(draw: DrawFn, value: Json) -> Json:
    """A copy of a JSON value with one leaf changed."""
    changed = copy.deepcopy(value)
    holder, key = draw(st.sampled_from(list(_places(changed))))
    holder[key] = _other(holder[key])
    return changed


def _places(value: Json, inner: bool = False) -> Iterator[tuple[Any, Any]]:
    """Where the leaves of a JSON value are, and if wanted the values that hold them."""
    entries = value.items() if is_object(value) else enumerate(value)
    for key, item in entries:
        is_leaf = not item or not (is_object(item) or is_array(item))
        if inner or is_leaf:
            yield value, key
        if not is_leaf:
            yield from _places(item, inner)


def _other(leaf: Json) -> Json:
    match leaf:
        case bool():
            return not leaf
        case str():
            return leaf + "x"
        case int() | float():
            return 0 if leaf else 1
        case _:
            return "x" if leaf is None else [leaf]
