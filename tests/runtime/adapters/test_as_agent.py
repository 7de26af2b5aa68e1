"""What `as_agent` accepts, and the `AgentRequest` of a function."""

import subprocess
import sys
from typing import Any

import pytest

from partita.errors import AgentError, FormatError
from partita.formats.format import ToolSpec
from partita.runtime.adapters.agent_request import AgentRequest
from partita.runtime.adapters.as_agent import as_agent
from partita.runtime.adapters.raw_events import detect_format
from partita.runtime.scripted import Script, ScriptedService
from partita.runtime.service import InvokeOptions
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, ToolCallPart, UserMessage
from partita.types.parts import StepStartPart, TextOutput, TextPart
from tests.runtime.adapters import wires
from tests.tables import each_row


async def poet(ask: AgentRequest) -> str:
    return "Roses."


def test_a_service_is_used_unchanged() -> None:
    service = ScriptedService(Script(scenes=()))
    assert as_agent(service) is service


def test_a_name_is_looked_up_in_the_registry() -> None:
    assert as_agent("acp:cat").name == "acp"


def test_a_function_has_its_own_name_or_the_one_it_is_given() -> None:
    assert (as_agent(poet).name, as_agent(poet, name="bard").name) == ("poet", "bard")


REFUSED: dict[str, tuple[Any, JsonObject, str]] = {
    "a number": (7, {}, "an async function that yields"),
    "a class": (ScriptedService, {}, "the class ScriptedService is not an agent"),
    "an unknown name": ("nobody", {}, "no agent 'nobody'"),
    "another name for a service": (ScriptedService(Script(scenes=())), {"name": "x"}, "its own name"),
    "a format for a service": ("acp:cat", {"format": "anthropic"}, "for functions"),
}


@each_row(("thing", "options", "message"), REFUSED.values(), ids=REFUSED)
def test_other_objects_are_refused(thing: Any, options: JsonObject, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        as_agent(thing, **options)


def test_a_format_that_does_not_exist_is_refused_at_once() -> None:
    with pytest.raises(FormatError, match="no format 'antropic'"):
        as_agent(poet, format="antropic")


def test_no_other_package_is_imported_for_a_function() -> None:
    program = (
        "import sys\n"
        "from partita.runtime.adapters.as_agent import as_agent\n"
        "as_agent(lambda ask: 'Hello')\n"
        "print({'pydantic_ai', 'agents', 'langgraph', 'langchain_core', 'pydantic_core'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


EVENTS = {
    "anthropic": wires.anthropic("a"),
    "openai-chat": wires.chat("a"),
    "openai-responses": wires.responses("a"),
    "gemini": wires.gemini("a"),
    "ai-sdk-chunks": wires.chunks("a"),
    "claude-code-stream": wires.claude_code("a"),
}


@each_row("name", EVENTS)
def test_the_format_of_every_event_is_detected(name: str) -> None:
    assert {detect_format(event) for event in EVENTS[name]} == {name}


FIRST_EVENTS: dict[str, JsonObject] = {
    "openai-chat": {"id": "", "object": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
    "openai-chat-groq": {**wires.chat("a")[0], "x_groq": {"id": "req_1"}},
    "codex-exec": {"type": "thread.started", "thread_id": "t1"},
    "bedrock-converse": {"messageStart": {"role": "assistant"}},
}


@each_row(("name", "event"), FIRST_EVENTS.items(), ids=FIRST_EVENTS)
def test_the_format_of_a_first_event_is_detected(name: str, event: JsonObject) -> None:
    assert detect_format(event) == name


CALL = ToolCallPart(
    id="c1", name="dig", state="output-available", input={"depth": 2}, output=TextOutput("dug")
)
TALK = (
    UserMessage(id="u1", content="Dig"),
    AssistantMessage(id="a1", content=[StepStartPart(), CALL, StepStartPart(), TextPart("Done.")]),
    UserMessage(id="u2", content="Thanks"),
)
ASK = AgentRequest(messages=TALK, options=InvokeOptions(instructions="Be brief."))


def test_for_anthropic() -> None:
    from anthropic.types import MessageParam, TextBlockParam
    from pydantic import TypeAdapter

    given = ASK.to("anthropic")
    assert set(given) == {"system", "messages"}
    TypeAdapter(list[TextBlockParam]).validate_python(given["system"])
    TypeAdapter(list[MessageParam]).validate_python(given["messages"])
    assert [turn["role"] for turn in given["messages"]] == ["user", "assistant", "user", "assistant", "user"]


@each_row(("name", "role"), [("openai-chat", "developer"), ("openai-chat-ollama", "system")])
def test_for_chat_completions(name: str, role: str) -> None:
    from openai.types.chat import ChatCompletionMessageParam
    from pydantic import TypeAdapter

    given = ASK.to(name)
    assert set(given) == {"messages"}
    TypeAdapter(list[ChatCompletionMessageParam]).validate_python(given["messages"])
    roles = [turn["role"] for turn in given["messages"]]
    assert roles == [role, "user", "assistant", "tool", "assistant", "user"]


def test_for_responses() -> None:
    given = ASK.to("openai-responses")
    assert set(given) == {"input"}
    kinds = [item.get("type") or item["role"] for item in given["input"]]
    assert kinds == ["system", "user", "function_call", "function_call_output", "message", "user"]


def test_for_gemini() -> None:
    from google.genai.types import Content, GenerateContentConfig
    from pydantic import TypeAdapter

    given = ASK.to("gemini")
    assert set(given) == {"contents", "config"}
    contents = TypeAdapter(list[Content]).validate_python(given["contents"])
    assert [content.role for content in contents] == ["user", "model", "user", "model", "user"]
    config = GenerateContentConfig.model_validate(given["config"]).model_dump(exclude_none=True)
    assert config == {"system_instruction": {"parts": [{"text": "Be brief."}]}}


def test_tools_of_the_options_are_included() -> None:
    ask = AgentRequest(messages=TALK, options=InvokeOptions(tools=(ToolSpec("where", "Where the user is."),)))
    for name in ("anthropic", "openai-chat", "openai-responses"):
        assert len(ask.to(name)["tools"]) == 1
    assert len(ask.to("gemini")["config"]["tools"]) == 1


def test_any_other_format_is_its_payload() -> None:
    assert [message["role"] for message in ASK.to("ai-sdk-ui-v7")] == ["user", "assistant", "user"]
    with pytest.raises(FormatError, match="can be read but not written"):
        ASK.to("codex-exec")


async def test_an_empty_prompt_is_refused() -> None:
    with pytest.raises(AgentError, match="the prompt is empty"):
        as_agent(poet).invoke([])
