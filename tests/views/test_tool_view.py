"""The view of tool calls of agents. One table, which the tests of the web UI read, too."""

from itertools import product
from pathlib import Path
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from partita.types.codec import Codec, to_json
from partita.types.json import Json, JsonObject, dumps, loads
from partita.types.messages import AssistantMessage, ToolCallPart, ToolMessage
from partita.types.parts import ErrorTextOutput, JsonOutput, TextOutput, ToolResultPart
from partita.types.tool_views import (
    CommandView,
    Commit,
    OtherView,
    ReadView,
    SearchView,
    ToolText,
    ToolView,
)
from partita.views.changes import LONGEST_COMPARED, compare
from partita.views.messages import part_views
from partita.views.tool_names import TOOLS
from partita.views.tool_text import read_text
from partita.views.tool_view import tool_view
from tests.strategies_json import json_trees
from tests.tables import each_row

CALLS = Codec(ToolCallPart)
CASES: dict[str, JsonObject] = loads((Path(__file__).parent / "tool_calls.json").read_bytes())


@each_row("case", CASES.values(), ids=CASES)
def test_the_view_of_a_call(case: JsonObject) -> None:
    assert to_json(tool_view(CALLS.read(case["call"]), case.get("directory"))) == case["view"]


def test_the_table_has_every_kind() -> None:
    kinds = {str(view.__struct_config__.tag) for view in get_args(ToolView)}
    assert {case["view"]["kind"] for case in CASES.values()} == kinds


def test_no_name_has_two_meanings() -> None:
    names = [name for tool in TOOLS for name in tool.names.split()]
    assert len(names) == len(set(names))


def test_every_located_text_is_read() -> None:
    for case in CASES.values():
        part = CALLS.read(case["call"])
        for located in _texts(case["view"]):
            assert read_text(part, located), case


def _texts(value: Json) -> list[ToolText]:
    if isinstance(value, dict):
        if isinstance(value.get("path"), list):
            return [Codec(ToolText).read(value)]
        return [found for member in value.values() for found in _texts(member)]
    return [found for item in value for found in _texts(item)] if isinstance(value, list) else []


READ = {
    "Claude Code: numbered lines of a file": (
        "class Oven:\n    def heat(self, degrees):\n        self.degrees = degrees"
    ),
    "Claude Code: a file with a reminder": "a\n\n  b",
    "OpenCode: a file": "a\n\nb",
    "OpenCode: a file, newer version": "# A: b\n\nc",
    "OpenCode: a file with its text on separate lines": "x",
    "a file with lines that look numbered": "1→a\nb",
}


@each_row(("name", "text"), READ.items(), ids=READ)
def test_the_text_of_a_file_is_extracted(name: str, text: str) -> None:
    case = CASES[name]
    located = Codec(ToolText).read(case["view"]["text"])
    assert read_text(CALLS.read(case["call"]), located) == text


PRINTED = {
    "Codex: a command as a list": "a.py\n",
    "Codex: a command without a shell": "a.md\n",
    "Codex: a command that is still running": "watching",
    "Claude Code: a command that failed": "1 failed",
    "Anthropic: code execution": "Wed",
}


@each_row(("name", "text"), PRINTED.items(), ids=PRINTED)
def test_the_output_of_a_command_is_extracted(name: str, text: str) -> None:
    case = CASES[name]
    located = Codec(ToolText).read(case["view"]["output"])
    assert read_text(CALLS.read(case["call"]), located) == text


COMPARED: dict[str, tuple[str, str, list[str]]] = {
    "a changed line": ("a\nb\nc", "a\nB\nc", [" a\n-b\n+B\n c"]),
    "only a line break at the end": ("a", "a\n", []),
    "a new text": ("", "new", ["+new"]),
    "a removed text": ("old", "", ["-old"]),
    "nothing": ("", "", []),
    "two places": (
        "\n".join(map(str, range(20))),
        "\n".join(map(str, ["x", *range(1, 19), "y"])),
        ["-0\n+x\n 1\n 2\n 3", " 16\n 17\n 18\n-19\n+y"],
    ),
}


@each_row(("old", "new", "hunks"), COMPARED.values(), ids=COMPARED)
def test_two_texts_are_compared(old: str, new: str, hunks: list[str]) -> None:
    assert ["\n".join(hunk.lines) for hunk in compare(old, new)] == hunks


def test_long_texts_are_replaced_without_a_comparison() -> None:
    lines = [str(line) for line in range(LONGEST_COMPARED + 1)]
    (hunk,) = compare("\n".join(["same", *lines]), "\n".join(["same", *reversed(lines)]))
    assert len(hunk.lines) == 2 * (LONGEST_COMPARED + 1) + 1
    assert hunk.lines[:2] == (" same", "-0")


