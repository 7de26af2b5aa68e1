"""Comparison of recorded provider responses with known facts."""

from collections.abc import Mapping

from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object
from tests.provider_truth.reading import chunks_of, truth_of
from tests.recordings import answers, name_of, sdk_chunks, truth_about


def wrong_fields(family: str) -> Mapping[str, Json]:
    """Return the fields in which our reading differs from the known facts."""
    wrong: dict[str, Json] = {}
    for path in answers(family):
        found, truth = truth_of(family, path), truth_about(path)
        for field in truth.keys() - {"ambiguous"}:
            ours, expected = _compared(field, found.get(field), truth[field])
            if field == "tool_calls" and path.name.endswith(".response.json"):
                ours, expected = _inputs(ours), _inputs(expected)  # bodies do not have the original text
            if ours != expected and "ambiguous" not in truth:
                wrong[f"{name_of(path)}.{field}"] = (ours, expected)
    return wrong


def _compared(field: str, ours: Json, truth: Json) -> tuple[Json, Json]:
    """Return both values in one shape."""
    match field:
        case "finish":
            reason = "other" if ours["unified"] == "interrupted" else ours["unified"]
            return (ours["raw"], reason in truth["accept"]), (truth["raw"], True)
        case "tool_calls":
            return with_known_inputs(ours, truth), truth
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
    """Return the billed units under our names."""
    if not is_object(units) or "input_tokens" not in units:
        return units
    return {"input": units["input_tokens"], "output": units["output_tokens"]}


def with_known_inputs(ours: list[JsonObject], truth: list[JsonObject]) -> list[JsonObject]:
    """Return the calls, without input text where the truth has none."""
    unknown = [not call["raw"] for call in truth] + [False] * len(ours)
    return [
        {**call, "raw": truth[place]["raw"]} if unknown[place] else call for place, call in enumerate(ours)
    ]


def differences_from_sdk(family: str, excluded: frozenset[str]) -> Mapping[str, Json]:
    """Return the first different chunks, without metadata, of streams that the AI SDK reads differently."""
    wrong: dict[str, Json] = {}
    for path in answers(family, ".jsonl"):
        if path.stem in excluded:
            continue
        theirs = [_plain(chunk) for chunk in sdk_chunks(path) if not _is_excluded(chunk)]
        found = [to_json(chunk) for chunk in chunks_of(family, path)[0]]
        ours = [_plain(chunk) for chunk in found if not _is_excluded(chunk)]
        if ours != theirs:
            pairs = zip(ours, theirs, strict=False)
            wrong[path.stem] = next((pair for pair in pairs if pair[0] != pair[1]), (len(ours), len(theirs)))
    return wrong


def _is_excluded(chunk: JsonObject) -> bool:
    """Return whether only one side has this chunk; each comment gives the reason."""
    return (
        chunk["type"] in ("text-end", "reasoning-end")  # missing in the SDK when a stream is interrupted
        or chunk.get("inputTextDelta") == ""  # the SDK sends empty deltas
        or chunk.get("id") == "toolPlan"  # the SDK drops tool plans
        or (chunk["type"] == "error" and "generation" in chunk["errorText"])  # the SDK drops errors of Cohere
    )


def _plain(chunk: JsonObject) -> JsonObject:
    if chunk["type"] in ("start", "finish"):
        return {"type": chunk["type"]}
    return {key: item for key, item in chunk.items() if key not in ("providerMetadata", "citations")}
