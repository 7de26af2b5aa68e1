"""How many messages a second does each format read and write, and how many do others?

One conversation for all: questions, thoughts, calls with their results, answers. Beside us stand the public
converters of LangChain and Pydantic AI, each for the formats that it has one for. All go from plain JSON to
their own messages and back, in one process, by turns.
"""

import timeit
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from partita.formats.registry import all_formats
from partita.types.json import Json
from partita.types.messages import AssistantMessage, Message, SystemMessage, ToolCallPart, UserMessage
from partita.types.parts import ReasoningPart, StepStartPart, TextPart
from partita.types.tools import JsonOutput, TextOutput

from .table import print_table

TURNS = 50
ANSWER = "-answer"
"""How formats end that hold one answer, not a conversation."""

Work = Callable[[], Any]


class Rival(NamedTuple):
    """A converter of somebody else: what it reads from JSON, and what it writes as JSON."""

    name: str
    load: Callable[[Json], Any]
    dump: Callable[[Any], Json] | None


def main() -> None:
    """Measure and print."""
    talk = conversation()
    rows = [row for name in all_formats() if (row := _row(name, talk)) is not None]
    print_table(
        f"Formats: messages a second ({len(talk)} messages, the best of five)",
        ["format", "load", "dump", "rival", "its load", "its dump", "ours / its load", "ours / its dump"],
        rows,
    )


def conversation() -> list[Message]:
    """What people and agents say to each other, about as much of each kind as they do."""
    said: list[Message] = [SystemMessage(id="s", content="You keep the register of lighthouses.")]
    for turn in range(TURNS):
        said.append(UserMessage(id=f"u{turn}", content=f"How tall is tower {turn}, and is its lamp lit?"))
        said.append(AssistantMessage(id=f"a{turn}", content=_answer(turn)))
    return said


def _answer(turn: int) -> list[Any]:
    height = JsonOutput({"tower": turn, "metres": 39.5, "built": 1905, "tags": ["red", "iron"]})
    return [
        StepStartPart(),
        ReasoningPart("The register has heights; the lamp has a log of its own. " * 4),
        TextPart("I look both up."),
        ToolCallPart(f"call_{turn}_1", "height", "output-available", {"tower": turn}, output=height),
        ToolCallPart(
            f"call_{turn}_2", "lamp", "output-available", {"tower": turn}, output=TextOutput("lit " * 40)
        ),
        StepStartPart(),
        TextPart("The tower is **39.5 metres** tall, and its lamp is lit. " * 8),
    ]


def _row(name: str, talk: Sequence[Message]) -> list[str] | None:
    format_ = all_formats()[name]
    if format_.dump is None or format_.load is None or name.endswith(ANSWER):
        return None
    load, dump = format_.load, format_.dump
    payload = dump(talk).payload
    count = len(talk)
    ours = [_speed(lambda: load(payload), count), _speed(lambda: dump(talk), count)]
    theirs = [_rival_speeds(rival, payload, count) for rival in rivals(name)]
    if not theirs:
        return [name, f"{ours[0]:,.0f}", f"{ours[1]:,.0f}", "", "", "", "", ""]
    rival, *speeds = theirs[0]
    ratios = [f"{own / other:.1f}×" if other else "" for own, other in zip(ours, speeds, strict=True)]
    told = [f"{one:,.0f}" if one else "" for one in (*ours, *speeds)]
    return [name, *told[:2], rival, *told[2:], *ratios]


def _rival_speeds(rival: Rival, payload: Json, count: int) -> tuple[str, float, float]:
    read = rival.load(payload)
    writing = rival.dump
    return (
        rival.name,
        _speed(lambda: rival.load(payload), count),
        _speed(lambda: writing(read), count) if writing else 0,
    )


def _speed(work: Work, count: int) -> float:
    """Messages a second: the best of five tries of a tenth of a second and more."""
    timer = timeit.Timer(work)
    rounds, _ = timer.autorange()
    rounds = max(1, rounds // 2)
    return count * rounds / min(timer.repeat(5, rounds))


def rivals(name: str) -> list[Rival]:
    """Whoever else converts that format."""
    makers = {
        "openai-chat": _langchain_chat,
        "langchain": _langchain,
        "pydantic-ai": _pydantic_ai,
        "ai-sdk-ui-v5": lambda: _vercel(5),
        "ai-sdk-ui-v6": lambda: _vercel(6),
        "ai-sdk-ui-v7": lambda: _vercel(7),
        "ag-ui": _ag_ui,
    }
    return [makers[name]()] if name in makers else []


def _langchain_chat() -> Rival:
    from langchain_core.messages.utils import convert_to_messages, convert_to_openai_messages

    def load(payload: Json) -> Any:
        return convert_to_messages(payload["messages"])

    return Rival("LangChain", load, convert_to_openai_messages)


def _langchain() -> Rival:
    from langchain_core.messages import messages_from_dict, messages_to_dict

    return Rival("LangChain", messages_from_dict, messages_to_dict)


def _pydantic_ai() -> Rival:
    from pydantic_ai.messages import ModelMessagesTypeAdapter as Adapter

    def dump(read: Any) -> Json:
        return Adapter.dump_python(read, mode="json")

    return Rival("Pydantic AI", Adapter.validate_python, dump)


def _vercel(version: Any) -> Rival:
    from pydantic import TypeAdapter
    from pydantic_ai.ui.vercel_ai import VercelAIAdapter
    from pydantic_ai.ui.vercel_ai.request_types import UIMessage

    messages = TypeAdapter(list[UIMessage])

    def load(payload: Json) -> Any:
        return VercelAIAdapter.load_messages(messages.validate_python(payload))

    def dump(read: Any) -> Json:
        written = VercelAIAdapter.dump_messages(read, sdk_version=version)
        return messages.dump_python(written, mode="json", by_alias=True)

    return Rival("Pydantic AI", load, dump)


def _ag_ui() -> Rival:
    from ag_ui.core import Message as Told
    from pydantic import TypeAdapter
    from pydantic_ai.ui.ag_ui import AGUIAdapter

    messages: TypeAdapter[Any] = TypeAdapter(list[Told])

    def load(payload: Json) -> Any:
        return AGUIAdapter.load_messages(messages.validate_python(payload))

    def dump(read: Any) -> Json:
        return messages.dump_python(AGUIAdapter.dump_messages(read), mode="json", by_alias=True)

    return Rival("Pydantic AI", load, dump)


if __name__ == "__main__":
    main()
