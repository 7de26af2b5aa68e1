"""Model messages of AI SDK 5, 6 and 7 → canonical messages: the way back that the SDK does not have.

Assistant and tool messages in a row become one assistant message, its steps divided by step starts, its
results merged into their calls. Model messages have no ids: a message is `message-N`, where N is the place
of its first model message in the payload, counted from one. Results without a call stay tool messages.

Lost: the place of a result or an approval that does not stand where the SDK puts it. What has no place in
canonical messages is kept in `extra`, or whole as a foreign part.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError
from partita.formats.format import Loaded
from partita.formats.losses import Loss
from partita.types.fold import fold
from partita.types.json import TOO_DEEP, TOO_DEEP_HINT, Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolContent,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import StepStartPart, TextPart
from partita.types.tools import ToolResultPart
from partita.types.value import Extra

from .model_calls import KINDS, is_call, is_request, is_response, is_result, read_call
from .model_marks import FORMAT, options_of
from .model_outputs import read_tool_part
from .model_parts import Pieces, read_part
from .schema import check_version

ROLES = ("system", "user", "assistant", "tool")
MISPLACED = "the SDK puts it elsewhere, and so does `dump`"
RESPONSE, RESULT = 0, 1
LATE = (-1, -1)


def load(payload: Json, version: int = 7) -> Loaded:
    """Model messages, one or a list of them, as canonical messages."""
    return read_messages(payload, check_version(version))


def read_messages(payload: Json, version: int) -> Loaded:
    """The same, for version 4 too once it is translated to the shapes of version 5."""
    try:
        return _Reader(version).read(payload)
    except RecursionError:
        raise ConversionError(TOO_DEEP, hint=TOO_DEEP_HINT) from None
    except DecodeError as error:
        raise ConversionError(error.what, where=error.where, hint=error.hint) from None


def message_id(index: int) -> str:
    """The id of the message that begins at that index of a payload."""
    return f"message-{index + 1}"


def results_id(head_id: str, step: int) -> str:
    """The id of the tool message behind a step, as `fold` names it."""
    return f"{head_id}#{step}:results"


@dataclass(slots=True)
class _Call:
    """The parts that tell of one call, as they were found."""

    raw: JsonObject
    path: str
    step: int
    place: int
    said: list[Json] = field(default_factory=list[Json])
    answered: list[Json] = field(default_factory=list[Json])
    approval_id: str | None = None
    has_response: bool = False
    has_result: bool = False
    result_message: ToolMessage | None = None

    @property
    def is_own(self) -> bool:
        """Whether the provider runs it, so that the result stands right behind it."""
        return self.raw.get("providerExecuted") is True


Item: TypeAlias = _Call | Json
Key: TypeAlias = tuple[int, int]
"""Where an answer belongs in a tool message: the place of its call, response before result; or `LATE`."""


@dataclass(slots=True)
class _Step:
    """One assistant message of the payload, and the tool messages behind it."""

    raw: JsonObject
    items: list[Item]
    answers: list[list[Key]] = field(default_factory=list[list[Key]])


class _Turn:
    """Assistant and tool messages in a row, on their way to one assistant message."""

    def __init__(self, id_: str, version: int, losses: list[Loss]) -> None:
        self.id = id_
        self.version = version
        self.losses = losses
        self.steps: list[_Step] = []
        self.calls: defaultdict[str, list[_Call]] = defaultdict(list)
        self.requests: dict[str, _Call] = {}

    def add_said(self, raw: JsonObject, path: str) -> None:
        """Take an assistant message."""
        content = raw["content"]
        step = _Step(raw, [])
        self.steps.append(step)
        if isinstance(content, str):
            step.items.append({"type": "text", "text": content})
            return
        for index, piece in enumerate(content):
            where = f"{path}.content[{index}]"
            call = self._call_said(piece, where)
            if call is None:
                step.items.append(piece)
            elif call.raw is piece:
                step.items.append(call)
            elif not step.items or call is not step.items[-1]:
                self.losses.append(_misplaced(where, piece))

    def _call_said(self, piece: Json, path: str) -> _Call | None:
        """The call that a part of an assistant message tells of."""
        if is_call(piece):
            call = _Call(piece, path, len(self.steps), len(self.steps[-1].items))
            self.calls[piece["toolCallId"]].append(call)
        elif is_request(piece) and piece["approvalId"] not in self.requests:
            found = self._open_call(piece["toolCallId"], "approval_id")
            if found is None:
                return None
            call = self.requests[piece["approvalId"]] = found
            call.approval_id = piece["approvalId"]
        elif is_result(piece):
            found = self._open_call(piece["toolCallId"], "has_result")
            if found is None:
                return None
            call = found
            call.has_result = True
        else:
            return None
        call.said.append(piece)
        return call

    def _open_call(self, id_: str, lacking: str) -> _Call | None:
        """The nearest call with that id that has no such thing yet: the first of the last step with one."""
        waiting = [call for call in self.calls.get(id_, ()) if not getattr(call, lacking)]
        return min(waiting, key=lambda call: (-call.step, call.place), default=None)

    def add_answers(self, raw: JsonObject, id_: str, path: str) -> ToolMessage | None:
        """Take a tool message, and give back what of it belongs to no call here."""
        step = self.steps[-1]
        own_id = id_ if step.answers else results_id(self.id, len(self.steps))
        shell = _shell(raw, own_id)
        keys: list[Key] = []
        rest: list[Json] = []
        for piece in raw["content"]:
            call = self._call_answered(piece)
            if call is None:
                rest.append(piece)
                continue
            call.answered.append(piece)
            late = call.step != len(self.steps)
            keys.append(LATE if late else (call.place, RESULT if is_result(piece) else RESPONSE))
            if is_result(piece) and shell != _shell({}, results_id(self.id, call.step)):
                call.result_message = shell
        if not keys and not self._expects_nothing(raw):
            return _tool_message(raw, id_, [read_tool_part(piece, self.version) for piece in rest])
        step.answers.append(keys)
        self._check_place(raw, keys, rest, path)
        if rest:
            return _tool_message(raw, own_id, [read_tool_part(piece, self.version) for piece in rest])
        if not any(kind == RESULT for _, kind in keys):
            self._tell_members(raw, path)
        return None

    def _call_answered(self, piece: Json) -> _Call | None:
        """The call that a part of a tool message tells of."""
        if is_result(piece):
            call = self._open_call(piece["toolCallId"], "has_result")
            if call is not None:
                call.has_result = True
            return call
        if is_response(piece):
            call = self.requests.get(piece["approvalId"])
            if call is not None and not call.has_response:
                call.has_response = True
                return call
        return None

    def _expects_nothing(self, raw: JsonObject) -> bool:
        """Whether a tool message without content is the one that version 5 puts behind open calls."""
        step = self.steps[-1]
        is_open = any(isinstance(item, _Call) and not item.is_own for item in step.items)
        return self.version == 5 and is_open and not step.answers and raw == {"role": "tool", "content": []}

    def _check_place(self, raw: JsonObject, keys: list[Key], rest: list[Json], path: str) -> None:
        """Tell that answers do not come in the order of their calls, or that something stands between."""
        groups = self.steps[-1].answers[1:]
        heads = [group[0] for group in groups if group]
        in_order = keys == sorted(keys) and LATE not in keys and heads == sorted(heads)
        in_groups = not groups or all(kind == RESULT for _, kind in keys)
        if not in_order or not in_groups or raw["content"][len(keys) :] != rest:
            self.losses.append(Loss(f"{path}.content", "the order of the parts", MISPLACED))

    def _tell_members(self, raw: JsonObject, path: str) -> None:
        """Tell what a tool message says that has nothing but responses, which keep no message in mind."""
        why = "approvals do not remember the message they came in"
        self.losses.extend(
            Loss.of(f"{path}.{key}", item, why) for key, item in raw.items() if key not in ("role", "content")
        )

    def finish(self) -> AssistantMessage:
        """The message."""
        first, *others = self.steps
        parts = self._parts(first)
        for step in others:
            extra = _extra(step.raw, empty=not step.items, alone=False)
            parts.append(StepStartPart(provider_metadata=options_of(step.raw), extra=extra))
            parts += self._parts(step)
        alone = not others
        content = AssistantContent(
            parts=tuple(parts),
            content=first.raw["content"] if alone and isinstance(first.raw["content"], str) else None,
            provider_metadata=options_of(first.raw),
        )
        extra = _extra(first.raw, empty=not first.items, alone=alone)
        return AssistantMessage(id=self.id, content=content, extra=extra)

    def _parts(self, step: _Step) -> list[Any]:
        return [
            self._part(item, step) if isinstance(item, _Call) else read_part(item, "assistant", self.version)
            for item in step.items
        ]

    def _part(self, call: _Call, step: _Step) -> ToolCallPart:
        empty: list[Json] | None = [] if self.version == 5 and step.answers and not call.is_own else None
        kinds = [piece["type"] for piece in call.said]
        in_order = kinds == [kind for kind in KINDS if kind in kinds]
        if not in_order or (call.has_result and call.is_own != ("tool-result" in kinds)):
            self.losses.append(_misplaced(call.path, {"type": "tool-result"}))
        part = read_call(Pieces(call.said, call.answered or empty), self.version)
        return replace(part, result_message=call.result_message)


class _Reader:
    """One payload on its way."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.losses: list[Loss] = []
        self.messages: list[Message] = []
        self.turn: _Turn | None = None
        self.alone: list[tuple[str, ToolResultPart]] = []

    def read(self, payload: Json) -> Loaded:
        """All of it."""
        if not is_array(payload):
            payload = [payload]
        for index, raw in enumerate(payload):
            path = f"$[{index}]"
            self._add(_checked(raw, path), index, path)
        self._end_turn()
        return Loaded(tuple(self._folded()), tuple(self.losses))

    def _add(self, raw: JsonObject, index: int, path: str) -> None:
        id_ = message_id(index)
        match raw["role"]:
            case "assistant":
                self.turn = self.turn or _Turn(id_, self.version, self.losses)
                self.turn.add_said(raw, path)
            case "tool" if self.turn is not None:
                rest = self.turn.add_answers(raw, id_, path)
                if rest is not None:
                    self._append(rest, path)
            case "tool":
                parts = [read_tool_part(piece, self.version) for piece in raw["content"]]
                self._append(_tool_message(raw, id_, parts), path)
            case "system":
                self._append(_system_message(raw, id_), path)
            case _:
                self._append(_user_message(raw, id_, self.version), path)

    def _append(self, message: Message, path: str) -> None:
        self._end_turn()
        self.messages.append(message)
        self.alone.extend((path, result) for result in _results([message]))

    def _end_turn(self) -> None:
        if self.turn is not None:
            self.messages.append(self.turn.finish())
            self.turn = None

    def _folded(self) -> Sequence[Message]:
        """The messages, with results merged into calls that are in another turn."""
        if not self.alone:
            return self.messages
        folded = fold(self.messages)
        left = {id(result) for result in _results(folded)}
        self.losses.extend(
            _misplaced(path, {"type": "tool-result"}) for path, result in self.alone if id(result) not in left
        )
        return folded


