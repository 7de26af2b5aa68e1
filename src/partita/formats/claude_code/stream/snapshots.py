"""`assistant` messages: whole blocks of an answer, mostly of one that has streamed in already.

A block is met with what was told of it by its kind and its words, not by its place: the CLI sends the blocks
of one answer one by one, sometimes in another order than they were begun in, sometimes before they ended.
"""

from collections.abc import Sequence
from typing import Final

from partita.formats.claude_code.blocks import block_chunks, call_facts, rest_of
from partita.formats.claude_code.wire import RESULT
from partita.types.chunks import DataChunk
from partita.types.json import Json, JsonObject, is_array, is_object

from .looking import same, strings
from .passage import KINDS, WORDS, Passage
from .response import Response
from .speaker import SYNTHETIC, Speaker
from .turn import Turn

CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})

ENVELOPE: Final = frozenset(
    {
        *("type", "message", "parent_tool_use_id", "uuid", "session_id", "timestamp", "error"),
        *("agent_id", "subagent_type", "task_description"),
    }
)
"""Fields of an `assistant` message that are read, or say nothing of the answer."""

ABOUT: Final = {"agent_id": "agentId", "subagent_type": "subagentType", "task_description": "taskDescription"}
"""What a message says of the sub-agent that sent it."""

NOTED: Final = {
    "model": "model",
    "stop_reason": "stopReason",
    "stop_sequence": "stopSequence",
    "stop_details": "stopDetails",
    "container": "container",
    "context_management": "contextManagement",
}
RENAMED: Final = {"request_id": "requestId"}
"""What is noted of an answer: fields of the API's message, and of the message around it."""


def take_snapshot(turn: Turn, event: JsonObject) -> None:
    """Take an `assistant` message."""
    message = event.get("message")
    content = message.get("content") if is_object(message) else None
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not is_object(message) or not is_array(content):
        turn.outlet.puzzle(event)
        return
    if not turn.is_new(event):
        return
    turn.take_back(set(strings(event.get("supersedes"))))
    speaker = turn.speaker(event.get("parent_tool_use_id"))
    if speaker is None:
        turn.outlet.tell("retracted", event)
        return
    response = _response(turn, speaker, event, message)
    response.uuids.update(strings([event.get("uuid")]))
    _note(response, event, message)
    aborted = event.get("aborted") is True
    turn.is_interrupted |= aborted
    for block in _new(response, content):
        place(turn, speaker, response, block, aborted=aborted)
    if event.get("error") is not None:
        turn.outlet.tell("error", event)


def place(turn: Turn, speaker: Speaker, response: Response, block: Json, *, aborted: bool = False) -> None:
    """Tell what is not told yet of a whole block."""
    kind = block.get("type") if is_object(block) else None
    if not is_object(block) or not isinstance(kind, str):
        turn.outlet.puzzle(block, speaker.path)
    elif kind in KINDS and isinstance(block.get(WORDS.get(kind, "data")), str):
        _place_passage(speaker, response, block, kind, aborted=aborted)
    elif kind in CALLS and (facts := call_facts(block)) is not None:
        turn.whole(block, facts, speaker, is_late=response is not speaker.response)
    elif any(same(block, told) for told in response.told):
        response.told = [told for told in response.told if not same(block, told)]
    else:
        show(turn, speaker, block)


def show(turn: Turn, speaker: Speaker, block: JsonObject) -> None:
    """Tell a block that comes in one piece: a result, a picture, a notice, or something unknown."""
    chunks = block_chunks(block, "")
    if chunks is None:
        turn.outlet.puzzle(block, speaker.path)
    elif str(block["type"]).endswith(RESULT):
        turn.end_served(block, chunks)
    else:
        for chunk in chunks:
            turn.outlet.emit(chunk, speaker.path)


def fields_of(block: JsonObject) -> JsonObject:
    """What a block of words says beside them. An empty signature is none yet."""
    if block.get("type") == "redacted_thinking":
        return {"redactedData": block["data"], **rest_of(block, "type", "data")}
    fields = rest_of(block, "type", "text", "thinking", "citations")
    return {key: value for key, value in fields.items() if key != "signature" or value}


def _place_passage(
    speaker: Speaker, response: Response, block: JsonObject, kind: str, *, aborted: bool
) -> None:
    words = block[WORDS[kind]] if kind in WORDS else ""
    fields, cited = fields_of(block), block.get("citations")
    citations: list[Json] = cited if is_array(cited) else []
    passage = _find(response, block, words, fields)
    if passage is None:
        passage = speaker.open(KINDS[kind], fields if kind == "redacted_thinking" else None)
    told = passage.state == "ended"
    is_news = not passage.knows(fields, citations)
    passage = speaker.say(passage, passage.confirm(words, fields, citations))
    passage.confirmed = True
    speaker.end(passage, aborted=aborted)
    if told and is_news:
        speaker.outlet.emit(DataChunk("data-claude-block", block), speaker.path)


def _find(response: Response, block: JsonObject, words: str, fields: JsonObject) -> Passage | None:
    """The passage that a block is of: one told word for word, else one that it goes on with."""
    kind = KINDS[block["type"]]
    waiting = [one for one in response.passages if one.kind == kind and not one.confirmed]
    exact = (one for one in waiting if words and one.words == words)
    return next(exact, None) or next((one for one in waiting if one.is_of(words, fields)), None)


def _response(turn: Turn, speaker: Speaker, event: JsonObject, message: JsonObject) -> Response:
    """The answer that a message is of: when no model wrote it, or without an id, the current one.

    Without ids, results tell where an answer ends: what comes after the result of a call is another answer.
    """
    message_id, current = message.get("id"), speaker.response
    message_id = message_id if isinstance(message_id, str) else None
    is_unnamed = current is not None and message_id is None and current.id is None and not current.streamed
    if is_unnamed and speaker.has_results and message.get("model") != SYNTHETIC:
        return speaker.answer(None, streamed=False, model=message.get("model"))
    if current is not None and (message_id is None or current.id in (message_id, None)):
        current.id = message_id or current.id
        return current
    earlier = speaker.earlier
    if earlier is not None and earlier.streamed and earlier.id == message_id and message_id is not None:
        return earlier
    unwritten = message.get("model") == SYNTHETIC or event.get("aborted") is True
    if current is not None and unwritten and speaker.is_stuck:
        return current
    about = {name: event[key] for key, name in ABOUT.items() if event.get(key) is not None}
    turn.make_room(speaker)
    return speaker.answer(message_id, streamed=False, model=message.get("model"), about=about)


def _new(response: Response, content: Sequence[Json]) -> Sequence[Json]:
    """The blocks that a message adds: some senders repeat all blocks of the answer in every message."""
    known = response.blocks
    if known and len(content) >= max(len(known), 2) and same(list(content[: len(known)]), known):
        content = content[len(known) :]
    response.blocks.extend(content)
    return content


def _note(response: Response, event: JsonObject, message: JsonObject) -> None:
    response.count(message.get("usage"))
    response.note({name: message.get(key) for key, name in NOTED.items() if message.get(key) != SYNTHETIC})
    response.note({RENAMED.get(key, key): event[key] for key in event.keys() - ENVELOPE})
