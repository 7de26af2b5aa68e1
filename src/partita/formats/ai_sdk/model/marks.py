"""The namespace of model messages, and errors of conversions."""

from collections.abc import Generator
from contextlib import contextmanager

from partita.errors import ConversionError, DecodeError
from partita.types.json import TOO_DEEP, TOO_DEEP_HINT

from .wire import NAME as FORMAT

__all__ = ["FORMAT", "conversion"]


@contextmanager
def conversion() -> Generator[None, None, None]:
    """Report whatever stops a conversion as a `ConversionError`."""
    try:
        yield
    except RecursionError:
        raise ConversionError(TOO_DEEP, hint=TOO_DEEP_HINT) from None
    except DecodeError as error:
        raise ConversionError(error.what, where=error.where, hint=error.hint) from None
