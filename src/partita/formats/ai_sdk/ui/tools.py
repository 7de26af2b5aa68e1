"""Names of `format` that Mastra's writers import."""

from partita.formats.losses import Loss
from partita.types.json import Json
from partita.types.messages import ToolCallPart

from .format import write_part
from .parts import NAME as FORMAT

__all__ = ["FORMAT", "dump_tool"]


def dump_tool(part: ToolCallPart, path: str, losses: list[Loss]) -> Json:
    """A call as a tool part."""
    return write_part(part)
