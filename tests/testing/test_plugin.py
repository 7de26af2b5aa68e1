"""The pytest plugin, as somebody's tests meet it: what fails, and what it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from partita.runtime.recordings.recording import (
    Exchange,
    RecordedRequest,
    RecordedResponse,
    Recording,
    origin_of,
    write_recording,
)
from partita.types.json import JsonObject

TESTS = """
import json
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest


def ask(endpoint, words, **more):
    body = {"model": "m", "messages": [{"role": "user", "content": words}], **more}
    with urlopen(Request(endpoint.base_url + "/chat/completions", json.dumps(body).encode())) as response:
        return json.load(response)["said"]


def test_same(partita_replay):
    endpoint = partita_replay.endpoint("two")
    assert [ask(endpoint, "one"), ask(endpoint, "two")] == ["1", "2"]


def test_changed(partita_replay):
    ask(partita_replay.endpoint("two"), "uno")


def test_swallowed(partita_replay):
    endpoint = partita_replay.endpoint("two")
    ask(endpoint, "one")
    with pytest.raises(HTTPError):
        ask(endpoint, "two", temperature=0.5)


def test_unmade(partita_replay):
    ask(partita_replay.endpoint("two.json"), "one")


def test_extra(partita_replay):
    endpoint = partita_replay.endpoint("two")
    ask(endpoint, "one"), ask(endpoint, "two")
    with pytest.raises(HTTPError):
        ask(endpoint, "three")


def test_any_order(partita_replay):
    endpoint = partita_replay.endpoint("two", order="any")
    assert [ask(endpoint, "two"), ask(endpoint, "one")] == ["2", "1"]


def test_any_order_changed(partita_replay):
    endpoint = partita_replay.endpoint("two", order="any")
    ask(endpoint, "two")
    with pytest.raises(HTTPError):
        ask(endpoint, "three")


def test_ignored(partita_replay):
    endpoint = partita_replay.endpoint("two", ignore=["messages[*].content", "seed"])
    assert [ask(endpoint, "x", seed=1), ask(endpoint, "y")] == ["1", "2"]


def test_missing(partita_replay):
    partita_replay.endpoint("nowhere", provider="openai")


def test_environment(partita_replay, monkeypatch):
    import os

    endpoint = partita_replay.endpoint("two", set_environment=True)
    assert os.environ["OPENAI_BASE_URL"] == endpoint.base_url
    assert os.environ["OPENAI_API_KEY"] == endpoint.api_key == "recorded"
    ask(endpoint, "one"), ask(endpoint, "two")


def test_nothing_is_left():
    import os, sys, threading

    assert "OPENAI_BASE_URL" not in os.environ
    assert not [one for one in threading.enumerate() if one.name == "partita-recording"]
    assert "sqlalchemy" not in sys.modules
"""


def exchange(words: str, said: str) -> Exchange:
    body: JsonObject = {"messages": [{"content": words, "role": "user"}], "model": "m"}
    return Exchange(
        format="openai-chat",
        request=RecordedRequest(method="POST", path="/chat/completions", body=body),
        response=RecordedResponse(
            status=200, headers={"content-type": "application/json"}, json={"said": said}
        ),
    )


def run(folder: Path, *options: str, **variables: str) -> tuple[int, str]:
    """The outcome and the words of a pytest process in a folder."""
    command = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", "-p", "partita.pytest_plugin"]
    environment = {
        **os.environ,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_ADDOPTS": "",
        "COLUMNS": "300",
    }
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "PARTITA_RECORD"):
        environment.pop(name, None)
    result = subprocess.run(
        [*command, *options],
        cwd=folder,
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    return result.returncode, result.stdout + result.stderr


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a run of the tests says."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "test_it.py").write_text(TESTS)
    recording = Recording(
        origin=origin_of("endpoint"), exchanges=[exchange("one", "1"), exchange("two", "2")]
    )
    write_recording(folder / "recordings" / "two.json", recording)
    return run(folder)[1]


def about(told: str, test: str) -> str:
    """What is said of one test that failed."""
    found = re.search(rf"^_+ {test} _+$(.*?)(?=^_+ test_|^=+ )", told, re.DOTALL | re.MULTILINE)
    assert found, told
    return found[1]


def test_what_passes_and_what_fails(told: str) -> None:
    assert sorted(re.findall(r"^PASSED test_it.py::(\w+)", told, re.MULTILINE)) == [
        "test_any_order",
        "test_environment",
        "test_ignored",
        "test_nothing_is_left",
        "test_same",
    ]
    assert "6 failed, 5 passed" in told
    assert "error" not in told.splitlines()[-1]


WORDS = {
    "test_changed": [
        "two.json: request 1 of 2 is not the one that was recorded (recorded → made):",
        'messages[0].content: "one" → "uno"',
        'If this is meant: record it anew: pytest --partita-record "test_it.py::test_changed", or partita',
        'If it differs each time: ignore=["messages[0].content"]',
    ],
    "test_swallowed": ["request 2 of 2 is not", "  temperature: (absent) → 0.5"],
    "test_unmade": ["two.json: 2 requests were recorded, and 1 made; never made: 2"],
    "test_extra": ["two.json: request 3 was made, and only 2 requests were recorded"],
    "test_any_order_changed": [
        "request 2 fits none that is left; nearest is request 1 of 2",
        '"one" → "three"',
    ],
    "test_missing": ["there is no recording 'nowhere'", "pytest --partita-record", "partita fixture RUN -o"],
}


@pytest.mark.parametrize("test", WORDS)
def test_a_failure_says_what_and_what_to_do(told: str, test: str) -> None:
    said = about(told, test)
    for words in WORDS[test]:
        assert words in said


def test_a_wrong_word_is_told_at_once(tmp_path: Path) -> None:
    code, told = run(tmp_path, PARTITA_RECORD="perhaps")
    assert code == 4
    assert "PARTITA_RECORD=perhaps: say 1, all, missing or 0" in told
