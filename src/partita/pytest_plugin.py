"""The pytest plugin: the fixture `partita_replay`, and `--partita-record`.

Partita is imported only when a test uses the fixture.
"""

import os
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from partita.testing.replay import Mode, Replay

VARIABLE: Final = "PARTITA_RECORD"
FOLDER: Final = "partita_recordings"
PROPERTY: Final = "partita_recorded"
MODES: Final[Mapping[str, "Mode"]] = {
    "": "replay",
    "0": "replay",
    "no": "replay",
    "replay": "replay",
    "1": "all",
    "yes": "all",
    "all": "all",
    "missing": "missing",
}

_REPLAY: Final = pytest.StashKey["Replay"]()  # pyrefly: ignore[not-a-type]
_FRESH: Final = pytest.StashKey[set[Path]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the command-line option and the setting."""
    group = parser.getgroup("partita", "tests from real runs")
    help_ = "call the real provider and record again; =missing: only missing recordings"
    how = {"action": "store_const", "dest": "partita_record", "default": None}
    group.addoption("--partita-record", const="all", help=help_, **how)
    # Separate options, so that a path after the option is not parsed as its value.
    group.addoption("--partita-record=all", const="all", help="same as --partita-record", **how)
    group.addoption("--partita-record=missing", const="missing", help="record only missing recordings", **how)
    parser.addini(FOLDER, "Folder of the recordings (default: `recordings` next to the test file).")


def pytest_configure(config: pytest.Config) -> None:
    """Check the mode before the first test."""
    config.stash[_FRESH] = set()
    _mode(config)


def _mode(config: pytest.Config) -> "Mode":
    chosen: str | None = config.getoption("partita_record")
    value = os.environ.get(VARIABLE, "") if chosen is None else chosen
    if value not in MODES:
        raise pytest.UsageError(f"{VARIABLE}={value}: use 1, all, missing or 0")
    return MODES[value]


@pytest.fixture
def partita_replay(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Generator["Replay", None, None]:
    """Replay recordings as a model or as the API of their provider. See docs/testing.md."""
    from partita.testing.replay import Replay

    def set_variables(variables: Mapping[str, str]) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    item: pytest.Item = request.node
    replay = Replay(
        _folder(item),
        mode=_mode(item.config),
        command=f'pytest --partita-record "{item.nodeid}"',
        fresh=item.config.stash[_FRESH],
        set_variables=set_variables,
    )
    item.stash[_REPLAY] = replay
    yield replay
    replay.close()


def _folder(item: pytest.Item) -> Path:
    given = str(item.config.getini(FOLDER) or "")
    return item.config.rootpath / given if given else item.path.parent / "recordings"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test whose requests differ from the recorded ones, even if it handles the error response."""
    try:
        result = yield
    except BaseException as error:
        replay = item.stash.get(_REPLAY, None)
        verdict = None if replay is None else replay.verdict(include_unused=False)
        if verdict is not None:
            from partita.errors import AgentError

            if isinstance(error, AgentError):  # the run failed because of the request
                pytest.fail(verdict, pytrace=False)
            error.add_note(verdict)
        raise
    replay = item.stash.get(_REPLAY, None)
    if replay is not None:
        replay.wait_for_responses()
        verdict = replay.verdict()
        if verdict is not None:
            pytest.fail(verdict, pytrace=False)
        item.user_properties += [(PROPERTY, line) for line in replay.save()]
    return result


def pytest_terminal_summary(terminalreporter: "pytest.TerminalReporter") -> None:
    """List the recordings that were written."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    lines = [
        line
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, line in report.user_properties
        if name == PROPERTY
    ]
    if lines:
        terminalreporter.section("recordings")
        for line in lines:
            terminalreporter.line(line)
