"""Every command once in a terminal and once in a pipe: what it sends, where, and how wide.

With `PARTITA_FULL` each is started as a person starts it; without, by a process that has loaded Partita.
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
from .desk import Desk

STYLE = re.compile(r"\x1b\[([0-9;]*)m")
COLOUR = re.compile(r"(^|;)(3[0-8]|4[0-8]|9[0-7]|10[0-7])(;|$)")
MOVE = re.compile(r"\x1b\[(\?25[hl]|[0-9]*[AKJH])|\r")
"""The cursor hidden and shown, lines up, lines cleared: how a bar, and a run that plays, are drawn."""

THEIRS = re.compile(rb"\x1b(\]0;|\[2J|\[7m|\[0m)")
"""What a pipe gets of the material, as it is."""

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
FEW = EVERY if FULL else [cases[0] for cases in CASES.values()]
"""One case of each command."""

NAMES = [case.words for case in EVERY]
every = pytest.mark.parametrize("case", EVERY, ids=NAMES)


def commands(group: click.Group = cli, before: str = "") -> Iterator[str]:
    """The names of all commands, those in groups with the names of their groups."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield before + name
        if isinstance(command, click.Group):
            yield from commands(command, f"{before}{name} ")


def test_every_command_is_tried() -> None:
    assert sorted(CASES) == sorted(commands())


def words_of(case: Case, desk: Desk) -> Sequence[str]:
    """The words of a case; a run that must be named by its id is looked up."""
    if "{other}" not in case.words:
        return shlex.split(case.words)
    listed = desk.piped("runs", "--json", "--thread", "moon").end().output.splitlines()
    return shlex.split(case.words.format(other=loads(listed[0])["id"]))


def shown(case: Case, desk: Desk, columns: int, **environment: str) -> str:
    """What a case sends to a terminal."""
    with desk.terminal(
        *words_of(case, desk), columns=columns, environment=environment, cold=FULL
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
    """Nothing is sent that somebody else wrote and a terminal would obey."""
    assert "\x1b[7m" not in text
    left = MOVE.sub("", STYLE.sub("", text))
    found = OBEYED.search(left)
    assert found is None, left[max(found.start() - 80, 0) : found.end() + 80]


def check_fits(text: str, columns: int) -> None:
    """No line is longer than the terminal is wide, unless it is one word."""
    for line in MOVE.sub("\n", STYLE.sub("", text)).split("\n"):
        assert cell_len(line) <= columns or " " not in line.strip(), line


@every
def test_in_a_terminal(desk: Desk, case: Case) -> None:
    text = shown(case, desk, 100)
    assert any(COLOUR.search(style) for style in styles(text)) or not case.colours
    check_safe(text)
    if case.fits:
        check_fits(text, 100)


@pytest.mark.parametrize("case", [case for case in FEW if case.fits], ids=lambda case: case.words)
def test_in_a_narrow_terminal_that_wants_no_colour(desk: Desk, case: Case) -> None:
    text = shown(case, desk, 60, NO_COLOR="1")
    assert not any(COLOUR.search(style) for style in styles(text))
    check_safe(text)
    check_fits(text, 60)


@pytest.mark.parametrize(
    "case", [case for case in FEW if case.colours or case.code], ids=lambda case: case.words
)
def test_in_a_terminal_that_knows_no_codes(desk: Desk, case: Case) -> None:
    assert "\x1b" not in shown(case, desk, 80, TERM="dumb")


def piped(case: Case, desk: Desk, *more: str, reads: bool = True) -> Ended:
    process = desk.piped(*words_of(case, desk), *more, given=case.given, reads=reads, cold=FULL)
    if case.stops_after:
        process.wait_for(case.stops_after.encode() if reads and not more else b"\n")
        process.process.send(signal.SIGINT)
    return process.end()


@every
def test_in_a_pipe(desk: Desk, case: Case) -> None:
    ended = piped(case, desk)
    assert ended.code == case.code, ended.talk
    assert b"Traceback" not in ended.talk
    assert (ended.output == b"") == case.silent
    assert case.code == 0 or not case.silent or ended.talk
    assert b"\x1b" not in THEIRS.sub(b"", ended.output + ended.talk)
    if case.json is None:
        check_json(ended.output)


@pytest.mark.parametrize("case", [case for case in FEW if case.json], ids=lambda case: case.words)
def test_as_json(desk: Desk, case: Case) -> None:
    ended = piped(case, desk, "--json")
    assert ended.code == case.code, ended.talk
    check_json(ended.output)
    assert ended.output or case.silent


def check_json(output: bytes) -> None:
    """All lines are JSON, or all of it is."""
    try:
        loads(output or b"0")
    except DecodeError:
        for line in output.splitlines():
            loads(line)


@pytest.mark.parametrize(
    "case", [case for case in FEW if not case.silent and not case.stops_after], ids=lambda case: case.words
)
def test_whom_nobody_listens_to(desk: Desk, case: Case) -> None:
    ended = piped(case, desk, reads=False)
    assert ended.code in (0, case.code), ended.talk
    for word in (b"Traceback", b"\nerror:", b"Exception", b"Broken"):
        assert word not in b"\n" + ended.talk


def test_started_cold_it_is_the_same(desk: Desk) -> None:
    warm, cold = desk.piped("show", "moon", "--json"), desk.piped("show", "moon", "--json", cold=True)
    assert cold.end() == warm.end()
    with desk.terminal("formats", cold=True) as terminal:
        assert terminal.end() == desk.shown("formats")


def test_the_folder_of_a_command_is_its_own(desk: Desk, material: Path) -> None:
    assert desk.piped("fork", "moon", "last").end().code == 0
    assert (desk.folder / "store.db").read_bytes() != (material / "store.db").read_bytes()
