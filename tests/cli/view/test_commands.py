"""Rendering of calls of shell commands."""

from partita.types.parts import TextOutput
from tests.cli.rendering import render_part
from tests.cli.sample_threads import call


def test_exit_code_other_than_zero_marks_the_call_as_failed() -> None:
    shown = render_part(call("exec_command", {"cmd": "make"}, TextOutput("Exit code: 2\nOutput:\nno rule")))
    assert shown == "  ✗ $ make  exit 2\n  │ no rule\n"


def test_command_of_several_lines_is_shown_completely() -> None:
    shown = render_part(call("Bash", {"command": "for x in *\ndo echo $x\ndone"}, TextOutput("a\nb")))
    assert shown == "  ✓ $ for x in *\n  │ > do echo $x\n  │ > done\n  │ a\n  │ b\n"


def test_folder_and_background_are_noted() -> None:
    given = {"command": "make", "cwd": "/home/ada/clock/docs", "run_in_background": True}
    assert render_part(call("Bash", given, None, state="input-available")) == (
        "  … $ make  no result  in docs · in the background\n"
    )


def test_long_output_shows_its_first_and_last_lines() -> None:
    shown = render_part(call("Bash", {"command": "seq 100"}, TextOutput("\n".join(map(str, range(100))))))
    assert shown.split("\n")[5:10] == ["  │ 4", "  │ 5", "  │ … 88 more lines", "  │ 94", "  │ 95"]


def test_long_line_is_cut() -> None:
    shown = render_part(call("Bash", {"command": "x"}, TextOutput("y" * 5000)))
    assert "(4,600 characters more)" in shown.replace("\n  │ ", "")


def test_standard_error_is_shown_after_standard_output() -> None:
    printed = {"stdout": "built", "stderr": "warning: old"}
    shown = render_part(call("Bash", {"command": "make"}, TextOutput("built\nwarning: old"), result=printed))
    assert shown == "  ✓ $ make\n  │ built\n  │ warning: old\n"


def test_duration_in_the_output_is_shown() -> None:
    text = "Wall time: 12.0 seconds\nProcess running with session ID 7\nOutput:\n12 %"
    assert render_part(call("exec_command", {"cmd": "make"}, TextOutput(text))) == (
        "  ✓ $ make  Process running with session ID 7 · 12 s\n  │ 12 %\n"
    )
