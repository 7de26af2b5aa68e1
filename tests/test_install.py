"""The plain install without extras: its size, and the modules it loads."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from partita.errors import MissingPackageError, PartitaError, StoreError
from partita.extras import needs

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
MOST_PACKAGES = 29
MOST_MEGABYTES = 122
BLOCK = 4096
"""Files use whole blocks of the disk."""

BYTECODE = 1.3
"""The estimated size of the bytecode of a module, relative to its source."""


def closure(requirements: list[str]) -> dict[str, Distribution]:
    """Return the installed packages that some requirements need, directly or through others."""
    found: dict[str, Distribution] = {}
    waiting = [Requirement(text) for text in requirements]
    seen: set[tuple[str, str]] = set()
    while waiting:
        requirement = waiting.pop()
        for extra in ("", *requirement.extras):
            name = canonicalize_name(requirement.name)
            if (name, extra) in seen or (requirement.marker and not requirement.marker.evaluate()):
                continue
            seen.add((name, extra))
            found[name] = distribution(name)
            waiting += list(needed_by(found[name], extra))
    return found


def needed_by(package: Distribution, extra: str) -> Iterator[Requirement]:
    for text in package.requires or ():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            requirement.marker = None
            yield requirement


def megabytes(files: Iterator[Path]) -> float:
    """Return the disk space of files, including the bytecode that pip compiles."""
    sizes = ((file.stat().st_size, file.suffix == ".py") for file in files)
    blocks = sum(-(-size // BLOCK) * (1 + BYTECODE if is_source else 1) for size, is_source in sizes)
    return blocks * BLOCK / 2**20


def files_of(package: Distribution) -> Iterator[Path]:
    for file in package.files or ():
        if file.suffix != ".pyc" and ".." not in file.parts:
            yield Path(str(package.locate_file(file)))


def own_files() -> Iterator[Path]:
    return (file for file in (ROOT / "src").rglob("*") if file.is_file() and file.suffix != ".pyc")


def test_the_plain_install_is_small() -> None:
    packages = closure(PROJECT["dependencies"])
    sizes = {name: megabytes(files_of(package)) for name, package in packages.items()}
    sizes["partita"] = megabytes(own_files())
    listed = "\n".join(
        f"{size:6.1f} MB  {name}" for name, size in sorted(sizes.items(), key=lambda one: -one[1])
    )
    assert len(sizes) <= MOST_PACKAGES, listed
    assert sum(sizes.values()) <= MOST_MEGABYTES, listed


LIGHT = """
import sys
before = set(sys.modules)
from partita import chunks, formats, get_format, stream, types
[getattr(package, name) for package in (chunks, formats, stream, types) for name in dir(package)]
[format.load for format in formats.all_formats().values()]
for name in ("ai-sdk-ui-v7", "ai-sdk-model-v7", "anthropic", "openai-chat", "openai-responses", "gemini"):
    content = {"parts": [{"type": "text", "text": "Hi"}]} if "ui" in name else {"content": "Hi"}
    raw = [{"id": "m", "role": "user", **content}]
    if name == "gemini":
        raw = [{"role": "user", "parts": [{"text": "Hi"}]}]
    messages = get_format(name).load(raw).messages
    assert get_format(name).dump(messages).payload
new = {name: getattr(sys.modules[name], "__file__", None) for name in set(sys.modules) - before}
print(*sorted({name.partition(".")[0] for name, file in new.items() if file and "site-packages" in file}))
"""


def test_formats_load_no_third_party_package_except_msgspec() -> None:
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True)
    # msgspec imports typing_extensions if it is installed.
    assert set(done.stdout.split()) - {"typing_extensions"} == {"msgspec"}


def test_a_missing_package_is_reported_with_the_command_that_installs_it() -> None:
    with pytest.raises(MissingPackageError) as caught, needs("partita[mcp]", "partita mcp"):
        import partita.no_such_module  # type: ignore[import-not-found] # noqa: F401
    assert str(caught.value) == (
        "partita mcp needs partita[mcp], which is not installed; hint: pip install 'partita[mcp]'"
    )
    with pytest.raises(StoreError), needs("partita[postgres]", "PostgreSQL", StoreError):
        raise ImportError
    with pytest.raises(PartitaError, match="hint: pip install httpx2"), needs("httpx2", "cohere"):
        raise ImportError


def test_every_mentioned_extra_exists() -> None:
    named = re.compile(r"partita\[([a-z,]+)\]")
    files = [
        *(ROOT / "src").rglob("*.py"),
        *(ROOT / "docs").rglob("*.md"),
        ROOT / "README.md",
        ROOT / "Containerfile",
    ]
    extras = {
        extra for file in files for found in named.findall(file.read_text()) for extra in found.split(",")
    }
    assert extras <= PROJECT["optional-dependencies"].keys()
