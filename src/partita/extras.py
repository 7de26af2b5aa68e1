"""Optional packages, which extras such as `partita[mcp]` install."""

import shlex
from collections.abc import Generator
from contextlib import contextmanager

from partita.errors import MissingPackageError, PartitaError


def install_command(requirement: str) -> str:
    """Return the command that installs a package or an extra."""
    return f"pip install {shlex.quote(requirement)}"


@contextmanager
def needs(
    requirement: str, feature: str, error_type: type[PartitaError] = MissingPackageError
) -> Generator[None, None, None]:
    """Turn the `ImportError` of a missing package into an error that says how to install it."""
    try:
        yield
    except ImportError as error:
        what = f"{feature} needs {requirement}, which is not installed"
        raise error_type(what, hint=install_command(requirement)) from error
