"""Requests to Gemini, contents, and answers of it, whole or streamed → canonical messages.

A content becomes a message of its own, and results are merged into their calls. Lost on load: where answers
of tools stood among other words, the counts that a stream told before its last ones.
"""

from typing import Final

from partita.errors import ConversionError
from partita.formats.format import Loaded
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of

from .answer_load import is_response, load_body, load_stream
from .asked import request_of
from .contents import Contents
from .spelling import ASKED_NAMES, spelled

HINT: Final = "give {contents}, a list of contents, a response {candidates}, or a list of responses"


def load(payload: Json) -> Loaded:
    """A request, its contents alone, or an answer."""
    if is_object(payload):
        return _load_object(payload)
    if not is_array(payload):
        raise ConversionError(f"a request to Gemini is {kind_of(payload)}", where="$", hint=HINT)
    is_talk = any(is_object(item) and ("parts" in item or "role" in item) for item in payload)
    if not is_talk and any(is_object(item) or is_array(item) for item in payload):
        return load_stream(payload)
    return _read(payload)


def _load_object(payload: JsonObject) -> Loaded:
    if "contents" in payload:
        return _load_request(spelled(payload, ASKED_NAMES))
    if is_response(payload):
        return load_body(payload)
    if "parts" in payload:
        contents = Contents()
        contents.take(payload, 1, "$")
        return Loaded(contents.messages(), tuple(contents.losses))
    raise ConversionError("no contents and no candidates", where="$", hint=HINT)


def _load_request(payload: JsonObject) -> Loaded:
    given = payload["contents"]
    contents = Contents()
    contents.instruct(payload.get("systemInstruction"), "$.systemInstruction")
    said = {"role": "user", "parts": [{"text": given}]} if isinstance(given, str) else given
    if not is_array(said) and not is_object(said):
        raise ConversionError(f"the contents are {kind_of(given)}", where="$.contents", hint=HINT)
    for place, content in enumerate(said if is_array(said) else [said]):
        contents.take(content, place + 1, f"$.contents[{place}]" if is_array(said) else "$.contents")
    rest = {key: value for key, value in payload.items() if key not in ("contents", "systemInstruction")}
    return Loaded(contents.messages(), tuple(contents.losses), request_of(rest))


def _read(payload: list[Json]) -> Loaded:
    contents = Contents()
    for place, content in enumerate(payload):
        contents.take(content, place + 1, f"$[{place}]")
    return Loaded(contents.messages(), tuple(contents.losses))
