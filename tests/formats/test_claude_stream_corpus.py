"""Recorded turns of the Agent SDK, compared with the results of another adapter."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from partita.stream.accumulator import Accumulator
from partita.types.chunks import (
    ChildChunk,
    Chunk,
    MessageFinish,
    ReasoningEnd,
    ReasoningStart,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolInputDelta,
)
from partita.types.codec import read_chunk
from partita.types.json import Json, JsonObject, is_array, is_object, loads, walk
from partita.types.messages import AssistantMessage, AssistantPart, ToolCallPart
from partita.types.parts import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    ReasoningPart,
    TextOutput,
    TextPart,
    ToolOutput,
)
from tests.formats import claude_turns
from tests.recordings import cases, cases_in, files
from tests.tables import each_row

CASES: Final[dict[str, JsonObject]] = {case["id"]: case for case in cases("cherry/claude-sdk-messages.jsonl")}
FAIR: Final = [name for name, case in CASES.items() if not case["defects"]]


@cache
def chunks_of(id: str) -> list[Chunk]:
    return claude_turns.decode(CASES[id]["input"])


@cache
def message_of(id: str) -> AssistantMessage:
    return fold(chunks_of(id))


def fold(chunks: list[Chunk]) -> AssistantMessage:
    accumulator = Accumulator(id="message", version=7)
    for chunk in chunks:
        accumulator.feed(chunk)
    return accumulator.snapshot()


def parts_of(
    message: AssistantMessage, parent: str | None = None
) -> Iterator[tuple[str | None, AssistantPart]]:
    """Every part with the call that it is nested under, which precedes it."""
    for part in message.parts:
        yield parent, part
        if isinstance(part, ToolCallPart):
            for child in part.children:
                if isinstance(child, AssistantMessage):
                    yield from parts_of(child, part.id)


def flat(chunks: list[Chunk]) -> Iterator[tuple[tuple[str, ...], Chunk]]:
    for chunk in chunks:
        yield (chunk.path, chunk.chunk) if isinstance(chunk, ChildChunk) else ((), chunk)


# The texts and calls of the input

WORDS: Final = {"text": "text", "thinking": "thinking"}


def blocks_of(events: list[JsonObject]) -> list[tuple[str | None, str, str]]:
    """The blocks of the model: the call of the agent, the kind, and the text or the call id."""
    found: list[list[Json]] = []
    places: dict[Json, list[Json]] = {}
    waiting: list[list[Json]] = []
    for event in events:
        parent, inner = event.get("parent_tool_use_id"), event.get("event", {})
        if inner.get("type") == "content_block_start":
            entry = entry_of(parent, inner["content_block"])
            places[parent, inner["index"]] = entry
            found.append(entry)
            waiting.append(entry)
        elif inner.get("type") == "content_block_delta":
            delta = inner["delta"]
            places[parent, inner["index"]][2] += delta.get("text") or delta.get("thinking") or ""
        for block in event["message"]["content"] if event["type"] == "assistant" else ():
            entry = entry_of(parent, block)
            if entry in waiting:
                waiting.remove(entry)
            elif entry[1] != "call" or entry not in found:
                found.append(entry)
    entries = (tuple(entry) for entry in found)
    return [(parent, kind, words) for parent, kind, words in entries if kind != "other"]


def entry_of(parent: Json, block: JsonObject) -> list[Json]:
    kind = block["type"]
    if kind in WORDS:
        return [parent, kind, block[WORDS[kind]]]
    if kind == "redacted_thinking":
        return [parent, "thinking", ""]
    return [parent, "call", block["id"]] if kind.endswith("_use") else [parent, "other", ""]


def named(value: Json, *names: str) -> list[Json]:
    """All non-empty values under these names, at any depth."""
    found: list[Json] = []
    stack = [value]
    while stack:
        item = stack.pop()
        if is_object(item):
            found += [inner for name, inner in item.items() if name in names and inner]
        stack.extend(item.values() if is_object(item) else item if is_array(item) else ())
    return found


# Properties of every turn


@each_row("case", CASES.values(), ids=CASES)
def test_all_texts_and_calls_are_emitted_once_and_in_order(case: JsonObject) -> None:
    found: list[tuple[str | None, str, str]] = []
    for parent, part in parts_of(message_of(case["id"])):
        match part:
            case TextPart(text=text):
                found.append((parent, "text", text))
            case ReasoningPart(text=text):
                found.append((parent, "thinking", text))
            case ToolCallPart(id=call, name=name) if name != "unknown-tool":
                found.append((parent, "call", call))
            case _:
                pass
    written = blocks_of(case["input"])
    for agent in {parent for parent, _, _ in written}:  # a tree does not keep the order between agents
        assert [one for one in found if one[0] == agent] == [one for one in written if one[0] == agent]
    assert len(found) == len(written)


@each_row("case", CASES.values(), ids=CASES)
def test_every_part_that_is_opened_is_closed(case: JsonObject) -> None:
    open_now: set[tuple[tuple[str, ...], str, str]] = set()
    for path, chunk in flat(chunks_of(case["id"])):
        match chunk:
            case TextStart(id=block) | ReasoningStart(id=block):
                open_now.add((path, "text" if isinstance(chunk, TextStart) else "reasoning", block))
            case TextEnd(id=block) | ReasoningEnd(id=block):
                open_now.remove((path, "text" if isinstance(chunk, TextEnd) else "reasoning", block))
            case _:
                pass
    assert not open_now
    states = {getattr(part, "state", None) for _, part in parts_of(message_of(case["id"]))}
    assert states <= {None, "done", "output-available", "output-error", "output-denied"}


@each_row("case", CASES.values(), ids=CASES)
def test_signatures_and_redacted_reasoning_are_kept(case: JsonObject) -> None:
    thoughts = [part for _, part in parts_of(message_of(case["id"])) if isinstance(part, ReasoningPart)]
    kept = {str(value) for part in thoughts for _, value in walk(part.provider_metadata)} - {"None"}
    events: Json = case["input"]
    redacted = [block["data"] for block in named_blocks(events, "redacted_thinking")]
    assert kept == {*named(events, "signature"), *redacted}


def named_blocks(value: Json, kind: str) -> list[JsonObject]:
    blocks = [*named(value, "content_block"), *[one for many in named(value, "content") for one in many]]
    return [block for block in blocks if is_object(block) and block.get("type") == kind]


@each_row("case", CASES.values(), ids=CASES)
def test_citations_are_kept(case: JsonObject) -> None:
    texts = [part for _, part in parts_of(message_of(case["id"])) if isinstance(part, TextPart)]
    given = named(case["input"], "citation")
    assert [
        one for part in texts for many in named(part.provider_metadata, "citations") for one in many
    ] == given
    assert [one.cited_text for part in texts for one in part.citations or ()] == [
        one["cited_text"] for one in given
    ]


@each_row("case", CASES.values(), ids=CASES)
def test_no_delta_of_an_input_follows_the_whole_input(case: JsonObject) -> None:
    whole: set[str] = set()
    for _, chunk in flat(chunks_of(case["id"])):
        if isinstance(chunk, ToolInputAvailable):
            whole.add(chunk.tool_call_id)
        assert not isinstance(chunk, ToolInputDelta) or chunk.tool_call_id not in whole


@each_row("case", CASES.values(), ids=CASES)
def test_outputs_keep_their_type(case: JsonObject) -> None:
    calls = [part for _, part in parts_of(message_of(case["id"])) if isinstance(part, ToolCallPart)]
    first: dict[str, Json] = {}
    for event in case["input"]:
        for block in event["message"]["content"] if event["type"] == "user" else ():
            if is_object(block) and block["type"] == "tool_result":
                first.setdefault(block["tool_use_id"], block["content"])
    outputs = {call.id: original(call.output) for call in calls if call.id in first}
    assert outputs == first


def original(output: ToolOutput | None) -> Json:
    """The content of the result that became an output."""
    match output:
        case TextOutput(value=value) | ErrorTextOutput(value=value) | JsonOutput(value=value):
            return value
        case ErrorJsonOutput(value=value):
            return value
        case ContentOutput(value=items):
            return [_block(item) for item in items]
        case ExecutionDeniedOutput(reason=reason, provider_metadata=metadata):
            return (metadata or {}).get("anthropic", {}).get("content", reason)
        case InterruptedOutput(message=message):
            return message
        case None:
            return None


def _block(item: object) -> JsonObject:
    if isinstance(item, TextPart):
        return {"type": "text", "text": item.text}
    assert isinstance(item, ImagePart)
    _, _, data = item.url.partition(";base64,")
    return {"type": "image", "source": {"type": "base64", "media_type": item.media_type, "data": data}}


DENIED: Final = {
    "pond-denied": ("Permission to use Bash has been denied.", "fish live there"),
    "cc-020": ("Permission denied", "deny rule"),
}
"""Turns with a denied call: the content of its result, and the reason."""


@each_row("id", [name for name in DENIED if name in CASES])
def test_a_denial_keeps_its_reason(id: str) -> None:
    (call,) = [part for _, part in parts_of(message_of(id)) if isinstance(part, ToolCallPart)]
    assert isinstance(call.output, ExecutionDeniedOutput)
    assert (call.state, original(call.output), call.output.reason) == ("output-denied", *DENIED[id])


# Comparison with the other adapter

INTENDED: Final = {
    "cc-017": "an unknown input is not an empty input",
    "cc-018": "a call without a result is lost; there it stays open",
    "cc-038": "text of the model that repeats a reminder is kept; there it is removed",
}
"""Turns with an intended difference.

