"""Built packages: a wheel with the web UI, or one that reports that it has none."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = Path("src", "partita", "server", "page", "built")
FAKE_NPM = """#!/bin/sh
[ "$1" = ci ] && exit 0
mkdir -p ../src/partita/server/page/built/assets
echo "<!doctype html>made" > ../src/partita/server/page/built/index.html
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a checkout as a build sees it, without a built web UI and with only some other files."""
    place = tmp_path / "partita"
    place.mkdir()
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, place / name)
    package = place / "src" / "partita"
    (package / "server" / "page").mkdir(parents=True)
    shutil.copy(ROOT / "src" / "partita" / "version.py", package / "version.py")
    (package / "__init__.py").touch()
    for folder in ("src", "public"):
        (place / "web" / folder).mkdir(parents=True)
    for name in ("index.html", "pnpm-lock.yaml"):
        (place / "web" / name).write_text("{}")
    return place


def build(checkout: Path, target: str, folder: Path | None = None) -> tuple[Path, str]:
    """Return the built file and the output; `folder` has the only available programs."""
    shutil.rmtree(checkout / "dist", ignore_errors=True)
    environment = {**os.environ, "PATH": str(folder or checkout / "nothing"), "PYTHONWARNINGS": ""}
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", target],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    (made,) = (checkout / "dist").iterdir()
    return made, done.stdout + done.stderr


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_a_wheel_without_npm_reports_that_it_has_no_web_ui(checkout: Path) -> None:
    wheel, output = build(checkout, "wheel")
    assert "npm was not found, so this build has no web UI" in output
    assert not any("built" in name for name in names(wheel))


def test_a_wheel_builds_the_web_ui_if_npm_is_available(checkout: Path, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    npm = programs / "npm"
    npm.write_text(FAKE_NPM)
    npm.chmod(0o755)
    for name in ("mkdir", "sh"):
        (programs / name).symlink_to(str(shutil.which(name)))
    wheel, _ = build(checkout, "wheel", programs)
    assert "partita/server/page/built/index.html" in names(wheel)


def test_an_existing_web_ui_is_included(checkout: Path) -> None:
    (checkout / PAGE / "assets").mkdir(parents=True)
    (checkout / PAGE / "assets" / "index-1.js").write_text("1")
    (checkout / PAGE / "index.html").write_text("<!doctype html>")
    wheel, output = build(checkout, "wheel")
    assert {
        "partita/server/page/built/index.html",
        "partita/server/page/built/assets/index-1.js",
    } <= names(wheel)
    assert "npm" not in output


def test_an_sdist_contains_the_sources_of_the_web_ui(checkout: Path) -> None:
    (checkout / "web" / "node_modules" / "react").mkdir(parents=True)
    (checkout / "web" / "node_modules" / "react" / "index.js").touch()
    (checkout / "web" / "src" / "main.tsx").touch()
    sdist, _ = build(checkout, "sdist")
    with tarfile.open(sdist) as archive:
        held = archive.getnames()
    assert any(name.endswith("web/src/main.tsx") for name in held)
    assert any(name.endswith("hatch_build.py") for name in held)
    assert not any("node_modules" in name for name in held)


def test_a_downloaded_web_ui_is_included_if_its_sources_are_missing(checkout: Path) -> None:
    (checkout / PAGE).mkdir(parents=True)
    (checkout / PAGE / "index.html").write_text("<!doctype html>")
    shutil.rmtree(checkout / "web")
    wheel, output = build(checkout, "wheel")
    assert "partita/server/page/built/index.html" in names(wheel)
    assert "npm" not in output


@pytest.mark.parametrize("target", ["wheel", "sdist"])
def test_builds_are_reproducible(checkout: Path, tmp_path: Path, target: str) -> None:
    (checkout / PAGE).mkdir(parents=True)
    (checkout / PAGE / "index.html").write_text("<!doctype html>")
    first, _ = build(checkout, target)
    again = tmp_path / "elsewhere" / "some-other-name"
    shutil.copytree(checkout, again, copy_function=shutil.copyfile)
    for file in again.rglob("*"):
        if file.is_file():
            file.chmod(0o600)
        os.utime(file, (1_000_000_000, 1_000_000_000))
    second, _ = build(again, target)
    assert second.name == first.name
    assert second.read_bytes() == first.read_bytes()


def test_a_wheel_has_all_files_that_the_program_needs(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    nothing = {**os.environ, "PATH": str(tmp_path / "nothing"), "PYTHONWARNINGS": ""}
    subprocess.run(command, cwd=ROOT, env=nothing, capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    sources = {
        str(file.relative_to(ROOT / "src"))
        for file in (ROOT / "src" / "partita").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts and "built" not in file.parts
    }
    assert sources <= names(wheel)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    done = subprocess.run(
        [sys.executable, "-c", "import partita.__main__ as it; print(it.__file__); it.main()", "tour"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "installed"), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith(str(tmp_path / "installed"))
    assert len(done.stdout.splitlines()) > 10
