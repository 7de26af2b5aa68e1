"""The limit of text that is searched at once, and redaction in another process."""

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from partita.errors import ConfigError
from partita.formats.redaction.kinds import KINDS
from partita.formats.redaction.redactor import LIMIT_VARIABLE, RedactionLimitError, Rules
from partita.formats.redaction.token_formats import TOKEN_FORMATS
from partita.formats.redaction.values import redact

PRIVACY = Path(__file__).parents[3] / "docs" / "sessions" / "privacy.md"


def test_more_text_than_the_limit_is_refused_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "1000")
    assert redact("x " * 500).value == "x " * 500
    with pytest.raises(RedactionLimitError, match="more than 1,000 characters") as caught:
        redact({"a": ["x " * 400, "y " * 400]})
    assert LIMIT_VARIABLE in caught.value.hint
    assert redact("x" * 2000, Rules(limit=5000)).value == "x" * 2000
    picture = f"data:image/png;base64,{'A' * 4000}"
    assert redact(picture).value == picture
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.what, again.hint) == (caught.value.what, caught.value.hint)


def test_an_invalid_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "a lot")
    with pytest.raises(ConfigError, match="'a lot' is not a number"):
        redact("x")


def test_a_value_is_redacted_in_another_process() -> None:
    value = {"a": "password=x9Zq77endK", "b": ["ghp_" + "a1B2" * 9]}
    with ProcessPoolExecutor(1, get_context("fork")) as pool:
        assert pool.submit(redact, value, Rules()).result() == redact(value)


def test_the_guide_lists_every_kind() -> None:
    rows = [line.split(" | ") for line in PRIVACY.read_text().splitlines() if line.startswith("| `")]
    listed = {row[0].strip("| `"): row[1] for row in rows if len(row) > 2}
    assert [(name, listed.get(name)) for name in (kind.name for kind in KINDS)] == [
        (kind.name, kind.what) for kind in KINDS
    ]
    text = PRIVACY.read_text()
    services = {service for token in TOKEN_FORMATS for service in token.service.split(" (")[0].split(", ")}
    assert not [service for service in sorted(services) if service.split(" ")[0] not in text]
