"""Recorded responses of Responses servers compared with known facts and with the AI SDK."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from partita.formats.model_view import model_view
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import UserMessage
from tests.decoding import accumulated
from tests.formats.openai_responses_requests import build_request
from tests.formats.openai_responses_samples import decode
from tests.provider_truth.reading import chunks_of, truth_of
from tests.recordings import answers, cases_in, sdk_chunks, sdk_package, truth_about

FAMILY: Final = "openai-responses"


def test_every_recording_is_read_correctly() -> None:
    wrong = {
        path.name: wrong_fields
        for path in answers(FAMILY)
        if (wrong_fields := differences(truth_of(FAMILY, path), truth_about(path)))
    }
    assert not wrong


def differences(ours: JsonObject, truth: JsonObject) -> JsonObject:
    """Return the fields that differ."""
    if truth.get("ambiguous"):
        return {}
    return {
        name: (ours.get(name), truth)
        for name, truth in truth.items()
        if not is_equal(name, ours.get(name), truth)
    }


def is_equal(name: str, ours: Json, truth: Json) -> bool:
    match name:
        case "n_events":
            return ours in (None, truth)  # a body has no events
        case "finish":
            return ours["raw"] == truth["raw"] and ours["unified"] in truth["accept"]
        case "server_tools" | "tool_calls":
            return len(ours) == len(truth) and all(map(is_equal_call, ours, truth))
        case _:
            return bool(ours == truth)


def is_equal_call(ours: JsonObject, truth: JsonObject) -> bool:
    """Return whether calls are equal. Input text that the server did not send is null in the truth."""
    return all(ours[name] == value for name, value in truth.items() if (name, value) != ("raw", None))


# Intended deviations from the AI SDK. Each rule changes one side so that both must be equal.

Change: TypeAlias = Callable[[JsonObject], JsonObject | None]

WRAPPERS: Final = ("operation", "action", "arguments")


def _unwrap(chunk: JsonObject) -> JsonObject:
    """The AI SDK writes `{callId, operation}`, `{action}` or `{arguments, call_id}`."""
    given = chunk.get("input")
    inner = [given[name] for name in WRAPPERS if is_object(given.get(name))] if is_object(given) else []
    return {**chunk, "input": inner[0]} if inner else chunk


def _unwrap_text(chunk: JsonObject) -> JsonObject:
    text = chunk.get("inputTextDelta")
    if not isinstance(text, str) or chunk["type"] != "tool-input-delta":
        return chunk
    _, found, operation = text.partition(',"operation":')
    return {**chunk, "inputTextDelta": operation if found else '"}' if text == '"}}' else text}


def _without_mcp_prefix(chunk: JsonObject) -> JsonObject:
    return {**chunk, "toolName": chunk["toolName"].removeprefix("mcp.")} if "toolName" in chunk else chunk


def _accept_program(chunk: JsonObject) -> JsonObject:
    if chunk.get("toolName") != "programmatic_tool_calling":
        return chunk
    kept = {name: value for name, value in chunk.items() if name not in ("errorText", "dynamic")}
    return {**kept, "type": "tool-input-available"}


def _end_in_calls(chunk: JsonObject) -> JsonObject:
    return {**chunk, "finishReason": "?"} if chunk.get("finishReason") in ("stop", "tool-calls") else chunk


SDK_CHANGES: Final[Mapping[str, Change]] = {
    "the input of a built-in tool has no wrapper": _unwrap,
    "nor does its streamed input": _unwrap_text,
    "a tool of an MCP server has its original name": _without_mcp_prefix,
    "a program does not need a declared tool": _accept_program,
}


def _without_preliminary(chunk: JsonObject) -> JsonObject:
    return {name: value for name, value in chunk.items() if name != "preliminary"}


def _without_file(chunk: JsonObject) -> JsonObject | None:
    return None if chunk["type"] == "file" else chunk


def _without_tool_list(chunk: JsonObject) -> JsonObject | None:
    return None if chunk.get("kind") == "openai.mcp_list_tools" else chunk


def _plain_shell(chunk: JsonObject) -> JsonObject:
    """The SDK reads from the output where a shell runs, and drops the limits of the call."""
    if chunk.get("toolName") != "shell":
        return chunk
    plain = {name: value for name, value in chunk.items() if name != "providerExecuted"}
    return {**plain, "input": {"commands": chunk["input"]["commands"]}}


OUR_CHANGES: Final[Mapping[str, Change]] = {
    "an unfinished image is preliminary": _without_preliminary,
    "an image is also a file": _without_file,
    "the tools of a server are kept for the next request": _without_tool_list,
    "a shell in a container is provider-executed and keeps its limits": _plain_shell,
}

ENDS: Final[Mapping[str, str]] = {
    "vai-openai-client-tool-search-1": "a search for tools that the client runs is a call to run",
    "pai-openai-client-tool-search-streaming-s1": "a search for tools that the client runs is a call to run",
}
"""Recordings with a different finish reason."""

NOT_COMPARED: Final[Mapping[str, str]] = {
    "responses-failed": "theirs throws before the message begins; ours ends it",
    "vai-openai-error-1": "theirs throws before the message begins; ours ends it",
    "vai-xai-web-search-tool-1": "their package for xAI tells sources twice, inside the text, and no input",
}
"""Recordings that cannot be compared by chunk."""


def _as_openai(chunk: JsonObject) -> JsonObject:
    """Return a chunk of the SDK's packages for other servers with the ids of its OpenAI package."""
    plain = {name: value for name, value in chunk.items() if name != "providerMetadata"}
    if "id" in plain:
        plain["id"] = str(plain["id"]).removeprefix("reasoning-").removeprefix("text-").removesuffix(":0")
    spaces: JsonObject = chunk.get("providerMetadata") or {}
    item = [space["itemId"] for space in spaces.values() if "itemId" in space]
    return {**plain, "item": item[0]} if item and chunk["type"] == "reasoning-end" else plain


