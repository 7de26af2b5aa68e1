"""How much is tried: little and the same every time, or as much as `PARTITA_FUZZ` says and always new."""

import os

from hypothesis import HealthCheck, Phase, settings

ASKED = int(os.environ.get("PARTITA_FUZZ", "0"))
"""How many examples are asked for, of each thing that is tried."""


def trying(usually: int) -> settings:
    """The settings of a property that usually gets so many examples."""
    return settings(
        max_examples=ASKED or usually,
        derandomize=not ASKED,
        deadline=None,
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.function_scoped_fixture,
            HealthCheck.data_too_large,
            HealthCheck.large_base_example,
            HealthCheck.filter_too_much,
        ],
        database=None,
        phases=[Phase.generate],  # to make a failure smaller would change the store
    )
