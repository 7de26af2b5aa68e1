"""A scripted agent: which scene, which step, and which chunks it streams."""

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


def user(text: str) -> UserMessage:
    return UserMessage(id="u", content=text)


def assistant(text: str) -> AssistantMessage:
    return AssistantMessage(id="a", content=text)


STEPS: dict[str, tuple[list[Message], str | None]] = {
    "the text selects the scene, ignoring case": ([user("What WEATHER is it?")], "look"),
    "a scene without a match": ([user("Good day")], "Hello there."),
    "the next step after a response": ([user("weather"), assistant("…")], "Snow."),
    "the next message starts with the first step": (
        [user("weather"), assistant("…"), user("weather")],
        "look",
    ),
    "no more steps": ([user("weather"), assistant("…"), assistant("…")], None),
}


@each_row(("messages", "expected"), STEPS.values(), ids=STEPS)
def test_the_step_for_a_conversation(messages: list[Message], expected: str | None) -> None:
    step = step_for(as_script(SCRIPT), messages)
    assert (None if step is None else chunks_in(step)) == expected


def chunks_in(step: Step) -> str:
    (part,) = step.parts
    assert isinstance(part, TextPart | ToolCallPart)
    return part.text if isinstance(part, TextPart) else part.name


async def test_the_chunks_of_a_step_fold_to_its_parts() -> None:
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


async def test_a_step_may_fail_after_its_text() -> None:
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
    "a missing file": (None, "the script cannot be read: No such file"),
    "not JSON": (b"{", "this is not a script"),
    "another value": (b'{"scenes": [{"steps": [{"parts": 5}]}]}', "this is not a script"),
    "a negative pause": (b'{"scenes": [{"steps": [{"pause": -1}]}]}', "this is not a script"),
}


@pytest.mark.parametrize(("text", "what"), WRONG.values(), ids=WRONG)
def test_an_invalid_script_is_refused(tmp_path: Path, text: bytes | None, what: str) -> None:
    file = tmp_path / "turns.json"
    if text is not None:
        file.write_bytes(text)
    with pytest.raises(AgentError, match=what) as caught:
        read_script(file)
    assert str(file) in caught.value.where
    with pytest.raises(AgentError, match="no script is named"):
        get_agent("scripted")
