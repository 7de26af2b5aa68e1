"""The number of examples: few and deterministic, or as many random ones as `PARTITA_FUZZ` sets."""

import os

from hypothesis import HealthCheck, Phase, settings

EXAMPLES = int(os.environ.get("PARTITA_FUZZ", "0"))
"""The number of examples of each property, if it is set."""


def trying(default: int) -> settings:
    """The settings of a property with a default number of examples."""
    return settings(
        max_examples=EXAMPLES or default,
        derandomize=not EXAMPLES,
        deadline=None,
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.function_scoped_fixture,
            HealthCheck.data_too_large,
            HealthCheck.large_base_example,
            HealthCheck.filter_too_much,
        ],
        database=None,
        phases=[Phase.generate],  # shrinking a failure would change the store
    )
