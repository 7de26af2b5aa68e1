"""The facts that records of Codex state and that messages hold: what `core/unread.py` finds losses with."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import UNSET

from partita.formats.core.metadata import notes
from partita.formats.core.unread import KNOWN, Fact, data_fact
from partita.types.codec import encode
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage, text_of
from partita.types.parts import (
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningPart,
    SourceUrlPart,
    SteeringMessagePart,
    TextPart,
)
from partita.types.times import read_time
from partita.types.tools import ContentOutput, ToolOutput

from .content import (
    INPUTS,
    block_text,
    blocks_of,
    failed,
    item_text,
    outcome_of,
    read_call,
    rest_of,
    system_parts,
    user_parts,
)
from .exec import PHASES, YES
from .live_turn import ASKED, item_id
from .prompts import prompt_notes
from .usage import COUNTS
from .wire import (
    AGENT,
    ENVELOPE,
    ITEM_MEMBERS,
    METADATA,
    data_name,
    inner,
    items,
    present,
    text,
    texts,
    whole,
)
from .work import WORK_EVENTS, Work, item_event, kind_of_item, work_of

SECTIONS: Final = 32
"""How many paragraphs of reasoning are compared with those of events."""

PROVIDER_CALLS: Final = {"web_search_call": "web_search", "image_generation_call": "image_generation"}
STATUSES: Final = frozenset({"in_progress", "inProgress", "completed", "failed", "declined"})
PIECE: Final = "piece"
SECTION_TYPES: Final = frozenset({"summary_text", "reasoning_text", "text"})

CONTENT: Final = frozenset({"message", "text", "arguments", "input", "output"})
"""Members whose loss is not minor."""

# What messages hold


class HeldFacts:
    """The facts that messages hold. A piece of a text is held if it is in any of them."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._facts = {KNOWN, *(fact for message in messages for fact in _message_facts(message))}
        self._facts |= _total_facts(messages)
        self._texts = "\0".join(str(fact[1]) for fact in self._facts if fact[0] in ("text", "reasoning"))

    def __contains__(self, fact: object) -> bool:
        if isinstance(fact, tuple) and fact[0] == PIECE:
            return str(fact[1]) in self._texts
        return fact in self._facts


def _total_facts(messages: Sequence[Message]) -> set[Fact]:
    """The totals after each of the responses."""
    facts: set[Fact] = set()
    total = dict.fromkeys(COUNTS, 0)
    for message in messages:
        usage = message.content.usage if isinstance(message, AssistantMessage) else None
        if usage is not None and is_object(usage.raw):
            for name in COUNTS:
                total[name] += whole(usage.raw, name) or 0
            facts.add(_total_fact(total))
    return facts


def _total_fact(total: JsonObject) -> Fact:
    return ("total", *(dumps(total.get(name, 0)) for name in COUNTS))


def _message_facts(message: Message) -> Iterator[Fact]:
    yield ("time", message.created_at)
    yield ("id", message.id)
    yield ("id", message.id.partition(":")[2].partition("#")[0])
    metadata: Json = message.content.metadata
    if is_object(metadata):
        yield from _note_facts("", {**metadata, **notes(metadata, AGENT)})
        usage = inner(metadata, "usage").get("raw")
        yield ("usage", dumps(usage))
    if isinstance(message, UserMessage):
        yield ("prompt", text_of(message))
    if isinstance(message, AssistantMessage) and message.content.usage is not None:
        yield ("usage", dumps(message.content.usage.raw))
    for part in message.content.parts:
        yield ("part", message.role, encode(part))
        yield from _part_facts(part)


