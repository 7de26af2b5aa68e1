"""Run the tests that changed files affect: `python -m tests.affected [BASE]`.

A test module is affected when it imports a changed module, directly or through others. The nearest of them
run, as many as fit into `SECONDS` by the durations of earlier runs. `make test` runs all.
"""

import ast
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.durations import DURATIONS, UNKNOWN

ROOT = Path(__file__).parents[1]
SECONDS = 20.0
"""How much time the tests may take, by earlier measurements."""

WORKERS = os.cpu_count() or 2
PACKAGES = {"partita": ROOT / "src" / "partita", "tests": ROOT / "tests"}


def main() -> None:
    """Select the tests, print the selection, and run them."""
    base = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    changed = changed_files(base)
    if not changed:
        print(f"Nothing has changed since {base}: no tests to run.")
        return
    codes = [run_page_tests(changed), run_python_tests(changed)]
    sys.exit(max(codes))


def changed_files(base: str) -> list[Path]:
    """Return the files that differ from a commit, and untracked files."""
    since = _git("diff", "--name-only", "--diff-filter=d", base)
    return [ROOT / name for name in sorted({*since, *_git("ls-files", "--others", "--exclude-standard")})]


def run_python_tests(changed: list[Path]) -> int:
    """Run the affected test modules and return the exit code."""
    affected = affected_tests(changed)
    selected = nearest(affected, known_durations())
    if not affected:
        print("No Python test imports what has changed.")
        return 0
    print(
        f"{len(selected)} of {len(affected)} affected test modules, nearest first; make test runs all.",
        flush=True,
    )
    command = [sys.executable, "-m", "pytest", "-q", "--workers", str(min(WORKERS, len(selected)))]
    return subprocess.run([*command, *map(str, selected)], cwd=ROOT, check=False).returncode


def run_page_tests(changed: list[Path]) -> int:
    """Check the web UI, run its unit tests that import changed files, and return the exit code."""
    page = ROOT / "web"
    files = [str(file) for file in changed if file.is_relative_to(page)]
    if not files:
        return 0
    related = ["vitest", "related", "--run", "--project", "unit", "--passWithNoTests", *files]
    steps = (["biome", "ci", "."], ["tsc", "--noEmit"], related)
    return max(subprocess.run(["npx", *step], cwd=page, check=False).returncode for step in steps)


def affected_tests(changed: list[Path], packages: dict[str, Path] = PACKAGES) -> dict[Path, int]:
    """Return the affected test modules, each with the number of imports between it and the nearest change."""
    modules = {name: file for package, folder in packages.items() for name, file in _modules(package, folder)}
    importers: dict[str, set[str]] = defaultdict(set)
    for name, file in modules.items():
        for imported in imports_of(file, name, modules):
            importers[imported].add(name)
    names = {file: name for name, file in modules.items()}
    distances = {names[file]: 0 for file in changed if file in names}
    for file in changed:
        if file not in names:
            distances |= dict.fromkeys(_readers(file, modules), 1) | distances
    queue = list(distances)
    for name in queue:
        for importer in importers[name] - distances.keys():
            distances[importer] = distances[name] + 1
            queue.append(importer)
    found = {modules[name]: distance for name, distance in distances.items()}
    return {file: distance for file, distance in found.items() if file.name.startswith("test_")}


def nearest(affected: dict[Path, int], durations: dict[str, float]) -> list[Path]:
    """Return the nearest test modules that fit into the time, and all changed ones."""
    selected: list[Path] = []
    left = SECONDS * WORKERS
    for file, distance in sorted(affected.items(), key=lambda one: (one[1], one[0])):
        seconds = durations.get(file.relative_to(ROOT).as_posix(), UNKNOWN)
        if distance == 0 or seconds <= left:
            selected.append(file)
            left -= seconds
    return selected


def known_durations() -> dict[str, float]:
    """Return the seconds of each test module, as measured by earlier runs."""
    if not DURATIONS.is_file():
        return {}
    found: dict[str, float] = json.loads(DURATIONS.read_text())
    return found


def imports_of(file: Path, name: str, modules: dict[str, Path]) -> Iterator[str]:
    """Return the modules of ours that a file imports, or names in a string as registries do."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(file.read_bytes())):
        match node:
            case ast.Import(names=aliases):
                found = [alias.name for alias in aliases]
            case ast.ImportFrom(module=module, names=aliases, level=level):
                parents = package.split(".")[: len(package.split(".")) - level + 1] if level else []
                start = ".".join([*parents, *([module] if module else [])])
                found = [start, *(f"{start}.{alias.name}" for alias in aliases)]
            case ast.Constant(value=str(text)):
                found = [text.partition(":")[0]]
            case _:
                continue
        yield from (one for one in found if one in modules)
    while package:  # a conftest is used by every test below it
        if f"{package}.conftest" in modules:
            yield f"{package}.conftest"
        package = package.rpartition(".")[0]


def _readers(file: Path, modules: dict[str, Path]) -> list[str]:
    """Return the modules that may read a data file: those in the nearest folder above it that has any."""
    if file.suffix == ".md":
        file = PACKAGES["tests"] / "docs" / file.name
    for folder in file.parents:
        if found := [name for name, module in modules.items() if module.parent == folder]:
            return found
    return []


def _modules(package: str, folder: Path) -> Iterator[tuple[str, Path]]:
    for file in folder.rglob("*.py"):
        if "node_modules" not in file.parts:
            parts = file.relative_to(folder).with_suffix("").parts
            yield ".".join([package, *(part for part in parts if part != "__init__")]), file


def _git(*arguments: str) -> list[str]:
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()


if __name__ == "__main__":
    main()
