"""The output of every command on a terminal and in a pipe: exit codes, colours, width and safety.

With `PARTITA_FULL`, each command is a new process; without, it is forked from one that has imported Partita.
"""

import re
import shlex
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import pytest
from rich.cells import cell_len

from partita.cli.main import cli
from partita.errors import DecodeError
from partita.types.json import loads
from tests.processes import CTRL_C, CTRL_D, Ended
from tests.sampling import FULL

from .cases import CASES, EVERY, Case
from .workspace import Workspace

STYLE = re.compile(r"\x1b\[([0-9;]*)m")
COLOUR = re.compile(r"(^|;)(3[0-8]|4[0-8]|9[0-7]|10[0-7])(;|$)")
MOVE = re.compile(r"\x1b\[(\?25[hl]|[0-9]*[AKJH])|\r")
"""Codes that progress bars and replays use: hide and show the cursor, move up, clear lines."""

UNSAFE_IN_SAMPLE_DATA = re.compile(rb"\x1b(\]0;|\[2J|\[7m|\[0m)")
"""Codes in the sample data, which a pipe receives unchanged."""

UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
FEW = EVERY if FULL else [cases[0] for cases in CASES.values()]
"""One case of each command."""

NAMES = [case.words for case in EVERY]
every = pytest.mark.parametrize("case", EVERY, ids=NAMES)


def commands(group: click.Group = cli, before: str = "") -> Iterator[str]:
    """Yield the names of all commands, with the names of their groups."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield before + name
        if isinstance(command, click.Group):
            yield from commands(command, f"{before}{name} ")


def test_every_command_has_a_case() -> None:
    assert sorted(CASES) == sorted(commands())


def arguments_of(case: Case, workspace: Workspace) -> Sequence[str]:
    """Return the arguments of a case; `{other}` is replaced by the id of a run."""
    if "{other}" not in case.words:
        return shlex.split(case.words)
    listed = workspace.piped("runs", "--json", "--thread", "moon").end().output.splitlines()
    return shlex.split(case.words.format(other=loads(listed[0])["id"]))


def shown(case: Case, workspace: Workspace, columns: int, **environment: str) -> str:
    """Return what the command of a case sends to a terminal."""
    with workspace.terminal(
        *arguments_of(case, workspace), columns=columns, environment=environment, cold=FULL
    ) as terminal:
        if case.stops_after:
            terminal.wait_until(lambda: case.stops_after in flat(terminal.shown), case.stops_after)
            terminal.type(CTRL_C)
        elif case.given:
            terminal.type(CTRL_D)
        ended = terminal.end()
        assert ended.code == case.code, terminal.shown
        assert terminal.cursor_is_shown
    return ended.text


def flat(text: str) -> str:
    return " ".join(text.split())


def styles(text: str) -> list[str]:
    return STYLE.findall(text)


def check_safe(text: str) -> None:
    """Check that the output has no unsafe characters of the sample data."""
    assert "\x1b[7m" not in text
    left = MOVE.sub("", STYLE.sub("", text))
    found = UNSAFE.search(left)
    assert found is None, left[max(found.start() - 80, 0) : found.end() + 80]


def check_fits(text: str, columns: int) -> None:
    """Check that no line is longer than the width, unless it is a single word."""
    for line in MOVE.sub("\n", STYLE.sub("", text)).split("\n"):
        assert cell_len(line) <= columns or " " not in line.strip(), line


@every
def test_output_on_a_terminal_is_safe_and_fits(workspace: Workspace, case: Case) -> None:
    text = shown(case, workspace, 100)
    assert any(COLOUR.search(style) for style in styles(text)) or not case.colours
    check_safe(text)
    if case.fits:
        check_fits(text, 100)


@pytest.mark.parametrize("case", [case for case in FEW if case.fits], ids=lambda case: case.words)
def test_no_color_disables_colours(workspace: Workspace, case: Case) -> None:
    text = shown(case, workspace, 60, NO_COLOR="1")
    assert not any(COLOUR.search(style) for style in styles(text))
    check_safe(text)
    check_fits(text, 60)


@pytest.mark.parametrize(
    "case", [case for case in FEW if case.colours or case.code], ids=lambda case: case.words
)
def test_dumb_terminal_gets_no_escape_codes(workspace: Workspace, case: Case) -> None:
    assert "\x1b" not in shown(case, workspace, 80, TERM="dumb")


def piped(case: Case, workspace: Workspace, *more: str, reads: bool = True) -> Ended:
    process = workspace.piped(*arguments_of(case, workspace), *more, given=case.given, reads=reads, cold=FULL)
    if case.stops_after:
        process.wait_for(case.stops_after.encode() if reads and not more else b"\n")
        process.process.send(signal.SIGINT)
    return process.end()


@every
def test_output_in_a_pipe_has_no_escape_codes(workspace: Workspace, case: Case) -> None:
    ended = piped(case, workspace)
    assert ended.code == case.code, ended.talk
    assert b"Traceback" not in ended.talk
    assert (ended.output == b"") == case.silent
    assert case.code == 0 or not case.silent or ended.talk
    assert b"\x1b" not in UNSAFE_IN_SAMPLE_DATA.sub(b"", ended.output + ended.talk)
    if case.json is None:
        check_json(ended.output)


@pytest.mark.parametrize("case", [case for case in FEW if case.json], ids=lambda case: case.words)
def test_json_output_is_valid(workspace: Workspace, case: Case) -> None:
    ended = piped(case, workspace, "--json")
    assert ended.code == case.code, ended.talk
    check_json(ended.output)
    assert ended.output or case.silent


def check_json(output: bytes) -> None:
    """Check that the output is a JSON document or JSON lines."""
    try:
        loads(output or b"0")
    except DecodeError:
        for line in output.splitlines():
            loads(line)


@pytest.mark.parametrize(
    "case", [case for case in FEW if not case.silent and not case.stops_after], ids=lambda case: case.words
)
def test_closed_output_is_not_an_error(workspace: Workspace, case: Case) -> None:
    ended = piped(case, workspace, reads=False)
    assert ended.code in (0, case.code), ended.talk
    for word in (b"Traceback", b"\nerror:", b"Exception", b"Broken"):
        assert word not in b"\n" + ended.talk


def test_output_is_the_same_in_a_new_process(workspace: Workspace) -> None:
    warm, cold = (
        workspace.piped("show", "moon", "--json"),
        workspace.piped("show", "moon", "--json", cold=True),
    )
    assert cold.end() == warm.end()
    with workspace.terminal("formats", cold=True) as terminal:
        assert terminal.end() == workspace.run_on_terminal("formats")


def test_commands_run_on_a_copy_of_the_sample_data(workspace: Workspace, sample_data: Path) -> None:
    assert workspace.piped("fork", "moon", "last").end().code == 0
    assert (workspace.folder / "store.db").read_bytes() != (sample_data / "store.db").read_bytes()
