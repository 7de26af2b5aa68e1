"""Canonical messages → AG-UI messages, and the input of a run.

What a message of AG-UI has no room for in one piece is told in several: see `pieces`. Reasoning stands in
messages of its own before the piece it belongs to, results behind it, sub-agents' messages behind their call.
"""

from collections.abc import Mapping, Sequence
from typing import Final, assert_never

from msgspec import UNSET

from partita.formats.format import Dumped, Request, ToolSpec
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import (
    AssistantMessage,
    Content,
    Message,
    SystemMessage,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import DataPart, ForeignPart, TextPart
from partita.types.tools import ToolResultPart
from partita.types.value import unkept

from .answers import AnswerWriter, result_message
from .content import write_content
from .losses import NO_PLACE, Losses
from .messages import AGENT, is_plain
from .notes import FORMAT, closed, notes_in, rest_of
from .pieces import unused

INPUT: Final = (
    "threadId",
    "runId",
    "protocolVersion",
    "parentRunId",
    "state",
    "context",
    "forwardedProps",
    "resume",
)
"""What the input of a run says besides messages and tools."""


def dump(messages: Sequence[Message]) -> Dumped:
    """A list of AG-UI messages."""
    losses = Losses()
    return Dumped(_Writer(losses).messages(fold(messages)), tuple(losses.told))


def ask(messages: Sequence[Message], request: Request) -> Dumped:
    """The input of a run. It has to name a thread and a run: those that the settings say, or made up ones."""
    losses = Losses()
    folded = fold(messages)
    thread = next((message.thread_id for message in folded if message.thread_id), "thread-1")
    payload: JsonObject = {"threadId": thread, "runId": "run-1"}
    for name in payload:
        if name not in request.settings:
            losses.say(f"$.settings.{name}", payload[name], "the input of a run must name it", "repaired")
    for name, value in request.settings.items():
        if name in INPUT or name == "tools":
            payload[name] = value
        else:
            losses.say(f"$.settings.{name}", value, "the input of a run has no such setting")
    payload["messages"] = _Writer(losses).messages(folded)
    if request.tools:
        payload["tools"] = [_tool(tool, place, losses) for place, tool in enumerate(request.tools)]
    return Dumped(payload, tuple(losses.told))


def _tool(tool: ToolSpec, place: int, losses: Losses) -> JsonObject:
    rest = unkept(tool.extra)
    if tool.description is None and "description" not in rest:
        losses.say(f"$.tools[{place}].description", "", "a tool must have one", "repaired")
    schema = {} if tool.input_schema is None else {"parameters": tool.input_schema}
    return {"name": tool.name, "description": tool.description or "", **schema, **rest}


class _Writer:
    """One list of messages on its way."""

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._ids: set[str] = set()
        self._results_told: dict[str, int] = {}
        self._agents: set[str] = set()

    def messages(self, messages: Sequence[Message], path: str = "$", agent: str | None = None) -> list[Json]:
        """The messages of one agent, and of those under it."""
        written: list[Json] = []
        for place, message in enumerate(messages):
            written += self._message(message, f"{path}[{place}]", agent)
        return written

    def _below(self, messages: Sequence[Message], path: str, agent: str) -> list[Json]:
        """The messages under a call, whose id is the name of their agent."""
        if agent not in self._agents:
            self._agents.add(agent)
            return self.messages(messages, path, agent)
        for place, message in enumerate(messages):
            self._losses.whole(message, f"{path}[{place}]", "another call with sub-agents has the same id")
        return []

    def _message(self, message: Message, path: str, agent: str | None) -> list[Json]:
        match message:
            case SystemMessage():
                return [self._system(message, path, agent)]
            case UserMessage():
                return [self._user(message, path, agent)]
            case AssistantMessage():
                return self._assistant(message, path, agent)
            case ToolMessage():
                return self._results(message, path, agent)
            case _:
                assert_never(message)

    def _around(self, message: Message, path: str, agent: str | None, *carried: str) -> JsonObject:
        """What a message says besides its content; the rest is told as lost."""
        content: Content = message.content
        if isinstance(message, AssistantMessage):  # its seal is that of its text
            notes = notes_in(content.provider_metadata)
            self._losses.metadata(f"{path}.content.providerMetadata", content.provider_metadata)
        else:
            notes = closed(content.provider_metadata)
            self._losses.empty(f"{path}.content.providerMetadata", content.provider_metadata)
        told = ("internal",) if message.internal and AGENT in notes else ()
        self._losses.envelope(message, path, *told, *carried)
        self._losses.rest(
            content, f"{path}.content", "format", "parts", "metadata", "provider_metadata", "content"
        )
        if content.content is not None and content.content != _texts(content):
            self._losses.say(f"{path}.content.content", content.content, NO_PLACE)
        own = {} if agent is None else {AGENT: agent}
        metadata: JsonObject = {}
        if is_object(content.metadata):
            metadata = {"metadata": content.metadata}
        elif content.metadata is not UNSET:
            self._losses.say(f"{path}.content.metadata", content.metadata, "metadata are an object")
        return {**rest_of(notes, "id", "role", "content"), **own, **metadata}

    def _system(self, message: SystemMessage, path: str, agent: str | None) -> JsonObject:
        notes = notes_in(message.content.provider_metadata)
        role = "developer" if notes.get("role") == "developer" else "system"
        texts: list[str] = []
        for place, part in enumerate(message.parts):
            where = f"{path}.content.parts[{place}]"
            if isinstance(part, TextPart):
                self._losses.rest(part, where, "text")
                texts.append(part.text)
            else:
                self._losses.whole(part, where)
        if not texts:
            self._losses.say(f"{path}.content.parts", "", "instructions must have a text", "repaired")
        if len(texts) > 1:
            self._losses.say(f"{path}.content.parts", texts, "its texts become one", "changed")
        rest = self._around(message, path, agent)
        return {"id": message.id, "role": role, "content": "\n\n".join(texts), **rest}

    def _user(self, message: UserMessage, path: str, agent: str | None) -> JsonObject:
        parts, notes = message.parts, notes_in(message.content.provider_metadata)
        content: Json = write_content(parts, f"{path}.content.parts", self._losses)
        if is_plain(parts) and notes.get("content") != "list":
            content = content[0]["text"]
        rest = self._around(message, path, agent)
        return {"id": message.id, "role": "user", "content": content, **rest}

    def _assistant(self, message: AssistantMessage, path: str, agent: str | None) -> list[Json]:
        match message.parts:
            case (ForeignPart(format=format_, value=value),) if format_ == FORMAT and message.type == "event":
                self._losses.rest(message, path, "id", "content", "type")
                return [value]
            case (DataPart() as data,) if notes_in(data.provider_metadata).get("role") == "activity":
                return [self._activity(message, data, path, agent)]
            case _:
                pass
        head = self._around(message, path, agent)
        writer = AnswerWriter(
            message,
            path,
            agent,
            head,
            losses=self._losses,
            ids=self._ids,
            results=self._results_told,
            below=self._below,
        )
        return writer.written()

    def _activity(
        self, message: AssistantMessage, data: DataPart, path: str, agent: str | None
    ) -> JsonObject:
        notes = rest_of(notes_in(data.provider_metadata), "role")
        self._losses.rest(data, f"{path}.content.parts[0]", "name", "data", "id")
        if data.id not in (None, message.id):
            self._losses.say(f"{path}.content.parts[0].id", data.id, "an activity has one id")
        content = {} if data.data is UNSET else {"content": data.data}
        rest = self._around(message, path, agent, *(("type",) if message.type == "event" else ()))
        return {"id": message.id, "role": "activity", "activityType": data.name, **content, **notes, **rest}

    def _results(self, message: ToolMessage, path: str, agent: str | None) -> list[Json]:
        """Results that no call claims."""
        head = self._around(message, path, agent)
        written: list[Json] = []
        if len(message.parts) != 1:
            self._losses.say(f"{path}.id", message.id, "a message is one result", "changed")
        for place, part in enumerate(message.parts):
            where = f"{path}.content.parts[{place}]"
            if not isinstance(part, ToolResultPart):
                self._losses.whole(part, where)
                continue
            if part.name:
                self._losses.say(f"{where}.name", part.name, "a result does not name its tool", "minor")
            id_ = unused(message.id, self._results_told)
            told = result_message(part.output, part.provider_metadata, where, self._losses)
            written.append({"id": id_, "role": "tool", "toolCallId": part.id, **told, **head})
        return written


def _texts(content: Content) -> str:
    return "".join(part.text for part in content.parts if isinstance(part, TextPart))


def messages_in(payload: Json) -> list[Json]:
    """The messages of a payload that this module wrote."""
    found = payload.get("messages") if is_object(payload) else payload
    return found if is_array(found) else []


IMPLIED: Final[Mapping[str, frozenset[str]]] = {
    "role": frozenset({"developer", "system", "user", "assistant", "tool", "activity", "reasoning"}),
    "type": frozenset({"function", "text", "image", "audio", "video", "document", "data", "url", "file"}),
}
"""Words that show in the form of a message."""
