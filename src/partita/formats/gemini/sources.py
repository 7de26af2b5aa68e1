"""What an answer rests on: pages and documents, and which of its words rest on them.

Places in grounding metadata, and in `citationSources` of the Gemini API, are counted in bytes of UTF-8; those
of Vertex in characters. Here all are characters.
"""

from bisect import bisect_left
from collections.abc import Mapping
from itertools import accumulate
from typing import Final, NamedTuple, TypeAlias

from partita.formats.answers.outlet import Outlet
from partita.types.chunks import SourceDocumentChunk, SourceUrlChunk
from partita.types.json import Json, JsonObject
from partita.types.parts import Citation, DocumentCitationSource, UrlCitationSource

from .looking import NAMESPACE, count_at, items_at, object_at, text_at

Source: TypeAlias = UrlCitationSource | DocumentCitationSource

URLS: Final[Mapping[str, str]] = {
    "web": "uri",
    "image": "sourceUri",
    "maps": "uri",
    "retrievedContext": "uri",
}
"""The kinds of grounding chunks, and where each has its url. Of an image, the page must be named."""

UNITS: Final[Mapping[str, bool]] = {"citationSources": True, "citations": False}
"""The two lists of citations, and whether their places are counted in bytes."""

MEDIA_TYPES: Final[Mapping[str, str]] = {
    "pdf": "application/pdf",
    "txt": "text/plain",
    "md": "text/markdown",
    "markdown": "text/markdown",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
ANY_BYTES: Final = "application/octet-stream"
PASSAGE: Final = "retrievedContext"


class Span(NamedTuple):
    """Words of the answer, by their place in all its text, and the sources they rest on, by id."""

    start: int | None
    end: int | None
    words: str | None
    in_bytes: bool
    sources: tuple[str, ...]


class Sources:
    """Tells each source once, and keeps what was said of words until their text is whole."""

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self._ids: dict[tuple[str | None, ...], str] = {}
        self._sources: dict[str, Source] = {}
        self._waiting: dict[Span, None] = {}
        self._placed: set[Span] = set()
        self._bytes = 0
        self._characters = 0

    def take_grounding(self, metadata: JsonObject) -> None:
        """Grounding metadata. It may come again, grown."""
        ids = [self._ground(chunk) for chunk in items_at(metadata, "groundingChunks")]
        for support in items_at(metadata, "groundingSupports"):
            segment = object_at(support, "segment")
            named = items_at(support, "groundingChunkIndices")
            found = [ids[at] for at in named if isinstance(at, int) and 0 <= at < len(ids)]
            self._wait(
                Span(
                    count_at(segment, "startIndex") or 0,
                    count_at(segment, "endIndex"),
                    text_at(segment, "text"),
                    in_bytes=True,
                    sources=tuple(name for name in found if name is not None),
                )
            )

    def take_citations(self, metadata: JsonObject) -> None:
        """Pages that the answer repeats the words of."""
        for key, in_bytes in UNITS.items():
            for citation in items_at(metadata, key):
                url = text_at(citation, "uri")
                if url is not None:
                    start, end = count_at(citation, "startIndex"), count_at(citation, "endIndex")
                    start = 0 if start is None and end is not None else start  # a zero is not written
                    self._wait(Span(start, end, None, in_bytes, (self._page(url, citation),)))

    def citations(self, text: str, *, is_last: bool) -> tuple[Citation, ...]:
        """The citations in the next text of the answer; in the last one, also those of unknown place."""
        ruler = Ruler(text)
        found: list[Citation] = []
        for span in list(self._waiting):
            place = ruler.place(span, self._bytes if span.in_bytes else self._characters)
            if place is None and not is_last:
                continue
            del self._waiting[span]
            self._placed.add(span)
            found += [self._citation(name, place) for name in span.sources]
        self._bytes += ruler.bytes
        self._characters += len(text)
        return tuple(found)

    def _wait(self, span: Span) -> None:
        if span not in self._placed:
            self._waiting[span] = None

    def _citation(self, source_id: str, place: tuple[int, int] | None) -> Citation:
        start, end = place or (None, None)
        return Citation(self._sources[source_id], start, end)

    def _ground(self, chunk: Json) -> str | None:
        for kind, key in URLS.items():
            place = object_at(chunk, kind)
            url = text_at(place, key)
            if url is not None and (kind != PASSAGE or url.startswith(("http://", "https://"))):
                return self._page(url, place, {kind: place} if place.keys() - {key, "title"} else None)
            if place and kind == PASSAGE:
                return self._document(place)
        return None

    def _page(self, url: str, place: Json, metadata: JsonObject | None = None) -> str:
        source_id, is_new = self._id((url,))
        if is_new:
            title = text_at(place, "title")
            self._sources[source_id] = UrlCitationSource(source_id, url, title)
            self._outlet.emit(SourceUrlChunk(source_id, url, title, _named(metadata)))
        return source_id

    def _document(self, passage: JsonObject) -> str:
        """A passage of a document that has no address on the web."""
        url, store = text_at(passage, "uri"), text_at(passage, "fileSearchStore")
        filename = (url or store or "").rpartition("/")[2] or None
        title = text_at(passage, "title") or filename or "document"
        source_id, is_new = self._id((url, store, title, text_at(passage, "text")))
        if is_new:
            ending = filename.rpartition(".")[2].lower() if filename and url else ""
            media_type = MEDIA_TYPES.get(ending, ANY_BYTES)
            self._sources[source_id] = DocumentCitationSource(source_id, media_type, title, filename)
            metadata = _named({PASSAGE: passage})
            self._outlet.emit(SourceDocumentChunk(source_id, media_type, title, filename, metadata))
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

    def place(self, span: Span, before: int) -> tuple[int, int] | None:
        """Where the words of a span stand in the text, `before` which the answer had said so much.

        In an answer of several parts the place may be counted from the part; the words tell.
        """
        if span.start is None or span.end is None:
            return None
        for base in (before,) if span.words is None else (before, 0):
            start, end = self._at(span.start - base, span), self._at(span.end - base, span)
            if start is None or end is None or start > end:
                continue
            if span.words in (None, self._text[start:end]):
                return start, end
        return None

    def _at(self, place: int, span: Span) -> int | None:
        """The number of characters before a place; `None` outside the text."""
        in_bytes = span.in_bytes and not self._text.isascii()
        if not 0 <= place <= (self.bytes if in_bytes else len(self._text)):
            return None
        return bisect_left(self._ends, place) if in_bytes else place


def _named(metadata: JsonObject | None) -> JsonObject | None:
    return {NAMESPACE: metadata} if metadata else None
