"""Commands, freed from what agents put around them and their output."""

from partita.cli.view.calls import ready
from partita.cli.view.shell import Ran, command_of, result_of
from partita.types.json import Json
from partita.types.tools import ErrorTextOutput, JsonOutput, TextOutput, ToolOutput
from tests.cli.view_drawing import LOOK, drawn_part
from tests.cli.view_threads import call
from tests.tables import each_row

COMMANDS: dict[str, tuple[Json, str]] = {
    "Claude Code": ({"command": "ls -l", "description": "List"}, "ls -l"),
    "Codex, a list": ({"command": ["bash", "-lc", "ls -l"]}, "ls -l"),
    "Codex, without a shell": ({"command": ["ls", "-l"]}, "ls -l"),
    "Codex, newer": ({"cmd": "ls -l", "workdir": "/x"}, "ls -l"),
    "Codex, an action": ({"action": {"type": "exec", "command": ["ls"]}}, "ls"),
    "input written as text": ('{"command": "ls"}', "ls"),
    "a bare text": ("ls", "ls"),
    "nothing": ({}, ""),
}


@each_row(("given", "command"), COMMANDS.values(), ids=COMMANDS)
def test_the_command(given: Json, command: str) -> None:
    assert command_of(ready(call("Bash", given, None), LOOK)) == command


OUTPUTS: dict[str, tuple[ToolOutput, Ran]] = {
    "plain": (TextOutput("ok\n"), Ran("ok\n")),
    "Claude Code, failed": (ErrorTextOutput("Exit code 127\nno such command"), Ran("no such command", 127)),
    "Codex, JSON in a text": (
        TextOutput('{"output":"ok","metadata":{"exit_code":2,"duration_seconds":0.1}}'),
        Ran("ok", 2),
    ),
    "Codex, a head": (TextOutput("Exit code: 0\nWall time: 0.2 seconds\nOutput:\nok"), Ran("ok", 0)),
    "Codex, a longer head": (
        TextOutput(
            "Chunk ID: ab\nWall time: 1 s\nProcess exited with code 1\nOriginal token count: 9\nOutput:\nno"
        ),
        Ran("no", 1),
    ),
    "Codex, still at work": (
        TextOutput("Wall time: 10 s\nProcess running with session ID 7\nOutput:\n12 %"),
        Ran("12 %", None, "Process running with session ID 7"),
    ),
    "Gemini CLI": (TextOutput("Output: no\nExit Code: 3"), Ran("Output: no\nExit Code: 3", 3)),
    "an object": (JsonOutput({"stdout": "out", "stderr": "err", "exitCode": 4}), Ran("out\nerr", 4)),
    "JSON that the command printed": (TextOutput('{"output": 1}'), Ran('{"output": 1}')),
}


@each_row(("output", "ran"), OUTPUTS.values(), ids=OUTPUTS)
def test_what_it_printed(output: ToolOutput, ran: Ran) -> None:
    assert result_of(ready(call("Bash", {"command": "x"}, output), LOOK)) == ran


def test_a_code_that_is_not_zero_marks_the_call_although_the_tool_says_nothing() -> None:
    shown = drawn_part(call("exec_command", {"cmd": "make"}, TextOutput("Exit code: 2\nOutput:\nno rule")))
    assert shown == "  ✗ $ make  exit 2\n  │ no rule\n"


def test_a_command_of_many_lines() -> None:
    shown = drawn_part(call("Bash", {"command": "for x in *\ndo echo $x\ndone"}, TextOutput("a\nb")))
    assert shown == "  ✓ $ for x in *\n  │ > do echo $x\n  │ > done\n  │ a\n  │ b\n"


def test_a_command_elsewhere_and_in_the_background() -> None:
    given = {"command": "make", "cwd": "/home/ada/clock/docs", "run_in_background": True}
    assert drawn_part(call("Bash", given, None, state="input-available")) == (
        "  … $ make  no result  in docs · in the background\n"
    )


def test_long_output_shows_its_ends() -> None:
    shown = drawn_part(call("Bash", {"command": "seq 100"}, TextOutput("\n".join(map(str, range(100))))))
    assert shown.split("\n")[5:10] == ["  │ 4", "  │ 5", "  │ … 88 more lines", "  │ 94", "  │ 95"]


def test_a_long_line_is_cut() -> None:
    shown = drawn_part(call("Bash", {"command": "x"}, TextOutput("y" * 5000)))
    assert "(4,600 characters more)" in shown.replace("\n  │ ", "")
