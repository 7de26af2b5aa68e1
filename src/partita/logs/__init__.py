"""Logs of agents on disk: finding, reading and following them."""

from typing import TYPE_CHECKING

from partita.lazy import lazy_exports

if TYPE_CHECKING:
    from partita.formats.log.sink import Position as Position
    from partita.formats.log.sink import UnknownRecord as UnknownRecord

    from .files import Expansion as Expansion
    from .files import discover as discover
    from .files import find_logs as find_logs
    from .lines.blocks import AsyncReadable as AsyncReadable
    from .parsed_log import LogStream as LogStream
    from .parsed_log import ParsedLog as ParsedLog
    from .parsed_log import ToolCall as ToolCall
    from .parsed_log import extract_tool_calls as extract_tool_calls
    from .parsed_log import parse_log_file as parse_log_file
    from .parsed_log import parse_log_stream as parse_log_stream
    from .sources.source import LogFile as LogFile
    from .sources.source import LogFormat as LogFormat
    from .sources.source import PathInfo as PathInfo
    from .watching.watcher import WatchMethod as WatchMethod


# The same names at run time, by the module that defines them: each module is imported on first use.
EXPORTS: dict[str, tuple[str, ...]] = {
    "partita.formats.log.sink": (
        "Position",
        "UnknownRecord",
    ),
    "partita.logs.files": (
        "Expansion",
        "discover",
        "find_logs",
    ),
    "partita.logs.lines.blocks": ("AsyncReadable",),
    "partita.logs.parsed_log": (
        "LogStream",
        "ParsedLog",
        "ToolCall",
        "extract_tool_calls",
        "parse_log_file",
        "parse_log_stream",
    ),
    "partita.logs.sources.source": (
        "LogFile",
        "LogFormat",
        "PathInfo",
    ),
    "partita.logs.watching.watcher": ("WatchMethod",),
}

if not TYPE_CHECKING:  # type checkers would accept every name of a module with `__getattr__`
    __getattr__, __dir__, __all__ = lazy_exports(__name__, EXPORTS)
