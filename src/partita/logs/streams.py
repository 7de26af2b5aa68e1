"""What an agent printed and somebody kept, read as a log: each answer of the stream is a message."""

from collections.abc import Callable
from functools import partial

from partita.formats.format import Decoder
from partita.formats.log.sink import LogSink
from partita.types.chunks import Chunk, MessageFinish, MessageStart
from partita.types.json import JsonObject, is_object
from partita.types.messages import AssistantContent, AssistantMessage

from .log_format import LogFormat


class StreamDecoder:
    """The events of a stream, told as a log is."""

    def __init__(self, sink: LogSink, make: Callable[[], Decoder]) -> None:
        self._sink = sink
        self._make = make
        self._decoder = make()
        self._count = 0
        self._message: str | None = None

    def feed(self, record: JsonObject) -> None:
        """Take the next event."""
        for chunk in self._decoder.feed(record):
            self._tell(chunk)

    def finish(self) -> None:
        """Close what is open."""
        for chunk in self._decoder.finish():
            self._tell(chunk)

    def _tell(self, chunk: Chunk) -> None:
        if isinstance(chunk, MessageStart) and chunk.message_id not in (None, self._message):
            self._message = None
        if self._message is None:
            self._count += 1
            given = chunk.message_id if isinstance(chunk, MessageStart) else None
            self._message = given or f"answer-{self._count}"
            content = AssistantContent(parts=())
            self._sink.open(AssistantMessage(id=self._message, created_at=self._sink.time, content=content))
        if isinstance(chunk, MessageStart):
            chunk = MessageStart(message_metadata=chunk.message_metadata)
            if is_object(chunk.message_metadata):
                self._learn(chunk.message_metadata)
        self._sink.append(self._message, chunk)
        if isinstance(chunk, MessageFinish):
            self._sink.close(self._message)
            self._sink.end_turn("failed" if chunk.finish_reason == "error" else "completed")
            self._message = None

    def _learn(self, metadata: JsonObject) -> None:
        for name in ("sessionId", "model", "cwd"):
            value = metadata.get(name)
            if isinstance(value, str):
                self._sink.set_fact(name, value)


def stream_format(name: str) -> LogFormat:
    """The format of a stream that was kept."""
    make: Callable[[], Decoder]
    match name:
        case "claude-code-stream":
            from partita.formats.claude_code.stream import ClaudeStreamDecoder

            agent, make = "claude-code", ClaudeStreamDecoder
        case "codex-exec":
            from partita.formats.codex.exec import CodexExecDecoder

            agent, make = "codex", CodexExecDecoder
        case _:
            from partita.formats.gemini_cli.stream import GeminiStreamDecoder

            agent, make = "gemini-cli", GeminiStreamDecoder
    return LogFormat(name, agent, partial(StreamDecoder, make=make))
