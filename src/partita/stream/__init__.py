"""Chunks → messages, and bytes → chunks, as state machines without I/O."""

from typing import TYPE_CHECKING

from partita.lazy import lazy_exports

if TYPE_CHECKING:
    from .accumulator import Diagnostic as Diagnostic
    from .accumulator import MessagesAccumulator as MessagesAccumulator
    from .accumulator import MessagesCheckpoint as MessagesCheckpoint
    from .accumulator import accumulate_messages as accumulate_messages
    from .checkpoint import Checkpoint as Checkpoint
    from .checkpoint import ChildCheckpoint as ChildCheckpoint
    from .checkpoint import InputCheckpoint as InputCheckpoint
    from .encoder import SseEncoder as SseEncoder
    from .partial_json import Parsed as Parsed
    from .partial_json import PartialJson as PartialJson
    from .partial_json import parse_partial_json as parse_partial_json
    from .sse import ChunkReader as ChunkReader
    from .sse import SseDecoder as SseDecoder
    from .targets import Since as Since
    from .targets import Target as Target


# The same names at run time, by the module that defines them: each module is imported on first use.
EXPORTS: dict[str, tuple[str, ...]] = {
    "partita.stream.accumulator": (
        "Diagnostic",
        "MessagesAccumulator",
        "MessagesCheckpoint",
        "accumulate_messages",
    ),
    "partita.stream.checkpoint": (
        "Checkpoint",
        "ChildCheckpoint",
        "InputCheckpoint",
    ),
    "partita.stream.encoder": ("SseEncoder",),
    "partita.stream.partial_json": (
        "Parsed",
        "PartialJson",
        "parse_partial_json",
    ),
    "partita.stream.sse": (
        "ChunkReader",
        "SseDecoder",
    ),
    "partita.stream.targets": (
        "Since",
        "Target",
    ),
}

if not TYPE_CHECKING:  # type checkers would accept every name of a module with `__getattr__`
    __getattr__, __dir__, __all__ = lazy_exports(__name__, EXPORTS)
