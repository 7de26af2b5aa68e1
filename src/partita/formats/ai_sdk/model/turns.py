"""Assistant and tool messages in a row → one assistant message: results find their calls.

Told as losses are only places: of what does not stand where the SDK, and so `dump`, would put it.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from msgspec.structs import replace

from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantContent, AssistantMessage, ToolCallPart, ToolContent, ToolMessage
from partita.types.parts import StepStartPart

from .calls import KINDS, is_call, is_request, is_response, read_call
from .marks import extra_on, options_of, results_id
from .outputs import is_result, read_tool_part
from .parts import Pieces, read_part

MISPLACED = "the SDK puts it elsewhere, and so does `dump`"
RESPONSE, RESULT = 0, 1
LATE = (-1, -1)


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


class Turn:
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
                self.losses.append(misplaced(where, piece))

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
            return tool_message(raw, id_, [read_tool_part(piece, self.version) for piece in rest])
        step.answers.append(keys)
        self._check_place(raw, keys, rest, path)
        if rest:
            return tool_message(raw, own_id, [read_tool_part(piece, self.version) for piece in rest])
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
            extra = extra_on(step.raw, empty=not step.items, alone=False)
            parts.append(StepStartPart(provider_metadata=options_of(step.raw), extra=extra))
            parts += self._parts(step)
        alone = not others
        content = AssistantContent(
            parts=tuple(parts),
            content=first.raw["content"] if alone and isinstance(first.raw["content"], str) else None,
            provider_metadata=options_of(first.raw),
        )
        extra = extra_on(first.raw, empty=not first.items, alone=alone)
        return AssistantMessage(id=self.id, content=content, extra=extra)

    def _parts(self, step: _Step) -> list[Any]:
        return [
            self._part(item, step) if isinstance(item, _Call) else read_part(item, "assistant", self.version)
            for item in step.items
        ]

    def _part(self, call: _Call, step: _Step) -> ToolCallPart:
        empty: list[Json] | None = [] if self.version == 5 and step.answers and not call.is_own else None
        part = read_call(Pieces(call.said, call.answered or empty), self.version)
        kinds = [piece["type"] for piece in call.said]
        in_order = kinds == [kind for kind in KINDS if kind in kinds]
        if not in_order or (part.output is not None and call.is_own != ("tool-result" in kinds)):
            self.losses.append(misplaced(call.path, {"type": "tool-result"}))
        return replace(part, result_message=call.result_message)


def misplaced(path: str, piece: JsonObject) -> Loss:
    """The loss of a place."""
    return Loss(path, f"the place of the {piece['type']}", MISPLACED)


def tool_message(raw: JsonObject, id_: str, parts: Sequence[Any]) -> ToolMessage:
    """A tool message of what belongs to no call."""
    content = ToolContent(parts=tuple(parts), provider_metadata=options_of(raw))
    return ToolMessage(id=id_, content=content, extra=extra_on(raw))


def _shell(raw: JsonObject, id_: str) -> ToolMessage:
    """A tool message without its parts, as calls remember it."""
    return replace(tool_message(raw, id_, ()), type="tool")
