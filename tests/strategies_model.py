"""Lists of model messages as accepted and written by releases 4 to 7: every kind of part, call and output."""

from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from partita.types.json import Json, JsonObject
from tests.strategies_json import json_trees, records

TEXTS = st.text("ab é\n😀\ud83d", max_size=4)
VALUES: SearchStrategy[Json] = json_trees(
    (st.none(), st.booleans(), st.integers(-9, 9), st.just(0.5), TEXTS), TEXTS, 3, 2
)
_OPTIONS_OF_ONE = records({}, {"a": VALUES, "cacheControl": VALUES})
OPTIONS = records({}, {"openai": _OPTIONS_OF_ONE, "anthropic": _OPTIONS_OF_ONE})
MEDIA_TYPES = st.sampled_from(["image/png", "text/plain", "application/pdf"])
BASE64 = st.sampled_from(["", "aGk=", "AAAA"])
URLS = st.sampled_from(
    ["https://example.org/a.png", "https://example.org", "data:text/plain;base64,aGk=", "data:,hi"]
)
REFERENCES = records({}, {"openai": TEXTS, "google": TEXTS})
FLAGS = st.booleans()
ONE_IN_FOUR = st.integers(0, 3).map(lambda number: number == 0)
UP_TO_THREE = st.integers(0, 3)


def _piece(type_: str, required: dict[str, Any], **optional: Any) -> SearchStrategy[JsonObject]:
    return records({"type": st.just(type_), **required}, optional)


def _tagged(tag: str, values: SearchStrategy[Json]) -> SearchStrategy[JsonObject]:
    return records({"type": st.just(tag), tag: values})


TAGGED = (
    _tagged("data", BASE64) | _tagged("url", URLS) | _tagged("text", TEXTS) | _tagged("reference", REFERENCES)
)


@cache
def _file_parts(version: int, type_: str = "file") -> SearchStrategy[JsonObject]:
    data: SearchStrategy[Json] = URLS | BASE64
    if version == 7:
        data |= _tagged("data", BASE64) | _tagged("url", URLS)
    if version == 7 and type_ == "file":
        data |= TAGGED | REFERENCES
    name = {"filename": TEXTS} if type_ == "file" else {}
    media_type = "mimeType" if version == 4 else "mediaType"
    return _piece(type_, {"data": data, media_type: MEDIA_TYPES}, providerOptions=OPTIONS, **name)


@cache
def _image_parts(version: int) -> SearchStrategy[JsonObject]:
    image: SearchStrategy[Json] = URLS | BASE64
    if version == 7:
        image |= REFERENCES
    media_type = "mimeType" if version == 4 else "mediaType"
    return _piece("image", {"image": image}, providerOptions=OPTIONS, **{media_type: MEDIA_TYPES})


@cache
def _assistant_parts(version: int) -> SearchStrategy[JsonObject]:
    """Parts of an assistant message, except calls."""
    kinds = [_piece("text", {"text": TEXTS}, providerOptions=OPTIONS), _file_parts(version)]
    if version == 4:  # version 4 has members for later provider options
        options = records({"openai": OPTIONS})
        kinds.append(_piece("reasoning", {"text": TEXTS}, providerOptions=options, signature=TEXTS))
        kinds.append(_piece("redacted-reasoning", {"data": TEXTS}, providerOptions=options))
    else:
        kinds.append(_piece("reasoning", {"text": TEXTS}, providerOptions=OPTIONS))
    if version == 7:
        kinds.append(_piece("custom", {"kind": st.just("openai.thing")}, providerOptions=OPTIONS))
        kinds.append(_file_parts(7, "reasoning-file"))
    return st.one_of(kinds)


@cache
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


@cache
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


@cache
def _results(version: int) -> SearchStrategy[JsonObject]:
    """Results of a call without its name."""
    if version > 4:
        return _piece("tool-result", {"output": _outputs(version)}, providerOptions=OPTIONS)
    bare = _piece("tool-result", {"result": VALUES}, isError=st.just(True), providerOptions=OPTIONS)
    content = st.lists(_items(4), max_size=2)
    return bare | _piece("tool-result", {"result": VALUES, "experimental_content": content})


@st.composite
def _turns(draw: DrawFn, version: int, number: int, *, last: bool) -> list[JsonObject]:
    """Assistant and tool messages of one turn, in the order of the SDK."""
    turn: list[JsonObject] = []
    for step in range(draw(ONE_TO_THREE)):
        if draw(ONE_IN_FOUR):
            turn.append(draw(_messages("assistant")))
            continue
        content: list[JsonObject] = []
        responses: list[JsonObject] = []
        results: list[JsonObject] = []
        for place in range(draw(UP_TO_THREE)):
            if draw(FLAGS):
                content.append(draw(_assistant_parts(version)))
            else:
                parts, response, result = _call(draw, version, f"c{number}.{step}.{place}", last=last)
                content += parts
                responses += response
                results += result
                responses += [] if draw(FLAGS) else [results.pop() for _ in result]
        turn.append(_message(draw, "assistant", content))
        if responses and any(piece["type"] == "tool-result" for piece in responses):
            turn.append(_message(draw, "tool", responses))
        elif responses:
            turn.append({"role": "tool", "content": responses})
        if results:
            turn.append(_message(draw, "tool", results))
    return turn


