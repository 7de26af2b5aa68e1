"""The modules that a command imports. `python -m benchmarks.commands` measures the time."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from partita.__main__ import main
try:
    main()
finally:
    sys.stderr.write(" ".join(sys.modules))
"""
HEAVY = {
    "asyncio",
    "dataclasses",
    "msgspec",
    "platformdirs",
    "rich",
    "sqlalchemy",
    "starlette",
}

COMMANDS: dict[str, tuple[list[str], set[str]]] = {
    "the version": (["--version"], set()),
    "completion": (["completion", "zsh"], set()),
    "formats": (["formats"], {"dataclasses", "msgspec"}),
    "one setting": (["config", "get", "serve.port"], {"dataclasses", "msgspec", "platformdirs"}),
}


@pytest.mark.parametrize(("arguments", "needed"), COMMANDS.values(), ids=COMMANDS)
def test_command_imports_only_what_it_needs(arguments: list[str], needed: set[str], tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}\n{PROGRAM}", *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={"HOME": str(tmp_path)},
    )
    assert result.stdout
    assert HEAVY & set(result.stderr.split()) <= needed
