"""Histories in which everybody says what they say plainly, and calls are answered in their order.

Most are like that, and put together at once: nothing has to be looked for elsewhere, and nothing is lost.
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.framework.members import metadata_of
from partita.types.fold import state_after
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import ReasoningPart, StepStartPart, TextPart
from partita.types.tools import JsonOutput, TextOutput, ToolOutput

from .envelope import NAME
from .results import UNNAMED, is_artifact, read_output
from .surroundings import NOTHING, surroundings
from .usual import Answer, Call, Human, Result, System, Text, Thought, Usual, are_alike, usual_messages

INSTRUCTIONS: Final = SystemMessage(id="", content=())
QUESTION: Final = UserMessage(id="", content=())
WORDS: Final = AssistantMessage(id="", content=(), type="text")
CALLS: Final = AssistantMessage(id="", content=(), type="tool")
RESULTS: Final = ToolMessage(id="", content=(), type="tool")
"""Messages to be filled, which takes half the time of making one."""

STEP: Final = StepStartPart()
NO_NOTES: Final = (None, {NAME: {"string": True}})
"""What is known of an answer that does not say more than another step of it would."""

NOT_YET: Final = -1
UNUSUAL: Final = -1


def read_plainly(raws: list[Json]) -> list[Message] | None:
    """The messages of a history; none if there is anything unusual in it."""
    said = usual_messages(raws)
    return None if said is None else _Plain(said).read()


class _Plain:
    """A history on its way, as long as nothing in it is unusual."""

    __slots__ = ("calls", "entries", "messages", "said")

    def __init__(self, said: Sequence[Usual]) -> None:
        self.said = said
        self.messages: list[Message] = []
        self.calls: list[Call] = []
        """The calls in contents, to be compared when all are there."""
        self.entries: list[Call] = []
        """Those beside contents."""

    def read(self) -> list[Message] | None:
        """The messages; none if there is anything unusual."""
        said, place = self.said, 0
        while place < len(said):
            message = said[place]
            if type(message) is Answer:
                place = self._turn(message, place)
            else:
                place += 1
                if type(message) is Result or not _is_bare(message):
                    return None
                self.messages.append(_asked(message, place))
            if place == UNUSUAL:
                return None
        return self.messages if are_alike(self.calls, self.entries) else None

    def _turn(self, answer: Answer, place: int) -> int:
        """Add the message that begins with an answer: its steps, each with the results of its calls.

        Gives the place behind them.
        """
        around = surroundings(answer)
        id_ = f"message-{place + 1}" if answer.id is None else answer.id
        if around is None or "#" in id_:
            return UNUSUAL
        thoughts, content = around
        parts: list[Any] = [*thoughts]  # calls as they came, until they have results
        shell, steps, said = WORDS, 1, self.said
        count = len(said)
        while True:
            place += 1
            waiting = self._add(parts, answer)
            if waiting:
                shell = CALLS
                place = _answer_calls(parts, waiting, said, place)
            if waiting is None or place == UNUSUAL:
                return UNUSUAL
            following = said[place] if place < count else None
            if type(following) is not Answer or following.id is None or "#" not in following.id:
                break
            answer, steps = following, steps + 1
            if answer.id != f"{id_}#{steps}" or not _goes_on(answer, parts):
                return UNUSUAL
        self.messages.append(replace(shell, id=id_, content=replace(content, parts=tuple(parts))))
        return place

    def _add(self, parts: list[Any], answer: Answer) -> dict[str, int] | None:
        """Add words, thoughts and calls. Gives the places of the calls by their ids.

        None if two have one id, or there are not as many in the content as beside it.
        """
        content, entries = answer.content, answer.tool_calls
        waiting: dict[str, int] = {}
        if content and isinstance(content, str):
            parts.append(TextPart(content))
        for block in entries if isinstance(content, str) else content:
            if type(block) is Text:
                parts.append(TextPart(block.text))
            elif type(block) is Thought:
                parts.append(ReasoningPart(block.reasoning))
            elif is_object(block.args):
                waiting[block.id] = len(parts)
                parts.append(block)
                self.calls.append(block)
            else:
                return None
        self.entries += entries
        return waiting if len(waiting) == len(entries) else None


def _is_bare(message: System | Human | Result) -> bool:
    """Whether nothing is noted about a message."""
    return bool(message.additional_kwargs == NOTHING and message.response_metadata == NOTHING)


def _asked(message: System | Human, number: int) -> Message:
    """What a person said, or instructions."""
    text = message.content
    id_ = f"message-{number}" if message.id is None else message.id
    shell = QUESTION if type(message) is Human else INSTRUCTIONS
    content = replace(shell.content, parts=(TextPart(text),), content=text)
    return replace(shell, id=id_, content=content)


def _goes_on(answer: Answer, parts: list[Any]) -> bool:
    """Begin another step, if no more is known of it than of the one before."""
    around = surroundings(answer)
    if around is None or around[1].usage is not None or around[1].provider_metadata not in NO_NOTES:
        return False
    parts.append(STEP)
    parts += around[0]
    return True


def _answer_calls(parts: list[Any], waiting: dict[str, int], said: Sequence[Usual], place: int) -> int:
    """Put the results that follow into their calls, if they are in the same order.

    Gives the place behind them.
    """
    last, count = NOT_YET, len(said)
    while place < count:
        result = said[place]
        if type(result) is not Result:
            break
        at = waiting.pop(result.tool_call_id, NOT_YET)
        place += 1
        part = _answered(parts[at], result, place) if at > last and _is_bare(result) else None
        if part is None:
            return UNUSUAL
        parts[at], last = part, at
    for at in waiting.values():
        call: Call = parts[at]
        parts[at] = ToolCallPart(call.id, call.name, "input-available", call.args)
    return place


def _answered(call: Call, result: Result, number: int) -> ToolCallPart | None:
    """A call with its result, if there is nothing strange about it."""
    if result.id is not None or result.name != call.name or result.status == "error":
        return _answered_with_more(call, result, number)
    artifact, text = result.artifact, result.content
    if artifact is None:
        output: ToolOutput = TextOutput(text)
    elif is_artifact(artifact, text):
        output = JsonOutput(artifact)
    else:
        return _answered_with_more(call, result, number)
    return ToolCallPart(call.id, call.name, "output-available", call.args, UNSET, None, output)


def _answered_with_more(call: Call, result: Result, number: int) -> ToolCallPart | None:
    """The same for a result that says more than an output."""
    id_, name = result.id, result.name
    if (name is not None and name != call.name) or (id_ is not None and "#" in id_):
        return None
    note: JsonObject = {} if result.artifact is None else {"artifact": result.artifact}
    output = read_output(result.content, result.status == "error", note)
    if name is None:
        note[UNNAMED] = True
    return ToolCallPart(
        call.id,
        call.name,
        state_after(output),
        call.args,
        output=output,
        result_provider_metadata=metadata_of(NAME, note),
        result_message=None if id_ in (None, f"message-{number}") else replace(RESULTS, id=id_),
    )
