"""The tools there are, and calls of them."""

from typing import Any, Final

from partita.errors import PartitaError
from partita.types.json import JsonObject, is_object

from .archive import Archive
from .list_sessions import LIST
from .read_session import READ
from .read_tool_output import OUTPUT
from .rpc import INVALID_PARAMS, RpcError
from .search_sessions import SEARCH
from .tool import Tool
from .tool_statistics import TOOLS_TOLD
from .usage_statistics import USAGE
from .versions import Dialect

TOOLS: Final[tuple[Tool[Any, Any], ...]] = (SEARCH, LIST, READ, OUTPUT, TOOLS_TOLD, USAGE)
BY_NAME: Final = {tool.name: tool for tool in TOOLS}


def list_tools(dialect: Dialect) -> JsonObject:
    """All tools."""
    return {"tools": [tool.told(dialect) for tool in TOOLS]}


async def call_tool(archive: Archive, params: JsonObject, dialect: Dialect) -> JsonObject:
    """What a call gives. What a model did wrong, or the archive cannot do, is an answer that says so."""
    name, given = params.get("name"), params.get("arguments")
    tool = BY_NAME.get(name) if isinstance(name, str) else None
    if tool is None:
        raise RpcError(INVALID_PARAMS, f"no tool {name!r}: there are {', '.join(BY_NAME)}")
    try:
        if given is not None and not is_object(given):
            raise RpcError(INVALID_PARAMS, "arguments is an object")
        return await tool.answer(archive, given or {}, dialect)
    except PartitaError as error:
        return {"content": [{"type": "text", "text": told(error)}], "isError": True}


def told(error: PartitaError) -> str:
    """An error as a model reads it."""
    return f"Error: {error}"
