"""Messages → one request after the other, and what of the messages does not arrive in them."""

from typing import Final, TypeAlias

from partita.formats.framework.arrivals import Arrivals, bare
from partita.formats.framework.members import noted
from partita.types.json import JsonObject, is_object
from partita.types.messages import AssistantMessage, Message, SystemMessage, ToolMessage
from partita.types.tools import ToolResultPart

from .moments import written_moment
from .requests import RequestReader
from .shapes import NAME, members_of, object_of, written

_Awaited: TypeAlias = tuple[Message | None, str]
"""A message that a request should give when it is read again, and its path; `None` if nobody compares it."""

_REQUEST: Final = written("request", {"parts": [], "kind": "request"})


class RequestWriter:
    """The request that is being written, and what is known from those before it."""

    def __init__(self, losses: Arrivals) -> None:
        self.losses = losses
        self.instructions: str | None = None
        self.count = 0
        self.head: AssistantMessage | None = None  # the last response, if it says more than its parts
        self.head_id: str | None = None
        self.names: dict[str, str] = {}
        self.done: list[JsonObject] = []
        self.first: Message | None = None
        self.parts: list[JsonObject] | None = None
        self.metadata: JsonObject | None = None
        self.new_instructions: str | None = None
        self.said: list[_Awaited] = []
        self.given: list[tuple[str, ToolMessage, str]] = []
        self.is_plain = True  # all that was said so far is

    def made_id(self) -> str:
        """The id that a message which comes now is read with."""
        return f"message-{self.count + 1}"

    def answered_by(self, message: AssistantMessage, calls: dict[str, str]) -> None:
        """A response was written."""
        self.count += 1
        self.head, self.head_id = message, message.id
        self.names.update(calls)

    def answered_plainly(self, calls: dict[str, str], returns: list[JsonObject]) -> None:
        """A response was written that is plain, as is what came of its calls."""
        self.head, self.head_id = None, self.made_id()
        self.count += 1
        if calls:
            self.names.update(calls)
        if returns:
            self.parts = returns

    def add_plainly(self, message: Message, path: str, part: JsonObject) -> None:
        """Write what a plain message says."""
        if self.parts is None:
            self.first, self.parts = message, []
        self.parts.append(part)
        self.said.append((message, path))

    def open(self, message: Message | None, path: str) -> list[JsonObject]:
        """The parts of the request that a message belongs to."""
        about = _request_of(message)
        if self.parts is None or about.get("apart") is True:
            self._end()
            self.first = message
        self.is_plain = False
        parts = self.parts = [] if self.parts is None else self.parts
        if not isinstance(message, ToolMessage):
            self.said.append((message, path))
        given = None if message is None else message.content.metadata
        if self.metadata is None and is_object(given):
            self.metadata = given
        return parts

    def add(self, message: Message | None, path: str, part: JsonObject) -> None:
        """Write what a message says."""
        self.open(message, path).append(part)

    def instruct(self, message: SystemMessage, path: str, text: str) -> None:
        """Write instructions. They stand beside the parts, so there is one text of them a request."""
        if self.parts is not None and (self.parts or self.new_instructions is not None):
            self._end()
        self.open(message, path)
        self.new_instructions = text

    def give_back(
        self, origin: ToolMessage | None, path: str, part: JsonObject, *, is_alone: bool = True
    ) -> None:
        """Write what a tool gave back, in the request of the message that it came in."""
        is_new = origin is not None and origin is not self.first and _request_of(origin).get("apart") is True
        is_same = self.given and origin is not None and bare(self.given[-1][1]) == bare(origin)
        if self.parts is None or (is_new and not is_same and is_alone):
            self._end()
            self.first, self.parts = origin, []
        self.parts.append(part)
        if origin is not None:
            self.is_plain = False
            self.given.append((part["tool_call_id"], origin, path))

    def finish(self) -> list[JsonObject]:
        """The requests that are over."""
        self._end()
        done, self.done = self.done, []
        return done

    def _end(self) -> None:
        if self.parts is None:
            return
        if self.is_plain:
            self._end_plainly(self.parts)
        else:
            raw = self._written(self.parts)
            self.done.append(raw)
            self._tell(self._read(raw))
            self.metadata = self.new_instructions = None
            self.given, self.is_plain = [], True
        self.first = self.parts = None
        self.said = []

    def _written(self, parts: list[JsonObject]) -> JsonObject:
        first = self.first or self.head
        about = {k: v for k, v in _request_of(self.first).items() if k not in {"apart", "uninstructed"}}
        if "timestamp" not in about and first is not None and first.created_at is not None:
            about["timestamp"] = written_moment(first.created_at)
        if self.new_instructions is not None:
            self.instructions = self.new_instructions
        elif _request_of(self.first).get("uninstructed") is True:
            about["instructions"] = None
        about = {"instructions": self.instructions, **about}
        if first is not None:
            about |= {"run_id": first.run_id, "conversation_id": first.thread_id}
        if self.metadata is not None:
            about["metadata"] = self.metadata
        return written("request", about, {"parts": parts, "kind": "request"})

    def _end_plainly(self, parts: list[JsonObject]) -> None:
        """Write a request in which nothing but plain texts follows returns, and tell what does not arrive."""
        if self.first is None and self.head is not None:
            raw = self._written(parts)
        else:
            raw = _REQUEST.copy()
            raw["parts"], raw["instructions"] = parts, self.instructions
        self.done.append(raw)
        self.count += len(parts) > len(self.said)
        for message, path in self.said:
            if message is not None:
                self.losses.renamed(message, self.made_id(), path)
            self.count += 1

    def _tell(self, again: list[Message]) -> None:
        self.count += len(again)
        others = [one for one in again if not isinstance(one, ToolMessage)]
        for (message, path), other in zip(self.said, others, strict=False):
            if message is not None:
                self.losses.shell(message, other, path)
        holders: dict[str, ToolMessage] = {}
        for tool in (one for one in again if isinstance(one, ToolMessage)):
            for part in tool.parts:
                if isinstance(part, ToolResultPart):
                    holders.setdefault(part.id, tool)
        for call_id, origin, path in self.given:
            self.losses.shell(bare(origin), holders.get(call_id), path)

    def _read(self, raw: JsonObject) -> list[Message]:
        members = members_of(raw, "request", "kind", "parts", "instructions")
        head = self.head
        if head is None and self.head_id is not None:
            head = AssistantMessage(id=self.head_id, content=())
        reader = RequestReader(members, head, self.names, self.count)
        if self.new_instructions is not None:
            reader.instruct(self.new_instructions)
        elif _request_of(self.first).get("uninstructed") is True:
            members.left["uninstructed"] = True
        if _request_of(self.first).get("apart") is True:
            members.left["apart"] = True
        for part in raw["parts"]:
            reader.add(part)
        return list(reader.finish())


def _request_of(message: Message | None) -> JsonObject:
    """What a message says of the request it came first in."""
    if message is None:
        return {}
    return object_of(noted(message.content.provider_metadata, NAME).get("request"))
