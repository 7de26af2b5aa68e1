"""Builds small rollouts, and reads them."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from partita.formats.codex.rollout import CodexRolloutDecoder
from partita.formats.log.sink import Consumption
from partita.formats.log.thread_builder import LogBuilder
from partita.types.json import Json, JsonObject, dumps
from partita.types.messages import AssistantMessage, Message, SystemMessage, ToolCallPart, UserMessage

THREAD = "01980000-0000-7000-8000-000000000001"
FORK = "01980000-5000-7000-8000-000000000002"
MODEL = "gpt-test"
START = datetime(2026, 3, 1, 9, 0, 0, tzinfo=UTC)


class Reading(NamedTuple):
    """The result of reading a rollout."""

    messages: list[Message]
    builder: LogBuilder
    ledger: list[Consumption]

    @property
    def responses(self) -> list[AssistantMessage]:
        return [message for message in self.messages if isinstance(message, AssistantMessage)]

    @property
    def prompts(self) -> list[UserMessage]:
        return [
            message for message in self.messages if isinstance(message, UserMessage) and not message.internal
        ]

    @property
    def notices(self) -> list[SystemMessage]:
        return [m for m in self.messages if isinstance(m, SystemMessage) and not m.internal]

    @property
    def calls(self) -> list[ToolCallPart]:
        return [part for answer in self.responses for part in answer.parts if isinstance(part, ToolCallPart)]

    @property
    def unknown_records(self) -> dict[str, int]:
        return {finding.what: finding.times for finding in self.builder.unknown_records}


def read(records: Iterable[JsonObject], *, live: bool = False) -> Reading:
    """Read a rollout; with `live`, complete messages are taken after every record."""
    builder = LogBuilder("thread")
    decoder = CodexRolloutDecoder(builder)
    found: dict[str, Message] = {}
    for number, record in enumerate(records):
        builder.line, builder.offset = number + 1, number * 100
        decoder.feed(record)
        if live:
            found |= {message.id: message for message in builder.take()}
    decoder.finish()
    found |= {message.id: message for message in builder.finish()}
    return Reading(list(found.values()), builder, builder.take_ledger())


class Script:
    """Writes the records of a rollout, each a second after the one before."""

    def __init__(self, start: datetime = START, *, step: float = 1.0) -> None:
        self.records: list[JsonObject] = []
        self.time = start
        self.step = timedelta(seconds=step)
        self.total = 0

    def add(self, type_: str, payload: JsonObject, **envelope: Json) -> "Script":
        self.time += self.step
        stamp = self.time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.records.append({"timestamp": stamp, "type": type_, "payload": payload, **envelope})
        return self

    def meta(self, id: str = THREAD, **fields: Json) -> "Script":
        known: JsonObject = {
            "id": id,
            "timestamp": "2026-03-01T09:00:00.000Z",
            "cwd": "/home/ada/garden",
            "originator": "codex-tui",
            "cli_version": "0.150.0",
            "source": "cli",
            "model_provider": "openai",
            "git": {
                "branch": "main",
                "commit_hash": "abc123",
                "repository_url": "https://example.org/garden.git",
            },
        }
        return self.add("session_meta", {**known, **fields})

    def context(self, turn: str | None = None, model: str = MODEL, **fields: Json) -> "Script":
        named = {} if turn is None else {"turn_id": turn}
        return self.add("turn_context", {**named, "cwd": "/home/ada/garden", "model": model, **fields})

    def event(self, type_: str, **fields: Json) -> "Script":
        return self.add("event_msg", {"type": type_, **fields})

    def item(self, type_: str, **fields: Json) -> "Script":
        return self.add("response_item", {"type": type_, **fields})

    def start(self, turn: str, **fields: Json) -> "Script":
        return self.event("task_started", turn_id=turn, **fields)

    def end(self, turn: str, **fields: Json) -> "Script":
        return self.event("task_complete", turn_id=turn, last_agent_message=None, **fields)

    def add_message(self, role: str, *texts: str, **fields: Json) -> "Script":
        kind = "output_text" if role == "assistant" else "input_text"
        return self.item(
            "message", role=role, content=[{"type": kind, "text": text} for text in texts], **fields
        )

    def prompt(self, text: str) -> "Script":
        return self.add_message("user", text).event("user_message", message=text, images=[], local_images=[])

    def answer(self, text: str) -> "Script":
        return self.event("agent_message", message=text).add_message("assistant", text)

    def add_reasoning(self, *summary: str, sealed: str | None = "sealed") -> "Script":
        summary_texts = [{"type": "summary_text", "text": text} for text in summary]
        return self.item("reasoning", summary=summary_texts, content=None, encrypted_content=sealed)

    def call(self, call_id: str, name: str = "exec_command", **arguments: Json) -> "Script":
        return self.item("function_call", name=name, call_id=call_id, arguments=dumps(arguments).decode())

    def output(self, call_id: str, output: Json = "done") -> "Script":
        return self.item("function_call_output", call_id=call_id, output=output)

    def count(self, total: int, last: int | None = None, **more: Json) -> "Script":
        """A count of a running total, a tenth of which is output."""
        spent = total - self.total if last is None else last
        self.total = total
        info = {"total_token_usage": usage(total), "last_token_usage": usage(spent)}
        return self.event("token_count", info=info, **more)

    def turn(self, turn: str, prompt: str, answer: str, total: int) -> "Script":
        """A complete ordinary turn."""
        self.start(turn).context(turn).prompt(prompt)
        return self.answer(answer).count(total).end(turn)


def usage(tokens: int) -> JsonObject:
    return {
        "input_tokens": tokens - tokens // 10,
        "cached_input_tokens": tokens // 2,
        "output_tokens": tokens // 10,
        "reasoning_output_tokens": tokens // 20,
        "total_tokens": tokens,
    }


def turn_id(number: int, *, after: bool = True) -> str:
    """An id of a turn that started after the fork, or before it."""
    return f"01980000-{0x6000 if after else 0x1000:04x}-7000-8000-{number:012d}"
