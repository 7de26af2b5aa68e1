"""`stream_event` messages: the API's own events, one piece of an answer each."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from partita.formats.claude_code.blocks import call_facts
from partita.types.json import JsonObject, is_array, is_object

from .call import Call, input_of
from .passage import KINDS, WORDS, Kind, Passage
from .snapshots import CALLS, NOTED, fields_of, place, show
from .speaker import Speaker
from .turn import Turn

Take: TypeAlias = Callable[[Turn, Speaker, JsonObject], bool]
"""Takes an event; whether it was understood."""

DELTAS: Final[Mapping[str, tuple[str, Kind]]] = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "reasoning"),
}
"""Deltas of words: the field that holds them, and what they are."""


def take_event(turn: Turn, event: JsonObject) -> None:
    """Take a `stream_event` message."""
    inner = event.get("event")
    kind = inner.get("type") if is_object(inner) else None
    take = EVENTS.get(kind) if isinstance(kind, str) else None
    speaker = turn.speaker(event.get("parent_tool_use_id"))
    if speaker is None:
        turn.outlet.tell("retracted", event)
    elif take is None or not is_object(inner) or not take(turn, speaker, inner):
        turn.outlet.puzzle(event, speaker.path)
    elif speaker.response is not None and "ttft_ms" in event:
        speaker.response.note({"ttftMs": event["ttft_ms"]})


def _message_start(turn: Turn, speaker: Speaker, event: JsonObject) -> bool:
    message, current = event.get("message"), speaker.response
    if not is_object(message):
        return False
    message_id = message.get("id")
    message_id = message_id if isinstance(message_id, str) else None
    is_next = message_id is None and speaker.has_results
    if current is None or current.stopped or current.id != message_id or is_next:
        turn.make_room(speaker)
        current = speaker.answer(message_id, streamed=True, model=message.get("model"))
    current.streamed = True
    current.count(message.get("usage"))
    current.note({name: message.get(key) for key, name in NOTED.items()})
    content = message.get("content")
    for block in content if is_array(content) else ():
        place(turn, speaker, current, block)
    return True


def _block_start(turn: Turn, speaker: Speaker, event: JsonObject) -> bool:
    block, index = event.get("content_block"), event.get("index")
    kind = block.get("type") if is_object(block) else None
    if not is_object(block) or not isinstance(kind, str) or not isinstance(index, int):
        return False
    response = speaker.response or speaker.answer(None, streamed=False)
    before = response.places.pop(index, None)
    if isinstance(before, Passage):
        speaker.end(before)
    if kind in KINDS and isinstance(block.get(WORDS.get(kind, "data")), str):
        response.places[index] = _open(speaker, block, kind)
    elif kind in CALLS and (facts := call_facts(block)) is not None:
        call = turn.calls.get(facts.call_id)
        if call is None or not turn.is_begun(call, speaker):
            call = turn.begin(facts, speaker)
            call.input = input_of(block)
            turn.emit(call, call.start())
        response.places[index] = call
    elif kind == "compaction":
        response.places[index] = dict(block)
    else:
        response.told.append(block)
        show(turn, speaker, block)
    return True


def _open(speaker: Speaker, block: JsonObject, kind: str) -> Passage:
    """A passage begins, mostly without words. Redacted reasoning comes in one piece."""
    redacted = kind == "redacted_thinking"
    passage = speaker.open(KINDS[kind], fields_of(block) if redacted else None)
    if redacted:
        speaker.end(passage)
        return passage
    passage.fields.update(fields_of(block))
    citations = block.get("citations")
    for citation in citations if is_array(citations) else ():
        passage.cite(citation)
    return speaker.say(passage, passage.hear(block[WORDS[kind]]))


def _block_delta(turn: Turn, speaker: Speaker, event: JsonObject) -> bool:
    delta, index = event.get("delta"), event.get("index")
    kind = delta.get("type") if is_object(delta) else None
    if not is_object(delta) or not isinstance(kind, str) or not isinstance(index, int):
        return False
    response = speaker.response
    if kind in DELTAS:
        field, passage_kind = DELTAS[kind]
        words = delta.get(field)
        return isinstance(words, str) and _hear(speaker, index, words, passage_kind)
    place = None if response is None else response.places.get(index)
    if isinstance(place, Call) and kind == "input_json_delta":
        piece = delta.get("partial_json")
        turn.emit(place, place.hear(piece) if isinstance(piece, str) else None)
        return isinstance(piece, str)
    if isinstance(place, Passage):
        return _mark(place, kind, delta)
    if is_object(place) and kind == "compaction_delta":
        place.update({key: value for key, value in delta.items() if key != "type"})
        return True
    return False


def _hear(speaker: Speaker, index: int, words: str, kind: Kind) -> bool:
    """Add streamed words to their passage; one that nobody began begins here."""
    response = speaker.response or speaker.answer(None, streamed=False)
    passage = response.places.get(index)
    if passage is None:
        passage = speaker.open(kind)
    if not isinstance(passage, Passage) or passage.kind != kind:
        return False
    fresh = passage.hear(words)
    current = speaker.say(passage, fresh)
    if current is not passage:
        current.hear(fresh)
    response.places[index] = current
    return True


def _mark(passage: Passage, kind: str, delta: JsonObject) -> bool:
    """A signature or a citation for a passage. Once the whole block was there, it says nothing new."""
    match kind, delta:
        case "signature_delta", {"signature": str(signature)}:
            if passage.state != "ended" and signature:
                passage.fields["signature"] = signature
            return passage.state != "ended" or passage.confirmed
        case "citations_delta", {"citation": citation}:
            if passage.state != "ended":
                passage.cite(citation)
            return passage.state != "ended" or passage.confirmed
        case _:
            return False


def _block_stop(turn: Turn, speaker: Speaker, event: JsonObject) -> bool:
    index, response = event.get("index"), speaker.response
    if not isinstance(index, int) or response is None:
        return True
    place = response.places.get(index)
    if isinstance(place, Passage):
        speaker.stop(place)
    elif isinstance(place, Call):
        turn.emit(place, place.stop())
    elif place is not None:
        del response.places[index]
        response.told.append(place)
        show(turn, speaker, place)
    return True


def _message_delta(turn: Turn, speaker: Speaker, event: JsonObject) -> bool:
    delta, response = event.get("delta"), speaker.response
    if response is None:
        return False
    response.count(event.get("usage"), adds=True)
    response.note({"contextManagement": event.get("context_management")})
    if is_object(delta):
        response.note({name: delta.get(key) for key, name in NOTED.items()})
        response.stopped |= delta.get("stop_reason") is not None
    return True


def _message_stop(turn: Turn, speaker: Speaker, event: JsonObject) -> bool:
    if speaker.response is not None:
        speaker.response.stopped = True
        speaker.end_passages()
    return True


def _ping(turn: Turn, speaker: Speaker, event: JsonObject) -> bool:
    return True


def _error(turn: Turn, speaker: Speaker, event: JsonObject) -> bool:
    turn.outlet.tell("api-error", event)
    return True


EVENTS: Final[Mapping[str, Take]] = {
    "message_start": _message_start,
    "content_block_start": _block_start,
    "content_block_delta": _block_delta,
    "content_block_stop": _block_stop,
    "message_delta": _message_delta,
    "message_stop": _message_stop,
    "ping": _ping,
    "error": _error,
}
