"""The releases of the AI SDK whose real clients are tried."""

import pytest

from tests.sampling import FULL

RELEASES = (5, 6, 7)
USUAL = RELEASES if FULL else RELEASES[-1:]
"""The releases for tests of what does not differ between them."""

on_all_releases = pytest.mark.parametrize("browser", RELEASES, indirect=True, ids="v{}".format)
"""For tests of what differs between releases: kinds of parts, shapes of messages and of requests."""
