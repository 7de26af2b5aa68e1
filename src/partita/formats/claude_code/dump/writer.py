"""Messages → lines, one message after the other: restored where they came from a session file, else new."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final, NamedTuple, assert_never

from msgspec import UNSET

from partita.formats.claude_code.log.envelope import SOURCE
from partita.formats.session_losses import NO_PLACE, Losses
from partita.formats.session_names import Names
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
    text_of,
)
from partita.types.parts import TextPart
from partita.types.times import iso_text
from partita.types.tools import InterruptedOutput

from .answers import Response, Steering, model_of, responses_of, usage_of
from .envelopes import Restored, envelope_of, restore
from .line import Line
from .new_blocks import Call, user_blocks
from .new_results import new_result

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
NO_CALL: Final = "no call asked for it"
NOT_TOLD: Final = "it is shown, but the model is not told"
EMPTY: Final = "there is nothing in it that a session file can hold"


class Facts(NamedTuple):
    """What every line says of its session."""

    session_id: str
    cwd: str
    version: str
    git_branch: str
    agent: str | None = None


class Writer:
    """The lines of one line of talk: the conversation, or a sub-agent."""

    def __init__(
        self, facts: Facts, names: Names, losses: Losses, *, closing: bool, side: bool = False
    ) -> None:
        """`closing`: calls of restored answers that have no results get one. `side`: it is a sub-agent's."""
        self._facts = facts
        self._names = names
        self._losses = losses
        self._closing = closing
        self._side = side
        self._time = EPOCH
        self._last: str | None = None  # the line that the next new one follows
        self._tails: dict[str, str | None] = {}  # the last line of each message
        self._message = ""
        self._count = 0

    def write(self, message: Message, path: str) -> list[Line]:
        """The lines of a message."""
        parent = message.parent_id
        if parent is not None:
            self._last = None if parent == "" else self._tails.get(parent, self._last)
        self._time = message.created_at or self._time
        self._message, self._count = message.id, 0
        found = restore(message, f"{path}.content", self._losses)
        lines = self._new(message, path) if found is None else self._restored(message, found, path)
        self._tails[message.id] = self._last
        return lines

    def write_aside(self, message: Message, path: str) -> list[Line]:
        """The lines of a message that stands among the others, and is not of this line of talk."""
        here = self._last
        lines = self.write(message, path)
        self._last = here
        return [line._replace(begins=False) for line in lines]

    # Restored

    def _restored(self, message: Message, found: Restored, path: str) -> list[Line]:
        lines = [line._replace(above=self._last) if line.begins else line for line in found.lines]
        named = sorted([line for line in lines if line.uuid is not None], key=lambda line: line.at or 0)
        self._last = named[-1].uuid if named else self._last
        for index, part in enumerate(message.content.parts):
            if isinstance(part, ToolCallPart):
                where = f"{path}.content.parts[{index}]"
                if part.id in found.calls and part.id not in found.answered and self._wants_result(part):
                    lines.append(self._result(Call(part, part.id, where), found.calls[part.id]))
                lines += self._children(part, where)
        return lines

    def _wants_result(self, call: ToolCallPart) -> bool:
        """Whether a call has an output that no line tells, or must have one."""
        if call.provider_executed:
            return False  # the API has it in the answer
        told = call.output is not None and not call.preliminary and not _is_lost(call)
        return told or self._closing

    def _children(self, call: ToolCallPart, path: str) -> list[Line]:
        """The lines of a sub-agent that stand among those of the conversation."""
        if not call.children:
            return []
        if not is_inline(call.children):
            self._losses.say(f"{path}.children", len(call.children), "a sub-agent has a file of its own")
            return []
        writer = Writer(self._facts, self._names, self._losses, closing=False, side=True)
        return [
            line
            for index, child in enumerate(call.children)
            for line in writer.write_aside(child, f"{path}.children[{index}]")
        ]

    # New

    def _new(self, message: Message, path: str) -> list[Line]:
        losses = self._losses
        carried = {"content", "type", "created_at", "parent_id"}
        if message.thread_id == self._facts.session_id:
            carried.add("thread_id")
        if not isinstance(message, AssistantMessage):
            carried.add("internal")
        losses.rest(message, path, *carried)
        match message:
            case UserMessage():
                lines = self._prompt(message, path)
            case AssistantMessage():
                lines = self._answer(message, path)
            case SystemMessage():
                lines = self._notice(message, path)
            case ToolMessage():
                for index, part in enumerate(message.parts):
                    losses.whole(part, f"{path}.content.parts[{index}]", NO_CALL)
                lines = []
            case _:
                assert_never(message)
        self._tell_content(message, f"{path}.content", arrives=bool(lines))
        return lines

    def _tell_content(self, message: Message, path: str, *, arrives: bool) -> None:
        content = message.content
        self._losses.rest(content, path, "parts", "format", "usage", "metadata", "content")
        if content.content is not None and content.content != text_of(message):
            self._losses.say(f"{path}.content", content.content, NO_PLACE)
        if not arrives and not content.parts:
            self._losses.say(path, [], EMPTY)
        metadata: Json = content.metadata
        if not is_object(metadata):
            metadata = {} if metadata is UNSET else {"": metadata}
        for name, value in metadata.items():
            if name != "model" or not isinstance(message, AssistantMessage) or value != model_of(message):
                self._losses.say(f"{path}.metadata.{name}".rstrip("."), value, NO_PLACE)

    def _prompt(self, message: UserMessage, path: str) -> list[Line]:
        blocks = user_blocks(message.parts, f"{path}.content", self._losses)
        is_meta = message.internal or message.type == "event"
        return [self._user(blocks, is_meta=is_meta)] if blocks else []

    def _user(self, blocks: list[JsonObject], *, is_meta: bool = False) -> Line:
        alone = len(blocks) == 1 and blocks[0]["type"] == "text"
        content: Json = blocks[0]["text"] if alone else blocks
        message: JsonObject = {"role": "user", "content": content}
        return self._line("user", message=message, **({"isMeta": True} if is_meta else {}))

    def _notice(self, message: SystemMessage, path: str) -> list[Line]:
        """A notice, or instructions: they are shown alike, and neither is told to the model."""
        text = text_of(message)
        for index, part in enumerate(message.parts):
            where = f"{path}.content.parts[{index}]"
            if isinstance(part, TextPart):
                self._losses.rest(part, where, "text", "state")
            else:
                self._losses.whole(part, where, NO_PLACE)
        if not text.strip():
            return []
        if message.type != "event":
            self._losses.say(f"{path}.role", "system", NOT_TOLD)
        return [
            self._line("system", subtype="informational", content=text, isMeta=message.internal, level="info")
        ]

    def _answer(self, message: AssistantMessage, path: str) -> list[Line]:
        said = list(responses_of(message, f"{path}.content", self._names, self._losses))
        last = max((at for at, one in enumerate(said) if isinstance(one, Response)), default=-1)
        lines: list[Line] = []
        for number, one in enumerate(said):
            match one:
                case Response():
                    usage = usage_of(message.content.usage if number == last else None)
                    lines += self._response(message, one, number, usage)
                case Steering(blocks=blocks):
                    lines += [self._user(blocks)] if blocks else []
                case _:
                    assert_never(one)
        return lines

    def _response(
        self, message: AssistantMessage, response: Response, number: int, usage: JsonObject
    ) -> Iterator[Line]:
        """A line a block, all with the id of the response; then the results of its calls."""
        around: JsonObject = {
            "id": self._names.response(message.id, number),
            "type": "message",
            "role": "assistant",
            "model": model_of(message),
            "stop_reason": "tool_use" if response.calls else "end_turn",
            "stop_sequence": None,
            "usage": usage,
        }
        homes: dict[str, str | None] = {}
        for block in response.blocks:
            line = self._line("assistant", message={**around, "content": [block]})
            if block["type"] == "tool_use":
                homes[block["id"]] = line.uuid
            yield line
        for call in response.calls:
            yield self._result(call, homes[call.id])

    def _result(self, call: Call, home: str | None) -> Line:
        result = new_result(call.part, call.path, self._losses)
        message: JsonObject = {"role": "user", "content": [result.block(call.id)]}
        return self._line("user", message=message, sourceToolAssistantUUID=home, **(result.beside or {}))

    def _line(self, type: str, **fields: Json) -> Line:
        """A new line, behind the last one."""
        facts = self._facts
        uuid = self._names.line(self._message, self._count)
        record: JsonObject = {
            "parentUuid": self._last,
            "isSidechain": self._side,
            "userType": "external",
            "cwd": facts.cwd,
            "sessionId": facts.session_id,
            "version": facts.version,
            "gitBranch": facts.git_branch,
            **({} if facts.agent is None else {"agentId": facts.agent}),
            "type": type,
            **fields,
            "uuid": uuid,
            "timestamp": iso_text(self._time, "milliseconds"),
        }
        self._last = uuid
        self._count += 1
        return Line(record)


def _is_lost(call: ToolCallPart) -> bool:
    """Whether nobody but the reader says that a call never ended."""
    return isinstance(call.output, InterruptedOutput) and call.output.reason == "lost"


def is_inline(messages: Iterable[Message]) -> bool:
    """Whether a sub-agent's messages stood among those of the conversation."""
    return any((envelope_of(message) or {}).get(SOURCE) == "inline" for message in messages)
