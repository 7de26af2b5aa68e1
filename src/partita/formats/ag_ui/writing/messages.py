"""Messages one after the other, and what each says besides its content."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final, assert_never

from msgspec import UNSET

from partita.formats.ag_ui.content import is_plain, write_content
from partita.formats.ag_ui.losses import NO_PLACE, Losses
from partita.formats.ag_ui.names import AGENT
from partita.formats.ag_ui.notes import FORMAT, closed, notes_in, rest_of
from partita.formats.ag_ui.pieces import result_group, unused
from partita.formats.bare import is_bare_message
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import (
    AssistantMessage,
    Content,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import DataPart, ForeignPart, TextPart
from partita.types.tools import ToolResultPart

from .agents import Home, homes_in
from .answers import AnswerWriter
from .results import result_message

CARRIED: Final = ("format", "parts", "metadata", "provider_metadata", "content")
"""Fields of a content that are told, or looked at one by one."""


class Writer:
    """One list of messages on its way."""

    def __init__(self, messages: Sequence[Message], losses: Losses) -> None:
        self.losses = losses
        self.ids: set[str] = set()
        """The ids of reasoning so far."""
        self.results: dict[str, int] = {}
        """The ids of results so far, and how many share each."""
        self._all = fold(messages)
        self._told: set[str] = set()  # the agents below whose messages are written

    def written(self) -> list[Json]:
        """All of it."""
        return self._messages(self._all, "$", None)

    def below(self, call: ToolCallPart, path: str) -> list[Json]:
        """The messages under a call, whose id is the name of their agent."""
        home, path = self._homes[call.id], f"{path}.children"
        if home.call is call and call.id not in self._told:
            self._told.add(call.id)
            return self._messages(home.messages, path, call.id)
        why = "a sub-agent goes by the id of its call: another call has it too"
        for place, message in enumerate(call.children):
            self.losses.whole(message, f"{path}[{place}]", why)
        return []

    @cached_property
    def _homes(self) -> Mapping[str, Home]:
        return homes_in(self._all)

    def _messages(self, messages: Sequence[Message], path: str, agent: str | None) -> list[Json]:
        """The messages of one agent, and of those under it."""
        written: list[Json] = []
        for place, message in enumerate(messages):
            told = self._message(message, f"{path}[{place}]", agent)
            if written and told and _is_reasoning(written[-1]) and _is_answer(told[0]):
                why = "reasoning is part of the answer behind it"
                self.losses.say(f"{path}[{place - 1}]", written[-1]["id"], why, "changed")
            written += told
        return written

    def _message(self, message: Message, path: str, agent: str | None) -> list[Json]:
        match message:
            case AssistantMessage():
                return self._assistant(message, path, agent)
            case UserMessage():
                return [self._user(message, path, agent)]
            case SystemMessage():
                return [self._system(message, path, agent)]
            case ToolMessage():
                return self._results(message, path, agent)
            case _:
                assert_never(message)

    def _system(self, message: SystemMessage, path: str, agent: str | None) -> JsonObject:
        notes = notes_in(message.content.provider_metadata)
        role = "developer" if notes.get("role") == "developer" else "system"
        texts: list[str] = []
        for place, part in enumerate(message.parts):
            where = f"{path}.content.parts[{place}]"
            if isinstance(part, TextPart):
                self.losses.rest(part, where, "text")
                texts.append(part.text)
            else:
                self.losses.whole(part, where)
        if not texts:
            self.losses.say(f"{path}.content.parts", "", "instructions must have a text", "repaired")
        if len(texts) > 1:
            self.losses.say(f"{path}.content.parts", texts, "its texts become one", "changed")
        rest = self._around(message, path, agent)
        return {"id": message.id, "role": role, "content": "\n\n".join(texts), **rest}

    def _user(self, message: UserMessage, path: str, agent: str | None) -> JsonObject:
        parts = message.parts
        content: Json = write_content(parts, f"{path}.content.parts", self.losses)
        if is_plain(parts) and notes_in(message.content.provider_metadata).get("content") != "list":
            content = content[0]["text"]
        rest = self._around(message, path, agent)
        return {"id": message.id, "role": "user", "content": content, **rest}

    def _assistant(self, message: AssistantMessage, path: str, agent: str | None) -> list[Json]:
        match message.parts:
            case (ForeignPart(format=format_, value=value),) if format_ == FORMAT and message.type == "event":
                self.losses.rest(message, path, "id", "content", "type")
                return [value]
            case (DataPart() as data,) if notes_in(data.provider_metadata).get("role") == "activity":
                return [self._activity(message, data, path, agent)]
            case _:
                head = self._around(message, path, agent)
                return AnswerWriter(self, message, path, agent, head).written()

    def _activity(
        self, message: AssistantMessage, data: DataPart, path: str, agent: str | None
    ) -> JsonObject:
        notes = rest_of(notes_in(data.provider_metadata), "role")
        self.losses.rest(data, f"{path}.content.parts[0]", "name", "data", "id")
        if data.id not in (None, message.id):
            self.losses.say(f"{path}.content.parts[0].id", data.id, "an activity has one id")
        content = {} if data.data is UNSET else {"content": data.data}
        rest = self._around(message, path, agent, *(("type",) if message.type == "event" else ()))
        return {"id": message.id, "role": "activity", "activityType": data.name, **content, **notes, **rest}

    def _results(self, message: ToolMessage, path: str, agent: str | None) -> list[Json]:
        """Results that no call claims."""
        head = self._around(message, path, agent)
        written: list[Json] = []
        if len(message.parts) != 1:
            self.losses.say(f"{path}.id", message.id, "a message is one result", "changed")
        for place, part in enumerate(message.parts):
            where = f"{path}.content.parts[{place}]"
            if not isinstance(part, ToolResultPart):
                self.losses.whole(part, where)
                continue
            if part.name:
                self.losses.say(f"{where}.name", part.name, "a result does not name its tool", "minor")
            id_ = unused(message.id, self.results)
            if result_group(id_) != message.id:
                self.losses.say(f"{path}.id", id_, "every result is a message of its own", "repaired")
            told = result_message(part.output, part.provider_metadata, where, self.losses)
            written.append({"id": id_, "role": "tool", "toolCallId": part.id, **told, **head})
        return written

    # What stands around a content

    def _around(self, message: Message, path: str, agent: str | None, *carried: str) -> JsonObject:
        """What a message says besides its content; the rest is told as lost."""
        if is_bare_message(message):
            return {} if agent is None else {AGENT: agent}
        content: Content = message.content
        notes = self._notes(message, path)
        told = ("internal",) if message.internal and AGENT in notes else ()
        self.losses.envelope(message, path, *told, *carried)
        self.losses.rest(content, f"{path}.content", *CARRIED)
        if content.content is not None and content.content != _texts(content):
            self.losses.say(f"{path}.content.content", content.content, NO_PLACE)
        around = rest_of(notes, "id", "role", "content") if notes else {}
        if agent is not None:
            around[AGENT] = agent
        if is_object(content.metadata):
            around["metadata"] = content.metadata
        elif content.metadata is not UNSET:
            self.losses.say(f"{path}.content.metadata", content.metadata, "metadata are an object")
        return around

    def _notes(self, message: Message, path: str) -> JsonObject:
        metadata = message.content.provider_metadata
        if metadata is None:
            return {}
        where = f"{path}.content.providerMetadata"
        if isinstance(message, AssistantMessage):  # its seal is that of its text
            self.losses.metadata(where, metadata)
            return notes_in(metadata)
        self.losses.empty(where, metadata)
        return closed(metadata)


def _texts(content: Content) -> str:
    return "".join(part.text for part in content.parts if isinstance(part, TextPart))


def _is_reasoning(said: Json) -> bool:
    return is_object(said) and said.get("role") == "reasoning"


def _is_answer(said: Json) -> bool:
    return is_object(said) and said.get("role") in ("reasoning", "assistant")
