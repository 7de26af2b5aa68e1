"""Items that do something (commands, file changes, MCP calls, searches …) → what a tool call holds.

The same items are in rollouts, in `codex exec --json` and in the traffic of the app server, as
`CommandExecution`, `command_execution` and `commandExecution`. Before there were items, events described the
same work (`exec_command_begin`, `exec_command_end` …): `item_event` turns these into items.
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

from .content import image_of, output_parts
from .wire import MCP_MEMBERS, camel, error_text, found, inner, items, number, snake, text, whole

RUNNING: Final = frozenset({"in_progress", "inProgress", "generating", "incomplete"})
REFUSED: Final = frozenset({"declined", "denied", "rejected"})


class Work(NamedTuple):
    """A call, and its output once it has one."""

    id: str
    name: str
    input: Json
    output: ToolOutput | None
    metadata: JsonObject
    by_provider: bool = False
    sources: tuple[tuple[str, str | None], ...] = ()  # URLs and titles

    @property
    def is_failure(self) -> bool:
        """Whether it failed."""
        return isinstance(self.output, ErrorTextOutput | ErrorJsonOutput) or bool(self.metadata.get("failed"))


def kind_of_item(item: JsonObject) -> str:
    """The type of an item, in snake case."""
    kind = item.get("type")
    if not isinstance(kind, str):  # the name of this member in 2025
        kind = item.get("item_type")
    return snake(kind) if isinstance(kind, str) else ""


def work_of(item: JsonObject) -> Work | None:
    """The call that an item is; `None` for other items, such as messages."""
    read = WORKS.get(kind_of_item(item))
    return None if read is None else read(item, text(item, "id") or "")


def _command(item: JsonObject, id: str) -> Work:
    code = whole(item, "exit_code")
    printed = next(
        (value for name in OUTPUTS if (value := text(item, name)) is not None),
        "".join(text(item, name) or "" for name in ("stdout", "stderr")),
    )
    status = text(item, "status") or ""
    output: ToolOutput | None = None
    if status in REFUSED:
        output = ExecutionDeniedOutput(printed or None)
    elif status == "failed" or code not in (0, None):
        output = ErrorTextOutput(printed)
    elif status not in RUNNING and (status or code is not None):
        output = TextOutput(printed)
    given = present(command=found(item, "command"), cwd=text(item, "cwd"))
    metadata = present(
        exitCode=code,
        durationSeconds=duration(item),
        processId=found(item, "process_id"),
        source=found(item, "source"),
        actions=found(item, "parsed_cmd") or found(item, "command_actions"),
        interactionInput=found(item, "interaction_input"),
    )
    return Work(id, "command_execution", given, output, metadata)


OUTPUTS: Final = ("aggregated_output", "formatted_output")


def _file_change(item: JsonObject, id: str) -> Work:
    status = text(item, "status") or ""
    printed = present(stdout=text(item, "stdout") or None, stderr=text(item, "stderr") or None)
    if status in REFUSED:
        output: ToolOutput | None = ExecutionDeniedOutput(text(item, "stderr") or None)
    else:
        output = _json_output(status, {"status": status, **printed})
    changes = found(item, "changes")
    metadata = present(changes=changes_in_event(changes), autoApproved=found(item, "auto_approved"))
    return Work(id, "file_change", {"changes": changes}, output, metadata)


def _mcp(item: JsonObject, id: str) -> Work:
    error, result = found(item, "error"), found(item, "result")
    metadata = present(
        server=text(item, "server"),
        tool=text(item, "tool"),
        durationSeconds=duration(item),
        **{camel(name): found(item, name) for name in MCP_MEMBERS},
    )
    output: ToolOutput | None = None
    if error is not None:
        output = ErrorTextOutput(error_text(error))
    elif result is not None:
        output = _mcp_output(result)
        if is_object(result) and (result.get("isError") or result.get("is_error")):
            metadata["failed"] = True
    elif found(item, "status") == "failed":
        output = ErrorTextOutput("")
    return Work(id, text(item, "tool") or "mcp", found(item, "arguments"), output, metadata)


def _mcp_output(result: Json) -> ToolOutput:
    """The result of an MCP server: its structured content, or else its blocks."""
    if not is_object(result):
        return JsonOutput(result)
    structured = found(result, "structured_content")
    if structured is not None:
        return JsonOutput(structured)
    content = result.get("content")
    return ContentOutput(output_parts(content)) if is_array(content) else JsonOutput(result)


def _dynamic(item: JsonObject, id: str) -> Work:
    content, status = found(item, "content_items"), text(item, "status") or ""
    metadata = present(namespace=text(item, "namespace"), durationSeconds=duration(item))
    output: ToolOutput | None = None
    if isinstance(item.get("error"), str):
        output = ErrorTextOutput(item["error"])
    elif is_array(content):
        output = ContentOutput(output_parts(content))
        if found(item, "success") is False:
            metadata["failed"] = True
    elif status == "failed":
        output = ErrorTextOutput("")
    elif status and status not in RUNNING:
        output = JsonOutput(None)
    return Work(id, text(item, "tool") or "tool", found(item, "arguments"), output, metadata)


def _collab(item: JsonObject, id: str) -> Work:
    names = ("prompt", "model", "reasoning_effort", "receiver_thread_ids", "receiver_agents")
    given = {name: value for name in names if (value := found(item, name)) is not None}
    status, tool = text(item, "status") or "", text(item, "tool")
    output = _json_output(status, {"status": status, "agents": inner(item, "agents_states")})
    metadata = present(senderThreadId=found(item, "sender_thread_id"))
    return Work(id, snake(tool) if tool else "collab", given, output, metadata)


def _web_search(item: JsonObject, id: str) -> Work:
    action, status = inner(item, "action"), text(item, "status") or "completed"
    given = {**action, **present(query=action.get("query") or text(item, "query") or None)}
    output = _json_output(status, {"status": status, **present(results=found(item, "results"))})
    pages: dict[str, str | None] = {}
    for page in (action, *items(item, "results"), *items(action, "sources")):
        if url := text(page, "url"):
            pages.setdefault(url, text(page, "title"))
    return Work(id, "web_search", given, output, {}, by_provider=True, sources=tuple(pages.items()))


def _image_generation(item: JsonObject, id: str) -> Work:
    status, picture = text(item, "status") or "", text(item, "result")
    if picture:
        is_url = picture.startswith(("data:", "http"))
        part = image_of({"image_url": picture if is_url else data_url(picture, "image/png")})
        output: ToolOutput | None = ContentOutput((part,)) if part is not None else None
    else:
        output = _json_output(status, {"status": status})
    metadata = present(savedPath=found(item, "saved_path"), status=status or None)
    given = present(revisedPrompt=text(item, "revised_prompt"))
    return Work(id, "image_generation", given, output, metadata, by_provider=True)


def _image_view(item: JsonObject, id: str) -> Work:
    path = found(item, "path")
    return Work(id, "view_image", present(path=path), JsonOutput(present(path=path)), {})


def _sleep(item: JsonObject, id: str) -> Work:
    millis = number(found(item, "duration_ms"))
    return Work(id, "sleep", present(durationMs=millis), JsonOutput(None), {})


def _json_output(status: str, value: JsonObject) -> ToolOutput | None:
    """The output of work with that status; `None` while it runs."""
    if status == "failed":
        return ErrorJsonOutput(value)
    return JsonOutput(value) if status and status not in RUNNING else None


def duration(fields: JsonObject) -> float | None:
    """How long something took, in seconds: `{secs, nanos}`, seconds, or milliseconds."""
    value = found(fields, "duration")
    if is_object(value):
        seconds, nanos = number(value.get("secs")), number(value.get("nanos"))
        return None if seconds is None else round(seconds + (nanos or 0) / 1e9, 6)
    if (seconds := number(value)) is not None:
        return seconds
    millis = number(found(fields, "duration_ms"))
    return None if millis is None else millis / 1000


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

# Events of work, in rollouts and the first version of `codex exec --json`

Phase: TypeAlias = Literal["started", "completed"]

WORK_EVENTS: Final[dict[str, tuple[Phase, str]]] = {
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
    """An item, and whether it begins or has ended."""

    phase: Phase
    item: JsonObject


def item_event(event: JsonObject) -> ItemEvent | None:
    """The item that an event of work describes; `None` for other events."""
    kind = event.get("type")
    known = WORK_EVENTS.get(kind) if isinstance(kind, str) else None
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
    """The status of an item, by its event; `None` if that does not say it."""
    if type_.startswith("image_"):
        return found(event, "status") or ("in_progress" if phase == "started" else None)
    if phase == "started":
        return "in_progress"
    match type_:
        case "command_execution":
            return text(event, "status") or ("failed" if whole(event, "exit_code") else "completed")
        case "file_change":
            return text(event, "status") or ("completed" if event.get("success") else "failed")
        case "web_search":
            return text(event, "status") or "completed"
        case _:
            return "completed"


def _invocation(event: JsonObject) -> JsonObject:
    """The members of an MCP call. Its result is a `Result` of Rust: `{"Ok": …}` or `{"Err": …}`."""
    invocation, result = inner(event, "invocation"), event.get("result")
    members = {name: invocation.get(name) for name in ("server", "tool", "arguments")}
    if is_object(result) and "Err" in result:
        return members | {
            "result": None,
            "error": {"message": error_text(result["Err"])},
            "status": "failed",
        }
    return members | {"result": result["Ok"] if is_object(result) and "Ok" in result else result}


# Patches → what happens to which file: `{path, kind, added, removed, diff …}`

PATCH_BEGIN: Final = "*** Begin Patch"
PATCH_END: Final = "*** End Patch"
PATCH_MOVE: Final = "*** Move to: "
PATCH_HEADS: Final = {"*** Add File: ": "add", "*** Update File: ": "update", "*** Delete File: ": "delete"}
"""The lines of a patch: `codex-rs/apply-patch/apply_patch_tool_instructions.md`."""

COMMANDS: Final = ("command", "cmd", "input", "script")
"""The members of a shell call's input that may contain a patch, in a here-document."""


