"""Files in a request: inside it, or by their address."""

from base64 import b64encode
from typing import Final
from urllib.parse import unquote_to_bytes

from partita.types.json import JsonObject
from partita.types.parts import FilePart, ImagePart, ReasoningFilePart

from .looking import NAMESPACE, UNTYPED, object_at
from .sources import ANY_BYTES

ADDRESSES: Final = ("https://", "http://", "gs://")
DEFAULTS: Final = {"image": "image/jpeg", "image/*": "image/jpeg"}
"""Media types that name a kind alone, and what is sent instead: Gemini wants a full one."""


def media_of(part: ImagePart | FilePart | ReasoningFilePart) -> JsonObject | None:
    """The content of a part for a file; `None` for one that is neither here nor at an address."""
    marks = object_at(part.provider_metadata, NAMESPACE)
    told = None if marks.get(UNTYPED) is True else part.media_type
    media_type = DEFAULTS.get(told or "", told)
    reference = part.provider_reference if isinstance(part, FilePart) else None
    url = part.url if reference is None else reference.get(NAMESPACE, part.url)
    if url.startswith("data:"):
        return {"inlineData": {**_inline(url, media_type, part), **object_at(marks, "inlineData")}}
    if not url.startswith(ADDRESSES):
        return None
    file: JsonObject = {} if media_type is None else {"mimeType": media_type}
    return {"fileData": {**file, "fileUri": url, **object_at(marks, "fileData")}}


def _inline(url: str, media_type: str | None, part: ImagePart | FilePart | ReasoningFilePart) -> JsonObject:
    head, _, data = url[len("data:") :].partition(",")
    is_base64 = head.endswith(";base64")
    told = head.removesuffix(";base64")
    default = DEFAULTS["image"] if isinstance(part, ImagePart) else ANY_BYTES
    return {
        "mimeType": media_type or told or default,
        "data": data if is_base64 else b64encode(unquote_to_bytes(data)).decode(),
    }
