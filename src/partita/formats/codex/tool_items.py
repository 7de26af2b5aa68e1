"""Tool items (commands, file changes, MCP calls, searches …) → the members of a tool call.

The same items are in rollouts, in `codex exec --json` and in the traffic of the app server, as
`CommandExecution`, `command_execution` and `commandExecution`. Older versions had events instead
(`exec_command_begin`, `exec_command_end` …), which `item_event` turns into items.
"""

from collections.abc import Callable, Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from partita.formats.core.members import present
from partita.types.data_url import data_url
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
)

from .content import output_parts, read_image
from .wire import MCP_MEMBERS, camel, error_text, integer, items, member, nested, number, snake, text

RUNNING_STATUSES: Final = frozenset({"in_progress", "inProgress", "generating", "incomplete"})
DENIED_STATUSES: Final = frozenset({"declined", "denied", "rejected"})


class ToolItem(NamedTuple):
    """A call, and its output once it has one."""

    id: str
    name: str
    input: Json
    output: ToolOutput | None
    metadata: JsonObject
    by_provider: bool = False
    sources: tuple[tuple[str, str | None], ...] = ()  # URLs and titles

    @property
    def has_failed(self) -> bool:
        """Whether the call failed."""
        return isinstance(self.output, ErrorTextOutput | ErrorJsonOutput) or bool(self.metadata.get("failed"))


def kind_of_item(item: JsonObject) -> str:
    """The type of an item, in snake case."""
    kind = item.get("type")
    if not isinstance(kind, str):  # the name of this member in 2025
        kind = item.get("item_type")
    return snake(kind) if isinstance(kind, str) else ""


def read_tool_item(item: JsonObject) -> ToolItem | None:
    """Read an item as a tool call; return `None` for other items, such as messages."""
    read = TOOL_ITEM_READERS.get(kind_of_item(item))
    return None if read is None else read(item, text(item, "id") or "")


def _command(item: JsonObject, id: str) -> ToolItem:
    code = integer(item, "exit_code")
    printed = next(
        (value for name in OUTPUTS if (value := text(item, name)) is not None),
        "".join(text(item, name) or "" for name in ("stdout", "stderr")),
    )
    status = text(item, "status") or ""
    output: ToolOutput | None = None
    if status in DENIED_STATUSES:
        output = ExecutionDeniedOutput(printed or None)
    elif status == "failed" or code not in (0, None):
        output = ErrorTextOutput(printed)
    elif status not in RUNNING_STATUSES and (status or code is not None):
        output = TextOutput(printed)
    input_ = present(command=member(item, "command"), cwd=text(item, "cwd"))
    metadata = present(
        exitCode=code,
        durationSeconds=duration(item),
        processId=member(item, "process_id"),
        source=member(item, "source"),
        actions=member(item, "parsed_cmd") or member(item, "command_actions"),
        interactionInput=member(item, "interaction_input"),
    )
    return ToolItem(id, "command_execution", input_, output, metadata)


OUTPUTS: Final = ("aggregated_output", "formatted_output")


def _file_change(item: JsonObject, id: str) -> ToolItem:
    status = text(item, "status") or ""
    printed = present(stdout=text(item, "stdout") or None, stderr=text(item, "stderr") or None)
    if status in DENIED_STATUSES:
        output: ToolOutput | None = ExecutionDeniedOutput(text(item, "stderr") or None)
    else:
        output = _json_output(status, {"status": status, **printed})
    changes = member(item, "changes")
    metadata = present(changes=changes_in_event(changes), autoApproved=member(item, "auto_approved"))
    return ToolItem(id, "file_change", {"changes": changes}, output, metadata)


def _mcp(item: JsonObject, id: str) -> ToolItem:
    error, result = member(item, "error"), member(item, "result")
    metadata = present(
        server=text(item, "server"),
        tool=text(item, "tool"),
        durationSeconds=duration(item),
        **{camel(name): member(item, name) for name in MCP_MEMBERS},
    )
    output: ToolOutput | None = None
    if error is not None:
        output = ErrorTextOutput(error_text(error))
    elif result is not None:
        output = _mcp_output(result)
        if is_object(result) and (result.get("isError") or result.get("is_error")):
            metadata["failed"] = True
    elif member(item, "status") == "failed":
        output = ErrorTextOutput("")
    return ToolItem(id, text(item, "tool") or "mcp", member(item, "arguments"), output, metadata)


