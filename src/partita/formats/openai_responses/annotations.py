"""Annotations of a text → citations, and the sources they name."""

from partita.types.chunks import SourceDocumentChunk, SourceUrlChunk
from partita.types.json import JsonObject
from partita.types.parts import Citation, DocumentCitationSource, UrlCitationSource

from .fields import NAMESPACE, text, whole

FILES = frozenset({"file_citation", "container_file_citation", "file_path"})
"""Annotations that name a file of the provider's."""

AT_ONCE = frozenset({"container_file_citation", "file_path"})
"""Files that the answer made: told when they come. What it rests on is told behind the text."""


def source_of(annotation: JsonObject, source_id: str) -> SourceUrlChunk | SourceDocumentChunk | None:
    """The source that an annotation names, if it names one."""
    kind = text(annotation, "type")
    if kind == "url_citation" and text(annotation, "url"):
        return SourceUrlChunk(source_id, text(annotation, "url"), text(annotation, "title") or None)
    if kind in FILES and text(annotation, "file_id"):
        return SourceDocumentChunk(
            source_id,
            "application/octet-stream" if kind == "file_path" else "text/plain",
            _filename(annotation),
            _filename(annotation),
            {NAMESPACE: _file_metadata(annotation)},
        )
    return None


def citation_of(annotation: JsonObject) -> Citation | None:
    """Which words rest on what. A path to a file that was made cites nothing."""
    kind = text(annotation, "type")
    source: UrlCitationSource | DocumentCitationSource
    if kind == "url_citation" and (url := text(annotation, "url")):
        source = UrlCitationSource(url, url, text(annotation, "title") or None, type="source")
    elif kind in FILES - {"file_path"} and (file_id := text(annotation, "file_id")):
        name = _filename(annotation)
        metadata = {NAMESPACE: _file_metadata(annotation)}
        source = DocumentCitationSource(file_id, "text/plain", name, name, metadata, type="source")
    else:
        return None
    return Citation(source, whole(annotation, "start_index"), whole(annotation, "end_index"))


def _filename(annotation: JsonObject) -> str:
    return text(annotation, "filename") or text(annotation, "file_id")


def _file_metadata(annotation: JsonObject) -> JsonObject:
    names = {"type": "type", "file_id": "fileId", "container_id": "containerId", "index": "index"}
    return {new: annotation[name] for name, new in names.items() if annotation.get(name) is not None}
