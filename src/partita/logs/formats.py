"""The formats of logs: which decoder reads which, and how a whole document is told as records."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, runtime_checkable

from partita.errors import FormatError
from partita.formats.transcript import LogDecoder
from partita.logs.places.detection import AGENT_OF
from partita.types.json import JsonObject


@runtime_checkable
class Resumable(Protocol):
    """A decoder that can stop between two turns and go on later."""

    def mark(self) -> Any:
        """Remember this place."""

    def state(self, mark: Any) -> JsonObject:
        """What must be known to go on from a mark."""
        ...

    def restore(self, state: JsonObject) -> None:
        """Go on from a state."""


@dataclass(frozen=True, slots=True)
class LogFormat:
    """A format of logs. One that is a document tells how its records are found in it."""

    name: str
    agent: str
    decoder: Callable[..., LogDecoder]
    records: Callable[[JsonObject], Iterator[JsonObject]] | None = None
    has_agents: bool = False  # sub-agents have files of their own
    tells_agents: bool = False  # and are told of by the session too


@cache
def log_format(name: str) -> LogFormat:
    """The format of that name. Its decoder is loaded now."""
    match name:
        case "claude-code-log":
            from partita.formats.claude_code.log.decoder import ClaudeLogDecoder

            return LogFormat(name, "claude-code", ClaudeLogDecoder, has_agents=True, tells_agents=True)
        case "codex-rollout":
            from partita.formats.codex.rollout import CodexRolloutDecoder

            return LogFormat(name, "codex", CodexRolloutDecoder)
        case "gemini-cli":
            from partita.formats.gemini_cli.chat import GeminiChatDecoder
            from partita.formats.gemini_cli.records import records_of

            return LogFormat(name, "gemini-cli", GeminiChatDecoder, records_of, has_agents=True)
        case "opencode-export" | "opencode-parts":
            from partita.formats.opencode.decoder import OpenCodeDecoder
            from partita.formats.opencode.records import records_of as records_of_session

            return LogFormat(name, "opencode", OpenCodeDecoder, records_of_session)
        case "claude-code-stream" | "codex-exec" | "gemini-cli-stream":
            from .streams import stream_format

            return stream_format(name)
        case _:
            raise FormatError(f"no log format {name!r}", hint=f"one of {', '.join(AGENT_OF)}")
