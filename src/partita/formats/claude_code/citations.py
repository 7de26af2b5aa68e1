"""Citations in Anthropic's words → our own. The raw ones stay in the provider metadata of the text."""

from collections.abc import Mapping
from typing import Final

from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import Citation, DocumentCitationSource, UrlCitationSource

from .media import UNKNOWN_FILE

DOCUMENTS: Final[Mapping[str, str]] = {
    "char_location": "text/plain",
    "page_location": "application/pdf",
    "content_block_location": "text/plain",
    "search_result_location": "text/plain",
}
"""What kind of document each kind of location lies in. Its numbers count in the document, not in the text."""


def citations_of(raw: Json, prefix: str) -> tuple[Citation, ...] | None:
    """The citations of a text; ids begin with `prefix`. One that names no source is left to the raw list."""
    if not is_array(raw):
        return None
    found = [_citation(item, f"{prefix}-{number}") for number, item in enumerate(raw) if is_object(item)]
    return tuple([citation for citation in found if citation is not None]) or None


def _citation(raw: JsonObject, id: str) -> Citation | None:
    source = _source(raw, id)
    words = raw.get("cited_text")
    return None if source is None else Citation(source, cited_text=words if isinstance(words, str) else None)


def _source(raw: JsonObject, id: str) -> UrlCitationSource | DocumentCitationSource | None:
    title = _word(raw.get("title")) or _word(raw.get("document_title"))
    url = _word(raw.get("url")) or _word(raw.get("source"))
    if url is not None and "://" in url:
        return UrlCitationSource(id, url, title)
    if url is None and "document_index" not in raw:
        return None
    kind, index = raw.get("type"), raw.get("document_index")
    media_type = DOCUMENTS.get(kind, UNKNOWN_FILE) if isinstance(kind, str) else UNKNOWN_FILE
    name = f"document {index}" if isinstance(index, int) else "document"
    return DocumentCitationSource(id, media_type, title or url or name)


def _word(value: Json) -> str | None:
    return value if isinstance(value, str) and value else None
