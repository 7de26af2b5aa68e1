"""Canonical messages → message dicts of LangChain.

Version 1 writes standard content blocks and says so; version 0 writes content as older code expects it:
strings, OpenAI's and Anthropic's blocks. Each step of an answer is a message, and so is each result. JSON
outputs are text, with the value as their artifact. Lost is what reading it again would not give back: times,
owners, threads, approvals, sub-agents, data, sources.
"""

from collections.abc import Sequence
from typing import Any, Final, assert_never

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.bare import is_bare_around
from partita.formats.format import Dumped
from partita.formats.framework.arrivals import Arrivals, answered, bare
from partita.formats.framework.members import Members, noted
from partita.formats.framework.plain import plain_text
from partita.formats.framework.steps import (
    Idle,
    Placed,
    Spoken,
    Steered,
    Step,
    Turn,
    Unasked,
    turns_in,
)
from partita.types.codec import to_json
from partita.types.fold import fold, results_id
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
    derive_type,
)
from partita.types.parts import ForeignPart
from partita.types.tools import ToolResultPart
from partita.types.usage import Usage

from .blocks import read_block, write_block
from .calls import is_unsent
from .envelope import NAME, is_message, wrapped
from .load import said
from .plain import write_classic, write_modern, write_text
from .plain_answers import PlainAnswer
from .results import read_result, write_result
from .shapes import standard
from .writing import Answer, classic, modern, provider_of

DEFAULT: Final = "LangChain's messages have no place for it"
STEERED: Final = "it is written as a message of the user"
ALONE: Final = "every result is a message of its own"
UNCOUNTED: Final = "what was not counted is counted as nothing, or as the sum"
NO_INPUT: Final = "a call without input has an empty one"
BESIDE: Final = "calls without a block stand behind everything else"
SPELLING: Final = frozenset(
    {
        *("shape", "spelt", "untyped", "kind", "wordless", "plain", "arguments", "at", "silent"),
        *("apart", "unlisted", "unnamed", "made", "list", "string", "listed", "summary", "type"),
    }
)
"""What notes say only to have something written as it was."""

REASONS: Final = {
    "createdAt": "LangChain's messages have no time",
    "threadId": "LangChain's messages do not name their thread",
    "runId": "LangChain's messages do not name their run",
    "metadata": "it goes along only where there is room for what a format has no place for",
    "output": "a result is text, blocks, or JSON with an artifact, and its status",
}


def dump(messages: Sequence[Message], version: int = 1) -> Dumped:
    """Messages as a list that `messages_from_dict` takes."""
    return _Writer(is_v1=version == 1).write(messages)


