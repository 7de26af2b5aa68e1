"""The example project: recording against a fake provider gives the same files, which are replayed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from partita.version import __version__
from tests.runtime.providers.conftest import one_certificate

from .fake_provider import fake_provider

__all__ = ["one_certificate"]

EXAMPLE = Path(__file__).parents[2] / "examples" / "tested-agent"
RECORDINGS = sorted((EXAMPLE / "tests" / "recordings").glob("*.json"))
DAY = "1767225600"
"""The day on which the recordings were made."""

KEYS = {
    "OPENAI_API_KEY": "sk-example-0123456789abcdef",
    "ANTHROPIC_API_KEY": "sk-ant-example-0123456789",
    "GEMINI_API_KEY": "example-0123456789",
}
ADDRESSES = ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL")
OPTIONS = (
    "-q",
    "-Werror",
    "-Wignore:invalid escape sequence",  # from other packages, when they are first compiled
    "-pno:cacheprovider",
    "-ppartita.pytest_plugin",
    "-ppytest_asyncio.plugin",
)
RECORD_THEN_REPLAY = f"""
import os, sys, pytest
if pytest.main([*{OPTIONS!r}, "--partita-record"]):
    sys.exit("recording failed")
for name in sys.argv[1:]:
    del os.environ[name]
sys.exit(pytest.main([*{OPTIONS!r}]))
"""


def test_recording_again_gives_the_same_files_which_are_replayed(
    tmp_path: Path, one_certificate: Path
) -> None:
    folder = tmp_path / "tested-agent"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("recordings", "__pycache__"))
    output = record_and_replay(folder, one_certificate)
    assert re.findall(r"^(\d) passed", output, re.MULTILINE) == ["8", "8"]
    assert "openai_chat.json: recorded, 2 requests" in output
    made = {path.name: path.read_text() for path in (folder / "tests" / "recordings").iterdir()}
    assert made == {path.name: with_current_version(path.read_text()) for path in RECORDINGS}
    for text in made.values():
        assert not any(secret in text for secret in (*KEYS.values(), "session=secret", "never-the-same"))


def with_current_version(text: str) -> str:
    return re.sub(r'("version": )"[^"]*"', rf'\1"{__version__}"', text)


def record_and_replay(folder: Path, certificates: Path) -> str:
    """The output of recording and replaying with pytest. Replaying has no address and no key."""
    with fake_provider() as address:
        variables = dict(zip(ADDRESSES, (f"{address}/v1", address, address), strict=True)) | KEYS
        settings = {
            "SOURCE_DATE_EPOCH": DAY,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_ADDOPTS": "",
            "SSL_CERT_FILE": str(certificates),
        }
        result = subprocess.run(
            [sys.executable, "-c", RECORD_THEN_REPLAY, *variables],
            cwd=folder,
            env={**os.environ, **variables, **settings},
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
        )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout
