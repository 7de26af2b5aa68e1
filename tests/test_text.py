"""Rules about the text of tracked files, and files that must be consistent."""

import re
import subprocess
from pathlib import Path

import pytest

from partita.version import __version__

ROOT = Path(__file__).parent.parent


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    return [ROOT / name for name in listed.stdout.split("\0") if name]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_lock_files_contain_no_urls() -> None:
    locks = [path for path in tracked() if path.name in ("pnpm-lock.yaml", "constraints.txt")]
    assert locks
    for path in locks:
        assert "://" not in path.read_text(), path


def test_constraints_pin_every_package() -> None:
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        assert re.fullmatch(r"[\w.\-]+==[\w.\-+]+", line), line


def test_the_changelog_has_a_section_for_this_version_or_for_unreleased_changes() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    assert "## [Unreleased]" in text or f"## [{__version__}]" in text
