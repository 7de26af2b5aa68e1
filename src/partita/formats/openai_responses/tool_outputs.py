"""What the provider's own tools gave back, in the shape the AI SDK gives it."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from partita.types.json import JsonObject, is_object

from .fields import array, objects, present, text

Shape: TypeAlias = Callable[[JsonObject], JsonObject]

ACTIONS: Final[Mapping[str, str]] = {"open_page": "openPage", "find_in_page": "findInPage"}
"""Actions of a web search that have another name in the AI SDK."""


def _web_search(item: JsonObject) -> JsonObject:
    """What was searched or opened. The item keeps the action as it came: this is for those who look."""
    action = item.get("action")
    if not is_object(action):
        return present(results=array(item, "results"))
    kind = text(action, "type")
    shown = {
        **{name: value for name, value in action.items() if name != "sources"},
        "type": ACTIONS.get(kind, kind),
    }
    sources = {"sources": action["sources"]} if action.get("sources") is not None else {}
    return {"action": shown, **sources, **present(results=array(item, "results"))}


def _file_search(item: JsonObject) -> JsonObject:
    found = None if item.get("results") is None else [_renamed(one) for one in objects(item, "results")]
    return {"queries": item.get("queries"), "results": found}


def _renamed(result: JsonObject) -> JsonObject:
    return {"fileId" if name == "file_id" else name: value for name, value in result.items()}


def _code(item: JsonObject) -> JsonObject:
    return {"outputs": item.get("outputs")}


def _image(item: JsonObject) -> JsonObject:
    return {"result": item.get("result")}


def _mcp(item: JsonObject) -> JsonObject:
    said = {
        "type": "call",
        "serverLabel": item.get("server_label"),
        "name": item.get("name"),
        "arguments": item.get("arguments"),
    }
    return said if item.get("output") is None else {**said, "output": item["output"]}


def _shell(item: JsonObject) -> JsonObject:
    return {"output": [_shell_output(one) for one in objects(item, "output")]}


def _shell_output(output: JsonObject) -> JsonObject:
    outcome = output.get("outcome")
    if not is_object(outcome):
        return output
    renamed = {"exitCode" if name == "exit_code" else name: value for name, value in outcome.items()}
    return {**output, "outcome": renamed}


def _tool_search(item: JsonObject) -> JsonObject:
    return {"tools": item.get("tools")}


def _program(item: JsonObject) -> JsonObject:
    return present(result=item.get("result"), status=item.get("status"))


class Outcome(NamedTuple):
    """How the output of an item is shaped, and the fields of the item that it tells in full."""

    shape: Shape
    told: tuple[str, ...] = ()


OUTCOMES: Final[Mapping[str, Outcome]] = {
    "web_search_call": Outcome(_web_search),
    "file_search_call": Outcome(_file_search, ("queries", "results")),
    "code_interpreter_call": Outcome(_code, ("outputs",)),
    "image_generation_call": Outcome(_image, ("result",)),
    "mcp_call": Outcome(_mcp, ("output",)),
    "shell_call_output": Outcome(_shell, ("output",)),
    "tool_search_output": Outcome(_tool_search, ("tools",)),
    "program_output": Outcome(_program, ("result", "status")),
}
"""By the kind of the item that brings the output."""


def is_done(item: JsonObject) -> bool:
    """Whether a tool came to an end. Some servers leave the status behind although the output is there."""
    kind, status = text(item, "type"), item.get("status")
    outcome = OUTCOMES.get(kind)
    told = outcome.told if outcome is not None else ()
    return status in (None, "completed") or (status != "failed" and any(item.get(name) for name in told))
