"""The sources of a response: pages and documents, and which of its text cites them.

Positions in grounding metadata, and in `citationSources` of the Gemini API, are counted in bytes of UTF-8;
those of Vertex AI in characters. Here all are characters.

Source: https://ai.google.dev/api/generate-content#GroundingMetadata (`Segment`), and
https://ai.google.dev/api/generate-content#citationmetadata
"""

from bisect import bisect_left
from collections.abc import Mapping
from itertools import accumulate
from typing import Final, NamedTuple, TypeAlias

from partita.formats.core.members import count_in, list_in, object_in, text_in
from partita.formats.core.sources import SourcePart
from partita.types.data_url import OCTETS
from partita.types.json import Json, JsonObject
from partita.types.parts import (
    Citation,
    DocumentCitationSource,
    SourceDocumentPart,
    SourceUrlPart,
    UrlCitationSource,
)

from .wire import NAME

Source: TypeAlias = UrlCitationSource | DocumentCitationSource

URLS: Final[Mapping[str, str]] = {
    "web": "uri",
    "image": "sourceUri",
    "maps": "uri",
    "retrievedContext": "uri",
}
"""The kinds of grounding chunks, and the member with the URL. Of an image that is the page."""

UNITS: Final[Mapping[str, bool]] = {"citationSources": True, "citations": False}
"""The two lists of citations, and whether their positions are counted in bytes."""

MEDIA_TYPES: Final[Mapping[str, str]] = {
    "pdf": "application/pdf",
    "txt": "text/plain",
    "md": "text/markdown",
    "markdown": "text/markdown",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
PASSAGE: Final = "retrievedContext"


class Span(NamedTuple):
    """A piece of the text, by its position in all of it, and the ids of the sources that it cites."""

    start: int | None
    end: int | None
    text: str | None
    in_bytes: bool
    sources: tuple[str, ...]


class Sources:
    """The sources of a response, each once. Spans wait until the text that they are in is complete."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str | None, ...], str] = {}
        self._sources: dict[str, Source] = {}
        self._new: list[SourcePart] = []
        self._waiting: dict[Span, None] = {}
        self._placed: set[Span] = set()
        self._bytes = 0
        self._characters = 0

    def add(self, candidate: JsonObject) -> list[SourcePart]:
        """The new sources of a candidate. Its metadata may be repeated, and grow."""
        self._add_grounding(object_in(candidate, "groundingMetadata"))
        self._add_citations(object_in(candidate, "citationMetadata"))
        new, self._new = self._new, []
        return new

    def _add_grounding(self, metadata: JsonObject) -> None:
        ids = [self._grounding(chunk) for chunk in list_in(metadata, "groundingChunks")]
        for support in list_in(metadata, "groundingSupports"):
            segment = object_in(support, "segment")
            named = list_in(support, "groundingChunkIndices")
            found = [ids[at] for at in named if isinstance(at, int) and 0 <= at < len(ids)]
            self._wait(
                Span(
                    count_in(segment, "startIndex") or 0,
                    count_in(segment, "endIndex"),
                    text_in(segment, "text") or None,
                    in_bytes=True,
                    sources=tuple(name for name in found if name is not None),
                )
            )

    def _add_citations(self, metadata: JsonObject) -> None:
        """Pages whose text the response repeats."""
        for key, in_bytes in UNITS.items():
            for citation in list_in(metadata, key):
                url = text_in(citation, "uri")
                if url:
                    start, end = count_in(citation, "startIndex"), count_in(citation, "endIndex")
                    start = 0 if start is None and end is not None else start  # a zero is not written
                    self._wait(Span(start, end, None, in_bytes, (self._page(url, citation),)))

    def citations(self, text: str, *, is_last: bool) -> tuple[Citation, ...]:
        """The citations in the next text of the response; in the last, also those of unknown position."""
        ruler = Ruler(text)
        found: list[Citation] = []
        for span in list(self._waiting):
            found_at = ruler.position(span, self._bytes if span.in_bytes else self._characters)
            if found_at is None and not is_last:
                continue
            del self._waiting[span]
            self._placed.add(span)
            found += [Citation(self._sources[name], *(found_at or (None, None))) for name in span.sources]
        self._bytes += ruler.bytes
        self._characters += len(text)
        return tuple(found)

    def _wait(self, span: Span) -> None:
        if span not in self._placed:
            self._waiting[span] = None

    def _grounding(self, chunk: Json) -> str | None:
        for kind, key in URLS.items():
            page = object_in(chunk, kind)
            url = text_in(page, key)
            if url and (kind != PASSAGE or url.startswith(("http://", "https://"))):
                return self._page(url, page, {kind: page} if page.keys() - {key, "title"} else None)
            if page and kind == PASSAGE:
                return self._document(page)
        return None

    def _page(self, url: str, page: Json, metadata: JsonObject | None = None) -> str:
        source_id, is_new = self._id((url,))
        if is_new:
            title = text_in(page, "title") or None
            self._sources[source_id] = UrlCitationSource(source_id, url, title)
            self._new.append(SourceUrlPart(source_id, url, title, provider_metadata=_named(metadata)))
        return source_id

    def _document(self, passage: JsonObject) -> str:
        """A passage of a document that has no address on the web."""
        url, store = text_in(passage, "uri"), text_in(passage, "fileSearchStore")
        filename = (url or store).rpartition("/")[2] or None
        title = text_in(passage, "title") or filename or "document"
        source_id, is_new = self._id((url, store, title, text_in(passage, "text")))
        if is_new:
            ending = filename.rpartition(".")[2].lower() if filename and url else ""
            media_type = MEDIA_TYPES.get(ending, OCTETS)
            self._sources[source_id] = DocumentCitationSource(source_id, media_type, title, filename)
            metadata = _named({PASSAGE: passage})
            self._new.append(
                SourceDocumentPart(source_id, media_type, title, filename, provider_metadata=metadata)
            )
        return source_id

    def _id(self, key: tuple[str | None, ...]) -> tuple[str, bool]:
        """The id of a source, and whether it is new."""
        known = len(self._ids)
        source_id = self._ids.setdefault(key, f"source-{known}")
        return source_id, len(self._ids) > known


class Ruler:
    """Measures a text in bytes and in characters."""

    def __init__(self, text: str) -> None:
        self._text = text
        sizes = () if text.isascii() else (len(letter.encode(errors="surrogatepass")) for letter in text)
        self._ends = [0, *accumulate(sizes)]
        self.bytes = len(text) if text.isascii() else self._ends[-1]

    def position(self, span: Span, before: int) -> tuple[int, int] | None:
        """The position of a span in the text, `before` which the response had that much text.

        In a response of several parts it may be counted from the part: the text of the span decides.
        """
        if span.start is None or span.end is None:
            return None
        for base in (before,) if span.text is None else (before, 0):
            start, end = self._at(span.start - base, span), self._at(span.end - base, span)
            if start is None or end is None or start > end:
                continue
            if span.text in (None, self._text[start:end]):
                return start, end
        return None

    def _at(self, offset: int, span: Span) -> int | None:
        """The number of characters before a position; `None` outside the text."""
        in_bytes = span.in_bytes and not self._text.isascii()
        if not 0 <= offset <= (self.bytes if in_bytes else len(self._text)):
            return None
        return bisect_left(self._ends, offset) if in_bytes else offset


def _named(metadata: JsonObject | None) -> JsonObject | None:
    return {NAME: metadata} if metadata else None
