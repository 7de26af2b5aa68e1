"""Part codecs: pairs of functions between blocks of a payload and parts, and the codecs for messages.

The functions of a codec convert only what a block means. All other members of the block are its residue (see
`wire`), which is kept in the part's provider metadata and put back on write.

`MessageBlocks` has the codecs for each role. A block that is no part in messages of its role is kept whole,
and a part that has no block there is not written.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

from msgspec.structs import replace

from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import CustomPart, ForeignPart, TextPart, ToolOutput, ToolResultPart
from partita.types.tool_results import state_after

from .metadata import KIND, add_notes, notes
from .turns import LocatedPart, Position
from .wire import Wire, kind_of, residue, restore, to_json

ContextT = TypeVar("ContextT")

DELTAS: Final = "deltas"
"""The note with the deltas of an unknown block, beside the members that the block started with."""


class PartCodec(Generic[ContextT]):
    """Converts blocks and parts of some types.

    `read` returns `None` for a block that no part can express; it is kept whole. `write` returns `None` for a
    part that this block cannot hold; the next codec is tried.
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
        """`suits`: whether a part that was not read from such a block is written as one.

        `note`: the name of a note, an object or a list, that only parts of such blocks have.
        `metadata`: the field of a part that notes are kept in.
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

        `member`: the note that the residue is kept in, for namespaces that others use too.
        `format_name`: the name of the format in `ForeignPart`, if that is not the namespace.
        `custom`: whether a block without a part becomes a `CustomPart`, not a `ForeignPart`.
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
        """Whether the type of a block has a codec here."""
        return type(block) in self._by_wire

    def read(self, block: Any, context: ContextT) -> Any:
        """Return the part of a block. A block that has none is kept whole."""
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
        """Return the block of a part with its residue, or `None` if no block can hold the part."""
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
        """Return the blocks of the parts that have one. `skips_blank`: leave out texts of white space."""
        kept = (part for part in parts if not (skips_blank and _is_blank(part)))
        return [block for block in map(self.write, kept) if block is not None]

    def own_block(self, part: Any) -> JsonObject | None:
        """Return the block that a part keeps whole, or `None` if it keeps none of this format."""
        if type(part) is ForeignPart and part.format == self.format_name and is_object(part.value):
            raw = part.value
        elif type(part) is CustomPart and self._custom and part.kind.startswith(f"{self.namespace}."):
            raw = notes(part.provider_metadata, self.namespace)
        else:
            return None
        # a block that is still being streamed has its unknown deltas in `deltas`, and is not complete
        is_block = not self._tag_field or isinstance(raw.get(self._tag_field), str)
        return raw if is_block and DELTAS not in raw and raw else None

    def keep(self, raw: JsonObject) -> ForeignPart | CustomPart:
        """Return the part that keeps a block whole."""
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
    """Return the codec of a block that only has a `text`."""
    return PartCodec(
        type_, TextPart, lambda block, _: TextPart(block.text), lambda part: type_(text=part.text)
    )


def _is_blank(part: Any) -> bool:
    return type(part) is TextPart and not part.text.strip()


# The blocks of messages

BEHIND: Final = "behind"
"""The note of how many blocks are between the result of a server tool and its call, or the result before it.
"""


class MessageBlocks:
    """Reads and writes the blocks of messages by role: instructions, user, assistant, and results of tools.

    Instructions are read and written as texts of the user.
    """

    def __init__(
        self,
        user: PartCodecs[Any],
        assistant: PartCodecs[Any],
        results: PartCodecs[Mapping[str, str]] | None,
        text: Callable[[str], Json],
    ) -> None:
        """`results`: the codecs of results, which get the names of calls by id as context.

        `None`: the format handles results itself.
        `text`: returns the block of a text.
        """
        self._user, self._assistant, self._results, self._text = user, assistant, results, text

    def read(self, block: Any, role: str, calls: Mapping[str, str], context: Any = None) -> Any:
        """Return the part of a block. `calls`: the names of calls without a result, by id."""
        if self._results is not None and role != "system" and self._results.reads(block):
            return self._results.read(block, calls)
        part = (self._assistant if role == "assistant" else self._user).read(block, context)
        is_kept = role == "system" and not isinstance(part, TextPart | ForeignPart)
        return self._user.keep(to_json(block)) if is_kept else part

    def write(self, part: Any, role: str) -> Any:
        """Return the block of a part, or `None` if messages of that role have none for it."""
        if type(part) is ToolResultPart:
            return None if self._results is None else self._results.write(part)
        if role == "system" and not isinstance(part, TextPart | ForeignPart):
            return None
        return (self._assistant if role == "assistant" else self._user).write(part)

    def is_written(self, part: AssistantPart) -> bool:
        """Whether a part of the assistant has a block."""
        return self.write(part, "assistant") is not None

    def write_all(
        self, parts: Sequence[LocatedPart], role: str, text: str | None = None
    ) -> tuple[list[Json], list[Position | None]]:
        """Return the blocks of a message, a text after them, and for each part the number of its block.

        The results of a server tool are placed as many blocks after their call as they were when read.
        """
        blocks: list[Json] = []
        positions: list[Position | None] = []
        waiting: list[tuple[int, Json]] = []  # results, and the number that each gets among the blocks
        for part, _ in parts:
            written = self.write_with_notes(part, role)
            while waiting and written and waiting[0][0] <= len(blocks):
                blocks.append(waiting.pop(0)[1])
            positions.append(len(blocks) if written else None)
            blocks += written
            if type(part) is ToolCallPart and part.provider_executed and part.output is not None and written:
                at = len(blocks) - len(written) + 1
                for result, noted in self.write_server_results(part):
                    behind = noted.get(BEHIND)
                    at += behind if type(behind) is int else 0
                    waiting.append((at, result))
                    at += 1
                waiting.sort(key=lambda one: one[0])
        blocks += [result for _, result in waiting]
        return (blocks if text is None else [*blocks, self._text(text)]), positions

    def write_response(
        self, parts: Sequence[LocatedPart], text: str | None
    ) -> tuple[Any, list[Position | None]]:
        """Return the blocks of a response as the body has them, and for each part the number of its block."""
        return self.write_all(parts, "assistant", text)

    def write_with_notes(self, part: Any, role: str) -> Sequence[Json]:
        """Return the block of a part, if it has one. A format overrides this to add blocks that are notes."""
        block = self.write(part, role)
        return [] if block is None else [block]

    def write_server_results(self, call: ToolCallPart) -> Sequence[tuple[Json, JsonObject]]:
        """Return the blocks of a server tool's results, each with the notes about it."""
        raise NotImplementedError

    def as_string(self, blocks: Sequence[Any]) -> str | Sequence[Any]:
        """Return the text of the only block as a string, or the blocks if that does not hold all of them."""
        text = getattr(blocks[0], "text", None) if len(blocks) == 1 else None
        return text if isinstance(text, str) and blocks[0] == self._text(text) else blocks


def behind_note(count: int) -> JsonObject:
    """The note that a number of blocks is between the result of a server tool and its call."""
    return {BEHIND: count} if count > 0 else {}


def with_result(call: ToolCallPart, output: ToolOutput, metadata: JsonObject | None) -> ToolCallPart:
    """Return the call of a server tool with its result."""
    return replace(call, state=state_after(output), output=output, result_provider_metadata=metadata)
