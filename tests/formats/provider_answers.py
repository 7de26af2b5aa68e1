"""What tests of recorded answers have in common: the comparison with what is known about them."""

from collections.abc import Mapping

from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object
from tests.provider_truth.reading import chunks_of, truth_of
from tests.recordings import answers, name_of, sdk_chunks, truth_about


def wrong_fields(family: str) -> Mapping[str, Json]:
    """What we read in recorded answers, and what is known about them, where the two differ."""
    wrong: dict[str, Json] = {}
    for path in answers(family):
        found, truth = truth_of(family, path), truth_about(path)
        for field in truth.keys() - {"ambiguous"}:
            ours, expected = _compared(field, found.get(field), truth[field])
            if field == "tool_calls" and path.name.endswith(".response.json"):
                ours, expected = _inputs(ours), _inputs(expected)  # of a body, the text is residue
            if ours != expected and "ambiguous" not in truth:
                wrong[f"{name_of(path)}.{field}"] = (ours, expected)
    return wrong


def _compared(field: str, ours: Json, truth: Json) -> tuple[Json, Json]:
    """Both in one shape."""
    match field:
        case "finish":
            reason = "other" if ours["unified"] == "interrupted" else ours["unified"]
            return (ours["raw"], reason in truth["accept"]), (truth["raw"], True)
        case "tool_calls":
            return _known_texts(ours, truth), truth
        case "usage" if is_object(ours) and is_object(truth):
            return {"billed": None, **ours}, {**truth, "billed": _billed(truth["billed"])}
        case "cited_ids":
            return ours, sorted(truth)
        case "reasoning_parts":
            return ours, [text for text in truth if text]
        case _:
            return ours, truth


def _inputs(calls: list[JsonObject]) -> Json:
    return [{key: item for key, item in call.items() if key != "raw"} for call in calls]


def _billed(units: Json) -> Json:
    """What is billed, under our names."""
    if not is_object(units) or "input_tokens" not in units:
        return units
    return {"input": units["input_tokens"], "output": units["output_tokens"]}


def _known_texts(ours: list[JsonObject], truth: list[JsonObject]) -> list[JsonObject]:
    """Calls without the text of their inputs where the truth has none."""
    unknown = [not call["raw"] for call in truth] + [False] * len(ours)
    return [
        {**call, "raw": truth[place]["raw"]} if unknown[place] else call for place, call in enumerate(ours)
    ]


def unlike_sdk(family: str, left_out: frozenset[str]) -> Mapping[str, Json]:
    """Streams whose chunks, without metadata, are not those of the AI SDK, with the first that differ."""
    wrong: dict[str, Json] = {}
    for path in answers(family, ".jsonl"):
        if path.stem in left_out:
            continue
        theirs = [_plain(chunk) for chunk in sdk_chunks(path) if not _is_left_out(chunk)]
        found = [to_json(chunk) for chunk in chunks_of(family, path)[0]]
        ours = [_plain(chunk) for chunk in found if not _is_left_out(chunk)]
        if ours != theirs:
            pairs = zip(ours, theirs, strict=False)
            wrong[path.stem] = next((pair for pair in pairs if pair[0] != pair[1]), (len(ours), len(theirs)))
    return wrong


def _is_left_out(chunk: JsonObject) -> bool:
    """Chunks that only one of us has: each says why."""
    return (
        chunk["type"] in ("text-end", "reasoning-end")  # theirs are missing where a stream was cut
        or chunk.get("inputTextDelta") == ""  # theirs have empty deltas
        or chunk.get("id") == "toolPlan"  # they drop tool plans
        or (chunk["type"] == "error" and "generation" in chunk["errorText"])  # they drop errors of Cohere
    )


def _plain(chunk: JsonObject) -> JsonObject:
    if chunk["type"] in ("start", "finish"):
        return {"type": chunk["type"]}
    return {key: item for key, item in chunk.items() if key not in ("providerMetadata", "citations")}
