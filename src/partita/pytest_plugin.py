"""The pytest plugin: the fixture `partita_replay`, and `--partita-record`.

Nothing of Partita is loaded before a test asks for the fixture.
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
    """The option and the setting."""
    group = parser.getgroup("partita", "tests from real runs")
    help_ = "ask the real provider and write recordings anew; =missing: only those that are not there"
    how = {"action": "store_const", "dest": "partita_record", "default": None}
    group.addoption("--partita-record", const="all", help=help_, **how)
    # Written out, so that a path behind the option is not taken for its value.
    group.addoption("--partita-record=all", const="all", help="the same", **how)
    group.addoption("--partita-record=missing", const="missing", help="only what is not there", **how)
    parser.addini(FOLDER, "Where recordings are; without it, in `recordings` beside the test's file.")


def pytest_configure(config: pytest.Config) -> None:
    """A wrong word in the environment is told at once."""
    config.stash[_FRESH] = set()
    _mode(config)


def _mode(config: pytest.Config) -> "Mode":
    chosen: str | None = config.getoption("partita_record")
    word = os.environ.get(VARIABLE, "") if chosen is None else chosen
    if word not in MODES:
        raise pytest.UsageError(f"{VARIABLE}={word}: say 1, all, missing or 0")
    return MODES[word]


@pytest.fixture
def partita_replay(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Generator["Replay", None, None]:
    """Recordings, served as a model or as the API of their provider. See docs/testing.md."""
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
    """A test whose requests were not the recorded ones fails, whatever became of the answers."""
    try:
        result = yield
    except BaseException as error:
        replay = item.stash.get(_REPLAY, None)
        verdict = None if replay is None else replay.verdict(whole=False)
        if verdict is not None:
            from partita.errors import AgentError

            if isinstance(error, AgentError):  # the run failed because of the request
                pytest.fail(verdict, pytrace=False)
            error.add_note(verdict)
        raise
    replay = item.stash.get(_REPLAY, None)
    if replay is not None:
        replay.settle()
        verdict = replay.verdict()
        if verdict is not None:
            pytest.fail(verdict, pytrace=False)
        item.user_properties += [(PROPERTY, line) for line in replay.save()]
    return result


def pytest_terminal_summary(terminalreporter: "pytest.TerminalReporter") -> None:
    """What was recorded."""
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
