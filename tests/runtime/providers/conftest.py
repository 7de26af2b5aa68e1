"""An environment without keys, proxies and settings, so that vendors' packages find only what a test sets."""

import os
import ssl
from pathlib import Path

import certifi
import pytest

UNWANTED = ("OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


@pytest.fixture(scope="session")
def one_certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with one certificate: every client loads all, and no test needs any."""
    path = tmp_path_factory.mktemp("certificates") / "one.pem"
    every = Path(certifi.where()).read_text(encoding="utf-8")
    first = ssl.PEM_HEADER + every.split(ssl.PEM_HEADER)[1].split(ssl.PEM_FOOTER)[0] + ssl.PEM_FOOTER
    path.write_text(first + "\n", encoding="ascii")
    return path


@pytest.fixture(autouse=True)
def clean_environment(
    monkeypatch: pytest.MonkeyPatch, one_certificate: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for name in list(os.environ):
        if name.startswith(UNWANTED) or name.upper() in PROXIES:
            monkeypatch.delenv(name)
    monkeypatch.setenv("SSL_CERT_FILE", str(one_certificate))
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path_factory.getbasetemp()))
