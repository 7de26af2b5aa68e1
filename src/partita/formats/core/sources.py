"""Sources and citations of a response: their parts, chunks and positions."""

from typing import Any, TypeAlias

from partita.types.chunks import Chunk, SourceDocumentChunk, SourceUrlChunk
from partita.types.data_url import PLAIN
from partita.types.json import JsonObject
from partita.types.parts import (
    Citation,
    DocumentCitationSource,
    SourceDocumentPart,
    SourceUrlPart,
    UrlCitationSource,
)

from .turns import Position

SourcePart: TypeAlias = SourceUrlPart | SourceDocumentPart


def citation(
    namespace: str,
    raw: JsonObject,
    *,
    id_: str,
    title: str,
    url: str = "",
    media_type: str = PLAIN,
    cited_text: str = "",
    start_index: int | None = None,
    end_index: int | None = None,
) -> Citation:
    """Return a citation of a web page, if there is a URL, or of a document.

    `raw`: the citation as the API has it. An empty title or text is absent. The indexes are those of the text
    that cites the source.
    """
    more: Any = {"provider_metadata": {namespace: raw}, "type": "source"}
    source: UrlCitationSource | DocumentCitationSource
    if "://" in url:
        source = UrlCitationSource(url, url, title or None, **more)
    else:
        source = DocumentCitationSource(id_, media_type, title or f"Document {id_}", **more)
    return Citation(source, start_index, end_index, cited_text or None)


def source_position(part: SourcePart) -> Position:
    """Return the position of a source that has no block of its own."""
    return part.type, part.url if isinstance(part, SourceUrlPart) else part.title, str(part.provider_metadata)


def source_chunk(part: SourcePart) -> Chunk:
    """Return the chunk of a source."""
    if isinstance(part, SourceUrlPart):
        return SourceUrlChunk(part.source_id, part.url, part.title, part.provider_metadata)
    return SourceDocumentChunk(
        part.source_id, part.media_type, part.title, part.filename, part.provider_metadata
    )