def _mcp_output(result: Json) -> ToolOutput:
    """The result of an MCP server: its structured content, else its blocks."""
    if not is_object(result):
        return JsonOutput(result)
    structured = member(result, "structured_content")
    if structured is not None:
        return JsonOutput(structured)
    content = result.get("content")
    return ContentOutput(output_parts(content)) if is_array(content) else JsonOutput(result)


def _dynamic(item: JsonObject, id: str) -> ToolItem:
    content, status = member(item, "content_items"), text(item, "status") or ""
    metadata = present(namespace=text(item, "namespace"), durationSeconds=duration(item))
    output: ToolOutput | None = None
    if isinstance(item.get("error"), str):
        output = ErrorTextOutput(item["error"])
    elif is_array(content):
        output = ContentOutput(output_parts(content))
        if member(item, "success") is False:
            metadata["failed"] = True
    elif status == "failed":
        output = ErrorTextOutput("")
    elif status and status not in RUNNING_STATUSES:
        output = JsonOutput(None)
    return ToolItem(id, text(item, "tool") or "tool", member(item, "arguments"), output, metadata)


def _collab(item: JsonObject, id: str) -> ToolItem:
    names = ("prompt", "model", "reasoning_effort", "receiver_thread_ids", "receiver_agents")
    input_ = {name: value for name in names if (value := member(item, name)) is not None}
    status, tool = text(item, "status") or "", text(item, "tool")
    output = _json_output(status, {"status": status, "agents": nested(item, "agents_states")})
    metadata = present(senderThreadId=member(item, "sender_thread_id"))
    return ToolItem(id, snake(tool) if tool else "collab", input_, output, metadata)


def _web_search(item: JsonObject, id: str) -> ToolItem:
    action, status = nested(item, "action"), text(item, "status") or "completed"
    input_ = {**action, **present(query=action.get("query") or text(item, "query") or None)}
    output = _json_output(status, {"status": status, **present(results=member(item, "results"))})
    pages: dict[str, str | None] = {}
    for page in (action, *items(item, "results"), *items(action, "sources")):
        if url := text(page, "url"):
            pages.setdefault(url, text(page, "title"))
    return ToolItem(id, "web_search", input_, output, {}, by_provider=True, sources=tuple(pages.items()))


def _image_generation(item: JsonObject, id: str) -> ToolItem:
    status, picture = text(item, "status") or "", text(item, "result")
    if picture:
        is_url = picture.startswith(("data:", "http"))
        part = read_image({"image_url": picture if is_url else data_url(picture, "image/png")})
        output: ToolOutput | None = ContentOutput((part,)) if part is not None else None
    else:
        output = _json_output(status, {"status": status})
    metadata = present(savedPath=member(item, "saved_path"), status=status or None)
    input_ = present(revisedPrompt=text(item, "revised_prompt"))
    return ToolItem(id, "image_generation", input_, output, metadata, by_provider=True)


def _image_view(item: JsonObject, id: str) -> ToolItem:
    path = member(item, "path")
    return ToolItem(id, "view_image", present(path=path), JsonOutput(present(path=path)), {})


def _sleep(item: JsonObject, id: str) -> ToolItem:
    millis = number(member(item, "duration_ms"))
    return ToolItem(id, "sleep", present(durationMs=millis), JsonOutput(None), {})


def _json_output(status: str, value: JsonObject) -> ToolOutput | None:
    """The output of a call with that status; `None` while the call runs."""
    if status == "failed":
        return ErrorJsonOutput(value)
    return JsonOutput(value) if status and status not in RUNNING_STATUSES else None


