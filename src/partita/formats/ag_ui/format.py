"""AG-UI messages, inputs of runs and recorded events ↔ canonical messages.

An assistant message of AG-UI is one text, then calls. So a canonical message is written as a message for each
step: the first has its id, step K has `ID#K`, and its results are `ID#K:results`, `ID#K:results:2` and so on,
which are the ids that `fold` uses. Reasoning is a separate message before the step. Messages of a sub-agent
name it in `subagentRunId`. The writer sets that to the id of the call that started the sub-agent, and writes
these messages after the call. An activity is an event with data.

Wire: https://docs.ag-ui.com/concepts/messages
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import zip_longest
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import force_setattr, replace

from partita.errors import ConversionError, DecodeError
from partita.formats.core.metadata import message_notes, notes, with_message_notes
from partita.formats.core.report import Entry, Record
from partita.formats.core.role_messages import numbered
from partita.formats.core.sidecar import in_messages
from partita.formats.core.turns import (
    Instructions,
    LocatedPart,
    Position,
    Prompt,
    Results,
    Step,
    join,
    misplaced_results,
    split,
)
from partita.formats.core.wire import Wire, read_wire, residue, restore, to_json
from partita.formats.event_streams import load_events
from partita.formats.format import Dumped, Format, Loaded, Request, ToolSpec
from partita.formats.losses import NO_PLACE, REQUIRED, Loss
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of, limited_depth
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolContent,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import DataPart, ForeignPart, ReasoningPart, StepStartPart, TextPart, ToolResultPart
from partita.types.value import keep_fields, kept_fields

from . import wire
from .encoder import AgUiEncoder
from .parts import (
    CALLS,
    CONTENT,
    REASONING,
    REPORT,
    RESULTS,
    ROLE,
    TEXTS,
    read_activity,
    read_system,
    read_user,
    write_activity,
    write_prompt,
)
from .stream import AgUiDecoder
from .wire import MESSAGE, MESSAGE_ID, NAME, NAMESPACE, PARENT, ROLES

HINT: Final = "give a list of messages or events, or {threadId, runId, messages}"

# In positions of assistant messages
TEXT: Final = "text"
STEP: Final = "step"  # the start of the step

ONE_TEXT: Final = "a message has one text, before its calls: another one begins"
OWN_ID: Final = "every message has an id of its own"

REQUEST: Final = frozenset(
    {"threadId", "runId", "protocolVersion", "parentRunId", "state", "context", "forwardedProps", "resume"}
)
"""The members of `RunAgentInput` besides its messages and tools."""


@limited_depth()
def load(payload: Json) -> Loaded:
    """Read a list of messages or events, or the input of a run with a request."""
    request = None
    if is_object(payload) and is_array(payload.get("messages")) and not _is_event(payload):
        request = _read_request(payload)
        reader = Reader(payload["messages"], "$.messages")
    else:
        items = payload if is_array(payload) else [payload]
        if items and all(map(_is_event, items)):
            return load_events(AgUiDecoder(), items)
        if not is_array(payload) and not (is_object(payload) and "role" in payload):
            raise ConversionError(f"expected messages, found {kind_of(payload)}", where="$", hint=HINT)
        reader = Reader(items, "$")
    return Loaded(tuple(reader.messages), reader.losses, request)


def dump(messages: Sequence[Message], request: Request | None = None) -> Dumped:
    """Write a list of messages, or the input of a run."""
    writer = Writer()
    AgentWriter(writer, messages, "$", None)
    payload: list[Json] = [to_json(message) for message in writer.payload]

    def losses() -> list[Loss]:
        return REPORT.compare(writer.record, Reader(payload, "$").positions)

    if request is None:
        return Dumped(payload, losses)
    thread_id = next((message.thread_id for message in messages if message.thread_id), "thread-1")
    return Dumped(_write_request(payload, request, thread_id, writer), losses)


def _write_request(messages: list[Json], request: Request, thread_id: str, writer: "Writer") -> JsonObject:
    """Return the input of a run, with the thread and the run of the settings, or generated ones."""
    payload: JsonObject = {"threadId": thread_id, "runId": "run-1"}
    for name, value in payload.items():
        if name not in request.settings:
            writer.report_repair(f"$.settings.{name}", value, REQUIRED)
    for name, value in request.settings.items():
        if name in REQUEST or name == "tools":  # tools that are not a list
            payload[name] = value
        else:
            loss = Loss.of(f"$.settings.{name}", value, NO_PLACE)
            writer.record.losses.append(loss)
    payload["messages"] = messages
    if request.tools:
        payload["tools"] = [_write_tool(tool, index, writer) for index, tool in enumerate(request.tools)]
    return payload


def _is_event(raw: Json) -> bool:
    return is_object(raw) and isinstance(type_ := raw.get("type"), str) and type_.isupper()


def _read_request(payload: JsonObject) -> Request:
    settings = {name: value for name, value in payload.items() if name != "messages"}
    tools = payload.get("tools")
    if not is_array(tools):
        return Request((), settings)
    del settings["tools"]
    return Request(tuple(_read_tool(raw, f"$.tools[{at}]") for at, raw in enumerate(tools)), settings)


def _read_tool(raw: Json, path: str) -> ToolSpec:
    if not is_object(raw) or not isinstance(raw.get("name"), str):
        raise ConversionError("a tool without a name", where=path, hint="give {name, description}")
    rest = dict(raw)
    description = rest.pop("description") if isinstance(raw.get("description"), str) else None
    schema = rest.pop("parameters") if is_object(raw.get("parameters")) else None
    name = rest.pop("name")
    return ToolSpec(
        name=name, description=description, input_schema=schema, extra=keep_fields(rest, ToolSpec)
    )


def _write_tool(tool: ToolSpec, index: int, writer: "Writer") -> JsonObject:
    rest = kept_fields(tool.extra)
    if tool.description is None and "description" not in rest:
        writer.report_repair(f"$.tools[{index}].description", "", REQUIRED)
    schema = {} if tool.input_schema is None else {"parameters": tool.input_schema}
    return {"name": tool.name, "description": tool.description or "", **schema, **rest}


# Ids of results

_NUMBERED: Final = re.compile(r"(.*#\d+:results):\d+", re.DOTALL)


def results_group(message_id: str) -> str:
    """Return the prefix of the ids of the results of a step."""
    found = _NUMBERED.fullmatch(message_id) if ":results:" in message_id else None
    return found[1] if found else message_id


def unused_id(message_id: str, used: dict[str, int]) -> str:
    """Return an unused id for a result: the given one, or the next one of its group."""
    if message_id not in used:
        used[message_id] = 1
        return message_id
    group = results_group(message_id)
    number = used.get(group, 1) + 1
    while f"{group}:{number}" in used:
        number += 1
    used[group] = number
    used[f"{group}:{number}"] = 1
    return f"{group}:{number}"


# Reading


class Reader:
    """Reads messages. The position of a message is its index, that of a part also has its number."""

    def __init__(self, payload: Sequence[Json], root: str) -> None:
        self.positions: dict[Position, Any] = {}
        self.calls: dict[str, Position] = {}
        """The first call with each id. The messages of the sub-agent with that name follow it."""
        self._root = root
        self._repairs: list[Loss] = []
        self._read: list[AgentReader] = []
        self._by_agent: dict[Any, list[tuple[int, Any]]] = {UNSET: []}
        is_started: dict[Any, bool] = {}
        for index, raw in enumerate(payload):
            try:
                message: Any = MESSAGE.read(raw)
                agent = message.subagent_run_id
            except DecodeError:
                message, agent = self._read_unusual(raw, index)
            if type(message) is wire.Assistant:
                if message.extra:
                    self._check(message.extra, index)
                for number, call in enumerate(message.tool_calls or ()):
                    self.calls.setdefault(call.id, (index, number))
            if agent is not UNSET:
                if is_started.setdefault(agent, agent in self.calls):
                    force_setattr(message, "subagent_run_id", UNSET)  # the call names it
                else:
                    agent = UNSET
            self._by_agent.setdefault(agent, []).append((index, message))
        self.messages = self.read_agent(UNSET)

    def losses(self) -> Iterator[Loss]:
        """Yield the ids that were added, and results whose position is not kept."""
        yield from self._repairs
        for read in self._read:
            yield from misplaced_results(read.messages, [self._path(index) for index in read.indexes])

    def has_agent(self, agent: str) -> bool:
        """Whether a sub-agent has messages that were not read."""
        return agent in self._by_agent

    def read_agent(self, agent: Any) -> list[Message]:
        """Return the messages of an agent."""
        read = AgentReader(self, self._by_agent.pop(agent, []))
        self._read.append(read)
        return join(read.messages)

    def _path(self, index: int) -> str:
        return f"{self._root}[{index}]"

    def _read_unusual(self, raw: Json, index: int) -> tuple[Any, Any]:
        """Return a message without an id or with an unknown role, and its sub-agent."""
        path = self._path(index)
        if is_object(raw) and "id" not in raw:
            id_ = f"message-{index + 1}"
            self._repairs.append(Loss.of(f"{path}.id", id_, REQUIRED, "repaired"))
            raw = {**raw, "id": id_}
        if is_object(raw) and isinstance(role := raw.get("role"), str) and role not in ROLES:
            read_wire(wire.STRING, raw["id"], f"{path}.id", "make it a string")
            return raw, UNSET
        message = read_wire(MESSAGE, raw, path, "give {id, role, content}")
        return message, message.subagent_run_id

    def _check(self, extra: Mapping[str, Json], index: int) -> None:
        """Raise an error for members of another type, which would be kept like unknown ones."""
        for name, codec in wire.CHECKED.items():
            if name in extra:
                read_wire(codec, extra[name], f"{self._path(index)}.{name}", "leave it out, or repair it")


class AgentReader:
    """Reads the messages of one agent. In `messages`, results and steps are separate."""

    def __init__(self, reader: Reader, found: Sequence[tuple[int, Any]]) -> None:
        """`found`: messages with their indexes.

        The main agent also has the messages of sub-agents that no call started. They are internal.
        """
        self.messages: list[Message] = []
        self.indexes: list[int] = []
        self._reader, self._positions, self._found = reader, reader.positions, found
        self._reasoning: list[tuple[int, ReasoningPart]] = []
        self._steps: list[tuple[int, int]] = []  # of the last assistant message: here, and in the payload
        self._open: dict[str, list[str]] = {}  # names of calls without a result by id, the next one last
        for index, message in found:
            if type(message) is wire.Reasoning:
                part = self._positions[index, 0] = REASONING.read(message, None)
                self._reasoning.append((index, part))
            elif type(message) is wire.Assistant:
                self._assistant(message, index)
            else:
                if self._reasoning:
                    self._end_reasoning()
                if type(message) is wire.Tool:
                    self._result(message, index)
                else:
                    self._steps = []
                    self._other(message, index)
        if self._reasoning:
            self._end_reasoning()

    def _other(self, message: Any, index: int) -> None:
        """Read a message that is neither of the assistant nor a result."""
        if is_object(message) or (type(message) is wire.Activity and message.activity_type is UNSET):
            raw: JsonObject = message if is_object(message) else to_json(message)
            event = AssistantMessage(id=raw["id"], type="event", content=[ForeignPart(NAME, raw)])
            self._add(event, index)
            return
        internal = message.subagent_run_id is not UNSET
        read: Message
        if type(message) is wire.Activity:
            activity = AssistantContent(parts=(read_activity(message),), metadata=message.metadata)
            read = AssistantMessage(id=message.id, type="event", content=activity, internal=internal)
        elif type(message) is wire.User:
            read = UserMessage(id=message.id, content=read_user(message), internal=internal)
        else:
            read = SystemMessage(id=message.id, content=read_system(message), internal=internal)
        self._add(read, index)

    def _add(self, message: Message, index: int, *, has_parts: bool = True) -> None:
        self.messages.append(message)
        self.indexes.append(index)
        self._positions[index,] = message
        for number, part in enumerate(message.content.parts if has_parts else ()):
            self._positions[index, number] = part

    def _assistant(self, message: wire.Assistant, index: int) -> None:
        parts: list[AssistantPart] = [part for _, part in self._reasoning]
        self._reasoning = []
        calls = message.tool_calls or ()
        internal = message.subagent_run_id is not UNSET
        block = replace(message, id="", metadata=UNSET, tool_calls=UNSET if calls else message.tool_calls)
        found: JsonObject = {}
        if isinstance(message.content, str):
            text = self._positions[index, TEXT] = TEXTS.read(block, None)
            parts.append(text)
        else:
            found = residue(wire.Assistant(id=""), block)
        for number, call in enumerate(calls):
            part = self._positions[index, number] = CALLS.read(call, None)
            if self._reader.has_agent(call.id) and self._reader.calls[call.id] == (index, number):
                part = replace(part, children=tuple(self._reader.read_agent(call.id)))
            parts.append(part)
        if found or message.metadata is not UNSET or not self._continue(message, index, parts):
            content = AssistantContent(
                parts=tuple(parts),
                metadata=message.metadata,
                provider_metadata={NAMESPACE: found} if found else None,
            )
            read = AssistantMessage(id=message.id, content=content, internal=internal)
            self._steps = [(len(self.messages), index)]
            self._add(read, index, has_parts=False)
        for call in reversed(calls):
            self._open.setdefault(call.id, []).append(call.function.name)

    def _continue(self, message: wire.Assistant, index: int, parts: Sequence[AssistantPart]) -> bool:
        """Add the next step of the last assistant message, if it is one. `join` merges the steps."""
        if not self._steps:
            return False
        at, place = self._steps[0]
        first: Any = self.messages[at]
        is_next = message.id == f"{first.id}#{len(self._steps) + 1}"
        if not is_next or (message.subagent_run_id is not UNSET) != first.internal:
            return False
        if message.tool_calls and first.type != "tool":  # `join` needs one type in all steps
            for other, _ in self._steps:
                self.messages[other] = replace(self.messages[other], type="tool")
            self._positions[place,] = first = self.messages[at]
        start = self._positions[index, STEP] = StepStartPart()
        self._steps.append((len(self.messages), index))
        step = replace(first, id=message.id, content=AssistantContent(parts=(start, *parts)))
        self._add(step, index, has_parts=False)
        return True

    def _result(self, message: wire.Tool, index: int) -> None:
        names = self._open.get(message.tool_call_id)
        name = names.pop() if names else self._names.get(message.tool_call_id, "")
        part = RESULTS.read(replace(message, id="", metadata=UNSET), name)
        content = ToolContent(parts=(part,), metadata=message.metadata)
        internal = message.subagent_run_id is not UNSET
        self._add(ToolMessage(id=results_group(message.id), content=content, internal=internal), index)

    @cached_property
    def _names(self) -> dict[str, str]:
        """Return the names of the calls by id. Of several calls with an id, the first one is used."""
        messages = [message for _, message in self._found if type(message) is wire.Assistant]
        calls = [call for message in messages for call in message.tool_calls or ()]
        return {call.id: call.function.name for call in reversed(calls)}

    def _end_reasoning(self) -> None:
        """End reasoning: without an assistant message after it, it is a separate message."""
        index, part = self._reasoning[0]
        message = AssistantMessage(id=part.id or "", content=[part for _, part in self._reasoning])
        self._add(with_message_notes(message, NAMESPACE, {ROLE: "reasoning"}), index, has_parts=False)
        self._reasoning, self._steps = [], []


# Writing


def _is_written(part: AssistantPart) -> bool:
    return isinstance(part, TextPart | ReasoningPart | ToolCallPart)


def _must_cut(parts: Sequence[LocatedPart], part: AssistantPart) -> bool:
    """Whether a part must start a message, because texts and reasoning cannot follow a text or a call."""
    if type(part) is not TextPart and type(part) is not ReasoningPart:
        return False
    kinds = [type(one.part) for one in parts]
    return TextPart in kinds or ToolCallPart in kinds


class Writer:
    """The state that the writers of all agents share."""

    def __init__(self) -> None:
        self.payload: list[Wire | JsonObject] = []
        self.record = Record()
        self.calls: dict[str, str] = {}
        """The paths of the first calls with each id, which have the sub-agents: see `Reader`."""
        self.reasoning_ids: set[str] = set()
        self.result_ids: dict[str, int] = {}

    def report_repair(self, path: str, value: Json, why: str) -> None:
        """Report a value that was added or changed because AG-UI requires it."""
        self.record.losses.append(Loss.of(path, value, why, "repaired"))


class AgentWriter:
    """Writes the messages of one agent, and of its sub-agents."""

    def __init__(self, writer: Writer, messages: Sequence[Message], root: str, agent: str | None) -> None:
        self._writer, self._record, self._payload = writer, writer.record, writer.payload
        self._agent: Any = UNSET if agent is None else agent
        self._calls: list[LocatedPart] = []  # those of the last step, until their sub-agents are written
        self._reasoning_count = 0
        turns = list(split(messages, _is_written, must_cut=_must_cut, results="all", root=root))
        for turn, following in zip_longest(turns, turns[1:]):
            if not isinstance(turn, Results):
                self._write_sub_agents()
            match turn:
                case Step():
                    self._step(turn, is_followed=isinstance(following, Step))
                case Results():
                    self._results(turn)
                case Instructions() | Prompt():
                    self._prompt(turn)
        self._write_sub_agents()

    def _append(self, block: Any) -> int:
        """Append a message and return its index."""
        self._payload.append(block)
        return len(self._payload) - 1

    def _append_block(self, block: Any, id: str, metadata: Json = UNSET) -> int:
        """Append a new block as a message with that id, and return its index."""
        force_setattr(block, "id", id)
        if is_object(metadata):
            force_setattr(block, "metadata", metadata)
        if self._agent is not UNSET:
            force_setattr(block, "subagent_run_id", self._agent)
        return self._append(block)

    def _prompt(self, turn: Instructions | Prompt) -> None:
        message, is_system = turn.message, isinstance(turn, Instructions)
        sent = [part if type(part) is TextPart or not is_system else None for part, _ in turn.parts]
        blocks, numbers = numbered([CONTENT.write(part) for part in sent])
        if is_system:
            numbers = [None if number is None else 0 for number in numbers]  # the content is one text
            if not blocks:
                self._writer.report_repair(f"{turn.path}.content.parts", "", REQUIRED)
        elif not blocks and isinstance(turn, Prompt) and turn.steering is not None:
            self._record.add(turn, None, numbers)
            return
        block = write_prompt(message.content, tuple(blocks))
        block = restore(block, message_notes(message, NAMESPACE))
        index = self._append_block(block, message.id, message.content.metadata)
        self._record.add(turn, (index,), [None if one is None else (index, one) for one in numbers])

    # Steps

    def _event(self, message: AssistantMessage) -> int | None:
        """Write an activity or a message of an unknown role, and return its index."""
        match message.parts:
            case (ForeignPart(format=format_, value=value),) if format_ == NAME and _is_unknown(value):
                return self._append(value)
            case (DataPart() as data,) if notes(data.provider_metadata, NAMESPACE).get(ROLE) == "activity":
                block = restore(write_activity(data), notes(data.provider_metadata, NAMESPACE))
                return self._append_block(block, message.id, message.content.metadata)
            case _:
                return None

    def _step(self, step: Step, *, is_followed: bool) -> None:
        message, start = step.message, len(self._payload)
        if (index := self._event(message)) is not None:
            self._record.add(step, (index,), [(index, 0)])
            return
        self._reasoning_count = 0 if step.number == 1 else self._reasoning_count
        text: TextPart | None = None
        calls: list[LocatedPart] = []
        positions: list[Position | None] = []
        for located in step.parts:
            match located.part:
                case ReasoningPart():
                    positions.append((self._reasoning(located, message), 0))
                case TextPart() as text:
                    positions.append((len(self._payload), TEXT))
                case ToolCallPart():
                    positions.append((len(self._payload), len(calls)))
                    calls.append(located)
                case _:
                    positions.append(None)
        place: Position | None = (start,)
        if text is not None or calls or is_followed or not self._is_reasoning(message, start):
            is_written = step.number == 1 or any(place is not None for place in positions)
            place = (self._assistant(step, text, calls),) if is_written else None
        self._boundaries(step, place)
        if [call for call in calls if call.part.children]:
            self._calls = calls
            step = step._replace(parts=[self._without_children(located) for located in step.parts])
        self._record.add(step, place, positions)

    def _is_reasoning(self, message: AssistantMessage, start: int) -> bool:
        """Whether the message consists only of the reasoning that was written from that index."""
        is_noted = message_notes(message, NAMESPACE).get(ROLE) == "reasoning"
        return is_noted and len(self._payload) > start

    def _boundaries(self, step: Step, place: Any) -> None:
        """Record the step starts before a step. Its message implies one."""
        boundaries = list(step.boundaries)
        if step.is_cut and place is not None and step.parts:
            self._writer.report_repair(step.parts[0].path, f"{step.message.id}#{step.number}", ONE_TEXT)
        elif step.number > 1 and boundaries and place is not None:
            part, path = boundaries.pop(0)
            self._record.entries.append(Entry(part, path, (*place, STEP)))
        self._record.add_boundaries(boundaries, REPORT.default)

    def _assistant(self, step: Step, text: TextPart | None, calls: Sequence[LocatedPart]) -> int:
        """Append the message of a step, with the id in the notes of its text or its calls if there is one."""
        message, is_first = step.message, step.number == 1
        if text is not None:
            known = notes(text.provider_metadata, NAMESPACE).get(MESSAGE_ID)
        else:
            known = notes(calls[0].part.call_provider_metadata, NAMESPACE).get(PARENT) if calls else None
        block: Any = wire.Assistant(id="") if text is None else TEXTS.write(text)
        if calls:
            force_setattr(block, "tool_calls", tuple([CALLS.write(call) for call, _ in calls]))
        if is_first:
            block = restore(block, message_notes(message, NAMESPACE))
        for call, path in calls:
            self._writer.calls.setdefault(call.id, path)
            if call.input is UNSET and not isinstance(call.raw_input, str):
                self._writer.report_repair(f"{path}.input", "{}", REQUIRED)
        id_ = message.id if is_first else f"{message.id}#{step.number}"
        metadata = message.content.metadata if is_first else UNSET
        return self._append_block(block, known if isinstance(known, str) else id_, metadata)

    def _without_children(self, located: LocatedPart) -> LocatedPart:
        """Return a call without the messages of its sub-agent, if these are written."""
        part, path = located
        is_written = type(part) is ToolCallPart and part.children and self._writer.calls.get(part.id) == path
        return LocatedPart(replace(part, children=()), path) if is_written else located

    def _reasoning(self, located: LocatedPart, message: AssistantMessage) -> int:
        part, path = located
        self._reasoning_count += 1
        ids, id_ = self._writer.reasoning_ids, part.id
        if id_ is None or id_ in ids:
            id_ = f"{message.id}:reasoning-{self._reasoning_count}"
            self._writer.report_repair(f"{path}.id", id_, OWN_ID)
        ids.add(id_)
        return self._append_block(REASONING.write(part), id_)

    # Results and sub-agents

    def _results(self, turn: Results) -> None:
        positions: list[Any] = []
        for part, path in turn.parts:
            self._write_sub_agents(path)
            if type(part) is not ToolResultPart:
                positions.append(None)
                continue
            known = notes(part.provider_metadata, NAMESPACE).get(MESSAGE_ID)
            wanted = known if isinstance(known, str) else turn.message.id
            id_ = unused_id(wanted, self._writer.result_ids)
            if any(positions) and results_group(id_) not in (turn.message.id, known):
                self._writer.report_repair(f"{turn.path or f'{path}.resultMessage'}.id", id_, OWN_ID)
            positions.append((self._append_block(RESULTS.write(part), id_, turn.message.content.metadata), 0))
        first = next(filter(None, positions), None)
        self._record.add(turn, first and first[:1], positions)

    def _write_sub_agents(self, until: str | None = None) -> None:
        """Write the sub-agents of the calls of the last step, up to the call with that path."""
        while self._calls:
            call, path = self._calls.pop(0)
            if call.children and self._writer.calls[call.id] == path:
                AgentWriter(self._writer, call.children, f"{path}.children", call.id)
            if path == until:
                break


def _is_unknown(value: Json) -> bool:
    """Whether a message is kept as it is: its role is unknown, or it is an activity without a type."""
    if not is_object(value) or not isinstance(value.get("role"), str):
        return False
    is_activity = value["role"] == "activity" and not isinstance(value.get("activityType"), str)
    return is_activity or value["role"] not in ROLES


FORMAT: Final = Format(
    NAME,
    "AG-UI messages, inputs of runs and events",
    load,
    dump,
    AgUiDecoder,
    AgUiEncoder,
    takes_request=True,
    slot=in_messages("metadata"),
    is_complete=True,
)
