"""How many examples a property gets: few by default, and the same on every machine; with
`HYPOTHESIS_PROFILE=long` many, and others each time, with `more` some.
"""

import gc
import os

from hypothesis import HealthCheck, settings

QUIET = [
    HealthCheck.too_slow,  # a busy machine is not a failing test
    HealthCheck.function_scoped_fixture,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
]
os.environ["PARTITA_CONFIG"] = os.devnull  # the settings of whoever runs the tests are no part of them
settings.register_profile(
    "default", max_examples=12, deadline=None, derandomize=True, suppress_health_check=QUIET
)
settings.register_profile("more", max_examples=200, deadline=None, suppress_health_check=QUIET)
settings.register_profile("long", max_examples=3000, deadline=None, suppress_health_check=QUIET)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_collection_finish() -> None:
    """What was collected stays until the end: no search for garbage has to go through it again and again."""
    gc.collect()
    gc.freeze()
