"""Recorded logs of Codex have the expected counts."""

import gzip
from functools import cache
from pathlib import Path

from partita.formats.codex.exec import CodexExecDecoder
from partita.stream.accumulator import Accumulator
from partita.types.json import JsonObject, is_object, loads
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import ReasoningPart, TextPart
from tests.formats.codex_counts import counts
from tests.formats.codex_examples import Reading, read
from tests.recordings import counted, files
from tests.tables import each_row

KNOWN = {
    "arguments of a call that are not JSON",  # masked before publishing
    "unknown record type 'hologram'",
}
"""All unknown records."""


def of_format(name: str) -> list[Path]:
    return [path for path in files("agent-logs/codex", "**/*.jsonl*") if counted(path)["format"] == name]


@cache
def records(path: Path) -> list[JsonObject]:
    data = path.read_bytes()
    lines = (gzip.decompress(data) if path.suffix == ".gz" else data).split(b"\n")
    return [loads(line) for line in lines if line.strip()]


@cache
def reading(path: Path, live: bool = False) -> Reading:
    return read(records(path), live=live)


@each_row("live", [False, True])
@each_row("path", of_format("codex-rollout"))
def test_counts_are_those_of_the_file(path: Path, live: bool) -> None:
    made = counts(reading(path, live).messages, reading(path, live).builder)
    found = {field: counted(path)[field] for field in made}
    found["tokens"] = {"delta_sum": found["tokens"]["delta_sum"]}
    assert made == found


def forks() -> list[Path]:
    return [path for path in of_format("codex-rollout") if len(set(counted(path)["session_ids"])) > 1]


@each_row("path", forks())
def test_copied_history_is_not_consumed_again(path: Path) -> None:
    spent = sum(consumption.usage.total_tokens or 0 for consumption in reading(path).ledger)
    assert spent == counted(path)["tokens"]["final_total"]["total_tokens"]


@each_row("path", of_format("codex-rollout"))
def test_all_unknown_records_of_the_corpus_are_expected(path: Path) -> None:
    assert reading(path).unknown_records.keys() <= KNOWN


@each_row("path", of_format("codex-rollout"))
def test_every_parent_exists(path: Path) -> None:
    messages = reading(path).messages
    known = {message.id for message in messages}
    assert {message.parent_id for message in messages} - {""} <= known


@each_row("path", of_format("codex-exec-json"))
def test_streams(path: Path) -> None:
    decoder, accumulator = CodexExecDecoder(), Accumulator(id="answer")
    for event in records(path):
        for chunk in decoder.feed(event):
            accumulator.feed(chunk)
    message = accumulator.snapshot()
    assert kinds(message) == kinds_in(counted(path)["record_types"])
    spent = counted(path)["tokens"]["delta_sum"]
    metadata = message.content.metadata
    raw: JsonObject = metadata["usage"]["raw"] if is_object(metadata) else {}
    assert {field: raw.get(field, 0) for field in spent} == spent


def kinds(message: AssistantMessage) -> dict[str, int]:
    names: dict[type, str] = {
        TextPart: "agent_message",
        ReasoningPart: "reasoning",
        ToolCallPart: "command_execution",
    }
    found = [names[type(part)] for part in message.parts if type(part) in names]
    return {name: found.count(name) for name in sorted(set(found))}


def kinds_in(types: JsonObject) -> dict[str, int]:
    done = {
        name.removeprefix("item.completed/"): count
        for name, count in types.items()
        if name.startswith("item.c")
    }
    return dict(sorted(done.items()))


@each_row("path", of_format("codex-app-server"))
def test_traffic_of_the_app_server(path: Path) -> None:
    decoder, accumulator = CodexExecDecoder(), Accumulator(id="answer")
    for event in records(path):
        for chunk in decoder.feed(event):
            accumulator.feed(chunk)
    assert not decoder.finish()
    assert accumulator.finish_reason == "stop"
    assert any(isinstance(part, TextPart) and part.text for part in accumulator.snapshot().parts)
