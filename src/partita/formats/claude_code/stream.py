"""Claude Code's `stream-json`, and the messages of the Agent SDK → chunks.

One turn is one assistant message; each response of the model is a step in it. Whole messages and the partial
events of the same response may both come: nothing is emitted twice. Sub-agents are nested under the call that
started them. Unknown events become `data-claude-unknown`; no event makes the decoder fail.

Source: https://docs.claude.com/en/docs/agent-sdk/typescript#message-types
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import UNSET

from partita.formats.core.files import ANY_IMAGE
from partita.formats.core.members import is_equal, without
from partita.formats.losses import REPLACED, UNREAD, Loss
from partita.types.chunks import (
    ChildMessage,
    Chunk,
    DataChunk,
    MessageAbort,
    MessageFinish,
    SteeringMessageChunk,
)
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import UserMessage
from partita.types.parts import FilePart, ForeignPart, ImagePart, TextPart

from .blocks import block_chunks, call_facts
from .stream_control import NOTICE_READERS
from .stream_parts import (
    REPEATED,
    TEXT_KINDS,
    TEXT_MEMBERS,
    CallStream,
    ChunkEmitter,
    ResponseStream,
    TextKind,
    TextStream,
    strings,
)
from .stream_turn import AgentStream, Denial, Turn
from .user_content import INSERTED, INTERRUPTED, ContentPart, content_part
from .wire import ASSISTANT, CALLS, RESPONSE_NAMES, RESULT, SUB_AGENT_NAMES, SYNTHETIC

Read: TypeAlias = Callable[[Turn, JsonObject], None]
ReadEvent: TypeAlias = Callable[[Turn, AgentStream, JsonObject], bool]
"""Reads an event of the API; returns whether the event is known."""

NO_RESULT: Final = "the stream ended without a result"


class ClaudeStreamDecoder:
    """Decodes the events of one turn, and those after its result."""

    def __init__(self, message_id: str | None = None, *, with_losses: bool = False) -> None:
        """`message_id`: the id of the message in the chunks, if it is to have one.

        `with_losses`: report the parts of events that no chunk has, which needs memory.
        """
        self._emitter = ChunkEmitter(message_id, with_losses=with_losses)
        self._turn = Turn(self._emitter)
        self._count = 0

    @property
    def losses(self) -> Sequence[Loss]:
        """The parts of events that no chunk has, if they are reported."""
        return self._emitter.losses or ()

    def feed(self, event: Json) -> list[Chunk]:
        """The chunks of one event."""
        self._emitter.path = f"$[{self._count}]"
        self._count += 1
        kind = event.get("type") if is_object(event) else None
        read = READERS.get(kind) if isinstance(kind, str) else None
        if read is None or not is_object(event):
            self._emitter.emit_unknown(event)
        else:
            read(self._turn, event)
        return self._emitter.take()

    def finish(self) -> list[Chunk]:
        """The chunks that end what is open when the stream ends."""
        turn = self._turn
        if self._emitter.is_open:
            is_cut = turn.main.response is not None or not turn.has_result
            turn.finish()
            self._emitter.end(MessageAbort(NO_RESULT) if is_cut else MessageFinish())
        return self._emitter.take()


def report_envelope(turn: Turn, event: JsonObject, *known: str) -> None:
    """Report the members around an event that no chunk has."""
    named = (
        ("session_id",) if turn.session_id is not None and event.get("session_id") == turn.session_id else ()
    )
    turn.emitter.report_members(event, "", "type", "parent_tool_use_id", *named, *known)


# Events of the API

DELTAS: Final[Mapping[str, tuple[str, TextKind]]] = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "reasoning"),
}
"""Deltas of texts: the member with the text, and its kind."""

MESSAGE: Final = ("id", "type", "role", "content", "usage", *RESPONSE_NAMES)
"""Members of a response that are read."""


def _read_event(turn: Turn, event: JsonObject) -> None:
    """`stream_event`: an event of the API."""
    inner = event.get("event")
    kind = inner.get("type") if is_object(inner) else None
    read = EVENTS.get(kind) if isinstance(kind, str) else None
    agent = turn.agent(event.get("parent_tool_use_id"))
    if agent is None:
        turn.emitter.emit_data("retracted", event)
        return
    if read is None or not is_object(inner) or not read(turn, agent, inner):
        turn.emitter.emit_unknown(event, agent.path)
        return
    known: tuple[str, ...] = ("event",)
    if agent.response is not None:
        agent.response.set_facts(event, {"ttft_ms": "ttftMs"}, "")
        known = ("event", "ttft_ms")
    report_envelope(turn, event, *known)
    agent.remember(event)


def _message_start(turn: Turn, agent: AgentStream, event: JsonObject) -> bool:
    message, current = event.get("message"), agent.response
    if not is_object(message):
        return False
    message_id = message.get("id")
    message_id = message_id if isinstance(message_id, str) else None
    is_next = message_id is None and agent.has_results
    if current is None or current.stopped or current.id != message_id or is_next:
        turn.retract_stuck(agent)
        current = agent.begin_response(message_id, streamed=True, model=message.get("model"))
    current.streamed = True
    current.set_usage(message.get("usage"), ".event.message")
    current.set_facts(message, RESPONSE_NAMES, ".event.message")
    turn.emitter.report_members(event, ".event", "type", "message")
    _report_message(turn, message, ".event.message")
    content = message.get("content")
    for number, block in enumerate(content if is_array(content) else ()):
        _add_block(turn, agent, current, block, f".event.message.content[{number}]")
    return True


def _report_message(turn: Turn, message: JsonObject, location: str) -> None:
    turn.emitter.report_members(message, location, *MESSAGE)
    turn.emitter.report_unexpected(message, location, type="message", role="assistant")


def _block_start(turn: Turn, agent: AgentStream, event: JsonObject) -> bool:
    block, index = event.get("content_block"), event.get("index")
    kind = block.get("type") if is_object(block) else None
    if not is_object(block) or not isinstance(kind, str) or not isinstance(index, int):
        return False
    response = agent.response or agent.begin_response(None, streamed=False)
    turn.emitter.report_members(event, ".event", "type", "index", "content_block")
    before = response.open.pop(index, None)
    if isinstance(before, TextStream):
        agent.end(before)
    if kind in TEXT_KINDS and isinstance(block.get(TEXT_MEMBERS.get(kind, "data")), str):
        response.open[index] = _open_text(agent, block, kind)
    elif kind in CALLS and (facts := call_facts(block)) is not None:
        response.open[index] = _open_call(turn, agent, block, facts.call_id)
    elif kind == "compaction":
        response.open[index] = dict(block)
    else:
        response.emitted_blocks.append(block)
        _emit_block(turn, agent, block)
        turn.emitter.report_loss(".event.index", index, UNREAD)
    return True


def _open_call(turn: Turn, agent: AgentStream, block: JsonObject, call_id: str) -> CallStream:
    call, facts, input_ = turn.calls.get(call_id), call_facts(block), block.get("input")
    if call is not None and turn.is_known(call, agent):
        turn.emitter.report_loss(".event.content_block", block, REPEATED)
        return call
    assert facts is not None, "the block is a call"
    call = turn.begin(facts, agent)
    call.input = input_ if is_object(input_) and input_ else UNSET  # it is empty while the input is streamed
    if input_ not in (None, {}):
        turn.emitter.report_loss(".event.content_block.input", input_, REPEATED)
    turn.emit(call, call.start())
    return call


def _open_text(agent: AgentStream, block: JsonObject, kind: str) -> TextStream:
    """Begin a text, which is usually empty. Redacted reasoning is complete at once."""
    is_redacted = kind == "redacted_thinking"
    text = agent.open(TEXT_KINDS[kind], _other_fields(block) if is_redacted else None)
    if is_redacted:
        agent.end(text)
        return text
    text.fields.update(_other_fields(block))
    text.paths |= {key: f"{agent.emitter.path}.event.content_block.{key}" for key in text.fields}
    citations = block.get("citations")
    for citation in citations if is_array(citations) else ():
        text.add_citation(citation)
    return agent.append(text, text.receive(block[TEXT_MEMBERS[kind]]))


def _block_delta(turn: Turn, agent: AgentStream, event: JsonObject) -> bool:
    delta, index = event.get("delta"), event.get("index")
    kind = delta.get("type") if is_object(delta) else None
    if not is_object(delta) or not isinstance(kind, str) or not isinstance(index, int):
        return False
    response, emitter = agent.response, turn.emitter
    open_block = None if response is None else response.open.get(index)
    if kind in DELTAS:
        member, text_kind = DELTAS[kind]
        if not isinstance(delta.get(member), str) or not _append(agent, index, delta[member], text_kind):
            return False
        emitter.report_members(delta, ".event.delta", "type", member)
    elif isinstance(open_block, CallStream) and kind == "input_json_delta":
        json = delta.get("partial_json")
        if not isinstance(json, str):
            return False
        chunk = open_block.receive(json)
        turn.emit(open_block, chunk)
        used = ("partial_json",) if chunk or not json else ()
        emitter.report_members(delta, ".event.delta", "type", *used)
    elif isinstance(open_block, TextStream):
        if not _add_to_end(open_block, kind, delta, emitter):
            return False
    elif is_object(open_block) and kind == "compaction_delta":
        for key, value in without(delta, "type").items():
            if open_block.get(key) is not None and not is_equal(open_block[key], value):
                emitter.report_loss(f".event.delta.{key}", open_block[key], REPLACED)
            open_block[key] = value
    else:
        return False
    emitter.report_members(event, ".event", "type", "index", "delta")
    return True


def _append(agent: AgentStream, index: int, delta: str, kind: TextKind) -> bool:
    """Append a delta to its text, which begins here if it was not begun."""
    response = agent.response or agent.begin_response(None, streamed=False)
    text = response.open.get(index)
    if text is None:
        text = agent.open(kind)
    if not isinstance(text, TextStream) or text.kind != kind:
        return False
    new = text.receive(delta)
    if new != delta:
        agent.emitter.report_loss(".event.delta", delta, REPEATED)
    current = agent.append(text, new)
    if current is not text:
        current.receive(new)
    response.open[index] = current
    return True


def _add_to_end(text: TextStream, kind: str, delta: JsonObject, emitter: ChunkEmitter) -> bool:
    """Add a signature or a citation to a text. After the whole block, it is not new."""
    if kind == "signature_delta" and isinstance(delta.get("signature"), str):
        member = "signature"
    elif kind == "citations_delta" and "citation" in delta:
        member = "citation"
    else:
        return False
    if text.state == "ended":
        emitter.report_loss(f".event.delta.{member}", delta[member], REPEATED)
        return text.has_whole
    if member == "citation":
        text.add_citation(delta[member])
    elif delta[member]:
        if text.fields.get(member, delta[member]) != delta[member]:
            emitter.report_loss_at(text.paths.get(member, emitter.path), text.fields[member], REPLACED)
        text.fields[member] = delta[member]
        text.paths[member] = f"{emitter.path}.event.delta.{member}"
    emitter.report_members(delta, ".event.delta", "type", member)
    return True


def _block_stop(turn: Turn, agent: AgentStream, event: JsonObject) -> bool:
    index, response = event.get("index"), agent.response
    open_block = response.open.get(index) if isinstance(index, int) and response is not None else None
    turn.emitter.report_members(event, ".event", "type", *(() if open_block is None else ("index",)))
    if isinstance(open_block, TextStream):
        agent.stop(open_block)
    elif isinstance(open_block, CallStream):
        turn.emit(open_block, open_block.stop())
    elif open_block is not None and response is not None and isinstance(index, int):
        del response.open[index]
        response.emitted_blocks.append(open_block)
        _emit_block(turn, agent, open_block)
    return True


def _message_delta(turn: Turn, agent: AgentStream, event: JsonObject) -> bool:
    delta, response = event.get("delta"), agent.response
    if response is None:
        return False
    response.set_usage(event.get("usage"), ".event", adds=True)
    response.set_facts(event, {"context_management": "contextManagement"}, ".event")
    turn.emitter.report_members(event, ".event", "type", "delta", "usage", "context_management")
    if is_object(delta):
        response.set_facts(delta, RESPONSE_NAMES, ".event.delta")
        turn.emitter.report_members(delta, ".event.delta", *RESPONSE_NAMES)
        response.stopped |= delta.get("stop_reason") is not None
    elif delta is not None:
        turn.emitter.report_loss(".event.delta", delta, UNREAD)
    return True


def _message_stop(turn: Turn, agent: AgentStream, event: JsonObject) -> bool:
    turn.emitter.report_members(event, ".event", "type")
    if agent.response is not None:
        agent.response.stopped = True
        agent.end_texts()
    return True


def _ping(turn: Turn, agent: AgentStream, event: JsonObject) -> bool:
    turn.emitter.report_members(event, ".event", "type")
    return True


def _error(turn: Turn, agent: AgentStream, event: JsonObject) -> bool:
    turn.emitter.emit_data("api-error", event)
    return True


EVENTS: Final[Mapping[str, ReadEvent]] = {
    "message_start": _message_start,
    "content_block_start": _block_start,
    "content_block_delta": _block_delta,
    "content_block_stop": _block_stop,
    "message_delta": _message_delta,
    "message_stop": _message_stop,
    "ping": _ping,
    "error": _error,
}


# Whole messages of the assistant
#
# A block is matched with what was emitted of it by its kind and its text, not by its position: the CLI sends
# the blocks of a response one by one, sometimes in another order than they began, or before they ended.


def _read_assistant(turn: Turn, event: JsonObject) -> None:
    """`assistant`: whole blocks of a response, which usually was streamed."""
    message = event.get("message")
    content = message.get("content") if is_object(message) else None
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not is_object(message) or not is_array(content):
        turn.emitter.emit_unknown(event)
        return
    if not turn.is_new(event):
        return
    turn.retract(set(strings(event.get("supersedes"))))
    agent = turn.agent(event.get("parent_tool_use_id"))
    if agent is None:
        turn.emitter.emit_data("retracted", event)
        return
    response = _response(turn, agent, event, message)
    response.uuids.update(strings([event.get("uuid")]))
    response.set_usage(message.get("usage"), ".message")
    response.set_facts(
        {key: value for key, value in message.items() if value != SYNTHETIC}, RESPONSE_NAMES, ".message"
    )
    names = {key: "requestId" if key == "request_id" else key for key in event.keys() - ASSISTANT}
    response.set_facts(event, names, "")
    aborted = event.get("aborted") is True
    turn.is_interrupted |= aborted
    known = response.blocks
    # Some senders repeat all blocks of the response in every message (seen in a recording).
    is_repeated = known and len(content) >= max(len(known), 2) and is_equal(content[: len(known)], known)
    first = len(known) if is_repeated else 0
    for number, block in enumerate(content[first:], first):
        _add_block(turn, agent, response, block, f".message.content[{number}]", aborted=aborted)
    response.blocks.extend(content[first:])
    agent.remember(event)
    if event.get("error") is not None:
        turn.emitter.emit_data("error", event)
        return
    report_envelope(turn, event, "message", "error", *names)
    _report_message(turn, message, ".message")
    for number, block in enumerate(content[:first]):
        turn.emitter.report_loss(f".message.content[{number}]", block, REPEATED)


def _response(turn: Turn, agent: AgentStream, event: JsonObject, message: JsonObject) -> ResponseStream:
    """Return the response of a message: the current one, if the message has no id or no model.

    Without ids, a response ends at the results of its calls.
    """
    message_id, current = message.get("id"), agent.response
    message_id = message_id if isinstance(message_id, str) else None
    is_unnamed = current is not None and message_id is None and current.id is None and not current.streamed
    if is_unnamed and agent.has_results and message.get("model") != SYNTHETIC:
        return agent.begin_response(None, streamed=False, model=message.get("model"))
    if current is not None and (message_id is None or current.id in (message_id, None)):
        current.id = message_id or current.id
        return current
    previous = agent.previous
    if previous is not None and previous.streamed and previous.id == message_id and message_id is not None:
        return previous
    has_no_model = message.get("model") == SYNTHETIC or event.get("aborted") is True
    if current is not None and has_no_model and agent.is_stuck:
        return current
    agent_facts = {name: event[key] for key, name in SUB_AGENT_NAMES.items() if event.get(key) is not None}
    turn.retract_stuck(agent)
    return agent.begin_response(
        message_id, streamed=False, model=message.get("model"), agent_facts=agent_facts
    )


def _add_block(
    turn: Turn,
    agent: AgentStream,
    response: ResponseStream,
    block: Json,
    location: str,
    *,
    aborted: bool = False,
) -> None:
    """Emit the part of a whole block that was not emitted."""
    kind = block.get("type") if is_object(block) else None
    if not is_object(block) or not isinstance(kind, str):
        turn.emitter.emit_unknown(block, agent.path)
    elif kind in TEXT_KINDS and isinstance(block.get(TEXT_MEMBERS.get(kind, "data")), str):
        _add_text(agent, response, block, kind, location, aborted=aborted)
    elif kind in CALLS and (facts := call_facts(block)) is not None:
        turn.add_call(block, facts, agent, location, is_late=response is not agent.response)
    elif any(is_equal(block, emitted_block) for emitted_block in response.emitted_blocks):
        response.emitted_blocks = [
            emitted_block for emitted_block in response.emitted_blocks if not is_equal(block, emitted_block)
        ]
        turn.emitter.report_loss(location, block, REPEATED)
    else:
        _emit_block(turn, agent, block)


def _add_text(
    agent: AgentStream,
    response: ResponseStream,
    block: JsonObject,
    kind: str,
    location: str,
    *,
    aborted: bool,
) -> None:
    whole = block[TEXT_MEMBERS[kind]] if kind in TEXT_MEMBERS else ""
    fields, cited = _other_fields(block), block.get("citations")
    citations: list[Json] = cited if is_array(cited) else []
    text = _matching_text(response, kind, whole, fields)
    if text is None:
        text = agent.open(TEXT_KINDS[kind], fields if kind == "redacted_thinking" else None)
    else:
        agent.emitter.report_loss(location, block, REPEATED)
    was_ended = text.state == "ended"
    is_new = not text.has_all(fields, citations)
    text = agent.append(text, text.add_whole(whole, fields, citations, agent.emitter))
    text.has_whole = True
    agent.end(text, aborted=aborted)
    if was_ended and is_new:
        agent.emitter.emit(DataChunk("data-claude-block", block), agent.path)


def _matching_text(response: ResponseStream, kind: str, whole: str, fields: JsonObject) -> TextStream | None:
    """Return the text of a block: one with the same text, else one that the block continues."""
    waiting = [one for one in response.texts if one.kind == TEXT_KINDS[kind] and not one.has_whole]
    exact = (one for one in waiting if whole and one.text == whole)
    return next(exact, None) or next((one for one in waiting if one.matches(whole, fields)), None)


def _emit_block(turn: Turn, agent: AgentStream, block: JsonObject) -> None:
    """Emit a block without deltas: a result, an image, a notice, or an unknown block."""
    chunks = block_chunks(block, "")
    if chunks is None:
        turn.emitter.emit_unknown(block, agent.path)
    elif str(block["type"]).endswith(RESULT):
        turn.end_server_call(block, chunks)
    else:
        for chunk in chunks:
            turn.emitter.emit(chunk, agent.path)


def _other_fields(block: JsonObject) -> JsonObject:
    """Return the other members of a block of text. An empty signature is not complete."""
    if block.get("type") == "redacted_thinking":
        return {"redactedData": block["data"], **without(block, "type", "data")}
    fields = without(block, "type", "text", "thinking", "citations")
    return {key: value for key, value in fields.items() if key != "signature" or value}


# Messages of the user


def _read_user(turn: Turn, event: JsonObject) -> None:
    """`user`: results of calls, prompts of sub-agents, and texts that were sent to the running agent."""
    message = event.get("message")
    blocks = message.get("content") if is_object(message) else None
    if isinstance(blocks, str):
        blocks = [{"type": "text", "text": blocks}]
    if not is_object(message) or not is_array(blocks):
        turn.emitter.emit_unknown(event)
        return
    if not turn.is_new(event):
        return
    agent = turn.agent(event.get("parent_tool_use_id"))
    if agent is None:
        turn.emitter.emit_data("retracted", event)
        return
    texts = _add_results(turn, agent, event, blocks)
    is_kept = bool(texts) and _add_texts(turn, agent, event, texts)
    if not is_kept:
        used = ("uuid",) if texts else ()
        report_envelope(turn, event, "message", "tool_use_result", *used)
        turn.emitter.report_members(message, ".message", "role", "content")
        turn.emitter.report_unexpected(message, ".message", role="user")


def _add_results(turn: Turn, agent: AgentStream, event: JsonObject, blocks: Sequence[Json]) -> list[Json]:
    """Add the results in a message to their calls; return the other blocks."""
    kinds = [block.get("type") if is_object(block) else None for block in blocks]
    structured = event.get("tool_use_result", UNSET)
    if structured is not UNSET and kinds.count("tool_result") != 1:
        # The event does not show which of the results it belongs to.
        turn.emitter.emit_data("tool-use-result", structured)
        structured = UNSET
    denials = _denials(event.get("tool_result_meta"))
    texts: list[Json] = []
    for kind, block in zip(kinds, blocks, strict=True):
        if kind == "tool_result":
            call_id = block.get("tool_use_id")
            turn.end_call(block, structured, denials.get(call_id) if isinstance(call_id, str) else None)
        elif isinstance(kind, str) and kind.endswith(RESULT):
            _emit_block(turn, agent, block)
        else:
            texts.append(block)
    return texts


def _denials(meta: Json) -> dict[str, Denial]:
    """Return the denials of calls, by call."""
    denials: dict[str, Denial] = {}
    for item in meta if is_array(meta) else ():
        match item:
            case {"id": str(call), "non_execution_kind": str(kind)}:
                denials[call] = Denial(kind)
            case _:
                pass
    return denials


def _add_texts(turn: Turn, agent: AgentStream, event: JsonObject, texts: list[Json]) -> bool:
    """Add texts of a person or a program; return whether the whole event is kept."""
    parts = [content_part(block) for block in texts]
    first = parts[0]
    if isinstance(first, TextPart) and first.text.startswith(INTERRUPTED):
        turn.is_interrupted = True
        turn.emitter.emit_data("interrupted", event)
    elif agent.path and not agent.has_message:
        prompt = UserMessage(id=_user_id(turn, event, agent), content=parts)
        turn.emitter.emit(ChildMessage(agent.path, prompt))
        return False
    elif event.get("isReplay") is True:
        turn.emitter.emit_data("user-replay", event, transient=True)
    elif _is_synthetic(event, first):
        turn.emitter.emit_data("synthetic", event)
    elif not agent.path and not turn.is_running:
        turn.emitter.emit_data("prompt", event, transient=True)
    else:
        steering = tuple([_steering_part(part) for part in parts])
        turn.emitter.emit(SteeringMessageChunk(_user_id(turn, event, agent), steering), agent.path)
        return False
    return True


def _is_synthetic(event: JsonObject, first: ContentPart) -> bool:
    """Whether a program wrote the text."""
    if event.get("isSynthetic") is True or event.get("isMeta") is True:
        return True
    origin = event.get("origin")
    kind = origin.get("kind") if is_object(origin) else None
    return kind not in (None, "human") or (isinstance(first, TextPart) and first.text.startswith(INSERTED))


def _user_id(turn: Turn, event: JsonObject, agent: AgentStream) -> str:
    """Return the id of the message, else a new one from its position."""
    uuid = event.get("uuid")
    if isinstance(uuid, str):
        return uuid
    turn.unnamed_messages += 1
    return "/".join((*agent.path, f"user-{turn.unnamed_messages}"))


def _steering_part(part: ContentPart) -> TextPart | FilePart | ForeignPart:
    if not isinstance(part, ImagePart):
        return part
    return FilePart(part.url, part.media_type or ANY_IMAGE, provider_metadata=part.provider_metadata)


READERS: Final[Mapping[str, Read]] = {
    "stream_event": _read_event,
    "assistant": _read_assistant,
    "user": _read_user,
    **NOTICE_READERS,
}
