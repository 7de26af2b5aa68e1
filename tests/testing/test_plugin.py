"""The pytest plugin in a project with tests: which tests fail, and their messages."""

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


def ask(endpoint, text, **settings):
    body = {"model": "m", "messages": [{"role": "user", "content": text}], **settings}
    with urlopen(Request(endpoint.base_url + "/chat/completions", json.dumps(body).encode())) as response:
        return json.load(response)["text"]


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


def test_unused(partita_replay):
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


def test_nothing_is_left_behind():
    import os, sys, threading

    assert "OPENAI_BASE_URL" not in os.environ
    assert not [one for one in threading.enumerate() if one.name == "partita-recording"]
    assert "sqlalchemy" not in sys.modules
"""


def exchange(prompt: str, text: str) -> Exchange:
    body: JsonObject = {"messages": [{"content": prompt, "role": "user"}], "model": "m"}
    return Exchange(
        format="openai-chat",
        request=RecordedRequest(method="POST", path="/chat/completions", body=body),
        response=RecordedResponse(
            status=200, headers={"content-type": "application/json"}, json={"text": text}
        ),
    )


def run(folder: Path, *options: str, **variables: str) -> tuple[int, str]:
    """The exit code and the output of a pytest process in a folder."""
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
def output(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The output of a run of the tests."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "test_it.py").write_text(TESTS)
    recording = Recording(
        origin=origin_of("endpoint"), exchanges=[exchange("one", "1"), exchange("two", "2")]
    )
    write_recording(folder / "recordings" / "two.json", recording)
    return run(folder)[1]


def failure_of(output: str, test: str) -> str:
    """The output about one failed test."""
    found = re.search(rf"^_+ {test} _+$(.*?)(?=^_+ test_|^=+ )", output, re.DOTALL | re.MULTILINE)
    assert found, output
    return found[1]


def test_tests_with_mismatches_fail(output: str) -> None:
    assert sorted(re.findall(r"^PASSED test_it.py::(\w+)", output, re.MULTILINE)) == [
        "test_any_order",
        "test_environment",
        "test_ignored",
        "test_nothing_is_left_behind",
        "test_same",
    ]
    assert "6 failed, 5 passed" in output
    assert "error" not in output.splitlines()[-1]


MESSAGES = {
    "test_changed": [
        "two.json: request 1 of 2 differs from the recording (recorded → actual):",
        'messages[0].content: "one" → "uno"',
        'If this is intended: record it again: pytest --partita-record "test_it.py::test_changed", or',
        'If it differs on every run: ignore=["messages[0].content"]',
    ],
    "test_swallowed": ["request 2 of 2 differs", "  temperature: (absent) → 0.5"],
    "test_unused": ["two.json: 2 requests were recorded, but only 1 made; not made: 2"],
    "test_extra": ["two.json: request 3 was made, but only 2 requests were recorded"],
    "test_any_order_changed": [
        "request 2 matches no unused request; the nearest, request 1 of 2, differs",
        '"one" → "three"',
    ],
    "test_missing": ["there is no recording 'nowhere'", "pytest --partita-record", "partita fixture RUN -o"],
}


@pytest.mark.parametrize("test", MESSAGES)
def test_a_failure_states_the_mismatch_and_how_to_fix_it(output: str, test: str) -> None:
    failure = failure_of(output, test)
    for message in MESSAGES[test]:
        assert message in failure


def test_an_unknown_mode_is_a_usage_error(tmp_path: Path) -> None:
    code, output = run(tmp_path, PARTITA_RECORD="perhaps")
    assert code == 4
    assert "PARTITA_RECORD=perhaps: use 1, all, missing or 0" in output
