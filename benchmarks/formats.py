"""How many messages a second does each format read and write, and how many do others?

One conversation for all: questions, thoughts, calls with their results, answers. Beside us stand the public
converters of LangChain and Pydantic AI, each for the formats that it has one for. All go from plain JSON to
their own messages and back, in one process, by turns. LangChain writes Chat Completions twice: from messages
that hold the whole conversation, in its blocks of today, and from what is left of it when thoughts are left
out and every content is a plain text, the least work that there is. How fast dicts can be made at all is told
in a second table.
"""

import timeit
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from partita.formats.langchain.dump import dump as dump_langchain
from partita.formats.registry import all_formats
from partita.types.json import Json, dumps, loads
from partita.types.messages import AssistantMessage, Message, SystemMessage, ToolCallPart, UserMessage
from partita.types.parts import ReasoningPart, StepStartPart, TextPart
from partita.types.tools import JsonOutput, TextOutput

from .floors import bare_chat, bare_langchain
from .table import print_table

TURNS = 50
ANSWER = "-answer"
"""How formats end that hold one answer, not a conversation."""

FLOORS = {"openai-chat": bare_chat, "langchain": bare_langchain}

Work = Callable[[], Any]


class Rival(NamedTuple):
    """A converter of somebody else: what it reads from JSON, and what it writes as JSON."""

    name: str
    load: Callable[[Json], Any]
    dump: Callable[[Any], Json]
    whole: Callable[[Sequence[Message]], Any] | None = None
    """Its messages with all that was said, if it does not read them from the format."""


def main() -> None:
    """Measure and print."""
    talk = conversation()
    rows = [row for name in all_formats() for row in _rows(name, talk)]
    print_table(
        f"Formats: messages a second ({len(talk)} messages, the best of five)",
        ["format", "load", "dump", "rival", "its load", "its dump", "ours / its load", "ours / its dump"],
        rows,
    )
    print_table(
        "Floors: how fast Python makes those dicts when nothing is looked at and nothing is told",
        ["format", "bare dicts", "rival", "its dump", "bare / its dump"],
        [_floor_row(name, bare, talk) for name, bare in FLOORS.items()],
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


def _rows(name: str, talk: Sequence[Message]) -> list[list[str]]:
    """What a format does in a second, once beside each rival."""
    format_ = all_formats()[name]
    if format_.dump is None or format_.load is None or name.endswith(ANSWER):
        return []
    load, dump = format_.load, format_.dump
    payload = loads(dumps(dump(talk).payload))  # as it comes from elsewhere: no value stands in two places
    ours = [_speed(lambda: load(payload), len(talk)), _speed(lambda: dump(talk), len(talk))]
    shown = [name, *_shown(ours)]
    theirs = [(rival.name, *_rival_speeds(rival, payload, talk)) for rival in rivals(name)]
    return [
        [
            *shown,
            rival,
            *_shown(speeds),
            *(f"{own / other:.1f}×" for own, other in zip(ours, speeds, strict=True)),
        ]
        for rival, *speeds in theirs
    ] or [[*shown, "", "", "", "", ""]]


def _floor_row(name: str, bare: Callable[[Sequence[Message]], Json], talk: Sequence[Message]) -> list[str]:
    """How fast a format could be written at best, beside the quickest who does."""
    payload, rival = bare(talk), rivals(name)[-1]
    floor, (_, theirs) = _speed(lambda: bare(talk), len(talk)), _rival_speeds(rival, payload, talk)
    return [name, f"{floor:,.0f}", rival.name, f"{theirs:,.0f}", f"{floor / theirs:.1f}×"]


def _shown(speeds: Sequence[float]) -> list[str]:
    return [f"{speed:,.0f}" for speed in speeds]


def _rival_speeds(rival: Rival, payload: Json, talk: Sequence[Message]) -> tuple[float, float]:
    read = rival.load(payload) if rival.whole is None else rival.whole(talk)
    return (
        _speed(lambda: rival.load(payload), len(talk)),
        _speed(lambda: rival.dump(read), len(talk)),
    )


def _speed(work: Work, count: int) -> float:
    """Messages a second: the best of five tries of a tenth of a second and more."""
    timer = timeit.Timer(work)
    rounds, _ = timer.autorange()
    rounds = max(1, rounds // 2)
    return count * rounds / min(timer.repeat(5, rounds))


def rivals(name: str) -> list[Rival]:
    """Whoever else converts that format."""
    makers: dict[str, Callable[[], list[Rival]]] = {
        "openai-chat": _langchain_chat,
        "langchain": _langchain,
        "pydantic-ai": _pydantic_ai,
        "ai-sdk-ui-v5": lambda: _vercel(5),
        "ai-sdk-ui-v6": lambda: _vercel(6),
        "ai-sdk-ui-v7": lambda: _vercel(7),
        "ag-ui": _ag_ui,
    }
    return makers[name]() if name in makers else []


def _langchain_chat() -> list[Rival]:
    from langchain_core.messages import messages_from_dict
    from langchain_core.messages.utils import convert_to_messages, convert_to_openai_messages

    def load(payload: Json) -> Any:
        return convert_to_messages(payload["messages"])

    def whole(talk: Sequence[Message]) -> Any:
        return messages_from_dict(dump_langchain(talk).payload)

    return [
        Rival("LangChain", load, convert_to_openai_messages, whole),
        Rival("LangChain, texts only", load, convert_to_openai_messages),
    ]


def _langchain() -> list[Rival]:
    from langchain_core.messages import messages_from_dict, messages_to_dict

    return [Rival("LangChain", messages_from_dict, messages_to_dict)]


def _pydantic_ai() -> list[Rival]:
    from pydantic_ai.messages import ModelMessagesTypeAdapter as Adapter

    def dump(read: Any) -> Json:
        return Adapter.dump_python(read, mode="json")

    return [Rival("Pydantic AI", Adapter.validate_python, dump)]


def _vercel(version: Any) -> list[Rival]:
    from pydantic import TypeAdapter
    from pydantic_ai.ui.vercel_ai import VercelAIAdapter
    from pydantic_ai.ui.vercel_ai.request_types import UIMessage

    messages = TypeAdapter(list[UIMessage])

    def load(payload: Json) -> Any:
        return VercelAIAdapter.load_messages(messages.validate_python(payload))

    def dump(read: Any) -> Json:
        written = VercelAIAdapter.dump_messages(read, sdk_version=version)
        return messages.dump_python(written, mode="json", by_alias=True)

    return [Rival("Pydantic AI", load, dump)]


def _ag_ui() -> list[Rival]:
    from ag_ui.core import Message as Told
    from pydantic import TypeAdapter
    from pydantic_ai.ui.ag_ui import AGUIAdapter

    messages: TypeAdapter[Any] = TypeAdapter(list[Told])

    def load(payload: Json) -> Any:
        return AGUIAdapter.load_messages(messages.validate_python(payload))

    def dump(read: Any) -> Json:
        return messages.dump_python(AGUIAdapter.dump_messages(read), mode="json", by_alias=True)

    return [Rival("Pydantic AI", load, dump)]


if __name__ == "__main__":
    main()
