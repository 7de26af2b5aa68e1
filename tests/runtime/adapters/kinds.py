"""The same agent in every package: a scripted model, a tool that runs, and a tool that needs approval.

What a model was sent is given in one form, whatever the package: who, and what was said, called or returned.
"""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, NamedTuple, TypeAlias

from partita.runtime.tools.tool import tool as own_tool
from partita.types.json import dumps, is_array, is_object

Response: TypeAlias = str | tuple[str, dict[str, Any]]
"""A text, or a call: the name of a tool and its input."""

Seen: TypeAlias = list[tuple[str, str]]


class AdaptedAgent(NamedTuple):
    """An agent, and the prompts that its model receives."""

    agent: Any
    prompts: Callable[[], list[Seen]]
    ran: list[int]
    """The inputs of the tool that needs approval, as it ran."""


class Memory:
    """State outside of the store that survives a restart of an agent: a checkpointer, if there is one."""

    saver: Any = None


Make: TypeAlias = Callable[[Sequence[Response], Memory], AdaptedAgent]

_numbers = count(1)


def own(responses: Sequence[Response], memory: Memory) -> AdaptedAgent:
    """An `Agent` of Partita."""
    from partita.runtime.agent.agent import Agent
    from tests.runtime.agent.models import Model, reply, summary_of

    ran: list[int] = []

    def dig(depth: int) -> str:
        """Dig a hole."""
        return f"dug {depth}"

    @own_tool(approval="always")
    def blast(depth: int) -> str:
        """Blast a hole."""
        ran.append(depth)
        return f"boom {depth}"

    model = Model(*(reply(response) for response in responses))
    agent = Agent(model, tools=[dig, blast], name="digger")
    return AdaptedAgent(
        agent, lambda: [[(kind, str(text)) for kind, text in summary_of(one)] for one in model.prompts], ran
    )


def pydantic(responses: Sequence[Response], memory: Memory) -> AdaptedAgent:
    """An agent of Pydantic AI."""
    from pydantic_ai.messages import TextPart, ToolCallPart, ToolReturnPart, UserPromptPart

    from tests.runtime.adapters.pydantic_models import Model, call

    ran: list[int] = []
    model = Model(
        *(
            [response]
            if isinstance(response, str)
            else call(response[0], dumps(response[1]).decode(), id=f"p{next(_numbers)}")
            for response in responses
        )
    )
    agent = model.agent()

    @agent.tool_plain
    def dig(depth: int) -> str:
        """Dig a hole."""
        return f"dug {depth}"

    @agent.tool_plain(requires_approval=True)
    def blast(depth: int) -> str:
        """Blast a hole."""
        ran.append(depth)
        return f"boom {depth}"

    def short(part: Any) -> tuple[str, str]:
        match part:
            case UserPromptPart():
                return "user", str(part.content)
            case TextPart():
                return "text", part.content
            case ToolCallPart():
                return "call", part.tool_name
            case ToolReturnPart():
                return "result", str(part.content)
            case _:
                return type(part).__name__, ""

    return AdaptedAgent(
        agent, lambda: [[short(part) for m in one for part in m.parts] for one in model.prompts], ran
    )


def openai(responses: Sequence[Response], memory: Memory) -> AdaptedAgent:
    """An agent of the OpenAI Agents SDK."""
    from agents import Agent, function_tool
    from agents.testing import ScriptedModel

    from tests.runtime.adapters.scripted_agents import calls, text_response

    ran: list[int] = []

    @function_tool
    def dig(depth: int) -> str:
        """Dig a hole."""
        return f"dug {depth}"

    @function_tool(needs_approval=True)
    def blast(depth: int) -> str:
        """Blast a hole."""
        ran.append(depth)
        return f"boom {depth}"

    steps = [
        text_response(response, f"resp_{next(_numbers)}")
        if isinstance(response, str)
        else calls((response[0], dumps(response[1]).decode()), id=f"resp_{next(_numbers)}")
        for response in responses
    ]
    model = ScriptedModel(steps)
    agent = Agent(name="digger", model=model, tools=[dig, blast])
    return AdaptedAgent(agent, lambda: [openai_prompt(one.input) for one in model.calls], ran)


def openai_prompt(items: Any) -> Seen:
    """The input of a model of the Agents SDK, as a summary."""

    def short(item: Any) -> tuple[str, str]:
        match item:
            case {"type": "function_call"}:
                return "call", item["name"]
            case {"type": "function_call_output"}:
                return "result", _text(item["output"])
            case {"role": "user"}:
                return "user", _text(item["content"])
            case _:
                return "text", _text(item["content"])

    return [short(item if is_object(item) else item.model_dump()) for item in items]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(str(item.get("text")) for item in content if is_object(item)) if is_array(content) else ""


def graph(responses: Sequence[Response], memory: Memory) -> AdaptedAgent:
    """A graph of LangGraph without a checkpointer."""
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
    from langchain_core.tools import tool
    from langgraph.types import interrupt

    from tests.runtime.adapters.graphs import Model, call, graph_of
    from tests.runtime.adapters.graphs import dig as dig_tool

    ran: list[int] = []

    @tool
    def blast(depth: int) -> str:
        """Blast a hole."""
        if interrupt({"blast": depth}) is False:
            return "refused"
        ran.append(depth)
        return f"boom {depth}"

    model = Model(
        responses=[
            [response]
            if isinstance(response, str)
            else call(response[0], dumps(response[1]).decode(), id=f"g{next(_numbers)}")
            for response in responses
        ]
    )

    def short(message: BaseMessage) -> list[tuple[str, str]]:
        match message:
            case HumanMessage():
                return [("user", message.text)]
            case AIMessage():
                text = [("text", message.text)] if message.text else []
                return [*text, *(("call", made["name"]) for made in message.tool_calls)]
            case ToolMessage():
                return [("result", message.text)]
            case _:
                return [(message.type, message.text)]

    made = graph_of(model, dig_tool, blast, memory=memory.saver)
    return AdaptedAgent(
        made, lambda: [[part for m in one for part in short(m)] for one in model.prompts], ran
    )


def graph_with_memory(responses: Sequence[Response], memory: Memory) -> AdaptedAgent:
    """A graph of LangGraph with a checkpointer, which outlives the graph."""
    from langgraph.checkpoint.memory import InMemorySaver

    memory.saver = memory.saver or InMemorySaver()
    return graph(responses, memory)


def graph_with_lost_memory(responses: Sequence[Response], memory: Memory) -> AdaptedAgent:
    """A graph of LangGraph with a checkpointer that is empty after a restart."""
    from langgraph.checkpoint.memory import InMemorySaver

    memory.saver = InMemorySaver()
    return graph(responses, memory)


KINDS: dict[str, Make] = {
    "Agent": own,
    "Pydantic AI": pydantic,
    "OpenAI Agents": openai,
    "LangGraph": graph,
    "LangGraph with a checkpointer": graph_with_memory,
}
