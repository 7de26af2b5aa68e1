"""Parts of a message that are no words and no calls: sources, files, objects, and data of the application."""

from collections.abc import Callable, Mapping
from typing import Final

from partita.types.chunks import FileChunk, SourceDocumentChunk, SourceUrlChunk, SteeringMessageChunk

from .files import address_of
from .said import Said
from .signals import steering_of
from .voice import NAMESPACE, Voice

DATA: Final = "data-"
MAKING: Final = frozenset({"object", "network-object"})
RESULTS: Final = {"object-result": "object", "network-object-result": "network-object"}
"""Chunks that bring an object while it is made, each time anew, and those that bring it whole."""


class Things:
    """Such parts, as chunks bring them."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self.handlers: Mapping[str, Callable[[Said], bool]] = {"source": self._source, "file": self._file}

    def _source(self, said: Said) -> bool:
        match said.rest:
            case {"sourceType": "url", "id": str(id_), "url": str(url), **rest}:
                said.rest = rest
                title, metadata = said.take_text("title"), said.take_object("providerMetadata")
                self._voice.emit(SourceUrlChunk(id_, url, title, metadata))
            case {
                "sourceType": "document",
                "id": str(id_),
                "title": str(title),
                "mimeType": str(media),
                **rest,
            }:
                said.rest = rest
                name, metadata = said.take_text("filename"), said.take_object("providerMetadata")
                self._voice.emit(SourceDocumentChunk(id_, media, title, name, metadata))
            case _:
                return False
        return True

    def _file(self, said: Said) -> bool:
        address = address_of(said)
        if address is None:
            return False
        name = said.take_text("filename")
        metadata = said.take_object("providerMetadata")
        if name is not None:
            metadata = {**(metadata or {}), NAMESPACE: {"filename": name}}
        self._voice.emit(FileChunk(address.url, address.media_type, metadata))
        return True

    def made(self, said: Said) -> bool:
        """An object that is made piece by piece: each time all of it so far."""
        holder = said.rest if "object" in said.rest else said.around
        if "object" not in holder:
            return False
        name = RESULTS.get(said.type, said.type)
        self._voice.data(name, holder.pop("object"), said.where, id_=name)
        return True

    def data(self, said: Said) -> None:
        """Data of the application, or what a user says in between."""
        around = said.around
        steering = steering_of(said) if said.type == "data-user-message" else None
        if steering is not None:
            self._voice.emit(SteeringMessageChunk(steering[0], steering[1]))
            return
        id_, transient = around.get("id"), around.get("transient")
        id_ = around.pop("id") if isinstance(id_, str) else None
        transient = around.pop("transient") if isinstance(transient, bool) else None
        data = around.pop("data") if "data" in around else said.payload
        if "data" not in around and data is said.payload:
            said.rest = {}
            around.pop("payload", None)
        self._voice.data(said.type.removeprefix(DATA), data, said.where, id_, transient)
