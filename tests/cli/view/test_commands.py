"""Commands, drawn."""

from partita.types.parts import TextOutput
from tests.cli.view_drawing import drawn_part
from tests.cli.view_threads import call


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


def test_standard_error_apart() -> None:
    printed = {"stdout": "built", "stderr": "warning: old"}
    shown = drawn_part(call("Bash", {"command": "make"}, TextOutput("built\nwarning: old"), told=printed))
    assert shown == "  ✓ $ make\n  │ built\n  │ warning: old\n"


def test_the_time_that_the_agent_noted() -> None:
    text = "Wall time: 12.0 seconds\nProcess running with session ID 7\nOutput:\n12 %"
    assert drawn_part(call("exec_command", {"cmd": "make"}, TextOutput(text))) == (
        "  ✓ $ make  Process running with session ID 7 · 12 s\n  │ 12 %\n"
    )
