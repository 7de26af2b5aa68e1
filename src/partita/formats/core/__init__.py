"""What formats are built from: wire types, part codecs, turns, rules of APIs, decoders and losses."""

from typing import TYPE_CHECKING

from partita.lazy import lazy_exports

if TYPE_CHECKING:
    from .codec import MessageBlocks as MessageBlocks
    from .codec import PartCodec as PartCodec
    from .codec import PartCodecs as PartCodecs
    from .decoder import INTERRUPTED as INTERRUPTED
    from .decoder import Call as Call
    from .decoder import ChunkEmitter as ChunkEmitter
    from .report import Record as Record
    from .report import Report as Report
    from .role_messages import SYSTEM as SYSTEM
    from .role_messages import RoleReader as RoleReader
    from .role_messages import RoleWriter as RoleWriter
    from .role_messages import numbered as numbered
    from .rules import Alphabet as Alphabet
    from .rules import Rules as Rules
    from .tool_text import ToolText as ToolText
    from .tool_text import as_text as as_text
    from .tool_text import read_tool_text as read_tool_text
    from .tool_text import write_tool_text as write_tool_text
    from .tools import Tools as Tools
    from .turns import Instructions as Instructions
    from .turns import LocatedPart as LocatedPart
    from .turns import Prompt as Prompt
    from .turns import Results as Results
    from .turns import Step as Step
    from .turns import Turn as Turn
    from .turns import join as join
    from .wire import Wire as Wire
    from .wire import read_wire as read_wire
    from .wire import residue as residue


# The same names at run time, by the module that defines them: each module is imported on first use.
EXPORTS: dict[str, tuple[str, ...]] = {
    "partita.formats.core.codec": (
        "MessageBlocks",
        "PartCodec",
        "PartCodecs",
    ),
    "partita.formats.core.decoder": (
        "Call",
        "ChunkEmitter",
        "INTERRUPTED",
    ),
    "partita.formats.core.report": (
        "Record",
        "Report",
    ),
    "partita.formats.core.role_messages": (
        "RoleReader",
        "RoleWriter",
        "SYSTEM",
        "numbered",
    ),
    "partita.formats.core.rules": (
        "Alphabet",
        "Rules",
    ),
    "partita.formats.core.tool_text": (
        "ToolText",
        "as_text",
        "read_tool_text",
        "write_tool_text",
    ),
    "partita.formats.core.tools": ("Tools",),
    "partita.formats.core.turns": (
        "Instructions",
        "LocatedPart",
        "Prompt",
        "Results",
        "Step",
        "Turn",
        "join",
    ),
    "partita.formats.core.wire": (
        "Wire",
        "read_wire",
        "residue",
    ),
}

if not TYPE_CHECKING:  # type checkers would accept every name of a module with `__getattr__`
    __getattr__, __dir__, __all__ = lazy_exports(__name__, EXPORTS)
