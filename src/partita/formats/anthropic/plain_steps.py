"""Steps of words, thoughts and answered calls that say nothing else: most are, and are written as they stand.

What they become is what `turns` and `outputs` make of them, part by part.
"""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import UNSET

from partita.formats.bare import is_bare, plain_result
from partita.formats.losses import Loss
from partita.types.json import JsonObject, dumps, is_object
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import ReasoningPart, TextPart

from .comparing import OUTPUT
from .names import id_of, name_of
from .turns import NOT_SIGNED


class PlainStep(NamedTuple):
    """The blocks of a step, its results by call, and what of it is lost: parts, then members of them."""

    blocks: list[JsonObject]
    results: dict[str, JsonObject]
    unsent: list[Loss]
    unlike: list[Loss]


def plain_step(parts: Sequence[tuple[int, AssistantPart]], path: str) -> PlainStep | None:
    """What a step becomes; `None` when something in it needs a closer look. `path` is that of the parts."""
    step = PlainStep([], {}, [], [])
    for number, part in parts:
        if isinstance(part, ToolCallPart):
            is_plain = _add_call(step, part, path, number)
        elif isinstance(part, TextPart):
            is_plain = not step.results and is_bare(part) and bool(part.text.strip())
            step.blocks.append({"type": "text", "text": part.text})
        else:
            is_plain = isinstance(part, ReasoningPart) and is_bare(part)
            if is_plain:
                step.unsent.append(Loss.of(f"{path}[{number}]", part, NOT_SIGNED))
        if not is_plain:
            return None
    return step


def _add_call(step: PlainStep, call: ToolCallPart, path: str, number: int) -> bool:
    """Add a call and its result; whether they are plain."""
    value, name = plain_result(call), call.id
    fits = name == id_of(name) and call.name == name_of(call.name) and name not in step.results
    if value is UNSET or not fits or not is_object(call.input):
        return False
    words = value if isinstance(value, str) else dumps(value).decode()
    if words is not value:
        step.unlike.append(Loss.of(f"{path}[{number}].output", call.output, OUTPUT, "changed"))
    step.blocks.append({"type": "tool_use", "id": name, "name": call.name, "input": call.input})
    result: JsonObject = {"type": "tool_result", "tool_use_id": name}
    step.results[name] = {**result, "content": words} if words else result
    return True
