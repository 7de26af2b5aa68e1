"""The real packages, started once for all conformance tests."""

from collections.abc import Iterator

import pytest

from tests.conformance.bridge import RealPackage


@pytest.fixture(scope="session")
def real() -> Iterator[RealPackage]:
    with RealPackage() as package:
        yield package
