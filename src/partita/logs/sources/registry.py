"""All sources of logs, by agent, and their formats."""

from typing import Final

from partita.errors import FormatError, PartitaError
from partita.lazy import lazy_function

from . import claude_code, codex, gemini_cli, opencode
from .source import LogFormat, LogSource

SOURCES: Final[dict[str, LogSource]] = {
    module.SOURCE.agent: module.SOURCE for module in (claude_code, codex, gemini_cli, opencode)
}
"""The sources by agent."""

AGENTS: Final = tuple(SOURCES)

LOG_FORMATS: Final[dict[str, LogFormat]] = {
    format_.name: format_ for source in SOURCES.values() for format_ in source.formats
}
"""The formats of logs by name."""

EMPTY_LOG: Final = LogFormat("empty", "unknown", lazy_function("partita.formats.log.records.EmptyLogDecoder"))
"""The format of an empty log whose name shows no agent: a session without messages."""


def source_of(agent: str) -> LogSource:
    """The source of that agent."""
    if agent not in SOURCES:
        raise PartitaError(f"no logs of {agent!r} are known", hint=f"agents: {', '.join(AGENTS)}")
    return SOURCES[agent]


def log_format(name: str) -> LogFormat:
    """The format of that name."""
    if name not in LOG_FORMATS:
        raise FormatError(f"no log format {name!r}", hint=f"one of {', '.join(LOG_FORMATS)}")
    return LOG_FORMATS[name]
