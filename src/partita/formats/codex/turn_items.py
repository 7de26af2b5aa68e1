"""Items that do something (commands, changes of files, calls of MCP, searches) → what a tool call holds.

The same items are in rollout files, in `codex exec --json` and in the app server's traffic, spelt
`CommandExecution`, `command_execution` and `commandExecution`.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.tools import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
)

from .content import image_of, parts_of_output
from .fields import camel, duration, error_words, found, inner, items, number, present, snake, text, whole
from .patches import changes_in_event

RUNNING: Final = frozenset({"in_progress", "inProgress", "generating", "incomplete"})
REFUSED: Final = frozenset({"declined", "denied", "rejected"})


class Work(NamedTuple):
    """What an item amounts to: a call, and its output once it has one."""

    id: str
    name: str
    input: Json
    output: ToolOutput | None
    metadata: JsonObject
    by_provider: bool = False
    sources: tuple[tuple[str, str | None], ...] = ()  # urls and titles

    @property
    def is_failure(self) -> bool:
        """Whether it went wrong."""
        return isinstance(self.output, ErrorTextOutput | ErrorJsonOutput) or bool(self.metadata.get("failed"))


def kind_of_item(item: JsonObject) -> str:
    """The type of an item, in one spelling."""
    kind = item.get("type")
    if not isinstance(kind, str):  # in 2025 an item's type was called otherwise
        kind = item.get("item_type")
    return snake(kind) if isinstance(kind, str) else ""


def work_of(item: JsonObject) -> Work | None:
    """What an item amounts to; `None` for one that does nothing."""
    read = WORKS.get(kind_of_item(item))
    return None if read is None else read(item, text(item, "id") or "")


def _status(item: JsonObject) -> str:
    status = found(item, "status")
    return status if isinstance(status, str) else ""


def _command(item: JsonObject, id: str) -> Work:
    code = whole(item, "exit_code")
    words = next(
        (words for name in OUTPUTS if (words := text(item, name)) is not None),
        "".join(text(item, name) or "" for name in ("stdout", "stderr")),
    )
    status = _status(item)
    output: ToolOutput | None = None
    if status in REFUSED:
        output = ExecutionDeniedOutput(words or None)
    elif status == "failed" or code not in (0, None):
        output = ErrorTextOutput(words)
    elif status not in RUNNING and (status or code is not None):
        output = TextOutput(words)
    named = present(command=found(item, "command"), cwd=text(item, "cwd"))
    said = present(
        exitCode=code,
        durationSeconds=duration(item),
        processId=found(item, "process_id"),
        source=found(item, "source"),
        actions=found(item, "parsed_cmd") or found(item, "command_actions"),
        interactionInput=found(item, "interaction_input"),
    )
    return Work(id, "command_execution", named, output, said)


OUTPUTS: Final = ("aggregated_output", "formatted_output")


def _file_change(item: JsonObject, id: str) -> Work:
    changes = changes_in_event(found(item, "changes"))
    status = _status(item)
    words = present(stdout=text(item, "stdout") or None, stderr=text(item, "stderr") or None)
    output: ToolOutput | None = None
    if status in REFUSED:
        output = ExecutionDeniedOutput(text(item, "stderr") or None)
    elif status == "failed":
        output = ErrorJsonOutput({"status": status, **words})
    elif status and status not in RUNNING:
        output = JsonOutput({"status": status, **words})
    said = present(changes=changes, autoApproved=found(item, "auto_approved"))
    return Work(id, "file_change", {"changes": found(item, "changes")}, output, said)


def _mcp(item: JsonObject, id: str) -> Work:
    error, result = found(item, "error"), found(item, "result")
    said = present(
        server=text(item, "server"),
        tool=text(item, "tool"),
        durationSeconds=duration(item),
        **{camel(name): found(item, name) for name in MCP_EXTRAS},
    )
    output: ToolOutput | None = None
    if error is not None:
        output = ErrorTextOutput(error_words(error))
    elif result is not None:
        output = _result(result)
        if is_object(result) and (result.get("isError") or result.get("is_error")):
            said["failed"] = True
    elif _status(item) == "failed":
        output = ErrorTextOutput("")
    return Work(id, text(item, "tool") or "mcp", found(item, "arguments"), output, said)


MCP_EXTRAS: Final = (
    "connector_id",
    "mcp_app_resource_uri",
    "link_id",
    "app_name",
    "template_id",
    "action_name",
    "plugin_id",
)


def _result(result: Json) -> ToolOutput:
    """What a server of MCP gave back: structured where it is, else its blocks."""
    if not is_object(result):
        return JsonOutput(result)
    structured = found(result, "structured_content")
    if structured is not None:
        return JsonOutput(structured)
    content = result.get("content")
    return ContentOutput(parts_of_output(content)) if is_array(content) else JsonOutput(result)


def _dynamic(item: JsonObject, id: str) -> Work:
    content, status = found(item, "content_items"), _status(item)
    said = present(namespace=text(item, "namespace"), durationSeconds=duration(item))
    output: ToolOutput | None = None
    if isinstance(item.get("error"), str):
        output = ErrorTextOutput(item["error"])
    elif is_array(content):
        output = ContentOutput(parts_of_output(content))
        if found(item, "success") is False:
            said["failed"] = True
    elif status == "failed":
        output = ErrorTextOutput("")
    elif status and status not in RUNNING:
        output = JsonOutput(None)
    return Work(id, text(item, "tool") or "tool", found(item, "arguments"), output, said)


def _collab(item: JsonObject, id: str) -> Work:
    asked = ("prompt", "model", "reasoning_effort", "receiver_thread_ids", "receiver_agents")
    given = {name: value for name in asked if (value := found(item, name)) is not None}
    status = _status(item)
    states = {"status": status, "agents": inner(item, "agents_states")}
    output: ToolOutput | None = None
    if status == "failed":
        output = ErrorJsonOutput(states)
    elif status and status not in RUNNING:
        output = JsonOutput(states)
    tool = text(item, "tool")
    said = present(senderThreadId=found(item, "sender_thread_id"))
    return Work(id, snake(tool) if tool else "collab", given, output, said)


def _web_search(item: JsonObject, id: str) -> Work:
    action, status = inner(item, "action"), _status(item) or "completed"
    query = text(item, "query")
    asked = {**action, **present(query=action.get("query") or query or None)}
    results = found(item, "results")
    output: ToolOutput | None = None
    if status == "failed":
        output = ErrorJsonOutput({"status": status, **present(results=results)})
    elif status not in RUNNING:
        output = JsonOutput({"status": status, **present(results=results)})
    return Work(id, "web_search", asked, output, {}, by_provider=True, sources=_sources(item, action))


def _sources(item: JsonObject, action: JsonObject) -> tuple[tuple[str, str | None], ...]:
    """The pages that a search opened or found, each once."""
    pages: dict[str, str | None] = {}
    for page in (action, *items(item, "results"), *items(action, "sources")):
        url = text(page, "url")
        if url:
            pages.setdefault(url, text(page, "title"))
    return tuple(pages.items())


def _image_generation(item: JsonObject, id: str) -> Work:
    status, picture = _status(item), text(item, "result")
    output: ToolOutput | None = None
    if picture:
        url = picture if picture.startswith(("data:", "http")) else f"data:image/png;base64,{picture}"
        part = image_of({"image_url": url})
        output = ContentOutput((part,)) if part is not None else None
    elif status == "failed":
        output = ErrorJsonOutput({"status": status})
    elif status and status not in RUNNING:
        output = JsonOutput({"status": status})
    said = present(savedPath=found(item, "saved_path"), status=status or None)
    asked = present(revisedPrompt=text(item, "revised_prompt"))
    return Work(id, "image_generation", asked, output, said, by_provider=True)


def _image_view(item: JsonObject, id: str) -> Work:
    path = found(item, "path")
    return Work(id, "view_image", present(path=path), JsonOutput(present(path=path)), {})


def _sleep(item: JsonObject, id: str) -> Work:
    millis = number(found(item, "duration_ms"))
    return Work(id, "sleep", present(durationMs=millis), JsonOutput(None), {})


WORKS: Final[dict[str, Callable[[JsonObject, str], Work]]] = {
    "command_execution": _command,
    "file_change": _file_change,
    "mcp_tool_call": _mcp,
    "dynamic_tool_call": _dynamic,
    "collab_tool_call": _collab,
    "collab_agent_tool_call": _collab,
    "web_search": _web_search,
    "image_generation": _image_generation,
    "image_view": _image_view,
    "sleep": _sleep,
}
