"""The parts of two talks, aligned by what they are, and how each pair differs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from difflib import SequenceMatcher
from typing import Final, Literal, NamedTuple, TypeAlias

from partita.types.codec import to_json
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, Message, Part, ToolCallPart
from partita.types.parts import ReasoningPart, StepStartPart, TextPart
from partita.types.tools import ErrorTextOutput, TextOutput, ToolOutput

from .differences import Difference, differences
from .words import Piece, compare

Kind: TypeAlias = Literal["same", "changed", "removed", "added"]

EVERY_RUNS_OWN: Final = frozenset({"id", "sourceId", "state", "providerMetadata"})
"""Members of a part that every run makes anew: that they differ says nothing."""

BELOW: Final = "› "
"""Stands before the label of a part once for every sub-agent around it."""


class Labelled(NamedTuple):
    """A part, and what makes it comparable with another; without one where a step or a message begins."""

    label: str
    part: Part | None
    took: timedelta | None = None


class PartDiff(NamedTuple):
    """A part of one talk beside that of the other."""

    kind: Kind
    label: str
    a: Part | None
    b: Part | None
    words: tuple[Piece, ...] = ()
    """Of texts, of reasoning, and of outputs that are text."""
    differences: tuple[Difference, ...] = ()
    """Of inputs, of other outputs, and of all else."""
    took: tuple[timedelta | None, timedelta | None] = (None, None)


def labelled(messages: Iterable[Message], durations: Mapping[str, timedelta]) -> list[Labelled]:
    """The parts of messages in order, those of sub-agents behind the calls that started them."""
    found: list[Labelled] = []
    stack: list[Iterator[Labelled | Sequence[Message]]] = [_items(messages, durations)]
    while stack:  # no recursion: sub-agents nest at will
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
        elif isinstance(item, Labelled):
            found.append(item._replace(label=BELOW * (len(stack) - 1) + item.label))
        else:
            stack.append(_items(item, durations))
    return found


def _items(
    messages: Iterable[Message], durations: Mapping[str, timedelta]
) -> Iterator[Labelled | Sequence[Message]]:
    for message in messages:
        yield Labelled(f"message of {message.__struct_config__.tag}", None)
        for part in message.content.parts:
            match part:
                case StepStartPart():
                    yield Labelled("step", None)
                case ToolCallPart(name=name, children=children):
                    yield Labelled(f"call of {name}", part, durations.get(part.id))
                    yield children
                case _:
                    yield Labelled(str(part.__struct_config__.tag), part)
        network = message.content.network_execution if isinstance(message, AssistantMessage) else None
        if network is not None:
            yield Labelled(f"choice of {network.primitive_type} {network.primitive_id}", None)
            yield () if network.final_result is None else network.final_result.messages


def diff_parts(old: Sequence[Labelled], new: Sequence[Labelled]) -> Iterator[PartDiff]:
    """All parts of both: a call of a tool beside a call of the same tool, a text beside a text."""
    matcher = SequenceMatcher(None, [one.label for one in old], [one.label for one in new], autojunk=False)
    for kind, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        if kind == "equal":
            yield from map(_compared, old[old_start:old_end], new[new_start:new_end])
            continue
        for one in old[old_start:old_end]:
            yield PartDiff("removed", one.label, one.part, None, took=(one.took, None))
        for one in new[new_start:new_end]:
            yield PartDiff("added", one.label, None, one.part, took=(None, one.took))


def _compared(one: Labelled, other: Labelled) -> PartDiff:
    old, new = one.part, other.part
    before, after = _text(old), _text(new)
    is_text = before is not None and after is not None
    words = compare(before or "", after or "") if is_text else ()
    found = tuple(differences(_rest(old, is_text), _rest(new, is_text)))
    is_same = not found and all(piece.mark == "=" for piece in words)
    kind: Kind = "same" if is_same else "changed"
    return PartDiff(kind, one.label, old, new, words, found, (one.took, other.took))


def _text(part: Part | None) -> str | None:
    """The words of a part that are compared word by word, if it has such."""
    match part:
        case TextPart(text=text) | ReasoningPart(text=text):
            return text
        case ToolCallPart(output=output):
            return text_of(output)
        case _:
            return None


def text_of(output: ToolOutput | None) -> str | None:
    """The words of an output that is text."""
    return output.value if isinstance(output, TextOutput | ErrorTextOutput) else None


def _rest(part: Part | None, is_text: bool) -> JsonObject:
    """What of a part is compared member by member."""
    if part is None:
        return {}
    whole: JsonObject = to_json(part)
    if isinstance(part, ToolCallPart):
        approved = None if part.approval is None else part.approval.approved
        wanted = {"input", "state"} if is_text else {"input", "state", "output"}
        kept = {key: value for key, value in whole.items() if key in wanted}
        return kept if approved is None else {**kept, "approved": approved}
    if is_text:
        return {}
    return {key: value for key, value in whole.items() if key not in EVERY_RUNS_OWN}