def duration(fields: JsonObject) -> float | None:
    """The duration in seconds, from `{secs, nanos}`, seconds, or milliseconds."""
    value = member(fields, "duration")
    if is_object(value):
        seconds, nanos = number(value.get("secs")), number(value.get("nanos"))
        return None if seconds is None else round(seconds + (nanos or 0) / 1e9, 6)
    if (seconds := number(value)) is not None:
        return seconds
    millis = number(member(fields, "duration_ms"))
    return None if millis is None else millis / 1000


TOOL_ITEM_READERS: Final[dict[str, Callable[[JsonObject, str], ToolItem]]] = {
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

# Tool events, in rollouts and the first version of `codex exec --json`

Phase: TypeAlias = Literal["started", "completed"]

TOOL_EVENTS: Final[dict[str, tuple[Phase, str]]] = {
    "exec_command_begin": ("started", "command_execution"),
    "exec_command_end": ("completed", "command_execution"),
    "patch_apply_begin": ("started", "file_change"),
    "patch_apply_end": ("completed", "file_change"),
    "mcp_tool_call_begin": ("started", "mcp_tool_call"),
    "mcp_tool_call_end": ("completed", "mcp_tool_call"),
    "web_search_begin": ("started", "web_search"),
    "web_search_end": ("completed", "web_search"),
    "image_generation_begin": ("started", "image_generation"),
    "image_generation_end": ("completed", "image_generation"),
    "view_image_tool_call": ("completed", "image_view"),
    "dynamic_tool_call_request": ("started", "dynamic_tool_call"),
    "dynamic_tool_call_response": ("completed", "dynamic_tool_call"),
}


class ItemEvent(NamedTuple):
    """An item, and whether it begins or ends."""

    phase: Phase
    item: JsonObject


def item_event(event: JsonObject) -> ItemEvent | None:
    """Return the item that a tool event describes; `None` for other events."""
    kind = event.get("type")
    known = TOOL_EVENTS.get(kind) if isinstance(kind, str) else None
    if known is None:
        return None
    phase, type_ = known
    item = {name: value for name, value in event.items() if name not in ("type", "call_id")}
    if (status := _event_status(event, phase, type_)) is not None:
        item["status"] = status
    if type_ == "mcp_tool_call":
        item |= _invocation(event)
    return ItemEvent(phase, {**item, "type": type_, "id": text(event, "call_id") or text(event, "id") or ""})


def _event_status(event: JsonObject, phase: Phase, type_: str) -> Json:
    """The status of an item, by its event; `None` if the event does not show it."""
    if type_.startswith("image_"):
        return member(event, "status") or ("in_progress" if phase == "started" else None)
    if phase == "started":
        return "in_progress"
    match type_:
        case "command_execution":
            return text(event, "status") or ("failed" if integer(event, "exit_code") else "completed")
        case "file_change":
            return text(event, "status") or ("completed" if event.get("success") else "failed")
        case "web_search":
            return text(event, "status") or "completed"
        case _:
            return "completed"


def _invocation(event: JsonObject) -> JsonObject:
    """The members of an MCP call. Its result is a `Result` of Rust: `{"Ok": …}` or `{"Err": …}`."""
    invocation, result = nested(event, "invocation"), event.get("result")
    members = {name: invocation.get(name) for name in ("server", "tool", "arguments")}
    if is_object(result) and "Err" in result:
        return members | {
            "result": None,
            "error": {"message": error_text(result["Err"])},
            "status": "failed",
        }
    return members | {"result": result["Ok"] if is_object(result) and "Ok" in result else result}


# Patches → the changes of files: `{path, kind, added, removed, diff …}`

PATCH_BEGIN: Final = "*** Begin Patch"
PATCH_END: Final = "*** End Patch"
PATCH_MOVE: Final = "*** Move to: "
PATCH_HEADERS: Final = {"*** Add File: ": "add", "*** Update File: ": "update", "*** Delete File: ": "delete"}
"""The lines of a patch: `codex-rs/apply-patch/apply_patch_tool_instructions.md`."""

COMMANDS: Final = ("command", "cmd", "input", "script")
"""The members of a shell call's input that may contain a patch, in a here-document."""


PATCH_TOOLS: Final = frozenset(
    {"apply_patch", "shell", "local_shell", "exec_command", "shell_command", "container.exec"}
)
"""Tools whose input may be or contain a patch."""


def read_patch_changes(tool: str, value: Json) -> list[JsonObject] | None:
    """The changes of a patch in the input of a call of that tool; `None` if there is none."""
    return changes_in_input(value) if tool in PATCH_TOOLS else None


def changes_in_input(value: Json) -> list[JsonObject] | None:
    """The changes of a patch in the input of a call; `None` if it contains none."""
    input_ = "\n".join(_strings(value))
    start = input_.find(PATCH_BEGIN)
    return changes_in_text(input_[start:]) if start >= 0 else None


def changes_in_text(patch: str) -> list[JsonObject]:
    """The changes in the text of a patch, in its order."""
    changes: list[JsonObject] = []
    lines: list[str] = []
    for line in patch.split("\n"):
        if line.startswith("*** "):
            if line.startswith(PATCH_END):
                break
            header = next((header for header in PATCH_HEADERS if line.startswith(header)), None)
            if header is not None:
                _add_lines(changes, lines)
                changes.append({"path": line[len(header) :].strip(), "kind": PATCH_HEADERS[header]})
                lines = []
                continue
            if line.startswith(PATCH_MOVE) and changes:
                changes[-1]["movedTo"] = line[len(PATCH_MOVE) :].strip()
                continue
        lines.append(line)
    _add_lines(changes, lines)
    return changes


def changes_in_event(value: Json) -> list[JsonObject] | None:
    """The changes of an event or an item; `None` if there is no list of them."""
    if is_object(value):
        return [_change(path, change) for path, change in value.items()]
    if is_array(value):
        return [_change(text(change, "path") or "", change) for change in value if is_object(change)]
    return None


def _add_lines(changes: list[JsonObject], lines: list[str]) -> None:
    """Add the lines of the last change, after its header."""
    if not changes or not lines:
        return
    change = changes[-1]
    if change["kind"] == "add":
        change["content"] = "\n".join(line[1:] for line in lines if line.startswith("+"))
    elif change["kind"] == "update":
        change["diff"] = "\n".join(lines)
    change |= _diff_counts(lines)


def _change(path: str, change: Json) -> JsonObject:
    """One change of an event: `{type, …}`, `{kind, diff}`, or as in 2025 `{add: {…}}`."""
    if not is_object(change):
        return {"path": path, "kind": change if isinstance(change, str) else "unknown"}
    kind, moved = member(change, "type") or member(change, "kind"), None
    if is_object(kind):
        moved, kind = text(kind, "move_path"), text(kind, "type")
    if kind is None and len(change) == 1:
        ((kind, change),) = change.items()
        change = change if is_object(change) else {}
    diff, content = text(change, "unified_diff") or text(change, "diff"), text(change, "content")
    counts = _diff_counts(diff.split("\n")) if diff is not None else _line_counts(kind, content)
    return {
        "path": path,
        "kind": kind if isinstance(kind, str) else "unknown",
        **present(movedTo=moved or text(change, "move_path"), diff=diff, content=content),
        **counts,
    }


def _diff_counts(lines: list[str]) -> JsonObject:
    added = sum(line.startswith("+") and not line.startswith("+++ ") for line in lines)
    removed = sum(line.startswith("-") and not line.startswith("--- ") for line in lines)
    return {"added": added, "removed": removed}


def _line_counts(kind: Json, content: str | None) -> JsonObject:
    if content is None or kind not in ("add", "delete"):
        return {}
    lines = content.count("\n") + (not content.endswith("\n") and content != "")
    return {"added": lines, "removed": 0} if kind == "add" else {"added": 0, "removed": lines}


def _strings(value: Json) -> Iterator[str]:
    """The texts of an input that may contain a patch."""
    if isinstance(value, str):
        yield value
    elif is_object(value):
        for name in COMMANDS:
            command = value.get(name)
            if isinstance(command, str):
                yield command
            elif is_array(command):
                yield from (word for word in command if isinstance(word, str))
