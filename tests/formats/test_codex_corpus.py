"""Real logs of Codex, where the folder that holds them is there: what we make of them adds up."""

import gzip
from functools import cache
from pathlib import Path

import pytest

from partita.formats.codex.exec import CodexExecDecoder
from partita.stream.accumulator import Accumulator
from partita.types.json import JsonObject, is_object, loads
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import ReasoningPart, TextPart
from tests.formats.codex_counts import counts
from tests.formats.codex_examples import Reading, read
from tests.tables import each_row

CORPUS = Path(__file__).parents[3] / "shared" / "corpora" / "agent-logs"

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpora are not here")


@cache
def truth() -> JsonObject:
    files: JsonObject = loads((CORPUS / "truth.json").read_bytes())["files"] if CORPUS.is_dir() else {}
    return {name: told for name, told in files.items() if name.startswith("codex/")}


def of_format(name: str) -> list[str]:
    return sorted(file for file, told in truth().items() if told["format"] == name)


@cache
def records(name: str) -> list[JsonObject]:
    data = (CORPUS / name).read_bytes()
    lines = (gzip.decompress(data) if name.endswith(".gz") else data).split(b"\n")
    return [loads(line) for line in lines if line.strip()]


@cache
def reading(name: str, live: bool = False) -> Reading:
    return read(records(name), live=live)


@each_row("live", [False, True])
@each_row("name", of_format("codex-rollout"))
def test_counts_are_those_of_the_file(name: str, live: bool) -> None:
    made = counts(reading(name, live).messages, reading(name, live).assembly)
    told = {field: truth()[name][field] for field in made}
    told["tokens"] = {"delta_sum": told["tokens"]["delta_sum"]}
    assert made == told


def forks() -> list[str]:
    return [name for name in of_format("codex-rollout") if len(set(truth()[name]["session_ids"])) > 1]


@each_row("name", forks())
def test_copied_history_is_not_consumed_again(name: str) -> None:
    spent = sum(consumption.usage.total_tokens or 0 for consumption in reading(name).ledger)
    assert spent == truth()[name]["tokens"]["final_total"]["total_tokens"]


@each_row("name", of_format("codex-rollout"))
def test_nothing_is_puzzling_but_what_was_masked(name: str) -> None:
    assert reading(name).puzzles.keys() <= {"arguments of a call that are no JSON"}


@each_row("name", of_format("codex-rollout"))
def test_every_parent_is_there(name: str) -> None:
    messages = reading(name).messages
    known = {message.id for message in messages}
    assert {message.parent_id for message in messages} - {""} <= known


@each_row("name", of_format("codex-exec-json"))
def test_streams(name: str) -> None:
    decoder, accumulator = CodexExecDecoder(), Accumulator(id="answer")
    for event in records(name):
        for chunk in decoder.feed(event):
            accumulator.feed(chunk)
    message = accumulator.snapshot()
    assert kinds(message) == kinds_in(truth()[name]["record_types"])
    spent = truth()[name]["tokens"]["delta_sum"]
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


@each_row("name", of_format("codex-app-server"))
def test_traffic_of_the_app_server(name: str) -> None:
    decoder, accumulator = CodexExecDecoder(), Accumulator(id="answer")
    for event in records(name):
        for chunk in decoder.feed(event):
            accumulator.feed(chunk)
    assert not decoder.finish()
    assert accumulator.finish_reason == "stop"
    assert any(isinstance(part, TextPart) and part.text for part in accumulator.snapshot().parts)
