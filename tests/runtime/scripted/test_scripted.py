"""A scripted agent says what is written down: which scene, which step, in which pieces."""

from pathlib import Path

import pytest

from partita.errors import AgentError
from partita.runtime.registry import get_agent
from partita.runtime.run_fold import fold_run
from partita.runtime.scripted import ScriptedService, Step, as_script, read_script, step_for
from partita.types.chunks import ChunkEvent, CompleteEvent, ErrorEvent, TextDelta
from partita.types.json import JsonObject, dumps
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage
from partita.types.parts import ReasoningPart, TextPart
from partita.types.usage import Usage
from tests.tables import each_row

SCRIPT: JsonObject = {
    "scenes": [
        {
            "match": "Weather",
            "steps": [
                {"parts": [{"type": "tool-call", "name": "look", "input": {"city": "Oslo"}}]},
                {"parts": [{"type": "text", "text": "Snow."}]},
            ],
        },
        {"steps": [{"parts": [{"type": "text", "text": "Hello there."}], "usage": {"outputTokens": 3}}]},
    ]
}


def user(words: str) -> UserMessage:
    return UserMessage(id="u", content=words)


def spoken(words: str) -> AssistantMessage:
    return AssistantMessage(id="a", content=words)


STEPS: dict[str, tuple[list[Message], str | None]] = {
    "words choose the scene, in any case": ([user("What WEATHER is it?")], "look"),
    "a scene without words takes the rest": ([user("Good day")], "Hello there."),
    "an answer later, the next step": ([user("weather"), spoken("…")], "Snow."),
    "the next question begins anew": ([user("weather"), spoken("…"), user("weather")], "look"),
    "there may be nothing more to say": ([user("weather"), spoken("…"), spoken("…")], None),
}


@each_row(("said", "expected"), STEPS.values(), ids=STEPS)
def test_which_step_is_played(said: list[Message], expected: str | None) -> None:
    step = step_for(as_script(SCRIPT), said)
    assert (None if step is None else says(step)) == expected


def says(step: Step) -> str:
    (part,) = step.parts
    assert isinstance(part, TextPart | ToolCallPart)
    return part.text if isinstance(part, TextPart) else part.name


async def test_an_answer_streams_and_folds_to_what_is_written() -> None:
    written: JsonObject = {
        "scenes": [
            {
                "steps": [
                    {
                        "parts": [
                            {"type": "reasoning", "text": "Let me think."},
                            {"type": "text", "text": "One two  three\n"},
                            {"type": "tool-call", "name": "count", "input": {"to": 3}},
                        ],
                        "usage": {"inputTokens": 1, "outputTokens": 2},
                    }
                ]
            }
        ]
    }
    events = [event async for event in ScriptedService(as_script(written)).invoke("Count.")]
    chunks = [event.chunk for event in events if isinstance(event, ChunkEvent)]
    assert [chunk.delta for chunk in chunks if isinstance(chunk, TextDelta)] == ["One ", "two  ", "three\n"]
    (message,) = fold_run(chunks, "m")
    reasoning, text, call = message.content.parts[1:]
    assert isinstance(reasoning, ReasoningPart)
    assert (reasoning.text, text) == ("Let me think.", TextPart("One two  three\n", state="done"))
    assert isinstance(call, ToolCallPart)
    assert (call.name, call.input, call.state, bool(call.id)) == ("count", {"to": 3}, "input-available", True)
    assert events[-1] == CompleteEvent(agent_type="scripted", usage=Usage(1, 2))


async def test_a_step_may_fail_after_its_words() -> None:
    written: JsonObject = {
        "scenes": [{"steps": [{"parts": [{"type": "text", "text": "I"}], "error": "no more ink"}]}]
    }
    events = [event async for event in ScriptedService(as_script(written)).invoke("Write.")]
    assert events[-1] == ErrorEvent(message="no more ink", name="scripted")


def test_a_file_is_an_agent(tmp_path: Path) -> None:
    file = tmp_path / "turns.json"
    file.write_bytes(dumps(SCRIPT))
    assert get_agent(f"scripted:{file}").name == "scripted"


WRONG: dict[str, tuple[bytes | None, str]] = {
    "a file that is not there": (None, "the script cannot be read: No such file"),
    "no JSON": (b"{", "this is not a script"),
    "another value": (b'{"scenes": [{"steps": [{"parts": 5}]}]}', "this is not a script"),
    "a pause of the past": (b'{"scenes": [{"steps": [{"pause": -1}]}]}', "this is not a script"),
}


@pytest.mark.parametrize(("text", "what"), WRONG.values(), ids=WRONG)
def test_what_is_no_script_is_told(tmp_path: Path, text: bytes | None, what: str) -> None:
    file = tmp_path / "turns.json"
    if text is not None:
        file.write_bytes(text)
    with pytest.raises(AgentError, match=what) as told:
        read_script(file)
    assert str(file) in told.value.where
    with pytest.raises(AgentError, match="no script is named"):
        get_agent("scripted")