def test_texts_of_many_equal_lines_are_not_compared() -> None:
    """The comparison would take minutes."""
    old, new = "a\nb\n" * 300, "b\na\na\n" * 200
    (hunk,) = compare(f"x\n{old}x", f"y\n{new}y")
    assert len(hunk.lines) == 602 + 602


def test_a_file_of_blank_lines() -> None:
    text = TextOutput("\n" * 60_000 + "x")
    part = ToolCallPart("c", "Read", "output-available", {"file_path": "a"}, output=text)
    assert tool_view(part).kind == "read"


def test_a_long_output_is_not_copied() -> None:
    found = "".join(f"a.py:{line}:text\n" for line in range(20_000))
    for name in ("Bash", "Read", "Grep", "WebFetch", "Task", "x"):
        part = ToolCallPart("c", name, "output-available", {"pattern": "x"}, output=TextOutput(found))
        assert len(dumps(tool_view(part))) < 500


def test_paths_of_calls() -> None:
    inner = ToolCallPart("b", "Bash", "output-available", {"command": "ls"})
    child = AssistantMessage(id="child", content=[inner])
    outer = ToolCallPart("a", "Task", "output-available", {"prompt": "Go."}, children=(child,))
    views = part_views(AssistantMessage(id="m", content=[outer]))
    assert {pointer: view.kind for pointer, view in views.items()} == {
        "/content/parts/0": "agent",
        "/content/parts/0/children/0/content/parts/0": "command",
    }


def test_a_separate_result_is_added_to_its_call() -> None:
    result = ToolResultPart(id="a", name="Bash", output=ErrorTextOutput("Exit code 3\nno"))
    (view,) = part_views(ToolMessage(id="m", content=[result])).values()
    assert isinstance(view, CommandView)
    assert (view.failed, view.failure) == (True, "Exit 3")


UNEXPECTED: list[Json] = ["text", 7, None, True, [], [1], [None], {"a": None}, {"": {"": []}}]
MEMBERS = (
    "command", "action", "todos", "questions", "options", "edits", "file", "results", "answers",
    "structuredPatch", "filenames", "matches", "plan", "metadata", "view_range", "paths",
    "content", "networkExecution", "input",
)  # fmt: skip
NAMES = (
    "Bash",
    "Edit",
    "Read",
    "Grep",
    "TodoWrite",
    "WebSearch",
    "WebFetch",
    "AskUserQuestion",
    "Agent",
    "x",
)


@each_row(("name", "odd"), product(NAMES, UNEXPECTED), ids=repr)
def test_unexpected_values(name: str, odd: Json) -> None:
    whole = dict.fromkeys(MEMBERS, odd)
    for value in (odd, whole):
        metadata = {"claudeCode": {"toolUseResult": value}, "other": value}
        part = ToolCallPart(
            "c", name, "output-available", value, output=JsonOutput(value), tool_metadata=metadata
        )
        assert tool_view(part).title


def test_deeply_nested_values_have_a_view() -> None:
    value: Json = 1
    for _ in range(900):
        value = {"a": [value]}
    part = ToolCallPart("c", "look", "output-available", {"where": value}, output=JsonOutput(value))
    assert isinstance(tool_view(part), OtherView)


VALUES = json_trees((st.text(), st.integers(), st.booleans(), st.none()), st.sampled_from(MEMBERS), 12, 4)


@given(VALUES, VALUES, st.sampled_from(NAMES))
def test_the_view_of_any_call_is_json(value: Json, output: Json, name: str) -> None:
    metadata = {"claudeCode": {"toolUseResult": output}}
    part = ToolCallPart(
        "c", name, "output-available", value, output=JsonOutput(output), tool_metadata=metadata
    )
    assert Codec(ToolView).read(loads(dumps(to_json(tool_view(part))))) == tool_view(part)


def command(
    text: str, output: str = "", directory: str | None = "/home/ada/clock", **more: Json
) -> CommandView:
    call = ToolCallPart(
        "c", "Bash", "output-available", input={"command": text, **more}, output=TextOutput(output)
    )
    view = tool_view(call, directory)
    assert isinstance(view, CommandView)
    return view


FOLDERS = {
    "the folder of the session": ("cd /home/ada/clock && make", "make", ""),
    "a folder below it": ("cd /home/ada/clock/docs && make html", "make html", "docs"),
    "a relative folder": ("cd src; pwd\nls", "pwd\nls", "src"),
    "a quoted folder": ("cd '/home/ada/my clock' && ls", "ls", "/home/ada/my clock"),
    "a folder with a space": ("cd my\\ clock\nls", "ls", "my clock"),
    "a folder that is computed": ('cd "$(git root)" && ls', "ls", "$(git root)"),
    "nothing but a change of folder": ("cd src", "cd src", ""),
    "an alternative": ("cd src || exit 1", "cd src || exit 1", ""),
    "another command": ("cdk deploy && ls", "cdk deploy && ls", ""),
}