class _Writer:
    """One list of messages on its way."""

    def __init__(self, *, is_v1: bool) -> None:
        self.is_v1 = is_v1
        self.payload: list[JsonObject] = []
        self.losses = Arrivals(DEFAULT, REASONS, NAME, SPELLING)
        self.ids: set[str] = set()
        self.results_id: str | None = None  # of results behind the answer that was written last
        self.answering: AssistantMessage | None = None  # the message whose steps are written
        self.namespace: str | None = None  # of its provider

    def write(self, messages: Sequence[Message]) -> Dumped:
        """All of them."""
        for place, message in enumerate(fold(messages)):
            path = f"$[{place}]"
            if not self._plainly(message, path):
                for turn in turns_in(message, path, _is_told):
                    self._turn(turn)
        return Dumped(self.payload, tuple(self.losses.told))

    def _turn(self, turn: Turn) -> None:
        match turn:
            case Unasked():
                self._orphans(turn.message, turn.path)
            case Spoken():
                self._said(turn.message, turn.path)
                self.results_id = None
            case Step():
                self.results_id = turn.results_id
                self._step(turn)
            case Steered():
                self._steered(turn)
                self.results_id = None
            case Idle():
                self._tell(turn.starts)
            case _:
                assert_never(turn)

    # Plain messages

    def _plainly(self, message: Message, path: str) -> bool:
        """Write a message that is plain; all others are left."""
        if type(message) is AssistantMessage:
            return self._plain_answer(message, path)
        text = plain_text(message)
        if text is None:
            return False
        type_ = "system" if type(message) is SystemMessage else "human"
        self.payload.append(write_text(type_, text, self._own_id(message.id)))
        if message.type != "text" or not is_bare_around(message):
            self.losses.alone(message, message.id, path)
        self.results_id = None
        return True

    def _plain_answer(self, message: AssistantMessage, path: str) -> bool:
        before = len(self.payload)
        answer = PlainAnswer(self.payload, write_modern if self.is_v1 else write_classic)
        if not answer.add(message):
            del self.payload[before:]
            return False
        if answer.leading:
            self.losses.steps(answer.leading, path, DEFAULT)
        if not is_bare_around(message) or message.type != derive_type(message.content.parts):
            self.losses.alone(message, message.id, path)
        if answer.idle:
            self.losses.steps(answer.idle, path, DEFAULT)
        self.results_id = results_id(message.id, answer.steps)
        return True

    def _own_id(self, id_: str) -> str | None:
        """The id to write: none if a message in this place gets it anyway."""
        return None if id_ == f"message-{len(self.payload) + 1}" else id_

    def _tell(self, placed: Sequence[Placed]) -> None:
        for part, path in placed:
            self.losses.whole(part, path)

    def _made_id(self) -> str:
        return f"message-{len(self.payload) + 1}"

    # System and user messages

    def _said(self, message: SystemMessage | UserMessage, path: str) -> None:
        whole = _whole(message)
        if whole is not None:
            self.payload.append(whole)
            return
        blocks = self._blocks(message.parts, f"{path}.content.parts")
        if message.parts and not blocks:
            self.losses.shell(message, None, path)
            return
        role = "system" if isinstance(message, SystemMessage) else "human"
        note = dict(noted(message.content.provider_metadata, NAME))
        fields: JsonObject = {"role": note.pop("role_")} if "role_" in note else {}
        as_list = note.pop("list", False)
        content = blocks if as_list or not message.parts else _as_string(blocks)
        raw = wrapped("chat" if fields else role, content, self._own_id(message.id), note, **fields)
        self.payload.append(raw)
        members = Members({**raw["data"], "content": ""})
        for name in ("id", "type", "role"):
            members.any(name)
        members.left |= {"role_": fields["role"]} if fields else {}
        members.left |= {"list": True} if as_list else {}
        self.losses.shell(message, said(members, message.id, role), path)

    def _blocks(self, parts: Sequence[Any], path: str) -> list[Json]:
        written: list[Json] = []
        for index, part in enumerate(parts):
            block = write_block(part, None)
            again = None
            if block is not None:
                written.append(modern(block) if self.is_v1 else classic(block, None))
                blocks = standard(written[-1])
                again = read_block(blocks[0], None)
            self.losses.part(part, again, f"{path}[{index}]")
        return written

    def _steered(self, turn: Steered) -> None:
        part = turn.part
        blocks = self._blocks(part.parts, f"{turn.path}.parts")
        self.losses.tell(turn.path, {"type": "steering-message", "id": part.id}, STEERED, "changed")
        if blocks:
            self.payload.append(wrapped("human", _as_string(blocks), part.id, {}))

    # Answers

    def _step(self, step: Step) -> None:
        if step.message is not self.answering:
            self.answering, self.namespace = step.message, provider_of(step.message, is_v1=self.is_v1)
        answer = Answer(step, self.namespace, is_v1=self.is_v1)
        self._tell(step.starts if step.number == 1 else step.starts[:-1])
        raw = answer.written(self._own_id(step.id))
        if step.number == 1 or not answer.is_silent(raw):
            self.payload.append(raw)
        if step.number == 1:
            self.losses.shell(step.message, answer.shell(raw), step.path)
            self._counted(step.message.content.usage, f"{step.path}.content.usage")
        for call, path in answer.moved():
            self.losses.tell(path, call.id, BESIDE, "changed")
        for part, path in answer.in_order():
            if not isinstance(part, ToolCallPart):
                self.losses.part(part, answer.again(part), path)
                continue
            if part.input is UNSET and part.raw_input is UNSET:
                self.losses.tell(f"{path}.input", None, NO_INPUT, "changed")
            if part.provider_executed:
                self.losses.call(part, answer.again(part), path)
                self._origin(part, None, path)
            else:
                self._call(part, answer, step, path)

    def _counted(self, usage: Usage | None, path: str) -> None:
        """Tell what is written of a usage that does not count everything."""
        if usage is not None and None in (usage.input_tokens, usage.output_tokens, usage.total_tokens):
            self.losses.tell(path, to_json(usage), UNCOUNTED, "changed")

    def _call(self, call: ToolCallPart, answer: Answer, step: Step, path: str) -> None:
        is_sent = call.output is not None and not is_unsent(call)
        again = answer.again_call(call, is_answered=is_sent)
        if call.output is None or not is_sent:
            self.losses.call(call, again, path)
            self._origin(call, None, path)
            return
        kept = call.result_message.parts if call.result_message else ()
        named = next((one for one in kept if isinstance(one, ToolResultPart)), None)
        name = call.name if named is None else named.name
        result = ToolResultPart(call.id, name, call.output, call.result_provider_metadata)
        raw = self._result(result, call.result_message)
        self.losses.call(call, answered(again, _read_again(raw, call.name)), path)
        self._origin(call, raw, path)
        if named is not None and named.extra:
            self.losses.tell(f"{path}.resultMessage.parts[0]", dict(named.extra), DEFAULT)

    def _result(self, result: ToolResultPart, origin: ToolMessage | None) -> JsonObject:
        """Write the message of a result. Ids of messages are used once: some code replaces by them."""
        own = self.results_id or self._made_id()
        id_ = None if origin is None or origin.id in self.ids or origin.id == own else origin.id
        if id_ is not None:
            self.ids.add(id_)
        written = write_result(result, is_v1=self.is_v1)
        note = {} if origin is None else noted(origin.content.provider_metadata, NAME)
        raw = wrapped(
            "tool",
            written.content,
            id_,
            {**note, **written.note, "name": written.name},
            tool_call_id=result.id,
            artifact=written.artifact,
            status=written.status,
        )
        self.payload.append(raw)
        return raw

    def _origin(self, call: ToolCallPart, raw: JsonObject | None, path: str) -> None:
        """Tell what of the message that a result came in does not arrive."""
        origin = call.result_message
        if origin is None:
            return
        self.losses.shell(bare(origin), _shell_again(raw), f"{path}.resultMessage")

    def _orphans(self, message: ToolMessage, path: str) -> None:
        """Results without a call, each in a message of its own."""
        again = None
        for index, part in enumerate(message.parts):
            where = f"{path}.content.parts[{index}]"
            if isinstance(part, ToolResultPart):
                own = self.results_id or self._made_id()
                raw = self._result(part, message)
                self.losses.part(part, _read_again(raw, ""), where)
                if again is not None:
                    self.losses.tell(where, part.id, ALONE, "changed")
                again = again or _shell_again(raw, own)
            else:
                self.losses.whole(part, where)
        self.losses.shell(message, again, path)


