"""Settings of all tests: Hypothesis profiles, signals, durations.

A property has few examples by default, the same on every machine. `HYPOTHESIS_PROFILE=more` runs some more,
`long` runs many random ones.
"""

import gc
import os
import signal

import pytest
from hypothesis import HealthCheck, settings

from tests.durations import Durations
from tests.sampling import FULL

# They need mkdocs and third-party clients, which `make full` installs.
collect_ignore = [] if FULL else ["docs/test_site.py", "server/third_party"]

QUIET = [
    HealthCheck.too_slow,  # a busy machine is not a failing test
    HealthCheck.function_scoped_fixture,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
]
os.environ["PARTITA_CONFIG"] = os.devnull  # the tests do not read the user's settings
settings.register_profile(
    "default", max_examples=12, deadline=None, derandomize=True, suppress_health_check=QUIET
)
settings.register_profile("more", max_examples=200, deadline=None, suppress_health_check=QUIET)
settings.register_profile("long", max_examples=3000, deadline=None, suppress_health_check=QUIET)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def _do_nothing(_number: int, _frame: object) -> None:
    pass


# Background jobs and `nohup` ignore these signals, and child processes inherit that. Tests that
# interrupt a child need the defaults, which a child gets if its parent has a handler.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, _do_nothing)


def pytest_configure(config: pytest.Config) -> None:
    """Measure the durations of modules."""
    config.pluginmanager.register(Durations())


def pytest_collection_finish() -> None:
    """Collect garbage less often, and exclude the collected tests, which stay until the end."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
