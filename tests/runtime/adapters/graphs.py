"""Graphs of LangGraph, with a scripted model."""

import asyncio
from collections.abc import AsyncIterator
from importlib import import_module
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from langgraph.prebuilt import ToolNode, tools_condition
from pydantic import Field

GRAPH: Any = import_module("langgraph.graph")  # it comes without types


START: str = GRAPH.START


class Model(BaseChatModel):
    """Streams one reply after the other, and keeps the prompts that it receives."""

    responses: list[list[Any]]
    prompts: list[list[BaseMessage]] = Field(default_factory=list[list[BaseMessage]])

    @property
    def _llm_type(self) -> str:
        return "told"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage("whole"))])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        self.prompts.append(list(messages))
        for output in self.responses.pop(0):
            if isinstance(output, Exception):
                raise output
            yield ChatGenerationChunk(
                message=AIMessageChunk(content=output) if isinstance(output, str) else output
            )
            await asyncio.sleep(0)


USAGE: Any = {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}


def call(name: str, *pieces: str, id: str = "c1") -> list[AIMessageChunk]:
    """A response that calls a tool, its input in pieces."""
    first: list[Any] = [{"name": name, "args": pieces[0], "id": id, "index": 0, "type": "tool_call_chunk"}]
    return [
        AIMessageChunk(content="", tool_call_chunks=first),
        *(
            AIMessageChunk(
                content="",
                tool_call_chunks=[
                    {"name": None, "args": piece, "id": None, "index": 0, "type": "tool_call_chunk"}
                ],
            )
            for piece in pieces[1:]
        ),
    ]


@tool
def dig(depth: int) -> str:
    """Dig a hole."""
    if depth > 100:
        raise ValueError("too deep")
    return f"dug {depth}"


def graph_of(model: Model, *tools: Any, memory: Any = None) -> Any:
    """A model and its tools, in a loop."""

    async def call_model(state: Any) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    builder: Any = GRAPH.StateGraph(GRAPH.MessagesState)
    builder.add_node("speak", call_model)
    builder.add_edge(START, "speak")
    if tools:
        builder.add_node("tools", ToolNode(list(tools), handle_tool_errors=True))
        builder.add_conditional_edges("speak", tools_condition)
        builder.add_edge("tools", "speak")
    else:
        builder.add_edge("speak", GRAPH.END)
    return builder.compile(checkpointer=memory, name="loop")


def node_of(function: Any, memory: Any = None) -> Any:
    """A graph of one node."""
    builder: Any = GRAPH.StateGraph(GRAPH.MessagesState)
    builder.add_node("node", function)
    builder.add_edge(START, "node")
    return builder.compile(checkpointer=memory)
