"""What of the UI messages the model messages do not tell, and why."""

from collections.abc import Iterator, Sequence
from typing import Final

from partita.formats.losses import Loss
from partita.types.json import Json, is_array, is_object, kind_of

from .fields import TrackedFields
from .parts import is_tool
from .rules import Rules
from .tools import is_silent, state_is_told, tool_call

_SHOWN: Final = 40

_DISPLAY: Final = "it is for display only"
_WHOLE: Final = "a model message is always whole"
WHY: Final[dict[str, dict[str, str]]] = {
    "message": {
        "id": "model messages have no id",
        "metadata": "model messages have no metadata",
    },
    "text": {"state": _WHOLE, "citations": _DISPLAY},
    "reasoning": {"state": _WHOLE, "id": "only the stream needs it"},
    "steering-message": {"id": "model messages have no id"},
    "tool": {
        "title": _DISPLAY,
        "toolMetadata": _DISPLAY,
        "state": "what is sent is the same in another state",
        "preliminary": "the model sees every output as final",
        "input": "it is null in a failed call",
        "rawInput": "the parsed input is sent",
        "inputEncoding": "only the stream needs it",
        "dynamic": "model messages do not tell dynamic tools from static ones",
        "resultProviderMetadata": "results carry the options of their call",
    },
    "approval": {
        "descriptor": _DISPLAY,
        "approved": "it is no answer",
        "reason": "the request has no answer yet",
    },
}
"""Reasons by kind of object and member. What is not here has no place in that version."""


def all_losses(messages: Sequence[TrackedFields], rules: Rules) -> list[Loss]:
    """Every member that the output does not tell, in the order of the input."""
    return [loss for message in messages for loss in _losses(message, "message", rules)]


def _losses(fields: TrackedFields, kind: str, rules: Rules) -> Iterator[Loss]:
    if fields.dropped is not None:
        yield Loss(fields.where, _title(fields, kind), fields.dropped)
        return
    if not is_object(fields.value):
        yield Loss(fields.where, f"{kind} {_shown(fields.value)}", "it is no object")
        return
    for key, value in fields.value.items():
        if key in fields.children:
            for child in fields.children[key]:
                if kind == "message":
                    _note_state(child, rules)
                yield from _losses(child, _kind(child) if key == "parts" else key, rules)
        elif key not in fields.carried:
            default = f"version {rules.version} has no place for it in a model message"
            why = fields.reasons.get(key) or WHY.get(kind, {}).get(key, default)
            yield Loss(f"{fields.where}.{key}", f"{kind} {key} {_shown(value)}", why)


def _note_state(part: TrackedFields, rules: Rules) -> None:
    """The state of a tool call is told by what the call became."""
    if part.dropped is not None or _kind(part) != "tool":
        return
    call = tool_call(part, rules, {})
    if is_silent(call):
        part.drop("the input of the call is not complete")
    elif state_is_told(call):
        part.carry("state")


def _kind(part: TrackedFields) -> str:
    type_ = part.peek("type")
    if not isinstance(type_, str):
        return "part"
    return "tool" if is_tool(type_) else type_


def _title(fields: TrackedFields, kind: str) -> str:
    if kind == "message":
        return f"{fields.peek('role')} message"
    return f"{fields.peek('type')} part" if is_object(fields.value) else f"part {_shown(fields.value)}"


def _shown(value: Json) -> str:
    if isinstance(value, str):
        return repr(value if len(value) <= _SHOWN else value[:_SHOWN] + "…")
    return kind_of(value) if is_object(value) or is_array(value) else repr(value)