def _is_told(part: AssistantPart) -> bool:
    return isinstance(part, ToolCallPart) or write_block(part, None) is not None


def _read_again(raw: JsonObject, name: str) -> ToolResultPart | None:
    return read_result(Members(raw["data"]), name)


def _shell_again(raw: JsonObject | None, own: str | None = None) -> ToolMessage | None:
    id_ = own if raw is None or raw["data"]["id"] is None else raw["data"]["id"]
    if raw is None or id_ is None:
        return None
    members = Members({**raw["data"]})
    read_result(members, "")
    for name in ("id", "type"):
        members.any(name)
    metadata = {NAME: members.left} if members.left else None
    empty = ToolMessage(id=id_, content=(), type="tool")
    return _with_metadata(empty, metadata)


def _with_metadata(message: ToolMessage, metadata: JsonObject | None) -> ToolMessage:
    return replace(message, content=replace(message.content, provider_metadata=metadata))


def _whole(message: SystemMessage | UserMessage) -> JsonObject | None:
    """The message of another type that a notice keeps whole."""
    match message.parts:
        case (ForeignPart(format="langchain", value=value),) if message.type == "event" and is_object(value):
            return value if is_message(value) else None
        case _:
            return None


def _as_string(blocks: list[Json]) -> Json:
    """The content as a string, if it is one text and no more."""
    if not blocks:
        return ""
    first = blocks[0]
    is_plain = is_object(first) and set(first) == {"type", "text"} and first["type"] == "text"
    return first["text"] if len(blocks) == 1 and is_plain else blocks