def compared(path: Path) -> tuple[list[JsonObject], list[JsonObject]]:
    """Return the chunks of the SDK and ours, changed so that they must be equal."""
    package = sdk_package(path)
    theirs = list(changed(sdk_chunks(path), SDK_CHANGES))
    chunks, _ = chunks_of(FAMILY, path)
    ours = list(changed(map(to_json, chunks), OUR_CHANGES))
    if path.stem in ENDS:
        theirs, ours = [*map(_end_in_calls, theirs)], [*map(_end_in_calls, ours)]
    if not package.startswith("@ai-sdk/openai "):
        theirs, ours = [*map(_as_openai, theirs)], [*map(_as_openai, ours)]
    if package == "@ai-sdk/open-responses":  # it does not stream calls
        ours = [chunk for chunk in ours if chunk["type"] not in ("tool-input-start", "tool-input-delta")]
    return theirs, ours


def changed(chunks: Iterable[JsonObject], changes: Mapping[str, Change]) -> Iterator[JsonObject]:
    for chunk in chunks:
        current: JsonObject | None = without_generated_ids(chunk)
        for change in changes.values():
            current = None if current is None else change(current)
        if current is not None:
            yield current


def without_generated_ids(chunk: JsonObject) -> JsonObject:
    """Return a chunk without generated ids and without the metadata of the message."""
    match chunk:
        case {"type": "start"}:
            return {"type": "start"}
        case {"type": "finish", "finishReason": reason}:
            return {"type": "finish", "finishReason": reason}
        case {"sourceId": _}:
            return {**chunk, "sourceId": "made"}
        case {"type": "tool-approval-request"}:
            return {**chunk, "toolCallId": "made"}
        case {"type": "tool-input-available", "toolCallId": str(call_id)} if call_id.startswith(
            ("made-", "mcpr_")
        ):
            return {**chunk, "toolCallId": "made"}
        case _:
            return chunk


def is_within(theirs: Json, ours: Json) -> bool:
    """Return whether our chunk contains that of the SDK. Our provider metadata may have more members."""
    if is_object(theirs) and is_object(ours):
        if theirs.keys() - {"providerMetadata"} != ours.keys() - {"providerMetadata"}:
            return False
        return all(
            is_within(value, ours[name]) for name, value in theirs.items() if name != "providerMetadata"
        ) and (is_part(theirs.get("providerMetadata", {}), ours.get("providerMetadata", {})))
    if is_array(theirs) and is_array(ours):
        return len(theirs) == len(ours) and all(map(is_within, theirs, ours))
    return bool(theirs == ours)


def is_part(theirs: Json, ours: Json) -> bool:
    if is_object(theirs) and is_object(ours):
        return all(name in ours and is_part(value, ours[name]) for name, value in theirs.items())
    return bool(theirs == ours)


def test_every_stream_gives_the_chunks_of_the_ai_sdk() -> None:
    wrong: dict[str, Json] = {}
    for path in answers(FAMILY, ".jsonl"):
        if path.stem not in NOT_COMPARED:
            theirs, ours = compared(path)
            differing = [pair for pair in zip(theirs, ours, strict=False) if not is_within(*pair)]
            if differing or len(theirs) != len(ours):
                wrong[path.stem] = (len(theirs), len(ours), differing[:1])
    assert not wrong


def test_encrypted_content_is_sent_back_unchanged() -> None:
    lost: dict[str, list[str]] = {}
    for path in answers(FAMILY, ".jsonl"):
        events = cases_in(path)
        items = [event["item"] for event in events if event.get("type") == "response.output_item.done"]
        opaque = [
            item[name] for item in items for name in ("encrypted_content", "fingerprint") if item.get(name)
        ]
        view = model_view([UserMessage(id="u", content="?"), accumulated(decode(events))]).messages
        sent = [item for item in build_request(view, model="m").payload["input"] if is_object(item)]
        back = [item[name] for item in sent for name in ("encrypted_content", "fingerprint") if name in item]
        if back != opaque:
            lost[path.stem] = opaque
    assert not lost
