"""What a user says in the middle of a run: the message for the model → parts of a UI message."""

from base64 import b64encode

from partita.errors import ConversionError, StreamError
from partita.formats.ai_sdk.convert.values import DATA, address
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of

TAGS = ("data", "url", "reference", "text")


def steering_parts(message: Json) -> list[JsonObject]:
    """The parts of a steering message: texts and files."""
    content = message.get("content") if is_object(message) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not is_array(content):
        raise StreamError(
            f"content is {kind_of(content)}", where=".message", hint="give a string or a list of parts"
        )
    return [_part(part, f".message.content[{index}]") for index, part in enumerate(content)]


def _part(part: Json, where: str) -> JsonObject:
    if not is_object(part) or part.get("type") not in ("text", "image", "file"):
        raise StreamError("no part of a user", where=where, hint="give text, image and file parts")
    options = part.get("providerOptions")
    metadata: JsonObject = {} if options is None else {"providerMetadata": options}
    if part["type"] == "text":
        return {"type": "text", "text": part.get("text"), **metadata}
    image = part["type"] == "image"
    file = _file(part.get("image" if image else "data"), part.get("mediaType"), where)
    name = None if image else part.get("filename")
    return {"type": "file", **file, **({} if name is None else {"filename": name}), **metadata}


def _file(data: Json, media_type: Json, where: str) -> JsonObject:
    """The url and the media type of a file, in whichever way it is held."""
    if is_object(data):
        tag = data.get("type")
        return _tagged(tag, data.get(tag), media_type, where) if tag in TAGS else _reference(data, media_type)
    if not isinstance(data, str):
        raise StreamError("a file without data", where=where, hint="give a url, base64 or ids by provider")
    try:
        return _url(data, media_type, where)
    except ConversionError:
        return _inline(data, media_type)


def _tagged(tag: Json, value: Json, media_type: Json, where: str) -> JsonObject:
    if tag == "reference":
        return _reference(value, media_type)
    if not isinstance(value, str) or (tag == "data" and value.startswith(DATA)):
        raise StreamError(f"no {tag} of a file", where=where, hint="give base64 as data, a data URL as url")
    if tag == "url":
        return _url(value, media_type, where)
    return _inline(_base64(value) if tag == "text" else value, media_type)


def _base64(text: str) -> str:
    """A text as base64; half of a surrogate pair is replaced, as JavaScript's encoder does."""
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return b64encode(whole.encode()).decode()


def _url(text: str, media_type: Json, where: str) -> JsonObject:
    url = address(text, where)
    if not url.startswith(DATA):
        return {"mediaType": _or_image(media_type), "url": url}
    header, comma, encoded = url.partition(",")
    if not comma:
        raise ConversionError("a data URL without data", where=where, hint="put a comma before the data")
    return _inline(encoded.partition(",")[0], header[len(DATA) :].partition(";")[0])


def _inline(encoded: str, media_type: Json) -> JsonObject:
    return {"mediaType": _or_image(media_type), "url": f"data:{_or_image(media_type)};base64,{encoded}"}


def _reference(ids: Json, media_type: Json) -> JsonObject:
    return {"mediaType": _or_image(media_type), "url": "", "providerReference": ids}


def _or_image(media_type: Json) -> Json:
    return "image" if media_type is None else media_type