PATCHING: Final = frozenset(
    {"apply_patch", "shell", "local_shell", "exec_command", "shell_command", "container.exec"}
)
"""Tools whose input may be or contain a patch."""


def patch_changes(tool: str, value: Json) -> list[JsonObject] | None:
    """The changes of a patch in the input of a call of that tool; `None` if there is none."""
    return changes_in_input(value) if tool in PATCHING else None


def changes_in_input(value: Json) -> list[JsonObject] | None:
    """The changes of a patch in the input of a call; `None` if it contains none."""
    given = "\n".join(_strings(value))
    start = given.find(PATCH_BEGIN)
    return changes_in_text(given[start:]) if start >= 0 else None


def changes_in_text(patch: str) -> list[JsonObject]:
    """The changes that the text of a patch asks for, in its order."""
    changes: list[JsonObject] = []
    lines: list[str] = []
    for line in patch.split("\n"):
        if line.startswith("*** "):
            if line.startswith(PATCH_END):
                break
            head = next((head for head in PATCH_HEADS if line.startswith(head)), None)
            if head is not None:
                _add_lines(changes, lines)
                changes.append({"path": line[len(head) :].strip(), "kind": PATCH_HEADS[head]})
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
    """Add to the last change the lines after its head."""
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
    kind, moved = found(change, "type") or found(change, "kind"), None
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
