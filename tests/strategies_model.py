"""Lists of model messages as releases 4 to 7 take them and give them: every kind of part, call and output."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from partita.types.json import Json, JsonObject

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