def _part_facts(part: object) -> Iterator[Fact]:
    match part:
        case DataPart(name=name, data=data):
            yield data_fact(data)
            yield ("named", name, dumps(data))
        case ForeignPart(value=value):
            yield data_fact(value)
        case TextPart(text=value):
            own = notes(part.provider_metadata, AGENT)
            yield from (("text", one) for one in (value, own.get("final")))
            yield from _note_facts(value, own)
        case ReasoningPart(text=value):
            own = notes(part.provider_metadata, AGENT)
            yield from _section_facts(value)
            yield from _section_facts(str(own.get("final", "")))
            yield from _note_facts(value, own)
            yield from (("reasoning", section) for section in texts(own, "content"))
        case ToolCallPart():
            yield ("call", part.id, part.name, _json(part.input))
            if part.name == "web_search":  # events and items of a search may have other ids
                yield ("search", _json(part.input))
            if is_object(part.input) or is_array(part.input):
                yield data_fact(part.input)
            yield from _note_facts(part.id, notes(part.tool_metadata, AGENT))
            if part.approval is not None:
                yield ("approval", part.approval.id, part.id)
                yield ("reason", part.id, part.approval.reason)
                yield ("decision", part.approval.id, part.approval.approved)
            if part.output is not None:
                yield from _output_facts(part.id, part.output)
        case ImagePart(url=url) | FilePart(url=url) | SourceUrlPart(url=url):
            yield ("url", url)
        case SteeringMessagePart(parts=parts):
            yield from (fact for one in parts for fact in _part_facts(one))
            yield ("prompt", "".join(one.text for one in parts if isinstance(one, TextPart)))
        case _:
            return


def _section_facts(value: str) -> Iterator[Fact]:
    """Reasoning, and the sections that it may have been joined of."""
    yield ("reasoning", value)
    paragraphs = value.split("\n\n")[:SECTIONS]
    for start in range(len(paragraphs)):
        for end in range(start + 1, len(paragraphs) + 1):
            yield ("reasoning", "\n\n".join(paragraphs[start:end]))


def _output_facts(call_id: str, output: ToolOutput) -> Iterator[Fact]:
    yield ("output", call_id, encode(output))
    value: Json = getattr(output, "value", None)
    if not isinstance(output, ContentOutput) and (is_object(value) or is_array(value)):
        yield data_fact(value)


def _note_facts(about: str, own: JsonObject) -> Iterator[Fact]:
    for name, value in own.items():
        yield ("note", about, name, dumps(value))
        if is_object(value) or is_array(value):
            yield data_fact(value)


def _json(value: Json) -> bytes | None:
    return None if value is UNSET else dumps(value)


# What rollouts state


def record_facts(record: Json) -> set[Fact]:
    """The facts that a record of a rollout states."""
    if not is_object(record):
        return set()
    facts: set[Fact] = {data_fact(record)}
    if isinstance(stamp := record.get("timestamp"), str):
        facts.add(("time", read_time(stamp)))
    payload, kind = record.get("payload"), record.get("type")
    if not is_object(payload):
        facts.update(_item_facts(record))
        return facts
    extra = {name: value for name, value in record.items() if name not in ENVELOPE or name == METADATA}
    if extra:
        facts.add(data_fact(extra))
    if kind == "response_item":
        facts.update(_item_facts(payload))
    elif kind == "event_msg":
        facts.update(event_facts(payload))
    elif isinstance(kind, str):
        facts.add(("named", data_name(kind), dumps(payload)))
    return facts


def _item_facts(item: JsonObject) -> Iterator[Fact]:
    kind = item.get("type")
    if item.get("record_type") == "state":
        yield KNOWN
    if not isinstance(kind, str):
        return
    yield ("named", data_name(kind), dumps(item))
    known = ITEM_MEMBERS.get(kind, frozenset())
    extra = {name: value for name, value in item.items() if name not in known} or None
    own = present(id=text(item, "id"), extra=extra)
    call_id = text(item, "call_id") or text(item, "id") or ""
    if kind == "message":
        yield from _text_item_facts(item, own)
    elif kind == "agent_message":
        yield from _input_facts(
            item, "user", present(author=item.get("author"), recipient=item.get("recipient"))
        )
    elif kind == "reasoning":
        yield from _reasoning_item_facts(item, own)
    elif kind in INPUTS:
        name, given, read = read_call(item)
        yield ("call", call_id, name, _json(given))
        if kind != "function_call" and item.get("status") == "completed":  # other values are noted
            yield KNOWN
        yield from _note_facts(call_id, own | read)
    elif kind in PROVIDER_CALLS:
        yield from _work_facts(work_of({**item, "type": PROVIDER_CALLS[kind]}), call_id)
        yield from _note_facts(call_id, own)
    elif kind == "tool_search_output":
        output = present(tools=item.get("tools"), status=text(item, "status"))
        yield ("output", call_id, encode({"type": "json", "value": output}))
        yield from _note_facts(call_id, present(execution=text(item, "execution")))
    elif kind.endswith("_output"):
        outcome = outcome_of(item.get("output"))
        yield from (("output", call_id, encode(one.output)) for one in (outcome, failed(outcome)))
        yield from _note_facts(call_id, present(extra=extra))


