"""Content blocks ↔ parts: text, pictures, sound, resources and links to them."""

from base64 import b64decode, b64encode
from typing import Final, TypeAlias
from urllib.parse import quote, unquote_to_bytes

from partita.types.json import Json, JsonObject, is_object
from partita.types.parts import FilePart, ForeignPart, ImagePart, ReasoningFilePart, TextPart

from .words import FIELDS, MCP, fields_of, noted, own_of, rest_of

Plain: TypeAlias = TextPart | ImagePart | FilePart | ForeignPart

UNKNOWN: Final = "application/octet-stream"
"""What a resource is that does not say it."""

KIND: Final = "type"
LINK: Final = "resource_link"
"""Marks a file that was a link to a resource."""

URI: Final = "uri"
WORDS: Final = "text"


def part_of(block: JsonObject) -> Plain:
    """A block as a part; one that a part does not tell as it is, is kept whole."""
    if len(block) == 2 and block["type"] == "text" and isinstance(block.get("text"), str):
        return TextPart(block["text"])
    part = _part(block)
    return ForeignPart(MCP, block) if part is None or block_of(part) != block else part


def block_of(part: TextPart | ImagePart | FilePart | ReasoningFilePart) -> JsonObject:
    """The block of a part."""
    own = own_of(part.provider_metadata)
    if isinstance(part, TextPart) and not own:
        return {"type": "text", "text": part.text}
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text, **fields_of(own)}
    fields, media_type = fields_of(own), part.media_type
    data = _data(part.url)
    name = part.name if isinstance(part, ImagePart) else part.filename
    if data is None:
        kind: JsonObject = {} if media_type in (None, UNKNOWN) else {"mimeType": media_type}
        return {"type": "resource_link", "uri": part.url, "name": name or _tail(part.url), **kind, **fields}
    kind_of_data, encoded = data
    family = (kind_of_data or "").partition("/")[0]
    if family in ("image", "audio") and URI not in own:
        return {"type": family, "data": encoded, "mimeType": kind_of_data, **fields}
    return {"type": "resource", "resource": _resource(part, own, encoded, kind_of_data), **fields}


def spoken_block(part: TextPart | ImagePart | FilePart | ReasoningFilePart) -> JsonObject | None:
    """The block of a part in a message, where resources stand only if they did before.

    Sampling takes words, pictures and sound: what can be read becomes words. `None` if nothing can.
    """
    block, own = block_of(part), own_of(part.provider_metadata)
    if block["type"] not in (LINK, "resource") or own.get(KIND) == LINK or URI in own:
        return block
    url = "" if isinstance(part, TextPart) else part.url
    if url.lower().startswith(("https:", "http:")):
        return {"type": "text", "text": url}
    kind, encoded = _data(url) or (None, "")
    if kind is None or not kind.startswith("text/"):
        return None
    try:
        return {"type": "text", "text": b64decode(encoded, validate=True).decode()}
    except ValueError:
        return None


def has_own_uri(part: ImagePart | FilePart | ReasoningFilePart) -> bool:
    """Whether the uri of a resource came with it, and was not made here."""
    return URI in own_of(part.provider_metadata)


def _part(block: JsonObject) -> TextPart | ImagePart | FilePart | None:
    match block:
        case {"type": "text", "text": str(text)}:
            return TextPart(text, provider_metadata=noted(rest_of(block, ("type", "text"))))
        case {"type": "image", "data": str(data), "mimeType": str(kind)}:
            note = noted(rest_of(block, ("type", "data", "mimeType")))
            return ImagePart(f"data:{kind};base64,{data}", kind, provider_metadata=note)
        case {"type": "audio", "data": str(data), "mimeType": str(kind)}:
            note = noted(rest_of(block, ("type", "data", "mimeType")))
            return FilePart(f"data:{kind};base64,{data}", kind, provider_metadata=note)
        case {"type": "resource_link", "uri": str(uri), "name": str(name)}:
            told: Json = block.get("mimeType")
            is_told = isinstance(told, str) and told != UNKNOWN
            known = ("type", "uri", "name", *(["mimeType"] if is_told else []))
            note = noted({KIND: LINK, **rest_of(block, known)})
            return FilePart(uri, str(told) if is_told else UNKNOWN, name, provider_metadata=note)
        case {"type": "resource", "resource": {"uri": str()}}:
            return _resource_part(block, block["resource"])
        case _:
            return None


def _resource_part(block: JsonObject, resource: JsonObject) -> FilePart | None:
    own: JsonObject = {URI: resource["uri"], **rest_of(block, ("type", "resource"))}
    kind = resource.get("mimeType")
    match resource:
        case {"text": str(text)}:
            own[WORDS] = True
            encoded = b64encode(text.encode("utf-8", "surrogatepass")).decode()
        case {"blob": str(encoded)}:
            pass
        case _:
            return None
    known = ("uri", "text" if own.get(WORDS) else "blob", *(["mimeType"] if isinstance(kind, str) else []))
    more = {key: item for key, item in resource.items() if key not in known}
    own |= {"resource": more} if more else {}
    media_type = kind if isinstance(kind, str) else UNKNOWN
    if not isinstance(kind, str):
        own["mimeType"] = None
    return FilePart(f"data:{media_type};base64,{encoded}", media_type, provider_metadata=noted(own))


def _resource(
    part: ImagePart | FilePart | ReasoningFilePart, own: JsonObject, encoded: str, kind: str | None
) -> JsonObject:
    name = part.name if isinstance(part, ImagePart) else part.filename
    uri = own.get(URI)
    more = own.get("resource")
    resource: JsonObject = {"uri": uri if isinstance(uri, str) else f"file:///{quote(name or 'file')}"}
    if "mimeType" not in own:
        resource["mimeType"] = kind or part.media_type or UNKNOWN
    if own.get(WORDS):
        try:
            resource["text"] = b64decode(encoded, validate=True).decode("utf-8", "surrogatepass")
        except ValueError:
            resource["blob"] = encoded
    else:
        resource["blob"] = encoded
    return {**resource, **(more if is_object(more) else {})}


def _data(url: str) -> tuple[str | None, str] | None:
    """What kind of data a data URL holds, and the data in base64; `None` for any other address."""
    scheme, _, rest = url.partition(":")
    head, comma, data = rest.partition(",")
    if scheme.lower() != "data" or not comma:
        return None
    kind, *parameters = head.split(";")
    if parameters[-1:] == ["base64"]:
        return kind or None, data
    return kind or None, b64encode(unquote_to_bytes(data)).decode()


def _tail(url: str) -> str:
    return url.rstrip("/").rpartition("/")[2].partition("?")[0] or url


OWN: Final = (FIELDS, KIND, URI, WORDS, "resource", "mimeType")
"""What of our metadata shows in a block."""
