"""Notices: parts that agents add for themselves, as they are shown."""

from partita.types.json import Json
from partita.types.messages import AssistantMessage, SystemMessage, SystemPart, ToolCallPart, UserMessage
from partita.types.parts import DataPart, TextPart
from partita.types.tool_views import Notice
from partita.views.messages import part_views
from partita.views.notices import notices
from tests.tables import each_row

COMMAND = "<command-name>/model</command-name>\n  <command-message>model</command-message>"
OUTPUT = "<local-command-stdout>Kept model as \x1b[1mOpus\x1b[22m</local-command-stdout>"
OVERLOADED = {"status": 529, "error": {"error": {"type": "overloaded_error", "message": "Overloaded"}}}
TASK = '<task-id>a1</task-id>\n<summary>Agent "Look" finished</summary>\n<result>Nothing.</result>'

SHOWN: dict[str, tuple[str, Json, str, str]] = {
    "a slash command": (
        "claude-code-command",
        {"command-name": "/fast", "command-message": "fast", "command-args": "on"},
        "/fast on",
        "",
    ),
    "the output of a command": (
        "claude-code-command-output",
        {"local-command-stdout": "\x1b[38;5;208m↯\x1b[39m Fast mode ON"},
        "",
        "↯ Fast mode ON",
    ),
    "a command of the user": (
        "claude-code-shell",
        {"bash-input": "ls", "bash-stdout": "a\nb\n", "bash-stderr": ""},
        "$ ls",
        "a\nb",
    ),
    "a background task": (
        "claude-code-task",
        {"task-notification": TASK},
        'Agent "Look" finished',
        "Nothing.",
    ),
    "an error of the API": (
        "claude-code-api_error",
        {"error": OVERLOADED, "retryAttempt": 1, "maxRetries": 10},
        "API error: 529, Overloaded, attempt 1 of 10",
        "",
    ),
    "a file in the editor": (
        "claude-code-ide_opened_file",
        {"text": "<ide_opened_file>The user opened the file /tmp/a b.py in the IDE.</ide_opened_file>"},
        "opened /tmp/a b.py",
        "",
    ),
    "a reminder": (
        "claude-code-system-reminder",
        {"text": "<system-reminder>\nMind the gap.\n</system-reminder>\n"},
        "system reminder",
        "Mind the gap.",
    ),
    "an interrupted turn": ("codex-turn-aborted", {"reason": "interrupted"}, "turn interrupted", ""),
    "changed files": ("opencode-patch", {"hash": "6a", "files": ["/a.py"]}, "changed 1 file", "/a.py"),
}


@each_row(("name", "data", "label", "text"), list(SHOWN.values()), ids=list(SHOWN))
def test_data_of_an_agent_is_shown_as_text(name: str, data: Json, label: str, text: str) -> None:
    (notice,) = notices(UserMessage(id="m", type="event", content=[DataPart(name, data)])).values()
    assert (notice.label, notice.text, notice.hidden) == (label, text, False)


@each_row("text", [COMMAND, OUTPUT], ids=["command", "output"])
def test_tags_of_a_system_record_are_shown_once(text: str) -> None:
    parts: list[SystemPart] = [
        DataPart("claude-code-local_command", {"content": text, "uuid": "u"}),
        TextPart(text),
    ]
    found = notices(SystemMessage(id="m", type="event", content=parts))
    assert (found[0].label or found[0].text) in ("/model", "Kept model as Opus")
    assert found[1].hidden


def test_record_beside_its_text_is_hidden() -> None:
    parts: list[SystemPart] = [
        DataPart("claude-code-compact_boundary", {"content": "Compacted"}),
        TextPart("Compacted"),
    ]
    assert notices(SystemMessage(id="m", type="event", content=parts))[0].hidden


def test_notices_are_among_the_views_of_a_message() -> None:
    inner = UserMessage(id="i", content=[DataPart("claude-code-command", {"command-name": "/fast"})])
    outer = ToolCallPart("c", "Agent", "output-available", children=(inner,))
    (pointer, view), *_ = [
        (pointer, view)
        for pointer, view in part_views(AssistantMessage(id="m", content=[outer])).items()
        if isinstance(view, Notice)
    ]
    assert (pointer, view.label) == ("/content/parts/0/children/0/content/parts/0", "/fast")


@each_row(
    ("name", "data"),
    [("weather", {"sky": "grey"}), ("claude-code-command", {"x": 1}), ("codex-turn-aborted", "text")],
)
def test_other_data_has_no_notice(name: str, data: Json) -> None:
    assert notices(UserMessage(id="m", content=[DataPart(name, data)])) == {}
