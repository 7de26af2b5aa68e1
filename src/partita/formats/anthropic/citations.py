"""Citations in Anthropic's words → our own, and the sources they point at."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from partita.types.chunks import SourceDocumentChunk, SourceUrlChunk
from partita.types.json import JsonObject
from partita.types.parts import Citation, DocumentCitationSource, UrlCitationSource

from .words import ANTHROPIC, text_of

PLAIN: Final = "text/plain"

KINDS: Final[Mapping[str, str]] = {"page_location": "application/pdf"}
"""What kind of document a location lies in, if nobody said."""

PLACES: Final[Mapping[str, str]] = {
    "cited_text": "citedText",
    "encrypted_index": "encryptedIndex",
    "start_page_number": "startPageNumber",
    "end_page_number": "endPageNumber",
    "start_char_index": "startCharIndex",
    "end_char_index": "endCharIndex",
    "start_block_index": "startBlockIndex",
    "end_block_index": "endBlockIndex",
}
"""Where in its source a citation lies, and how the metadata of a source spells it."""


class Document(NamedTuple):
    """A document that a server tool fetched."""

    title: str
    media_type: str


class Shelf(NamedTuple):
    """What server tools found in an answer, by its id, and which web pages its texts cite."""

    answer: str
    documents: dict[int, Document]
    pages: set[str]
    cited: list[JsonObject]


def citation_of(raw: JsonObject, shelf: Shelf) -> Citation | None:
    """A citation; `None` when it names no source. The raw one belongs beside it."""
    source = _url_source(raw) or _document_source(raw, shelf)
    return None if source is None else Citation(source, cited_text=text_of(raw.get("cited_text")))


def document_source(raw: JsonObject, shelf: Shelf, id: str) -> SourceDocumentChunk | None:
    """The fetched document that a citation points into, as a source.

    Documents of the request are no news to those who sent them: their citation is enough.
    """
    document = _fetched(raw, shelf)
    if document is None:
        return None
    return SourceDocumentChunk(id, document.media_type, document.title, provider_metadata=_places(raw))


def page_sources(shelf: Shelf) -> list[SourceUrlChunk]:
    """The cited web pages that no search of this answer found: it was in an earlier one."""
    return [
        SourceUrlChunk(f"{shelf.answer}-cited-{number}", raw["url"], text_of(raw.get("title")), _places(raw))
        for number, raw in enumerate(shelf.cited)
        if raw["url"] not in shelf.pages
    ]


def _places(raw: JsonObject) -> JsonObject:
    return {ANTHROPIC: {name: raw[key] for key, name in PLACES.items() if raw.get(key) is not None}}


def _url_source(raw: JsonObject) -> UrlCitationSource | None:
    url = text_of(raw.get("url")) or text_of(raw.get("source"))
    if url is None or "://" not in url:
        return None
    title = text_of(raw.get("title"))
    return UrlCitationSource(url, url, title, provider_metadata={ANTHROPIC: raw}, type="source")


def _document_source(raw: JsonObject, shelf: Shelf) -> DocumentCitationSource | None:
    number, name = _number(raw), text_of(raw.get("source"))
    if number is None:
        return None if name is None else _document(name, PLAIN, text_of(raw.get("title")) or name, raw)
    kind, title = raw.get("type"), text_of(raw.get("document_title")) or f"Document {number}"
    usual = KINDS.get(kind, PLAIN) if isinstance(kind, str) else PLAIN
    known = _fetched(raw, shelf) or Document(title, usual)
    return _document(text_of(raw.get("file_id")) or str(number), known.media_type, known.title, raw)


def _fetched(raw: JsonObject, shelf: Shelf) -> Document | None:
    """The fetched document that a citation means. Documents of the request are counted as well."""
    number = _number(raw)
    known = None if number is None else shelf.documents.get(number)
    is_same = known is not None and text_of(raw.get("document_title")) in (None, known.title)
    return known if is_same else None


def _number(raw: JsonObject) -> int | None:
    index = raw.get("document_index")
    return index if isinstance(index, int) and not isinstance(index, bool) else None


def _document(id: str, media_type: str, title: str, raw: JsonObject) -> DocumentCitationSource:
    metadata: JsonObject = {ANTHROPIC: raw}
    return DocumentCitationSource(id, media_type, title, provider_metadata=metadata, type="source")