def _text_item_facts(item: JsonObject, own: JsonObject) -> Iterator[Fact]:
    role = item.get("role")
    if role != "assistant":
        yield from _input_facts(item, "user" if role == "user" else "system", own | {"role": role})
        return
    own |= present(phase=text(item, "phase"))
    for block in blocks_of(item.get("content")):
        piece = block_text(block)
        if piece is None:
            yield data_fact(block)
        else:
            yield ("text", piece)
            yield from _note_facts(piece, rest_of(block, "text") | own)


def _input_facts(item: JsonObject, role: str, own: JsonObject) -> Iterator[Fact]:
    read = user_parts if role == "user" else system_parts
    yield from (("part", role, encode(part)) for part in read(item.get("content")))
    if isinstance(id_ := own.pop("id", None), str):
        yield ("id", id_)
    yield from _note_facts("", own)


def _reasoning_item_facts(item: JsonObject, own: JsonObject) -> Iterator[Fact]:
    summary, content = _sections(item, "summary"), _sections(item, "content")
    value = "\n\n".join(summary or content)
    yield from (("reasoning", section) for section in (value, *summary, *content))
    yield from _note_facts(value, own | present(encryptedContent=item.get("encrypted_content")))


def _sections(item: JsonObject, name: str) -> list[str]:
    """The sections of reasoning that consist of a text and a known type."""
    value = item.get(name)
    sections = [
        one
        for one in (value if is_array(value) else ())
        if isinstance(one, str) or (is_object(one) and one.get("type") in SECTION_TYPES)
    ]
    return texts({name: sections}, name)


# What events state, of rollouts and of streams


def event_facts(event: JsonObject) -> Iterator[Fact]:
    """The facts of an event of a rollout, or of the first version of `codex exec --json`."""
    kind = event.get("type")
    if not isinstance(kind, str):
        return
    yield ("named", data_name(kind), dumps(event))
    if kind == "user_message":
        yield ("prompt", text(event, "message") or "")
        yield from (("url", url) for url in blocks_of(event.get("images")) if isinstance(url, str))
        yield from _note_facts("", prompt_notes(event))
    elif kind == "agent_message":
        value = text(event, "message") or ""
        yield ("text", value)
        yield from _note_facts(value, present(phase=text(event, "phase")))
    elif kind in ("agent_reasoning", "agent_reasoning_raw_content"):
        yield ("reasoning", text(event, "text") or "")
    elif kind == "token_count":
        yield KNOWN
        info = inner(event, "info")
        yield ("usage", dumps(info.get("last_token_usage")))
        yield _total_fact(inner(info, "total_token_usage"))
        if event.get("rate_limits") is not None:
            yield data_fact(event["rate_limits"])
    elif kind in WORK_EVENTS:
        described = item_event(event)
        yield KNOWN
        yield from _work_facts(work_of(described.item) if described is not None else None)
    elif kind == "item_completed":
        item = inner(event, "item")
        yield ("named", data_name(f"item_{kind_of_item(item)}"), dumps(event))
        yield from item_facts(item)
    elif kind == "context_compacted":  # a record says the same
        yield KNOWN


