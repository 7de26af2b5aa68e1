"""A toolset: its order, its names, and the lookup of tools."""

import pytest

from partita.errors import AgentError
from partita.formats.format import ToolSpec
from partita.runtime.tools.tool import Toolset, client_tool, tool
from partita.types.json import JsonObject
from partita.types.parts import ErrorTextOutput
from tests.tables import each_row


def search(text: str) -> str:
    """Search the archive."""
    return text


@tool(name="search-web")
def search_web(text: str) -> str:
    """Search the web."""
    return text


def test_tools_keep_their_order() -> None:
    tools = Toolset([search_web, search, client_tool("mark")])
    empty: JsonObject = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    text: JsonObject = {**empty, "properties": {"text": {"type": "string"}}, "required": ["text"]}
    assert tools.specs() == (
        ToolSpec(name="search-web", description="Search the web.", input_schema=text),
        ToolSpec(name="search", description="Search the archive.", input_schema=text),
        ToolSpec(name="mark", description=None, input_schema=empty),
    )
    assert list(tools) == ["search-web", "search", "mark"]
    assert len(tools) == 3
    assert repr(tools) == "Toolset(['search-web', 'search', 'mark'])"


def test_a_tool_is_found_by_its_name() -> None:
    tools = Toolset([search, search_web])
    assert tools["search-web"] is tools.find("search-web") is search_web
    assert "search" in tools


@each_row(
    ("tools", "text"),
    [
        (Toolset([search, search_web]), "There is no tool 'find'. Known tools: search, search-web."),
        (Toolset(), "There is no tool 'find'. Known tools: none."),
    ],
)
def test_an_unknown_name_is_an_error_with_the_known_names(tools: Toolset, text: str) -> None:
    assert tools.find("find") == ErrorTextOutput(text)


@each_row("name", ["", "a b", "naïve", "a.b", "x" * 65, "a\n"])
def test_an_invalid_name_is_refused(name: str) -> None:
    with pytest.raises(AgentError, match="is not a name for a tool"):
        Toolset([tool(name=name)(search)])


@each_row("name", ["a", "A-b_9", "x" * 64])
def test_a_valid_name_is_accepted(name: str) -> None:
    assert list(Toolset([tool(name=name)(search)])) == [name]


def test_a_duplicate_name_is_refused() -> None:
    with pytest.raises(AgentError, match="two tools are called 'search'") as caught:
        Toolset([search, search_web, client_tool("search")])
    assert caught.value.where == "search"
    assert caught.value.hint == "rename one: `@tool(name=…)`"