def _call(
    draw: DrawFn, version: int, id_: str, *, last: bool
) -> tuple[list[JsonObject], list[JsonObject], list[JsonObject]]:
    """Parts about one call: the call, its approval, and its result."""
    call = {**draw(_calls(version)), "toolCallId": id_}
    parts, responses = [call], list[JsonObject]()
    answer = draw(APPROVAL_RESPONSES) if version > 5 else None
    if answer == "asked" and not last:
        answer = True  # version 7 drops calls that a later user message ignores
    approval = {"approvalId": f"approve {id_}"}
    if answer is not None:
        parts.append({**draw(_requests(version)), **approval, "toolCallId": id_})
    if isinstance(answer, bool):
        response = {**draw(RESPONSES), **approval, "approved": answer}
        if "providerExecuted" in call and draw(FLAGS):
            response["providerExecuted"] = call["providerExecuted"]
        responses.append(response)
    if answer == "asked" or draw(ONE_IN_FOUR):
        return parts, responses, []
    result = {**draw(_results(version)), "toolCallId": id_, "toolName": call["toolName"]}
    if call.get("providerExecuted"):
        return [*parts, result], responses, []
    return parts, responses, [result]


ONE_TO_THREE = st.integers(1, 3)
APPROVAL_RESPONSES = st.sampled_from([None, "asked", True, False])
RESPONSES = _piece("tool-approval-response", {}, reason=TEXTS)


@cache
def _calls(version: int) -> SearchStrategy[JsonObject]:
    """Calls without an id."""
    input_ = {"args" if version == 4 else "input": VALUES}
    executed = {} if version == 4 else {"providerExecuted": FLAGS}
    name = {"toolName": st.sampled_from(["search", "read-file"])}
    return _piece("tool-call", {**name, **input_}, providerOptions=OPTIONS, **executed)


@cache
def _requests(version: int) -> SearchStrategy[JsonObject]:
    """Approval requests without the id of their call."""
    newer = {"reason": TEXTS, "isAutomatic": FLAGS} if version == 7 else {}
    return _piece("tool-approval-request", {}, signature=TEXTS, inputSchemaInput=VALUES, **newer)


NOTES = records({}, {"providerOptions": OPTIONS, "note": VALUES})


def _message(draw: DrawFn, role: str, content: Json) -> JsonObject:
    return {"role": role, "content": content, **draw(NOTES)}


@cache
def _messages(role: str) -> SearchStrategy[JsonObject]:
    """Messages with string content."""
    return records({"role": st.just(role), "content": TEXTS}, {"providerOptions": OPTIONS, "note": VALUES})


@cache
def _questions(version: int) -> SearchStrategy[JsonObject]:
    """User messages."""
    asked = _piece("text", {"text": TEXTS}, providerOptions=OPTIONS)
    asked |= _image_parts(version) | _file_parts(version)
    content = TEXTS | st.lists(asked, max_size=3)
    return records(
        {"role": st.just("user"), "content": content}, {"providerOptions": OPTIONS, "note": VALUES}
    )


@st.composite
def _conversations(draw: DrawFn, version: int) -> list[JsonObject]:
    messages: list[JsonObject] = [draw(_messages("system"))] if draw(FLAGS) else []
    turns = draw(UP_TO_THREE)
    for number in range(turns):
        messages += [draw(_questions(version)) for _ in range(draw(ONE_OR_TWO if number else UP_TO_TWO))]
        messages += draw(_turns(version, number, last=number == turns - 1))
    if draw(ONE_IN_FOUR):
        messages += _orphans(draw, version)
    return messages


ONE_OR_TWO = st.integers(1, 2)
UP_TO_TWO = st.integers(0, 2)


@cache
def model_messages(version: int) -> SearchStrategy[list[JsonObject]]:
    """Messages of a release in its order."""
    return _conversations(version)


def _orphans(draw: DrawFn, version: int) -> list[JsonObject]:
    call = {"toolCallId": "gone", "toolName": "forget"}
    results = [{**draw(_results(version)), **call} for _ in range(draw(UP_TO_TWO))]
    after = [{"role": "assistant", "content": "then"}] if draw(FLAGS) else []
    return [_message(draw, "tool", results), *after]
