"""Exit codes, error messages, and Ctrl-C."""

import asyncio
import errno
import gc
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Coroutine, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from partita.cli.blocking import run_async
from partita.cli.exit_codes import EXIT_CODES, exit_code_of
from partita.cli.main import COMMANDS, cli
from partita.errors import AgentError, NotFoundError
from tests.cli.sample_store import fill, new_store
from tests.cli.test_serve import with_session
from tests.tables import each_row
from tests.terminal.test_help import commands, find_command

MAIN = "from partita.__main__ import main; main()"


def partita(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(cli, list(arguments), env=environment)


def started(
    home: Path, program: str, *arguments: str, stdout: int = subprocess.PIPE
) -> "subprocess.Popen[str]":
    """Start the command in a process, in an otherwise empty home directory."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        cwd=home,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "PARTITA_STORE": str(home / "s.db")},
    )


CODES: dict[str, tuple[Sequence[str], int]] = {
    "done": (["formats"], 0),
    "help": (["--help"], 0),
    "the version": (["--version"], 0),
    "nothing found": (["show", "nothing-like-this"], 1),
    "an unknown command": (["frobnicate"], 2),
    "an unknown option": (["threads", "--frobnicate"], 2),
    "an option without its value": (["threads", "--limit"], 2),
    "a value of the wrong kind": (["threads", "--limit", "few"], 2),
    "a missing file": (["fold", "no-such-file.jsonl"], 1),
    "no command, in a pipe": ([], 2),
}


@pytest.mark.parametrize(("arguments", "code"), CODES.values(), ids=CODES)
def test_exit_code(arguments: Sequence[str], code: int, tmp_path: Path) -> None:
    result = partita(*arguments, PARTITA_STORE=str(tmp_path / "s.db"))
    assert result.exit_code == code, result.output
    assert (result.stderr == "") == (code == 0)
    assert "Traceback" not in result.output


HELP = "hint: partita {} --help"
USAGE_ERRORS: dict[str, tuple[str, tuple[str, ...]]] = {
    "a mistyped command": ("shwo last", ("error: there is no command 'shwo'", "hint: did you mean 'show'?")),
    "an unknown command": ("frobnicate", ("error: there is no command 'frobnicate'", "hint: partita --help")),
    "a mistyped command of a group": (
        "keys revok",
        ("no command 'revok'", "did you mean 'revoke'?"),
    ),
    "a group alone": ("keys", ("error: name a command: create, list, revoke", HELP.format("keys"))),
    "a mistyped option": ("show --intrnal", ("there is no option '--intrnal'", "did you mean '--internal'?")),
    "an unknown option": ("show --zzz", ("there is no option '--zzz'", HELP.format("show"))),
    "an option without a value": (
        "threads --limit",
        ("requires an argument", HELP.format("threads")),
    ),
    "a missing argument": ("show", ("error: missing argument THREAD", HELP.format("show"))),
    "a missing choice": ("completion", ("error: missing argument SHELL", "hint: one of bash, zsh, fish")),
    "an unknown choice": ("runs --status odd", ("error: 'odd' is not one of", "at: --status")),
    "no whole number": ("threads --limit abc", ("error: 'abc' is not a whole number", "at: --limit")),
    "a whole number below the range": ("threads --limit 0", ("0 is out of range", "hint: use 1 or more")),
    "a whole number above the range": ("serve --port 70000", ("hint: use a number from 0 to 65535",)),
    "no number": ("replay x --speed abc", ("error: 'abc' is not a number", "at: --speed")),
    "a negative number": ("replay x --speed -1", ("-1 is out of range", "hint: use 0 or more")),
    "no time": ("threads --since soon", ("error: 'soon' is not a time", "at: --since", "hint: use 2026-")),
    "options that exclude each other": (
        "replay x --step --json",
        ("exclude each other", HELP.format("replay")),
    ),
}


@each_row(("line", "texts"), USAGE_ERRORS.values(), ids=USAGE_ERRORS)
def test_usage_error_has_the_form_of_all_errors(line: str, texts: tuple[str, ...]) -> None:
    result = partita(*line.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ")
    assert all(text in result.stderr for text in texts), result.stderr
    assert not {"Usage:", "Error:", "Try "} & set(result.stderr.split())
    assert re.fullmatch(r"error: .+\n(   at: .+\n)? hint: .+\n", result.stderr)


@each_row("line", ["fold {}", "convert {} --to ui", "watch {}", "config trust {}"])
def test_missing_file_is_an_error_with_its_path(line: str, tmp_path: Path) -> None:
    result = partita(*line.format(tmp_path / "no-such.json").split())
    assert result.exit_code == 1
    path = tmp_path / "no-such.json"
    assert result.stderr == f"error: no such file or directory\n   at: {path}\n hint: check the spelling\n"


def test_types_of_parameters_report_errors_in_plain_words() -> None:
    """The types of click report missing files as usage errors, and numbers as "valid integer range"."""
    for words in commands():
        for param in find_command(words).params:
            assert not isinstance(param.type, click.types.IntParamType | click.types.FloatParamType), param
            assert not (isinstance(param.type, click.Path) and param.type.exists), param
            assert not (isinstance(param.type, click.File) and "r" in param.type.mode), param


def test_help_lists_the_exit_codes() -> None:
    text = partita("--help").stdout
    for code, meaning in EXIT_CODES.items():
        assert f"  {code:<5}{meaning}\n" in text


IN_AN_EMPTY_STORE: dict[int, tuple[str, ...]] = {
    0: (
        "agents",
        "backup out.backup",
        "compact",
        "completion bash",
        "config",
        "doctor",
        "export --all -o out",
        "formats",
        "keys list",
        "migrate",
        "reproject --all",
        "runs",
        "stats",
        "threads",
        "retention",
        "tour --fast",
    ),
    1: (
        "config get import.resource",
        "convert no-such-file --to ui",
        "diff last last",
        "export last",
        "fixture last",
        "fold no-such-file",
        "fork last 1",
        "import no-such-file",
        "open last",
        "pin last",
        "rename last x",
        "replay last",
        "resume last",
        "rm none --yes",
        "search lamp",
        "show last",
        "tag last",
        "watch no-such-folder",
    ),
}


def test_empty_lists_are_done_and_missing_things_are_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    environment = {"PARTITA_STORE": new_store(tmp_path / "s.db"), "HOME": str(tmp_path), "COLUMNS": "100"}
    every = [line for lines in IN_AN_EMPTY_STORE.values() for line in lines]
    found = {line: partita(*line.split(), **environment) for line in every}
    wrong = {
        line: found[line].output
        for code, lines in IN_AN_EMPTY_STORE.items()
        for line in lines
        if found[line].exit_code != code
    }
    assert wrong == {}
    errors = [one.stderr for line, one in found.items() if one.exit_code == 1 and line.split()[0] != "search"]
    assert all(text.startswith("error: ") for text in errors if text), errors
    tested = {line.split()[0] for line in every}
    assert COMMANDS.keys() - tested == {"hook", "mcp", "serve"}  # they run in other tests


def test_no_command_in_a_pipe_prints_the_help(tmp_path: Path) -> None:
    result = partita(PARTITA_STORE=str(tmp_path / "s.db"))
    assert "Usage: " in result.stdout
    assert "Run `partita serve` to start the server" in result.stderr
    assert not (tmp_path / "s.db").exists()


ERRORS: dict[str, tuple[BaseException, int, str]] = {
    "a PartitaError": (NotFoundError("no lamp", where="the shelf", hint="buy one"), 1, "error: no lamp"),
    "Ctrl-C": (KeyboardInterrupt(), 130, "partita: interrupted"),
    "Ctrl-C while a task starts": (asyncio.CancelledError(), 130, "partita: interrupted"),
    "a full disk": (OSError(errno.ENOSPC, "No space left on device", "out.db"), 1, "hint: free disk space"),
    "a missing permission": (PermissionError(errno.EACCES, "Permission denied", "/root/x"), 1, "at: /root/x"),
    "a bug": (ZeroDivisionError("division\nby zero"), 70, "ZeroDivisionError: division by zero"),
    "a bug without a message": (AssertionError(), 70, "internal error: AssertionError\n"),
}


@pytest.mark.parametrize(("error", "code", "message"), ERRORS.values(), ids=ERRORS)
def test_error_is_printed_without_traceback(
    error: BaseException,
    code: int,
    message: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PARTITA_TRACEBACK", raising=False)

    def work() -> None:
        raise error

    assert exit_code_of(work) == code
    shown = capfd.readouterr().err
    assert message in shown
    assert "Traceback" not in shown
    assert shown.count("\n") <= 3


def test_error_caused_by_ctrl_c_is_reported_as_interruption(capfd: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise AgentError("no lamp") from ValueError("the file has no end")

    assert exit_code_of(work) == 130
    assert capfd.readouterr().err == "partita: interrupted\n"


def test_coroutine_that_never_started_causes_no_warning(
    monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    async def work() -> None:
        raise AssertionError("it never starts")

    def stopped(main: Coroutine[Any, Any, None]) -> None:
        main.close()
        raise asyncio.CancelledError

    monkeypatch.setattr(asyncio, "run", stopped)
    with pytest.raises(asyncio.CancelledError):
        run_async(work())
    gc.collect()
    assert [str(warning.message) for warning in recwarn] == []


def test_traceback_is_shown_on_request(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARTITA_TRACEBACK", "1")

    def work() -> None:
        raise AgentError("no lamp")

    assert exit_code_of(work) == 1
    assert "in work" in capfd.readouterr().err


def test_write_error_is_reported(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no device that is always full")
    with full.open("w") as output:
        process = started(tmp_path, MAIN, "formats", stdout=output.fileno())
        _, talk = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "error: no space left on device" in talk
    assert "Traceback" not in talk
    assert "Exception ignored" not in talk


def test_closed_pipe_is_not_an_error(tmp_path: Path) -> None:
    process = started(tmp_path, MAIN, "formats")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    with process, process.stderr as talk:
        assert talk.read() == ""
    assert process.returncode == 0


INTERRUPTED_IMPORT = """
import sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
from partita.__main__ import main
main()
"""


@pytest.mark.parametrize("module", ["click", "partita.cli.threads", "sqlalchemy"])
def test_ctrl_c_during_imports_prints_no_traceback(tmp_path: Path, module: str) -> None:
    process = started(tmp_path, INTERRUPTED_IMPORT.format(module=module), "threads")
    output, talk = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output == ""
    assert talk in ("", "partita: interrupted\n")


INTERRUPTED_DESTRUCTOR = """
import partita.__main__, partita.cli.main as it
class Lamp:
    def __del__(self):
        raise KeyboardInterrupt
def get_command(self, ctx, name):
    Lamp()
it.Commands.get_command = get_command
partita.__main__.main()
"""


def test_ctrl_c_in_a_destructor_ends_the_process(tmp_path: Path) -> None:
    process = started(tmp_path, INTERRUPTED_DESTRUCTOR, "threads")
    output, talk = process.communicate(timeout=60)
    assert (process.returncode, output, talk) == (130, "", "")


@pytest.mark.skipif(sys.platform != "linux", reason="requires /proc")
def test_import_that_waits_for_a_lock_can_be_interrupted(tmp_path: Path) -> None:
    with_session(tmp_path)
    fill(str(tmp_path / "s.db"), lambda store: store.threads.count())
    with closing(sqlite3.connect(tmp_path / "s.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with started(tmp_path, MAIN, "import", "--workers", "2") as process:
            while not is_open(process.pid, tmp_path / "s.db"):
                time.sleep(0.02)
            readers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            began = time.monotonic()
            process.send_signal(signal.SIGINT)
            try:
                output, talk = process.communicate(timeout=60)
            finally:
                process.kill()
            seconds = time.monotonic() - began
    assert (process.returncode, output, talk) == (130, "", "partita: interrupted\n")
    assert seconds < 20  # the timeout for the lock is longer
    assert readers
    while any(is_alive(int(reader)) for reader in readers):  # until the timeout of the test
        time.sleep(0.02)


def is_open(pid: int, path: Path) -> bool:
    """Whether a process has a file open."""
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # it was closed in between
            if link.readlink() == path:
                return True
    return False


def is_alive(pid: int) -> bool:
    """Whether a process exists and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_error_in_a_user_module_is_reported_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken_lamp.py").write_text("wick = 1\nraise ValueError('no oil')\n")
    (tmp_path / "crooked_lamp.py").write_text("wick = 1\nlight up\n")
    for module, what in {"broken_lamp": "ValueError: no oil", "crooked_lamp": "SyntaxError"}.items():
        result = partita("serve", "--agent", f"{module}:agent", "--port", "0", PARTITA_STORE="memory:")
        assert result.exit_code == 1
        assert what in result.stderr
        assert f"{module}.py:2" in result.stderr
        assert "PARTITA_TRACEBACK=1" in result.stderr
