"""Part codecs: pairs of functions between wire blocks and canonical parts.

The functions of a codec convert only what a block means. Everything else in a block is its residue, which is
kept under the format's namespace of the part's provider metadata and put back on write. No codec handles it.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Generic, TypeVar

from msgspec.structs import replace

from partita.types.codec import to_json
from partita.types.json import JsonObject, is_array, is_object
from partita.types.parts import CustomPart, ForeignPart, TextPart

from .metadata import add_notes, notes
from .residue import residue, restore
from .wire import Wire, kind_of

ContextT = TypeVar("ContextT")

KIND: Final = "kind"
"""The note of a block's kind, where the part alone would be written as a block of another kind."""


DELTAS: Final = "deltas"
"""The note of the deltas of a block that is not known, beside what it began with."""


class PartCodec(Generic[ContextT]):
    """How blocks and parts of some types are converted to each other.

    `read` returns `None` for a block that has no meaning as a part: it is kept whole. `write` returns `None`
    for a part that this block cannot hold: the next codec is used.
    """

    def __init__(
        self,
        wire: type[Wire] | Sequence[type[Wire]],
        parts: type[Any] | Sequence[type[Any]],
        read: Callable[[Any, ContextT], Any],
        write: Callable[[Any], Wire | None],
        *,
        suits: Callable[[Any], bool] | None = None,
        note: str | None = None,
        metadata: str = "provider_metadata",
    ) -> None:
        """`suits`: whether a part without a note of its kind is written so.

        `note`: the name of a note, an object or a list, that only parts of such blocks have.
        `metadata`: the field for notes.
        """
        self.read, self.write, self.suits, self.note, self.metadata = read, write, suits, note, metadata
        self.wires: Sequence[type[Wire]] = (wire,) if isinstance(wire, type) else tuple(wire)
        self.parts: Sequence[type[Any]] = (parts,) if isinstance(parts, type) else tuple(parts)


class PartCodecs(Generic[ContextT]):
    """The codecs of one union of blocks. The first that can write a part does, unless a note names one."""

    def __init__(
        self,
        namespace: str,
        *codecs: PartCodec[ContextT],
        reserved: frozenset[str] = frozenset(),
        member: str | None = None,
        format_name: str | None = None,
        custom: bool = False,
    ) -> None:
        """`reserved`: names of notes that the format handles itself.

        `member`: the member of the notes that the residue is kept in, for namespaces that others use too.
        `format_name`: the name of the format in `ForeignPart`, if that is not the namespace.
        `custom`: whether a block that has no part is a `CustomPart`, and not a `ForeignPart`.
        """
        self.namespace = namespace
        self.format_name = namespace if format_name is None else format_name
        self._member, self._custom = member, custom
        self._reserved = reserved | {KIND}
        self._by_wire = {wire: codec for codec in codecs for wire in codec.wires}
        self._by_kind = {kind_of(wire): codec for wire, codec in self._by_wire.items()}
        self._tag_field = codecs[0].wires[0].__struct_config__.tag_field or ""
        self._by_part: dict[type[Any], list[PartCodec[ContextT]]] = {}
        for codec in codecs:
            for part in codec.parts:
                self._by_part.setdefault(part, []).append(codec)

    def reads(self, block: Any) -> bool:
        """Whether a block is of a type that has a codec here."""
        return type(block) in self._by_wire

    def read(self, block: Any, context: ContextT) -> Any:
        """The part of a block. A block that has none is kept whole."""
        codec = self._by_wire.get(type(block))
        part = None if codec is None else codec.read(block, context)
        if codec is None or part is None:
            return self.keep(to_json(block))
        first, written = self._write(part)
        if first is not codec:
            written = codec.write(part)
        if written is None:
            return self.keep(to_json(block))
        kept = residue(written, block)
        if first is not codec:
            kept[KIND] = kind_of(type(block))
        if not kept:
            return part
        noted = kept if self._member is None else {self._member: kept}
        metadata = add_notes(getattr(part, codec.metadata), self.namespace, noted)
        return replace(part, **{codec.metadata: metadata})

    def write(self, part: Any) -> Wire | JsonObject | None:
        """The block of a part, with its residue; `None` if no block can hold it."""
        codecs = self._by_part.get(type(part))
        if codecs is None:
            return self.own_block(part)
        metadata = getattr(part, codecs[0].metadata)
        kept = notes(metadata, self.namespace) if metadata else None
        if kept and self._member is not None:
            kept = notes(kept, self._member)
        if not kept:
            return self._write(part)[1]
        kind = kept.get(KIND)
        codec = self._by_kind.get(kind) if isinstance(kind, str) else None
        written = None if codec is None or type(part) not in codec.parts else codec.write(part)
        if written is None:
            written = self._write(part)[1]
        if written is None:
            return None
        return restore(written, kept, self._reserved)

    def write_all(self, parts: Iterable[Any], *, skips_blank: bool = False) -> list[Wire | JsonObject]:
        """The blocks of the parts that have one. `skips_blank`: texts of white space are left out."""
        kept = (part for part in parts if not (skips_blank and _is_blank(part)))
        return [block for block in map(self.write, kept) if block is not None]

    def own_block(self, part: Any) -> JsonObject | None:
        """The block that was kept whole in a part; `None` if there is none of this format."""
        if type(part) is ForeignPart and part.format == self.format_name and is_object(part.value):
            raw = part.value
        elif type(part) is CustomPart and self._custom and part.kind.startswith(f"{self.namespace}."):
            raw = notes(part.provider_metadata, self.namespace)
        else:
            return None
        # Unknown deltas of a stream are kept in `deltas`: such a block is not known as a whole.
        is_block = not self._tag_field or isinstance(raw.get(self._tag_field), str)
        return raw if is_block and DELTAS not in raw and raw else None

    def keep(self, raw: JsonObject) -> ForeignPart | CustomPart:
        """The part of a block that has no other."""
        if not self._custom:
            return ForeignPart(self.format_name, raw)
        kind = raw[self._tag_field] if self._tag_field else next(iter(raw), "")
        return CustomPart(f"{self.namespace}.{kind}", provider_metadata={self.namespace: raw})

    def can_write(self, part: Any) -> bool:
        """Whether a part has a block."""
        return self.write(part) is not None

    def _has_note(self, part: Any, name: str) -> bool:
        note = notes(part.provider_metadata, self.namespace).get(name)
        return is_object(note) or is_array(note)

    def _write(self, part: Any) -> tuple[PartCodec[ContextT] | None, Wire | None]:
        for codec in self._by_part.get(type(part), ()):
            has_note = codec.note is None or self._has_note(part, codec.note)
            if has_note and (codec.suits is None or codec.suits(part)):
                written = codec.write(part)
                if written is not None:
                    return codec, written
        return None, None


def text_codec(type_: type[Any]) -> PartCodec[Any]:
    """The codec of blocks that only have a `text`."""
    return PartCodec(
        type_, TextPart, lambda block, _: TextPart(block.text), lambda part: type_(text=part.text)
    )


def _is_blank(part: Any) -> bool:
    return type(part) is TextPart and not part.text.strip()
