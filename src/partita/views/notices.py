"""Parts that agents add for themselves, such as slash commands, as a label and a text.

Agents record commands of their user interface, hooks and errors as tags or as JSON. `notices` is the only
place that reads them: the terminal, the web UI and exports show what it returns.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Message
from partita.types.parts import DataPart, TextPart
from partita.types.tags import tags_of
from partita.types.tool_views import Notice

from .call_data import first_text, texts
from .text import counted

LONGEST_TEXT: Final = 20_000

_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_TAGGED: Final = re.compile(r"\A\s*<([a-z_-]+)>(.*?)</\1>\s*\Z", re.DOTALL)

AGENTS: Final = ("api-error", "claude-code-", "codex-", "gemini-", "opencode-")
"""How the names of data of agents begin."""

HIDDEN: Final = Notice(label="", hidden=True)


def notices(message: Message) -> dict[int, Notice]:
    """The notices among the parts of a message, by the index of the part. Other parts are not in it."""
    parts = message.content.parts
    found: dict[int, Notice] = {}
    said = "\n".join(part.text for part in parts if isinstance(part, TextPart) and message.type == "event")
    for index, part in enumerate(parts):
        if not isinstance(part, DataPart) or not is_object(part.data):
            continue
        read = READERS.get(part.name)
        notice = None if read is None else read(part.data)
        if part.name == LOCAL_COMMAND and notice is not None:  # the text beside it has the same tags
            found |= {place: HIDDEN for place, one in enumerate(parts) if isinstance(one, TextPart)}
        elif said.strip() and part.name.startswith(AGENTS) and (notice is None or notice.label in said):
            notice = HIDDEN  # the text beside it is the content of the record
        if notice is not None:
            found[index] = notice
    return found


def without_escapes(text: str) -> str:
    """A text without the escape sequences of terminals."""
    return _ESCAPES.sub("", text)


def _notice(label: str, *lines: str) -> Notice:
    text = "\n".join(without_escapes(line).strip("\n") for line in lines if line.strip())
    return Notice(label=" ".join(without_escapes(label).split()), text=text[:LONGEST_TEXT])


def _command(data: JsonObject) -> Notice | None:
    name = first_text(data, "command-name", "command-message")
    if not name:
        return None
    return _notice(f"/{name.strip().removeprefix('/')} {first_text(data, 'command-args')}")


def _command_output(data: JsonObject) -> Notice | None:
    output = [first_text(data, name) for name in ("local-command-stdout", "local-command-stderr")]
    return _notice("", *output) if any(output) else HIDDEN


def _local_command(data: JsonObject) -> Notice | None:
    """A system record of Claude Code (since 2.1.170) that has the tags as its content."""
    content: Json = data.get("content")
    tags = tags_of(content) if isinstance(content, str) else {}
    return (_command(tags) or (_command_output(tags) if tags else None)) if tags else None


def _shell(data: JsonObject) -> Notice | None:
    command = first_text(data, "bash-input")
    output = [first_text(data, name) for name in ("bash-stdout", "bash-stderr")]
    return _notice(f"$ {command}" if command else "", *output)


def _task(data: JsonObject) -> Notice | None:
    tags = tags_of(first_text(data, "task-notification"))
    summary = first_text(tags, "summary") or first_text(tags, "status")
    return _notice(summary, first_text(tags, "result")) if summary else None


def _tagged(label: str) -> Callable[[JsonObject], Notice | None]:
    """The reader of a text in a tag that an editor or the agent has added to a prompt."""

    def read(data: JsonObject) -> Notice | None:
        text = first_text(data, "text")
        inner = _TAGGED.match(text)
        return _notice(label, inner[2].strip() if inner else text)

    return read


def _opened_file(data: JsonObject) -> Notice | None:
    path = re.search(r"opened the file (.+?) in the IDE", first_text(data, "text"))
    return _notice(f"opened {path[1]}") if path else _tagged("opened file")(data)


def _api_error(data: JsonObject) -> Notice | None:
    """An error of the API, after which Claude Code sends the request again."""
    error: Json = data.get("error")
    status: Json = error.get("status") if is_object(error) else data.get("status")
    message = ""
    while is_object(error):
        message, error = first_text(error, "message") or message, error.get("error")
    attempt, attempts = data.get("retryAttempt"), data.get("maxRetries")
    retry = f"attempt {attempt} of {attempts}" if attempt and attempts else ""
    details = [str(status) if status else "", message, retry]
    return _notice(f"API error: {', '.join(filter(None, details))}") if any(details) else None


def _fallback(data: JsonObject) -> Notice | None:
    models = [first_text(data.get(side), "model") for side in ("from", "to")]
    return _notice(f"model changed: {' → '.join(models)}") if all(models) else None


def _patch(data: JsonObject) -> Notice | None:
    files: Json = data.get("files")
    names = texts(files) if is_array(files) else []
    return _notice(f"changed {counted(len(names), 'file')}", *names) if names else HIDDEN


def _subtask(data: JsonObject) -> Notice | None:
    command = first_text(data, "command")
    label = f"/{command}" if command else f"task for {first_text(data, 'agent') or 'a sub-agent'}"
    return _notice(label, first_text(data, "description"), first_text(data, "prompt"))


def _dropped(data: JsonObject) -> Notice | None:
    dropped: Json = data.get("dropped")
    return _notice(
        "context compacted", counted(len(dropped), "message") + " dropped" if is_array(dropped) else ""
    )


def _aborted(data: JsonObject) -> Notice | None:
    reason = first_text(data, "reason")
    return _notice(f"turn {reason}" if reason else "turn aborted")


def _error(data: JsonObject) -> Notice | None:
    return _notice(first_text(data.get("data"), "message") or first_text(data, "message", "name") or "error")


def _label(label: str, *names: str) -> Callable[[JsonObject], Notice | None]:
    """The reader of a record with a fixed label, and a text in one of these members."""
    return lambda data: _notice(label, first_text(data, *names))


LOCAL_COMMAND: Final = "claude-code-local_command"

READERS: Final[Mapping[str, Callable[[JsonObject], Notice | None]]] = {
    "claude-code-command": _command,
    "claude-code-command-output": _command_output,
    LOCAL_COMMAND: _local_command,
    "claude-code-shell": _shell,
    "claude-code-memory": _label("memory", "user-memory-input"),
    "claude-code-task": _task,
    "claude-code-api_error": _api_error,
    "claude-code-ide_opened_file": _opened_file,
    "claude-code-ide_selection": _tagged("selection in the editor"),
    "claude-code-ide_diagnostics": _tagged("diagnostics of the editor"),
    "claude-code-system-reminder": _tagged("system reminder"),
    "claude-fallback": _fallback,
    "codex-turn-aborted": _aborted,
    "codex-compacted": _label("context compacted", "message"),
    "gemini-compaction": _dropped,
    "opencode-compaction": _label("context compacted"),
    "opencode-patch": _patch,
    "opencode-subtask": _subtask,
    "opencode-error": _error,
}
"""The readers of data, by its name. A reader returns `None` if the data is not as expected."""
