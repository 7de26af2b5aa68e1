"""Recorded Anthropic responses: their content and their chunks."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from partita.formats.losses import content_losses
from partita.stream.accumulator import accumulate
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object, loads
from partita.types.messages import UserMessage
from tests.formats.anthropic_samples import build_request
from tests.formats.provider_answers import with_known_inputs
from tests.provider_truth.reading import chunks_of, truth_of
from tests.recordings import answers, name_of, sdk_chunks, truth_about

FAMILY: Final = "anthropic"


# Content


def compared(field: str, ours: Json, truth: Json) -> tuple[Json, Json]:
    """Return both values in one shape: several reasons may be right, and input text may be unknown."""
    if field == "finish":
        return (ours["raw"], ours["unified"] in truth["accept"]), (truth["raw"], True)
    if field == "tool_calls":
        return with_known_inputs(ours, truth), truth
    if field == "usage" and is_object(ours) and is_object(truth):
        return {"billed": None, **ours}, truth
    return ours, truth


def test_every_recording_is_read_correctly() -> None:
    wrong: dict[str, Json] = {}
    for path in answers(FAMILY):
        normalized, truth = truth_of(FAMILY, path), truth_about(path)
        for field in truth.keys() - {"ambiguous"}:
            ours, expected = compared(field, normalized.get(field), truth[field])
            if ours != expected and "ambiguous" not in truth:
                wrong[f"{name_of(path)}.{field}"] = (ours, expected)
    assert not wrong


# Comparison with chunks of the AI SDK

Chunks: TypeAlias = list[JsonObject]

LEFT_OUT: Final[Mapping[str, str]] = {
    "vai-spliced-message-start": "two responses in one stream: the SDK stops at the second one",
}
OWN_METADATA: Final = ("serverTool", "behind", "rawInput", "fields")


def without_beginning(chunks: Chunks) -> Chunks:
    """The id, model and usage of the message start are in the metadata of our finish chunk."""
    return [chunk for chunk in chunks if chunk.get("kind") != "anthropic.message_start"]


def without_compaction(chunks: Chunks) -> Chunks:
    """A compaction is not part of the text: we write a custom chunk."""
    ids = [chunk["id"] for chunk in chunks if own(chunk).get("type") == "compaction" and "id" in chunk]
    kept = [chunk for chunk in chunks if not (chunk["type"].startswith("text") and chunk["id"] in ids)]
    return [chunk for chunk in kept if chunk.get("kind") != "anthropic.compaction"]


def with_real_names(chunks: Chunks) -> Chunks:
    """Code execution tools keep their names and inputs: the SDK maps them to one tool with a type member."""
    marks: dict[str, str] = {}
    for chunk in chunks:
        if chunk["type"] == "tool-input-available" and chunk["toolName"] == "code_execution":
            marks[chunk["toolCallId"]] = chunk["input"].get("type", "")
    return [without_type_mark(chunk, marks.get(chunk.get("toolCallId", ""), "")) for chunk in chunks]


def without_type_mark(chunk: JsonObject, mark: str) -> JsonObject:
    if not mark:
        return chunk
    chunk = dict(chunk)
    if "toolName" in chunk and mark != "programmatic-tool-call":
        chunk["toolName"] = mark
    if "inputTextDelta" in chunk:
        chunk["inputTextDelta"] = chunk["inputTextDelta"].replace(f'{{"type": "{mark}",', "{", 1)
    if "input" in chunk:
        chunk["input"] = {key: item for key, item in chunk["input"].items() if key != "type"}
    return chunk


def without_unknown_fields(chunks: Chunks) -> Chunks:
    """Our outputs are complete: the SDK drops members it does not know."""
    return [{**chunk, "output": known(chunk["output"])} if "output" in chunk else chunk for chunk in chunks]


def known(output: Json) -> Json:
    unknown = ("abort_reason", "error_message")
    return {key: output[key] for key in output if key not in unknown} if is_object(output) else output


def without_fetched_pages(chunks: Chunks) -> Chunks:
    """A fetched page is a source: the SDK has only search results as sources."""
    return [chunk for chunk in chunks if "retrievedAt" not in own(chunk)]


def without_remote_inputs(chunks: Chunks) -> Chunks:
    """Inputs for remote servers are streamed: the SDK leaves them empty."""
    remote = {chunk["toolCallId"] for chunk in chunks if chunk.get("dynamic") and "toolCallId" in chunk}
    written = ("tool-input-start", "tool-input-delta")
    kept = [chunk for chunk in chunks if chunk["type"] not in written or chunk["toolCallId"] not in remote]
    return [{**chunk, "input": "?"} if chunk.get("dynamic") and "input" in chunk else chunk for chunk in kept]


def without_late_ends(chunks: Chunks) -> Chunks:
    """A text that an error interrupts is closed: the SDK leaves it open."""
    failed = next((place for place, chunk in enumerate(chunks) if chunk["type"] == "error"), len(chunks))
    return [
        chunk for place, chunk in enumerate(chunks) if place < failed or not chunk["type"].endswith("-end")
    ]


DEVIATIONS: Final[tuple[Callable[[Chunks], Chunks], ...]] = (
    without_beginning,
    without_compaction,
    with_real_names,
    without_unknown_fields,
    without_fetched_pages,
    without_remote_inputs,
    without_late_ends,
)
"""Intended deviations from the AI SDK; each docstring gives the reason."""


def own(chunk: JsonObject) -> JsonObject:
    return dict(chunk.get("providerMetadata", {}).get("anthropic", {}))


def normalized(chunks: Chunks) -> Chunks:
    """Return chunks for comparison: without generated ids, and without the metadata of the finish chunk."""
    for change in DEVIATIONS:
        chunks = change(chunks)
    return [plain(chunk) for chunk in chunks]


def plain(chunk: JsonObject) -> JsonObject:
    if chunk["type"] in ("start", "finish"):
        return {"type": chunk["type"], "finishReason": chunk.get("finishReason")}
    fields = {key: item for key, item in chunk.items() if key not in ("sourceId", "providerMetadata")}
    metadata = {key: item for key, item in own(chunk).items() if key not in OWN_METADATA}
    return {**fields, "metadata": metadata}


def test_chunks_equal_those_of_the_ai_sdk_except_for_listed_deviations() -> None:
    wrong: dict[str, Json] = {}
    for path in answers(FAMILY, ".jsonl"):
        theirs = normalized(sdk_chunks(path))
        ours = normalized([to_json(chunk) for chunk in chunks_of(FAMILY, path)[0]])
        if ours != theirs and path.stem not in LEFT_OUT:
            pairs = zip(ours, theirs, strict=False)
            wrong[path.stem] = next((pair for pair in pairs if pair[0] != pair[1]), (len(ours), len(theirs)))
    assert not wrong


# Writing

SERVED: Final[JsonObject] = {
    "tools": [{"name": name} for name in ("advisor", "tool_search_tool_regex", "tool_search_tool_bm25")]
}


def without_empty(block: JsonObject) -> JsonObject:
    return {key: item for key, item in block.items() if key != "citations" or item}


def test_every_response_body_round_trips() -> None:
    wrong: dict[str, Json] = {}
    for path in answers(FAMILY, ".response.json"):
        blocks = [without_empty(block) for block in loads(path.read_bytes()).get("content", [])]
        answer = accumulate(chunks_of(FAMILY, path)[0])
        request = build_request(
            [UserMessage(id="u", content="?"), answer], model="claude-test", settings=SERVED
        )
        sent = [turn["content"] for turn in request.payload["messages"] if turn["role"] == "assistant"]
        written = [block for block in blocks if block.get("text") != ""]
        losses = [loss for loss in content_losses(request.losses) if ".parts" in loss.path]
        losses = [loss for loss in losses if loss.severity != "repaired"]
        if sent != ([written] if written else []) or losses:
            wrong[path.name] = (sent, [str(loss) for loss in losses])
    assert not wrong
