"""Recorded answers of Responses servers: their truth, and the AI SDK."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from partita.formats.model_view import model_view
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import UserMessage
from tests.decoding import accumulated
from tests.formats.openai_responses_answers import decode
from tests.formats.openai_responses_requests import build_request
from tests.provider_truth.reading import chunks_of, truth_of
from tests.recordings import answers, cases_in, sdk_chunks, sdk_package, truth_about

FAMILY: Final = "openai-responses"


def test_every_recording_is_read_as_it_was_meant() -> None:
    wrong = {
        path.name: told
        for path in answers(FAMILY)
        if (told := untrue(truth_of(FAMILY, path), truth_about(path)))
    }
    assert not wrong


def untrue(ours: JsonObject, truth: JsonObject) -> JsonObject:
    """The fields in which our reading differs."""
    if truth.get("ambiguous"):
        return {}
    return {
        name: (ours.get(name), true) for name, true in truth.items() if not fits(name, ours.get(name), true)
    }


def fits(name: str, ours: Json, true: Json) -> bool:
    match name:
        case "n_events":
            return ours in (None, true)  # a whole body has no events
        case "finish":
            return ours["raw"] == true["raw"] and ours["unified"] in true["accept"]
        case "server_tools" | "tool_calls":
            return len(ours) == len(true) and all(map(is_call, ours, true))
        case _:
            return bool(ours == true)


def is_call(ours: JsonObject, true: JsonObject) -> bool:
    """Whether a call is the one it should be. Words that never were on the wire are none: `raw` is null."""
    return all(ours[name] == said for name, said in true.items() if (name, said) != ("raw", None))


# What we tell otherwise than the AI SDK does, and why. Each rule changes one side until both must agree.

Change: TypeAlias = Callable[[JsonObject], JsonObject | None]

WRAPPERS: Final = ("operation", "action", "arguments")


def _unwrap(chunk: JsonObject) -> JsonObject:
    """Theirs: `{callId, operation}`, `{action}`, `{arguments, call_id}`."""
    given = chunk.get("input")
    inner = [given[name] for name in WRAPPERS if is_object(given.get(name))] if is_object(given) else []
    return {**chunk, "input": inner[0]} if inner else chunk


def _unwrap_words(chunk: JsonObject) -> JsonObject:
    words = chunk.get("inputTextDelta")
    if not isinstance(words, str) or chunk["type"] != "tool-input-delta":
        return chunk
    _, found, operation = words.partition(',"operation":')
    return {**chunk, "inputTextDelta": operation if found else '"}' if words == '"}}' else words}


def _name_plainly(chunk: JsonObject) -> JsonObject:
    return {**chunk, "toolName": chunk["toolName"].removeprefix("mcp.")} if "toolName" in chunk else chunk


def _accept_program(chunk: JsonObject) -> JsonObject:
    if chunk.get("toolName") != "programmatic_tool_calling":
        return chunk
    kept = {name: said for name, said in chunk.items() if name not in ("errorText", "dynamic")}
    return {**kept, "type": "tool-input-available"}


def _end_in_calls(chunk: JsonObject) -> JsonObject:
    return {**chunk, "finishReason": "?"} if chunk.get("finishReason") in ("stop", "tool-calls") else chunk


THEIRS: Final[Mapping[str, Change]] = {
    "the input of a built-in tool is what the item says: the truth has no wrapper": _unwrap,
    "so are its words while they come": _unwrap_words,
    "a tool of an MCP server has the name it has there: the truth says so": _name_plainly,
    "a program needs no declared tool": _accept_program,
}


def _plain_picture(chunk: JsonObject) -> JsonObject:
    return {name: said for name, said in chunk.items() if name != "preliminary"}


def _no_file(chunk: JsonObject) -> JsonObject | None:
    return None if chunk["type"] == "file" else chunk


def _no_list(chunk: JsonObject) -> JsonObject | None:
    return None if chunk.get("kind") == "openai.mcp_list_tools" else chunk


def _plain_shell(chunk: JsonObject) -> JsonObject:
    """Theirs learns from the output who runs a shell, and leaves out the limits of the call."""
    if chunk.get("toolName") != "shell":
        return chunk
    plain = {name: said for name, said in chunk.items() if name != "providerExecuted"}
    return {**plain, "input": {"commands": chunk["input"]["commands"]}}


OURS: Final[Mapping[str, Change]] = {
    "a picture that is not ready says so": _plain_picture,
    "a picture is a file too: the truth counts files": _no_file,
    "the tools of a server are kept, for they go back with the next request": _no_list,
    "a shell in a container is the provider's from the start, and keeps its limits": _plain_shell,
}

ENDS: Final[Mapping[str, str]] = {
    "vai-openai-client-tool-search-1": "a search for tools that the client runs is a call to run",
    "pai-openai-client-tool-search-streaming-s1": "a search for tools that the client runs is a call to run",
}
"""Recordings that end for another reason with us."""

ELSEWHERE: Final[Mapping[str, str]] = {
    "responses-failed": "theirs throws before the message begins; ours ends it",
    "vai-openai-error-1": "theirs throws before the message begins; ours ends it",
    "vai-xai-web-search-tool-1": "their package for xAI tells sources twice, inside the text, and no input",
}
"""Recordings that cannot be compared chunk by chunk."""


def _as_openai(chunk: JsonObject) -> JsonObject:
    """A chunk of their packages for other servers: other ids for parts, another namespace, less metadata."""
    plain = {name: said for name, said in chunk.items() if name != "providerMetadata"}
    if "id" in plain:
        plain["id"] = str(plain["id"]).removeprefix("reasoning-").removeprefix("text-").removesuffix(":0")
    spaces: JsonObject = chunk.get("providerMetadata") or {}
    item = [space["itemId"] for space in spaces.values() if "itemId" in space]
    return {**plain, "item": item[0]} if item and chunk["type"] == "reasoning-end" else plain


def compared(path: Path) -> tuple[list[JsonObject], list[JsonObject]]:
    """Their chunks and ours, changed until they must be equal."""
    package = sdk_package(path)
    theirs = list(changed(sdk_chunks(path), THEIRS))
    chunks, _ = chunks_of(FAMILY, path)
    ours = list(changed(map(to_json, chunks), OURS))
    if path.stem in ENDS:
        theirs, ours = [*map(_end_in_calls, theirs)], [*map(_end_in_calls, ours)]
    if not package.startswith("@ai-sdk/openai "):
        theirs, ours = [*map(_as_openai, theirs)], [*map(_as_openai, ours)]
    if package == "@ai-sdk/open-responses":  # it tells calls only when they are whole
        ours = [chunk for chunk in ours if chunk["type"] not in ("tool-input-start", "tool-input-delta")]
    return theirs, ours


def changed(chunks: Iterable[JsonObject], changes: Mapping[str, Change]) -> Iterator[JsonObject]:
    for chunk in chunks:
        current: JsonObject | None = renumbered(chunk)
        for change in changes.values():
            current = None if current is None else change(current)
        if current is not None:
            yield current


def renumbered(chunk: JsonObject) -> JsonObject:
    """A chunk without invented ids and without the metadata of the message."""
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
    """Whether ours says all that theirs says. Provider metadata of ours may say more."""
    if is_object(theirs) and is_object(ours):
        if theirs.keys() - {"providerMetadata"} != ours.keys() - {"providerMetadata"}:
            return False
        return all(
            is_within(said, ours[name]) for name, said in theirs.items() if name != "providerMetadata"
        ) and (is_part(theirs.get("providerMetadata", {}), ours.get("providerMetadata", {})))
    if is_array(theirs) and is_array(ours):
        return len(theirs) == len(ours) and all(map(is_within, theirs, ours))
    return bool(theirs == ours)


def is_part(theirs: Json, ours: Json) -> bool:
    if is_object(theirs) and is_object(ours):
        return all(name in ours and is_part(said, ours[name]) for name, said in theirs.items())
    return bool(theirs == ours)


def test_every_stream_gives_the_chunks_of_the_ai_sdk() -> None:
    wrong: dict[str, Json] = {}
    for path in answers(FAMILY, ".jsonl"):
        if path.stem not in ELSEWHERE:
            theirs, ours = compared(path)
            differing = [pair for pair in zip(theirs, ours, strict=False) if not is_within(*pair)]
            if differing or len(theirs) != len(ours):
                wrong[path.stem] = (len(theirs), len(ours), differing[:1])
    assert not wrong


def test_what_only_the_provider_can_read_goes_back_byte_for_byte() -> None:
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
