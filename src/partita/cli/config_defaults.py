"""The settings as the defaults of options: what a flag does not say, the environment or a file does."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:  # the settings are read when an option needs them
    from partita.config.config import Config, Found


class Defaults(dict[str, Any]):
    """By command, what settings give its parameters. For click's `default_map`."""

    def get(self, key: str, default: Any = None) -> Any:
        """What settings give the parameters of a command."""
        return _Parameters(key, self)

    @cached_property
    def config(self) -> "Config":
        """The settings here."""
        from partita.config.config import Config

        return Config()


class _Parameters(dict[str, Any]):
    """By parameter, what a setting says, if one says anything. Nothing is read for a help text."""

    def __init__(self, command: str, defaults: Defaults) -> None:
        super().__init__()
        self._command = command
        self._defaults = defaults

    def get(self, key: str, default: Any = None) -> Any:
        """What a sub-command of a sub-command has: nothing."""
        return default

    def __contains__(self, key: object) -> bool:
        if click.get_current_context().resilient_parsing:  # for a help text, or to complete a word
            return False
        found = self._found(str(key))
        return found is not None and found.source.kind != "default"

    def __getitem__(self, key: str) -> Any:
        found = self._found(key)
        if found is None:
            raise KeyError(key)
        return self._defaults.config.get(found.setting.key)

    def _found(self, parameter: str) -> "Found | None":
        from partita.config.settings import BY_OPTION

        setting = BY_OPTION.get(f"{self._command}.{parameter}")
        return None if setting is None else self._defaults.config.find(setting.key)
