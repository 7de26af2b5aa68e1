"""The releases of the AI SDK whose clients are tested."""

import pytest

from tests.sampling import FULL

RELEASES = (5, 6, 7)
USUAL = RELEASES if FULL else RELEASES[-1:]
"""The releases for tests of behaviour that is the same in all."""

on_all_releases = pytest.mark.parametrize("browser", RELEASES, indirect=True, ids="v{}".format)
"""The releases for tests of differences: types of parts, forms of messages and requests."""
