"""The content that a message would lose if others replaced it: texts, calls, outputs, decisions, files.

Text may be split into other parts, and move from one kind of part to another: that is not a loss.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from partita.types.codec import encode
from partita.types.messages import AssistantMessage, Message, Part, ToolCallPart
from partita.types.parts import (
    DataPart,
    FilePart,
    ImagePart,
    ReasoningFilePart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    StepStartPart,
    TextPart,
)

WHITE: Final = re.compile(r"\s+")
SHOWN: Final = 60


class Inventory:
    """The content of messages and of those of their sub-agents."""

    def __init__(self, *messages: Message) -> None:
        texts: list[str] = []
        self.calls: dict[str, ToolCallPart] = {}
        self.others: set[object] = set()
        for _, part in (one for message in messages for one in parts_of(message)):
            match part:
                case TextPart(text=text) | ReasoningPart(text=text):
                    texts.append(_without_space(text))
                case ToolCallPart():
                    self.calls[part.id] = part
                case _:
                    self.others.add(_identity(part))
        self.text = "".join(texts)


def lost(old: Message, *new: Message) -> list[str]:
    """The content of one message that others do not have, each with its path."""
    known = Inventory(*new)
    return [f"{path}: {what}" for path, part in parts_of(old) if (what := _missing(part, known)) is not None]


def parts_of(message: Message) -> Iterator[tuple[str, Part]]:
    """The parts of a message and of all its sub-agents, each with its path."""
    waiting: list[tuple[str, Message]] = [("$", message)]
    while waiting:
        path, one = waiting.pop()
        for number, part in enumerate(one.content.parts):
            here = f"{path}.content.parts[{number}]"
            yield here, part
            if isinstance(part, ToolCallPart):
                waiting += _numbered(f"{here}.children", part.children)
        network = one.content.network_execution if isinstance(one, AssistantMessage) else None
        if network is not None and network.final_result is not None:
            nested = f"{path}.content.networkExecution.finalResult.messages"
            waiting += _numbered(nested, network.final_result.messages)


def _numbered(path: str, messages: Sequence[Message]) -> list[tuple[str, Message]]:
    return [(f"{path}[{number}]", message) for number, message in enumerate(messages)]


def _missing(part: Part, known: Inventory) -> str | None:
    """What is missing of a part; `None` if nothing."""
    match part:
        case TextPart(text=text) | ReasoningPart(text=text):
            return None if _without_space(text) in known.text else f"{_kind(part)} {_short(text)!r}"
        case ToolCallPart(id=id):
            return _missing_of_call(part, known.calls.get(id))
        case StepStartPart():
            return None
        case _:
            return None if _identity(part) in known.others else _kind(part)


def _missing_of_call(call: ToolCallPart, now: ToolCallPart | None) -> str | None:
    if now is None:
        return f"call {call.id} of {call.name}"
    if call.output is not None and now.output is None:
        return f"the output of call {call.id}"
    was = None if call.approval is None else call.approval.approved
    if was is not None and (now.approval is None or now.approval.approved != was):
        return f"the decision on call {call.id}"
    return None


def _identity(part: Part) -> object:
    """A value that is equal for parts with the same content."""
    match part:
        case FilePart(url=url) | ImagePart(url=url) | ReasoningFilePart(url=url):
            return "file", url
        case SourceUrlPart(url=url):
            return "source", url
        case SourceDocumentPart(source_id=id):
            return "document", id
        case DataPart(name=name, id=id):
            return "data", name, id
        case _:
            return encode(part)


def _kind(part: Part) -> str:
    return str(part.__struct_config__.tag)


def _without_space(text: str) -> str:
    return WHITE.sub("", text)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
