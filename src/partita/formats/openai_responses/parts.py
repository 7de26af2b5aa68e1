"""Codecs for content: what users and tools show a model, and the texts of the model."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import UNSET

from partita.formats.core.codec import PartCodec, PartCodecs
from partita.formats.core.files import ANY_IMAGE, is_image, read_sound, write_sound
from partita.formats.core.members import count_in, items_in, objects_in, text_in
from partita.formats.core.metadata import notes
from partita.formats.core.wire import Wire
from partita.types.data_url import OCTETS, PLAIN, parse_data_url
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import (
    Citation,
    DocumentCitationSource,
    FilePart,
    ImagePart,
    SourceDocumentPart,
    SourceUrlPart,
    TextPart,
    UrlCitationSource,
)

from . import wire
from .wire import NAME, NAMESPACE

PART: Final = "part"
"""The note of the residue of content."""

PDF: Final = "application/pdf"


def own(part: Any) -> JsonObject:
    """The notes of the provider about a part."""
    return notes(part.provider_metadata, NAMESPACE)


# What users and tools show


def read_input_text(block: wire.InputText, context: Any) -> TextPart:
    return TextPart(block.text)


def write_input_text(part: TextPart) -> Wire:
    return wire.InputText(text=part.text)


def read_image(block: wire.InputImage, context: Any) -> ImagePart | FilePart | None:
    detail: JsonObject | None = {NAMESPACE: {"imageDetail": block.detail}} if block.detail else None
    if isinstance(block.image_url, str) and block.image_url:
        inline = parse_data_url(block.image_url)
        media_type = None if inline is None else inline.media_type
        return ImagePart(block.image_url, media_type, provider_metadata=detail)
    if isinstance(block.file_id, str) and block.file_id:
        reference = {NAMESPACE: block.file_id}
        return FilePart("", ANY_IMAGE, provider_reference=reference, provider_metadata=detail)
    return None


def write_image(part: ImagePart | FilePart) -> Wire | None:
    if not is_image(part):
        return None
    detail = text_in(own(part), "imageDetail") or UNSET
    if file_id := _file_id(part):
        return wire.InputImage(file_id=file_id, detail=detail)
    is_sent = part.url.startswith(("data:", "https:", "http:"))
    return wire.InputImage(image_url=part.url, detail=detail) if is_sent else None


def read_file(block: wire.InputFile, context: Any) -> FilePart | None:
    filename = block.filename if isinstance(block.filename, str) and block.filename else None
    if isinstance(block.file_id, str) and block.file_id:
        return FilePart("", OCTETS, filename, {NAMESPACE: block.file_id})
    if isinstance(block.file_data, str) and block.file_data:
        inline = parse_data_url(block.file_data)
        return None if inline is None else FilePart(block.file_data, inline.media_type or OCTETS, filename)
    if isinstance(block.file_url, str) and block.file_url:
        return FilePart(block.file_url, PDF if block.file_url.endswith(".pdf") else OCTETS, filename)
    return None


def write_file(part: FilePart) -> Wire | None:
    if is_image(part):
        return None
    if file_id := _file_id(part):
        return wire.InputFile(file_id=file_id)
    if part.media_type.startswith(("audio/", "video/")):
        return None
    if part.url.startswith("data:"):
        # The API refuses data without a filename (seen in its error messages)
        name = part.filename or ("file.pdf" if part.media_type == PDF else "file")
        return wire.InputFile(filename=name, file_data=part.url)
    return wire.InputFile(file_url=part.url) if part.url.startswith(("https:", "http:")) else None


def read_audio(block: wire.InputAudio, context: Any) -> FilePart | None:
    return read_sound(block.input_audio)


def write_audio(part: FilePart) -> Wire | None:
    inline = parse_data_url(part.url)
    is_data = inline is not None and inline.is_base64 and not _file_id(part)
    sound = write_sound(part.media_type, inline.data) if inline is not None and is_data else None
    return None if sound is None else wire.InputAudio(input_audio=sound)


def _file_id(part: ImagePart | FilePart) -> str | None:
    reference = part.provider_reference if isinstance(part, FilePart) else None
    return (reference or {}).get(NAMESPACE)


# Texts of the model


def read_text(block: wire.OutputText, context: Any) -> TextPart:
    noted: JsonObject = {}
    citations: tuple[Citation, ...] = ()
    if block.annotations and is_array(block.annotations):
        noted["annotations"] = block.annotations
        found = (citation_of(one) for one in block.annotations if is_object(one))
        citations = tuple(citation for citation in found if citation is not None)
    if block.logprobs:
        noted["logprobs"] = block.logprobs
    metadata: JsonObject | None = {NAMESPACE: noted} if noted else None
    return TextPart(block.text, "done", citations=citations or None, provider_metadata=metadata)


def write_text(part: TextPart) -> Wire:
    noted = own(part)
    annotations, logprobs = noted.get("annotations"), noted.get("logprobs")
    return wire.OutputText(
        text=part.text,
        annotations=annotations if is_array(annotations) else [],
        logprobs=logprobs if is_array(logprobs) and logprobs else UNSET,
    )


def read_refusal(block: wire.Refusal, context: Any) -> TextPart:
    return TextPart(block.refusal, "done", provider_metadata={NAMESPACE: {"refusal": True}})


def write_refusal(part: TextPart) -> Wire:
    return wire.Refusal(refusal=part.text)


def is_refusal(part: TextPart) -> bool:
    """Whether a text is a refusal."""
    return own(part).get("refusal") is True


def read_text_as_input(block: wire.InputText, context: Any) -> TextPart:
    """A text of the model under the type of a text for it."""
    return TextPart(block.text, "done")


_INPUT_TEXT: Final = PartCodec(wire.InputText, TextPart, read_input_text, write_input_text)
INPUT: Final[PartCodecs[None]] = PartCodecs(
    NAMESPACE,
    _INPUT_TEXT,
    PartCodec(wire.InputImage, (ImagePart, FilePart), read_image, write_image),
    PartCodec(wire.InputAudio, FilePart, read_audio, write_audio),
    PartCodec(wire.InputFile, FilePart, read_file, write_file),
    member=PART,
    format_name=NAME,
)
"""What users and tools show a model."""

OUTPUT: Final[PartCodecs[None]] = PartCodecs(
    NAMESPACE,
    PartCodec(wire.Refusal, TextPart, read_refusal, write_refusal, suits=is_refusal),
    PartCodec(wire.OutputText, TextPart, read_text, write_text),
    PartCodec(wire.InputText, TextPart, read_text_as_input, write_input_text, suits=lambda part: False),
    member=PART,
    format_name=NAME,
)
"""The texts of the model."""


# Annotations: citations and sources

FILES: Final = ("file_citation", "container_file_citation", "file_path")
"""Annotations that name a file of the provider."""

MADE: Final = ("container_file_citation", "file_path")
"""Files that the response made. Their sources come at once, others after the text, as in the AI SDK."""

_FILE_NOTES: Final[Mapping[str, str]] = {
    "type": "type",
    "file_id": "fileId",
    "container_id": "containerId",
    "index": "index",
}


def found_sources(item: JsonObject) -> Iterator[SourceUrlPart | SourceDocumentPart]:
    """The pages or files that a search has found. Their ids are still to be given."""
    action = item.get("action")
    pages = action.get("sources") if is_object(action) else None
    for page in objects_in(pages):
        if url := text_in(page, "url"):
            yield SourceUrlPart("", url, text_in(page, "title") or None)
    files = item.get("results") if item.get("type") == "file_search_call" else None
    for file in objects_in(files):
        if file_id := text_in(file, "file_id"):
            name, metadata = _filename(file), {NAMESPACE: {"type": "file_search", "fileId": file_id}}
            yield SourceDocumentPart("", PLAIN, name, name, provider_metadata=metadata)


def source_of(annotation: Json) -> SourceUrlPart | SourceDocumentPart | None:
    """The source that an annotation names, if it names one. Its id is still to be given."""
    if not is_object(annotation):
        return None
    kind = text_in(annotation, "type")
    if kind == "url_citation" and (url := text_in(annotation, "url")):
        return SourceUrlPart("", url, text_in(annotation, "title") or None)
    if kind not in FILES or not text_in(annotation, "file_id"):
        return None
    media_type, name = OCTETS if kind == "file_path" else PLAIN, _filename(annotation)
    metadata = {NAMESPACE: _file_notes(annotation)}
    return SourceDocumentPart("", media_type, name, name, provider_metadata=metadata)


def citation_of(annotation: JsonObject) -> Citation | None:
    """The part of a text that rests on a source. The path of a file that was made cites nothing."""
    kind = text_in(annotation, "type")
    source: UrlCitationSource | DocumentCitationSource
    if kind == "url_citation" and (url := text_in(annotation, "url")):
        source = UrlCitationSource(url, url, text_in(annotation, "title") or None, type="source")
    elif kind in FILES and kind != "file_path" and (file_id := text_in(annotation, "file_id")):
        name, metadata = _filename(annotation), {NAMESPACE: _file_notes(annotation)}
        source = DocumentCitationSource(file_id, PLAIN, name, name, metadata, type="source")
    else:
        return None
    return Citation(source, count_in(annotation, "start_index"), count_in(annotation, "end_index"))


def annotations_of(part: Any) -> Iterator[Json]:
    """The annotations of a text."""
    return iter(items_in(own(part).get("annotations")))


def _filename(annotation: JsonObject) -> str:
    return text_in(annotation, "filename") or text_in(annotation, "file_id")


def _file_notes(annotation: JsonObject) -> JsonObject:
    return {new: annotation[name] for name, new in _FILE_NOTES.items() if annotation.get(name) is not None}
