"""Recorded answers of Anthropic: what they say, in which chunks."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from partita.formats.losses import content_losses
from partita.stream.accumulator import accumulate
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object, loads
from partita.types.messages import UserMessage
from tests.formats.anthropic_talks import build_request
from tests.provider_truth.reading import chunks_of, truth_of
from tests.recordings import answers, name_of, sdk_chunks, truth_about

FAMILY: Final = "anthropic"


# What they say


def compared(field: str, ours: Json, truth: Json) -> tuple[Json, Json]:
    """Both in one shape: several reasons may be right, and the words of an input are not always known."""
    if field == "finish":
        return (ours["raw"], ours["unified"] in truth["accept"]), (truth["raw"], True)
    if field == "tool_calls":
        return known_words(ours, truth), truth
    if field == "usage" and is_object(ours) and is_object(truth):
        return {"billed": None, **ours}, truth
    return ours, truth


def known_words(ours: list[JsonObject], truth: list[JsonObject]) -> list[JsonObject]:
    """Calls without the words of their inputs where the truth has none."""
    unknown = [not call["raw"] for call in truth] + [False] * len(ours)
    return [
        {**call, "raw": truth[place]["raw"]} if unknown[place] else call for place, call in enumerate(ours)
    ]


def test_every_recording_says_what_it_says() -> None:
    wrong: dict[str, Json] = {}
    for path in answers(FAMILY):
        told, truth = truth_of(FAMILY, path), truth_about(path)
        for field in truth.keys() - {"ambiguous"}:
            ours, expected = compared(field, told.get(field), truth[field])
            if ours != expected and "ambiguous" not in truth:
                wrong[f"{name_of(path)}.{field}"] = (ours, expected)
    assert not wrong


# The AI SDK's chunks

Chunks: TypeAlias = list[JsonObject]

LEFT_OUT: Final[Mapping[str, str]] = {
    "vai-spliced-message-start": "two generations in one stream: they stop at the second, we read it",
}
OWN_METADATA: Final = ("serverTool", "behind", "rawInput", "fields")


def without_beginning(chunks: Chunks) -> Chunks:
    """The id, model and counts of the beginning are in the metadata of our end."""
    return [chunk for chunk in chunks if chunk.get("kind") != "anthropic.message_start"]


def without_compaction(chunks: Chunks) -> Chunks:
    """A compaction is no text of the answer: ours is a custom chunk."""
    ids = [chunk["id"] for chunk in chunks if own(chunk).get("type") == "compaction" and "id" in chunk]
    kept = [chunk for chunk in chunks if not (chunk["type"].startswith("text") and chunk["id"] in ids)]
    return [chunk for chunk in kept if chunk.get("kind") != "anthropic.compaction"]


def with_real_names(chunks: Chunks) -> Chunks:
    """Tools of code execution keep their names and inputs: theirs are folded into one, with a mark inside."""
    marks: dict[str, str] = {}
    for chunk in chunks:
        if chunk["type"] == "tool-input-available" and chunk["toolName"] == "code_execution":
            marks[chunk["toolCallId"]] = chunk["input"].get("type", "")
    return [unmarked(chunk, marks.get(chunk.get("toolCallId", ""), "")) for chunk in chunks]


def unmarked(chunk: JsonObject, mark: str) -> JsonObject:
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
    """Our outputs are whole: theirs lack what the package does not know."""
    return [{**chunk, "output": known(chunk["output"])} if "output" in chunk else chunk for chunk in chunks]


def known(output: Json) -> Json:
    unknown = ("abort_reason", "error_message")
    return {key: output[key] for key in output if key not in unknown} if is_object(output) else output


def without_fetched_pages(chunks: Chunks) -> Chunks:
    """A page that was fetched is a source: theirs tell only pages that were found."""
    return [chunk for chunk in chunks if "retrievedAt" not in own(chunk)]


def without_remote_inputs(chunks: Chunks) -> Chunks:
    """Inputs of remote servers are written like others: theirs are empty, and nothing of them streams."""
    remote = {chunk["toolCallId"] for chunk in chunks if chunk.get("dynamic") and "toolCallId" in chunk}
    written = ("tool-input-start", "tool-input-delta")
    kept = [chunk for chunk in chunks if chunk["type"] not in written or chunk["toolCallId"] not in remote]
    return [{**chunk, "input": "?"} if chunk.get("dynamic") and "input" in chunk else chunk for chunk in kept]


def without_late_ends(chunks: Chunks) -> Chunks:
    """A text that an error cut is closed: theirs stays open for good."""
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
"""Where we differ from the AI SDK on purpose; each says why."""


def own(chunk: JsonObject) -> JsonObject:
    return dict(chunk.get("providerMetadata", {}).get("anthropic", {}))


def told(chunks: Chunks) -> Chunks:
    """Chunks as they are compared: without invented ids, and without the metadata of the end."""
    for change in DEVIATIONS:
        chunks = change(chunks)
    return [plain(chunk) for chunk in chunks]


def plain(chunk: JsonObject) -> JsonObject:
    if chunk["type"] in ("start", "finish"):
        return {"type": chunk["type"], "finishReason": chunk.get("finishReason")}
    fields = {key: item for key, item in chunk.items() if key not in ("sourceId", "providerMetadata")}
    metadata = {key: item for key, item in own(chunk).items() if key not in OWN_METADATA}
    return {**fields, "metadata": metadata}


def test_chunks_are_those_of_the_ai_sdk_but_for_what_is_told_here() -> None:
    wrong: dict[str, Json] = {}
    for path in answers(FAMILY, ".jsonl"):
        theirs = told(sdk_chunks(path))
        ours = told([to_json(chunk) for chunk in chunks_of(FAMILY, path)[0]])
        if ours != theirs and path.stem not in LEFT_OUT:
            pairs = zip(ours, theirs, strict=False)
            wrong[path.stem] = next((pair for pair in pairs if pair[0] != pair[1]), (len(ours), len(theirs)))
    assert not wrong


# And back

SERVED: Final[JsonObject] = {
    "tools": [{"name": name} for name in ("advisor", "tool_search_tool_regex", "tool_search_tool_bm25")]
}


def without_empty(block: JsonObject) -> JsonObject:
    return {key: item for key, item in block.items() if key != "citations" or item}


def test_every_body_goes_back_as_it_came() -> None:
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