def item_facts(item: JsonObject) -> Iterator[Fact]:
    """The facts of an item in an event or a stream."""
    kind, id_ = kind_of_item(item), text(item, "id") or ""
    if item.get("status") in STATUSES:  # it follows from the output
        yield KNOWN
    if kind == "user_message":
        yield ("prompt", "".join(texts(item, "content")))
        yield from (("url", url) for part in items(item, "content") if (url := text(part, "image_url")))
        yield from _note_facts("", present(clientId=text(item, "client_id")))
    elif kind in ("agent_message", "assistant_message", "plan"):
        value = item_text(item)
        yield ("text", value)
        yield from _note_facts(value, present(phase=text(item, "phase")))
    elif kind == "reasoning":
        for name in ("summary", "summary_text", "content", "raw_content"):
            yield from (("reasoning", section) for section in texts(item, name))
        yield ("reasoning", text(item, "text") or "")
    yield from _work_facts(work_of(item), id_)


def _work_facts(work: Work | None, call_id: str = "") -> Iterator[Fact]:
    if work is None:
        return
    id_ = call_id or work.id
    yield ("call", id_, work.name, _json(work.input))
    yield ("search", _json(work.input))
    yield from _note_facts(id_, work.metadata)
    if work.output is not None:
        yield ("output", id_, encode(work.output))
        yield from _note_facts(id_, present(fullOutput=getattr(work.output, "value", None)))
    yield from (("url", url) for url, _ in work.sources)


# What streams state


def exec_facts(event: Json) -> set[Fact]:
    """The facts that an event of `codex exec --json` or of the app server states."""
    if not is_object(event):
        return set()
    facts: set[Fact] = {data_fact(event)}
    message, method = event.get("msg"), event.get("method")
    if is_object(message):
        facts.update(event_facts(message))
        facts.update(_exec_message_facts(message))
    elif isinstance(method, str):
        facts.update(_method_facts(event, method))
    elif "id" in event and is_object(event.get("result")):
        decision = event["result"].get("decision")
        approved = isinstance(decision, str) and decision.startswith(YES)
        facts.add(("decision", str(event["id"]), approved))
        facts.update(_session_facts(inner(event["result"], "thread")))
    else:
        facts.update(_exec_event_facts(event))
    return facts


def _exec_event_facts(event: JsonObject) -> Iterator[Fact]:
    kind = event.get("type")
    if kind in (None, "thread.started", "session.created"):
        yield from _session_facts({**event, "id": event.get("thread_id") or event.get("session_id")})
    if kind in PHASES:
        if kind != "item.completed":
            yield KNOWN
        yield from item_facts(inner(event, "item"))
    elif kind == "turn.completed":
        yield ("usage", dumps(event.get("usage")))
    elif kind in ("turn.started", "item.plan.delta"):
        yield KNOWN
        yield (PIECE, text(event, "delta") or "")


def _exec_message_facts(message: JsonObject) -> Iterator[Fact]:
    kind = message.get("type")
    yield from _session_facts({**message, "id": message.get("session_id")})
    yield ("id", text(message, "turn_id"))
    if isinstance(kind, str) and kind.endswith("_approval_request"):
        yield from _approval_facts(message, None)
    if isinstance(kind, str) and kind.endswith(("_delta", "_break", "task_started", "task_complete")):
        yield KNOWN
        yield (PIECE, text(message, "delta") or "")


def _method_facts(event: JsonObject, method: str) -> Iterator[Fact]:
    params = inner(event, "params")
    yield data_fact(params)
    yield from item_facts(inner(params, "item"))
    yield from _session_facts(inner(params, "thread"))
    yield ("id", text(inner(params, "turn"), "id"))
    if method.endswith("/requestApproval"):
        yield from _approval_facts(params, str(event.get("id")))
    elif method.endswith(("elta", "PartAdded", "started", "updated", "turn/completed")):
        yield KNOWN
        yield (PIECE, text(params, "delta") or "")


def _approval_facts(params: JsonObject, request: str | None) -> Iterator[Fact]:
    call_id = item_id(params)
    yield ("approval", request or call_id, call_id)
    yield ("reason", call_id, text(params, "reason"))
    given = {name: params[name] for name in ASKED if name in params}
    yield from (("call", call_id, kind, _json(given)) for kind in ("command_execution", "file_change"))


def _session_facts(session: JsonObject) -> Iterator[Fact]:
    facts = present(
        sessionId=text(session, "id"),
        model=text(session, "model"),
        cwd=text(session, "cwd") or text(session, "workdir"),
    )
    yield from _note_facts("", facts)