`summary` removes other intended differences: outputs of servers' tools are not wrapped, lists of texts are
not joined, errors in JSON do not become text, and messages of sub-agents are nested under their call. Not
compared: a prompt during a turn is a steering message, notices are different data, an estimate of thinking
is not usage, and a failed turn ends with errors and a finish, not with an exception.
"""


def summary(message: AssistantMessage) -> list[tuple[Json, ...]]:
    """The texts and calls of a message in a form that both adapters share."""
    found: list[tuple[Json, ...]] = []
    for _, part in parts_of(message):
        match part:
            case TextPart(text=text):
                found.append(("text", text))
            case ReasoningPart(text=text):
                found.append(("reasoning", text))
            case ToolCallPart():
                given = part.input if is_object(part.input) else None
                found.append((part.id, part.name, part.state, given, _normalized(original(part.output))))
            case _:
                pass
    return found


def _normalized(output: Json) -> Json:
    if is_object(output) and "metadata" in output:
        return _normalized(output["content"])
    if is_array(output) and output and all(is_object(item) and item["type"] == "text" for item in output):
        return "".join(item["text"] for item in output)
    if isinstance(output, str) and output.startswith("{"):
        return loads(output)
    return output


@each_row("id", FAIR)
def test_a_turn_has_the_texts_of_the_other_fixtures(id: str) -> None:
    theirs = fold([read_chunk(chunk) for chunk in CASES[id]["observed"]["chunks"]])
    same = summary(message_of(id)) == summary(theirs)
    assert same is (id not in INTENDED)


def stats_of(chunks: list[JsonObject]) -> JsonObject:
    found: list[JsonObject] = [
        stats for chunk in chunks for stats in named(chunk.get("messageMetadata"), "stats")
    ]
    return found[-1]


@each_row("case", CASES.values(), ids=CASES)
def test_the_usage_matches_that_of_the_other_fixtures(case: JsonObject) -> None:
    end = chunks_of(case["id"])[-1]
    assert isinstance(end, MessageFinish)
    ours: Json = end.message_metadata
    theirs = stats_of(case["observed"]["chunks"])
    details = theirs["inputTokenDetails"]
    assert ours["usage"] == {
        "inputTokens": theirs["inputTokens"],
        "outputTokens": theirs["outputTokens"],
        "totalTokens": theirs["totalTokens"],
        "cachedInputTokens": details["cacheReadTokens"],
        "cacheWriteTokens": details["cacheWriteTokens"],
        "raw": ours["usage"]["raw"],
    }


ENDS: Final = {"cc-031": "length", "cc-032": "error", "cc-033": "error", "cc-035": "content-filter"}
"""Turns that the other adapter ended with an exception, and a refusal that it called a normal stop."""


@each_row("id", CASES)
def test_the_finish_reason_matches_that_of_the_other_fixtures(id: str) -> None:
    end = chunks_of(id)[-1]
    theirs = [chunk["finishReason"] for chunk in CASES[id]["observed"]["chunks"] if chunk["type"] == "finish"]
    assert isinstance(end, MessageFinish)
    assert end.finish_reason == (ENDS.get(id) or theirs[-1])


# Recorded streams


LIVE: Final = "agent-logs/claude-code/stream-json"


@each_row("path", files(LIVE, "partial-messages.jsonl"))
def test_a_real_stream_with_blocks_that_overlap(path: Path) -> None:
    events = cases_in(path)
    chunks = claude_turns.decode(events)
    words = [part.text for _, part in parts_of(fold(chunks)) if isinstance(part, TextPart | ReasoningPart)]
    whole = [event["message"]["content"][0] for event in events if event["type"] == "assistant"]
    assert sorted(words) == sorted(block.get("text", block.get("thinking", "")) for block in whole)
    assert "data-claude-unknown" not in {getattr(chunk, "type", "") for chunk in chunks}


@each_row("path", files(LIVE, "control-protocol-tool-use.json"))
def test_a_real_stream_in_both_directions(path: Path) -> None:
    cassette = loads(path.read_bytes())
    chunks = claude_turns.decode([exchange["message"] for exchange in cassette["messages"]])
    calls = [part for _, part in parts_of(fold(chunks)) if isinstance(part, ToolCallPart)]
    assert [call.state for call in calls] == ["output-available"]
    assert "data-claude-unknown" not in {getattr(chunk, "type", "") for chunk in chunks}
    end = chunks[-1]
    assert isinstance(end, MessageFinish)
    assert end.finish_reason == "stop"
