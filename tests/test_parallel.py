"""Tests that run in several processes are reported like tests in one process."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

GOOD = """
import os
import pytest

@pytest.fixture(scope="module")
def shared():
    print("made")
    yield os.getpid()

@pytest.mark.parametrize("number", range(30))
def test_of_one_process(shared, number):
    assert shared == os.getpid()

def test_folder(tmp_path):
    (tmp_path / "file").touch()
"""
BAD = """
def test_fails():
    print("what it printed")
    assert 1 == 2
"""
KILLED = """
import os, signal

def test_before():
    pass

def test_that_kills_its_process():
    os.kill(os.getpid(), signal.SIGKILL)

def test_after():
    pass
"""
LARGE = """
import pytest
from tests import parallel

held = []

@pytest.mark.parametrize("number", range(40))
def test_large(number):
    held.append(b"x" * 30_000_000)
    assert parallel.memory() < parallel.LARGE + 12 * 31_000_000
"""


def run_pytest(folder: Path, *options: str, **files: str) -> tuple[int, str]:
    """Return the exit code and the output of pytest for these modules."""
    for name, text in files.items():
        (folder / f"test_{name}.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "--disable-plugin-autoload", "-ptests.parallel", *options]
    result = subprocess.run(
        [*command, f"--rootdir={folder}", f"-c{folder}/pytest.ini", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return result.returncode, result.stdout + result.stderr


def test_passed_and_failed_tests_are_reported(tmp_path: Path) -> None:
    code, printed = run_pytest(tmp_path, "--workers=3", good=GOOD, bad=BAD)
    assert code == 1
    assert "1 failed, 31 passed" in printed
    assert "what it printed" in printed
    assert "assert 1 == 2" in printed


def test_a_killed_process_fails_only_its_current_test(tmp_path: Path) -> None:
    code, printed = run_pytest(tmp_path, "--workers=2", killed=KILLED)
    assert code == 1
    assert "1 failed, 2 passed" in printed
    assert re.search(r"test_that_kills_its_process.*\n.*the process that ran it ended with -9", printed)


def test_a_large_process_is_replaced(tmp_path: Path) -> None:
    code, printed = run_pytest(tmp_path, "--workers=1", large=LARGE)
    assert (code, "40 passed" in printed) == (0, True), printed


def test_it_stops_at_the_first_failure_on_request(tmp_path: Path) -> None:
    code, printed = run_pytest(tmp_path, "--workers=1", "-x", bad=BAD, good=GOOD.replace("30", "300"))
    assert code == 1
    assert "stopping after 1 failures" in printed
    assert "300 passed" not in printed


def test_without_tests_the_exit_code_is_that_of_pytest(tmp_path: Path) -> None:
    code, printed = run_pytest(tmp_path, "--workers=2", "-knothing", good=GOOD)
    assert code == 5
    assert "31 deselected" in printed


def test_a_collection_error_is_reported(tmp_path: Path) -> None:
    code, printed = run_pytest(tmp_path, "--workers=2", good=GOOD, broken="import nothing_of_this_name")
    assert code == 2
    assert "nothing_of_this_name" in printed
