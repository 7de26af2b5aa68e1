"""What is built: a wheel with the page in it, or one that says that it has none."""

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
    """A checkout as a build sees it, without a page, and with little of everything else."""
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
    for name in ("index.html", "package-lock.json"):
        (place / "web" / name).write_text("{}")
    return place


def build(checkout: Path, target: str, folder: Path | None = None) -> tuple[Path, str]:
    """What a build made, and what it said; `folder` holds the only programs there are."""
    surroundings = {**os.environ, "PATH": str(folder or checkout / "nothing"), "PYTHONWARNINGS": ""}
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", target],
        cwd=checkout,
        env=surroundings,
        capture_output=True,
        text=True,
        check=True,
    )
    (made,) = (checkout / "dist").iterdir()
    return made, done.stdout + done.stderr


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_a_wheel_without_npm_says_that_it_has_no_page(checkout: Path) -> None:
    wheel, said = build(checkout, "wheel")
    assert "npm is not there, so this build has no web page" in said
    assert not any("built" in name for name in names(wheel))


def test_a_wheel_builds_the_page_when_npm_is_there(checkout: Path, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    npm = programs / "npm"
    npm.write_text(FAKE_NPM)
    npm.chmod(0o755)
    for name in ("mkdir", "sh"):
        (programs / name).symlink_to(str(shutil.which(name)))
    wheel, _ = build(checkout, "wheel", programs)
    assert "partita/server/page/built/index.html" in names(wheel)


def test_a_page_that_is_there_is_taken(checkout: Path) -> None:
    (checkout / PAGE / "assets").mkdir(parents=True)
    (checkout / PAGE / "assets" / "index-1.js").write_text("1")
    (checkout / PAGE / "index.html").write_text("<!doctype html>")
    wheel, said = build(checkout, "wheel")
    assert {
        "partita/server/page/built/index.html",
        "partita/server/page/built/assets/index-1.js",
    } <= names(wheel)
    assert "npm" not in said


def test_an_sdist_has_what_the_page_is_made_of(checkout: Path) -> None:
    (checkout / "web" / "node_modules" / "react").mkdir(parents=True)
    (checkout / "web" / "node_modules" / "react" / "index.js").touch()
    (checkout / "web" / "src" / "main.tsx").touch()
    sdist, _ = build(checkout, "sdist")
    with tarfile.open(sdist) as archive:
        held = archive.getnames()
    assert any(name.endswith("web/src/main.tsx") for name in held)
    assert any(name.endswith("hatch_build.py") for name in held)
    assert not any("node_modules" in name for name in held)
