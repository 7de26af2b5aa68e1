"""Agents of the OpenAI Agents SDK, with a scripted model."""

from typing import Any

from agents import Agent, function_tool
from agents.testing import ModelStep, ScriptedModel
from openai.types.responses import (
    ResponseFunctionToolCall,
)

from partita.types.json import JsonObject
from tests.runtime.adapters import wires
from tests.runtime.adapters.objects import openai_events


def text_response(text: str, id: str = "resp_1") -> ModelStep:
    return ModelStep.stream([openai_events().validate_python(event) for event in wires.responses(text, id)])


def calls(*made: tuple[str, str], id: str = "resp_c") -> ModelStep:
    """A response that calls tools, each by its name and the JSON of its input."""
    items: list[JsonObject] = [
        ResponseFunctionToolCall(
            id=f"fc_{name}",
            call_id=f"call_{name}",
            name=name,
            arguments=json,
            type="function_call",
            status="completed",
        ).model_dump()
        for name, json in made
    ]
    created, *_, completed = wires.responses("", id)
    added = [
        {"type": f"response.output_item.{stage}", "output_index": place, "item": item, "sequence_number": 1}
        for place, item in enumerate(items)
        for stage in ("added", "done")
    ]
    ended = {**completed, "response": {**completed["response"], "output": items}}
    return ModelStep.stream([openai_events().validate_python(event) for event in (created, *added, ended)])


def digger(*steps: ModelStep, approval: bool = False, ran: list[int] | None = None) -> Agent[Any]:
    @function_tool(needs_approval=approval)
    def dig(depth: int) -> str:
        """Dig a hole."""
        if ran is not None:
            ran.append(depth)
        return f"dug {depth}"

    return Agent(name="digger", instructions="You dig.", model=ScriptedModel(steps), tools=[dig])


def model_of(agent: Agent[Any]) -> ScriptedModel:
    assert isinstance(agent.model, ScriptedModel)
    return agent.model