def _misplaced(path: str, piece: JsonObject) -> Loss:
    return Loss(path, f"the place of the {piece['type']}", MISPLACED)


def _results(messages: Iterable[Message]) -> list[ToolResultPart]:
    return [
        part
        for message in messages
        if isinstance(message, ToolMessage)
        for part in message.parts
        if isinstance(part, ToolResultPart)
    ]


def _checked(raw: Json, path: str) -> JsonObject:
    if not is_object(raw):
        raise ConversionError(
            f"a model message is an object, found {kind_of(raw)}", where=path, hint="give {role, content}"
        )
    role, content = raw.get("role"), raw.get("content")
    if role not in ROLES:
        raise ConversionError(
            f"unknown role {role!r}", where=f"{path}.role", hint="use system, user, assistant or tool"
        )
    may_be_text, may_be_parts = role != "tool", role != "system"
    if (isinstance(content, str) and may_be_text) or (is_array(content) and may_be_parts):
        return raw
    expected = " or ".join([*(["a string"] if may_be_text else []), *(["an array"] if may_be_parts else [])])
    found = kind_of(content) if "content" in raw else "missing"
    raise ConversionError(
        f"content of a {role} message is {found}", where=f"{path}.content", hint=f"make it {expected}"
    )


def _system_message(raw: JsonObject, id_: str) -> SystemMessage:
    options = options_of(raw)
    text = TextPart(raw["content"], provider_metadata=options or None)
    content = SystemContent(parts=(text,), provider_metadata=None if options else options)
    return SystemMessage(id=id_, content=content, extra=_extra(raw))


