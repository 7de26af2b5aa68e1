"""The formats of logs: which decoder reads which, and how a whole document is told as records."""

from functools import cache, partial
from typing import Final

from partita.errors import FormatError
from partita.formats.log.sink import LogSink
from partita.logs.places.detection import AGENT_OF
from partita.types.json import JsonObject

from .agents import prompt_in
from .codex_agents import sign_in
from .log_format import LogFormat


class _NoRecords:
    """The decoder of a log without records."""

    def __init__(self, sink: LogSink) -> None:
        self._sink = sink

    def feed(self, record: JsonObject) -> None:
        """Report a record of a log that should have none."""
        self._sink.report_unknown("a record of a log that was empty")

    def finish(self) -> None:
        """There is nothing to finish."""


EMPTY_LOG: Final = LogFormat("empty", "unknown", _NoRecords)
"""A log without a byte whose name says nothing: a session without messages."""


@cache
def log_format(name: str) -> LogFormat:
    """The format of that name. Its decoder is loaded now."""
    match name:
        case "claude-code-log":
            from partita.formats.claude_code.log import ClaudeLogDecoder

            return LogFormat(
                name,
                "claude-code",
                ClaudeLogDecoder,
                has_agents=True,
                tells_agents=True,
                agent_sign=prompt_in,
            )
        case "codex-rollout":
            from partita.formats.codex.rollout import CodexRolloutDecoder

            under_call = partial(CodexRolloutDecoder, under_call=True)
            return LogFormat(
                name,
                "codex",
                CodexRolloutDecoder,
                has_agents=True,
                agent_decoder=under_call,
                agent_sign=sign_in,
            )
        case "gemini-cli":
            from partita.formats.gemini_cli.chat import GeminiChatDecoder, records_of

            return LogFormat(name, "gemini-cli", GeminiChatDecoder, records_of, has_agents=True)
        case "opencode-export" | "opencode-parts":
            from partita.formats.opencode.session import OpenCodeDecoder
            from partita.formats.opencode.session import records_of as records_of_session

            return LogFormat(name, "opencode", OpenCodeDecoder, records_of_session)
        case "claude-code-stream" | "codex-exec" | "gemini-cli-stream":
            from .streams import stream_format

            return stream_format(name)
        case _:
            raise FormatError(f"no log format {name!r}", hint=f"one of {', '.join(AGENT_OF)}")
