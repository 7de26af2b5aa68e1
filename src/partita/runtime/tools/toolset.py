"""The tools that a model may choose from."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from partita.errors import AgentError
from partita.formats.format import ToolSpec
from partita.types.tools import ErrorTextOutput

from .signature import name_of
from .tool import Tool, as_tool

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what every provider takes


class Toolset(Mapping[str, Tool]):
    """Tools by name, in the order they were given."""

    def __init__(self, tools: Iterable[Tool | Callable[..., Any]] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in map(as_tool, tools):
            self._check(tool)
            self._tools[tool.name] = tool

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __repr__(self) -> str:
        return f"Toolset({list(self._tools)})"

    def specs(self) -> tuple[ToolSpec, ...]:
        """What a model is told of the tools."""
        return tuple(tool.spec for tool in self._tools.values())

    def find(self, name: str) -> Tool | ErrorTextOutput:
        """The tool of that name, or what to tell a model that made the name up."""
        tool = self._tools.get(name)
        if tool is not None:
            return tool
        return ErrorTextOutput(
            f"There is no tool {name!r:.80}. Known tools: {', '.join(self._tools) or 'none'}."
        )

    def _check(self, tool: Tool) -> None:
        where = tool.name if tool.function is None else name_of(tool.function)
        if not _NAME.fullmatch(tool.name):
            raise AgentError(
                f"{tool.name!r:.80} is no name for a tool",
                where=where,
                hint="letters, digits, `_` and `-`, at most 64: `@tool(name=…)`",
            )
        if tool.name in self._tools:
            raise AgentError(
                f"two tools are called {tool.name!r}", where=where, hint="rename one: `@tool(name=…)`"
            )