@each_row(("text", "shown", "directory"), FOLDERS.values(), ids=FOLDERS)
def test_a_command_is_shown_without_its_change_of_folder(text: str, shown: str, directory: str) -> None:
    view = command(text)
    assert (view.command, view.directory) == (shown, directory)
    assert view.subject == " ".join(shown.split())


def test_a_change_of_folder_is_relative_to_the_folder_that_the_call_names() -> None:
    assert command("cd parts && ls", cwd="/home/ada/clock/docs").directory == "docs/parts"
    assert command("cd /tmp && ls", cwd="/home/ada/clock/docs").directory == "/tmp"


WINDOWS = {
    "the same drive in another spelling": ("cd /d/clock && ls", ""),
    "a slash instead of a backslash": ("cd D:/clock/src && ls", "src"),
    "another drive": ("cd E:/clock && ls", "E:/clock"),
}


@each_row(("text", "directory"), WINDOWS.values(), ids=WINDOWS)
def test_folders_of_windows_are_compared_by_their_names(text: str, directory: str) -> None:
    assert command(text, directory="D:\\clock").directory == directory


def test_a_path_of_windows_is_relative_to_the_folder_of_the_session() -> None:
    call = ToolCallPart("c", "Read", "input-available", input={"file_path": "d:/clock/src/hands.py"})
    view = tool_view(call, "D:\\clock\\")
    assert isinstance(view, ReadView)
    assert view.path == "src/hands.py"


MADE = "[main 1a2b3c4] Wind the clock\n 1 file changed\n"


def test_a_command_has_the_commits_that_it_made() -> None:
    assert command("git add . && git commit -m x", MADE).commits == (
        Commit(hash="1a2b3c4", subject="Wind the clock", branch="main"),
    )
    first = command("git commit -m x", "[main (root-commit) 0a1b2c3] Begin\n").commits
    assert first == (Commit(hash="0a1b2c3", subject="Begin", branch="main"),)
    (amended,) = command("git commit --amend --no-edit", "[detached HEAD 1a2b3c4] Oil it").commits
    assert amended == Commit(hash="1a2b3c4", subject="Oil it", branch="detached HEAD", amends=True)


def test_text_that_looks_like_a_commit_is_none() -> None:
    assert command("cat notes.txt", MADE).commits == ()
    assert command("git log --grep commit", "[main] no hash\n").commits == ()


PULL_REQUEST = "https://github.com/ada/clock/pull/12"


def test_a_command_has_the_pull_requests_that_it_printed() -> None:
    printed = f"Creating pull request\n\n{PULL_REQUEST}\n"
    assert command("gh pr create --fill", printed).pull_requests == (PULL_REQUEST,)
    assert command("git push", f"visit {PULL_REQUEST[:-2]}new/main").pull_requests == ()
    assert command("curl https://example.com", printed).pull_requests == ()
    request = "https://gitlab.com/ada/clock/-/merge_requests/3"
    assert command("glab mr create", f"!3 {request}").pull_requests == (request,)


@each_row("count", [0, 1])
def test_a_search_never_counts_fewer_results_than_it_shows(count: int) -> None:
    """Claude Code counts no lines and no files where it only counts matches."""
    details: JsonObject = {"mode": "content", "numFiles": count, "numLines": 0}
    output = TextOutput("a.py:1:lamp\na.py:2:lamp\nb.py:7:lamp")
    call = ToolCallPart(
        "c",
        "Grep",
        "output-available",
        input={"pattern": "lamp"},
        output=output,
        tool_metadata={"claude": {"toolUseResult": details}},
    )
    view = tool_view(call)
    assert isinstance(view, SearchView)
    assert (view.total, view.notes) == (3, ("3 found",))
    plain = tool_view(replace(call, output=TextOutput("lamp: on\nlamp: off\ntower: dark")))
    assert isinstance(plain, SearchView)
    assert plain.notes == ()


@each_row(
    ("output", "shown"),
    [
        ("7:    trim()\n8:\tlight()", ["    trim()", "\tlight()"]),
        ("L7:     trim()", ["    trim()"]),
        ("lamp.py:\n  Line 7:     trim()", ["    trim()"]),
    ],
)
def test_lines_that_were_found_keep_their_indentation(output: str, shown: list[str]) -> None:
    call = ToolCallPart(
        "c",
        "Grep",
        "output-available",
        input={"pattern": "i", "path": "lamp.py"},
        output=TextOutput(output),
    )
    view = tool_view(call)
    assert isinstance(view, SearchView)
    assert [match.text for file in view.files for match in file.matches] == shown
