"""What is redacted by default: the known kinds of secrets, and what the settings add."""

from collections.abc import Sequence
from functools import cache

from partita.config.config import Config
from partita.errors import ConfigError, DecodeError

from .custom import Custom, compiled
from .kinds import BY_NAME, WANTED


@cache
def default_kinds() -> frozenset[str]:
    """The kinds of secrets that are searched for, read once. `cache_clear()` reads the settings again."""
    kinds = _list("export.secrets")
    check_kinds(kinds)
    return WANTED.union(kinds)


@cache
def default_customs() -> tuple[Custom, ...]:
    """The other texts and patterns that are replaced, read once. `cache_clear()` reads the settings again."""
    texts = _list("export.replace")
    check_texts(texts)
    return tuple(map(custom_of, texts))


def clear_defaults() -> None:
    """Read the settings again when they are next needed."""
    default_kinds.cache_clear()
    default_customs.cache_clear()


def custom_of(text: str) -> Custom:
    """A text to replace, or a pattern if it is between slashes."""
    is_pattern = len(text) > 2 and text.startswith("/") and text.endswith("/")
    return Custom(text[1:-1], is_pattern=True) if is_pattern else Custom(text)


def check_kinds(kinds: Sequence[str]) -> None:
    """Raise an error for an unknown kind."""
    for kind in kinds:
        if kind not in BY_NAME:
            raise ConfigError(
                f"there is no kind of secret {kind!r}",
                where="export.secrets",
                hint=f"use {', '.join(BY_NAME)}",
            )


def check_texts(texts: Sequence[str]) -> None:
    """Raise an error for a text or a pattern that cannot be used."""
    for text in texts:
        try:
            compiled([custom_of(text)])
        except DecodeError as error:
            raise ConfigError(f"{text}: {error.what}", where="export.replace", hint=error.hint) from None
    try:
        compiled([custom_of(text) for text in texts])
    except DecodeError as error:
        raise ConfigError(error.what, where="export.replace", hint=error.hint) from None


def _list(key: str) -> tuple[str, ...]:
    value = Config().get(key)
    assert isinstance(value, tuple), "its kind is a list"
    return value