def _user_message(raw: JsonObject, id_: str, version: int) -> UserMessage:
    said = raw["content"]
    text = said if isinstance(said, str) else None
    parts = [TextPart(said)] if text is not None else [read_part(part, "user", version) for part in said]
    content = UserContent(parts=tuple(parts), content=text, provider_metadata=options_of(raw))
    return UserMessage(id=id_, content=content, extra=_extra(raw))


def _tool_message(raw: JsonObject, id_: str, parts: Sequence[Any]) -> ToolMessage:
    content = ToolContent(parts=tuple(parts), provider_metadata=options_of(raw))
    return ToolMessage(id=id_, content=content, extra=_extra(raw))


def _shell(raw: JsonObject, id_: str) -> ToolMessage:
    """A tool message without its parts, as calls remember it."""
    return replace(_tool_message(raw, id_, ()), type="tool")


def note_on(raw: JsonObject, *, empty: bool = False, alone: bool = True) -> JsonObject:
    """What a message says beyond its role, content and options; and that its content is no list, or empty."""
    known = {"role", "content", *([] if options_of(raw) is None else ["providerOptions"])}
    members = {key: item for key, item in raw.items() if key not in known}
    note: JsonObject = {"members": members} if members else {}
    if empty:
        note["content"] = "empty"
    elif isinstance(raw.get("content"), str) and not alone:
        note["content"] = "string"
    return note


def _extra(raw: JsonObject, *, empty: bool = False, alone: bool = True) -> Extra | None:
    note = note_on(raw, empty=empty, alone=alone)
    return Extra({FORMAT: note}) if note else None
