"""Plain answers → message dicts, in one go over their parts. All others are left to the long way."""

from collections.abc import Callable
from typing import TypeAlias

from partita.formats.bare import (
    is_alone,
    is_bare_answer,
    is_bare_call,
    is_bare_reasoning,
    is_bare_text,
)
from partita.types.json import JsonObject, dumps, is_object
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import ReasoningPart, StepStartPart, TextPart
from partita.types.tools import JsonOutput, TextOutput

from .plain import write_result

Objects: TypeAlias = list[JsonObject]
Calls: TypeAlias = dict[str, JsonObject]
Write: TypeAlias = Callable[[Objects, Objects, str | None], JsonObject | None]
"""What makes a message of the blocks and the calls of a step; none if it would not keep their order."""


class PlainAnswer:
    """An answer on its way to a payload: the messages of its steps, each with its results behind it."""

    __slots__ = ("idle", "leading", "payload", "steps", "write")

    def __init__(self, payload: Objects, write: Write) -> None:
        self.payload, self.write = payload, write
        self.steps = 0
        self.leading: list[int] = []
        """The places of boundaries before everything else."""
        self.idle: list[int] = []
        """Those of others that no message stands for."""

    def add(self, message: AssistantMessage) -> bool:
        """Write all of it if it is plain; else there may be a part of it in the payload."""
        if message.extra is not None or not is_bare_answer(message.content):
            return False
        starts: list[int] = []
        blocks: Objects = []
        calls: Calls = {}
        results: Objects = []
        for index, part in enumerate(message.content.parts):
            if type(part) is TextPart and is_bare_text(part):
                blocks.append({"type": "text", "text": part.text})
            elif type(part) is ToolCallPart:
                if not _is_called(part, blocks, calls, results):
                    return False
            elif type(part) is ReasoningPart and is_bare_reasoning(part):
                blocks.append({"type": "reasoning", "reasoning": part.text})
            elif type(part) is StepStartPart and is_alone(part):
                if blocks:
                    if not self._end_step(message.id, starts, blocks, calls, results):
                        return False
                    starts, blocks, calls, results = [], [], {}, []
                starts.append(index)
            else:
                return False
        if blocks or not self.steps:
            return self._end_step(message.id, starts, blocks, calls, results)
        self.idle += starts
        return True

    def _end_step(self, id_: str, starts: list[int], blocks: Objects, calls: Calls, results: Objects) -> bool:
        payload = self.payload
        self.steps += 1
        if self.steps == 1:
            self.leading = starts
        else:
            self.idle += starts[:-1]
            id_ = f"{id_}#{self.steps}"
        own = None if id_ == f"message-{len(payload) + 1}" else id_
        written = self.write(blocks, list(calls.values()), own)
        if written is None:
            return False
        payload.append(written)
        payload += results
        return True


def _is_called(call: ToolCallPart, blocks: Objects, calls: Calls, results: Objects) -> bool:
    """Write a call that is input by name, alone or with an output that is text or an object."""
    id_, name, input_, output = call.id, call.name, call.input, call.output
    if type(input_) is not dict or id_ in calls or not is_bare_call(call):
        return False
    blocks.append({"type": "tool_call", "name": name, "args": input_, "id": id_})
    calls[id_] = {"name": name, "args": input_, "id": id_, "type": "tool_call"}
    if output is None:
        return call.state == "input-available"
    if type(output) is TextOutput:
        results.append(write_result(id_, name, output.value, None))
    elif type(output) is JsonOutput and is_object(output.value):
        results.append(write_result(id_, name, dumps(output.value).decode(), output.value))
    else:
        return False
    return call.state == "output-available" and is_alone(output)
