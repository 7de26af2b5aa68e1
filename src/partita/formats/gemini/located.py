"""An answer as a model may be sent it, every part with the path that it has in the stored messages."""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from partita.formats.answers.model_view import CUT, NOT_SENT, model_view
from partita.formats.losses import Loss
from partita.types.messages import AssistantMessage, AssistantPart, Message, Part, ToolCallPart, ToolMessage
from partita.types.parts import CustomPart, DataPart, ForeignPart, SteeringMessagePart

from .looking import CUSTOM, FORMAT, NAMESPACE
from .outputs import NOT_SENT as NO_PLACE
from .parts import UNKNOWN


class Located(NamedTuple):
    """A message of the view, and the paths of its parts."""

    message: Message
    places: list[str]


def located(message: AssistantMessage, path: str, losses: list[Loss]) -> Iterator[Located]:
    """The steps of an answer. What is not sent, and what was mended, is told."""
    parts = [_stand_in(part) for part in message.parts]
    places = [f"{path}.content.parts[{number}]" for number in range(len(parts))]
    view = model_view([replace(message, content=replace(message.content, parts=tuple(parts)))])
    found = {repair.path.replace("$[0]", path, 1): repair for repair in view.repairs}
    for part, place in zip(parts, places, strict=True):
        repair = found.get(place)
        if isinstance(part, NOT_SENT):
            losses.append(Loss.of(place, part, NO_PLACE))
        elif repair is not None:
            whole = repair.why == CUT
            told = Loss.of(place, part, CUT) if whole else repair._replace(path=place)
            losses.append(told if whole else told._replace(severity="repaired"))
    yield from _place(view.messages, parts, places, path)


def _place(
    view: tuple[Message, ...], parts: list[AssistantPart], places: list[str], path: str
) -> Iterator[Located]:
    at = 0
    calls: list[str] = []
    for message in view:
        if isinstance(message, ToolMessage):
            yield Located(message, calls)
            continue
        where: list[str] = []
        calls = []
        for part in message.parts:
            at = next((place for place in range(at, len(parts)) if _is_in(part, parts[place])), len(parts))
            if at == len(parts):
                where.append(f"{path}.content.networkExecution.finalResult")
                continue
            holder = parts[at]
            if isinstance(holder, SteeringMessagePart):
                inside = [item is part for item in holder.parts].index(True)
                where.append(f"{places[at]}.parts[{inside}]")
                continue
            where.append(places[at])
            if isinstance(part, ToolCallPart) and not part.provider_executed:
                calls.append(places[at])
            at += 1
        yield Located(message, where)


def _is_in(part: Part, stored: AssistantPart) -> bool:
    """Whether a part of the view is this one, or one that it holds; of a call, the view has another value."""
    if isinstance(stored, SteeringMessagePart):
        return any(item is part for item in stored.parts)
    if isinstance(part, ToolCallPart) and isinstance(stored, ToolCallPart):
        return part.id == stored.id and stored.state != "input-streaming"
    return part is stored


def _stand_in(part: AssistantPart) -> AssistantPart:
    """A part of Gemini's own that was kept whole, in a form that the view lets through."""
    match part:
        case ForeignPart(format=name, value=value) if name == FORMAT:
            kept = value
        case DataPart(name=name, data=value) if f"data-{name}" == UNKNOWN:
            kept = value
        case _:
            return part
    return CustomPart(kind=CUSTOM, provider_metadata={NAMESPACE: {"part": kept}})
